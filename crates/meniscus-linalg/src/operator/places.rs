//! Where the unknowns of a level are when its blocks of few unknowns have been cut into [sheets](super::sheets).

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Mask, block_len};
use meniscus_core::parallel;

use super::sheets::{AXES, NONE, SHEET};
use super::stencil::Stencil;
use super::{Level, Matrix, SHEET_TASK};
use crate::real::Real;

/// The sheets that a block may be cut into: with more it is cheaper as it is, found by measurement. For speed alone: iterations are the same with any number.
const MOST: usize = 5;

/// A sheet of a block: the axis across it and its place along that, its number, and its cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) axis: usize,
    pub(super) at: usize,
    pub(super) number: u32,
    pub(super) cells: u64,
}

/// The number of [classes](Cut::class).
const CLASSES: usize = 12;

impl Cut {
    /// The cells of a set of the block's that lie in the sheet's plane.
    pub(super) fn plane<const D: usize>(&self, cells: &Mask<D>) -> u64 {
        cells.layer(self.axis, self.at)
    }

    /// Its cells that are unknowns, by place.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        Mask::from_bits(self.cells).iter()
    }

    /// The place in the sheet of a cell of the block that lies in its plane.
    pub(super) fn place(&self, local: usize) -> usize {
        let [u, w, _] = AXES[self.axis];
        (local >> (3 * u) & 7) + 8 * (local >> (3 * w) & 7)
    }

    /// The index within the block of a place in the sheet.
    pub(super) fn local(&self, place: usize) -> usize {
        let [u, w, across] = AXES[self.axis];
        (place & 7) << (3 * u) | (place >> 3) << (3 * w) | self.at << (3 * across)
    }

    /// Sheets that lie side by side in a plane, or in two planes one above the other, are not of one class.
    fn class<const D: usize>(&self, coord: &[usize; D]) -> usize {
        let beside: usize = (0..D).filter(|&a| a != self.axis).map(|a| coord[a]).sum();
        4 * self.axis + 2 * (self.at % 2) + beside % 2
    }

    /// Whether a cell of the block is an unknown in this sheet.
    pub(super) fn has(&self, local: usize) -> bool {
        local >> (3 * self.axis) & 7 == self.at && self.cells >> self.place(local) & 1 == 1
    }
}

/// Where the unknowns of a level are after it has been arranged.
#[derive(Clone, Debug)]
pub(crate) struct Places<const D: usize> {
    slots: usize,
    extras: usize,
    /// The blocks that are kept whole.
    pub(crate) blocks: Arc<Blocks<D>>,
    /// By block: its place among those, or its sheets; neither if it holds no unknowns.
    whole: Vec<u32>,
    pub(super) cuts: Vec<Vec<Cut>>,
    /// By sheet: its block, and which of the block's sheets it is.
    pub(crate) sheets: Vec<(u32, u8)>,
    pub(super) ends: Vec<usize>,
}

impl<const D: usize> Places<D> {
    /// Arranges a level; `keep` are the blocks that must stay whole. `None` if all do.
    pub(crate) fn new<T: Real>(level: &Level<T, D>, keep: impl Fn(usize) -> bool + Sync) -> Option<Self> {
        let Matrix { blocks, extras, affine, .. } = &*level.matrix;
        if D != 3 || affine.is_empty() {
            return None;
        }
        let cut = |block: usize| if keep(block) { None } else { cut_block(level, block) };
        let cuts = parallel::map(blocks.len(), cut);
        if cuts.iter().all(Option::is_none) {
            return None;
        }
        let kept = (0..blocks.len()).filter(|&b| cuts[b].is_none()).map(|b| blocks.coord(b));
        let kept = Blocks::from_list(blocks.cells(), kept);
        let mut cuts: Vec<Vec<Cut>> = cuts.into_iter().map(Option::unwrap_or_default).collect();
        let whole =
            (0..blocks.len()).map(|b| kept.find(blocks.coord(b)).map_or(NONE, |b| b as u32)).collect();
        let (mut sheets, mut ends) = (Vec::new(), Vec::new());
        for class in 0..CLASSES {
            for (block, cuts) in cuts.iter_mut().enumerate() {
                let coord = blocks.coord(block);
                for (k, cut) in cuts.iter_mut().enumerate().filter(|(_, cut)| cut.class(&coord) == class) {
                    cut.number = sheets.len() as u32;
                    sheets.push((block as u32, k as u8));
                }
            }
            ends.push(sheets.len());
        }
        let (slots, extras) = (level.slots(), extras.len());
        Some(Self { slots, extras, blocks: Arc::new(kept), whole, cuts, sheets, ends })
    }

    /// Whether a block is kept whole.
    pub(crate) fn is_whole(&self, block: usize) -> bool {
        self.whole[block] != NONE
    }

