//! The films between bodies and what they lie on, and the seams between bodies that touch.
//!
//! A cell that a body and a wall leave next to nothing of is a film. A flow through it would have to be many times faster than the body, and
//! none could be carried on to the next substep: its faces are closed, and what the motion of the body takes of it is taken of the rim (`carriers/films.rs`). So it is in the seam between two
//! bodies, where the gap is less than half a cell: without a node there they would hold each other by suction, with a node of its own they would be glued, and so each feels
//! the pressure of the rim there. Where films and seams are the only way to what lies behind them, they stay open: see [`ways`](super::ways).

use std::collections::BTreeSet;

use meniscus_core::grid::Slot;

use super::sight::Seen;
use super::{Boundary, CLOSED, NARROW};
use crate::rigid::ClosedFace;

impl<const D: usize> Boundary<D> {
    /// Closes the faces of films and seams.
    pub(super) fn close_films(&mut self, seen: &[Seen]) {
        let has_room = |cell: Slot| room(&seen[cell.block], cell.local) > f64::from(CLOSED);
        let shut = self.passed_by_none(&self.narrow_cells(seen), has_room);
        let is_shut =
            |face: &ClosedFace| face.sides(&self.blocks).any(|cell| shut.contains(&cell.flat::<D>()));
        let films: Vec<Vec<bool>> =
            self.bodies.iter().map(|body| body.faces.iter().map(is_shut).collect()).collect();
        for (body, is_shut) in self.bodies.iter_mut().zip(films) {
            for (face, _) in body.faces.iter_mut().zip(is_shut).filter(|(_, is_shut)| *is_shut) {
                let at = face.upper.flat::<D>();
                let rest = std::mem::take(&mut self.open.axes[face.axis].values_mut()[at]);
                let by_bodies = self.by_bodies.as_mut().expect("there are bodies");
                by_bodies.axes[face.axis].values_mut()[at] += rest;
                face.part += f64::from(rest);
                body.unseen.push(ClosedFace { part: -f64::from(rest), ..*face });
            }
        }
    }

    /// The cells of films and seams, by flat index.
    fn narrow_cells(&self, seen: &[Seen]) -> BTreeSet<usize> {
        let is_narrow = |cell: Slot| {
            let Seen { bodies, .. } = &seen[cell.block];
            room(&seen[cell.block], cell.local) < f64::from(NARROW)
                && 1.0 - bodies.open_volume(cell.local) > f64::from(CLOSED)
        };
        let is_film =
            |cell: &Slot| self.blocks.is_inside(*cell) && is_narrow(*cell) && self.touches_wall(*cell);
        let faces = self.bodies.iter().flat_map(|body| &body.faces);
        let films = faces.flat_map(|face| face.sides(&self.blocks)).filter(is_film).map(Slot::flat::<D>);
        films.chain(self.narrow_between_bodies()).collect()
    }

    /// Whether all faces of a cell of the domain are closed.
    pub fn is_blocked(&self, cell: Slot) -> bool {
        self.has_faces(cell, |open| open == 0.0)
    }

    /// Whether something else than bodies and sources closes a part of a face of a cell.
    pub fn is_wall(&self, cell: Slot, axis: usize, side: usize) -> bool {
        let face = if side == 0 { Some(cell) } else { self.blocks.step(cell, axis, 1) };
        face.is_some_and(|face| {
            self.inlet_speed(axis, self.blocks.cell(face)).is_none()
                && self.open.axes[axis][face] + self.closed_by_bodies(axis, face) < 1.0 - CLOSED
        })
    }

    /// Whether something else than bodies and sources closes a part of a face of a cell, whichever.
    pub fn touches_wall(&self, cell: Slot) -> bool {
        (0..2 * D).any(|k| self.is_wall(cell, k / 2, k % 2))
    }
}

/// What walls and bodies leave open of a cell. Of the two together distances at nodes would miss a gap that is less than a cell wide.
fn room(seen: &Seen, local: usize) -> f64 {
    seen.walls.open_volume(local) + seen.bodies.open_volume(local) - 1.0
}
