//! What a scene costs.

use std::time::Instant;

use meniscus_linalg::{Operator, SolveError, SolveInfo, SolveParams, Solver, solve_by_diagonal};
use meniscus_scene::Scene;
use serde::Serialize;

use crate::simulation::{Simulation, SimulationError};
use crate::stats::Stats;

/// Substeps of a scene, and the pressure system at their end, solved in two ways.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// What the substeps measured.
    pub substeps: Vec<Stats>,
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

/// All substeps of a scene.
///
/// # Errors
/// If a substep fails.
pub fn all_substeps(scene: &Scene) -> Result<Vec<Stats>, SimulationError> {
    match scene.dimension() {
        2 => all_frames::<2>(scene).map(|(_, substeps)| substeps),
        _ => all_frames::<3>(scene).map(|(_, substeps)| substeps),
    }
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

/// Runs all frames of a scene, and solves the pressure system at their end.
///
/// # Errors
/// If a substep fails, or the system at the end cannot be solved.
pub fn benchmark(scene: &Scene) -> Result<Benchmark, SimulationError> {
    match scene.dimension() {
        2 => benchmark_in::<2>(scene),
        _ => benchmark_in::<3>(scene),
    }
}

fn benchmark_in<const D: usize>(scene: &Scene) -> Result<Benchmark, SimulationError> {
    let (simulation, substeps) = all_frames::<D>(scene)?;
    let params = SolveParams { max_iterations: 10_000, ..SolveParams::default() };
    let multigrid = fastest(&simulation, |operator, rhs, x| Solver::new(operator).solve(rhs, x, &params))?;
    let diagonal = fastest(&simulation, |operator, rhs, x| solve_by_diagonal(&operator, rhs, x, &params));
    Ok(Benchmark { substeps, multigrid, diagonal: diagonal.ok() })
}

fn all_frames<const D: usize>(scene: &Scene) -> Result<(Simulation<D>, Vec<Stats>), SimulationError> {
    let mut simulation = Simulation::<D>::new(scene);
    let mut substeps = Vec::new();
    while simulation.frames_done() < scene.content().time.frames {
        substeps.extend(simulation.advance_frame()?);
    }
    Ok((simulation, substeps))
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
