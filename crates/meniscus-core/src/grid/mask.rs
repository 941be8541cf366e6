//! A bit for each cell of a block.

use super::{BLOCK_EDGE, block_len};

/// Cells in a word: a layer of x and y. In 2D that is the whole block.
const LAYER: usize = BLOCK_EDGE * BLOCK_EDGE;

/// The cells of a layer with x = 0.
const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;

/// Brings the first bits of eight bytes together in one; the others must be zero.
#[inline]
fn gather(first_bits: u64) -> u64 {
    first_bits.wrapping_mul(0x0102_0408_1020_4080) >> (LAYER - BLOCK_EDGE)
}

/// The bits that are set, in order.
#[inline]
fn cells_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        next
    })
}

/// A set of cells of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask<const D: usize> {
    layers: [u64; BLOCK_EDGE],
}

impl<const D: usize> Mask<D> {
    const LAYERS: usize = block_len::<D>() / LAYER;

    /// No cell.
    pub const EMPTY: Self = Self { layers: [0; BLOCK_EDGE] };

    /// All cells.
    pub fn all() -> Self {
        Self::from_layers(|_| u64::MAX)
    }

    /// The cells, by local index, for which `is_member` holds.
    #[inline]
    pub fn from_fn(is_member: impl Fn(usize) -> bool) -> Self {
        Self::from_layers(|layer| {
            // Bytes first, whose loop becomes vector instructions.
            let bytes: [u8; LAYER] = std::array::from_fn(|k| u8::from(is_member(layer * LAYER + k)));
            let rows = bytes.chunks_exact(BLOCK_EDGE).enumerate();
            rows.fold(0, |bits, (k, row)| {
                let row = row.iter().rev().fold(0, |row, &byte| row << 8 | u64::from(byte));
                bits | gather(row) << (BLOCK_EDGE * k)
            })
        })
    }

    /// The cells whose byte, by local index, is not zero.
    pub fn of_nonzero(bytes: &[u8]) -> Self {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        // The sum carries into the highest bit of a byte if any other is set.
        Self::of_bytes(bytes, |row| (((row & LOW) + LOW) | row) >> 7)
    }

    /// The cells whose byte, by local index, has this bit.
    pub fn of_bit(bytes: &[u8], bit: usize) -> Self {
        Self::of_bytes(bytes, |row| row >> bit)
    }

    /// `first_bits` brings what is asked of each of the eight bytes of a row to its first bit.
    #[inline]
    fn of_bytes(bytes: &[u8], first_bits: impl Fn(u64) -> u64) -> Self {
        let (rows, _) = bytes.as_chunks::<BLOCK_EDGE>();
        Self::from_layers(|layer| {
            let rows = &rows[layer * BLOCK_EDGE..(layer + 1) * BLOCK_EDGE];
            rows.iter().rev().fold(0, |bits, &row| {
                bits << BLOCK_EDGE | gather(first_bits(u64::from_le_bytes(row)) & FIRST_COLUMN)
            })
        })
    }

    /// All cells with this coordinate along an axis.
    pub fn plane(axis: usize, at: usize) -> Self {
        Self::from_layers(|layer| match axis {
            0 => FIRST_COLUMN << at,
            1 => 0xff << (BLOCK_EDGE * at),
            _ if layer == at => u64::MAX,
            _ => 0,
        })
    }

    /// Whether all cells are in it.
    pub fn is_full(&self) -> bool {
        *self == Self::all()
    }

    #[inline]
    fn from_layers(layer: impl Fn(usize) -> u64) -> Self {
        let mut layers = [0; BLOCK_EDGE];
        for (index, bits) in layers.iter_mut().enumerate().take(Self::LAYERS) {
            *bits = layer(index);
        }
        Self { layers }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(|&bits| bits == 0)
    }

    /// Whether a cell is in it.
    #[inline]
    pub fn has(&self, local: usize) -> bool {
        self.layers[local / LAYER] >> (local % LAYER) & 1 == 1
    }

    /// Adds a cell.
    #[inline]
    pub fn insert(&mut self, local: usize) {
        self.layers[local / LAYER] |= 1 << (local % LAYER);
    }

