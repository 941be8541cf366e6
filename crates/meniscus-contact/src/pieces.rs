//! Shapes as the pieces that contact is found with.
//!
//! Everything here has three components. In 2D the last one of a vector is zero, and rotations are about it.

use meniscus_core::shape::{Kind, RigidTransform, Shape, TriangleMesh};
use meniscus_core::vector::{add_scaled, norm, sub};

use crate::carve::{carve, points_of_ellipsoid};
use crate::polytope::Polytope;
use crate::sample::sampled;
use crate::{ContactError, Domain, Owner};

/// A part of a collision shape, in the frame of its owner.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A sphere or disc.
    Ball { centre: [f64; 3], radius: f64 },
    /// A box, turned by a quaternion.
    Cuboid { centre: [f64; 3], quaternion: [f64; 4], half_extents: [f64; 3] },
    /// Flat ends; only in 3D.
    Cylinder { start: [f64; 3], end: [f64; 3], radius: f64 },
    /// Round ends, which differ.
    Capsule { start: [f64; 3], end: [f64; 3], radius: f64 },
    /// What lies behind a plane.
    HalfSpace { point: [f64; 3], normal: [f64; 3] },
    /// The convex hull of points; in 2D of those with a positive last component.
    Hull(Vec<[f64; 3]>),
    /// The inside of a closed surface; only in 3D.
    Mesh(TriangleMesh),
}

/// The pieces of a shape.
pub fn pieces<const D: usize>(
    owner: Owner,
    shape: &Shape<D>,
    domain: &Domain<D>,
) -> Result<Vec<Piece>, ContactError> {
    let mut pieces = Vec::new();
    collect(shape, &RigidTransform::IDENTITY, domain, &mut pieces);
    if pieces.is_empty() { Err(ContactError::NothingToTouch { owner }) } else { Ok(pieces) }
}

fn collect<const D: usize>(
    shape: &Shape<D>,
    placement: &RigidTransform<D>,
    domain: &Domain<D>,
    pieces: &mut Vec<Piece>,
) {
    let point = |x: [f64; D]| padded(placement.apply(x));
    let vector = |x: [f64; D]| padded(placement.rotation.apply(x));
    match shape.kind() {
        Kind::Box { centre, half_extents } => pieces.push(Piece::Cuboid {
            centre: point(*centre),
            quaternion: placement.rotation.to_quaternion(),
            half_extents: padded(*half_extents),
        }),
        Kind::Sphere { centre, radius } => {
            pieces.push(Piece::Ball { centre: point(*centre), radius: *radius });
        }
        Kind::Ellipsoid { centre, radii } => {
            let points = points_of_ellipsoid(*centre, *radii);
            pieces.push(Piece::Hull(points.into_iter().map(|x| corner::<D>(point(x))).collect()));
        }
        Kind::Cylinder { centre, axis, half_length, radius } => {
            let end = add_scaled(*centre, *half_length, *axis);
            let start = add_scaled(*centre, -half_length, *axis);
            pieces.push(cylinder::<D>(point(start), point(end), *radius));
        }
        Kind::Capsule { start, end, radius } if start == end => {
            pieces.push(Piece::Ball { centre: point(*start), radius: *radius });
        }
        Kind::Capsule { start, end, radius } => {
            pieces.push(Piece::Capsule { start: point(*start), end: point(*end), radius: *radius });
        }
        Kind::HalfSpace { point: foot, normal } => {
            pieces.push(Piece::HalfSpace { point: point(*foot), normal: vector(*normal) });
        }
        Kind::Mesh(mesh) => {
            let vertex = |x: &[f64; 3]| point(std::array::from_fn(|a| x[a]));
            let TriangleMesh { vertices, triangles } = mesh.mesh();
            let vertices = vertices.iter().map(vertex).collect();
            pieces.push(Piece::Mesh(TriangleMesh { vertices, triangles: triangles.clone() }));
        }
        Kind::Polygon(polygon) => {
            let place = |x: &[f64; 2]| corner::<D>(point(std::array::from_fn(|a| x[a.min(1)])));
            let parts = polygon.convex_parts();
            pieces.extend(parts.iter().map(|part| Piece::Hull(part.iter().map(place).collect())));
        }
        Kind::Union(shapes) => shapes.iter().for_each(|part| collect(part, placement, domain, pieces)),
        Kind::Transformed { transform, shape } => {
            collect(shape, &placement.after(transform), domain, pieces);
        }
        Kind::Complement(inner) => match inner.kind() {
            // A box is surrounded by half-spaces, which have no end.
            Kind::Box { centre, half_extents } => {
                for axis in 0..D {
                    for sign in [-1.0, 1.0] {
                        let (mut foot, mut normal) = (*centre, [0.0; D]);
                        foot[axis] += sign * half_extents[axis];
                        normal[axis] = -sign;
                        pieces.push(Piece::HalfSpace { point: point(foot), normal: vector(normal) });
                    }
                }
            }
            Kind::Transformed { transform, shape } => {
                let moved = shape.as_ref().clone().complement();
                collect(&moved, &placement.after(transform), domain, pieces);
            }
            _ => cut_or_sampled(shape, placement, domain, pieces),
        },
        Kind::Intersection(_) | Kind::Shell { .. } | Kind::Sampled(_) => {
            cut_or_sampled(shape, placement, domain, pieces);
        }
    }
}

