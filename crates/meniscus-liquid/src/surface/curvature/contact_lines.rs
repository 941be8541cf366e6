//! Surface tension pulls on bodies where the surface ends at them.
//!
//! The surface has no mass, so what it pulls the liquid with, it is pulled with by what it ends at. It meets a body at a right angle, hence pulls it with
//! the tension along the body's own normal, all along the line of contact. The line is where the distances from the surface and from the body vanish: with `delta` of both,
//! the integral along it is one over the cells around, of both times the sine of the angle between the two. Normals are those of the body's shape, so that a disc or a ball is not turned.
//! Without this pull a body that carries a drop would be pushed by the pressure in the drop, and both would move off on their own.

use meniscus_core::grid::Field;
use meniscus_core::parallel;
use meniscus_core::vector::{dot, norm, sub};

use super::mirrored_in_solid;
use crate::boundary::Boundary;
use crate::params::Params;
use crate::substep::Substep;
use crate::surroundings::Solid;
use meniscus_rigid::{Twist, add, motions};

/// The impulse in `dt` seconds on each body, about its centre. The bodies are the last of the solids, as in [`Substep::surroundings`].
pub fn impulses_of_contact_lines<const D: usize>(
    Substep { params, surroundings, boundary, dt }: Substep<D>,
    level_set: &Field<f32, D>,
) -> Vec<Twist> {
    let first = surroundings.solids.len() - surroundings.bodies.len();
    let line = ContactLines { params, level_set, boundary, solids: &surroundings.solids };
    (first..surroundings.solids.len()).map(|body| line.force(body).map(|force| force * dt)).collect()
}

struct ContactLines<'a, const D: usize> {
    params: &'a Params<D>,
    level_set: &'a Field<f32, D>,
    boundary: &'a Boundary<D>,
    solids: &'a [Solid<D>],
}

impl<const D: usize> ContactLines<'_, D> {
    /// The force on a solid, about the origin of its frame.
    fn force(&self, solid: usize) -> Twist {
        let blocks = self.level_set.blocks();
        let of_block = |block: usize| {
            let mut force = Twist::default();
            let (centre, half_diagonal) = self.params.block_ball(blocks.coord(block));
            let reach = REACH_OF_DELTA * self.params.grid.dx;
            if self.distance(solid, centre).abs() <= half_diagonal + reach {
                blocks.cells_inside(block).for_each(|slot| {
                    if self.level_set[slot].abs() < FAR_FROM_LINE {
                        add(&mut force, &self.force_of_cell(solid, blocks.cell(slot).map(|c| c as i64)));
                    }
                });
            }
            force
        };
        let of_blocks: Vec<Twist> = parallel::map(blocks.len(), of_block);
        of_blocks.iter().fold(Twist::default(), |mut sum, force| {
            add(&mut sum, force);
            sum
        })
    }

    fn force_of_cell(&self, solid: usize, cell: [i64; D]) -> Twist {
        let grid = &self.params.grid;
        let point = grid.cell_centre(cell);
        let distance = self.distance(solid, point);
        let of_body = delta(distance / grid.dx);
        let others = || self.solids.iter().enumerate().filter(|&(other, _)| other != solid);
        if of_body == 0.0 || others().any(|(other, _)| self.distance(other, point) < distance.min(0.0)) {
            return Twist::default();
        }
        let of_both = delta(self.level(cell)) * of_body;
        if of_both == 0.0 {
            return Twist::default();
        }
        let (Some(normal), Some(of_surface)) = (unit(self.normal(solid, point)), unit(self.rise(cell)))
        else {
            return Twist::default();
        };
        let of_both = of_both * (1.0 - dot(normal, of_surface).powi(2)).max(0.0).sqrt();
        let pull = self.params.surface_tension * grid.dx.powi(D as i32 - 2) * of_both;
        let on_body: [f64; D] = std::array::from_fn(|a| point[a] - distance * normal[a]);
        let from_centre = sub(on_body, self.solids[solid].to.translation);
        let mut force = Twist::default();
        for (axis, n) in normal.into_iter().enumerate() {
            add(&mut force, &motions(axis, from_centre).map(|m| pull * n * m));
        }
        force
    }

    /// The level set of a cell, mirrored in solids.
    fn level(&self, cell: [i64; D]) -> f64 {
        let mirrored = mirrored_in_solid(self.level_set, self.boundary, cell);
        mirrored.unwrap_or_else(|| self.level_set.get(cell)).into()
    }

    /// The direction in which it rises.
    fn rise(&self, cell: [i64; D]) -> [f64; D] {
        std::array::from_fn(|a| {
            let beside = |by: i64| std::array::from_fn(|b| cell[b] + if a == b { by } else { 0 });
            self.level(beside(1)) - self.level(beside(-1))
        })
    }

    fn distance(&self, solid: usize, point: [f64; D]) -> f64 {
        let solid = &self.solids[solid];
        solid.shape.signed_distance(solid.to.apply_inverse(point))
    }

    /// The direction in which the distance from a solid rises.
    fn normal(&self, solid: usize, point: [f64; D]) -> [f64; D] {
        let step = DIFFERENCE * self.params.grid.dx;
        std::array::from_fn(|a| {
            let at = |by: f64| {
                let mut beside = point;
                beside[a] += by;
                self.distance(solid, beside)
            };
            at(step) - at(-step)
        })
    }
}

fn unit<const D: usize>(vector: [f64; D]) -> Option<[f64; D]> {
    let length = norm(vector);
    (length > NO_DIRECTION).then(|| vector.map(|x| x / length))
}

/// What rises by less over a step, in metres or cells, has no direction: rounding.
const NO_DIRECTION: f64 = 1e-12;

/// `delta` reaches so far, in cells: the support of the quadratic B-spline.
const REACH_OF_DELTA: f64 = 1.5;

/// A cell next to a body whose mirrored point is near the surface is nearer to it than this, in cells: twice what [`delta`] reaches.
const FAR_FROM_LINE: f32 = 3.0;

/// The step of differences of distances, in cells: well below a body's radius of curvature, well above rounding.
const DIFFERENCE: f64 = 0.01;

/// How much of a surface is at a distance from it, in cells: the quadratic B-spline, whose sum over cells is 1 wherever the surface lies between them.
fn delta(distance: f64) -> f64 {
    match distance.abs() {
        near if near < 0.5 => 0.75 - near * near,
        far => 0.5 * (1.5 - far).max(0.0).powi(2),
    }
}

#[cfg(test)]
mod tests {
    use super::delta;

    #[test]
    fn there_is_as_much_of_a_surface_wherever_it_lies() {
        for at in [0.0, 0.1, 0.37, 0.5, 0.93] {
            let sum: f64 = (-3..=3).map(|cell| delta(f64::from(cell) - at)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{at}: {sum}");
        }
    }
}
