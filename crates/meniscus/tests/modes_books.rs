//! The books of bodies in a flow of modes: still fluid without walls nearby, and without viscosity, keeps what bodies have of energy and momentum.

use std::path::Path;

use meniscus::{Scene, Simulation, SimulationError, Stats};

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene")
}

/// A box of still water without gravity, and what is in it.
fn still(fps: f64, panel: f64, more: &str) -> String {
    format!(
        r#"
        method = "modes"
        gravity = [0, 0]
        [domain]
        size = [3.0, 2.0]
        cells = 48
        [time]
        fps = {fps}
        [fluid]
        density = 1000
        [modes]
        count = 30
        panel = {panel}
        feedback = "none"
        {more}
        "#
    )
}

fn run(text: &str, frames: u32) -> Vec<Stats> {
    let mut simulation = Simulation::new(&scene(text)).expect("a simulation");
    let mut stats = Vec::new();
    for _ in 0..frames {
        stats.extend(simulation.advance_frame().expect("no step fails"));
    }
    stats
}

/// Bodies with sharp corners, where the speed of the fluid has no end.
#[test]
fn sharp_corners_neither_drive_nor_brake() {
    let shapes = [
        "polygon = { points = [[1.2, 0.98], [1.7, 0.996], [1.7, 1.004], [1.2, 1.02]] }",
        "polygon = { points = [[1.3, 0.8], [1.7, 0.8], [1.5, 1.2]] }",
        "polygon = { points = [[1.3, 0.8], [1.7, 0.8], [1.7, 0.95], [1.45, 0.95], [1.45, 1.2], [1.3, 1.2]] }",
    ];
    for shape in shapes {
        let body = format!(
            "[[body]]\nname = \"a\"\nshape = {{ {shape} }}\ndensity = 500\nvelocity = [0.4, 0.5]\nangular_velocity = [2.0]"
        );
        for panel in [0.04, 0.02] {
            let stats = run(&still(240.0, panel, &body), 120);
            let first = stats[0].kinetic_energy;
            let off = |now: &Stats| (now.kinetic_energy / first - 1.0).abs();
            let most = stats.iter().map(off).fold(0.0, f64::max);
            assert!(most < 3e-3, "{shape}, panels of {panel}: {most}");
        }
    }
}

/// Two discs of which one is as heavy as twenty of the other meet head-on, with and without bounce.
#[test]
fn hits_in_the_fluid_make_no_energy() {
    let discs = |restitution: f64| {
        let disc = |name: &str, x: f64, density: f64, speed: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ centre = [{x}, 1.0], radius = 0.1 }} }}\n\
                 density = {density}\nvelocity = [{speed}, 0]\nfriction = 0\nrestitution = {restitution}\n"
            )
        };
        format!("{}{}", disc("heavy", 1.0, 2000.0, 1.5), disc("light", 1.4, 100.0, 0.0))
    };
    let energies = |restitution: f64| {
        let stats = run(&still(480.0, 0.02, &discs(restitution)), 160);
        let is_hit = stats.iter().any(|now| now.bodies[1].velocity[0] > 1.0);
        assert!(is_hit, "they met");
        (stats[0].kinetic_energy, stats[stats.len() - 1].kinetic_energy)
    };
    let (before, after) = energies(1.0);
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    let (before, after) = energies(0.0);
    assert!(after < 0.99 * before, "{before} {after}");
}

/// Pressure has no torque on a disc, whatever whirls it passes.
#[test]
fn no_disc_is_spun() {
    let more = "[[body]]\nname = \"a\"\nshape = { sphere = { centre = [0.9, 0.6], radius = 0.15 } }\ndensity = 100\n\
                [[fluid.wave]]\nhalf_waves = [2, 3]\nvorticity = 20\n[[fluid.wave]]\nhalf_waves = [1, 1]\nvorticity = -8";
    for now in run(&still(120.0, 0.03, more), 60) {
        assert!(now.bodies[0].angular_velocity[0].abs() < 1e-6, "{:?}", now.bodies[0]);
    }
}

#[test]
fn what_is_moved_by_keyframes_may_stop() {
    let solid = "[[solid]]\nname = \"a\"\nshape = { sphere = { centre = [1.0, 1.0], radius = 0.2 } }\n[solid.motion]\n\
                 keyframes = [{ time = 0 }, { time = 0.2, translation = [0.3, 0.1] }]";
    let stats = run(&still(60.0, 0.05, solid), 24);
    assert!(stats[5].kinetic_energy > 0.1 && stats[23].kinetic_energy < 1e-12);
}

#[test]
fn nothing_is_put_into_a_body_that_has_moved_there() {
    let sinking = still(60.0, 0.05, "").replace("gravity = [0, 0]", "");
    let disc = |name: &str, y: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ centre = [1.0, {y}], radius = 0.2 }} }}\ndensity = 3000\n"
        )
    };
    let one = format!("{sinking}{}", disc("one", 1.5));
    let mut simulation = Simulation::new(&scene(&one)).expect("a simulation");
    while simulation.advance_substep().expect("no step fails").bodies[0].position[1] > 1.0 {}
    let other = scene(&format!("{one}{}", disc("other", 1.0)));
    let error = simulation.go_on_as(&other).expect_err("it is in the way");
    assert!(matches!(error, SimulationError::Overlap { .. }), "{error}");
    assert!(error.to_string().contains("\"other\" overlaps \"one\""), "{error}");
    simulation.advance_frame().expect("all is as it was");
}
