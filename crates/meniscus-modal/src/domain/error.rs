//! What can go wrong while modes are found.

use thiserror::Error;

/// Why the modes of a domain could not be found.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DomainError {
    /// There are more modes than a grid of this size shows.
    #[error("{count} modes are too many for this grid: it shows {most}")]
    TooMany {
        /// How many were asked for.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// The equations of stream functions were not solved.
    #[error("the stream functions of the domain could not be found")]
    Unsolved,
}
