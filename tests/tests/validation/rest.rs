//! VALIDATION 1 for the whole step: a pool at rest stays at rest, in a container that cuts the grid at an angle,
//! for 500 steps.
//!
//! Nothing moves the surface: it is advected exactly while it is flat and still, and no particle is outside
//! it. What is left is the tolerance of the solve and the rounding of f32, in units of the g dt that the
//! pressure takes away in every step.

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, SecondFluid, Solid, State, Surroundings, Transfer, Workspace,
    max_time_step, step,
};
use meniscus_tests::{cube_rotation, rotated_container, square_rotation};

const DT: f64 = 0.01;

/// The largest speed after `steps` steps, as a part of g dt, and the change of the volume, as a part of it.
fn unrest<const D: usize>(cells: usize, container: Shape<D>, transfer: Transfer, steps: usize) -> [f64; 2] {
    let grid = Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] };
    let params = Params { transfer, ..Params::new(grid) };
    let mut up = [0.0; D];
    up[1] = 1.0;
    let mut on_surface = [0.5; D];
    on_surface[1] = 0.537;
    let pool =
        InitialLiquid { shape: Shape::half_space(on_surface, up).expect("a plane"), velocity: [0.0; D] };
    let solids = vec![Solid::fixed(container.complement())];
    let surroundings = Surroundings { solids, ..Surroundings::default() };
    let mut state = State::new(&params, &[pool], &surroundings);
    let volume = state.volume;
    let mut workspace = Workspace::default();
    for _ in 0..steps {
        let info = step(&mut state, &params, &surroundings, DT, &mut workspace).expect("the solve converges");
        assert_eq!(info.collide.lost, 0);
    }
    [state.max_speed / (9.81 * DT), state.volume / volume - 1.0]
}

/// Measured 3e-5 to 5e-5.
#[test]
fn a_square_pool_stays_at_rest() {
    for transfer in [Transfer::Apic, Transfer::Flip { blend: 0.97 }] {
        let [speed, drift] = unrest::<2>(64, rotated_container(square_rotation()), transfer, 500);
        assert!(speed < 2e-4, "{transfer:?}: {speed:e}");
        assert!(drift.abs() < 1e-6, "{transfer:?}: {drift:e}");
    }
}

#[test]
fn a_cubic_pool_stays_at_rest() {
    let [speed, drift] = unrest::<3>(24, rotated_container(cube_rotation()), Transfer::Apic, 500);
    assert!(speed < 2e-4, "{speed:e}");
    assert!(drift.abs() < 1e-6, "{drift:e}");
}

/// A pool beside a plate of some thickness, in cells, with which it is flush, wherever on the grid that is and whatever it leans by: its volume over that of
/// its shape, and the greatest speed of 20 steps as a part of g dt.
fn beside_a_plate(air: AirModel, at: f64, thickness: f64, degrees: f64) -> [f64; 2] {
    let grid = Grid { origin: [0.0; 2], dx: 0.025, cells: [40, 24] };
    let params = Params { air, ..Params::new(grid) };
    let plate_at = [at * grid.dx, 0.31];
    let rotation = Rotation::<2>::from_angle(f64::to_radians(degrees)).expect("an angle");
    let pose = RigidTransform { rotation, translation: plate_at };
    let plate = Shape::box_between([0.0, -2.0], [thickness * grid.dx, 2.0]).expect("a box");
    let beside = Shape::half_space([0.0; 2], [1.0, 0.0]).expect("a plane");
    let room = Shape::box_between([0.0; 2], [1.0, 0.31]).expect("a box");
    let pool = Shape::intersection(vec![room, beside.transformed(pose).expect("a plane")]).expect("a pool");
    let solids = vec![Solid::fixed(plate.transformed(pose).expect("a plate"))];
    let surroundings = Surroundings { solids, ..Surroundings::default() };
    let pool = InitialLiquid { shape: pool, velocity: [0.0; 2] };
    let mut state = State::new(&params, &[pool], &surroundings);
    // The plate leans over its point at the surface of the water.
    let exact = 0.31 * (plate_at[0] + 0.5 * 0.31 * f64::to_radians(degrees).tan());
    let volume = state.volume / exact;
    let mut speed: f64 = 0.0;
    for _ in 0..20 {
        step(&mut state, &params, &surroundings, DT, &mut Workspace::default()).expect("the solve converges");
        speed = speed.max(state.max_speed);
    }
    [volume, speed / (9.81 * DT)]
}

