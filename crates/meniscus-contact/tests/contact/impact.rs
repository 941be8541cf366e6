//! Bodies that meet.

use std::f64::consts::TAU;

use meniscus_contact::Moving;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_core::vector::{add_scaled, norm, sub};

use crate::scene::{GRAVITY, Scene, Solid, ball, block, closed_domain};

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    bounce::<2>(0.5, 1e-3);
    bounce::<3>(0.5, 1e-3);
    bounce::<3>(0.8, 1e-3);
    bounce::<2>(0.8, 5e-3);
}

fn bounce<const D: usize>(restitution: f64, dt: f64) {
    let (radius, height) = (0.1, 0.6);
    let mut start = [0.5; D];
    start[1] = radius + height;
    let mut scene =
        Scene::new(&closed_domain(1.0, 50.0), &[ball(radius, start).restitution(restitution)], &[]);
    let (mut has_bounced, mut highest) = (false, 0.0_f64);
    // To the top of the bounce: the falls of both heights.
    let time = (1.0 + restitution) * (2.0 * height / GRAVITY).sqrt();
    for _ in 0..(time / dt).round() as usize {
        scene.fall(0, dt);
        has_bounced |= scene.bodies[0].velocity[1] > 0.0;
        if has_bounced {
            highest = highest.max(scene.position(0)[1] - radius);
        }
    }
    let expected = restitution * restitution * height;
    // The impact is known to within a step, in which gravity changes the speed by g dt.
    let impact = (2.0 * GRAVITY * height).sqrt();
    let tolerance = 2.0 * impact * dt;
    assert!((highest - expected).abs() < tolerance, "{highest} {expected} {tolerance}");
}

/// Spin does not enter the normal impulse of a ball, and friction takes what it can of the spin.
#[test]
fn a_ball_that_spins_bounces_as_high() {
    for (friction, spin, along) in [(0.0, 20.0, 0.0), (0.3, 11.0, -0.45)] {
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let body = ball::<2>(0.1, [0.5, 0.4]).restitution(0.5).friction(friction);
            let mut scene = Scene::new(&closed_domain(1.0, 16.0), &[body], &[]);
            (scene.bodies[0].velocity, scene.bodies[0].spin) = ([0.0, -1.0], [0.0, 0.0, 20.0]);
            for _ in 0..(0.45 / dt) as usize {
                scene.drift(&[], dt);
            }
            let [u, v] = scene.bodies[0].velocity;
            assert!((v - 0.5).abs() < 1e-3 && (u - along).abs() < 1e-3, "{friction} {dt}: {u} {v}");
            // Arms reach beyond the ball, by half of the gap at which the two were seen to meet.
            assert!((scene.bodies[0].spin[2] - spin).abs() < 0.2, "{friction} {dt}: {:?}", scene.bodies[0]);
        }
    }
}

/// Drops of few cells with steps as long as frames: bounces may be lower than they should be by what gravity makes of the speed in a step, but not higher.
#[test]
fn low_bounces_neither_die_nor_grow() {
    let (radius, height) = (0.05, 0.05);
    for dt in [1.0 / 48.0, 0.015, 1.0 / 96.0, 0.003] {
        for k in 0..20 {
            let drop = height * (1.0 + 0.02 * f64::from(k));
            let body = ball(radius, [0.5, radius + drop]).restitution(1.0);
            let mut scene = Scene::new(&closed_domain(1.0, 48.0), &[body], &[]);
            // The highest between each bounce and the next.
            let (mut tops, mut falls) = (vec![0.0_f64], true);
            for _ in 0..(1.0 / dt) as usize {
                scene.fall(0, dt);
                let rises = scene.bodies[0].velocity[1] > 0.0;
                if rises && falls {
                    tops.push(0.0);
                }
                falls = !rises;
                let top = tops.last_mut().expect("never empty");
                *top = top.max(scene.position(0)[1] - radius);
            }
            // A step changes the speed by g dt, and so the height of a bounce by v dt.
            let slack = (2.0 * GRAVITY * drop).sqrt() * dt;
            assert!(tops[1] > drop - slack, "dt {dt}, drop {drop}: {tops:?}");
            assert!(tops[1..].iter().all(|top| *top < drop + 0.1 * slack), "dt {dt}, drop {drop}: {tops:?}");
        }
    }
}

#[test]
fn a_block_that_lands_flat_leaves_flat() {
    land::<2>();
    land::<3>();
}

