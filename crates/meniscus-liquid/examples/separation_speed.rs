//! What wall separation costs: a ball of water splashes against the walls of a box that let go of it. The pressure system of every third
//! substep is solved with the bounds of the walls and without, from the same guess, set-up of the multigrid included.
//! `cargo run --release -p meniscus-liquid --example separation_speed [cells] [substeps]`.
#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::time::Instant;

use meniscus_core::grid::{Grid, Slot, block_len};
use meniscus_core::shape::Shape;
use meniscus_linalg::{Solver, solve_bounded};
use meniscus_liquid::{InitialLiquid, Params, State, Surroundings, Workspace, max_time_step, step};

/// Seconds of the fastest of three runs, and what it gave.
fn fastest<R>(mut run: impl FnMut() -> R) -> (f64, R) {
    let mut timed = || {
        let start = Instant::now();
        let result = run();
        (start.elapsed().as_secs_f64(), result)
    };
    let runs = [timed(), timed(), timed()];
    runs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("three runs")
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (cells, steps) = (arguments.next().unwrap_or(128), arguments.next().unwrap_or(60));
    let grid = Grid { origin: [0.0; 3], dx: 1.0 / cells as f64, cells: [cells; 3] };
    let params = Params { sides_separate: true, ..Params::new(grid) };
    let ball = InitialLiquid {
        shape: Shape::sphere([0.45, 0.6, 0.5], 0.34).expect("a ball"),
        velocity: [-6.0, 3.0, 0.5],
    };
    let surroundings = Surroundings::default();
    let mut state = State::new(&params, &[ball], &surroundings);
    let mut workspace = Workspace::default();
    let [mut memory, mut plain_memory] =
        [meniscus_linalg::Workspace::default(), meniscus_linalg::Workspace::default()];
    let (mut times, mut worst) = ([0.0; 2], 0.0_f64);
    for n in 1..=steps {
        let dt = max_time_step(&state, &params).min(1.0 / 120.0);
        step(&mut state, &params, &surroundings, dt, &mut workspace).expect("a step");
        if n % 3 != 0 {
            continue;
        }
        let (operator, rhs) = state.pressure_system(&params, &surroundings, dt).expect("a system");
        let blocks = operator.blocks().clone();
        let is_wall = |i: &usize| {
            let cell = blocks.cell(Slot { block: i / block_len::<3>(), local: i % block_len::<3>() });
            operator.is_unknown(*i) && cell.iter().any(|&c| c == 0 || c == cells - 1)
        };
        let walls: Vec<usize> = (0..blocks.slots()).filter(is_wall).collect();
        let scale = dt / (params.density * grid.dx);
        let guess: Vec<f64> = state.pressure.values().iter().map(|p| p * scale).collect();
        let (without, plain) = fastest(|| {
            let mut x = guess.clone();
            let mut solver = Solver::with_workspace(operator.clone(), std::mem::take(&mut plain_memory));
            let info = solver.solve(&rhs, &mut x, &params.solve).expect("a plain solution");
            plain_memory = solver.into_workspace();
            info.iterations
        });
        let (with, info) = fastest(|| {
            let mut x = guess.clone();
            solve_bounded(&operator, &walls, &rhs, &mut x, &params.solve, &mut memory).expect("a solution")
        });
        times = [times[0] + with, times[1] + without];
        worst = worst.max(info.complementarity);
        println!(
            "{n}: {} unknowns, {} at walls, {} at zero; {:.3} s with, {:.3} s without, {:.2}; {} rounds, {} iterations, plain {plain}; {:.1e}",
            operator.unknowns(),
            walls.len(),
            info.active.len(),
            with,
            without,
            with / without,
            info.rounds,
            info.solve.iterations,
            info.complementarity,
        );
    }
    println!(
        "all: {:.3} s with, {:.3} s without, {:.2}; worst residual {worst:.1e}",
        times[0],
        times[1],
        times[0] / times[1]
    );
}
