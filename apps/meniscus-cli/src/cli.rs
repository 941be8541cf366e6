//! Arguments and exit codes.

use std::io::{IsTerminal, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use meniscus::Branch;

use crate::bench::pressure::{self, Source};
use crate::bench::{modes, regions, scene, step};
use crate::commands::{check, export, play, render, run, scenes};
use crate::failure::Failure;

/// A liquid simulator.
///
/// Exit codes: 0 done, 1 the work failed or broke its own limits, 2 bad input, 130 interrupted.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene into a folder.
    Run(RunArgs),
    /// List the scenes of the gallery, or print one to begin your own with.
    Scenes(ScenesArgs),
    /// Validate a scene, warn, and estimate memory, disk and time.
    Check(CheckArgs),
    /// Draw the frames of a run: PNG pictures, a GIF and, with ffmpeg, an MP4.
    Render(RenderArgs),
    /// Write the liquid's surface, its particles or its bubbles for other programs.
    Export(ExportArgs),
    /// Play with a reduced fluid in the browser: stir it, draw in it, drop things into it, and a game.
    Play(PlayArgs),
    /// Timings as JSON.
    Bench(BenchArgs),
}

/// A scene and changes to it.
#[derive(Debug, Args)]
pub struct SceneArgs {
    /// The path of a scene file, or the name of a scene of the gallery.
    pub scene: String,
    /// What is changed of it.
    #[command(flatten)]
    pub changes: Changes,
}

/// Changes to a scene, and how it is run.
#[derive(Debug, Args)]
pub struct Changes {
    /// Cells along the longest side, instead of the scene's.
    #[arg(long, allow_negative_numbers = true)]
    pub cells: Option<i64>,
    /// Frames, instead of the scene's.
    #[arg(long, allow_negative_numbers = true)]
    pub frames: Option<i64>,
    /// Change a setting, such as --set particles.transfer=flip; can be given again.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

impl Changes {
    /// All changes as overrides.
    pub fn overrides(&self) -> Vec<String> {
        let cells = self.cells.map(|cells| format!("domain.cells={cells}"));
        let frames = self.frames.map(|frames| format!("time.frames={frames}"));
        self.set.iter().cloned().chain(cells).chain(frames).collect()
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The path of a scene file, or the name of a scene of the gallery. With --from, that of the other run if not given; with --resume and a folder, that of
    /// the run in it.
    #[arg(required_unless_present_any = ["from", "resume"])]
    pub scene: Option<String>,
    /// What is changed of it.
    #[command(flatten)]
    pub changes: Changes,
    /// Begin where another run was at a frame that it has a checkpoint of, such as out/dam-break@40; scene files tell which are kept. What is changed of the scene
    /// holds from there on: gravity, solids and bodies that come, move or go, liquid that is put in.
    #[arg(long, value_name = "RUN@FRAME", requires = "output", value_parser = branch)]
    pub from: Option<Branch>,
    /// The folder to write to; out/NAME if not given.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Continue the run that the folder holds. One that is whole goes on also without this if --frames asks for more.
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Delete the run that the folder holds and begin anew.
    #[arg(long)]
    pub overwrite: bool,
    /// Stop and fail as soon as the liquid's volume is off by more than this part of it, such as 0.005. Without it, a run goes on to its end and
    /// fails if the volume was off by more than 0.05.
    #[arg(long, value_name = "PART", value_parser = positive, allow_negative_numbers = true)]
    pub max_drift: Option<f64>,
    /// Draw the frames when they are done.
    #[arg(long)]
    pub render: bool,
}

/// Arguments of `scenes`.
#[derive(Debug, Args)]
pub struct ScenesArgs {
    /// The scene to print.
    pub name: Option<String>,
    /// Print the JSON schema of scene files, for editors.
    #[arg(long, conflicts_with = "name")]
    pub schema: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The scene.
    #[command(flatten)]
    pub scene: SceneArgs,
}

/// Arguments of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// The folder of a run.
    pub folder: PathBuf,
    /// Draw this frame only.
    #[arg(long)]
    pub frame: Option<u32>,
    /// Draw every Nth frame only, as an animation too.
    #[arg(long, value_name = "N", conflicts_with = "frame")]
    pub every: Option<NonZeroU32>,
    /// The size in pixels, instead of the scene's.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    pub size: Option<Size>,
    /// Threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The folder of a run.
    pub folder: PathBuf,
    /// The format.
    #[arg(long)]
    pub format: ExportFormat,
    /// Export the particles instead of the surface.
    #[arg(long)]
    pub particles: bool,
    /// Export the markers of the smoke instead.
    #[arg(long, conflicts_with = "particles")]
    pub smoke: bool,
    /// Export where the solids and the bodies are, as a table.
    #[arg(long, conflicts_with_all = ["particles", "smoke"])]
    pub poses: bool,
    /// Export this frame only.
    #[arg(long)]
    pub frame: Option<u32>,
}

/// Arguments of `play`.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// A scene with method = "modes" to play with: the path of a file, or the name of a scene of the gallery. The menu comes first without one.
    pub scene: Option<String>,
    /// The port on this machine, instead of a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Only print the address, and open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Play a log again that the page saved, without a page, and compare what comes of it.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["scene", "port", "no_open"])]
    pub replay: Option<PathBuf>,
}

