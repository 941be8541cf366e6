//! VALIDATION 7: surface tension. Density, surface tension and the radius of drops and bubbles are 1, so that speeds
//! are in units of sqrt(sigma / (rho R)); there is neither gravity nor viscosity.

use std::f64::consts::PI;

use meniscus_core::grid::Field;
use meniscus_core::shape::Shape;
use meniscus_core::vector::{dot, sub};
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, SecondFluid, Solid, State, Surroundings, Workspace, max_time_step,
    probe, step,
};
use meniscus_tests::{Case, all_cells, tight_params};

use crate::capillary::{crossings, elongation, params, run, set_flow};

/// A drop of radius 1 near the middle of a box of side 3, at no particular place of the grid, and its centre.
fn drop<const D: usize>(cells_per_diameter: f64) -> (Params<D>, State<D>, [f64; D]) {
    let dx = 2.0 / cells_per_diameter;
    let cells = (3.0 / dx).ceil() as usize;
    let params = params(dx, [cells; D]);
    let centre = std::array::from_fn(|a| (0.5 * cells as f64 + [0.13, 0.37, 0.21][a]) * dx);
    let body = InitialLiquid { shape: Shape::sphere(centre, 1.0).expect("a ball"), velocity: [0.0; D] };
    let state = State::new(&params, &[body], &Surroundings::default());
    (params, state, centre)
}

/// The mean velocity of the particles.
fn drift<const D: usize>(state: &State<D>) -> f64 {
    let n = state.particles.len() as f64;
    let mean = |a: usize| state.particles.velocity.iter().map(|v| f64::from(v[a])).sum::<f64>() / n;
    (0..D).map(|a| mean(a).powi(2)).sum::<f64>().sqrt()
}

/// Jumps of the pressure that are constant on each surface move nothing, and are felt inside: two bubbles and a free
/// surface in one liquid.
#[test]
fn constant_jumps_balance() {
    let balls = [([0.3, 0.4], 0.11), ([0.68, 0.35], 0.17)];
    let ball = |point: [f64; 2], (centre, radius): ([f64; 2], f64)| {
        radius - (point[0] - centre[0]).hypot(point[1] - centre[1])
    };
    let mut case = Case::<2>::with_open(40, |_, _| 1.0);
    case.set_level_set(|point| balls.iter().fold(point[1] - 0.83, |level, &b| level.max(ball(point, b))));
    let grid = case.grid;
    let nearest = |cell: [usize; 2]| {
        let point = grid.cell_centre(cell.map(|c| c as i64));
        balls.iter().position(|&b| ball(point, b) > -0.05)
    };
    case.set_bubbles(vec![0.0; 2], |cell| {
        let point = grid.cell_centre(cell.map(|c| c as i64));
        balls.iter().position(|&b| ball(point, b) >= 0.0).map(|b| b as u32)
    });
    let excess = |cell: [usize; 2]| nearest(cell).map_or(50.0, |b| [-300.0, -200.0][b]);
    case.surface_pressure = Some(Field::from_fn(case.blocks.clone(), 0.0, excess));
    let info = case.project(&tight_params()).expect("converges");
    assert!(case.max_speed() < 1e-9, "{}", case.max_speed());
    // The liquid is at 50 Pa, below what lies above it.
    assert!((info.bubble_pressure[0] - 350.0).abs() < 1e-6 && (info.bubble_pressure[1] - 250.0).abs() < 1e-6);
    assert!((case.pressure.get([20, 3]) - 50.0).abs() < 1e-6);
}

/// The pressure of the liquid in a drop, and around a bubble in a closed box: its mean over space and 40 substeps
/// from rest. In a single substep the correction of the volume adds a pressure of its own.
fn laplace<const D: usize>(cells_per_diameter: f64) -> [f64; 2] {
    let mean = |state: &State<D>| {
        let inside = state.pressure.values().iter().filter(|&&p| p != 0.0);
        let (n, sum) = inside.fold((0.0, 0.0), |(n, sum), p| (n + 1.0, sum + p));
        sum / n
    };
    let after_steps = |params: &Params<D>, mut state: State<D>| {
        let end = 40.0 * max_time_step(&state, params);
        let seen = run(&mut state, params, end, mean);
        seen[1..].iter().map(|s| s.1).sum::<f64>() / (seen.len() - 1) as f64
    };
    let (params, state, centre) = drop::<D>(cells_per_diameter);
    let of_drop = after_steps(&params, state);
    let params = Params { air: AirModel::Bubbles, ..params };
    let side = params.grid.dx * params.grid.cells[0] as f64;
    let full = Shape::box_between([0.0; D], [side; D]).expect("a box");
    let shape = full.difference(Shape::sphere(centre, 1.0).expect("a ball"));
    let state = State::new(&params, &[InitialLiquid { shape, velocity: [0.0; D] }], &Surroundings::default());
    [of_drop, after_steps(&params, state)]
}

