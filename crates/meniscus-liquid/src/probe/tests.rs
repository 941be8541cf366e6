use std::f64::consts::PI;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::Shape;

use super::*;
use crate::boundary::{Boundary, BoundaryCache};
use crate::state::InitialLiquid;
use crate::surroundings::{Solid, Surroundings};

const DX: f64 = 0.1;

/// A moment with a level set and a velocity, in metres, whatever they are in solids.
struct Moment<const D: usize> {
    params: Params<D>,
    state: State<D>,
    workspace: Workspace<D>,
}

impl<const D: usize> Moment<D> {
    fn new(
        solids: Vec<Shape<D>>,
        level: impl Fn([f64; D]) -> f64 + Sync,
        velocity: impl Fn([f64; D]) -> [f64; D] + Sync,
    ) -> Self {
        let params = Params::new(Grid { origin: [0.0; D], dx: DX, cells: [20; D] });
        let solids = solids.into_iter().map(Solid::fixed).collect();
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let everywhere = Shape::box_between([0.0; D], [2.0; D]).unwrap();
        let body = InitialLiquid { shape: everywhere, velocity: [0.0; D] };
        let mut state = State::new(&params, &[body], &surroundings);
        let blocks = Arc::new(Blocks::all(params.grid.cells));
        let at = |cell: [usize; D]| level(params.grid.cell_centre(cell.map(|c| c as i64))) / DX;
        state.level_set = Field::from_fn(blocks.clone(), 3.0, |cell| at(cell) as f32);
        state.velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| {
            velocity(params.grid.face_centre(axis, cell.map(|c| c as i64)))[axis] as f32
        });
        let walls = Boundary::new(&params, &surroundings, &blocks, &mut BoundaryCache::default());
        let mut workspace = Workspace::default();
        workspace.walls = Some(walls);
        Self { params, state, workspace }
    }

    fn at_rest(solids: Vec<Shape<D>>, level: impl Fn([f64; D]) -> f64 + Sync) -> Self {
        Self::new(solids, level, |_| [0.0; D])
    }

    fn within(&self, shape: &Shape<D>) -> LiquidWithin<D> {
        within(&self.state, &self.params, &self.workspace, shape)
    }

    fn height(&self, at: [f64; D]) -> f64 {
        height(&self.state, &self.params, &self.workspace, at)
    }

    fn underside(&self, at: [f64; D]) -> Option<f64> {
        underside(&self.state, &self.params, &self.workspace, at)
    }

    fn front(&self, side: (usize, usize), least: f64) -> Option<f64> {
        front(&self.state, &self.params, &self.workspace, side, least)
    }
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

fn block(lower: [f64; 2], upper: [f64; 2]) -> Shape<2> {
    Shape::box_between(lower, upper).unwrap()
}

#[test]
fn a_box_in_a_pool_holds_what_is_below_the_surface() {
    for surface in [0.73, 0.75, 0.8, 1.04] {
        let pool = Moment::<2>::at_rest(vec![], |x| x[1] - surface);
        // With the surface above the box, in the cells of its lid, and below.
        for top in [0.6, 0.76, 1.01, 1.5] {
            let found = pool.within(&block([0.33, 0.2], [1.21, top])).volume;
            near(found, (1.21 - 0.33) * (f64::min(surface, top) - 0.2), 1e-3);
        }
        let above = pool.within(&block([0.3, 1.3], [1.0, 1.8]));
        assert_eq!((above.volume, above.velocity, above.kinetic_energy), (0.0, None, 0.0));
    }
}

#[test]
fn a_ball_in_a_pool_holds_its_volume_and_its_lower_half() {
    let ball = Shape::<3>::sphere([1.0, 0.9, 1.1], 0.6).unwrap();
    let exact = 4.0 / 3.0 * PI * 0.6_f64.powi(3);
    let full = Moment::<3>::at_rest(vec![], |x| x[1] - 1.8);
    near(full.within(&ball).volume, exact, 0.002 * exact);
    let half = Moment::<3>::at_rest(vec![], |x| x[1] - 0.9);
    near(half.within(&ball).volume, 0.5 * exact, 0.002 * exact);
}

