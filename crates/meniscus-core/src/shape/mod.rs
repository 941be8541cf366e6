//! Solid shapes as signed distances, negative inside.
//!
//! A [`Shape`] is a box, sphere, ellipsoid, cylinder, capsule, half-space, polygon or closed triangle mesh, or a union,
//! intersection, difference, complement, rigid transform or shell of other shapes.
//!
//! Every value is 1-Lipschitz, has the right sign, and never exceeds the true distance in magnitude.
//! It *is* the Euclidean distance, inside and outside, for the primitives and for rigid transforms
//! and complements of exact shapes. A union is exact outside and an intersection or a difference is
//! exact inside; on the other side they are lower bounds. A shell of an exact shape is exact outside
//! the shell.
//!
//! ```
//! use meniscus_core::shape::{RigidTransform, Rotation, Shape};
//!
//! let square = Shape::<2>::centred_box([0.0, 0.0], [0.35, 0.35])?;
//! let rotation = Rotation::<2>::from_angle(30_f64.to_radians())?;
//! let tilted = square.transformed(RigidTransform { rotation, translation: [0.5, 0.5] })?;
//! assert!((tilted.signed_distance([0.5, 0.5]) + 0.35).abs() < 1e-15);
//! # Ok::<(), meniscus_core::shape::ShapeError>(())
//! ```

mod bounds;
mod closed_mesh;
mod ellipsoid;
mod error;
mod mass;
mod mesh;
#[cfg(test)]
mod mesh_tests;
mod outline;
mod polygon;
mod rigid;
mod sampled;
mod scaled;
#[cfg(test)]
mod tests;
mod triangle;
mod triangle_tree;

use std::sync::Arc;

pub use bounds::Bounds;
pub use closed_mesh::ClosedMesh;
pub use error::{MeshError, PolygonError, ShapeError};
pub use mass::MassProperties;
pub use mesh::TriangleMesh;
pub use outline::{OutlineError, outline};
pub use polygon::Polygon;
pub use rigid::{RigidTransform, Rotation};
pub use sampled::SampledShape;

use crate::vector::{add_scaled, dot, norm, sub};
use error::{require_finite, require_positive, unit};

/// The distance to a polygon with more corners is sampled where it is asked for all the time.
const MANY_CORNERS: usize = 32;

/// A solid in the plane or in space, known by its signed distance. See the [module](self).
///
/// The constructors refuse what is not a solid, so a shape that exists is valid. Two are equal if they are made of equal parts; meshes and samples are equal to
/// themselves alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape<const D: usize>(Kind<D>);

/// What a shape is made of, as [`Shape::kind`] tells it.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<const D: usize> {
    /// An axis-aligned box.
    Box {
        /// Its centre.
        centre: [f64; D],
        /// Half of its extent along each axis.
        half_extents: [f64; D],
    },
    /// A sphere; in 2D a disc.
    Sphere {
        /// Its centre.
        centre: [f64; D],
        /// Its radius.
        radius: f64,
    },
    /// An ellipsoid with radii that differ; in 2D an ellipse.
    Ellipsoid {
        /// Its centre.
        centre: [f64; D],
        /// Its radius along each axis.
        radii: [f64; D],
    },
    /// A cylinder with flat ends; in 2D an oriented rectangle.
    Cylinder {
        /// Its centre.
        centre: [f64; D],
        /// The unit vector along it.
        axis: [f64; D],
        /// From the centre to an end.
        half_length: f64,
        /// From the axis to the side.
        radius: f64,
    },
    /// What lies within a radius of a segment, which may be a point.
    Capsule {
        /// One end of the segment.
        start: [f64; D],
        /// The other end.
        end: [f64; D],
        /// The radius.
        radius: f64,
    },
    /// Everything behind a plane.
    HalfSpace {
        /// A point of the plane.
        point: [f64; D],
        /// The unit vector out of the solid.
        normal: [f64; D],
    },
    /// The inside of a mesh; only in 3D.
    Mesh(Arc<ClosedMesh>),
    /// The inside of a polygon; only in 2D.
    Polygon(Arc<Polygon>),
    /// What lies in at least one of the shapes.
    Union(Vec<Shape<D>>),
    /// What lies in all of the shapes.
    Intersection(Vec<Shape<D>>),
    /// All but the shape.
    Complement(Box<Shape<D>>),
    /// A shape, moved.
    Transformed {
        /// Takes the shape to its place.
        transform: RigidTransform<D>,
        /// The shape before.
        shape: Box<Shape<D>>,
    },
    /// The layer around the surface of a shape.
    Shell {
        /// The shape.
        shape: Box<Shape<D>>,
        /// How far the layer reaches to either side of the surface.
        half_thickness: f64,
    },
    /// A shape by samples of its distance.
    Sampled(Arc<SampledShape<D>>),
}

