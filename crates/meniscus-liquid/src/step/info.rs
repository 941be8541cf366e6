//! How a substep went.

use meniscus_linalg::SolveInfo;

use super::reseed::ReseedInfo;
use super::squeeze::Squeeze;
use crate::books::{EnergyBook, VolumeBook};
use crate::particles::collide::CollideInfo;
use crate::projection::{ContactInfo, ProjectionError, Separation};
use crate::tracking::BubbleEvent;
use crate::viscosity::ViscosityError;

/// How a substep went.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Liquid cells.
    pub liquid_cells: usize,
    /// Unknowns of the pressure solve: cells of all fluids, and bubbles.
    pub unknowns: usize,
    /// Affine tiles that took the place of cells.
    pub tiles: usize,
    /// Cells of the domain wholly inside solids.
    pub solid_cells: usize,
    /// The kinetic energy of the liquid and of the bodies, in J (2D: J/m).
    pub kinetic_energy: f64,
    /// The potential energy of the fluids and of the bodies, in J (2D: J/m), at the moment of their velocities: half a substep after that of where they are.
    pub potential_energy: f64,
    /// The largest error of a cell's divergence, in 1/s.
    pub max_divergence: f64,
    /// The pressure solve; of the two that viscosity needs the last, but the most iterations.
    pub solve: SolveInfo,
    /// Where the liquid leaves walls.
    pub separation: Separation,
    /// How it went with the contacts of bodies.
    pub contact: ContactInfo,
    /// The solve of the viscosity, if there is any.
    pub viscosity: Option<SolveInfo>,
    /// Particles added and thinned out.
    pub reseed: ReseedInfo,
    /// Particles that left and were lost.
    pub collide: CollideInfo,
    /// Particles that sinks took.
    pub drained: usize,
    /// Liquid and air that solids squeeze or stretch.
    pub squeezes: Vec<Squeeze>,
    /// What happened to bubbles.
    pub bubble_events: Vec<BubbleEvent>,
    /// Bubbles whose volume was a constraint of the projection.
    pub constrained_bubbles: usize,
    /// What changed the volume of the liquid.
    pub volume_book: VolumeBook,
    /// What changed the kinetic energy.
    pub energy_book: EnergyBook,
    /// The seconds that each stage took, in order.
    pub stages: Vec<(&'static str, f64)>,
}

/// Why a substep failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The viscosity could not be solved for.
    #[error("the viscosity cannot be solved for")]
    Viscosity(#[from] ViscosityError),
    /// The pressure could not be solved for.
    #[error("the pressure cannot be solved for")]
    Projection(#[from] ProjectionError),
}
