//! A complex from lists of vertices and tets.

use thiserror::Error;

use super::{Across, Complex, FACES, FIRST_WALL, NONE, encode, sorted_face};
use crate::predicates::is_positive;

/// Why lists of vertices and tets are no complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A tet refers to a vertex beyond the list.
    #[error("tet {tet} has a vertex that does not exist")]
    NoSuchVertex {
        /// Its place in the list.
        tet: usize,
    },
    /// A tet is flat or turned over.
    #[error("tet {tet} is not positive")]
    NotPositive {
        /// Its place in the list.
        tet: usize,
    },
    /// A face has more than two tets, or two on the same side.
    #[error("the face of vertices {face:?} does not lie between two tets")]
    Face {
        /// Its vertices, sorted.
        face: [u32; 3],
    },
    /// A vertex without a tet.
    #[error("vertex {vertex} has no tet")]
    LoneVertex {
        /// Its place in the list.
        vertex: usize,
    },
}

impl Complex {
    /// The complex of these vertices and tets, each a list of vertices in positive order with a label. `wall`
    /// says on which wall (below 255) a face without a tet behind it lies.
    pub fn new(
        positions: Vec<[f64; 3]>,
        tets: &[([u32; 4], u8)],
        mut wall: impl FnMut([u32; 3]) -> u8,
    ) -> Result<Self, BuildError> {
        let mut incident = vec![NONE; positions.len()];
        let mut faces = Vec::with_capacity(4 * tets.len());
        for (index, (corners, _)) in tets.iter().enumerate() {
            if corners.iter().any(|&v| v as usize >= positions.len()) {
                return Err(BuildError::NoSuchVertex { tet: index });
            }
            if !is_positive(corners.map(|v| positions[v as usize])) {
                return Err(BuildError::NotPositive { tet: index });
            }
            for (corner, &vertex) in corners.iter().enumerate() {
                let (key, even) = sorted_face(FACES[corner].map(|c| corners[c]));
                faces.push((key, even, index as u32, corner));
                incident[vertex as usize] = incident[vertex as usize].min(index as u32);
            }
        }
        if let Some(vertex) = incident.iter().position(|&tet| tet == NONE) {
            return Err(BuildError::LoneVertex { vertex });
        }
        faces.sort_unstable();
        let mut neighbours = vec![[FIRST_WALL; 4]; tets.len()];
        for group in faces.chunk_by(|a, b| a.0 == b.0) {
            match *group {
                [(face, _, tet, corner)] => {
                    neighbours[tet as usize][corner] = encode(Across::Wall(wall(face)));
                }
                [(_, false, tet, corner), (_, true, other, other_corner)] => {
                    neighbours[tet as usize][corner] = other;
                    neighbours[other as usize][other_corner] = tet;
                }
                _ => return Err(BuildError::Face { face: group[0].0 }),
            }
        }
        Ok(Self {
            tets: tets.iter().map(|t| t.0).collect(),
            neighbours,
            labels: tets.iter().map(|t| t.1).collect(),
            positions,
            incident,
            free_tets: Vec::new(),
            free_vertices: Vec::new(),
        })
    }
}
