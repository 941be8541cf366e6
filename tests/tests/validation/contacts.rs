//! Scenes of bodies that press on each other, on solids and on the sides of the domain, in water, against statics.

use meniscus::Stats;
use meniscus_tests::{Simulation, simulation};

/// Runs to a time; calls `see` after each substep.
fn run<const D: usize>(
    simulation: &mut Simulation<D>,
    until: f64,
    mut see: impl FnMut(&Simulation<D>, &Stats),
) {
    while simulation.time() < until {
        let stats = simulation.advance_substep().expect("a step");
        let warned = stats.warnings.iter().find(|w| w.kind() == "unsettled-contacts");
        assert!(warned.is_none(), "{warned:?}");
        see(simulation, &stats);
    }
}

/// How far a body is turned, in radians, counter-clockwise.
fn turned(simulation: &Simulation<2>, body: usize) -> f64 {
    let [[cos, _], [sin, _]] = *simulation.state().bodies[body].pose.rotation.matrix();
    sin.atan2(cos)
}

/// A heavy box under a light one, over a tenth of a second: free of each other they would be 24 mm apart.
#[test]
fn a_heavy_box_leaves_the_light_one_above_it() {
    for cells in [48, 96] {
        let text = format!(
            r#"
            [domain]
            size = [1, 1]
            cells = {cells}
            [time]
            frames = 10
            fps = 100
            [[liquid]]
            shape = {{ box = {{ from = [0, 0], to = [1, 0.9] }} }}
            [[body]]
            shape = {{ box = {{ from = [0.42, 0.325], to = [0.58, 0.425] }} }}
            density = 3000
            [[body]]
            shape = {{ box = {{ from = [0.3, 0.425], to = [0.7, 0.575] }} }}
            density = 200
            "#
        );
        let mut simulation = simulation::<2>(&text);
        run(&mut simulation, 0.1, |_, _| ());
        let [lower, upper] = [0, 1].map(|k| simulation.state().bodies[k].pose.translation[1]);
        let gap = upper - lower - 0.125;
        assert!(gap > 0.012, "{gap} m at {cells} cells");
    }
}

/// A light box under a heavy one, together lighter than water, rise as one body of the same outline and mass.
#[test]
fn a_light_box_lifts_a_heavy_one() {
    let water = "[domain]\nsize = [1, 1]\ncells = 96\n[time]\nframes = 24\n[[liquid]]\nshape = { box = { from = [0, 0], to = [1, 0.9] } }\n";
    let two = r#"
        [[body]]
        shape = { box = { from = [0.3, 0.2], to = [0.7, 0.35] } }
        density = 200
        [[body]]
        shape = { box = { from = [0.42, 0.35], to = [0.58, 0.45] } }
        density = 3000
    "#;
    let one = r#"
        [[body]]
        shape = { union = [ { box = { from = [0.3, 0.2], to = [0.7, 0.35] } }, { box = { from = [0.42, 0.34], to = [0.58, 0.45] } } ] }
        mass = 60
    "#;
    let risen = |bodies: &str| {
        let mut simulation = simulation::<2>(&format!("{water}{bodies}"));
        let start = simulation.state().bodies[0].pose.translation[1];
        run(&mut simulation, 0.5, |_, _| ());
        simulation.state().bodies[0].pose.translation[1] - start
    };
    let (together, alone) = (risen(two), risen(one));
    assert!(alone > 0.02, "{alone}");
    assert!((together / alone - 1.0).abs() < 0.02, "{together} m instead of {alone}");
}

/// A raft with a crate on it draws what Archimedes says: the mass of both, by its width.
#[test]
fn a_loaded_raft_floats_at_its_waterline() {
    let text = r#"
        [domain]
        size = [1, 1]
        cells = 48
        [time]
        frames = 120
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 0.4] } }
        [[body]]
        name = "raft"
        shape = { box = { from = [0.2, 0.36], to = [0.8, 0.48] } }
        density = 300
        [[body]]
        name = "crate"
        shape = { box = { from = [0.42, 0.48], to = [0.58, 0.6] } }
        density = 600
    "#;
    let mut simulation = simulation::<2>(text);
    let (mut sum, mut count) = (0.0, 0.0);
    run(&mut simulation, 5.0, |simulation, _| {
        let [raft, load] = [0, 1].map(|k| simulation.state().bodies[k].pose);
        let gap = load.translation[1] - raft.translation[1] - 0.12;
        assert!(gap.abs() < 2e-3, "the crate is {gap} m off the raft");
        assert!(raft.rotation.matrix()[1][1] > 0.9998, "the raft tilts");
        if simulation.time() > 3.0 {
            let bottom = raft.translation[1] - 0.06;
            // The level of the water with the raft in it.
            let level = (simulation.state().volume - 0.6 * bottom) / 0.4;
            (sum, count) = (sum + level - bottom, count + 1.0);
        }
    });
    let expected = (300.0 * 0.6 * 0.12 + 600.0 * 0.16 * 0.12) / (1000.0 * 0.6);
    let found = sum / count;
    assert!((found - expected).abs() < 0.01 * 0.12, "draws {found} m instead of {expected}");
}

