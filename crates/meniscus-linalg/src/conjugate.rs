//! Conjugate gradients for operators that are not an [`Operator`](crate::Operator).

use meniscus_core::parallel;

use crate::Operator;
use crate::cg::{SolveError, SolveInfo, SolveParams, dot, each_chunk};
use crate::operator::{Arranged, Outer, Places};
use crate::profile::{Kernel, Profile};

/// Entries that one task sums up.
const CHUNK: usize = 1 << 13;

/// Solves A x = b for a symmetric positive definite A by preconditioned conjugate gradients; `x` holds the initial guess
/// and receives the solution; a guess with a larger residual than none is not used. `product(p, q)` writes q = A p, and `precondition(r, z)` writes z = B r with
/// a symmetric positive definite B. The right-hand side is scaled to the norm one first, so what `precondition`
/// sees stays within the range of f32.
///
/// The result does not depend on the number of threads if neither function does.
///
/// # Errors
/// If the tolerance is not reached, or a vector has the wrong length or holds numbers that are not finite.
pub fn conjugate_gradients(
    b: &[f64],
    x: &mut [f64],
    mut product: impl FnMut(&[f64], &mut [f64]),
    mut precondition: impl FnMut(&[f64], &mut [f64]),
    params: &SolveParams,
) -> Result<SolveInfo, SolveError> {
    if x.len() != b.len() {
        return Err(SolveError::Length { expected: b.len(), found: x.len() });
    }
    let norm_b = dot(b, b, CHUNK).sqrt();
    if !norm_b.is_finite() || !dot(x, x, CHUNK).is_finite() {
        return Err(SolveError::NotFinite);
    }
    let (mut history, mut profile) = (Vec::new(), Profile::default());
    if norm_b == 0.0 {
        x.fill(0.0);
        history.push(0.0);
        return Ok(SolveInfo { iterations: 0, relative_residual: 0.0, history, sealed: Vec::new(), profile });
    }
    let scale = 1.0 / norm_b;
    let [mut r, mut z, mut p, mut q] = std::array::from_fn(|_| vec![0.0; b.len()]);
    product(x, &mut q);
    each_chunk(&mut r, b, |r, b| *r = scale * b);
    each_chunk(&mut r, &q, |r, q| *r -= scale * q);
    if dot(&r, &r, CHUNK) > 1.0 {
        x.fill(0.0);
        each_chunk(&mut r, b, |r, b| *r = scale * b);
    }
    let mut rho = 0.0;
    loop {
        let reached = dot(&r, &r, CHUNK).sqrt();
        history.push(reached);
        if reached <= params.tolerance {
            break;
        }
        if history.len() > params.max_iterations || !reached.is_finite() {
            return Err(SolveError::NotConverged { tolerance: params.tolerance, history });
        }
        precondition(&r, &mut z);
        profile.time(Kernel::Direction, || {
            let rho_new = dot(&r, &z, CHUNK);
            // The first direction is z alone: p is zero.
            let beta = if rho == 0.0 { 0.0 } else { rho_new / rho };
            each_chunk(&mut p, &z, |p, z| *p = z + beta * *p);
            rho = rho_new;
        });
        profile.time(Kernel::Product, || product(&p, &mut q));
        profile.time(Kernel::Update, || {
            let alpha = rho / dot(&p, &q, CHUNK);
            each_chunk(x, &p, |x, p| *x += norm_b * alpha * p);
            each_chunk(&mut r, &q, |r, q| *r -= alpha * q);
        });
    }
    let relative_residual = *history.last().expect("never empty");
    Ok(SolveInfo { iterations: history.len() - 1, relative_residual, history, sealed: Vec::new(), profile })
}

