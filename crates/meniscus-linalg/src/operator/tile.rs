//! A block's values with one layer of its neighbours' around them, in one small buffer.

use meniscus_core::grid::Blocks;

use crate::real::{Real, Row, row_of, row_of_mut, rows};

/// Values between two rows of a tile: a row of eight cells with a halo cell at either end lies within
/// one aligned run of sixteen.
const PITCH: usize = 16;
const LEFT_PAD: usize = 4;
const CAPACITY: usize = PITCH * 10 * 10;

/// The distance in a tile between a cell and its neighbour along each axis.
pub(crate) const STRIDE: [usize; 3] = [1, PITCH, PITCH * 10];

/// A block of 8^D values and the layer of cells across its faces (not across edges and corners).
pub(crate) struct Tile<V, const D: usize> {
    values: [V; CAPACITY],
}

/// The position in a tile of the first cell of a block's row.
#[inline(always)]
pub(crate) fn row_at<const D: usize>(row: usize) -> usize {
    let (y, z) = (row % 8, row / 8);
    let plane = if D == 3 { STRIDE[2] * (z + 1) } else { 0 };
    plane + PITCH * (y + 1) + LEFT_PAD
}

/// The position in a tile of a block's cell.
#[inline(always)]
pub(crate) fn cell_at<const D: usize>(local: usize) -> usize {
    row_at::<D>(local / 8) + local % 8
}

impl<V: Real, const D: usize> Tile<V, D> {
    pub(crate) fn new() -> Self {
        Self { values: [V::ZERO; CAPACITY] }
    }

    #[inline(always)]
    pub(crate) fn row(&self, at: usize) -> &Row<V> {
        row_of(&self.values, at)
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, at: usize) -> &mut Row<V> {
        row_of_mut(&mut self.values, at)
    }

    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> V {
        self.values[at]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, value: V) {
        self.values[at] = value;
    }

    /// Loads a block's own values.
    #[inline(always)]
    pub(crate) fn load(&mut self, own: &[V]) {
        for row in 0..rows::<D>() {
            *self.row_mut(row_at::<D>(row)) = *row_of(own, 8 * row);
        }
    }

    /// Stores a block's own values.
    #[inline(always)]
    pub(crate) fn store(&self, own: &mut [V]) {
        for row in 0..rows::<D>() {
            *row_of_mut(own, 8 * row) = *self.row(row_at::<D>(row));
        }
    }

    /// Loads the layer around a block; `values_of` gives the values of a neighbour. Where there is no
    /// neighbour the halo is zero.
    #[inline(always)]
    pub(crate) fn load_halo<'a>(
        &mut self,
        blocks: &Blocks<D>,
        block: usize,
        values_of: impl Fn(usize) -> &'a [V],
    ) {
        for axis in 0..D {
            for side in 0..2 {
                let other = blocks.neighbour(block, axis, side).map(&values_of);
                if axis == 0 { self.load_end(side, other) } else { self.load_face(axis, side, other) }
            }
        }
    }

    #[inline(always)]
    fn load_end(&mut self, side: usize, other: Option<&[V]>) {
        let (from, to) = if side == 0 { (7, row_at::<D>(0) - 1) } else { (0, row_at::<D>(0) + 8) };
        for row in 0..rows::<D>() {
            let at = to + row_at::<D>(row) - row_at::<D>(0);
            self.values[at] = other.map_or(V::ZERO, |o| o[8 * row + from]);
        }
    }

    #[inline(always)]
    fn load_face(&mut self, axis: usize, side: usize, other: Option<&[V]>) {
        // Rows of the layer: the coordinate along `axis` is fixed, the other (3D) runs.
        let (fixed, running) = if axis == 1 { (1, 8) } else { (8, 1) };
        for k in 0..if D == 3 { 8 } else { 1 } {
            let near = fixed * (7 * side) + running * k;
            let far = fixed * (7 * (1 - side)) + running * k;
            let at =
                if side == 0 { row_at::<D>(near) - STRIDE[axis] } else { row_at::<D>(near) + STRIDE[axis] };
            *self.row_mut(at) = other.map_or([V::ZERO; 8], |o| *row_of(o, 8 * far));
        }
    }
}
