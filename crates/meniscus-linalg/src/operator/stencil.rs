//! The coefficients of one block, stored only where they are not all the same.

use meniscus_core::grid::{BLOCK_EDGE, block_len, cell_in_block};

use super::tile::{LINE_STEP, Tile, line_of};
use crate::real::{Real, Row, row_from, row_of, rows};

/// The distance between the lower and the upper face of a cell in a block's face array.
const FACE_STRIDE: [usize; 3] = [1, 8, 64];

/// Faces of a block along one axis, both of its boundary layers included: 9 × 8^(D-1).
pub const fn face_len<const D: usize>() -> usize {
    (BLOCK_EDGE + 1) * rows::<D>()
}

/// The index of the lower face along `axis` of the first cell of a row.
#[inline(always)]
fn face_row<const D: usize>(axis: usize, row: usize) -> usize {
    let (y, z) = (row % 8, row / 8);
    match axis {
        0 => 9 * row,
        1 => 8 * (y + 9 * z),
        _ => 8 * row,
    }
}

/// The index of the lower face of a cell along `axis`, in an array of [`face_len`] faces.
#[inline(always)]
pub fn lower_face<const D: usize>(axis: usize, local: usize) -> usize {
    face_row::<D>(axis, local / 8) + local % 8
}

/// The index of the upper face of a cell along `axis`, in an array of [`face_len`] faces.
#[inline(always)]
pub fn upper_face<const D: usize>(axis: usize, local: usize) -> usize {
    lower_face::<D>(axis, local) + FACE_STRIDE[axis]
}

/// The stencil of one block while it is being written: a coefficient for every face of the block, its
/// two boundary layers included, and an anchor for every cell.
///
/// A face with coefficient w between cells c and n adds w (x_c - x_n) to row c. An anchor a (a face
/// towards a known value) adds a x_c. Faces towards cells that are not unknowns stay 0. A face on the
/// boundary of two blocks is written by both and must get the same value from both.
#[derive(Clone, Debug)]
pub struct Patch<const D: usize> {
    /// Coefficients by axis, indexed by [`lower_face`] and [`upper_face`].
    pub faces: [Vec<f64>; D],
    /// Anchors by cell.
    pub anchors: Vec<f64>,
}

impl<const D: usize> Patch<D> {
    pub(crate) fn new() -> Self {
        Self {
            faces: std::array::from_fn(|_| vec![0.0; face_len::<D>()]),
            anchors: vec![0.0; block_len::<D>()],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.faces.iter_mut().for_each(|f| f.fill(0.0));
        self.anchors.fill(0.0);
    }

    /// Sets the coefficient of the lower (`side` 0) or upper (`side` 1) face of a cell along `axis`.
    #[inline]
    pub fn set_face(&mut self, axis: usize, side: usize, local: usize, weight: f64) {
        self.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]] = weight;
    }

    /// Adds to the coefficient of a face.
    #[inline]
    pub(crate) fn add_face(&mut self, axis: usize, side: usize, local: usize, weight: f64) {
        self.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]] += weight;
    }

    /// The diagonal of each cell without what extra unknowns add.
    fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = self.anchors.clone();
        for row in 0..rows::<D>() {
            for axis in 0..D {
                let at = face_row::<D>(axis, row);
                for i in 0..8 {
                    diagonal[8 * row + i] +=
                        self.faces[axis][at + i] + self.faces[axis][at + i + FACE_STRIDE[axis]];
                }
            }
        }
        diagonal
    }

    /// The stored form: `couplings` are the weights by cell towards extra unknowns.
    pub(crate) fn compress<T: Real>(&self, couplings: impl Iterator<Item = (usize, f64)>) -> Stencil<T, D> {
        let mut diagonal = self.diagonal();
        for (local, weight) in couplings {
            diagonal[local] += weight;
        }
        let weights = || self.faces.iter().flatten().copied();
        let kappa = weights().find(|&w| w != 0.0).unwrap_or(1.0);
        let on_off = weights().all(|w| w == 0.0 || w == kappa);
        let whole_degree = |d: f64| d / kappa == (d / kappa).round() && d / kappa <= 255.0;
        if !on_off || !diagonal.iter().all(|&d| whole_degree(d)) {
            return Stencil::General(Box::new(General {
                faces: std::array::from_fn(|a| self.faces[a].iter().map(|&w| T::of(w)).collect()),
                diagonal: diagonal.iter().map(|&d| T::of(d)).collect(),
            }));
        }
        let kappa_t = T::of(kappa);
        if weights().all(|w| w == kappa) && diagonal.iter().all(|&d| d == 2.0 * D as f64 * kappa) {
            return Stencil::Uniform { kappa: kappa_t };
        }
        let open = |local: usize| {
            let bit = |on: bool, at: usize| u8::from(on) << at;
            (0..D).fold(0, |bits, a| {
                bits | bit(self.faces[a][lower_face::<D>(a, local)] != 0.0, 2 * a)
                    | bit(self.faces[a][upper_face::<D>(a, local)] != 0.0, 2 * a + 1)
            })
        };
        Stencil::Mask(Box::new(Mask {
            kappa: kappa_t,
            open: (0..block_len::<D>()).map(open).collect(),
            degree: diagonal.iter().map(|&d| (d / kappa) as u8).collect(),
            plain: false,
        }))
    }
}

