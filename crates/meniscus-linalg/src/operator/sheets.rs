//! Blocks with few unknowns, stored as the planes that these lie in.
//!
//! A wall of cells between affine terms fills one layer of a block, and a block with all its slots would cost as much as a full one. Such a
//! block is cut into *sheets* of 8×8 cells, each small enough to be worked on in registers. A sheet knows the next ones in its plane and those of the planes below and above;
//! all others are reached by couplings, as extra unknowns are. In vectors sheets lie between the other blocks and the extra unknowns. Only relaxation and products know of them: a level is
//! built with all its blocks, and arranged afterwards.

use meniscus_core::grid::{Mask as CellMask, block_len};
use meniscus_core::parallel;

use super::contact::{Contact, Touch};
use super::extras::Coupling;
use super::low_rank::{Factor, LowRank};
use super::places::{Cut, Places};
use super::stencil::Stencil;
use super::{Level, Moments};
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
    neighbours: [[u32; 2]; 2],
    links: Links<T>,
    /// By side: the sheet below or above, or [`NONE`], and the weight towards all its cells.
    across: [(u32, T); 2],
    /// Neighbours that are in no such sheet.
    couplings: Vec<Coupling<T>>,
    /// The cells that are unknowns.
    pub(crate) cells: u64,
}

/// What couples the cells of a sheet to their neighbours in its plane, and the diagonal without terms.
#[derive(Clone, Debug)]
enum Links<T> {
    /// This weight, to all that are unknowns, and the diagonal in units of it.
    Plain { weight: T, degrees: Cells<u8> },
    /// Weights by axis and side, and then by cell.
    Each { weights: Box<[Cells<T>; 4]>, diagonal: Box<Cells<T>> },
}

