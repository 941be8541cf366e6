//! Fits of signals.

/// The parameters, from `start`, at which `misfit` is least in reach of steps that shrink from `step`.
pub fn descend<const N: usize>(start: [f64; N], mut step: f64, misfit: impl Fn([f64; N]) -> f64) -> [f64; N] {
    let (mut best, mut least) = (start, misfit(start));
    while step > 1e-7 {
        let mut found = false;
        for k in 0..2 * N {
            let mut next = best;
            next[k / 2] += if k % 2 == 0 { step } else { -step };
            let size = misfit(next);
            if size < least {
                (best, least, found) = (next, size, true);
            }
        }
        if !found {
            step *= 0.5;
        }
    }
    best
}

/// Frequency and damping of the damped cosine, with an offset, that is nearest to samples (time, value).
pub fn oscillation(samples: &[(f64, f64)], frequency: f64) -> [f64; 2] {
    descend([frequency, 0.02 * frequency], 0.05 * frequency, |[w, d]| {
        let basis = |t: f64| [(-d * t).exp() * (w * t).cos(), (-d * t).exp() * (w * t).sin(), 1.0];
        let matrix = faer::Mat::from_fn(samples.len(), 3, |i, j| basis(samples[i].0)[j]);
        let right = faer::Mat::from_fn(samples.len(), 1, |i, _| samples[i].1);
        let weights = faer::linalg::solvers::SolveLstsq::solve_lstsq(&matrix.qr(), &right);
        (matrix * weights - right).norm_l2()
    })
}

#[test]
fn a_damped_cosine_is_found_again() {
    let signal = |t: f64| 0.3 * (-0.05 * t).exp() * (2.7 * t + 0.1).cos() - 0.01;
    let samples: Vec<_> = (0..30).map(|k| 0.1 * f64::from(k)).map(|t| (t, signal(t))).collect();
    let [frequency, damping] = oscillation(&samples, 2.5);
    assert!((frequency - 2.7).abs() < 1e-5 && (damping - 0.05).abs() < 1e-5);
}
