//! A flow in a box in space: eigenmodes in closed form, and what they do to each other by sines and cosines.
//!
//! With the wave numbers k = (π k₁ / L₁, ...) of whole numbers of half waves a mode is the velocity
//! u = (a₁ sin cos cos, a₂ cos sin cos, a₃ cos cos sin), a · k = 0: it has no divergence and passes no side, and its vorticity is -(k × a) with sines for cosines. Two directions a belong to each k, and one if one
//! of its numbers is 0. What changes the flow is u × ω without its gradient part, found at points where sums stand for integrals exactly: it does no work.

mod dynamics;
mod modes;
mod transform;

#[cfg(test)]
mod tests;

pub use dynamics::Dynamics;
pub use modes::{Mode, Modes};
