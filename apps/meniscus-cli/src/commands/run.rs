//! `meniscus run`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::{Event, Outcome, PictureOptions, RunOptions, Stats};

use super::{open_scene, render, run_failure};
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

    let (running, stop) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (is_running, asked) = (running.clone(), stop.clone());
    let handler = move || {
        asked.store(true, Ordering::Relaxed);
        // Nothing else waits for the answer: pictures can be drawn again.
        if !is_running.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::failed)?;
    let mut line = ProgressLine::new(scene.content().time.frames);
    let outcome = meniscus::run(&scene, &options, &mut |event| {
        line.show(&event);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    line.end();
    match outcome {
        Ok(Outcome::Done { max_drift }) => {
            print_line(&format!(
                "{} frames in {}; the liquid's volume was off by at most {:.3} %",
                scene.content().time.frames,
                folder.display(),
                100.0 * max_drift
            ));
        }
        Ok(Outcome::Interrupted { frames_done }) => {
            print_line(&format!(
                "interrupted after {frames_done} frames; a checkpoint is written, continue with --resume"
            ));
            return Err(Failure::Interrupted);
        }
        Err(error) => return Err(run_failure(error)),
    }
    running.store(false, Ordering::Relaxed);
    if args.render { render::draw_folder(&folder, &PictureOptions::default()) } else { Ok(()) }
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
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
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
