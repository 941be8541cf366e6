//! Shapes as the pieces that contact is found with.
//!
//! Everything here has three components. In 2D the last one of a vector is zero, and rotations are about it.

use meniscus_core::shape::{Kind, RigidTransform, Shape};
use meniscus_core::vector::{add_scaled, sub};

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
}

/// The pieces of a shape.
pub fn pieces<const D: usize>(
    owner: Owner,
    shape: &Shape<D>,
    domain: &Domain<D>,
) -> Result<Vec<Piece>, ContactError> {
    let mut pieces = Vec::new();
    collect(shape, &RigidTransform::IDENTITY, &mut pieces);
    let _ = domain;
    if pieces.is_empty() { Err(ContactError::NothingToTouch { owner }) } else { Ok(pieces) }
}

fn collect<const D: usize>(shape: &Shape<D>, placement: &RigidTransform<D>, pieces: &mut Vec<Piece>) {
    let point = |x: [f64; D]| padded(placement.apply(x));
    match shape.kind() {
        Kind::Box { centre, half_extents } => pieces.push(Piece::Cuboid {
            centre: point(*centre),
            quaternion: placement.rotation.to_quaternion(),
            half_extents: padded(*half_extents),
        }),
        Kind::Sphere { centre, radius } => {
            pieces.push(Piece::Ball { centre: point(*centre), radius: *radius });
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
            let normal = padded(placement.rotation.apply(*normal));
            pieces.push(Piece::HalfSpace { point: point(*foot), normal });
        }
        Kind::Union(shapes) => shapes.iter().for_each(|part| collect(part, placement, pieces)),
        Kind::Transformed { transform, shape } => collect(shape, &placement.after(transform), pieces),
        Kind::Mesh(_) | Kind::Intersection(_) | Kind::Complement(_) | Kind::Shell { .. } => {}
    }
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

/// A vector of two or three components with zeros behind.
pub fn padded<const D: usize>(vector: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| if a < D { vector[a] } else { 0.0 })
}
