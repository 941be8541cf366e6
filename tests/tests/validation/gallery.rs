//! The scenes of the gallery as they ship, whole.

use meniscus::{Scene, Stats};
use meniscus_tests::{Simulation, check_work_of_corrections};

/// Runs a scene whole. Nothing is warned of, the volume of its liquid of a density is off by at most `drift`, and corrections do little work.
fn run<const D: usize>(scene: &str, density: f64, drift: f64) -> Vec<Stats> {
    let (stats, gravity) = run_with::<D>(scene, &[]);
    for stats in &stats {
        let time = stats.time;
        assert_eq!(stats.warnings, [], "{scene}, {time} s");
        assert!(stats.drift().abs() < drift, "{scene}, {time} s: {}", stats.drift());
    }
    check_work_of_corrections(scene, &stats, density, gravity, 0.03);
    stats
}

/// The statistics of a scene of the gallery, run whole, and the gravity in it.
fn run_with<const D: usize>(scene: &str, overrides: &[&str]) -> (Vec<Stats>, f64) {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let opened = Scene::open(scene, &overrides).expect("a scene of the gallery");
    let mut simulation = Simulation::<D>::new(&opened);
    let frames = opened.content().time.frames;
    let stats = (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect();
    let gravity =
        opened.content().gravity.as_ref().map_or(9.81, |g| g.iter().map(|g| g * g).sum::<f64>().sqrt());
    (stats, gravity)
}

/// A bubble with tension rises through honey without corrections that would dent it: those of the volume so far are less than a tenth of the bubble. (With the flow of where the surface
/// was, instead of where it comes from, they are a third of it.)
#[test]
fn a_bubble_in_honey_needs_few_corrections() {
    let (stats, _) = run_with::<3>("rising-bubble-viscous", &["domain.cells=32", "time.frames=16"]);
    let last = stats.last().expect("a substep");
    let bubble = last.bubbles[0].volume;
    let corrected = last.liquid_volume - last.liquid_volume_uncorrected;
    assert!(corrected.abs() < 0.1 * bubble, "{corrected} of {bubble} m³");
}

#[test]
fn scenes_of_the_plane_run_without_a_warning() {
    for scene in
        ["dam-break-2d", "blocked-channel", "rotated-box", "hydrostatic-2d", "neutral-drop", "sloshing-2d"]
    {
        run::<2>(scene, 1000.0, 2e-3);
    }
    run::<2>("water-ball-2d", 1000.0, 5e-3);
    run::<2>("sinking-drop", 10_000.0, 0.02);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_scenes_of_open_water_run_without_a_warning() {
    run::<2>("drop-in-bowl", 1000.0, 5e-3);
    for scene in ["dam-break", "water-ball", "fountain", "moving-platform"] {
        run::<3>(scene, 1000.0, 5e-3);
    }
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_scenes_of_bubbles_run_without_a_warning() {
    for scene in ["light-bubble", "rising-bubble", "wall-with-holes"] {
        run::<3>(scene, 1000.0, 5e-3);
    }
    run::<3>("sinking-bubbles", 10_000.0, 0.02);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_bubble_in_honey_runs_without_a_warning() {
    run::<3>("rising-bubble-viscous", 1420.0, 5e-3);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_bubble_in_a_tube_runs_without_a_warning() {
    run::<3>("bubble-tube", 1000.0, 0.01);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_neck_runs_without_a_warning() {
    run::<2>("water-cooler-2d", 1000.0, 0.02);
}

/// A cube of air becomes round: tension does the work that the surface it loses has, that of the cube less that of the sphere of its volume (1.12 of it; currents of its own would do many times that).
#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_cube_of_air_becomes_round() {
    let stats = run::<3>("cube-bubble", 1000.0, 5e-3);
    let edge: f64 = 0.022;
    let lost = 6.0 * edge.powi(2) - (36.0 * std::f64::consts::PI).cbrt() * edge.powi(2);
    let work: f64 = stats.iter().map(|stats| stats.energy_book.tension).sum();
    assert!(work < 1.25 * 0.0728 * lost, "{work} J of {} J", 0.0728 * lost);
    let last = stats.last().expect("a substep").kinetic_energy;
    assert!(last < 0.05 * 0.0728 * lost, "{last} J");
}
