//! The operator: a stencil on grid cells, extra unknowns, and low-rank terms, in one sum.
//!
//! Vectors hold one value for every slot of the active blocks, block after block, and then one for
//! every extra unknown. Slots that are not unknowns have a zero row, and hold zero in every vector that
//! the operator is applied to.

mod affine;
mod assemble;
mod contact;
mod expand;
mod extras;
mod low_rank;
mod outer;
mod places;
mod sheets;
mod stencil;
mod tile;
mod without;

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Mask as CellMask, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::simd::simd;

pub(crate) use affine::Affine;
pub use affine::AffineTerm;
pub use assemble::{AssembleError, Operator};
pub(crate) use contact::{Contact, Moments};
pub(crate) use expand::Expanded;
pub use extras::ExtraUnknown;
pub(crate) use extras::{Coupling, Edge, Extras};
pub use low_rank::LowRankTerm;
pub(crate) use low_rank::{Factor, LowRank};
pub use outer::Compliance;
pub(crate) use outer::{Outer, Term};
pub(crate) use places::Places;
pub(crate) use sheets::{NONE, Others, SHEET, Sheets};
pub use stencil::{Patch, face_len, lower_face, upper_face};
pub(crate) use stencil::{Stencil, coordinate};
pub(crate) use tile::{LANES, Planes, Tile, gather, lane, planes, spread};

use crate::real::Real;

/// Blocks that one task works through: large enough to hide the cost of a task.
pub(crate) const TASK_BLOCKS: usize = 16;

/// Sheets that one task works through.
pub(crate) const SHEET_TASK: usize = 128;

/// An operator as it stands on one level of a hierarchy, with coefficients of precision T.
#[derive(Clone, Debug)]
pub(crate) struct Level<T, const D: usize> {
    pub(crate) blocks: Arc<Blocks<D>>,
    pub(crate) stencils: Vec<Stencil<T, D>>,
    /// By block: the cells with an anchor or a mass, and both.
    pub(crate) anchors: Vec<Vec<(u16, [T; 2])>>,
    /// By block: the couplings of its cells to extra unknowns.
    pub(crate) couplings: Vec<Vec<Coupling<T>>>,
    pub(crate) extras: Extras<T, D>,
    pub(crate) low_rank: LowRank<T>,
    pub(crate) affine: Affine<D>,
    /// Degrees of freedom of all terms, the length of v: the same on all levels, whatever form a term has there.
    pub(crate) dofs: usize,
    /// What blocks have been cut into, on a level that has been arranged.
    pub(crate) sheets: Sheets<T>,
}

impl<T: Real, const D: usize> Level<T, D> {
    pub(crate) fn assemble(
        blocks: Arc<Blocks<D>>,
        fill: impl Fn(usize, &mut Patch<D>) + Sync,
        extras: Extras<T, D>,
        couplings: Vec<Vec<Coupling<T>>>,
        low_rank: LowRank<T>,
    ) -> (Self, Vec<Vec<Contact<D>>>) {
        let of_blocks = parallel::map_with(blocks.len(), Patch::new, |patch, block| {
            patch.clear();
            fill(block, patch);
            let weights = couplings[block].iter().map(|c| (c.local as usize, c.weight.f64()));
            (patch.compress(weights), patch.held(), patch.contacts(blocks.coord(block)))
        });
        let (stencils, anchors, contacts) = of_blocks.into_iter().collect();
        let affine = Affine::default();
        let mut level = Self {
            blocks,
            stencils,
            anchors,
            couplings,
            extras,
            dofs: low_rank.dofs(),
            low_rank,
            affine,
            sheets: Sheets::default(),
        };
        level.mark_plain(&[]);
        (level, contacts)
    }

