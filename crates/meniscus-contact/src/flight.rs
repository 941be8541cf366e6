//! Free rotation, with angular momentum kept exactly.

use meniscus_core::shape::Rotation;
use meniscus_core::vector::dot;

type Matrix = [[f64; 3]; 3];

/// The inertia of a body about its centre of mass, in its own frame.
pub struct Inertia {
    matrix: Matrix,
    inverse: Matrix,
}

impl Inertia {
    /// In 2D only the last entry counts. Nothing if the matrix is not symmetric and positive definite.
    pub fn new<const D: usize>(matrix: Matrix) -> Option<Self> {
        let matrix =
            if D == 2 { [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, matrix[2][2]]] } else { matrix };
        let largest = (0..3).map(|a| matrix[a][a]).fold(0.0, f64::max);
        let is_symmetric =
            (0..3).all(|i| (0..i).all(|j| (matrix[i][j] - matrix[j][i]).abs() <= 1e-9 * largest));
        let minors =
            [matrix[0][0], matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0], determinant(&matrix)];
        let is_positive = minors.iter().all(|minor| *minor > 0.0 && minor.is_finite());
        (is_symmetric && is_positive).then(|| Self { matrix, inverse: inverse(&matrix) })
    }

    /// The angular momentum of a spin.
    pub fn momentum<const D: usize>(&self, rotation: &Rotation<D>, spin: [f64; 3]) -> [f64; 3] {
        apply_rotated(rotation, &self.matrix, spin)
    }

    /// The spin of an angular momentum.
    pub fn spin<const D: usize>(&self, rotation: &Rotation<D>, momentum: [f64; 3]) -> [f64; 3] {
        apply_rotated(rotation, &self.inverse, momentum)
    }

    /// The spin halfway through a free step, which takes the rotation to its end with an error of third order:
    /// w = I(exp(w dt/2) R)^-1 L, with the momentum L from the start.
    pub fn mean_spin<const D: usize>(&self, rotation: &Rotation<D>, spin: [f64; 3], dt: f64) -> [f64; 3] {
        if D == 2 {
            return [0.0, 0.0, spin[2]];
        }
        let momentum = self.momentum(rotation, spin);
        let mut mean = spin;
        for _ in 0..12 {
            mean = self.spin(&rotation.turned(mean.map(|rate| 0.5 * dt * rate)), momentum);
        }
        mean
    }
}

/// R M R^T v.
fn apply_rotated<const D: usize>(rotation: &Rotation<D>, matrix: &Matrix, vector: [f64; 3]) -> [f64; 3] {
    if D == 2 {
        return [0.0, 0.0, matrix[2][2] * vector[2]];
    }
    let local = rotation.apply_inverse(std::array::from_fn(|a| vector[a]));
    let local: [f64; 3] = std::array::from_fn(|a| local[a]);
    let result = matrix.map(|row| dot(row, local));
    let result = rotation.apply(std::array::from_fn(|a| result[a]));
    std::array::from_fn(|a| result[a])
}

fn cofactor(m: &Matrix, row: usize, column: usize) -> f64 {
    let (r, s) = ((row + 1) % 3, (row + 2) % 3);
    let (c, d) = ((column + 1) % 3, (column + 2) % 3);
    m[r][c] * m[s][d] - m[r][d] * m[s][c]
}

fn determinant(m: &Matrix) -> f64 {
    (0..3).map(|column| m[0][column] * cofactor(m, 0, column)).sum()
}

fn inverse(m: &Matrix) -> Matrix {
    let determinant = determinant(m);
    std::array::from_fn(|row| std::array::from_fn(|column| cofactor(m, column, row) / determinant))
}
