//! Rigid bodies as carriers of velocity: what a projection knows of them.

use meniscus_core::grid::{Blocks, Grid, Slot};
use meniscus_core::shape::{RigidTransform, Rotation};
use meniscus_rigid::{
    Inertial, Matrix, RigidBody, SIZE, Twist, add, dot, inverse, mass_matrix, motions_at, product,
};

/// A rigid body as a carrier of velocity, which pressure moves.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidCarrier<const D: usize> {
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

impl<const D: usize> RigidCarrier<D> {
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

    /// As contacts see it.
    pub fn inertial(&self) -> Inertial<D> {
        Inertial { centre: self.centre, mass: self.mass, velocity: self.velocity }
    }

    /// The kinetic energy with a velocity, in J.
    pub fn energy(&self, velocity: &Twist) -> f64 {
        0.5 * self.work(velocity, velocity)
    }

    /// The work on a body with a velocity of what changes its velocity, in J.
    pub fn work(&self, velocity: &Twist, change: &Twist) -> f64 {
        dot(velocity, &product(&self.mass, change))
    }
}

/// What the motions of a body about its `centre` make flow out of the cells on both sides of the faces that it closes, per area of a face: by the number of the cell, of
/// those that have one. A cell comes once for each such face.
pub fn fluxes_of_closed_faces<const D: usize>(
    grid: &Grid<D>,
    blocks: &Blocks<D>,
    centre: [f64; D],
    faces: &[ClosedFace],
    number: impl Fn(Slot) -> Option<usize>,
) -> Vec<(usize, Twist)> {
    let mut fluxes = Vec::new();
    for &ClosedFace { axis, upper, part } in faces {
        let motions = motions_at(grid, centre, axis, blocks.cell(upper).map(|c| c as i64));
        let lower = blocks.step(upper, axis, 0);
        for (cell, outwards) in [(lower, part), (Some(upper), -part)] {
            if let Some(number) = cell.and_then(&number) {
                fluxes.push((number, motions.map(|m| outwards * m)));
            }
        }
    }
    fluxes
}

/// The mass matrix of a body where it is, in a fluid of a density `around` it.
///
/// What weighs as the fluid does is that of the faces that the body closes, as the flow sees it: gravity moves it as it moves the fluid, and a neutral body stays at rest exactly. What
/// is heavier is exact, and so is the place of its centre: a ball on a dry floor does not roll. All is exact where the grid sees less than half of it.
pub fn mass_of<const D: usize>(
    body: &RigidBody<D>,
    pose: &RigidTransform<D>,
    of_faces: &Matrix,
    around: f64,
) -> Matrix {
    let is_seen = (0..D).all(|axis| of_faces[axis][axis] > 0.5 * body.volume);
    let seen = if is_seen { body.density.min(around) } else { 0.0 };
    let exact = mass_matrix::<D>(body.volume, turned(&body.unit_inertia, &pose.rotation));
    std::array::from_fn(|i| {
        std::array::from_fn(|j| seen * of_faces[i][j] + (body.density - seen) * exact[i][j])
    })
}

/// A tensor of inertia of a body that is turned.
fn turned<const D: usize>(inertia: &[[f64; 3]; 3], rotation: &Rotation<D>) -> [[f64; 3]; 3] {
    if D == 2 {
        return *inertia;
    }
    let r = rotation.matrix();
    let entry = |i: usize, j: usize| {
        (0..D).flat_map(|a| (0..D).map(move |b| (a, b))).map(|(a, b)| r[i][a] * inertia[a][b] * r[j][b]).sum()
    };
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}
