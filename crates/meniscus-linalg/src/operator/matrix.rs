//! The coefficients of a level, and its product with a vector, block by block.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Mask, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::TASK_BLOCKS;
use super::affine::Affine;
use super::contact::Moments;
use super::expand::Expanded;
use super::extras::{Coupling, Extras};
use super::low_rank::LowRank;
use super::stencil::Stencil;
use super::tile::{LANES, Tile, gather};
use crate::real::Real;

/// The stencils of blocks, the extra unknowns and the low-rank terms: what a product needs, wherever vectors hold the extra unknowns.
/// Couplings and edges name unknowns by their places in the vectors of the [`Level`](super::Level) or [`Arranged`](super::Arranged) level
/// that this is a part of.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<T, const D: usize> {
    pub(crate) blocks: Arc<Blocks<D>>,
    pub(crate) stencils: Vec<Stencil<T, D>>,
    /// By block: the couplings of its cells to unknowns that are not cells of blocks.
    pub(crate) couplings: Vec<Vec<Coupling<T>>>,
    pub(crate) extras: Extras<T>,
    pub(crate) low_rank: LowRank<T>,
    pub(crate) affine: Affine<D>,
    /// Degrees of freedom of all terms, the length of v: the same on all levels, whatever form a term has there.
    pub(crate) dofs: usize,
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

impl<T: Real, const D: usize> Matrix<T, D> {
    /// The length of the part of vectors that holds the cells of blocks.
    pub(crate) fn slots(&self) -> usize {
        self.blocks.slots()
    }

    /// The cells of a block that are unknowns.
    pub(crate) fn unknown_cells(&self, block: usize) -> Mask<D> {
        self.stencils[block].unknown_cells().or(&self.touched_cells(block))
    }

    /// The cells of a block that low-rank terms touch.
    pub(crate) fn touched_cells(&self, block: usize) -> Mask<D> {
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

    /// The flat index of the cell across a face.
    #[inline]
    pub(crate) fn across(&self, block: usize, local: usize, axis: usize, side: usize) -> Option<usize> {
        self.blocks.step(Slot { block, local }, axis, side).map(Slot::flat::<D>)
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
                    let beyond = beyond(axis, side).unwrap_or(Mask::EMPTY);
                    closed.and(&unknown[block].beside(axis, side, &beyond)).is_empty()
                })
        };
        let plain = parallel::map(self.blocks.len(), |block| {
            matches!(self.stencils[block], Stencil::OnOff(_)) && is_plain(block)
        });
        for (stencil, plain) in self.stencils.iter_mut().zip(plain) {
            if let Stencil::OnOff(on_off) = stencil {
                on_off.plain = plain;
            }
        }
    }

    /// The products A x of all blocks, into `y`; returns the sum of x · y over them. `v` = F x, and `pull` that of the affine terms.
    pub(super) fn apply_blocks<V: Real>(&self, x: &[V], v: &[V], pull: &[Moments<V>], y: &mut [V]) -> f64 {
        let n = block_len::<D>();
        let sums = parallel::map_chunks_with(y, n * TASK_BLOCKS, Scratch::new, |scratch, task, chunk| {
            simd(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for (i, y) in chunk.chunks_exact_mut(n).enumerate() {
                        let block = task * TASK_BLOCKS + i;
                        self.product(block, x, v, pull, scratch, y);
                        sum += row_dot(&x[block * n..(block + 1) * n], y);
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

    /// Bytes that the coefficients occupy.
    pub(crate) fn bytes(&self) -> usize {
        let couplings: usize = self.couplings.iter().map(|c| c.len() * size_of::<Coupling<T>>()).sum();
        self.stencils.iter().map(Stencil::bytes).sum::<usize>()
            + couplings
            + self.extras.bytes()
            + self.low_rank.bytes()
            + self.affine.bytes()
    }
}

/// The inner product of two runs of rows.
#[inline(always)]
pub(super) fn row_dot<V: Real>(x: &[V], y: &[V]) -> f64 {
    let mut lanes = [V::ZERO; 8];
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += x[i] * y[i];
        }
    }
    lanes.iter().map(|lane| lane.f64()).sum()
}
