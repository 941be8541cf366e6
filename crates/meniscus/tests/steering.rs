//! A scene that is changed while it runs.

use std::path::Path;

use meniscus::{Keyframe, Keyframes, Scene, Simulation};

/// A pool with a ball in it that the scene may move, a body in the air above, and a source.
fn scene(motion: &str) -> Scene {
    let text = format!(
        r#"
        [domain]
        size = [1.2, 0.9]
        cells = 24
        open = ["+y"]
        [time]
        fps = 25
        [[liquid]]
        shape = {{ box = {{ from = [0, 0], to = [1.2, 0.4] }} }}
        [[solid]]
        name = "ball"
        shape = {{ sphere = {{ centre = [0.3, 0.3], radius = 0.1 }} }}
        {motion}
        [[body]]
        name = "box"
        shape = {{ box = {{ from = [0.7, 0.6], to = [0.9, 0.7] }} }}
        density = 500
        [[source]]
        name = "tap"
        shape = {{ box = {{ from = [0.2, 0.7], to = [0.3, 0.8] }} }}
        velocity = [0, -0.5]
        "#
    );
    Scene::parse("test.toml", &text, Path::new(""), &[]).expect("a valid scene")
}

fn simulation() -> Simulation {
    Simulation::new(&scene("")).expect("a simulation")
}

/// Where the particles are after a while, in m.
fn places(simulation: &mut Simulation) -> Vec<f32> {
    for _ in 0..5 {
        simulation.advance_frame().expect("it runs");
    }
    simulation.frame().particles().expect("particles").position.values
}

fn agree(ours: &[f32], theirs: &[f32]) {
    assert_eq!(ours.len(), theirs.len());
    let farthest = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(farthest < 1e-4, "{farthest} m apart");
}

#[test]
fn a_solid_that_is_steered_moves_as_one_that_the_scene_moves() {
    let keyframes = "motion = { pivot = [0.3, 0.3], keyframes = [{ time = 0 }, \
                     { time = 1, translation = [0.4, 0.05], degrees = 90 }] }";
    let expected = places(&mut Simulation::new(&scene(keyframes)).expect("a simulation"));
    let resting = places(&mut simulation());

    let mut steered = simulation();
    steered.steer("ball", &[0.4, 0.05], &[std::f64::consts::FRAC_PI_2]).expect("a ball");
    agree(&places(&mut steered), &expected);

    let keyframe =
        |time, translation: [f64; 2], degrees| Keyframe { time, translation: translation.to_vec(), degrees };
    let mut led = simulation();
    let motion = Keyframes {
        pivot: vec![0.3, 0.3],
        axis: [0.0; 3],
        keyframes: vec![keyframe(0.0, [0.0; 2], 0.0), keyframe(1.0, [0.4, 0.05], 90.0)],
        is_smooth: false,
        repeats: false,
    };
    led.follow("ball", &motion).expect("a ball");
    agree(&places(&mut led), &expected);
    assert!(
        resting.len() != expected.len() || resting.iter().zip(&expected).any(|(a, b)| (a - b).abs() > 1e-2)
    );

    // To stop is to go on from where it is.
    steered.steer("ball", &[0.0, 0.0], &[0.0]).expect("a ball");
    let before = steered.frame().plane().and_then(|frame| Some(frame.poses("solids")?[0])).expect("a pose");
    steered.advance_frame().expect("it runs");
    let after = steered.frame().plane().and_then(|frame| Some(frame.poses("solids")?[0])).expect("a pose");
    let moved = (0..2).map(|a| (before.translation[a] - after.translation[a]).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-12 && before.translation[0] > 0.05, "{moved}");
}

