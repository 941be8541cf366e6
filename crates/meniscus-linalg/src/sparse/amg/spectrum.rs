//! Largest eigenvalues, by Lanczos' method.

use super::super::super::vectors::{CHUNK, dot, each_chunk};

/// An estimate, from below, of the largest eigenvalue of M^-1 A, where `product(x, y)` writes y = A x and `precondition(r, z)` writes
/// z = M^-1 r, both symmetric and positive.
pub(super) fn largest_eigenvalue(
    len: usize,
    steps: usize,
    mut product: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&[f64], &mut [f64]),
) -> f64 {
    let [mut last, mut next, mut z] = std::array::from_fn(|_| vec![0.0; len]);
    let mut vector: Vec<f64> = (0..len as u64).map(noise).collect();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    precondition(&vector, &mut z);
    let mut beta = dot(&vector, &z, CHUNK).max(0.0).sqrt();
    for _ in 0..steps.min(len) {
        if beta <= 0.0 || !beta.is_finite() {
            break;
        }
        let scale = 1.0 / beta;
        vector.iter_mut().for_each(|v| *v *= scale);
        z.iter_mut().for_each(|z| *z *= scale);
        product(&z, &mut next);
        let alpha = dot(&next, &z, CHUNK);
        let back = if diagonal.is_empty() { 0.0 } else { beta };
        each_chunk(&mut next, &vector, |next, v| *next -= alpha * v);
        each_chunk(&mut next, &last, |next, v| *next -= back * v);
        diagonal.push(alpha);
        beside.push(back);
        std::mem::swap(&mut last, &mut vector);
        std::mem::swap(&mut vector, &mut next);
        precondition(&vector, &mut z);
        beta = dot(&vector, &z, CHUNK).max(0.0).sqrt();
    }
    largest_of_tridiagonal(&diagonal, &beside)
}

/// A number in [-1/2, 1/2) that looks random.
fn noise(index: u64) -> f64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection; `beside[k]` is left of `diagonal[k]`.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let reach = |k: usize| beside[k].abs() + beside.get(k + 1).map_or(0.0, |b| b.abs());
    let mut above = (0..diagonal.len()).map(|k| diagonal[k] + reach(k)).fold(0.0, f64::max);
    let mut below = diagonal.iter().copied().fold(0.0, f64::max);
    // As many pivots of T - s are positive as eigenvalues lie above s.
    let is_exceeded = |s: f64| {
        let mut pivot = 1.0;
        diagonal.iter().zip(beside).any(|(d, b)| {
            pivot = d - s - b * b / pivot;
            pivot > 0.0
        })
    };
    for _ in 0..40 {
        let middle = 0.5 * (below + above);
        if is_exceeded(middle) {
            below = middle;
        } else {
            above = middle;
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference with n unknowns has the eigenvalues 2 - 2 cos(k pi / (n + 1)).
    #[test]
    fn of_a_line() {
        let n = 30;
        let product = |x: &[f64], y: &mut [f64]| {
            for i in 0..n {
                let lower = if i > 0 { x[i - 1] } else { 0.0 };
                y[i] = 2.0 * x[i] - lower - x.get(i + 1).copied().unwrap_or(0.0);
            }
        };
        let halve = |r: &[f64], z: &mut [f64]| z.iter_mut().zip(r).for_each(|(z, r)| *z = 0.5 * r);
        let exact = 1.0 - (n as f64 * std::f64::consts::PI / (n as f64 + 1.0)).cos();
        let found = largest_eigenvalue(n, n, product, halve);
        assert!((found - exact).abs() < 1e-9, "{found} instead of {exact}");
        let early = largest_eigenvalue(n, 8, product, halve);
        assert!(early < exact && early > 0.9 * exact, "{early} of {exact}");
    }
}
