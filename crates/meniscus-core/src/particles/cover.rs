//! The blocks that particles need.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::grid::{BLOCK_EDGE, Blocks, ravel, unravel};
use crate::parallel;

/// The blocks with a cell within `margin` cells of a particle, along each axis. Transfers need a
/// margin of 1; advection and extrapolation as many cells as they look beyond the particles.
///
/// Particles outside the domain (or at no finite position) need no block; [`super::Particles::sort_by_block`]
/// counts them.
pub fn blocks_near<const D: usize>(cells: [usize; D], position: &[[f32; D]], margin: f32) -> Blocks<D> {
    let dims = Blocks::dims_of(cells);
    // Every thread stores the same value, so the result does not depend on their order.
    let wanted: Vec<AtomicBool> = (0..dims.iter().product()).map(|_| AtomicBool::new(false)).collect();
    parallel::for_each(position.len().div_ceil(4096), |k| {
        let mut previous = None;
        for &x in parallel::chunk(position, 4096, k) {
            if !(0..D).all(|a| x[a] >= 0.0 && x[a] < cells[a] as f32) {
                continue;
            }
            let span: [(usize, usize); D] = std::array::from_fn(|a| {
                let lower = (x[a] - margin).max(0.0) as usize / BLOCK_EDGE;
                (lower, (x[a] + margin).min(cells[a] as f32) as usize / BLOCK_EDGE)
            });
            if previous == Some(span) {
                continue;
            }
            previous = Some(span);
            let counts = span.map(|(lower, upper)| upper - lower + 1);
            for k in 0..counts.iter().product() {
                let within = unravel(k, counts);
                let coord = std::array::from_fn(|a| span[a].0 + within[a]);
                let flag = &wanted[ravel(coord, dims)];
                if !flag.load(Ordering::Relaxed) {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        }
    });
    Blocks::new(cells, |coord| wanted[ravel(coord, dims)].load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_block_is_needed_exactly_if_a_particle_is_near(
            points in prop::collection::vec(prop::array::uniform2(-3.0f32..50.0), 0..30),
            margin in prop::sample::select(vec![0.0f32, 1.0, 3.0, 10.0]),
        ) {
            let cells = [40, 27];
            let blocks = blocks_near(cells, &points, margin);
            for k in 0..blocks.dims().iter().product() {
                let coord = [k % blocks.dims()[0], k / blocks.dims()[0]];
                let near = points.iter().any(|x| {
                    (0..2).all(|a| x[a] >= 0.0 && x[a] < cells[a] as f32)
                        && (0..2).all(|a| {
                            let lower = (coord[a] * 8) as f32;
                            x[a] + margin >= lower && x[a] - margin < lower + 8.0
                        })
                });
                prop_assert_eq!(blocks.find(coord).is_some(), near);
            }
        }
    }
}