impl Shape<3> {
    /// The inside of a closed triangle mesh.
    pub fn mesh(mesh: impl Into<Arc<ClosedMesh>>) -> Self {
        Self(Kind::Mesh(mesh.into()))
    }
}

impl Shape<2> {
    /// The inside of a polygon.
    pub fn polygon(polygon: impl Into<Arc<Polygon>>) -> Self {
        Self(Kind::Polygon(polygon.into()))
    }
}

impl<const D: usize> Shape<D> {
    /// An axis-aligned box by its lower and upper corners.
    pub fn box_between(lower: [f64; D], upper: [f64; D]) -> Result<Self, ShapeError> {
        require_finite("box", "a corner", &lower)?;
        require_finite("box", "a corner", &upper)?;
        for axis in 0..D {
            if lower[axis] >= upper[axis] {
                return Err(ShapeError::InvertedBox { axis, lower: lower[axis], upper: upper[axis] });
            }
        }
        let half_extents = sub(upper, lower).map(|e| 0.5 * e);
        Self::centred_box(add_scaled(lower, 1.0, half_extents), half_extents)
    }

    /// An axis-aligned box by its centre and half of its extent along each axis.
    pub fn centred_box(centre: [f64; D], half_extents: [f64; D]) -> Result<Self, ShapeError> {
        require_finite("box", "the centre", &centre)?;
        for extent in half_extents {
            require_positive("box", "a half-extent", extent)?;
        }
        Ok(Self(Kind::Box { centre, half_extents }))
    }

    /// A sphere; in 2D a disc.
    pub fn sphere(centre: [f64; D], radius: f64) -> Result<Self, ShapeError> {
        require_finite("sphere", "the centre", &centre)?;
        require_positive("sphere", "the radius", radius)?;
        Ok(Self(Kind::Sphere { centre, radius }))
    }

    /// An ellipsoid by its radius along each axis; in 2D an ellipse. Equal radii make a sphere.
    pub fn ellipsoid(centre: [f64; D], radii: [f64; D]) -> Result<Self, ShapeError> {
        require_finite("ellipsoid", "the centre", &centre)?;
        for radius in radii {
            require_positive("ellipsoid", "a radius", radius)?;
        }
        if radii == [radii[0]; D] {
            return Self::sphere(centre, radii[0]);
        }
        Ok(Self(Kind::Ellipsoid { centre, radii }))
    }

    /// The cylinder with flat ends at `start` and `end`; in 2D an oriented rectangle, `2 radius` wide.
    pub fn cylinder(start: [f64; D], end: [f64; D], radius: f64) -> Result<Self, ShapeError> {
        require_finite("cylinder", "an end point", &start)?;
        require_finite("cylinder", "an end point", &end)?;
        require_positive("cylinder", "the radius", radius)?;
        let (axis, length) = unit("cylinder", "the axis from start to end", sub(end, start))?;
        let half_length = 0.5 * length;
        Ok(Self(Kind::Cylinder { centre: add_scaled(start, half_length, axis), axis, half_length, radius }))
    }

    /// All points within `radius` of the segment from `start` to `end`; in 2D a stadium. Equal end
    /// points make a sphere.
    pub fn capsule(start: [f64; D], end: [f64; D], radius: f64) -> Result<Self, ShapeError> {
        require_finite("capsule", "an end point", &start)?;
        require_finite("capsule", "an end point", &end)?;
        require_positive("capsule", "the radius", radius)?;
        Ok(Self(Kind::Capsule { start, end, radius }))
    }

    /// Everything behind the plane through `point`; `normal` points out of the solid and may have any
    /// length but zero.
    pub fn half_space(point: [f64; D], normal: [f64; D]) -> Result<Self, ShapeError> {
        require_finite("half-space", "the point", &point)?;
        require_finite("half-space", "the normal", &normal)?;
        let (normal, _) = unit("half-space", "the normal", normal)?;
        Ok(Self(Kind::HalfSpace { point, normal }))
    }