/// sigma / R in the plane, 2 sigma / R in space; in the liquid around a bubble as much less.
#[test]
fn pressure_jumps_as_laplace_says() {
    for (cells_per_diameter, tolerance) in [(12.8, 0.003), (25.6, 0.001)] {
        let [drop, bubble] = laplace::<2>(cells_per_diameter);
        assert!((drop - 1.0).abs() < tolerance, "{drop}");
        assert!((-bubble - 1.0).abs() < tolerance, "{bubble}");
    }
    let [drop, bubble] = laplace::<3>(12.8);
    assert!((drop / 2.0 - 1.0).abs() < 0.005, "{drop}");
    assert!((-bubble / 2.0 - 1.0).abs() < 0.005, "{bubble}");
}

/// The largest speed in any substep of the periods 2 to 8 of the oscillation of a drop at rest, and how fast it drifts at most.
fn unrest(cells_per_diameter: f64) -> (f64, f64) {
    let period = 2.0 * PI / 6_f64.sqrt();
    let (params, mut state, centre) = drop::<2>(cells_per_diameter);
    let seen = run(&mut state, &params, 8.0 * period, |state| (state.max_speed, drift(state)));
    assert!(elongation(&state, &params, centre).abs() < 1e-3);
    let late = seen.iter().filter(|s| s.0 > period);
    late.fold((0.0, 0.0), |(speed, drift): (f64, f64), s| (speed.max(s.1.0), drift.max(s.1.1)))
}

/// Without viscosity nothing but the grid's own damping takes away what errors of the curvature stir up. It stays
/// small, 0.47 % and 0.28 %, and the drop where it is: the forces of tension add up to nothing.
#[test]
fn a_drop_stays_at_rest() {
    for (cells_per_diameter, limit) in [(12.8, 0.01), (25.6, 0.01)] {
        let (speed, drift) = unrest(cells_per_diameter);
        assert!(speed < limit, "{speed} at {cells_per_diameter} cells");
        assert!(drift < 0.001, "{drift} at {cells_per_diameter} cells");
    }
}

/// Half a drop on a floor that cuts cells: the floor takes its share of the forces of tension, which do not add up to nothing on what is seen of the surface.
#[test]
fn half_a_drop_stays_on_its_floor() {
    let params = params(1.0 / 32.0, [32; 2]);
    let centre = [0.5, 0.26];
    let floor = Shape::half_space(centre, [0.0, 1.0]).expect("a plane");
    let shape = Shape::sphere(centre, 0.25).expect("a ball").difference(floor.clone());
    let surroundings = Surroundings { solids: vec![Solid::fixed(floor)], ..Surroundings::default() };
    let mut state = State::new(&params, &[InitialLiquid { shape, velocity: [0.0; 2] }], &surroundings);
    let mut workspace = Workspace::default();
    let mut fastest: f64 = 0.0;
    while state.time < 1.0 {
        let dt = max_time_step(&state, &params);
        step(&mut state, &params, &surroundings, dt, &mut workspace).expect("the solve converges");
        fastest = fastest.max(state.max_speed);
    }
    let volume = state.volume / (0.5 * PI * 0.25 * 0.25);
    assert!(fastest < 0.02 && (volume - 1.0).abs() < 0.01, "{fastest}, {volume} of the volume");
}

/// Two minutes.
#[test]
#[ignore = "takes long: ./check --long"]
fn long_a_fine_drop_stays_at_rest() {
    let (speed, drift) = unrest(51.2);
    assert!(speed < 0.005 && drift < 0.001, "{speed} {drift}");
}

