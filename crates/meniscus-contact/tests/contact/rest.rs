//! Bodies that should stay where they are.

use meniscus_core::shape::Shape;
use meniscus_core::vector::{norm, sub};

use crate::scene::{GRAVITY, Scene, Solid, ball, block, closed_domain};

#[test]
fn a_block_rests_on_the_floor() {
    for dt in [1e-3, 5e-3, 2e-2] {
        rest::<2>(1.0, dt, 0.0);
        rest::<3>(1.0, dt, 0.5);
    }
    // From a vial to a basin.
    rest::<3>(0.01, 1e-3, 0.0);
    rest::<2>(0.01, 5e-3, 0.5);
    rest::<3>(10.0, 2e-2, 0.0);
}

fn rest<const D: usize>(size: f64, dt: f64, restitution: f64) {
    let half = 0.1 * size;
    let mut centre = [0.5 * size; D];
    centre[1] = half;
    let body = block([half; D], centre).restitution(restitution);
    let mut scene = Scene::new(&closed_domain(size, 50.0), &[body], &[]);
    for _ in 0..1000 {
        scene.fall(0, dt);
        let drift = norm(sub(scene.position(0), centre));
        assert!(drift < 1e-3 * 2.0 * half, "{size} {dt} {drift}");
    }
    assert!(scene.speed(0) < 0.02 * GRAVITY * dt, "{size} {dt}: {}", scene.speed(0));
    let turn = (0..D).map(|a| 1.0 - scene.bodies[0].pose.rotation.matrix()[a][a]).fold(0.0, f64::max);
    assert!(turn < 1e-6, "{turn}");
    assert_eq!(scene.info.contacts, 1);
}

#[test]
fn a_stack_of_five_stands() {
    for dt in [2e-3, 1e-2] {
        stack::<2>(dt);
        stack::<3>(dt);
    }
}

fn stack<const D: usize>(dt: f64) {
    let half = 0.05;
    let bodies: Vec<_> = (0..5)
        .map(|level| {
            let mut centre = [0.5; D];
            centre[1] = half * f64::from(2 * level + 1);
            // Not quite straight.
            centre[0] += 0.1 * half * f64::from(level % 2);
            block([half; D], centre)
        })
        .collect();
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[]);
    for _ in 0..1000 {
        scene.fall(0, dt);
    }
    for (index, body) in bodies.iter().enumerate() {
        let drift = norm(sub(scene.position(index), body.start.pose.translation));
        assert!(drift < 1e-3 * 2.0 * half, "{D}D, {dt}, block {index}: {drift}");
        assert!(scene.speed(index) < 1e-3 * GRAVITY * dt, "{D}D, {dt}: {}", scene.speed(index));
    }
}

#[test]
fn a_block_slides_on_a_slope_that_is_too_steep() {
    for friction in [0.2, 0.5, 0.9] {
        let repose = f64::atan(friction);
        slide::<2>(0.95 * repose, friction, 0.01);
        slide::<2>(1.05 * repose, friction, 0.01);
        slide::<3>(0.95 * repose, friction, 0.005);
        slide::<3>(1.05 * repose, friction, 0.005);
    }
}

/// Down for a fifth of a second, from rest: the way of the acceleration g (sin a - mu cos a).
fn slide<const D: usize>(angle: f64, friction: f64, dt: f64) {
    let (sin, cos) = angle.sin_cos();
    let mut normal = [0.0; D];
    (normal[0], normal[1]) = (sin, cos);
    let slope = Solid::new(Shape::half_space([0.5; D], normal).unwrap());
    let half = 0.05;
    let centre: [f64; D] = std::array::from_fn(|a| 0.5 + half * normal[a]);
    let body = block([half; D], centre).turned([0.0, 0.0, -angle]).friction(friction);
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[slope]);
    let steps = (0.2 / dt).round();
    for _ in 0..steps as usize {
        scene.fall(1, dt);
    }
    let way = norm(sub(scene.position(0), centre));
    let acceleration = (GRAVITY * (sin - friction * cos)).max(0.0);
    // Velocity first, then position: the sum of k a dt².
    let expected = 0.5 * acceleration * dt * dt * steps * (steps + 1.0);
    assert!((way - expected).abs() < 0.05 * expected + 1e-5, "{D}D {angle} {friction}: {way} {expected}");
}

#[test]
fn a_ball_rolls_down_a_slope_without_slipping() {
    // a = 5/7 g sin for a sphere, 2/3 g sin for a disc.
    roll::<2>(2.0 / 3.0);
    roll::<3>(5.0 / 7.0);
}

fn roll<const D: usize>(factor: f64) {
    let angle = 0.2_f64;
    let (sin, cos) = angle.sin_cos();
    let mut normal = [0.0; D];
    (normal[0], normal[1]) = (sin, cos);
    let slope = Solid::new(Shape::half_space([0.5; D], normal).unwrap());
    let radius = 0.05;
    let centre: [f64; D] = std::array::from_fn(|a| 0.5 + radius * normal[a]);
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[ball(radius, centre).friction(0.8)], &[slope]);
    for _ in 0..100 {
        scene.fall(1, 0.005);
    }
    let expected = factor * GRAVITY * sin * 0.5;
    assert!((scene.speed(0) - expected).abs() < 0.01 * expected, "{} {expected}", scene.speed(0));
    let rim = -scene.bodies[0].spin[2] * radius;
    assert!((rim - expected).abs() < 0.01 * expected, "{rim} {expected}");
}
