//! The same bits for any number of threads, and from a checkpoint.

use meniscus_tests::Simulation;
use std::fs;
use std::path::Path;

use meniscus::Scene;

/// Everything at once: a splash, a moving solid, a source, a sink, an open side, a bubble, a raft with a crate on it.
fn scene() -> Scene {
    let text = r#"
        [air]
        model = "bubbles"
        [domain]
        size = [1.0, 0.8, 0.6]
        cells = 24
        open = ["+y"]
        [[liquid]]
        [[liquid.shape.difference]]
        box = { from = [0, 0, 0], to = [0.4, 0.5, 0.6] }
        [[liquid.shape.difference]]
        sphere = { centre = [0.2, 0.2, 0.3], radius = 0.1 }
        [[source]]
        shape = { sphere = { centre = [0.8, 0.6, 0.3], radius = 0.08 } }
        velocity = [-1.0, -1.0, 0.0]
        [[sink]]
        shape = { box = { from = [0.9, 0, 0], to = [1, 0.1, 0.1] } }
        [[solid]]
        shape = { box = { from = [0.55, 0.0, 0.1], to = [0.65, 0.3, 0.5] } }
        [solid.motion]
        axis = [0, 1, 0]
        keyframes = [{ time = 0 }, { time = 1, degrees = 180 }]
        [[body]]
        shape = { box = { from = [0.05, 0.42, 0.1], to = [0.35, 0.52, 0.5] } }
        density = 300
        [[body]]
        shape = { box = { from = [0.12, 0.52, 0.2], to = [0.28, 0.62, 0.4] } }
        density = 800
    "#;
    Scene::parse("all.toml", text, Path::new(""), &[]).expect("a valid scene")
}

fn advance(simulation: &mut meniscus::Simulation, substeps: usize) {
    for _ in 0..substeps {
        simulation.advance_substep().expect("it runs");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut simulation = Simulation::<3>::new(&scene());
            advance(&mut simulation, 20);
            simulation.snapshot()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

/// Modes that are found on a grid, and those of a box in space.
#[test]
fn the_same_bits_for_any_number_of_threads_of_modes_without_bodies() {
    let islands = "method = \"modes\"\n[domain]\nsize = [1.5, 1]\ncells = 48\n[modes]\ndomain = \"solids\"\ncount = 30\n[fluid]\n\
                   [[fluid.wave]]\nhalf_waves = [2, 1]\nvorticity = 4\n\
                   [[solid]]\nshape = { sphere = { centre = [0.45, 0.5], radius = 0.15 } }\n\
                   [[smoke]]\nshape = { box = { from = [0.8, 0.1], to = [1.4, 0.9] } }\n";
    let space = "method = \"modes\"\n[domain]\nsize = [1, 1, 0.5]\ncells = 16\n[fluid]\n\
                 [[fluid.wave]]\nhalf_waves = [1, 2, 1]\nvorticity = 4\n[[fluid.wave]]\nhalf_waves = [1, 1, 0]\nvorticity = 4\n\
                 [[smoke]]\nshape = { box = { from = [0.1, 0.1, 0.1], to = [0.9, 0.6, 0.4] } }\n";
    for text in [islands, space] {
        let scene = Scene::parse("modes.toml", text, Path::new(""), &[]).expect("a valid scene");
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let mut simulation = meniscus::Simulation::new(&scene).expect("a simulation");
                advance(&mut simulation, 5);
                simulation.snapshot()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }
}

#[test]
fn a_resumed_simulation_equals_one_that_went_on() {
    let mut simulation = Simulation::<3>::new(&scene());
    advance(&mut simulation, 11);
    let mut resumed = meniscus::Simulation::resume(&scene(), simulation.snapshot()).expect("it goes on");
    advance(&mut simulation, 9);
    advance(&mut resumed, 9);
    assert!(simulation.snapshot() == resumed.snapshot());
}

/// What a scene may hold beside two fluids and beside walls that let go, which exclude each other: a bubble, bodies that float and one that lies on the floor, tiles, viscosity,
/// tension, dye, a solid that moves, a source and a sink.
fn crowded(air: &str, separation: bool) -> Scene {
    let text = format!(
        r#"
        [air]
        model = "{air}"
        viscosity = 0.2
        [domain]
        size = [1.0, 1.0, 0.75]
        cells = 24
        open = ["+y"]
        walls = "no-slip"
        slip = ["-x", "+z"]
        separation = {separation}
        [regions]
        model = "tiles"
        tile = 8
        surface_band = 2
        interface_band = 2
        solid_band = 1
        [[liquid]]
        viscosity = 2.0
        surface_tension = 0.5
        velocity = [0.6, 0.3, -0.2]
        [[liquid.shape.difference]]
        box = {{ from = [0, 0, 0], to = [1, 0.6, 0.75] }}
        [[liquid.shape.difference]]
        sphere = {{ centre = [0.2, 0.2, 0.4], radius = 0.12 }}
        [[source]]
        shape = {{ sphere = {{ centre = [0.8, 0.8, 0.4], radius = 0.08 }} }}
        velocity = [-1.0, -1.0, 0.0]
        [[sink]]
        shape = {{ box = {{ from = [0.9, 0, 0], to = [1, 0.1, 0.1] }} }}
        [[solid]]
        shape = {{ box = {{ from = [0.8, 0.0, 0.2], to = [0.9, 0.3, 0.6] }} }}
        [solid.motion]
        axis = [0, 1, 0]
        keyframes = [{{ time = 0 }}, {{ time = 1, degrees = 180 }}]
        [[body]]
        shape = {{ box = {{ from = [0.1, 0.5, 0.1], to = [0.5, 0.6, 0.5] }} }}
        density = 300
        [[body]]
        shape = {{ box = {{ from = [0.2, 0.6, 0.2], to = [0.4, 0.7, 0.4] }} }}
        density = 800
        [[body]]
        shape = {{ box = {{ from = [0.4, 0.0, 0.1], to = [0.6, 0.15, 0.3] }} }}
        density = 3000
        [[smoke]]
        shape = {{ sphere = {{ centre = [0.5, 0.25, 0.4], radius = 0.1 }} }}
        buoyancy = 0.3
        stop = 1.0
    "#
    );
    Scene::parse("crowded.toml", &text, Path::new(""), &[]).expect("a valid scene")
}

/// The bytes of a checkpoint, which tell apart even zeros of two signs.
fn bytes_after_5_substeps(scene: &Scene, threads: usize) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let snapshot = pool.install(|| {
        let mut simulation = Simulation::<3>::new(scene);
        for _ in 0..5 {
            let stats = simulation.advance_substep().expect("it runs");
            assert!(stats.solve.regions > 0 && !stats.bubbles.is_empty());
        }
        assert!(!simulation.state().smoke[0].position.is_empty());
        simulation.snapshot()
    });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.checkpoint");
    snapshot.write(&path).expect("written");
    fs::read(path).expect("a file")
}

#[test]
fn the_same_bits_for_any_number_of_threads_with_everything_at_once() {
    for (air, separation) in [("two-phase", false), ("bubbles", true)] {
        let scene = crowded(air, separation);
        let one = bytes_after_5_substeps(&scene, 1);
        for threads in [2, 5] {
            assert!(bytes_after_5_substeps(&scene, threads) == one, "{air}: {threads} threads differ");
        }
        // Walls that let go do so in these substeps.
        assert!(!separation || bytes_after_5_substeps(&crowded(air, false), 2) != one);
    }
}
