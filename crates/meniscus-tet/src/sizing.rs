//! How long edges should be, and the splits and collapses that make them so.

use crate::complex::{Complex, EDGES};
use crate::container::distance;
use crate::repair::Editor;

/// Edges longer than this many times what is wanted are split.
const LONG: f64 = 1.4;

/// Edges shorter than this many times what is wanted are collapsed.
const SHORT: f64 = 0.6;

/// The least quality that splits and collapses leave, where it was better before.
const SPLIT_FLOOR: f64 = 0.1;
const COLLAPSE_FLOOR: f64 = 0.3;

/// Rounds of splits: each halves edges once.
const SPLIT_ROUNDS: usize = 3;

/// The lengths that edges should have: short at interfaces, longer with the distance from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// At interfaces, m.
    pub surface: f64,
    /// The most anywhere, m.
    pub interior: f64,
    /// How much longer the edges of each further layer may be: 1.4 makes them longer by 0.4 times the
    /// distance.
    pub growth: f64,
}

impl Sizing {
    /// The length at a distance from the nearest interface.
    pub fn at(&self, distance: f64) -> f64 {
        (self.surface + (self.growth - 1.0) * distance).min(self.interior)
    }

    /// The length at each vertex, from distances along edges.
    pub fn field(&self, complex: &Complex) -> Vec<f64> {
        let slope = self.growth - 1.0;
        let mut wanted = vec![self.interior; complex.vertex_slots()];
        for vertex in complex.tets().flat_map(|tet| complex.interface_corners(tet)) {
            wanted[vertex as usize] = self.surface;
        }
        let mut changes = true;
        while changes {
            changes = false;
            for tet in complex.tets() {
                let corners = complex.corners(tet);
                for (a, b) in EDGES.map(|(i, j)| (corners[i], corners[j])) {
                    let (here, there) = (wanted[a as usize], wanted[b as usize]);
                    let (low, far) = if here < there { (here, b) } else { (there, a) };
                    let reached = low + slope * distance(complex.position(a), complex.position(b));
                    if reached < wanted[far as usize] {
                        wanted[far as usize] = reached;
                        changes = true;
                    }
                }
            }
        }
        wanted
    }
}

/// An edge that is too long or too short.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its length over what is wanted.
    ratio: f64,
    ends: (u32, u32),
}

impl Editor<'_> {
    /// Splits edges that are too long, the longest first, and collapses those that are too short, the
    /// shortest first.
    pub fn resize(&mut self, sizing: &Sizing) {
        let mut wanted = sizing.field(self.complex());
        for _ in 0..SPLIT_ROUNDS {
            let mut long = self.edges_by_ratio(&wanted, |ratio| ratio > LONG);
            long.reverse();
            if long.is_empty() {
                break;
            }
            for Candidate { ends: (a, b), .. } in long {
                let Some(tet) = self.complex().tet_of_edge(a, b) else { continue };
                let between = 0.5 * (wanted[a as usize] + wanted[b as usize]);
                if let Some(vertex) = self.split(tet, a, b, SPLIT_FLOOR) {
                    wanted.resize(self.complex().vertex_slots(), 0.0);
                    wanted[vertex as usize] = between;
                }
            }
        }
        for Candidate { ends: (a, b), .. } in self.edges_by_ratio(&wanted, |ratio| ratio < SHORT) {
            let both = self.complex().has_vertex(a) && self.complex().has_vertex(b);
            // The vertex that another collapse made may have the index of one that it took: the edge is
            // looked at again.
            if both
                && let Some(tet) = self.complex().tet_of_edge(a, b)
                && self.ratio(&wanted, a, b) < SHORT
            {
                let longest = LONG * wanted[a as usize].min(wanted[b as usize]);
                self.collapse_short(tet, a, b, COLLAPSE_FLOOR, longest);
            }
        }
    }

    fn ratio(&self, wanted: &[f64], a: u32, b: u32) -> f64 {
        let length = distance(self.complex().position(a), self.complex().position(b));
        2.0 * length / (wanted[a as usize] + wanted[b as usize])
    }

    /// The edges of some ratios of length to what is wanted, in ascending order.
    fn edges_by_ratio(&self, wanted: &[f64], of: impl Fn(f64) -> bool) -> Vec<Candidate> {
        let mut edges = Vec::new();
        for tet in self.complex().tets() {
            let corners = self.complex().corners(tet);
            for (i, j) in EDGES {
                let (a, b) = (corners[i].min(corners[j]), corners[i].max(corners[j]));
                let ratio = self.ratio(wanted, a, b);
                if of(ratio) {
                    edges.push(Candidate { ratio, ends: (a, b) });
                }
            }
        }
        edges.sort_by(|p, q| p.ratio.total_cmp(&q.ratio).then(p.ends.cmp(&q.ends)));
        edges.dedup_by_key(|edge| edge.ends);
        edges
    }
}
