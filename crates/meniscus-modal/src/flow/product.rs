//! Products of small dense matrices.

use meniscus_core::simd::simd;

/// Columns that are worked on together: rows are filled up with zeros to a multiple of it.
const WIDTH: usize = 8;
/// Rows that are worked on together.
const HEIGHT: usize = 4;

/// A matrix, row by row.
#[derive(Clone, Debug)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Zeros.
    pub fn new(rows: usize, columns: usize) -> Self {
        let stride = columns.next_multiple_of(WIDTH);
        Self { rows, columns, stride, values: vec![0.0; rows * stride] }
    }

    /// What `f` gives for each row and column.
    pub fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let mut matrix = Self::new(rows, columns);
        for row in 0..rows {
            for (column, value) in matrix.row_mut(row).iter_mut().enumerate() {
                *value = f(row, column);
            }
        }
        matrix
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.stride..][..self.columns]
    }

    /// A row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.stride..][..self.columns]
    }

    /// All rows with what they are filled up with, of matrices of the same size in the same places.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same, to be changed. What a row is filled up with is ignored, but takes time if it is no number.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The same with rows for columns.
    pub fn transposed(&self) -> Self {
        let mut transposed = Self::new(self.columns, self.rows);
        for row in 0..self.rows {
            for (column, value) in self.row(row).iter().enumerate() {
                transposed.values[column * transposed.stride + row] = *value;
            }
        }
        transposed
    }

    /// Becomes the product of two.
    pub fn set_to_product(&mut self, a: &Self, b: &Self) {
        debug_assert!(a.columns == b.rows && self.rows == a.rows && self.columns == b.columns);
        simd(
            #[inline(always)]
            || {
                let mut row = 0;
                while row + HEIGHT <= a.rows {
                    self.set_rows::<HEIGHT>(row, a, b);
                    row += HEIGHT;
                }
                while row < a.rows {
                    self.set_rows::<1>(row, a, b);
                    row += 1;
                }
            },
        );
    }

    /// Sets some rows, with sums that stay in registers.
    #[inline(always)]
    fn set_rows<const N: usize>(&mut self, row: usize, a: &Self, b: &Self) {
        let of_a: [&[f64]; N] = std::array::from_fn(|r| &a.values[(row + r) * a.stride..][..a.columns]);
        for column in (0..self.stride).step_by(WIDTH) {
            let mut sums = [[0.0; WIDTH]; N];
            for (k, of_b) in b.values.chunks_exact(b.stride).enumerate() {
                let of_b: &[f64; WIDTH] =
                    of_b[column..].first_chunk().expect("strides are multiples of the width");
                for (sums, of_a) in sums.iter_mut().zip(&of_a) {
                    let factor = of_a[k];
                    for (sum, value) in sums.iter_mut().zip(of_b) {
                        *sum += factor * value;
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                self.values[(row + r) * self.stride + column..][..WIDTH].copy_from_slice(sums);
            }
        }
    }
}

/// The inner product of two lists, in sums that run side by side.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; WIDTH];
    let (of_a, of_b) = (a.chunks_exact(WIDTH), b.chunks_exact(WIDTH));
    let rest: f64 = of_a.remainder().iter().zip(of_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in of_a.zip(of_b) {
        for lane in 0..WIDTH {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_sum_of_products() {
        for (n, k, l) in [(1, 1, 1), (3, 5, 7), (4, 8, 16), (13, 19, 29)] {
            let a = Matrix::from_fn(n, k, |i, j| (i * 7 + j * 3) as f64 % 5.0 - 2.0);
            let b = Matrix::from_fn(k, l, |i, j| (i * 11 + j * 2) as f64 % 7.0 - 3.0);
            let mut c = Matrix::new(n, l);
            c.set_to_product(&a, &b);
            for i in 0..n {
                for j in 0..l {
                    let expected: f64 = (0..k).map(|q| a.row(i)[q] * b.row(q)[j]).sum();
                    assert_eq!(c.row(i)[j], expected, "{n} {k} {l}: {i} {j}");
                }
            }
        }
    }
}
