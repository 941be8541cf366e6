//! `meniscus bench step`: the stages of a step of a dam break.

use std::collections::BTreeMap;
use std::path::Path;

use meniscus::{Scene, Stats, substeps};
use serde::Serialize;

use crate::failure::Failure;

use super::machine::{peak_mb, triad_gb_s};

/// What the benchmark prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Milliseconds of a step: the median.
    pub total_ms: f64,
    /// Milliseconds of each stage of that step.
    pub stages: BTreeMap<String, f64>,
    /// Particles.
    pub particles: usize,
    /// Liquid cells.
    pub unknowns: usize,
    /// Iterations of the pressure solve.
    pub iterations: usize,
    /// The most memory that the process held, in MB.
    pub peak_mb: Option<f64>,
    /// The bandwidth of a STREAM triad in the same run, in GB/s.
    pub triad_gb_s: f64,
    /// Threads used.
    pub threads: usize,
}

/// Steps that are not timed.
const WARM_UP: u32 = 2;

/// Times `steps` steps of the benchmark dam break: a unit box, a column over half of its length and half of its
/// height and all of its depth, a time step of 0.64 cells at 1 m/s.
pub fn run(cells: u32, steps: u32, transfer: &str) -> Result<Report, Failure> {
    let text = format!(
        r#"
        [domain]
        size = [1.0, 1.0, 1.0]
        cells = {cells}
        [time]
        fps = {}
        max_substeps = 1
        [[liquid]]
        shape = {{ box = {{ from = [0, 0, 0], to = [0.5, 0.5, 1] }} }}
        [particles]
        transfer = "{transfer}"
        "#,
        f64::from(cells) / 0.64
    );
    let scene = Scene::parse("benchmark.toml", &text, Path::new(""), &[])?;
    let mut timed = substeps(&scene, WARM_UP + steps).map_err(Failure::failed)?;
    timed.drain(..WARM_UP as usize);
    let peak_mb = peak_mb();
    timed.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let median = timed.swap_remove(timed.len() / 2);
    Ok(report(&median, peak_mb))
}

fn report(step: &Stats, peak_mb: Option<f64>) -> Report {
    Report {
        total_ms: 1e3 * step.seconds,
        stages: step.stages.iter().map(|(name, seconds)| (name.clone(), 1e3 * seconds)).collect(),
        particles: step.particles,
        unknowns: step.solve.unknowns,
        iterations: step.solve.iterations,
        peak_mb,
        triad_gb_s: triad_gb_s(),
        threads: rayon::current_num_threads(),
    }
}
