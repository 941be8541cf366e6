//! One module a command.

pub mod check;
pub mod export;
pub mod render;
pub mod run;
pub mod scenes;

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::Scene;

use crate::cli::{Failure, SceneArgs};

/// Opens a scene and tells its warnings.
fn open_scene(args: &SceneArgs) -> Result<Scene, Failure> {
    let scene = Scene::open(&args.scene, &args.overrides()).map_err(|error| Failure::BadInput(error.into()))?;
    for warning in scene.warnings() {
        let report = miette::Report::new(warning.clone());
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{report:?}"));
    }
    Ok(scene)
}

/// A bar that fills as files are done; nothing is shown when the output is not a terminal.
fn progress_bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {elapsed} (ETA {eta})")
        .expect("a valid template");
    ProgressBar::new(0).with_style(style).with_message(what)
}
