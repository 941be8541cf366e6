//! Bodies that touch feel the liquid together: one projection against that of the union of the bodies, and against that without contacts.

use std::sync::Arc;

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_liquid::projection::{RigidCarrier, Touching};
use meniscus_liquid::{InitialLiquid, Params, State, Surroundings, Workspace, step};
use meniscus_rigid::Touch;
use meniscus_rigid::{Contact, RigidBody, RigidState};
use meniscus_tests::{Case, tight_params};

const G: f64 = 9.81;

/// A box: its centre, half of its extents, its density.
#[derive(Clone, Copy)]
struct Block<const D: usize> {
    centre: [f64; D],
    half: [f64; D],
    density: f64,
}

/// Boxes one on another, the first with its bottom at `bottom`: (half width, height, density).
fn stack<const D: usize>(bottom: f64, boxes: &[(f64, f64, f64)]) -> Vec<Block<D>> {
    let mut top = bottom;
    let block = |&(half, height, density): &(f64, f64, f64)| {
        let (mut centre, mut extents) = ([0.5; D], [half; D]);
        (centre[1], extents[1]) = (top + 0.5 * height, 0.5 * height);
        top += height;
        Block { centre, half: extents, density }
    };
    boxes.iter().map(block).collect()
}

/// A tank with a free surface, in which everything has fallen for one step.
fn tank<const D: usize>(cells: usize, blocks: &[Block<D>]) -> Case<D> {
    let mut case = Case::<D>::with_open(cells, |_, _| 1.0);
    case.set_level_set(|x| x[1] - 0.9);
    for block in blocks {
        let shape = Shape::centred_box(block.centre, block.half).unwrap();
        case.add_body(&shape, block.centre, block.density, [0.0; 6]);
    }
    let change = -G * tight_params().dt;
    case.set_velocity(|axis, _| if axis == 1 { change } else { 0.0 });
    case.bodies.iter_mut().for_each(|body| body.velocity[1] = change);
    case
}

/// The corners of what two boxes of a stack share, or a box and the floor.
fn corners<const D: usize>(upper: &Block<D>, lower: Option<&Block<D>>) -> Vec<[f64; D]> {
    let half = |a: usize| lower.map_or(upper.half[a], |lower| lower.half[a].min(upper.half[a]));
    let sides: Vec<usize> = (0..D).filter(|&a| a != 1).collect();
    let corner = |k: usize| -> [f64; D] {
        let mut corner = upper.centre;
        corner[1] -= upper.half[1];
        for (bit, &a) in sides.iter().enumerate() {
            corner[a] += half(a) * if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        }
        corner
    };
    (0..1 << sides.len()).map(corner).collect()
}

/// Where the boxes of a stack touch; the first touches the floor if it stands on it.
fn touching<const D: usize>(blocks: &[Block<D>], floor: bool, friction: f64) -> Touching<D> {
    let mut normal = [0.0; D];
    normal[1] = 1.0;
    let mut touches = Vec::new();
    for (body, block) in blocks.iter().enumerate().filter(|(body, _)| *body > 0 || floor) {
        let other = body.checked_sub(1);
        for point in corners(block, other.map(|other| &blocks[other])) {
            touches.push(Touch { body, other, point, normal, gap: 0.0, velocity: [0.0; D], friction });
        }
    }
    Touching { touches, near: 1e-6, rest: 1.0, last: vec![[0.0; 6]; blocks.len()] }
}

/// All bodies as one.
fn united<const D: usize>(mut case: Case<D>, blocks: &[Block<D>]) -> Case<D> {
    let centre = case.bodies[0].centre;
    let mut faces = Vec::new();
    let mut mass = [[0.0; 6]; 6];
    for (body, block) in case.bodies.iter().zip(blocks) {
        let cell =
            |face: &meniscus_liquid::projection::ClosedFace| case.blocks.cell(face.upper).map(|c| c as i64);
        let closed: Vec<_> = body.faces.iter().map(|face| (face.axis, cell(face), face.part)).collect();
        let own = RigidCarrier::mass_of_faces(&case.grid, centre, block.density, &closed);
        for (sum, own) in mass.iter_mut().flatten().zip(own.iter().flatten()) {
            *sum += own;
        }
        faces.extend(body.faces.iter().copied());
    }
    let velocity = case.bodies[0].velocity;
    case.bodies = vec![RigidCarrier { centre, mass, velocity, faces, films: Vec::new() }];
    case
}

