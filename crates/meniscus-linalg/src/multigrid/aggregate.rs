//! Which unknowns of a level share an unknown of the next coarser one.
//!
//! Cells are gathered in groups of 2^D. The cells of a group that are connected through open faces
//! inside it form a *part*; connections that are weak beside the others of a cell do not count. The largest part of a group becomes the coarse cell at the group's place;
//! every further part becomes an extra unknown of the coarse level that remembers its place, so that
//! it can join its neighbours on still coarser levels. Cells that are not connected never share an
//! unknown. An unknown without neighbours is solved exactly by relaxation and is carried no further.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Mask, Slot, block_len, cell_in_block, local_index};
use meniscus_core::parallel;

use crate::operator::{Level, Stencil};
use crate::real::Real;

/// A connection of less than this part of all those of one of its two ends is weak. Where coefficients jump by a large factor, cells of both
/// sides that shared an unknown would be tied to the neighbours of the stiff ones, on every level over twice the distance: with many small
/// inclusions a thousand times as stiff as what is around them, a hundred iterations instead of 13 (with [clusters](super::clusters)). Half as much costs
/// three iterations at some factor and twice as much fourteen (`many_small_inclusions_3d` in `tests/iterations.rs`).
const WEAK: f64 = 0.04;

/// The map from the unknowns of a level to those of the next coarser one.
pub(crate) struct Aggregation<const D: usize> {
    pub(crate) coarse: Arc<Blocks<D>>,
    /// By fine block: the coarse block, and which of its 2^D children this is (bit a: upper half along a).
    pub(super) parents: Vec<(u32, u8)>,
    /// By coarse block: its children.
    pub(crate) children: Vec<[Option<u32>; 8]>,
    /// By fine block, ascending: the cells that do not belong to the coarse cell at their place, with
    /// the coarse unknown they belong to, if any.
    pub(crate) irregular: Vec<Vec<(u16, Option<u32>)>>,
    /// By fine extra unknown: the coarse unknown.
    pub(crate) extras: Vec<Option<u32>>,
    /// By coarse extra unknown: its place, if it is a part of a group.
    pub(crate) positions: Vec<Option<[u32; D]>>,
}

/// Where the members of one block's groups go. Parts are numbered within the block.
#[derive(Default)]
struct Split {
    /// The group (its lowest cell) of each further part.
    parts: Vec<u16>,
    cells: Vec<(u16, Target)>,
    extras: Vec<(u32, Target)>,
}

#[derive(Clone, Copy)]
enum Target {
    /// An unknown without neighbours.
    Nowhere,
    /// The coarse cell at the place of this group.
    Cell(u16),
    /// A further part.
    Part(u32),
    /// Where this extra unknown goes.
    With(u32),
}

impl<const D: usize> Aggregation<D> {
    pub(crate) fn new<T: Real>(fine: &Level<T, D>) -> Self {
        let blocks = &fine.matrix.blocks;
        let coarse = Blocks::from_list(
            blocks.cells().map(|n| n.div_ceil(2)),
            (0..blocks.len()).map(|b| blocks.coord(b).map(|c| c / 2)),
        );
        let parents: Vec<(u32, u8)> = (0..blocks.len())
            .map(|b| {
                let coord = blocks.coord(b);
                let parent = coarse.find(coord.map(|c| c / 2)).expect("every fine block has a parent");
                (parent as u32, (0..D).fold(0, |bits, a| bits | ((coord[a] as u8 & 1) << a)))
            })
            .collect();
        let placed = placed_extras(fine);
        let splits = parallel::map(blocks.len(), |block| {
            split_block(fine, block, placed.get(block).map_or(&[], Vec::as_slice))
        });
        let mut this = Self {
            children: children(&parents, coarse.len()),
            coarse: Arc::new(coarse),
            parents,
            irregular: Vec::with_capacity(blocks.len()),
            extras: vec![None; fine.matrix.extras.len()],
            positions: Vec::new(),
        };
        this.number(fine, splits);
        this
    }

    /// Gives every further part its index among the coarse extra unknowns: first those without a
    /// place, one for one, then the parts, block after block.
    fn number<T: Real>(&mut self, fine: &Level<T, D>, splits: Vec<Split>) {
        let first_extra = self.coarse.slots();
        for e in 0..fine.matrix.extras.len() {
            if fine.positions[e].is_none() && is_linked_extra(fine, e) {
                self.extras[e] = Some((first_extra + self.positions.len()) as u32);
                self.positions.push(None);
            }
        }
        for (block, split) in splits.into_iter().enumerate() {
            let first_part = (first_extra + self.positions.len()) as u32;
            for &group in &split.parts {
                let slot = self.coarse_slot(block, group as usize);
                self.positions.push(Some(self.coarse.cell(slot).map(|c| c as u32)));
            }
            let resolve = |target: Target| match target {
                Target::Nowhere => None,
                Target::Cell(group) => Some(self.coarse_slot(block, group as usize).flat::<D>() as u32),
                Target::Part(part) => Some(first_part + part),
                Target::With(extra) => self.extras[extra as usize],
            };
            let extras: Vec<_> =
                split.extras.iter().map(|&(extra, target)| (extra, resolve(target))).collect();
            let cells = split.cells.iter().map(|&(local, target)| (local, resolve(target))).collect();
            self.irregular.push(cells);
            for (extra, target) in extras {
                self.extras[extra as usize] = target;
            }
        }
    }

