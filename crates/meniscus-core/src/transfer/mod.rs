//! Transfers of velocity between particles and the faces of the grid.
//!
//! The kernel is multilinear and every particle has mass one. [`particles_to_grid`] averages particle
//! velocities (with their affine part, where they have one) onto faces; [`grid_to_particles`] brings
//! them back by PIC, by a PIC/FLIP blend, or by APIC (Jiang et al. 2015, in the form for MAC grids:
//! each velocity component has its own samples, and its row of the affine matrix is
//! `c = sum_i u_i grad w_i`).
//!
//! Particles within half a cell of the domain's boundary would use samples outside it: their
//! position is clamped to the box of the samples, for each component, as [`crate::interpolate`]
//! does. Linear momentum is kept everywhere; angular momentum by APIC for all other particles.
//!
//! Particles must be sorted by block and not have moved since. Each block works on a private tile
//! with a halo of one cell; halos are then added in a fixed order, so no atomics are needed and the
//! result does not depend on the number of threads.

mod stencils;
mod to_grid;
mod to_particles;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use stencils::{BATCH, FaceTiles, Stencils};
pub use to_grid::{TransferWorkspace, particles_to_grid};
pub use to_particles::{Scheme, grid_to_particles};

use crate::grid::{BLOCK_EDGE, Blocks};
use crate::particles::{BlockRanges, Particles};

/// The kernel reaches one cell past the block of a particle.
const HALO: usize = 1;
const EDGE: usize = BLOCK_EDGE + 2 * HALO;

const MOVED: &str = "a particle is not in the block it was sorted to";

fn check_sorted<const D: usize>(particles: &Particles<D>, ranges: &BlockRanges<D>, blocks: &Arc<Blocks<D>>) {
    assert!(
        Arc::ptr_eq(ranges.blocks(), blocks) || ranges.blocks() == blocks,
        "particles are sorted by the blocks of the velocity field"
    );
    assert!(ranges.sorted() <= particles.len(), "particles were removed since the sort");
}
