//! Shapes stretched along the axes.

use std::sync::Arc;

use super::error::{require_finite, require_positive};
use super::{ClosedMesh, Kind, Polygon, RigidTransform, Shape, ShapeError, TriangleMesh};
use crate::vector::add_scaled;

/// Products of rotations and factors that should vanish are this small, as a part of the factors. With 0 shapes that can be stretched are refused
/// (`factors_stretch_along_the_axes`).
const ROUNDING: f64 = 1e-12;

/// Takes each coordinate `x` to `factor x + offset`.
struct Scaling<const D: usize> {
    factors: [f64; D],
    offset: [f64; D],
}

impl<const D: usize> Shape<D> {
    /// This shape, stretched about a point by a factor along each axis.
    ///
    /// What comes of it is made of the same kinds of shapes, so its distance is as exact as before; a sphere becomes an ellipsoid. Factors
    /// that differ are refused where no kind of shape is what would come of it: for capsules and shells, for cylinders across
    /// their axis, and for what has been turned by other than right angles.
    pub fn scaled(&self, factors: [f64; D], about: [f64; D]) -> Result<Self, ShapeError> {
        require_finite("scale", "the point to scale about", &about)?;
        for factor in factors {
            require_positive("scale", "a factor", factor)?;
        }
        Scaling { factors, offset: std::array::from_fn(|a| (1.0 - factors[a]) * about[a]) }.of(self)
    }
}

impl<const D: usize> Scaling<D> {
    fn place(&self, point: [f64; D]) -> [f64; D] {
        std::array::from_fn(|a| self.factors[a] * point[a] + self.offset[a])
    }

    /// The factor, if it is the same along all of these axes; 1 for none.
    fn even(&self, mut axes: impl Iterator<Item = usize>) -> Option<f64> {
        let Some(first) = axes.next() else { return Some(1.0) };
        let factor = self.factors[first];
        axes.all(|axis| self.factors[axis] == factor).then_some(factor)
    }

    fn of(&self, shape: &Shape<D>) -> Result<Shape<D>, ShapeError> {
        let uneven = |shape, fix| ShapeError::UnevenScale { shape, fix };
        let times = |lengths: [f64; D]| std::array::from_fn(|a| self.factors[a] * lengths[a]);
        match &shape.0 {
            Kind::Box { centre, half_extents } => {
                Shape::centred_box(self.place(*centre), times(*half_extents))
            }
            Kind::Sphere { centre, radius } => Shape::ellipsoid(self.place(*centre), times([*radius; D])),
            Kind::Ellipsoid { centre, radii } => Shape::ellipsoid(self.place(*centre), times(*radii)),
            Kind::Cylinder { centre, axis, half_length, radius } => {
                let is_along = |a: usize| (0..D).all(|b| b == a || axis[b] == 0.0);
                let across = (0..D).find(|&a| is_along(a)).map(|along| (0..D).filter(move |&a| a != along));
                let factor = match across {
                    Some(across) => self.even(across),
                    None => self.even(0..D),
                };
                let fix = "scale it by one factor, or by factors that are the same across its axis, or use an ellipsoid";
                let factor = factor.ok_or(uneven("cylinder", fix))?;
                let [start, end] = [-1.0, 1.0].map(|side| add_scaled(*centre, side * half_length, *axis));
                Shape::cylinder(self.place(start), self.place(end), factor * radius)
            }
            Kind::Capsule { start, end, radius } if start == end => {
                Shape::ellipsoid(self.place(*start), times([*radius; D]))
            }
            Kind::Capsule { start, end, radius } => {
                let factor = self
                    .even(0..D)
                    .ok_or(uneven("capsule", "scale it by one factor, or use an ellipsoid"))?;
                Shape::capsule(self.place(*start), self.place(*end), factor * radius)
            }
            Kind::HalfSpace { point, normal } => {
                Shape::half_space(self.place(*point), std::array::from_fn(|a| normal[a] / self.factors[a]))
            }
            Kind::Mesh(mesh) => Ok(Shape(Kind::Mesh(Arc::new(self.of_mesh(mesh.mesh())?)))),
            Kind::Polygon(polygon) => {
                // In the plane, the only place for it, these are both components.
                let placed = |corner: &[f64; 2]| {
                    let place = self.place(std::array::from_fn(|a| corner[a.min(1)]));
                    [place[0], place[1]]
                };
                let corners = polygon.corners().iter().map(placed).collect();
                Ok(Shape(Kind::Polygon(Arc::new(Polygon::new(corners)?))))
            }
            Kind::Union(shapes) => Shape::union(self.of_all(shapes)?),
            Kind::Intersection(shapes) => Shape::intersection(self.of_all(shapes)?),
            Kind::Complement(shape) => Ok(self.of(shape)?.complement()),
            Kind::Transformed { transform, shape } => {
                let fix = "scale the shape before it is turned, within the transform that turns it";
                let before = self.before(transform).ok_or(uneven("transform", fix))?;
                let translation = self.place(transform.translation);
                before.of(shape)?.transformed(RigidTransform { translation, ..*transform })
            }
            Kind::Shell { shape, half_thickness } => {
                let factor = self.even(0..D).ok_or(uneven("shell", "scale the shape within the shell"))?;
                self.of(shape)?.shell(2.0 * factor * half_thickness)
            }
            Kind::Sampled(samples) => {
                let least = self.factors.into_iter().fold(f64::INFINITY, f64::min);
                Ok(self.of(samples.shape())?.sampled(least * samples.spacing()))
            }
        }
    }