fn land<const D: usize>() {
    let half: [f64; D] = std::array::from_fn(|a| [0.1, 0.05, 0.07][a]);
    let mut centre = [0.5; D];
    centre[1] = 0.4;
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[block(half, centre).restitution(0.6)], &[]);
    let mut before = 0.0;
    while scene.bodies[0].velocity[1] <= 0.0 {
        before = scene.bodies[0].velocity[1] - GRAVITY * 0.005;
        scene.fall(0, 0.005);
    }
    let Moving { velocity, spin, .. } = scene.bodies[0];
    assert!((velocity[1] + 0.6 * before).abs() < 1e-9, "{before} {velocity:?}");
    assert!(norm(spin) < 1e-9, "{spin:?}");
}

#[test]
fn fast_balls_do_not_pass_through_each_other() {
    for (speed, dt) in [(3.0, 0.02), (10.0, 0.02), (50.0, 0.02), (20.0, 0.005)] {
        let bodies = [(0.2, speed), (0.8, -speed)]
            .map(|(x, v)| ball(0.02, [x, 0.5, 0.5]).velocity([v, 0.0, 0.0]).restitution(0.5));
        let mut scene = Scene::new(&closed_domain::<3>(1.0, 50.0), &bodies, &[]);
        for _ in 0..20 {
            scene.drift(&[], dt);
            let gap = scene.position(1)[0] - scene.position(0)[0];
            assert!(gap > 0.039, "{speed} {dt}: {gap}");
        }
    }
}

#[test]
fn equal_balls_exchange_their_momenta() {
    exchange::<2>();
    exchange::<3>();
}

fn exchange<const D: usize>() {
    let at = |x: f64| {
        let mut centre = [0.5; D];
        centre[0] = x;
        centre
    };
    let mut velocity = [0.0; D];
    velocity[0] = 1.0;
    let bodies =
        [ball(0.05, at(0.3)).velocity(velocity).restitution(1.0), ball(0.05, at(0.6)).restitution(1.0)];
    let mass = bodies[0].mass;
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[]);
    for _ in 0..35 {
        scene.drift(&[], 0.01);
    }
    let [first, second] = [0, 1].map(|i| scene.bodies[i].velocity);
    assert!((mass * (first[0] + second[0]) / mass - 1.0).abs() < 1e-9);
    assert!(first[0].abs() < 1e-9 && (second[0] - 1.0).abs() < 1e-9, "{first:?} {second:?}");
    for a in 1..D {
        assert!(first[a].abs() < 1e-9 && second[a].abs() < 1e-9);
    }
}

#[test]
fn an_oblique_impact_keeps_momentum() {
    let bodies = [
        ball(0.05, [0.3, 0.5, 0.5]).velocity([2.0, 0.3, 0.0]).spin([3.0, 0.0, 9.0]).restitution(0.6),
        block([0.06, 0.04, 0.05], [0.6, 0.53, 0.49]).turned([0.3, 0.2, 0.1]).restitution(0.6),
    ];
    let masses = [bodies[0].mass, bodies[1].mass];
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[]);
    let total = |scene: &Scene<3>| -> [f64; 3] {
        std::array::from_fn(|a| (0..2).map(|i| masses[i] * scene.bodies[i].velocity[a]).sum())
    };
    let before = total(&scene);
    for _ in 0..25 {
        scene.drift(&[], 0.01);
    }
    let after = total(&scene);
    assert!(scene.speed(1) > 0.1, "they have met");
    for a in 0..3 {
        assert!((after[a] - before[a]).abs() < 1e-9 * norm(before), "{before:?} {after:?}");
    }
}

#[test]
fn a_piston_pushes_a_block_at_its_speed() {
    push::<2>();
    push::<3>();
}

fn push<const D: usize>() {
    let mut centre = [0.5; D];
    centre[1] = 0.1;
    let mut half = [0.48; D];
    half[0] = 0.02;
    let piston = Solid::new(Shape::centred_box([0.0; D], half).unwrap());
    centre[0] = 0.3;
    let mut scene =
        Scene::new(&closed_domain(1.0, 50.0), &[block([0.1; D], centre).friction(0.3)], &[piston]);
    let pose = |x: f64| {
        let mut translation = [0.5; D];
        translation[0] = x;
        RigidTransform { rotation: Rotation::identity(), translation }
    };
    let (dt, speed) = (0.01, 0.5);
    for step in 0..100 {
        let x = 0.1 + speed * dt * f64::from(step);
        scene.bodies[0].velocity[1] -= GRAVITY * dt;
        scene.drift(&[(pose(x), pose(x + speed * dt))], dt);
    }
    // Its face is at 0.1 + 0.5 + 0.02 now.
    assert!((scene.position(0)[0] - 0.72).abs() < 2e-3, "{:?}", scene.bodies[0]);
    assert!((scene.bodies[0].velocity[0] - speed).abs() < 1e-3 * speed, "{:?}", scene.bodies[0]);
}

