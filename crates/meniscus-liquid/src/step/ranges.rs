//! Where the sorted particles of each fluid are.

use std::sync::Arc;

use meniscus_core::grid::Blocks;
use meniscus_core::particles::{BlockRanges, SortWorkspace};

use crate::params::Params;
use crate::state::{Phase, State};

/// Where the particles of each fluid begin in each block.
#[derive(Clone, Debug)]
pub struct PhaseRanges<const D: usize> {
    /// Of the liquid.
    pub liquid: BlockRanges<D>,
    /// Of the second fluid, if there is one.
    pub second: Option<BlockRanges<D>>,
}

impl<const D: usize> PhaseRanges<D> {
    /// Sorts the particles of all fluids by blocks.
    pub fn sort(
        state: &mut State<D>,
        params: &Params<D>,
        blocks: &Arc<Blocks<D>>,
        workspace: &mut SortWorkspace<D>,
    ) -> Self {
        let liquid = state.sort(Phase::Liquid, blocks, workspace);
        let second = params.second().map(|_| state.sort(Phase::Second, blocks, workspace));
        Self { liquid, second }
    }

    /// Each fluid that particles carry, and its ranges.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, &BlockRanges<D>)> {
        [(Phase::Liquid, &self.liquid)].into_iter().chain(self.second.iter().map(|r| (Phase::Second, r)))
    }
}
