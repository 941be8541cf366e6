//! What a substep leaves to the next.

use meniscus_core::particles::{BlockRanges, SortWorkspace};
use meniscus_core::transfer::TransferWorkspace;

use super::ranges::PhaseRanges;
use crate::boundary::{Boundary, BoundaryCache};
use crate::projection;

/// Memory that one substep leaves to the next; it holds nothing that a state does not.
#[derive(Clone, Debug, Default)]
pub struct Workspace<const D: usize> {
    pub(super) ranges: Option<PhaseRanges<D>>,
    /// Where the markers of each smoke are.
    pub(super) of_smoke: Vec<BlockRanges<D>>,
    pub(super) sort: SortWorkspace<D>,
    /// Where the particles of each fluid were at the start of a substep.
    pub(super) start: [Vec<[f32; D]>; 2],
    pub(super) transfer: TransferWorkspace,
    pub(super) boundary: BoundaryCache<D>,
    /// Of the solids where they were at the start of a substep.
    pub(super) boundary_before: BoundaryCache<D>,
    pub(crate) walls: Option<Boundary<D>>,
    pub(super) projection: projection::Workspace,
}

impl<const D: usize> Workspace<D> {
    /// To be called when particles or markers of the state have been changed from outside.
    pub fn particles_changed(&mut self) {
        self.ranges = None;
        self.of_smoke.clear();
    }

    /// The walls at the end of the latest substep.
    pub(crate) fn walls(&self) -> Option<&Boundary<D>> {
        self.walls.as_ref()
    }
}
