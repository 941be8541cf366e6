//! VALIDATION 7 and 8: surface tension and viscosity together.

use std::f64::consts::PI;

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_liquid::{InitialLiquid, Params, Slip, State, Surroundings, Workspace, probe};
use meniscus_tests::all_cells;

use crate::capillary::{elongation, params, run};

/// Half a wave of length 1 between walls that slip, on deep water, that begins at rest: the amplitude of the surface, by
/// the initial one, at times given in units of 1 / omega0.
fn capillary_wave(cells_per_wave: usize, viscosity: f64, times: &[f64]) -> Vec<f64> {
    // Nothing is felt of the floor: tanh(k depth) = 0.9998.
    const DEPTH: f64 = 0.753;
    const AMPLITUDE: f64 = 0.01;
    let dx = 1.0 / cells_per_wave as f64;
    let (k, omega) = (2.0 * PI, (2.0 * PI).powf(1.5));
    let params = Params { viscosity, ..params(dx, [cells_per_wave / 2, 3 * cells_per_wave / 4 + 6]) };
    let pool = Shape::box_between([0.0; 2], [0.5, DEPTH]).expect("a box");
    let mut state =
        State::new(&params, &[InitialLiquid { shape: pool, velocity: [0.0; 2] }], &Surroundings::default());
    let raised = |x: f64| AMPLITUDE * (k * x).cos();
    let band = state.level_set.background();
    for cell in all_cells(params.grid.cells).map(|cell| cell.map(|c| c as i64)) {
        let [x, y] = params.grid.cell_centre(cell);
        state.level_set.set(cell, (((y - DEPTH - raised(x)) / dx) as f32).clamp(-band, band));
    }
    state.surface_changed();
    for position in &mut state.particles.position {
        let [x, y] = params.grid.point(position.map(f64::from));
        position[1] += (raised(x) * (k * (y - DEPTH)).exp() / dx) as f32;
    }
    let first_mode = |state: &State<2>| {
        let column = |i: usize| {
            let x = (i as f64 + 0.5) * dx;
            (probe::height(state, &params, &Workspace::default(), [x, 0.0]) - DEPTH) * (k * x).cos()
        };
        4.0 * dx * (0..cells_per_wave / 2).map(column).sum::<f64>() / AMPLITUDE
    };
    let end = times.iter().copied().fold(0.0, f64::max) / omega;
    let curve = run(&mut state, &params, end, first_mode);
    times.iter().map(|t| at_time(&curve, t / omega)).collect()
}

/// The value of a curve at a time after its beginning, linear between its points.
pub fn at_time(curve: &[(f64, f64)], time: f64) -> f64 {
    let around = curve.windows(2).find(|w| w[1].0 >= time).expect("a time within the curve");
    let [before, after] = [around[0], around[1]];
    before.1 + (after.1 - before.1) * (time - before.0) / (after.0 - before.0)
}

const TIMES: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];

pub fn largest_difference(found: &[f64], exact: &[f64]) -> f64 {
    found.iter().zip(exact).map(|(found, exact)| (found - exact).abs()).fold(0.0, f64::max)
}

/// Prosperetti 1981, one liquid under a free surface. The largest error is 0.035, 0.026 and 0.016 for 32, 64 and 128 cells
/// per wave. It is one of phase: the wave is 0.3 % too fast. Its decay is right within 2 % of the amplitude at 64 cells.
#[test]
fn a_viscous_capillary_wave_decays_as_it_should() {
    let exact = [0.56407, -0.29032, -0.78610, -0.55875, 0.09916, 0.57694, 0.01604, -0.43920];
    for (cells, tolerance) in [(32, 0.04), (64, 0.03)] {
        let found = capillary_wave(cells, 0.018_257_174_9, &TIMES);
        let error = largest_difference(&found, &exact);
        assert!(error < tolerance, "{error} with {cells} cells: {found:?}");
    }
}

