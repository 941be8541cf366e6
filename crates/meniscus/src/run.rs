//! A run: a simulation whose frames, statistics and checkpoints go to a folder.

use std::ops::ControlFlow;
use std::path::PathBuf;

use meniscus_io::{
    CacheError, JsonLines, WriteError, read_checkpoint, write_checkpoint, write_frame,
};
use meniscus_scene::Scene;

use crate::folder::{self, Folder, FolderError};
use crate::simulation::{Checkpoint, Simulation, SimulationError};
use crate::stats::Stats;

/// What a run does with its folder.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder; it is made if there is none.
    pub folder: PathBuf,
    /// Whether to continue the run that the folder holds.
    pub resume: bool,
    /// Whether to begin anew in a folder that holds a run, which is deleted.
    pub overwrite: bool,
    /// The drift of the liquid's volume at which the run gives up, as a part of the volume.
    pub max_drift: Option<f64>,
}

/// What happens in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run continues from a checkpoint.
    Resumed {
        /// Frames that are complete.
        frames_done: u32,
    },
    /// A substep has been taken.
    Substep(&'a Stats),
    /// A frame is complete and on disk.
    Frame {
        /// Its number, from 1.
        frame: u32,
        /// Its size, in bytes.
        bytes: u64,
    },
}

/// How a run ended without an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// All frames are there.
    Done {
        /// The largest drift of the liquid's volume in this part of the run.
        max_drift: f64,
    },
    /// It was asked to stop; a checkpoint is written.
    Interrupted {
        /// Frames that are complete.
        frames_done: u32,
    },
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A checkpoint cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The volume drifted too far.
    #[error(
        "the liquid's volume is off by {:.3} % in frame {frame}, more than the {:.3} % that --max-drift allows",
        100.0 * drift, 100.0 * limit
    )]
    Drift {
        /// The frame.
        frame: u32,
        /// The drift.
        drift: f64,
        /// The limit.
        limit: f64,
    },
}

/// Runs a scene into a folder. `observe` hears what happens, and may ask to stop after a substep: then a
/// checkpoint is written first.
///
/// A run that is killed at any moment and resumed gives the same frames as one that is not: frames are
/// whole or absent, and what lies after the latest checkpoint is computed again.
///
/// # Errors
/// If the folder cannot be used or written, or the simulation fails. Frames written before stay.
pub fn run(
    scene: &Scene,
    options: &RunOptions,
    observe: &mut dyn FnMut(Event) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    match scene.dimension() {
        2 => run_in::<2>(scene, options, observe),
        _ => run_in::<3>(scene, options, observe),
    }
}

fn run_in<const D: usize>(
    scene: &Scene,
    options: &RunOptions,
    observe: &mut dyn FnMut(Event) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    let folder = Folder::new(&options.folder, scene.name());
    let mut manifest = if options.resume {
        folder::open_to_resume(&folder, scene)?
    } else {
        folder::begin(&folder, scene, options.overwrite)?
    };
    let setup = scene.setup::<D>();
    let checkpoint: Option<Checkpoint<D>> =
        folder.latest_checkpoint()?.map(|path| read_checkpoint(&path)).transpose()?;
    let fresh = checkpoint.is_none();
    let position = checkpoint.as_ref().map_or((0, 0), |c| (c.frames_done, c.substeps_of_frame));
    let mut simulation = match checkpoint {
        Some(checkpoint) => Simulation::<D>::resume(scene, checkpoint),
        None => Simulation::<D>::new(scene),
    };
    let mut stats_log = JsonLines::resume(folder.stats(), |line| is_before(line, position))?;
    JsonLines::resume(folder.events(), |line| is_before(line, position))?;
    if options.resume {
        let _ = observe(Event::Resumed { frames_done: position.0 });
    }
    if fresh {
        write_frame(folder.frame(0), &simulation.frame())?;
    }

    let frames = setup.time.frames;
    let mut max_drift: f64 = 0.0;
    while simulation.frames_done() < frames {
        let stats = simulation.advance_substep()?;
        stats_log.append(&stats)?;
        max_drift = max_drift.max(stats.drift().abs());
        let ended = simulation.frames_done() == stats.frame;
        if ended {
            let bytes = write_frame(folder.frame(stats.frame), &simulation.frame())?;
            manifest.frames_done = stats.frame;
            folder.write_manifest(&manifest)?;
            let last = stats.frame == frames;
            if last || stats.frame.is_multiple_of(setup.output.checkpoint_every) {
                save(&folder, &simulation)?;
            }
            // The substep is reported first, so that its frame follows it.
            let stop = observe(Event::Substep(&stats)).is_break();
            let stop = observe(Event::Frame { frame: stats.frame, bytes }).is_break() || stop;
            if stop && !last {
                return interrupted(&folder, &simulation);
            }
        } else if observe(Event::Substep(&stats)).is_break() {
            return interrupted(&folder, &simulation);
        }
        if let Some(limit) = options.max_drift
            && stats.drift().abs() > limit
        {
            save(&folder, &simulation)?;
            return Err(RunError::Drift { frame: stats.frame, drift: stats.drift(), limit });
        }
    }
    Ok(Outcome::Done { max_drift })
}

fn interrupted<const D: usize>(folder: &Folder, simulation: &Simulation<D>) -> Result<Outcome, RunError> {
    save(folder, simulation)?;
    Ok(Outcome::Interrupted { frames_done: simulation.frames_done() })
}

fn save<const D: usize>(folder: &Folder, simulation: &Simulation<D>) -> Result<(), RunError> {
    let checkpoint = simulation.checkpoint();
    write_checkpoint(folder.checkpoint(checkpoint.frames_done, checkpoint.substeps_of_frame), &checkpoint)?;
    folder.prune_checkpoints()?;
    Ok(())
}

/// Whether a line of a log belongs to what a checkpoint (frames done, substeps of the next) holds.
fn is_before(line: &serde_json::Value, (frames, substeps): (u32, u32)) -> bool {
    let number = |key: &str| line.get(key).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
    let (frame, substep) = (number("frame"), number("substep"));
    frame <= u64::from(frames) || frame == u64::from(frames) + 1 && substep <= u64::from(substeps)
}