/// Nothing damps a drop that oscillates, nor does it gain much: its kinetic energy when it is round, after eight periods by that after half of one.
#[test]
fn a_drop_goes_on_oscillating() {
    let (params, mut state, centre) = drop::<2>(12.8);
    set_flow(&mut state, &params, |x| [-0.12 * (x[0] - centre[0]), 0.12 * (x[1] - centre[1])]);
    let period = 2.0 * PI / 6_f64.sqrt();
    let seen = run(&mut state, &params, 8.3 * period, |state| state.energy[0]);
    let peak = |around: f64| {
        let near = seen[1..].iter().filter(|s| (s.0 / period - around).abs() < 0.25);
        near.fold(0.0, |max: f64, s| max.max(s.1))
    };
    let gain = peak(8.0) / peak(0.5);
    assert!((0.9..1.12).contains(&gain), "{gain}");
}

/// The period of the second mode of a drop from its circular or spherical shape in a straining flow, by that of theory.
fn period_of_drop<const D: usize>(cells_per_diameter: f64, periods: f64) -> f64 {
    let (params, mut state, centre) = drop::<D>(cells_per_diameter);
    let strain: [f64; D] = std::array::from_fn(|a| if a == 1 { 0.12 } else { -0.12 / (D - 1) as f64 });
    set_flow(&mut state, &params, |x| std::array::from_fn(|a| strain[a] * (x[a] - centre[a])));
    // n (n² - 1) in the plane, n (n - 1) (n + 2) in space.
    let expected = 2.0 * PI / if D == 2 { 6_f64 } else { 8.0 }.sqrt();
    let curve = run(&mut state, &params, periods * expected, |state| elongation(state, &params, centre));
    period(&curve) / expected
}

/// The mean period of a curve, by its crossings of zero.
fn period(curve: &[(f64, f64)]) -> f64 {
    let found = crossings(curve);
    let last = found.len() - 1;
    2.0 * (found[last] - found[0]) / last as f64
}

/// A code that is good at this is off by 0.5 % at 12.8 cells.
#[test]
fn a_drop_oscillates_with_its_frequency() {
    for (cells_per_diameter, tolerance) in [(12.8, 0.02), (25.6, 0.01)] {
        let period = period_of_drop::<2>(cells_per_diameter, 1.6);
        assert!((period - 1.0).abs() < tolerance, "{period} at {cells_per_diameter} cells");
    }
}

/// A drop in a fluid of a thousandth of its density, in a box of five radii: its kinetic energy swings with 154.8 1/s for a diameter of 0.2, twice as often as its shape.
#[test]
fn a_drop_in_another_fluid_oscillates_with_its_frequency() {
    let (ratio, cells) = (0.001, 64);
    let second = SecondFluid { density: ratio, viscosity: 0.0 };
    let params = Params {
        air: AirModel::TwoPhase(second),
        ..params::<2>(5.0 / f64::from(cells), [cells as usize; 2])
    };
    let centre = [0.13, 0.37].map(|offset| (0.5 * f64::from(cells) + offset) * params.grid.dx);
    let body = InitialLiquid { shape: Shape::sphere(centre, 1.0).expect("a ball"), velocity: [0.0; 2] };
    let mut state = State::new(&params, &[body], &Surroundings::default());
    set_flow(&mut state, &params, |x| {
        let x = sub(x, centre);
        if dot(x, x) < 1.0 { [-0.12 * x[0], 0.12 * x[1]] } else { second_mode(x).map(|u| 0.12 * u) }
    });
    let expected = 2.0 * PI / (6.0 / (1.0 + ratio)).sqrt();
    let curve = run(&mut state, &params, 1.6 * expected, |state| elongation(state, &params, centre));
    let period = period(&curve) / expected;
    assert!((period - 1.0).abs() < 0.02, "{period}");
}

#[test]
fn a_drop_in_space_oscillates_with_its_frequency() {
    let period = period_of_drop::<3>(12.8, 1.1);
    assert!((period - 1.0).abs() < 0.03, "{period}");
}

