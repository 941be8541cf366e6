//! Particles to grid.

use super::{BATCH, EDGE, HALO, MOVED, Stencils, check_sorted};
use crate::grid::{FaceField, block_len, for_each_overlap, neighbourhood};
use crate::interpolate::{MAX_CORNERS, corner_offset};
use crate::parallel;
use crate::particles::{BlockRanges, Particles};
use crate::simd::simd;

/// Memory that transfers reuse.
#[derive(Clone, Debug, Default)]
pub struct TransferWorkspace {
    /// Momentum and mass on the faces of one tile after another, D components each.
    tiles: Vec<[f32; 2]>,
}

/// Sets the face velocities to the average of the particles' velocities, `v + c . (x_face - x)`, by
/// multilinear weights, and `weight` to the sum of those: the mass on the face, in particles. Faces
/// that no particle reaches have weight and velocity zero: `valid_faces` are those with a positive
/// weight. What falls on faces of inactive blocks is lost: nothing, if the blocks come from [`crate::particles::blocks_near`] with a margin of one
/// cell.
///
/// # Panics
/// If the particles are not sorted by the blocks of both fields, or moved since.
pub fn particles_to_grid<const D: usize>(
    particles: &Particles<D>,
    ranges: &BlockRanges<D>,
    velocity: &mut FaceField<f32, D>,
    weight: &mut FaceField<f32, D>,
    workspace: &mut TransferWorkspace,
) {
    let blocks = velocity.blocks().clone();
    check_sorted(particles, ranges, &blocks);
    check_sorted(particles, ranges, weight.blocks());

    let occupied: Vec<usize> = (0..blocks.len()).filter(|&b| !ranges.range(b).is_empty()).collect();
    let mut tile_of = vec![None; blocks.len()];
    for (tile, &block) in occupied.iter().enumerate() {
        tile_of[block] = Some(tile);
    }
    let len = EDGE.pow(D as u32);
    workspace.tiles.resize(occupied.len() * D * len, [0.0; 2]);
    parallel::for_chunks(&mut workspace.tiles, D * len, |tile, tiles| {
        let block = occupied[tile];
        tiles.fill([0.0; 2]);
        let mut stencils = Stencils::new(&blocks, block);
        simd(
            #[inline(always)]
            || scatter(particles, ranges.range(block), &mut stencils, tiles),
        );
    });

    let tiles = &workspace.tiles;
    for axis in 0..D {
        let velocity = velocity.axes[axis].values_mut();
        let weight = weight.axes[axis].values_mut();
        parallel::for_both_chunks([block_len::<D>(); 2], velocity, weight, |block, velocity, weight| {
            velocity.fill(0.0);
            weight.fill(0.0);
            for (offset, other) in neighbourhood(&blocks, block) {
                let Some(tile) = other.and_then(|other| tile_of[other]) else { continue };
                let tile = &tiles[(tile * D + axis) * len..][..len];
                // Seen from the neighbour, this block lies the other way.
                for_each_overlap(HALO, offset.map(|o| -o), |from, to, count| {
                    for k in 0..count {
                        velocity[to + k] += tile[from + k][0];
                        weight[to + k] += tile[from + k][1];
                    }
                });
            }
            for (v, w) in velocity.iter_mut().zip(weight) {
                *v = if *w > 0.0 { *v / *w } else { 0.0 };
            }
        });
    }
}

/// Adds the momentum and mass of one block's particles to its tiles.
#[inline(always)]
fn scatter<const D: usize>(
    particles: &Particles<D>,
    range: std::ops::Range<usize>,
    stencils: &mut Stencils<D, HALO>,
    tiles: &mut [[f32; 2]],
) {
    for start in range.clone().step_by(BATCH) {
        let batch = start..range.end.min(start + BATCH);
        assert!(stencils.find(&particles.position[batch.clone()]), "{MOVED}");
        let velocity = &particles.velocity[batch.clone()];
        match &particles.affine {
            None => {
                let plain = velocity.iter().map(|&v| (v, [[0.0; D]; D]));
                scatter_batch::<D, false>(stencils, tiles, plain);
            }
            Some(affine) => {
                let affine = affine[batch].iter().copied();
                scatter_batch::<D, true>(stencils, tiles, velocity.iter().copied().zip(affine));
            }
        }
    }
}

#[inline(always)]
fn scatter_batch<const D: usize, const AFFINE: bool>(
    stencils: &Stencils<D, HALO>,
    tiles: &mut [[f32; 2]],
    velocity: impl Iterator<Item = ([f32; D], [[f32; D]; D])>,
) {
    for (k, (v, c)) in velocity.enumerate().take(BATCH) {
        for axis in 0..D {
            let (base, f) = stencils.get(axis, k);
            let tile = &mut tiles[axis * EDGE.pow(D as u32)..];
            let faces = &mut tile[base..base + corner_offset::<D>((1 << D) - 1, EDGE) + 1];
            add_to_faces::<D, AFFINE>(faces, f, v[axis], c[axis]);
        }
    }
}

/// Adds one component of one particle, whose velocity there has the gradient `c` if it is `AFFINE`, to
/// the 2^D faces of its stencil, which begins at `faces[0]`.
#[inline(always)]
fn add_to_faces<const D: usize, const AFFINE: bool>(
    faces: &mut [[f32; 2]],
    f: [f32; D],
    v: f32,
    c: [f32; D],
) {
    // The nodes come in pairs along x, (momentum, mass, momentum, mass): four numbers that are
    // computed and added together. `rows` holds them before the weights along the other axes.
    let (w0, w1) = (1.0 - f[0], f[0]);
    let mut rows = [[w0 * v, w0, w1 * v, w1]; MAX_CORNERS / 2];
    if AFFINE {
        let lowest = (0..D).fold(v, |value, a| value - c[a] * f[a]);
        rows[0] = [w0 * lowest, w0, w1 * (lowest + c[0]), w1];
        for a in 1..D {
            let half = 1 << (a - 1);
            let rise = [w0 * c[a], 0.0, w1 * c[a], 0.0];
            for row in 0..half {
                for k in 0..4 {
                    rows[row + half][k] = rows[row][k] + rise[k];
                }
            }
        }
    }
    for row in 0..1 << (D - 1) {
        let mut weight = 1.0;
        for a in 1..D {
            weight *= if row >> (a - 1) & 1 == 1 { f[a] } else { 1.0 - f[a] };
        }
        let first = corner_offset::<D>(row << 1, EDGE);
        let nodes = faces[first..first + 2].as_flattened_mut();
        for k in 0..4 {
            nodes[k] += weight * rows[row][k];
        }
    }
}
