//! Rigid bodies among the velocity carriers.

use meniscus_core::grid::{Blocks, Grid, Slot};
use meniscus_core::parallel;
use meniscus_linalg::LowRankTerm;

use super::faces::Faces;
use super::{KineticEnergy, Stored};
use crate::rigid::{Matrix, SIZE, Twist, add, dot, inverse, motion_count, motions_at, product, summed};

/// A rigid body that pressure moves.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidBody<const D: usize> {
    /// The point that rotations are about, in metres.
    pub centre: [f64; D],
    /// The mass matrix on velocities [`Twist`], in kg, kg m and kg m² (2D: per metre of depth).
    pub mass: Matrix,
    /// The tentative velocity.
    pub velocity: Twist,
    /// The faces that it closes, wholly or in part.
    pub faces: Vec<ClosedFace>,
    /// What its motions take of the films between it and walls.
    pub films: Vec<FilmFlow>,
}

/// What a body closes of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedFace {
    /// The axis of the face.
    pub axis: usize,
    /// The cell above it.
    pub upper: Slot,
    /// The part of it that the body closes: at most what is not open.
    pub part: f64,
}

impl ClosedFace {
    /// The cells on both sides of it.
    pub fn sides<const D: usize>(&self, blocks: &Blocks<D>) -> impl Iterator<Item = Slot> + use<D> {
        [blocks.step(self.upper, self.axis, 0), Some(self.upper)].into_iter().flatten()
    }
}

/// What the motions of a body make flow from one cell of a film to the next, or to the first around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmFlow {
    /// The cell of the film.
    pub from: Slot,
    /// The cell that it is taken of.
    pub to: Slot,
    /// The flow out of the first that each motion makes, per area of a face.
    pub flux: Twist,
}

impl<const D: usize> RigidBody<D> {
    /// Adds what an impulse changes of the tentative velocity.
    pub fn push(&mut self, impulse: &Twist) {
        add(&mut self.velocity, &product(&inverse(self.mass), impulse));
    }

    /// The mass matrix of a body of a density that fills the closed part of these faces (axis, cell above, part): what the flow
    /// sees of it. With it gravity accelerates the body as it does the liquid, in every motion, and a neutral one stays at rest
    /// exactly.
    pub fn mass_of_faces(
        grid: &Grid<D>,
        centre: [f64; D],
        density: f64,
        faces: &[(usize, [i64; D], f64)],
    ) -> Matrix {
        let whole = density * grid.dx.powi(D as i32);
        let mut mass = [[0.0; SIZE]; SIZE];
        for &(axis, upper, part) in faces {
            let motions = motions_at(grid, centre, axis, upper);
            for (row, &m) in mass.iter_mut().zip(&motions) {
                row.iter_mut().zip(&motions).for_each(|(sum, n)| *sum += whole * part * m * n);
            }
        }
        mass
    }
}

/// How the pressure of cells and bubbles moves bodies, and the bodies' velocities are fluxes of them.
pub(super) struct Couplings<'a, const D: usize> {
    bodies: &'a [RigidBody<D>],
    of_bodies: Vec<Coupling<'a, D>>,
    cell_mass: f64,
}

struct Coupling<'a, const D: usize> {
    body: &'a RigidBody<D>,
    /// The columns of J: the unknowns that the body touches, in order, and for each the flux out of it that each motion
    /// makes, per area of a face.
    columns: Vec<(usize, Twist)>,
    /// The inverse of the body's mass, as a part of that of a cell full of liquid.
    inverse_mass: Matrix,
}

impl<'a, const D: usize> Couplings<'a, D> {
    pub(super) fn new<T: Stored>(faces: &Faces<'a, T, D>, density: f64) -> Self {
        let cell_mass = density * faces.liquid().grid.dx.powi(D as i32);
        let bodies = faces.liquid().bodies;
        let coupling = |index: usize| {
            let body = &bodies[index];
            let inverse_mass = inverse(body.mass).map(|row| row.map(|m| m * cell_mass));
            Coupling { body, columns: columns(faces, body), inverse_mass }
        };
        Self { bodies, of_bodies: parallel::map(bodies.len(), coupling), cell_mass }
    }

    /// The terms J^T M^-1 J of the operator.
    pub(super) fn terms(&self) -> Vec<LowRankTerm> {
        let count = motion_count::<D>();
        let term = |Coupling { columns, inverse_mass, .. }: &Coupling<D>| LowRankTerm {
            inverse_mass: without_unused::<D>(inverse_mass),
            unknowns: columns.iter().map(|&(unknown, _)| unknown).collect(),
            columns: columns.iter().flat_map(|(_, column)| column[..count].to_vec()).collect(),
        };
        self.of_bodies.iter().map(term).collect()
    }

    /// The tentative velocities.
    pub(super) fn tentative(&self) -> Vec<Twist> {
        self.of_bodies.iter().map(|coupling| coupling.body.velocity).collect()
    }

