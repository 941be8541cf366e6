//! The factor of a small dense matrix.

/// The factor of a symmetric positive semi-definite matrix, E = L L^T; what depends on earlier columns is left out.
#[derive(Default)]
pub(super) struct Cholesky {
    n: usize,
    /// By row, up to the diagonal.
    rows: Vec<Vec<f64>>,
}

/// What elimination leaves of a column that earlier ones contain, as a part of what it was and by column, is rounding below this. With 1e-17 rounding is taken
/// for a push (`random_operators_2d` in `tests/bounded.rs`); up to 1e-8 no test notices.
const DEPENDENT: f64 = 1e-13;

impl Cholesky {
    /// `sizes` are what the diagonal would be without cancellation.
    pub(super) fn new(matrix: Vec<f64>, sizes: &[f64]) -> Self {
        let n = sizes.len();
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut row = vec![0.0; i + 1];
            for j in 0..=i {
                let known: f64 = match rows.get(j) {
                    Some(other) => dot(&row[..j], other),
                    None => dot(&row[..j], &row[..j]),
                };
                let left = matrix[i * n + j] - known;
                row[j] = match rows.get(j) {
                    Some(other) if other[j] > 0.0 => left / other[j],
                    Some(_) => 0.0,
                    None if left > DEPENDENT * n as f64 * sizes[i] => left.sqrt(),
                    None => 0.0,
                };
            }
            rows.push(row);
        }
        Self { n, rows }
    }

    /// L^-1 b.
    pub(super) fn solve_half(&self, mut b: Vec<f64>) -> Vec<f64> {
        for i in 0..self.n {
            let row = &self.rows[i];
            let known = dot(&row[..i], &b);
            b[i] = if row[i] > 0.0 { (b[i] - known) / row[i] } else { 0.0 };
        }
        b
    }

    /// E^-1 b.
    pub(super) fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut b = self.solve_half(b);
        for i in (0..self.n).rev() {
            let row = &self.rows[i];
            b[i] = if row[i] > 0.0 { b[i] / row[i] } else { 0.0 };
            let value = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * value);
        }
        b
    }
}

/// The sum of products, as far as both reach, in lanes that compilers can make vectors of.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut lanes = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest = len - len % 8;
    lanes.iter().sum::<f64>() + a[rest..].iter().zip(&b[rest..]).map(|(a, b)| a * b).sum::<f64>()
}
