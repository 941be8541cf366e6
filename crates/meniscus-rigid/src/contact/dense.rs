//! Small dense matrices, row by row.

/// The sum of products, as far as both reach.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A square matrix times a vector.
pub(super) fn multiply(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len().max(1)).map(|row| dot(row, vector)).collect()
}

/// The lower factor of a symmetric positive definite matrix, in its place.
pub(super) fn cholesky(a: &mut [f64], n: usize) {
    for i in 0..n {
        let (above, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..j * n + j + 1];
            let known = dot(&row[..j], other);
            row[j] = (row[j] - known) / other[j];
        }
        let known = dot(&row[..i], &row[..i]);
        row[i] = (row[i] - known).max(1e-14 * row[i].abs()).max(f64::MIN_POSITIVE).sqrt();
    }
}

/// Solves L L^T x = b.
pub(super) fn solve_factored(l: &[f64], n: usize, b: &mut [f64]) {
    solve_lower(l, n, b);
    solve_upper(l, n, b);
}

/// Solves L x = b.
pub(super) fn solve_lower(l: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let known = dot(&l[i * n..i * n + i], b);
        b[i] = (b[i] - known) / l[i * n + i];
    }
}

/// Solves L^T x = b.
pub(super) fn solve_upper(l: &[f64], n: usize, b: &mut [f64]) {
    for i in (0..n).rev() {
        b[i] /= l[i * n + i];
        let value = b[i];
        b[..i].iter_mut().zip(&l[i * n..i * n + i]).for_each(|(b, l)| *b -= l * value);
    }
}
