//! What a scene will take.

use std::time::Instant;

use meniscus_scene::Scene;

use crate::simulation::{Simulation, SimulationError};

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
}

/// Bytes a particle that a simulation holds at its peak, fields and solver included: measured with
/// `meniscus bench step`.
const MEMORY_PER_PARTICLE: f64 = 160.0;

/// Bytes a particle of the frame cache, surface and velocities included: measured.
const CACHE_PER_PARTICLE: f64 = 9.5;

/// Bytes a particle of a checkpoint: measured.
const CHECKPOINT_PER_PARTICLE: f64 = 58.0;

/// Estimates what a scene will take, from a pilot at a low resolution: at most a few seconds.
///
/// # Errors
/// If the pilot fails.
pub fn estimate(scene: &Scene) -> Result<Estimate, SimulationError> {
    match scene.dimension() {
        2 => estimate_in::<2>(scene, 48),
        _ => estimate_in::<3>(scene, 24),
    }
}

fn estimate_in<const D: usize>(scene: &Scene, pilot_cells: u64) -> Result<Estimate, SimulationError> {
    let setup = scene.setup::<D>();
    let cells = scene.content().domain.cells;
    let pilot_cells = pilot_cells.min(cells);
    let overrides = [format!("domain.cells={pilot_cells}")];
    let name = format!("{}.toml", scene.name());
    // What is valid is valid at a lower resolution too, but for what the check of sizes says.
    let pilot_scene = Scene::parse(&name, scene.source_text(), scene.folder(), &overrides);
    let pilot_scene = pilot_scene.as_ref().unwrap_or(scene);
    let pilot = pilot::<D>(pilot_scene)?;

    let finer = cells as f64 / pilot_scene.content().domain.cells as f64;
    let particles = pilot.particles * finer.powi(D as i32);
    let frames = f64::from(setup.time.frames);
    Ok(Estimate {
        cells: setup.grid.cells.to_vec(),
        particles,
        memory: 10e6 + MEMORY_PER_PARTICLE * particles,
        disk: particles * (frames * CACHE_PER_PARTICLE + 2.0 * CHECKPOINT_PER_PARTICLE),
        // Substeps are as many times shorter as cells are smaller.
        seconds: frames * pilot.seconds_per_frame * finer.powi(D as i32 + 1),
    })
}

struct Pilot {
    particles: f64,
    seconds_per_frame: f64,
}

fn pilot<const D: usize>(scene: &Scene) -> Result<Pilot, SimulationError> {
    const PATIENCE: f64 = 3.0;
    let mut simulation = Simulation::<D>::new(scene);
    let started = Instant::now();
    let mut particles = simulation.state().particles.len();
    while simulation.frames_done() < scene.content().time.frames && started.elapsed().as_secs_f64() < PATIENCE
    {
        simulation.advance_frame()?;
        particles = particles.max(simulation.state().particles.len());
    }
    let frames = f64::from(simulation.frames_done().max(1));
    Ok(Pilot { particles: particles as f64, seconds_per_frame: started.elapsed().as_secs_f64() / frames })
}
