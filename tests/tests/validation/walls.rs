//! Nothing passes walls, however thin and however fast.

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, Solid, State, Surroundings, Transfer, Workspace, max_time_step, step,
};

/// A column of water breaks and splashes on a floor of some thickness in the middle of a room, tilted or not. Counts the
/// particles under it, and those inside it, after every substep.
fn through_a_floor(thickness: f64, degrees: f64, transfer: Transfer, air: AirModel) -> usize {
    let dx = 0.01;
    let grid = Grid { origin: [0.0; 2], dx, cells: [40, 120] };
    let params = Params { transfer, air, ..Params::new(grid) };
    let rotation = Rotation::<2>::from_angle(f64::to_radians(degrees)).unwrap();
    let pose = RigidTransform { rotation, translation: [0.2, 0.3] };
    let floor = Shape::box_between([-1.0, -thickness * dx], [1.0, 0.0]).unwrap().transformed(pose).unwrap();
    let above = Shape::half_space([0.0; 2], [0.0, -1.0]).unwrap().transformed(pose).unwrap();
    let column = Shape::intersection(vec![above, Shape::box_between([0.0, 0.0], [0.15, 0.9]).unwrap()]);
    let water = InitialLiquid { shape: column.unwrap(), velocity: [0.0; 2] };
    let surroundings = Surroundings { solids: vec![Solid::fixed(floor.clone())], ..Surroundings::default() };
    let mut state = State::new(&params, &[water], &surroundings);
    let mut workspace = Workspace::default();
    let mut leaked = 0;
    while state.time < 0.8 {
        let dt = max_time_step(&state, &params).min(1.0 / 48.0);
        let info = step(&mut state, &params, &surroundings, dt, &mut workspace).unwrap();
        leaked += info.collide.lost;
        let is_through = |x: &&[f32; 2]| {
            let at = pose.apply_inverse(grid.point(x.map(f64::from)));
            at[1] < -0.3 * thickness * dx
        };
        leaked += state.particles.position.iter().filter(is_through).count();
    }
    leaked
}

#[test]
fn water_stays_above_a_floor() {
    for thickness in [0.2, 0.6, 2.0] {
        for degrees in [0.0, 20.0] {
            for transfer in [Transfer::Apic, Transfer::Flip { blend: 0.97 }] {
                let leaked = through_a_floor(thickness, degrees, transfer, AirModel::Void);
                assert_eq!(leaked, 0, "{thickness} cells, {degrees} degrees, {transfer:?}");
            }
        }
    }
    assert_eq!(through_a_floor(0.4, 20.0, Transfer::Apic, AirModel::Bubbles), 0);
}
