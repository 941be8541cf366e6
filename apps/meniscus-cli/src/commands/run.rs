//! `meniscus run`.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::{
    Event, GROSS_DRIFT, Outcome, PictureOptions, Run, RunOptions, Scene, Stats, Summary, Warning,
};

use super::interrupt::Interrupt;
use super::{count, quoted, render, tell_remarks};
use crate::cli::{RunArgs, print_line, use_threads};
use crate::failure::Failure;

/// Simulates a scene into a folder.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(args.changes.threads)?;
    let scene = scene_of(args)?;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(scene.name()));
    let options = RunOptions {
        folder: folder.clone(),
        resume: args.resume,
        overwrite: args.overwrite,
        from: args.from.clone(),
        max_drift: args.max_drift,
    };

    let interrupt = Interrupt::listen()?;
    let mut line = ProgressLine::new(scene.content().time.frames);
    let outcome = meniscus::run(&scene, &options, &mut |event| {
        line.show(&event);
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.end();
    match outcome? {
        Outcome::Done(summary) => {
            let trusted = report(&summary, &scene, args, &folder);
            if args.render {
                render::draw_folder(&folder, &PictureOptions::default(), &interrupt)?;
            } else if std::io::stdout().is_terminal() {
                let Summary { first_frame, last_frame, .. } = summary;
                let (folder, frame) = (quoted(&folder.to_string_lossy()), first_frame.midpoint(last_frame));
                print_line(&format!("see it: meniscus render {folder} --frame {frame}"));
            }
            trusted
        }
        Outcome::Interrupted { frames_done } => {
            let frames = count(frames_done as usize, "frame");
            print_line(&format!("interrupted after {frames}; a checkpoint is written"));
            print_line(&format!("continue with: {}", command_to_resume(args)));
            Err(Failure::Interrupted)
        }
    }
}

/// The scene to run: the one that is named, or that of the run to branch off.
fn scene_of(args: &RunArgs) -> Result<Scene, Failure> {
    let overrides = args.changes.overrides();
    let scene = match (&args.scene, &args.from, &args.output) {
        (Some(name), ..) => Scene::open(name, &overrides)?,
        (None, _, Some(folder)) if args.resume => Run::open(folder)?.scene().changed(&overrides)?,
        (None, Some(from), _) => Run::open(&from.run)?.scene().changed(&overrides)?,
        (None, None, _) => {
            return Err(Failure::BadInput(miette::miette!(
                help = "give the scene, or the folder of its run with -o DIR",
                "there is nothing to say which run to resume"
            )));
        }
    };
    let begins = args.from.as_ref().filter(|_| !args.resume);
    if let Some(from) = begins.filter(|from| from.frame >= scene.content().time.frames) {
        return Err(Failure::BadInput(miette::miette!(
            help = "give more with --frames",
            "the scene has {}, and the run would begin with frame {}",
            count(scene.content().time.frames as usize, "frame"),
            from.frame
        )));
    }
    tell_remarks(&scene);
    Ok(scene)
}

/// The command that continues the run of these arguments.
fn command_to_resume(args: &RunArgs) -> String {
    let RunArgs { scene, changes, from, output, max_drift, render, resume: _, overwrite: _ } = args;
    let mut words = vec!["meniscus".to_string(), "run".into()];
    // A branch is resumed by its folder, which holds its scene.
    let is_named = from.is_none();
    words.extend(scene.as_ref().filter(|_| is_named).map(|scene| quoted(scene)));
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_string(), quoted(&value)]);
        }
    };
    option("-o", output.as_ref().map(|folder| folder.to_string_lossy().into_owned()));
    if is_named {
        option("--cells", changes.cells.map(|cells| cells.to_string()));
        option("--frames", changes.frames.map(|frames| frames.to_string()));
        changes.set.iter().for_each(|change| option("--set", Some(change.clone())));
    }
    option("--threads", changes.threads.map(|threads| threads.to_string()));
    option("--max-drift", max_drift.map(|part| part.to_string()));
    words.extend(render.then(|| "--render".to_string()));
    words.push("--resume".into());
    words.join(" ")
}

