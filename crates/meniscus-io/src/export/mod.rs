//! Surfaces, particles, smoke, bubbles and poses in formats that other programs read.
//!
//! [`frame_surface`] makes the surface of a frame (in the plane [`frame_contour`] its outline), in metres and
//! with velocities; [`write_surface_ply`], [`write_surface_obj`], [`write_particles_ply`] and
//! [`write_markers_ply`] write files, which appear whole or not at all. In the plane z is zero, and outlines are edges.
//!
//! PLY files are binary and carry velocities as the vertex properties `vx`, `vy`, `vz`. OBJ has no place for
//! them, so OBJ files carry none.
//!
//! Where air keeps its volume, surfaces know which bubble they border: PLY files have it as the vertex property
//! `bubble` (0 is the open air, [`WALL`] where the liquid ends at a solid), OBJ files as the groups `open_air`,
//! `bubble_1` and so on, and `wall`. [`Table`] has the bubbles themselves, or where
//! solids and bodies are.

mod bubbles;
mod csv;
mod obj;
mod ply;
mod surface;

pub use bubbles::WALL;
pub use csv::Table;
pub use obj::write_surface_obj;
pub use ply::{write_markers_ply, write_particles_ply, write_surface_ply};
pub use surface::{Elements, SurfaceExport, frame_contour, frame_surface, without_solids};
