//! What a scene costs.

use meniscus_liquid::projection::{ProjectionSeconds, Workspace};
use meniscus_liquid::{Preconditioner, Reduced, TileSize, Tiling, TrialSolve};
use meniscus_scene::Scene;
use serde::Serialize;

use crate::error::SimulationError;
use crate::session::Session;
use crate::stats::Stats;
use crate::systems::Liquid;

/// Substeps of a scene and of another, and the pressure system at the end of the first, solved in two ways.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// What the substeps measured.
    pub substeps: Vec<Stats>,
    /// What those of the other scene measured.
    pub others: Vec<Stats>,
    /// The solve with the multigrid preconditioner.
    pub multigrid: TimedSolve,
    /// The same with the diagonal as the preconditioner; none if that does not converge, as with liquid that has no
    /// surface.
    pub diagonal: Option<TimedSolve>,
}

/// A solve of a pressure system, from zero to a relative residual of 1e-5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimedSolve {
    /// Its iterations.
    pub iterations: usize,
    /// Seconds, with the preconditioner's set-up; the fastest of three.
    pub seconds: f64,
}

/// The first substeps of a scene.
///
/// # Errors
/// If a substep fails.
pub fn substeps(scene: &Scene, count: u32) -> Result<Vec<Stats>, SimulationError> {
    match scene.dimension() {
        2 => first_substeps::<2>(scene, count),
        _ => first_substeps::<3>(scene, count),
    }
}

fn first_substeps<const D: usize>(scene: &Scene, count: u32) -> Result<Vec<Stats>, SimulationError> {
    let mut simulation = Session::<D>::new(scene)?;
    (0..count).map(|_| simulation.advance_substep()).collect()
}

/// Runs all frames of two scenes, a frame of each in turn, so that whatever else the machine does slows both; then solves
/// the pressure system at the end of the first.
///
/// # Errors
/// If a substep fails, or the system at the end cannot be solved.
///
/// # Panics
/// If the scenes differ in dimension.
pub fn benchmark(scene: &Scene, other: &Scene) -> Result<Benchmark, SimulationError> {
    match scene.dimension() {
        2 => benchmark_in::<2>(scene, other),
        _ => benchmark_in::<3>(scene, other),
    }
}

fn benchmark_in<const D: usize>(scene: &Scene, other: &Scene) -> Result<Benchmark, SimulationError> {
    let mut simulations = [Session::<D>::new(scene)?, Session::new(other)?];
    let mut measured = [Vec::new(), Vec::new()];
    for _ in 0..scene.content().time.frames {
        for (simulation, measured) in simulations.iter_mut().zip(&mut measured) {
            measured.extend(simulation.advance_frame()?);
        }
    }
    let at_end = Moment::of(&simulations[0])?;
    let multigrid = at_end.fastest(Preconditioner::Multigrid)?;
    let diagonal = at_end.fastest(Preconditioner::Diagonal);
    let [substeps, others] = measured;
    Ok(Benchmark { substeps, others, multigrid, diagonal: diagonal.ok() })
}

/// A liquid on a grid at a moment.
struct Moment<'a, const D: usize> {
    session: &'a Session<D>,
    liquid: &'a Liquid<D>,
}

impl<'a, const D: usize> Moment<'a, D> {
    fn of(session: &'a Session<D>) -> Result<Self, SimulationError> {
        let liquid = session.liquid().ok_or(SimulationError::OnlyGrid { what: "this benchmark" })?;
        Ok(Self { session, liquid })
    }

    /// The fastest of three solves of the system of this moment. To assemble it is not part of the time.
    fn fastest(&self, preconditioner: Preconditioner) -> Result<TimedSolve, SimulationError> {
        let mut best: Option<TimedSolve> = None;
        for _ in 0..3 {
            let solve = self.solve(self.liquid.tiling().0, preconditioner)?;
            if best.is_none_or(|best| solve.seconds < best.seconds) {
                best = Some(solve);
            }
        }
        Ok(best.expect("three solves"))
    }

    /// Solves the system with the interior of the fluids cut in a way.
    fn solve(
        &self,
        tiling: Option<Tiling>,
        preconditioner: Preconditioner,
    ) -> Result<TimedSolve, SimulationError> {
        let Self { session, liquid } = self;
        let solve = liquid.trial_solve(&session.world, session.dt(), tiling, preconditioner);
        let TrialSolve { iterations, seconds } = solve.map_err(|error| session.failed(error))?;
        Ok(TimedSolve { iterations, seconds })
    }
}

/// The projection of one moment with the interior of the fluids cut in one way.
#[derive(Clone, Debug, Serialize)]
pub struct RegionsCase {
    /// How it is cut.
    pub regions: &'static str,
    /// Pressures.
    pub unknowns: usize,
    /// Regions that move as one.
    pub affine_regions: usize,
    /// Iterations with the multigrid preconditioner.
    pub iterations: usize,
    /// Seconds to assemble the system and to set the preconditioner up.
    pub set_up_s: f64,
    /// Seconds to solve.
    pub solve_s: f64,
    /// Seconds of the rest of the projection.
    pub overhead_s: f64,
    /// How many times as fast as without regions set-up and solve are.
    pub speed_up: f64,
    /// The same with the diagonal as the preconditioner; none if that was not asked for, or does not converge.
    pub diagonal: Option<DiagonalCase>,
}

