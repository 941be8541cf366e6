//! `meniscus run`.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::{Event, GROSS_DRIFT, Outcome, PictureOptions, RunOptions, Scene, Stats, Summary};

use super::interrupt::Interrupt;
use super::{count, open_scene, quoted, render, run_failure};
use crate::cli::{Failure, RunArgs, print_line, use_threads};

/// Simulates a scene into a folder.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    use_threads(args.scene.threads)?;
    let scene = open_scene(&args.scene)?;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(scene.name()));
    let options = RunOptions {
        folder: folder.clone(),
        resume: args.resume,
        overwrite: args.overwrite,
        max_drift: args.max_drift,
    };

    let interrupt = Interrupt::listen()?;
    let mut line = ProgressLine::new(scene.content().time.frames);
    let outcome = meniscus::run(&scene, &options, &mut |event| {
        line.show(&event);
        if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.end();
    match outcome {
        Ok(Outcome::Done(summary)) => {
            let trusted = report(&summary, &scene, args, &folder);
            if args.render {
                render::draw_folder(&folder, &PictureOptions::default(), &interrupt)?;
            } else if std::io::stdout().is_terminal() {
                let (folder, frame) = (quoted(&folder.to_string_lossy()), summary.frames / 2);
                print_line(&format!("see it: meniscus render {folder} --frame {frame}"));
            }
            trusted
        }
        Ok(Outcome::Interrupted { frames_done }) => {
            let frames = count(frames_done as usize, "frame");
            print_line(&format!("interrupted after {frames}; a checkpoint is written"));
            print_line(&format!("continue with: {}", command_to_resume(args)));
            Err(Failure::Interrupted)
        }
        Err(error) => Err(run_failure(error)),
    }
}

/// The command that continues the run of these arguments.
fn command_to_resume(args: &RunArgs) -> String {
    let RunArgs { scene, output, max_drift, render, resume: _, overwrite: _ } = args;
    let mut words = vec!["meniscus".to_string(), "run".into(), quoted(&scene.scene)];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_string(), quoted(&value)]);
        }
    };
    option("-o", output.as_ref().map(|folder| folder.to_string_lossy().into_owned()));
    option("--cells", scene.cells.map(|cells| cells.to_string()));
    option("--frames", scene.frames.map(|frames| frames.to_string()));
    scene.set.iter().for_each(|change| option("--set", Some(change.clone())));
    option("--threads", scene.threads.map(|threads| threads.to_string()));
    option("--max-drift", max_drift.map(|part| part.to_string()));
    words.extend(render.then(|| "--render".to_string()));
    words.push("--resume".into());
    words.join(" ")
}

/// Tells what a run came to. It fails if the volume was off by more than it may be.
fn report(summary: &Summary, scene: &Scene, args: &RunArgs, folder: &Path) -> Result<(), Failure> {
    let unit = if scene.dimension() == 3 { "m³" } else { "m²" };
    let mut line = format!("{} in {}", count(summary.frames as usize, "frame"), folder.display());
    if summary.frames > scene.content().time.frames {
        line += " (more than asked for, kept)";
    }
    line += &format!(
        "; the liquid's volume was off by at most {} ({} without corrections)",
        percent(summary.max_drift),
        percent(summary.max_drift_uncorrected)
    );
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
    warned: Vec<String>,
    more_warnings: usize,
}

impl ProgressLine {
    fn new(frames: u32) -> Self {
        let style = ProgressStyle::with_template("frame {pos}/{len} {wide_bar} {msg} {elapsed} (ETA {eta})")
            .expect("a valid template");
        let bar = ProgressBar::new(u64::from(frames)).with_style(style);
        Self { bar, warned: Vec::new(), more_warnings: 0 }
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

    /// Tells the first warning of each kind; the rest is counted.
    fn warn(&mut self, stats: &Stats, warning: &str) {
        // Warnings of one kind differ in their numbers.
        let kind: String = warning.chars().filter(|c| c.is_alphabetic()).collect();
        if self.warned.contains(&kind) {
            self.more_warnings += 1;
        } else {
            self.warned.push(kind);
            self.tell(&format!("warning: frame {}: {warning}", stats.frame));
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