/// The accelerations upwards.
fn accelerations<const D: usize>(mut case: Case<D>) -> (Vec<f64>, usize) {
    let params = tight_params();
    let info = case.project(&params).expect("converges");
    assert!(info.contact.is_settled, "{:?}", info.contact);
    (info.body_velocity.iter().map(|velocity| velocity[1] / params.dt).collect(), info.contact.pressing)
}

fn check_union<const D: usize>(cells: usize, boxes: &[(f64, f64, f64)]) {
    let blocks = stack::<D>(0.2, boxes);
    let contacts = touching(&blocks, false, 0.0);
    let count = contacts.touches.len();
    let mut case = tank(cells, &blocks);
    case.touching = Some(contacts);
    let (found, pressing) = accelerations(case);
    assert_eq!(pressing, count, "all contacts press");
    let (expected, _) = accelerations(united(tank(cells, &blocks), &blocks));
    for found in found {
        assert!((found - expected[0]).abs() < 1e-6 * G, "{found} instead of {} of {boxes:?}", expected[0]);
    }
}

/// Where all contacts press, the bodies move as one of their union, whatever their densities.
#[test]
fn bodies_that_press_on_each_other_move_as_one() {
    for light in [1e-3, 200.0, 900.0] {
        check_union::<2>(48, &[(0.2, 0.15, light), (0.08, 0.1, 3000.0)]);
        check_union::<3>(24, &[(0.2, 0.15, light), (0.1, 0.15, 3000.0)]);
    }
    check_union::<2>(48, &[(0.2, 0.15, 100.0), (0.15, 0.1, 900.0), (0.08, 0.1, 3000.0)]);
    check_union::<3>(24, &[(0.2, 0.15, 100.0), (0.15, 0.1, 900.0), (0.1, 0.15, 3000.0)]);
    let five = [
        (0.2, 0.1, 50.0),
        (0.17, 0.1, 1000.0),
        (0.14, 0.1, 2000.0),
        (0.11, 0.1, 4000.0),
        (0.08, 0.1, 9000.0),
    ];
    check_union::<2>(48, &five);
    check_union::<3>(24, &five);
}

/// A heavy body on a light one on the floor: all stay, and the contacts bear what Archimedes leaves.
#[test]
fn a_heavy_body_holds_a_light_one_on_the_floor() {
    fn check<const D: usize>(cells: usize) {
        let blocks = stack::<D>(0.0, &[(0.2, 0.15, 200.0), (0.1, 0.15, 20000.0)]);
        let mut case = tank(cells, &blocks);
        case.touching = Some(touching(&blocks, true, 0.5));
        let (found, pressing) = accelerations(case);
        assert_eq!(pressing, 2 << (D - 1));
        assert!(found.iter().all(|a| a.abs() < 1e-6 * G), "{found:?}");
    }
    check::<2>(48);
    check::<3>(24);
}

/// Contacts that are known.
#[derive(Debug)]
struct Known<const D: usize>(Vec<Touch<D>>);

impl<const D: usize> Contact<D> for Known<D> {
    fn touches(&self, _: &[RigidState<D>], _: f64) -> Vec<Touch<D>> {
        self.0.clone()
    }
}

/// How long the first moment of boxes in a tank is, in seconds.
const MOMENT: f64 = 1e-3;

/// Boxes in a tank after their first moment.
fn after_a_moment<const D: usize>(
    cells: usize,
    level: f64,
    blocks: &[Block<D>],
    contacts: Option<Vec<Touch<D>>>,
) -> Vec<RigidState<D>> {
    let params = Params::new(Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] });
    let mut upper = [1.0; D];
    upper[1] = level;
    let water = InitialLiquid { shape: Shape::box_between([0.0; D], upper).unwrap(), velocity: [0.0; D] };
    let rigid = |block: &Block<D>| {
        let pose = RigidTransform { translation: block.centre, ..RigidTransform::IDENTITY };
        RigidBody::new(Shape::centred_box([0.0; D], block.half).unwrap(), block.density, pose).unwrap()
    };
    let contact = contacts.map(|contacts| Arc::new(Known(contacts)) as _);
    let bodies = blocks.iter().map(rigid).collect();
    let surroundings = Surroundings { bodies, contact, ..Surroundings::default() };
    let mut state = State::new(&params, &[water], &surroundings);
    state.bodies.iter_mut().for_each(|body| body.fly(MOMENT));
    step(&mut state, &params, &surroundings, MOMENT, &mut Workspace::default()).unwrap();
    state.bodies
}

