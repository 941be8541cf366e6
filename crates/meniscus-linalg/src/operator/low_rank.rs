//! Low-rank terms J^T M^-1 J, kept in factors and never multiplied out.

use std::ops::Range;

use meniscus_core::parallel;
use rayon::slice::ParallelSliceMut;

use crate::real::Real;

/// A low-rank term as the caller describes it: k degrees of freedom that many unknowns act on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowRankTerm {
    /// The inverse of the term's k×k mass matrix, row by row: symmetric, positive semi-definite.
    pub inverse_mass: Vec<f64>,
    /// The unknowns it touches, by flat index, each at most once.
    pub unknowns: Vec<usize>,
    /// The columns of J: k numbers for each unknown touched.
    pub columns: Vec<f64>,
}

/// All low-rank terms of an operator. With M^-1 = L L^T each is stored as F = L^T J, so that the term
/// is F^T F and its state v = F x.
#[derive(Clone, Debug, Default)]
pub(crate) struct LowRank<T> {
    /// By term: its place in the state.
    dofs: Vec<Range<u32>>,
    /// By term: where its entries and its coefficients start.
    entry_starts: Vec<u32>,
    coefficient_starts: Vec<u32>,
    /// By entry, term after term: the unknown.
    unknowns: Vec<u32>,
    coefficients: Vec<T>,
    /// By row (an unknown that some term touches), in ascending order of the unknowns.
    row_unknowns: Vec<u32>,
    row_starts: Vec<u32>,
    /// (term, entry) of every row.
    row_entries: Vec<(u32, u32)>,
    /// The diagonal of F^T F by row.
    row_diagonal: Vec<T>,
}

impl<T: Real> LowRank<T> {
    pub(crate) fn new(terms: &[LowRankTerm]) -> Result<Self, usize> {
        let (mut factored, mut first) = (Vec::with_capacity(terms.len()), 0);
        for (index, term) in terms.iter().enumerate() {
            let k = dofs(term);
            let l = cholesky(&term.inverse_mass, k).ok_or(index)?;
            let mut columns = vec![0.0; term.columns.len()];
            for (f, j) in columns.chunks_exact_mut(k.max(1)).zip(term.columns.chunks_exact(k.max(1))) {
                for r in 0..k {
                    f[r] = (r..k).map(|c| l[c * k + r] * j[c]).sum();
                }
            }
            let unknowns = term.unknowns.iter().map(|&u| u as u32).collect();
            factored.push(Factor { dofs: first..first + k, unknowns, columns });
            first += k;
        }
        Ok(Self::from_factors(&factored))
    }

    pub(crate) fn from_factors(factors: &[Factor]) -> Self {
        let mut this = Self {
            entry_starts: vec![0],
            coefficient_starts: vec![0],
            row_starts: vec![0],
            ..Self::default()
        };
        let mut by_row: Vec<(u32, u32, u32)> = Vec::new();
        for (term, factor) in factors.iter().enumerate() {
            let first = this.unknowns.len();
            by_row.extend(
                factor.unknowns.iter().enumerate().map(|(e, &u)| (u, term as u32, (first + e) as u32)),
            );
            this.unknowns.extend(&factor.unknowns);
            this.coefficients.extend(factor.columns.iter().map(|&c| T::of(c)));
            this.dofs.push(factor.dofs.start as u32..factor.dofs.end as u32);
            this.entry_starts.push(this.unknowns.len() as u32);
            this.coefficient_starts.push(this.coefficients.len() as u32);
        }
        by_row.par_sort_unstable();
        for run in by_row.chunk_by(|a, b| a.0 == b.0) {
            this.row_unknowns.push(run[0].0);
            this.row_entries.extend(run.iter().map(|&(_, term, entry)| (term, entry)));
            this.row_starts.push(this.row_entries.len() as u32);
            let square = |&(_, term, entry): &(u32, u32, u32)| -> f64 {
                this.column(term, entry).iter().map(|c| c.f64() * c.f64()).sum()
            };
            this.row_diagonal.push(T::of(run.iter().map(square).sum()));
        }
        this
    }

