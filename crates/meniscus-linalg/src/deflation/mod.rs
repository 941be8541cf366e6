//! Outer terms in conjugate gradients: solved for exactly in a small space around each, left to the multigrid elsewhere.
//!
//! The operator is K = A + J^T W J, with the hierarchy's preconditioner P of A alone. A column of Z for each degree of freedom of the outer terms is what
//! A z = J^T e gives near the unknowns that it touches, by a few sweeps; where the null space of A is held by outer terms, its vectors are columns too. With
//! E = Z^T K Z the preconditioner is
//!
//! ```text
//! B = Q + (1 - Q K) P (1 - K Q),    Q = Z E^-1 Z^T
//! ```
//!
//! (balancing, Mandel 1993), symmetric and positive definite for any Z. As long as Z^T r = 0, which the iteration keeps if it begins so, the last factor is the identity (Tang and
//! others 2009). However stiff W makes the outer terms, what is left of them beside Z is of the size of A: iterations hardly exceed those of A alone.

mod cholesky;
mod neighbourhood;

use std::cmp::Ordering;

use meniscus_core::parallel;

use cholesky::{Cholesky, dot};
use neighbourhood::{Neighbourhood, Row, WIDTH};

use crate::multigrid::NullSpace;
use crate::operator::{Level, Outer, Places, Term};

/// The space of outer terms. All indices are those of vectors as the finest level is arranged.
pub(crate) struct Deflation {
    outer: Outer,
    shells: Vec<Shell>,
    /// The vectors that A does not see: the first columns, those of the shells follow.
    kernel: NullSpace,
    /// Z^T A Z and J Z, row by row.
    rest: Vec<f64>,
    seen: Vec<f64>,
    /// The factor of E.
    factor: Cholesky,
}

/// Up to [`WIDTH`] columns of Z, and of A Z.
struct Shell {
    first: usize,
    width: usize,
    z: Vec<(u32, Row)>,
    az: Vec<(u32, Row)>,
    /// Where A Z is: the runs of indices it has entries in.
    runs: Vec<u32>,
}

/// The length of such a run, about a block. For speed alone, as the next one.
const RUN: u32 = 512;

/// The length of a part of a vector that one thread works on.
const PART: usize = 1 << 15;

impl Shell {
    /// Gives the unknowns other indices.
    fn arrange(&mut self, index: impl Fn(usize) -> usize) {
        for rows in [&mut self.z, &mut self.az] {
            rows.iter_mut().for_each(|entry| entry.0 = index(entry.0 as usize) as u32);
            rows.sort_unstable_by_key(|entry| entry.0);
        }
        self.runs = runs(self.az.iter().map(|entry| entry.0));
    }

    /// Whether it may have entries in some of these runs.
    fn is_near(&self, runs: &[u32]) -> bool {
        let (mut mine, mut theirs) = (self.runs.as_slice(), runs);
        while let ([a, after_a @ ..], [b, after_b @ ..]) = (mine, theirs) {
            match a.cmp(b) {
                Ordering::Less => mine = after_a,
                Ordering::Greater => theirs = after_b,
                Ordering::Equal => return true,
            }
        }
        false
    }
}

/// The runs of indices in ascending order.
fn runs(indices: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut runs: Vec<u32> = indices.map(|i| i / RUN).collect();
    runs.dedup();
    runs
}

impl Deflation {
    /// `level` is the finest level as it was assembled, `kernel` its null space there.
    pub(crate) fn new<const D: usize>(
        level: &Level<f64, D>,
        outer: &Outer,
        kernel: &NullSpace,
        places: Option<&Places<D>>,
    ) -> Option<Self> {
        if outer.is_empty() {
            return None;
        }
        let index = |i: usize| places.map_or(i, |places| places.index(i));
        let shells = parallel::map(outer.terms().len(), |k| shells_of(level, &outer.terms()[k]));
        let mut shells: Vec<Shell> = shells.into_iter().flatten().collect();
        parallel::for_each_mut(&mut shells, |_, shell| shell.arrange(index));
        let kernel = places.map_or_else(|| kernel.clone(), |places| kernel.arranged(places));
        shells.iter_mut().for_each(|shell| shell.first += kernel.vectors.len());
        let mut this = Self {
            outer: outer.renamed(|i| Some(index(i))),
            shells,
            kernel,
            rest: Vec::new(),
            seen: Vec::new(),
            factor: Cholesky::default(),
        };
        this.rest = this.rest_matrix();
        this.seen = this.seen_matrix();
        this.refactor();
        Some(this)
    }

