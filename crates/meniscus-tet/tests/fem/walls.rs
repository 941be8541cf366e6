//! Walls: slip along any plane, and walls that move (TET-VALIDATION G1).

use meniscus_core::vector::{cross, dot, norm, sub, unit};
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::integrate::{Integrator, Motion};
use meniscus_tet::fem::materials::Materials;
use meniscus_tet::fem::walls::WallVertex;

use crate::case::{Case, fastest, fluid, slip_box};
use crate::meshes::{ball, kuhn};

/// A quarter turn about (1, 1, 1) and then some.
fn turned(x: [f64; 3]) -> [f64; 3] {
    let axis = [1.0, 1.0, 1.0].map(|c: f64| c / 3.0_f64.sqrt());
    let (sine, cosine) = 1.9_f64.sin_cos();
    let (across, along) = (cross(axis, x), dot(axis, x) * (1.0 - cosine));
    std::array::from_fn(|k| cosine * x[k] + sine * across[k] + along * axis[k])
}

#[test]
fn a_turned_box_holds_the_same_flow() {
    let flow = |turn: fn([f64; 3]) -> [f64; 3]| {
        let mut tets = kuhn([3; 3], 1.0 / 3.0, 0.2, |_, _| false).label_by(|x| u8::from(x[0] > 0.5));
        let mut walls = slip_box(&tets, [1.0; 3]);
        walls.iter_mut().for_each(|wall| wall.frame = wall.frame.map(turn));
        tets.positions.iter_mut().for_each(|x| *x = turn(*x));
        let case =
            Case::new(tets, Materials::new(vec![fluid(2.0, 0.1), fluid(1.0, 0.3)]), walls, Scheme::default());
        let case = case.falling(turn([0.0, 0.0, -1.0]));
        case.step(Integrator::SecondOrder, &case.at_rest(), 0.1).0
    };
    let [straight, oblique] = [flow(|x| x), flow(turned)];
    assert!(fastest(&straight.velocities) > 0.01);
    for (&u, &v) in straight.velocities.iter().zip(&oblique.velocities) {
        assert!(norm(sub(turned(u), v)) < 1e-12);
    }
}

/// Shear between walls without slip is exact, whatever the viscosity.
#[test]
fn shear_between_moving_walls_stays() {
    let tets = kuhn([4; 3], 0.25, 0.2, |_, _| false);
    let shear = |x: [f64; 3]| [x[2], 0.0, 0.0];
    let walls = slip_box(&tets, [1.0; 3])
        .iter()
        .map(|wall| WallVertex::without_slip(wall.vertex, shear(tets.positions[wall.vertex as usize])))
        .collect();
    let case = Case::new(tets, Materials::new(vec![fluid(1.0, 0.7)]), walls, Scheme::default());
    let velocities: Vec<_> = case.tets.positions.iter().map(|&x| shear(x)).collect();
    let start = Motion { positions: case.tets.positions.clone(), velocities };
    let (end, pressures) = case.step(Integrator::SecondOrder, &start, 0.1);
    for (&u, &exact) in end.velocities.iter().zip(&start.velocities) {
        assert!(norm(sub(u, exact)) < 1e-12);
    }
    assert!(pressures.iter().all(|&p| (p - pressures[0]).abs() < 1e-10));
}

/// From rest, the walls' motion sets the fluid in motion.
#[test]
fn moving_walls_drag_the_fluid() {
    let tets = kuhn([4; 3], 0.25, 0.2, |_, _| false);
    let lid = |x: [f64; 3]| [f64::from(u8::from(x[2] > 0.999)), 0.0, 0.0];
    let walls = slip_box(&tets, [1.0; 3])
        .iter()
        .map(|wall| WallVertex::without_slip(wall.vertex, lid(tets.positions[wall.vertex as usize])))
        .collect();
    let case = Case::new(tets, Materials::new(vec![fluid(1.0, 1.0)]), walls, Scheme::default());
    let (end, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    let momentum = case.statistics(&end).momentum;
    let statistics = case.statistics(&Motion { velocities: end.velocities.clone(), ..case.at_rest() });
    assert!(momentum[0] > 0.1 && statistics.kinetic > 0.01, "{momentum:?}");
    for (&x, &u) in case.tets.positions.iter().zip(&end.velocities) {
        let at_wall = x.iter().any(|&c| !(1e-9..1.0 - 1e-9).contains(&c));
        assert!(!at_wall || u == lid(x), "{u:?}");
    }
}

/// Though the faces of its wall are flat and their normals not those of the vertices.
#[test]
fn a_fluid_rests_in_a_round_container() {
    let tets = ball(2);
    let on_wall = (0..tets.positions.len()).filter(|&v| norm(tets.positions[v]) > 1.0 - 1e-9);
    let wall = |v: usize| {
        let normal = unit(tets.positions[v]);
        let along = unit(cross(normal, [0.3, 0.5, 0.8]));
        let frame = [normal, along, cross(normal, along)];
        WallVertex { vertex: v as u32, frame, held: 1, velocity: [0.0; 3] }
    };
    let walls = on_wall.map(wall).collect();
    let case = Case::new(tets, Materials::new(vec![fluid(1.0, 0.0)]), walls, Scheme::default());
    let case = case.falling([0.0, 0.0, -9.81]);
    assert_eq!(case.system(0.01).closed_parts.len(), 1);
    let (end, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    let moves = fastest(&end.velocities);
    assert!(moves < 1e-13, "{moves:.1e}");
}
