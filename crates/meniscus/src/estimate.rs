//! What a scene will take.

use std::borrow::Cow;
use std::time::Instant;

use meniscus_core::grid::BLOCK_EDGE;
use meniscus_scene::Scene;

use crate::pictures::{Draw, draw_2d, draw_3d, seconds_per_picture};
use crate::session::Session;
use crate::simulation::SimulationError;

/// What a scene will take, roughly.
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

/// Estimates what a scene will take, from pilots that take at most a few seconds.
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
    let coarse_scene = with_cells(scene, coarse_cells.min(cells));
    let coarse = coarse_pilot::<D>(&coarse_scene)?;
    let finer = cells as f64 / coarse_scene.content().domain.cells as f64;
    let particles = coarse.particles * finer.powi(D as i32);
    // Substeps are as many times shorter as cells are smaller.
    let substeps = (coarse.substeps_per_frame * finer).min(f64::from(setup.time.max_substeps));

    let fits = (MOST_PILOT_PARTICLES / particles).powf(1.0 / D as f64).min(1.0);
    let fine = fine_pilot::<D>(&with_cells(scene, ((cells as f64 * fits) as u64).max(1)), draw)?;
    let frames = f64::from(setup.time.frames);
    let per_particle_on_disk =
        if setup.output.particles { CACHE_PER_PARTICLE } else { CACHE_WITHOUT_PARTICLES };
    let of_viscosity = if setup.viscosity > 0.0 { MEMORY_PER_VISCOUS_PARTICLE } else { 0.0 };
    let per_particle_in_memory = MEMORY_PER_PARTICLE + of_viscosity;
    let markers = coarse.markers * finer.powi(D as i32);
    let whole = setup.grid.cells.map(|n| n.next_multiple_of(BLOCK_EDGE) as f64).iter().product::<f64>();
    // A coarse grid of few blocks tells by how much they become more, but not how many they are.
    let with_fields = (fine.cells_with_fields / fits.powi(D as i32) * coarse.spread).min(whole);
    Ok(Estimate {
        cells: setup.grid.cells.to_vec(),
        particles,
        memory: MEMORY_AT_LEAST + per_particle_in_memory * particles + MEMORY_PER_CELL * with_fields,
        disk: frames * (per_particle_on_disk * particles + CACHE_PER_MARKER * markers)
            + 2.0 * CHECKPOINT_PER_PARTICLE * particles,
        seconds: frames * substeps * fine.seconds_per_particle * particles * coarse.slowdown,
        drawing: (frames + 1.0) * fine.seconds_per_picture,
    })
}

/// The same scene at another resolution. What is valid is valid at a lower one too, but for what the check of
/// sizes says.
fn with_cells(scene: &Scene, cells: u64) -> Cow<'_, Scene> {
    let overrides = [format!("domain.cells={cells}")];
    let name = format!("{}.toml", scene.name());
    match Scene::parse(&name, scene.source_text(), scene.folder(), &overrides) {
        Ok(scene) => Cow::Owned(scene),
        Err(_) => Cow::Borrowed(scene),
    }
}

struct CoarsePilot {
    particles: f64,
    /// Markers of smoke at its end.
    markers: f64,
    substeps_per_frame: f64,
    /// How much longer its substeps took than the early ones, which are all that the fine pilot takes: liquid
    /// that has spread covers more blocks.
    slowdown: f64,
    /// By how much the cells with fields became more.
    spread: f64,
}

/// Runs as much of the scene as there is patience for.
fn coarse_pilot<const D: usize>(scene: &Scene) -> Result<CoarsePilot, SimulationError> {
    const PATIENCE: f64 = 2.0;
    let mut simulation = Session::<D>::new(scene)?;
    let started = Instant::now();
    let mut particles = simulation.system.size().particles;
    let at_first = cells_with_fields(&simulation);
    let mut most = at_first;
    let mut seconds = Vec::new();
    while simulation.frames_done() < scene.content().time.frames && started.elapsed().as_secs_f64() < PATIENCE
    {
        seconds.extend(simulation.advance_frame()?.iter().map(|substep| substep.seconds));
        particles = particles.max(simulation.system.size().particles);
        most = most.max(cells_with_fields(&simulation));
    }
    let frames = f64::from(simulation.frames_done().max(1));
    let mean = |seconds: &[f64]| seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    let early = mean(&seconds[seconds.len().min(1)..seconds.len().min(FINE_SUBSTEPS + 1)]);
    let markers = simulation.system.size().markers;
    Ok(CoarsePilot {
        particles: particles as f64,
        markers: markers as f64,
        substeps_per_frame: seconds.len() as f64 / frames,
        slowdown: if early > 0.0 { (mean(&seconds) / early).max(1.0) } else { 1.0 },
        spread: most / at_first.max(1.0),
    })
}

fn cells_with_fields<const D: usize>(simulation: &Session<D>) -> f64 {
    simulation.system.size().cells as f64
}

/// Substeps that the fine pilot times, after a first one that takes memory which the others use again.
const FINE_SUBSTEPS: usize = 4;

/// The particles of the fine pilot: enough that a step is all work, few enough that it takes a moment.
const MOST_PILOT_PARTICLES: f64 = 250e3;

struct FinePilot {
    seconds_per_particle: f64,
    seconds_per_picture: f64,
    cells_with_fields: f64,
}

/// Takes a few substeps, and draws a small picture of what they made.
fn fine_pilot<const D: usize>(scene: &Scene, draw: Draw<D>) -> Result<FinePilot, SimulationError> {
    let mut simulation = Session::<D>::new(scene)?;
    simulation.advance_substep()?;
    let started = Instant::now();
    for _ in 0..FINE_SUBSTEPS {
        simulation.advance_substep()?;
    }
    let seconds = started.elapsed().as_secs_f64() / FINE_SUBSTEPS as f64;
    let particles = simulation.system.size().particles.max(1) as f64;

    let setup = scene.setup::<D>();
    let seconds_per_picture = seconds_per_picture(&simulation.frame(), &setup, &setup.render, draw);
    let (seconds_per_particle, cells_with_fields) = (seconds / particles, cells_with_fields(&simulation));
    Ok(FinePilot { seconds_per_particle, seconds_per_picture, cells_with_fields })
}