    /// Adds the fluxes out of the unknowns that the velocities of the bodies make.
    pub(super) fn add_flux(&self, velocity: &[Twist], flux: &mut [f64]) {
        for (Coupling { columns, .. }, velocity) in self.of_bodies.iter().zip(velocity) {
            for (unknown, column) in columns {
                flux[*unknown] += dot(column, velocity);
            }
        }
    }

    /// Takes these fluxes from a right-hand side.
    pub(super) fn subtract_flux(&self, velocity: &[Twist], rhs: &mut [f64]) {
        let opposite: Vec<Twist> = velocity.iter().map(|velocity| velocity.map(|v| -v)).collect();
        self.add_flux(&opposite, rhs);
    }

    /// What the scaled pressures push each body with, in the mass of a cell.
    pub(super) fn push(&self, scaled_pressure: &[f64]) -> Vec<Twist> {
        let push = |Coupling { columns, .. }: &Coupling<D>| {
            let mut impulse = [0.0; SIZE];
            for (unknown, column) in columns {
                impulse.iter_mut().zip(column).for_each(|(sum, c)| *sum += c * scaled_pressure[*unknown]);
            }
            impulse
        };
        self.of_bodies.iter().map(push).collect()
    }

    /// The velocities of the bodies after the scaled pressures, and nothing else, have pushed them.
    pub(super) fn pushed(&self, scaled_pressure: &[f64]) -> Vec<Twist> {
        let pushed = |(Coupling { body, inverse_mass, .. }, impulse): (&Coupling<D>, Twist)| {
            let change = product(inverse_mass, &impulse);
            std::array::from_fn(|motion| body.velocity[motion] + change[motion])
        };
        self.of_bodies.iter().zip(self.push(scaled_pressure)).map(pushed).collect()
    }

    pub(super) fn bodies(&self) -> &'a [RigidBody<D>] {
        self.bodies
    }

    /// The mass of a cell full of liquid, in kg (2D: kg/m).
    pub(super) fn cell_mass(&self) -> f64 {
        self.cell_mass
    }

    /// The inverse mass of each body, in that unit, and its tentative velocity.
    pub(super) fn free(&self) -> Vec<(Vec<f64>, Twist)> {
        let free = |Coupling { body, inverse_mass, .. }: &Coupling<D>| {
            (without_unused::<D>(inverse_mass), body.velocity)
        };
        self.of_bodies.iter().map(free).collect()
    }

    /// The energies of the bodies, in those of a cell full of liquid.
    pub(super) fn energy(&self, velocity: &[Twist]) -> KineticEnergy {
        let of_body = |(Coupling { body, .. }, after): (&Coupling<D>, &Twist)| {
            let change: Twist = std::array::from_fn(|motion| after[motion] - body.velocity[motion]);
            let energy = |v: &Twist| dot(v, &product(&body.mass, v)) / self.cell_mass;
            KineticEnergy { before: energy(&body.velocity), after: energy(after), change: energy(&change) }
        };
        self.of_bodies.iter().zip(velocity).map(of_body).fold(KineticEnergy::default(), KineticEnergy::plus)
    }

    /// The work of what pushes bodies to these velocities beside the scaled pressures, in the energy of a cell full of liquid.
    pub(super) fn work_of_contacts(&self, velocity: &[Twist], scaled_pressure: &[f64]) -> f64 {
        let free = self.pushed(scaled_pressure);
        let of_body = |((Coupling { body, .. }, after), free): ((&Coupling<D>, &Twist), Twist)| {
            let change: Twist = std::array::from_fn(|motion| after[motion] - free[motion]);
            dot(after, &product(&body.mass, &change)) / self.cell_mass
        };
        self.of_bodies.iter().zip(velocity).zip(free).map(of_body).sum()
    }
}

/// The entries of a matrix that there are in this dimension, row by row.
fn without_unused<const D: usize>(matrix: &Matrix) -> Vec<f64> {
    let count = motion_count::<D>();
    matrix[..count].iter().flat_map(|row| row[..count].to_vec()).collect()
}

/// What the motions of a body make flow out of the unknowns, per area of a face, in their order.
fn columns<T: Stored, const D: usize>(faces: &Faces<T, D>, body: &RigidBody<D>) -> Vec<(usize, Twist)> {
    let (grid, blocks) = (faces.liquid().grid, faces.blocks());
    let mut fluxes = Vec::new();
    for &ClosedFace { axis, upper, part } in &body.faces {
        let motions = motions_at(grid, body.centre, axis, blocks.cell(upper).map(|c| c as i64));
        let lower = blocks.step(upper, axis, 0);
        for (cell, outwards) in [(lower, part), (Some(upper), -part)] {
            if let Some(unknown) = cell.and_then(|cell| faces.unknown(cell)) {
                fluxes.push((unknown, motions.map(|m| outwards * m)));
            }
        }
    }
    // Open air gives whatever is asked.
    let of_rim = |film: &FilmFlow| faces.unknown(film.to).map(|unknown| (unknown, film.flux));
    fluxes.extend(body.films.iter().filter_map(of_rim));
    summed(fluxes)
}
