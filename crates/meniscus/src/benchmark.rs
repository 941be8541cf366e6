//! What a scene costs.

use std::time::Instant;

use meniscus_linalg::{Operator, SolveError, SolveInfo, SolveParams, Solver, solve_by_diagonal};
use meniscus_scene::Scene;
use serde::Serialize;

use crate::simulation::{Simulation, SimulationError};
use crate::stats::Stats;

/// Substeps of a scene and of another, and the pressure system at the end of the first, solved in two ways.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// What the substeps measured.
    pub substeps: Vec<Stats>,
    /// What those of the other scene measured.
    pub others: Vec<Stats>,
    /// The solve with the multigrid preconditioner.
    pub multigrid: TimedSolve,
    /// The same with the diagonal as the preconditioner; none if that does not converge, as with liquid that has no
    /// surface.
    pub diagonal: Option<TimedSolve>,
}

/// A solve of a pressure system, from zero to a relative residual of 1e-5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimedSolve {
    /// Its iterations.
    pub iterations: usize,
    /// Seconds, with the preconditioner's set-up; the fastest of three.
    pub seconds: f64,
}

/// The first substeps of a scene.
///
/// # Errors
/// If a substep fails.
pub fn substeps(scene: &Scene, count: u32) -> Result<Vec<Stats>, SimulationError> {
    match scene.dimension() {
        2 => first_substeps::<2>(scene, count),
        _ => first_substeps::<3>(scene, count),
    }
}

fn first_substeps<const D: usize>(scene: &Scene, count: u32) -> Result<Vec<Stats>, SimulationError> {
    let mut simulation = Simulation::<D>::new(scene);
    (0..count).map(|_| simulation.advance_substep()).collect()
}

/// Runs all frames of two scenes, a frame of each in turn, so that whatever else the machine does slows both; then solves
/// the pressure system at the end of the first.
///
/// # Errors
/// If a substep fails, or the system at the end cannot be solved.
///
/// # Panics
/// If the scenes differ in dimension.
pub fn benchmark(scene: &Scene, other: &Scene) -> Result<Benchmark, SimulationError> {
    match scene.dimension() {
        2 => benchmark_in::<2>(scene, other),
        _ => benchmark_in::<3>(scene, other),
    }
}

fn benchmark_in<const D: usize>(scene: &Scene, other: &Scene) -> Result<Benchmark, SimulationError> {
    let mut simulations = [scene, other].map(Simulation::<D>::new);
    let mut measured = [Vec::new(), Vec::new()];
    for _ in 0..scene.content().time.frames {
        for (simulation, measured) in simulations.iter_mut().zip(&mut measured) {
            measured.extend(simulation.advance_frame()?);
        }
    }
    let params = SolveParams { max_iterations: 10_000, ..SolveParams::default() };
    let at_end = &simulations[0];
    let multigrid = fastest(at_end, |operator, rhs, x| Solver::new(operator).solve(rhs, x, &params))?;
    let diagonal = fastest(at_end, |operator, rhs, x| solve_by_diagonal(&operator, rhs, x, &params));
    let [substeps, others] = measured;
    Ok(Benchmark { substeps, others, multigrid, diagonal: diagonal.ok() })
}

/// The fastest of three solves of the system of this moment. To assemble it is not part of the time.
fn fastest<const D: usize>(
    simulation: &Simulation<D>,
    solve: impl Fn(Operator<D>, &[f64], &mut [f64]) -> Result<SolveInfo, SolveError>,
) -> Result<TimedSolve, SimulationError> {
    let mut best: Option<TimedSolve> = None;
    for _ in 0..3 {
        let (operator, rhs) = simulation.pressure_system()?;
        let mut x = vec![0.0; rhs.len()];
        let started = Instant::now();
        let info = solve(operator, &rhs, &mut x).map_err(|error| simulation.unsolved(error.into()))?;
        let seconds = started.elapsed().as_secs_f64();
        if best.is_none_or(|best| seconds < best.seconds) {
            best = Some(TimedSolve { iterations: info.iterations, seconds });
        }
    }
    Ok(best.expect("three solves"))
}
