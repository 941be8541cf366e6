//! A level as it is assembled and coarsened: all of its blocks are whole.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, block_len};
use meniscus_core::parallel;

use super::affine::Affine;
use super::contact::Contact;
use super::extras::{Edge, Extras};
use super::low_rank::LowRank;
use super::matrix::Matrix;
use super::stencil::{Patch, Stencil};
use crate::real::Real;

/// What holds an unknown by itself, without another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hold<T> {
    /// The weight of its coupling to a known value.
    pub(crate) anchor: T,
    pub(crate) mass: T,
}

impl<T: Real> Hold<T> {
    pub(crate) fn sum(self) -> f64 {
        self.anchor.f64() + self.mass.f64()
    }

    /// In another precision.
    pub(crate) fn convert<U: Real>(self) -> Hold<U> {
        Hold { anchor: U::of(self.anchor.f64()), mass: U::of(self.mass.f64()) }
    }
}

/// The extra unknowns of a level that is to be assembled.
pub(crate) struct ExtraNodes<const D: usize> {
    /// By extra unknown: what holds it, and the cell that it shares with others, if it stems from a cell cut in parts.
    pub(crate) holds: Vec<Hold<f64>>,
    pub(crate) positions: Vec<Option<[u32; D]>>,
    pub(crate) edges: Vec<Edge>,
}

/// An operator as it stands on one level of a hierarchy, with coefficients of precision T, while the hierarchy is built: beside the matrix, what coarser
/// levels follow from. Vectors hold the slots of all blocks, and then the extra unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Level<T, const D: usize> {
    /// Shared with the [`Arranged`](super::Arranged) level where no block is cut.
    pub(crate) matrix: Arc<Matrix<T, D>>,
    /// By block: the cells with an anchor or a mass.
    pub(crate) holds: Vec<Vec<(u16, Hold<T>)>>,
    pub(crate) extra_holds: Vec<Hold<T>>,
    /// By extra unknown: the cell that it shares with others, if it stems from a cell cut in parts.
    pub(crate) positions: Vec<Option<[u32; D]>>,
}

impl<T: Real, const D: usize> Level<T, D> {
    /// Without affine terms; those that faces lead to are given beside the level, block by block.
    pub(crate) fn assemble(
        blocks: Arc<Blocks<D>>,
        fill: impl Fn(usize, &mut Patch<D>) + Sync,
        extras: ExtraNodes<D>,
        low_rank: LowRank<T>,
    ) -> (Self, Vec<Vec<Contact<D>>>) {
        let ExtraNodes { holds: extra_holds, positions, edges } = extras;
        let (extras, couplings) = Extras::<T>::new(blocks.slots(), block_len::<D>(), &extra_holds, &edges);
        let of_blocks = parallel::map_with(blocks.len(), Patch::new, |patch, block| {
            patch.clear();
            fill(block, patch);
            let weights = couplings[block].iter().map(|c| (c.local as usize, c.weight.f64()));
            (patch.compress(weights), patch.holds(), patch.contacts(blocks.coord(block)))
        });
        let (stencils, holds, contacts) = of_blocks.into_iter().collect();
        let dofs = low_rank.dofs();
        let affine = Affine::default();
        let mut matrix = Matrix { blocks, stencils, couplings, extras, low_rank, affine, dofs };
        matrix.mark_plain(&[]);
        let extra_holds = extra_holds.into_iter().map(Hold::convert).collect();
        (Self { matrix: Arc::new(matrix), holds, extra_holds, positions }, contacts)
    }

    /// The level with affine terms, and `dofs` degrees of freedom in all.
    pub(crate) fn with_affine(mut self, affine: Affine<D>, dofs: usize) -> Self {
        let matrix = Arc::make_mut(&mut self.matrix);
        (matrix.affine, matrix.dofs) = (affine, dofs);
        // Cells that nothing but affine terms holds are unknowns too.
        if !matrix.affine.is_empty() {
            matrix.mark_plain(&[]);
        }
        self
    }

    /// Lets vectors hold values in cells of which this level knows nothing.
    pub(super) fn expect_values_in(&mut self, others: &[u32]) {
        Arc::make_mut(&mut self.matrix).mark_plain(others);
    }

    /// The flat index of the first extra unknown.
    pub(crate) fn slots(&self) -> usize {
        self.matrix.slots()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots() + self.matrix.extras.len()
    }

