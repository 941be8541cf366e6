//! One operator, one solver.
//!
//! [`Operator`] is a sum of three kinds of terms: a stencil on the cells of a blocked grid, extra
//! unknowns coupled to many cells, and low-rank terms in factored form. [`Solver`] solves with it by
//! conjugate gradients in f64, preconditioned by a multigrid in f32 that carries every kind of term to
//! every level. [`solve_bounded`] minimises with bounds. [`conjugate_gradients`] is the same iteration for any other operator and preconditioner.

mod bounded;
mod cg;
mod conjugate;
mod multigrid;
mod operator;
mod profile;
mod real;

pub use bounded::{BoundedInfo, solve_bounded};
pub use cg::{Sealed, SolveError, SolveInfo, SolveParams, Solver, Workspace};
pub use conjugate::{conjugate_gradients, solve_by_diagonal};
pub use operator::{
    AssembleError, ExtraUnknown, LowRankTerm, Operator, Patch, face_len, lower_face, upper_face,
};
pub use profile::{Kernel, Profile};
