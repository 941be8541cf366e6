//! Hits of bodies in a reduced fluid, with friction, against hand calculations.

use std::path::Path;

use meniscus::{BodyStats, Scene, Simulation, Stats};

fn run(text: &str, frames: usize) -> Vec<Stats> {
    let text = format!("method = \"modes\"\n{text}");
    let scene = Scene::parse("test.toml", &text, Path::new(""), &[]).expect("a valid scene");
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect()
}

/// A body in a box of 2 m without gravity, in a fluid of this density.
fn scene(fps: u32, fluid: f64, body: &str) -> String {
    format!(
        "gravity = [0, 0]\n[domain]\nsize = [2.0, 1.0]\ncells = 64\n[time]\nfps = {fps}\n[fluid]\ndensity = {fluid}\n\
         [modes]\ncount = 50\nfeedback = \"none\"\n[[body]]\nname = \"it\"\n{body}"
    )
}

fn last(stats: &[Stats]) -> &BodyStats {
    &stats.last().expect("a step").bodies[0]
}

const DISC: &str = "shape = { sphere = { centre = [0.5, 0.4], radius = 0.1 } }\n";
const TILTED_BOX: &str =
    "shape = { transform = { shape = { box = { from = [0.65, 0.3], to = [0.95, 0.4] } }, degrees = 50 } }\n";

#[test]
fn a_light_disc_rolls_off_after_a_hit_with_friction() {
    for (density, fps) in [(10.0, 60), (10.0, 240), (100.0, 240), (1000.0, 240)] {
        let body =
            format!("{DISC}density = {density}\nfriction = 0.5\nrestitution = 0.0\nvelocity = [0.5, -1.0]");
        let stats = run(&scene(fps, 1000.0, &body), fps as usize);
        let before = stats[0].kinetic_energy;
        for step in &stats {
            let disc = &step.bodies[0];
            let rolling = 0.5 / 0.1;
            assert!(
                disc.angular_velocity[0].abs() < rolling,
                "{density} at {fps}: spins at {}",
                disc.angular_velocity[0]
            );
            assert!(step.kinetic_energy < 1.02 * before, "{density} at {fps}: {} J", step.kinetic_energy);
        }
        let end = last(&stats);
        assert!(end.velocity[1].abs() < 0.05, "{density} at {fps}: {:?}", end.velocity);
        // Faster below would be backwards.
        assert!(end.angular_velocity[0] < 0.0 && end.velocity[0] > 0.0, "{density} at {fps}: {end:?}");
    }
}

#[test]
fn friction_of_a_light_body_that_is_carried_along_a_wall_makes_no_energy() {
    let stats = run(
        "[domain]\nsize = [2.0, 1.0]\ncells = 64\n[time]\nfps = 60\n[fluid]\ndensity = 1000\n[[body]]\n\
         shape = { sphere = { centre = [0.5, 0.5], radius = 0.1 } }\ndensity = 10\nvelocity = [0.3, 0.0]",
        72,
    );
    let first = &stats[0];
    let start = first.kinetic_energy + first.potential_energy;
    let mut shed = 0.0;
    for step in &stats {
        shed += step.modes.as_ref().expect("modes").energy_shed;
        let gained = step.kinetic_energy + step.potential_energy - shed - start;
        assert!(gained < 4.0, "{gained} J at {} s", step.time);
    }
    let end = stats.last().expect("a step");
    assert!(end.bodies[0].velocity[0].hypot(end.bodies[0].velocity[1]) < 0.5, "{:?}", end.bodies[0]);
}

#[test]
fn a_corner_that_sticks_and_bounces_fully_keeps_the_energy() {
    let body = format!("{TILTED_BOX}density = 1000\nrestitution = 1.0\nfriction = 0.5\nvelocity = [0, -1.5]");
    let stats = run(&scene(400, 1.0, &body), 100);
    let before = stats[0].kinetic_energy;
    let end = last(&stats);
    let energy = stats.last().expect("a step").kinetic_energy;
    assert!((energy / before - 1.0).abs() < 0.02, "{before} J, then {energy}");
    for (found, expected) in
        [(end.velocity[0], 0.769), (end.velocity[1], 1.196), (end.angular_velocity[0], -5.23)]
    {
        assert!((found - expected).abs() < 0.05 * expected.abs(), "{end:?}");
    }
}

#[test]
fn a_bounce_rubs_as_much_as_it_pushes() {
    for (restitution, along, spin) in [(0.0, 0.5, -2.0), (0.5, 0.45, -3.0), (1.0, 0.4, -4.0)] {
        let body = format!(
            "{DISC}density = 1000\nrestitution = {restitution}\nfriction = 0.1\nvelocity = [0.6, -1.0]"
        );
        let stats = run(&scene(200, 1.0, &body), 80);
        let end = last(&stats);
        assert!((end.velocity[0] - along).abs() < 0.01, "{restitution}: {end:?}");
        assert!((end.velocity[1] - restitution).abs() < 0.02, "{restitution}: {end:?}");
        assert!((end.angular_velocity[0] - spin).abs() < 0.1, "{restitution}: {end:?}");
    }
}

#[test]
fn a_light_disc_bounces_nearly_as_high_as_it_fell_from() {
    let body = format!("{DISC}density = 2000\nrestitution = 1.0\nfriction = 0.0\n");
    for (fps, least) in [(60, 0.9), (240, 0.95)] {
        let text = scene(fps, 1000.0, &body).replace("gravity = [0, 0]\n", "");
        let stats = run(&text, fps as usize);
        let energy = |step: &Stats| step.kinetic_energy + step.potential_energy;
        let floor = stats.iter().map(|step| step.potential_energy).fold(f64::INFINITY, f64::min);
        let part = (energy(stats.last().expect("a step")) - floor) / (energy(&stats[0]) - floor);
        assert!(part > least && part < 1.03, "{fps}: {part} of the energy is left");
    }
}
