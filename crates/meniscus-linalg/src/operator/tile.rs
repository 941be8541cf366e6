//! A block's values with one layer of its neighbours' around them, in one small buffer.
//!
//! A tile is a box of 10^D values. A *plane* of a block, its 8×8 cells with one z, is a run of
//! [`LANES`] values of the tile that begins with its first cell, the halo cells between its rows
//! included. Kernels loop over whole runs: a plain loop of fixed length that compilers turn into
//! vector instructions. What they compute for the halo cells in between is not used.

use meniscus_core::grid::Blocks;

use crate::real::Real;

const EDGE: usize = 10;
const SIZE: usize = EDGE * EDGE * EDGE;

/// The values of a plane, with the halo cells between its rows: 7 × 10 + 8 and two more, so that they
/// fill whole vector registers.
pub(crate) const LANES: usize = 8 * EDGE;

/// One value for each cell of a plane.
pub(crate) type Plane<V> = [V; LANES];

/// The distance in a tile between a cell and its neighbour along each axis.
const STRIDE: [usize; 3] = [1, EDGE, EDGE * EDGE];

/// Planes in a block.
pub(crate) const fn planes<const D: usize>() -> usize {
    if D == 3 { 8 } else { 1 }
}

/// Values of all planes of a block; cell `local` is at `[local / 64][lane(local)]`.
pub(crate) type Planes<V> = [Plane<V>; 8];

/// The place of a block's cell within its plane.
#[inline(always)]
pub(crate) fn lane(local: usize) -> usize {
    let (x, y) = (local & 7, local >> 3 & 7);
    x + EDGE * y
}

/// A block of 8^D values and the layer of cells across its faces (not across edges and corners).
pub(crate) struct Tile<V, const D: usize> {
    values: [V; SIZE],
}

impl<V: Real, const D: usize> Tile<V, D> {
    pub(crate) fn new() -> Self {
        Self { values: [V::ZERO; SIZE] }
    }

    #[inline(always)]
    fn start(plane: usize) -> usize {
        let z = if D == 3 { STRIDE[2] * (plane + 1) } else { 0 };
        STRIDE[0] + STRIDE[1] + z
    }

    #[inline(always)]
    fn at(local: usize) -> usize {
        Self::start(local >> 6) + lane(local)
    }

    /// The values of a plane.
    #[inline(always)]
    pub(crate) fn plane(&self, plane: usize) -> &Plane<V> {
        run(&self.values, Self::start(plane))
    }

    #[inline(always)]
    pub(crate) fn plane_mut(&mut self, plane: usize) -> &mut Plane<V> {
        let start = Self::start(plane);
        (&mut self.values[start..start + LANES]).try_into().expect("a run of fixed length")
    }

    /// The lower (`side` 0) or upper (`side` 1) neighbours along `axis` of a plane's cells.
    #[inline(always)]
    pub(crate) fn beside(&self, plane: usize, axis: usize, side: usize) -> &Plane<V> {
        let start = Self::start(plane);
        run(&self.values, if side == 0 { start - STRIDE[axis] } else { start + STRIDE[axis] })
    }

    /// The value of a block's cell.
    #[inline(always)]
    pub(crate) fn get(&self, local: usize) -> V {
        self.values[Self::at(local)]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, local: usize, value: V) {
        self.values[Self::at(local)] = value;
    }

    /// The values of a cell's neighbours along `axis`, the lower first.
    #[inline(always)]
    pub(crate) fn around(&self, local: usize, axis: usize) -> [V; 2] {
        let at = Self::at(local);
        [self.values[at - STRIDE[axis]], self.values[at + STRIDE[axis]]]
    }

    /// Makes the tile zero, halo included.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.values = [V::ZERO; SIZE];
    }

    /// Loads a block's own values.
    #[inline(always)]
    pub(crate) fn load(&mut self, own: &[V]) {
        for (plane, own) in own.chunks_exact(64).enumerate() {
            spread(own, self.plane_mut(plane));
        }
    }

    /// Stores a block's own values.
    #[inline(always)]
    pub(crate) fn store(&self, own: &mut [V]) {
        for (plane, own) in own.chunks_exact_mut(64).enumerate() {
            gather(self.plane(plane), own);
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
        self.load_sides(|axis, side| blocks.neighbour(block, axis, side).map(&values_of));
    }

    /// Loads the layer around a block from the values of its neighbours.
    #[inline(always)]
    pub(crate) fn load_sides<'a>(&mut self, neighbour: impl Fn(usize, usize) -> Option<&'a [V]>) {
        for axis in 0..D {
            for side in 0..2 {
                match neighbour(axis, side) {
                    Some(other) => self.load_face(axis, side, other),
                    None => self.load_face(axis, side, &[V::ZERO; 512][..64 * planes::<D>()]),
                }
            }
        }
    }

    #[inline(always)]
    fn load_face(&mut self, axis: usize, side: usize, other: &[V]) {
        // From the neighbour's far layer to the halo.
        let (from, to) = if side == 0 { (7, 0) } else { (0, 9) };
        match axis {
            0 => {
                for (row, other) in other.chunks_exact(8).enumerate() {
                    let line = Self::start(row >> 3) - 1 + EDGE * (row & 7);
                    self.values[line + to] = other[from];
                }
            }
            1 => {
                for (plane, other) in other.chunks_exact(64).enumerate() {
                    let line = Self::start(plane) - EDGE + EDGE * to;
                    self.values[line..line + 8].copy_from_slice(&other[8 * from..8 * from + 8]);
                }
            }
            _ => {
                let first = 1 + EDGE + STRIDE[2] * to;
                spread(
                    &other[64 * from..64 * from + 64],
                    (&mut self.values[first..first + LANES]).try_into().expect("a run of fixed length"),
                );
            }
        }
    }
}

#[inline(always)]
fn run<V>(values: &[V; SIZE], start: usize) -> &Plane<V> {
    values[start..start + LANES].try_into().expect("a run of fixed length")
}

/// Writes the 64 cells of a plane to their lanes.
#[inline(always)]
pub(crate) fn spread<V: Copy>(cells: &[V], lanes: &mut Plane<V>) {
    for (y, row) in cells.chunks_exact(8).enumerate() {
        lanes[EDGE * y..EDGE * y + 8].copy_from_slice(row);
    }
}

/// Reads the 64 cells of a plane from their lanes.
#[inline(always)]
pub(crate) fn gather<V: Copy>(lanes: &Plane<V>, cells: &mut [V]) {
    for (y, row) in cells.chunks_exact_mut(8).enumerate() {
        row.copy_from_slice(&lanes[EDGE * y..EDGE * y + 8]);
    }
}