/// Tells what a run came to. It fails if the volume was off by more than it may be.
fn report(summary: &Summary, scene: &Scene, args: &RunArgs, folder: &Path) -> Result<(), Failure> {
    let unit = if scene.dimension() == 3 { "m³" } else { "m²" };
    let frames = summary.last_frame - summary.first_frame;
    let mut line = format!("{} in {}", count(frames as usize, "frame"), folder.display());
    if summary.first_frame > 0 {
        line += &format!(", after frame {}", summary.first_frame);
    }
    if summary.last_frame > scene.content().time.frames {
        line += " (more than asked for, kept)";
    }
    // One fluid that fills the domain has nothing to lose.
    if scene.content().fluid.is_none() {
        line += &format!(
            "; the liquid's volume was off by at most {} ({} without corrections)",
            percent(summary.max_drift),
            percent(summary.max_drift_uncorrected)
        );
    }
    if summary.off_at_start.abs() > TOLD_AT_START {
        line += &format!("; at the start it was {} off that of its shapes", percent(summary.off_at_start));
    }
    for (volume, what) in [(summary.poured, "poured in"), (summary.drained, "drained or left")] {
        if volume > 0.0 {
            line += &format!("; {volume:.4} {unit} {what}");
        }
    }
    print_line(&line);
    let limit = args.max_drift.unwrap_or(GROSS_DRIFT);
    if summary.max_drift > limit || summary.max_drift.is_nan() {
        return Err(Failure::Failed(miette::miette!(
            "the liquid's volume was off by {} in frame {}, more than {}: do not trust this run; raise domain.cells or time.max_substeps, see \
             stats.jsonl, or allow more with --max-drift",
            percent(summary.max_drift),
            summary.frame_of_drift,
            percent(limit)
        )));
    }
    Ok(())
}

/// A volume at the start that is off by more than this is told.
const TOLD_AT_START: f64 = 0.001;

fn percent(part: f64) -> String {
    format!("{:.3} %", 100.0 * part)
}

/// The live line: frame, substeps, iterations, drift, ETA. Nothing is shown when the output is not a terminal.
struct ProgressLine {
    bar: ProgressBar,
    /// Kinds, and what they were about.
    warned: BTreeSet<(&'static str, Vec<String>)>,
    more_warnings: usize,
}

impl ProgressLine {
    fn new(frames: u32) -> Self {
        let style = ProgressStyle::with_template("frame {pos}/{len} {wide_bar} {msg} {elapsed} (ETA {eta})")
            .expect("a valid template");
        let bar = ProgressBar::new(u64::from(frames)).with_style(style);
        Self { bar, warned: BTreeSet::new(), more_warnings: 0 }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Resumed { frames_done } => {
                self.bar.set_position(u64::from(*frames_done));
                self.bar.reset_eta();
            }
            Event::Frame { frame, .. } => self.bar.set_position(u64::from(*frame)),
            Event::Substep(stats) => {
                self.bar.set_message(message(stats));
                for warning in &stats.warnings {
                    self.warn(stats, warning);
                }
            }
        }
    }

    /// Tells the first warning of each kind about the same things; the rest is counted.
    fn warn(&mut self, stats: &Stats, warning: &Warning) {
        let names = warning.names().into_iter().map(str::to_owned).collect();
        if self.warned.insert((warning.kind(), names)) {
            self.tell(&format!("warning: frame {}: {warning}", stats.frame));
        } else {
            self.more_warnings += 1;
        }
    }

    fn tell(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{line}");
        });
    }

    fn end(&self) {
        self.bar.finish_and_clear();
        if self.more_warnings > 0 {
            self.tell(&format!("warning: {} more of these; stats.jsonl has them all", self.more_warnings));
        }
    }
}

fn message(stats: &Stats) -> String {
    format!(
        "substep {} · {} iterations · drift {:+.2} %",
        stats.substep,
        stats.solve.iterations,
        100.0 * stats.drift()
    )
}
