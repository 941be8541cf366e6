//! The walls that the domain ends at: how vertices on them may move.

use meniscus_core::shape::Shape;
use meniscus_core::vector::{add_scaled, dot, norm, sub};

/// A wall.
#[derive(Clone, Debug, PartialEq)]
pub enum Wall {
    /// A side of a box: the coordinate along the axis has this value.
    Side {
        /// 0 to 2.
        axis: usize,
        /// The coordinate.
        value: f64,
    },
    /// The surface of a solid, by its signed distance.
    Curved(Shape<3>),
}

/// All walls; the complex knows them by their place in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    /// The walls.
    pub walls: Vec<Wall>,
}

impl Container {
    /// A box: its sides are walls 0 to 5, low and high along x, y and z.
    pub fn box_between(lower: [f64; 3], upper: [f64; 3]) -> Self {
        let side = |s: usize| Wall::Side {
            axis: s / 2,
            value: if s.is_multiple_of(2) { lower[s / 2] } else { upper[s / 2] },
        };
        Self { walls: (0..6).map(side).collect() }
    }

    /// Orthonormal directions that leave these walls at a point; there are fewer than walls where walls are
    /// tangent.
    pub fn normals(&self, walls: &[u8], point: [f64; 3]) -> Vec<[f64; 3]> {
        let mut normals = Vec::with_capacity(walls.len());
        for &id in walls {
            push_orthonormal(&mut normals, self.walls[usize::from(id)].normal(point), 1.0);
        }
        normals
    }

    /// A displacement of a vertex on these walls, without what would take it off them to first order.
    pub fn slide(&self, walls: &[u8], point: [f64; 3], displacement: [f64; 3]) -> [f64; 3] {
        without(displacement, &self.normals(walls, point))
    }

    /// A point near these walls, put on them. Sides are met exactly.
    pub fn project(&self, walls: &[u8], point: [f64; 3]) -> [f64; 3] {
        let mut x = point;
        for _ in 0..PROJECTION_STEPS {
            let mut sides = Vec::new();
            for &id in walls {
                if let Wall::Side { axis, value } = self.walls[usize::from(id)] {
                    x[axis] = value;
                    sides.push(self.walls[usize::from(id)].normal(x));
                }
            }
            for &id in walls {
                if let Wall::Curved(shape) = &self.walls[usize::from(id)] {
                    x = step_to_surface(shape, x, &sides);
                }
            }
        }
        x
    }
}

/// Steps of the projection onto several curved walls at once; for one wall the second is already exact.
const PROJECTION_STEPS: usize = 4;

/// A step of Newton's method towards the surface of a shape, along its gradient without some directions.
fn step_to_surface(shape: &Shape<3>, x: [f64; 3], fixed: &[[f64; 3]]) -> [f64; 3] {
    let gradient = gradient(shape, x);
    let free = without(gradient, fixed);
    let slope = dot(free, free);
    if slope < 1e-6 { x } else { add_scaled(x, -shape.signed_distance(x) / slope, free) }
}

impl Wall {
    /// The direction across the wall at a point.
    fn normal(&self, point: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Side { axis, .. } => std::array::from_fn(|i| f64::from(u8::from(i == *axis))),
            Self::Curved(shape) => gradient(shape, point),
        }
    }
}

/// The gradient of a shape's signed distance, by central differences.
pub(crate) fn gradient(shape: &Shape<3>, x: [f64; 3]) -> [f64; 3] {
    // Distances near a surface are as exact as coordinates: the cube root of their precision balances both
    // errors.
    let step = 6e-6 * x.iter().fold(1e-3_f64, |m, c| m.max(c.abs()));
    std::array::from_fn(|axis| {
        let at =
            |s: f64| shape.signed_distance(std::array::from_fn(|i| if i == axis { x[i] + s } else { x[i] }));
        (at(step) - at(-step)) / (2.0 * step)
    })
}

/// A vector without its parts along orthonormal directions.
pub(crate) fn without(vector: [f64; 3], directions: &[[f64; 3]]) -> [f64; 3] {
    directions.iter().fold(vector, |v, &n| add_scaled(v, -dot(n, v), n))
}

/// Adds the direction of a vector to orthonormal ones, unless less than a share of 1e-3 of `scale` is
/// independent of them. Returns the length of what is independent.
pub(crate) fn push_orthonormal(directions: &mut Vec<[f64; 3]>, vector: [f64; 3], scale: f64) -> Option<f64> {
    let rest = without(without(vector, directions), directions);
    let length = norm(rest);
    if directions.len() == 3 || length <= 1e-3 * scale {
        return None;
    }
    directions.push(rest.map(|c| c / length));
    Some(length)
}

/// How far apart two points are.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    norm(sub(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_met_exactly_and_slid_along() {
        let container = Container::box_between([0.0; 3], [0.3, 0.7, 1.1]);
        let corner = container.project(&[1, 2, 5], [0.29, 0.01, 1.2]);
        assert_eq!(corner, [0.3, 0.0, 1.1]);
        assert_eq!(container.slide(&[0, 3], [0.0, 0.7, 0.5], [1.0, 2.0, 3.0]), [0.0, 0.0, 3.0]);
        assert_eq!(container.slide(&[0, 2, 4], [0.0; 3], [1.0, 2.0, 3.0]), [0.0; 3]);
    }

    #[test]
    fn a_point_is_put_where_a_cylinder_meets_a_side() {
        let cylinder = Shape::cylinder([0.0, 0.0, -1.0], [0.0, 0.0, 2.0], 0.5).unwrap();
        let mut container = Container::box_between([-1.0, -1.0, 0.0], [1.0; 3]);
        container.walls.push(Wall::Curved(cylinder));
        let point = container.project(&[4, 6], [0.4, 0.2, 0.05]);
        assert_eq!(point[2], 0.0);
        assert!((point[0].hypot(point[1]) - 0.5).abs() < 1e-12);
    }
}
