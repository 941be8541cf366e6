//! Wakes that leave the edges of bodies in a flow of modes.

use std::path::Path;

use meniscus::{Scene, Simulation, Stats};

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene");
    Simulation::new(&scene).expect("a simulation")
}

fn advance(simulation: &mut Simulation, frames: usize) -> Vec<Stats> {
    (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect()
}

/// A thin plate of one metre, in the middle of a box of 24 m, ten degrees nose up, that moves at 1 m/s to the left; and what else there is.
fn plate(edges: &str, more: &str) -> String {
    let (sin, cos) = 10f64.to_radians().sin_cos();
    let place = |x: f64, y: f64| [16.0 + x * cos + y * sin, 12.0 - x * sin + y * cos];
    // Sharp behind, round before.
    let points = [[0.5, 0.0], [0.3, 0.01], [0.0, 0.015], [-0.4, 0.015], [-0.5, 0.006]].into_iter().chain([
        [-0.5, -0.006],
        [-0.4, -0.015],
        [0.0, -0.015],
        [0.3, -0.01],
    ]);
    let points: Vec<[f64; 2]> = points.map(|[x, y]| place(x, y)).collect();
    let edges = edges.replace("EDGE", &format!("{:?}", points[0]));
    format!(
        r#"
        method = "modes"
        gravity = [0, 0]
        [domain]
        size = [24, 24]
        cells = 24
        [time]
        fps = 20
        [fluid]
        density = 1000
        [modes]
        count = 1
        panel = 0.04
        [[solid]]
        name = "plate"
        shape = {{ polygon = {{ points = {points:?} }} }}
        {edges}
        motion = {{ keyframes = [{{ time = 0 }}, {{ time = 10, translation = [-10, 0] }}] }}
        {more}
        "#
    )
}

#[test]
fn a_wing_lifts_and_its_circulation_is_what_its_wake_has_not() {
    let mut wing = simulation(&plate("wake_edges = [EDGE]", ""));
    let stats = advance(&mut wing, 80);
    let modes = stats.last().expect("a step").modes.as_ref().expect("modes");
    assert!(modes.wake_vortices >= 80, "{}", modes.wake_vortices);
    // After four chords: 2 π sin α ½ ρ U² c times Wagner's function at 8 half chords.
    let full = std::f64::consts::PI * 1000.0 * 10f64.to_radians().sin();
    let wagner = 1.0 - 0.165 * (-0.0455f64 * 8.0).exp() - 0.335 * (-0.3f64 * 8.0).exp();
    let lift = modes.forces["plate"][1];
    assert!((lift / (full * wagner) - 1.0).abs() < 0.06, "{lift} {}", full * wagner);
    // Clockwise, since it is faster above. That grows nearly as the lift does.
    let part = -modes.circulations["plate"] / (full / 1000.0);
    assert!((part - wagner).abs() < 0.06, "{part} {wagner}");

    let mut plain = simulation(&plate("", ""));
    let stats = advance(&mut plain, 20);
    let modes = stats.last().expect("a step").modes.as_ref().expect("modes");
    assert!(modes.circulations.is_empty() && modes.wake_vortices == 0);
    assert!(modes.forces["plate"][1].abs() < 0.2 * full, "{:?}", modes.forces);
}

#[test]
fn a_wake_goes_on_bit_for_bit_and_stays_when_the_wing_is_taken_away() {
    let text =
        plate("wake_edges = [EDGE]", "[[smoke]]\nshape = { box = { from = [14, 11], to = [17, 13] } }");
    let mut whole = simulation(&text);
    advance(&mut whole, 10);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved");
    whole.snapshot().write(&path).expect("a file");
    let expected = advance(&mut whole, 5);
    let scene = Scene::parse("test.toml", &text, Path::new(""), &[]).expect("a valid scene");
    let saved = meniscus::Snapshot::read(&path, &scene).expect("what was written");
    let mut resumed = Simulation::resume(&scene, saved).expect("the same scene");
    let found = advance(&mut resumed, 5);
    let numbers = |stats: &[Stats]| -> Vec<_> {
        stats.iter().map(|s| (s.kinetic_energy, s.modes.as_ref().map(|m| m.circulations.clone()))).collect()
    };
    assert_eq!(numbers(&found), numbers(&expected));

    // What turned around the wing turns in the modes then, and its wake goes on.
    let without = text.split("[[solid]]").next().expect("a beginning").replace("count = 1", "count = 100");
    let without = Scene::parse("test.toml", &without, Path::new(""), &[]).expect("a valid scene");
    let vortices = expected.last().and_then(|s| s.modes.as_ref()).map(|m| m.wake_vortices);
    whole.go_on_as(&without).expect("no wing");
    let stats = advance(&mut whole, 1);
    assert_eq!(stats[0].modes.as_ref().map(|m| m.wake_vortices), vortices);
}
