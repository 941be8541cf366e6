//! What is particular to three dimensions.

use rapier3d_f64 as rapier;

#[allow(clippy::duplicate_mod)] // once for each dimension, on purpose
#[path = "engine.rs"]
mod engine;

pub use engine::Engine;
use rapier::math::{Matrix, Pose3, Rot3, Vector};
use rapier::prelude::{MassProperties, RigidBodyBuilder, SharedShape};

use super::Pose;
use crate::pieces::Piece;

fn vector(components: [f64; 3]) -> Vector {
    Vector::from_array(components)
}

fn array(vector: Vector) -> [f64; 3] {
    vector.to_array()
}

fn angular(components: [f64; 3]) -> Vector {
    vector(components)
}

fn angular_array(rate: Vector) -> [f64; 3] {
    array(rate)
}

fn rotation(quaternion: [f64; 4]) -> Rot3 {
    Rot3::from_array(quaternion)
}

fn quaternion(rotation: Rot3) -> [f64; 4] {
    rotation.to_array()
}

/// That is ours to do.
fn without_gyration(body: RigidBodyBuilder) -> RigidBodyBuilder {
    body.gyroscopic_forces_enabled(false)
}

fn mass_properties(mass: f64, inertia: &[[f64; 3]; 3]) -> MassProperties {
    MassProperties::with_inertia_matrix(Vector::ZERO, mass, Matrix::from_cols_array_2d(inertia))
}

fn placed(translation: [f64; 3], quaternion: [f64; 4]) -> Pose3 {
    Pose3::from_parts(vector(translation), rotation(quaternion))
}

/// A convex piece and its place. Nothing where it is degenerate, or a half-space.
fn convex(piece: &Piece) -> Option<(Pose3, SharedShape)> {
    match piece {
        Piece::Ball { centre, radius } => {
            Some((Pose3::from_translation(vector(*centre)), SharedShape::ball(*radius)))
        }
        Piece::Cuboid { centre, quaternion, half_extents: [x, y, z] } => {
            Some((placed(*centre, *quaternion), SharedShape::cuboid(*x, *y, *z)))
        }
        Piece::Capsule { start, end, radius } => {
            Some((Pose3::IDENTITY, SharedShape::capsule(vector(*start), vector(*end), *radius)))
        }
        Piece::Cylinder { start, end, radius } => {
            let (start, end) = (vector(*start), vector(*end));
            let rotation = Rot3::from_rotation_arc(Vector::Y, (end - start).normalize());
            let pose = Pose3::from_parts(0.5 * (start + end), rotation);
            Some((pose, SharedShape::cylinder(0.5 * (end - start).length(), *radius)))
        }
        Piece::HalfSpace { .. } => None,
    }
}
