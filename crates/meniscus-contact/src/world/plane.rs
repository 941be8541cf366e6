//! What is particular to two dimensions.

use rapier2d_f64 as rapier;

#[allow(clippy::duplicate_mod)] // once for each dimension, on purpose
#[path = "engine.rs"]
mod engine;

pub use engine::Engine;
use rapier::math::{Pose2, Rot2, Vector};
use rapier::prelude::{MassProperties, RigidBodyBuilder, SharedShape};

use super::Pose;
use crate::pieces::Piece;

fn vector([x, y, _]: [f64; 3]) -> Vector {
    Vector::new(x, y)
}

fn array(vector: Vector) -> [f64; 3] {
    [vector.x, vector.y, 0.0]
}

fn angular([_, _, z]: [f64; 3]) -> f64 {
    z
}

fn angular_array(rate: f64) -> [f64; 3] {
    [0.0, 0.0, rate]
}

/// The velocity of an arm that turns.
fn cross(rate: f64, arm: Vector) -> Vector {
    rate * Vector::new(-arm.y, arm.x)
}

fn rotation([_, _, z, w]: [f64; 4]) -> Rot2 {
    Rot2::from_cos_sin_unchecked(w * w - z * z, 2.0 * w * z)
}

fn quaternion(rotation: Rot2) -> [f64; 4] {
    let (sin, cos) = (0.5 * rotation.angle()).sin_cos();
    [0.0, 0.0, sin, cos]
}

/// A body that turns in a plane does not gyrate.
fn without_gyration(body: RigidBodyBuilder) -> RigidBodyBuilder {
    body
}

fn mass_properties(mass: f64, inertia: &[[f64; 3]; 3]) -> MassProperties {
    MassProperties::new(Vector::ZERO, mass, inertia[2][2])
}

fn placed(translation: [f64; 3], quaternion: [f64; 4]) -> Pose2 {
    Pose2::from_parts(vector(translation), rotation(quaternion))
}

/// The convex parts of a piece and their places.
fn convex(piece: &Piece, _cell: f64) -> Vec<(Pose2, SharedShape)> {
    match piece {
        Piece::Ball { centre, radius } => {
            vec![(Pose2::from_translation(vector(*centre)), SharedShape::ball(*radius))]
        }
        Piece::Cuboid { centre, quaternion, half_extents: [x, y, _] } => {
            vec![(placed(*centre, *quaternion), SharedShape::cuboid(*x, *y))]
        }
        Piece::Capsule { start, end, radius } => {
            vec![(Pose2::IDENTITY, SharedShape::capsule(vector(*start), vector(*end), *radius))]
        }
        Piece::Hull(points) => {
            // The polygon is the upper face of a prism.
            let points: Vec<Vector> = points.iter().filter(|p| p[2] > 0.0).map(|p| vector(*p)).collect();
            SharedShape::convex_hull(&points).map(|hull| (Pose2::IDENTITY, hull)).into_iter().collect()
        }
        Piece::Cylinder { .. } | Piece::HalfSpace { .. } | Piece::Mesh(_) => Vec::new(),
    }
}

/// Meshes are for three dimensions.
fn surface_of(_: &Piece) -> Option<SharedShape> {
    None
}
