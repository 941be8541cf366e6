//! Rotations and rigid motions.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ShapeError;
use super::error::{require_finite, unit};
use crate::serde_array::array;
use crate::vector::{add_scaled, dot, norm, sub};

/// A rotation about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation<const D: usize> {
    matrix: [[f64; D]; D],
}

impl Rotation<2> {
    /// The rotation by an angle in radians, counter-clockwise.
    pub fn from_angle(angle: f64) -> Result<Self, ShapeError> {
        require_finite("rotation", "the angle", &[angle])?;
        let (sin, cos) = angle.sin_cos();
        Ok(Self { matrix: [[cos, -sin], [sin, cos]] })
    }
}

impl Rotation<3> {
    /// The rotation about `axis` (of any length but zero) by an angle in radians, by the right-hand rule.
    pub fn from_axis_angle(axis: [f64; 3], angle: f64) -> Result<Self, ShapeError> {
        require_finite("rotation", "the axis", &axis)?;
        require_finite("rotation", "the angle", &[angle])?;
        let (axis, _) = unit("rotation", "the axis", axis)?;
        let (sin, cos) = (0.5 * angle).sin_cos();
        Self::from_quaternion([sin * axis[0], sin * axis[1], sin * axis[2], cos])
    }

    /// The rotation of the quaternion `[x, y, z, w]`, which need not be normalised.
    pub fn from_quaternion(quaternion: [f64; 4]) -> Result<Self, ShapeError> {
        require_finite("rotation", "the quaternion", &quaternion)?;
        let ([x, y, z, w], _) = unit("rotation", "the quaternion", quaternion)?;
        let matrix = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ];
        Ok(Self { matrix })
    }
}

impl<const D: usize> Rotation<D> {
    /// No rotation.
    pub const fn identity() -> Self {
        let mut matrix = [[0.0; D]; D];
        let mut axis = 0;
        while axis < D {
            matrix[axis][axis] = 1.0;
            axis += 1;
        }
        Self { matrix }
    }

    /// This rotation followed by one about `turn`, by its length in radians. In 2D only its last component counts.
    pub fn turned(&self, turn: [f64; 3]) -> Self {
        let turn = if D == 2 { [0.0, 0.0, turn[2]] } else { turn };
        let angle = norm(turn);
        if angle == 0.0 {
            return *self;
        }
        let after = Rotation::<3>::from_axis_angle(turn, angle).unwrap_or(Rotation::identity());
        let product = |row: usize, column: usize| {
            (0..D).map(|k| after.matrix[row][k] * self.matrix[k][column]).sum::<f64>()
        };
        let turned = std::array::from_fn(|row| std::array::from_fn(|column| product(row, column)));
        Self { matrix: orthonormal(turned) }
    }

    /// The unit quaternion `[x, y, z, w]` of this rotation, with `w >= 0`; in 2D it is about the z-axis.
    pub fn to_quaternion(&self) -> [f64; 4] {
        let m = |row: usize, column: usize| {
            if row < D && column < D { self.matrix[row][column] } else { f64::from(u8::from(row == column)) }
        };
        // Row k holds the products 4 q_k q_j of the quaternion's components: the longest row loses no digits
        // (Shepperd 1978).
        let products = [
            [1.0 + m(0, 0) - m(1, 1) - m(2, 2), m(0, 1) + m(1, 0), m(0, 2) + m(2, 0), m(2, 1) - m(1, 2)],
            [m(0, 1) + m(1, 0), 1.0 - m(0, 0) + m(1, 1) - m(2, 2), m(1, 2) + m(2, 1), m(0, 2) - m(2, 0)],
            [m(0, 2) + m(2, 0), m(1, 2) + m(2, 1), 1.0 - m(0, 0) - m(1, 1) + m(2, 2), m(1, 0) - m(0, 1)],
            [m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1), 1.0 + m(0, 0) + m(1, 1) + m(2, 2)],
        ];
        let longest = (0..3).fold(3, |best, k| if products[k][k] > products[best][best] { k } else { best });
        let row = products[longest];
        let length = norm(row).copysign(row[3]);
        row.map(|x| x / length)
    }

    /// The orthogonal matrix, row by row.
    pub fn matrix(&self) -> &[[f64; D]; D] {
        &self.matrix
    }

    /// The rotated vector.
    #[inline]
    pub fn apply(&self, vector: [f64; D]) -> [f64; D] {
        self.matrix.map(|row| dot(row, vector))
    }

    /// The vector that [`Rotation::apply`] takes to `vector`.
    #[inline]
    pub fn apply_inverse(&self, vector: [f64; D]) -> [f64; D] {
        std::array::from_fn(|column| (0..D).map(|row| self.matrix[row][column] * vector[row]).sum())
    }
}

fn transposed<const D: usize>(matrix: [[f64; D]; D]) -> [[f64; D]; D] {
    std::array::from_fn(|row| std::array::from_fn(|column| matrix[column][row]))
}

/// The rows at right angles and of length one again, after rounding.
fn orthonormal<const D: usize>(mut rows: [[f64; D]; D]) -> [[f64; D]; D] {
    for row in 0..D {
        for earlier in 0..row {
            let overlap = dot(rows[row], rows[earlier]);
            rows[row] = add_scaled(rows[row], -overlap, rows[earlier]);
        }
        let length = norm(rows[row]);
        rows[row] = rows[row].map(|x| x / length);
    }
    rows
}