    /// How many cells it has.
    pub fn count(&self) -> usize {
        self.layers.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// How many it has of the 2^D cells up from one with even coordinates.
    #[inline]
    pub fn count_in_group(&self, lowest: usize) -> usize {
        (0..2).map(|side| self.count_in_square(2, lowest + side * LAYER)).sum()
    }

    /// How many it has of the 2^(D-1) cells up from one along the axes across `axis`; its coordinates along these are even.
    #[inline]
    pub fn count_in_square(&self, axis: usize, lowest: usize) -> usize {
        let layer = lowest / LAYER;
        let (square, last) = match axis {
            0 => (0x0101, layer | 1),
            1 => (0x0003, layer | 1),
            _ => (0x0303, layer),
        };
        let in_layer = |bits: u64| (bits >> (lowest % LAYER) & square).count_ones() as usize;
        self.layers[layer..=last].iter().map(|&bits| in_layer(bits)).sum()
    }

    /// A bit for each cell, by layer of x and y. Layers beyond those of a block are empty.
    #[inline]
    pub fn layers(&self) -> &[u64; BLOCK_EDGE] {
        &self.layers
    }

    /// The cells in both.
    #[inline]
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::from_layers(|k| self.layers[k] & other.layers[k])
    }

    /// The cells in one or both.
    #[inline]
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self::from_layers(|k| self.layers[k] | other.layers[k])
    }

    /// The cells that are not in another.
    #[inline]
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self::from_layers(|k| self.layers[k] & !other.layers[k])
    }

    /// The upper neighbours of the cells along an axis; those in the lowest layer are neighbours of cells of the block
    /// `below`.
    #[inline]
    #[must_use]
    pub fn raised(&self, axis: usize, below: &Self) -> Self {
        Self::from_layers(|k| {
            let (own, other) = (self.layers[k], below.layers[k]);
            match axis {
                0 => own << 1 & !FIRST_COLUMN | other >> (BLOCK_EDGE - 1) & FIRST_COLUMN,
                1 => own << BLOCK_EDGE | other >> (LAYER - BLOCK_EDGE),
                _ if k == 0 => below.layers[BLOCK_EDGE - 1],
                _ => self.layers[k - 1],
            }
        })
    }

    /// The lower neighbours of the cells along an axis; those in the highest layer are neighbours of cells of the block
    /// `above`.
    #[inline]
    #[must_use]
    pub fn lowered(&self, axis: usize, above: &Self) -> Self {
        Self::from_layers(|k| {
            let (own, other) = (self.layers[k], above.layers[k]);
            match axis {
                0 => {
                    own >> 1 & !(FIRST_COLUMN << (BLOCK_EDGE - 1))
                        | (other & FIRST_COLUMN) << (BLOCK_EDGE - 1)
                }
                1 => own >> BLOCK_EDGE | other << (LAYER - BLOCK_EDGE),
                _ if k == BLOCK_EDGE - 1 => above.layers[0],
                _ => self.layers[k + 1],
            }
        })
    }

    /// The places whose lower (`side` 0) or upper (`side` 1) neighbour along an axis is in it; `beyond` are the cells of the block on that side.
    #[inline]
    #[must_use]
    pub fn beside(&self, axis: usize, side: usize, beyond: &Self) -> Self {
        if side == 0 { self.raised(axis, beyond) } else { self.lowered(axis, beyond) }
    }

    /// A bit for each cell of the layer with this coordinate along an axis, the lowest other axis fastest.
    pub fn layer(&self, axis: usize, at: usize) -> u64 {
        let row = |bits: u64| match axis {
            0 => gather(bits >> at & FIRST_COLUMN),
            _ => bits >> (BLOCK_EDGE * at) & 0xff,
        };
        match axis {
            2 => self.layers[at],
            _ => (0..Self::LAYERS).fold(0, |layer, k| layer | row(self.layers[k]) << (BLOCK_EDGE * k)),
        }
    }

    /// The rows along x that have cells: the local index of the first place of each, and a bit for each of its eight.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = (usize, u8)> {
        let layers = self.layers;
        let row = move |k: usize| (layers[k / BLOCK_EDGE] >> (BLOCK_EDGE * (k % BLOCK_EDGE))) as u8;
        (0..block_len::<D>() / BLOCK_EDGE)
            .map(move |k| (BLOCK_EDGE * k, row(k)))
            .filter(|(_, bits)| *bits != 0)
    }

    /// The first cell.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The cells, by local index, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<D> {
        let layers = self.layers;
        (0..Self::LAYERS).flat_map(move |layer| cells_of(layers[layer]).map(move |k| layer * LAYER + k))
    }

    /// Writes a value at every cell of it, by local index.
    pub fn fill<T: Copy>(&self, value: T, values: &mut [T]) {
        for (bits, values) in self.layers.iter().zip(values.chunks_exact_mut(LAYER)) {
            match *bits {
                u64::MAX => values.fill(value),
                bits => cells_of(bits).for_each(|k| values[k] = value),
            }
        }
    }

    /// The cells that are connected with a cell of this one within it, through the lower faces in `open` (by axis).
    #[must_use]
    pub fn connected(&self, with: usize, open: &[Self; D]) -> Self {
        let mut found = Self::EMPTY;
        found.insert(with);
        loop {
            let mut grown = found;
            for (axis, open) in open.iter().enumerate() {
                let up = grown.raised(axis, &Self::EMPTY).and(open);
                let down = grown.and(open).lowered(axis, &Self::EMPTY);
                grown = grown.or(&up).or(&down).and(self);
            }
            if grown == found {
                return found;
            }
            found = grown;
        }
    }
}

