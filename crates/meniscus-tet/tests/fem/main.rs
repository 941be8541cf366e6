//! The finite elements against what is known of them.

mod case;
mod drops;
mod elements;
mod fit;
mod iterative;
mod meshes;
mod operators;
mod phases;
mod rest;
mod stokes;
mod tension;
mod walls;
mod waves;
