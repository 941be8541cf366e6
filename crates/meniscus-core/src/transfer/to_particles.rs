//! Grid to particles.

use super::{BATCH, FaceTiles, HALO, MOVED, Stencils, check_sorted};
use crate::grid::FaceField;
use crate::parallel;
use crate::particles::{BlockRanges, Particles, split_by_block};
use crate::simd::simd;

/// How particles take their velocity from the grid.
#[derive(Clone, Copy, Debug)]
pub enum Scheme<'a, const D: usize> {
    /// The grid's velocity at the particle: stable, and strongly damped.
    Pic,
    /// `blend` parts of FLIP (the particle's velocity plus the grid's change since `before`) and
    /// `1 - blend` parts of PIC. With `blend` 1 and an unchanged grid, no bit of a velocity changes.
    Flip {
        /// The face velocities right after the transfer to the grid.
        before: &'a FaceField<f32, D>,
        /// The share of FLIP, 0 to 1.
        blend: f32,
    },
    /// The grid's velocity and its gradient: not damped, keeps angular momentum.
    Apic,
}

/// Updates the particles' velocities, and for [`Scheme::Apic`] their affine matrices (created where
/// there are none), from the face velocities. Particles in no active block keep what they have.
///
/// # Panics
/// If the particles are not sorted by the blocks of the fields, or moved since.
pub fn grid_to_particles<const D: usize>(
    velocity: &FaceField<f32, D>,
    scheme: Scheme<D>,
    particles: &mut Particles<D>,
    ranges: &BlockRanges<D>,
) {
    check_sorted(particles, ranges, velocity.blocks());
    if let Scheme::Flip { before, .. } = scheme {
        assert_eq!(before.blocks(), velocity.blocks(), "both fields have the same blocks");
    }
    let count = particles.len();
    let affine: Vec<&mut [_]> = match scheme {
        Scheme::Apic => {
            let affine = particles.affine.get_or_insert_with(|| vec![[[0.0; D]; D]; count]);
            split_by_block(affine, ranges)
        }
        _ => (0..ranges.blocks().len()).map(|_| &mut [][..]).collect(),
    };
    let parts = split_by_block(&mut particles.velocity, ranges).into_iter().zip(affine).collect();
    let tiles = || (FaceTiles::<D, HALO>::new(), FaceTiles::new());
    parallel::map_parts_with(parts, tiles, |(grid, change), block, (target, affine)| {
        if target.is_empty() {
            return;
        }
        grid.load(velocity, block);
        if let Scheme::Flip { before, .. } = scheme {
            change.load(before, block);
            change.subtract_from(grid);
        }
        let mut stencils = Stencils::new(ranges.blocks(), block);
        let position = &particles.position[ranges.range(block)];
        simd(
            #[inline(always)]
            || take_up(scheme, (grid, change), position, &mut stencils, target, affine),
        );
    });
}

/// Gives the particles of one block their velocities from the tiles of the grid and of its change.
#[inline(always)]
fn take_up<const D: usize>(
    scheme: Scheme<D>,
    (grid, change): (&FaceTiles<D, HALO>, &FaceTiles<D, HALO>),
    position: &[[f32; D]],
    stencils: &mut Stencils<D, HALO>,
    target: &mut [[f32; D]],
    affine: &mut [[[f32; D]; D]],
) {
    for (batch, (position, target)) in position.chunks(BATCH).zip(target.chunks_mut(BATCH)).enumerate() {
        assert!(stencils.find(position), "{MOVED}");
        match scheme {
            Scheme::Pic => {
                for (k, v) in target.iter_mut().enumerate().take(BATCH) {
                    *v = grid.velocity(stencils, k);
                }
            }
            Scheme::Flip { blend, .. } => {
                for (k, v) in target.iter_mut().enumerate().take(BATCH) {
                    let (pic, change) = (grid.velocity(stencils, k), change.velocity(stencils, k));
                    for a in 0..D {
                        v[a] = blend * (v[a] + change[a]) + (1.0 - blend) * pic[a];
                    }
                }
            }
            Scheme::Apic => {
                let affine = &mut affine[batch * BATCH..];
                for (k, (v, c)) in target.iter_mut().zip(affine).enumerate().take(BATCH) {
                    (*v, *c) = grid.velocity_and_gradient(stencils, k);
                }
            }
        }
    }
}