/// A solve with the diagonal as the preconditioner.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DiagonalCase {
    /// Its iterations.
    pub iterations: usize,
    /// Seconds to solve.
    pub seconds: f64,
    /// How many times as fast as without regions that is.
    pub speed_up: f64,
}

/// Runs all frames of a scene, and projects the velocities of its end with the interior of the fluids cut in various ways. All start from a pressure of 0 and
/// end at the same tolerance. Each is done three times, in turn; the fastest counts.
///
/// # Errors
/// If a substep fails, or a system cannot be solved.
pub fn compare_regions(scene: &Scene, with_diagonal: bool) -> Result<Vec<RegionsCase>, SimulationError> {
    match scene.dimension() {
        2 => compare_regions_in::<2>(scene, with_diagonal),
        _ => compare_regions_in::<3>(scene, with_diagonal),
    }
}

fn compare_regions_in<const D: usize>(
    scene: &Scene,
    with_diagonal: bool,
) -> Result<Vec<RegionsCase>, SimulationError> {
    let mut simulation = Session::<D>::new(scene)?;
    for _ in 0..scene.content().time.frames {
        simulation.advance_frame()?;
    }
    let tilings = tilings(Moment::of(&simulation)?.liquid.tiling());
    let mut workspace = Workspace::default();
    let mut cases: Vec<Option<RegionsCase>> = vec![None; tilings.len()];
    for _ in 0..3 {
        for (&(name, tiling), best) in tilings.iter().zip(&mut cases) {
            let case = regions_case(&Moment::of(&simulation)?, name, tiling, &mut workspace)?;
            let seconds = |case: &RegionsCase| case.set_up_s + case.solve_s;
            if best.as_ref().is_none_or(|best| seconds(&case) < seconds(best)) {
                *best = Some(case);
            }
        }
    }
    let mut cases: Vec<RegionsCase> = cases.into_iter().flatten().collect();
    if with_diagonal {
        for ((_, tiling), case) in tilings.iter().zip(&mut cases) {
            case.diagonal = diagonal_case(&Moment::of(&simulation)?, *tiling);
        }
    }
    let whole = cases[0].clone();
    for case in &mut cases {
        case.speed_up = (whole.set_up_s + whole.solve_s) / (case.set_up_s + case.solve_s);
        if let (Some(of_whole), Some(own)) = (&whole.diagonal, &mut case.diagonal) {
            own.speed_up = of_whole.seconds / own.seconds;
        }
    }
    Ok(cases)
}

/// The ways to cut the interior, with the bands of the scene: first not at all.
fn tilings((own, has_second): (Option<Tiling>, bool)) -> Vec<(&'static str, Option<Tiling>)> {
    let own = own.unwrap_or_default();
    let with = |fluids: Reduced, size: TileSize| Some(Tiling { fluids, size, ..own });
    let mut list = vec![("none", None)];
    if has_second {
        list.push(("one region, second fluid", with(Reduced::Second, TileSize::One)));
    }
    list.push(("one region", with(Reduced::Both, TileSize::One)));
    list.push(("tiles of 16", with(Reduced::Both, TileSize::Uniform(16))));
    list.push(("tiles of 32", with(Reduced::Both, TileSize::Uniform(32))));
    list.push(("tiles of 64", with(Reduced::Both, TileSize::Uniform(64))));
    list.push(("graded 16 to 64", with(Reduced::Both, TileSize::Graded { least: 16, largest: 64 })));
    list.push(("graded 32 to 128", with(Reduced::Both, TileSize::Graded { least: 32, largest: 128 })));
    list
}

fn regions_case<const D: usize>(
    moment: &Moment<D>,
    regions: &'static str,
    tiling: Option<Tiling>,
    workspace: &mut Workspace,
) -> Result<RegionsCase, SimulationError> {
    let Moment { session, liquid } = moment;
    let trial = liquid.trial_projection(&session.world, session.dt(), tiling, workspace);
    let (info, seconds) = trial.map_err(|error| session.failed(error))?;
    let ProjectionSeconds { assemble, set_up, solve } = info.seconds;
    Ok(RegionsCase {
        regions,
        unknowns: info.unknowns,
        affine_regions: info.tiles,
        iterations: info.solve.iterations,
        set_up_s: assemble + set_up,
        solve_s: solve,
        overhead_s: seconds - assemble - set_up - solve,
        speed_up: 1.0,
        diagonal: None,
    })
}

fn diagonal_case<const D: usize>(moment: &Moment<D>, tiling: Option<Tiling>) -> Option<DiagonalCase> {
    let TimedSolve { iterations, seconds } = moment.solve(tiling, Preconditioner::Diagonal).ok()?;
    Some(DiagonalCase { iterations, seconds, speed_up: 1.0 })
}
