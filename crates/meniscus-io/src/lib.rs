//! What goes to the disk and comes back, one module a format.
//!
//! - Meshes from elsewhere: [`read_mesh`] reads OBJ, PLY and STL files.
//! - Our own files, compressed and checked: frames ([`write_frame`], [`read_frame`]) and checkpoints
//!   ([`write_checkpoint`], [`read_checkpoint`]).
//! - Exchange: surfaces and particles as PLY and OBJ, bubbles as CSV ([`export`]).
//! - Logs: [`JsonLines`].
//!
//! Files that we write appear whole or not at all ([`write_atomically`]); bad ones give an error that says
//! where, why, and what to do.

mod container;
mod error;
pub mod export;
mod frame;
mod json_lines;
mod mesh;
pub mod obj;
pub mod ply;
pub mod stl;

pub use container::{CacheError, Kind, WriteError, read_checkpoint, write_atomically, write_checkpoint};
pub use error::{Location, ParseError, ReadMeshError};
pub use frame::{
    Attribute, Attributes, Channel, Frame, FrameBubble, FrameLiquid, Mesh, NO_AIR, OPEN_AIR, Points,
    frame_dimension, names, read_frame, verify_frame, write_frame,
};
pub use json_lines::JsonLines;
pub use mesh::read_mesh;
