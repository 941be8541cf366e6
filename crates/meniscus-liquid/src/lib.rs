//! The grid liquid: the stages of a step.
//!
//! So far there is one stage, the [`projection`] of tentative velocities onto those that keep every
//! volume. Nothing here does I/O or prints, and every result is the same, bit for bit, for any number of
//! threads.

pub mod projection;
