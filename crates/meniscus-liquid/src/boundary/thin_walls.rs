//! Walls that are thinner than a cell, which distances at the nodes of the grid do not show.

use meniscus_core::grid::{block_len, cell_in_block};
use meniscus_core::vector::{add_scaled, norm, sub};

use super::sight::node_index;
use crate::sweep::goes_on;

/// The faces of a block that a thin wall closes: by cell, a bit for each axis along which its lower face is one. Empty
/// if there are none. `solids` are the distances to each solid, in cells, at a point of the block.
///
/// Each cell stands for a point in the open: its centre, or the point nearest to that where a thin wall covers it. A
/// face is closed if a thin wall parts the points of its two cells.
pub fn find_parted<const D: usize>(nodes: &[f32], solids: &[impl Fn([f64; D]) -> f64]) -> Vec<u8> {
    let mut parted = Vec::new();
    for local in 0..block_len::<D>() {
        let inner = cell_in_block::<D>(local);
        let corner = |k: usize| nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))];
        // A wall between two cells is nearer than this to a corner of the face between them.
        if (0..1 << D).all(|k| corner(k).abs() > 1.0) {
            continue;
        }
        let centre = inner.map(|c| c as f64 + 0.5);
        let Some(here) = point_in_the_open(solids, centre) else { continue };
        for axis in 0..D {
            let below = std::array::from_fn(|a| if a == axis { centre[a] - 1.0 } else { centre[a] });
            let below = point_in_the_open(solids, below);
            if below.is_some_and(|below| is_parted(solids, below, here)) {
                parted.resize(block_len::<D>(), 0);
                parted[local] |= 1 << axis;
            }
        }
    }
    parted
}

/// Walls thinner than this part of a cell may be missed.
const STEP: f64 = 0.02;

/// The point that a cell stands for; none if solids that are not thin cover all between its centre and the nearest point in the open, and that is of another cell.
pub fn point_in_the_open<const D: usize>(
    solids: &[impl Fn([f64; D]) -> f64],
    centre: [f64; D],
) -> Option<[f64; D]> {
    let distance = |point: [f64; D]| solids.iter().map(|solid| solid(point)).fold(f64::INFINITY, f64::min);
    let depth = -distance(centre);
    if depth < 0.0 {
        return Some(centre);
    }
    let out = outwards(&distance, centre);
    let point = add_scaled(centre, depth + STEP, out);
    let is_inside = || (0..D).all(|a| (point[a] - centre[a]).abs() < 0.5);
    ((is_inside() || is_thin(&distance, centre, out)) && distance(point) > 0.0).then_some(point)
}

/// Whether a thin wall lies between two points in the open: each solid counts by itself, whatever else lies behind it.
pub fn is_parted<const D: usize>(solids: &[impl Fn([f64; D]) -> f64], from: [f64; D], to: [f64; D]) -> bool {
    solids.iter().any(|solid| parts(solid, from, to))
}

fn parts<const D: usize>(distance: &impl Fn([f64; D]) -> f64, from: [f64; D], to: [f64; D]) -> bool {
    let way = sub(to, from);
    let length = norm(way).max(f64::MIN_POSITIVE);
    let (mut gone, end) = (distance(from).max(STEP), length - distance(to));
    while gone < end {
        let point = add_scaled(from, gone / length, way);
        let here = distance(point);
        if here < 0.0 {
            return is_thin(distance, point, outwards(distance, point));
        }
        gone += here.max(STEP);
    }
    false
}

/// Whether a solid is thinner than a cell, seen from a point inside it, along the shortest way out.
fn is_thin<const D: usize>(distance: &impl Fn([f64; D]) -> f64, inside: [f64; D], out: [f64; D]) -> bool {
    !goes_on(distance, inside, out, STEP, 1.0)
}

/// The direction in which the distance grows. In the middle of a wall it grows either way, and differences across it tell nothing: then that at a point beside.
fn outwards<const D: usize>(distance: &impl Fn([f64; D]) -> f64, point: [f64; D]) -> [f64; D] {
    const SMALL: f64 = 1e-3;
    let moved = |mut point: [f64; D], axis: usize, by: f64| {
        point[axis] += by;
        point
    };
    let slope = |at: [f64; D]| -> [f64; D] {
        std::array::from_fn(|axis| distance(moved(at, axis, SMALL)) - distance(moved(at, axis, -SMALL)))
    };
    let points = || std::iter::once(point).chain((0..D).map(|axis| moved(point, axis, 4.0 * SMALL)));
    let steeper = |a: &[f64; D], b: &[f64; D]| norm(*a).total_cmp(&norm(*b));
    let clear = points().map(slope).find(|slope| norm(*slope) > 1.8 * SMALL);
    let steepest = clear.or_else(|| points().map(slope).max_by(steeper)).unwrap_or([0.0; D]);
    let length = norm(steepest).max(f64::MIN_POSITIVE);
    steepest.map(|s| s / length)
}
