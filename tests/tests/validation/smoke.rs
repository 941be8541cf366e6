//! A fluid that fills the domain, and smoke in it.

use std::f64::consts::PI;

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, Smoke, Solid, State, Surroundings, Transfer, Workspace, max_time_step,
    step,
};

fn params<const D: usize>(cells: [usize; D]) -> Params<D> {
    let grid = Grid { origin: [0.0; D], dx: 1.0 / cells[0] as f64, cells };
    Params { air: AirModel::None, density: 1.2, ..Params::new(grid) }
}

/// A fluid at rest everywhere.
fn still<const D: usize>(params: &Params<D>, surroundings: &Surroundings<D>) -> State<D> {
    let everywhere = Shape::centred_box([0.0; D], [1e9; D]).unwrap();
    State::new(params, &[InitialLiquid { shape: everywhere, velocity: [0.0; D] }], surroundings)
}

fn smoke<const D: usize>(shape: Shape<D>, buoyancy: f64) -> Surroundings<D> {
    Surroundings { smoke: vec![Smoke { shape, fills: true, buoyancy }], ..Surroundings::default() }
}

/// A steady whirl in a box, with the streamlines of psi = sin(pi x) sin(pi y), and what `longest` steps make of it in most of a turn: markers
/// stay on their streamlines, and the energy falls as it must. Returns its part that is left.
fn energy_left_of_a_whirl(longest: f64) -> f64 {
    let transfer = Transfer::Flip { blend: 0.99 };
    let params = Params { gravity: [0.0; 2], transfer, ..params([48, 48]) };
    let mut surroundings = smoke(Shape::sphere([0.6, 0.5], 0.02).unwrap(), 0.0);
    let mut state = still(&params, &surroundings);
    surroundings.smoke[0].fills = false;
    for (x, v) in state.particles.position.iter().zip(&mut state.particles.velocity) {
        let [x, y] = x.map(|c| PI * f64::from(c) / 48.0);
        *v = [x.sin() * y.cos(), -x.cos() * y.sin()].map(|v| v as f32);
    }
    let psi = |x: &[f32; 2]| x.iter().map(|c| (PI * f64::from(*c) / 48.0).sin()).product::<f64>();
    let before: Vec<f64> = state.smoke[0].position.iter().map(psi).collect();
    assert!(before.len() > 30, "{} markers", before.len());
    let mut workspace = Workspace::default();
    let first = step(&mut state, &params, &surroundings, 1e-3, &mut workspace).unwrap();
    let mut last = first.kinetic_energy;
    let start = state.smoke[0].position.clone();
    while state.time < WHIRL_TIME {
        let dt = max_time_step(&state, &params).min(longest);
        last = step(&mut state, &params, &surroundings, dt, &mut workspace).unwrap().kinetic_energy;
    }
    // The order within a block may change: compare as sets.
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let after = sorted(state.smoke[0].position.iter().map(psi).collect());
    for (before, after) in sorted(before).iter().zip(&after) {
        assert!((before - after).abs() < 0.01, "psi {before} became {after}");
    }
    let moved = state.smoke[0].position[0][1] - start[0][1];
    assert!(moved.abs() > 1.0, "the whirl turns: {moved}");
    last / first.kinetic_energy
}

/// Most of a turn: near the middle it takes two seconds.
const WHIRL_TIME: f64 = 1.8;

/// What the flow carries keeps its energy, and the projection takes the gradient `dt grad p` of it: of a steady flow, `dt² |(u . grad) u|²` in
/// each step. Of this one that is the part `dt² pi²/2` of the energy.
#[test]
fn markers_stay_on_the_streamlines_of_a_steady_whirl() {
    for dt in [0.01, 0.005] {
        let expected = (-0.5 * PI * PI * dt * WHIRL_TIME).exp();
        let left = energy_left_of_a_whirl(dt);
        assert!((left - expected).abs() < 0.015, "steps of {dt} s leave {left}, not {expected}");
    }
}

/// VALIDATION 2 for smoke that is lighter by a part b: the fluid has the same inertia everywhere, so a disc of it begins to
/// rise with b g / (1 + C).
#[test]
fn smoke_rises_as_its_added_mass_allows() {
    let (lighter, added_mass) = (0.1, 1.11352);
    let params = params([64, 64]);
    let surroundings = smoke(Shape::sphere([0.5, 0.5], 0.125).unwrap(), lighter);
    let mut state = still(&params, &surroundings);
    let dt = 0.01;
    step(&mut state, &params, &surroundings, dt, &mut Workspace::default()).unwrap();
    let speed =
        |x: &[f32; 2]| f64::from(meniscus_core::interpolate::interpolate_faces(&state.velocity, *x)[1]);
    // At the rim the velocity jumps, and between faces it does so slowly.
    let is_inner = |x: &&[f32; 2]| (x[0] - 32.0).hypot(x[1] - 32.0) < 6.0;
    let inner: Vec<f64> = state.smoke[0].position.iter().filter(is_inner).map(speed).collect();
    let mean = inner.iter().sum::<f64>() / inner.len() as f64;
    let expected = lighter * 9.81 / (1.0 + added_mass) * dt;
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} instead of {expected}");
}

/// A wheel stirs: no marker enters it, none is lost, and the fluid stays everywhere.
#[test]
fn a_wheel_stirs_smoke() {
    let params = params([24, 24, 16]);
    let wheel = Shape::union(vec![
        Shape::centred_box([0.0; 3], [0.35, 0.04, 0.2]).unwrap(),
        Shape::centred_box([0.0; 3], [0.04, 0.35, 0.2]).unwrap(),
    ])
    .unwrap();
    let pose = |time: f64| RigidTransform {
        rotation: Rotation::<3>::from_axis_angle([0.0, 0.0, 1.0], 3.0 * time).unwrap(),
        translation: [0.5, 0.5, 1.0 / 3.0],
    };
    let solid = |from: f64, to: f64| Solid { from: pose(from), to: pose(to), ..Solid::fixed(wheel.clone()) };
    let mut surroundings = smoke(Shape::box_between([0.0; 3], [1.0, 0.4, 1.0]).unwrap(), 0.0);
    surroundings.solids = vec![solid(0.0, 0.0)];
    let mut state = still(&params, &surroundings);
    surroundings.smoke[0].fills = false;
    let markers = state.smoke[0].position.len();
    let mut workspace = Workspace::default();
    for _ in 0..40 {
        let (time, dt) = (state.time, 1.0 / 60.0);
        surroundings.solids = vec![solid(time, time + dt)];
        let info = step(&mut state, &params, &surroundings, dt, &mut workspace).unwrap();
        assert!(info.squeezes.is_empty(), "a wheel is no piston: {:?}", info.squeezes);
        assert_eq!(info.collide.lost, 0);
    }
    assert_eq!(state.smoke[0].position.len(), markers);
    let solid = solid(state.time, state.time);
    let depth = |x: &[f32; 3]| -solid.distance(params.grid.point(x.map(f64::from)));
    let deepest = state.smoke[0].position.iter().map(depth).fold(f64::NEG_INFINITY, f64::max);
    assert!(deepest < 0.01 / 24.0, "a marker is {deepest} m inside the wheel");
    assert!(state.level_set.values().iter().all(|&phi| phi < 0.0));
    let high = state.smoke[0].position.iter().filter(|x| x[1] > 12.0).count();
    assert!(high > markers / 50, "{high} of {markers} markers have been lifted");
}
