//! Shape of a tet: volume and quality, with the gradient that smoothing climbs.

use meniscus_core::vector::{cross, dot, sub};

/// The signed volume.
#[inline]
pub fn volume([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    dot(cross(sub(b, a), sub(c, a)), sub(d, a)) / 6.0
}

/// `6 sqrt(2) V / l_rms³` (Parthasarathy and others 1994): 1 for the regular tet, 0 for a flat one, negative
/// for one turned over.
#[inline]
pub fn quality(points: [[f64; 3]; 4]) -> f64 {
    let mean_square = mean_square_edge(points);
    NORMALISATION * volume(points) / (mean_square * mean_square.sqrt())
}

/// The quality and its gradient in the position of the first point.
pub fn quality_gradient(points: [[f64; 3]; 4]) -> (f64, [f64; 3]) {
    let [a, b, c, d] = points;
    let mean_square = mean_square_edge(points);
    let scale = NORMALISATION / (mean_square * mean_square.sqrt());
    let quality = scale * volume(points);
    let area = cross(sub(d, b), sub(c, b));
    let gradient = std::array::from_fn(|i| {
        let edges = 3.0 * a[i] - b[i] - c[i] - d[i];
        scale * area[i] / 6.0 - quality * 0.5 * edges / mean_square
    });
    (quality, gradient)
}

const NORMALISATION: f64 = 6.0 * std::f64::consts::SQRT_2;

#[inline]
fn mean_square_edge([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    let edges = [sub(b, a), sub(c, a), sub(d, a), sub(c, b), sub(d, b), sub(d, c)];
    edges.iter().map(|&e| dot(e, e)).sum::<f64>() / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGULAR: [[f64; 3]; 4] = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];

    #[test]
    fn the_regular_tet_has_quality_one() {
        assert!((quality(REGULAR).abs() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let points = [[0.1, 0.2, 0.9], [0.0, 0.1, 0.0], [1.1, 0.0, 0.2], [0.3, 1.2, 0.1]];
        let (value, gradient) = quality_gradient(points);
        assert_eq!(value, quality(points));
        for axis in 0..3 {
            let step = 1e-6;
            let at = |s: f64| {
                let mut moved = points;
                moved[0][axis] += s;
                quality(moved)
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert!((difference - gradient[axis]).abs() < 1e-8, "{difference} {}", gradient[axis]);
        }
    }
}