    /// The coarse cell at the place of a fine one.
    #[inline]
    pub(crate) fn coarse_slot(&self, block: usize, local: usize) -> Slot {
        let (parent, octant) = self.parents[block];
        Slot { block: parent as usize, local: coarse_local::<D>(octant as usize, local) }
    }

    /// The coarse block above a fine one, and which of its children that is.
    #[inline]
    pub(crate) fn parent(&self, block: usize) -> (usize, usize) {
        let (parent, octant) = self.parents[block];
        (parent as usize, octant as usize)
    }

    /// Whether a cell belongs to the coarse cell at its place.
    #[inline]
    pub(crate) fn is_regular(&self, block: usize, local: usize) -> bool {
        self.irregular[block].binary_search_by_key(&(local as u16), |&(l, _)| l).is_err()
    }

    /// The fine cells (block and index within it) at the place of a coarse one.
    pub(crate) fn members(&self, coarse_block: usize, coarse_local: usize) -> Vec<(usize, usize)> {
        let place = cell_in_block::<D>(coarse_local);
        let octant = (0..D).fold(0, |bits, a| bits | ((place[a] / 4) << a));
        let Some(block) = self.children[coarse_block][octant] else { return Vec::new() };
        let cell =
            |corner: usize| local_index::<D>(std::array::from_fn(|a| 2 * (place[a] % 4) + (corner >> a & 1)));
        (0..1 << D).map(|corner| (block as usize, cell(corner))).collect()
    }

    /// The coarse unknown that a fine one (a flat index) belongs to.
    pub(crate) fn target(&self, fine_slots: usize, i: usize) -> Option<usize> {
        if i >= fine_slots {
            return self.extras[i - fine_slots].map(|t| t as usize);
        }
        let Slot { block, local } = Slot::from_flat::<D>(i);
        match self.irregular[block].binary_search_by_key(&(local as u16), |&(l, _)| l) {
            Ok(at) => self.irregular[block][at].1.map(|t| t as usize),
            Err(_) => Some(self.coarse_slot(block, local).flat::<D>()),
        }
    }
}

/// By coarse block: its children, given the parent of each and which of its children that is.
pub(super) fn children(parents: &[(u32, u8)], count: usize) -> Vec<[Option<u32>; 8]> {
    let mut children = vec![[None; 8]; count];
    for (block, &(parent, octant)) in parents.iter().enumerate() {
        children[parent as usize][octant as usize] = Some(block as u32);
    }
    children
}

/// The index within a coarse block of the cell above a fine one.
#[inline(always)]
pub(crate) fn coarse_local<const D: usize>(octant: usize, local: usize) -> usize {
    let inner = cell_in_block::<D>(local);
    local_index::<D>(std::array::from_fn(|a| 4 * (octant >> a & 1) + inner[a] / 2))
}

/// The extra unknowns that have a place, by block.
fn placed_extras<T: Real, const D: usize>(fine: &Level<T, D>) -> Vec<Vec<(u16, u32)>> {
    if fine.positions.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut placed = vec![Vec::new(); fine.matrix.blocks.len()];
    for (e, position) in fine.positions.iter().enumerate() {
        if let Some(position) = position {
            let slot =
                fine.matrix.blocks.locate(position.map(i64::from)).expect("a part lies in an active block");
            placed[slot.block].push((group_of::<D>(slot.local) as u16, e as u32));
        }
    }
    placed
}

/// The lowest cell of the group of a cell.
fn group_of<const D: usize>(local: usize) -> usize {
    local_index::<D>(cell_in_block::<D>(local).map(|c| c & !1))
}

/// The lowest cell of every group of a block.
pub(crate) fn groups<const D: usize>() -> impl Iterator<Item = usize> {
    (0..1usize << (2 * D)).map(|g| (0..D).map(|a| (g >> (2 * a) & 3) << (3 * a + 1)).sum())
}

/// The cells of a group, counted from its lowest.
pub(crate) fn corners<const D: usize>() -> impl Iterator<Item = usize> {
    (0..1usize << D).map(|corner| (0..D).map(|a| (corner >> a & 1) << (3 * a)).sum())
}

