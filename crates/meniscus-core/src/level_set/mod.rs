//! Level sets: signed distances to a surface, negative inside, in a narrow band around it.
//!
//! Values are at cell centres and in *cells*, like every length in this crate's transport.

mod from_particles;
mod redistance;
mod surface;

pub use from_particles::particle_distance;
pub use redistance::{RedistanceInfo, interface_distance, redistance};
pub use surface::{SurfaceMesh, contour, surface_mesh};
