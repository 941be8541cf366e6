//! The contour of a level set in the plane.

use super::vertices::DualVertices;
use crate::grid::{Field, block_len};

/// The closed polylines where a level set in the plane changes from negative (liquid) to air, in cells: the
/// counterpart of [`super::surface_mesh`]. The last point of each joins its first; the liquid is on the left.
pub fn contour(phi: &Field<f32, 2>) -> Vec<Vec<[f32; 2]>> {
    let dual = DualVertices::new(phi);
    let position = dual.positions();
    // The two edges that a patch crosses lead into it and out of it: each vertex has one that follows.
    let mut next = vec![u32::MAX; position.len()];
    for block in 0..dual.blocks().len() {
        for local in 0..block_len::<2>() {
            dual.for_each_crossing(block, local, |crossing| {
                let ends = [0, 1].map(|below| dual.vertex_beside(&crossing, below));
                let upwards = crossing.rising == (crossing.axis == 0);
                let (from, to) = if upwards { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
                next[from as usize] = to;
            });
        }
    }
    let mut seen = vec![false; position.len()];
    let mut loops = Vec::new();
    for start in 0..position.len() {
        let mut points = Vec::new();
        let mut vertex = start;
        while !seen[vertex] {
            seen[vertex] = true;
            points.push(position[vertex]);
            vertex = next[vertex] as usize;
        }
        if !points.is_empty() {
            loops.push(points);
        }
    }
    loops
}