#[test]
fn a_fast_ball_does_not_pass_through_a_plate() {
    shoot::<2>();
    shoot::<3>();
}

fn shoot<const D: usize>() {
    let mut half = [0.4; D];
    half[0] = 0.002;
    for (speed, dt) in [(10.0, 0.02), (100.0, 0.005), (37.0, 0.013)] {
        let mut velocity = [0.0; D];
        velocity[0] = speed;
        let mut start = [0.5; D];
        start[0] = 0.2;
        let plate = Solid::new(Shape::centred_box([0.5; D], half).unwrap());
        let body = ball(0.01, start).velocity(velocity).restitution(0.3);
        let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[plate]);
        let mut slowest = speed;
        for _ in 0..50 {
            scene.drift(&[(RigidTransform::IDENTITY, RigidTransform::IDENTITY)], dt);
            slowest = slowest.min(scene.bodies[0].velocity[0]);
            assert!(scene.position(0)[0] < 0.49, "{speed} {dt} {:?}", scene.bodies[0]);
        }
        assert!((slowest + 0.3 * speed).abs() < 1e-9 * speed, "{slowest}");
    }
}

#[test]
fn a_fast_plate_does_not_pass_a_ball() {
    let plate = Solid::new(Shape::<2>::centred_box([0.0; 2], [0.002, 0.4]).unwrap());
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[ball(0.01, [0.5, 0.5])], &[plate]);
    let pose = |x: f64| RigidTransform { rotation: Rotation::identity(), translation: [x, 0.5] };
    for step in 0..8 {
        let x = 0.2 + 0.05 * f64::from(step);
        scene.drift(&[(pose(x), pose(x + 0.05))], 0.01);
        assert!(scene.position(0)[0] > x + 0.05, "{:?}", scene.bodies[0]);
    }
}

#[test]
fn a_paddle_does_not_pass_a_ball() {
    let blade = Shape::<3>::centred_box([0.0; 3], [0.4, 0.02, 0.3]).unwrap();
    let bodies = [ball(0.05, [0.7, 0.58, 0.5]), ball(0.03, [0.3, 0.1, 0.5])];
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[Solid::new(blade.clone())]);
    let pose = |time: f64| RigidTransform {
        rotation: Rotation::identity().turned([0.0, 0.0, 3.0 * time]),
        translation: [0.5; 3],
    };
    let dt = 0.01;
    for step in 0..300 {
        let time = dt * f64::from(step);
        scene.bodies.iter_mut().for_each(|body| body.velocity[1] -= GRAVITY * dt);
        scene.drift(&[(pose(time), pose(time + dt))], dt);
        for (index, radius) in [(0, 0.05), (1, 0.03)] {
            let distance = blade.signed_distance(pose(time + dt).apply_inverse(scene.position(index)));
            assert!(distance > 0.9 * radius, "step {step}, ball {index}: {distance}");
        }
    }
}

#[test]
fn a_platform_carries_a_block() {
    let plate = Shape::<3>::centred_box([0.0; 3], [0.3, 0.02, 0.3]).unwrap();
    let mut scene =
        Scene::new(&closed_domain(1.0, 50.0), &[block([0.05; 3], [0.5, 0.27, 0.5])], &[Solid::new(plate)]);
    // From rest to side and up, never faster than friction and gravity can follow.
    let pose = |time: f64| RigidTransform {
        rotation: Rotation::identity(),
        translation: [0.4 + 0.1 * (3.0 * time).cos(), 0.25 - 0.05 * (4.0 * time).cos(), 0.5],
    };
    let dt = 0.01;
    for step in 0..200 {
        let time = dt * f64::from(step);
        scene.bodies[0].velocity[1] -= GRAVITY * dt;
        scene.drift(&[(pose(time), pose(time + dt))], dt);
        let above = sub(scene.position(0), pose(time + dt).translation);
        assert!(norm(sub(above, [0.0, 0.07, 0.0])) < 1e-5, "step {step}: {above:?}");
    }
}

/// The origin of the plate's pose lies far from the plate, as that of a solid that turns about a pivot may.
#[test]
fn a_turning_plate_carries_a_block() {
    carry::<2>();
    carry::<3>();
}

