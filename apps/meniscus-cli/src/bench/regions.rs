//! `meniscus bench regions`: what the projection of a scene costs with its interior cut into affine regions, in various ways.

use meniscus::{RegionsCase, Scene, compare_regions};
use serde::Serialize;

use crate::cli::SceneArgs;
use crate::failure::Failure;

use super::machine::{peak_mb, triad_gb_s};

/// What the benchmark prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The projection after the last frame, by regions.
    pub cases: Vec<RegionsCase>,
    /// The most memory that the process held, in MB.
    pub peak_mb: Option<f64>,
    /// The bandwidth of a STREAM triad in the same run, in GB/s.
    pub triad_gb_s: f64,
    /// Threads used.
    pub threads: usize,
}

/// Runs the benchmark.
pub fn run(args: &SceneArgs, with_diagonal: bool) -> Result<Report, Failure> {
    let scene = Scene::open(&args.scene, &args.changes.overrides())?;
    let cases = compare_regions(&scene, with_diagonal).map_err(Failure::failed)?;
    Ok(Report { cases, peak_mb: peak_mb(), triad_gb_s: triad_gb_s(), threads: rayon::current_num_threads() })
}
