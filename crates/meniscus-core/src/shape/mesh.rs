//! Triangle meshes as they come from files.

use std::collections::HashMap;

/// A list of triangles in space. It need not be closed; [`ClosedMesh`](super::ClosedMesh) is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// The positions of the vertices.
    pub vertices: Vec<[f64; 3]>,
    /// The corners of each triangle as indices into `vertices`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// The same triangles with vertices at exactly the same position made one, as formats without
    /// shared vertices (STL) need. Vertices keep the order of their first appearance.
    ///
    /// # Panics
    /// If a triangle uses a vertex that does not exist.
    pub fn welded(&self) -> Self {
        let mut vertices = Vec::new();
        let mut known = HashMap::new();
        let merged: Vec<u32> = self
            .vertices
            .iter()
            .map(|&position| {
                // Adding zero turns -0 into 0, so that equal positions have equal bits.
                *known.entry(position.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
                    vertices.push(position);
                    (vertices.len() - 1) as u32
                })
            })
            .collect();
        let triangles = self.triangles.iter().map(|t| t.map(|v| merged[v as usize])).collect();
        Self { vertices, triangles }
    }
}
