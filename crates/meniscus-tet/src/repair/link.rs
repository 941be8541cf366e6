//! The link condition: whether an edge can be collapsed without a change of topology in any stratum.

use super::Editor;
use crate::complex::{Ring, StarStrata, Stratum};

/// A vertex with its star and strata.
pub(super) struct Neighbourhood {
    pub vertex: u32,
    pub star: Vec<u32>,
    pub strata: StarStrata,
}

impl Editor<'_> {
    pub(super) fn neighbourhood(&self, vertex: u32) -> Neighbourhood {
        let mut star = Vec::new();
        self.complex.star(vertex, &mut star);
        let strata = self.complex.star_strata(vertex, &star);
        Neighbourhood { vertex, star, strata }
    }

    /// Whether the links of two vertices meet in the link of their edge and nowhere else, in the complex with
    /// a cone over interfaces and walls, in the complex of interfaces and walls with a cone over lines, and
    /// in that of lines (Dey and others 1999).
    pub(super) fn link_condition(&self, a: &Neighbourhood, b: &Neighbourhood, ring: &Ring) -> bool {
        self.vertices_meet_in(a, b, &ring.rim)
            && self.edges_meet_in(a, b, ring)
            && self.faces_do_not_meet(a, b)
            && sheets_meet_at_edge(a, b)
    }

    fn vertices_meet_in(&self, a: &Neighbourhood, b: &Neighbourhood, rim: &[u32]) -> bool {
        let of_b = self.complex.link_vertices(b.vertex, &b.star);
        let common = self.complex.link_vertices(a.vertex, &a.star);
        let common = common.iter().filter(|v| of_b.binary_search(v).is_ok()).count();
        // Every vertex of the rim is in both links: as many common ones are exactly those.
        common == rim.len()
    }

    fn edges_meet_in(&self, a: &Neighbourhood, b: &Neighbourhood, ring: &Ring) -> bool {
        let edges = |n: &Neighbourhood| {
            let mut edges: Vec<[u32; 2]> = n
                .star
                .iter()
                .flat_map(|&t| {
                    let [p, q, r] = self.complex.link_face(t, n.vertex);
                    [[p.min(q), p.max(q)], [q.min(r), q.max(r)], [r.min(p), r.max(p)]]
                })
                .collect();
            edges.sort_unstable();
            edges.dedup();
            edges
        };
        let of_b = edges(b);
        edges(a).iter().filter(|e| of_b.binary_search(e).is_ok()).count() == ring.tets.len()
    }

    fn faces_do_not_meet(&self, a: &Neighbourhood, b: &Neighbourhood) -> bool {
        let faces = |n: &Neighbourhood| -> Vec<[u32; 3]> {
            n.star
                .iter()
                .map(|&t| {
                    let mut face = self.complex.link_face(t, n.vertex);
                    face.sort_unstable();
                    face
                })
                .collect()
        };
        let of_b = faces(b);
        faces(a).iter().all(|f| !of_b.contains(f))
    }
}

/// The conditions among interfaces, walls and lines.
fn sheets_meet_at_edge(a: &Neighbourhood, b: &Neighbourhood) -> bool {
    let has_face = |[p, q]: [u32; 2]| b.strata.faces.iter().any(|&(f, _)| f == [p, q] || f == [q, p]);
    if a.strata.faces.iter().any(|&(f, _)| has_face(f)) {
        return false;
    }
    let third = |v: u32| a.strata.faces.iter().any(|&(f, _)| f.contains(&v) && f.contains(&b.vertex));
    let both = |v: u32| a.strata.edge(v) < Stratum::Inside && b.strata.edge(v) < Stratum::Inside;
    let vertices = a.strata.faces.iter().flat_map(|&(f, _)| f).filter(|&v| v != b.vertex);
    let lines_apart = a.strata.line_neighbours().all(|v| v == b.vertex || b.strata.edge(v) != Stratum::Line);
    lines_apart && vertices.filter(|&v| both(v)).all(third)
}
