//! The tets around an edge.

use super::{Across, Complex};

/// The tets around an edge in their order: tet `i` has the edge `(a, b)` and `rim[i]`, `rim[i + 1]`, positive
/// in this order.
///
/// Around an inner edge the ring is closed and the last tet ends at `rim[0]`; around one on a wall it begins
/// and ends at walls, and the rim has one vertex more than there are tets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// The tets.
    pub tets: Vec<u32>,
    /// The vertices around the edge.
    pub rim: Vec<u32>,
    /// The ids of the walls at both ends of an open ring.
    pub walls: Option<[u8; 2]>,
}

impl Complex {
    /// The ring of an edge, beginning in one of its tets if it is closed.
    pub fn ring(&self, tet: u32, a: u32, b: u32) -> Ring {
        let (start, end) = self.opposite_edge(tet, a, b);
        let mut ring = Ring { tets: vec![tet], rim: vec![start], walls: None };
        let Some(last_wall) = self.walk(&mut ring, a, b, end) else { return ring };
        // The walk ended at a wall: walk back from there to the other one.
        let last = ring.tets[ring.tets.len() - 1];
        let (to, from) = self.opposite_edge(last, b, a);
        let mut back = Ring { tets: vec![last], rim: vec![to], walls: None };
        let first_wall = self.walk(&mut back, b, a, from).expect("an open ring has two ends");
        back.tets.reverse();
        back.rim.reverse();
        Ring { walls: Some([first_wall, last_wall]), ..back }
    }

    /// Walks on from the last tet of a ring, across the face with the vertex `to`, until the ring closes
    /// (nothing is returned) or ends at a wall, which adds the last vertex of the rim.
    fn walk(&self, ring: &mut Ring, a: u32, b: u32, mut to: u32) -> Option<u8> {
        let start = ring.tets[0];
        let mut from = ring.rim[0];
        let mut tet = start;
        loop {
            let corner = self.corner_of(tet, from).expect("a vertex of the tet");
            match self.across(tet, corner) {
                Across::Wall(id) => {
                    ring.rim.push(to);
                    return Some(id);
                }
                Across::Tet(next) if next == start => return None,
                Across::Tet(next) => {
                    ring.tets.push(next);
                    ring.rim.push(to);
                    from = to;
                    let (p, q) = self.opposite_edge(next, a, b);
                    to = if p == from { q } else { p };
                    tet = next;
                }
            }
        }
    }

    /// The two other vertices `(p, q)` of a tet with the edge `(a, b)`, so that `(a, b, p, q)` is positive.
    pub(crate) fn opposite_edge(&self, tet: u32, a: u32, b: u32) -> (u32, u32) {
        let corners = self.corners(tet);
        let i = self.corner_of(tet, a).expect("a vertex of the tet");
        let j = self.corner_of(tet, b).expect("a vertex of the tet");
        let (k, l) = EVEN_COMPLETION[i][j];
        (corners[k], corners[l])
    }
}

/// For corners `i != j` the two others `(k, l)` that make `(i, j, k, l)` an even permutation.
const EVEN_COMPLETION: [[(usize, usize); 4]; 4] = {
    let mut table = [[(0, 0); 4]; 4];
    let mut i = 0;
    while i < 4 {
        let mut j = 0;
        while j < 4 {
            if i != j {
                table[i][j] = even_completion(i, j);
            }
            j += 1;
        }
        i += 1;
    }
    table
};

const fn even_completion(i: usize, j: usize) -> (usize, usize) {
    let mut k = 0;
    while k == i || k == j {
        k += 1;
    }
    let l = 6 - i - j - k;
    // With k < l the inversions are those between i or j and the others, and that of i and j.
    let inversions =
        (i > j) as usize + (i > k) as usize + (i > l) as usize + (j > k) as usize + (j > l) as usize;
    if inversions.is_multiple_of(2) { (k, l) } else { (l, k) }
}
