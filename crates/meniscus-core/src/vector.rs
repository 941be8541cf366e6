//! Small vectors as plain arrays `[T; D]`.

/// `a + s b`.
#[inline]
pub fn add_scaled<const D: usize>(a: [f64; D], s: f64, b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| a[i] + s * b[i])
}

/// `a - b`.
#[inline]
pub fn sub<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| a[i] - b[i])
}

/// The inner product.
#[inline]
pub fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).map(|i| a[i] * b[i]).sum()
}

/// The vector product.
#[inline]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The Euclidean length.
#[inline]
pub fn norm<const D: usize>(a: [f64; D]) -> f64 {
    dot(a, a).sqrt()
}

/// The direction of a vector; nothing for none.
#[inline]
pub fn unit<const D: usize>(a: [f64; D]) -> [f64; D] {
    let length = norm(a).max(f64::MIN_POSITIVE);
    a.map(|a| a / length)
}