/// The sheets of a level, class after class: those of one class are not coupled to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheets<T> {
    pub(crate) list: Vec<Sheet<T>>,
    /// Where each class ends.
    pub(crate) ends: Vec<usize>,
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
    fn plain(common: Option<T>, diagonal: &Cells<T>) -> Option<Self> {
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
fn places_of(cells: u64) -> impl Iterator<Item = usize> {
    CellMask::<2>::from_bits(cells).iter()
}

/// The places beside a cell of a sheet, or of the next one on the same side: the cells there look for their neighbours on the other.
fn cells_beside(cells: u64, next: u64, axis: usize, side: usize) -> u64 {
    let [own, next] = [cells, next].map(CellMask::<2>::from_bits);
    own.beside(axis, side, &next).bits()
}

impl<T: Real, const D: usize> Stencil<T, D> {
    /// The places of a sheet whose lower (`side` 0) or upper (`side` 1) face along `axis` is open.
    fn open_in(&self, cut: &Cut, axis: usize, side: usize) -> u64 {
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

impl<T: Real, const D: usize> Level<T, D> {
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
        self.affine.add_sheet_forces(number, pull, &mut forces);
        self.affine.add_sheet_bounds(number, &mut bounds);
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
        self.affine.add_sheet_forces(number, pull, &mut forces);
        let diagonal = sheet.links.diagonal::<V>();
        for i in 0..SHEET {
            y[i] = diagonal[i] * own[i + 8] - around[i] - others[i] + forces[i];
        }
        // Neighbours act on cells that are no unknowns too.
        if sheet.cells != u64::MAX {
            (0..SHEET).filter(|i| sheet.cells >> i & 1 == 0).for_each(|i| y[i] = V::ZERO);
        }
    }

    /// The same level, its blocks in their places: for relaxation and products alone.
    pub(crate) fn arranged(&self, places: &Places<D>) -> Self {
        let whole: Vec<usize> = places.whole_blocks().collect();
        let index = |flat: usize| places.index(flat);
        let couplings = parallel::map(whole.len(), |k| self.arranged_couplings(places, whole[k]));
        let list = parallel::map(places.sheets.len(), |sheet| self.sheet(places, sheet));
        let sheets = Sheets { list, ends: places.ends.clone() };
        let touches = parallel::map(places.sheets.len(), |sheet| self.touches(places, sheet));
        let contacts = whole.iter().map(|&block| self.affine.contacts(block).to_vec()).collect();
        let renamed = |factor: Factor| Factor {
            unknowns: factor.unknowns.iter().map(|&u| index(u as usize) as u32).collect(),
            ..factor
        };
        Self {
            blocks: places.blocks.clone(),
            stencils: whole.iter().map(|&block| self.stencils[block].clone()).collect(),
            anchors: Vec::new(),
            couplings,
            extras: self.extras.renamed(index),
            low_rank: LowRank::from_factors(&self.low_rank.carried_factors(renamed)),
            affine: self.affine.with_sheets(contacts, &touches),
            dofs: self.dofs,
            sheets,
        }
    }

    /// The couplings of a block that is kept, with its faces towards blocks that are not.
    fn arranged_couplings(&self, places: &Places<D>, block: usize) -> Vec<Coupling<T>> {
        let coupling = |c: &Coupling<T>| Coupling { extra: places.index(c.extra as usize) as u32, ..*c };
        let mut couplings: Vec<_> = self.couplings[block].iter().map(coupling).collect();
        for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
            let Some(other) = self.blocks.neighbour(block, axis, side).filter(|&b| !places.is_whole(b))
            else {
                continue;
            };
            let step = 7 << (3 * axis);
            for low in super::boundary_cells::<D>(axis) {
                let (near, far) = if side == 0 { (low, low + step) } else { (low + step, low) };
                let weight = self.stencils[block].face(axis, side, near);
                if weight != T::ZERO {
                    let extra = places.index(other * block_len::<D>() + far) as u32;
                    couplings.push(Coupling { local: near as u16, extra, weight });
                }
            }
        }
        couplings
    }

    fn sheet(&self, places: &Places<D>, sheet: usize) -> Sheet<T> {
        let (block, cut) = places.cut(sheet);
        let (axes, stencil) = (AXES[cut.axis], &self.stencils[block]);
        let in_plane = |a: usize, side: usize| {
            let other = self.blocks.neighbour(block, axes[a], side)?;
            places.cuts[other].iter().find(|c| (c.axis, c.at) == (cut.axis, cut.at))
        };
        let beside = [0, 1].map(|a| [0, 1].map(|side| in_plane(a, side)));
        let facing = [0, 1].map(|side| self.facing(places, block, cut, side));
        // By axis and side, the cells whose neighbour is in this sheet or in one of those.
        let near = [0, 1, 2].map(|a| {
            [0, 1].map(|side| match a {
                2 => cut.cells & facing[side].map_or(0, |c| c.cells),
                _ => cut.cells & cells_beside(cut.cells, beside[a][side].map_or(0, |c| c.cells), a, side),
            })
        });
        let face = |a: usize, side: usize, place: usize| stencil.face(axes[a], side, cut.local(place));
        let open = [0, 1, 2].map(|a| [0, 1].map(|side| stencil.open_in(cut, axes[a], side)));
        // The weight of the faces to those, and whether all have it.
        let common = |a: usize, side: usize| {
            let (near, open) = (near[a][side], open[a][side]);
            let first = face(a, side, places_of(near).next()?);
            let is_common = match stencil.one_weight() {
                Some(_) => near & open == near || near & open == 0,
                None => places_of(near).all(|place| face(a, side, place) == first),
            };
            Some((first, is_common))
        };
        let across = [0, 1].map(|side| match (facing[side], common(2, side)) {
            (Some(near), Some((weight, true))) => (near.number, weight),
            _ => (NONE, T::ZERO),
        });
        // All other open faces are couplings.
        let mut couplings = Vec::new();
        for (a, side) in (0..6).map(|k| (k / 2, k % 2)) {
            let held = if a == 2 && across[side].0 == NONE { 0 } else { near[a][side] };
            for place in places_of(open[a][side] & cut.cells & !held) {
                let other = self.across(block, cut.local(place), axes[a], side);
                let extra = places.index(other.expect("an open face has two cells")) as u32;
                couplings.push(Coupling { local: place as u16, extra, weight: face(a, side, place) });
            }
        }
        let mut diagonal = [T::ZERO; SHEET];
        cut.places().for_each(|place| diagonal[place] = stencil.diagonal(cut.local(place)));
        let weights = [0, 1].map(|a| [0, 1].map(|side| common(a, side))).concat();
        let mut weights = weights.into_iter().flatten();
        let weight = weights.next().filter(|first| first.1 && weights.all(|weight| weight == *first));
        let links = Links::plain(weight.map(|weight| weight.0), &diagonal).unwrap_or_else(|| {
            let mut weights = Box::new([[T::ZERO; SHEET]; 4]);
            for (a, side) in (0..4).map(|k| (k / 2, k % 2)) {
                let of_side = &mut weights[2 * a + side];
                places_of(near[a][side]).for_each(|place| of_side[place] = face(a, side, place));
            }
            Links::Each { weights, diagonal: Box::new(diagonal) }
        });
        let neighbours = beside.map(|sides| sides.map(|cut| cut.map_or(NONE, |c| c.number)));
        Sheet { neighbours, links, across, couplings, cells: cut.cells }
    }

    /// The sheet below (`side` 0) or above another.
    fn facing<'a>(&self, places: &'a Places<D>, block: usize, cut: &Cut, side: usize) -> Option<&'a Cut> {
        let (other, at) = match (cut.at + 2 * side).checked_sub(1) {
            Some(at @ 0..8) => (block, at),
            _ => (self.blocks.neighbour(block, cut.axis, side)?, 7 * (1 - side)),
        };
        places.cuts[other].iter().find(|c| (c.axis, c.at) == (cut.axis, at))
    }

    fn touches(&self, places: &Places<D>, sheet: usize) -> Vec<Touch<D>> {
        let (block, cut) = places.cut(sheet);
        let along = self.affine.edge * cut.at as f64;
        let of_contact = |contact: &Contact<D>| {
            let cells = cut.plane(&contact.cells) & cut.cells;
            let at = std::array::from_fn(|a| contact.at[a] + if a == cut.axis { along } else { 0.0 });
            let &Contact { term, axis, weight, bound, .. } = contact;
            (cells != 0).then_some(Touch { term, axis, across: cut.axis as u8, weight, bound, at, cells })
        };
        self.affine.contacts(block).iter().filter_map(of_contact).collect()
    }
}
