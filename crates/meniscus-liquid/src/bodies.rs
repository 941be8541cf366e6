//! Rigid bodies that the liquid moves: where they are, and what the grid sees of them.

use meniscus_core::fractions::{grid_cell_open_fraction, grid_face_open_fraction};
use meniscus_core::grid::Grid;
use meniscus_core::shape::RigidTransform;
use meniscus_core::vector::{add_scaled, norm};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::boundary::CLOSED;
use crate::params::{Rigid, Solid};
use crate::rigid::{Twist, rotation_vector};
use crate::sweep::outwards;

/// A rigid body at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidState<const D: usize> {
    /// Where it was before it last moved.
    pub from: RigidTransform<D>,
    /// Where it is: the transform of its shape.
    pub pose: RigidTransform<D>,
    /// Its velocity.
    pub velocity: Twist,
}

impl<const D: usize> RigidState<D> {
    /// A body as it begins.
    pub fn new(body: &Rigid<D>) -> Self {
        Self { from: body.pose, pose: body.pose, velocity: body.velocity }
    }

    /// Moves it by its velocity.
    pub fn fly(&mut self, dt: f64) {
        self.from = self.pose;
        let turn = rotation_vector::<D>(&self.velocity).map(|rate| rate * dt);
        self.pose = RigidTransform {
            rotation: self.pose.rotation.turned(turn),
            translation: std::array::from_fn(|a| self.pose.translation[a] + dt * self.velocity[a]),
        };
    }
}

/// What a body closes of a face: the axis, the cell above it, and the part.
pub type Closed<const D: usize> = (usize, [i64; D], f64);

/// What a body closes of the faces of a grid, in the domain or not: the part that it takes of the staggered cell around a face
/// (Batty 2007), so that the sum along each axis is its volume. Where it is thinner than two cells nothing could be closed in
/// that way, and it is what it closes of the face itself.
pub fn closed_faces<const D: usize>(grid: &Grid<D>, body: &Solid<D>) -> Vec<Closed<D>> {
    let bounds = body.shape.bounds().transformed(&body.to);
    let (lower, upper) = (grid.to_cells(bounds.lower), grid.to_cells(bounds.upper));
    let first = lower.map(|c| c.floor() as i64 - 1);
    let count: [usize; D] = std::array::from_fn(|a| (upper[a].ceil() as i64 + 2 - first[a]).max(0) as usize);
    let layer = |last: usize| -> Vec<Closed<D>> {
        let mut dims = count;
        dims[D - 1] = 1;
        let cells = (0..dims.iter().product()).map(|index| {
            let within = meniscus_core::grid::unravel(index, dims);
            std::array::from_fn(|a| first[a] + if a == D - 1 { last } else { within[a] } as i64)
        });
        let faces = cells.flat_map(|cell| (0..D).map(move |axis| (axis, cell)));
        let closed = faces.map(|(axis, cell)| (axis, cell, closed_part(grid, body, axis, cell)));
        closed.filter(|(_, _, part)| *part > 0.0).collect()
    };
    let layers: Vec<Vec<Closed<D>>> = (0..count[D - 1]).into_par_iter().map(layer).collect();
    layers.concat()
}

fn closed_part<const D: usize>(grid: &Grid<D>, body: &Solid<D>, axis: usize, cell: [i64; D]) -> f64 {
    let centre = grid.face_centre(axis, cell);
    let distance = body.distance(centre);
    let half_diagonal = 0.5 * (D as f64).sqrt() * grid.dx;
    if distance.abs() >= half_diagonal {
        return if distance < 0.0 { 1.0 } else { 0.0 };
    }
    let open = if is_thick(grid, body, centre, distance) {
        let mut staggered = *grid;
        staggered.origin[axis] -= 0.5 * grid.dx;
        grid_cell_open_fraction(cell, |node| body.distance(staggered.node(node)))
    } else {
        grid_face_open_fraction(grid, axis, cell, |node| body.distance(grid.node(node)))
    };
    // As it will be stored: what the mass is made of is then what the flow sees.
    if open < f64::from(CLOSED) { 1.0 } else { f64::from((1.0 - open) as f32) }
}

/// Whether a body goes on for two cells behind its surface, where that is nearest to a point.
fn is_thick<const D: usize>(grid: &Grid<D>, body: &Solid<D>, point: [f64; D], distance: f64) -> bool {
    let out = outwards(|x| body.distance(x), point, 0.02 * grid.dx);
    let behind = |depth: f64| add_scaled(point, -(distance + depth * grid.dx), out);
    norm(out) > 0.0 && [1.0, 1.9].into_iter().all(|depth| body.distance(behind(depth)) < 0.0)
}
