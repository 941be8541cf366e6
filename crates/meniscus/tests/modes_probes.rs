//! Probes in flows of modes, against closed forms, the books, and the grid.

use std::f64::consts::PI;
use std::path::Path;

use meniscus::{ProbeValue, Scene, Simulation, Stats};

fn after_a_step(text: &str) -> Stats {
    let scene = Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene");
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    simulation.advance_frame().expect("it runs").remove(0)
}

fn scalar(stats: &Stats, name: &str) -> f64 {
    match stats.probes[name] {
        ProbeValue::Scalar(Some(value)) => value,
        ref other => panic!("{name}: {other:?}"),
    }
}

fn vector(stats: &Stats, name: &str) -> Vec<f64> {
    match &stats.probes[name] {
        ProbeValue::Vector(value) => value.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

/// One whirl in a box, which stays as it is.
const WHIRL: &str = r#"
    gravity = [0, -2]
    [domain]
    size = [1, 1]
    cells = 64
    [time]
    fps = 50
    [fluid]
    density = 3
    [[fluid.wave]]
    half_waves = [1, 1]
    vorticity = 2
"#;

const PROBES: &str = r#"
    [[probe]]
    kind = "pressure"
    name = "low"
    at = [0.5, 0.5]
    [[probe]]
    kind = "pressure"
    name = "high"
    at = [0.2, 0.9]
    [[probe]]
    kind = "flux"
    name = "down"
    from = [0.5, 0.25]
    to = [0.9, 0.25]
    [[probe]]
    kind = "volume"
    name = "disc"
    shape = { sphere = { centre = [0.4, 0.6], radius = 0.23 } }
    [[probe]]
    kind = "mean-velocity"
    name = "above"
    shape = { box = { from = [0, 0.5], to = [1, 1] } }
    [[probe]]
    kind = "energy"
    name = "left"
    shape = { half_space = { point = [0.5, 0.5], normal = [1, 0] } }
"#;

#[test]
fn a_whirl_is_measured_as_closed_forms_say() {
    let stats = after_a_step(&format!("method = \"modes\"\n{WHIRL}{PROBES}"));
    // ψ = c sin(πx) sin(πy), and all speeds are up to π c.
    let c = 2.0 / (2.0 * PI * PI);
    let top = PI * c;
    let pressure = |x: f64, y: f64| {
        3.0 * (0.25 * top * top * ((2.0 * PI * x).cos() + (2.0 * PI * y).cos()) - 2.0 * (y - 0.5))
    };
    assert_near(scalar(&stats, "low"), pressure(0.5, 0.5), 1e-12);
    assert_near(scalar(&stats, "high"), pressure(0.2, 0.9), 1e-12);
    let stream = |x: f64, y: f64| c * (PI * x).sin() * (PI * y).sin();
    let flux = stream(0.5, 0.25) - stream(0.9, 0.25);
    assert_near(scalar(&stats, "down"), flux, 1e-4 * flux);
    assert_near(scalar(&stats, "disc"), PI * 0.23 * 0.23, 1e-4);
    // Twice what passes the middle, by the height.
    let above = vector(&stats, "above");
    // In the middles of cells it is more by (π h)² / 24 along both axes.
    assert_near(above[0], -2.0 * 2.0 / PI * c, 3e-4 * c);
    assert_near(above[1], 0.0, 1e-12);
    assert_near(scalar(&stats, "left"), 0.5 * stats.kinetic_energy, 1e-3 * stats.kinetic_energy);
}

#[test]
fn the_grid_measures_the_same() {
    let [modes, grid] =
        ["modes", "grid"].map(|m| after_a_step(&format!("method = \"{m}\"\n{WHIRL}{PROBES}")));
    let difference = |stats: &Stats| scalar(stats, "high") - scalar(stats, "low");
    assert_near(difference(&grid), difference(&modes), 2e-3 * difference(&modes).abs());
    for (name, tolerance) in [("down", 5e-3), ("disc", 1e-3), ("left", 1e-2)] {
        let expected = scalar(&modes, name);
        assert_near(scalar(&grid, name), expected, tolerance * expected.abs());
    }
    assert_near(vector(&grid, "above")[0], vector(&modes, "above")[0], 1e-3);
}

#[test]
fn bodies_are_no_fluid() {
    let stats = after_a_step(
        r#"
        method = "modes"
        [domain]
        size = [1, 1]
        cells = 64
        [time]
        [fluid]
        density = 1000
        [[fluid.wave]]
        half_waves = [1, 2]
        vorticity = 3
        [modes]
        feedback = "none"
        panel = 0.02
        [[body]]
        name = "disc"
        shape = { sphere = { centre = [0.4, 0.5], radius = 0.1 } }
        density = 1000
        [[probe]]
        kind = "volume"
        name = "volume"
        shape = { box = { from = [0, 0], to = [1, 1] } }
        [[probe]]
        kind = "energy"
        name = "energy"
        shape = { box = { from = [0, 0], to = [1, 1] } }
        [[probe]]
        kind = "flux"
        name = "across"
        from = [0.4, 0]
        to = [0.4, 1]
        "#,
    );
    let area = PI * 0.01;
    assert_near(scalar(&stats, "volume"), 1.0 - area, 2e-4);
    let disc = &stats.bodies[0];
    let of_disc = 0.5 * 1000.0 * area * disc.velocity.iter().map(|v| v * v).sum::<f64>()
        + 0.25 * 1000.0 * area * 0.01 * disc.angular_velocity.iter().map(|w| w * w).sum::<f64>();
    let whole = scalar(&stats, "energy") + of_disc;
    assert_near(whole, stats.kinetic_energy, 1e-2 * stats.kinetic_energy);
    // What the disc takes along through the middle is not counted; all together is nothing, but for where the disc ends within a quarter of a cell, with
    // up to half a metre a second there.
    let with_disc = scalar(&stats, "across") + 0.2 * disc.velocity[0];
    assert_near(with_disc, 0.0, 0.5 * 0.25 * 2.0 / 64.0);
}

#[test]
fn islands_and_boxes_in_space_are_measured() {
    let islands = after_a_step(
        r#"
        method = "modes"
        [domain]
        size = [1, 1]
        cells = 64
        [time]
        [fluid]
        density = 1000
        [[fluid.wave]]
        half_waves = [1, 1]
        vorticity = 3
        [modes]
        domain = "solids"
        count = 30
        [[solid]]
        name = "pillar"
        shape = { sphere = { centre = [0.5, 0.5], radius = 0.2 } }
        [[probe]]
        kind = "volume"
        name = "volume"
        shape = { box = { from = [0, 0], to = [1, 1] } }
        [[probe]]
        kind = "energy"
        name = "energy"
        shape = { box = { from = [0, 0], to = [1, 1] } }
        "#,
    );
    let space = after_a_step(
        r#"
        method = "modes"
        [domain]
        size = [1, 1, 0.5]
        cells = 32
        [time]
        [fluid]
        density = 1000
        [[fluid.wave]]
        half_waves = [1, 2, 1]
        axis = [1, 0, 0]
        vorticity = 3
        [modes]
        count = 60
        [[probe]]
        kind = "volume"
        name = "volume"
        shape = { box = { from = [0, 0, 0], to = [1, 1, 0.5] } }
        [[probe]]
        kind = "energy"
        name = "energy"
        shape = { box = { from = [0, 0, 0], to = [1, 1, 0.5] } }
        "#,
    );
    assert_near(scalar(&islands, "volume"), 1.0 - PI * 0.04, 1e-3);
    assert_near(scalar(&islands, "energy"), islands.kinetic_energy, 2e-2 * islands.kinetic_energy);
    assert_near(scalar(&space, "volume"), 0.5, 1e-9);
    assert_near(scalar(&space, "energy"), space.kinetic_energy, 2e-2 * space.kinetic_energy);
}
