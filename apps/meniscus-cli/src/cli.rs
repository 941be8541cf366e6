//! Arguments and exit codes.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::bench::pressure::{self, Source};

/// Why the command did not do what it was asked, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: the work failed.
    Failed(miette::Report),
    /// Exit code 2: the input is at fault.
    BadInput(miette::Report),
}

/// Liquids with bubbles.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Timings as JSON.
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
struct BenchArgs {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// Solve a standard pressure system and compare with the memory bandwidth of this machine.
    Pressure(PressureArgs),
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

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let (code, report) = match failure {
                Failure::Failed(report) => (1, report),
                Failure::BadInput(report) => (2, report),
            };
            let _ = writeln!(std::io::stderr(), "{report:?}");
            ExitCode::from(code)
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let Command::Bench(bench) = cli.command;
    let Benchmark::Pressure(args) = bench.benchmark;
    let source = Source::parse(&args.system, args.cells);
    let report = pressure::run(&source, args.threads, args.repeat, args.profile)?;
    print_json(&report);
    Ok(())
}

/// Prints one JSON object. A closed pipe is the reader's choice, not an error.
fn print_json(report: &impl serde::Serialize) {
    let text = serde_json::to_string_pretty(report).expect("reports hold numbers and strings");
    let _ = writeln!(std::io::stdout(), "{text}");
}
