//! Why contacts cannot be set up.

use std::fmt;

/// Which of the things that touch: its place in the list that was given, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A body.
    Body(usize),
    /// A solid.
    Solid(usize),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(index) => write!(f, "body {index}"),
            Self::Solid(index) => write!(f, "solid {index}"),
        }
    }
}

/// Why contacts cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A quantity that lies outside of what makes sense.
    #[error("{owner}: {quantity} is {value}; give {expected}")]
    OutOfRange {
        /// Whose it is.
        owner: Owner,
        /// What has the wrong value.
        quantity: &'static str,
        /// The value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// An inertia that no body can have.
    #[error(
        "{owner}: its inertia is not symmetric and positive definite; give that about its centre of mass"
    )]
    BadInertia {
        /// Whose it is.
        owner: Owner,
    },
    /// A domain without an inside, or without cells.
    #[error(
        "the domain is empty or unbounded, or its cells have no size; give finite bounds and a positive dx"
    )]
    BadDomain,
    /// A body that fills infinitely much.
    #[error(
        "{owner}: its shape is unbounded; bodies must be bounded, for example by an intersection with a box"
    )]
    Unbounded {
        /// Whose it is.
        owner: Owner,
    },
    /// A shape with nothing to touch.
    #[error(
        "{owner}: nothing of its shape can be touched; it is empty, or thinner than a cell where it can only be \
         sampled: make it thicker, or use smaller cells"
    )]
    NothingToTouch {
        /// Whose it is.
        owner: Owner,
    },
}

impl ContactError {
    /// Whose fault it is; of the domain nobody's.
    pub fn owner(&self) -> Option<Owner> {
        match *self {
            Self::OutOfRange { owner, .. }
            | Self::BadInertia { owner }
            | Self::Unbounded { owner }
            | Self::NothingToTouch { owner } => Some(owner),
            Self::BadDomain => None,
        }
    }
}