    fn of_all(&self, shapes: &[Shape<D>]) -> Result<Vec<Shape<D>>, ShapeError> {
        shapes.iter().map(|shape| self.of(shape)).collect()
    }

    /// Vertices are in space, and so are the factors: only then is there a mesh.
    fn of_mesh(&self, mesh: &TriangleMesh) -> Result<ClosedMesh, ShapeError> {
        let scaled = |vertex: &[f64; 3]| {
            let placed = self.place(std::array::from_fn(|a| vertex[a]));
            std::array::from_fn(|a| placed[a])
        };
        let vertices = mesh.vertices.iter().map(scaled).collect();
        Ok(ClosedMesh::new(TriangleMesh { vertices, triangles: mesh.triangles.clone() })?)
    }

    /// What stretches a shape before it is turned as this one does after it, about the origin: R^T S R, if that is along the axes.
    fn before(&self, transform: &RigidTransform<D>) -> Option<Self> {
        let rows = transform.rotation.matrix();
        let product =
            |i: usize, j: usize| -> f64 { (0..D).map(|k| rows[k][i] * self.factors[k] * rows[k][j]).sum() };
        let factors = match self.even(0..D) {
            Some(factor) => [factor; D],
            None => std::array::from_fn(|a| product(a, a)),
        };
        let largest = factors.into_iter().fold(0.0, f64::max);
        let vanishes = |i: usize, j: usize| product(i, j).abs() <= ROUNDING * largest;
        let is_along = (0..D).all(|i| (0..D).all(|j| i == j || vanishes(i, j)));
        is_along.then_some(Self { factors, offset: [0.0; D] })
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::shape::{Bounds, Rotation};
    use crate::vector::{norm, sub};

    /// The scaled shape holds what comes from points that the shape holds, and its distance is one.
    fn assert_scaled<const D: usize>(shape: &Shape<D>, factors: [f64; D]) {
        let about = std::array::from_fn(|a| [0.2, -0.1, 0.3][a]);
        let scaled = shape.scaled(factors, about).unwrap();
        let mut counts = [0, 0];
        let mut before: Option<([f64; D], f64)> = None;
        for k in 0..6000_u32 {
            let point: [f64; D] = std::array::from_fn(|a| {
                let part = (f64::from(k) * [0.618_033_9, 0.414_213_5, 0.732_050_8][a]) % 1.0;
                3.0 * part - 1.5
            });
            let from = std::array::from_fn(|a| about[a] + (point[a] - about[a]) / factors[a]);
            let (here, there) = (scaled.signed_distance(point), shape.signed_distance(from));
            assert!(here == 0.0 || there == 0.0 || (here < 0.0) == (there < 0.0), "{shape:?} {point:?}");
            counts[usize::from(here < 0.0)] += 1;
            if factors == [factors[0]; D] {
                assert!((here - factors[0] * there).abs() < 1e-12, "{shape:?} {point:?}: {here} {there}");
            }
            if let Some((other, distance)) = before {
                let way = norm(sub(point, other));
                assert!((here - distance).abs() <= way * (1.0 + 1e-12), "{shape:?} {point:?}");
            }
            before = Some((point, here));
        }
        assert!(counts.iter().all(|count| *count > 30), "{counts:?} {shape:?}");
    }

    fn cube() -> Shape<3> {
        let corner =
            |k: usize| -> [f64; 3] { std::array::from_fn(|a| if k >> a & 1 == 1 { 0.6 } else { -0.5 }) };
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        let mesh = TriangleMesh { vertices: (0..8).map(corner).collect(), triangles };
        Shape::mesh(ClosedMesh::new(mesh).unwrap())
    }

    fn turned<const D: usize>(shape: Shape<D>, turn: [f64; 3]) -> Shape<D> {
        let translation = std::array::from_fn(|a| [0.1, 0.05, -0.1][a]);
        shape
            .transformed(RigidTransform { rotation: Rotation::identity().turned(turn), translation })
            .unwrap()
    }

    fn primitives() -> Vec<Shape<3>> {
        let cut = Shape::half_space([0.1, 0.0, 0.2], [1.0, -2.0, 0.5]).unwrap();
        let ball = Shape::sphere([0.1, 0.0, -0.1], 0.5).unwrap();
        let ellipsoid = Shape::ellipsoid([0.0, 0.1, 0.0], [0.7, 0.3, 0.5]).unwrap();
        vec![
            Shape::centred_box([0.1, 0.2, 0.0], [0.5, 0.4, 0.6]).unwrap(),
            Shape::cylinder([0.0, -0.4, 0.1], [0.0, 0.5, 0.1], 0.5).unwrap(),
            Shape::capsule([0.1; 3], [0.1; 3], 0.5).unwrap(),
            cut.clone(),
            ellipsoid.clone(),
            cube(),
            Shape::union(vec![ball.clone(), cube()]).unwrap(),
            Shape::intersection(vec![ball, cut]).unwrap(),
            ellipsoid.complement(),
        ]
    }

    #[test]
    fn one_factor_scales_every_shape_and_its_distance() {
        for shape in primitives() {
            assert_scaled(&shape, [1.5; 3]);
            assert_scaled(&turned(shape, [0.3, -0.5, 0.7]), [0.8; 3]);
        }
        let capsule = Shape::capsule([-0.3, 0.1], [0.4, 0.5], 0.3).unwrap();
        assert_scaled(&capsule, [0.7; 2]);
        assert_scaled(&turned(capsule.shell(0.2).unwrap(), [0.0, 0.0, 0.4]), [1.4; 2]);
    }

    #[test]
    fn factors_stretch_along_the_axes() {
        for shape in primitives() {
            assert_scaled(&shape, [1.5, 0.7, 1.5]);
            // About the vertical and about x, by right angles: the factors change places.
            let shape = turned(turned(shape, [0.0, FRAC_PI_2, 0.0]), [PI, 0.0, 0.0]);
            assert_scaled(&shape, [1.2, 1.6, 1.2]);
        }
        let rectangle = Shape::<2>::cylinder([-0.5, 0.0], [0.5, 0.0], 0.4).unwrap();
        assert_scaled(&rectangle, [0.8, 1.5]);
        let stretched =
            Shape::<3>::sphere([0.0; 3], 1.0).unwrap().scaled([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]).unwrap();
        assert_eq!(stretched, Shape::ellipsoid([0.0, -1.0, 0.0], [1.0, 2.0, 3.0]).unwrap());
        assert_eq!(
            cube().scaled([2.0, 1.0, 0.5], [0.0; 3]).unwrap().bounds(),
            Bounds { lower: [-1.0, -0.5, -0.25], upper: [1.2, 0.6, 0.3] }
        );
    }

    #[test]
    fn samples_are_taken_anew() {
        let sampled = Shape::<2>::sphere([0.0; 2], 0.5).unwrap().sampled(0.05);
        let scaled = sampled.scaled([2.0, 1.0], [0.0; 2]).unwrap();
        assert!((scaled.signed_distance([0.0, 0.6]) - 0.1).abs() < 1e-3);
        assert!((scaled.signed_distance([1.0, 0.0])).abs() < 1e-3);
    }

    #[test]
    fn what_would_be_no_shape_is_refused_with_the_fix() {
        let capsule = Shape::<3>::capsule([0.0; 3], [1.0, 0.0, 0.0], 0.2).unwrap();
        let cylinder = Shape::<3>::cylinder([0.0; 3], [1.0, 0.0, 0.0], 0.2).unwrap();
        let cases = [
            (capsule.clone().scaled([1.0, 2.0, 1.0], [0.0; 3]), "capsule: factors that differ"),
            (cylinder.scaled([1.0, 2.0, 1.0], [0.0; 3]), "the same across its axis"),
            (
                capsule.shell(0.1).unwrap().scaled([1.0, 2.0, 1.0], [0.0; 3]),
                "scale the shape within the shell",
            ),
            (turned(cube(), [0.0, 0.4, 0.0]).scaled([1.0, 1.0, 2.0], [0.0; 3]), "before it is turned"),
            (
                cube().scaled([1.0, 0.0, 2.0], [0.0; 3]),
                "a factor is 0; give a finite number greater than zero",
            ),
        ];
        for (result, text) in cases {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        }
        // About the axis of the turn.
        assert!(turned(cube(), [0.0, 0.4, 0.0]).scaled([2.0, 1.0, 2.0], [0.0; 3]).is_ok());
    }
}
