//! Rest and free fall (TET-VALIDATION C5, G6).

use meniscus_core::vector::{add_scaled, norm, sub};
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::element::Mass;
use meniscus_tet::fem::integrate::Integrator;
use meniscus_tet::fem::materials::{Material, Materials, Side};
use meniscus_tet::fem::unknowns::PressureSpace;

use crate::case::{Case, fastest, fluid, slip_box};
use crate::meshes::{ball, kuhn};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// max|u| / (g dt) after a step of a heavy fluid under a light one in a box with slip.
fn restlessness(n: usize, scheme: Scheme) -> f64 {
    let tets = kuhn([n; 3], 1.0 / n as f64, 0.2, |p, axis| axis == 2 && 2 * p[2] == n);
    let tets = tets.label_by(|x| u8::from(x[2] > 0.5));
    let walls = slip_box(&tets, [1.0; 3]);
    let materials = Materials::new(vec![fluid(1000.0, 1e-9), fluid(1.0, 1e-9)]);
    let case = Case::new(tets, materials, walls, scheme).falling(GRAVITY);
    let (motion, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    fastest(&motion.velocities) / (9.81 * 0.01)
}

#[test]
fn two_fluids_rest_exactly() {
    for n in [4, 8] {
        for mass in [Mass::Lumped, Mass::Consistent] {
            let moves = restlessness(n, Scheme { mass, ..Scheme::default() });
            assert!(moves < 1e-10, "{moves:.1e}");
        }
    }
}

#[test]
fn the_papers_stabiliser_cannot_rest() {
    let moves = restlessness(4, Scheme { pressures: PressureSpace::Tets, ..Scheme::default() });
    assert!(moves > 0.5, "{moves:.1e}");
}

/// A ball without tension falls as its centre does, and keeps its shape: its pressure is zero.
#[test]
fn a_ball_falls_freely() {
    let case = Case::new(ball(1), Materials::new(vec![fluid(1.0, 0.1)]), Vec::new(), Scheme::default());
    let case = case.falling(GRAVITY);
    let dt = 0.01;
    let mut motion = case.at_rest();
    for step in 1..=5 {
        motion = case.step(Integrator::SecondOrder, &motion, dt).0;
        let time = f64::from(step) * dt;
        for (&x, &start) in motion.positions.iter().zip(&case.tets.positions) {
            let fallen = add_scaled(start, 0.5 * time * time, GRAVITY);
            assert!(norm(sub(x, fallen)) < 1e-13, "{:?}", sub(x, fallen));
        }
    }
}

/// A drop that its tension deforms keeps its momentum, but for what moves when tets exchange volume.
#[test]
fn a_free_drop_keeps_its_momentum() {
    let mut tets = ball(1);
    for x in &mut tets.positions {
        *x = [1.2 * x[0], 0.9 * x[1] + 0.05 * x[0] * x[0], x[2] / (1.2 * 0.9)];
    }
    let materials = Materials::new(vec![fluid(1.0, 0.01)]).with_tension(Side::Label(0), Side::Wall, 1.0);
    let case = Case::new(tets, materials, Vec::new(), Scheme::default());
    let mut motion = case.at_rest();
    for _ in 0..10 {
        motion = case.step(Integrator::SecondOrder, &motion, 0.02).0;
    }
    let of_speed = fastest(&motion.velocities) * case.tets.volume();
    let momentum = norm(case.statistics(&motion).momentum);
    assert!(momentum < 3e-5 * of_speed, "{:.1e}", momentum / of_speed);
}

/// A void under a heavy fluid in a sealed box keeps its volume: its one pressure bears the fluid.
#[test]
fn a_sealed_void_bears_the_fluid_on_it() {
    let tets = kuhn([4; 3], 0.25, 0.2, |p, axis| axis == 2 && p[2] == 2).label_by(|x| u8::from(x[2] < 0.5));
    let walls = slip_box(&tets, [1.0; 3]);
    let materials = Materials::new(vec![fluid(1000.0, 0.0), Material::Void]);
    let case = Case::with_sealed(tets, materials, walls, Scheme::default(), true).falling(GRAVITY);
    let (motion, pressures) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    assert!(fastest(&motion.velocities) < 1e-13);
    let unknowns = &case.discretisation.unknowns;
    let void = pressures.len() - 1;
    assert_eq!(case.discretisation.components.labels[unknowns.component_of[void] as usize], 1);
    for tet in unknowns.corners.iter().zip(&case.tets.tets).filter(|(corners, _)| corners[0] != void as u32) {
        for (&q, &v) in tet.0.iter().zip(tet.1) {
            let head = 9810.0 * (0.5 - case.tets.positions[v as usize][2]);
            assert!((pressures[q as usize] - pressures[void] - head).abs() < 1e-8);
        }
    }
}
