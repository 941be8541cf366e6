//! How eigenmodes carry each other.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use meniscus_core::parallel;
use meniscus_core::simd::simd;

/// T(a, b, c) = ∫ φ_a (∂x φ_b ∂y φ_c - ∂y φ_b ∂x φ_c) for a < b < c. It changes its sign with any two of them exchanged, so that these are all.
#[derive(Clone, Debug)]
pub struct Tensor {
    modes: usize,
    /// For each b a list for each a < b, one after another, with a value for each c > b.
    of: Vec<Vec<f64>>,
}

/// Columns of cells that are worked on at a time: what belongs to them stays in a cache.
const COLUMNS: usize = 8;
/// Values that are worked on together.
const LANES: usize = 8;

impl Tensor {
    /// Of functions at the corners of cells, one after another, that are linear along each axis between them. With the mean of triangles over either diagonal the integral is exact for what is linear on these,
    /// and its antisymmetry that of the integral (Arakawa 1966).
    pub fn new(functions: &[Vec<f64>], cells: [usize; 2]) -> Self {
        let modes = functions.len();
        let mut of: Vec<Vec<f64>> = (0..modes).map(|b| vec![0.0; b * (modes - b - 1)]).collect();
        for first in (0..cells[0]).step_by(COLUMNS) {
            let slab = Slab::new(functions, cells, first..cells[0].min(first + COLUMNS));
            parallel::for_each_mut(&mut of, |b, of_b| slab.add(b, of_b));
        }
        Self { modes, of }
    }

    /// The rate at which stream functions with the coefficients s carry a vorticity with the coefficients w: minus the sum of T(k, i, j) w_i s_j.
    pub fn advect(&self, w: &[f64], s: &[f64], rate: &mut [f64]) {
        rate.fill(0.0);
        simd(
            #[inline(always)]
            || {
                for (b, of_b) in self.of.iter().enumerate() {
                    let (before, after) = rate.split_at_mut(b + 1);
                    let (of_w, of_s) = (&w[b + 1..], &s[b + 1..]);
                    for (a, row) in of_b.chunks_exact((self.modes - b - 1).max(1)).enumerate() {
                        let turn = w[a] * s[b] - w[b] * s[a];
                        let [of_w, of_s] = add_row(row, of_w, of_s, turn, after);
                        before[a] -= w[b] * of_s - s[b] * of_w;
                        before[b] -= s[a] * of_w - w[a] * of_s;
                    }
                }
            },
        );
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        8 * self.of.iter().map(Vec::len).sum::<usize>()
    }
}

/// Subtracts the product of a row and a factor, and gives the inner products of the row with two lists.
#[inline(always)]
fn add_row(row: &[f64], w: &[f64], s: &[f64], factor: f64, to: &mut [f64]) -> [f64; 2] {
    let whole = row.len() / LANES * LANES;
    let (mut of_w, mut of_s) = ([0.0; LANES], [0.0; LANES]);
    let parts = row[..whole].chunks_exact(LANES).zip(w.chunks_exact(LANES)).zip(s.chunks_exact(LANES));
    for (((row, w), s), to) in parts.zip(to.chunks_exact_mut(LANES)) {
        for lane in 0..LANES {
            of_w[lane] += row[lane] * w[lane];
            of_s[lane] += row[lane] * s[lane];
            to[lane] -= factor * row[lane];
        }
    }
    let mut sums = [of_w.iter().sum::<f64>(), of_s.iter().sum::<f64>()];
    for k in whole..row.len() {
        sums[0] += row[k] * w[k];
        sums[1] += row[k] * s[k];
        to[k] -= factor * row[k];
    }
    sums
}

/// Some columns of cells, and the functions in them.
struct Slab {
    /// Cells along y.
    rows: usize,
    columns: usize,
    /// The functions at the corners, a list for each.
    values: Vec<f64>,
    /// For each function and cell the differences over both diagonals, and the twist.
    differences: Vec<[Vec<f64>; 3]>,
}

impl Slab {
    fn new(functions: &[Vec<f64>], cells: [usize; 2], range: std::ops::Range<usize>) -> Self {
        let (rows, corners) = (cells[1], cells[1] + 1);
        let columns = range.len();
        let part = |function: &Vec<f64>| function[range.start * corners..(range.end + 1) * corners].to_vec();
        let values: Vec<f64> = functions.iter().flat_map(part).collect();
        let differences = values.chunks_exact((columns + 1) * corners).map(|function| {
            let at = |f: fn([f64; 4]) -> f64| -> Vec<f64> {
                let of_column = |column: usize| {
                    let (left, right) = (&function[column * corners..], &function[(column + 1) * corners..]);
                    (0..rows).map(move |row| f([left[row], right[row], right[row + 1], left[row + 1]]))
                };
                (0..columns).flat_map(of_column).collect()
            };
            [at(|p| p[2] - p[0]), at(|p| p[3] - p[1]), at(|p| p[0] - p[1] + p[2] - p[3])]
        });
        let differences = differences.collect();
        Self { rows, columns, values, differences }
    }

    fn corners(&self) -> usize {
        (self.columns + 1) * (self.rows + 1)
    }

    /// Adds to T(a, b, c), for all a < b and c > b.
    fn add(&self, b: usize, to: &mut [f64]) {
        let modes = self.differences.len();
        let (before, after) = (b, modes - b - 1);
        if before == 0 || after == 0 {
            return;
        }
        let corners = self.corners();
        let mut parts = vec![0.0; after * corners];
        for (c, part) in (b + 1..modes).zip(parts.chunks_exact_mut(corners)) {
            self.jacobian(b, c, part);
        }
        let functions = MatRef::from_row_major_slice(&self.values[..before * corners], before, corners);
        let parts = MatRef::from_row_major_slice(&parts, after, corners);
        let to = MatMut::from_row_major_slice_mut(to, before, after);
        matmul(to, Accum::Add, functions, parts.transpose(), 1.0, Par::Seq);
    }