/// A format to export to.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExportFormat {
    /// Surfaces with normals, velocities and the bubble that each vertex borders; particles; smoke.
    Ply,
    /// Surfaces with normals, in a group for each bubble.
    Obj,
    /// One table of the bubbles of all frames: volume, pressure, place, velocity, area and age, in SI units; or of poses.
    Csv,
}

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub [u32; 2]);

fn size(text: &str) -> Result<Size, String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match parsed {
        Some(size @ [w, h]) if (16..=8192).contains(&w) && (16..=8192).contains(&h) => Ok(Size(size)),
        _ => Err("give a width and a height from 16 to 8192, such as 1280x720".into()),
    }
}

/// The folder of a run and a frame of it.
fn branch(text: &str) -> Result<Branch, String> {
    let is_number = |frame: &str| frame.bytes().all(|byte| byte.is_ascii_digit());
    let split = text.rsplit_once('@').filter(|(_, frame)| is_number(frame));
    let parsed = split.and_then(|(run, frame)| Some((run, frame.parse().ok()?)));
    match parsed {
        Some((run, frame)) if !run.is_empty() => Ok(Branch { run: run.into(), frame }),
        _ => Err("give the folder of a run and a frame, such as out/dam-break@40".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("give a number greater than zero, such as 0.005".into()),
    }
}

#[derive(Debug, Args)]
struct BenchArgs {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// Time steps of a reduced fluid, on one core.
    Modes(ModesArgs),
    /// Solve a standard pressure system and compare with the memory bandwidth of this machine.
    Pressure(PressureArgs),
    /// Run a scene and compare its projection with the interior of the liquid cut into affine regions in various ways.
    Regions(RegionsArgs),
    /// Run a scene and compare its projection with that of `air.model="void"` and with a simpler preconditioner.
    Scene(SceneArgs),
    /// Time the stages of a step of a dam break.
    Step(StepArgs),
}

#[derive(Debug, Args)]
struct RegionsArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Solve with the diagonal as the preconditioner too: that takes long.
    #[arg(long)]
    diagonal: bool,
}

#[derive(Debug, Args)]
struct PressureArgs {
    /// A (free surface and sphere), B (rising bubble), or a file with a system.
    system: String,
    /// Cells along each edge of the box, for A and B.
    #[arg(long, default_value_t = 128)]
    cells: usize,
    /// Threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Solve this many times and report the fastest.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Add the time and the bytes of every kernel.
    #[arg(long)]
    profile: bool,
}

#[derive(Debug, Args)]
struct ModesArgs {
    /// Steps to time; medians are reported.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
}

#[derive(Debug, Args)]
struct StepArgs {
    /// Cells along each edge of the box.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(8..=512))]
    cells: u32,
    /// Threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Steps to time, after two to warm up; the median is reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// How velocities pass between particles and grid.
    #[arg(long, default_value = "apic", value_parser = ["apic", "flip"])]
    transfer: String,
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    report_whole_lines();
    let (code, report) = match dispatch(Cli::parse()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Failed(report)) => (1, report),
        Err(Failure::BadInput(report)) => (2, report),
        Err(Failure::Interrupted) => return ExitCode::from(130),
    };
    let _ = writeln!(std::io::stderr(), "{report:?}");
    ExitCode::from(code)
}

/// Wraps reports for a terminal only: in a log, a path broken at a hyphen cannot be found or copied.
fn report_whole_lines() {
    let to_terminal = std::io::stderr().is_terminal();
    let options = || miette::MietteHandlerOpts::new().break_words(false);
    let hook: miette::ErrorHook = Box::new(move |_| Box::new(options().wrap_lines(to_terminal).build()));
    miette::set_hook(hook).expect("no other hook is set");
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Scenes(args) => scenes::scenes(&args),
        Command::Check(args) => check::check(&args),
        Command::Render(args) => render::render(&args),
        Command::Export(args) => export::export(&args),
        Command::Play(args) => play::play(&args),
        Command::Bench(BenchArgs { benchmark: Benchmark::Modes(args) }) => {
            use_threads(Some(1))?;
            print_json(&modes::run(args.steps)?);
            Ok(())
        }
        Command::Bench(BenchArgs { benchmark: Benchmark::Pressure(args) }) => {
            let source = Source::parse(&args.system, args.cells);
            print_json(&pressure::run(&source, args.threads, args.repeat, args.profile)?);
            Ok(())
        }
        Command::Bench(BenchArgs { benchmark: Benchmark::Regions(args) }) => {
            use_threads(args.scene.changes.threads)?;
            print_json(&regions::run(&args.scene, args.diagonal)?);
            Ok(())
        }
        Command::Bench(BenchArgs { benchmark: Benchmark::Scene(args) }) => {
            use_threads(args.changes.threads)?;
            print_json(&scene::run(&args)?);
            Ok(())
        }
        Command::Bench(BenchArgs { benchmark: Benchmark::Step(args) }) => {
            use_threads(args.threads)?;
            print_json(&step::run(args.cells, args.steps, &args.transfer)?);
            Ok(())
        }
    }
}

/// Works with this many threads from now on.
pub fn use_threads(threads: Option<u32>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global().map_err(Failure::failed)
}

/// Prints a line. A closed pipe is the reader's choice, not an error.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints one JSON object.
fn print_json(report: &impl serde::Serialize) {
    print_line(&serde_json::to_string_pretty(report).expect("reports hold numbers and strings"));
}
