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

use meniscus_core::grid::block_len;
use rayon::prelude::*;

use crate::multigrid::NullSpace;
use crate::operator::{Level, Outer, Places, Term};

/// How far around a term its columns of Z reach, in cells, in two and in three dimensions: what moves a body decays more slowly in the plane.
const REACH: [usize; 2] = [8, 4];
/// Sweeps that make them, there and back, and by how much more than Gauss-Seidel they relax.
const SWEEPS: usize = 6;
const RELAXATION: f64 = 1.4;

/// Numbers side by side in a row of Z.
const WIDTH: usize = 8;
type Row = [f64; WIDTH];

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
    factor: Factor,
}

/// Up to [`WIDTH`] columns of Z, and of A Z.
struct Shell {
    first: usize,
    width: usize,
    z: Vec<(u32, Row)>,
    az: Vec<(u32, Row)>,
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
        let shells = outer.terms().par_iter().flat_map_iter(|term| shells_of(level, term));
        let mut shells: Vec<Shell> = shells.collect();
        for entry in shells.iter_mut().flat_map(|shell| shell.z.iter_mut().chain(&mut shell.az)) {
            entry.0 = index(entry.0 as usize) as u32;
        }
        for shell in &mut shells {
            shell.z.sort_unstable_by_key(|entry| entry.0);
            shell.az.sort_unstable_by_key(|entry| entry.0);
        }
        let kernel = places.map_or_else(|| kernel.clone(), |places| kernel.arranged(places));
        shells.iter_mut().for_each(|shell| shell.first += kernel.vectors.len());
        let mut this = Self {
            outer: outer.renamed(|i| Some(index(i))),
            shells,
            kernel,
            rest: Vec::new(),
            seen: Vec::new(),
            factor: Factor::default(),
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
        let products: Vec<Vec<f64>> = (0..n).into_par_iter().map(of_column).collect();
        for (row, product) in matrix.chunks_exact_mut(n.max(1)).zip(products) {
            row.iter_mut().zip(product).for_each(|(m, p)| *m += p);
        }
        // What cancels leaves rounding, which must not be taken for a push. The null space comes first: beside the shells of a light term little is left of it.
        let mut sizes: Vec<f64> = self.kernel.felt_at_most(&self.outer);
        sizes.extend((sizes.len()..n).map(|i| matrix[i * n + i]));
        self.factor = Factor::new(matrix, &sizes);
    }

    /// Z^T A Z: shells meet where one has a value and A takes the other's to. A does not see the null space.
    fn rest_matrix(&self) -> Vec<f64> {
        let n = self.len();
        let mut matrix = vec![0.0; n * n];
        let of_shell = |a: &Shell| -> Vec<(usize, usize, f64)> {
            let products = self.shells.iter().flat_map(|b| {
                let block = meet(&a.z, &b.az);
                let places = (0..a.width).flat_map(move |i| (0..b.width).map(move |j| (i, j)));
                places.map(move |(i, j)| (a.first + i, b.first + j, block[i][j]))
            });
            products.filter(|(_, _, value)| *value != 0.0).collect()
        };
        let entries: Vec<Vec<(usize, usize, f64)>> = self.shells.par_iter().map(of_shell).collect();
        for (i, j, value) in entries.into_iter().flatten() {
            // Half from each side: rounding must not make it unsymmetric.
            matrix[i * n + j] += 0.5 * value;
            matrix[j * n + i] += 0.5 * value;
        }
        matrix
    }

