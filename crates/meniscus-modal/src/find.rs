//! The solves for bodies.

use crate::error::StepError;
use crate::panels::{Drive, Immersed, Influence, Solution, Solved};

/// What is left of the equations of bodies when a solve ends.
const TOLERANCE: f64 = 1e-7;
/// And of those for what impulses do, from which contacts are found: the velocities that come of these are then solved for.
const LOOSE: f64 = 1e-5;

/// Finds sheets and velocities.
pub fn find(
    immersed: &Immersed,
    influence: &Influence,
    drives: &[Drive],
    sheets: &mut Solution,
) -> Result<Solved, StepError> {
    find_to(TOLERANCE, immersed, influence, drives, sheets)
}

/// The same, to what contacts are found from.
pub fn find_roughly(
    immersed: &Immersed,
    influence: &Influence,
    drives: &[Drive],
    sheets: &mut Solution,
) -> Result<Solved, StepError> {
    find_to(LOOSE, immersed, influence, drives, sheets)
}

fn find_to(
    tolerance: f64,
    immersed: &Immersed,
    influence: &Influence,
    drives: &[Drive],
    sheets: &mut Solution,
) -> Result<Solved, StepError> {
    let circulations = vec![0.0; drives.len()];
    let solved = immersed.solve(influence, drives, &circulations, sheets, tolerance);
    let Solved { iterations, residual } = solved;
    // Sound equations are solved to rounding: what is left else is no number, or of no use.
    let is_solved = residual <= 1e3 * tolerance;
    if is_solved { Ok(solved) } else { Err(StepError::Bodies { iterations, residual }) }
}