/// Beside a thick plate measured .02 of g dt where it leaves a twentieth of a cell, .002 elsewhere; thin ones have the level set of their other side a cell away.
#[test]
fn a_pool_flush_with_a_plate_stays_at_rest() {
    let second = SecondFluid { density: 1.2, viscosity: 0.0 };
    for air in [AirModel::Void, AirModel::Bubbles, AirModel::TwoPhase(second)] {
        for (thickness, degrees) in [(0.3, 0.0), (1.5, 0.0), (5.0, 0.0), (0.6, 10.0), (5.0, -10.0)] {
            for at in (0..10).map(|k| 19.05 + 0.1 * f64::from(k)) {
                let [volume, speed] = beside_a_plate(air, at, thickness, degrees);
                let [most_off, fastest] = if thickness > 2.0 { [1e-4, 0.03] } else { [0.025, 0.65] };
                let case = format!("{air:?}, {thickness} cells at {at}, {degrees} degrees");
                assert!((volume - 1.0).abs() < most_off, "{case}: {volume}");
                assert!(speed < fastest, "{case}: {speed}");
            }
        }
    }
}

/// A pool beside a wall that cuts its cells, with a surface near the centres of cells and a bump of a tenth of a cell: the greatest speed of the last of 80 steps that are so many times the largest, in m/s.
fn speed_after_steps<const D: usize>(wall_at: f64, steps: f64) -> f64 {
    let mut cells = [10; D];
    (cells[0], cells[1]) = (24, 20);
    let grid = Grid { origin: [0.0; D], dx: 0.01, cells };
    let params = Params::new(grid);
    let (mut at, mut up, mut left) = ([0.0; D], [0.0; D], [0.0; D]);
    (at[0], at[1]) = (wall_at * grid.dx, 10.6 * grid.dx);
    (up[1], left[0]) = (1.0, -1.0);
    let pool = InitialLiquid { shape: Shape::half_space(at, up).expect("a plane"), velocity: [0.0; D] };
    let mut below = at;
    below[1] -= 0.6 * grid.dx;
    let bump = Shape::sphere(below, 0.7 * grid.dx).expect("a ball");
    let bump = InitialLiquid { shape: bump, velocity: [0.0; D] };
    let solids = vec![Solid::fixed(Shape::half_space(at, left).expect("a plane"))];
    let surroundings = Surroundings { solids, ..Surroundings::default() };
    let mut state = State::new(&params, &[pool, bump], &surroundings);
    let dt = steps * max_time_step(&state, &params);
    let mut workspace = Workspace::default();
    let mut late: f64 = 0.0;
    for substep in 0..80 {
        step(&mut state, &params, &surroundings, dt, &mut workspace).expect("the solve converges");
        late = if substep < 60 { 0.0 } else { late.max(state.max_speed) };
    }
    late
}

/// The largest time step is one that the waves of the grid can take, wherever a wall cuts its cells: those there move by what comes through their whole sides. Twice as long a one
/// shakes them.
#[test]
fn a_pool_stays_at_rest_at_the_largest_time_step() {
    for at in [16.0, 16.05, 16.1, 16.35, 16.5, 16.8] {
        let [plane, space] = [speed_after_steps::<2>(at, 1.0), speed_after_steps::<3>(at, 1.0)];
        assert!(plane < 0.01 && space < 1e-3, "at {at}: {plane} and {space} m/s");
        let longer = speed_after_steps::<2>(at, 2.0);
        assert!(longer > 0.1, "at {at}: {longer} m/s");
    }
}