    /// Finds the masks that are plain. Vectors may hold values in the `others` too, of which this level knows nothing.
    pub(super) fn mark_plain(&mut self, others: &[u32]) {
        let mut unknown = parallel::map(self.blocks.len(), |block| self.unknown_cells(block));
        for cell in others.iter().map(|&i| i as usize).filter(|&i| i < self.slots()) {
            unknown[cell / block_len::<D>()].insert(cell % block_len::<D>());
        }
        let is_plain = |block: usize| {
            let stencil = &self.stencils[block];
            let own = stencil.unknown_cells();
            let beyond = |axis, side| self.blocks.neighbour(block, axis, side).map(|other| unknown[other]);
            own.is_empty()
                || (0..2 * D).map(|k| (k / 2, k % 2)).all(|(axis, side)| {
                    let closed = own.without(&stencil.open_cells(axis, side));
                    let beyond = beyond(axis, side).unwrap_or(CellMask::EMPTY);
                    closed.and(&unknown[block].beside(axis, side, &beyond)).is_empty()
                })
        };
        let plain = parallel::map(self.blocks.len(), |block| {
            matches!(self.stencils[block], Stencil::Mask(_)) && is_plain(block)
        });
        for (stencil, plain) in self.stencils.iter_mut().zip(plain) {
            if let Stencil::Mask(mask) = stencil {
                mask.plain = plain;
            }
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.blocks.slots()
    }

    pub(crate) fn len(&self) -> usize {
        self.first_extra() + self.extras.len()
    }

    /// The flat index of the first extra unknown.
    pub(crate) fn first_extra(&self) -> usize {
        self.slots() + SHEET * self.sheets.list.len()
    }

    /// The diagonal of an unknown, low-rank terms included.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        let own = if i < self.slots() {
            self.stencils[i / block_len::<D>()].diagonal(i % block_len::<D>())
        } else {
            self.extras.diagonal[i - self.first_extra()]
        };
        let n = block_len::<D>();
        let affine = if i < self.slots() { self.affine.diagonal(i / n, i % n) } else { 0.0 };
        own.f64()
            + self.low_rank.find_row(i).map_or(0.0, |row| self.low_rank.row_diagonal(row).f64())
            + affine
    }

    /// Whether the diagonal of an unknown, low-rank terms included, is above 0.
    pub(crate) fn is_unknown(&self, i: usize) -> bool {
        let (block, local) = (i / block_len::<D>(), i % block_len::<D>());
        let own = match i.checked_sub(self.slots()) {
            None => self.stencils[block].diagonal(local) > T::ZERO || self.affine.touches(block, local),
            Some(extra) => self.extras.diagonal[extra] > T::ZERO,
        };
        own || self.low_rank.find_row(i).is_some_and(|row| self.low_rank.row_diagonal(row) > T::ZERO)
    }

    /// The cells of a block that are unknowns.
    pub(crate) fn unknown_cells(&self, block: usize) -> CellMask<D> {
        self.stencils[block].unknown_cells().or(&self.touched_cells(block))
    }

    /// The cells of a block that low-rank terms touch.
    pub(crate) fn touched_cells(&self, block: usize) -> CellMask<D> {
        let n = block_len::<D>();
        let mut touched = self.affine.touched(block);
        let rows = self.low_rank.rows_in(block * n..(block + 1) * n);
        rows.for_each(|row| touched.insert(self.low_rank.row_unknown(row) % n));
        touched
    }

    /// The cells of a block that only low-rank terms hold.
    pub(crate) fn held_by_terms(&self, block: usize) -> Vec<u16> {
        let held = self.touched_cells(block).without(&self.stencils[block].unknown_cells());
        held.iter().map(|local| local as u16).collect()
    }

    pub(crate) fn unknowns(&self) -> usize {
        let of_block = |block: usize| match self.stencils[block] {
            Stencil::Uniform { .. } => block_len::<D>(),
            _ => self.unknown_cells(block).count(),
        };
        let extras = (self.slots()..self.len()).filter(|&i| self.is_unknown(i)).count();
        parallel::map(self.blocks.len(), of_block).iter().sum::<usize>() + extras
    }

    /// Sets the slots that are not unknowns to 0.
    pub(crate) fn clear_known(&self, x: &mut [f64]) {
        let n = block_len::<D>();
        parallel::for_chunks(&mut x[..self.slots()], n, |block, x| {
            if !matches!(self.stencils[block], Stencil::Uniform { .. }) {
                let unknown = self.unknown_cells(block);
                (0..n).filter(|&local| !unknown.has(local)).for_each(|local| x[local] = 0.0);
            }
        });
    }

    /// The unknowns with a zero row where `b` is not zero.
    pub(crate) fn zero_rows_with(&self, b: &[f64]) -> Vec<usize> {
        let n = block_len::<D>();
        let in_block = |block: usize| -> Vec<usize> {
            if matches!(self.stencils[block], Stencil::Uniform { .. }) {
                return Vec::new();
            }
            let unknown = self.unknown_cells(block);
            let cells = (0..n).filter(|local| b[block * n + local] != 0.0);
            cells.filter(|&local| !unknown.has(local)).map(|local| block * n + local).collect()
        };
        let mut rows = parallel::map(self.blocks.len(), in_block).concat();
        rows.extend((self.slots()..self.len()).filter(|&i| b[i] != 0.0 && !self.is_unknown(i)));
        rows
    }

    /// y = A x; returns x · y.
    pub(crate) fn apply<V: Real>(&self, x: &[V], y: &mut [V]) -> f64 {
        let n = block_len::<D>();
        let (cells, rest) = y.split_at_mut(self.slots());
        let (sheets, extras) = rest.split_at_mut(self.first_extra() - self.slots());
        let v = self.state(x);
        let pull = self.affine.pull(&v);
        let sums = parallel::map_chunks_with(cells, n * TASK_BLOCKS, Scratch::new, |scratch, task, chunk| {
            simd(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for (i, y) in chunk.chunks_exact_mut(n).enumerate() {
                        sum += self.apply_block(task * TASK_BLOCKS + i, x, &v, &pull, scratch, y);
                    }
                    sum
                },
            )
        });
        let mut total: f64 = sums.iter().sum();
        total += self.apply_sheets(x, &pull, sheets);
        for (e, y) in extras.iter_mut().enumerate() {
            let value = x[self.first_extra() + e].f64();
            let result = self.extra_product(e, x, &v);
            *y = V::of(result);
            total += value * result;
        }
        total
    }

    /// v = F x.
    pub(crate) fn state<V: Real>(&self, x: &[V]) -> Vec<V> {
        let mut v = vec![V::ZERO; self.dofs];
        self.low_rank.state(x, &mut v);
        self.affine.state(self.slots(), x, &mut v);
        v
    }

    /// The product A x of one extra unknown; `v` = F x.
    pub(crate) fn extra_product<V: Real>(&self, extra: usize, x: &[V], v: &[V]) -> f64 {
        let i = self.first_extra() + extra;
        let force = self.low_rank.find_row(i).map_or(0.0, |row| self.low_rank.force(row, v).f64());
        self.extras.diagonal[extra].f64() * x[i].f64() - self.extras.neighbour_sum(extra, x) + force
    }

    #[inline(always)]
    fn apply_block<V: Real>(
        &self,
        block: usize,
        x: &[V],
        v: &[V],
        pull: &[Moments<V>],
        scratch: &mut Scratch<V, D>,
        y: &mut [V],
    ) -> f64 {
        let n = block_len::<D>();
        self.product(block, x, v, pull, scratch, y);
        row_dot(&x[block * n..(block + 1) * n], y)
    }

    /// The products A x of all sheets; returns x · y.
    fn apply_sheets<V: Real>(&self, x: &[V], pull: &[Moments<V>], y: &mut [V]) -> f64 {
        let first = self.slots();
        let sums = parallel::map_chunks(y, SHEET * SHEET_TASK, |task, chunk| {
            simd(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for (i, y) in chunk.as_chunks_mut().0.iter_mut().enumerate() {
                        let sheet = task * SHEET_TASK + i;
                        self.sheet_product(sheet, x, pull, y);
                        sum += row_dot(&x[first + SHEET * sheet..][..SHEET], y);
                    }
                    sum
                },
            )
        });
        sums.iter().sum()
    }

    /// The product A x of one block; `v` = F x, and `pull` that of the affine terms.
    #[inline(always)]
    pub(crate) fn product<V: Real>(
        &self,
        block: usize,
        x: &[V],
        v: &[V],
        pull: &[Moments<V>],
        scratch: &mut Scratch<V, D>,
        y: &mut [V],
    ) {
        let n = block_len::<D>();
        let Scratch { tile, coefficients } = scratch;
        let values_of = |b: usize| &x[b * n..(b + 1) * n];
        tile.load(values_of(block));
        tile.load_halo(&self.blocks, block, values_of);
        coefficients.load(&self.stencils[block]);
        let mut product = [V::ZERO; LANES];
        for (plane, y) in y.chunks_exact_mut(64).enumerate() {
            coefficients.product(tile, plane, &mut product);
            gather(&product, y);
        }
        for c in &self.couplings[block] {
            let y = &mut y[c.local as usize];
            *y = *y - V::of(c.weight.f64()) * x[c.extra as usize];
        }
        if !self.low_rank.is_empty() {
            for row in self.low_rank.rows_in(block * n..(block + 1) * n) {
                y[self.low_rank.row_unknown(row) % n] += self.low_rank.force(row, v);
            }
        }
        self.affine.for_each_force(
            block,
            pull,
            #[inline(always)]
            |first, force, _| {
                for (y, force) in y[first..first + 8].iter_mut().zip(force) {
                    *y += force;
                }
            },
        );
    }

    /// Calls `neighbour` with (unknown, weight) for what unknown `i` is coupled to, low-rank terms left out.
    pub(crate) fn for_each_neighbour(&self, i: usize, mut neighbour: impl FnMut(usize, f64)) {
        let n = block_len::<D>();
        if i >= self.slots() {
            for &(j, w) in self.extras.edges(i - self.first_extra()) {
                neighbour(j as usize, w.f64());
            }
            return;
        }
        let (block, local) = (i / n, i % n);
        for axis in 0..D {
            for side in 0..2 {
                let weight = self.stencils[block].face(axis, side, local).f64();
                if weight != 0.0 {
                    neighbour(
                        self.across(block, local, axis, side).expect("an open face has two cells"),
                        weight,
                    );
                }
            }
        }
        for c in self.couplings[block].iter().filter(|c| c.local as usize == local) {
            neighbour(c.extra as usize, c.weight.f64());
        }
    }

    /// The sum of the weights of all that an unknown is coupled to.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each_neighbour(i, |_, weight| sum += weight);
        sum
    }

    /// The weight of what couples an unknown to a known value, and its mass.
    pub(crate) fn hold(&self, i: usize) -> f64 {
        let n = block_len::<D>();
        let held = match i.checked_sub(self.first_extra()) {
            Some(extra) => Some(self.extras.anchors[extra]),
            None => {
                self.anchors[i / n].iter().find(|(local, _)| *local as usize == i % n).map(|found| found.1)
            }
        };
        held.map_or(0.0, |[anchor, mass]| anchor.f64() + mass.f64())
    }

    /// Whether an unknown is coupled to a known value or has a mass.
    pub(crate) fn is_anchored(&self, i: usize) -> bool {
        let n = block_len::<D>();
        match i.checked_sub(self.slots()) {
            Some(extra) => self.extras.anchors[extra] != [T::ZERO; 2],
            None => self.anchors[i / n].iter().any(|&(local, _)| local as usize == i % n),
        }
    }

    /// Calls `entry` with (column, value) for the entries of row `i`, columns possibly repeated.
    pub(crate) fn for_each_entry(&self, i: usize, mut entry: impl FnMut(usize, f64)) {
        let row = self.low_rank.find_row(i);
        let (block, local) = (i / block_len::<D>(), i % block_len::<D>());
        let of_terms = row.map_or(0.0, |row| self.low_rank.row_diagonal(row).f64());
        entry(i, self.diagonal(i) - of_terms - self.affine.diagonal(block, local));
        self.for_each_neighbour(i, |j, weight| entry(j, -weight));
        if let Some(row) = row {
            let mut v = vec![0.0; self.dofs];
            self.low_rank.push(row, 1.0, &mut v);
            for other in self.low_rank.rows_in(0..self.len()) {
                let value = self.low_rank.force(other, &v);
                if value != 0.0 {
                    entry(self.low_rank.row_unknown(other), value);
                }
            }
        }
        if self.affine.touches(block, local) {
            let mut v = vec![0.0; self.dofs];
            self.affine.push(block, local, 1.0, &mut v);
            let pull = self.affine.pull(&v);
            for other in 0..self.blocks.len() {
                self.affine.for_each_force(other, &pull, |first, force, _| {
                    for (i, value) in force.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                        entry(other * block_len::<D>() + first + i, value);
                    }
                });
            }
        }
    }

    /// The flat index of the cell across a face.
    #[inline]
    pub(crate) fn across(&self, block: usize, local: usize, axis: usize, side: usize) -> Option<usize> {
        self.blocks.step(Slot { block, local }, axis, side).map(Slot::flat::<D>)
    }

    pub(crate) fn bytes(&self) -> usize {
        let couplings: usize = self.couplings.iter().map(|c| c.len() * size_of::<Coupling<T>>()).sum();
        let anchors: usize = self.anchors.iter().map(|a| a.len() * size_of::<(u16, [T; 2])>()).sum();
        self.stencils.iter().map(Stencil::bytes).sum::<usize>()
            + couplings
            + anchors
            + self.extras.bytes()
            + self.low_rank.bytes()
            + self.affine.bytes()
    }
}

/// The inner product of two runs of rows.
#[inline(always)]
fn row_dot<V: Real>(x: &[V], y: &[V]) -> f64 {
    let mut lanes = [V::ZERO; 8];
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += x[i] * y[i];
        }
    }
    lanes.iter().map(|lane| lane.f64()).sum()
}

/// The cells of a block with coordinate 0 along `axis`.
fn boundary_cells<const D: usize>(axis: usize) -> impl Iterator<Item = usize> {
    let low = 8usize.pow(axis as u32);
    (0..block_len::<D>() / 8).map(move |k| k % low + k / low * low * 8)
}

/// What a thread needs to work on a block.
pub(crate) struct Scratch<V, const D: usize> {
    pub(crate) tile: Tile<V, D>,
    pub(crate) coefficients: Expanded<V, D>,
}

impl<V: Real, const D: usize> Scratch<V, D> {
    pub(crate) fn new() -> Self {
        Self { tile: Tile::new(), coefficients: Expanded::new() }
    }
}
