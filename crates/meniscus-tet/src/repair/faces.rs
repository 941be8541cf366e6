//! Face removal: two tets with a face in common give way to three around the line between their apices.

use super::{Editor, GAIN};
use crate::complex::{Across, Cavity};

impl Editor<'_> {
    /// Removes the face opposite to a corner of a tet if that makes the worse of the two tets better.
    pub fn remove_face(&mut self, tet: u32, corner: usize) -> bool {
        let Across::Tet(other) = self.complex.across(tet, corner) else { return false };
        let label = self.complex.label(tet);
        if self.complex.label(other) != label {
            return false;
        }
        let [a, b, c] = self.complex.face(tet, corner);
        let apex = self.complex.corners(tet)[corner];
        let below = self.complex.corners(other).into_iter().find(|v| ![a, b, c].contains(v));
        let below = below.expect("a vertex that is not on the face");
        let new = [(a, b), (b, c), (c, a)].map(|(p, q)| ([apex, p, q, below], label));
        let after = new.iter().map(|t| self.measure(t.0)).fold(f64::INFINITY, f64::min);
        if after < self.worst(&[tet, other]) + GAIN {
            return false;
        }
        let cavity = Cavity { old: &[tet, other], new: &new, ..Cavity::default() };
        let removed = self.replace(cavity);
        self.books.faces_removed += usize::from(removed);
        removed
    }
}
