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

mod to_grid;
mod to_particles;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use to_grid::{ToGridInfo, TransferWorkspace, particles_to_grid};
pub use to_particles::{Scheme, grid_to_particles};

use crate::grid::{BLOCK_EDGE, Blocks};
use crate::interpolate::{bracket, to_integer};
use crate::particles::{BlockRanges, Particles};

/// The kernel reaches one cell past the block of a particle.
const HALO: usize = 1;
const EDGE: usize = BLOCK_EDGE + 2 * HALO;

/// Particles whose stencils are found together, a few vector registers at a time.
const BATCH: usize = 64;

/// The stencils of up to [`BATCH`] particles of one block, relative to the block's tile.
struct Stencils<const D: usize> {
    cells: [usize; D],
    /// The lowest cell of the tile.
    first: [f32; D],
    /// The tile index of the lowest sample, for each velocity component.
    base: [[i32; BATCH]; D],
    /// The place between samples: along each axis only two occur, that among the faces normal to it ..
    normal: [[f32; BATCH]; D],
    /// .. and that among all other faces.
    tangential: [[f32; BATCH]; D],
}

impl<const D: usize> Stencils<D> {
    fn new(blocks: &Blocks<D>, block: usize) -> Self {
        let first = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f32 - HALO as f32);
        let zero = [[0.0; BATCH]; D];
        Self { cells: blocks.cells(), first, base: [[0; BATCH]; D], normal: zero, tangential: zero }
    }

    /// Finds the stencils of at most [`BATCH`] positions.
    fn find(&mut self, position: &[[f32; D]]) {
        let mut base = [[0.0; BATCH]; D];
        let mut outside = 0;
        for a in 0..D {
            let mut x = [position[0][a]; BATCH];
            for (x, position) in x.iter_mut().zip(position) {
                *x = position[a];
            }
            let normal = brackets(&x, 0.0, self.cells[a] + 1, self.first[a], &mut self.normal[a]);
            let tangential = brackets(&x, 0.5, self.cells[a], self.first[a], &mut self.tangential[a]);
            for base in [&normal, &tangential] {
                for k in 0..BATCH {
                    outside += u32::from(base[k] < 0.0) + u32::from(base[k] > (EDGE - 2) as f32);
                }
            }
            let stride = EDGE.pow(a as u32) as f32;
            for axis in 0..D {
                let along = if a == axis { &normal } else { &tangential };
                for k in 0..BATCH {
                    base[axis][k] += stride * along[k];
                }
            }
        }
        assert!(outside == 0, "a particle is not in the block it was sorted to");
        for axis in 0..D {
            for k in 0..BATCH {
                self.base[axis][k] = to_integer(base[axis][k]);
            }
        }
    }

    /// Particle `k`'s stencil for one velocity component: the tile index of the lowest sample, and the
    /// place among the samples.
    #[inline(always)]
    fn get(&self, axis: usize, k: usize) -> (usize, [f32; D]) {
        let mut fraction = [0.0; D];
        for a in 0..D {
            fraction[a] = if a == axis { self.normal[a][k] } else { self.tangential[a][k] };
        }
        (self.base[axis][k] as usize, fraction)
    }
}

/// The brackets of coordinates `x` along one axis: the lowest samples relative to the tile's `first`
/// cell, and the places between samples.
#[inline(always)]
fn brackets(
    x: &[f32; BATCH],
    shift: f32,
    count: usize,
    first: f32,
    fraction: &mut [f32; BATCH],
) -> [f32; BATCH] {
    let mut base = [0.0; BATCH];
    for k in 0..BATCH {
        let (lower, f) = bracket(x[k], shift, count);
        (base[k], fraction[k]) = (lower - first, f);
    }
    base
}

fn check_sorted<const D: usize>(particles: &Particles<D>, ranges: &BlockRanges<D>, blocks: &Arc<Blocks<D>>) {
    assert!(
        Arc::ptr_eq(ranges.blocks(), blocks) || ranges.blocks() == blocks,
        "particles are sorted by the blocks of the velocity field"
    );
    assert!(ranges.sorted() <= particles.len(), "particles were removed since the sort");
}