/// Convex pieces if the shape can be cut into such, and otherwise a surface from its signed distance.
fn cut_or_sampled<const D: usize>(
    shape: &Shape<D>,
    placement: &RigidTransform<D>,
    domain: &Domain<D>,
    pieces: &mut Vec<Piece>,
) {
    match carve(shape, placement, region(shape, placement, domain), domain.dx) {
        Some(parts) => pieces.extend(parts.iter().map(|part| Piece::Hull(part.corners()))),
        None => pieces.extend(sampled(shape, placement, domain).map(Piece::Mesh)),
    }
}

/// A box around what matters of a shape: all of it, or what can come into the domain if it has no end.
fn region<const D: usize>(shape: &Shape<D>, placement: &RigidTransform<D>, domain: &Domain<D>) -> Polytope {
    let size = norm(domain.bounds.extent());
    let bounds = shape.bounds().transformed(placement).expanded(domain.dx);
    let within = domain.bounds.expanded(2.0 * size);
    let side = |bound: f64, limit: f64| if bound.is_finite() { bound } else { limit };
    let lower: [f64; D] = std::array::from_fn(|a| side(bounds.lower[a], within.lower[a]));
    let upper: [f64; D] = std::array::from_fn(|a| side(bounds.upper[a], within.upper[a]));
    let (mut lower, mut upper) = (padded(lower), padded(upper));
    if D == 2 {
        (lower[2], upper[2]) = (-0.5 * size, 0.5 * size);
    }
    Polytope::cuboid(lower, upper)
}

/// In 2D a rectangle.
fn cylinder<const D: usize>(start: [f64; 3], end: [f64; 3], radius: f64) -> Piece {
    if D == 3 {
        return Piece::Cylinder { start, end, radius };
    }
    let along = sub(end, start);
    let (sin, cos) = (0.5 * along[1].atan2(along[0])).sin_cos();
    let half_length = 0.5 * along[0].hypot(along[1]);
    Piece::Cuboid {
        centre: add_scaled(start, 0.5, along),
        quaternion: [0.0, 0.0, sin, cos],
        half_extents: [half_length, radius, 0.0],
    }
}

/// A point as a corner of a hull: in 2D one of the upper face of a prism.
fn corner<const D: usize>([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x, y, if D == 2 { 1.0 } else { z }]
}

/// A vector of two or three components with zeros behind.
pub fn padded<const D: usize>(vector: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| if a < D { vector[a] } else { 0.0 })
}
