//! What rigid bodies cost the pressure solve: a tank of water with none, 1, 10 and 50 balls in it, at rest, a hundredth as dense as water,
//! as dense, and a hundred times as dense; and with 50 that are solids, which cut the same cells but do not move. The systems are solved in
//! turn, set-up of the multigrid included, and the fastest of seven solves counts. `cargo run --release -p meniscus-liquid --example body_speed [cells]`.
#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::time::Instant;

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_linalg::{Operator, Solver, Workspace};
use meniscus_liquid::{InitialLiquid, Params, Solid, State, Surroundings};
use meniscus_rigid::RigidBody;

/// The pressure system of a tank with balls on a lattice of 4 x 4 x 4, moved a little so that they lie otherwise on the grid.
fn tank(params: &Params<3>, count: usize, ratio: Option<f64>) -> (Operator<3>, Vec<f64>) {
    let centre = |k: usize| -> [f64; 3] {
        let place = [k * 7 % 64 % 4, k * 7 % 64 / 4 % 4, k * 7 % 64 / 16];
        std::array::from_fn(|a| 0.14 + 0.235 * place[a] as f64 + 0.004 * ((k * (a + 3)) % 5) as f64)
    };
    let ball = |centre: [f64; 3]| Shape::sphere(centre, 0.07).expect("a ball");
    let body = |(k, ratio): (usize, f64)| {
        let pose = RigidTransform { translation: centre(k), ..RigidTransform::IDENTITY };
        RigidBody::new(ball([0.0; 3]), 1000.0 * ratio, pose).expect("a body")
    };
    let water = Shape::box_between([0.0; 3], [1.0, 0.93, 1.0]).expect("a box");
    let surroundings = Surroundings {
        bodies: (0..count).zip(ratio.into_iter().cycle()).map(body).collect(),
        solids: (0..count).filter(|_| ratio.is_none()).map(|k| Solid::fixed(ball(centre(k)))).collect(),
        ..Surroundings::default()
    };
    let state = State::new(params, &[InitialLiquid { shape: water, velocity: [0.0; 3] }], &surroundings);
    state.pressure_system(params, &surroundings, 0.01).expect("a system")
}

fn main() {
    let cells = std::env::args().nth(1).and_then(|cells| cells.parse().ok()).unwrap_or(96);
    let params = Params::new(Grid { origin: [0.0; 3], dx: 1.0 / cells as f64, cells: [cells; 3] });
    let bodies = [0.01, 1.0, 100.0].map(|ratio| [1, 10, 50].map(|count| (count, Some(ratio))));
    let cases: Vec<(usize, Option<f64>)> =
        [(0, None), (50, None)].into_iter().chain(bodies.into_iter().flatten()).collect();
    let systems: Vec<_> = cases.iter().map(|&(count, ratio)| tank(&params, count, ratio)).collect();
    let (mut memory, mut best) = (Workspace::default(), vec![(f64::INFINITY, 0); systems.len()]);
    for _ in 0..7 {
        for ((operator, rhs), best) in systems.iter().zip(&mut best) {
            let (operator, mut x) = (operator.clone(), vec![0.0; rhs.len()]);
            let start = Instant::now();
            let mut solver = Solver::with_workspace(operator, memory);
            let info = solver.solve(rhs, &mut x, &params.solve).expect("a solution");
            let seconds = start.elapsed().as_secs_f64();
            memory = solver.into_workspace();
            if seconds < best.0 {
                *best = (seconds, info.iterations);
            }
        }
    }
    println!("{} unknowns", systems[0].0.unknowns());
    for ((count, ratio), (seconds, iterations)) in cases.iter().zip(&best) {
        let times = seconds / best[0].0;
        let what = ratio.map_or("solids".into(), |ratio| format!("bodies of density {ratio}"));
        println!("{count} {what}: {iterations} iterations, {seconds:.4} s, {times:.2} times");
    }
}
