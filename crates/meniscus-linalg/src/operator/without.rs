//! The operator that is left when some of the unknowns are known to be zero.

use std::sync::Arc;

use meniscus_core::grid::{Mask, block_len};
use meniscus_core::parallel;

use super::extras::{Edge, Extras};
use super::low_rank::{Factor, LowRank};
use super::matrix::Matrix;
use super::stencil::Patch;
use super::{Affine, Contact, Hold, Level, Operator, Outer};

impl<const D: usize> Operator<D> {
    /// The operator on the unknowns that are not in `known`, which are taken for zero: their rows and columns are gone, and
    /// what coupled them to others anchors those.
    pub(crate) fn without(&self, known: &[bool]) -> Self {
        let outer = self.outer.renamed(|i| (!known[i]).then_some(i));
        Self { level: self.level.without(known), outer: Outer::default() }.with(outer)
    }
}

impl<const D: usize> Level<f64, D> {
    fn without(&self, known: &[bool]) -> Self {
        let Matrix { blocks, stencils, couplings, extras, low_rank, affine, dofs } = &*self.matrix;
        let low_rank = low_rank.without(known);
        let is_changed = known[self.slots()..].contains(&true) || self.coupled_to_known(known);
        let (extra_holds, extras, couplings) = if is_changed {
            let (holds, edges) = self.extras_without(known);
            let (extras, couplings) = Extras::new(self.slots(), block_len::<D>(), &holds, &edges);
            (holds, extras, couplings)
        } else {
            (self.extra_holds.clone(), extras.clone(), couplings.clone())
        };
        let changed = self.changed_blocks(known);
        let of_block = |patch: &mut Patch<D>, block: usize| {
            if !changed[block] {
                return (stencils[block].clone(), self.holds[block].clone());
            }
            self.fill_without(known, block, patch);
            let weights = couplings[block].iter().map(|c| (c.local as usize, c.weight));
            (patch.compress(weights), patch.holds())
        };
        let of_blocks = parallel::map_with(blocks.len(), Patch::new, of_block);
        let (stencils, holds) = of_blocks.into_iter().unzip();
        let (blocks, affine, dofs) = (blocks.clone(), affine.without(known), *dofs);
        let mut matrix = Matrix { blocks, stencils, couplings, extras, low_rank, affine, dofs };
        matrix.mark_plain(&[]);
        Self { matrix: Arc::new(matrix), holds, extra_holds, positions: self.positions.clone() }
    }

    fn coupled_to_known(&self, known: &[bool]) -> bool {
        let n = block_len::<D>();
        let in_block =
            |block: usize| self.matrix.couplings[block].iter().any(|c| known[block * n + c.local as usize]);
        parallel::any(self.matrix.couplings.len(), in_block)
    }

    /// The blocks that hold a known cell, or a cell that is coupled to a known unknown.
    fn changed_blocks(&self, known: &[bool]) -> Vec<bool> {
        let (n, Matrix { blocks, couplings, .. }) = (block_len::<D>(), &*self.matrix);
        let holds = parallel::map(blocks.len(), |block| {
            known[block * n..(block + 1) * n].contains(&true)
                || couplings[block].iter().any(|c| known[c.extra as usize])
        });
        let beside = |block: usize| {
            let sides = (0..2 * D).filter_map(|k| blocks.neighbour(block, k / 2, k % 2));
            holds[block] || sides.into_iter().any(|other| holds[other])
        };
        (0..blocks.len()).map(beside).collect()
    }

    /// Writes what is left of a block into a patch.
    fn fill_without(&self, known: &[bool], block: usize, patch: &mut Patch<D>) {
        let n = block_len::<D>();
        let Matrix { stencils, couplings, .. } = &*self.matrix;
        let stencil = &stencils[block];
        patch.clear();
        for &(local, Hold { anchor, mass }) in &self.holds[block] {
            (patch.anchors[local as usize], patch.masses[local as usize]) = (anchor, mass);
        }
        for local in 0..n {
            if known[block * n + local] {
                (patch.anchors[local], patch.masses[local]) = (0.0, 0.0);
                continue;
            }
            for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                let weight = stencil.face(axis, side, local);
                if weight == 0.0 {
                    continue;
                }
                let other = self.matrix.across(block, local, axis, side).expect("an open face has two cells");
                if known[other] {
                    patch.anchors[local] += weight;
                } else {
                    patch.set_face(axis, side, local, weight);
                }
            }
        }
        for c in couplings[block].iter().filter(|c| known[c.extra as usize]) {
            let local = c.local as usize;
            if !known[block * n + local] {
                patch.anchors[local] += c.weight;
            }
        }
    }

    /// What holds the extra unknowns that are left, and their edges.
    fn extras_without(&self, known: &[bool]) -> (Vec<Hold<f64>>, Vec<Edge>) {
        let slots = self.slots();
        let mut holds = self.extra_holds.clone();
        let mut edges: Vec<Edge> = Vec::new();
        for (extra, hold) in holds.iter_mut().enumerate() {
            if known[slots + extra] {
                *hold = Hold::default();
                continue;
            }
            for &(to, weight) in self.matrix.extras.edges(extra) {
                if known[to as usize] {
                    hold.anchor += weight;
                } else if (to as usize) < slots + extra {
                    edges.push((to, (slots + extra) as u32, weight));
                }
            }
        }
        (holds, edges)
    }
}

impl<const D: usize> Affine<D> {
    fn without(&self, known: &[bool]) -> Self {
        let reduced = |block: usize| {
            let known = Mask::from_fn(|local| known[block * block_len::<D>() + local]);
            let reduce = |contact: &Contact<D>| Contact { cells: contact.cells.without(&known), ..*contact };
            self.contacts(block).iter().map(reduce).collect()
        };
        self.with_contacts(self.edge, parallel::map(self.blocks(), reduced))
    }
}

impl LowRank<f64> {
    fn without(&self, known: &[bool]) -> Self {
        let is_known = |&u: &u32| known[u as usize];
        let reduced = |factor: Factor| {
            let entries = factor.unknowns.iter().zip(factor.columns.chunks_exact(factor.dofs.len()));
            let (unknowns, columns): (Vec<u32>, Vec<&[f64]>) = entries.filter(|(u, _)| !is_known(u)).unzip();
            Factor { dofs: factor.dofs, unknowns, columns: columns.concat() }
        };
        Self::from_factors(&self.carried_factors(reduced))
    }
}
