//! The ground that the solvers stand on: blocked sparse grids, MAC faces, level sets, particles,
//! shapes and fractions, in two and three dimensions from one source.
//!
//! Nothing here does I/O or prints, and every result is the same, bit for bit, for any number of
//! threads.

pub mod advect;
pub mod compiled;
pub mod components;
pub mod extrapolate;
pub mod fractions;
pub mod grid;
pub mod interpolate;
pub mod level_set;
pub mod nodes;
pub mod parallel;
pub mod particles;
pub mod serde_array;
pub mod shape;
pub mod simd;
pub mod stroke;
pub mod transfer;
pub mod vector;
pub mod waves;
pub mod whirls;
