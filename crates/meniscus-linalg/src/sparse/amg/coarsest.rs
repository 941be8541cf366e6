//! The coarsest level, solved by a dense inverse.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};

use super::super::bsr::Bsr;
use super::Number;

/// A pivot, or an eigenvalue, below this fraction of the diagonal's is of a vector that the matrix does not see.
const NULL: f64 = 1e-10;

/// The inverse, or, of a singular matrix, one that gives nothing along the vectors that the matrix does not see.
pub(super) struct Coarsest {
    size: usize,
    inverse: Vec<Number>,
}

impl Coarsest {
    /// Of a matrix without rows.
    pub(super) fn empty() -> Self {
        Self { size: 0, inverse: Vec::new() }
    }

    /// Of a matrix and of the numbers it is to be divided by first.
    pub(super) fn new<const B: usize>(matrix: &Bsr<B, B>, scale: f64) -> Self {
        let size = matrix.height();
        if size == 0 {
            return Self::empty();
        }
        let diagonal = matrix.diagonal();
        // Scaled to ones on the diagonal, what is zero does not depend on how different its rows are.
        let root = |i: usize| if diagonal[i] > 0.0 { diagonal[i].sqrt() } else { 1.0 };
        let mut dense = Mat::<f64>::zeros(size, size);
        for row in 0..matrix.pattern().rows() {
            let (columns, blocks) = matrix.row(row);
            for (&column, block) in columns.iter().zip(blocks) {
                for r in 0..B {
                    for c in 0..B {
                        let (i, j) = (row * B + r, column as usize * B + c);
                        // Both triangles, so that rounding leaves no trace.
                        let value = 0.5 * block[r][c] / (root(i) * root(j));
                        dense[(i, j)] += value;
                        dense[(j, i)] += value;
                    }
                }
            }
        }
        let inverse = inverse_of(&dense);
        let entry = |k: usize| {
            let (i, j) = (k / size, k % size);
            let value = 0.5 * (inverse[(i, j)] + inverse[(j, i)]);
            (scale * value / (root(i) * root(j))) as Number
        };
        Self { size, inverse: (0..size * size).map(entry).collect() }
    }

    /// x = A^-1 b.
    pub(super) fn solve(&self, b: &[Number], x: &mut [Number]) {
        if self.size == 0 {
            return;
        }
        for (x, row) in x.iter_mut().zip(self.inverse.chunks_exact(self.size)) {
            let (mut lanes, (row, row_rest), (b, b_rest)) =
                ([0.0; 8], row.as_chunks::<8>(), b.as_chunks::<8>());
            for (row, b) in row.iter().zip(b) {
                for lane in 0..8 {
                    lanes[lane] += row[lane] * b[lane];
                }
            }
            let rest: Number = row_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
            *x = lanes.iter().sum::<Number>() + rest;
        }
    }
}

/// The inverse of a matrix with ones on its diagonal, on the vectors that it sees. A function without types to be chosen is compiled once.
fn inverse_of(matrix: &Mat<f64>) -> Mat<f64> {
    let size = matrix.nrows();
    if let Ok(factor) = matrix.llt(Side::Lower) {
        let lower = factor.L();
        if (0..size).all(|i| lower[(i, i)] * lower[(i, i)] > NULL) {
            return factor.inverse();
        }
    }
    let Ok(eigen) = matrix.self_adjoint_eigen(Side::Lower) else {
        return Mat::identity(size, size);
    };
    let most = (0..size).map(|k| eigen.S()[k]).fold(0.0, f64::max);
    let scaled = Mat::from_fn(size, size, |i, k| {
        let value = eigen.S()[k];
        if value > NULL * most { eigen.U()[(i, k)] / value.sqrt() } else { 0.0 }
    });
    &scaled * scaled.transpose()
}
