//! A run: a simulation whose frames, statistics and checkpoints go to a folder.

mod folder;
mod manifest;
mod stored;
mod tally;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, Scope, ScopedJoinHandle};

use meniscus_io::{Frame, JsonLines, WriteError, write_checkpoint, write_frame};
use meniscus_scene::{Scene, Setup};

use folder::Keep;
pub use folder::{Folder, FolderError};
pub use manifest::{Manifest, Parent};
pub(crate) use stored::frame_of;
pub use stored::{Lines, Run};
pub use tally::Summary;

use crate::error::SimulationError;
use crate::session::{SavedSession, Session};
use crate::stats::{self, Stats};
use manifest::absolute;
use stored::read_saved;
use tally::Tally;

/// What a run does with its folder.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder; it is made if there is none.
    pub folder: PathBuf,
    /// Whether to continue the run that the folder holds.
    pub resume: bool,
    /// Whether to begin anew in a folder that holds a run, which is deleted.
    pub overwrite: bool,
    /// Where to begin, if not at the start.
    pub from: Option<Branch>,
    /// The drift of the liquid's volume at which the run gives up, as a part of the volume.
    pub max_drift: Option<f64>,
}

/// The frame of another run that one begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The folder of that run.
    pub run: PathBuf,
    /// The frame, of which it has a checkpoint.
    pub frame: u32,
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
    Done(Summary),
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
    /// The volume drifted too far.
    #[error(
        "the liquid's volume is off by {:.3} % in frame {frame}, more than the {} % that are allowed",
        100.0 * drift, (100.0 * limit * 1e9).round() / 1e9
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
    let goes_on = || manifest::goes_on(&folder, scene);
    let resumes = options.resume || !options.overwrite && options.from.is_none() && goes_on()?;
    let (begun, (manifest, _lock)) = if resumes {
        (None, manifest::open_to_resume(&folder, scene, options.from.as_ref())?)
    } else {
        // Before a folder is made for it.
        let (simulation, parent) = match &options.from {
            None => (Session::<D>::new(scene)?, None),
            Some(from) => {
                let run = Run::open(&from.run)?;
                let parent = parent_of(&run, from, options)?;
                (branch_off(&run, from.frame, scene)?, Some(parent))
            }
        };
        (Some(simulation), manifest::begin(&folder, scene, parent, options.overwrite)?)
    };
    let setup = scene.setup::<D>();
    let checkpoint = match folder.checkpoint_to_continue::<D>(manifest.first_frame())? {
        Some(numbers) => {
            Some(read_saved(&folder, &manifest, numbers, SavedSession::<D>::kind_of(scene.method()))?)
        }
        None => None,
    };
    let keep = Keep { output: setup.output, kept: manifest.kept_checkpoints.clone() };
    // A run killed just after it wrote one has left one too many.
    folder.prune_checkpoints(&keep)?;
    let begins = (manifest.first_frame(), 0);
    let position = checkpoint.as_ref().map_or(begins, |c| (c.frames_done, c.substeps_of_frame));
    let mut simulation = match checkpoint {
        Some(checkpoint) => Session::<D>::resume(scene, checkpoint)?,
        None => {
            let simulation = begun.map_or_else(|| begin_again(scene, &manifest), Ok)?;
            write_frame(folder.frame(manifest.first_frame()), &simulation.frame())?;
            if manifest.parent.is_some() {
                // From now on the other run is not needed any more.
                save(&folder, &keep, &simulation)?;
            }
            simulation
        }
    };
    let tally = Cell::new(Tally::default());
    let stats = JsonLines::resume(folder.stats(), |line| {
        let kept = is_before(line, position);
        if kept {
            tally.set(tally.get().plus(Tally::of_line(line)));
        }
        kept
    })?;
    let events = JsonLines::resume(folder.events(), |line| is_before(line, position))?;
    let mut logs = Logs { stats, events, tally: tally.get() };
    logs.tally.check(options.max_drift)?;
    if resumes {
        let _ = observe(Event::Resumed { frames_done: position.0 });
    }

    thread::scope(|scope| {
        let mut frames = Frames { folder: &folder, manifest, scope, writing: None };
        let ended = advance(&mut simulation, &setup, &keep, options, observe, &mut frames, &mut logs);
        // Whatever happened, what is being written shall be there and counted.
        let written = frames.finish(observe);
        let ended = ended?;
        let _ = written?;
        Ok(ended)
    })
}

/// The run to branch off, as a manifest names it.
fn parent_of(run: &Run, from: &Branch, options: &RunOptions) -> Result<Parent, RunError> {
    let folder = absolute(&from.run);
    if folder == absolute(&options.folder) {
        return Err(FolderError::OverItself { folder: options.folder.clone() }.into());
    }
    Ok(Parent { run: folder, frame: from.frame, hash: run.manifest().hash.clone() })
}