/// Solves A x = b with the diagonal of A as the preconditioner, from zero: what the multigrid of
/// [`Solver`](crate::Solver) is measured against. Sealed components are not taken care of.
///
/// # Errors
/// As [`conjugate_gradients`].
pub fn solve_by_diagonal<const D: usize>(
    operator: &Operator<D>,
    b: &[f64],
    x: &mut [f64],
    params: &SolveParams,
) -> Result<SolveInfo, SolveError> {
    let mut inverse = operator.diagonal();
    parallel::for_chunks(&mut inverse, CHUNK, |_, inverse| {
        for entry in inverse {
            *entry = if *entry > 0.0 { 1.0 / *entry } else { 0.0 };
        }
    });
    x.fill(0.0);
    let touched = operator.outer.touched_blocks::<D>();
    let Some(places) = Places::new(&operator.level, |block| touched.binary_search(&block).is_ok()) else {
        return by_diagonal(&operator.level.whole(), &operator.outer, &inverse, b, x, params);
    };
    let [mut inner_inverse, mut inner_b] = [Vec::new(), Vec::new()];
    places.gather(&inverse, 0.0, &mut inner_inverse);
    places.gather(b, 0.0, &mut inner_b);
    let mut inner_x = vec![0.0; inner_b.len()];
    let level = operator.level.arranged(&places);
    let outer = operator.outer.renamed(|i| Some(places.index(i)));
    let info = by_diagonal(&level, &outer, &inner_inverse, &inner_b, &mut inner_x, params);
    places.scatter(&inner_x, x);
    info
}

fn by_diagonal<const D: usize>(
    level: &Arranged<f64, D>,
    outer: &Outer,
    inverse: &[f64],
    b: &[f64],
    x: &mut [f64],
    params: &SolveParams,
) -> Result<SolveInfo, SolveError> {
    let product = |p: &[f64], q: &mut [f64]| {
        level.apply(p, q);
        outer.add_product(p, q);
    };
    let precondition = |r: &[f64], z: &mut [f64]| {
        parallel::for_chunks(z, CHUNK, |k, z| {
            let [r, inverse] = [r, inverse].map(|vector| parallel::chunk(vector, CHUNK, k));
            for ((z, r), inverse) in z.iter_mut().zip(r).zip(inverse) {
                *z = r * inverse;
            }
        });
    };
    conjugate_gradients(b, x, product, precondition, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second difference on a line, by its diagonal.
    fn product(x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            let lower = if i > 0 { x[i - 1] } else { 0.0 };
            let upper = x.get(i + 1).copied().unwrap_or(0.0);
            y[i] = 2.0 * x[i] - lower - upper;
        }
    }

    fn halve(r: &[f64], z: &mut [f64]) {
        z.iter_mut().zip(r).for_each(|(z, r)| *z = 0.5 * r);
    }

    /// In exact arithmetic, as many iterations as unknowns suffice.
    #[test]
    fn a_line_is_solved_in_as_many_iterations_as_it_has_unknowns() {
        let b: Vec<f64> = (0..40).map(|i| 1e30 * f64::from(i * i % 7)).collect();
        let mut x = vec![1e29; 40];
        let params = SolveParams { tolerance: 1e-12, max_iterations: 40 };
        let info = conjugate_gradients(&b, &mut x, product, halve, &params).expect("converges");
        let mut ax = vec![0.0; 40];
        product(&x, &mut ax);
        let error = ax.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-10 * 1e30, "{error}");
        assert!(info.relative_residual <= 1e-12);
    }

    #[test]
    fn what_cannot_be_solved_is_refused() {
        let params = SolveParams { tolerance: 1e-12, max_iterations: 3 };
        let solve = |b: &[f64], len: usize| {
            let mut x = vec![0.0; len];
            conjugate_gradients(b, &mut x, product, halve, &params)
        };
        let ones = [1.0; 40];
        assert!(matches!(solve(&ones, 40), Err(SolveError::NotConverged { .. })));
        assert_eq!(solve(&ones, 39), Err(SolveError::Length { expected: 40, found: 39 }));
        assert_eq!(solve(&[f64::NAN; 40], 40), Err(SolveError::NotFinite));
    }
}