    pub(crate) fn outer(&self) -> &Outer {
        &self.outer
    }

    /// What the hierarchy does not see.
    pub(crate) fn kernel(&self) -> &NullSpace {
        &self.kernel
    }

    /// Takes another W.
    pub(crate) fn set_compliance(&mut self, outer: &Outer) {
        self.outer.set_compliance(outer.compliance().to_vec());
        self.refactor();
    }

    /// Columns of Z.
    fn len(&self) -> usize {
        self.kernel.vectors.len() + self.outer.dofs()
    }

    /// E = Z^T A Z + (J Z)^T W J Z.
    fn refactor(&mut self) {
        let n = self.len();
        let mut matrix = self.rest.clone();
        let column =
            |c: usize| -> Vec<f64> { (0..self.outer.dofs()).map(|d| self.seen[d * n + c]).collect() };
        let of_column = |c: usize| {
            let pushed = self.outer.pushed(&column(c));
            let mut product = vec![0.0; n];
            for (dof, w) in pushed.into_iter().enumerate().filter(|(_, w)| *w != 0.0) {
                product.iter_mut().zip(&self.seen[dof * n..(dof + 1) * n]).for_each(|(p, s)| *p += w * s);
            }
            product
        };
        let products = parallel::map(n, of_column);
        for (row, product) in matrix.chunks_exact_mut(n.max(1)).zip(products) {
            row.iter_mut().zip(product).for_each(|(m, p)| *m += p);
        }
        // What cancels leaves rounding, which must not be taken for a push. The null space comes first: beside the shells of a light term little is left of it.
        let mut sizes: Vec<f64> = self.kernel.felt_at_most(&self.outer);
        sizes.extend((sizes.len()..n).map(|i| matrix[i * n + i]));
        self.factor = Cholesky::new(matrix, &sizes);
    }

    /// Z^T A Z: shells meet where one has a value and A takes the other's to. A does not see the null space.
    fn rest_matrix(&self) -> Vec<f64> {
        let n = self.len();
        let mut matrix = vec![0.0; n * n];
        let of_shell = |k: usize| -> Vec<(usize, usize, f64)> {
            let a = &self.shells[k];
            let near = self.shells[k..].iter().filter(|b| b.is_near(&a.runs));
            let products = near.flat_map(|b| {
                let block = meet(&a.z, &b.az);
                let places = (0..a.width).flat_map(move |i| (0..b.width).map(move |j| (i, j)));
                places.map(move |(i, j)| (a.first + i, b.first + j, block[i][j]))
            });
            products.filter(|&(i, j, value)| i <= j && value != 0.0).collect()
        };
        let entries = parallel::map(self.shells.len(), of_shell);
        for (i, j, value) in entries.into_iter().flatten() {
            (matrix[i * n + j], matrix[j * n + i]) = (value, value);
        }
        matrix
    }

