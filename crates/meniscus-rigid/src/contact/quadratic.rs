//! Small quadratic problems with bounds: min ½ x·A x + b·x with lower <= x <= upper, A dense, symmetric and positive definite.

use super::dense::{cholesky, dot, solve_factored};

/// Where an unknown is at the solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Lower,
    Between,
    Upper,
}

/// Rounds of exchange before only one unknown at a time changes its place, and in all.
const PATIENCE: usize = 8;
const ROUNDS: usize = 400;

/// The solution, and where it is; `places` holds a guess and receives the latter.
///
/// Block principal pivoting (Júdice and Pires 1994): all unknowns that are at the wrong place change it at once, as long as their number falls, and else the last of
/// them alone, which comes to an end for any positive definite matrix.
pub(super) fn minimise(a: &[f64], b: &[f64], bounds: &[[f64; 2]], places: &mut [Place]) -> Vec<f64> {
    let n = b.len();
    let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
    let mut x = vec![0.0; n];
    for _ in 0..ROUNDS {
        solve_between(a, b, bounds, places, &mut x);
        let scale = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let size = b.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        let (least, slack) = (1e-10 * scale, 1e-10 * size);
        let mut wrong: Vec<(usize, Place)> = Vec::new();
        for i in 0..n {
            let [lower, upper] = bounds[i];
            let slope = || b[i] + dot(&a[i * n..(i + 1) * n], &x);
            let next = match places[i] {
                Place::Between if x[i] < lower - least => Place::Lower,
                Place::Between if x[i] > upper + least => Place::Upper,
                Place::Lower if lower < upper && slope() < -slack => Place::Between,
                Place::Upper if lower < upper && slope() > slack => Place::Between,
                place => place,
            };
            if next != places[i] {
                wrong.push((i, next));
            }
        }
        if wrong.is_empty() {
            break;
        }
        if wrong.len() < fewest {
            (fewest, patience) = (wrong.len(), PATIENCE);
        } else if patience > 0 {
            patience -= 1;
        } else {
            wrong.drain(..wrong.len() - 1);
        }
        wrong.into_iter().for_each(|(i, next)| places[i] = next);
    }
    x
}

/// x at its bounds where it is there, and the minimum of all else.
fn solve_between(a: &[f64], b: &[f64], bounds: &[[f64; 2]], places: &[Place], x: &mut [f64]) {
    let n = b.len();
    for (x, (place, [lower, upper])) in x.iter_mut().zip(places.iter().zip(bounds)) {
        *x = match place {
            Place::Lower => *lower,
            Place::Upper => *upper,
            Place::Between => 0.0,
        };
    }
    let free: Vec<usize> = (0..n).filter(|&i| places[i] == Place::Between).collect();
    let m = free.len();
    let mut rows = Vec::with_capacity(m * m);
    let mut rhs = Vec::with_capacity(m);
    for &i in &free {
        let row = &a[i * n..(i + 1) * n];
        rows.extend(free.iter().map(|&j| row[j]));
        rhs.push(-b[i] - dot(row, x));
    }
    cholesky(&mut rows, m);
    solve_factored(&rows, m, &mut rhs);
    free.iter().zip(rhs).for_each(|(&i, value)| x[i] = value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64) -> f64 {
        let z = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// At the solution the slope is 0 between the bounds, and points outwards at them, for any guess.
    #[test]
    fn the_conditions_of_the_minimum_hold() {
        for seed in 0..200 {
            let n = 1 + seed as usize % 12;
            let factor: Vec<f64> = (0..n * n).map(|i| noise(seed * 1000 + i as u64)).collect();
            let entry = |i: usize, j: usize| -> f64 {
                let square: f64 = (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                square + if i == j { 1e-3 } else { 0.0 }
            };
            let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let b: Vec<f64> = (0..n).map(|i| noise(seed * 77 + i as u64 + 500)).collect();
            let bounds: Vec<[f64; 2]> = (0..n)
                .map(|i| if i % 3 == 0 { [0.0, f64::INFINITY] } else { [-0.2 * (i % 3) as f64, 0.3] })
                .collect();
            let guess = [Place::Lower, Place::Between];
            let mut places: Vec<Place> = (0..n).map(|i| guess[i % 2]).collect();
            let x = minimise(&a, &b, &bounds, &mut places);
            for i in 0..n {
                let slope: f64 = b[i] + (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>();
                assert!(x[i] >= bounds[i][0] - 1e-9 && x[i] <= bounds[i][1] + 1e-9, "{seed}: {x:?}");
                let moved = (x[i] - slope).clamp(bounds[i][0], bounds[i][1]);
                assert!((moved - x[i]).abs() < 1e-7, "{seed}, {i}: slope {slope} at {}", x[i]);
            }
        }
    }
}
