//! One operator, one solver.
//!
//! [`Operator`] is a sum of three kinds of terms: a stencil on the cells of a blocked grid, extra
//! unknowns coupled to many cells, and low-rank terms in factored form. [`Solver`] solves with it by
//! conjugate gradients in f64, preconditioned by a multigrid in f32 that carries every kind of term to
//! every level. [`solve_bounded`] minimises with bounds. [`conjugate_gradients`] is the same iteration for any other operator and preconditioner.
//!
//! [`sparse`] is for unstructured meshes: matrices of small blocks, algebraic multigrid, GMRES and MINRES.

mod bounded;
mod conjugate;
mod deflation;
mod multigrid;
mod operator;
mod outcome;
mod plane;
mod profile;
mod real;
mod solver;
pub mod sparse;
mod vectors;

pub use bounded::{BoundedInfo, solve_bounded};
pub use conjugate::{conjugate_gradients, solve_by_diagonal};
pub use operator::{
    AffineTerm, AssembleError, Compliance, ExtraUnknown, LowRankTerm, Operator, Patch, face_len, lower_face,
    upper_face,
};
pub use outcome::{Sealed, SolveError, SolveInfo, SolveParams};
pub use plane::PlaneSolver;
pub use profile::{Kernel, Profile};
pub use solver::{Solver, Workspace};

/// The solver in both dimensions, compiled with this crate: at low optimisation others use it from here instead of compiling it anew, for
/// minutes in each test.
#[cfg(debug_assertions)]
#[doc(hidden)]
#[inline(never)]
pub fn compiled_here() -> [*const (); 10] {
    [
        Solver::<2>::with_workspace as *const (),
        Solver::<3>::with_workspace as *const (),
        Solver::<2>::solve as *const (),
        Solver::<3>::solve as *const (),
        Solver::<2>::precondition as *const (),
        Solver::<3>::precondition as *const (),
        Operator::<2>::apply as *const (),
        Operator::<3>::apply as *const (),
        solve_bounded::<2> as *const (),
        solve_bounded::<3> as *const (),
    ]
}
