//! Rigid bodies among the velocity carriers.

use meniscus_core::grid::{Grid, Slot};
use meniscus_core::vector::sub;
use meniscus_linalg::LowRankTerm;
use rayon::prelude::*;

use super::faces::Faces;
use super::films::{self, Films};
use super::{KineticEnergy, Stored};
use crate::rigid::{Matrix, SIZE, Twist, dot, inverse, motion_count, motions, product};

/// A rigid body that pressure moves.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidBody<const D: usize> {
    /// The point that rotations are about, in metres.
    pub centre: [f64; D],
    /// The mass matrix on velocities [`Twist`], in kg, kg m and kg m² (2D: per metre of depth).
    pub mass: Matrix,
    /// The tentative velocity.
    pub velocity: Twist,
    /// Whether the velocity is given, whatever the pressure: as if the mass were infinite.
    pub held: bool,
    /// The faces that it closes, wholly or in part.
    pub faces: Vec<ClosedFace>,
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

impl<const D: usize> RigidBody<D> {
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

/// The velocity along the axis of a face of each rigid motion about `centre`, at the centre of the face.
fn motions_at<const D: usize>(grid: &Grid<D>, centre: [f64; D], axis: usize, upper: [i64; D]) -> Twist {
    motions(axis, sub(grid.face_centre(axis, upper), centre))
}

/// How the pressure of cells and bubbles moves bodies, and the bodies' velocities are fluxes of them.
pub(super) struct Couplings<'a, const D: usize> {
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
        let fluxes: Vec<Fluxes> = bodies.par_iter().map(|body| Fluxes::new(faces, body)).collect();
        // What one body takes of the film between two, the other gives: it stays between them.
        let mut films: Vec<usize> =
            fluxes.iter().flat_map(|f| &f.of_blocked).map(|&(cell, _)| cell).collect();
        films.sort_unstable();
        let is_own = |cell: usize| {
            let first = films.partition_point(|&c| c < cell);
            films.get(first + 1) != Some(&cell)
        };
        let coupling = |(body, Fluxes { mut of_unknowns, of_blocked }): (&'a RigidBody<D>, Fluxes)| {
            let own = of_blocked.into_iter().filter(|&(cell, _)| is_own(cell)).collect();
            of_unknowns.extend(Films::new(faces, &body.faces, own).taken_of_rim());
            let inverse_mass = match body.held {
                true => [[0.0; SIZE]; SIZE],
                false => inverse(body.mass).map(|row| row.map(|m| m * cell_mass)),
            };
            Coupling { body, columns: summed(of_unknowns), inverse_mass }
        };
        Self { of_bodies: bodies.par_iter().zip(fluxes).map(coupling).collect(), cell_mass }
    }

    /// The terms J^T M^-1 J of the operator.
    pub(super) fn terms(&self) -> Vec<LowRankTerm> {
        let count = motion_count::<D>();
        let term = |Coupling { columns, inverse_mass, .. }: &Coupling<D>| LowRankTerm {
            inverse_mass: inverse_mass[..count].iter().flat_map(|row| row[..count].to_vec()).collect(),
            unknowns: columns.iter().map(|&(unknown, _)| unknown).collect(),
            columns: columns.iter().flat_map(|(_, column)| column[..count].to_vec()).collect(),
        };
        // The motion of one that is held is in the right-hand side.
        self.of_bodies.iter().filter(|coupling| !coupling.body.held).map(term).collect()
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

    /// The velocities of the bodies after the scaled pressures have pushed them.
    pub(super) fn pushed(&self, scaled_pressure: &[f64]) -> Vec<Twist> {
        let push = |Coupling { body, columns, inverse_mass }: &Coupling<D>| {
            let mut impulse = [0.0; SIZE];
            for (unknown, column) in columns {
                impulse.iter_mut().zip(column).for_each(|(sum, c)| *sum += c * scaled_pressure[*unknown]);
            }
            let change = product(inverse_mass, &impulse);
            std::array::from_fn(|motion| body.velocity[motion] + change[motion])
        };
        self.of_bodies.iter().map(push).collect()
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
}

/// What the motions of a body make flow out of cells, per area of a face.
struct Fluxes {
    /// By unknown, in order.
    of_unknowns: Vec<(usize, Twist)>,
    /// By the flat index of cells without an open face, in order.
    of_blocked: Vec<(usize, Twist)>,
}

impl Fluxes {
    fn new<T: Stored, const D: usize>(faces: &Faces<T, D>, body: &RigidBody<D>) -> Self {
        let (grid, blocks) = (faces.liquid().grid, faces.blocks());
        let (mut of_unknowns, mut of_blocked) = (Vec::new(), Vec::new());
        for &ClosedFace { axis, upper, part } in &body.faces {
            let motions = motions_at(grid, body.centre, axis, blocks.cell(upper).map(|c| c as i64));
            let lower = blocks.step(upper, axis, 0);
            for (cell, outwards) in [(lower, part), (Some(upper), -part)] {
                let Some(cell) = cell else { continue };
                let flux = motions.map(|m| outwards * m);
                match faces.unknown(cell) {
                    Some(unknown) => of_unknowns.push((unknown, flux)),
                    None if faces.is_blocked(cell) => of_blocked.push((cell.flat::<D>(), flux)),
                    None => {}
                }
            }
        }
        let mut of_blocked = summed(of_blocked);
        of_blocked.retain(|(cell, flux)| films::is_film(faces, *cell, flux));
        Self { of_unknowns, of_blocked }
    }
}

/// The sums of fluxes by what they flow out of, in its order.
fn summed(mut fluxes: Vec<(usize, Twist)>) -> Vec<(usize, Twist)> {
    fluxes.sort_by_key(|&(of, _)| of);
    let sum = |run: &[(usize, Twist)]| {
        let total = |motion: usize| run.iter().map(|(_, flux)| flux[motion]).sum();
        (run[0].0, std::array::from_fn(total))
    };
    fluxes.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}
