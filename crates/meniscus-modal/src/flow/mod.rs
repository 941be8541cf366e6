//! The fluid without anything in it.

mod advection;
mod basis;
mod decay;
mod drawn;
mod dynamics;
mod enrich;
mod field;
mod integrate;
mod pressure;
mod product;
mod sines;
mod transform;

#[cfg(test)]
mod enrich_tests;
#[cfg(test)]
mod tensor;
#[cfg(test)]
mod tests;

pub use advection::Advection;
pub use basis::{Basis, EnrichedMode};
pub use decay::Decay;
pub use drawn::drawn;
pub use dynamics::Dynamics;
pub use field::{Sample, samples, streams_at_nodes, sums_of_sines, velocities_at_nodes, vorticity_of_faces};
pub use integrate::{Advanced, Integrator, Stages, TooFast};
pub use pressure::pressure;
pub(crate) use product::dot;
pub use sines::{Sines, lowest_modes};
