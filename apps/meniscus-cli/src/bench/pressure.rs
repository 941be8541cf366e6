//! `meniscus bench pressure`: a standard system against the memory bandwidth of the machine.

use std::path::PathBuf;
use std::time::Instant;

use meniscus_linalg::{Kernel, Profile, SolveParams, Solver, Workspace};
use miette::{Context, IntoDiagnostic};
use serde::Serialize;

use crate::cli::Failure;

use super::machine::{peak_mb, triad_gb_s};
use super::poisson::{PoissonSystem, Variant};

/// Bytes an unknown that the bound allows: ten iterations of 180 bytes.
const BOUND_BYTES: f64 = 10.0 * 180.0;

/// Where the system comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Built here.
    Standard(Variant, usize),
    /// Read from a file.
    File(PathBuf),
}

impl Source {
    /// A and B are the standard systems, anything else is a path.
    pub fn parse(system: &str, cells: usize) -> Self {
        match system {
            "A" | "a" => Self::Standard(Variant::A, cells),
            "B" | "b" => Self::Standard(Variant::B, cells),
            path => Self::File(path.into()),
        }
    }

    fn load(&self) -> miette::Result<PoissonSystem> {
        match self {
            Self::Standard(_, cells) if !(8..=1024).contains(cells) => Err(miette::miette!(
                help = "give --cells a number from 8 to 1024",
                "--cells {cells} is out of range"
            )),
            Self::Standard(variant, cells) => Ok(PoissonSystem::standard(*variant, *cells)),
            Self::File(path) => PoissonSystem::read(path).into_diagnostic().map_err(|report| {
                miette::miette!(
                    help = "the system is A, B, or the path of a file in the PPOISS01 format",
                    "{report:#}"
                )
            }),
        }
    }
}

/// What the benchmark prints.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Unknowns.
    pub n: usize,
    /// Iterations to a relative residual of 1e-5.
    pub iterations: usize,
    /// |b - A x| / |b|, recomputed from the solution.
    pub relative_residual: f64,
    /// Seconds to assemble the operator and its hierarchy.
    pub setup_s: f64,
    /// Seconds to solve.
    pub solve_s: f64,
    /// The most memory that the process held up to the end of the solve, in MB.
    pub peak_mb: Option<f64>,
    /// The bandwidth of a STREAM triad in the same run, in GB/s.
    pub triad_gb_s: f64,
    /// 10 × 180 bytes × n / triad.
    pub bound_s: f64,
    /// (setup + solve) / bound.
    pub ratio: f64,
    /// Threads used.
    pub threads: usize,
    /// The kernels of the solve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<Vec<KernelReport>>,
    #[serde(skip)]
    profile: Profile,
    #[serde(skip)]
    slots: usize,
}

/// One kernel of the solve.
#[derive(Clone, Debug, Serialize)]
pub struct KernelReport {
    /// Its name.
    pub kernel: String,
    /// Seconds in all.
    pub seconds: f64,
    /// Bytes that it must read and write, vectors only, for each cell stored and each iteration.
    pub bytes_per_cell: f64,
    /// The bandwidth that this amounts to, in GB/s.
    pub gb_s: f64,
}

/// Bytes of vectors that a kernel must move for each cell: an f64 vector read or written is 8, f32 is 4.
fn bytes_per_cell(kernel: Kernel) -> f64 {
    match kernel {
        Kernel::SmoothDown => 4.0 + 4.0,                    // b; x written
        Kernel::Restrict => 4.0 + 4.0,                      // x, b
        Kernel::Coarse => (8.0 + 8.0 + 12.0) / 7.0, // the three above and below, on 1/8 + 1/64 + ... cells
        Kernel::SmoothUp => 4.0 + 4.0 + 4.0,        // x, b; x
        Kernel::Direction => (8.0 + 4.0) + 4.0 + 8.0 + 8.0, // r, z; z, p; p
        Kernel::Product => 8.0 + 8.0,               // p; q
        Kernel::Update => 4.0 * 8.0 + 2.0 * 8.0 + 4.0, // x, r, p, q; x, r, b
    }
}

fn kernel_reports(report: &Report) -> Vec<KernelReport> {
    let of = |kernel: Kernel| {
        let (seconds, bytes) = (report.profile.seconds(kernel), bytes_per_cell(kernel));
        let moved = bytes * report.slots as f64 * report.iterations as f64;
        KernelReport {
            kernel: format!("{kernel:?}"),
            seconds,
            bytes_per_cell: bytes,
            gb_s: moved / seconds / 1e9,
        }
    };
    Kernel::ALL.into_iter().map(of).collect()
}

/// Runs the benchmark: the fastest of `repeat` solves.
pub fn run(source: &Source, threads: Option<u32>, repeat: u32, profile: bool) -> Result<Report, Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0) as usize)
        .build()
        .into_diagnostic()
        .wrap_err("cannot start the threads")
        .map_err(Failure::Failed)?;
    pool.install(|| measure(source, repeat, profile))
}

fn measure(source: &Source, repeat: u32, profile: bool) -> Result<Report, Failure> {
    let system = source.load().map_err(Failure::BadInput)?;
    let mut memory = Memory::new(system.rhs.len());
    let mut best: Option<Report> = None;
    for _ in 0..repeat {
        let report = solve_once(&system, &mut memory).map_err(Failure::Failed)?;
        let total = |r: &Report| r.setup_s + r.solve_s;
        if best.as_ref().is_none_or(|b| total(&report) < total(b)) {
            best = Some(report);
        }
    }
    let mut report = best.expect("at least one solve");
    report.peak_mb = peak_mb();
    drop((system, memory));
    report.triad_gb_s = triad_gb_s();
    report.bound_s = BOUND_BYTES * report.n as f64 / (report.triad_gb_s * 1e9);
    report.ratio = (report.setup_s + report.solve_s) / report.bound_s;
    report.kernels = profile.then(|| kernel_reports(&report));
    Ok(report)
}

/// What a simulation keeps from step to step: the solution and the solver's vectors.
struct Memory {
    x: Vec<f64>,
    workspace: Workspace,
}

impl Memory {
    fn new(len: usize) -> Self {
        Self { x: vec![0.0; len], workspace: Workspace::default() }
    }
}

fn solve_once(system: &PoissonSystem, memory: &mut Memory) -> miette::Result<Report> {
    let Memory { x, workspace } = memory;
    x.fill(0.0);
    let start = Instant::now();
    let operator = system.operator().into_diagnostic()?;
    let mut solver = Solver::with_workspace(operator, std::mem::take(workspace));
    let setup_s = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let info = solver.solve(&system.rhs, x, &SolveParams::default()).into_diagnostic()?;
    let solve_s = start.elapsed().as_secs_f64();

    let report = Report {
        n: solver.operator().unknowns(),
        iterations: info.iterations,
        relative_residual: solver.relative_residual(&system.rhs, x),
        setup_s,
        solve_s,
        peak_mb: None,
        triad_gb_s: 0.0,
        bound_s: 0.0,
        ratio: 0.0,
        threads: rayon::current_num_threads(),
        kernels: None,
        profile: info.profile,
        slots: solver.operator().len(),
    };
    *workspace = solver.into_workspace();
    Ok(report)
}
