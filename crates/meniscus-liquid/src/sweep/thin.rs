//! Thin walls: what they part, and where a point comes out of them. All is in cells.

use meniscus_core::vector::{add_scaled, norm, sub};

use super::distance::{is_thick, shortest_way_out};

/// Walls thinner than this are thin, in cells. The diagonal of a face is shorter, and liquid reaches no farther beyond its particles (1.9 cells at walls): thicker ones
/// need no care.
pub const THIN: f64 = 2.0;

/// Walls thinner than this part of a cell may be missed: the least step along the way between two cells. Particles keep as far from walls.
const STEP: f64 = 0.02;

/// The step by which slopes of distances are told, in cells: well below the thinnest wall that is found, well above the rounding of distances.
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
    let is_thin = || !is_thick(distance, centre, STEP, THIN);
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
            return !is_thick(distance, point, STEP, THIN);
        }
        gone += here.max(STEP);
    }
    false
}
