//! Insertion: a vertex takes the place of a bad tet and of those around it that are better off with it
//! (Klingner and Shewchuk 2007).

use super::cone::Cone;
use super::{Editor, GAIN};
use crate::complex::{Across, Cavity};

/// The most tets that a cavity takes.
const MAX_CAVITY: usize = 30;

/// How many tets a cavity takes in the hope that the next one helps.
const PATIENCE: usize = 6;

impl Editor<'_> {
    /// Puts a vertex into a cavity around a tet, of tets with its label, if that makes the worst of them
    /// better. The cavity grows across the worst face as seen from the new vertex.
    pub fn insert(&mut self, tet: u32) -> bool {
        let label = self.complex.label(tet);
        let mut cavity = vec![tet];
        let mut best = (self.measure_tet(tet), 0, [0.0; 3]);
        let way = self.mean_way(tet);
        while cavity.len() <= MAX_CAVITY && cavity.len() <= best.1 + PATIENCE {
            let faces = self.cavity_faces(&cavity);
            let base: Vec<([u32; 3], u8)> = faces.iter().map(|f| (f.vertices, label)).collect();
            let cone = Cone::new(self, &base, way);
            let leeway = cone.leeway(self, cone.centre(), &[], &[]);
            let x = cone.climb(cone.centre(), &leeway, f64::INFINITY);
            if cone.reaches(x, best.0 + GAIN) {
                best = (cone.worst(x), cavity.len(), x);
            }
            let Some(next) = cone.worst_face(x, |i| faces[i].beyond.is_some()) else { break };
            cavity.push(faces[next].beyond.expect("a tet beyond"));
        }
        let (worst, size, x) = best;
        cavity.truncate(size);
        if size == 0 || worst < self.worst(&cavity) + GAIN || !self.keeps_vertices(&cavity) {
            return false;
        }
        self.fill(&cavity, label, x)
    }

    fn fill(&mut self, old: &[u32], label: u8, x: [f64; 3]) -> bool {
        let faces = self.cavity_faces(old);
        let vertex = self.complex.next_vertex();
        let new: Vec<_> =
            faces.iter().map(|f| ([vertex, f.vertices[0], f.vertices[1], f.vertices[2]], label)).collect();
        let sources = self.sources_at(x, old);
        let cavity = Cavity { old, new: &new, walls: &[], vertex: Some(x) };
        if !self.replace(cavity) {
            return false;
        }
        self.follow(vertex, &sources);
        self.books.inserted += 1;
        true
    }

    /// The boundary of a cavity, as the base of a cone.
    fn cavity_faces(&self, cavity: &[u32]) -> Vec<CavityFace> {
        let mut faces = Vec::with_capacity(2 * cavity.len() + 2);
        for &tet in cavity {
            for corner in 0..4 {
                let beyond = match self.complex.across(tet, corner) {
                    Across::Tet(other) if cavity.contains(&other) => continue,
                    Across::Tet(other) if self.complex.label(other) == self.complex.label(tet) => Some(other),
                    Across::Tet(_) | Across::Wall(_) => None,
                };
                faces.push(CavityFace { vertices: self.complex.face(tet, corner), beyond });
            }
        }
        faces
    }

    /// Whether every vertex of a cavity is on its boundary, and so is not lost.
    fn keeps_vertices(&self, cavity: &[u32]) -> bool {
        let kept: Vec<u32> = self.cavity_faces(cavity).iter().flat_map(|f| f.vertices).collect();
        cavity.iter().flat_map(|&t| self.complex.corners(t)).all(|v| kept.contains(&v))
    }

    fn mean_way(&self, tet: u32) -> [f64; 3] {
        let ways = self.complex.corners(tet).map(|v| self.way(v));
        std::array::from_fn(|i| ways.iter().map(|w| 0.25 * w[i]).sum())
    }
}

/// A face on the boundary of a cavity, and the tet behind it that the cavity could take.
struct CavityFace {
    vertices: [u32; 3],
    beyond: Option<u32>,
}
