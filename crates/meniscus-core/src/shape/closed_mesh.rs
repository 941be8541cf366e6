//! Triangle meshes that bound a solid.

use super::triangle::{Triangle, area_normal, centroid};
use super::triangle_tree::TriangleTree;
use super::{Bounds, MeshError, TriangleMesh};
use crate::vector::{add_scaled, dot, norm, sub};

/// A mesh that is known to be closed, with fast exact distance queries.
///
/// A point is inside where the winding number of the surface is not zero. So overlapping parts make a
/// union, and a part that is oriented inwards within another one is a cavity. Where parts overlap, the
/// distance inside the solid is to the nearest triangle, perhaps an inner one, and so a lower bound.
#[derive(Clone, Debug)]
pub struct ClosedMesh {
    mesh: TriangleMesh,
    tree: TriangleTree,
    volume: f64,
    centroid: [f64; 3],
}

/// To compare all that it holds would take long: one is equal to itself alone.
impl PartialEq for ClosedMesh {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ClosedMesh {}

impl ClosedMesh {
    /// Checks that the mesh bounds a solid: every edge belongs to exactly two triangles, which agree
    /// about the outside.
    ///
    /// Vertices at exactly the same position become one first. Triangles that then have two equal
    /// corners are dropped, which changes neither the surface nor whether it is closed. A mesh that is
    /// oriented inwards as a whole (its signed volume is negative) is turned over.
    pub fn new(mesh: TriangleMesh) -> Result<Self, MeshError> {
        check_values(&mesh)?;
        let mut mesh = mesh.welded();
        check_edges(&mesh)?;
        mesh.triangles.retain(|t| !has_equal_corners(t));
        if mesh.triangles.is_empty() {
            return Err(MeshError::Empty);
        }

        let mut triangles: Vec<Triangle> = corners(&mesh).collect();
        let (volume, centroid) = volume_and_centroid(&triangles)?;
        if volume < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let tree = TriangleTree::new(triangles);
        Ok(Self { mesh, tree, volume: volume.abs(), centroid })
    }

    /// The welded mesh, oriented outwards.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The smallest box that holds the triangles.
    pub fn bounds(&self) -> Bounds<3> {
        self.tree.bounds()
    }

    /// The enclosed volume, in cubic metres; what overlapping parts share counts for each of them.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// The centre of the enclosed volume.
    pub fn centroid(&self) -> [f64; 3] {
        self.centroid
    }

    /// The signed distance from `point` to the surface, negative inside.
    pub fn signed_distance(&self, point: [f64; 3]) -> f64 {
        let distance = self.tree.distance(point);
        if self.contains(point) { -distance } else { distance }
    }

    /// Whether the point lies inside; on the surface, to rounding, the answer may be either.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.bounds().contains(point) && self.tree.winding_number(point) != 0
    }

    /// The unrounded winding number by its definition, a sum over all triangles.
    #[cfg(test)]
    pub(super) fn exact_winding_number(&self, point: [f64; 3]) -> f64 {
        self.tree.exact_winding_number(point)
    }
}

fn corners(mesh: &TriangleMesh) -> impl Iterator<Item = Triangle> {
    mesh.triangles.iter().map(|t| t.map(|v| mesh.vertices[v as usize]))
}

fn has_equal_corners([a, b, c]: &[u32; 3]) -> bool {
    a == b || b == c || c == a
}

fn check_values(mesh: &TriangleMesh) -> Result<(), MeshError> {
    let vertices = mesh.vertices.len();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(MeshError::NoSuchVertex { triangle, vertex, vertices });
        }
    }
    match mesh.vertices.iter().position(|v| !v.iter().all(|x| x.is_finite())) {
        Some(vertex) => Err(MeshError::NotFinite { vertex, position: mesh.vertices[vertex] }),
        None => Ok(()),
    }
}

/// One side of an edge: a triangle that has it, and the direction in which the triangle runs along it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct HalfEdge {
    ends: [u32; 2],
    forward: bool,
    triangle: usize,
}

fn check_edges(mesh: &TriangleMesh) -> Result<(), MeshError> {
    let mut half_edges = Vec::with_capacity(3 * mesh.triangles.len());
    for (triangle, corners) in mesh.triangles.iter().enumerate().filter(|(_, t)| !has_equal_corners(t)) {
        for i in 0..3 {
            let (from, to) = (corners[i], corners[(i + 1) % 3]);
            half_edges.push(HalfEdge { ends: [from.min(to), from.max(to)], forward: from < to, triangle });
        }
    }
    half_edges.sort_unstable();

    let (mut open, mut non_manifold, mut disagreeing) =
        (Defect::default(), Defect::default(), Defect::default());
    for edge in half_edges.chunk_by(|a, b| a.ends == b.ends) {
        match edge {
            [_] => open.add(edge),
            [a, b] if a.forward != b.forward => {}
            [_, _] => disagreeing.add(edge),
            _ => non_manifold.add(edge),
        }
    }

    let middle = |[a, b]: [u32; 2]| {
        let (a, b) = (mesh.vertices[a as usize], mesh.vertices[b as usize]);
        std::array::from_fn(|i| 0.5 * a[i] + 0.5 * b[i])
    };
    if let Some((edge, _)) = open.example {
        return Err(MeshError::OpenEdges { count: open.count, near: middle(edge) });
    }
    if let Some((edge, _)) = non_manifold.example {
        return Err(MeshError::NonManifoldEdges { count: non_manifold.count, near: middle(edge) });
    }
    if let Some((edge, triangles)) = disagreeing.example {
        let (count, near) = (disagreeing.count, middle(edge));
        return Err(MeshError::InconsistentOrientation { count, triangles, near });
    }
    Ok(())
}

/// How many edges have a defect; the ends of the first one, and the first and last of its triangles.
#[derive(Default)]
struct Defect {
    count: usize,
    example: Option<([u32; 2], [usize; 2])>,
}

impl Defect {
    fn add(&mut self, edge: &[HalfEdge]) {
        self.count += 1;
        let (first, last) = (&edge[0], &edge[edge.len() - 1]);
        self.example.get_or_insert((first.ends, [first.triangle, last.triangle]));
    }
}

/// By the divergence theorem, about the centre of the bounding box so that little cancels.
fn volume_and_centroid(triangles: &[Triangle]) -> Result<(f64, [f64; 3]), MeshError> {
    let bounds = Bounds::of_points(triangles.iter().flatten().copied());
    let origin = bounds.centre();
    let (mut volume, mut area, mut first_moment) = (0.0, 0.0, [0.0; 3]);
    for triangle in triangles {
        let normal = area_normal(triangle);
        let arm = sub(centroid(triangle), origin);
        let cone = dot(arm, normal) / 3.0;
        volume += cone;
        area += norm(normal);
        // The centroid of a cone from the origin lies at three quarters of the way to that of its base.
        first_moment = add_scaled(first_moment, 0.75 * cone, arm);
    }
    // Below this, rounding decides the volume: the surface is flat.
    let rounding = 1e-14 * area * norm(bounds.extent());
    if volume.abs() > rounding {
        Ok((volume, add_scaled(origin, 1.0 / volume, first_moment)))
    } else {
        Err(MeshError::NoVolume { volume })
    }
}
