//! Surface tension on bodies: what it pulls them with where the surface ends at them, against what the liquid pushes them with.
//! Density of the liquid and surface tension are 1.

use meniscus_tests::{Simulation, simulation};

const TENSION: &str = "density = 1.0\nsurface_tension = 1.0";

/// The speed of a body along the first axis.
fn speed_of<const D: usize>(simulation: &Simulation<D>, body: usize) -> f64 {
    simulation.state().bodies[body].velocity[0]
}

/// A body that carries half a drop: the pressure in the drop pushes it, and the line of contact pulls it back by as much. (Without that it moved off at 0.3 of the capillary speed after
/// a time of sqrt(rho R³ / sigma), ever faster.)
fn carry_half_a_drop<const D: usize>(cells: usize, end: f64) -> f64 {
    let (size, point, body) = match D {
        2 => ("[4.0, 4.0]", "[2.0, 2.0]", "from = [1.2, 0.6], to = [2.0, 3.4]"),
        _ => ("[4.0, 4.0, 4.0]", "[2.0, 2.0, 2.0]", "from = [1.2, 0.7, 0.7], to = [2.0, 3.3, 3.3]"),
    };
    let normal = if D == 2 { "[-1.0, 0.0]" } else { "[-1.0, 0.0, 0.0]" };
    let gravity = if D == 2 { "[0.0, 0.0]" } else { "[0.0, 0.0, 0.0]" };
    let text = format!(
        r#"
        gravity = {gravity}
        [domain]
        size = {size}
        cells = {cells}
        [time]
        fps = 10
        max_substeps = 1000
        [[liquid]]
        shape = {{ intersection = [
            {{ sphere = {{ centre = {point}, radius = 1.0 }} }},
            {{ half_space = {{ point = {point}, normal = {normal} }} }},
        ] }}
        {TENSION}
        [[body]]
        name = "carrier"
        shape = {{ box = {{ {body} }} }}
        density = 1.0
        "#
    );
    let mut simulation = simulation::<D>(&text);
    let mut fastest = 0.0_f64;
    while simulation.time() < end {
        simulation.advance_substep().expect("it runs");
        fastest = fastest.max(speed_of(&simulation, 0).abs());
    }
    fastest
}

/// In space a twentieth of the pull is left at 16 cells across: the pressure acts on as many cells as the round base covers, and the pull on its rim. Unheld, the body would have 0.8 and 1.3.
#[test]
fn a_body_that_carries_a_drop_stays_where_it_is() {
    let fastest = carry_half_a_drop::<2>(48, 4.0);
    assert!(fastest < 0.002, "{fastest}");
    let fastest = carry_half_a_drop::<3>(32, 1.0);
    assert!(fastest < 0.06, "{fastest}");
}

/// Liquid with flat sides between two bodies has no pressure, and its two surfaces pull each body with sigma.
#[test]
fn a_flat_bridge_pulls_its_ends_together() {
    let text = format!(
        r#"
        gravity = [0.0, 0.0]
        [domain]
        size = [4.0, 2.0]
        cells = 80
        [time]
        fps = 50
        max_substeps = 1000
        [[liquid]]
        shape = {{ box = {{ from = [1.6, 0.7], to = [2.4, 1.3] }} }}
        {TENSION}
        [[body]]
        name = "left"
        shape = {{ box = {{ from = [1.0, 0.4], to = [1.6, 1.6] }} }}
        density = 1000.0
        [[body]]
        name = "right"
        shape = {{ box = {{ from = [2.4, 0.4], to = [3.0, 1.6] }} }}
        density = 1000.0
        "#
    );
    let mut simulation = simulation::<2>(&text);
    simulation.advance_substep().expect("it runs");
    // So heavy that the liquid between them resists as nothing.
    let expected = 2.0 / (1000.0 * 0.6 * 1.2);
    let accelerations = [0, 1].map(|body| speed_of(&simulation, body) / simulation.time());
    for (acceleration, sign) in accelerations.into_iter().zip([1.0, -1.0]) {
        assert!((sign * acceleration / expected - 1.0).abs() < 0.03, "{acceleration} of {expected}");
    }
}

/// A disc that floats in the middle of a vessel hangs in the surface: buoyancy and the pull of the surface carry it, and the pull goes through its centre, so it does not turn.
#[test]
fn a_floating_disc_does_not_turn() {
    let text = format!(
        r#"
        gravity = [0.0, -1.0]
        [domain]
        size = [8.0, 4.0]
        cells = 96
        open = ["+y"]
        [time]
        fps = 10
        max_substeps = 1000
        [[liquid]]
        shape = {{ difference = [
            {{ box = {{ from = [0.0, 0.0], to = [8.0, 2.0] }} }},
            {{ sphere = {{ centre = [4.0, 1.7], radius = 0.7 }} }},
        ] }}
        viscosity = 0.1
        {TENSION}
        [[body]]
        name = "disc"
        shape = {{ sphere = {{ centre = [4.0, 1.7], radius = 0.7 }} }}
        density = 0.8
        "#
    );
    let mut simulation = simulation::<2>(&text);
    let turned = |simulation: &Simulation<2>| {
        let right = simulation.state().bodies[0].pose.apply([1.0, 0.0]);
        let centre = simulation.state().bodies[0].pose.translation;
        (right[1] - centre[1]).atan2(right[0] - centre[0])
    };
    let mut most = 0.0_f64;
    for _ in 0..40 {
        simulation.advance_frame().expect("it runs");
        most = most.max(turned(&simulation).abs());
    }
    assert!(most < 0.02, "{most}");
}
