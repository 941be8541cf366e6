//! Steps in time on a mesh that keeps its tets.

use meniscus_core::vector::add_scaled;

use super::assemble::{Setting, Stage, TurnedOver, assemble};
use super::discretisation::Discretisation;
use super::mesh::Mesh;
use super::system::{Solution, System};

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Two implicit stages of (1 - 1/√2) dt each: second order, and stiff modes vanish.
    SecondOrder,
    /// One implicit stage about the positions at the start (Misztal and others 2012): first order, damps.
    BackwardEuler,
}

/// The unknown parts of the state: where the vertices are and how they move. Vertices inside of voids stay.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Vertex positions, m.
    pub positions: Vec<[f64; 3]>,
    /// Vertex velocities, m/s.
    pub velocities: Vec<[f64; 3]>,
}

/// A step that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError<E: std::error::Error> {
    /// The mesh folds on its way.
    #[error(transparent)]
    TurnedOver(#[from] TurnedOver),
    /// A system could not be solved.
    #[error("a stage could not be solved")]
    Unsolved(#[source] E),
}

/// One step's surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Stepper<'a> {
    /// The finite elements on the mesh.
    pub discretisation: &'a Discretisation,
    /// What acts.
    pub setting: Setting<'a>,
    /// The tets.
    pub tets: &'a [[u32; 4]],
    /// Their labels.
    pub labels: &'a [u8],
}

impl Stepper<'_> {
    /// Moves on by `dt`; `solve` solves the system of each stage. Gives the motion at the end and the pressures there, Pa.
    pub fn step<E: std::error::Error>(
        &self,
        integrator: Integrator,
        start: &Motion,
        dt: f64,
        mut solve: impl FnMut(&System) -> Result<Solution, E>,
    ) -> Result<(Motion, Vec<f64>), StepError<E>> {
        match integrator {
            Integrator::SecondOrder => self.two_stages(start, dt, &mut solve),
            Integrator::BackwardEuler => self.stage(start, &start.positions, dt, &mut solve),
        }
    }

    /// SDIRK2 (Alexander 1977): u' and x' at both stages' ends are solved for, the second stage's end is the step's.
    /// Stage 1 starts from (x, u); stage 2 from (x + (1 - g) dt u1, u + (1 - g) / g (u1 - u)). The positions at a stage's
    /// end are foreseen with the last velocity known, of the second stage with its change carried on.
    fn two_stages<E: std::error::Error>(
        &self,
        start: &Motion,
        dt: f64,
        solve: &mut impl FnMut(&System) -> Result<Solution, E>,
    ) -> Result<(Motion, Vec<f64>), StepError<E>> {
        let g = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        let foreseen = moved(&start.positions, g * dt, &start.velocities);
        let (first, _) = self.stage(start, &foreseen, g * dt, solve)?;

        let carried = (1.0 - g) / g;
        let on = |from: &[[f64; 3]]| -> Vec<[f64; 3]> {
            let change = first.velocities.iter().zip(&start.velocities);
            change
                .zip(from)
                .map(|((a, b), &u)| std::array::from_fn(|x| u[x] + carried * (a[x] - b[x])))
                .collect()
        };
        let base = Motion {
            positions: moved(&start.positions, (1.0 - g) * dt, &first.velocities),
            velocities: on(&start.velocities),
        };
        let foreseen = moved(&base.positions, g * dt, &on(&first.velocities));
        self.stage(&base, &foreseen, g * dt, solve)
    }

    /// One implicit solve over `dt` with the mesh at the positions foreseen.
    fn stage<E: std::error::Error>(
        &self,
        base: &Motion,
        foreseen: &[[f64; 3]],
        dt: f64,
        solve: &mut impl FnMut(&System) -> Result<Solution, E>,
    ) -> Result<(Motion, Vec<f64>), StepError<E>> {
        let stage = Stage {
            mesh: Mesh { positions: foreseen, tets: self.tets, labels: self.labels },
            base: &base.positions,
            velocities: &base.velocities,
            dt,
        };
        let system = assemble(self.discretisation, &self.setting, &stage)?;
        let solution = solve(&system).map_err(StepError::Unsolved)?;
        let velocities: Vec<_> =
            system.frames.iter().zip(&solution.velocities).map(|(frame, &w)| frame.leave(w)).collect();
        let velocities = self.discretisation.unknowns.scatter(&velocities, [0.0; 3], foreseen.len());
        let motion = Motion { positions: moved(&base.positions, dt, &velocities), velocities };
        Ok((motion, solution.impulses.iter().map(|l| l / dt).collect()))
    }
}

fn moved(positions: &[[f64; 3]], dt: f64, velocities: &[[f64; 3]]) -> Vec<[f64; 3]> {
    positions.iter().zip(velocities).map(|(&x, &u)| add_scaled(x, dt, u)).collect()
}
