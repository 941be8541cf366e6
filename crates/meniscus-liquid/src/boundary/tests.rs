//! The solids as the grid sees them.

use meniscus_core::fractions::grid_face_open_fraction;
use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};

use meniscus_core::interpolate::interpolate_faces;

use super::*;
use crate::substep::Substep;

fn params<const D: usize>(cells: usize) -> Params<D> {
    Params::new(Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] })
}

fn boundary<const D: usize>(params: &Params<D>, surroundings: &Surroundings<D>) -> Boundary<D> {
    let blocks = Arc::new(Blocks::all(params.grid.cells));
    Boundary::new(params, surroundings, &blocks, &mut BoundaryCache::default())
}

fn tilted_box() -> Shape<3> {
    let rotation = Rotation::from_axis_angle([1.0, 2.0, 3.0], 0.6).unwrap();
    let transform = RigidTransform { rotation, translation: [0.5; 3] };
    Shape::centred_box([0.0; 3], [0.2, 0.15, 0.25]).unwrap().transformed(transform).unwrap()
}

/// Looking from the centre of a block first changes nothing.
#[test]
fn open_fractions_are_those_of_the_distances() {
    let params = params::<3>(24);
    let shape = tilted_box();
    let solids = vec![Solid::fixed(shape.clone())];
    let boundary = boundary(&params, &Surroundings { solids, ..Surroundings::default() });
    let mut cut = 0;
    for index in 0..24 * 24 * 24 {
        let cell: [i64; 3] = [index % 24, index / 24 % 24, index / 576];
        for axis in (0..3).filter(|&axis| cell[axis] > 0) {
            let distance = |node| shape.signed_distance(params.grid.node(node));
            let expected = grid_face_open_fraction(&params.grid, axis, cell, distance);
            let open = f64::from(boundary.open.get(axis, cell));
            assert!((open - expected).abs() < 1e-3 + 1e-6, "{cell:?} {axis}: {open} {expected}");
            cut += usize::from(open > 0.0 && open < 1.0);
        }
    }
    assert!(cut > 500, "{cut}");
}

#[test]
fn sides_are_closed_unless_open() {
    let mut params = params::<2>(20);
    params.open_sides[1][1] = true;
    let boundary = boundary(&params, &Surroundings::default());
    assert_eq!(boundary.open.get(0, [0, 5]), 0.0);
    assert_eq!(boundary.open.get(0, [20, 5]), 0.0);
    assert_eq!(boundary.open.get(1, [5, 0]), 0.0);
    assert_eq!(boundary.open.get(1, [5, 20]), 1.0);
    assert_eq!(boundary.open.get(1, [5, 10]), 1.0);
}

#[test]
fn a_source_pushes_forwards_and_sucks_nowhere() {
    let params = params::<2>(20);
    let shape = Shape::box_between([0.2, 0.3], [0.5, 0.4]).unwrap();
    let source = Source { shape, velocity: [0.0, 2.0] };
    let surroundings = Surroundings { sources: vec![source], ..Surroundings::default() };
    let boundary = boundary(&params, &surroundings);
    assert!((boundary.inflow() - 0.3 * 2.0).abs() < 1e-12);
    let substep = Substep { params: &params, surroundings: &surroundings, boundary: &boundary, dt: 0.01 };
    let speed = |axis, cell| substep.wall_speed(axis, cell, |_| true);
    assert_eq!(
        [speed(1, [6, 8]), speed(1, [6, 6]), speed(0, [4, 7]), speed(0, [10, 7])],
        [2.0, 0.0, 0.0, 0.0]
    );
    assert_eq!([boundary.open.get(1, [6, 8]), boundary.open.get(1, [6, 9])], [0.0, 1.0]);
}

/// A flow against a wall at 45° slides along it, at the speed of the wall if that moves.
#[test]
fn a_flow_into_a_wall_is_turned_along_it() {
    let params = params::<2>(32);
    let shape = Shape::half_space([0.5, 0.5], [-1.0, 1.0]).unwrap();
    for speed in [0.0, 0.3] {
        let to = RigidTransform { translation: [-0.01 * speed, 0.01 * speed], ..RigidTransform::IDENTITY };
        let solids = vec![Solid {
            shape: shape.clone(),
            from: RigidTransform::IDENTITY,
            to,
            next: None,
            free: None,
            separates: false,
        }];
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let boundary = boundary(&params, &surroundings);
        let mut velocity = FaceField::new(Arc::new(Blocks::all([32; 2])), 0.0);
        velocity.axes[0].values_mut().fill(1.0);
        let valid = FaceField::new(velocity.blocks().clone(), true);
        let substep = Substep { params: &params, surroundings: &surroundings, boundary: &boundary, dt: 0.01 };
        substep.constrain(&mut velocity, &valid, &[]);
        let u = interpolate_faces(&velocity, [18.0, 15.0]);
        let normal = (u[1] - u[0]) / 2f32.sqrt();
        let wall = speed as f32 * 2f32.sqrt();
        assert!((normal - wall).abs() < 0.02, "{u:?} at {speed}");
        assert!((u[0] + u[1] - 1.0).abs() < 0.02, "{u:?}");
    }
}