/// The stencil of one block in its cheapest exact form.
#[derive(Clone, Debug)]
pub(crate) enum Stencil<T, const D: usize> {
    /// Every face of the block, boundary layers included, is `kappa`; no anchors.
    Uniform { kappa: T },
    /// Every face is 0 or `kappa` and every diagonal a whole multiple of it: two bytes a cell.
    Mask(Box<Mask<T, D>>),
    /// Anything else.
    General(Box<General<T, D>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Mask<T, const D: usize> {
    kappa: T,
    /// Bit 2a: the lower face along axis a is open; bit 2a+1: the upper.
    open: Box<[u8]>,
    /// The diagonal in units of `kappa`.
    degree: Box<[u8]>,
    /// Whether every closed face leads to a cell that is not an unknown.
    pub(crate) plain: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct General<T, const D: usize> {
    faces: [Box<[T]>; D],
    diagonal: Box<[T]>,
}

/// The coefficients of a block, row by row, in the precision V of the vectors they are applied to.
pub(crate) trait Coefficients<V: Real, const D: usize> {
    /// The sum of w x over the neighbours of the cells of a row; anything where the diagonal is 0.
    fn around(&self, tile: &Tile<V, D>, row: usize) -> Row<V>;
    fn diagonal(&self, row: usize) -> Row<V>;
    /// 1 / diagonal, and 0 where the diagonal is 0.
    fn inverse_diagonal(&self, row: usize) -> Row<V>;
}

/// All weights are the same.
#[derive(Clone, Copy)]
pub(crate) struct Uniform<V>(pub V);

impl<V: Real, const D: usize> Coefficients<V, D> for Uniform<V> {
    #[inline(always)]
    fn around(&self, tile: &Tile<V, D>, row: usize) -> Row<V> {
        plain_sum(self.0, tile, row)
    }
    #[inline(always)]
    fn diagonal(&self, _: usize) -> Row<V> {
        [self.0 * V::of(2.0 * D as f64); 8]
    }
    #[inline(always)]
    fn inverse_diagonal(&self, _: usize) -> Row<V> {
        [V::ONE / (self.0 * V::of(2.0 * D as f64)); 8]
    }
}

/// kappa times the sum of all neighbours.
#[inline(always)]
fn plain_sum<V: Real, const D: usize>(kappa: V, tile: &Tile<V, D>, row: usize) -> Row<V> {
    let line = line_of::<D>(row);
    let (mut sum, after) = (tile.row_before(line), tile.row_after(line));
    for i in 0..8 {
        sum[i] += after[i];
    }
    for step in &LINE_STEP[1..D] {
        let (below, above) = (tile.row(line - step), tile.row(line + step));
        for i in 0..8 {
            sum[i] += below[i] + above[i];
        }
    }
    row_from(|i| kappa * sum[i])
}

/// The sum of w x over all neighbours, with the weights of the lower and the upper faces.
#[inline(always)]
fn weighted_sum<V: Real, const D: usize>(
    tile: &Tile<V, D>,
    row: usize,
    weights: impl Fn(usize, usize) -> Row<V>,
) -> Row<V> {
    let line = line_of::<D>(row);
    let mut sum = [V::ZERO; 8];
    for axis in 0..D {
        let (lower, upper) = (weights(axis, 0), weights(axis, 1));
        let step = LINE_STEP[axis];
        let (below, above) = if axis == 0 {
            (tile.row_before(line), tile.row_after(line))
        } else {
            (tile.row(line - step), tile.row(line + step))
        };
        for i in 0..8 {
            sum[i] += lower[i] * below[i] + upper[i] * above[i];
        }
    }
    sum
}

/// A [`Mask`] whose closed faces all lead to cells that are not unknowns. Those hold zero, so the faces
/// need no weights.
pub(crate) struct Plain<'a, T, const D: usize>(pub &'a Mask<T, D>);

impl<T: Real, V: Real, const D: usize> Coefficients<V, D> for Plain<'_, T, D> {
    #[inline(always)]
    fn around(&self, tile: &Tile<V, D>, row: usize) -> Row<V> {
        plain_sum(V::of(self.0.kappa.f64()), tile, row)
    }
    #[inline(always)]
    fn diagonal(&self, row: usize) -> Row<V> {
        self.0.diagonal_row(row)
    }
    #[inline(always)]
    fn inverse_diagonal(&self, row: usize) -> Row<V> {
        inverse(self.0.diagonal_row(row))
    }
}

impl<T: Real, const D: usize> Mask<T, D> {
    #[inline(always)]
    fn weights<V: Real>(&self, bit: usize, row: usize) -> Row<V> {
        let open = row_of(&self.open, 8 * row);
        let kappa = V::of(self.kappa.f64());
        row_from(|i| V::from_byte((open[i] >> bit) & 1) * kappa)
    }

