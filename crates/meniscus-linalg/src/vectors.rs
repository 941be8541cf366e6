//! Operations on whole vectors, in parallel, with results that do not depend on the number of threads.

use meniscus_core::parallel;
use meniscus_core::simd::simd;

use crate::real::Real;

/// Entries that one task works through, large enough to hide its cost. Sums are taken over them, so results depend on this number by rounding.
pub(crate) const CHUNK: usize = 1 << 13;

/// x += alpha p, r -= alpha q, b = scale r; returns r · r.
pub(crate) fn update(
    x: &mut [f64],
    r: &mut [f64],
    b: &mut [f32],
    p: &[f64],
    q: &[f64],
    alpha: f64,
    scale: f64,
) -> f64 {
    let parts = x.chunks_mut(CHUNK).zip(r.chunks_mut(CHUNK)).zip(b.chunks_mut(CHUNK)).collect();
    let update_part = |_: &mut (), k: usize, ((x, r), b): ((&mut [f64], &mut [f64]), &mut [f32])| {
        let [p, q] = [p, q].map(|vector| parallel::chunk(vector, CHUNK, k));
        simd(
            #[inline(always)]
            || {
                for (x, p) in x.iter_mut().zip(p) {
                    *x += alpha * p;
                }
                for ((r, q), b) in r.iter_mut().zip(q).zip(b) {
                    *r -= alpha * q;
                    *b = (scale * *r) as f32;
                }
                lane_dot(r, r)
            },
        )
    };
    parallel::map_parts_with(parts, || (), update_part).iter().sum()
}

/// Calls `f` with every entry of `a` and the entry of `b` at the same place.
pub(crate) fn each_chunk<A: Send, B: Copy + Sync>(a: &mut [A], b: &[B], f: impl Fn(&mut A, B) + Sync) {
    parallel::for_chunks(a, CHUNK, |k, a| {
        let b = parallel::chunk(b, CHUNK, k);
        simd(
            #[inline(always)]
            || {
                for (a, b) in a.iter_mut().zip(b) {
                    f(a, *b);
                }
            },
        );
    });
}

/// The inner product, summed in an order that does not depend on the number of threads.
pub(crate) fn dot<V: Real>(a: &[f64], b: &[V], chunk: usize) -> f64 {
    let part = |k: usize| {
        let (a, b) = (parallel::chunk(a, chunk, k), parallel::chunk(b, chunk, k));
        simd(
            #[inline(always)]
            || lane_dot(a, b),
        )
    };
    parallel::map(a.len().div_ceil(chunk), part).iter().sum()
}

#[inline(always)]
fn lane_dot<V: Real>(a: &[f64], b: &[V]) -> f64 {
    let (mut lanes, whole) = ([0.0; 8], a.len() / 8 * 8);
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i].f64();
        }
    }
    let rest: f64 = a[whole..].iter().zip(&b[whole..]).map(|(a, b)| a * b.f64()).sum();
    lanes.iter().sum::<f64>() + rest
}
