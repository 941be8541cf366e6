//! `meniscus bench modes`: steps of a reduced fluid, on one core.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use meniscus::{Scene, Stats, substeps};
use serde::Serialize;

use crate::failure::Failure;

/// What the benchmark prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The size of the game of Gerszewski 2015: 73 modes and 15 bodies of about ten panels.
    pub game: Case,
    /// 400 modes and ten bodies of 40 panels.
    pub large: Case,
    /// 100 modes that carry 100,000 tracers.
    pub tracers: Case,
}

/// Medians of all steps.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Milliseconds of a step: of all stages together.
    pub step_ms: f64,
    /// Milliseconds of each stage.
    pub stages: BTreeMap<String, f64>,
    /// Panels.
    pub panels: usize,
    /// Iterations of all solves of a step.
    pub iterations: usize,
}

/// Times as many steps of each case.
pub fn run(steps: u32) -> Result<Report, Failure> {
    Ok(Report {
        game: time(&scene(73, 15, 0.032, ""), steps)?,
        large: time(&scene(400, 10, 0.0079, ""), steps)?,
        tracers: time(
            &scene(100, 0, 0.02, "[[smoke]]\nshape = { box = { from = [0, 0], to = [1.6, 0.9] } }\n"),
            steps,
        )?,
    })
}

/// Bodies that are as heavy as the fluid and drift in whirls, far from each other for a while.
fn scene(modes: u32, bodies: u32, panel: f64, more: &str) -> String {
    let mut text = format!(
        "method = \"modes\"\ngravity = [0, 0]\n[domain]\nsize = [1.6, 0.9]\ncells = 104\n[time]\nfps = 240\nframes = 100000\n\
         max_substeps = 1\n[fluid]\nmaterial = \"water\"\n[[fluid.wave]]\nhalf_waves = [3, 2]\nvorticity = 0.3\n\
         [modes]\ncount = {modes}\npanel = {panel}\n{more}"
    );
    for k in 0..bodies {
        let (x, y) = (0.2 + 0.3 * f64::from(k % 5), 0.2 + 0.25 * f64::from(k / 5));
        let shape = format!("{{ sphere = {{ centre = [{x:.3}, {y:.3}], radius = 0.05 }} }}");
        writeln!(text, "[[body]]\nshape = {shape}\ndensity = 998").expect("a string grows");
    }
    text
}

fn time(text: &str, steps: u32) -> Result<Case, Failure> {
    let scene = Scene::parse("benchmark.toml", text, Path::new(""), &[])?;
    let timed = substeps(&scene, steps).map_err(Failure::failed)?;
    let of_step = |stats: &Stats| stats.stages.values().sum::<f64>();
    let names = timed[0].stages.keys().cloned();
    let stage = |name: String| {
        let seconds = timed.iter().map(|stats| stats.stages.get(&name).copied().unwrap_or(0.0));
        (name.clone(), 1e3 * median(seconds.collect()))
    };
    Ok(Case {
        step_ms: 1e3 * median(timed.iter().map(of_step).collect()),
        stages: names.map(stage).collect(),
        panels: timed[0].solve.unknowns,
        iterations: median(timed.iter().map(|stats| stats.solve.iterations as f64).collect()) as usize,
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
