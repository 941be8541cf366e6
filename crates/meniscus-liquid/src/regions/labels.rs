//! What every cell of the active blocks belongs to: a body of liquid or a region of air.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field, block_len, cell_in_block};
use rayon::prelude::*;

use super::Regions;

/// The label of cells that belong to nothing: closed in by solids, or outside the domain.
const NOTHING: u32 = u32::MAX;

/// The bit that tells a region of air from a body of liquid.
const AIR: u32 = 1 << 31;

/// What a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A body of liquid, by number.
    Body(usize),
    /// A region of air, by number.
    Region(usize),
}

impl Owner {
    /// What a label stands for.
    #[inline]
    pub fn of(label: u32) -> Option<Self> {
        match label {
            NOTHING => None,
            region if region & AIR != 0 => Some(Self::Region((region & !AIR) as usize)),
            body => Some(Self::Body(body as usize)),
        }
    }

    /// Whether both are bodies, or both are regions.
    pub fn is_like(self, other: Self) -> bool {
        matches!(self, Self::Body(_)) == matches!(other, Self::Body(_))
    }
}

impl<const D: usize> Regions<D> {
    /// The labels of the cells of blocks; [`Owner::of`] reads them.
    pub fn labels(&self, blocks: &Arc<Blocks<D>>) -> Field<u32, D> {
        let mut labels = Field::new(blocks.clone(), NOTHING);
        labels.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, labels)| {
            let coord = blocks.coord(block);
            for (local, label) in labels.iter_mut().enumerate() {
                let inner = cell_in_block::<D>(local);
                if let Some(body) = self.bodies.of_cell(coord, inner) {
                    *label = body as u32;
                } else if let Some(region) = self.air.of_cell(coord, inner) {
                    *label = region as u32 | AIR;
                }
            }
        });
        labels
    }
}