/// The period of the second mode of a bubble in the middle of a pool of so many radii across and in depth, by that of
/// theory. What the pool's walls and surface send back of the flow changes it by about the (D + 2)th power of the inverse
/// of its width.
fn period_of_bubble<const D: usize>(cells_per_radius: usize, across: usize) -> f64 {
    let n = cells_per_radius;
    let dx = 1.0 / n as f64;
    let mut open_sides = [[false; 2]; D];
    open_sides[1][1] = true;
    let mut cells = [across * n; D];
    cells[1] += n;
    let params = Params { air: AirModel::Bubbles, open_sides, ..params(dx, cells) };
    let middle = 0.5 * across as f64;
    let centre: [f64; D] = std::array::from_fn(|a| middle + [0.13, 0.37, 0.21][a] * dx);
    let pool = Shape::box_between([0.0; D], [across as f64; D]).expect("a box");
    let shape = pool.difference(Shape::sphere(centre, 1.0).expect("a ball"));
    let mut state =
        State::new(&params, &[InitialLiquid { shape, velocity: [0.0; D] }], &Surroundings::default());
    set_flow(&mut state, &params, |x| second_mode(sub(x, centre)).map(|u| 0.12 * u));
    // n (n² - 1) in the plane, (n + 1) (n - 1) (n + 2) in space.
    let expected = 2.0 * PI / if D == 2 { 6_f64 } else { 12.0 }.sqrt();
    // Moments of the air about the centre, but for that over the pool.
    let air = |state: &State<D>| {
        let below = all_cells(cells).filter(|cell| 2 * cell[1] < (2 * across - 1) * n);
        let moment = |cell: [usize; D]| {
            let cell = cell.map(|c| c as i64);
            let part = f64::from((0.5 + state.level_set.get(cell)).clamp(0.0, 1.0));
            let x = sub(params.grid.cell_centre(cell), centre);
            part * (x[1] * x[1] - x[0] * x[0])
        };
        below.map(moment).sum::<f64>()
    };
    let curve = run(&mut state, &params, 1.15 * expected, air);
    let found = crossings(&curve);
    2.0 * (found[1] - found[0]) / expected
}

/// The flow of the second mode outside a ball of radius 1, of speed 1 at its poles along y: the gradient of
/// `(D y² - r²) / r^(D + 2)` over `D (D - 1)`. Near the middle, where there is no liquid, its argument is held back.
fn second_mode<const D: usize>(x: [f64; D]) -> [f64; D] {
    let d = D as f64;
    let r2 = dot(x, x).max(0.5);
    let value = d * x[1] * x[1] - r2;
    let slope = |a: usize| {
        let of_value = 2.0 * x[a] * if a == 1 { d - 1.0 } else { -1.0 };
        (of_value - (d + 2.0) * value * x[a] / r2) / r2.powf(0.5 * (d + 2.0))
    };
    std::array::from_fn(|a| slope(a) / (d * (d - 1.0)))
}

/// Around a bubble the flow falls with r⁻³, so the velocity with which the surface moves depends on how the liquid's is
/// continued across it. The period is too long by 7.4, 3.6 and 1.5 % for 6, 8 and 13 cells per radius. Of this the walls make 0.4 %.
#[test]
fn a_bubble_oscillates_with_its_frequency() {
    for (cells_per_radius, tolerance) in [(6, 0.08), (8, 0.04), (13, 0.02)] {
        let error = period_of_bubble::<2>(cells_per_radius, 8) - 1.0;
        assert!(error.abs() < tolerance, "{error} at {cells_per_radius} cells");
    }
}

/// In a pool of four radii 1.9 % of the error are due to the walls. The rest is 8 %, the error in the plane at as many cells and a little more.
#[test]
fn a_bubble_in_space_oscillates_with_its_frequency() {
    let error = period_of_bubble::<3>(6, 4) - 1.019;
    assert!(error.abs() < 0.09, "{error}");
}