    #[inline(always)]
    fn diagonal_row<V: Real>(&self, row: usize) -> Row<V> {
        let kappa = V::of(self.kappa.f64());
        let degree = row_of(&self.degree, 8 * row);
        row_from(|i| V::from_byte(degree[i]) * kappa)
    }
}

impl<T: Real, V: Real, const D: usize> Coefficients<V, D> for Mask<T, D> {
    #[inline(always)]
    fn around(&self, tile: &Tile<V, D>, row: usize) -> Row<V> {
        weighted_sum(
            tile,
            row,
            #[inline(always)]
            |axis, side| self.weights(2 * axis + side, row),
        )
    }
    #[inline(always)]
    fn diagonal(&self, row: usize) -> Row<V> {
        self.diagonal_row(row)
    }
    #[inline(always)]
    fn inverse_diagonal(&self, row: usize) -> Row<V> {
        inverse(self.diagonal_row(row))
    }
}

impl<T: Real, V: Real, const D: usize> Coefficients<V, D> for General<T, D> {
    #[inline(always)]
    fn around(&self, tile: &Tile<V, D>, row: usize) -> Row<V> {
        weighted_sum(
            tile,
            row,
            #[inline(always)]
            |axis, side| {
                let weights = row_of(&self.faces[axis], face_row::<D>(axis, row) + side * FACE_STRIDE[axis]);
                row_from(|i| V::of(weights[i].f64()))
            },
        )
    }
    #[inline(always)]
    fn diagonal(&self, row: usize) -> Row<V> {
        let diagonal = row_of(&self.diagonal, 8 * row);
        row_from(|i| V::of(diagonal[i].f64()))
    }
    #[inline(always)]
    fn inverse_diagonal(&self, row: usize) -> Row<V> {
        inverse(<Self as Coefficients<V, D>>::diagonal(self, row))
    }
}

#[inline(always)]
fn inverse<V: Real>(diagonal: Row<V>) -> Row<V> {
    // Dividing by infinity instead of choosing afterwards keeps the division in vector registers.
    row_from(|i| V::ONE / if diagonal[i] > V::ZERO { diagonal[i] } else { V::INFINITY })
}

impl<T: Real, const D: usize> Stencil<T, D> {
    /// The coefficient of a face, by its index in an array of [`face_len`] faces.
    #[inline]
    pub(crate) fn face(&self, axis: usize, side: usize, local: usize) -> T {
        match self {
            Self::Uniform { kappa } => *kappa,
            Self::Mask(mask) => {
                if (mask.open[local] >> (2 * axis + side)) & 1 == 1 {
                    mask.kappa
                } else {
                    T::ZERO
                }
            }
            Self::General(general) => {
                general.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]]
            }
        }
    }

    /// The diagonal of a cell, low-rank terms left out.
    #[inline]
    pub(crate) fn diagonal(&self, local: usize) -> T {
        match self {
            Self::Uniform { kappa } => *kappa * T::of(2.0 * D as f64),
            Self::Mask(mask) => mask.kappa * T::of(f64::from(mask.degree[local])),
            Self::General(general) => general.diagonal[local],
        }
    }

    /// Which cells of a row have a non-zero diagonal.
    #[inline(always)]
    pub(crate) fn unknown_row(&self, row: usize) -> Row<bool> {
        match self {
            Self::Uniform { .. } => [true; 8],
            Self::Mask(mask) => {
                let degree = row_of(&mask.degree, 8 * row);
                row_from(|i| degree[i] > 0)
            }
            Self::General(general) => {
                let diagonal = row_of(&general.diagonal, 8 * row);
                row_from(|i| diagonal[i] > T::ZERO)
            }
        }
    }

    /// Whether a cell has a neighbour across an open face.
    #[inline]
    pub(crate) fn has_neighbours(&self, local: usize) -> bool {
        (0..D).any(|a| (0..2).any(|side| self.face(a, side, local) != T::ZERO))
    }

    /// Bytes that the coefficients occupy.
    pub(crate) fn bytes(&self) -> usize {
        let n = block_len::<D>();
        match self {
            Self::Uniform { .. } => 0,
            Self::Mask(_) => 2 * n,
            Self::General(_) => (n + D * face_len::<D>()) * size_of::<T>(),
        }
    }
}

/// The coordinate along `axis` of a cell within its block.
#[inline(always)]
pub(crate) fn coordinate(axis: usize, local: usize) -> usize {
    cell_in_block::<3>(local)[axis]
}
