//! What wall separation costs: a ball of water splashes against the walls of a box, and each pressure is solved for with walls that let go
//! and, from the same state, with walls that do not. `cargo run --release -p meniscus-liquid --example separation_speed [cells] [steps]`.
#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_liquid::{Body, Params, State, StepInfo, Surroundings, Workspace, max_time_step, step};

/// A stage that both kinds of walls have.
fn projection(info: &StepInfo) -> f64 {
    info.stages.iter().filter(|(name, _)| *name == "projection").map(|(_, seconds)| seconds).sum()
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (cells, steps) = (arguments.next().unwrap_or(128), arguments.next().unwrap_or(60));
    let grid = Grid { origin: [0.0; 3], dx: 1.0 / cells as f64, cells: [cells; 3] };
    let free = Params { sides_separate: true, ..Params::new(grid) };
    let held = Params { sides_separate: false, ..free.clone() };
    let ball =
        Body { shape: Shape::sphere([0.45, 0.6, 0.5], 0.34).expect("a ball"), velocity: [-6.0, 3.0, 0.5] };
    let surroundings = Surroundings::default();
    let mut state = State::new(&free, &[ball], &surroundings);
    let (mut workspace, mut other) = (Workspace::default(), Workspace::default());
    let (mut times, mut worst) = ([0.0; 2], 0.0_f64);
    for n in 1..=steps {
        let dt = max_time_step(&state, &free).min(1.0 / 120.0);
        let mut copy = state.clone();
        other.particles_changed();
        let plain = step(&mut copy, &held, &surroundings, dt, &mut other).expect("a plain step");
        let info = step(&mut state, &free, &surroundings, dt, &mut workspace).expect("a step");
        let [with, without] = [projection(&info), projection(&plain)];
        times = [times[0] + with, times[1] + without];
        worst = worst.max(info.separation.complementarity);
        println!(
            "{n}: {} unknowns, {} leave; {:.3} s with, {:.3} s without, {:.2}; {} rounds, {} iterations, plain {}; {:.1e}",
            info.liquid_cells,
            info.separation.cells.len(),
            with,
            without,
            with / without,
            info.separation.rounds,
            info.solve.iterations,
            plain.solve.iterations,
            info.separation.complementarity,
        );
    }
    println!(
        "all: {:.3} s with, {:.3} s without, {:.2}; worst residual {worst:.1e}",
        times[0],
        times[1],
        times[0] / times[1]
    );
}