/// omega² = sigma k³ / rho tanh(kh), for half a wave between walls.
#[test]
fn a_capillary_wave_has_its_period() {
    const CELLS: usize = 32;
    const DEPTH: f64 = 0.52;
    let params = params(1.0 / CELLS as f64, [CELLS, 24]);
    let pool = Shape::box_between([0.0; 2], [1.0, DEPTH]).expect("a box");
    let mut state =
        State::new(&params, &[InitialLiquid { shape: pool, velocity: [0.0; 2] }], &Surroundings::default());
    let k = PI;
    let omega = (k.powi(3) * (k * DEPTH).tanh()).sqrt();
    // A surface of height a sin(omega t) cos(kx), with ka = 0.05.
    let speed = 0.05 / k * omega / (k * DEPTH).sinh();
    set_flow(&mut state, &params, |[x, y]| {
        let y = y.clamp(0.0, 0.6);
        [-speed * (k * x).sin() * (k * y).cosh(), speed * (k * x).cos() * (k * y).sinh()]
    });
    let mode = |state: &State<2>| {
        let column = |i: usize| {
            let x = (i as f64 + 0.5) / CELLS as f64;
            (probe::height(state, &params, &Workspace::default(), [x, 0.0]) - DEPTH) * (k * x).cos()
        };
        (0..CELLS).map(column).sum::<f64>()
    };
    let curve = run(&mut state, &params, 1.1 * 2.0 * PI / omega, mode);
    let found = crossings(&curve);
    let period = 2.0 * (found[1] - found[0]) * omega / (2.0 * PI);
    assert!((period - 1.0).abs() < 0.02, "{period}");
}

/// A flat pool between walls, under gravity or not, feels nothing of its surface tension.
#[test]
fn a_flat_pool_stays_at_rest() {
    for gravity in [0.0, -9.81] {
        let mut params = params(1.0 / 24.0, [24; 2]);
        params.gravity[1] = gravity;
        params.solve.tolerance = 1e-9;
        let pool = Shape::box_between([0.0; 2], [1.0, 0.43]).expect("a box");
        let mut state = State::new(
            &params,
            &[InitialLiquid { shape: pool, velocity: [0.0; 2] }],
            &Surroundings::default(),
        );
        let seen = run(&mut state, &params, 0.3, |state| state.max_speed);
        let fastest = seen.iter().fold(0.0, |max: f64, s| max.max(s.1));
        assert!(fastest < 1e-4, "{fastest}");
    }
}

/// 500 steps just below the limit: a drop that oscillates loses energy, and its surface stays smooth. The limit is
/// that of the shortest wave.
#[test]
fn the_largest_time_step_is_stable() {
    let (params, mut state, centre) = drop::<2>(9.0);
    let limit = 2.0 * (params.grid.dx / PI).powf(1.5);
    assert!((max_time_step(&state, &params) / limit - 1.0).abs() < 1e-12);
    set_flow(&mut state, &params, |x| [-0.2 * (x[0] - centre[0]), 0.2 * (x[1] - centre[1])]);
    let seen = run(&mut state, &params, 500.0 * limit, |state| state.max_speed);
    let fastest = seen[1..].iter().fold(0.0, |max: f64, s| max.max(s.1));
    assert!(fastest < 0.4, "{fastest}");
}

/// Drops and films of the size of a cell, thrown together, gain no speed beyond that of capillary waves of that size.
#[test]
fn what_the_grid_does_not_resolve_stays_calm() {
    let params = params(1.0 / 24.0, [24; 2]);
    let dx = params.grid.dx;
    let drops = (0..12).map(|i| {
        let at = [(f64::from(i) * 0.618).fract(), (f64::from(i) * 0.414).fract()];
        Shape::sphere(at.map(|x| 0.1 + 0.8 * x), dx * (0.6 + 0.1 * f64::from(i))).expect("a ball")
    });
    let film = Shape::box_between([0.1, 0.5], [0.9, 0.5 + 1.3 * dx]).expect("a box");
    let bodies: Vec<_> =
        drops.chain([film]).map(|shape| InitialLiquid { shape, velocity: [0.0; 2] }).collect();
    let mut state = State::new(&params, &bodies, &Surroundings::default());
    let end = 200.0 * max_time_step(&state, &params);
    let seen = run(&mut state, &params, end, |state| state.max_speed);
    let fastest = seen.iter().fold(0.0, |max: f64, s| max.max(s.1));
    assert!(fastest < 4.0 / dx.sqrt(), "{fastest}");
}

#[test]
fn the_same_bits_for_any_number_of_threads_with_surface_tension() {
    let result = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let (params, mut state, centre) = drop::<3>(9.0);
            set_flow(&mut state, &params, |x| [0.0, 0.3 * (x[1] - centre[1]), -0.3 * (x[2] - centre[2])]);
            let end = 10.0 * max_time_step(&state, &params);
            run(&mut state, &params, end, |_| ());
            state
        })
    };
    let one = result(1);
    assert!(one == result(2) && one == result(3));
}