#[test]
fn a_body_that_is_held_up_by_its_weight_rests_in_the_air() {
    let mut simulation = simulation();
    let weight = 9.81 * 500.0 * 0.2 * 0.1;
    simulation.push("box", &[0.0, weight], &[0.0], true).expect("a box");
    let start = simulation.frame().bodies()[0].clone();
    let mut substeps = Vec::new();
    for _ in 0..3 {
        substeps.extend(simulation.advance_frame().expect("it runs"));
    }
    let held = simulation.frame().bodies()[0].clone();
    assert!((held.position[1] - start.position[1]).abs() < 1e-9, "{held:?}");
    // It works against gravity: both are nothing, as nothing moves.
    assert!(substeps.iter().all(|s| s.energy_book.pushes.abs() < 1e-9));

    // For one substep: half of what gravity takes away in it.
    simulation.push("box", &[0.0, 1.5 * weight], &[0.0], false).expect("a box");
    let first = simulation.advance_substep().expect("it runs");
    let speed = first.bodies[0].velocity[1];
    assert!((speed / (0.5 * 9.81 * first.dt) - 1.0).abs() < 1e-6, "{speed}");
    assert!((first.energy_book.pushes / (1.5 * weight * speed * first.dt) - 1.0).abs() < 1e-6);
    let second = simulation.advance_substep().expect("it runs");
    let fallen = second.bodies[0].velocity[1] - speed;
    assert!((fallen / (-9.81 * second.dt) - 1.0).abs() < 1e-6, "{fallen}");

    // A torque turns it: 2 D, of a plate m (a² + b²) / 12.
    let inertia = 10.0 * (0.2_f64.powi(2) + 0.1_f64.powi(2)) / 12.0;
    simulation.push("box", &[0.0, 0.0], &[0.3], false).expect("a box");
    let third = simulation.advance_substep().expect("it runs");
    let spin = third.bodies[0].angular_velocity[0];
    assert!((spin / (0.3 / inertia * third.dt) - 1.0).abs() < 1e-2, "{spin}");
}

#[test]
fn gravity_and_sources_are_changed_at_once() {
    let mut simulation = simulation();
    simulation.set_gravity(&[0.0, 0.0]).expect("two components");
    simulation.open_source("tap", false).expect("a tap");
    let stats = simulation.advance_frame().expect("it runs");
    assert!(
        stats.iter().all(|s| s.poured_volume == 0.0 && s.max_speed < 1e-6 && s.bodies[0].velocity[1] == 0.0)
    );
    simulation.open_source("tap", true).expect("a tap");
    simulation.set_gravity(&[1.0, 0.0]).expect("two components");
    let stats = simulation.advance_substep().expect("it runs");
    assert!((stats.bodies[0].velocity[0] / stats.dt - 1.0).abs() < 1e-9);
    let stats = simulation.advance_frame().expect("it runs");
    let poured: f64 = stats.iter().map(|s| s.poured_volume).sum();
    assert!(poured > 0.5 * 0.5 * 0.1 / 25.0, "{poured}");
}

#[test]
fn what_was_changed_is_kept_in_a_snapshot() {
    let mut simulation = simulation();
    simulation.advance_substep().expect("it runs");
    simulation.steer("ball", &[0.3, 0.0], &[2.0]).expect("a ball");
    simulation.push("box", &[5.0, 50.0], &[0.1], true).expect("a box");
    simulation.set_gravity(&[1.0, -5.0]).expect("two components");
    simulation.open_source("tap", false).expect("a tap");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.checkpoint");
    simulation.snapshot().write(&path).expect("written");
    let snapshot = meniscus::Snapshot::read(&path, &scene("")).expect("read");
    let mut resumed = Simulation::resume(&scene(""), snapshot).expect("a simulation");
    for simulation in [&mut simulation, &mut resumed] {
        simulation.advance_frame().expect("it runs");
    }
    assert!(simulation.snapshot() == resumed.snapshot());
}

/// A mesh that moves is sampled: not one that did so before.
#[test]
fn a_mesh_that_was_steered_rests_again_when_that_is_undone() {
    let folder = tempfile::tempdir().expect("a folder");
    let wedge =
        "v 0.2 0 0.2\nv 0.6 0 0.2\nv 0.3 0 0.6\nv 0.35 0.33 0.35\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";
    std::fs::write(folder.path().join("wedge.obj"), wedge).expect("written");
    let text = r#"
        [domain]
        size = [0.8, 0.6, 0.8]
        cells = 16
        [[liquid]]
        shape = { box = { from = [0, 0, 0], to = [0.4, 0.4, 0.8] } }
        [[solid]]
        name = "wedge"
        shape = { mesh = { file = "wedge.obj" } }
    "#;
    let scene = Scene::parse("wedge.toml", text, folder.path(), &[]).expect("a valid scene");
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    simulation.advance_substep().expect("it runs");
    let snapshot = simulation.snapshot();
    simulation.steer("wedge", &[0.2, 0.0, 0.0], &[0.0, 1.0, 0.0]).expect("a wedge");
    simulation.advance_substep().expect("it runs");
    simulation.restore(snapshot.clone()).expect("of this scene");
    let mut resumed = Simulation::resume(&scene, snapshot).expect("a simulation");
    for simulation in [&mut simulation, &mut resumed] {
        simulation.advance_frame().expect("it runs");
    }
    assert!(simulation.snapshot() == resumed.snapshot());
}