/// Whether an extra unknown has a neighbour or is touched by a low-rank term.
fn is_linked_extra<T: Real, const D: usize>(level: &Level<T, D>, extra: usize) -> bool {
    !level.matrix.extras.edges(extra).is_empty()
        || level.matrix.low_rank.find_row(level.slots() + extra).is_some()
}

/// The one extra unknown that a cell without neighbours is coupled to, if that has no place and no low-rank
/// term touches the cell: the two are connected and can share an unknown (many single cells inside one cavity, say).
fn only_extra<T: Real, const D: usize>(level: &Level<T, D>, block: usize, local: usize) -> Option<u32> {
    let mut extras =
        level.matrix.couplings[block].iter().filter(|c| c.local as usize == local).map(|c| c.extra as usize);
    let extra = extras.next()? - level.slots();
    let free = level.matrix.low_rank.find_row(block * block_len::<D>() + local).is_none()
        && !level.matrix.affine.touches(block, local);
    let alone = extras.all(|e| e - level.slots() == extra);
    (free && alone && level.positions[extra].is_none()).then_some(extra as u32)
}

/// The cells of a block that are linked with more than their neighbours.
struct Links<const D: usize> {
    /// Extra unknowns or low-rank terms.
    any: Mask<D>,
    /// Low-rank terms.
    terms: Mask<D>,
}

impl<const D: usize> Links<D> {
    fn new<T: Real>(level: &Level<T, D>, block: usize) -> Self {
        let terms = level.matrix.touched_cells(block);
        let mut any = terms;
        for c in &level.matrix.couplings[block] {
            any.insert(c.local as usize);
        }
        Self { any, terms }
    }
}

fn split_block<T: Real, const D: usize>(fine: &Level<T, D>, block: usize, placed: &[(u16, u32)]) -> Split {
    let stencil = &fine.matrix.stencils[block];
    let mut split = Split::default();
    if placed.is_empty() && matches!(stencil, Stencil::Uniform { .. }) {
        return split;
    }
    let (links, unknown) = (Links::new(fine, block), fine.matrix.unknown_cells(block));
    let mut group = Group::default();
    for base in groups::<D>() {
        if placed.is_empty()
            && (unknown.count_in_group(base) == 0 || is_whole(stencil, base, &links, &unknown))
        {
            continue;
        }
        let extras = placed.iter().filter(|p| p.0 as usize == base).map(|p| p.1);
        group.gather(fine, block, base, &links, extras);
        group.assign(base as u16, &mut split);
    }
    split.cells.sort_unstable_by_key(|c| c.0);
    split
}

/// Whether the unknowns of a group are all connected to each other, so that it needs no closer look: a
/// flood of the group's cells held in the bits of a byte.
fn is_whole<T: Real, const D: usize>(
    stencil: &Stencil<T, D>,
    base: usize,
    links: &Links<D>,
    unknown: &Mask<D>,
) -> bool {
    if let Stencil::OnOff(on_off) = stencil
        && on_off.plain
        && corners::<D>().all(|offset| on_off.degree[base + offset] > 0)
    {
        return true;
    }
    let (mut members, mut above) = (0u8, [0u8; D]);
    for (corner, offset) in corners::<D>().enumerate() {
        let local = base + offset;
        let is_member = unknown.has(local);
        members |= u8::from(is_member) << corner;
        if !is_member {
            continue;
        }
        for axis in (0..D).filter(|a| corner >> a & 1 == 0) {
            above[axis] |= u8::from(joins_above(stencil, local, axis, links)) << corner;
        }
    }
    let mut flood = members & members.wrapping_neg();
    loop {
        let grown = (0..D).fold(flood, |f, a| f | (f & above[a]) << (1 << a) | (f >> (1 << a)) & above[a]);
        if grown == flood {
            // A single cell may be an unknown without neighbours.
            return flood == members && members.count_ones() != 1;
        }
        flood = grown;
    }
}

/// Whether a cell and the one above it along an axis, in the same block, are connected, and not weakly. What low-rank terms touch is
/// not parted for that: those that touch narrow cells took half as many iterations more.
fn joins_above<T: Real, const D: usize>(
    stencil: &Stencil<T, D>,
    local: usize,
    axis: usize,
    links: &Links<D>,
) -> bool {
    let weight = stencil.face(axis, 1, local).f64();
    let is_touched = || links.terms.has(local) || links.terms.has(local + (1 << (3 * axis)));
    if !matches!(stencil, Stencil::General(_)) || is_touched() {
        return weight != 0.0;
    }
    let all = |local: usize| {
        let faces = (0..2 * D).map(|k| stencil.face(k / 2, k % 2, local).f64());
        faces.sum::<f64>()
    };
    weight != 0.0 && is_strong(weight, all(local), all(local + (1 << (3 * axis))))
}

