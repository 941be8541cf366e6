//! Repairs: operations that make bad tets better without changing what the complex stands for.
//!
//! An operation is made if the worst of the tets that it makes is better than the worst of those that it
//! takes, if it changes the volume of no label (inside of a fluid; on interfaces by no more than
//! [`VOLUME_TOLERANCE`] times the cube of the edges' length, which is booked) and turns no face of an
//! interface by more than 15 degrees, and if every stratum keeps its topology.

mod collapse;
mod cone;
mod edges;
mod faces;
mod insert;
mod klincsek;
mod link;
mod smooth;
mod split;
#[cfg(test)]
mod tests;

use meniscus_core::vector::{add_scaled, cross, dot, norm, sub};

use crate::complex::{Cavity, Complex, EDGES, Stratum, VertexValues};
use crate::container::{Container, distance};
use crate::quality::quality;

/// The most an operation on an interface may change the volume of a label, over the cube of the mean edge.
pub const VOLUME_TOLERANCE: f64 = 1e-4;

/// Vertices are inserted only for tets below this share of the quality that is asked for: it is the dearest
/// operation.
const INSERT_BELOW: f64 = 0.5;

/// How much better the worst tet must become.
const GAIN: f64 = 1e-6;

/// The cosine of the angle that no face of an interface turns by.
const MAX_TURN: f64 = 0.965_925_826_289_068_3;

/// What repairs did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Books {
    /// Vertices smoothed.
    pub smoothed: usize,
    /// Edges removed.
    pub edges_removed: usize,
    /// Faces removed.
    pub faces_removed: usize,
    /// Edges collapsed.
    pub collapsed: usize,
    /// Edges split.
    pub split: usize,
    /// Vertices put into cavities.
    pub inserted: usize,
    /// Sum of the absolute changes of labels' volumes by operations on interfaces.
    pub volume_moved: f64,
}

impl Books {
    /// All operations together.
    pub fn operations(&self) -> usize {
        self.smoothed + self.edges_removed + self.faces_removed + self.collapsed + self.split + self.inserted
    }

    /// Adds what other repairs did.
    pub fn add(&mut self, other: &Self) {
        self.smoothed += other.smoothed;
        self.edges_removed += other.edges_removed;
        self.faces_removed += other.faces_removed;
        self.collapsed += other.collapsed;
        self.split += other.split;
        self.inserted += other.inserted;
        self.volume_moved += other.volume_moved;
    }
}

/// Where operations work: the complex, what follows it, and the books.
pub struct Editor<'a> {
    complex: &'a mut Complex,
    container: &'a Container,
    values: &'a mut dyn VertexValues,
    /// The way that each vertex still has to go: tets are judged by their worse shape now and at its end.
    /// Empty where nothing moves.
    ahead: Vec<[f64; 3]>,
    /// Vertices whose tets were changed since this list was cleared.
    touched: Vec<u32>,
    /// What was done.
    pub books: Books,
}

impl<'a> Editor<'a> {
    /// An editor of a complex that is at rest.
    pub fn new(complex: &'a mut Complex, container: &'a Container, values: &'a mut dyn VertexValues) -> Self {
        Self { complex, container, values, ahead: Vec::new(), touched: Vec::new(), books: Books::default() }
    }

    /// An editor of a complex on the move. The ways are returned by [`Editor::finish`].
    pub(crate) fn moving(
        complex: &'a mut Complex,
        container: &'a Container,
        values: &'a mut dyn VertexValues,
        ahead: Vec<[f64; 3]>,
    ) -> Self {
        Self { complex, container, values, ahead, touched: Vec::new(), books: Books::default() }
    }

    /// What was done, and the ways ahead.
    pub(crate) fn finish(self) -> (Books, Vec<[f64; 3]>) {
        (self.books, self.ahead)
    }

    /// The complex.
    pub fn complex(&self) -> &Complex {
        self.complex
    }

    /// Tries to bring every tet to a quality of `target`: rounds over those below, worst first, until a round
    /// changes nothing. After the first round only those are tried again that something changed around.
    pub fn improve(&mut self, target: f64, rounds: usize) {
        let mut is_new = vec![true; self.complex.vertex_slots()];
        for _ in 0..rounds {
            let bad = self.bad_tets(target, &is_new);
            self.touched.clear();
            for (tet, corners) in bad {
                self.improve_tet(tet, corners, target);
            }
            if self.touched.is_empty() {
                break;
            }
            is_new = vec![false; self.complex.vertex_slots()];
            for &vertex in &self.touched {
                is_new[vertex as usize] = true;
            }
        }
    }