/// A run that has nothing to go on from, at its beginning.
fn begin_again<const D: usize>(scene: &Scene, manifest: &Manifest) -> Result<Session<D>, RunError> {
    let Some(parent) = &manifest.parent else { return Ok(Session::new(scene)?) };
    let run = Run::open(&parent.run).map_err(|error| match error {
        FolderError::NoRun { folder } => FolderError::NoParent { folder },
        error => error,
    })?;
    if run.manifest().hash != parent.hash {
        return Err(FolderError::OtherParent { folder: parent.run.clone() }.into());
    }
    branch_off(&run, parent.frame, scene)
}

/// A scene that goes on where a run was at a frame.
fn branch_off<const D: usize>(run: &Run, frame: u32, scene: &Scene) -> Result<Session<D>, RunError> {
    if run.scene().dimension() != D {
        return Err(SimulationError::OtherDimension { found: run.scene().dimension(), expected: D }.into());
    }
    Ok(Session::branch(run.scene(), run.checkpoint(frame)?, scene)?)
}

/// The logs of a run, and what they come to.
struct Logs {
    stats: JsonLines,
    events: JsonLines,
    tally: Tally,
}

/// Takes substeps until all frames are there, or something is in the way.
fn advance<const D: usize>(
    simulation: &mut Session<D>,
    setup: &Setup<D>,
    keep: &Keep,
    options: &RunOptions,
    observe: &mut dyn FnMut(Event) -> ControlFlow<()>,
    frames: &mut Frames<'_, '_>,
    logs: &mut Logs,
) -> Result<Outcome, RunError> {
    while simulation.frames_done() < setup.time.frames {
        let stats = simulation.advance_substep()?;
        logs.stats.append(&stats)?;
        for event in &stats.events {
            logs.events.append(event)?;
        }
        logs.tally = logs.tally.plus(Tally::of(&stats));
        let mut stop = observe(Event::Substep(&stats)).is_break();
        let last = simulation.frames_done() == setup.time.frames;
        let ends_frame = simulation.frames_done() == stats.frame;
        if ends_frame {
            stop |= frames.write(simulation.frame().into_owned(), observe)?.is_break();
        }
        let is_due = ends_frame && setup.output.has_checkpoint(stats.frame);
        let drift = logs.tally.check(options.max_drift);
        if is_due || last || stop || drift.is_err() {
            stop |= frames.finish(observe)?.is_break();
            save(frames.folder, keep, simulation)?;
        }
        drift?;
        if stop && !last {
            return Ok(Outcome::Interrupted { frames_done: simulation.frames_done() });
        }
    }
    // What a branch begins with is not what its shapes say.
    let first_frame = frames.manifest.first_frame();
    let at_start = simulation.system.volume_at_start(&simulation.world).filter(|_| first_frame == 0);
    let off_at_start = at_start.map_or(0.0, |[had, exact]| stats::drift(had, exact));
    let last_frame = simulation.frames_done();
    Ok(Outcome::Done(Summary { first_frame, last_frame, off_at_start, ..logs.tally.summary() }))
}

/// Writes frames while the simulation goes on, one at a time.
struct Frames<'scope, 'env> {
    folder: &'env Folder,
    manifest: Manifest,
    scope: &'scope Scope<'scope, 'env>,
    writing: Option<(u32, ScopedJoinHandle<'scope, Result<u64, WriteError>>)>,
}

impl Frames<'_, '_> {
    /// Begins to write a frame, after the one before it. The observer may ask to stop.
    fn write<const D: usize>(
        &mut self,
        frame: Frame<'static, D>,
        observe: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RunError> {
        let flow = self.finish(observe)?;
        self.manifest.frames_done = frame.frame;
        let (number, folder, manifest) = (frame.frame, self.folder, self.manifest.clone());
        let write = move || {
            let bytes = write_frame(folder.frame(number), &frame)?;
            manifest.write(folder)?;
            Ok(bytes)
        };
        self.writing = Some((number, self.scope.spawn(write)));
        Ok(flow)
    }

    /// Waits for the frame that is being written, and reports it. The observer may ask to stop.
    fn finish(
        &mut self,
        observe: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RunError> {
        let Some((frame, writing)) = self.writing.take() else { return Ok(ControlFlow::Continue(())) };
        let bytes = writing.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(observe(Event::Frame { frame, bytes }))
    }
}

/// Writes a checkpoint, and removes those that are not to be kept any more.
fn save<const D: usize>(folder: &Folder, keep: &Keep, simulation: &Session<D>) -> Result<(), RunError> {
    let checkpoint = simulation.save();
    let path = folder.checkpoint(checkpoint.frames_done, checkpoint.substeps_of_frame);
    write_checkpoint(path, checkpoint.kind(), &checkpoint)?;
    folder.prune_checkpoints(keep)?;
    Ok(())
}

/// Whether a line of a log belongs to what a checkpoint (frames done, substeps of the next) holds.
fn is_before(line: &serde_json::Value, (frames, substeps): (u32, u32)) -> bool {
    let number = |key: &str| line.get(key).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
    let (frame, substep) = (number("frame"), number("substep"));
    frame <= u64::from(frames) || frame == u64::from(frames) + 1 && substep <= u64::from(substeps)
}
