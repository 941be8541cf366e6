//! Systems of equations that are nearly those of each body alone.

use faer::linalg::solvers::Solve;
use faer::{Col, Mat};

use crate::flow::dot;

/// What a solve took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Products with the matrix, but for the first.
    pub iterations: usize,
    /// The residual, as a part of the right-hand side.
    pub residual: f64,
}

/// Iterations that are soon done: systems that take more are solved as a whole.
const MOST_ITERATIONS: usize = 50;
/// Nor are larger systems solved so.
const LARGEST: usize = 4000;

/// The right-hand side counts as so much of the product with what `x` was, at least.
const LEAST: f64 = 1e-6;

/// Solves `matrix x = b` by iterations, and where these do not converge, as they may with outlines that nearly touch, by elimination.
pub fn solve(
    matrix: impl Fn(&[f64], &mut [f64]),
    precondition: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
) -> Solved {
    if b.iter().all(|b| *b == 0.0) {
        // All is at rest. What is left of `x` would be measured by nothing.
        x.fill(0.0);
        return Solved { iterations: 0, residual: 0.0 };
    }
    let n = b.len();
    let mut image = vec![0.0; n];
    matrix(x, &mut image);
    // What comes to rest leaves next to nothing to measure by but what there was.
    let size = norm(b).max(LEAST * norm(&image));
    let solved = iterate(&matrix, precondition, b, x, image, tolerance * size);
    let solved = Solved { residual: solved.residual / size, ..solved };
    if solved.residual <= tolerance || n > LARGEST {
        return solved;
    }
    let (mut unit, mut image) = (vec![0.0; n], vec![0.0; n]);
    let mut whole = Mat::zeros(n, n);
    for column in 0..n {
        unit[column] = 1.0;
        matrix(&unit, &mut image);
        unit[column] = 0.0;
        image.iter().enumerate().for_each(|(row, value)| whole[(row, column)] = *value);
    }
    let factors = whole.partial_piv_lu();
    // Once more for what rounding leaves.
    for _ in 0..2 {
        matrix(x, &mut image);
        let change = factors.solve(&Col::from_fn(n, |row| b[row] - image[row]));
        x.iter_mut().enumerate().for_each(|(row, x)| *x += change[row]);
    }
    matrix(x, &mut image);
    let left: Vec<f64> = b.iter().zip(&image).map(|(b, image)| b - image).collect();
    Solved { residual: norm(&left) / size, ..solved }
}

/// Solves `matrix x = b` by the method of generalised minimal residuals, preconditioned from the right, from `x` on. It begins with a step by the preconditioner alone: where
/// `matrix` and the inverse of `precondition` have equal rows, these equations hold to rounding from there on. `image` is the product with `x`; the tolerance and the residual are no
/// parts of anything.
fn iterate(
    matrix: &impl Fn(&[f64], &mut [f64]),
    precondition: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    mut image: Vec<f64>,
    tolerance: f64,
) -> Solved {
    let mut scratch = vec![0.0; b.len()];
    let residual: Vec<f64> = b.iter().zip(&image).map(|(b, image)| b - image).collect();
    precondition(&residual, &mut scratch);
    x.iter_mut().zip(&scratch).for_each(|(to, change)| *to += change);
    matrix(x, &mut image);
    let mut basis: Vec<Vec<f64>> = vec![b.iter().zip(&image).map(|(b, image)| b - image).collect()];
    let start = norm(&basis[0]);
    if start <= tolerance {
        return Solved { iterations: 1, residual: start };
    }
    basis[0].iter_mut().for_each(|v| *v /= start);
    // The triangle that is left of the Hessenberg matrix after rotations, column by column, and the rotated right-hand side.
    let (mut columns, mut rotations, mut rhs): (Vec<Vec<f64>>, Vec<[f64; 2]>, Vec<f64>) =
        (vec![], vec![], vec![start]);
    while columns.len() < MOST_ITERATIONS && rhs[columns.len()].abs() > tolerance {
        precondition(&basis[columns.len()], &mut scratch);
        matrix(&scratch, &mut image);
        let mut column: Vec<f64> = Vec::with_capacity(basis.len() + 1);
        for vector in &basis {
            let part = dot(&image, vector);
            image.iter_mut().zip(vector).for_each(|(to, v)| *to -= part * v);
            column.push(part);
        }
        let rest = norm(&image);
        for (k, [cos, sin]) in rotations.iter().enumerate() {
            (column[k], column[k + 1]) =
                (cos * column[k] + sin * column[k + 1], cos * column[k + 1] - sin * column[k]);
        }
        let last = column.len() - 1;
        let size = column[last].hypot(rest);
        if size == 0.0 {
            break;
        }
        let rotation = [column[last] / size, rest / size];
        column[last] = size;
        let value = rhs[last];
        rhs[last] = rotation[0] * value;
        rhs.push(-rotation[1] * value);
        columns.push(column);
        rotations.push(rotation);
        basis.push(image.iter().map(|v| v / rest.max(f64::MIN_POSITIVE)).collect());
    }
    let mut parts = rhs[..columns.len()].to_vec();
    for k in (0..columns.len()).rev() {
        parts[k] /= columns[k][k];
        let part = parts[k];
        for (to, entry) in parts[..k].iter_mut().zip(&columns[k]) {
            *to -= part * entry;
        }
    }
    image.fill(0.0);
    for (part, vector) in parts.iter().zip(&basis) {
        image.iter_mut().zip(vector).for_each(|(to, v)| *to += part * v);
    }
    precondition(&image, &mut scratch);
    x.iter_mut().zip(&scratch).for_each(|(to, change)| *to += change);
    Solved { iterations: columns.len() + 1, residual: rhs[columns.len()].abs() }
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x is twice the right-hand side but for what the others make of it.
    fn product(x: &[f64], product: &mut [f64]) {
        let sum: f64 = x.iter().sum();
        product.iter_mut().zip(x).for_each(|(to, x)| *to = 0.5 * x + 0.01 * sum);
    }

    #[test]
    fn what_comes_to_rest_is_solved_for() {
        let half = |x: &[f64], to: &mut [f64]| to.iter_mut().zip(x).for_each(|(to, x)| *to = 2.0 * x);
        for b in [[0.0; 3], [1e-300, 0.0, 0.0], [1e-30, 2e-30, 0.0]] {
            let mut x = [3.0, -1.0, 0.7];
            let solved = solve(product, half, &b, &mut x, 1e-7);
            assert!(solved.residual <= 1e-7 && x.iter().all(|x| x.abs() < 1e-12), "{solved:?} {x:?}");
        }
        let (mut x, mut image) = ([3.0, -1.0, 0.7], [0.0; 3]);
        assert!(solve(product, half, &[1.0, 2.0, 3.0], &mut x, 1e-12).residual <= 1e-12);
        product(&x, &mut image);
        image.iter().zip([1.0, 2.0, 3.0]).for_each(|(found, b)| assert!((found - b).abs() < 1e-11));
    }
}
