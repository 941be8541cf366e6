//! The pressure system of a moment, for those who want to look at it or solve it by themselves.

use std::time::Instant;

use meniscus_core::compiled_here;
use meniscus_core::grid::{FaceField, Field};
use meniscus_linalg::{Operator, SolveParams, Solver, solve_by_diagonal};

use crate::boundary::{Boundary, BoundaryCache};
use crate::params::Params;
use crate::projection::{
    AffineTiles, Liquid, ProjectionError, ProjectionInfo, Workspace, pressure_system, project,
};
use crate::state::State;
use crate::step::problem::Problem;
use crate::step::velocity::add_gravity;
use crate::substep::Substep;
use crate::surroundings::Surroundings;
use crate::tiles::find_tiles;

/// What a solve of a pressure system is preconditioned by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preconditioner {
    /// As the projection is.
    Multigrid,
    /// For comparison.
    Diagonal,
}

/// A solve of a pressure system, from zero to a relative residual of 1e-5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialSolve {
    /// Its iterations.
    pub iterations: usize,
    /// Seconds, with the preconditioner's set-up; not to assemble the system.
    pub seconds: f64,
}

type Solve<const D: usize> =
    fn(&State<D>, &Params<D>, &Surroundings<D>, f64, Preconditioner) -> Result<TrialSolve, ProjectionError>;
type Project<const D: usize> = fn(
    &State<D>,
    &Params<D>,
    &Surroundings<D>,
    f64,
    &mut Workspace,
) -> Result<(ProjectionInfo<D>, f64), ProjectionError>;
type Tiles<const D: usize> = fn(&State<D>, &Params<D>, &Surroundings<D>) -> Option<AffineTiles>;

impl<const D: usize> State<D> {
    /// The operator and the right-hand side of the pressure if gravity acted for `dt` seconds on the liquid as it is, bubbles
    /// and all, and nothing else did.
    ///
    /// # Errors
    /// If there is no such system.
    pub fn pressure_system(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
    ) -> Result<(Operator<D>, Vec<f64>), ProjectionError> {
        self.under_gravity(params, surroundings, dt, |liquid, velocity| {
            pressure_system(liquid, velocity, &params.projection(dt))
        })
    }

    /// Solves the pressure system of [`pressure_system`](Self::pressure_system) from zero.
    ///
    /// # Errors
    /// If there is no such system, or it cannot be solved.
    pub fn trial_solve(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        preconditioner: Preconditioner,
    ) -> Result<TrialSolve, ProjectionError> {
        compiled_here!(State::<D>::solve as Solve<D>)(self, params, surroundings, dt, preconditioner)
    }

    fn solve(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        preconditioner: Preconditioner,
    ) -> Result<TrialSolve, ProjectionError> {
        let (operator, rhs) = self.pressure_system(params, surroundings, dt)?;
        let mut x = vec![0.0; rhs.len()];
        let most = SolveParams { max_iterations: 10_000, ..SolveParams::default() };
        let started = Instant::now();
        let info = match preconditioner {
            Preconditioner::Multigrid => Solver::new(operator).solve(&rhs, &mut x, &most),
            Preconditioner::Diagonal => solve_by_diagonal(&operator, &rhs, &mut x, &most),
        }?;
        Ok(TrialSolve { iterations: info.iterations, seconds: started.elapsed().as_secs_f64() })
    }

    /// Projects the velocities that gravity has acted on for `dt` seconds, from a pressure of 0; gives how that went, and the seconds that it took. The state is left as it is.
    ///
    /// # Errors
    /// If the pressure cannot be solved for.
    pub fn trial_projection(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        workspace: &mut Workspace,
    ) -> Result<(ProjectionInfo<D>, f64), ProjectionError> {
        compiled_here!(State::<D>::project as Project<D>)(self, params, surroundings, dt, workspace)
    }

    fn project(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        workspace: &mut Workspace,
    ) -> Result<(ProjectionInfo<D>, f64), ProjectionError> {
        self.under_gravity(params, surroundings, dt, |liquid, velocity| {
            let (mut velocity, mut pressure) = (velocity.clone(), Field::new(velocity.blocks().clone(), 0.0));
            let started = Instant::now();
            let info = project(liquid, &mut velocity, &mut pressure, &params.projection(dt), workspace)?;
            Ok((info, started.elapsed().as_secs_f64()))
        })
    }

    /// Which cells move together as affine tiles; `None` if the interior of the fluids is not to be reduced.
    pub fn tiles(&self, params: &Params<D>, surroundings: &Surroundings<D>) -> Option<AffineTiles> {
        compiled_here!(State::<D>::find_tiles as Tiles<D>)(self, params, surroundings)
    }

    fn find_tiles(&self, params: &Params<D>, surroundings: &Surroundings<D>) -> Option<AffineTiles> {
        let tiling = params.tiling.as_ref()?;
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let blocks = self.level_set.blocks();
        let boundary = Boundary::new(params, surroundings, blocks, &mut BoundaryCache::default());
        Some(find_tiles(params, tiling, &self.level_set, &boundary))
    }

    /// Calls `see` with the liquid and with velocities on which gravity has acted.
    fn under_gravity<R>(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        see: impl FnOnce(&Liquid<f32, D>, &FaceField<f32, D>) -> R,
    ) -> R {
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let blocks = self.level_set.blocks();
        let boundary = &Boundary::new(params, surroundings, blocks, &mut BoundaryCache::default());
        let substep = Substep { params, surroundings, boundary, dt };
        let mut velocity = self.velocity.clone();
        add_gravity(substep, &mut velocity);
        let mut problem = Problem::new(substep, self);
        problem.reduce(substep, &self.level_set);
        problem.with_liquid(substep, self, 1.0, |liquid| see(liquid, &velocity))
    }
}
