//! Readers of exchange formats, one module each.
//!
//! [`read_mesh`] reads a triangle mesh from an OBJ, PLY or STL file. Files are read whole; bad ones give
//! an error that says where and why.

mod error;
mod mesh;
pub mod obj;
pub mod ply;
pub mod stl;

pub use error::{Location, ParseError, ReadMeshError};
pub use mesh::read_mesh;