/// The angle at which a box floats that a load lies on, `offset` from its middle: where the buoyancy acts below the weight. (width, height, density) of both.
fn statics_of_a_loaded_raft(raft: (f64, f64, f64), load: (f64, f64, f64), offset: f64) -> f64 {
    let masses = [raft, load].map(|(width, height, density)| width * height * density);
    let mass = masses[0] + masses[1];
    let weight =
        [masses[1] * offset / mass, (masses[0] * 0.5 * raft.1 + masses[1] * (raft.1 + 0.5 * load.1)) / mass];
    let draught = mass / (1000.0 * raft.0);
    // All of the bottom is below the water and all of the deck above: the part below is a trapezoid.
    let lever = |angle: f64| {
        let (slope, width) = (angle.tan(), raft.0);
        let inertia = width.powi(3) / 12.0;
        let area = width * draught;
        let buoyancy = [-slope * inertia / area, 0.5 * (draught * area + slope * slope * inertia) / area];
        (buoyancy[0] - weight[0]) * angle.cos() - (buoyancy[1] - weight[1]) * angle.sin()
    };
    let (mut low, mut high) = (-0.3, 0.3);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if lever(low) * lever(middle) <= 0.0 { high = middle } else { low = middle }
    }
    low
}

/// A load off the middle of a raft tilts it.
#[test]
fn a_raft_tilts_under_a_load_off_its_middle() {
    let text = r#"
        [domain]
        size = [1.2, 0.8]
        cells = 72
        [time]
        frames = 240
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1.2, 0.4] } }
        [[body]]
        shape = { box = { from = [0.3, 0.35], to = [0.9, 0.47] } }
        density = 300
        friction = 0.6
        [[body]]
        shape = { box = { from = [0.69, 0.47], to = [0.81, 0.59] } }
        density = 600
        friction = 0.6
    "#;
    let mut simulation = simulation::<2>(text);
    let (mut sum, mut time) = (0.0, 0.0);
    run(&mut simulation, 8.0, |simulation, stats| {
        let [raft, load] = [0, 1].map(|body| turned(simulation, body));
        assert!((raft - load).abs() < 1e-3, "the load is turned by {load}, the raft by {raft}");
        if simulation.time() > 2.0 {
            (sum, time) = (sum + stats.dt * raft, time + stats.dt);
        }
    });
    let found = sum / time;
    let expected = statics_of_a_loaded_raft((0.6, 0.12, 300.0), (0.12, 0.12, 600.0), 0.15);
    assert!((found / expected - 1.0).abs() < 0.05, "turned by {found} instead of {expected}");
}

/// A plug on a hole, with water above and air below, stays; water that rises below lets it go. What bears it then is the pressure below the hole, and some
/// of what is around, since that enters the seam: between 0.60 m, if all of the seam has the pressure above it, and 0.65 m, if all has the pressure below.
#[test]
fn a_plug_is_held_until_the_water_below_rises() {
    let text = r#"
        [domain]
        size = [1, 1]
        cells = 64
        [time]
        frames = 168
        [[liquid]]
        shape = { box = { from = [0, 0.45], to = [0.8, 0.7] } }
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 0.3] } }
        [[solid]]
        shape = { union = [
            { box = { from = [-0.1, 0.39], to = [0.45, 0.45] } },
            { box = { from = [0.55, 0.39], to = [0.85, 0.45] } },
            { box = { from = [0.8, 0.39], to = [0.85, 1.1] } },
        ] }
        [[body]]
        shape = { box = { from = [0.4, 0.45], to = [0.6, 0.55] } }
        density = 500
        [[source]]
        shape = { box = { from = [0.1, 0], to = [0.3, 0.05] } }
        velocity = [0, 0.12]
        start = 0.5
        [[probe]]
        name = "shaft"
        kind = "height"
        at = [0.925]
    "#;
    let mut simulation = simulation::<2>(text);
    let mut let_go = None;
    run(&mut simulation, 7.0, |simulation, stats| {
        let risen = simulation.state().bodies[0].pose.translation[1] - 0.5;
        let meniscus::ProbeValue::Scalar(Some(level)) = stats.probes["shaft"] else { panic!("a height") };
        // At 0.45 m the water slaps against it from below.
        if level < 0.44 {
            assert!(risen.abs() < 1e-3, "moved by {risen} m with {level} m of water below");
        } else if level > 0.5 && risen > 4e-3 {
            let_go.get_or_insert(level);
        }
    });
    let level = let_go.expect("it is let go");
    assert!((0.57..0.69).contains(&level), "let go at {level} m");
}

