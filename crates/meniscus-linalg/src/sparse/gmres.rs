//! Flexible GMRES, for systems that are not symmetric or not definite.

use meniscus_core::parallel;
use meniscus_core::simd::simd;

use crate::outcome::{SolveError, SolveInfo, SolveParams};
use crate::profile::Profile;
use crate::vectors::{CHUNK, dot, each_chunk};

/// Entries of the vectors of a basis that are worked through at a time: short, so that those of the vector that changes stay in the cache.
const PIECE: usize = 1 << 11;

/// When [`flexible_gmres`] stops, and how much it keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GmresParams {
    /// The residual to reach, as a fraction of the right-hand side's norm.
    pub tolerance: f64,
    /// Iterations after which the solve has failed.
    pub max_iterations: usize,
    /// Iterations after which the iteration begins anew: it keeps two vectors for each.
    pub restart: usize,
}

impl Default for GmresParams {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 200, restart: 30 }
    }
}

/// Solves A x = b by restarted GMRES, preconditioned from the right by a function that may change from iteration to iteration
/// (Saad 1993); `x` holds the initial guess and receives the solution; a guess with a larger residual than none is not used.
/// `product(p, q)` writes q = A p, and `precondition(r, z)` writes z, a guess at the solution of A z = r, for an r of norm one.
///
/// A singular A needs a right-hand side within its range. The result does not depend on the number of threads if neither function does.
///
/// # Errors
/// If the tolerance is not reached, or a vector has the wrong length or holds numbers that are not finite.
pub fn flexible_gmres(
    b: &[f64],
    x: &mut [f64],
    mut product: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&[f64], &mut [f64]),
    params: &GmresParams,
) -> Result<SolveInfo, SolveError> {
    if x.len() != b.len() {
        return Err(SolveError::Length { expected: b.len(), found: x.len() });
    }
    let norm_b = dot(b, b, CHUNK).sqrt();
    if !norm_b.is_finite() || !dot(x, x, CHUNK).is_finite() {
        return Err(SolveError::NotFinite);
    }
    if norm_b == 0.0 {
        x.fill(0.0);
        return Ok(SolveInfo::idle(Vec::new()));
    }
    let target = SolveParams { tolerance: params.tolerance, max_iterations: params.max_iterations };
    let mut residual = vec![0.0; b.len()];
    let mut norm = remainder(b, x, &mut product, &mut residual);
    if norm > norm_b {
        x.fill(0.0);
        residual.copy_from_slice(b);
        norm = norm_b;
    }
    let mut history = vec![norm / norm_b];
    let mut basis = Basis::default();
    loop {
        let reached = norm / norm_b;
        // The iteration tracks the residual to rounding: what it takes for the tolerance may miss it by that.
        if reached <= 1.001 * target.tolerance {
            let relative_residual = *history.last().expect("never empty");
            let iterations = history.len() - 1;
            let profile = Profile::default();
            return Ok(SolveInfo { iterations, relative_residual, history, sealed: Vec::new(), profile });
        }
        if history.len() > target.max_iterations || !reached.is_finite() {
            return Err(SolveError::NotConverged { tolerance: target.tolerance, history });
        }
        basis.begin(&residual, norm);
        let length = params.restart.max(1).min(target.max_iterations + 1 - history.len());
        while basis.steps() < length {
            basis.extend(&mut product, &mut precondition);
            let exhausted = basis.orthogonalise();
            let reached = basis.residual() / norm_b;
            history.push(reached);
            if reached <= target.tolerance || !reached.is_finite() || exhausted {
                break;
            }
        }
        basis.add_solution(x);
        norm = remainder(b, x, &mut product, &mut residual);
    }
}

/// r = b - A x; returns its norm.
fn remainder(b: &[f64], x: &[f64], product: &mut impl FnMut(&[f64], &mut [f64]), r: &mut [f64]) -> f64 {
    product(x, r);
    each_chunk(r, b, |r, b| *r = b - *r);
    dot(r, r, CHUNK).sqrt()
}

/// The vectors of Arnoldi's method, orthonormal, what the preconditioner made of them, and the small least-squares problem.
#[derive(Default)]
struct Basis {
    vectors: Vec<Vec<f64>>,
    preconditioned: Vec<Vec<f64>>,
    /// The columns of the triangular factor.
    columns: Vec<Vec<f64>>,
    /// Cosines and sines of the rotations that made it.
    rotations: Vec<[f64; 2]>,
    /// The right-hand side, rotated; its last entry is the residual.
    rhs: Vec<f64>,
}

impl Basis {
    fn begin(&mut self, residual: &[f64], norm: f64) {
        self.columns.clear();
        self.rotations.clear();
        self.rhs = vec![norm];
        if self.vectors.is_empty() {
            self.vectors.push(vec![0.0; residual.len()]);
        }
        let scale = 1.0 / norm;
        each_chunk(&mut self.vectors[0], residual, |v, r| *v = scale * r);
    }

