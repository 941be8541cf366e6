//! Bodies and regions of small scenes, counted by hand.

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation};

use super::*;
use crate::state::{InitialLiquid, State};
use crate::tracking::Found;

struct Case {
    params: Params<2>,
    surroundings: Surroundings<2>,
    state: State<2>,
}

impl Case {
    /// A square room of side 1.
    fn new(cells: usize, liquid: Shape<2>, solids: Vec<Shape<2>>) -> Self {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0 / cells as f64, cells: [cells; 2] });
        let solids = solids.into_iter().map(Solid::fixed).collect();
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let state =
            State::new(&params, &[InitialLiquid { shape: liquid, velocity: [0.0; 2] }], &surroundings);
        Self { params, surroundings, state }
    }

    fn regions(&self) -> Regions<2> {
        let Self { params, surroundings, state } = self;
        let mut cache = BoundaryCache::default();
        let boundary = Boundary::new(params, surroundings, state.level_set.blocks(), &mut cache);
        Regions::find(params, surroundings, &state.level_set, &boundary, &mut cache)
    }

    fn found(&self) -> Found<2> {
        let Self { params, surroundings, state } = self;
        let mut cache = BoundaryCache::default();
        let boundary = Boundary::new(params, surroundings, state.level_set.blocks(), &mut cache);
        Found::new(params, surroundings, &state.level_set, &boundary, &mut cache)
    }

    fn region_at(&self, regions: &Regions<2>, point: [f64; 2]) -> usize {
        let cell = self.params.grid.to_cells(point).map(|x| x as usize);
        regions.air.of_cell(cell.map(|c| c / BLOCK_EDGE), cell.map(|c| c % BLOCK_EDGE)).expect("air")
    }
}

fn rectangle(from: [f64; 2], to: [f64; 2]) -> Shape<2> {
    Shape::box_between(from, to).unwrap()
}

fn disc(centre: [f64; 2], radius: f64) -> Shape<2> {
    Shape::sphere(centre, radius).unwrap()
}

/// A pool with a bubble in which a drop floats.
fn nested(cells: usize) -> Case {
    let pool = rectangle([0.0, 0.0], [1.0, 0.7]);
    let hollow = pool.difference(disc([0.4, 0.35], 0.2));
    let liquid = Shape::union(vec![hollow, disc([0.4, 0.35], 0.08)]).unwrap();
    Case::new(cells, liquid, Vec::new())
}

#[test]
fn a_drop_in_a_bubble_in_a_pool_is_a_body_of_its_own() {
    for cells in [40, 96] {
        let mut case = nested(cells);
        let regions = case.regions();
        assert_eq!((regions.bodies.len(), regions.air.len()), (2, 2));
        let (bubble, room) = (case.region_at(&regions, [0.4, 0.5]), case.region_at(&regions, [0.4, 0.95]));
        assert_eq!(regions.interfaces.len(), 3);
        // In a closed box one constraint follows from the other: that of the larger surface is left out.
        let constrained = regions.constrained();
        let area = |region| -> f64 {
            regions.interfaces.iter().filter(|c| c.region == region).map(|c| c.area).sum()
        };
        assert!(area(bubble) > area(room));
        assert_eq!((constrained[bubble], constrained[room]), (false, true));

        case.params.open_sides[1][1] = true;
        let regions = case.regions();
        let constrained = regions.constrained();
        assert_eq!((regions.vented[bubble], regions.vented[room]), (false, true));
        assert_eq!((constrained[bubble], constrained[room]), (true, false));
        let in_bubble = regions.labels.values().iter().filter(|&&l| Owner::of(l) == Some(Owner::Air(bubble)));
        let cells_in_bubble = in_bubble.count() as f64;
        let expected = std::f64::consts::PI * (0.2_f64.powi(2) - 0.08_f64.powi(2)) * (cells * cells) as f64;
        assert!((cells_in_bubble / expected - 1.0).abs() < 0.06, "{cells_in_bubble} {expected}");
    }
}

#[test]
fn a_wall_parts_the_air_also_far_from_the_liquid() {
    // A closed box of solid stands in the far corner of the room, and air is in it.
    let shell = rectangle([0.6, 0.6], [0.95, 0.95]).difference(rectangle([0.65, 0.65], [0.9, 0.9]));
    let case = Case::new(128, rectangle([0.0, 0.0], [0.2, 0.1]), vec![shell]);
    let regions = case.regions();
    assert_eq!((regions.bodies.len(), regions.air.len()), (1, 2));
    let (inside, outside) = (case.region_at(&regions, [0.8, 0.8]), case.region_at(&regions, [0.5, 0.8]));
    assert_ne!(inside, outside);
    assert!(case.state.level_set.blocks().find([12, 12]).is_none(), "no field reaches there");
    // It touches no liquid, and the rest of the room is alone with its pool.
    assert_eq!(regions.constrained(), [false, false]);
}

#[test]
fn in_a_u_tube_one_of_two_regions_is_constrained() {
    let wall = rectangle([0.5, 0.3], [0.55, 1.0]);
    let mut case = Case::new(64, rectangle([0.0, 0.0], [1.0, 0.6]), vec![wall]);
    let regions = case.regions();
    assert_eq!((regions.bodies.len(), regions.air.len()), (1, 2));
    let (left, right) = (case.region_at(&regions, [0.2, 0.9]), case.region_at(&regions, [0.8, 0.9]));
    let constrained = regions.constrained();
    assert_eq!((constrained[left], constrained[right]), (false, true), "the left one is wider");
    // A sink in the right one lets its air out.
    case.surroundings.sinks = vec![rectangle([0.7, 0.8], [0.8, 0.9])];
    let regions = case.regions();
    let constrained = regions.constrained();
    assert_eq!((constrained[left], constrained[right]), (true, false));
}

