//! Blocks with few unknowns, stored as the planes that these lie in.
//!
//! A wall of cells between affine terms fills one layer of a block, and a block with all its slots would cost as much as a full one. Such a
//! block is cut into *sheets* of 8×8 cells, each a block of a grid in two dimensions: its neighbours in the plane are reached through the halo of a tile, all
//! others by couplings, as extra unknowns are. In vectors sheets lie between the other blocks and the extra unknowns. Only relaxation and products know of them: a level is
//! built with all its blocks, and arranged afterwards.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, block_len};
use rayon::prelude::*;

use super::affine::Contact;
use super::extras::Coupling;
use super::low_rank::{Factor, LowRank};
use super::stencil::{Patch, Stencil};
use super::{Level, set_bits};
use crate::real::Real;

/// Cells of a sheet.
pub(crate) const SHEET: usize = 64;

/// No sheet, or no unknown.
pub(crate) const NONE: u32 = u32::MAX;

/// The sheets that a block may be cut into: with more it is cheaper as it is.
const MOST: usize = 3;

/// The axes along the rows and the columns of a sheet, and that across it.
const AXES: [[usize; 3]; 3] = [[1, 2, 0], [0, 2, 1], [0, 1, 2]];

/// The cells of a block in one plane.
#[derive(Clone, Debug)]
pub(crate) struct Sheet<T> {
    /// By axis of the plane and side: the next sheet in the plane, or [`NONE`].
    pub(crate) neighbours: [[u32; 2]; 2],
    pub(crate) stencil: Stencil<T, 2>,
    /// Neighbours that are not reached through the halo.
    pub(crate) couplings: Vec<Coupling<T>>,
    /// The cells that are unknowns.
    pub(crate) cells: u64,
}

/// The sheets of a level, class after class: those of one class are not coupled to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheets<T> {
    pub(crate) list: Vec<Sheet<T>>,
    /// Where each class ends.
    pub(crate) ends: Vec<usize>,
}

/// A sheet of a block: the axis across it and its place along that, its number, and its cells.
#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    at: usize,
    number: u32,
    cells: u64,
}

impl Cut {
    /// The place in the sheet of a cell of the block that lies in its plane.
    fn place(&self, local: usize) -> usize {
        let [u, w, _] = AXES[self.axis];
        (local >> (3 * u) & 7) + 8 * (local >> (3 * w) & 7)
    }

    fn local(&self, place: usize) -> usize {
        let [u, w, across] = AXES[self.axis];
        (place & 7) << (3 * u) | (place >> 3) << (3 * w) | self.at << (3 * across)
    }

