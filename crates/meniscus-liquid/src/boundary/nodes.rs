//! Values at the nodes of a block.

use meniscus_core::grid::BLOCK_EDGE;
use meniscus_core::interpolate::{MAX_CORNERS, value_and_gradient};

/// Nodes along the edge of a block, both ends included.
pub(super) const NODES: usize = BLOCK_EDGE + 1;

/// The place of a node among those of its block, x fastest.
pub(super) fn node_index<const D: usize>(node: [usize; D]) -> usize {
    node.iter().rev().fold(0, |index, &c| index * NODES + c)
}

/// The values at the corners of a cell.
pub(super) fn corners_of<const D: usize>(nodes: &[f32], inner: [usize; D]) -> [f64; 8] {
    let mut corners = [0.0; 8];
    for (k, corner) in corners.iter_mut().enumerate().take(1 << D) {
        *corner = f64::from(nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))]);
    }
    corners
}

/// The values of the nodes around a point of a block, and its place among them.
#[inline]
fn around<const D: usize>(nodes: &[f32], x: [f32; D]) -> ([f32; MAX_CORNERS], [f32; D]) {
    let base: [usize; D] = std::array::from_fn(|a| (x[a].max(0.0) as usize).min(BLOCK_EDGE - 1));
    let mut corners = [0.0; 8];
    for (k, corner) in corners.iter_mut().enumerate().take(1 << D) {
        *corner = nodes[node_index::<D>(std::array::from_fn(|a| base[a] + (k >> a & 1)))];
    }
    (corners, std::array::from_fn(|a| x[a] - base[a] as f32))
}

/// The multilinear interpolant of the nodes of a block, and its gradient.
#[inline]
pub(super) fn at_nodes<const D: usize>(nodes: &[f32], x: [f32; D]) -> (f32, [f32; D]) {
    let (corners, fraction) = around(nodes, x);
    value_and_gradient(corners, fraction)
}
