//! VALIDATION 9: the period of a standing wave, omega² = g k tanh k h, and its amplitude, which without viscosity stays what it is.

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_liquid::{InitialLiquid, Params, State, Surroundings, Transfer, Workspace, probe, step};

const DEPTH: f64 = 0.5;

/// The amplitude of cos(pi x) in the surface of a tank of length 1.
fn first_mode<const D: usize>(state: &State<D>, params: &Params<D>) -> f64 {
    let cells = params.grid.cells[0];
    let column = |i: usize| {
        let x = (i as f64 + 0.5) / cells as f64;
        let mut at = [0.5 * params.grid.dx * params.grid.cells[D - 1] as f64; D];
        at[0] = x;
        (probe::height(state, params, &Workspace::default(), at) - DEPTH) * (std::f64::consts::PI * x).cos()
    };
    2.0 / cells as f64 * (0..cells).map(column).sum::<f64>()
}

/// The period and the part of the amplitude that is left after two, from a surface that is tilted at first: its first mode has the amplitude `a` with ka = 0.05. Of the
/// other modes, the tilt holds none of the even and a ninth of this amplitude in the third.
fn period<const D: usize>(cells: [usize; D], transfer: Transfer) -> [f64; 2] {
    let grid = Grid { origin: [0.0; D], dx: 1.0 / cells[0] as f64, cells };
    let params = Params { transfer, ..Params::new(grid) };
    let slope = 0.05 * std::f64::consts::PI / 4.0;
    let (mut point, mut normal) = ([0.5; D], [0.0; D]);
    point[1] = DEPTH;
    (normal[0], normal[1]) = (slope, 1.0);
    let pool =
        InitialLiquid { shape: Shape::half_space(point, normal).expect("a plane"), velocity: [0.0; D] };
    let surroundings = Surroundings::default();
    let mut state = State::new(&params, &[pool], &surroundings);
    let mut workspace = Workspace::default();

    let dt = 0.005;
    let mut curve = vec![(0.0, first_mode(&state, &params))];
    while state.time < 3.2 {
        step(&mut state, &params, &surroundings, dt, &mut workspace).expect("the solve converges");
        curve.push((state.time, first_mode(&state, &params)));
    }
    let crossings: Vec<f64> = curve
        .windows(2)
        .filter(|w| w[0].1 * w[1].1 < 0.0)
        .map(|w| w[0].0 + (w[1].0 - w[0].0) * w[0].1 / (w[0].1 - w[1].1))
        .collect();
    assert!(crossings.len() >= 5, "{crossings:?}");
    // From the first to the fifth: two periods. Between the fourth and the fifth the wave is as it was at first.
    let between = curve.iter().filter(|p| (crossings[3]..crossings[4]).contains(&p.0));
    let late = between.map(|p| p.1.abs()).fold(0.0, f64::max);
    [0.5 * (crossings[4] - crossings[0]), late / curve[0].1.abs()]
}

fn reference() -> f64 {
    let k = std::f64::consts::PI;
    2.0 * k / (9.81 * k * (k * DEPTH).tanh()).sqrt()
}

/// Too short by 0.4 and 0.3 %; 1.005 and 0.990 of the amplitude are left after two periods.
#[test]
fn a_wave_in_a_plane_tank_has_its_period_and_keeps_its_amplitude() {
    for transfer in [Transfer::Apic, Transfer::Flip { blend: 0.97 }] {
        let [period, left] = period([64, 48], transfer);
        let error = period / reference() - 1.0;
        assert!(error.abs() < 0.01, "{transfer:?}: {period} s, {error:+.4}");
        assert!((0.9..1.01).contains(&left), "{transfer:?}: {left} of the amplitude after two periods");
    }
}

/// Too short by 0.6 %; 0.995 of the amplitude are left.
#[test]
fn a_wave_in_a_tank_in_space_has_its_period_and_keeps_its_amplitude() {
    let [period, left] = period([48, 36, 6], Transfer::Apic);
    let error = period / reference() - 1.0;
    assert!(error.abs() < 0.01, "{period} s, {error:+.4}");
    assert!((0.9..1.01).contains(&left), "{left} of the amplitude after two periods");
}