/// Whether a connection counts beside all those of its two ends.
pub(super) fn is_strong(weight: f64, of_one: f64, of_other: f64) -> bool {
    weight >= WEAK * of_one.max(of_other)
}

/// The members of one group of 2^D cells, and which of them are connected.
#[derive(Default)]
struct Group {
    cells: Vec<u16>,
    extras: Vec<u32>,
    /// Cells that do not take part: they have no neighbours, or only one extra unknown.
    outside: Vec<(u16, Target)>,
    alone_extras: Vec<u32>,
    /// By member, cells first: the lowest member of its part.
    root: Vec<usize>,
}

impl Group {
    fn gather<T: Real, const D: usize>(
        &mut self,
        fine: &Level<T, D>,
        block: usize,
        base: usize,
        links: &Links<D>,
        extras: impl Iterator<Item = u32>,
    ) {
        let stencil = &fine.matrix.stencils[block];
        self.cells.clear();
        self.extras.clear();
        self.outside.clear();
        self.alone_extras.clear();
        for local in corners::<D>().map(|offset| base + offset) {
            if stencil.has_neighbours(local) {
                self.cells.push(local as u16);
            } else if links.any.has(local) {
                match only_extra(fine, block, local) {
                    Some(extra) => self.outside.push((local as u16, Target::With(extra))),
                    None => self.cells.push(local as u16),
                }
            } else if stencil.diagonal(local) != T::ZERO {
                self.outside.push((local as u16, Target::Nowhere));
            }
        }
        for extra in extras {
            let list =
                if is_linked_extra(fine, extra as usize) { &mut self.extras } else { &mut self.alone_extras };
            list.push(extra);
        }
        self.root.clear();
        self.root.extend(0..self.cells.len() + self.extras.len());
        for member in 0..self.cells.len() {
            let local = self.cells[member] as usize;
            for axis in (0..D).filter(|a| local >> (3 * a) & 1 == 0) {
                if joins_above(stencil, local, axis, links) {
                    let above = (local + (1 << (3 * axis))) as u16;
                    let other = self.cells.iter().position(|&c| c == above);
                    self.join(member, other.expect("the cell across an open face has neighbours"));
                }
            }
        }
        let (slots, n) = (fine.slots(), block_len::<D>());
        for k in 0..self.extras.len() {
            let member = self.cells.len() + k;
            let of_extra = fine.matrix.extras.reach(self.extras[k] as usize);
            for &(to, weight) in fine.matrix.extras.edges(self.extras[k] as usize) {
                let to = to as usize;
                let of_other = match to.checked_sub(slots) {
                    Some(extra) => fine.matrix.extras.reach(extra),
                    None => fine.reach(to),
                };
                if !is_strong(weight.f64(), of_extra, of_other) {
                    continue;
                }
                let other = if to >= slots {
                    let found = self.extras.iter().position(|&e| slots + e as usize == to);
                    found.map(|k| self.cells.len() + k)
                } else if to / n == block {
                    self.cells.iter().position(|&c| c as usize == to % n)
                } else {
                    None
                };
                if let Some(other) = other {
                    self.join(member, other);
                }
            }
        }
    }

    fn join(&mut self, a: usize, b: usize) {
        let (low, high) = (self.root[a].min(self.root[b]), self.root[a].max(self.root[b]));
        for root in self.root.iter_mut().filter(|root| **root == high) {
            *root = low;
        }
    }

    /// Writes where the members go: the largest part (the first of equals) to the coarse cell.
    fn assign(&self, base: u16, split: &mut Split) {
        split.cells.extend(&self.outside);
        split.extras.extend(self.alone_extras.iter().map(|&e| (e, Target::Nowhere)));
        let size = |root: usize| self.root.iter().filter(|&&r| r == root).count();
        let main = (0..self.root.len()).rev().max_by_key(|&m| size(m));
        let mut part_of = vec![None; self.root.len()];
        for member in 0..self.root.len() {
            let root = self.root[member];
            let part = if Some(root) == main {
                None
            } else {
                Some(*part_of[root].get_or_insert_with(|| {
                    split.parts.push(base);
                    (split.parts.len() - 1) as u32
                }))
            };
            match (member.checked_sub(self.cells.len()), part) {
                (None, None) => {}
                (None, Some(part)) => split.cells.push((self.cells[member], Target::Part(part))),
                (Some(k), None) => split.extras.push((self.extras[k], Target::Cell(base))),
                (Some(k), Some(part)) => split.extras.push((self.extras[k], Target::Part(part))),
            }
        }
    }
}
