//! The scenes of the gallery as they ship, whole.

use meniscus::{Scene, Simulation, Stats};

/// Nothing is warned of, the volume of liquid of a density is off by at most `drift`, and corrections of it add in no substep more than 1 % of the kinetic energy and of what
/// gravity can do in it.
fn check(scene: &str, stats: &[Stats], density: f64, drift: f64) {
    for stats in stats {
        let time = stats.time;
        assert_eq!(stats.warnings, [] as [String; 0], "{scene}, {time} s");
        assert!(stats.drift().abs() < drift, "{scene}, {time} s: {}", stats.drift());
        let weight = density * 9.81 * stats.liquid_volume;
        let allowed = stats.kinetic_energy + weight * stats.max_speed * stats.dt;
        // What nobody sees is left out: to lift all liquid by a millionth of a cell.
        let negligible = 1e-6 * weight * 0.03;
        let work = stats.energy_book.corrections;
        assert!(work <= 0.01 * allowed + negligible, "{scene}, {time} s: {work} J of {allowed} J");
    }
}

fn run<const D: usize>(scene: &str, density: f64, drift: f64) {
    let opened = Scene::open(scene, &[]).expect("a scene of the gallery");
    let mut simulation = Simulation::<D>::new(&opened);
    let frames = opened.content().time.frames;
    let stats: Vec<_> = (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")).collect();
    check(scene, &stats, density, drift);
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
fn long_scenes_of_space_run_without_a_warning() {
    for scene in [
        "dam-break",
        "drop-in-bowl",
        "water-ball",
        "light-bubble",
        "fountain",
        "rising-bubble",
        "moving-platform",
        "wall-with-holes",
    ] {
        run::<3>(scene, 1000.0, 5e-3);
    }
    run::<3>("sinking-bubbles", 10_000.0, 0.02);
    run::<2>("water-cooler-2d", 1000.0, 0.02);
}
