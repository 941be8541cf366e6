//! Rigid bodies that the liquid moves: where they are, and what the grid sees of them.

use std::fmt::Debug;

use meniscus_core::fractions::{grid_cell_open_fraction, grid_face_open_fraction};
use meniscus_core::grid::Grid;
use meniscus_core::parallel;
use meniscus_core::shape::{RigidTransform, Rotation};
use meniscus_core::vector::{add_scaled, norm};
use serde::{Deserialize, Serialize};

use crate::boundary::CLOSED;
use crate::contact::Touch;
use crate::params::{Rigid, Solid};
use crate::rigid::{Matrix, Twist, mass_matrix, rotation_vector, twist};
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

    /// The velocity of its centre of mass, in m/s.
    pub fn centre_velocity(&self) -> [f64; D] {
        std::array::from_fn(|a| self.velocity[a])
    }

    /// The axis that it turns about, as long as the rate in radians a second.
    pub fn angular_velocity(&self) -> [f64; 3] {
        rotation_vector::<D>(&self.velocity)
    }

    /// Moves it to a pose and gives it a velocity.
    pub fn move_to(
        &mut self,
        pose: RigidTransform<D>,
        centre_velocity: [f64; D],
        angular_velocity: [f64; 3],
    ) {
        *self = Self { from: self.pose, pose, velocity: twist(centre_velocity, angular_velocity) };
    }

    /// Moves it by its velocity, as if it met nothing.
    pub fn fly(&mut self, dt: f64) {
        let turn = self.angular_velocity().map(|rate| rate * dt);
        let pose = RigidTransform {
            rotation: self.pose.rotation.turned(turn),
            translation: std::array::from_fn(|a| self.pose.translation[a] + dt * self.velocity[a]),
        };
        (self.from, self.pose) = (self.pose, pose);
    }
}

/// What bodies run into, as someone else knows it.
pub trait Contact<const D: usize>: Debug + Send + Sync {
    /// Where bodies touch each other, solids and sides of the domain, or may do so before `dt` seconds have passed.
    fn touches(&self, bodies: &[RigidState<D>], dt: f64) -> Vec<Touch<D>>;
}

/// The mass matrix of a body where it is, in a fluid of a density `around` it.
///
/// What weighs as the fluid does is that of the faces that the body closes, as the flow sees it: gravity moves it as it moves the fluid, and a neutral body stays at rest exactly. What
/// is heavier is exact, and so is the place of its centre: a ball on a dry floor does not roll. All is exact where the grid sees less than half of it.
pub fn mass_of<const D: usize>(
    body: &Rigid<D>,
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
    let layers: Vec<Vec<Closed<D>>> = parallel::map(count[D - 1], layer);
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

#[cfg(test)]
mod tests {
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::projection::RigidBody;

    /// The mass matrix of the faces that a body closes is the exact one, but for what the grid does not see.
    #[test]
    fn the_grid_sees_the_mass_of_a_turned_body() {
        let rotation = Rotation::<3>::from_axis_angle([1.0, -2.0, 0.7], 0.8).unwrap();
        let pose = RigidTransform { rotation, translation: [0.51, 0.48, 0.52] };
        let shape = Shape::centred_box([0.0; 3], [0.25, 0.1, 0.15]).unwrap();
        let body = Rigid::new(shape.clone(), 700.0, pose).unwrap();
        let grid = Grid { origin: [0.0; 3], dx: 1.0 / 48.0, cells: [48; 3] };
        let solid = Solid { from: pose, to: pose, free: Some(body.velocity), ..Solid::fixed(shape) };
        let closed = closed_faces(&grid, &solid);
        let of_faces = RigidBody::mass_of_faces(&grid, pose.translation, 1.0, &closed);
        let [seen, exact] = [1000.0, 0.0].map(|around| mass_of(&body, &pose, &of_faces, around));
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let scale = (exact[i][i] * exact[j][j]).sqrt();
            let error = (seen[i][j] - exact[i][j]) / scale;
            assert!(error.abs() < 0.02, "{i} {j}: {} instead of {}", seen[i][j], exact[i][j]);
        }
        let is_mixed = |(i, j): (usize, usize)| exact[i][j].abs() > 0.05 * exact[i][i];
        let is_turned = [(3, 4), (3, 5), (4, 5)].into_iter().any(is_mixed);
        assert!(is_turned, "the axes of the body are not those of the grid: {exact:?}");
    }
}