#[test]
fn names_and_numbers_that_are_none_are_told() {
    let mut simulation = simulation();
    let told = |result: Result<(), meniscus::SimulationError>| result.expect_err("an error").to_string();
    assert_eq!(
        told(simulation.steer("bowl", &[0.0; 2], &[0.0])),
        "the scene has no solid named \"bowl\"; it has ball"
    );
    assert_eq!(
        told(simulation.push("box", &[0.0; 3], &[0.0], false)),
        "[0.0, 0.0, 0.0] is no force: it has 2 components, finite numbers"
    );
    assert!(told(simulation.steer("ball", &[0.0; 2], &[0.0; 3])).contains("is no angular velocity"));
    assert!(told(simulation.set_gravity(&[0.0, f64::NAN])).contains("is no gravity"));
    assert!(told(simulation.open_source("tub", true)).contains("no source named \"tub\"; it has tap"));
    let none = Keyframes {
        pivot: vec![0.0; 2],
        axis: [0.0; 3],
        keyframes: Vec::new(),
        is_smooth: false,
        repeats: false,
    };
    assert_eq!(told(simulation.follow("ball", &none)), "these keyframes make no motion: there are none");
}

/// What a source fills of the air when it opens is poured, as what it pushes out is: nothing takes it away again.
#[test]
fn a_source_that_opens_in_air_pours_what_it_fills() {
    let text = |start: f64| {
        format!(
            r#"
            gravity = [0, 0]
            [domain]
            size = [1.0, 1.0]
            cells = 40
            open = ["+y"]
            [time]
            fps = 20
            [[liquid]]
            shape = {{ box = {{ from = [0, 0], to = [1, 0.2] }} }}
            [[source]]
            shape = {{ box = {{ from = [0.4, 0.6], to = [0.6, 0.8] }} }}
            velocity = [0, 0]
            start = {start}
            "#
        )
    };
    for start in [0.0, 0.12] {
        let scene = Scene::parse("test.toml", &text(start), Path::new(""), &[]).expect("a valid scene");
        let mut simulation = Simulation::new(&scene).expect("a simulation");
        let stats: Vec<_> = (0..8).flat_map(|_| simulation.advance_frame().expect("it runs")).collect();
        let poured: f64 = stats.iter().map(|substep| substep.poured_volume).sum();
        assert!((poured - 0.04).abs() < 4e-4, "{poured} from {start} s on");
        let last = stats.last().expect("a substep");
        assert!((last.liquid_volume - 0.24).abs() < 1e-3, "{} from {start} s on", last.liquid_volume);
        assert!(last.drift().abs() < 2e-3, "{} from {start} s on", last.drift());
    }
}

/// What a solid makes room for, and takes of it, is in the book of a fluid that fills the domain too.
#[test]
fn the_book_of_a_full_domain_adds_up() {
    let text = r#"
        [domain]
        size = [1.0, 1.0]
        cells = 32
        [fluid]
        density = 1
        [[solid]]
        shape = { sphere = { centre = [0.3, 0.41], radius = 0.13 } }
        motion = { keyframes = [{ time = 0 }, { time = 1, translation = [0.4, 0.1] }] }
    "#;
    let scene = Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene");
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    let stats: Vec<_> = (0..4).flat_map(|_| simulation.advance_frame().expect("it runs")).collect();
    for pair in stats.windows(2) {
        let change = pair[1].liquid_volume - pair[0].liquid_volume;
        assert!((change - pair[1].volume_book.change()).abs() < 1e-12, "{change}");
    }
    assert!(stats.iter().any(|substep| substep.volume_book.change() != 0.0));
}
