//! Systems of equations on unstructured meshes: sparse matrices of small blocks, algebraic multigrid for those that are
//! symmetric and positive definite, and iterations for those that are not.
//!
//! A [`Pattern`] says which blocks are stored, a [`Bsr`] holds them; [`Transposition`] and [`Product`] are found once for
//! patterns and used for many matrices. [`Amg`] is a preconditioner by smoothed aggregation, for
//! [`conjugate_gradients`](crate::conjugate_gradients), or as a part of one for [`flexible_gmres`] and [`minres`]. No result depends on the number of threads.

mod amg;
mod block;
mod bsr;
mod gmres;
mod minres;
mod pattern;
mod product;
#[cfg(test)]
mod tests;

pub use amg::{Amg, AmgError, AmgParams, rigid_motions};
pub use block::Block;
pub use bsr::{Bsr, Transposition};
pub use gmres::{GmresParams, flexible_gmres};
pub use minres::minres;
pub use pattern::{Pattern, PatternError};
pub use product::Product;