/// What decays without viscosity is the scheme's own doing: 3 % in a period and a half with 32 cells per wave. The rest of the error is one of phase: the wave is 0.7 % too slow.
#[test]
fn without_viscosity_a_capillary_wave_goes_on() {
    for (cells, tolerance) in [(32, 0.07), (64, 0.035)] {
        let found = capillary_wave(cells, 0.0, &TIMES);
        let error = largest_difference(&found, &TIMES.map(f64::cos));
        assert!(error < tolerance, "{error} with {cells} cells: {found:?}");
    }
}

/// The rate at which an elliptic drop becomes round when viscosity outweighs inertia, by that of theory: sigma / (mu R) for
/// the second mode.
fn rate_of_relaxation(cells_per_diameter: f64) -> f64 {
    const OHNESORGE: f64 = 5.0;
    let dx = 2.0 / cells_per_diameter;
    let cells = (3.2 / dx).ceil() as usize;
    let params = Params { viscosity: OHNESORGE, ..params(dx, [cells; 2]) };
    let centre: [f64; 2] = std::array::from_fn(|a| (0.5 * cells as f64 + [0.13, 0.37][a]) * dx);
    let body = InitialLiquid { shape: Shape::sphere(centre, 1.0).expect("a ball"), velocity: [0.0; 2] };
    let mut state = State::new(&params, &[body], &Surroundings::default());
    let axes = [0.9, 1.1];
    let band = state.level_set.background();
    for cell in all_cells(params.grid.cells).map(|cell| cell.map(|c| c as i64)) {
        let x = params.grid.cell_centre(cell);
        let scaled: [f64; 2] = std::array::from_fn(|a| (x[a] - centre[a]) / axes[a]);
        let radius = scaled[0].hypot(scaled[1]).max(0.1);
        let slope = (scaled[0] / axes[0]).hypot(scaled[1] / axes[1]).max(0.1) / radius;
        state.level_set.set(cell, (((radius - 1.0) / (slope * dx)) as f32).clamp(-band, band));
    }
    state.surface_changed();
    for position in &mut state.particles.position {
        let x = params.grid.point(position.map(f64::from));
        let stretched = std::array::from_fn(|a| centre[a] + axes[a] * (x[a] - centre[a]));
        *position = params.grid.to_cells(stretched).map(|x| x as f32);
    }
    let curve = run(&mut state, &params, OHNESORGE, |state| elongation(state, &params, centre));
    let [early, late] = [0.25, 0.95].map(|t| at_time(&curve, t * OHNESORGE));
    (early / late).ln() / 0.7
}

/// 0.976, 0.9985 and 1.006 of it at 12.8, 19.2 and 25.6 cells. With a single projection, after viscosity, it would be
/// 70 % too fast at 12.8 cells, and still 22 % at 25.6.
#[test]
fn a_viscous_drop_becomes_round_at_its_rate() {
    for (cells_per_diameter, tolerance) in [(12.8, 0.04), (19.2, 0.02)] {
        let rate = rate_of_relaxation(cells_per_diameter);
        assert!((rate - 1.0).abs() < tolerance, "{rate} at {cells_per_diameter} cells");
    }
}

/// Whether walls slip or not: viscosity must not see what gravity does before pressure answers it.
#[test]
fn a_viscous_pool_stays_at_rest() {
    for walls in [Slip::Free, Slip::None] {
        let grid = Grid { origin: [0.0; 2], dx: 1.0 / 24.0, cells: [24; 2] };
        let params = Params { viscosity: 200.0, walls, ..Params::new(grid) };
        let pool = Shape::box_between([0.0; 2], [1.0, 0.43]).expect("a box");
        let mut state = State::new(
            &params,
            &[InitialLiquid { shape: pool, velocity: [0.0; 2] }],
            &Surroundings::default(),
        );
        let seen = run(&mut state, &params, 1.0, |state| state.max_speed);
        let fastest = seen.iter().fold(0.0, |max: f64, s| max.max(s.1));
        assert!(fastest < 1e-5, "{walls:?}: {fastest}");
    }
}
