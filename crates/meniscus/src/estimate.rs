//! What a scene will take.

use std::borrow::Cow;

use meniscus_core::grid::BLOCK_EDGE;
use meniscus_scene::Scene;

use crate::drawing::{Draw, draw_2d, draw_3d, seconds_per_picture};
use crate::error::SimulationError;
use crate::session::Session;
use crate::stats::Stats;

/// What a scene will take, roughly. All but the times are the same whenever and wherever they are estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Cells along each axis.
    pub cells: Vec<usize>,
    /// Particles.
    pub particles: f64,
    /// Memory, in bytes.
    pub memory: f64,
    /// The frame cache and the checkpoints, in bytes.
    pub disk: f64,
    /// The time of the run with the threads at hand, in s.
    pub seconds: f64,
    /// The time of drawing all frames, in s.
    pub drawing: f64,
}

/// Bytes that a run holds at its peak: whatever it simulates; a particle, and more where the liquid is viscous; and a cell with fields, in a block near liquid. A fit to the peaks of runs
/// of 10 frames with two threads, of 23 scenes of the gallery of 25 to 870 MB, in 2D and 3D and with all models: for `floating-bottle`, with a mesh, it is 26 % too low, for all others off by 17 % at most. Half
/// of what a particle takes are the frame that is being written and the checkpoint; of a cell, the solver's levels and what surfaces and solids need.
const MEMORY_AT_LEAST: f64 = 21e6;
const MEMORY_PER_PARTICLE: f64 = 240.0;
const MEMORY_PER_VISCOUS_PARTICLE: f64 = 230.0;
const MEMORY_PER_CELL: f64 = 710.0;

/// Bytes a particle of the frame cache, surface and velocities included: measured; and without the particles.
const CACHE_PER_PARTICLE: f64 = 9.5;
const CACHE_WITHOUT_PARTICLES: f64 = 1.2;

/// Bytes a marker of smoke in the frame cache: measured.
const CACHE_PER_MARKER: f64 = 5.5;

/// Bytes a particle of a checkpoint: measured.
const CHECKPOINT_PER_PARTICLE: f64 = 58.0;

/// How much longer the substeps of a run take than the fastest early ones of as much work: 1.1 times as long in calm scenes,
/// 2.2 times in those whose liquid breaks into drops and bubbles.
const SECONDS_OF_A_RUN: f64 = 1.4;

/// Estimates what a scene will take, from pilots that take at most a few seconds. What they do is bounded by work, not by
/// the clock: a busy machine must not change what they count.
///
/// # Errors
/// If a pilot fails.
pub fn estimate(scene: &Scene) -> Result<Estimate, SimulationError> {
    match scene.dimension() {
        2 => estimate_in::<2>(scene, 48, draw_2d),
        _ => estimate_in::<3>(scene, 24, draw_3d),
    }
}