/// How fast a body moves away from what it touches, in m/s.
fn parting<const D: usize>(touch: &Touch<D>, bodies: &[RigidState<D>]) -> f64 {
    let along = |body: &RigidState<D>| {
        let (velocity, spin) = (body.centre_velocity(), body.angular_velocity());
        let arm = |a: usize| if a < D { touch.point[a] - body.pose.translation[a] } else { 0.0 };
        let turning = |a: usize| spin[(a + 1) % 3] * arm((a + 2) % 3) - spin[(a + 2) % 3] * arm((a + 1) % 3);
        (0..D).map(|a| touch.normal[a] * (velocity[a] + turning(a))).sum::<f64>()
    };
    along(&bodies[touch.body]) - touch.other.map_or(0.0, |other| along(&bodies[other]))
}

/// The corners of a box at the side of the domain where x is 0.
fn at_wall<const D: usize>(body: usize, block: &Block<D>) -> Vec<Touch<D>> {
    let mut normal = [0.0; D];
    normal[0] = 1.0;
    let corner = |k: usize| -> [f64; D] {
        let side = |a: usize| if a > 0 && k >> (a - 1) & 1 == 1 { 1.0 } else { -1.0 };
        std::array::from_fn(|a| block.centre[a] + side(a) * block.half[a])
    };
    let touch =
        |point| Touch { body, other: None, point, normal, gap: 0.0, velocity: [0.0; D], friction: 0.5 };
    (0..1 << (D - 1)).map(|k| touch(corner(k))).collect()
}

/// A heavy box under a light one: nothing presses, they part as if there were no contacts, and at once.
fn check_parting<const D: usize>(cells: usize, [heavy, light]: [f64; 2]) {
    let water = 0.9;
    let middle = stack::<D>(0.3, &[(0.1, 0.2, heavy), (0.15, 0.2, light)]);
    // Its upper half is out of the water.
    let half_out = stack::<D>(0.6, &[(0.1, 0.2, heavy), (0.15, 0.2, light)]);
    let mut at_side = middle.clone();
    at_side.iter_mut().for_each(|block| block.centre[0] = block.half[0]);
    let places = [("in the middle", middle), ("half out", half_out), ("beside a wall", at_side)];
    for (place, blocks) in places {
        let mut contacts = touching(&blocks, false, 0.5).touches;
        if place == "beside a wall" {
            contacts.extend(blocks.iter().enumerate().flat_map(|(body, block)| at_wall(body, block)));
        }
        let without = after_a_moment(cells, water, &blocks, None);
        let presses = contacts.iter().any(|touch| parting(touch, &without) < -1e-4 * G * MOMENT);
        assert!(!presses || place == "beside a wall", "{place}");
        let with = after_a_moment(cells, water, &blocks, Some(contacts));
        let [lower, upper] = [0, 1].map(|k| with[k].velocity[1] / MOMENT);
        // Beside a wall the flow turns a body, or pulls it there: then the wall presses, but holds nothing back.
        let same = if presses { 0.05 * G } else { 1e-3 * G };
        for (with, without) in with.iter().zip(&without) {
            let [with, without] = [with, without].map(|body| body.velocity[1] / MOMENT);
            assert!((with - without).abs() < same, "{place}: {with} instead of {without}");
        }
        // What is half out has half the lift, and some falls nearly as fast as what is below it.
        let least = if place == "half out" { 0.0 } else { 0.1 * G };
        assert!(upper - lower > least, "{place}: {lower} below {upper}");
    }
}

/// Contacts hold nothing back.
#[test]
fn bodies_that_nothing_presses_together_part() {
    for densities in
        [[2000.0, 1000.0], [3000.0, 200.0], [10_000.0, 100.0], [10_000.0, 5000.0], [900.0, 100.0]]
    {
        check_parting::<2>(48, densities);
        check_parting::<3>(24, densities);
    }
}

/// So does the floor: what is lighter than water leaves it.
#[test]
fn light_bodies_leave_the_floor() {
    fn check<const D: usize>(cells: usize, density: f64) {
        let blocks = stack::<D>(0.0, &[(0.1, 0.2, density)]);
        let contacts = touching(&blocks, true, 0.5).touches;
        let with = after_a_moment(cells, 0.9, &blocks, Some(contacts))[0].velocity[1] / MOMENT;
        let without = after_a_moment(cells, 0.9, &blocks, None)[0].velocity[1] / MOMENT;
        assert!((with - without).abs() < 1e-3 * G, "{with} instead of {without}");
        assert!(with > 0.1 * G, "{with}");
    }
    for density in [100.0, 300.0, 600.0] {
        check::<2>(48, density);
        check::<3>(24, density);
    }
}