    /// The diagonal of an unknown, low-rank terms included.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        let Matrix { stencils, extras, low_rank, affine, .. } = &*self.matrix;
        let (block, local) = (i / block_len::<D>(), i % block_len::<D>());
        let (own, of_affine) = match i.checked_sub(self.slots()) {
            None => (stencils[block].diagonal(local), affine.diagonal(block, local)),
            Some(extra) => (extras.diagonal[extra], 0.0),
        };
        own.f64() + low_rank.find_row(i).map_or(0.0, |row| low_rank.row_diagonal(row).f64()) + of_affine
    }

    /// Whether the diagonal of an unknown, low-rank terms included, is above 0.
    pub(crate) fn is_unknown(&self, i: usize) -> bool {
        let Matrix { stencils, extras, low_rank, affine, .. } = &*self.matrix;
        let (block, local) = (i / block_len::<D>(), i % block_len::<D>());
        let own = match i.checked_sub(self.slots()) {
            None => stencils[block].diagonal(local) > T::ZERO || affine.touches(block, local),
            Some(extra) => extras.diagonal[extra] > T::ZERO,
        };
        own || low_rank.find_row(i).is_some_and(|row| low_rank.row_diagonal(row) > T::ZERO)
    }

    pub(crate) fn unknowns(&self) -> usize {
        let matrix = &self.matrix;
        let of_block = |block: usize| match matrix.stencils[block] {
            Stencil::Uniform { .. } => block_len::<D>(),
            _ => matrix.unknown_cells(block).count(),
        };
        let extras = (self.slots()..self.len()).filter(|&i| self.is_unknown(i)).count();
        parallel::map(matrix.blocks.len(), of_block).iter().sum::<usize>() + extras
    }

    /// Sets the slots that are not unknowns to 0.
    pub(crate) fn clear_known(&self, x: &mut [f64]) {
        let n = block_len::<D>();
        parallel::for_chunks(&mut x[..self.slots()], n, |block, x| {
            if !matches!(self.matrix.stencils[block], Stencil::Uniform { .. }) {
                let unknown = self.matrix.unknown_cells(block);
                (0..n).filter(|&local| !unknown.has(local)).for_each(|local| x[local] = 0.0);
            }
        });
    }

    /// The unknowns with a zero row where `b` is not zero.
    pub(crate) fn zero_rows_with(&self, b: &[f64]) -> Vec<usize> {
        let n = block_len::<D>();
        let in_block = |block: usize| -> Vec<usize> {
            if matches!(self.matrix.stencils[block], Stencil::Uniform { .. }) {
                return Vec::new();
            }
            let unknown = self.matrix.unknown_cells(block);
            let cells = (0..n).filter(|local| b[block * n + local] != 0.0);
            cells.filter(|&local| !unknown.has(local)).map(|local| block * n + local).collect()
        };
        let mut rows = parallel::map(self.matrix.blocks.len(), in_block).concat();
        rows.extend((self.slots()..self.len()).filter(|&i| b[i] != 0.0 && !self.is_unknown(i)));
        rows
    }

    /// Calls `neighbour` with (unknown, weight) for what unknown `i` is coupled to, low-rank terms left out.
    pub(crate) fn for_each_neighbour(&self, i: usize, mut neighbour: impl FnMut(usize, f64)) {
        let (n, matrix) = (block_len::<D>(), &self.matrix);
        if i >= self.slots() {
            for &(j, w) in matrix.extras.edges(i - self.slots()) {
                neighbour(j as usize, w.f64());
            }
            return;
        }
        let (block, local) = (i / n, i % n);
        for axis in 0..D {
            for side in 0..2 {
                let weight = matrix.stencils[block].face(axis, side, local).f64();
                if weight != 0.0 {
                    let other = matrix.across(block, local, axis, side);
                    neighbour(other.expect("an open face has two cells"), weight);
                }
            }
        }
        for c in matrix.couplings[block].iter().filter(|c| c.local as usize == local) {
            neighbour(c.extra as usize, c.weight.f64());
        }
    }

    /// The sum of the weights of all that an unknown is coupled to.
    pub(crate) fn reach(&self, i: usize) -> f64 {
        let mut sum = 0.0;
        self.for_each_neighbour(i, |_, weight| sum += weight);
        sum
    }

    /// The anchor and the mass of an unknown.
    pub(crate) fn hold(&self, i: usize) -> Hold<T> {
        let n = block_len::<D>();
        let of_cell = || self.holds[i / n].iter().find(|(local, _)| *local as usize == i % n);
        match i.checked_sub(self.slots()) {
            Some(extra) => self.extra_holds[extra],
            None => of_cell().map_or(Hold::default(), |found| found.1),
        }
    }

    /// Whether an unknown is coupled to a known value or has a mass.
    pub(crate) fn is_anchored(&self, i: usize) -> bool {
        let n = block_len::<D>();
        match i.checked_sub(self.slots()) {
            Some(extra) => self.extra_holds[extra] != Hold::default(),
            None => self.holds[i / n].iter().any(|&(local, _)| local as usize == i % n),
        }
    }

    /// Calls `entry` with (column, value) for the entries of row `i`, columns possibly repeated.
    pub(crate) fn for_each_entry(&self, i: usize, mut entry: impl FnMut(usize, f64)) {
        let Matrix { blocks, low_rank, affine, dofs, .. } = &*self.matrix;
        let row = low_rank.find_row(i);
        let (block, local) = (i / block_len::<D>(), i % block_len::<D>());
        let of_terms = row.map_or(0.0, |row| low_rank.row_diagonal(row).f64());
        entry(i, self.diagonal(i) - of_terms - affine.diagonal(block, local));
        self.for_each_neighbour(i, |j, weight| entry(j, -weight));
        if let Some(row) = row {
            let mut v = vec![0.0; *dofs];
            low_rank.push(row, 1.0, &mut v);
            for other in low_rank.rows_in(0..self.len()) {
                let value = low_rank.force(other, &v);
                if value != 0.0 {
                    entry(low_rank.row_unknown(other), value);
                }
            }
        }
        if affine.touches(block, local) {
            let mut v = vec![0.0; *dofs];
            affine.push(block, local, 1.0, &mut v);
            let pull = affine.pull(&v);
            for other in 0..blocks.len() {
                affine.for_each_force(other, &pull, |first, force, _| {
                    for (i, value) in force.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                        entry(other * block_len::<D>() + first + i, value);
                    }
                });
            }
        }
    }

    /// Bytes that the coefficients occupy.
    pub(crate) fn bytes(&self) -> usize {
        let holds = self.holds.iter().map(Vec::len).sum::<usize>() * size_of::<(u16, Hold<T>)>();
        let of_extras = self.positions.len() * size_of::<Option<[u32; D]>>();
        self.matrix.bytes() + holds + self.extra_holds.len() * size_of::<Hold<T>>() + of_extras
    }
}