    /// J Z.
    fn seen_matrix(&self) -> Vec<f64> {
        let n = self.len();
        let mut matrix = vec![0.0; self.outer.dofs() * n];
        let of_term = |k: usize| -> Vec<(usize, usize, f64)> {
            let term = &self.outer.terms()[k];
            let mut entries: Vec<(usize, &[f64])> = term.entries().collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            let mut products = Vec::new();
            let own_runs = runs(entries.iter().map(|entry| entry.0 as u32));
            for shell in self.shells.iter().filter(|shell| shell.is_near(&own_runs)) {
                let mut sums = vec![[0.0; WIDTH]; term.dofs.len()];
                let (mut k, mut any) = (0, false);
                for (unknown, row) in &shell.z {
                    while entries.get(k).is_some_and(|entry| entry.0 < *unknown as usize) {
                        k += 1;
                    }
                    let Some((_, column)) = entries.get(k).filter(|entry| entry.0 == *unknown as usize)
                    else {
                        continue;
                    };
                    any = true;
                    for (sum, c) in sums.iter_mut().zip(*column) {
                        sum.iter_mut().zip(row).for_each(|(s, z)| *s += c * z);
                    }
                }
                for (d, sum) in sums.iter().enumerate().filter(|_| any) {
                    products.extend((0..shell.width).map(|j| (term.dofs.start + d, shell.first + j, sum[j])));
                }
            }
            entries.retain(|(unknown, _)| self.kernel.has(*unknown));
            for (v, vector) in self.kernel.vectors.iter().enumerate().filter(|_| !entries.is_empty()) {
                let value = |unknown: usize| self.kernel.value(vector, unknown);
                for (d, dof) in term.dofs.clone().enumerate() {
                    let sum: f64 = entries.iter().map(|(unknown, column)| column[d] * value(*unknown)).sum();
                    products.push((dof, v, sum));
                }
            }
            products
        };
        let entries = parallel::map(self.outer.terms().len(), of_term);
        for (dof, column, value) in entries.into_iter().flatten() {
            matrix[dof * n + column] = value;
        }
        matrix
    }

    /// Z^T r.
    fn along(&self, r: &[f64]) -> Vec<f64> {
        let mut along = self.sums(|shell| &shell.z, |i| r[i]);
        along[..self.kernel.vectors.len()].copy_from_slice(&self.kernel.coefficients(r));
        along
    }

    /// (K Z)^T y.
    fn along_product(&self, y: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let mut along = self.sums(|shell| &shell.az, &y);
        let pushed = self.outer.pushed(&self.outer.state_by(&y));
        for (row, w) in self.seen.chunks_exact(self.len().max(1)).zip(pushed) {
            along.iter_mut().zip(row).for_each(|(a, s)| *a += w * s);
        }
        along
    }

