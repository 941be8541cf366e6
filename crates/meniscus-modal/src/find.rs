//! The solves for bodies.

use crate::error::StepError;
use crate::panels::{Drive, Immersed, Influence, Solution, Solved};

/// What is left of the equations of bodies when a solve ends, as a part of what was asked for.
pub const EXACT: f64 = 1e-7;
/// The same for what impulses do, from which contacts are found: the velocities that come of these are then solved for.
pub const ROUGH: f64 = 1e-5;

/// Finds sheets and velocities.
pub fn find(
    tolerance: f64,
    immersed: &Immersed,
    influence: &Influence,
    drives: &[Drive],
    circulations: &[f64],
    sheets: &mut Solution,
) -> Result<Solved, StepError> {
    let solved = immersed.solve(influence, drives, circulations, sheets, tolerance);
    let Solved { iterations, residual } = solved;
    // Sound equations are solved to rounding: what is left else is no number, or of no use.
    let is_solved = residual <= 1e3 * tolerance;
    if is_solved { Ok(solved) } else { Err(StepError::Bodies { iterations, residual }) }
}
