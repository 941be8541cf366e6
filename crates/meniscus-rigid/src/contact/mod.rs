//! Bodies that touch: contact as a part of the projection.
//!
//! A contact is a point where a body touches another, a solid or a side. Its *row* C gives the speed at which the two part, from the velocities V of the bodies (solids
//! have no columns: their speed is in the bound c), and its multiplier is an impulse. The bodies of the projection then are at the minimum of
//!
//! ```text
//! ½ |u - u*|² + ½ |V - V*|²    with  D u + J V = 0,   C V >= c  (impulse >= 0),   |friction| <= mu · impulse along the tangents T
//! ```
//!
//! so that M V = M V* + J^T q + C^T lambda + T^T beta. If it is known which contacts press, C V = c for these, their impulses are eliminated from the mass matrices, exactly: with M = L L^T
//! and Q an orthonormal basis of the range of L^-1 C^T,
//!
//! ```text
//! V = W (M V* + J^T q) + V_c,     W = L^-T (1 - Q Q^T) L^-1,     C V_c = c
//! ```
//!
//! and an [island](island) of bodies that press on each other moves as the projection's unknowns push it with this W in the place of M^-1: a term of lower rank, nothing regularised,
//! equal to one body where all is held. Redundant contacts need no care.
//!
//! Which contacts press is found in [rounds](rounds): each solves for the pressure with a guess, and makes the next one by a small problem in which the bodies resist with their masses and
//! what is known of their added masses. Its solution is where the guess began only if both are right. What is known at first is an estimate from below, and with too little of it rounds would go in circles: each round
//! tells more, by how the pressures changed with the velocities. The bounds of friction follow the impulses in the first rounds and then stay, since only a minimum is sure to be found.

mod dense;
mod island;
mod quadratic;
mod rounds;
mod row;
#[cfg(test)]
mod tests;

pub use island::{Inertial, Island, islands};
pub use rounds::{Bodies, Pressing, Settled};
pub use row::Touch;
