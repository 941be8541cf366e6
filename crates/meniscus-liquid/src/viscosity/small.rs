//! Small matrices.

/// The faces of a cell, and the rigid motions, in three dimensions; in two a part of this is not used.
pub(super) const SIZE: usize = 6;

pub(super) type Matrix = [[f64; SIZE]; SIZE];

/// The inverse of a symmetric positive semi-definite matrix on what it determines: rows that are zero, or that earlier ones contain, are left
/// out.
pub(super) fn inverse(mut matrix: Matrix) -> Matrix {
    let diagonal: [f64; SIZE] = std::array::from_fn(|i| matrix[i][i]);
    let mut inverse = [[0.0; SIZE]; SIZE];
    let mut kept = [false; SIZE];
    for i in 0..SIZE {
        let pivot = matrix[i][i];
        // What elimination leaves of a row that the earlier ones contain is rounding.
        kept[i] = pivot > 1e-9 * diagonal[i];
        inverse[i][i] = 1.0;
        if !kept[i] {
            continue;
        }
        for row in (0..SIZE).filter(|&row| row != i) {
            let factor = matrix[row][i] / pivot;
            for c in 0..SIZE {
                matrix[row][c] -= factor * matrix[i][c];
                inverse[row][c] -= factor * inverse[i][c];
            }
        }
        for c in 0..SIZE {
            matrix[i][c] /= pivot;
            inverse[i][c] /= pivot;
        }
    }
    for i in 0..SIZE {
        for j in 0..SIZE {
            if !(kept[i] && kept[j]) {
                inverse[i][j] = 0.0;
            }
        }
    }
    symmetric(&inverse)
}

/// Rounding must not make a preconditioner unsymmetric.
fn symmetric(matrix: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (matrix[i][j] + matrix[j][i])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_matrix_is_inverted() {
        let mut matrix = [[0.0; SIZE]; SIZE];
        // The last row is the sum of the first two, the others are zero.
        (matrix[0][0], matrix[1][1], matrix[5][5]) = (2.0, 4.0, 6.0);
        (matrix[0][5], matrix[5][0], matrix[1][5], matrix[5][1]) = (2.0, 2.0, 4.0, 4.0);
        let inverse = inverse(matrix);
        let mut expected = [[0.0; SIZE]; SIZE];
        (expected[0][0], expected[1][1]) = (0.5, 0.25);
        assert_eq!(inverse, expected);
    }
}