    fn has(&self, local: usize) -> bool {
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
    /// By block: its place among those, or its sheets.
    whole: Vec<u32>,
    cuts: Vec<Vec<Cut>>,
    /// By sheet: its block, and which of the block's sheets it is.
    pub(crate) sheets: Vec<(u32, u8)>,
    ends: Vec<usize>,
}

impl<const D: usize> Places<D> {
    /// Arranges a level; `keep` are the blocks that must stay whole. `None` if all do.
    pub(crate) fn new<T: Real>(level: &Level<T, D>, keep: impl Fn(usize) -> bool + Sync) -> Option<Self> {
        if D != 3 || level.affine.is_empty() {
            return None;
        }
        let blocks = &level.blocks;
        let cut = |block: usize| if keep(block) { Vec::new() } else { cut_block(level, block) };
        let mut cuts: Vec<Vec<Cut>> = (0..blocks.len()).into_par_iter().map(cut).collect();
        // Two sheets of a class must not lie side by side.
        for block in 0..blocks.len() {
            let above =
                |axis: usize| blocks.neighbour(block, axis, 1).map_or(&[][..], |b| cuts[b].as_slice());
            let meets =
                |cut: &Cut| cut.at == 7 && above(cut.axis).iter().any(|c| (c.axis, c.at) == (cut.axis, 0));
            if cuts[block].iter().any(meets) {
                cuts[block].clear();
            }
        }
        if cuts.iter().all(Vec::is_empty) {
            return None;
        }
        let kept = (0..blocks.len()).filter(|&b| cuts[b].is_empty()).map(|b| blocks.coord(b));
        let kept = Blocks::from_list(blocks.cells(), kept);
        let whole =
            (0..blocks.len()).map(|b| kept.find(blocks.coord(b)).map_or(NONE, |b| b as u32)).collect();
        let (mut sheets, mut ends) = (Vec::new(), Vec::new());
        for class in 0..6 {
            for (block, cuts) in cuts.iter_mut().enumerate() {
                for (k, cut) in cuts.iter_mut().enumerate().filter(|(_, cut)| cut.axis == class / 2) {
                    let coord = blocks.coord(block);
                    let sum: usize = (0..D).filter(|&a| a != cut.axis).map(|a| coord[a]).sum();
                    if sum % 2 == class % 2 {
                        cut.number = sheets.len() as u32;
                        sheets.push((block as u32, k as u8));
                    }
                }
            }
            ends.push(sheets.len());
        }
        let (slots, extras) = (level.slots(), level.extras.len());
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

    fn first_extra(&self) -> usize {
        self.blocks.slots() + SHEET * self.sheets.len()
    }

    fn cut(&self, sheet: usize) -> (usize, &Cut) {
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
        self.blocks.slots() + SHEET * cut.number as usize + cut.place(local)
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
        whole
            .par_chunks_exact_mut(n)
            .zip(order)
            .for_each(|(to, block)| to.copy_from_slice(&from[block * n..(block + 1) * n]));
        sheets.par_chunks_exact_mut(SHEET).enumerate().with_min_len(64).for_each(|(sheet, to)| {
            let (block, cut) = self.cut(sheet);
            for (place, to) in to.iter_mut().enumerate() {
                let value = from[block * n + cut.local(place)];
                *to = if cut.cells >> place & 1 == 1 { value } else { none };
            }
        });
        extras.copy_from_slice(&from[self.slots..]);
    }

    /// The inverse of [`Places::gather`].
    pub(crate) fn scatter<V: Copy + Default + Send + Sync>(&self, from: &[V], to: &mut [V]) {
        let n = block_len::<D>();
        let (cells, extras) = to.split_at_mut(self.slots);
        cells.par_chunks_exact_mut(n).enumerate().with_min_len(16).for_each(|(block, to)| {
            if self.is_whole(block) {
                let at = self.whole[block] as usize * n;
                return to.copy_from_slice(&from[at..at + n]);
            }
            to.fill(V::default());
            for cut in &self.cuts[block] {
                let from = &from[self.blocks.slots() + SHEET * cut.number as usize..][..SHEET];
                set_bits(&one_word(cut.cells)).for_each(|place| to[cut.local(place)] = from[place]);
            }
        });
        extras.copy_from_slice(&from[self.first_extra()..]);
    }
}

fn one_word(bits: u64) -> [u64; 8] {
    [bits, 0, 0, 0, 0, 0, 0, 0]
}

/// The sheets that hold all unknowns of a block; none if it had better stay whole.
fn cut_block<T: Real, const D: usize>(level: &Level<T, D>, block: usize) -> Vec<Cut> {
    let n = block_len::<D>();
    let stencil = &level.stencils[block];
    if matches!(stencil, Stencil::Uniform { .. })
        || !level.couplings[block].is_empty()
        || !level.low_rank.rows_in(block * n..(block + 1) * n).is_empty()
    {
        return Vec::new();
    }
    let mut left = level.affine.touched(block);
    for row in 0..n / 8 {
        for (i, _) in stencil.unknown_row(row).iter().enumerate().filter(|(_, u)| **u) {
            left[row / 8] |= 1 << (8 * (row % 8) + i);
        }
    }
    let mut cuts: Vec<Cut> = Vec::new();
    while left != [0; 8] {
        if cuts.len() == MOST {
            return Vec::new();
        }
        let mut counts = [[0; 8]; 3];
        for local in set_bits(&left) {
            (0..3).for_each(|axis| counts[axis][local >> (3 * axis) & 7] += 1);
        }
        let (axis, at) = (0..24)
            .map(|k| (k / 8, k % 8))
            .rev()
            .max_by_key(|&(axis, at)| counts[axis][at])
            .expect("24 planes");
        let mut cut = Cut { axis, at, number: NONE, cells: 0 };
        for local in set_bits(&{ left }).filter(|local| local >> (3 * axis) & 7 == at) {
            cut.cells |= 1 << cut.place(local);
            left[local / 64] &= !(1 << (local % 64));
        }
        if cuts.iter().any(|other| other.axis == axis && other.at.abs_diff(at) == 1) {
            return Vec::new();
        }
        cuts.push(cut);
    }
    cuts
}

impl<T: Real, const D: usize> Level<T, D> {
    /// The same level, its blocks in their places: for relaxation and products alone.
    pub(crate) fn arranged(&self, places: &Places<D>) -> Self {
        let whole: Vec<usize> = places.whole_blocks().collect();
        let index = |flat: usize| places.index(flat);
        let couplings: Vec<_> =
            whole.par_iter().map(|&block| self.arranged_couplings(places, block)).collect();
        let list = (0..places.sheets.len())
            .into_par_iter()
            .map_init(Patch::new, |patch, sheet| self.sheet(places, sheet, patch));
        let sheets = Sheets { list: list.collect(), ends: places.ends.clone() };
        let mut contacts: Vec<Vec<Contact<D>>> =
            whole.iter().map(|&block| self.affine.contacts(block).to_vec()).collect();
        contacts.par_extend(
            (0..places.sheets.len()).into_par_iter().map(|sheet| self.sheet_contacts(places, sheet)),
        );
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
            low_rank: LowRank::from_factors(&self.low_rank.factors().map(renamed).collect::<Vec<_>>()),
            affine: self.affine.with_sheets(whole.len(), contacts),
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

    fn sheet(&self, places: &Places<D>, sheet: usize, patch: &mut Patch<2>) -> Sheet<T> {
        let n = block_len::<D>();
        let (block, cut) = places.cut(sheet);
        let axes = AXES[cut.axis];
        let same = |other: usize| places.cuts[other].iter().find(|c| (c.axis, c.at) == (cut.axis, cut.at));
        let neighbour = |a: usize, side: usize| self.blocks.neighbour(block, axes[a], side).and_then(same);
        let neighbours = [0, 1].map(|a| [0, 1].map(|side| neighbour(a, side).map_or(NONE, |c| c.number)));
        patch.clear();
        let (mut couplings, mut plain) = (Vec::new(), true);
        for place in set_bits(&one_word(cut.cells)) {
            let local = cut.local(place);
            for (a, side) in (0..6).map(|k| (k / 2, k % 2)) {
                let weight = self.stencils[block].face(axes[a], side, local);
                if a == 2 && weight == T::ZERO {
                    continue;
                }
                let Some(other) = self.across(block, local, axes[a], side) else { continue };
                let in_plane = a < 2 && {
                    let beside = if other / n == block { Some(cut) } else { neighbour(a, side) };
                    beside.is_some_and(|c| c.has(other % n))
                };
                if weight == T::ZERO {
                    plain &= !in_plane;
                } else if in_plane {
                    patch.set_face(a, side, place, weight.f64());
                } else {
                    couplings.push(Coupling {
                        local: place as u16,
                        extra: places.index(other) as u32,
                        weight,
                    });
                }
            }
        }
        for &(local, [anchor, mass]) in &self.anchors[block] {
            if cut.has(local as usize) {
                patch.anchors[cut.place(local as usize)] = anchor.f64() + mass.f64();
            }
        }
        let mut stencil = patch.compress(couplings.iter().map(|c| (c.local as usize, c.weight.f64())));
        if let Stencil::Mask(mask) = &mut stencil {
            mask.plain = plain;
        }
        Sheet { neighbours, stencil, couplings, cells: cut.cells }
    }

    fn sheet_contacts(&self, places: &Places<D>, sheet: usize) -> Vec<Contact<D>> {
        let (block, cut) = places.cut(sheet);
        let edge = self.affine.edge;
        let of_contact = |contact: &Contact<D>| {
            let mut cells = 0;
            contact.locals().filter(|&local| cut.has(local)).for_each(|local| cells |= 1 << cut.place(local));
            let at = std::array::from_fn(|a| {
                contact.at[a] + if a == cut.axis { edge * cut.at as f64 } else { 0.0 }
            });
            let order = AXES[cut.axis].map(|a| a as u8);
            (cells != 0).then_some(Contact { at, order, cells: one_word(cells), ..*contact })
        };
        self.affine.contacts(block).iter().filter_map(of_contact).collect()
    }
}
