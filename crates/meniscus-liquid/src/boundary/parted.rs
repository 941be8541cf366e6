//! Thin walls. Distances at the nodes of the grid do not show that they part what is on both sides of them: a face may reach from one side to the other, and a
//! cell from both to its centre in the wall.

use meniscus_core::grid::{block_len, cell_in_block};

use super::nodes::node_index;
use crate::sweep::{is_parted, point_in_the_open};

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
