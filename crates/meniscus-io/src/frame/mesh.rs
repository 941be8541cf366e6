//! A surface of a frame: triangles in space, segments in the plane.

use std::borrow::Cow;

use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::attributes::{Attributes, PackedAttributes, into_owned};

/// Vertices, and what joins `D` of them: triangles in space, segments in the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh<'a, const D: usize> {
    /// Where the vertices are, exactly.
    pub position: Cow<'a, [[f32; D]]>,
    /// What each vertex has.
    pub of_vertices: Attributes<'a, D>,
    /// The vertices of each triangle or segment.
    pub faces: Cow<'a, [[u32; D]]>,
    /// What each triangle or segment has.
    pub of_faces: Attributes<'a, D>,
}

impl<const D: usize> Mesh<'_, D> {
    pub(super) fn into_owned(self) -> Mesh<'static, D> {
        Mesh {
            position: Cow::Owned(self.position.into_owned()),
            of_vertices: into_owned(self.of_vertices),
            faces: Cow::Owned(self.faces.into_owned()),
            of_faces: into_owned(self.of_faces),
        }
    }
}

/// Numbers of so many that follow one another are stored relative to the largest.
const GROUP: usize = 256;

/// A mesh as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedMesh<const D: usize> {
    #[serde(with = "bulk")]
    position: Vec<[f32; D]>,
    of_vertices: PackedAttributes,
    #[serde(with = "bulk")]
    faces: Vec<[u32; D]>,
    of_faces: PackedAttributes,
}

impl<const D: usize> PackedMesh<D> {
    pub(super) fn new(mesh: &Mesh<D>) -> Self {
        Self {
            position: mesh.position.to_vec(),
            of_vertices: PackedAttributes::new(&mesh.of_vertices, &groups(mesh.position.len())),
            faces: mesh.faces.to_vec(),
            of_faces: PackedAttributes::new(&mesh.of_faces, &groups(mesh.faces.len())),
        }
    }

    pub(super) fn unpack(self) -> Result<Mesh<'static, D>, String> {
        let count = self.position.len();
        if self.faces.as_flattened().iter().any(|&vertex| vertex as usize >= count) {
            return Err(format!("its mesh joins vertices beyond the {count} that it has"));
        }
        Ok(Mesh {
            of_vertices: self.of_vertices.unpack(&groups(count))?,
            of_faces: self.of_faces.unpack(&groups(self.faces.len()))?,
            position: Cow::Owned(self.position),
            faces: Cow::Owned(self.faces),
        })
    }
}

/// The sizes of groups that so many fall into.
fn groups(count: usize) -> Vec<u32> {
    (0..count).step_by(GROUP).map(|first| GROUP.min(count - first) as u32).collect()
}
