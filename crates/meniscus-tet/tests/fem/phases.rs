//! Lines where phases and walls meet, voids, and owed volume (TET-VALIDATION D2, F).

use meniscus_core::vector::{add_scaled, norm, sub};
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::integrate::Integrator;
use meniscus_tet::fem::materials::{Material, Materials, Side};
use meniscus_tet::fem::tension::SurfaceEnergy;

use crate::case::{Case, fastest, fluid, slip_box};
use crate::meshes::{ball, kuhn};

const PHASES: [Side; 4] = [Side::Label(0), Side::Label(1), Side::Label(2), Side::Label(3)];

/// Four fluids in the quadrants of a unit box, of equal tensions but between 0 and 1, left and right at the bottom.
fn quadrants(bottom: f64) -> Case {
    let tets = kuhn([4, 2, 4], 0.25, 0.2, |p, axis| axis != 1 && p[axis] == 2);
    let tets = tets.label_by(|x| u8::from(x[0] > 0.5) + 2 * u8::from(x[2] > 0.5));
    let walls = slip_box(&tets, [1.0, 0.5, 1.0]);
    let mut materials = Materials::new(vec![fluid(1.0, 0.01); 4]);
    for (a, b) in [(0, 2), (1, 3), (2, 3)] {
        materials = materials.with_tension(PHASES[a], PHASES[b], 1.0);
    }
    Case::new(tets, materials.with_tension(PHASES[0], PHASES[1], bottom), walls, Scheme::default())
}

#[test]
fn lines_rest_where_tensions_balance() {
    let case = quadrants(1.0);
    let (motion, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    assert!(fastest(&motion.velocities) < 1e-12, "{:.1e}", fastest(&motion.velocities));
}

#[test]
fn lines_move_to_where_tension_pulls_most() {
    let case = quadrants(1.5);
    let (motion, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
    for (x, u) in case.tets.positions.iter().zip(&motion.velocities) {
        if (x[0] - 0.5).abs() + (x[2] - 0.5).abs() < 1e-9 {
            assert!(u[2] < -0.01 && u[0].abs() < 0.3 * u[2].abs(), "{u:?}");
        }
    }
}

/// A wall that one of two fluids prefers draws the line of contact along it.
#[test]
fn contact_lines_move_along_walls() {
    let tets = kuhn([4; 3], 0.25, 0.2, |p, axis| axis == 0 && p[0] == 2).label_by(|x| u8::from(x[0] > 0.5));
    let walls = slip_box(&tets, [1.0; 3]);
    let materials = Materials::new(vec![fluid(1.0, 0.01); 2]).with_tension(PHASES[0], PHASES[1], 1.0);
    let push = |wall: f64| {
        let materials = materials.clone().with_tension(PHASES[1], Side::Wall, wall);
        let case = Case::new(tets.clone(), materials, walls.clone(), Scheme::default());
        let (motion, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), 0.01);
        let line = tets.positions.iter().zip(&motion.velocities);
        line.filter(|(x, _)| (x[0] - 0.5).abs() < 1e-9 && x[2] < 1e-9).map(|(_, u)| u[0]).sum::<f64>()
    };
    assert!(push(0.0).abs() < 1e-12);
    assert!(push(0.5) > 0.01);
}

/// Tets of void around a drop change nothing.
#[test]
fn a_drop_in_a_meshed_void_moves_as_it_does_alone() {
    let mut tets = ball(2).label_by(|x| u8::from(norm(x) > 0.5));
    tets.positions.iter_mut().for_each(|x| *x = [1.1 * x[0], x[1], x[2]]);
    let mut alone = tets.clone();
    alone.tets =
        tets.tets.iter().zip(&tets.labels).filter(|&(_, &label)| label == 0).map(|(&t, _)| t).collect();
    alone.labels = vec![0; alone.tets.len()];
    let [around, alone] = [(tets, PHASES[1]), (alone, Side::Wall)].map(|(tets, outside)| {
        let materials = Materials::new(vec![fluid(1.0, 0.1), Material::Void]);
        let case =
            Case::new(tets, materials.with_tension(PHASES[0], outside, 1.0), Vec::new(), Scheme::default());
        case.step(Integrator::SecondOrder, &case.at_rest(), 0.01).0
    });
    assert!(fastest(&alone.velocities) > 0.01);
    for (&u, &v) in around.velocities.iter().zip(&alone.velocities) {
        assert!(norm(sub(u, v)) < 1e-11, "{:.1e}", norm(sub(u, v)));
    }
}

/// A component grows as fast as it is asked to; the others of a closed box make room.
#[test]
fn owed_volume_is_paid_back() {
    let mut case = quadrants(1.0);
    case.expansion = vec![0.0; 4];
    case.expansion[1] = 0.5;
    let dt = 1e-4;
    let before = case.statistics(&case.at_rest()).volumes;
    let (motion, _) = case.step(Integrator::BackwardEuler, &case.at_rest(), dt);
    let after = case.statistics(&motion).volumes;
    // What the box cannot hold is taken from all evenly: an eighth.
    for (component, (a, b)) in after.iter().zip(&before).enumerate() {
        let rate = (a / b - 1.0) / dt;
        let asked = case.expansion[component] - 0.125;
        assert!((rate - asked).abs() < 1e-3, "{component}: {rate}");
    }
}

/// With the curvature of the surface energy a step may be far longer than the waves on an edge; without, it may not.
#[test]
fn an_implicit_surface_outlives_long_steps() {
    let mut tets = ball(2);
    for x in &mut tets.positions {
        *x = add_scaled(*x, 0.1 * x[2] * x[2], [0.0, 0.0, x[2]]);
    }
    let survives = |surface_energy| {
        let materials = Materials::new(vec![fluid(1.0, 0.0)]).with_tension(PHASES[0], Side::Wall, 1.0);
        let scheme = Scheme { surface_energy, ..Scheme::default() };
        let case = Case::new(tets.clone(), materials, Vec::new(), scheme);
        let mut motion = case.at_rest();
        let start = case.statistics(&motion).energy();
        (0..6).all(|_| {
            let Ok((next, _)) = case.try_step(Integrator::SecondOrder, &motion, 0.4) else { return false };
            motion = next;
            case.statistics(&motion).energy() < start * (1.0 + 1e-9)
        })
    };
    assert!(survives(SurfaceEnergy::SecondOrder));
    assert!(!survives(SurfaceEnergy::FirstOrder));
}
