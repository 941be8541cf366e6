//! How far the particles are.

use crate::grid::{BLOCK_EDGE, Field, HaloTile, block_len, for_each_overlap, neighbourhood};
use crate::interpolate::{bracket, to_integer};
use crate::parallel;
use crate::particles::BlockRanges;

/// How far from a particle its block's tile reaches, in cells.
const HALO: usize = 2;

/// The distance from the cell centres to the nearest of sorted particles, in cells, at most 2. Less a
/// radius, it is the level set of a union of balls.
///
/// Only the blocks for which `wanted` holds are filled; the others, and the background, are 2. The blocks
/// need a margin of two cells around the particles ([`crate::particles::blocks_near`]).
pub fn particle_distance<const D: usize>(
    position: &[[f32; D]],
    ranges: &BlockRanges<D>,
    wanted: impl Fn(usize) -> bool + Sync,
) -> Field<f32, D> {
    const REACH: f32 = HALO as f32;
    let blocks = ranges.blocks();
    // The square of the distance to the nearest particle of one block, on its tile.
    let tile_of = |block: usize| {
        let particles = &position[ranges.range(block)];
        let needed = || neighbourhood(blocks, block).any(|(_, other)| other.is_some_and(&wanted));
        (!particles.is_empty() && needed()).then(|| {
            let mut tile = HaloTile::<f32, D, HALO>::new(REACH * REACH);
            let first = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f32 - HALO as f32);
            for x in particles {
                let x: [f32; D] = std::array::from_fn(|a| x[a] - first[a]);
                lower_around(tile.values_mut(), x);
            }
            tile
        })
    };
    let tiles: Vec<Option<HaloTile<f32, D, HALO>>> = parallel::map(blocks.len(), tile_of);

    let mut distance = Field::new(blocks.clone(), REACH);
    parallel::for_chunks(distance.values_mut(), block_len::<D>(), |block, values| {
        if !wanted(block) {
            return;
        }
        values.fill(REACH * REACH);
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
            *value = value.sqrt();
        }
    });
    distance
}

/// The cells along each axis whose centres can lie within two cells of a particle.
const NEAR: usize = 2 * HALO;

/// Lowers the squared distances around a particle, whose position is in the tile's cells.
#[inline]
fn lower_around<const D: usize>(tile: &mut [f32], x: [f32; D]) {
    let edge = HaloTile::<f32, D, HALO>::EDGE;
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
    use crate::particles::{Particles, SortWorkspace, blocks_near, seed};

    fn distance<const D: usize>(cells: [usize; D], points: &[[f32; D]]) -> Field<f32, D> {
        let mut particles = Particles::at(points.to_vec());
        let blocks = Arc::new(blocks_near(cells, points, 2.0));
        let ranges = particles.sort_by_block(&blocks, &mut SortWorkspace::default());
        particle_distance(&particles.position, &ranges, |_| true)
    }

    fn check<const D: usize>(cells: [usize; D], points: Vec<[f32; D]>) {
        let nearest = distance(cells, &points);
        let blocks = nearest.blocks();
        for index in 0..blocks.slots() {
            let slot = Slot::from_flat::<D>(index);
            let centre = blocks.cell(slot).map(|c| c as f32 + 0.5);
            let distance = |x: &[f32; D]| (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>().sqrt();
            let expected = points.iter().map(distance).fold(2.0, f32::min);
            assert!((nearest[slot] - expected).abs() < 1e-5, "{centre:?}: {} {expected}", nearest[slot]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn it_is_the_distance_to_the_nearest_particle(
            two in prop::collection::vec(prop::array::uniform2(0.0f32..24.0), 0..60),
            three in prop::collection::vec(prop::array::uniform3(0.0f32..17.0), 0..60),
        ) {
            check([24, 25], two);
            check([17, 18, 19], three);
        }
    }

    /// The largest distance within a seeded ball: half-cells with one particle each leave no hole of a cell.
    #[test]
    fn a_seeded_ball_has_no_holes() {
        let centre = [16.1f32, 15.8, 16.3];
        let sphere = |x: [f32; 3]| (0..3).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>().sqrt() - 9.0;
        let nearest = distance([32; 3], &seed(&Blocks::all([32; 3]), 5, sphere));
        let blocks = nearest.blocks();
        for index in 0..blocks.slots() {
            let slot = Slot { block: index / 512, local: index % 512 };
            let exact = sphere(blocks.cell(slot).map(|c| c as f32 + 0.5));
            assert!(exact > -1.0 || nearest[slot] < 0.75f32.sqrt());
            assert!(exact < 0.0 || nearest[slot] > exact.min(2.0) - 1e-5);
        }
    }

    #[test]
    fn blocks_that_are_not_wanted_stay_empty_and_change_no_other() {
        let points = seed(&Blocks::<2>::all([40, 40]), 5, |x| x[0] + x[1] - 45.0);
        let mut particles = Particles::at(points.clone());
        let blocks = Arc::new(blocks_near([40, 40], &points, 2.0));
        let ranges = particles.sort_by_block(&blocks, &mut SortWorkspace::default());
        let wanted = |block: usize| block.is_multiple_of(3);
        let all = particle_distance(&particles.position, &ranges, |_| true);
        let some = particle_distance(&particles.position, &ranges, wanted);
        for block in 0..blocks.len() {
            let expected = if wanted(block) { all.block(block) } else { &[2.0; 64] };
            assert_eq!(some.block(block), expected);
        }
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let points = seed(&Blocks::<3>::all([24; 3]), 5, |x| x[0] + x[1] - 25.0);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let nearest = pool.install(|| distance([24; 3], &points));
            nearest.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert!(run(1) == run(2) && run(1) == run(3));
    }
}
