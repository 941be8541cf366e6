//! Scenes with `method = "modes"`.

use std::f64::consts::PI;
use std::path::Path;

use meniscus::{Scene, Simulation, Stats};

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", &format!("method = \"modes\"\n{text}"), Path::new(""), &[])
        .expect("a valid scene")
}

fn simulation(text: &str) -> Simulation {
    Simulation::new(&scene(text)).expect("a simulation")
}

/// Bodies that touch, a solid that moves, dye, whirls and a drawn mode.
const EVERYTHING: &str = r#"
    [domain]
    size = [1.5, 1.0]
    cells = 48
    [time]
    fps = 25
    [fluid]
    density = 1000
    viscosity = 0.5
    [[fluid.wave]]
    half_waves = [2, 1]
    vorticity = 4
    [modes]
    count = 60
    panel = 0.04
    [[modes.enrich]]
    stroke = { points = [[0.3, 0.8], [1.2, 0.8]], width = 0.05, speed = 0.3 }
    [[body]]
    name = "cork"
    shape = { sphere = { centre = [0.4, 0.2], radius = 0.1 } }
    density = 200
    [[body]]
    name = "brick"
    shape = { box = { from = [0.3, 0.35], to = [0.6, 0.5] } }
    density = 1800
    [[solid]]
    name = "stirrer"
    shape = { capsule = { from = [0.9, 0.5], to = [1.2, 0.5], radius = 0.04 } }
    [solid.motion]
    repeat = true
    keyframes = [{ time = 0 }, { time = 1, degrees = 360 }]
    [[smoke]]
    shape = { box = { from = [0.7, 0.1], to = [1.3, 0.3] } }
    stop = 0.2
    [[probe]]
    kind = "velocity"
    name = "here"
    at = [0.75, 0.75]
"#;

/// All that a frame shows, as numbers.
fn numbers(simulation: &Simulation) -> Vec<f32> {
    let frame = simulation.frame();
    let mut numbers = frame.field("velocity", None).expect("a field").values;
    let plane = frame.plane().expect("it is in the plane");
    numbers.extend(plane.smokes().into_iter().flatten().flatten());
    numbers
        .extend(frame.bodies().iter().flat_map(|b| b.position.iter().chain(&b.velocity)).map(|x| *x as f32));
    numbers
}

fn advance(simulation: &mut Simulation, frames: usize) -> Vec<Stats> {
    (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect()
}

#[test]
fn what_is_resumed_goes_on_bit_for_bit() {
    let mut whole = simulation(EVERYTHING);
    advance(&mut whole, 8);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved");
    whole.snapshot().write(&path).expect("a file");
    let expected = advance(&mut whole, 8);
    let saved = meniscus::Snapshot::read(&path, &scene(EVERYTHING)).expect("what was written");
    let mut resumed = Simulation::resume(&scene(EVERYTHING), saved.clone()).expect("the same scene");
    let found = advance(&mut resumed, 8);
    assert_eq!(numbers(&resumed), numbers(&whole));
    let bodies = |stats: &[Stats]| stats.iter().flat_map(|s| s.bodies.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&found), bodies(&expected));
    whole.restore(saved).expect("the same scene");
    advance(&mut whole, 8);
    assert_eq!(numbers(&resumed), numbers(&whole));
}

#[test]
fn a_whirl_decays_as_its_eigenvalue_says() {
    let mut simulation = simulation(
        r#"
        [domain]
        size = [2.0, 1.0]
        cells = 64
        [time]
        fps = 20
        [fluid]
        density = 1000
        viscosity = 2.0
        [[fluid.wave]]
        half_waves = [2, 1]
        vorticity = 3
        [modes]
        count = 30
        [[probe]]
        kind = "velocity"
        name = "on the wall"
        at = [0.5, 0.0]
        "#,
    );
    let stats = advance(&mut simulation, 10).pop().expect("a step");
    // ψ = w / λ sin(π x) sin(π y), λ = 2 π²; below the middle of the first whirl u = ψ_y = w / (2 π).
    let decay = (-2e-3 * 2.0 * PI * PI * 0.5f64).exp();
    let meniscus::ProbeValue::Vector(velocity) = &stats.probes["on the wall"] else { panic!("a vector") };
    assert!(
        (velocity[0] - 3.0 / (2.0 * PI) * decay).abs() < 1e-12 && velocity[1].abs() < 1e-12,
        "{velocity:?}"
    );
    // ½ ρ ∫ u² = ⅛ ρ A w² / λ.
    let expected = 0.125 * 1000.0 * 2.0 * 9.0 / (2.0 * PI * PI) * decay * decay;
    assert!((stats.kinetic_energy / expected - 1.0).abs() < 1e-12, "{} {expected}", stats.kinetic_energy);
}

#[test]
fn what_is_released_rises_with_what_it_takes_along() {
    let mut simulation = simulation(
        r#"
        gravity = [0, -10]
        [domain]
        size = [1.0, 1.0]
        cells = 50
        [time]
        fps = 1000
        [fluid]
        density = 1000
        [modes]
        count = 1
        feedback = "none"
        panel = 0.006
        [[body]]
        name = "ball"
        shape = { sphere = { centre = [0.5, 0.5], radius = 0.125 } }
        density = 100
        "#,
    );
    let stats = advance(&mut simulation, 10).pop().expect("a step");
    // (1 - .1) g / (.1 + C) with C = 1.11352 for a disc of a quarter of the box in its middle.
    let expected = 0.9 * 10.0 / 1.21352 * 0.01;
    assert!((stats.bodies[0].velocity[1] / expected - 1.0).abs() < 2e-3, "{:?} {expected}", stats.bodies[0]);
    let energy = stats.kinetic_energy + stats.potential_energy;
    let before = -PI * 0.125 * 0.125 * 900.0 * 10.0 * 0.5;
    assert!(
        ((energy - before) / stats.kinetic_energy).abs() < 1e-2,
        "{energy} {before} {}",
        stats.kinetic_energy
    );
}

#[test]
fn bodies_stay_apart_and_in_the_box() {
    let mut simulation = simulation(EVERYTHING);
    for stats in advance(&mut simulation, 50) {
        let [cork, brick] = &stats.bodies[..] else { panic!("two bodies") };
        // Half a panel, .02, stays between what touches.
        for (body, reach) in [(cork, 0.1), (brick, 0.075)] {
            let [x, y] = body.position[..] else { panic!("two coordinates") };
            assert!(x > reach + 0.018 && x < 1.5 - reach - 0.018, "{body:?}");
            assert!(y > reach + 0.018 && y < 1.0 - reach - 0.018, "{body:?}");
        }
        assert!(stats.warnings.is_empty(), "{:?}", stats.warnings);
        assert!(stats.solve.residual < 1e-6);
    }
}

#[test]
fn a_solid_that_leaves_the_box_is_an_error_that_says_so() {
    let mut simulation = simulation(
        r#"
        [domain]
        size = [1.0, 1.0]
        cells = 32
        [fluid]
        density = 1
        [[solid]]
        name = "bat"
        shape = { sphere = { centre = [0.5, 0.5], radius = 0.2 } }
        "#,
    );
    simulation.steer("bat", &[3.0, 0.0], &[0.0]).expect("a solid of the scene");
    let error = (0..10).find_map(|_| simulation.advance_frame().err()).expect("an error");
    let source = std::error::Error::source(&error).expect("a reason").to_string();
    assert!(source.contains("\"bat\"") && source.contains("out of the box"), "{source}");
}
