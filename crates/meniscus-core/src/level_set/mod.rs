//! Level sets: signed distances to a surface, negative inside, in a narrow band around it.
//!
//! Values are at cell centres and in *cells*, like every length in this crate's transport.

mod from_particles;
mod redistance;

pub use from_particles::particle_level_set;
pub use redistance::{RedistanceInfo, redistance};