    /// What lies in at least one of the shapes.
    pub fn union(shapes: Vec<Self>) -> Result<Self, ShapeError> {
        if shapes.is_empty() { Err(ShapeError::NoShapes("union")) } else { Ok(Self(Kind::Union(shapes))) }
    }

    /// What lies in all of the shapes.
    pub fn intersection(shapes: Vec<Self>) -> Result<Self, ShapeError> {
        if shapes.is_empty() {
            Err(ShapeError::NoShapes("intersection"))
        } else {
            Ok(Self(Kind::Intersection(shapes)))
        }
    }

    /// This shape without what lies in `other`.
    pub fn difference(self, other: Self) -> Self {
        Self(Kind::Intersection(vec![self, other.complement()]))
    }

    /// All of space but this shape: the walls of a container from its inside.
    pub fn complement(self) -> Self {
        Self(Kind::Complement(Box::new(self)))
    }

    /// This shape, rotated about the origin and then moved.
    pub fn transformed(self, transform: RigidTransform<D>) -> Result<Self, ShapeError> {
        require_finite("transform", "the translation", &transform.translation)?;
        Ok(Self(Kind::Transformed { transform, shape: Box::new(self) }))
    }

    /// The layer within `thickness / 2` of the surface, on both sides of it.
    pub fn shell(self, thickness: f64) -> Result<Self, ShapeError> {
        require_positive("shell", "the thickness", thickness)?;
        Ok(Self(Kind::Shell { shape: Box::new(self), half_thickness: 0.5 * thickness }))
    }

    /// What the shape is made of.
    pub fn kind(&self) -> &Kind<D> {
        &self.0
    }

    /// This shape by samples of its distance, `spacing` metres apart: quick to ask, and off by what is finer.
    ///
    /// # Panics
    /// If the shape has no bounds.
    pub fn sampled(&self, spacing: f64) -> Self {
        assert!(self.bounds().is_finite() && spacing > 0.0, "only what is bounded can be sampled");
        Self(Kind::Sampled(Arc::new(SampledShape::new(self, spacing))))
    }

    /// Whether a mesh is part of it, or a polygon with many corners, whose distance takes long to find.
    pub fn has_mesh(&self) -> bool {
        match &self.0 {
            Kind::Mesh(_) => true,
            Kind::Polygon(polygon) => polygon.corners().len() > MANY_CORNERS,
            Kind::Union(shapes) | Kind::Intersection(shapes) => shapes.iter().any(Self::has_mesh),
            Kind::Complement(shape) | Kind::Transformed { shape, .. } | Kind::Shell { shape, .. } => {
                shape.has_mesh()
            }
            _ => false,
        }
    }

    /// The signed distance from `point` to the surface, negative inside.
    pub fn signed_distance(&self, point: [f64; D]) -> f64 {
        match &self.0 {
            Kind::Box { centre, half_extents } => {
                let offset = sub(point, *centre);
                box_distance(std::array::from_fn::<f64, D, _>(|a| offset[a].abs() - half_extents[a]))
            }
            Kind::Sphere { centre, radius } => norm(sub(point, *centre)) - radius,
            Kind::Ellipsoid { centre, radii } => ellipsoid::signed_distance(sub(point, *centre), *radii),
            Kind::Cylinder { centre, axis, half_length, radius } => {
                let offset = sub(point, *centre);
                let along = dot(offset, *axis);
                let across = norm(add_scaled(offset, -along, *axis));
                box_distance([along.abs() - half_length, across - radius])
            }
            Kind::Capsule { start, end, radius } => norm(segment_offset(point, *start, *end)) - radius,
            Kind::HalfSpace { point: foot, normal } => dot(sub(point, *foot), *normal),
            // Only `Shape<3>` can hold a mesh.
            Kind::Mesh(mesh) => mesh.signed_distance(std::array::from_fn(|a| point[a])),
            // Only `Shape<2>` can hold a polygon.
            Kind::Polygon(polygon) => polygon.signed_distance([point[0], point[1]]),
            Kind::Union(shapes) => {
                shapes.iter().map(|s| s.signed_distance(point)).fold(f64::INFINITY, f64::min)
            }
            Kind::Intersection(shapes) => {
                shapes.iter().map(|s| s.signed_distance(point)).fold(f64::NEG_INFINITY, f64::max)
            }
            Kind::Complement(shape) => -shape.signed_distance(point),
            Kind::Transformed { transform, shape } => shape.signed_distance(transform.apply_inverse(point)),
            Kind::Shell { shape, half_thickness } => shape.signed_distance(point).abs() - half_thickness,
            Kind::Sampled(samples) => samples.signed_distance(point),
        }
    }

