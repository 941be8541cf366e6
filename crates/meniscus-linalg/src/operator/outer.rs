//! Terms J^T W J that stay outside the hierarchy.
//!
//! Few degrees of freedom that many unknowns push, and that may be so light that J^T W J is by far the stiffest part of the operator. W is dense by groups of
//! degrees of freedom and may change from solve to solve, J stays: the multigrid does not know these terms, and [deflation](crate::deflation) takes care of them.

use std::ops::Range;

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use rayon::slice::ParallelSliceMut;

use super::low_rank::{LowRankTerm, cholesky, dofs};

/// A part of W: symmetric, positive semi-definite, between these degrees of freedom alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Compliance {
    /// The degrees of freedom, in the order of the terms.
    pub dofs: Vec<usize>,
    /// The matrix, row by row.
    pub matrix: Vec<f64>,
}

/// All outer terms of an operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    terms: Vec<Term>,
    compliance: Vec<Compliance>,
    dofs: usize,
    /// Unknowns that nothing else holds, in ascending order.
    bare: Vec<u32>,
}

/// The columns of J of one term.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) dofs: Range<usize>,
    pub(crate) unknowns: Vec<u32>,
    /// As many numbers for each unknown as there are degrees of freedom.
    columns: Vec<f64>,
}

impl Term {
    /// The unknowns it touches, and the column of each.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.unknowns.iter().map(|&u| u as usize).zip(self.columns.chunks_exact(self.dofs.len()))
    }
}

impl Outer {
    /// Each term with its own mass; `is_held` tells what the rest of the operator holds. The index of a term whose inverse mass is not symmetric positive semi-definite
    /// is the error.
    pub(crate) fn new(terms: &[LowRankTerm], is_held: impl Fn(usize) -> bool) -> Result<Self, usize> {
        let mut this = Self::default();
        for (index, term) in terms.iter().enumerate() {
            let k = dofs(term);
            cholesky(&term.inverse_mass, k).ok_or(index)?;
            let dofs = this.dofs..this.dofs + k;
            let unknowns: Vec<u32> = term.unknowns.iter().map(|&u| u as u32).collect();
            this.bare.extend(unknowns.iter().filter(|&&u| !is_held(u as usize)));
            this.compliance
                .push(Compliance { dofs: dofs.clone().collect(), matrix: term.inverse_mass.clone() });
            this.dofs = dofs.end;
            this.terms.push(Term { dofs, unknowns, columns: term.columns.clone() });
        }
        this.bare.sort_unstable();
        this.bare.dedup();
        Ok(this)
    }

    /// Puts another W in the place of that there is.
    pub(crate) fn set_compliance(&mut self, compliance: Vec<Compliance>) {
        let mut seen = vec![false; self.dofs];
        for group in &compliance {
            assert_eq!(group.matrix.len(), group.dofs.len().pow(2), "a square matrix");
            for &dof in &group.dofs {
                assert!(!std::mem::replace(&mut seen[dof], true), "each degree of freedom in one group");
            }
        }
        self.compliance = compliance;
    }

