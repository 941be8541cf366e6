//! What must hold of every complex at any time.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Across, Complex, NONE, sorted_face};
use crate::predicates::is_positive;

/// What does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// A tet is flat or turned over.
    #[error("tet {0} is not positive")]
    NotPositive(u32),
    /// A tet and what it has for a neighbour do not share their face from opposite sides.
    #[error("tet {0} and its neighbour {1} do not fit")]
    Neighbours(u32, u32),
    /// The tet of a vertex does not have it, or tets with the vertex cannot be reached from it.
    #[error("the tets of vertex {0} are not one star")]
    Star(u32),
    /// A free slot holds something, or a tet has a removed vertex.
    #[error("slot {0} is neither free nor taken")]
    Slot(u32),
}

impl Complex {
    /// Checks everything; slow, for tests.
    pub fn check(&self) -> Result<(), Violation> {
        self.check_slots()?;
        for tet in self.tets() {
            if !is_positive(self.points(tet)) {
                return Err(Violation::NotPositive(tet));
            }
            self.check_neighbours(tet)?;
        }
        self.check_stars()
    }

    fn check_slots(&self) -> Result<(), Violation> {
        let free_tets: BTreeSet<u32> = self.free_tets.iter().copied().collect();
        for tet in 0..self.tets.len() as u32 {
            let free = free_tets.contains(&tet);
            let corners = self.corners(tet);
            let sound = if free { corners == [NONE; 4] } else { corners.iter().all(|&v| self.has_vertex(v)) };
            if !sound {
                return Err(Violation::Slot(tet));
            }
        }
        let free_vertices: BTreeSet<u32> = self.free_vertices.iter().copied().collect();
        match (0..self.positions.len() as u32).find(|v| free_vertices.contains(v) == self.has_vertex(*v)) {
            Some(vertex) => Err(Violation::Slot(vertex)),
            None => Ok(()),
        }
    }

    fn check_neighbours(&self, tet: u32) -> Result<(), Violation> {
        for corner in 0..4 {
            let Across::Tet(other) = self.across(tet, corner) else { continue };
            let face = sorted_face(self.face(tet, corner));
            let back = (0..4).any(|c| {
                self.has_tet(other)
                    && self.across(other, c) == Across::Tet(tet)
                    && sorted_face(self.face(other, c)) == (face.0, !face.1)
            });
            if !back {
                return Err(Violation::Neighbours(tet, other));
            }
        }
        Ok(())
    }

    fn check_stars(&self) -> Result<(), Violation> {
        let mut tets_of = vec![0; self.positions.len()];
        for tet in self.tets() {
            for vertex in self.corners(tet) {
                tets_of[vertex as usize] += 1;
            }
        }
        let mut star = Vec::new();
        for vertex in self.vertices() {
            let incident = self.incident[vertex as usize];
            if !self.has_tet(incident) || self.corner_of(incident, vertex).is_none() {
                return Err(Violation::Star(vertex));
            }
            self.star(vertex, &mut star);
            if star.len() != tets_of[vertex as usize] {
                return Err(Violation::Star(vertex));
            }
        }
        Ok(())
    }

    /// Vertices less edges plus faces less tets: one for a domain that is a ball.
    pub fn euler_characteristic(&self) -> i64 {
        let mut edges = BTreeSet::new();
        let mut faces = BTreeSet::new();
        for tet in self.tets() {
            for corner in 0..4 {
                let key = sorted_face(self.face(tet, corner)).0;
                faces.insert(key);
                edges.extend([(key[0], key[1]), (key[1], key[2]), (key[0], key[2])]);
            }
        }
        self.vertex_count() as i64 - edges.len() as i64 + faces.len() as i64 - self.tet_count() as i64
    }
}
