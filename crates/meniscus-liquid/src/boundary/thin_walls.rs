//! Thin walls. Distances at the nodes of the grid do not show that they part what is on both sides of them: a face may reach from one side to the other, and a
//! cell from both to its centre in the wall.

use meniscus_core::grid::{block_len, cell_in_block};
use meniscus_core::vector::{add_scaled, norm, sub};

use super::sight::node_index;
use crate::sweep::{goes_on, shortest_way_out};

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

/// Walls thinner than this are thin, in cells. The diagonal of a face is shorter, and liquid reaches no farther beyond its particles.
pub const THIN: f64 = 2.0;

/// Walls thinner than this part of a cell may be missed.
const STEP: f64 = 0.02;

/// The step by which slopes of distances are told, in cells.
const SMALL: f64 = 2e-3;

/// The point that a cell stands for; none if solids that are not thin cover all between its centre and the nearest point in the open, and that is of another cell.
pub fn point_in_the_open<const D: usize>(
    solids: &[impl Fn([f64; D]) -> f64],
    centre: [f64; D],
) -> Option<[f64; D]> {
    let distance = |point: [f64; D]| solids.iter().map(|solid| solid(point)).fold(f64::INFINITY, f64::min);
    if distance(centre) > 0.0 {
        return Some(centre);
    }
    let point = leave(&distance, centre);
    let is_inside = (0..D).all(|a| (point[a] - centre[a]).abs() < 0.5);
    let is_thin = || is_thin(&distance, centre, shortest_way_out(&distance, centre, SMALL));
    ((is_inside || is_thin()) && distance(point) > 0.0).then_some(point)
}

/// Where a point inside of a wall comes out of it. Samples of a distance round it off in the middle of a wall: the first step may be too short.
fn leave<const D: usize>(distance: &impl Fn([f64; D]) -> f64, inside: [f64; D]) -> [f64; D] {
    const MOST_STEPS: usize = 8;
    let mut point = inside;
    for _ in 0..MOST_STEPS {
        let depth = -distance(point);
        if depth < 0.0 {
            break;
        }
        point = add_scaled(point, depth + STEP, shortest_way_out(distance, point, SMALL));
    }
    point
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
            return is_thin(distance, point, shortest_way_out(distance, point, SMALL));
        }
        gone += here.max(STEP);
    }
    false
}

/// Whether a solid is [`THIN`], seen from a point inside it, along the shortest way out.
fn is_thin<const D: usize>(distance: &impl Fn([f64; D]) -> f64, inside: [f64; D], out: [f64; D]) -> bool {
    !goes_on(distance, inside, out, STEP, THIN)
}
