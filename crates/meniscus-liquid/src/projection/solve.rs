//! The solve of a projection: with walls that let go or without, and with contacts that press.

use meniscus_linalg::{BoundedInfo, Compliance, Operator, SolveInfo, SolveParams, Solver, solve_bounded};

use super::bodies::Couplings;
use super::{ContactInfo, ProjectionError, ProjectionSeconds, Separation, Touching, timed};
use crate::rigid::RigidCarrier;
use meniscus_rigid::Twist;
use meniscus_rigid::{Bodies, Inertial, Pressing, Settled, islands};

/// The tolerance of rounds that only guess which contacts press, relative to the right-hand side. Looser ones take more rounds, tighter ones more iterations in each.
const LOOSE: f64 = 1e-2;

/// What is solved for, and with what.
pub(super) struct Pressures<'a, const D: usize> {
    system: System<D>,
    params: &'a SolveParams,
    memory: &'a mut meniscus_linalg::Workspace,
    pub(super) seconds: ProjectionSeconds,
    /// How the solves went, all together; the unknowns at their bounds in the last one.
    pub(super) info: Option<SolveInfo>,
    pub(super) leaving: Vec<usize>,
    pub(super) separation: Separation,
}

enum System<const D: usize> {
    Free(Box<Solver<D>>),
    /// Pressures that are not negative at walls.
    Bounded {
        operator: Box<Operator<D>>,
        walls: Vec<usize>,
    },
}

impl<'a, const D: usize> Pressures<'a, D> {
    pub(super) fn new(
        operator: Operator<D>,
        walls: Vec<usize>,
        params: &'a SolveParams,
        memory: &'a mut meniscus_linalg::Workspace,
        mut seconds: ProjectionSeconds,
    ) -> Self {
        let system = if walls.is_empty() {
            let memory = std::mem::take(memory);
            let solver = timed(&mut seconds.set_up, || Solver::with_workspace(operator, memory));
            System::Free(Box::new(solver))
        } else {
            System::Bounded { operator: Box::new(operator), walls }
        };
        let (info, leaving, separation) = (None, Vec::new(), Separation::default());
        Self { system, params, memory, seconds, info, leaving, separation }
    }

    /// Gives the memory back.
    pub(super) fn finish(self) -> (SolveInfo, ProjectionSeconds, Vec<usize>, Separation) {
        if let System::Free(solver) = self.system {
            *self.memory = solver.into_workspace();
        }
        (self.info.expect("something was solved"), self.seconds, self.leaving, self.separation)
    }

    /// The cells of chambers without a surface or a bubble.
    pub(super) fn sealed_cells(&self) -> Vec<usize> {
        match &self.system {
            System::Free(solver) => solver.sealed_cells(),
            System::Bounded { .. } => Vec::new(),
        }
    }

    fn set_compliance(&mut self, compliance: Vec<Compliance>) {
        match &mut self.system {
            System::Free(solver) => solver.set_compliance(compliance),
            System::Bounded { operator, .. } => operator.set_compliance(compliance),
        }
    }

    fn outer_inertia(&self) -> Vec<f64> {
        match &self.system {
            System::Free(solver) => solver.outer_inertia(),
            System::Bounded { operator, .. } => operator.outer_inertia(),
        }
    }

    /// Solves once.
    pub(super) fn solve(
        &mut self,
        rhs: &[f64],
        solution: &mut [f64],
        tolerance: f64,
    ) -> Result<(), ProjectionError> {
        let params = SolveParams { tolerance, ..*self.params };
        let mut seconds = 0.0;
        let solve = match &mut self.system {
            System::Free(solver) => timed(&mut seconds, || solver.solve(rhs, solution, &params))?,
            System::Bounded { operator, walls } => {
                let solve = || solve_bounded(operator, walls, rhs, solution, &params, self.memory);
                let bounded = timed(&mut seconds, solve)?;
                let BoundedInfo { solve, rounds, active, complementarity } = bounded;
                let rounds = self.separation.rounds + rounds;
                self.separation = Separation { cells: Vec::new(), complementarity, rounds };
                self.leaving = active;
                solve
            }
        };
        self.seconds.solve += seconds;
        let iterations = self.info.as_ref().map_or(0, |info| info.iterations);
        self.info = Some(SolveInfo { iterations: iterations + solve.iterations, ..solve });
        Ok(())
    }

    /// Solves for the pressure, and for which contacts press; returns the velocities of the bodies and how that went. `rhs` is what the bodies at rest ask for.
    pub(super) fn settle(
        &mut self,
        couplings: &Couplings<D>,
        touching: &Touching<D>,
        dt: f64,
        rhs: &[f64],
        solution: &mut [f64],
    ) -> Result<(Vec<Twist>, ContactInfo), ProjectionError> {
        let bodies: Vec<Inertial<D>> = couplings.bodies().iter().map(RigidCarrier::inertial).collect();
        let Touching { touches, near, rest, last } = touching;
        let free = couplings.free();
        let mut contact = Bodies {
            islands: islands(&bodies, touches, *near, dt, couplings.cell_mass()),
            free: &free,
            last,
            added: self.outer_inertia(),
            rest: *rest,
        };
        let mut asked = vec![0.0; rhs.len()];
        let Settled { velocity, until_hit, rounds, is_settled } =
            contact.settle(&couplings.push(solution), |pressing| {
                let Pressing { compliance, velocity, is_loose } = pressing;
                self.set_compliance(compliance.clone());
                asked.copy_from_slice(rhs);
                couplings.subtract_flux(velocity, &mut asked);
                let tolerance =
                    if *is_loose { self.params.tolerance.max(LOOSE) } else { self.params.tolerance };
                self.solve(&asked, solution, tolerance)?;
                Ok::<_, ProjectionError>(couplings.push(solution))
            })?;
        let pressing = contact.islands.iter().map(|island| island.pressing()).sum();
        Ok((velocity, ContactInfo { touches: touches.len(), pressing, rounds, is_settled, until_hit }))
    }
}