    /// What `carry` makes of the factors, to be those of another level.
    pub(crate) fn carried_factors(&self, carry: impl Fn(Factor) -> Factor + Sync) -> Vec<Factor> {
        parallel::map(self.terms(), |term| {
            let (first, last) = (self.entry_starts[term] as usize, self.entry_starts[term + 1] as usize);
            let (from, to) = (self.coefficient_starts[term], self.coefficient_starts[term + 1]);
            carry(Factor {
                dofs: self.dofs_of(term),
                unknowns: self.unknowns[first..last].to_vec(),
                columns: self.coefficients[from as usize..to as usize].iter().map(|c| c.f64()).collect(),
            })
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.row_unknowns.is_empty()
    }

    pub(crate) fn terms(&self) -> usize {
        self.dofs.len()
    }

    /// The end of the last term's place in the state.
    pub(crate) fn dofs(&self) -> usize {
        self.dofs.last().map_or(0, |dofs| dofs.end as usize)
    }

    fn dofs_of(&self, term: usize) -> Range<usize> {
        self.dofs[term].start as usize..self.dofs[term].end as usize
    }

    /// The column of F of one entry.
    #[inline(always)]
    fn column(&self, term: u32, entry: u32) -> &[T] {
        let term = term as usize;
        let k = self.dofs_of(term).len();
        let at = self.coefficient_starts[term] as usize + (entry - self.entry_starts[term]) as usize * k;
        &self.coefficients[at..at + k]
    }

    /// Rows whose unknowns lie in `range` of flat indices.
    pub(crate) fn rows_in(&self, range: Range<usize>) -> Range<usize> {
        let find = |bound: usize| self.row_unknowns.partition_point(|&u| (u as usize) < bound);
        find(range.start)..find(range.end)
    }

    pub(crate) fn row_unknown(&self, row: usize) -> usize {
        self.row_unknowns[row] as usize
    }

    /// The row of an unknown, if a term touches it.
    pub(crate) fn find_row(&self, unknown: usize) -> Option<usize> {
        self.row_unknowns.binary_search(&(unknown as u32)).ok()
    }

    #[inline(always)]
    pub(crate) fn row_diagonal(&self, row: usize) -> T {
        self.row_diagonal[row]
    }

    /// The terms that touch a row.
    pub(crate) fn row_terms(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.row_range(row).iter().map(|&(term, _)| term as usize)
    }

    /// The degrees of freedom of the terms that touch unknowns in `range` of flat indices.
    pub(crate) fn dofs_in(&self, range: Range<usize>) -> Vec<usize> {
        let mut terms: Vec<usize> = self.rows_in(range).flat_map(|row| self.row_terms(row)).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.into_iter().flat_map(|term| self.dofs_of(term)).collect()
    }

    #[inline(always)]
    fn row_range(&self, row: usize) -> &[(u32, u32)] {
        &self.row_entries[self.row_starts[row] as usize..self.row_starts[row + 1] as usize]
    }

    /// (F^T v) of one row.
    #[inline(always)]
    pub(crate) fn force<V: Real>(&self, row: usize, v: &[V]) -> V {
        let mut sum = V::ZERO;
        for &(term, entry) in self.row_range(row) {
            let state = &v[self.dofs_of(term as usize)];
            // Four sums at a time fit a vector register.
            let (column, mut lanes) = (self.column(term, entry), [V::ZERO; 4]);
            for (f, v) in column.chunks_exact(4).zip(state.chunks_exact(4)) {
                for i in 0..4 {
                    lanes[i] += V::of(f[i].f64()) * v[i];
                }
            }
            sum += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
            let rest = column.len() / 4 * 4;
            for (f, &v) in column[rest..].iter().zip(&state[rest..]) {
                sum += V::of(f.f64()) * v;
            }
        }
        sum
    }

    /// v += F_row dx.
    #[inline(always)]
    pub(crate) fn push<V: Real>(&self, row: usize, dx: V, v: &mut [V]) {
        for &(term, entry) in self.row_range(row) {
            let state = &mut v[self.dofs_of(term as usize)];
            for (f, v) in self.column(term, entry).iter().zip(state) {
                *v += V::of(f.f64()) * dx;
            }
        }
    }

    /// v = F x, in the places of these terms.
    pub(crate) fn state<V: Real>(&self, x: &[V], v: &mut [V]) {
        let state_of = |term: usize| {
            let mut v = vec![V::ZERO; self.dofs_of(term).len()];
            for entry in self.entry_starts[term]..self.entry_starts[term + 1] {
                let value = x[self.unknowns[entry as usize] as usize];
                for (v, f) in v.iter_mut().zip(self.column(term as u32, entry)) {
                    *v += V::of(f.f64()) * value;
                }
            }
            v
        };
        for (term, state) in parallel::map(self.terms(), state_of).iter().enumerate() {
            v[self.dofs_of(term)].copy_from_slice(state);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.coefficients.len() * size_of::<T>() + self.unknowns.len() * 16 + self.row_unknowns.len() * 12
    }
}

/// One term as F = L^T J: a number for each unknown and each of its places in the state.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) dofs: Range<usize>,
    pub(crate) unknowns: Vec<u32>,
    pub(crate) columns: Vec<f64>,
}

/// Degrees of freedom of a term.
pub(crate) fn dofs(term: &LowRankTerm) -> usize {
    term.inverse_mass.len().isqrt()
}

/// The lower factor L of a symmetric positive semi-definite k×k matrix, A = L L^T; columns of zero
/// pivots are zero. `None` if the matrix is not positive semi-definite or not symmetric.
pub(super) fn cholesky(a: &[f64], k: usize) -> Option<Vec<f64>> {
    let scale = a.iter().map(|a| a.abs()).fold(0.0, f64::max);
    let symmetric = |i: usize| (a[i] - a[i % k * k + i / k]).abs() <= 1e-9 * scale;
    if !(0..k * k).all(symmetric) {
        return None;
    }
    let mut l = vec![0.0f64; k * k];
    for c in 0..k {
        let rest =
            |l: &[f64], r: usize| a[r * k + c] - (0..c).map(|m| l[r * k + m] * l[c * k + m]).sum::<f64>();
        let square = rest(&l, c);
        if square > 1e-14 * scale {
            let pivot = square.sqrt();
            for r in c..k {
                l[r * k + c] = rest(&l, r) / pivot;
            }
        } else if !(c..k).all(|r| rest(&l, r).abs() <= 1e-7 * scale) || square < -1e-10 * scale {
            return None;
        }
    }
    Some(l)
}
