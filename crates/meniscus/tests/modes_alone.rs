//! Scenes with `method = "modes"` and no bodies: between islands, and in 3D.

use std::path::Path;

use meniscus::{Scene, Simulation, Stats};

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", &format!("method = \"modes\"\n{text}"), Path::new(""), &[])
        .expect("a valid scene")
}

fn simulation(text: &str) -> Simulation {
    Simulation::new(&scene(text)).expect("a simulation")
}

/// Two islands and a wall that reaches in, whirls, a stroke, dye and a probe.
const ISLANDS: &str = r#"
    [domain]
    size = [1.5, 1.0]
    cells = 48
    [time]
    fps = 25
    [fluid]
    density = 1000
    [[fluid.wave]]
    half_waves = [2, 1]
    vorticity = 4
    [[fluid.stroke]]
    points = [[0.2, 0.1], [0.9, 0.1]]
    width = 0.06
    speed = 0.5
    [modes]
    domain = "solids"
    count = 40
    [[solid]]
    shape = { sphere = { centre = [0.45, 0.5], radius = 0.15 } }
    [[solid]]
    shape = { box = { from = [0.95, 0.35], to = [1.2, 0.6] } }
    [[solid]]
    shape = { sphere = { centre = [0.75, 1.0], radius = 0.2 } }
    [[smoke]]
    shape = { box = { from = [0.0, 0.3], to = [1.5, 0.6] } }
    stop = 0.2
    [[probe]]
    kind = "velocity"
    name = "beside"
    at = [0.75, 0.5]
    [[probe]]
    kind = "velocity"
    name = "inside"
    at = [0.45, 0.5]
"#;

/// Waves, smoke and a probe in a box.
const SPACE: &str = r#"
    [domain]
    size = [1.0, 0.75, 0.5]
    cells = 16
    [time]
    fps = 25
    [fluid]
    [[fluid.wave]]
    half_waves = [1, 1, 0]
    vorticity = 6
    [[fluid.wave]]
    half_waves = [1, 2, 1]
    axis = [1, 0, 0]
    vorticity = 4
    [modes]
    count = 80
    [[smoke]]
    shape = { sphere = { centre = [0.4, 0.4, 0.25], radius = 0.15 } }
    [[probe]]
    kind = "velocity"
    name = "here"
    at = [0.3, 0.2, 0.2]
"#;

fn advance(simulation: &mut Simulation, frames: usize) -> Vec<Stats> {
    (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect()
}

/// The velocities and the smoke that a frame shows.
fn numbers(simulation: &Simulation) -> Vec<f32> {
    let frame = simulation.frame();
    let mut numbers = frame.field("velocity", None).expect("a field").values;
    if let Some(plane) = frame.plane() {
        numbers.extend(plane.smokes().into_iter().flatten().flatten());
    }
    if let Some(space) = frame.space() {
        numbers.extend(space.smokes().into_iter().flatten().flatten());
    }
    numbers
}

#[test]
fn what_is_resumed_goes_on_bit_for_bit() {
    for text in [ISLANDS, SPACE] {
        let mut whole = simulation(text);
        advance(&mut whole, 4);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saved");
        whole.snapshot().write(&path).expect("a file");
        advance(&mut whole, 4);
        let saved = meniscus::Snapshot::read(&path, &scene(text)).expect("what was written");
        let mut resumed = Simulation::resume(&scene(text), saved.clone()).expect("the same scene");
        advance(&mut resumed, 4);
        assert_eq!(numbers(&resumed), numbers(&whole));
        whole.restore(saved).expect("the same scene");
        advance(&mut whole, 4);
        assert_eq!(numbers(&resumed), numbers(&whole));
    }
}

#[test]
fn energy_is_kept_and_moves_about() {
    for text in [ISLANDS, SPACE] {
        let mut simulation = simulation(text);
        let stats = advance(&mut simulation, 20);
        let first = &stats[0];
        assert!(first.kinetic_energy > 0.0);
        for now in &stats {
            assert!((now.kinetic_energy / first.kinetic_energy - 1.0).abs() < 1e-12);
            let modes = now.modes.as_ref().expect("of modes");
            assert!(modes.energy_put_back.abs() < 1e-3 * now.kinetic_energy);
            assert!(now.max_speed > 0.05 && now.max_speed < 5.0, "{}", now.max_speed);
        }
        let circulations = |stats: &Stats| stats.modes.as_ref().expect("of modes").circulations.clone();
        assert_eq!(circulations(first), circulations(&stats[stats.len() - 1]), "Kelvin's theorem");
        let probe = |stats: &Stats| stats.probes.values().next().expect("a probe").clone();
        assert_ne!(probe(first), probe(&stats[stats.len() - 1]));
    }
}

#[test]
fn nothing_flows_in_islands_and_dye_stays_out_of_them() {
    let mut simulation = simulation(ISLANDS);
    let stats = advance(&mut simulation, 30);
    let about = &stats[0].modes.as_ref().expect("of modes").circulations;
    assert_eq!(about.keys().collect::<Vec<_>>(), ["solid-1", "solid-2"]);
    let inside = serde_json::to_value(&stats[0].probes["inside"]).expect("numbers");
    assert_eq!(inside, serde_json::json!([0.0, 0.0]));
    let frame = simulation.frame();
    let smoke: Vec<[f32; 2]> =
        frame.plane().expect("in the plane").smokes().into_iter().flatten().copied().collect();
    assert!(smoke.len() > 1000);
    // In cells of 1/32 m.
    let is_in = |x: &[f32; 2]| {
        let [x, y] = x.map(|c| f64::from(c) / 32.0);
        let deep = 0.002;
        (x - 0.45).hypot(y - 0.5) < 0.15 - deep
            || (x - 0.75).hypot(y - 1.0) < 0.2 - deep
            || ((0.95 + deep..1.2 - deep).contains(&x) && (0.35 + deep..0.6 - deep).contains(&y))
    };
    assert_eq!(smoke.iter().filter(|x| is_in(x)).count(), 0);
    assert!(smoke.iter().any(|x| x[1] > 0.75 * 32.0), "it is carried along");
}

#[test]
fn solids_between_modes_do_not_come_and_go_while_the_flow_runs() {
    let mut simulation = simulation(ISLANDS);
    let more = scene(&format!(
        "{ISLANDS}\n[[smoke]]\nshape = {{ box = {{ from = [0.1, 0.7], to = [0.4, 0.9] }} }}\n"
    ));
    simulation.go_on_as(&more).expect("dye may come");
    let other = scene(&ISLANDS.replace("centre = [0.45, 0.5]", "centre = [0.4, 0.5]"));
    assert!(simulation.go_on_as(&other).is_err());
    advance(&mut simulation, 1);
}