/// A row of the matrix of a stored rotation.
#[derive(Serialize, Deserialize)]
struct Row<const D: usize>(#[serde(with = "array")] [f64; D]);

impl<const D: usize> Serialize for Rotation<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        array::serialize(&self.matrix.map(Row), serializer)
    }
}

impl<'de, const D: usize> Deserialize<'de> for Rotation<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let rows: [Row<D>; D] = array::deserialize(deserializer)?;
        let rotation = Self { matrix: rows.map(|row| row.0) };
        if rotation.is_orthogonal() {
            Ok(rotation)
        } else {
            Err(serde::de::Error::custom(format!("{:?} is not a rotation", rotation.matrix)))
        }
    }
}

impl<const D: usize> Rotation<D> {
    /// Whether the rows are unit vectors at right angles, to far more than rounding.
    fn is_orthogonal(&self) -> bool {
        (0..D).all(|i| {
            (0..D).all(|j| {
                let expected = if i == j { 1.0 } else { 0.0 };
                (dot(self.matrix[i], self.matrix[j]) - expected).abs() < 1e-6
            })
        })
    }
}

/// A rotation about the origin followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidTransform<const D: usize> {
    /// Applied first.
    pub rotation: Rotation<D>,
    /// Applied second: where the origin goes, in metres.
    #[serde(with = "array")]
    pub translation: [f64; D],
}

impl<const D: usize> RigidTransform<D> {
    /// No motion.
    pub const IDENTITY: Self = Self { rotation: Rotation::identity(), translation: [0.0; D] };

    /// The motion that `first` and then this one make together.
    pub fn after(&self, first: &Self) -> Self {
        let columns = transposed(first.rotation.matrix).map(|column| self.rotation.apply(column));
        let rotation = Rotation { matrix: orthonormal(transposed(columns)) };
        Self { rotation, translation: self.apply(first.translation) }
    }

    /// Where `point` goes.
    #[inline]
    pub fn apply(&self, point: [f64; D]) -> [f64; D] {
        let rotated = self.rotation.apply(point);
        std::array::from_fn(|a| rotated[a] + self.translation[a])
    }

    /// The point that goes to `point`.
    #[inline]
    pub fn apply_inverse(&self, point: [f64; D]) -> [f64; D] {
        self.rotation.apply_inverse(sub(point, self.translation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_add_up() {
        let mut rotation = Rotation::<3>::from_axis_angle([1.0, 2.0, 3.0], 0.7).unwrap();
        for _ in 0..1000 {
            rotation = rotation.turned([0.001, 0.002, 0.003]);
        }
        let angle = 0.7 + 14.0_f64.sqrt();
        let expected = Rotation::<3>::from_axis_angle([1.0, 2.0, 3.0], angle).unwrap();
        let point = [0.3, -0.4, 0.9];
        let (found, expected) = (rotation.apply(point), expected.apply(point));
        assert!(norm(sub(found, expected)) < 1e-12, "{found:?} {expected:?}");
        let flat = Rotation::<2>::from_angle(0.4).unwrap().turned([0.0, 0.0, 0.5]);
        let expected = Rotation::<2>::from_angle(0.9).unwrap();
        assert!(norm(sub(flat.apply([1.0, 2.0]), expected.apply([1.0, 2.0]))) < 1e-15);
    }

    #[test]
    fn motions_follow_one_another() {
        let rotation = |axis: [f64; 3], angle| Rotation::<3>::from_axis_angle(axis, angle).unwrap();
        let first =
            RigidTransform { rotation: rotation([1.0, 2.0, 3.0], 0.7), translation: [0.1, -0.2, 0.3] };
        let second =
            RigidTransform { rotation: rotation([-1.0, 0.5, 0.2], 2.1), translation: [1.0, 2.0, -4.0] };
        let point = [0.3, -0.4, 0.9];
        let (found, expected) = (second.after(&first).apply(point), second.apply(first.apply(point)));
        assert!(norm(sub(found, expected)) < 1e-14, "{found:?} {expected:?}");
    }

    #[test]
    fn a_rotation_is_that_of_its_quaternion() {
        // Half turns and nearly half turns among them, where w vanishes.
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 3.0], [-3.0, 0.1, 0.2]];
        for axis in axes {
            for angle in [-3.1, -0.3, 0.0, 1e-9, 1.0, 2.2, std::f64::consts::PI, 3.2, 6.0] {
                let rotation = Rotation::<3>::from_axis_angle(axis, angle).unwrap();
                let quaternion = rotation.to_quaternion();
                assert!((norm(quaternion) - 1.0).abs() < 1e-15);
                assert!(quaternion[3] >= 0.0);
                let again = Rotation::<3>::from_quaternion(quaternion).unwrap();
                for (found, expected) in again.matrix.iter().zip(&rotation.matrix) {
                    assert!(norm(sub(*found, *expected)) < 1e-15, "{axis:?} {angle} {quaternion:?}");
                }
            }
        }
        assert_eq!(Rotation::<3>::identity().to_quaternion(), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_quaternion_of_a_plane_rotation_is_about_z() {
        for angle in [-3.0_f64, -1.0, 0.0, 0.4, 2.0, 3.1] {
            let found = Rotation::<2>::from_angle(angle).unwrap().to_quaternion();
            let expected = [0.0, 0.0, (0.5 * angle).sin(), (0.5 * angle).cos()];
            assert!(norm(sub(found, expected)) < 1e-15, "{angle}: {found:?}");
        }
    }
}