    /// ∫ N (∂x b ∂y c - ∂y b ∂x c) for the function N of each corner. With the differences d, d' over the diagonals and the twist e, and those of c in capitals: the triangles of a cell have twice the
    /// area ½ (d D' - d' D) ± ½ (d E - e D) over one diagonal, and ± ½ (e D' - d' E) over the other.
    fn jacobian(&self, b: usize, c: usize, to: &mut [f64]) {
        let corners = self.rows + 1;
        for column in 0..self.columns {
            let of = |function: usize| {
                self.differences[function].each_ref().map(|d| &d[column * self.rows..][..self.rows])
            };
            let ([d, f, e], [cd, cf, ce]) = (of(b), of(c));
            let (left, right) = to[column * corners..].split_at_mut(corners);
            simd(
                #[inline(always)]
                || add_jacobian([d, f, e], [cd, cf, ce], left, &mut right[..corners]),
            );
        }
    }
}

/// Adds the parts of a column of cells to its corners on either side.
#[inline(always)]
fn add_jacobian(b: [&[f64]; 3], c: [&[f64]; 3], left: &mut [f64], right: &mut [f64]) {
    let rows = b[0].len();
    let ([d, f, e], [cd, cf, ce]) = (b.map(|x| &x[..rows]), c.map(|x| &x[..rows]));
    let (left, right) = (&mut left[..rows + 1], &mut right[..rows + 1]);
    const TWELFTH: f64 = 1.0 / 12.0;
    let parts = |k: usize| {
        let whole = 1.5 * TWELFTH * (d[k] * cf[k] - f[k] * cd[k]);
        let one = 0.5 * TWELFTH * (d[k] * ce[k] - e[k] * cd[k]);
        let other = 0.5 * TWELFTH * (e[k] * cf[k] - f[k] * ce[k]);
        [whole - other, whole + one, whole + other, whole - one]
    };
    // The corners below and above apart, so that nothing waits for the one before.
    for k in 0..rows {
        let [lower_left, lower_right, ..] = parts(k);
        left[k] += lower_left;
        right[k] += lower_right;
    }
    for k in 0..rows {
        let [_, _, upper_right, upper_left] = parts(k);
        right[k + 1] += upper_right;
        left[k + 1] += upper_left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(count: usize, cells: [usize; 2]) -> Vec<Vec<f64>> {
        let corners = (cells[0] + 1) * (cells[1] + 1);
        let value = |mode: usize, node: usize| {
            let (i, j) = (node / (cells[1] + 1), node % (cells[1] + 1));
            let is_inner = i > 0 && j > 0 && i < cells[0] && j < cells[1];
            if is_inner { ((mode * 71 + node * 13 + node * node * mode) as f64).sin() } else { 0.0 }
        };
        (0..count).map(|mode| (0..corners).map(|node| value(mode, node)).collect()).collect()
    }

    /// The sum over triangles, one by one.
    fn directly(a: &[f64], b: &[f64], c: &[f64], cells: [usize; 2]) -> f64 {
        let mut sum = 0.0;
        for i in 0..cells[0] {
            for j in 0..cells[1] {
                let at = |x: usize, y: usize| (i + x) * (cells[1] + 1) + j + y;
                let square = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                for k in 0..4 {
                    let [p, q, r] = [0, 1, 2].map(|step| square[(k + step) % 4]);
                    let turn = (b[q] - b[p]) * (c[r] - c[p]) - (b[r] - b[p]) * (c[q] - c[p]);
                    sum += (a[p] + a[q] + a[r]) * turn / 12.0;
                }
            }
        }
        sum
    }

    #[test]
    fn the_tensor_is_the_sum_over_triangles_and_antisymmetric() {
        let cells = [19, 7];
        let functions = functions(6, cells);
        let tensor = Tensor::new(&functions, cells);
        let sum = |a: usize, b: usize, c: usize| directly(&functions[a], &functions[b], &functions[c], cells);
        for (a, b, c) in [(0, 1, 2), (0, 3, 5), (2, 3, 4), (1, 2, 5)] {
            let found = tensor.of[b][a * (5 - b) + c - b - 1];
            for (sign, sum) in
                [(1.0, sum(a, b, c)), (1.0, sum(b, c, a)), (-1.0, sum(b, a, c)), (-1.0, sum(c, b, a))]
            {
                assert!((found - sign * sum).abs() < 1e-12, "{a} {b} {c}: {found} {sum}");
            }
        }
    }

    #[test]
    fn the_rate_is_the_sum_over_all_pairs() {
        let cells = [9, 11];
        let functions = functions(21, cells);
        let tensor = Tensor::new(&functions, cells);
        let [w, s] = [3.0, 5.0].map(|k| (0..21).map(|i| (k * i as f64 + 1.0).sin()).collect::<Vec<f64>>());
        let mut rate = vec![0.0; 21];
        tensor.advect(&w, &s, &mut rate);
        let sum = |of: &[f64]| -> Vec<f64> {
            let terms =
                (0..functions[0].len()).map(|node| functions.iter().zip(of).map(|(f, c)| c * f[node]).sum());
            terms.collect()
        };
        let (vorticity, stream) = (sum(&w), sum(&s));
        for k in 0..21 {
            let expected = -directly(&functions[k], &vorticity, &stream, cells);
            assert!((rate[k] - expected).abs() < 1e-11, "{k}: {} {expected}", rate[k]);
        }
    }
}