    /// A box that encloses the shape, with infinite sides where the shape or what it was cut from is
    /// unbounded. It is the tightest one for the primitives, not always for what is made of them.
    pub fn bounds(&self) -> Bounds<D> {
        self.sublevel_bounds(0.0)
    }

    /// Bounds of the points with a signed distance of at most `level >= 0`. Going through the levels
    /// keeps the bounds of a shell right even where its shape is empty or only bounds the distance.
    fn sublevel_bounds(&self, level: f64) -> Bounds<D> {
        match &self.0 {
            Kind::Box { centre, half_extents } => Bounds::centred(*centre, *half_extents).expanded(level),
            Kind::Sphere { centre, radius } => Bounds::centred(*centre, [radius + level; D]),
            Kind::Ellipsoid { centre, radii } => Bounds::centred(*centre, *radii).expanded(level),
            Kind::Cylinder { centre, axis, half_length, radius } => {
                let reach = axis.map(|x| half_length * x.abs() + radius * (1.0 - x * x).max(0.0).sqrt());
                Bounds::centred(*centre, reach).expanded(level)
            }
            Kind::Capsule { start, end, radius } => {
                Bounds::of_points([*start, *end]).expanded(radius + level)
            }
            Kind::HalfSpace { point, normal } => half_space_bounds(*point, *normal).expanded(level),
            Kind::Mesh(mesh) => {
                let Bounds { lower, upper } = mesh.bounds().expanded(level);
                Bounds { lower: std::array::from_fn(|a| lower[a]), upper: std::array::from_fn(|a| upper[a]) }
            }
            Kind::Polygon(polygon) => {
                let Bounds { lower, upper } = polygon.bounds().expanded(level);
                let axis = |a: usize| a.min(1);
                Bounds {
                    lower: std::array::from_fn(|a| lower[axis(a)]),
                    upper: std::array::from_fn(|a| upper[axis(a)]),
                }
            }
            Kind::Union(shapes) => {
                shapes.iter().fold(Bounds::EMPTY, |sum, s| sum.union(s.sublevel_bounds(level)))
            }
            Kind::Intersection(shapes) => {
                shapes.iter().fold(Bounds::EVERYTHING, |sum, s| sum.intersection(s.sublevel_bounds(level)))
            }
            Kind::Complement(_) => Bounds::EVERYTHING,
            Kind::Transformed { transform, shape } => shape.sublevel_bounds(level).transformed(transform),
            Kind::Shell { shape, half_thickness } => shape.sublevel_bounds(level + half_thickness),
            Kind::Sampled(samples) => samples.bounds().expanded(level),
        }
    }
}

/// The distance to a box from the excess of the point over the half-extent along each axis.
fn box_distance<const N: usize>(excess: [f64; N]) -> f64 {
    let outside = norm(excess.map(|e| e.max(0.0)));
    outside + excess.into_iter().fold(f64::NEG_INFINITY, f64::max).min(0.0)
}

/// From the nearest point of the segment between `start` and `end`, which may coincide, to `point`.
fn segment_offset<const D: usize>(point: [f64; D], start: [f64; D], end: [f64; D]) -> [f64; D] {
    let (offset, edge) = (sub(point, start), sub(end, start));
    let length_squared = dot(edge, edge);
    let along = if length_squared > 0.0 { (dot(offset, edge) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    add_scaled(offset, -along, edge)
}

/// Bounded on one side when the plane is axis-aligned, otherwise not at all.
fn half_space_bounds<const D: usize>(point: [f64; D], normal: [f64; D]) -> Bounds<D> {
    let mut bounds = Bounds::EVERYTHING;
    for axis in 0..D {
        if normal[axis] == 1.0 {
            bounds.upper[axis] = point[axis];
        } else if normal[axis] == -1.0 {
            bounds.lower[axis] = point[axis];
        }
    }
    bounds
}