    fn steps(&self) -> usize {
        self.columns.len()
    }

    fn residual(&self) -> f64 {
        self.rhs[self.steps()].abs()
    }

    /// The next preconditioned vector, and its image as the next vector of the basis. Memory comes as the iteration needs it.
    fn extend(
        &mut self,
        product: &mut impl FnMut(&[f64], &mut [f64]),
        precondition: &mut impl FnMut(&[f64], &mut [f64]),
    ) {
        let (k, n) = (self.steps(), self.vectors[0].len());
        if self.preconditioned.len() == k {
            self.preconditioned.push(vec![0.0; n]);
        }
        if self.vectors.len() == k + 1 {
            self.vectors.push(vec![0.0; n]);
        }
        let (before, after) = self.vectors.split_at_mut(k + 1);
        precondition(&before[k], &mut self.preconditioned[k]);
        product(&self.preconditioned[k], &mut after[0]);
    }

    /// Makes the image orthonormal to those before it and rotates its column into the triangle; returns whether nothing is left of it.
    fn orthogonalise(&mut self) -> bool {
        let k = self.steps();
        let (before, after) = self.vectors.split_at_mut(k + 1);
        let image = &mut after[0];
        let mut norm = dot(image, image, CHUNK).sqrt();
        let first = norm;
        let mut column = vec![0.0; k + 2];
        // Classical Gram-Schmidt reads every vector twice; where much cancels, a second round brings orthogonality to rounding.
        for _ in 0..2 {
            let products = products(before, image);
            subtract(before, &products, image);
            column.iter_mut().zip(&products).for_each(|(sum, product)| *sum += product);
            let old = std::mem::replace(&mut norm, dot(image, image, CHUNK).sqrt());
            if norm > 0.3 * old {
                break;
            }
        }
        let exhausted = norm <= 1e-15 * first;
        column[k + 1] = norm;
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        parallel::for_chunks(image, CHUNK, |_, image| image.iter_mut().for_each(|v| *v *= scale));
        for (row, [cosine, sine]) in self.rotations.iter().enumerate() {
            let [upper, lower] = [column[row], column[row + 1]];
            column[row] = cosine * upper + sine * lower;
            column[row + 1] = cosine * lower - sine * upper;
        }
        let length = column[k].hypot(column[k + 1]);
        let [cosine, sine] =
            if length > 0.0 { [column[k] / length, column[k + 1] / length] } else { [1.0, 0.0] };
        column[k] = length;
        column.truncate(k + 1);
        self.columns.push(column);
        self.rotations.push([cosine, sine]);
        let last = self.rhs[k];
        self.rhs[k] = cosine * last;
        self.rhs.push(-sine * last);
        exhausted
    }

    /// x -= Z y, where -y solves the triangle.
    fn add_solution(&self, x: &mut [f64]) {
        let steps = self.steps();
        let mut y = vec![0.0; steps];
        for row in (0..steps).rev() {
            let known: f64 = (row + 1..steps).map(|k| self.columns[k][row] * y[k]).sum();
            let pivot = self.columns[row][row];
            // A direction without an image tells nothing of x.
            y[row] = if pivot == 0.0 { 0.0 } else { -(self.rhs[row] + known) / pivot };
        }
        subtract(&self.preconditioned[..steps], &y, x);
    }
}

/// The inner products of vectors with one.
fn products(vectors: &[Vec<f64>], with: &[f64]) -> Vec<f64> {
    let part = |k: usize| -> Vec<f64> {
        let with = parallel::chunk(with, PIECE, k);
        let product = |vector: &Vec<f64>| short_dot(parallel::chunk(vector, PIECE, k), with);
        vectors.iter().map(product).collect()
    };
    let mut sums = vec![0.0; vectors.len()];
    for part in parallel::map(with.len().div_ceil(PIECE), part) {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}

fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    simd(
        #[inline(always)]
        || {
            let mut lanes = [0.0; 8];
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
            for (a, b) in a.iter().zip(b) {
                for lane in 0..8 {
                    lanes[lane] += a[lane] * b[lane];
                }
            }
            lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

/// Subtracts multiples of vectors from one.
fn subtract(vectors: &[Vec<f64>], factors: &[f64], from: &mut [f64]) {
    parallel::for_chunks(from, PIECE, |k, from| {
        simd(
            #[inline(always)]
            || {
                for (vector, factor) in vectors.iter().zip(factors) {
                    let vector = parallel::chunk(vector, PIECE, k);
                    from.iter_mut().zip(vector).for_each(|(from, v)| *from -= factor * v);
                }
            },
        );
    });
}
