//! What can go wrong.

use thiserror::Error;

use crate::flow::TooFast;

/// Why a step failed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// The fluid around bodies could not be found.
    #[error(
        "the flow around the bodies could not be found: {residual:.1e} of it is left after {iterations} iterations"
    )]
    Bodies {
        /// Iterations of the solve.
        iterations: usize,
        /// What is left, as a part of what was asked for.
        residual: f64,
    },
    /// The flow is too fast for steps of any use, or none any more.
    #[error("the flow became too fast to follow")]
    TooFast,
    /// The equations of a part of the step have no solution that was found.
    #[error("the implicit step of the flow did not converge")]
    Unsolved,
}

impl From<TooFast> for StepError {
    fn from(TooFast: TooFast) -> Self {
        Self::TooFast
    }
}
