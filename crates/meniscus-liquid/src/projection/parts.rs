//! Affine tiles block by block.

use meniscus_core::grid::{Blocks, Mask, block_len};
use meniscus_core::parallel;

use super::{AffineTiles, NO_TILE};

/// By block, the cells of each tile that has any there.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts<const D: usize> {
    of_block: Vec<Vec<(u32, Mask<D>)>>,
    carried: Vec<Carried>,
}

/// Whether tiles carry the lower faces of a block's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    None,
    Some,
    All,
}

impl<const D: usize> Parts<D> {
    pub(super) fn new(blocks: &Blocks<D>, tiles: &AffineTiles) -> Self {
        let of_block: Vec<Vec<(u32, Mask<D>)>> = parallel::map(blocks.len(), |block| {
            parts_of_block(parallel::chunk(&tiles.of_slot, block_len::<D>(), block))
        });
        let carried = |block: usize| {
            let is_below =
                |axis: usize| blocks.neighbour(block, axis, 0).is_some_and(|b| !of_block[b].is_empty());
            match of_block[block].as_slice() {
                [(_, cells)] if cells.is_full() => Carried::All,
                [] if !(0..D).any(is_below) => Carried::None,
                _ => Carried::Some,
            }
        };
        let carried = parallel::map(blocks.len(), carried);
        Self { of_block, carried }
    }

    #[inline]
    pub(super) fn carried(&self, block: usize) -> Carried {
        self.carried.get(block).copied().unwrap_or(Carried::None)
    }

    pub(super) fn of_block(&self, block: usize) -> &[(u32, Mask<D>)] {
        &self.of_block[block]
    }

    /// The cells of a block that tiles carry.
    pub(super) fn cells(&self, block: usize) -> Mask<D> {
        let parts = self.of_block.get(block).map_or(&[][..], Vec::as_slice);
        parts.iter().fold(Mask::EMPTY, |all, part| all.or(&part.1))
    }

    /// For each tile at hand: the places of a block whose lower (`side` 0) or upper (`side` 1) neighbour along an axis it has.
    pub(super) fn beside(
        &self,
        blocks: &Blocks<D>,
        block: usize,
        axis: usize,
        side: usize,
    ) -> Vec<(usize, Mask<D>)> {
        let Some(own) = self.of_block.get(block) else { return Vec::new() };
        let beyond = blocks.neighbour(block, axis, side);
        let near = beyond.map_or(&[][..], |beyond| &self.of_block[beyond]);
        let mut tiles: Vec<u32> = own.iter().chain(near).map(|part| part.0).collect();
        tiles.sort_unstable();
        tiles.dedup();
        let places = |tile: u32| {
            let [own, beyond] = [Some(block), beyond].map(|block| self.cells_of(block, tile));
            (tile as usize, own.beside(axis, side, &beyond))
        };
        tiles.into_iter().map(places).collect()
    }

    fn cells_of(&self, block: Option<usize>, tile: u32) -> Mask<D> {
        let parts = block.map_or(&[][..], |block| &self.of_block[block]);
        parts.iter().find(|part| part.0 == tile).map_or(Mask::EMPTY, |part| part.1)
    }

    /// For each tile at hand: its cells in a block, and the cells above its own along an axis. The faces that it carries are the lower ones of both.
    pub(super) fn along(&self, blocks: &Blocks<D>, block: usize, axis: usize) -> Vec<(usize, [Mask<D>; 2])> {
        let below = blocks.neighbour(block, axis, 0);
        let mut found: Vec<(usize, [Mask<D>; 2])> = Vec::new();
        let near = below.map_or(&[][..], |below| &self.of_block[below]).iter();
        for &(tile, _) in self.of_block[block].iter().chain(near) {
            if !found.iter().any(|f| f.0 == tile as usize) {
                let own = self.cells_of(Some(block), tile);
                let above = own.raised(axis, &self.cells_of(below, tile));
                if !(own.is_empty() && above.is_empty()) {
                    found.push((tile as usize, [own, above]));
                }
            }
        }
        found
    }
}

fn parts_of_block<const D: usize>(of_slot: &[u32]) -> Vec<(u32, Mask<D>)> {
    let first = of_slot[0];
    if of_slot.iter().all(|&tile| tile == first) {
        return if first == NO_TILE { Vec::new() } else { vec![(first, Mask::all())] };
    }
    let mut parts: Vec<(u32, Mask<D>)> = Vec::new();
    let mut last = NO_TILE;
    for &tile in of_slot {
        if tile != last && tile != NO_TILE && !parts.iter().any(|part| part.0 == tile) {
            parts.push((tile, Mask::from_fn(|local| of_slot[local] == tile)));
        }
        last = tile;
    }
    parts
}
