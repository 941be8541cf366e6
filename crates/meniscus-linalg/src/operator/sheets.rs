//! Blocks with few unknowns, stored as the planes that these lie in.
//!
//! A wall of cells between affine terms fills one layer of a block, and a block with all its slots would cost as much as a full one. Such a
//! block is cut into *sheets* of 8×8 cells, each small enough to be worked on in registers. A sheet knows the next ones in its plane and those of the planes below and above;
//! all others are reached by couplings, as extra unknowns are. Only an [`Arranged`] level knows of them.

use meniscus_core::grid::Mask;

use super::arranged::Arranged;
use super::contact::{Moments, Touches};
use super::extras::Coupling;
use super::places::Cut;
use super::stencil::Stencil;
use crate::real::{Real, Row, row_from};

/// Cells of a sheet.
pub(crate) const SHEET: usize = 64;

/// No sheet, or no unknown.
pub(crate) const NONE: u32 = u32::MAX;

/// The axes along the rows and the columns of a sheet, and that across it.
pub(super) const AXES: [[usize; 3]; 3] = [[1, 2, 0], [0, 2, 1], [0, 1, 2]];

/// One value for each cell of a sheet, row by row.
pub(crate) type Cells<V> = [V; SHEET];

/// The cells of a block in one plane.
#[derive(Clone, Debug)]
pub(crate) struct Sheet<T> {
    /// By axis of the plane and side: the next sheet in the plane, or [`NONE`].
    pub(super) neighbours: [[u32; 2]; 2],
    pub(super) links: Links<T>,
    /// By side: the sheet below or above, or [`NONE`], and the weight towards all its cells.
    pub(super) across: [(u32, T); 2],
    /// Neighbours that are in no such sheet.
    pub(super) couplings: Vec<Coupling<T>>,
    /// The cells that are unknowns.
    pub(crate) cells: u64,
}

/// What couples the cells of a sheet to their neighbours in its plane, and the diagonal without terms.
#[derive(Clone, Debug)]
pub(super) enum Links<T> {
    /// This weight, to all that are unknowns, and the diagonal in units of it.
    Plain { weight: T, degrees: Cells<u8> },
    /// Weights by axis and side, and then by cell.
    Each { weights: Box<[Cells<T>; 4]>, diagonal: Box<Cells<T>> },
}

/// The sheets of a level, class after class: those of one class are not coupled to each other.
#[derive(Debug)]
pub(crate) struct Sheets<T, const D: usize> {
    pub(crate) list: Vec<Sheet<T>>,
    /// Where each class ends.
    pub(crate) ends: Vec<usize>,
    pub(super) touches: Touches<D>,
}

impl<T, const D: usize> Default for Sheets<T, D> {
    fn default() -> Self {
        Self { list: Vec::new(), ends: Vec::new(), touches: Touches::default() }
    }
}

/// Values of the cells of a sheet between two rows of zeros, so that every cell has one a row before and after it.
type Framed<V> = [V; SHEET + 16];

/// By cell: 1 where the one before is in the same row, and the one after.
const BEFORE: Cells<f32> = inner_of_rows(0);
const AFTER: Cells<f32> = inner_of_rows(7);

const fn inner_of_rows(end: usize) -> Cells<f32> {
    let mut cells = [1.0; SHEET];
    let mut row = 0;
    while row < 8 {
        cells[8 * row + end] = 0.0;
        row += 1;
    }
    cells
}

#[inline(always)]
fn framed<V: Real>(values: &[V]) -> Framed<V> {
    let mut framed = [V::ZERO; SHEET + 16];
    framed[8..8 + SHEET].copy_from_slice(values);
    framed
}

impl<T: Real> Links<T> {
    /// With `common`, the one weight, if there is one and the diagonal can be given in units of it.
    pub(super) fn plain(common: Option<T>, diagonal: &Cells<T>) -> Option<Self> {
        let weight = common.filter(|&weight| weight > T::ZERO)?;
        let degrees = diagonal.map(|d| (d.f64() / weight.f64()) as u8);
        let is_exact = (0..SHEET).all(|i| weight * T::from_byte(degrees[i]) == diagonal[i]);
        is_exact.then_some(Self::Plain { weight, degrees })
    }

