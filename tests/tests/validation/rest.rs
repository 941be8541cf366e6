//! VALIDATION 1 for the whole step: a pool at rest stays at rest, in a container that cuts the grid at an angle,
//! for 500 steps.
//!
//! Nothing moves the surface: it is advected exactly while it is flat and still, and no particle is outside
//! it. What is left is the tolerance of the solve and the rounding of f32, in units of the g dt that the
//! pressure takes away in every step.

use meniscus::core::grid::Grid;
use meniscus::core::shape::Shape;
use meniscus::liquid::{Body, Params, Solid, State, Surroundings, Transfer, Workspace, step};
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
    let pool = Body { shape: Shape::half_space(on_surface, up).expect("a plane"), velocity: [0.0; D] };
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
