//! `meniscus bench scene`: what the projection of a scene costs, with bubbles and without.

use meniscus::{Benchmark, Scene, Stats, TimedSolve, benchmark};
use serde::Serialize;

use crate::cli::SceneArgs;
use crate::failure::Failure;

/// What the benchmark prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The substeps of the scene as it is.
    pub scene: Substeps,
    /// Those with the air model `void`, run after it.
    pub void: Substeps,
    /// The pressure system after the last frame of the scene, by preconditioner.
    pub multigrid: TimedSolve,
    /// See `multigrid`; none if it does not converge.
    pub diagonal: Option<TimedSolve>,
    /// Threads used.
    pub threads: usize,
}

/// What substeps cost.
#[derive(Clone, Debug, Serialize)]
pub struct Substeps {
    /// How many there were.
    pub substeps: usize,
    /// Liquid cells, the most.
    pub unknowns: usize,
    /// Bubbles that kept their volume, the most.
    pub bubbles: usize,
    /// Iterations of the pressure solve, the mean.
    pub iterations_mean: f64,
    /// The median.
    pub iterations_median: usize,
    /// The most.
    pub iterations_max: usize,
    /// Milliseconds of the projection, the median.
    pub projection_ms: f64,
    /// Milliseconds of finding the regions of air and of liquid, the median.
    pub regions_ms: f64,
    /// Milliseconds of telling who is who, the median.
    pub tracking_ms: f64,
    /// Milliseconds of a whole substep, the median.
    pub total_ms: f64,
}

/// Runs the benchmark.
pub fn run(args: &SceneArgs) -> Result<Report, Failure> {
    let open = |more: &[&str]| {
        let overrides: Vec<String> =
            args.changes.overrides().into_iter().chain(more.iter().map(ToString::to_string)).collect();
        Scene::open(&args.scene, &overrides).map_err(|error| Failure::BadInput(error.into()))
    };
    let (scene, void) = (open(&[])?, open(&["air.model=void"])?);
    let Benchmark { substeps, others: void, multigrid, diagonal } =
        benchmark(&scene, &void).map_err(Failure::failed)?;
    Ok(Report {
        scene: summary(&substeps),
        void: summary(&void),
        multigrid,
        diagonal,
        threads: rayon::current_num_threads(),
    })
}

fn summary(substeps: &[Stats]) -> Substeps {
    let stage = |name: &str| {
        median(substeps.iter().map(|s| 1e3 * s.stages.get(name).copied().unwrap_or(0.0)).collect())
    };
    let mut iterations: Vec<usize> = substeps.iter().map(|s| s.solve.iterations).collect();
    iterations.sort_unstable();
    Substeps {
        substeps: substeps.len(),
        unknowns: substeps.iter().map(|s| s.solve.unknowns).max().unwrap_or(0),
        bubbles: substeps.iter().map(|s| s.solve.bubbles).max().unwrap_or(0),
        iterations_mean: iterations.iter().sum::<usize>() as f64 / iterations.len().max(1) as f64,
        iterations_median: iterations.get(iterations.len() / 2).copied().unwrap_or(0),
        iterations_max: iterations.last().copied().unwrap_or(0),
        projection_ms: stage("projection"),
        regions_ms: stage("regions"),
        tracking_ms: stage("tracking"),
        total_ms: median(substeps.iter().map(|s| 1e3 * s.seconds).collect()),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
