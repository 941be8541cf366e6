//! The complex: tets with labels that fill the whole domain.
//!
//! Every tet has four vertices in positive order, `det(x1 - x0, x2 - x0, x3 - x0) > 0`, and one label: the
//! fluid that fills it. Faces between labels are interfaces, faces without a tet behind them are walls.
//! Nothing is stored of edges and faces but who lies across each face: the tets around an edge are walked
//! ([`Complex::ring`]), those around a vertex are flooded ([`Complex::star`]).
//!
//! All editing of connectivity goes through [`Complex::replace_cavity`], which checks first and then rewires,
//! so that what holds of the complex is enforced in one place.

mod build;
mod cavity;
mod check;
mod compact;
mod ring;
mod star;
mod strata;
#[cfg(test)]
pub(crate) mod test_meshes;
#[cfg(test)]
mod tests;
mod values;

use serde::{Deserialize, Serialize};

pub use build::BuildError;
pub use cavity::{Cavity, CavityError, CavityTet, WallFace};
pub use check::Violation;
pub use ring::Ring;
pub use strata::{Sheet, StarStrata, Stratum};
pub use values::{NoValues, VertexValues};

use crate::quality::volume;

/// What stands for no vertex and no tet.
const NONE: u32 = u32::MAX;

/// Neighbours from here on are walls: `FIRST_WALL + id`. The last value is [`NONE`].
const FIRST_WALL: u32 = u32::MAX - 255;

/// The corners of the face opposite to each corner of a tet, anticlockwise seen from outside.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The corners of a tet that its edges join.
pub(crate) const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// What lies behind a face of a tet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Another tet.
    Tet(u32),
    /// The wall with this id, below 255.
    Wall(u8),
}

/// Tets with labels, and their vertices. See the [module](self).
///
/// Tets and vertices keep their index for as long as they live; slots of those removed are used again.
/// [`Complex::compact`] orders them anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Complex {
    /// The vertices of each tet; [`NONE`] in free slots.
    tets: Vec<[u32; 4]>,
    /// What lies across the face opposite to each corner: a tet, or a wall from [`FIRST_WALL`] on.
    neighbours: Vec<[u32; 4]>,
    labels: Vec<u8>,
    /// The origin in free slots.
    positions: Vec<[f64; 3]>,
    /// One tet of each vertex; [`NONE`] in free slots.
    incident: Vec<u32>,
    free_tets: Vec<u32>,
    free_vertices: Vec<u32>,
}

impl Complex {
    /// How many tets there are.
    pub fn tet_count(&self) -> usize {
        self.tets.len() - self.free_tets.len()
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.positions.len() - self.free_vertices.len()
    }

    /// One more than the largest index of a vertex there has been: the length of arrays by vertex.
    pub fn vertex_slots(&self) -> usize {
        self.positions.len()
    }

    /// One more than the largest index of a tet there has been: the length of arrays by tet.
    pub fn tet_slots(&self) -> usize {
        self.tets.len()
    }

    /// All tets, in the order of their indices.
    pub fn tets(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.tets.len() as u32).filter(|&t| self.has_tet(t))
    }

    /// All vertices, in the order of their indices.
    pub fn vertices(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.positions.len() as u32).filter(|&v| self.has_vertex(v))
    }

    /// Whether there is a tet with this index.
    pub fn has_tet(&self, tet: u32) -> bool {
        self.tets.get(tet as usize).is_some_and(|corners| corners[0] != NONE)
    }

    /// Whether there is a vertex with this index.
    pub fn has_vertex(&self, vertex: u32) -> bool {
        self.incident.get(vertex as usize).is_some_and(|&tet| tet != NONE)
    }

    /// The vertices of a tet, in positive order.
    #[inline]
    pub fn corners(&self, tet: u32) -> [u32; 4] {
        self.tets[tet as usize]
    }

    /// The positions of a tet's vertices.
    #[inline]
    pub fn points(&self, tet: u32) -> [[f64; 3]; 4] {
        self.corners(tet).map(|v| self.position(v))
    }

    /// The label of a tet.
    #[inline]
    pub fn label(&self, tet: u32) -> u8 {
        self.labels[tet as usize]
    }

    /// Gives a tet to another fluid.
    pub fn set_label(&mut self, tet: u32, label: u8) {
        assert!(self.has_tet(tet));
        self.labels[tet as usize] = label;
    }

    /// What lies across the face opposite to a corner (0 to 3) of a tet.
    #[inline]
    pub fn across(&self, tet: u32, corner: usize) -> Across {
        decode(self.neighbours[tet as usize][corner])
    }

    /// The vertices of the face opposite to a corner (0 to 3) of a tet, anticlockwise seen from outside of
    /// it.
    #[inline]
    pub fn face(&self, tet: u32, corner: usize) -> [u32; 3] {
        FACES[corner].map(|c| self.tets[tet as usize][c])
    }

    /// Where a vertex is.
    #[inline]
    pub fn position(&self, vertex: u32) -> [f64; 3] {
        self.positions[vertex as usize]
    }

    /// The positions by vertex; meaningless in free slots.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The volumes of the labels among some tets, in the order in which they are met.
    pub(crate) fn volumes_of(&self, tets: &[u32]) -> Vec<(u8, f64)> {
        let mut volumes: Vec<(u8, f64)> = Vec::new();
        for &tet in tets {
            let part = volume(self.points(tet));
            match volumes.iter_mut().find(|v| v.0 == self.label(tet)) {
                Some(v) => v.1 += part,
                None => volumes.push((self.label(tet), part)),
            }
        }
        volumes
    }

    /// Puts a vertex elsewhere. The caller answers for the tets around it.
    pub(crate) fn set_position(&mut self, vertex: u32, position: [f64; 3]) {
        self.positions[vertex as usize] = position;
    }

    /// The corner of a tet at which a vertex is.
    #[inline]
    fn corner_of(&self, tet: u32, vertex: u32) -> Option<usize> {
        self.tets[tet as usize].iter().position(|&v| v == vertex)
    }
}

#[inline]
fn decode(neighbour: u32) -> Across {
    if neighbour >= FIRST_WALL {
        Across::Wall((neighbour - FIRST_WALL) as u8)
    } else {
        Across::Tet(neighbour)
    }
}

#[inline]
fn encode(across: Across) -> u32 {
    match across {
        Across::Tet(tet) => tet,
        Across::Wall(id) => {
            debug_assert!(id < 255, "the last wall is no neighbour");
            FIRST_WALL + u32::from(id)
        }
    }
}

/// A face without its orientation, to be compared and sorted by, and whether it is an even permutation of the
/// sorted one.
#[inline]
fn sorted_face([a, b, c]: [u32; 3]) -> ([u32; 3], bool) {
    let mut key = [a, b, c];
    key.sort_unstable();
    let even = key == [a, b, c] || key == [b, c, a] || key == [c, a, b];
    (key, even)
}
