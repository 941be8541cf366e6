//! Edge split: a vertex is put on an edge.

use meniscus_core::vector::{add_scaled, sub};

use super::Editor;
use crate::complex::{Cavity, CavityTet, Ring, WallFace};
use crate::quality::quality;

impl Editor<'_> {
    /// Splits an edge of a tet in the middle, unless the worst tet around it would fall below `floor` and be
    /// worse by more than a half. No volume changes, except where the edge lies on a curved wall, to which
    /// the new vertex is drawn. Returns the vertex.
    pub fn split(&mut self, tet: u32, a: u32, b: u32, floor: f64) -> Option<u32> {
        let ring = self.complex.ring(tet, a, b);
        let before = ring.tets.iter().map(|&t| quality(self.complex.points(t))).fold(f64::INFINITY, f64::min);
        self.split_at(&ring, a, b, 0.5, floor.min(0.5 * before))
    }

    /// Splits the edge of a ring at a share of the way from `a` to `b`, if the worst of the new tets has at
    /// least this quality.
    pub(crate) fn split_at(&mut self, ring: &Ring, a: u32, b: u32, share: f64, floor: f64) -> Option<u32> {
        let (from, to) = (self.complex.position(a), self.complex.position(b));
        let walls = walls_of(ring);
        let x = self.container.project(&walls, add_scaled(from, share, sub(to, from)));
        let vertex = self.complex.next_vertex();
        let mut new: Vec<CavityTet> = Vec::with_capacity(2 * ring.tets.len());
        for (i, &tet) in ring.tets.iter().enumerate() {
            let (p, q) = (ring.rim[i], ring.rim[(i + 1) % ring.rim.len()]);
            let label = self.complex.label(tet);
            new.extend([([a, vertex, p, q], label), ([vertex, b, p, q], label)]);
        }
        let place = |v: u32| if v == vertex { x } else { self.complex.position(v) };
        if new.iter().any(|(corners, _)| quality(corners.map(place)) < floor) {
            return None;
        }
        let wall_faces: Vec<WallFace> = match ring.walls {
            Some([first, last]) => [(ring.rim[0], first), (ring.rim[ring.rim.len() - 1], last)]
                .into_iter()
                .flat_map(|(v, id)| [([vertex, a, v], id), ([vertex, b, v], id)])
                .collect(),
            None => Vec::new(),
        };
        let cavity = Cavity { old: &ring.tets, new: &new, walls: &wall_faces, vertex: Some(x) };
        if !self.replace(cavity) {
            return None;
        }
        self.follow(vertex, &[(a, 1.0 - share), (b, share)]);
        self.books.split += 1;
        Some(vertex)
    }
}

/// The walls at the ends of a ring: those that its edge lies on.
fn walls_of(ring: &Ring) -> Vec<u8> {
    let mut walls = ring.walls.map_or(Vec::new(), |ends| ends.to_vec());
    walls.sort_unstable();
    walls.dedup();
    walls
}