impl Mask<2> {
    /// The cells whose bit is set.
    pub fn from_bits(bits: u64) -> Self {
        Self::from_layers(|_| bits)
    }

    /// A bit for each cell.
    pub fn bits(&self) -> u64 {
        self.layers[0]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grid::{cell_in_block, local_index};

    fn some<const D: usize>(seed: u64) -> Mask<D> {
        Mask::from_fn(|local| {
            (local as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 > 0
        })
    }

    fn neighbours_are_shifted<const D: usize>(seed: u64) {
        let (own, other) = (some::<D>(seed), some::<D>(seed.rotate_left(7) ^ 0x55));
        for axis in 0..D {
            for local in 0..block_len::<D>() {
                let cell = cell_in_block::<D>(local);
                let at = |mask: &Mask<D>, c: usize| {
                    let mut cell = cell;
                    cell[axis] = c;
                    mask.has(local_index(cell))
                };
                let below =
                    if cell[axis] > 0 { at(&own, cell[axis] - 1) } else { at(&other, BLOCK_EDGE - 1) };
                let above =
                    if cell[axis] + 1 < BLOCK_EDGE { at(&own, cell[axis] + 1) } else { at(&other, 0) };
                assert_eq!(own.raised(axis, &other).has(local), below, "{axis} {cell:?}");
                assert_eq!(own.lowered(axis, &other).has(local), above, "{axis} {cell:?}");
            }
        }
        assert_eq!(
            own.iter().collect::<Vec<_>>(),
            (0..block_len::<D>()).filter(|&l| own.has(l)).collect::<Vec<_>>()
        );
        assert_eq!(own.without(&other).or(&own.and(&other)), own);
    }

    fn counts_are_those_of_the_cells<const D: usize>(seed: u64) {
        let mask = some::<D>(seed);
        assert_eq!(mask.count(), mask.iter().count());
        for lowest in (0..block_len::<D>()).filter(|&l| cell_in_block::<D>(l).iter().all(|c| c % 2 == 0)) {
            let low = cell_in_block::<D>(lowest);
            let in_group = |cell: [usize; D]| (0..D).all(|a| cell[a] / 2 == low[a] / 2);
            let count = |keep: &dyn Fn([usize; D]) -> bool| {
                mask.iter().map(cell_in_block::<D>).filter(|&cell| in_group(cell) && keep(cell)).count()
            };
            assert_eq!(mask.count_in_group(lowest), count(&|_| true), "{low:?}");
            for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                let first = lowest + side * BLOCK_EDGE.pow(axis as u32);
                let found = mask.count_in_square(axis, first);
                assert_eq!(found, count(&|cell| cell[axis] == low[axis] + side), "{axis} {side} {low:?}");
            }
        }
    }

    fn bytes_become_bits<const D: usize>(seed: u64) {
        let byte = |local: usize| {
            let hash = (local as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Few bits are set, and often none.
            (hash >> 40 & hash >> 48 & hash >> 56) as u8
        };
        let bytes: Vec<u8> = (0..block_len::<D>()).map(byte).collect();
        assert_eq!(Mask::<D>::of_nonzero(&bytes), Mask::from_fn(|local| bytes[local] != 0));
        for bit in 0..8 {
            assert_eq!(Mask::<D>::of_bit(&bytes, bit), Mask::from_fn(|local| bytes[local] >> bit & 1 == 1));
        }
    }

    #[test]
    fn a_plane_is_all_cells_with_a_coordinate() {
        for (axis, at) in (0..3 * BLOCK_EDGE).map(|k| (k / BLOCK_EDGE, k % BLOCK_EDGE)) {
            assert_eq!(
                Mask::<3>::plane(axis, at),
                Mask::from_fn(|local| cell_in_block::<3>(local)[axis] == at)
            );
        }
    }

    proptest! {
        #[test]
        fn bytes_and_counts(seed: u64) {
            bytes_become_bits::<2>(seed);
            bytes_become_bits::<3>(seed);
            counts_are_those_of_the_cells::<2>(seed);
            counts_are_those_of_the_cells::<3>(seed);
        }

        #[test]
        fn raised_and_lowered_are_the_neighbours(seed: u64) {
            neighbours_are_shifted::<2>(seed);
            neighbours_are_shifted::<3>(seed);
        }
    }
}
