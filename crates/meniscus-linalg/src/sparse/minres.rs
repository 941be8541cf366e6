//! MINRES, for systems that are symmetric and not definite.

use meniscus_core::parallel;

use crate::outcome::{SolveError, SolveInfo, SolveParams};
use crate::profile::Profile;
use crate::vectors::{CHUNK, dot, each_chunk};

/// Solves A x = b for a symmetric A, from zero, by MINRES with a symmetric positive definite preconditioner (Paige and Saunders 1975).
/// `product(p, q)` writes q = A p, and `precondition(r, z)` writes z = B r. The tolerance and the history are of the
/// residual's length as B measures it, the root of r · B r, which is what the iteration makes smallest.
///
/// A singular A needs a right-hand side within its range. The result does not depend on the number of threads if neither function does.
///
/// # Errors
/// If the tolerance is not reached, the preconditioner is not definite, or a vector has the wrong length or holds numbers that are not finite.
pub fn minres(
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
    if !norm_b.is_finite() {
        return Err(SolveError::NotFinite);
    }
    x.fill(0.0);
    if norm_b == 0.0 {
        return Ok(SolveInfo::idle(Vec::new()));
    }
    // The right-hand side is scaled to norm one, so that what the preconditioner sees stays within the range of f32.
    let [mut last, mut vector, mut next, mut z, mut direction, mut direction_last] =
        std::array::from_fn(|_| vec![0.0; b.len()]);
    each_chunk(&mut vector, b, |v, b| *v = b / norm_b);
    precondition(&vector, &mut z);
    // NaN of a preconditioner that is not definite is found by the test of the loop.
    let start = dot(&vector, &z, CHUNK).sqrt();
    let (mut beta_last, mut beta, mut eta) = (1.0, start, start);
    let ([mut cosine_last, mut cosine], [mut sine_last, mut sine]) = ([1.0; 2], [0.0; 2]);
    let mut history = vec![1.0];
    loop {
        let reached = *history.last().expect("never empty");
        if reached <= params.tolerance {
            let (iterations, profile) = (history.len() - 1, Profile::default());
            let relative_residual = reached;
            return Ok(SolveInfo { iterations, relative_residual, history, sealed: Vec::new(), profile });
        }
        if history.len() > params.max_iterations || !(reached.is_finite() && start.is_finite() && beta > 0.0)
        {
            return Err(SolveError::NotConverged { tolerance: params.tolerance, history });
        }
        let scale = 1.0 / beta;
        multiply(&mut z, scale);
        product(&z, &mut next);
        let alpha = dot(&next, &z, CHUNK);
        let [of_vector, of_last] = [alpha / beta, beta / beta_last];
        each_chunk(&mut next, &vector, |next, v| *next -= of_vector * v);
        each_chunk(&mut next, &last, |next, v| *next -= of_last * v);
        let turned = cosine * alpha - cosine_last * sine * beta;
        let upper = sine * alpha + cosine_last * cosine * beta;
        let far = sine_last * beta;
        // direction = (z - upper direction - far direction_last) / length, after the next rotation is known.
        each_chunk(&mut direction_last, &direction, |last, d| *last = -far * *last - upper * d);
        each_chunk(&mut direction_last, &z, |last, z| *last += z);
        precondition(&next, &mut z);
        beta_last = std::mem::replace(&mut beta, dot(&next, &z, CHUNK).max(0.0).sqrt());
        let length = turned.hypot(beta);
        cosine_last = std::mem::replace(&mut cosine, turned / length);
        sine_last = std::mem::replace(&mut sine, beta / length);
        let step = norm_b * cosine * eta;
        multiply(&mut direction_last, 1.0 / length);
        std::mem::swap(&mut direction, &mut direction_last);
        each_chunk(x, &direction, |x, d| *x += step * d);
        eta *= -sine;
        std::mem::swap(&mut last, &mut vector);
        std::mem::swap(&mut vector, &mut next);
        history.push(eta.abs() / start);
    }
}

fn multiply(vector: &mut [f64], factor: f64) {
    parallel::for_chunks(vector, CHUNK, |_, vector| vector.iter_mut().for_each(|v| *v *= factor));
}