#[test]
fn solid_cells_are_counted() {
    let params = params::<2>(40);
    let solids = vec![Solid::fixed(Shape::box_between([0.1, 0.1], [0.35, 0.6]).unwrap())];
    let mut cache = BoundaryCache::default();
    let mut count = |solids: &[Solid<2>], is_active: &dyn Fn([usize; 2]) -> bool| {
        let blocks = Arc::new(Blocks::new([40; 2], is_active));
        let surroundings = Surroundings { solids: solids.to_vec(), ..Surroundings::default() };
        let boundary = Boundary::new(&params, &surroundings, &blocks, &mut cache);
        cache.solid_cells(&params, solids, &boundary)
    };
    // Another one comes to lie half over the first.
    let to = RigidTransform { translation: [0.1, 0.0], ..RigidTransform::IDENTITY };
    let shape = Shape::box_between([0.125, 0.1], [0.375, 0.6]).unwrap();
    let moving =
        Solid { shape, from: RigidTransform::IDENTITY, to, next: None, free: None, separates: false };
    let both = [solids[0].clone(), moving];
    for is_active in
        [&|_| true, &|_| false, &|block: [usize; 2]| block[1] != 2] as [&dyn Fn([usize; 2]) -> bool; 3]
    {
        assert_eq!(count(&solids, is_active), 10 * 20);
        assert_eq!(count(&both, is_active), 15 * 20);
        assert_eq!(count(&solids, is_active), 10 * 20);
        assert_eq!(count(&[], is_active), 0);
    }
}

/// Between thin walls and blocks beside them, by less than a cell, is no way through the walls.
#[test]
fn a_block_beside_a_thin_wall_opens_no_way_through_it() {
    let params = params::<2>(32);
    let dx = params.grid.dx;
    for gap in [0.1, 0.3, 0.6, 0.9] {
        let wall = Shape::box_between([10.4 * dx, -1.0], [10.7 * dx, 2.0]).unwrap();
        let block = Shape::box_between([(10.7 + gap) * dx, 0.2], [20.0 * dx, 0.8]).unwrap();
        let both = Shape::union(vec![wall.clone(), block.clone()]).unwrap();
        for shapes in [vec![wall, block], vec![both]] {
            let solids = shapes.into_iter().map(Solid::fixed).collect();
            let boundary = boundary(&params, &Surroundings { solids, ..Surroundings::default() });
            let is_parted =
                |y: i64| boundary.open.get(0, [10, y]) == 0.0 || boundary.open.get(0, [11, y]) == 0.0;
            let open: Vec<i64> = (0..32).filter(|y| !is_parted(*y)).collect();
            assert!(open.is_empty(), "{gap}: {open:?}");
        }
    }
}

/// Open faces connect no two cells on different sides of a plate, however thin and however it lies, though its distance be sampled.
#[test]
fn a_plate_parts_a_room_wherever_it_lies() {
    let grid = Grid { origin: [0.0; 3], dx: 1.0, cells: [9, 24, 10] };
    let params = Params::new(grid);
    let blocks = Arc::new(Blocks::all(grid.cells));
    let mut leaks = Vec::new();
    let plates = [0.05, 0.1, 0.3, 0.6, 0.8, 0.99].map(|half| {
        let exact = Shape::centred_box([0.0; 3], [20.0, half, 20.0]).unwrap();
        (half, [exact.sampled(0.5), exact])
    });
    for k in 0..480 {
        let noise = |seed: usize| ((k * 7 + seed) as f64 * 0.618_034 * (seed + 1) as f64).fract() - 0.5;
        let (half, shapes) = &plates[k % 6];
        let half = *half;
        let axis = [noise(1), noise(2), noise(3)];
        let rotation = Rotation::<3>::from_axis_angle(axis, 2.0 * noise(4)).unwrap();
        let pose =
            RigidTransform { rotation, translation: [4.5 + noise(5), 12.0 + noise(6), 5.0 + noise(7)] };
        let plate = shapes[k / 6 % 2].clone().transformed(pose).unwrap();
        let solids = vec![Solid::fixed(plate)];
        let boundary = Boundary::new(
            &params,
            &Surroundings { solids, ..Surroundings::default() },
            &blocks,
            &mut BoundaryCache::default(),
        );
        let height =
            |slot: Slot| pose.apply_inverse(grid.cell_centre(blocks.cell(slot).map(|c| c as i64)))[1];
        let is_above = |slot: &Slot| blocks.is_inside(*slot) && height(*slot) > half;
        let mut reached: Vec<Slot> = (0..blocks.slots()).map(Slot::from_flat::<3>).filter(is_above).collect();
        let mut seen: std::collections::BTreeSet<usize> =
            reached.iter().map(|slot| slot.flat::<3>()).collect();
        while let Some(cell) = reached.pop() {
            for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                let Some(other) = blocks.step(cell, axis, side) else { continue };
                let face = if side == 0 { cell } else { other };
                let open = boundary.open.axes[axis][face];
                if open > 0.0 && blocks.is_inside(other) && seen.insert(other.flat::<3>()) {
                    reached.push(other);
                    if height(other) < -half {
                        leaks.push((
                            k,
                            half,
                            axis,
                            blocks.cell(cell),
                            blocks.cell(other),
                            [height(cell), height(other)],
                            open,
                        ));
                    }
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks, such as {:?}", leaks.len(), &leaks[..leaks.len().min(5)]);
}

/// What was found of a solid is not kept for another one in its place.
#[test]
fn walls_are_those_of_the_shapes_that_are_there_now() {
    let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [16; 2] });
    let blocks = Arc::new(Blocks::all([16; 2]));
    let mut cache = BoundaryCache::default();
    let mut solid_cells = |width: f64| {
        let solids = vec![Solid::fixed(Shape::box_between([0.0; 2], [width, 16.0]).unwrap())];
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let boundary = Boundary::new(&params, &surroundings, &blocks, &mut cache);
        cache.solid_cells(&params, &surroundings.solids, &boundary)
    };
    assert_eq!([2.0, 5.0, 5.0, 3.0].map(&mut solid_cells), [32, 80, 80, 48]);
}
