//! How eigenmodes carry each other.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use meniscus_core::parallel;
use meniscus_core::simd::simd;

/// T(a, b, c) = ∫ φ_a (∂x φ_b ∂y φ_c - ∂y φ_b ∂x φ_c) / ∫ φ_a² for a < b < c. It changes its sign with any two of them exchanged, so that these are all.
#[derive(Clone, Debug)]
pub struct Tensor {
    modes: usize,
    /// For each b a list for each a < b, one after another, with a value for each c > b.
    of: Vec<Vec<f64>>,
}

/// Columns of corners that are worked on at a time: what belongs to them stays in a cache.
const COLUMNS: usize = 8;
/// Values that are worked on together.
const LANES: usize = 8;

impl Tensor {
    /// Of functions at the corners of cells that are zero on the sides of the box: the mean of what they are if they are linear on the triangles that either diagonal makes of each cell. These
    /// integrals are exact, and so is the antisymmetry (Arakawa 1966). They are divided by what the square of each
    /// function has for its integral.
    pub fn new(functions: &[Vec<f64>], cells: [usize; 2], square: f64) -> Self {
        let modes = functions.len();
        let mut of: Vec<Vec<f64>> = (0..modes).map(|b| vec![0.0; b * (modes - b - 1)]).collect();
        for first in (1..cells[0]).step_by(COLUMNS) {
            let slab = Slab::new(functions, cells, first..cells[0].min(first + COLUMNS));
            parallel::for_each_mut(&mut of, |b, of_b| slab.add(b, of_b));
        }
        of.iter_mut().flatten().for_each(|t| *t /= square);
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

/// Some columns of corners, and the functions there and beside them.
struct Slab {
    /// Corners along y but for the two on the sides of the box, where all functions are zero.
    rows: usize,
    columns: usize,
    /// The functions at the corners, a list for each.
    values: Vec<f64>,
    /// The same with a column, and in each a row, more on either side.
    wide: Vec<Vec<f64>>,
}

/// The corners around a corner, from that along x on, counter-clockwise: steps along x and y.
const AROUND: [[usize; 2]; 8] = [[2, 1], [2, 2], [1, 2], [0, 2], [0, 1], [0, 0], [1, 0], [2, 0]];

impl Slab {
    fn new(functions: &[Vec<f64>], cells: [usize; 2], range: std::ops::Range<usize>) -> Self {
        let (rows, corners) = (cells[1] - 1, cells[1] + 1);
        let columns = range.len();
        let wide: Vec<Vec<f64>> = functions
            .iter()
            .map(|function| function[(range.start - 1) * corners..(range.end + 1) * corners].to_vec())
            .collect();
        let inner = |function: &Vec<f64>| {
            (1..=columns)
                .flat_map(|column| function[column * corners + 1..][..rows].to_vec())
                .collect::<Vec<_>>()
        };
        let values = wide.iter().flat_map(inner).collect();
        Self { rows, columns, values, wide }
    }

    /// Adds to T(a, b, c), for all a < b and c > b.
    fn add(&self, b: usize, to: &mut [f64]) {
        let corners = self.columns * self.rows;
        let (before, after) = (b, self.wide.len() - b - 1);
        if before == 0 || after == 0 {
            return;
        }
        let mut parts = vec![0.0; after * corners];
        for column in 0..self.columns {
            let factors = self.factors(b, column);
            for (c, part) in self.wide[b + 1..].iter().zip(parts.chunks_exact_mut(corners)) {
                self.carry(&factors, c, column, &mut part[column * self.rows..][..self.rows]);
            }
        }
        let functions = MatRef::from_row_major_slice(&self.values[..before * corners], before, corners);
        let parts = MatRef::from_row_major_slice(&parts, after, corners);
        let to = MatMut::from_row_major_slice_mut(to, before, after);
        matmul(to, Accum::Add, functions, parts.transpose(), 1.0, Par::Seq);
    }

    /// A column of a function at the corners around those of a column here.
    fn around<'a>(&self, function: &'a [f64], column: usize, [x, y]: [usize; 2]) -> &'a [f64] {
        &function[(column + x) * (self.rows + 2) + y..][..self.rows]
    }

    /// What ∫ N (∂x b ∂y c - ∂y b ∂x c), for the function N of each corner in a column, has for a factor of c at each corner around it.
    fn factors(&self, b: usize, column: usize) -> [Vec<f64>; 8] {
        let of: [&[f64]; 8] = AROUND.map(|step| self.around(&self.wide[b], column, step));
        std::array::from_fn(|k| {
            let [behind, before, next, after] = [6, 7, 1, 2].map(|step| of[(k + step) % 8]);
            let factor = |row: usize| {
                // Beside a corner, or over the diagonal of a cell.
                let sum = if k % 2 == 0 {
                    before[row] + behind[row] - next[row] - after[row]
                } else {
                    before[row] - next[row]
                };
                sum / 12.0
            };
            (0..self.rows).map(factor).collect()
        })
    }

    fn carry(&self, factors: &[Vec<f64>; 8], c: &[f64], column: usize, to: &mut [f64]) {
        let of: [&[f64]; 8] = AROUND.map(|step| self.around(c, column, step));
        let factors = factors.each_ref().map(|list| &list[..self.rows]);
        simd(
            #[inline(always)]
            || {
                for (row, to) in to.iter_mut().enumerate() {
                    let mut sum = factors[0][row] * of[0][row];
                    for k in 1..8 {
                        sum += factors[k][row] * of[k][row];
                    }
                    *to = sum;
                }
            },
        );
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
        let tensor = Tensor::new(&functions, cells, 1.0);
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
        let tensor = Tensor::new(&functions, cells, 1.0);
        let [w, s] =
            [3.0, 5.0].map(|k| (0..21).map(|i| (k * f64::from(i) + 1.0).sin()).collect::<Vec<f64>>());
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