    pub(crate) fn compliance(&self) -> &[Compliance] {
        &self.compliance
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn dofs(&self) -> usize {
        self.dofs
    }

    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The unknowns that nothing but outer terms holds, in ascending order.
    pub(crate) fn bare(&self) -> &[u32] {
        &self.bare
    }

    /// The blocks with cells that terms touch, in ascending order; extra unknowns seem to lie in later ones.
    pub(crate) fn touched_blocks<const D: usize>(&self) -> Vec<usize> {
        let unknowns = self.terms.iter().flat_map(|term| &term.unknowns);
        let mut blocks: Vec<usize> = unknowns.map(|&u| u as usize / block_len::<D>()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Whether nothing but outer terms holds an unknown.
    pub(crate) fn is_bare(&self, i: usize) -> bool {
        self.bare.binary_search(&(i as u32)).is_ok()
    }

    /// J x.
    pub(crate) fn state(&self, x: &[f64]) -> Vec<f64> {
        self.state_by(|i| x[i])
    }

    /// J x, of an x by unknown.
    pub(crate) fn state_by(&self, x: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let of_term = |k: usize| {
            let term = &self.terms[k];
            let mut v = vec![0.0; term.dofs.len()];
            for (unknown, column) in term.entries() {
                let value = x(unknown);
                v.iter_mut().zip(column).for_each(|(v, c)| *v += c * value);
            }
            v
        };
        parallel::map(self.terms.len(), of_term).concat()
    }

    /// W v.
    pub(crate) fn pushed(&self, v: &[f64]) -> Vec<f64> {
        let mut pushed = vec![0.0; v.len()];
        for Compliance { dofs, matrix } in &self.compliance {
            for (&dof, row) in dofs.iter().zip(matrix.chunks_exact(dofs.len())) {
                pushed[dof] = dofs.iter().zip(row).map(|(&d, w)| w * v[d]).sum();
            }
        }
        pushed
    }

    /// The unknowns that each term touches, and what it gives to their diagonal entries by itself.
    pub(crate) fn energies(&self) -> Vec<(usize, f64)> {
        let of_term = |number: usize| -> Vec<(usize, f64)> {
            let term = &self.terms[number];
            let k = term.dofs.len();
            let column = |dof: usize| {
                let mut unit = vec![0.0; self.dofs];
                unit[dof] = 1.0;
                self.pushed(&unit)[term.dofs.clone()].to_vec()
            };
            let own: Vec<f64> = term.dofs.clone().flat_map(column).collect();
            let energy = |column: &[f64]| -> f64 {
                (0..k * k).map(|at| column[at / k] * own[at] * column[at % k]).sum()
            };
            term.entries().map(|(unknown, column)| (unknown, energy(column))).collect()
        };
        parallel::map(self.terms.len(), of_term).concat()
    }

    /// y += J^T w.
    pub(crate) fn add_force(&self, w: &[f64], y: &mut [f64]) {
        for term in &self.terms {
            let w = &w[term.dofs.clone()];
            for (unknown, column) in term.entries() {
                y[unknown] += column.iter().zip(w).map(|(c, w)| c * w).sum::<f64>();
            }
        }
    }

    /// y += J^T W J x; returns the energy x · J^T W J x.
    pub(crate) fn add_product(&self, x: &[f64], y: &mut [f64]) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let v = self.state(x);
        let w = self.pushed(&v);
        self.add_force(&w, y);
        v.iter().zip(&w).map(|(v, w)| v * w).sum()
    }

    /// The entries of one row: slow, for tests and diagnostics.
    pub(crate) fn for_each_entry(&self, i: usize, mut entry: impl FnMut(usize, f64)) {
        let w = self.pushed(&self.state_of_unit(i));
        for term in &self.terms {
            for (unknown, column) in term.entries() {
                let value: f64 = column.iter().zip(&w[term.dofs.clone()]).map(|(c, w)| c * w).sum();
                if value != 0.0 {
                    entry(unknown, value);
                }
            }
        }
    }

    /// The diagonal of J^T W J at the unknowns that it touches, in ascending order.
    pub(crate) fn diagonal(&self) -> Vec<(usize, f64)> {
        let mut all: Vec<(usize, usize, usize)> = Vec::new();
        for (t, term) in self.terms.iter().enumerate() {
            all.extend(term.unknowns.iter().enumerate().map(|(k, &unknown)| (unknown as usize, t, k)));
        }
        all.par_sort_unstable();
        let energy = |run: &[(usize, usize, usize)]| {
            let mut v = vec![0.0; self.dofs];
            for &(_, t, k) in run {
                let Term { dofs, columns, .. } = &self.terms[t];
                v[dofs.clone()].copy_from_slice(&columns[k * dofs.len()..(k + 1) * dofs.len()]);
            }
            (run[0].0, self.pushed(&v).iter().zip(&v).map(|(w, v)| w * v).sum())
        };
        all.chunk_by(|a, b| a.0 == b.0).map(energy).collect()
    }

    /// J of the vector that is 1 at one unknown and 0 elsewhere.
    fn state_of_unit(&self, i: usize) -> Vec<f64> {
        let mut v = vec![0.0; self.dofs];
        for term in &self.terms {
            let columns = term.entries().filter(|(unknown, _)| *unknown == i).map(|(_, column)| column);
            columns.for_each(|column| v[term.dofs.clone()].copy_from_slice(column));
        }
        v
    }

    /// These terms on unknowns with other indices; unknowns that are given none are left out.
    pub(crate) fn renamed(&self, name: impl Fn(usize) -> Option<usize>) -> Self {
        let of_term = |term: &Term| {
            let entries =
                term.entries().filter_map(|(unknown, column)| Some((name(unknown)? as u32, column)));
            let (unknowns, columns): (Vec<u32>, Vec<&[f64]>) = entries.unzip();
            Term { dofs: term.dofs.clone(), unknowns, columns: columns.concat() }
        };
        let bare = self.bare.iter().filter_map(|&u| name(u as usize)).map(|u| u as u32);
        Self { terms: self.terms.iter().map(of_term).collect(), bare: bare.collect(), ..self.clone() }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.terms.iter().map(|term| 4 * term.unknowns.len() + 8 * term.columns.len()).sum()
    }
}
