//! Which bubble a surface borders.

use meniscus_core::grid::{Field, unravel};
use meniscus_core::parallel;

use crate::frame::NO_AIR;

/// What a vertex has that no air is near: the liquid ends at a solid or a wall there.
pub const WALL: i32 = -1;

/// How far on the air's side of a vertex its air is looked for, and how far from there, in cells.
const OUTWARDS: f32 = 0.5;
const REACH: f32 = 1.3;

/// By vertex, the identity of the air next to it, or [`WALL`]: that of the cell whose centre is nearest to a point a little
/// outside the liquid. Within a cell of where air meets a wall, vertices of the wall may have the air's. `position` is in cells; `normal` points out of the liquid.
pub(super) fn bordering<const D: usize>(
    bubble_of: &Field<u32, D>,
    position: &[[f32; D]],
    normal: &[[f32; 3]],
) -> Vec<i32> {
    parallel::map_each(position.len(), |k| air_near(bubble_of, position[k], &normal[k]))
}

fn air_near<const D: usize>(bubble_of: &Field<u32, D>, x: [f32; D], normal: &[f32; 3]) -> i32 {
    let outside: [f32; D] = std::array::from_fn(|a| x[a] + OUTWARDS * normal[a]);
    let lower = outside.map(|x| (x - 0.5).floor() as i64 - 1);
    let mut nearest = (REACH * REACH, WALL);
    for k in 0..4usize.pow(D as u32) {
        let step = unravel(k, [4; D]);
        let cell = std::array::from_fn(|a| lower[a] + step[a] as i64);
        let squared: f32 = (0..D).map(|a| (cell[a] as f32 + 0.5 - outside[a]).powi(2)).sum();
        if squared < nearest.0 {
            let id = bubble_of.get(cell);
            if id != NO_AIR {
                nearest = (squared, i32::try_from(id).unwrap_or(i32::MAX));
            }
        }
    }
    nearest.1
}
