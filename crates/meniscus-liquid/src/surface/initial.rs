//! The level set that a simulation begins with.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field, Grid};
use meniscus_core::level_set::redistance;
use meniscus_core::shape::Shape;
use meniscus_core::vector::{add_scaled, dot, norm, sub};

use crate::params::Params;
use crate::surroundings::Solid;
use crate::sweep::{outwards, sees, shortest_way_out};

/// The level set of shapes of liquid in a domain.
///
/// A shape that ends flush with a wall, as a pool does, has no surface there. Where the nearest point of its
/// boundary is such, the distance is that of the plane through the nearest part of the surface. So it is in the wall itself, whose
/// cells may be open in part.
pub fn initial_surface<const D: usize>(
    params: &Params<D>,
    shapes: &[Shape<D>],
    solids: &[Solid<D>],
    blocks: &Arc<Blocks<D>>,
) -> Field<f32, D> {
    let grid = &params.grid;
    let band = params.band();
    let surface = Flush { grid, shapes, solids, band: f64::from(band) };
    let mut phi = Field::from_fn(blocks.clone(), band, |cell| {
        if (0..D).any(|a| cell[a] >= grid.cells[a]) {
            return band;
        }
        let centre = grid.cell_centre(cell.map(|c| c as i64));
        (surface.level(centre) as f32).clamp(-band, band)
    });
    redistance(&mut phi, band);
    phi
}

/// Shapes of liquid, some of them flush with walls.
struct Flush<'a, const D: usize> {
    grid: &'a Grid<D>,
    shapes: &'a [Shape<D>],
    solids: &'a [Solid<D>],
    band: f64,
}

impl<const D: usize> Flush<'_, D> {
    /// The level set at a point, in cells.
    fn level(&self, point: [f64; D]) -> f64 {
        let (value, depth) = (self.distance(point), -self.to_wall(point));
        if value.abs() >= self.band {
            return value;
        }
        let normal = outwards(|x| self.distance(x), point, self.small());
        let foot = add_scaled(point, -value * self.grid.dx, normal);
        if self.to_wall(foot).abs() >= self.grid.dx {
            return value;
        }
        if depth < 0.0 {
            let is_flush = dot(normal, outwards(|x| self.to_wall(x), foot, self.small())) < -0.9;
            let level = || self.level_by_surface(point, point).unwrap_or(self.band);
            return if is_flush { level().copysign(value) } else { value };
        }
        let out = shortest_way_out(&|x| self.to_wall(x), point, self.small());
        let in_front = add_scaled(point, depth + 10.0 * self.small(), out);
        if self.to_wall(in_front) <= 0.0 {
            return value;
        }
        let level = self.level_by_surface(point, in_front).unwrap_or_else(|| {
            let of_front = self.distance(in_front);
            if of_front.signum() == value.signum() { value } else { self.band.copysign(of_front) }
        });
        value.min(level)
    }

    /// The step by which slopes of distances are told, in metres.
    fn small(&self) -> f64 {
        2e-3 * self.grid.dx
    }

    /// The distance to the boundary of the shapes, in cells.
    fn distance(&self, point: [f64; D]) -> f64 {
        let distances = self.shapes.iter().map(|s| s.signed_distance(point));
        distances.fold(f64::INFINITY, f64::min) / self.grid.dx
    }

    /// The distance to the walls, positive in the open, in metres.
    fn to_wall(&self, point: [f64; D]) -> f64 {
        let x = self.grid.to_cells(point);
        let sides = (0..D).map(|a| x[a].min(self.grid.cells[a] as f64 - x[a]) * self.grid.dx);
        sides.chain(self.solids.iter().map(|s| s.distance(point))).fold(f64::INFINITY, f64::min)
    }

    /// The distance of a point from the plane of the surface that is nearest, along the axes, to another point, in the open, or to
    /// one farther from the wall; none if there is no surface in reach.
    fn level_by_surface(&self, point: [f64; D], from: [f64; D]) -> Option<f64> {
        let out = outwards(|x| self.to_wall(x), from, self.small());
        let farther = (0..self.band as usize).map(|cells| add_scaled(from, cells as f64 * self.grid.dx, out));
        let at = farther.take_while(|x| self.to_wall(*x) > 0.0).find_map(|x| self.nearest_surface(x))?;
        Some(dot(sub(point, at), outwards(|x| self.distance(x), at, self.small())) / self.grid.dx)
    }

    /// The nearest point, along the axes, where liquid ends or begins, if none of them leads into a wall first.
    fn nearest_surface(&self, point: [f64; D]) -> Option<[f64; D]> {
        let ways = (0..D).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
        let found = ways.filter_map(|(axis, side)| self.surface_along(point, axis, side));
        found.min_by(|a, b| norm(sub(*a, point)).total_cmp(&norm(sub(*b, point))))
    }

    fn surface_along(&self, point: [f64; D], axis: usize, side: f64) -> Option<[f64; D]> {
        let mut to = point;
        for _ in 0..self.band as usize {
            let from = to;
            to[axis] += side * self.grid.dx;
            if !sees(|x| self.to_wall(x), [from, to], 10.0 * self.small(), 0.0) {
                return None;
            }
            if let Some(part) = crossing(|x| self.distance(x), from, to) {
                return Some(add_scaled(from, part, sub(to, from)));
            }
        }
        None
    }
}

/// Where on the way from `from` to `to` the sign changes, 0 to 1, if it does.
fn crossing<const D: usize>(distance: impl Fn([f64; D]) -> f64, from: [f64; D], to: [f64; D]) -> Option<f64> {
    let inside = distance(from) < 0.0;
    if (distance(to) < 0.0) == inside {
        return None;
    }
    let way = sub(to, from);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let point = std::array::from_fn(|a| from[a] + middle * way[a]);
        if (distance(point) < 0.0) == inside { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use meniscus_core::shape::{RigidTransform, Rotation};

    use super::*;

    /// On its side of a thin plate that leans over it.
    #[test]
    fn a_flush_pool_goes_on_in_its_wall() {
        let grid = Grid { origin: [0.0; 2], dx: 1.0, cells: [40, 24] };
        let rotation = Rotation::<2>::from_angle(f64::to_radians(10.0)).unwrap();
        let pose = RigidTransform { rotation, translation: [19.25, 12.4] };
        let plate = Shape::box_between([0.0, -80.0], [0.6, 80.0]).unwrap().transformed(pose).unwrap();
        let beside = Shape::half_space([0.0; 2], [1.0, 0.0]).unwrap().transformed(pose).unwrap();
        let room = Shape::box_between([0.0; 2], [40.0, 12.4]).unwrap();
        let pool = Shape::intersection(vec![room, beside]).unwrap();
        let shapes = [pool];
        let solids = [Solid::fixed(plate)];
        let surface = Flush { grid: &grid, shapes: &shapes, solids: &solids, band: 5.0 };
        for [x, y] in (16..24).flat_map(|x| (2..14).map(move |y| [x, y])) {
            let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
            let is_beside = pose.apply_inverse(centre)[0] < 0.3;
            let level = surface.level(centre);
            let expected = (centre[1] - 12.4).clamp(-3.0, 3.0);
            let is_right =
                if is_beside { (level.clamp(-3.0, 3.0) - expected).abs() < 1e-6 } else { level > 0.0 };
            assert!(is_right, "{x}, {y}: {level} of {expected}");
        }
    }
}