    fn sums(
        &self,
        rows: impl Fn(&Shell) -> &Vec<(u32, Row)> + Sync,
        value: impl Fn(usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let of_shell = |k: usize| -> Row {
            let mut sums = [0.0; WIDTH];
            for (unknown, row) in rows(&self.shells[k]) {
                let value = value(*unknown as usize);
                sums.iter_mut().zip(row).for_each(|(s, z)| *s += z * value);
            }
            sums
        };
        let sums = parallel::map(self.shells.len(), of_shell);
        let mut all = vec![0.0; self.len()];
        for (shell, sums) in self.shells.iter().zip(sums) {
            all[shell.first..shell.first + shell.width].copy_from_slice(&sums[..shell.width]);
        }
        all
    }

    /// x += Z c.
    fn add(&self, c: &[f64], x: &mut [f64]) {
        self.add_rows(|shell| &shell.z, c, x);
        self.kernel.add(&c[..self.kernel.vectors.len()], x);
    }

    /// Adds rows, each times c. Parts of x are for different threads.
    fn add_rows(&self, rows: impl Fn(&Shell) -> &Vec<(u32, Row)> + Sync, c: &[f64], x: &mut [f64]) {
        parallel::for_chunks(x, PART, |part, x| {
            let begin = (part * PART) as u32;
            for shell in &self.shells {
                let rows = rows(shell);
                let ends = [begin, begin + x.len() as u32].map(|end| rows.partition_point(|row| row.0 < end));
                let mut factors = [0.0; WIDTH];
                factors[..shell.width].copy_from_slice(&c[shell.first..shell.first + shell.width]);
                for (unknown, row) in &rows[ends[0]..ends[1]] {
                    x[(unknown - begin) as usize] += dot(row, &factors);
                }
            }
        });
    }

    /// r -= K Z c.
    fn subtract_product(&self, c: &[f64], r: &mut [f64]) {
        let opposite: Vec<f64> = c.iter().map(|c| -c).collect();
        self.add_rows(|shell| &shell.az, &opposite, r);
        let seen: Vec<f64> =
            self.seen.chunks_exact(self.len().max(1)).map(|row| dot(row, &opposite)).collect();
        self.outer.add_force(&self.outer.pushed(&seen), r);
    }

    /// Solves within the space: x += Q r, r -= K Q r.
    pub(crate) fn solve_within(&self, x: &mut [f64], r: &mut [f64]) {
        let c = self.factor.solve(self.along(r));
        self.add(&c, x);
        self.subtract_product(&c, r);
    }

    /// What is to be added to y = s P r within the space, so that s B r = y + Z c, with a scale s; and (Z c) · r.
    pub(crate) fn correction(&self, y: &[f32], r: &[f64], scale: f64) -> (Vec<f64>, f64) {
        let along = self.along(r);
        let product = self.along_product(|i| f64::from(y[i]));
        let c = self.factor.solve(along.iter().zip(&product).map(|(a, p)| scale * a - p).collect());
        let gain = along.iter().zip(&c).map(|(a, c)| a * c).sum();
        (c, gain)
    }

    /// p += Z c.
    pub(crate) fn correct(&self, c: &[f64], p: &mut [f64]) {
        self.add(c, p);
    }

    /// What the space knows of J A^-1 J^T, in all of the terms' degrees of freedom, row by row: at most that. Beyond what it knows is the
    /// null space of A, along which a degree of freedom cannot move at all.
    pub(crate) fn inertia(&self) -> Vec<f64> {
        let (n, k) = (self.len(), self.outer.dofs());
        let mut matrix = self.rest.clone();
        let mean = (0..n).map(|i| matrix[i * n + i]).sum::<f64>() / n.max(1) as f64;
        (0..n).for_each(|i| matrix[i * n + i] += 1e-8 * mean.max(f64::MIN_POSITIVE));
        let sizes: Vec<f64> = (0..n).map(|i| matrix[i * n + i]).collect();
        let factor = Cholesky::new(matrix, &sizes);
        let half = |dof: usize| factor.solve_half(parallel::chunk(&self.seen, n, dof).to_vec());
        let halves = parallel::map(k, half);
        parallel::map_each(k * k, |at| dot(&halves[at / k], &halves[at % k]))
    }
}

/// The products of the columns of two lists of rows, both in ascending order.
fn meet(a: &[(u32, Row)], b: &[(u32, Row)]) -> [Row; WIDTH] {
    let mut products = [[0.0; WIDTH]; WIDTH];
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                for (sum, x) in products.iter_mut().zip(&a[i].1) {
                    sum.iter_mut().zip(&b[j].1).for_each(|(s, y)| *s += x * y);
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    products
}

/// The columns of Z of one term.
fn shells_of<const D: usize>(level: &Level<f64, D>, term: &Term) -> Vec<Shell> {
    let around = Neighbourhood::around(level, term);
    let shell = |first: usize| {
        let width = WIDTH.min(term.dofs.len() - first);
        let mut b = vec![[0.0; WIDTH]; around.unknowns.len()];
        for (unknown, column) in term.entries() {
            if let Ok(k) = around.unknowns.binary_search(&(unknown as u32)) {
                b[k][..width].copy_from_slice(&column[first..first + width]);
            }
        }
        let z = around.relaxed(&b);
        Shell {
            first: term.dofs.start + first,
            width,
            az: around.product(&z),
            z: around.unknowns.iter().copied().zip(z).collect(),
            runs: Vec::new(),
        }
    };
    (0..term.dofs.len()).step_by(WIDTH).map(shell).collect()
}
