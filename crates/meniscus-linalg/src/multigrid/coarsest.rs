//! The direct solve at the bottom of the hierarchy.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;

use crate::operator::Level;
use crate::real::Real;

/// The inverse of the coarsest operator as a dense matrix. A sealed component leaves a constant
/// vector in the null space; the matrix is made definite by a stiffness along it, which changes nothing
/// for a compatible right-hand side.
#[derive(Debug)]
pub(crate) struct Coarsest {
    /// Flat indices of the unknowns.
    unknowns: Vec<u32>,
    inverse: Vec<f32>,
}

impl Coarsest {
    /// `null_vectors` are lists of (flat index, value). `None` if there are more than `limit` unknowns.
    pub(crate) fn new<T: Real, const D: usize>(
        level: &Level<T, D>,
        null_vectors: &[Vec<(usize, f64)>],
        limit: usize,
    ) -> Option<Self> {
        let unknowns: Vec<u32> =
            (0..level.len()).filter(|&i| level.is_unknown(i)).map(|i| i as u32).collect();
        let n = unknowns.len();
        if n > limit {
            return None;
        }
        let index = |flat: usize| unknowns.binary_search(&(flat as u32)).ok();
        let mut matrix = Mat::<f64>::zeros(n, n);
        for (r, &i) in unknowns.iter().enumerate() {
            level.for_each_entry(i as usize, |j, value| {
                if let Some(c) = index(j) {
                    matrix[(r, c)] += value;
                }
            });
        }
        let mean = (0..n).map(|i| matrix[(i, i)]).sum::<f64>() / n.max(1) as f64;
        for vector in null_vectors {
            let entries: Vec<(usize, f64)> =
                vector.iter().filter_map(|&(flat, value)| Some((index(flat)?, value))).collect();
            let square: f64 = entries.iter().map(|e| e.1 * e.1).sum();
            for &(r, a) in &entries {
                for &(c, b) in &entries {
                    matrix[(r, c)] += mean * a * b / square;
                }
            }
        }
        // Rows are rounded to f32 on their way down: this keeps them diagonally dominant, and so the
        // matrix definite.
        for i in 0..n {
            matrix[(i, i)] *= 1.0 + 1e-6;
        }
        let inverse = inverse_of(&matrix);
        let symmetric = |r: usize, c: usize| (0.5 * (inverse[(r, c)] + inverse[(c, r)])) as f32;
        let inverse = (0..n * n).map(|k| symmetric(k / n, k % n)).collect();
        Some(Self { unknowns, inverse })
    }

    /// x = A^-1 b.
    pub(crate) fn solve(&self, b: &[f32], x: &mut [f32]) {
        let n = self.unknowns.len();
        let b: Vec<f32> = self.unknowns.iter().map(|&i| b[i as usize]).collect();
        for (r, &i) in self.unknowns.iter().enumerate() {
            let row = &self.inverse[r * n..(r + 1) * n];
            x[i as usize] = row.iter().zip(&b).map(|(a, b)| a * b).sum();
        }
    }
}

/// The inverse of a definite matrix. A function of its own, without types to be chosen, is compiled once.
fn inverse_of(matrix: &Mat<f64>) -> Mat<f64> {
    let factor = matrix.llt(faer::Side::Lower);
    factor.expect("a diagonally dominant matrix plus squares is definite").inverse()
}
