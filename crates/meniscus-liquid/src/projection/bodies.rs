//! Rigid bodies among the velocity carriers.

use meniscus_core::parallel;
use meniscus_linalg::LowRankTerm;

use super::faces::Faces;
use super::{KineticEnergy, Stored};
use crate::rigid::{FilmFlow, RigidCarrier, fluxes_of_closed_faces};
use meniscus_rigid::{Matrix, SIZE, Twist, dot, inverse, motion_count, product, summed};

/// How the pressure of cells and bubbles moves bodies, and the bodies' velocities are fluxes of them.
pub(super) struct Couplings<'a, const D: usize> {
    bodies: &'a [RigidCarrier<D>],
    of_bodies: Vec<Coupling<'a, D>>,
    cell_mass: f64,
}

struct Coupling<'a, const D: usize> {
    body: &'a RigidCarrier<D>,
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

    pub(super) fn bodies(&self) -> &'a [RigidCarrier<D>] {
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
fn columns<T: Stored, const D: usize>(faces: &Faces<T, D>, body: &RigidCarrier<D>) -> Vec<(usize, Twist)> {
    let liquid = faces.liquid();
    let unknown = |cell| faces.unknown(cell);
    let mut fluxes = fluxes_of_closed_faces(liquid.grid, faces.blocks(), body.centre, &body.faces, unknown);
    // Open air gives whatever is asked.
    let of_rim = |film: &FilmFlow| faces.unknown(film.to).map(|unknown| (unknown, film.flux));
    fluxes.extend(body.films.iter().filter_map(of_rim));
    summed(fluxes)
}
