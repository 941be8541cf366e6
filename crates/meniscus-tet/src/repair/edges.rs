//! Edge removal: the tets around an edge give way to the best triangulation of its ring, joined to both ends
//! (Shewchuk 2002).

use super::klincsek::best_triangulation;
use super::{Editor, GAIN, MAX_TURN, VOLUME_TOLERANCE, faces_alike};
use crate::complex::{Cavity, CavityTet, Ring, Stratum, WallFace};
use crate::quality::volume;

/// Rings of more tets than this are left alone: they hardly ever have a better triangulation.
const MAX_RING: usize = 10;

/// A part of the rim with one label, to be triangulated: it is closed by the chord between its ends.
struct Part {
    rim: Vec<u32>,
    label: u8,
}

impl Editor<'_> {
    /// Removes the edge of a tet if that makes the worst tet around it better. An edge on an interface or
    /// wall is flipped within it: the two ends of the ring's halves are joined. With `lowest` inside, only
    /// edges inside of fluids are removed.
    pub fn remove_edge(&mut self, tet: u32, a: u32, b: u32, lowest: Stratum) -> bool {
        let ring = self.complex.ring(tet, a, b);
        if ring.tets.len() > MAX_RING {
            return false;
        }
        let Some(parts) = self.parts(&ring) else { return false };
        if lowest == Stratum::Inside && (ring.walls.is_some() || parts.len() > 1) {
            return false;
        }
        let Some(moved) = self.flip_volume(&ring, &parts, a, b) else { return false };
        let before = self.worst(&ring.tets);
        let mut new: Vec<CavityTet> = Vec::with_capacity(2 * ring.tets.len());
        for part in &parts {
            let tets = |[i, j, k]: [usize; 3]| {
                let (p, q, r) = (part.rim[i], part.rim[j], part.rim[k]);
                [[p, q, r, b], [p, r, q, a]]
            };
            let measure =
                |triangle| tets(triangle).map(|t| self.measure(t)).into_iter().fold(f64::INFINITY, f64::min);
            let (worst, triangles) = best_triangulation(part.rim.len(), measure);
            if worst < before + GAIN {
                return false;
            }
            new.extend(triangles.into_iter().flat_map(tets).map(|t| (t, part.label)));
        }
        let walls: Vec<WallFace> = match ring.walls {
            Some([wall, _]) => {
                [a, b].map(|v| ([v, ring.rim[0], ring.rim[ring.rim.len() - 1]], wall)).to_vec()
            }
            None => Vec::new(),
        };
        let cavity = Cavity { old: &ring.tets, new: &new, walls: &walls, vertex: None };
        if !self.replace(cavity) {
            return false;
        }
        self.books.edges_removed += 1;
        self.books.volume_moved += moved;
        true
    }

    /// The parts of a ring between its sheets: the whole of it inside of a fluid or on a wall, two on an
    /// interface. Nothing for edges on lines.
    fn parts(&self, ring: &Ring) -> Option<Vec<Part>> {
        let labels: Vec<u8> = ring.tets.iter().map(|&t| self.complex.label(t)).collect();
        let n = labels.len();
        let changes: Vec<usize> = (0..n).filter(|&i| labels[i] != labels[(i + n - 1) % n]).collect();
        match (ring.walls, changes.as_slice()) {
            (Some([first, last]), []) if first == last => {
                Some(vec![Part { rim: ring.rim.clone(), label: labels[0] }])
            }
            (None, []) => Some(vec![Part { rim: ring.rim.clone(), label: labels[0] }]),
            (None, &[i, j]) => {
                let arc = |from: usize, to: usize| (from..=to).map(|k| ring.rim[k % n]).collect();
                Some(vec![
                    Part { rim: arc(i, j), label: labels[i] },
                    Part { rim: arc(j, i + n), label: labels[j] },
                ])
            }
            _ => None,
        }
    }

    /// The volume that changes hands where an edge of an interface or wall is flipped, if it is little and no
    /// face turns far; none inside of a fluid.
    fn flip_volume(&self, ring: &Ring, parts: &[Part], a: u32, b: u32) -> Option<f64> {
        if ring.walls.is_none() && parts.len() == 1 {
            return Some(0.0);
        }
        let rim = &parts[0].rim;
        let (p, q) = (rim[0], rim[rim.len() - 1]);
        // A side without a tet to spare has the chord as an edge already.
        if rim.len() < 3 || parts.iter().any(|part| part.rim.len() < 3) {
            return None;
        }
        let x = |v: u32| self.complex.position(v);
        let old = [[x(a), x(b), x(p)], [x(b), x(a), x(q)]];
        let new = [[x(p), x(q), x(b)], [x(q), x(p), x(a)]];
        let alike = old.iter().all(|&o| new.iter().all(|&n| faces_alike(o, n, MAX_TURN)));
        let moved = volume([x(a), x(b), x(p), x(q)]).abs();
        let edge = 0.5 * (self.length(a, b) + self.length(p, q));
        (alike && moved <= VOLUME_TOLERANCE * edge.powi(3)).then_some(moved)
    }
}
