//! Rigid motions, and the small matrices that belong to them.

use meniscus_core::grid::Grid;
use meniscus_core::vector::sub;

/// The rigid motions, and the faces of a cell, in three dimensions; in two a part of this is not used.
pub const SIZE: usize = 6;

/// A rigid velocity: that of the centre, in m/s, then the rotations in each pair of axes, x to y, x to z and y to z, in radians a
/// second. In 2D there is one, and the rest is 0.
pub type Twist = [f64; SIZE];

/// A matrix on rigid velocities, or on the faces of a cell.
pub type Matrix = [[f64; SIZE]; SIZE];

/// The pairs of axes that rotations and shear rates mix; in 2D the first of them.
pub const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// The pairs of axes that there are.
pub const fn pair_count<const D: usize>() -> usize {
    D * (D - 1) / 2
}

/// The rigid motions that there are.
pub const fn motion_count<const D: usize>() -> usize {
    D + pair_count::<D>()
}

/// The velocity along `axis` at `x`, seen from the centre, of each rigid motion: the translations, then the rotations in
/// each pair of axes.
#[inline]
pub fn motions<const D: usize>(axis: usize, x: [f64; D]) -> Twist {
    let mut motions = [0.0; SIZE];
    motions[axis] = 1.0;
    for (pair, &(a, b)) in PAIRS.iter().enumerate().take(pair_count::<D>()) {
        if axis == a {
            motions[D + pair] = -x[b];
        } else if axis == b {
            motions[D + pair] = x[a];
        }
    }
    motions
}

/// The velocity along the axis of the lower face of a cell of each rigid motion about `centre`, at the centre of the face.
pub fn motions_at<const D: usize>(grid: &Grid<D>, centre: [f64; D], axis: usize, cell: [i64; D]) -> Twist {
    motions(axis, sub(grid.face_centre(axis, cell), centre))
}

/// The sums of twists with the same key, by key.
pub fn summed(mut twists: Vec<(usize, Twist)>) -> Vec<(usize, Twist)> {
    twists.sort_by_key(|&(key, _)| key);
    let sum = |run: &[(usize, Twist)]| {
        let total = |motion: usize| run.iter().map(|(_, twist)| twist[motion]).sum();
        (run[0].0, std::array::from_fn(total))
    };
    twists.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}

/// The axis of a rotation, as long as its rate in radians a second. In 2D that is the z axis.
pub fn rotation_vector<const D: usize>(velocity: &Twist) -> [f64; 3] {
    let rates = &velocity[D..];
    if D == 2 { [0.0, 0.0, rates[0]] } else { [rates[2], -rates[1], rates[0]] }
}

/// The velocity of a centre, and an axis of rotation as long as its rate, as one.
pub fn twist<const D: usize>(velocity: [f64; D], rotation: [f64; 3]) -> Twist {
    let mut twist = [0.0; SIZE];
    twist[..D].copy_from_slice(&velocity);
    let [x, y, z] = rotation;
    if D == 2 {
        twist[D] = z;
    } else {
        twist[D..].copy_from_slice(&[z, -y, x]);
    }
    twist
}

/// The mass matrix of a body about its centre of mass, of a mass and a tensor of inertia.
pub fn mass_matrix<const D: usize>(mass: f64, inertia: [[f64; 3]; 3]) -> Matrix {
    let mut matrix = [[0.0; SIZE]; SIZE];
    (0..D).for_each(|a| matrix[a][a] = mass);
    // By the rotation that each pair of axes makes.
    let axis: [[f64; 3]; 3] = std::array::from_fn(|pair| {
        let mut unit = [0.0; SIZE];
        unit[D + pair.min(pair_count::<D>() - 1)] = 1.0;
        rotation_vector::<D>(&unit)
    });
    for (i, j) in (0..pair_count::<D>()).flat_map(|i| (0..pair_count::<D>()).map(move |j| (i, j))) {
        let along = |b: usize| (0..3).map(|a| axis[i][a] * inertia[a][b]).sum::<f64>();
        matrix[D + i][D + j] = (0..3).map(|b| along(b) * axis[j][b]).sum();
    }
    matrix
}

/// The inner product.
#[inline]
pub fn dot(a: &Twist, b: &Twist) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sum += b`.
pub fn add(sum: &mut Twist, b: &Twist) {
    sum.iter_mut().zip(b).for_each(|(sum, b)| *sum += b);
}

/// The product of a matrix and a vector.
pub fn product(matrix: &Matrix, vector: &Twist) -> Twist {
    std::array::from_fn(|row| dot(&matrix[row], vector))
}

/// The inverse of a symmetric positive semi-definite matrix on what it determines: rows that are zero, or that earlier ones contain, are left
/// out.
pub fn inverse(mut matrix: Matrix) -> Matrix {
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
