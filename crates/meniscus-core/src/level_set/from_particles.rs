//! The level set of particles.

use rayon::prelude::*;

use crate::grid::{BLOCK_EDGE, Field, Tile, block_len, for_each_overlap, neighbourhood};
use crate::interpolate::{bracket, to_integer};
use crate::particles::BlockRanges;

/// How far from a particle its block's tile reaches, in cells.
const HALO: usize = 2;

/// The union of balls of `radius` cells around sorted particles: the distance to the nearest particle
/// less the radius, at most one. It is right next to the surface; [`super::redistance`] makes it
/// a distance elsewhere.
///
/// With 2^D particles in each cell, one in each half-cell, a radius of `sqrt(D) / 2` leaves no hole
/// between them; the surface then lies outside the outermost particles by that much.
///
/// The blocks need a margin of two cells around the particles ([`crate::particles::blocks_near`]): the
/// background is one.
///
/// # Panics
/// If the radius is not within 0 to 1 cell.
pub fn particle_level_set<const D: usize>(
    position: &[[f32; D]],
    ranges: &BlockRanges<D>,
    radius: f32,
) -> Field<f32, D> {
    assert!(radius > 0.0 && radius <= 1.0, "a radius of at most one cell");
    let reach = radius + 1.0;
    let blocks = ranges.blocks();
    // The square of the distance to the nearest particle of one block, on its tile.
    let tiles: Vec<Option<Tile<f32, D, HALO>>> = (0..blocks.len())
        .into_par_iter()
        .map(|block| {
            let particles = &position[ranges.range(block)];
            (!particles.is_empty()).then(|| {
                let mut tile = Tile::new(reach * reach);
                let first = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f32 - HALO as f32);
                for x in particles {
                    let x: [f32; D] = std::array::from_fn(|a| x[a] - first[a]);
                    lower_around(tile.values_mut(), x);
                }
                tile
            })
        })
        .collect();

    let mut phi = Field::new(blocks.clone(), 1.0);
    phi.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, values)| {
        values.fill(reach * reach);
        for (offset, other) in neighbourhood(blocks, block) {
            let Some(tile) = other.and_then(|other| tiles[other].as_ref()) else { continue };
            // Seen from the neighbour, this block lies the other way.
            for_each_overlap(HALO, offset.map(|o| -o), |from, to, count| {
                for k in 0..count {
                    values[to + k] = values[to + k].min(tile.values()[from + k]);
                }
            });
        }
        for value in values {
            *value = value.sqrt() - radius;
        }
    });
    phi
}

/// The cells along each axis whose centres can lie within two cells of a particle.
const NEAR: usize = 2 * HALO;

/// Lowers the squared distances around a particle, whose position is in the tile's cells.
#[inline]
fn lower_around<const D: usize>(tile: &mut [f32], x: [f32; D]) {
    let edge = Tile::<f32, D, HALO>::EDGE;
    let (mut start, mut squared) = (0, [[0.0; NEAR]; D]);
    for a in (0..D).rev() {
        // The first centre above x - 2; x is at least 2, where the block begins.
        let lower = to_integer(bracket(x[a], 1.5, edge).0);
        start = start * edge + lower as usize;
        for k in 0..NEAR {
            squared[a][k] = (lower as f32 + k as f32 + 0.5 - x[a]).powi(2);
        }
    }
    for row in 0..NEAR.pow(D as u32 - 1) {
        let (mut offset, mut sum) = (start, 0.0);
        for a in 1..D {
            let k = row / NEAR.pow(a as u32 - 1) % NEAR;
            offset += k * edge.pow(a as u32);
            sum += squared[a][k];
        }
        let values: &mut [f32; NEAR] = tile[offset..].first_chunk_mut().expect("particles of the block");
        for k in 0..NEAR {
            let distance = sum + squared[0][k];
            values[k] = if distance < values[k] { distance } else { values[k] };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::grid::{Blocks, Slot};
    use crate::level_set::redistance;
    use crate::particles::{Particles, SortWorkspace, blocks_near, seed};

    fn level_set<const D: usize>(cells: [usize; D], points: &[[f32; D]], radius: f32) -> Field<f32, D> {
        let mut particles = Particles::at(points.to_vec());
        let blocks = Arc::new(blocks_near(cells, points, 2.0));
        let ranges = particles.sort_by_block(&blocks, &mut SortWorkspace::default());
        particle_level_set(&particles.position, &ranges, radius)
    }

    fn check<const D: usize>(cells: [usize; D], points: Vec<[f32; D]>, radius: f32) {
        let phi = level_set(cells, &points, radius);
        let blocks = phi.blocks();
        for index in 0..blocks.slots() {
            let slot = Slot { block: index / block_len::<D>(), local: index % block_len::<D>() };
            let centre = blocks.cell(slot).map(|c| c as f32 + 0.5);
            let distance = |x: &[f32; D]| (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>().sqrt();
            let expected = points.iter().map(distance).fold(f32::INFINITY, f32::min) - radius;
            assert!((phi[slot] - expected.min(1.0)).abs() < 1e-5, "{centre:?}: {} {expected}", phi[slot]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn it_is_the_distance_to_the_nearest_particle(
            two in prop::collection::vec(prop::array::uniform2(0.0f32..24.0), 0..60),
            three in prop::collection::vec(prop::array::uniform3(0.0f32..17.0), 0..60),
            radius in 0.3f32..1.0,
        ) {
            check([24, 25], two, radius);
            check([17, 18, 19], three, radius);
        }
    }

    #[test]
    fn a_seeded_ball_has_no_holes_and_is_larger_by_less_than_the_radius() {
        let (centre, ball, radius) = ([16.1f32, 15.8, 16.3], 9.0, 0.75f32.sqrt());
        let sphere = |x: [f32; 3]| (0..3).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>().sqrt() - ball;
        let points = seed(&Blocks::all([32; 3]), 5, sphere);
        let mut phi = level_set([32; 3], &points, radius);
        redistance(&mut phi, 4.0);
        let blocks = phi.blocks();
        for index in 0..blocks.slots() {
            let slot = Slot { block: index / 512, local: index % 512 };
            let exact = sphere(blocks.cell(slot).map(|c| c as f32 + 0.5));
            if exact.abs() < 3.0 {
                let excess = exact - phi[slot];
                assert!(excess > -0.2 && excess < radius + 0.3, "{exact} {}", phi[slot]);
            }
        }
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let points = seed(&Blocks::<3>::all([24; 3]), 5, |x| x[0] + x[1] - 25.0);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let phi = pool.install(|| level_set([24; 3], &points, 0.9));
            phi.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert!(run(1) == run(2) && run(1) == run(3));
    }
}
