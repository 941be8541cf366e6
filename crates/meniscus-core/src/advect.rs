//! Advection through a face velocity field: particles along it, cell fields against it.
//!
//! Time integration is the third-order Runge-Kutta scheme of Ralston (1962):
//! `k1 = u(x)`, `k2 = u(x + dt/2 k1)`, `k3 = u(x + 3/4 dt k2)`, `x += dt (2 k1 + 3 k2 + 4 k3) / 9`.
//! The velocity is interpolated linearly between faces, so a field that is not linear adds a second-order
//! error in the cell size. Times are in cells per unit of velocity: `dt / dx` for velocities in
//! metres per second.

use crate::grid::{FaceField, Field, Slot, block_len};
use crate::interpolate::{interpolate, interpolate_faces};
use crate::parallel::{self, PIECE};
use crate::particles::{BlockRanges, split_by_block};
use crate::simd::simd;
use crate::transfer::{BATCH, FaceTiles, Stencils};

/// Moves sorted particles for a time `dt` (in cells per unit of velocity; the caller cuts it into
/// substeps). Afterwards they have to be sorted anew; some may have left the domain. Particles in no
/// active block stay.
///
/// # Panics
/// If the particles are not sorted by the blocks of the velocity field.
pub fn advect_particles<const D: usize>(
    position: &mut [[f32; D]],
    ranges: &BlockRanges<D>,
    velocity: &FaceField<f32, D>,
    dt: f32,
) {
    assert_eq!(ranges.blocks(), velocity.blocks(), "particles are sorted by the blocks of the velocity");
    parallel::map_parts_with(split_by_block(position, ranges), FaceTiles::new, |tiles, block, part| {
        move_part(block, part, velocity, tiles, dt);
    });
}

/// Moves sorted points as [`advect_particles`] does, and hands those of each block to `then`, block by block: where they were, and where they are.
///
/// # Panics
/// If the points are not sorted by the blocks of the velocity field.
pub fn advect_points_then<const D: usize, R: Send>(
    position: &mut [[f32; D]],
    ranges: &BlockRanges<D>,
    velocity: &FaceField<f32, D>,
    dt: f32,
    then: impl Fn(&[[f32; D]], &mut [[f32; D]]) -> R + Sync,
) -> Vec<R> {
    assert_eq!(ranges.blocks(), velocity.blocks(), "points are sorted by the blocks of the velocity");
    parallel::map_parts_with(
        split_by_block(position, ranges),
        || (FaceTiles::new(), Vec::new()),
        |(tiles, before), block, part| {
            before.clear();
            before.extend_from_slice(part);
            move_part(block, part, velocity, tiles, dt);
            then(before, part)
        },
    )
}

/// Moves points in any order for a time `dt`, as [`advect_particles`] does sorted particles.
pub fn advect_points<const D: usize>(points: &mut [[f32; D]], velocity: &FaceField<f32, D>, dt: f32) {
    parallel::for_chunks(points, PIECE, |_, points| {
        for x in points {
            *x = advect_point(*x, velocity, dt);
        }
    });
}

/// Where the flow carries a point in a time `dt`.
pub fn advect_point<const D: usize>(x: [f32; D], velocity: &FaceField<f32, D>, dt: f32) -> [f32; D] {
    let ahead = |dt: f32, k: [f32; D]| std::array::from_fn(|a| x[a] + dt * k[a]);
    let k1 = interpolate_faces(velocity, x);
    let k2 = interpolate_faces(velocity, ahead(0.5 * dt, k1));
    let k3 = interpolate_faces(velocity, ahead(0.75 * dt, k2));
    std::array::from_fn(|a| x[a] + dt * ((2.0 * k1[a] + 3.0 * k2[a] + 4.0 * k3[a]) / 9.0))
}

/// A cell field after a time `dt` of advection: each cell takes the value from where the flow
/// brought it (semi-Lagrangian), interpolated linearly. Stable for any `dt`; a step loses second-order
/// detail, so that a whole run is first order in the cell size. Inflow has the values at the
/// boundary of the domain.
///
/// # Panics
/// If the fields differ in their blocks.
pub fn advect_field<const D: usize>(
    field: &Field<f32, D>,
    velocity: &FaceField<f32, D>,
    dt: f32,
) -> Field<f32, D> {
    assert_eq!(field.blocks(), velocity.blocks(), "both fields have the same blocks");
    let blocks = field.blocks();
    let mut new = Field::new(blocks.clone(), field.background());
    parallel::for_chunks_with(new.values_mut(), block_len::<D>(), FaceTiles::new, |tiles, block, values| {
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        let centre = |slot: Slot| blocks.cell(slot).map(|c| c as f32 + 0.5);
        let mut origin: Vec<[f32; D]> = slots.clone().map(centre).collect();
        move_part(block, &mut origin, velocity, tiles, -dt);
        for ((value, slot), origin) in values.iter_mut().zip(slots).zip(origin) {
            if blocks.is_inside(slot) {
                *value = interpolate(field, origin);
            }
        }
    });
    new
}

/// One cell for the stencil and one for the motion.
const HALO: usize = 2;

/// Moves the points of one block, whose face velocities are loaded into `tiles`. What leaves the
/// tiles, as in steps of more than a cell, takes its velocity from the field itself, to the same
/// bits.
fn move_part<const D: usize>(
    block: usize,
    points: &mut [[f32; D]],
    velocity: &FaceField<f32, D>,
    tiles: &mut FaceTiles<D, HALO>,
    dt: f32,
) {
    if points.is_empty() {
        return;
    }
    tiles.load(velocity, block);
    let mut stencils = Stencils::new(velocity.blocks(), block);
    simd(
        #[inline(always)]
        || {
            for x in points.chunks_mut(BATCH) {
                move_batch(x, velocity, tiles, &mut stencils, dt);
            }
        },
    );
}

#[inline(always)]
fn move_batch<const D: usize>(
    x: &mut [[f32; D]],
    velocity: &FaceField<f32, D>,
    tiles: &FaceTiles<D, HALO>,
    stencils: &mut Stencils<D, HALO>,
    dt: f32,
) {
    let [mut ahead, mut k, mut sum] = [[[0.0; D]; BATCH]; 3];
    ahead[..x.len()].copy_from_slice(x);
    // By stage: its weight, and how far along its velocity the next one looks.
    for (weight, next) in [(2.0, 0.5), (3.0, 0.75), (4.0, 0.0)] {
        sample(&ahead[..x.len()], velocity, tiles, stencils, &mut k);
        for i in 0..x.len() {
            for a in 0..D {
                sum[i][a] += weight * k[i][a];
                ahead[i][a] = x[i][a] + next * dt * k[i][a];
            }
        }
    }
    for i in 0..x.len() {
        for a in 0..D {
            x[i][a] += dt * (sum[i][a] / 9.0);
        }
    }
}

/// The velocities `k` at points.
#[inline(always)]
fn sample<const D: usize>(
    x: &[[f32; D]],
    velocity: &FaceField<f32, D>,
    tiles: &FaceTiles<D, HALO>,
    stencils: &mut Stencils<D, HALO>,
    k: &mut [[f32; D]; BATCH],
) {
    let all_inside = stencils.find(x);
    for i in 0..x.len() {
        k[i] = match all_inside || stencils.is_inside(i) {
            true => tiles.velocity(stencils, i),
            false => interpolate_faces(velocity, x[i]),
        };
    }
}

#[cfg(test)]
#[path = "advect_tests.rs"]
mod tests;
