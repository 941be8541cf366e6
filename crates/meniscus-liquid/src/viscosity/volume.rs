//! How much of the cells is liquid.

use std::sync::Arc;

use meniscus_core::fractions::cell_open_fraction;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, HaloTile, Slot, block_len, cell_in_block, unravel};
use meniscus_core::parallel;

use crate::projection::Stored;

/// The liquid fractions of the 2^D corners of a cell: the parts into which the planes through its centre cut it. Bit `a` of
/// a corner's index says whether it is the upper one along axis `a`.
///
/// The control volumes of a staggered grid are made of such corners: 2^D of one cell, half of them of each of the two cells of a
/// face, a quarter of each of the four cells around an edge. Fractions taken from them agree with each other.
pub(super) type Corners = [f32; 8];

/// The liquid fractions of the corners of every cell, by the multilinear interpolant of the level set, which is
/// constant beyond the sides of the domain. Cells outside the domain hold nothing.
pub(super) fn liquid_corners<T: Stored, const D: usize>(level_set: &Field<T, D>) -> Field<Corners, D> {
    let blocks = level_set.blocks();
    let mut corners = Field::new(blocks.clone(), [0.0; 8]);
    parallel::for_chunks_with(
        corners.values_mut(),
        block_len::<D>(),
        || HaloTile::<f64, D, 1>::new(0.0),
        |tile, block, corners| {
            let first = blocks.coord(block).map(|c| c * BLOCK_EDGE);
            load_clamped(level_set, first, tile);
            if tile.values().iter().all(|&phi| phi >= 0.0) {
                return;
            }
            for (local, corners) in corners.iter_mut().enumerate() {
                if blocks.is_inside(Slot { block, local }) {
                    let centre = HaloTile::<f64, D, 1>::index(cell_in_block::<D>(local).map(|c| c + 1));
                    for (k, fraction) in corners.iter_mut().enumerate().take(1 << D) {
                        *fraction = corner_fraction(tile, centre, k) as f32;
                    }
                }
            }
        },
    );
    corners
}

/// The corners of a fluid that fills the domain.
pub(super) fn full_corners<const D: usize>(blocks: &Arc<Blocks<D>>) -> Field<Corners, D> {
    let mut corners = Field::new(blocks.clone(), [0.0; 8]);
    parallel::for_chunks(corners.values_mut(), block_len::<D>(), |block, corners| {
        for (local, corners) in corners.iter_mut().enumerate() {
            if blocks.is_inside(Slot { block, local }) {
                corners[..1 << D].fill(1.0);
            }
        }
    });
    corners
}

/// Loads the values of a block that begins at a cell, and its halo; cells outside the domain take the value of the
/// nearest one inside.
fn load_clamped<T: Stored, const D: usize>(
    level_set: &Field<T, D>,
    first: [usize; D],
    tile: &mut HaloTile<f64, D, 1>,
) {
    let cells = level_set.blocks().cells();
    for (index, value) in tile.values_mut().iter_mut().enumerate() {
        let place = unravel(index, [HaloTile::<f64, D, 1>::EDGE; D]);
        let clamped = |a: usize| (first[a] + place[a]).saturating_sub(1).min(cells[a] - 1) as i64;
        *value = level_set.get(std::array::from_fn(clamped)).into();
    }
}

/// The liquid fraction of a corner of the cell at `centre`.
fn corner_fraction<const D: usize>(tile: &HaloTile<f64, D, 1>, centre: usize, corner: usize) -> f64 {
    let values = tile.values();
    // The cells around the node of this corner, by the axes along which they lie beyond it.
    let mut around = [0.0; 8];
    for (beyond, value) in around.iter_mut().enumerate().take(1 << D) {
        let mut at = centre;
        for a in (0..D).filter(|a| beyond >> a & 1 == 1) {
            let stride = HaloTile::<f64, D, 1>::stride(a);
            at = if corner >> a & 1 == 1 { at + stride } else { at - stride };
        }
        *value = values[at];
    }
    let around = &around[..1 << D];
    if around.iter().all(|&phi| phi < 0.0) {
        return 1.0;
    }
    if around.iter().all(|&phi| phi >= 0.0) {
        return 0.0;
    }
    // The corner reaches half-way to the other cells, where the interpolant is the mean of those that it lies between.
    let mut vertices = [0.0; 8];
    for (index, vertex) in vertices.iter_mut().enumerate().take(1 << D) {
        let subsets = (0..1usize << D).filter(|beyond| beyond & !index == 0);
        let (sum, count) =
            subsets.fold((0.0, 0.0), |(sum, count), beyond| (sum + around[beyond], count + 1.0));
        *vertex = -sum / count;
    }
    cell_open_fraction::<D>(&vertices[..1 << D])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::Blocks;

    use super::*;

    /// A plane cuts the corners of each cell where it is; along the side of the domain too.
    #[test]
    fn the_corners_below_a_plane_fill_up_one_after_the_other() {
        let blocks = Arc::new(Blocks::<3>::all([9, 12, 16]));
        let level_set = Field::from_fn(blocks, 1.0f64, |cell| cell[1] as f64 + 0.5 - 7.3);
        let corners = liquid_corners(&level_set);
        for cell in [[0, 7, 0], [8, 7, 15], [3, 7, 9]] {
            for (k, fraction) in corners.get(cell).iter().enumerate() {
                let exact = if k >> 1 & 1 == 1 { 0.0 } else { 0.6 };
                assert!((fraction - exact).abs() < 1e-6, "{k}: {fraction}");
            }
        }
        assert_eq!(corners.get([4, 6, 4]), [1.0; 8]);
        assert_eq!(corners.get([4, 8, 4]), [0.0; 8]);
        assert_eq!(corners.get([9, 2, 4]), [0.0; 8]);
    }
}