    /// J Z.
    fn seen_matrix(&self) -> Vec<f64> {
        let n = self.len();
        let mut matrix = vec![0.0; self.outer.dofs() * n];
        let of_term = |term: &Term| -> Vec<(usize, usize, f64)> {
            let mut entries: Vec<(usize, &[f64])> = term.entries().collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            let mut products = Vec::new();
            for shell in &self.shells {
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
            for (v, vector) in self.kernel.vectors.iter().enumerate() {
                let value = |unknown: usize| self.kernel.value(vector, unknown);
                for (d, dof) in term.dofs.clone().enumerate() {
                    let sum: f64 = entries.iter().map(|(unknown, column)| column[d] * value(*unknown)).sum();
                    products.push((dof, v, sum));
                }
            }
            products
        };
        let entries: Vec<Vec<(usize, usize, f64)>> = self.outer.terms().par_iter().map(of_term).collect();
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
        let of_shell = |shell: &Shell| {
            let mut sums = [0.0; WIDTH];
            for (unknown, row) in rows(shell) {
                let value = value(*unknown as usize);
                sums.iter_mut().zip(row).for_each(|(s, z)| *s += z * value);
            }
            sums
        };
        let sums: Vec<Row> = self.shells.par_iter().map(of_shell).collect();
        let mut all = vec![0.0; self.len()];
        for (shell, sums) in self.shells.iter().zip(sums) {
            all[shell.first..shell.first + shell.width].copy_from_slice(&sums[..shell.width]);
        }
        all
    }

    /// x += Z c.
    fn add(&self, c: &[f64], x: &mut [f64]) {
        for shell in &self.shells {
            add_rows(&shell.z, shell, c, x);
        }
        self.kernel.add(&c[..self.kernel.vectors.len()], x);
    }

    /// r -= K Z c.
    fn subtract_product(&self, c: &[f64], r: &mut [f64]) {
        let opposite: Vec<f64> = c.iter().map(|c| -c).collect();
        for shell in &self.shells {
            add_rows(&shell.az, shell, &opposite, r);
        }
        let n = self.len().max(1);
        let seen: Vec<f64> = self
            .seen
            .chunks_exact(n)
            .map(|row| row.iter().zip(&opposite).map(|(s, c)| s * c).sum())
            .collect();
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
        let factor = Factor::new(matrix, &sizes);
        let solved: Vec<Vec<f64>> =
            self.seen.par_chunks_exact(n.max(1)).map(|row| factor.solve(row.to_vec())).collect();
        let entry = |i: usize, j: usize| -> f64 {
            self.seen[i * n..(i + 1) * n].iter().zip(&solved[j]).map(|(s, x)| s * x).sum()
        };
        (0..k * k).map(|at| 0.5 * (entry(at / k, at % k) + entry(at % k, at / k))).collect()
    }
}

fn add_rows(rows: &[(u32, Row)], shell: &Shell, c: &[f64], x: &mut [f64]) {
    let mut factors = [0.0; WIDTH];
    factors[..shell.width].copy_from_slice(&c[shell.first..shell.first + shell.width]);
    for (unknown, row) in rows {
        x[*unknown as usize] += row.iter().zip(&factors).map(|(z, c)| z * c).sum::<f64>();
    }
}

/// The products of the columns of two lists of rows, both in ascending order.
fn meet(a: &[(u32, Row)], b: &[(u32, Row)]) -> [Row; WIDTH] {
    let mut products = [[0.0; WIDTH]; WIDTH];
    let apart = a.is_empty() || b.is_empty() || a[a.len() - 1].0 < b[0].0 || b[b.len() - 1].0 < a[0].0;
    let (mut i, mut j) = (0, 0);
    while !apart && i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                for (sum, x) in products.iter_mut().zip(&a[i].1) {
                    sum.iter_mut().zip(&b[j].1).for_each(|(s, y)| *s += x * y);
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    products
}

/// The unknowns around a term, and A among them.
struct Patch {
    unknowns: Vec<u32>,
    starts: Vec<usize>,
    /// (place in the list, weight) of the neighbours of each.
    neighbours: Vec<(u32, f64)>,
    diagonal: Vec<f64>,
    /// (unknown beside the list, place of its neighbour, weight).
    beside: Vec<(u32, u32, f64)>,
}

impl Patch {
    /// The unknowns within [`REACH`] of those that a term touches. Extra unknowns are those that it touches alone, and what terms of the hierarchy touch is left out, since
    /// these reach far.
    fn around<const D: usize>(level: &Level<f64, D>, term: &Term) -> Self {
        let n = block_len::<D>();
        let is_touched = |i: usize| level.low_rank.find_row(i).is_some();
        let is_local = |i: usize| i < level.slots() && !level.affine.touches(i / n, i % n) && !is_touched(i);
        let is_extra = |i: usize| i >= level.slots() && !is_touched(i);
        let touched = term.unknowns.iter().map(|&u| u as usize);
        let mut unknowns: Vec<usize> =
            touched.filter(|&i| level.is_unknown(i) && (is_local(i) || is_extra(i))).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let mut last = unknowns.clone();
        for _ in 0..REACH[D - 2] {
            let mut next = Vec::new();
            for &i in last.iter().filter(|&&i| is_local(i)) {
                level.for_each_neighbour(i, |j, _| next.extend(is_local(j).then_some(j)));
            }
            next.sort_unstable();
            next.dedup();
            next.retain(|i| unknowns.binary_search(i).is_err());
            unknowns.extend(&next);
            unknowns.sort_unstable();
            last = next;
        }
        let place = |i: usize| unknowns.binary_search(&i).ok();
        let mut couplings: Vec<(usize, usize, f64)> = Vec::new();
        let mut beside = Vec::new();
        for (k, &i) in unknowns.iter().enumerate() {
            // The neighbours of an extra unknown may be very many: what is near is found from the cells.
            if is_extra(i) {
                continue;
            }
            level.for_each_neighbour(i, |j, weight| match place(j) {
                Some(other) => {
                    couplings.push((k, other, weight));
                    if is_extra(j) {
                        couplings.push((other, k, weight));
                    }
                }
                None => beside.push((j as u32, k as u32, weight)),
            });
        }
        for (k, &i) in unknowns.iter().enumerate().filter(|(_, i)| is_extra(**i)) {
            level.for_each_neighbour(i, |j, weight| {
                if place(j).is_none() {
                    beside.push((j as u32, k as u32, weight));
                }
            });
        }
        couplings.sort_unstable_by_key(|&(row, column, _)| (row, column));
        beside.sort_unstable_by_key(|&(unknown, at, _)| (unknown, at));
        let starts = (0..=unknowns.len()).map(|k| couplings.partition_point(|c| c.0 < k)).collect();
        Self {
            starts,
            neighbours: couplings.iter().map(|&(_, column, weight)| (column as u32, weight)).collect(),
            diagonal: unknowns.iter().map(|&i| level.diagonal(i)).collect(),
            beside,
            unknowns: unknowns.into_iter().map(|i| i as u32).collect(),
        }
    }

    fn neighbours(&self, k: usize) -> &[(u32, f64)] {
        &self.neighbours[self.starts[k]..self.starts[k + 1]]
    }

    /// Sweeps of A z = b.
    fn relaxed(&self, b: &[Row]) -> Vec<Row> {
        let mut z = vec![[0.0; WIDTH]; b.len()];
        let mut relax = |k: usize| {
            let mut sum = b[k];
            for &(other, weight) in self.neighbours(k) {
                let other = &z[other as usize];
                for i in 0..WIDTH {
                    sum[i] += weight * other[i];
                }
            }
            let inverse = RELAXATION / self.diagonal[k];
            for i in 0..WIDTH {
                z[k][i] += inverse * sum[i] - RELAXATION * z[k][i];
            }
        };
        for _ in 0..SWEEPS {
            (0..b.len()).for_each(&mut relax);
            (0..b.len()).rev().for_each(&mut relax);
        }
        z
    }

    /// A z, also beside the list.
    fn product(&self, z: &[Row]) -> Vec<(u32, Row)> {
        let mut product: Vec<(u32, Row)> = Vec::with_capacity(z.len());
        for (k, &unknown) in self.unknowns.iter().enumerate() {
            let mut sum = z[k].map(|z| z * self.diagonal[k]);
            for &(other, weight) in self.neighbours(k) {
                sum.iter_mut().zip(&z[other as usize]).for_each(|(s, z)| *s -= weight * z);
            }
            product.push((unknown, sum));
        }
        for run in self.beside.chunk_by(|a, b| a.0 == b.0) {
            let mut sum = [0.0; WIDTH];
            for &(_, at, weight) in run {
                sum.iter_mut().zip(&z[at as usize]).for_each(|(s, z)| *s -= weight * z);
            }
            product.push((run[0].0, sum));
        }
        product
    }
}

/// The columns of Z of one term.
fn shells_of<const D: usize>(level: &Level<f64, D>, term: &Term) -> Vec<Shell> {
    let patch = Patch::around(level, term);
    let shell = |first: usize| {
        let width = WIDTH.min(term.dofs.len() - first);
        let mut b = vec![[0.0; WIDTH]; patch.unknowns.len()];
        for (unknown, column) in term.entries() {
            if let Ok(k) = patch.unknowns.binary_search(&(unknown as u32)) {
                b[k][..width].copy_from_slice(&column[first..first + width]);
            }
        }
        let z = patch.relaxed(&b);
        Shell {
            first: term.dofs.start + first,
            width,
            az: patch.product(&z),
            z: patch.unknowns.iter().copied().zip(z).collect(),
        }
    };
    (0..term.dofs.len()).step_by(WIDTH).map(shell).collect()
}

/// The factor of a symmetric positive semi-definite matrix, E = L L^T; what depends on earlier columns is left out.
#[derive(Default)]
struct Factor {
    n: usize,
    /// By row, up to the diagonal.
    rows: Vec<Vec<f64>>,
}

/// What elimination leaves of a column that earlier ones contain is rounding.
const DEPENDENT: f64 = 1e-13;

impl Factor {
    /// `sizes` are what the diagonal would be without cancellation.
    fn new(matrix: Vec<f64>, sizes: &[f64]) -> Self {
        let n = sizes.len();
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut row = vec![0.0; i + 1];
            for j in 0..=i {
                let known: f64 = match rows.get(j) {
                    Some(other) => row[..j].iter().zip(other).map(|(a, b)| a * b).sum(),
                    None => row[..j].iter().map(|a| a * a).sum(),
                };
                let left = matrix[i * n + j] - known;
                row[j] = match rows.get(j) {
                    Some(other) if other[j] > 0.0 => left / other[j],
                    Some(_) => 0.0,
                    None if left > DEPENDENT * n as f64 * sizes[i] => left.sqrt(),
                    None => 0.0,
                };
            }
            rows.push(row);
        }
        Self { n, rows }
    }

    fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for i in 0..self.n {
            let row = &self.rows[i];
            let known: f64 = row[..i].iter().zip(&b).map(|(l, b)| l * b).sum();
            b[i] = if row[i] > 0.0 { (b[i] - known) / row[i] } else { 0.0 };
        }
        for i in (0..self.n).rev() {
            let row = &self.rows[i];
            b[i] = if row[i] > 0.0 { b[i] / row[i] } else { 0.0 };
            let value = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * value);
        }
        b
    }
}
