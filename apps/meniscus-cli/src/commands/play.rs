//! `meniscus play`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use meniscus::Scene;
use meniscus_play::{
    Options, ReplayError, ServeError, Server, Start, Unplayable, WorldError, playable, replay,
};

use super::tell_remarks;
use crate::cli::{PlayArgs, print_line};
use crate::failure::Failure;

/// Serves the page until Ctrl-C, or plays a log again.
pub fn play(args: &PlayArgs) -> Result<(), Failure> {
    if let Some(log) = &args.replay {
        return play_again(log);
    }
    let scene = args.scene.as_deref().map(open).transpose()?;
    let server = Server::start(Options { scene, port: args.port, token: None })?;
    let (interrupt, interrupted) = channel();
    let hear = move || {
        // Nobody waits any more if it is heard twice.
        let _ = interrupt.send(());
    };
    ctrlc::set_handler(hear).map_err(Failure::failed)?;
    print_line(&server.url());
    print_line("Ctrl-C ends it");
    if !args.no_open {
        open_in_browser(&server.url());
    }
    // The sender lives as long as the handler, so that this waits for it.
    let _ = interrupted.recv();
    Ok(())
}

fn open(name: &str) -> Result<Start, Failure> {
    let scene = Scene::open(name, &[])?;
    tell_remarks(&scene);
    let file = if name.ends_with(".toml") { name.to_owned() } else { format!("{}.toml", scene.name()) };
    let scene = playable(&file, scene.source_text(), scene.folder())?;
    Ok(Start { name: "scene".into(), scene, rules: None })
}

fn play_again(log: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(log)
        .map_err(|source| Failure::bad_input(Unreadable { log: log.into(), source }))?;
    let replayed = replay(&text)?;
    print_line(&format!("{} steps, hash {}", replayed.steps, replayed.hash));
    if replayed.hash == replayed.expected {
        Ok(())
    } else {
        Err(Failure::failed(OtherHash { expected: replayed.expected }))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the log {}", log.display())]
struct Unreadable {
    log: std::path::PathBuf,
    source: std::io::Error,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "the log says {expected}: it was written by another version of Meniscus, or on another kind of machine"
)]
struct OtherHash {
    expected: String,
}

/// Opens the page. If nothing does, the address has been printed.
fn open_in_browser(url: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let _ = Command::new(program).args(before).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::World(error) => error.into(),
            _ => Self::failed(error),
        }
    }
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Scene(error) => (*error).into(),
            WorldError::Simulation(error) => error.into(),
            WorldError::NotPlayable { how, .. } => Self::advised(
                error,
                match how {
                    Unplayable::Grid => {
                        "add method = \"modes\" to a 2D scene without liquids, or give one such as jet-modes or reduced-game"
                    }
                    Unplayable::Space => "give a scene in two dimensions, such as jet-modes or reduced-game",
                    Unplayable::BetweenSolids => {
                        "take domain = \"solids\" out of [modes]: solids then stand in the box as panels do"
                    }
                },
            ),
            _ => Self::bad_input(error),
        }
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::World(error) => error.into(),
            _ => Self::bad_input(error),
        }
    }
}
