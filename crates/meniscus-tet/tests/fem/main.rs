//! The finite elements against what is known of them.

mod elements;
mod meshes;
