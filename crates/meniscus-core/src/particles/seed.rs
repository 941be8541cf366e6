//! Seeding: 2^D jittered particles a cell.

use crate::grid::{Blocks, Slot, block_len};
use crate::parallel;

/// Fills the cells of `blocks` with 2^D particles each, one at a random place of each half-cell, where
/// the signed distance `phi` is negative. `phi` is asked at points in cell units; only its sign counts.
///
/// The place depends only on the cell and `salt` (no generator is shared), so seeding part of a domain
/// gives the same particles as seeding the whole. The result is in the order of the blocks.
pub fn seed<const D: usize>(
    blocks: &Blocks<D>,
    salt: u64,
    phi: impl Fn([f32; D]) -> f32 + Sync,
) -> Vec<[f32; D]> {
    let seed_block = |block| {
        let mut position = Vec::new();
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            if blocks.is_inside(slot) {
                let cell = blocks.cell(slot);
                position.extend((0..1 << D).map(|k| jittered(cell, k, salt)).filter(|&x| phi(x) < 0.0));
            }
        }
        position
    };
    parallel::map(blocks.len(), seed_block).concat()
}

/// The markers along each axis of a cell that is full of smoke.
pub const fn markers_along<const D: usize>() -> usize {
    if D == 2 { 4 } else { 2 }
}

/// A random point of half-cell `k` (bit `a` set: the upper half along axis `a`) of a cell. It is a multiple of 2^-12, hence exact in f32 for up to
/// 4096 cells, and never on the boundary of a half-cell.
pub fn jittered<const D: usize>(cell: [usize; D], k: usize, salt: u64) -> [f32; D] {
    let hash = cell.iter().fold(mix(salt ^ k as u64), |hash, &c| mix(hash ^ c as u64));
    std::array::from_fn(|a| {
        let random = (hash >> (10 * a) & 1023) as f32 + 0.5;
        cell[a] as f32 + 0.5 * ((k >> a & 1) as f32 + random / 1024.0)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_cell_gets_one_particle_in_its_interior() {
        let blocks = Blocks::<3>::all([9, 5, 12]);
        let position = seed(&blocks, 1, |_| -1.0);
        assert_eq!(position.len(), 8 * 9 * 5 * 12);
        let mut halves: Vec<_> = position.iter().map(|x| x.map(|c| (2.0 * c).floor() as i32)).collect();
        assert!(position.iter().flatten().all(|&c| 2.0 * c != (2.0 * c).floor()));
        halves.sort_unstable();
        halves.dedup();
        assert_eq!(halves.len(), position.len());
    }

    #[test]
    fn the_jitter_is_uniform() {
        let position = seed(&Blocks::<2>::all([64; 2]), 3, |_| -1.0);
        for a in 0..2 {
            let place = position.iter().map(|x| f64::from(2.0 * x[a]).fract());
            let n = position.len() as f64;
            let mean = place.clone().sum::<f64>() / n;
            let variance = place.map(|p| (p - mean).powi(2)).sum::<f64>() / n;
            // Four standard errors of the mean and of the variance of a uniform distribution.
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / n).sqrt());
            assert!((variance - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / n).sqrt());
        }
    }

    #[test]
    fn part_of_a_domain_is_seeded_like_the_whole() {
        let ball = |x: [f32; 2]| (x[0] - 20.0).hypot(x[1] - 17.0) - 9.0;
        let mut whole = seed(&Blocks::all([40, 40]), 7, ball);
        let mut part = seed(&Blocks::new([40, 40], |c| c[0] == 2), 7, ball);
        whole.retain(|x| x[0] >= 16.0 && x[0] < 24.0);
        let order = |x: &[f32; 2], y: &[f32; 2]| x.partial_cmp(y).unwrap();
        whole.sort_by(order);
        part.sort_by(order);
        assert_eq!(whole, part);
    }
}
