//! A block's values with one layer of its neighbours' around them, in one small buffer.

use meniscus_core::grid::Blocks;

use crate::real::{Real, Row, row_of, row_of_mut, rows};

/// Where the cells of a row begin within a line of sixteen values; a halo cell lies at either end.
const FIRST: usize = 4;
const LINES: usize = 100;

/// The distance in lines between a row and the next along y and z.
pub(crate) const LINE_STEP: [usize; 3] = [0, 1, 10];

/// A block of 8^D values and the layer of cells across its faces (not across edges and corners).
/// Lines have a fixed length, so that the rows within them are found without a check.
pub(crate) struct Tile<V, const D: usize> {
    lines: [[V; 16]; LINES],
}

/// The line of a block's row.
#[inline(always)]
pub(crate) fn line_of<const D: usize>(row: usize) -> usize {
    let (y, z) = (row & 7, row >> 3 & 7);
    if D == 3 { 10 * (z + 1) + y + 1 } else { y + 1 }
}

impl<V: Real, const D: usize> Tile<V, D> {
    pub(crate) fn new() -> Self {
        Self { lines: [[V::ZERO; 16]; LINES] }
    }

    /// The cells of a line.
    #[inline(always)]
    pub(crate) fn row(&self, line: usize) -> Row<V> {
        self.shifted::<FIRST>(line)
    }

    /// The lower neighbours along x of the cells of a line.
    #[inline(always)]
    pub(crate) fn row_before(&self, line: usize) -> Row<V> {
        self.shifted::<{ FIRST - 1 }>(line)
    }

    /// The upper neighbours along x of the cells of a line.
    #[inline(always)]
    pub(crate) fn row_after(&self, line: usize) -> Row<V> {
        self.shifted::<{ FIRST + 1 }>(line)
    }

    #[inline(always)]
    fn shifted<const FROM: usize>(&self, line: usize) -> Row<V> {
        *row_of(&self.lines[line], FROM)
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, line: usize) -> &mut Row<V> {
        row_of_mut(&mut self.lines[line], FIRST)
    }

    /// The value of a block's cell.
    #[inline(always)]
    pub(crate) fn get(&self, local: usize) -> V {
        self.lines[line_of::<D>(local >> 3)][FIRST + (local & 7)]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, local: usize, value: V) {
        self.lines[line_of::<D>(local >> 3)][FIRST + (local & 7)] = value;
    }

    /// The values of a block's cell's neighbours along `axis`, the lower first.
    #[inline(always)]
    pub(crate) fn around(&self, local: usize, axis: usize) -> [V; 2] {
        let (line, at) = (line_of::<D>(local >> 3), FIRST + (local & 7));
        if axis == 0 {
            [self.lines[line][at - 1], self.lines[line][at + 1]]
        } else {
            [self.lines[line - LINE_STEP[axis]][at], self.lines[line + LINE_STEP[axis]][at]]
        }
    }

    /// Makes the tile zero, halo included.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.lines = [[V::ZERO; 16]; LINES];
    }

    /// Loads a block's own values.
    #[inline(always)]
    pub(crate) fn load(&mut self, own: &[V]) {
        for row in 0..rows::<D>() {
            *self.row_mut(line_of::<D>(row)) = *row_of(own, 8 * row);
        }
    }

    /// Stores a block's own values.
    #[inline(always)]
    pub(crate) fn store(&self, own: &mut [V]) {
        for row in 0..rows::<D>() {
            *row_of_mut(own, 8 * row) = self.row(line_of::<D>(row));
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
        let (from, to) = if side == 0 { (7, FIRST - 1) } else { (0, FIRST + 8) };
        match other {
            Some(other) => {
                for (row, values) in other.chunks_exact(8).enumerate() {
                    self.lines[line_of::<D>(row)][to] = values[from];
                }
            }
            None => {
                for row in 0..rows::<D>() {
                    self.lines[line_of::<D>(row)][to] = V::ZERO;
                }
            }
        }
    }

    #[inline(always)]
    fn load_face(&mut self, axis: usize, side: usize, other: Option<&[V]>) {
        // Rows of the layer: the coordinate along `axis` is fixed, the other (3D) runs.
        let (fixed, running) = if axis == 1 { (1, 8) } else { (8, 1) };
        for k in 0..if D == 3 { 8 } else { 1 } {
            let near = line_of::<D>(fixed * (7 * side) + running * k);
            let far = fixed * (7 * (1 - side)) + running * k;
            let line = if side == 0 { near - LINE_STEP[axis] } else { near + LINE_STEP[axis] };
            *self.row_mut(line) = other.map_or([V::ZERO; 8], |o| *row_of(o, 8 * far));
        }
    }
}
