//! Small dense blocks, row by row.

use crate::real::Real;

/// A block of R rows and C columns.
pub type Block<const R: usize, const C: usize> = [[f64; C]; R];

/// out += a b.
#[inline(always)]
pub(super) fn add_product<const R: usize, const M: usize, const C: usize>(
    out: &mut Block<R, C>,
    a: &Block<R, M>,
    b: &Block<M, C>,
) {
    for r in 0..R {
        for m in 0..M {
            for c in 0..C {
                out[r][c] += a[r][m] * b[m][c];
            }
        }
    }
}

/// a b.
#[inline(always)]
pub(super) fn product<const R: usize, const M: usize, const C: usize>(
    a: &Block<R, M>,
    b: &Block<M, C>,
) -> Block<R, C> {
    let mut out = [[0.0; C]; R];
    add_product(&mut out, a, b);
    out
}

/// a x.
#[inline(always)]
pub(super) fn times<V: Real, const R: usize, const C: usize>(a: &[[V; C]; R], x: &[V; C]) -> [V; R] {
    let mut y = [V::ZERO; R];
    for r in 0..R {
        for c in 0..C {
            y[r] += a[r][c] * x[c];
        }
    }
    y
}

/// The transpose.
#[inline(always)]
pub(super) fn transposed<const R: usize, const C: usize>(a: &Block<R, C>) -> Block<C, R> {
    let mut out = [[0.0; R]; C];
    for r in 0..R {
        for c in 0..C {
            out[c][r] = a[r][c];
        }
    }
    out
}

/// The root of the sum of squares.
#[inline(always)]
pub(super) fn norm<const R: usize, const C: usize>(a: &Block<R, C>) -> f64 {
    a.iter().flatten().map(|v| v * v).sum::<f64>().sqrt()
}

/// In another precision.
#[inline(always)]
pub(super) fn rounded<V: Real, const R: usize, const C: usize>(a: &Block<R, C>) -> [[V; C]; R] {
    let mut out = [[V::ZERO; C]; R];
    for r in 0..R {
        for c in 0..C {
            out[r][c] = V::of(a[r][c]);
        }
    }
    out
}

/// The inverse of a symmetric positive definite block, itself symmetric; none if it is not definite.
pub(super) fn inverse<const B: usize>(a: &Block<B, B>) -> Option<Block<B, B>> {
    let mut lower = [[0.0; B]; B];
    for r in 0..B {
        for c in 0..=r {
            let known: f64 = (0..c).map(|m| lower[r][m] * lower[c][m]).sum();
            let rest = a[r][c] - known;
            if r != c {
                lower[r][c] = rest / lower[c][c];
            } else if rest > 1e-14 * a[r][r] && rest.is_finite() {
                lower[r][r] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut inverse_lower = [[0.0; B]; B];
    for c in 0..B {
        for r in c..B {
            let known: f64 = (c..r).map(|m| lower[r][m] * inverse_lower[m][c]).sum();
            let unit = if r == c { 1.0 } else { 0.0 };
            inverse_lower[r][c] = (unit - known) / lower[r][r];
        }
    }
    let mut out = [[0.0; B]; B];
    for r in 0..B {
        for c in 0..=r {
            out[r][c] = (r..B).map(|m| inverse_lower[m][r] * inverse_lower[m][c]).sum();
            out[c][r] = out[r][c];
        }
    }
    Some(out)
}
