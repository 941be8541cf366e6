//! The tets around a vertex, and the edges and faces that they have there.

use super::{Across, Complex};

impl Complex {
    /// The tets around a vertex, in place of what `star` holds.
    pub fn star(&self, vertex: u32, star: &mut Vec<u32>) {
        star.clear();
        star.push(self.incident[vertex as usize]);
        let mut next = 0;
        while next < star.len() {
            let tet = star[next];
            next += 1;
            for corner in 0..4 {
                if self.tets[tet as usize][corner] == vertex {
                    continue;
                }
                if let Across::Tet(other) = self.across(tet, corner)
                    && !star.contains(&other)
                {
                    star.push(other);
                }
            }
        }
    }

    /// The face of a tet opposite to one of its vertices. The vertex and then the face are in positive order.
    pub(crate) fn link_face(&self, tet: u32, vertex: u32) -> [u32; 3] {
        self.face(tet, self.corner_of(tet, vertex).expect("a vertex of the tet"))
    }

    /// The vertices joined to a vertex by an edge, sorted, given its star.
    pub(crate) fn link_vertices(&self, vertex: u32, star: &[u32]) -> Vec<u32> {
        let mut link: Vec<u32> =
            star.iter().flat_map(|&t| self.corners(t)).filter(|&v| v != vertex).collect();
        link.sort_unstable();
        link.dedup();
        link
    }

    /// A tet with both vertices, if an edge joins them.
    pub fn tet_of_edge(&self, a: u32, b: u32) -> Option<u32> {
        let mut star = Vec::new();
        self.star(a, &mut star);
        star.into_iter().find(|&tet| self.corner_of(tet, b).is_some())
    }
}