/// A coarse pilot tells how many particles and substeps there will be, a fine one what a substep takes.
fn estimate_in<const D: usize>(
    scene: &Scene,
    coarse_cells: u64,
    draw: Draw<D>,
) -> Result<Estimate, SimulationError> {
    let setup = scene.setup::<D>();
    let cells = scene.content().domain.cells;
    // What modes cost depends on their number: all cells or a few, it is the same.
    let fewest = if setup.modes.is_some() { cells } else { coarse_cells };
    let coarse_scene = with_cells(scene, fewest.min(cells));
    let mut simulation = Session::<D>::new(&coarse_scene)?;
    let start = simulation.save();
    let coarse = coarse_pilot(&mut simulation)?;
    let finer = cells as f64 / coarse_scene.content().domain.cells as f64;
    let particles = coarse.particles * finer.powi(D as i32);
    // Substeps are as many times shorter as cells are smaller.
    let substeps = (coarse.substeps_per_frame * finer).min(f64::from(setup.time.max_substeps));

    let fits = (MOST_PILOT_PARTICLES / particles).powf(1.0 / D as f64).min(1.0);
    let fine_scene = with_cells(scene, ((cells as f64 * fits) as u64).max(1));
    if fine_scene.content().domain.cells == coarse_scene.content().domain.cells {
        // What was found at the beginning need not be found again.
        simulation.restore(start)?;
    } else {
        simulation = Session::new(&fine_scene)?;
    }
    let fine = fine_pilot(&mut simulation, draw)?;
    let larger = fits.powi(D as i32).recip();
    let frames = f64::from(setup.time.frames);
    let per_particle_on_disk =
        if setup.output.particles { CACHE_PER_PARTICLE } else { CACHE_WITHOUT_PARTICLES };
    let of_viscosity = if setup.viscosity > 0.0 { MEMORY_PER_VISCOUS_PARTICLE } else { 0.0 };
    let per_particle_in_memory = MEMORY_PER_PARTICLE + of_viscosity;
    let markers = coarse.markers * finer.powi(D as i32);
    let whole = setup.grid.cells.map(|n| n.next_multiple_of(BLOCK_EDGE) as f64).iter().product::<f64>();
    // A coarse grid of few blocks tells by how much they become more, but not how many they are.
    let with_fields = (fine.cells_with_fields * larger * coarse.spread).min(whole);
    Ok(Estimate {
        cells: setup.grid.cells.to_vec(),
        particles,
        memory: MEMORY_AT_LEAST + per_particle_in_memory * particles + MEMORY_PER_CELL * with_fields,
        disk: frames * (per_particle_on_disk * particles + CACHE_PER_MARKER * markers)
            + 2.0 * CHECKPOINT_PER_PARTICLE * particles,
        seconds: frames * substeps * SECONDS_OF_A_RUN * fine.seconds_per_substep * larger * coarse.growth,
        drawing: (frames + 1.0) * fine.seconds_per_picture,
    })
}

/// The same scene at another resolution. What is valid is valid at a lower one too, but for what the check of
/// sizes says.
fn with_cells(scene: &Scene, cells: u64) -> Cow<'_, Scene> {
    match scene.changed(&[format!("domain.cells={cells}")]) {
        Ok(scene) => Cow::Owned(scene),
        Err(_) => Cow::Borrowed(scene),
    }
}

/// What a substep costs, in particles: one of them is about as much work as a cell with fields is, and a substep of next to
/// nothing as a thousand.
fn work<const D: usize>(simulation: &Session<D>) -> f64 {
    1e3 + simulation.system.size().particles as f64 + cells_with_fields(simulation)
}

fn cells_with_fields<const D: usize>(simulation: &Session<D>) -> f64 {
    simulation.system.size().cells as f64
}

/// The work of the coarse pilot: a second or two with one thread. Substeps of viscous liquids take about four times as long.
const MOST_COARSE_WORK: f64 = 1e6;
const WORK_OF_VISCOSITY: f64 = 4.0;

#[derive(Debug, PartialEq)]
struct CoarsePilot {
    particles: f64,
    /// Markers of smoke at its end.
    markers: f64,
    substeps_per_frame: f64,
    /// How much more work its substeps were than the early ones, which are all that the fine pilot takes: liquid
    /// that has spread covers more blocks, and sources pour more.
    growth: f64,
    /// By how much the cells with fields became more.
    spread: f64,
}

