//! Preconditioned conjugate gradients.

use meniscus_core::parallel;

use crate::Operator;
use crate::operator::{Arranged, Outer, Places};
use crate::outcome::{SolveError, SolveInfo, SolveParams};
use crate::profile::{Kernel, Profile};
use crate::vectors::{CHUNK, dot, each_chunk};

/// The vectors x, r, z, p and q of conjugate gradients for A x = b, and what acts on them. Precisions, scales and memory are those of whoever
/// iterates, so that no pass over the vectors is more than the preconditioner at hand needs.
pub(crate) trait Iteration {
    /// |r| as a part of |b|, at the beginning.
    fn residual(&self) -> f64;

    /// z = B r.
    fn precondition(&mut self, profile: &mut Profile);

    /// r · z.
    fn gain(&mut self) -> f64;

    /// p = z + beta p; with no beta p = z, the first direction.
    fn turn(&mut self, beta: Option<f64>);

    /// q = A p; returns p · q.
    fn product(&mut self) -> f64;

    /// x += alpha p, r -= alpha q; returns |r| as a part of |b|.
    fn advance(&mut self, alpha: f64) -> f64;
}

/// Iterates to the tolerance; returns the residuals before the first and after every iteration, and where the time went.
pub(crate) fn iterate(
    iteration: &mut impl Iteration,
    params: &SolveParams,
) -> Result<(Vec<f64>, Profile), SolveError> {
    let (mut history, mut profile) = (Vec::new(), Profile::default());
    let (mut reached, mut last_gain) = (iteration.residual(), None);
    loop {
        history.push(reached);
        if reached <= params.tolerance {
            return Ok((history, profile));
        }
        if history.len() > params.max_iterations || !reached.is_finite() {
            return Err(SolveError::NotConverged { tolerance: params.tolerance, history });
        }
        iteration.precondition(&mut profile);
        let gain = profile.time(Kernel::Direction, || {
            let gain = iteration.gain();
            iteration.turn(last_gain.map(|last| gain / last));
            gain
        });
        let curvature = profile.time(Kernel::Product, || iteration.product());
        reached = profile.time(Kernel::Update, || iteration.advance(gain / curvature));
        last_gain = Some(gain);
    }
}

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
    product: impl FnMut(&[f64], &mut [f64]),
    precondition: impl FnMut(&[f64], &mut [f64]),
    params: &SolveParams,
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
    let [r, z, p, q] = std::array::from_fn(|_| vec![0.0; b.len()]);
    let mut descent = Descent { product, precondition, x, r, z, p, q, norm_b };
    descent.begin(b);
    let (history, profile) = iterate(&mut descent, params)?;
    let relative_residual = *history.last().expect("never empty");
    Ok(SolveInfo { iterations: history.len() - 1, relative_residual, history, sealed: Vec::new(), profile })
}

/// The iteration of [`conjugate_gradients`]: but for x, the vectors are those of a right-hand side scaled to norm one.
struct Descent<'a, A, B> {
    product: A,
    precondition: B,
    x: &'a mut [f64],
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    norm_b: f64,
}

impl<A: FnMut(&[f64], &mut [f64]), B> Descent<'_, A, B> {
    fn begin(&mut self, b: &[f64]) {
        let scale = 1.0 / self.norm_b;
        (self.product)(self.x, &mut self.q);
        each_chunk(&mut self.r, b, |r, b| *r = scale * b);
        each_chunk(&mut self.r, &self.q, |r, q| *r -= scale * q);
        if dot(&self.r, &self.r, CHUNK) > 1.0 {
            self.x.fill(0.0);
            each_chunk(&mut self.r, b, |r, b| *r = scale * b);
        }
    }
}

impl<A: FnMut(&[f64], &mut [f64]), B: FnMut(&[f64], &mut [f64])> Iteration for Descent<'_, A, B> {
    fn residual(&self) -> f64 {
        dot(&self.r, &self.r, CHUNK).sqrt()
    }

    fn precondition(&mut self, _: &mut Profile) {
        (self.precondition)(&self.r, &mut self.z);
    }

    fn gain(&mut self) -> f64 {
        dot(&self.r, &self.z, CHUNK)
    }

    fn turn(&mut self, beta: Option<f64>) {
        // The first direction is z alone: p is zero.
        let beta = beta.unwrap_or(0.0);
        each_chunk(&mut self.p, &self.z, |p, z| *p = z + beta * *p);
    }

    fn product(&mut self) -> f64 {
        (self.product)(&self.p, &mut self.q);
        dot(&self.p, &self.q, CHUNK)
    }

    fn advance(&mut self, alpha: f64) -> f64 {
        let step = self.norm_b * alpha;
        each_chunk(self.x, &self.p, |x, p| *x += step * p);
        each_chunk(&mut self.r, &self.q, |r, q| *r -= alpha * q);
        self.residual()
    }
}

/// Solves A x = b with the diagonal of A as the preconditioner, from zero: what the multigrid of
/// [`Solver`](crate::Solver) is measured against. Sealed components are not taken care of.
///
/// # Errors
/// If the tolerance is not reached, or a vector has the wrong length or holds numbers that are not finite.
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
