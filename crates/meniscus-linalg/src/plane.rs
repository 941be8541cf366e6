//! The solver in the plane for those who use no other: compiled with this crate and not anew with theirs, which takes minutes.

use std::sync::Arc;

use meniscus_core::grid::Blocks;

use crate::{AssembleError, ExtraUnknown, Operator, Patch, SolveError, SolveInfo, SolveParams, Solver};

/// A [`Solver`] of a stencil and extra unknowns in the plane.
pub struct PlaneSolver(Solver<2>);

impl PlaneSolver {
    /// Assembles the operator (see [`Operator::assemble`]) and builds the hierarchy.
    ///
    /// # Errors
    /// If weights are none, or do not fit together.
    pub fn new(
        blocks: Arc<Blocks<2>>,
        fill: &(dyn Fn(usize, &mut Patch<2>) + Sync),
        extras: &[ExtraUnknown],
    ) -> Result<Self, AssembleError> {
        Operator::assemble(blocks, fill, extras, &[]).map(|operator| Self(Solver::new(operator)))
    }

    /// y = A x. Slots that are not unknowns must hold 0 in `x`.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.0.operator().apply(x, y);
    }

    /// Solves A x = b; `x` holds the initial guess and receives the solution.
    ///
    /// # Errors
    /// If the tolerance is not reached, or a vector has the wrong length or holds numbers that are not finite.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64], params: &SolveParams) -> Result<SolveInfo, SolveError> {
        self.0.solve(b, x, params)
    }
}
