//! A run: a simulation whose frames, statistics and checkpoints go to a folder.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread::{self, Scope, ScopedJoinHandle};

use meniscus_io::{
    CacheError, Frame, JsonLines, Kind, WriteError, read_checkpoint, write_checkpoint, write_frame,
};
use meniscus_scene::{Scene, Setup};

use crate::folder::{self, Folder, FolderError, Manifest};
use crate::session::{SavedSession, Session};
use crate::simulation::SimulationError;
use crate::stats::{self, Stats};

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
    Done(Summary),
    /// It was asked to stop; a checkpoint is written.
    Interrupted {
        /// Frames that are complete.
        frames_done: u32,
    },
}

/// What a whole run comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The frames that are there, the one at the start not counted.
    pub frames: u32,
    /// The largest drift of the liquid's volume, as a part of it.
    pub max_drift: f64,
    /// The frame of that.
    pub frame_of_drift: u32,
    /// The largest drift that there would be without all corrections up to then.
    pub max_drift_uncorrected: f64,
    /// By how much the volume at the start was off that of the shapes of the scene, as a part of it.
    pub off_at_start: f64,
    /// The volume that sources added, in m³ (2D: m²).
    pub poured: f64,
    /// The volume that sinks took or that left through open sides.
    pub drained: f64,
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
        "the liquid's volume is off by {:.3} % in frame {frame}, more than the {} % that --max-drift allows",
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
    let (begun, (manifest, _lock)) = if options.resume {
        (None, folder::open_to_resume(&folder, scene)?)
    } else {
        // Before a folder is made for it.
        let simulation = Session::<D>::new(scene)?;
        (Some(simulation), folder::begin(&folder, scene, options.overwrite)?)
    };
    let setup = scene.setup::<D>();
    let checkpoint = latest_checkpoint::<D>(&folder, &manifest, SavedSession::<D>::kind_of(scene.method()))?;
    let position = checkpoint.as_ref().map_or((0, 0), |c| (c.frames_done, c.substeps_of_frame));
    let mut simulation = match checkpoint {
        Some(checkpoint) => Session::<D>::resume(scene, checkpoint)?,
        None => {
            let simulation = begun.map_or_else(|| Session::<D>::new(scene), Ok)?;
            write_frame(folder.frame(0), &simulation.frame())?;
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
    if options.resume {
        let _ = observe(Event::Resumed { frames_done: position.0 });
    }

    thread::scope(|scope| {
        let mut frames = Frames { folder: &folder, manifest, scope, writing: None };
        let ended = advance(&mut simulation, &setup, options, observe, &mut frames, &mut logs);
        // Whatever happened, what is being written shall be there and counted.
        let written = frames.finish(observe);
        let ended = ended?;
        let _ = written?;
        Ok(ended)
    })
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
        let is_due = ends_frame && stats.frame.is_multiple_of(setup.output.checkpoint_every);
        let drift = logs.tally.check(options.max_drift);
        if is_due || last || stop || drift.is_err() {
            stop |= frames.finish(observe)?.is_break();
            save(frames.folder, &frames.manifest, simulation)?;
        }
        drift?;
        if stop && !last {
            return Ok(Outcome::Interrupted { frames_done: simulation.frames_done() });
        }
    }
    let off_at_start = simulation
        .system
        .volume_at_start(&simulation.world)
        .map_or(0.0, |[had, exact]| stats::drift(had, exact));
    Ok(Outcome::Done(Summary { off_at_start, ..logs.tally.summary(simulation.frames_done()) }))
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
            folder.write_manifest(&manifest)?;
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

/// Writes a checkpoint, marked as one of this run.
fn save<const D: usize>(
    folder: &Folder,
    manifest: &Manifest,
    simulation: &Session<D>,
) -> Result<(), RunError> {
    let checkpoint = simulation.save();
    let path = folder.checkpoint(checkpoint.frames_done, checkpoint.substeps_of_frame);
    write_checkpoint(path, checkpoint.kind(), &(&manifest.hash, &checkpoint))?;
    folder.prune_checkpoints()?;
    Ok(())
}

fn latest_checkpoint<const D: usize>(
    folder: &Folder,
    manifest: &Manifest,
    kind: Kind,
) -> Result<Option<SavedSession<D>>, RunError> {
    let Some((frames, substeps)) = folder.checkpoint_to_continue::<D>()? else { return Ok(None) };
    let path = folder.checkpoint(frames, substeps);
    let (hash, checkpoint): (String, SavedSession<D>) = read_checkpoint(&path, kind)?;
    let problem = if hash != manifest.hash {
        "it is of another scene"
    } else if (checkpoint.frames_done, checkpoint.substeps_of_frame) != (frames, substeps) {
        "it is of another moment than its name says"
    } else {
        return Ok(Some(checkpoint));
    };
    let fix = "delete it and run again with --resume, which continues from the checkpoint before it";
    Err(FolderError::Foreign { path, problem: problem.into(), fix }.into())
}

/// What the substeps so far come to.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// The largest drift of the liquid's volume, and its frame.
    drift: f64,
    frame: u32,
    /// The largest without corrections, without its sign.
    uncorrected: f64,
    poured: f64,
    drained: f64,
}

impl Tally {
    fn of(stats: &Stats) -> Self {
        let Stats { frame, poured_volume: poured, drained_volume: drained, .. } = *stats;
        let uncorrected = stats.drift_uncorrected().abs();
        Self { drift: stats.drift(), frame, uncorrected, poured, drained }
    }

    /// From a line of `stats.jsonl`.
    fn of_line(line: &serde_json::Value) -> Self {
        let number = |key: &str| line.get(key).and_then(serde_json::Value::as_f64).unwrap_or(0.0);
        let off = |key: &str| stats::drift(number(key), number("liquid_volume_target"));
        Self {
            drift: off("liquid_volume"),
            frame: number("frame") as u32,
            uncorrected: off("liquid_volume_uncorrected").abs(),
            poured: number("poured_volume"),
            drained: number("drained_volume"),
        }
    }

    /// Both together, with the larger drift, the first of equals. No number is larger than any.
    fn plus(self, other: Self) -> Self {
        let worse = if other.drift.abs().total_cmp(&self.drift.abs()).is_gt() { other } else { self };
        Self {
            uncorrected: self.uncorrected.max(other.uncorrected),
            poured: self.poured + other.poured,
            drained: self.drained + other.drained,
            ..worse
        }
    }

    fn check(self, limit: Option<f64>) -> Result<(), RunError> {
        let Self { frame, drift, .. } = self;
        match limit {
            Some(limit) if drift.is_nan() || drift.abs() > limit => {
                Err(RunError::Drift { frame, drift, limit })
            }
            _ => Ok(()),
        }
    }

    fn summary(self, frames: u32) -> Summary {
        Summary {
            frames,
            max_drift: self.drift.abs(),
            frame_of_drift: self.frame,
            max_drift_uncorrected: self.uncorrected,
            off_at_start: 0.0,
            poured: self.poured,
            drained: self.drained,
        }
    }
}

/// Whether a line of a log belongs to what a checkpoint (frames done, substeps of the next) holds.
fn is_before(line: &serde_json::Value, (frames, substeps): (u32, u32)) -> bool {
    let number = |key: &str| line.get(key).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
    let (frame, substep) = (number("frame"), number("substep"));
    frame <= u64::from(frames) || frame == u64::from(frames) + 1 && substep <= u64::from(substeps)
}