#[test]
fn what_solids_take_is_not_in_a_box() {
    let pool = Moment::<2>::at_rest(vec![block([-1.0, -1.0], [3.0, 0.15])], |x| x[1] - 0.73);
    near(pool.within(&block([0.3, 0.0], [1.3, 1.5])).volume, 0.73 - 0.15, 1e-3);
    // The bottom of the box in the same cells as the floor.
    near(pool.within(&block([0.3, 0.12], [1.3, 1.5])).volume, 0.73 - 0.15, 1e-3);
    near(pool.within(&block([0.3, 0.17], [1.3, 1.5])).volume, 0.73 - 0.17, 1e-3);
    let pool = Moment::<2>::at_rest(vec![block([0.5, -1.0], [0.84, 3.0])], |x| x[1] - 0.73);
    near(pool.within(&block([0.3, 0.2], [1.3, 1.5])).volume, (1.0 - 0.34) * (0.73 - 0.2), 1e-3);
    near(pool.within(&block([0.8, 0.2], [1.3, 1.5])).volume, (1.3 - 0.84) * (0.73 - 0.2), 1e-3);
    assert_eq!(pool.within(&block([0.6, 0.3], [0.7, 0.6])).volume, 0.0);
}

/// A disc that turns about a point c at a distance d of its centre has the velocity w x d and the energy ½ m w² (d² + r²/2).
#[test]
fn liquid_that_turns_has_its_mean_velocity_and_energy() {
    let (rate, centre, radius) = (3.0, [1.1, 0.8], 0.45);
    let turning = Moment::<2>::new(vec![], |_| -3.0, |x| [-rate * (x[1] - 0.2), rate * (x[0] - 0.6)]);
    let found = turning.within(&Shape::sphere(centre, radius).unwrap());
    let [across, along] = found.velocity.unwrap();
    near(across, -rate * 0.6, 1e-4);
    near(along, rate * 0.5, 1e-4);
    let mass = turning.params.density * PI * radius * radius;
    near(found.volume, PI * radius * radius, 1e-3);
    let exact = 0.5 * mass * rate * rate * (0.6 * 0.6 + 0.5 * 0.5 + 0.5 * radius * radius);
    near(found.kinetic_energy, exact, 0.02 * exact);
}

#[test]
fn the_mean_velocity_is_that_of_the_liquid_alone() {
    // Air goes the other way; beyond the surface the liquid's velocity is continued for a cell.
    let pool =
        Moment::<2>::new(vec![], |x| x[1] - 0.7, |x| if x[1] < 0.8 { [2.0, 0.0] } else { [-9.0, 0.0] });
    let found = pool.within(&block([0.2, 0.3], [1.4, 1.9]));
    assert_eq!(found.velocity, Some([2.0, 0.0]));
    near(found.kinetic_energy, 0.5 * pool.params.density * 4.0 * 1.2 * 0.4, 1.0);
}

#[test]
fn without_walls_a_shape_is_as_without_solids() {
    let mut pool = Moment::<2>::at_rest(vec![], |x| x[1] - 0.73);
    let with_walls = pool.within(&block([0.3, 0.1], [1.1, 0.9]));
    pool.workspace.walls = None;
    assert_eq!(pool.within(&block([0.3, 0.1], [1.1, 0.9])), with_walls);
}

#[test]
fn the_height_is_that_of_the_surface() {
    for surface in [0.03, 0.73, 1.93] {
        near(Moment::<2>::at_rest(vec![], |x| x[1] - surface).height([0.6, 0.0]), surface, 1e-6);
    }
    assert_eq!(Moment::<2>::at_rest(vec![], |_| 1.0).height([0.6, 0.0]), 0.0);
}

/// The level set of the pool goes on through all of them.
#[test]
fn the_height_does_not_see_the_level_set_in_solids() {
    let pool = |solid| Moment::<2>::at_rest(vec![solid], |x| x[1] - 1.23).height([0.64, 0.0]);
    // A pillar through the surface, a block that stands out of it, and a wall of two cells.
    assert_eq!(pool(block([0.4, -1.0], [1.0, 3.0])), 0.0);
    assert_eq!(pool(block([0.4, -1.0], [1.0, 1.5])), 0.0);
    assert_eq!(pool(block([0.55, -1.0], [0.75, 3.0])), 0.0);
    // Beside it, above it and below it.
    near(pool(block([0.8, -1.0], [1.0, 3.0])), 1.23, 1e-6);
    near(pool(block([0.4, -1.0], [1.0, 0.87])), 1.23, 1e-6);
    near(pool(block([0.4, 0.87], [1.0, 3.0])), 0.87, 1e-6);
}

/// The level set of a puddle beside it goes on through a slab that covers the centres of the lowest cells.
#[test]
fn a_dry_slab_on_the_floor_has_no_height() {
    for top in [0.03, 0.06, 0.07, 0.09, 0.13] {
        let slab = block([-1.0, -1.0], [3.0, top]);
        assert_eq!(Moment::<2>::at_rest(vec![slab], |x| x[1] - 0.02).height([0.64, 0.0]), 0.0, "{top}");
    }
    let wet = Moment::<2>::at_rest(vec![block([-1.0, -1.0], [3.0, 0.02])], |x| x[1] - 0.04);
    near(wet.height([0.64, 0.0]), 0.04, 1e-6);
}