/// Light balls under a lid that slopes against the pull of gravity, up to a stop: they press on the lid, on each other and on the stop, and stay.
#[test]
fn balls_stay_under_a_lid() {
    let mut text = String::from(
        r#"
        gravity = [-1.7, -9.66]
        [domain]
        size = [1, 1]
        cells = 64
        [time]
        frames = 48
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 1] } }
        [[solid]]
        shape = { union = [
            { box = { from = [0.1, 0.5], to = [0.9, 0.56] } },
            { box = { from = [0.84, 0.4], to = [0.9, 0.56] } },
        ] }
        "#,
    );
    let places: Vec<f64> = (0..5).map(|k| 0.79 - 0.1 * f64::from(k)).collect();
    for x in &places {
        text += &format!(
            "[[body]]\nshape = {{ sphere = {{ centre = [{x}, 0.45], radius = 0.05 }} }}\ndensity = 100\n"
        );
    }
    let mut simulation = simulation::<2>(&text);
    run(&mut simulation, 2.0, |simulation, _| {
        for (body, x) in simulation.state().bodies.iter().zip(&places) {
            let at = body.pose.translation;
            let moved = (at[0] - x).hypot(at[1] - 0.45);
            assert!(moved < 1e-3, "moved by {moved} m at {} s", simulation.time());
        }
    });
}

/// Bodies of many densities in a closed tank that is full, until they lie on the floor and under the lid: their energy and that of the water only becomes less.
#[test]
fn what_collides_in_a_closed_tank_makes_no_energy() {
    let densities =
        [100.0, 500.0, 900.0, 1100.0, 2000.0, 3000.0, 5000.0, 8000.0, 300.0, 700.0, 1500.0, 2500.0];
    let mut text = String::from(
        r#"
        [domain]
        size = [1, 1]
        cells = 64
        [time]
        frames = 72
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 1] } }
        "#,
    );
    for (k, density) in densities.iter().enumerate() {
        let [x, y] = [0.15 + 0.23 * (k % 4) as f64, 0.2 + 0.25 * (k / 4) as f64];
        text += &format!(
            "[[body]]\nshape = {{ sphere = {{ centre = [{x}, {y}], radius = 0.08 }} }}\ndensity = {density}\n"
        );
    }
    let mut simulation = simulation::<2>(&text);
    let volume = std::f64::consts::PI * 0.08 * 0.08;
    // What sinks takes the place of water that rises.
    let weights = densities.map(|density| (density - 1000.0) * volume * 9.81);
    // By substep: how long it was, the kinetic energy, the potential energy, and how fast that grows.
    let mut known = Vec::new();
    run(&mut simulation, 3.0, |simulation, stats| {
        let bodies = || simulation.state().bodies.iter().zip(weights);
        let potential: f64 = bodies().map(|(body, weight)| weight * body.pose.translation[1]).sum();
        let rate: f64 = bodies().map(|(body, weight)| weight * body.velocity[1]).sum();
        known.push((stats.dt, stats.kinetic_energy, potential, rate));
    });
    // Bodies have moved by half a substep when they have the velocity of its middle.
    let energies = known.windows(2).map(|pair| pair[0].1 + pair[0].2 + 0.5 * pair[1].0 * pair[0].3);
    let first = known[0].2;
    let (mut least, mut grown) = (first, 0.0f64);
    for energy in energies {
        grown = grown.max(energy - least);
        least = least.min(energy);
    }
    let lost = first - least;
    assert!(grown < 0.02 * lost, "{grown} J/m were made, {lost} lost");
}

/// A plate under water that turns about a point two metres below it: what lies on it is carried by friction, and turns as the plate does.
#[test]
fn a_turning_plate_carries_a_box() {
    let mut simulation = simulation::<2>(
        r#"
        [domain]
        size = [1, 1]
        cells = 48
        [time]
        frames = 24
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 0.7] } }
        [[solid]]
        shape = { box = { from = [0.2, 0.3], to = [0.8, 0.36] } }
        [solid.motion]
        interpolation = "smooth"
        pivot = [0.5, -1.66]
        keyframes = [{ time = 0 }, { time = 1, degrees = -3 }]
        [[body]]
        shape = { box = { from = [0.44, 0.36], to = [0.56, 0.48] } }
        density = 3000
        "#,
    );
    run(&mut simulation, 1.0, |_, _| ());
    let angle = -3f64.to_radians();
    let expected = [0.5 - 2.08 * angle.sin(), -1.66 + 2.08 * angle.cos()];
    let at = simulation.state().bodies[0].pose.translation;
    let slip = [0, 1].map(|a| (at[a] - expected[a]).abs());
    assert!(slip[0] < 1e-3 && slip[1] < 5e-4, "{slip:?} m");
    assert!((turned(&simulation, 0) - angle).abs() < 1e-3, "{}", turned(&simulation, 0));
}