    /// The sums of weights times neighbours within the sheet.
    #[inline(always)]
    fn around<V: Real>(&self, x: &Framed<V>, sums: &mut Cells<V>) {
        match self {
            Self::Plain { weight, .. } => {
                let weight = V::of(weight.f64());
                for i in 0..SHEET {
                    let (before, after) = (x[i + 7] * V::narrow(BEFORE[i]), x[i + 9] * V::narrow(AFTER[i]));
                    sums[i] = weight * ((before + after) + (x[i] + x[i + 16]));
                }
            }
            Self::Each { weights, .. } => {
                let [left, right, below, above] = &**weights;
                let of = |weight: T| V::of(weight.f64());
                for i in 0..SHEET {
                    let (before, after) = (x[i + 7] * V::narrow(BEFORE[i]), x[i + 9] * V::narrow(AFTER[i]));
                    sums[i] = (of(left[i]) * before + of(right[i]) * after)
                        + (of(below[i]) * x[i] + of(above[i]) * x[i + 16]);
                }
            }
        }
    }

    #[inline(always)]
    fn diagonal<V: Real>(&self) -> Cells<V> {
        let mut cells = [V::ZERO; SHEET];
        match self {
            Self::Plain { weight, degrees } => {
                let weight = V::of(weight.f64());
                for i in 0..SHEET {
                    cells[i] = weight * V::from_byte(degrees[i]);
                }
            }
            Self::Each { diagonal, .. } => {
                for i in 0..SHEET {
                    cells[i] = V::of(diagonal[i].f64());
                }
            }
        }
        cells
    }

    /// The weights towards the neighbour beside a sheet; its cells begin at `first` and are `stride` apart.
    #[inline(always)]
    fn beside<V: Real>(&self, axis: usize, side: usize, first: usize, stride: usize) -> Row<V> {
        match self {
            Self::Plain { weight, .. } => [V::of(weight.f64()); 8],
            Self::Each { weights, .. } => {
                row_from(|k| V::of(weights[2 * axis + side][first + stride * k].f64()))
            }
        }
    }
}

/// The places of the bits that are set.
pub(super) fn places_of(cells: u64) -> impl Iterator<Item = usize> {
    Mask::<2>::from_bits(cells).iter()
}

/// The places beside a cell of a sheet, or of the next one on the same side: the cells there look for their neighbours on the other.
pub(super) fn cells_beside(cells: u64, next: u64, axis: usize, side: usize) -> u64 {
    let [own, next] = [cells, next].map(Mask::<2>::from_bits);
    own.beside(axis, side, &next).bits()
}

impl<T: Real, const D: usize> Stencil<T, D> {
    /// The places of a sheet whose lower (`side` 0) or upper (`side` 1) face along `axis` is open.
    pub(super) fn open_in(&self, cut: &Cut, axis: usize, side: usize) -> u64 {
        match self {
            Self::General(_) => cut
                .places()
                .filter(|&place| self.face(axis, side, cut.local(place)) != T::ZERO)
                .fold(0, |open, place| open | 1 << place),
            _ => cut.plane(&self.open_cells(axis, side)),
        }
    }
}

/// A vector of a level, without the values that are being worked on.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a, V> {
    pub(crate) before: &'a [V],
    pub(crate) after: &'a [V],
    /// Where those after the gap begin.
    pub(crate) resume: usize,
    /// Where the values of sheets begin.
    pub(crate) sheets: usize,
}

impl<'a, V: Real> Others<'a, V> {
    #[inline(always)]
    fn value(&self, i: usize) -> V {
        if i < self.before.len() { self.before[i] } else { self.after[i - self.resume] }
    }

    #[inline(always)]
    fn sheet(&self, number: u32) -> &'a [V] {
        let at = self.sheets + SHEET * number as usize;
        let values =
            if at < self.before.len() { &self.before[at..] } else { &self.after[at - self.resume..] };
        &values[..SHEET]
    }
}

