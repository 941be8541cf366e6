//! Bodies, contacts and liquid together, as scenes.

use meniscus_tests::Simulation;
use std::path::Path;

use meniscus::{Scene, Warning};

/// A box sinks in a tube that is one cell wider than it is: water passes through gaps of half a cell on both sides. It is half as heavy again as
/// water, and falls slowly, as what is under it must pass it.
#[test]
fn water_passes_a_box_in_gaps_of_half_a_cell() {
    let scene = Scene::open("blocked-channel", &[]).expect("a scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let height = |simulation: &Simulation<2>| simulation.state().bodies[0].pose.translation[1];
    let start = height(&simulation);
    while simulation.time() < 1.5 {
        simulation.advance_frame().expect("a step");
    }
    let sunk = start - height(&simulation);
    assert!(sunk > 0.05 && sunk < 0.2, "{sunk} m in 1.5 s");
}

/// A ball that gives back all of its speed comes up to where it fell from, and never higher. What is left of a step after an impact is lost, and
/// with it what the ball would have risen in that.
#[test]
fn a_ball_bounces_to_where_it_fell_from() {
    let text = r#"
        [domain]
        size = [0.4, 1.2]
        cells = 24
        [time]
        frames = 200
        fps = 48.0
        [[liquid]]
        shape = { box = { from = [0.0, 0.0], to = [0.1, 0.15] } }
        [[solid]]
        shape = { box = { from = [0.1, -0.1], to = [0.16, 0.4] } }
        [[body]]
        shape = { sphere = { centre = [0.25, 0.65], radius = 0.05 } }
        density = 2000.0
        restitution = 1.0
    "#;
    let scene = Scene::parse("ball.toml", text, Path::new(""), &[]).expect("a scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let (mut heights, mut longest) = (Vec::new(), 0.0f64);
    while simulation.time() < 3.0 {
        let substeps = simulation.advance_frame().expect("a step");
        longest = substeps.iter().map(|s| s.dt).fold(longest, f64::max);
        heights.push(simulation.state().bodies[0].pose.translation[1]);
    }
    let is_peak = |h: &&[f64]| h[1] >= h[0] && h[1] > h[2];
    let peaks: Vec<f64> = heights.windows(3).filter(is_peak).map(|h| h[1]).collect();
    // It falls 0.6 m.
    let speed = (2.0 * 9.81 * 0.6f64).sqrt();
    assert!(peaks.len() >= 3, "{peaks:?}");
    assert!((peaks[0] - 0.65).abs() < 0.5 * speed * longest, "{peaks:?}");
    for peak in peaks.windows(2) {
        assert!(peak[1] < peak[0] + 1e-3 && peak[1] > peak[0] - speed * longest, "{peaks:?}");
    }
}

/// What leaves through an open side that solids cover a half of is what comes in.
#[test]
fn what_leaves_between_solids_is_what_comes_in() {
    let text = r#"
        [domain]
        size = [0.4, 0.8]
        cells = 20
        open = ["+y"]
        [time]
        frames = 24
        fps = 24.0
        [fluid]
        density = 1000.0
        [[source]]
        shape = { box = { from = [0.1, 0.0], to = [0.3, 0.04] } }
        velocity = [0.0, 0.2]
        [[solid]]
        shape = { box = { from = [-0.1, 0.1], to = [0.1, 1.0] } }
        [[solid]]
        shape = { box = { from = [0.3, 0.1], to = [0.5, 1.0] } }
    "#;
    let scene = Scene::parse("tube.toml", text, Path::new(""), &[]).expect("a scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let (mut poured, mut drained) = (0.0, 0.0);
    while simulation.frames_done() < 24 {
        for substep in simulation.advance_frame().expect("a step") {
            poured += substep.poured_volume;
            drained += substep.drained_volume;
        }
    }
    assert!(poured > 0.03, "{poured} m² in a second");
    assert!((drained / poured - 1.0).abs() < 0.02, "{drained} m² of {poured}");
}

/// A body that a press leaves no room is told of, one that it stops above is not.
#[test]
fn a_body_under_a_press_is_told_of() {
    let warnings = |stop: f64| {
        let text = format!(
            r#"
            [domain]
            size = [0.8, 0.8]
            cells = 32
            [time]
            frames = 24
            fps = 24.0
            [[liquid]]
            shape = {{ box = {{ from = [0.0, 0.0], to = [0.8, 0.3] }} }}
            [[body]]
            name = "box"
            shape = {{ box = {{ from = [0.3, 0.0], to = [0.5, 0.2] }} }}
            density = 3000.0
            [[solid]]
            shape = {{ box = {{ from = [0.2, 0.5], to = [0.6, 0.9] }} }}
            motion = {{ keyframes = [{{ time = 0.0 }}, {{ time = 1.0, translation = [0.0, {stop}] }}] }}
            "#
        );
        let scene = Scene::parse("press.toml", &text, Path::new(""), &[]).expect("a scene");
        let mut simulation = Simulation::<2>::new(&scene);
        let mut warnings = Vec::new();
        while simulation.frames_done() < 24 {
            let substeps = simulation.advance_frame().expect("a step");
            warnings.extend(substeps.into_iter().flat_map(|substep| substep.warnings));
        }
        warnings.retain(|warning| *warning == Warning::BodyInWall { body: "box".into() });
        warnings.len()
    };
    assert_eq!(warnings(-0.28), 0, "the press stops 2 cm above the box");
    assert!(warnings(-0.45) > 0, "the press leaves 5 cm of the 20 cm of the box");
}
