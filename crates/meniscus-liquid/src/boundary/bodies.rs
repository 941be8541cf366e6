//! What free bodies close of the grid.

use meniscus_core::fractions::{grid_cell_open_fraction, grid_face_open_fraction};
use meniscus_core::grid::{FaceField, Grid};
use meniscus_core::parallel;
use meniscus_core::vector::{add_scaled, norm};

use super::sight::Seen;
use super::{Boundary, CLOSED};
use crate::params::Params;
use crate::rigid::{ClosedFace, RigidCarrier};
use crate::surroundings::{Solid, Surroundings};
use crate::sweep::outwards;
use meniscus_rigid::Matrix;

/// What the grid sees of a free body.
#[derive(Clone, Debug)]
pub struct BodyView {
    /// Its mass matrix if it had a density of 1 kg/m³.
    pub unit_mass: Matrix,
    /// What it closes of the faces of the blocks.
    pub faces: Vec<ClosedFace>,
    /// What the mass matrix counts of faces beyond what it closes of them: less than nothing where a film moves with the body.
    pub unseen: Vec<ClosedFace>,
}

impl<const D: usize> Boundary<D> {
    /// Closes what free bodies take of the faces, of what walls leave open.
    pub(super) fn close_by_bodies(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        seen: &[Seen],
    ) {
        let free: Vec<&Solid<D>> = surroundings.solids.iter().filter(|solid| solid.free.is_some()).collect();
        if free.is_empty() {
            return;
        }
        let blocks = self.blocks.clone();
        let mut by_bodies = FaceField::new(blocks.clone(), 0.0);
        for solid in free {
            let closed = closed_faces(&params.grid, solid);
            let unit_mass = RigidCarrier::mass_of_faces(&params.grid, solid.to.translation, 1.0, &closed);
            let (mut faces, mut unseen) = (Vec::new(), Vec::new());
            for (axis, cell, whole) in closed {
                let Some(upper) = blocks.locate(cell) else { continue };
                let open = &mut self.open.axes[axis].values_mut()[upper.flat::<D>()];
                let left = (*open - whole as f32).max(0.0);
                let part = if left < CLOSED { *open } else { whole as f32 };
                *open -= part;
                if part > 0.0 {
                    by_bodies.axes[axis].values_mut()[upper.flat::<D>()] += part;
                    faces.push(ClosedFace { axis, upper, part: f64::from(part) });
                }
                if f64::from(part) != whole {
                    unseen.push(ClosedFace { axis, upper, part: whole - f64::from(part) });
                }
            }
            self.bodies.push(BodyView { unit_mass, faces, unseen });
        }
        self.by_bodies = Some(by_bodies);
        self.close_films(seen);
    }
}

/// What a body closes of a face: the axis, the cell above it, and the part.
type Closed<const D: usize> = (usize, [i64; D], f64);

/// What a body closes of the faces of a grid, in the domain or not: the part that it takes of the staggered cell around a face
/// (Batty 2007), so that the sum along each axis is its volume. Where it is thinner than two cells nothing could be closed in
/// that way, and it is what it closes of the face itself.
fn closed_faces<const D: usize>(grid: &Grid<D>, body: &Solid<D>) -> Vec<Closed<D>> {
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
    use meniscus_core::shape::{RigidTransform, Rotation, Shape};

    use super::*;
    use crate::rigid::mass_of;
    use meniscus_rigid::RigidBody;

    /// The mass matrix of the faces that a body closes is the exact one, but for what the grid does not see.
    #[test]
    fn the_grid_sees_the_mass_of_a_turned_body() {
        let rotation = Rotation::<3>::from_axis_angle([1.0, -2.0, 0.7], 0.8).unwrap();
        let pose = RigidTransform { rotation, translation: [0.51, 0.48, 0.52] };
        let shape = Shape::centred_box([0.0; 3], [0.25, 0.1, 0.15]).unwrap();
        let body = RigidBody::new(shape.clone(), 700.0, pose).unwrap();
        let grid = Grid { origin: [0.0; 3], dx: 1.0 / 48.0, cells: [48; 3] };
        let solid = Solid { from: pose, to: pose, free: Some(body.velocity), ..Solid::fixed(shape) };
        let closed = closed_faces(&grid, &solid);
        let of_faces = RigidCarrier::mass_of_faces(&grid, pose.translation, 1.0, &closed);
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