/// Runs as much of the scene as its work allows.
fn coarse_pilot<const D: usize>(simulation: &mut Session<D>) -> Result<CoarsePilot, SimulationError> {
    let (frames, fps, viscosity) = {
        let setup = &simulation.world.setup;
        (setup.time.frames, setup.time.fps, setup.viscosity)
    };
    let heavier = if viscosity > 0.0 { WORK_OF_VISCOSITY } else { 1.0 };
    let mut particles = simulation.system.size().particles;
    let at_first = cells_with_fields(simulation);
    let mut most = at_first;
    let mut works = Vec::new();
    while simulation.frames_done() < frames && heavier * works.iter().sum::<f64>() < MOST_COARSE_WORK {
        simulation.advance_substep()?;
        particles = particles.max(simulation.system.size().particles);
        most = most.max(cells_with_fields(simulation));
        works.push(work(simulation));
    }
    let frames = simulation.system.time() * fps;
    let mean = |works: &[f64]| works.iter().sum::<f64>() / works.len().max(1) as f64;
    let early = &works[..works.len().min(1 + FEWEST_TIMED)];
    let markers = simulation.system.size().markers;
    Ok(CoarsePilot {
        particles: particles as f64,
        markers: markers as f64,
        substeps_per_frame: works.len() as f64 / frames,
        growth: mean(&works) / mean(early),
        spread: most / at_first.max(1.0),
    })
}

/// Substeps that the fine pilot times, after a first one that takes memory which the others use again: more of small ones,
/// which are soon taken and easily disturbed.
const FEWEST_TIMED: usize = 4;
const MOST_TIMED: usize = 25;
const TIMED_WORK: f64 = 1e6;

/// The particles of the fine pilot: enough that a step is all work, few enough that it takes a moment.
const MOST_PILOT_PARTICLES: f64 = 250e3;

struct FinePilot {
    seconds_per_substep: f64,
    seconds_per_picture: f64,
    cells_with_fields: f64,
}

/// Takes a few substeps, and draws small pictures of what they made.
fn fine_pilot<const D: usize>(
    simulation: &mut Session<D>,
    draw: Draw<D>,
) -> Result<FinePilot, SimulationError> {
    simulation.advance_substep()?;
    let timed = ((TIMED_WORK / work(simulation)) as usize).clamp(FEWEST_TIMED, MOST_TIMED);
    let substeps: Vec<Stats> = (0..timed).map(|_| simulation.advance_substep()).collect::<Result<_, _>>()?;
    let setup = &simulation.world.setup;
    let seconds_per_picture = seconds_per_picture(&simulation.frame(), setup, &setup.render, draw);
    let (seconds_per_substep, cells_with_fields) = (undisturbed(&substeps), cells_with_fields(simulation));
    Ok(FinePilot { seconds_per_substep, seconds_per_picture, cells_with_fields })
}

/// How long a substep takes, in s, of the fastest of each stage: whatever else the machine does only makes them slower, and
/// seldom the same stage of all substeps.
fn undisturbed(substeps: &[Stats]) -> f64 {
    let Some(first) = substeps.first() else { return 0.0 };
    let fastest = |of: &dyn Fn(&Stats) -> f64| substeps.iter().map(of).fold(f64::INFINITY, f64::min);
    let stages: f64 = first
        .stages
        .keys()
        .map(|stage| fastest(&|substep| substep.stages.get(stage).copied().unwrap_or(0.0)))
        .sum();
    stages + fastest(&|substep| substep.seconds - substep.stages.values().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pilot<const D: usize>(scene: &str, changes: &[&str]) -> CoarsePilot {
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        let scene = Scene::gallery(scene, &changes).expect("a scene");
        coarse_pilot::<D>(&mut Session::new(&scene).expect("a session")).expect("a pilot")
    }

    #[test]
    fn the_clock_does_not_change_what_pilots_count() {
        let first = pilot::<3>("fountain", &["domain.cells=24"]);
        assert_eq!(first, pilot::<3>("fountain", &["domain.cells=24"]));
        assert!(first.growth > 1.0 && first.growth < 10.0, "{first:?}");
    }

    /// With very many substeps a frame, not even the first frame ends.
    #[test]
    fn pilots_end_however_long_the_frames_are() {
        let slow = ["time.fps=0.001", "time.cfl=0.01", "time.max_substeps=100000", "domain.cells=24"];
        let pilot = pilot::<2>("dam-break-2d", &slow);
        assert!(pilot.substeps_per_frame > 1e4, "{pilot:?}");
    }
}
