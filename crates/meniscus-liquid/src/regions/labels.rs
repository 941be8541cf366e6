//! What every cell of the active blocks belongs to: a body of liquid or a region of air.

use std::sync::Arc;

use meniscus_core::components::{BlockCells, Components};
use meniscus_core::grid::{Blocks, Field, block_len};
use meniscus_core::parallel;

/// The label of cells that belong to nothing: closed in by solids, or outside the domain.
pub const NOTHING: u32 = u32::MAX;

/// The bit that tells a region of air from a body of liquid.
const AIR: u32 = 1 << 31;

/// What a cell belongs to: a [`LiquidBody`](crate::LiquidBody) or an [`AirRegion`](crate::AirRegion).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A body of liquid, by number.
    Liquid(usize),
    /// A region of air, by number.
    Air(usize),
}

impl Owner {
    /// What a label stands for.
    #[inline]
    pub fn of(label: u32) -> Option<Self> {
        match label {
            NOTHING => None,
            region if region & AIR != 0 => Some(Self::Air((region & !AIR) as usize)),
            body => Some(Self::Liquid(body as usize)),
        }
    }

    /// The label that stands for it.
    pub fn label(self) -> u32 {
        match self {
            Self::Liquid(body) => body as u32,
            Self::Air(region) => region as u32 | AIR,
        }
    }

    /// Whether both are liquid, or both are air.
    pub fn is_like(self, other: Self) -> bool {
        matches!(self, Self::Liquid(_)) == matches!(other, Self::Liquid(_))
    }
}

/// The labels of the cells of blocks.
pub fn find_labels<const D: usize>(
    bodies: &Components<D>,
    air: &Components<D>,
    blocks: &Arc<Blocks<D>>,
) -> Field<u32, D> {
    let mut labels = Field::new(blocks.clone(), NOTHING);
    parallel::for_chunks(labels.values_mut(), block_len::<D>(), |block, labels| {
        let coord = blocks.coord(block);
        for (components, kind) in [(bodies, 0), (air, AIR)] {
            let of_parts = components.of_parts(coord);
            match components.block(coord) {
                BlockCells::None => {}
                BlockCells::All => labels.fill(of_parts[0] | kind),
                BlockCells::Some(parts) => {
                    for (part, component) in parts.iter().zip(of_parts) {
                        part.fill(component | kind, labels);
                    }
                }
            }
        }
    });
    labels
}