fn carry<const D: usize>() {
    let pivot: [f64; D] = std::array::from_fn(|a| [0.4, -2.0, 0.5][a]);
    let above = |y: f64| -> [f64; D] { std::array::from_fn(|a| if a == 1 { y } else { 0.0 }) };
    let half: [f64; D] = std::array::from_fn(|a| if a == 1 { 0.02 } else { 0.3 });
    let plate = Shape::centred_box(above(2.18), half).unwrap();
    let body = block([0.05; D], add_scaled(pivot, 1.0, above(2.25)));
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[Solid::new(plate)]);
    let (spin, dt) = (-0.05, 0.01);
    let pose = |time: f64| RigidTransform {
        rotation: Rotation::identity().turned([0.0, 0.0, spin * time]),
        translation: pivot,
    };
    scene.bodies[0].velocity[0] = -spin * 2.25;
    scene.bodies[0].spin[2] = spin;
    for step in 0..50 {
        let time = dt * f64::from(step);
        scene.bodies[0].velocity[1] -= GRAVITY * dt;
        let way = [(pose(time), pose(time + dt))];
        let touches = scene.contacts.touches(&scene.bodies, &way, dt);
        assert!(!touches.is_empty(), "step {step}");
        for touch in touches {
            let arm = sub(touch.point, pivot);
            assert!((touch.velocity[0] + spin * arm[1]).abs() < 1e-4, "step {step}: {touch:?}");
            assert!((touch.velocity[1] - spin * arm[0]).abs() < 1e-4, "step {step}: {touch:?}");
        }
        scene.drift(&way, dt);
        let along = sub(pose(time + dt).apply_inverse(scene.position(0)), above(2.25));
        assert!(norm(along) < 1e-4, "step {step}: {along:?}");
    }
}

/// Along tangents it would be at 1.14 times its distance after one turn in steps of 6 degrees.
#[test]
fn a_turntable_carries_a_block_around() {
    let table = Solid::new(Shape::cylinder([0.0, -0.1, 0.0], [0.0, 0.0, 0.0], 0.45).unwrap());
    let (middle, start) = ([0.5, 0.25, 0.5], [0.75, 0.3, 0.5]);
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[block([0.05; 3], start)], &[table]);
    let (steps, dt) = (60, 1.0 / 24.0);
    let pose = |step: i32| RigidTransform {
        rotation: Rotation::identity().turned([0.0, TAU * f64::from(step) / f64::from(steps), 0.0]),
        translation: middle,
    };
    let spin = TAU / (f64::from(steps) * dt);
    scene.bodies[0].velocity[2] = -0.25 * spin;
    scene.bodies[0].spin[1] = spin;
    for step in 0..steps {
        scene.bodies[0].velocity[1] -= GRAVITY * dt;
        scene.drift(&[(pose(step), pose(step + 1))], dt);
    }
    let away = sub(scene.position(0), start);
    assert!(norm(away) < 2e-3, "{away:?}");
}

#[test]
fn what_is_squeezed_does_not_shoot_away() {
    let piston = Solid::new(Shape::<3>::centred_box([0.0; 3], [0.02, 0.48, 0.48]).unwrap());
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[block([0.1; 3], [0.8, 0.1, 0.5])], &[piston]);
    let pose = |x: f64| RigidTransform { rotation: Rotation::identity(), translation: [x, 0.5, 0.5] };
    let (dt, speed) = (0.01, 0.5);
    for step in 0..60 {
        let x = 0.5 + speed * dt * f64::from(step);
        scene.bodies[0].velocity[1] -= GRAVITY * dt;
        scene.drift(&[(pose(x), pose(x + speed * dt))], dt);
        assert!(scene.speed(0) < 1.5 * speed, "{:?}", scene.bodies[0]);
    }
    // The piston is at 0.8 and leaves no room.
    assert!(scene.info.deepest > 0.01 && (scene.position(0)[0] - 0.9).abs() < 0.02, "{:?}", scene.bodies[0]);
}

#[test]
fn an_overlap_is_taken_away_gently() {
    gently::<2>();
    gently::<3>();
}

fn gently<const D: usize>() {
    let mut centre = [0.5; D];
    centre[1] = 0.05;
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[block([0.1; D], centre)], &[]);
    let mut fastest = 0.0_f64;
    for _ in 0..300 {
        let before = scene.position(0)[1];
        scene.fall(0, 0.005);
        fastest = fastest.max(scene.speed(0));
        // At most a fifth of a cell in a step.
        assert!(scene.position(0)[1] - before < 0.2 * 0.02 + 1e-9);
    }
    assert!((scene.position(0)[1] - 0.1).abs() < 1e-3, "{:?}", scene.bodies[0]);
    assert!(fastest < 0.05, "{fastest}");
}
