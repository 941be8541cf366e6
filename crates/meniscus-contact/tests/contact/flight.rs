//! Bodies that touch nothing.

use meniscus_core::shape::Rotation;
use meniscus_core::vector::{dot, norm, sub};

use crate::scene::{Body, Scene, ball, block, closed_domain};

#[test]
fn free_flight_is_straight() {
    straight::<2>();
    straight::<3>();
}

fn straight<const D: usize>() {
    let velocity = std::array::from_fn(|a| [0.3, -0.2, 0.1][a]);
    let body = ball(0.02, [0.5; D]).velocity(velocity).spin([0.0, 0.0, 5.0]);
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[]);
    for _ in 0..100 {
        scene.drift(&[], 0.01);
    }
    for a in 0..D {
        assert!((scene.position(0)[a] - (0.5 + velocity[a])).abs() < 1e-12);
    }
    assert_eq!(scene.bodies[0].velocity, velocity);
    let expected = Rotation::<D>::identity().turned([0.0, 0.0, 5.0]);
    for (found, expected) in scene.bodies[0].pose.rotation.matrix().iter().zip(expected.matrix()) {
        assert!(norm(sub(*found, *expected)) < 1e-12, "{D}D {found:?} {expected:?}");
    }
    assert!((scene.bodies[0].spin[2] - 5.0).abs() < 1e-12);
    assert_eq!(scene.info.contacts, 0);
}

/// The spin of a body that tumbles about its middle axis, after a second in so many steps, and its momentum.
fn tumble(steps: usize) -> ([f64; 3], [f64; 3], f64) {
    let body: Body<3> = block([0.1, 0.06, 0.03], [0.5; 3]).turned([0.3, -0.5, 0.8]).spin([0.7, 6.0, 0.3]);
    let inertia = body.inertia;
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[]);
    let momentum = |scene: &Scene<3>| {
        let body = scene.bodies[0];
        let local = body.pose.rotation.apply_inverse(body.spin);
        body.pose.rotation.apply(inertia.map(|row| dot(row, local)))
    };
    let (before, energy) = (momentum(&scene), dot(momentum(&scene), scene.bodies[0].spin));
    for _ in 0..steps {
        scene.drift(&[], 1.0 / steps as f64);
    }
    let after = momentum(&scene);
    let drift = norm(sub(after, before)) / norm(before);
    // Rounding adds up over thousands of steps.
    assert!(drift < 1e-11, "momentum drifts by {drift}");
    let energy_error = (dot(after, scene.bodies[0].spin) / energy - 1.0).abs();
    (scene.bodies[0].spin, after, energy_error)
}

#[test]
fn a_free_top_tumbles_to_second_order() {
    let (exact, ..) = tumble(6400);
    let error = |steps| norm(sub(tumble(steps).0, exact)) / norm(exact);
    let (coarse, fine) = (error(100), error(200));
    assert!(fine < 5e-3, "{fine}");
    assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse} {fine}");
    assert!(tumble(200).2 < 1e-3);
}