/// Once around on a turntable in the air, in steps of six degrees.
#[test]
fn a_turntable_carries_a_box_around() {
    let mut simulation = simulation::<3>(
        r#"
        [domain]
        size = [1, 0.5, 1]
        cells = 16
        [time]
        frames = 60
        [[liquid]]
        shape = { box = { from = [0, 0, 0], to = [1, 0.0625, 1] } }
        [[solid]]
        shape = { cylinder = { from = [0.5, 0.125, 0.5], to = [0.5, 0.25, 0.5], radius = 0.45 } }
        [solid.motion]
        axis = [0, 1, 0]
        keyframes = [{ time = 0 }, { time = 2.5, degrees = 360 }]
        [[body]]
        shape = { box = { from = [0.67, 0.25, 0.42], to = [0.83, 0.375, 0.58] } }
        density = 700
        velocity = [0, 0, -0.6283]
        angular_velocity = [0, 2.513, 0]
        "#,
    );
    run(&mut simulation, 2.5, |_, _| ());
    let at = simulation.state().bodies[0].pose.translation;
    let away = (at[0] - 0.75).hypot(at[2] - 0.5);
    assert!(away < 4e-3, "{at:?}");
}

/// A plank sinks onto two ledges under water, and shuts in what is between them: that leaves by the gaps, and the plank comes to rest on the ledges.
#[test]
fn a_plank_comes_to_rest_on_two_ledges() {
    for separation in [false, true] {
        let mut simulation = simulation::<2>(&format!(
            r#"
            [domain]
            size = [1, 1]
            cells = 48
            open = ["+y"]
            separation = {separation}
            [time]
            frames = 48
            [[liquid]]
            shape = {{ box = {{ from = [0, 0], to = [1, 0.7] }} }}
            [[solid]]
            shape = {{ box = {{ from = [0.1, 0], to = [0.25, 0.3] }} }}
            [[solid]]
            shape = {{ box = {{ from = [0.75, 0], to = [0.9, 0.3] }} }}
            [[body]]
            shape = {{ box = {{ from = [0.12, 0.31], to = [0.88, 0.4] }} }}
            density = 5000
            "#
        ));
        run(&mut simulation, 1.5, |_, _| ());
        let (mut fastest, mut highest) = (0f64, 0f64);
        run(&mut simulation, 2.0, |simulation, _| {
            let body = &simulation.state().bodies[0];
            fastest = fastest.max(body.velocity[1].abs());
            highest = highest.max(body.pose.translation[1] - 0.345);
        });
        // What is shut in takes its part of the corrections of the volume, and carries the plank by that.
        assert!(fastest < 3e-3 && highest < 6e-4, "{separation}: {fastest} m/s, {highest} m above");
        assert!(turned(&simulation, 0).abs() < 1e-3, "{}", turned(&simulation, 0));
    }
}

/// A disc of three cells, off the middle of them, on a dry floor and on one under water, which is not wholly at rest itself.
#[test]
fn a_disc_at_rest_does_not_begin_to_roll() {
    for (room, density) in [("[1.5, 0], to = [2, 0.1]", 1.0), ("[0, 0], to = [1.4, 0.5]", 4000.0)] {
        let mut simulation = simulation::<2>(&format!(
            r#"
            [domain]
            size = [2, 1]
            cells = 64
            open = ["+y"]
            [time]
            frames = 48
            [[liquid]]
            shape = {{ box = {{ from = {room} }} }}
            [[solid]]
            shape = {{ box = {{ from = [1.4, 0], to = [1.5, 1] }} }}
            [[body]]
            shape = {{ sphere = {{ centre = [0.61, 0.1], radius = 0.1 }} }}
            density = {density}
            "#
        ));
        run(&mut simulation, 2.0, |_, _| ());
        let away = simulation.state().bodies[0].pose.translation[0] - 0.61;
        let most = if density > 1.0 { 5e-4 } else { 1e-6 };
        assert!(away.abs() < most, "{density}: {away} m");
    }
}
