//! The rate of advection in closed form, mode by mode: what the transforms are held to.

use std::collections::BTreeMap;

use super::sines::wave_numbers;

/// What eigenmode `i`, by its velocity, does to the vorticity of eigenmode `j` in a second, both with a coefficient of one: by half waves, the coefficients of -u·∇ω. Products of
/// sines and cosines are sums of those of sums and differences.
pub fn products(size: [f64; 2], i: [usize; 2], j: [usize; 2]) -> BTreeMap<[usize; 2], f64> {
    let ([a, b], [c, d]) = (wave_numbers(size, i), wave_numbers(size, j));
    let (difference, sum) = (a * d - b * c, a * d + b * c);
    let signed = |half_waves: [usize; 2]| half_waves.map(|k| k as i64);
    let ([p, q], [r, s]) = (signed(i), signed(j));
    let terms = [
        ([p + r, q + s], difference),
        ([p + r, q - s], sum),
        ([p - r, q + s], -sum),
        ([p - r, q - s], -difference),
    ];
    let mut coefficients = BTreeMap::new();
    for (wave, value) in terms {
        // Sines are odd.
        let sign = wave.iter().map(|k| k.signum()).product::<i64>() as f64;
        if sign != 0.0 && value != 0.0 {
            let half_waves = wave.map(|k| k.unsigned_abs() as usize);
            *coefficients.entry(half_waves).or_insert(0.0) += sign * value / (4.0 * (a * a + b * b));
        }
    }
    coefficients
}

/// Factors by (result, one, other).
pub type Tensor = BTreeMap<([usize; 2], [usize; 2], [usize; 2]), f64>;

/// All products of the eigenmodes up to `most` half waves that are not zero and have no more half waves, by (result, one, other), the two in order.
pub fn tensor(size: [f64; 2], most: usize) -> Tensor {
    let modes: Vec<[usize; 2]> = (1..=most).flat_map(|k| (1..=most).map(move |l| [k, l])).collect();
    let mut tensor = BTreeMap::new();
    for &i in &modes {
        for &j in &modes {
            for (to, value) in products(size, i, j) {
                if to.iter().all(|&k| k <= most) {
                    *tensor.entry((to, i.min(j), i.max(j))).or_insert(0.0) += value;
                }
            }
        }
    }
    tensor.retain(|_, value: &mut f64| value.abs() > 1e-14);
    tensor
}