/// Areas and volumes of discs, where liquid lies on either side; together all is there.
#[test]
fn bodies_and_regions_hold_what_their_shapes_say() {
    use std::f64::consts::PI;
    let check = |what: &str, found: f64, expected: f64, tolerance: f64| {
        assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} instead of {expected}");
    };
    for (cells, tolerance) in [(64, 0.02), (128, 0.005)] {
        let case = nested(cells);
        let Found { regions, volumes, .. } = case.found();
        let unit = cells as f64;
        let bubble = volumes.regions[case.region_at(&regions, [0.4, 0.5])];
        check("bubble", bubble.volume / unit.powi(2), PI * (0.04 - 0.0064), tolerance);
        check("its surface", bubble.area / unit, 2.0 * PI * 0.28, 0.02);
        for (found, expected) in bubble.centroid().into_iter().zip([0.4, 0.35]) {
            check("its centre", found / unit, expected, 1e-3);
        }
        let mut bodies: Vec<f64> = volumes.bodies.iter().map(|b| b.volume / unit.powi(2)).collect();
        bodies.sort_by(f64::total_cmp);
        check("drop", bodies[0], PI * 0.0064, 2.0 * tolerance);
        check("pool", bodies[1], 0.7 - PI * 0.04, tolerance);
        let liquid = volumes.bodies.iter().map(|b| b.volume).sum::<f64>() + volumes.stray_liquid;
        let all = volumes.regions.iter().map(|r| r.volume).sum::<f64>() + liquid;
        check("all", all, unit * unit, 1e-9);
    }
}

/// Blocks without fields count too, and so do the walls in them.
#[test]
fn the_air_far_from_the_liquid_is_measured() {
    let shell = rectangle([0.6, 0.6], [0.95, 0.95]).difference(rectangle([0.65, 0.65], [0.9, 0.9]));
    let case = Case::new(128, rectangle([0.0, 0.0], [0.2, 0.1]), vec![shell]);
    let Found { regions, volumes, .. } = case.found();
    let volume = |point| volumes.regions[case.region_at(&regions, point)].volume / 128.0_f64.powi(2);
    assert!((volume([0.8, 0.8]) / 0.0625 - 1.0).abs() < 1e-3, "{}", volume([0.8, 0.8]));
    assert!((volume([0.5, 0.8]) / (1.0 - 0.1225 - 0.02) - 1.0).abs() < 1e-3, "{}", volume([0.5, 0.8]));
}

/// A wall that lies between the nodes of the grid, and one that is a fifth of a cell thick and slanted, part the air.
#[test]
fn walls_thinner_than_a_cell_part_the_air() {
    let cells = 64;
    for at in [0.5, 0.503, 0.507, 0.51, 0.514] {
        let wall = rectangle([at, 0.3], [at + 0.2 / cells as f64, 1.1]);
        let case = Case::new(cells, rectangle([0.0, 0.0], [1.0, 0.5]), vec![wall]);
        let regions = case.regions();
        assert_eq!((regions.bodies.len(), regions.air.len()), (1, 2), "wall at {at}");
        let Found { volumes, .. } = case.found();
        for region in volumes.regions {
            assert!((region.volume / (cells * cells) as f64 - 0.25).abs() < 0.01, "{}", region.volume);
        }
    }
    for degrees in [10.0_f64, 33.0, 45.0, 71.0] {
        let rotation = Rotation::from_angle(degrees.to_radians()).unwrap();
        let turn = RigidTransform { rotation, translation: [0.5, 0.5] };
        let wall = rectangle([-1.0, 0.0], [1.0, 0.2 / cells as f64]).transformed(turn).unwrap();
        let case = Case::new(cells, disc([0.1, 0.85], 0.05), vec![wall]);
        let regions = case.regions();
        assert_eq!(regions.air.len(), 2, "wall at {degrees} degrees");
    }
}

/// The bubble of [`nested`] is filled with the pool, which touches it more than the drop does. All volume is kept, and nothing
/// is left of the bubble but its number.
#[test]
fn a_region_is_filled_with_what_touches_it_most() {
    let mut case = nested(40);
    let mut found = case.found();
    let (bubble, room) =
        (case.region_at(&found.regions, [0.4, 0.5]), case.region_at(&found.regions, [0.4, 0.95]));
    let before = found.volumes.clone();
    found.regions.fill(&[bubble], &mut found.volumes, &mut case.state.level_set);
    let gained: Vec<f64> = found
        .volumes
        .bodies
        .iter()
        .zip(&before.bodies)
        .map(|(after, before)| after.volume - before.volume)
        .collect();
    let pool = usize::from(before.bodies[1].volume > before.bodies[0].volume);
    assert_eq!((gained[pool], gained[1 - pool]), (before.regions[bubble].volume, 0.0));
    assert_eq!(found.volumes.regions[bubble], crate::holding::Holding::NOTHING);
    let owners: Vec<_> = found.regions.labels.values().iter().filter_map(|&label| Owner::of(label)).collect();
    assert!(!owners.contains(&Owner::Air(bubble)) && owners.contains(&Owner::Air(room)));
    assert!(found.regions.interfaces.iter().all(|interface| interface.region == room));
    assert_eq!(found.regions.constrained(), [false, false]);
    // The next search finds it gone.
    assert_eq!(case.regions().air.len(), 1);
}
