//! Cubic B-splines through cell samples.
//!
//! A multilinear surface shows its cells in every reflection; a cubic spline has continuous curvature.
//! The coefficients are those of the quasi-interpolant `c = 2 f - B f`, with B the spline's own filter
//! `(1, 4, 1) / 6` along each axis: it reproduces parabolas, so drops and crests keep their size, which
//! the plain spline with `c = f` would shave off.

/// The weights of the four samples around a point at `f` (0 to 1) between the second and the third.
#[inline]
pub(crate) fn weights(f: f32) -> [f32; 4] {
    let g = 1.0 - f;
    let (f2, g2) = (f * f, g * g);
    [g2 * g * (1.0 / 6.0), 2.0 / 3.0 - f2 + 0.5 * f2 * f, 2.0 / 3.0 - g2 + 0.5 * g2 * g, f2 * f * (1.0 / 6.0)]
}

/// The derivatives of [`weights`].
#[inline]
pub(crate) fn slopes(f: f32) -> [f32; 4] {
    let g = 1.0 - f;
    [-0.5 * g * g, f * (1.5 * f - 2.0), g * (2.0 - 1.5 * g), 0.5 * f * f]
}

/// The sample that stands for one outside `0..count`: the domain mirrored in its walls, so that a surface
/// meets a wall at a right angle, as a level liquid does.
#[inline]
pub(crate) fn mirrored(index: i64, count: usize) -> i64 {
    let last = count as i64 - 1;
    let folded = if index < 0 { -1 - index } else { index };
    let folded = if folded > last { 2 * last + 1 - folded } else { folded };
    folded.clamp(0, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_slopes_are_their_derivatives() {
        for step in 0..=10 {
            let f = step as f32 / 10.0;
            assert!((weights(f).iter().sum::<f32>() - 1.0).abs() < 1e-6);
            let (low, high) = (weights(f - 1e-2), weights(f + 1e-2));
            for k in 0..4 {
                assert!((slopes(f)[k] - (high[k] - low[k]) / 2e-2).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn mirrors_fold_at_the_walls() {
        assert_eq!([-2, -1, 0, 4, 5, 6].map(|i| mirrored(i, 5)), [1, 0, 0, 4, 4, 3]);
        assert_eq!([-2, -1, 0, 1, 2].map(|i| mirrored(i, 1)), [0; 5]);
    }
}
