//! When a solve stops, and what it says of itself.

use crate::profile::Profile;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveParams {
    /// The residual to reach, as a fraction of the right-hand side's norm.
    pub tolerance: f64,
    /// Iterations after which the solve has failed.
    pub max_iterations: usize,
}

impl Default for SolveParams {
    fn default() -> Self {
        Self { tolerance: 1e-5, max_iterations: 200 }
    }
}

/// How a solve went.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveInfo {
    /// Iterations taken.
    pub iterations: usize,
    /// |b - A x| / |b| as the iteration tracks it.
    pub relative_residual: f64,
    /// The relative residual before the first and after every iteration.
    pub history: Vec<f64>,
    /// The sealed components, whose right-hand side was made compatible.
    pub sealed: Vec<Sealed>,
    /// Where the time went.
    pub profile: Profile,
}

impl SolveInfo {
    /// Of a solve that had nothing to do.
    pub(crate) fn idle(sealed: Vec<Sealed>) -> Self {
        Self {
            iterations: 0,
            relative_residual: 0.0,
            history: vec![0.0],
            sealed,
            profile: Profile::default(),
        }
    }
}

/// A component of unknowns that nothing anchors: its solution is known up to a constant, and only
/// right-hand sides that sum to zero have one. The mean is taken away from both.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// The flat index of its first unknown.
    pub first: usize,
    /// Its unknowns.
    pub unknowns: usize,
    /// The norm of what was taken from the right-hand side, as a fraction of that side's norm: at
    /// rounding level if the side was compatible.
    pub imbalance: f64,
}

/// Why a solve failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// The tolerance was not reached.
    #[error(
        "no convergence: the relative residual is {:.3e} after {} iterations, {tolerance:.1e} was asked for",
        history.last().copied().unwrap_or(f64::NAN), history.len().saturating_sub(1)
    )]
    NotConverged {
        /// The tolerance that was asked for.
        tolerance: f64,
        /// The relative residual before the first and after every iteration.
        history: Vec<f64>,
    },
    /// Which bounded unknowns are zero was not found.
    #[error(
        "the bounds were not met: |min(x, A x - b)| is {complementarity:.1e} of the solution after {rounds} rounds"
    )]
    NotSettled {
        /// The rounds that were tried.
        rounds: usize,
        /// The residual of the conditions.
        complementarity: f64,
    },
    /// A vector has the wrong length.
    #[error("a vector has {found} entries, the operator has {expected}")]
    Length {
        /// Entries of the operator.
        expected: usize,
        /// Entries of the vector.
        found: usize,
    },
    /// The right-hand side or the guess holds a number that is not finite.
    #[error("the right-hand side or the initial guess holds a number that is not finite")]
    NotFinite,
}
