//! Walls that let go of the liquid.

use meniscus_core::grid::{Slot, block_len};
use meniscus_core::parallel;

use super::Stored;
use super::faces::Faces;

/// How the cells at walls that let go were solved for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Separation {
    /// The cells at such walls whose pressure is that of the air, each with the rate at which the liquid in it leaves the wall, in 1/s:
    /// its divergence.
    pub cells: Vec<(Slot, f64)>,
    /// The largest |min(q, flux)| of a cell at such a wall, as a part of the largest |q|: see the [module](super).
    pub complementarity: f64,
    /// Linear systems that were solved.
    pub rounds: usize,
}

/// The liquid cells that may leave a wall, in order: those at walls that let go, with bubbles only those of them that touch open air.
pub(super) fn wall_cells<T: Stored, const D: usize>(faces: &Faces<T, D>) -> Vec<usize> {
    let Some(separates) = faces.liquid().separates else { return Vec::new() };
    let has_bubbles = faces.liquid().bubbles.is_some();
    let of_block = |block: usize| -> Vec<usize> {
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        let is_at_wall = |slot: &Slot| faces.is_unknown(*slot) && faces.touches_closed(*slot, separates);
        let may_leave = |slot: &Slot| is_at_wall(slot) && (!has_bubbles || faces.touches_open_air(*slot));
        slots.filter(may_leave).map(Slot::flat::<D>).collect()
    };
    parallel::map(faces.blocks().len(), of_block).concat()
}
