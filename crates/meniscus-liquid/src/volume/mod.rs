//! Keeping volumes.
//!
//! Two corrections share the work. Errors are undone by a small divergence of the velocity (Goldade 2020, section 7.1, applied to the liquid too), which moves
//! surface and particles alike; how fast, is said in [`growth`], and where, by the [`accounts`] of blocks. What is off by more than that can mend at once, as when a cavity closes between
//! two cells, is undone by moving the level set (`surface/shift.rs`).

pub mod accounts;
pub mod growth;
