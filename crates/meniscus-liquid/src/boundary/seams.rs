//! The seams between bodies: where two leave a gap of less than half a cell.

use std::collections::BTreeSet;

use meniscus_core::grid::Slot;

use super::{BodyView, Boundary};
use crate::rigid::ClosedFace;

/// What moves along films and seams, to or from what is around them, passes faces that are open by more, a part: a cell between bodies that has
/// no such face belongs to their seam. Half a cell is the widest gap in which a node of its own would hold the bodies together by suction.
pub const PASSABLE: f32 = 0.5;

impl<const D: usize> Boundary<D> {
    /// The cells that two bodies bound, all of whose faces are open by little.
    pub(super) fn narrow_between_bodies(&self) -> BTreeSet<usize> {
        let is_slit = |face: &&ClosedFace| {
            let open = self.open.axes[face.axis][face.upper];
            open > 0.0 && open <= PASSABLE
        };
        // A body that bounds a slit closes a part of its faces, not all.
        let bounded_by = |body: &BodyView| -> BTreeSet<usize> {
            let slits = body.faces.iter().filter(is_slit);
            slits.flat_map(|face| face.sides(&self.blocks)).map(Slot::flat::<D>).collect()
        };
        let (mut narrow, mut bounded) = (BTreeSet::new(), BTreeSet::new());
        for body in &self.bodies {
            for cell in bounded_by(body) {
                let is_narrow = || self.has_faces(Slot::from_flat::<D>(cell), |open| open <= PASSABLE);
                if !bounded.insert(cell) && is_narrow() {
                    narrow.insert(cell);
                }
            }
        }
        narrow
    }

    /// Whether it is a cell of the domain, all of whose faces are open by such a fraction.
    pub(super) fn has_faces(&self, cell: Slot, is_such: impl Fn(f32) -> bool) -> bool {
        let blocks = &self.blocks;
        let is_such =
            |axis: usize, face: Option<Slot>| face.is_none_or(|face| is_such(self.open.axes[axis][face]));
        blocks.is_inside(cell)
            && (0..D).all(|axis| is_such(axis, Some(cell)) && is_such(axis, blocks.step(cell, axis, 1)))
    }
}
