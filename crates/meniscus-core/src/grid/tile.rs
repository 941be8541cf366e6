//! A block's values together with a halo from its neighbours, as one dense array.

use super::{BLOCK_EDGE, Blocks, Field};

/// A dense copy of one block of a field and of the `HALO` cells around it, x fastest.
///
/// Hot loops read a tile instead of asking the block table for every cell.
#[derive(Clone, Debug)]
pub struct HaloTile<T, const D: usize, const HALO: usize> {
    values: Vec<T>,
}

impl<T: Copy, const D: usize, const HALO: usize> HaloTile<T, D, HALO> {
    /// Cells along each edge of a tile.
    pub const EDGE: usize = BLOCK_EDGE + 2 * HALO;

    /// The number of values in a tile.
    pub const LEN: usize = Self::EDGE.pow(D as u32);

    /// A tile that holds `value` everywhere.
    pub fn new(value: T) -> Self {
        const { assert!(HALO <= BLOCK_EDGE) };
        Self { values: vec![value; Self::LEN] }
    }

    /// Copies a block and its halo; inactive neighbours give the background.
    pub fn load(&mut self, field: &Field<T, D>, block: usize) {
        for (offset, other) in neighbourhood(field.blocks(), block) {
            for_each_overlap(HALO, offset, |tile, local, len| {
                let row = &mut self.values[tile..tile + len];
                match other {
                    Some(other) => row.copy_from_slice(&field.block(other)[local..local + len]),
                    None => row.fill(field.background()),
                }
            });
        }
    }

    /// The distance in memory between neighbours along `axis`.
    #[inline]
    pub const fn stride(axis: usize) -> usize {
        Self::EDGE.pow(axis as u32)
    }

    /// The index of a cell from its coordinates within the tile: the block's own cells begin at `HALO`.
    #[inline]
    pub fn index(cell: [usize; D]) -> usize {
        cell.iter().rev().fold(0, |index, &c| index * Self::EDGE + c)
    }

    /// All values, x fastest.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, x fastest.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

/// The 3^D blocks around and including `block`, in lexicographic order: the offset in blocks, and
/// the block where it is active.
pub fn neighbourhood<const D: usize>(
    blocks: &Blocks<D>,
    block: usize,
) -> impl Iterator<Item = ([i64; D], Option<usize>)> {
    let coord = blocks.coord(block);
    (0..3usize.pow(D as u32)).map(move |index| {
        let offset: [i64; D] = std::array::from_fn(|a| (index / 3usize.pow(a as u32) % 3) as i64 - 1);
        // A coordinate below zero wraps to a huge one, which no block has.
        let other = std::array::from_fn(|a| coord[a].wrapping_add_signed(offset[a] as isize));
        (offset, blocks.find(other))
    })
}

/// Calls `row(start in tile, start in block, length)` for each x row that the tile of one block, with
/// the given halo, shares with the block that lies `offset` blocks away.
pub fn for_each_overlap<const D: usize>(
    halo: usize,
    offset: [i64; D],
    mut row: impl FnMut(usize, usize, usize),
) {
    let edge = BLOCK_EDGE + 2 * halo;
    let spans = offset.map(|o| match o {
        -1 => (0, BLOCK_EDGE - halo, halo),
        0 => (halo, 0, BLOCK_EDGE),
        _ => (halo + BLOCK_EDGE, 0, halo),
    });
    let (tile, local, count) = (spans.map(|s| s.0), spans.map(|s| s.1), spans.map(|s| s.2));
    for index in 0..count[1..].iter().product() {
        let mut rest: usize = index;
        let (mut tile_start, mut local_start) = (tile[0], local[0]);
        let (mut tile_stride, mut local_stride) = (edge, BLOCK_EDGE);
        for a in 1..D {
            let c = rest % count[a];
            rest /= count[a];
            tile_start += (tile[a] + c) * tile_stride;
            local_start += (local[a] + c) * local_stride;
            tile_stride *= edge;
            local_stride *= BLOCK_EDGE;
        }
        row(tile_start, local_start, count[0]);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tile_equals_look_ups<const D: usize, const HALO: usize>(cells: [usize; D]) {
        let blocks = Arc::new(Blocks::new(cells, |c| !(c[0] + 2 * c[1]).is_multiple_of(3)));
        let name = |cell: [usize; D]| cell.iter().fold(0.0, |h, &c| 100.0 * h + c as f32);
        let field = Field::from_fn(blocks.clone(), -1.0f32, name);
        let mut tile = HaloTile::<f32, D, HALO>::new(f32::NAN);
        for block in 0..blocks.len() {
            tile.load(&field, block);
            let corner = blocks.coord(block);
            for index in 0..HaloTile::<f32, D, HALO>::LEN {
                let inner: [usize; D] =
                    std::array::from_fn(|a| index / HaloTile::<f32, D, HALO>::stride(a) % (8 + 2 * HALO));
                assert_eq!(HaloTile::<f32, D, HALO>::index(inner), index);
                let cell = std::array::from_fn(|a| (corner[a] * 8 + inner[a]) as i64 - HALO as i64);
                // The tile holds cells past the end of the domain that `get` does not give.
                if (0..D).all(|a| cell[a] <= cells[a] as i64) {
                    assert_eq!(tile.values()[index], field.get(cell));
                }
            }
        }
    }

    #[test]
    fn a_tile_equals_cell_by_cell_look_ups() {
        tile_equals_look_ups::<2, 1>([31, 23]);
        tile_equals_look_ups::<3, 1>([15, 23, 15]);
        tile_equals_look_ups::<3, 2>([15, 23, 15]);
    }
}
