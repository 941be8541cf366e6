//! The films between bodies and what they lie on.

use std::collections::BTreeMap;

use meniscus_core::grid::{Slot, block_len};

use super::bodies::ClosedFace;
use super::faces::Faces;
use super::{SolidVelocity, Stored};
use crate::boundary::CLOSED;
use crate::rigid::{Twist, add};

/// Whether a cell without an open face, which the motions of a body take `flux` of, lies between the body and walls that rest. (Of what is
/// between it and a wall that moves, as a lift does with what stands on it, the wall takes its part too: it stays between them.)
pub(super) fn is_film<T: Stored, const D: usize>(faces: &Faces<T, D>, cell: usize, flux: &Twist) -> bool {
    // Inside the body what enters a cell leaves it.
    if flux.iter().all(|f| f.abs() <= 1e-9 * faces.liquid().grid.dx) {
        return false;
    }
    let (blocks, n) = (faces.blocks(), block_len::<D>());
    let slot = Slot { block: cell / n, local: cell % n };
    (0..D).all(|axis| {
        // The blocks may not hold the face that it leaves by.
        let Some(above) = blocks.step(slot, axis, 1) else { return false };
        let rests =
            |wall: SolidVelocity<D>| [slot, above].iter().all(|face| wall(axis, blocks.cell(*face)) == 0.0);
        faces.liquid().solid_velocity.is_none_or(rests)
    })
}

/// The cells without an open face that the motions of a body take something of.
pub(super) struct Films<'a, T, const D: usize> {
    faces: &'a Faces<'a, T, D>,
    /// What flows out of each cell, by its flat index.
    flux: BTreeMap<usize, Twist>,
    /// The faces that the body closes a part of, axis and flat index, and that part: walls leave it open.
    passages: BTreeMap<(usize, usize), f64>,
}

impl<'a, T: Stored, const D: usize> Films<'a, T, D> {
    /// `flux` is what the motions of a body that closes these faces take of the cells of its films, in order.
    pub(super) fn new(
        faces: &'a Faces<'a, T, D>,
        closed: &[ClosedFace],
        flux: BTreeMap<usize, Twist>,
    ) -> Self {
        let passages = if flux.is_empty() { &[] } else { closed };
        let passages = passages.iter().map(|face| ((face.axis, face.upper.flat::<D>()), face.part)).collect();
        Self { faces, flux, passages }
    }

    /// What is taken of the nearest unknowns instead: through the cells between, in equal parts from all that are nearer to the rim.
    /// Open air gives whatever is asked, and what has no rim is lost: a body that fits its hole is held by suction.
    pub(super) fn taken_of_rim(mut self) -> Vec<(usize, Twist)> {
        let (order, layer) = self.by_distance();
        let mut found = Vec::new();
        for &cell in order.iter().rev() {
            let nearer: Vec<Slot> = self
                .neighbours(cell)
                .filter(|other| match layer[&cell] {
                    0 => !self.faces.is_blocked(*other),
                    own => layer.get(&other.flat::<D>()) == Some(&(own - 1)),
                })
                .collect();
            let share = self.flux[&cell].map(|flux| flux / nearer.len() as f64);
            for other in nearer {
                match (self.flux.get_mut(&other.flat::<D>()), self.faces.unknown(other)) {
                    (Some(flux), _) => add(flux, &share),
                    (None, Some(unknown)) => found.push((unknown, share)),
                    (None, None) => {}
                }
            }
        }
        found
    }

    /// The cells from the rim on, and the layer that each is in: those of layer 0 have a neighbour with an open face.
    fn by_distance(&self) -> (Vec<usize>, BTreeMap<usize, usize>) {
        let at_rim = |cell: &usize| self.neighbours(*cell).any(|other| !self.faces.is_blocked(other));
        let mut order: Vec<usize> = self.flux.keys().copied().filter(at_rim).collect();
        let mut layer: BTreeMap<usize, usize> = order.iter().map(|&cell| (cell, 0)).collect();
        let mut next = 0;
        while let Some(&cell) = order.get(next) {
            next += 1;
            let further = layer[&cell] + 1;
            for other in self.neighbours(cell).map(|other| other.flat::<D>()) {
                if self.flux.contains_key(&other) && !layer.contains_key(&other) {
                    layer.insert(other, further);
                    order.push(other);
                }
            }
        }
        (order, layer)
    }

    /// The cells across the faces of a cell that the body closes, along the wall: away from it is the body itself.
    fn neighbours(&self, cell: usize) -> impl Iterator<Item = Slot> {
        let (blocks, n) = (self.faces.blocks(), block_len::<D>());
        let slot = Slot { block: cell / n, local: cell % n };
        (0..2 * D).filter_map(move |k| {
            let (axis, side) = (k / 2, k % 2);
            let other = blocks.step(slot, axis, side)?;
            let face = if side == 0 { slot } else { other };
            let is_along = !self.is_wall(slot, axis, 1 - side) || self.touches_wall(other);
            (is_along && self.passages.contains_key(&(axis, face.flat::<D>()))).then_some(other)
        })
    }

    /// Whether something else than the body closes a part of a face of a cell.
    fn is_wall(&self, cell: Slot, axis: usize, side: usize) -> bool {
        let face = if side == 0 { Some(cell) } else { self.faces.blocks().step(cell, axis, 1) };
        face.is_some_and(|face| {
            let open: f64 = self.faces.liquid().open.axes[axis][face].into();
            let by_body = self.passages.get(&(axis, face.flat::<D>()));
            open + by_body.copied().unwrap_or(0.0) < 1.0 - f64::from(CLOSED)
        })
    }

    fn touches_wall(&self, cell: Slot) -> bool {
        (0..2 * D).any(|k| self.is_wall(cell, k / 2, k % 2))
    }
}