impl<T: Real> Sheet<T> {
    /// Adds weights times values of all neighbours outside of the sheet.
    #[inline(always)]
    fn add_others<V: Real>(&self, others: Others<V>, sums: &mut Cells<V>) {
        for (axis, side) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if self.neighbours[axis][side] != NONE {
                let other = others.sheet(self.neighbours[axis][side]);
                // A row or a column, at the near side here and at the far side there.
                let (along, stride) = if axis == 0 { (1, 8) } else { (8, 1) };
                let (near, far) = if side == 0 { (0, 7 * along) } else { (7 * along, 0) };
                let weights = self.links.beside::<V>(axis, side, near, stride);
                for k in 0..8 {
                    sums[near + stride * k] += weights[k] * other[far + stride * k];
                }
            }
        }
        for &(other, weight) in &self.across {
            if other != NONE {
                let (other, weight) = (others.sheet(other), V::of(weight.f64()));
                for (sum, other) in sums.iter_mut().zip(other) {
                    *sum += weight * *other;
                }
            }
        }
        for c in &self.couplings {
            sums[c.local as usize] += V::of(c.weight.f64()) * others.value(c.extra as usize);
        }
    }
}

/// By colour: 1 for the cells whose turn it is.
const TURNS: [Cells<f32>; 2] = {
    let mut turns = [[0.0; SHEET]; 2];
    let mut cell = 0;
    while cell < SHEET {
        turns[(cell % 8 + cell / 8) % 2][cell] = 1.0;
        cell += 1;
    }
    turns
};

impl<T: Real, const D: usize> Arranged<T, D> {
    /// Relaxes a sheet, colour after colour, while the states of terms stay as they are: a mass on what changes holds the balance to what their forces will change by.
    #[inline(always)]
    pub(crate) fn relax_sheet(
        &self,
        number: usize,
        others: Others<f32>,
        b: &Cells<f32>,
        pull: &[Moments<f32>],
        colours: impl Iterator<Item = usize>,
        own: &mut Cells<f32>,
    ) {
        let sheet = &self.sheets.list[number];
        let mut x = framed(own);
        let (mut bounds, mut forces, mut rhs) = ([0.0; SHEET], [0.0; SHEET], [0.0; SHEET]);
        let touches = self.sheets.touches.of_sheet(number);
        self.matrix.affine.add_sheet_forces(touches, pull, &mut forces);
        touches.iter().for_each(|touch| touch.add_bounds(&mut bounds));
        let mut inverse = sheet.links.diagonal::<f32>();
        for i in 0..SHEET {
            rhs[i] = b[i] + bounds[i] * x[i + 8] - forces[i];
            let diagonal = inverse[i] + bounds[i];
            inverse[i] = if diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        }
        sheet.add_others(others, &mut rhs);
        let mut around = [0.0; SHEET];
        for colour in colours {
            sheet.links.around(&x, &mut around);
            for i in 0..SHEET {
                let relaxed = (rhs[i] + around[i]) * inverse[i];
                x[i + 8] = if TURNS[colour][i] > 0.0 { relaxed } else { x[i + 8] };
            }
        }
        own.copy_from_slice(&x[8..8 + SHEET]);
    }

    /// The product A x of one sheet.
    #[inline(always)]
    pub(crate) fn sheet_product<V: Real>(
        &self,
        number: usize,
        x: &[V],
        pull: &[Moments<V>],
        y: &mut Cells<V>,
    ) {
        let sheet = &self.sheets.list[number];
        let all = Others { before: x, after: &[], resume: x.len(), sheets: self.slots() };
        let own = framed(all.sheet(number as u32));
        let (mut others, mut around, mut forces) = ([V::ZERO; SHEET], [V::ZERO; SHEET], [V::ZERO; SHEET]);
        sheet.add_others(all, &mut others);
        sheet.links.around(&own, &mut around);
        self.matrix.affine.add_sheet_forces(self.sheets.touches.of_sheet(number), pull, &mut forces);
        let diagonal = sheet.links.diagonal::<V>();
        for i in 0..SHEET {
            y[i] = diagonal[i] * own[i + 8] - around[i] - others[i] + forces[i];
        }
        // Neighbours act on cells that are no unknowns too.
        if sheet.cells != u64::MAX {
            (0..SHEET).filter(|i| sheet.cells >> i & 1 == 0).for_each(|i| y[i] = V::ZERO);
        }
    }
}
