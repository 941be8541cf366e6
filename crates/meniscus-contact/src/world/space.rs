//! What is particular to three dimensions.

use rapier3d_f64 as rapier;

#[allow(clippy::duplicate_mod)] // once for each dimension, on purpose
#[path = "engine.rs"]
mod engine;

use meniscus_core::shape::{Bounds, TriangleMesh};
use rapier::math::{Matrix, Pose3, Rot3, Vector};
use rapier::parry::transformation::vhacd::{VHACD, VHACDParameters};
use rapier::parry::transformation::voxelization::FillMode;
use rapier::prelude::{MassProperties, RigidBodyBuilder, SharedShape, TriMeshFlags};

pub use engine::Engine;

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

/// The velocity of an arm that turns.
fn cross(rate: Vector, arm: Vector) -> Vector {
    rate.cross(arm)
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

/// The convex parts of a piece and their places; meshes are cut into such as follow them to about a `cell`.
fn convex(piece: &Piece, cell: f64) -> Vec<(Pose3, SharedShape)> {
    match piece {
        Piece::Ball { centre, radius } => {
            vec![(Pose3::from_translation(vector(*centre)), SharedShape::ball(*radius))]
        }
        Piece::Cuboid { centre, quaternion, half_extents: [x, y, z] } => {
            vec![(placed(*centre, *quaternion), SharedShape::cuboid(*x, *y, *z))]
        }
        Piece::Capsule { start, end, radius } => {
            vec![(Pose3::IDENTITY, SharedShape::capsule(vector(*start), vector(*end), *radius))]
        }
        Piece::Cylinder { start, end, radius } => {
            let (start, end) = (vector(*start), vector(*end));
            let rotation = Rot3::from_rotation_arc(Vector::Y, (end - start).normalize());
            let pose = Pose3::from_parts(0.5 * (start + end), rotation);
            vec![(pose, SharedShape::cylinder(0.5 * (end - start).length(), *radius))]
        }
        Piece::Hull(points) => hull(points).into_iter().collect(),
        Piece::HalfSpace { .. } => Vec::new(),
        Piece::Mesh(mesh) => decomposed(mesh, cell),
    }
}

fn hull(points: &[[f64; 3]]) -> Option<(Pose3, SharedShape)> {
    let points: Vec<Vector> = points.iter().map(|p| vector(*p)).collect();
    SharedShape::convex_hull(&points).map(|hull| (Pose3::IDENTITY, hull))
}

/// The mesh as its convex hull, if that is what it is, and otherwise as the hulls of parts, which are made smaller until
/// they have about the volume of the mesh: hulls of parts that are too large close what is hollow.
fn decomposed(mesh: &TriangleMesh, cell: f64) -> Vec<(Pose3, SharedShape)> {
    let volume = volume(mesh);
    let mut parts: Vec<_> = hull(&mesh.vertices).into_iter().collect();
    let extent = Bounds::of_points(mesh.vertices.iter().copied()).extent().into_iter().fold(0.0, f64::max);
    let resolution = ((extent / (0.5 * cell)).ceil() as u32).clamp(48, 128);
    for concavity in [0.002, 5e-4] {
        let volumes = parts.iter().map(|(_, part)| part.mass_properties(1.0).mass());
        if !parts.is_empty() && volumes.sum::<f64>() < 1.1 * volume {
            break;
        }
        parts = hulls_of_parts(mesh, concavity, resolution);
    }
    parts
}

fn hulls_of_parts(mesh: &TriangleMesh, concavity: f64, resolution: u32) -> Vec<(Pose3, SharedShape)> {
    let fill_mode = FillMode::FloodFill { detect_cavities: true };
    let parameters = VHACDParameters { resolution, concavity, fill_mode, ..VHACDParameters::default() };
    let vertices: Vec<Vector> = mesh.vertices.iter().map(|v| vector(*v)).collect();
    VHACD::decompose(&parameters, &vertices, &mesh.triangles, true)
        .compute_exact_convex_hulls(&vertices, &mesh.triangles)
        .into_iter()
        .filter_map(|(vertices, triangles)| SharedShape::convex_mesh(vertices, &triangles))
        .map(|part| (Pose3::IDENTITY, part))
        .collect()
}

/// By cones from the origin to the triangles.
fn volume(mesh: &TriangleMesh) -> f64 {
    let cone = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vector(mesh.vertices[v as usize]));
        a.dot(b.cross(c)) / 6.0
    };
    mesh.triangles.iter().map(cone).sum()
}

/// A mesh as its surface, with an inside.
fn surface_of(piece: &Piece) -> Option<SharedShape> {
    let Piece::Mesh(mesh) = piece else { return None };
    let vertices = mesh.vertices.iter().map(|v| vector(*v)).collect();
    let flags = TriMeshFlags::ORIENTED | TriMeshFlags::FIX_INTERNAL_EDGES;
    SharedShape::trimesh_with_flags(vertices, mesh.triangles.clone(), flags).ok()
}
