//! The same bits for any number of threads, and from a checkpoint.

use std::path::Path;

use meniscus::{Scene, Simulation};

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

fn advance(simulation: &mut Simulation<3>, substeps: usize) {
    for _ in 0..substeps {
        simulation.advance_substep().expect("it runs");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut simulation = Simulation::new(&scene());
            advance(&mut simulation, 20);
            simulation.checkpoint()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_resumed_simulation_equals_one_that_went_on() {
    let mut simulation = Simulation::<3>::new(&scene());
    advance(&mut simulation, 11);
    let mut resumed = Simulation::resume(&scene(), simulation.checkpoint());
    advance(&mut simulation, 9);
    advance(&mut resumed, 9);
    assert!(simulation.checkpoint() == resumed.checkpoint());
}
