//! The seams between bodies: where two leave a gap of less than half a cell.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use meniscus_core::grid::Slot;

use super::{BodyView, Boundary};
use crate::projection::ClosedFace;

/// What moves along films and seams, to or from what is around them, passes faces that are open by more: a cell between bodies that has
/// no such face belongs to their seam.
pub(super) const PASSABLE: f32 = 0.5;

/// Cells at most that are counted to tell what lies on both sides of a seam; all that is larger is taken for one.
const LARGE: usize = 4096;

impl<const D: usize> Boundary<D> {
    /// The cells of seams, by flat index. Where a seam is the only way to what lies behind it, it stays open: what is shut in between bodies could not leave, and they could not meet.
    pub(super) fn seams(&self) -> BTreeSet<usize> {
        let all = self.narrow_between_bodies();
        if all.is_empty() {
            return all;
        }
        let mut sides = Sides { boundary: self, seams: &all, side_of: HashMap::new(), count: 0 };
        let mut shut = BTreeSet::new();
        let mut seen: HashSet<usize> = HashSet::new();
        for &first in &all {
            if !seen.insert(first) {
                continue;
            }
            // One seam, and what is beside it.
            let (mut cells, mut beside) = (vec![first], BTreeSet::new());
            let mut next = 0;
            while let Some(&cell) = cells.get(next) {
                next += 1;
                for other in self.open_neighbours(Slot::from_flat::<D>(cell)) {
                    let other = other.flat::<D>();
                    if !all.contains(&other) {
                        beside.insert(sides.of(other));
                    } else if seen.insert(other) {
                        cells.push(other);
                    }
                }
            }
            if beside.len() <= 1 {
                shut.extend(cells);
            }
        }
        shut
    }

    /// The cells that two bodies bound, all of whose faces are open by little.
    fn narrow_between_bodies(&self) -> BTreeSet<usize> {
        let is_slit = |face: &&ClosedFace| {
            let open = self.open.axes[face.axis][face.upper];
            open > 0.0 && open <= PASSABLE
        };
        // A body that bounds a slit closes a part of its faces, not all.
        let bounded_by = |body: &BodyView| -> BTreeSet<usize> {
            let slits = body.faces.iter().filter(is_slit);
            slits.flat_map(|face| self.sides(face)).map(Slot::flat::<D>).collect()
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

    /// The cells of the domain across the faces of a cell that are open.
    fn open_neighbours(&self, cell: Slot) -> impl Iterator<Item = Slot> {
        (0..2 * D).filter_map(move |k| {
            let (axis, side) = (k / 2, k % 2);
            let other = self.blocks.step(cell, axis, side)?;
            let face = if side == 0 { cell } else { other };
            (self.open.axes[axis][face] > 0.0 && self.blocks.is_inside(other)).then_some(other)
        })
    }

    /// Whether it is a cell of the domain, all of whose faces are open by such a fraction.
    pub(super) fn has_faces(&self, cell: Slot, is_such: impl Fn(f32) -> bool) -> bool {
        let blocks = &self.blocks;
        let is_such =
            |axis: usize, face: Option<Slot>| face.is_none_or(|face| is_such(self.open.axes[axis][face]));
        blocks.is_inside(cell)
            && (0..D).all(|axis| is_such(axis, Some(cell)) && is_such(axis, blocks.step(cell, axis, 1)))
    }

    /// The cells on both sides of a face.
    pub(super) fn sides(&self, face: &ClosedFace) -> impl Iterator<Item = Slot> + use<D> {
        [self.blocks.step(face.upper, face.axis, 0), Some(face.upper)].into_iter().flatten()
    }
}

/// What lies beside seams: cells that are connected, but not by seams, are on the same side.
struct Sides<'a, const D: usize> {
    boundary: &'a Boundary<D>,
    seams: &'a BTreeSet<usize>,
    side_of: HashMap<usize, usize>,
    count: usize,
}

impl<const D: usize> Sides<'_, D> {
    /// The side that a cell is on; 0 is all that is large.
    fn of(&mut self, cell: usize) -> usize {
        if let Some(&side) = self.side_of.get(&cell) {
            return side;
        }
        let mut found = HashSet::from([cell]);
        let mut queue = VecDeque::from([cell]);
        let mut is_large = false;
        while let Some(here) = queue.pop_front().filter(|_| !is_large) {
            for other in self.boundary.open_neighbours(Slot::from_flat::<D>(here)) {
                let other = other.flat::<D>();
                // All of a small side is found at once: what was found before is large.
                is_large |= found.len() > LARGE || self.side_of.contains_key(&other);
                if !self.seams.contains(&other) && found.insert(other) {
                    queue.push_back(other);
                }
            }
        }
        self.count += usize::from(!is_large);
        let side = if is_large { 0 } else { self.count };
        self.side_of.extend(found.into_iter().map(|cell| (cell, side)));
        side
    }
}
