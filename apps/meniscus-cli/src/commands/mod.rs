//! One module a command.

pub mod check;
pub mod export;
mod interrupt;
pub mod render;
pub mod run;
pub mod scenes;

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::{ExportError, FolderError, PicturesError, RunError, Scene, SimulationError};

use crate::cli::{Failure, SceneArgs};

/// Opens a scene and tells its warnings.
fn open_scene(args: &SceneArgs) -> Result<Scene, Failure> {
    let scene =
        Scene::open(&args.scene, &args.overrides()).map_err(|error| Failure::BadInput(error.into()))?;
    for warning in scene.warnings() {
        let report = miette::Report::new(warning.clone());
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{report:?}"));
    }
    Ok(scene)
}

/// A number of things, in words.
fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// A time, in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 90.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} s", s.max(1.0)),
    }
}

/// A word of a command line, in quotes where a shell would not take it as it is.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A bar that fills as files are done; nothing is shown when the output is not a terminal.
fn progress_bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {elapsed} (ETA {eta})")
        .expect("a valid template");
    ProgressBar::new(0).with_style(style).with_message(what)
}

/// What failed, by whether the system or the folder that was given is at fault.
fn folder_failure(error: FolderError) -> Failure {
    match error {
        FolderError::Io { .. } | FolderError::Write(_) => Failure::failed(error),
        _ => Failure::bad_input(error),
    }
}

fn run_failure(error: RunError) -> Failure {
    match error {
        RunError::Folder(error) => folder_failure(error),
        RunError::Simulation(error) => simulation_failure(error),
        RunError::Cache(_) => Failure::bad_input(error),
        _ => Failure::failed(error),
    }
}

fn simulation_failure(error: SimulationError) -> Failure {
    match error {
        SimulationError::NoLiquid => Failure::bad_input(error),
        _ => Failure::failed(error),
    }
}

fn pictures_failure(error: PicturesError) -> Failure {
    match error {
        PicturesError::Folder(error) => folder_failure(error),
        PicturesError::NoSuchFrame { .. } | PicturesError::Cache(_) => Failure::bad_input(error),
        _ => Failure::failed(error),
    }
}

fn export_failure(error: ExportError) -> Failure {
    match error {
        ExportError::Frames(error) => pictures_failure(error),
        ExportError::Folder(error) => folder_failure(error),
        ExportError::PointsNeedPly
        | ExportError::PosesNeedCsv
        | ExportError::NoParticles
        | ExportError::NoSmoke
        | ExportError::NoPoses
        | ExportError::NoBubbles => Failure::bad_input(error),
        _ => Failure::failed(error),
    }
}