#[test]
fn what_hangs_over_air_has_an_underside() {
    let slab = |x: [f64; 2]| f64::max(0.84 - x[1], x[1] - 1.13);
    let hanging = Moment::<2>::at_rest(vec![], slab);
    near(hanging.underside([0.6, 0.0]).unwrap(), 0.84, 1e-6);
    // A pool below it makes no difference, nor does a second slab above.
    let pool = Moment::<2>::at_rest(vec![], |x| slab(x).min(x[1] - 0.33));
    near(pool.underside([0.6, 0.0]).unwrap(), 0.84, 1e-6);
    let two = Moment::<2>::at_rest(vec![], |x| slab(x).min(f64::max(1.42 - x[1], x[1] - 1.87)));
    near(two.underside([2.0, 0.0]).unwrap(), 0.84, 1e-6);
    // The top of a bubble.
    let bubble = Moment::<2>::at_rest(vec![], |x| 0.4 - (x[0] - 0.9).hypot(x[1] - 0.8));
    near(bubble.underside([0.9, 0.0]).unwrap(), 1.2, 5e-3);
    assert_eq!(bubble.underside([1.5, 0.0]), None);
}

#[test]
fn what_stands_on_something_has_no_underside() {
    assert_eq!(Moment::<2>::at_rest(vec![], |x| x[1] - 0.73).underside([0.6, 0.0]), None);
    assert_eq!(Moment::<2>::at_rest(vec![], |_| 1.0).underside([0.6, 0.0]), None);
    // On shelves over air, thick ones and one that lies between the nodes of the grid.
    for [bottom, top] in [[0.51, 0.93], [0.51, 0.63], [0.62, 0.66]] {
        let middle = 0.5 * (bottom + top);
        let shelf = Moment::<2>::at_rest(vec![block([-1.0, bottom], [3.0, top])], |x| {
            f64::max(middle - x[1], x[1] - 1.13)
        });
        assert_eq!(shelf.underside([0.6, 0.0]), None, "{bottom} {top}");
        near(shelf.height([0.6, 0.0]), 1.13, 1e-6);
    }
}

/// The distance to the region below a roof, or to one that it hides.
fn below(roof: f64, end: f64, x: [f64; 2]) -> f64 {
    f64::max(x[1] - roof, x[0] - end)
}

#[test]
fn the_front_passes_over_films_and_drops() {
    let wave = Moment::<2>::at_rest(vec![], |x| below(0.6, 0.83, x).min(below(0.07, 1.46, x)));
    near(wave.front((0, 1), 0.0).unwrap(), 1.46, 1e-6);
    near(wave.front((0, 1), 0.05).unwrap(), 1.46, 1e-6);
    // The cells at its foot see both the film and the face of the wave.
    near(wave.front((0, 1), 0.1).unwrap(), 0.83, 0.3 * DX);
    near(wave.front((0, 1), 0.2).unwrap(), 0.83, 1e-6);
    near(wave.front((1, 1), 0.1).unwrap(), 0.6, 1e-6);
    assert_eq!(wave.front((0, 1), 1.2), None);
    // A drop ahead of it, and a film below the ceiling.
    let drop = |x: [f64; 2]| (x[0] - 1.45).hypot(x[1] - 1.05) - 0.09;
    let film = |x: [f64; 2]| 1.92 - x[1];
    let spray = Moment::<2>::at_rest(vec![], |x| below(0.6, 0.83, x).min(drop(x)).min(film(x)));
    assert!(spray.front((0, 1), 0.0).unwrap() > 1.9);
    near(spray.front((0, 1), 0.2).unwrap(), 0.83, 1e-6);
    near(spray.front((1, 1), 0.2).unwrap(), 0.6, 1e-6);
}

#[test]
fn the_front_of_a_wedge_is_where_it_is_thick_enough() {
    let slope = 0.3;
    let wedge = Moment::<2>::at_rest(vec![], |x| (x[1] - 0.5 + slope * x[0]) / f64::hypot(1.0, slope));
    for least in [0.1, 0.15, 0.2, 0.25] {
        near(wedge.front((0, 1), least).unwrap(), (0.5 - least) / slope, 1e-6);
    }
}

/// What the level set holds in a solid does not make a film on it thick.
#[test]
fn a_film_on_a_solid_is_as_thin_as_it_is() {
    let step = block([-1.0, -1.0], [3.0, 0.32]);
    let film = Moment::<2>::at_rest(vec![step], |x| below(0.9, 0.83, x).min(below(0.42, 1.46, x)));
    near(film.front((0, 1), 0.0).unwrap(), 1.46, 1e-6);
    near(film.front((0, 1), 0.15).unwrap(), 0.83, 1e-6);
}