    /// The tets below a quality with a vertex that something changed around, worst first.
    fn bad_tets(&self, target: f64, is_new: &[bool]) -> Vec<(u32, [u32; 4])> {
        let with_new = |t: &u32| self.complex.corners(*t).iter().any(|&v| is_new[v as usize]);
        let mut bad: Vec<(f64, u32)> =
            self.complex.tets().filter(with_new).map(|t| (self.measure_tet(t), t)).collect();
        bad.retain(|b| b.0 < target);
        bad.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        bad.into_iter().map(|(_, t)| (t, self.complex.corners(t))).collect()
    }

    /// Does what a cavity proposes, unless it is refused.
    fn replace(&mut self, cavity: Cavity<'_>) -> bool {
        let replaced = self.complex.replace_cavity(cavity).is_ok();
        if replaced {
            self.touched.extend(cavity.new.iter().flat_map(|t| t.0));
        }
        replaced
    }

    /// Tries the operations in order until the tet is gone or good. Interfaces and walls are touched only if
    /// nothing else helps.
    fn improve_tet(&mut self, tet: u32, corners: [u32; 4], target: f64) {
        for lowest in [Stratum::Inside, Stratum::Line] {
            for vertex in corners {
                if self.is_done(tet, corners, target) {
                    return;
                }
                self.smooth(vertex, target, lowest);
            }
            for (i, j) in EDGES {
                if self.is_done(tet, corners, target) {
                    return;
                }
                self.remove_edge(tet, corners[i], corners[j], lowest);
            }
        }
        for corner in 0..4 {
            if self.is_done(tet, corners, target) {
                return;
            }
            self.remove_face(tet, corner);
        }
        for (i, j) in EDGES {
            if self.is_done(tet, corners, target) {
                return;
            }
            self.collapse(tet, corners[i], corners[j]);
        }
        if !self.is_done(tet, corners, INSERT_BELOW * target) {
            self.insert(tet);
        }
    }

    fn is_done(&self, tet: u32, corners: [u32; 4], target: f64) -> bool {
        !self.complex.has_tet(tet) || self.complex.corners(tet) != corners || self.measure_tet(tet) >= target
    }

    /// The quality of a tet, or if it is worse that at the end of the motion.
    fn measure_tet(&self, tet: u32) -> f64 {
        self.measure(self.complex.corners(tet))
    }

    /// The quality of the tet with these corners, or if it is worse that at the end of the motion.
    fn measure(&self, corners: [u32; 4]) -> f64 {
        let now = quality(corners.map(|v| self.complex.position(v)));
        if self.ahead.is_empty() { now } else { now.min(quality(corners.map(|v| self.end_of(v)))) }
    }

    fn worst(&self, tets: &[u32]) -> f64 {
        tets.iter().map(|&t| self.measure_tet(t)).fold(f64::INFINITY, f64::min)
    }

    fn way(&self, vertex: u32) -> [f64; 3] {
        self.ahead.get(vertex as usize).copied().unwrap_or_default()
    }

    fn end_of(&self, vertex: u32) -> [f64; 3] {
        add_scaled(self.complex.position(vertex), 1.0, self.way(vertex))
    }

    /// A vertex that is new or elsewhere takes its values, and its way, from what was there.
    fn follow(&mut self, vertex: u32, sources: &[(u32, f64)]) {
        self.values.interpolate(vertex, sources);
        if !self.ahead.is_empty() {
            self.ahead.interpolate(vertex, sources);
        }
    }

    fn length(&self, a: u32, b: u32) -> f64 {
        distance(self.complex.position(a), self.complex.position(b))
    }
}

/// Whether the angle between two triangles is less than that of this cosine.
fn faces_alike(a: [[f64; 3]; 3], b: [[f64; 3]; 3], max_turn: f64) -> bool {
    let normal = |[p, q, r]: [[f64; 3]; 3]| cross(sub(q, p), sub(r, p));
    let (m, n) = (normal(a), normal(b));
    dot(m, n) > max_turn * norm(m) * norm(n)
}
