//! The films between bodies and what they lie on.

use std::collections::{BTreeMap, BTreeSet};

use meniscus_core::grid::{Slot, block_len};

use super::bodies::ClosedFace;
use super::faces::Faces;
use super::{SolidVelocity, Stored};
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
    /// The faces that the body closes a part of, axis and flat index: walls leave that part open.
    passages: BTreeSet<(usize, usize)>,
}

impl<'a, T: Stored, const D: usize> Films<'a, T, D> {
    /// `flux` is what the motions of a body that closes these faces take of the cells of its films, in order.
    pub(super) fn new(
        faces: &'a Faces<'a, T, D>,
        closed: &[ClosedFace],
        flux: BTreeMap<usize, Twist>,
    ) -> Self {
        let passages = if flux.is_empty() { &[] } else { closed };
        let passages = passages.iter().map(|face| (face.axis, face.upper.flat::<D>())).collect();
        Self { faces, flux, passages }
    }

    /// What is taken of the nearest unknowns instead: through the cells between, in equal parts from all that are nearer to the rim.
    /// Open air gives whatever is asked, and what has no rim is lost: a body that fits its hole is held by suction.
    pub(super) fn taken_of_rim(mut self) -> Vec<(usize, Twist)> {
        let layers = self.layers();
        let mut found = Vec::new();
        for d in (0..layers.len()).rev() {
            for &cell in &layers[d] {
                let nearer: Vec<Slot> = self
                    .neighbours(cell)
                    .filter(|other| match d {
                        0 => !self.faces.is_blocked(*other),
                        _ => layers[d - 1].binary_search(&other.flat::<D>()).is_ok(),
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
        }
        found
    }

    /// The cells by their distance from the rim: those of the first layer have a neighbour with an open face.
    fn layers(&self) -> Vec<Vec<usize>> {
        let at_rim = |cell: &usize| self.neighbours(*cell).any(|other| !self.faces.is_blocked(other));
        let (mut layer, mut rest): (Vec<usize>, Vec<usize>) = self.flux.keys().copied().partition(at_rim);
        let mut layers = Vec::new();
        while !layer.is_empty() {
            let is_next = |cell: &usize| {
                self.neighbours(*cell).any(|other| layer.binary_search(&other.flat::<D>()).is_ok())
            };
            let (next, left) = rest.into_iter().partition(is_next);
            layers.push(std::mem::replace(&mut layer, next));
            rest = left;
        }
        layers
    }

    /// The cells across the faces of a cell that only the body closes.
    fn neighbours(&self, cell: usize) -> impl Iterator<Item = Slot> {
        let (blocks, n) = (self.faces.blocks(), block_len::<D>());
        let slot = Slot { block: cell / n, local: cell % n };
        (0..2 * D).filter_map(move |k| {
            let (axis, side) = (k / 2, k % 2);
            let other = blocks.step(slot, axis, side)?;
            let face = if side == 0 { slot } else { other };
            self.passages.contains(&(axis, face.flat::<D>())).then_some(other)
        })
    }
}