    /// The blocks that are kept whole, in order.
    pub(crate) fn whole_blocks(&self) -> impl Iterator<Item = usize> + '_ {
        let mut list: Vec<usize> = (0..self.whole.len()).filter(|&b| self.is_whole(b)).collect();
        list.sort_unstable_by_key(|&b| self.whole[b]);
        list.into_iter()
    }

    /// The place of a kept block among those.
    pub(crate) fn block(&self, block: usize) -> u32 {
        self.whole[block]
    }

    /// The length of arranged vectors.
    pub(crate) fn len(&self) -> usize {
        self.first_extra() + self.extras
    }

    /// The place of the first extra unknown.
    fn first_extra(&self) -> usize {
        self.blocks.slots() + SHEET * self.sheets.len()
    }

    /// The block of a sheet, and how it is cut from that.
    pub(super) fn cut(&self, sheet: usize) -> (usize, &Cut) {
        let (block, k) = self.sheets[sheet];
        (block as usize, &self.cuts[block as usize][k as usize])
    }

    /// The place of an unknown, by flat index.
    pub(crate) fn index(&self, flat: usize) -> usize {
        let n = block_len::<D>();
        if flat >= self.slots {
            return self.first_extra() + flat - self.slots;
        }
        let (block, local) = (flat / n, flat % n);
        if self.is_whole(block) {
            return self.whole[block] as usize * n + local;
        }
        let cut = self.cuts[block].iter().find(|cut| cut.has(local)).expect("an unknown lies in a sheet");
        self.sheet_index(cut, cut.place(local))
    }

    /// The place of a cell of a sheet.
    pub(super) fn sheet_index(&self, cut: &Cut, place: usize) -> usize {
        self.blocks.slots() + SHEET * cut.number as usize + place
    }

    /// The cell of a place in a sheet: its block, and its index within that.
    pub(crate) fn cell(&self, sheet: usize, place: usize) -> (usize, usize) {
        let (block, cut) = self.cut(sheet);
        (block, cut.local(place))
    }

    /// The cells of a sheet that are unknowns.
    pub(crate) fn cells(&self, sheet: usize) -> u64 {
        self.cut(sheet).1.cells
    }

    /// Arranges a vector, with `none` where there is no unknown.
    pub(crate) fn gather<V: Copy + Send + Sync>(&self, from: &[V], none: V, to: &mut Vec<V>) {
        let n = block_len::<D>();
        to.resize(self.len(), none);
        let (whole, rest) = to.split_at_mut(self.blocks.slots());
        let (sheets, extras) = rest.split_at_mut(SHEET * self.sheets.len());
        let order: Vec<usize> = self.whole_blocks().collect();
        parallel::for_chunks(whole, n, |k, to| to.copy_from_slice(parallel::chunk(from, n, order[k])));
        parallel::for_chunks(sheets, SHEET * SHEET_TASK, |task, to| {
            for (sheet, to) in (task * SHEET_TASK..).zip(to.chunks_exact_mut(SHEET)) {
                let (block, cut) = self.cut(sheet);
                for (place, to) in to.iter_mut().enumerate() {
                    let value = from[block * n + cut.local(place)];
                    *to = if cut.cells >> place & 1 == 1 { value } else { none };
                }
            }
        });
        extras.copy_from_slice(&from[self.slots..]);
    }

    /// Puts the values of an arranged vector back, with 0 where there is no unknown: the inverse of [`Places::gather`].
    pub(crate) fn scatter<V: Copy + Default + Send + Sync>(&self, from: &[V], to: &mut [V]) {
        let n = block_len::<D>();
        let (cells, extras) = to.split_at_mut(self.slots);
        parallel::for_chunks(cells, n, |block, to| {
            if self.is_whole(block) {
                let at = self.whole[block] as usize * n;
                return to.copy_from_slice(&from[at..at + n]);
            }
            to.fill(V::default());
            for cut in &self.cuts[block] {
                let from = &from[self.blocks.slots() + SHEET * cut.number as usize..][..SHEET];
                cut.places().for_each(|place| to[cut.local(place)] = from[place]);
            }
        });
        extras.copy_from_slice(&from[self.first_extra()..]);
    }
}

/// The sheets that hold all unknowns of a block, if there are any; `None` if it had better stay whole.
fn cut_block<T: Real, const D: usize>(level: &Level<T, D>, block: usize) -> Option<Vec<Cut>> {
    let (n, matrix) = (block_len::<D>(), &level.matrix);
    if matches!(matrix.stencils[block], Stencil::Uniform { .. })
        || !matrix.couplings[block].is_empty()
        || !matrix.low_rank.rows_in(block * n..(block + 1) * n).is_empty()
    {
        return None;
    }
    let mut left = matrix.unknown_cells(block);
    if left.count() > MOST * SHEET {
        return None;
    }
    let mut cuts: Vec<Cut> = Vec::new();
    while !left.is_empty() {
        if cuts.len() == MOST {
            return None;
        }
        let planes = (0..24).rev().map(|k| Cut { axis: k / 8, at: k % 8, number: NONE, cells: 0 });
        let planes = planes.map(|cut| Cut { cells: cut.plane(&left), ..cut });
        let cut = planes.max_by_key(|cut| cut.cells.count_ones()).expect("24 planes");
        left = left.without(&Mask::plane(cut.axis, cut.at));
        cuts.push(cut);
    }
    Some(cuts)
}
