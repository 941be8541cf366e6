//! A gentle redistancing.

use meniscus_core::grid::{Field, Slot, Tile, block_len, cell_in_block};
use rayon::prelude::*;

use crate::curvature::load_mirrored;

/// experiment
pub fn env(name: &str, default: f32) -> f32 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// relax
pub fn relax<const D: usize>(phi: &mut Field<f32, D>, moved: &Field<f32, D>) {
    let near = env("NEAR", 0.0);
    let tau = env("TAU", 0.25);
    let tol = env("TOL", 0.4);
    if near == 0.0 {
        return;
    }
    phi.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each_init(
        || Tile::<f32, D, 2>::new(0.0),
        |tile, (block, values)| {
            if values.iter().all(|v| v.abs() > near) {
                return;
            }
            load_mirrored(moved, block, tile);
            for (local, value) in values.iter_mut().enumerate() {
                let own = moved[Slot { block, local }];
                if own.abs() > near || (own - *value).abs() > tol {
                    continue;
                }
                let centre = Tile::<f32, D, 2>::index(cell_in_block::<D>(local).map(|c| c + 2));
                let slope = slope(tile, centre);
                if (slope - 1.0).abs() > tol {
                    continue;
                }
                let sign = own / (own * own + 1.0).sqrt();
                *value = own - tau * sign * (slope - 1.0);
            }
        },
    );
}

fn slope<const D: usize>(tile: &Tile<f32, D, 2>, centre: usize) -> f32 {
    let own = tile.values()[centre];
    let sign = if own < 0.0 { -1.0 } else { 1.0 };
    let mut squared = 0.0;
    for a in 0..D {
        let s = Tile::<f32, D, 2>::stride(a);
        let v = |i: usize| sign * tile.values()[i];
        let below = (2.0 * v(centre + s) + 3.0 * v(centre) - 6.0 * v(centre - s) + v(centre - 2 * s)) / 6.0;
        let above = (-v(centre + 2 * s) + 6.0 * v(centre + s) - 3.0 * v(centre) - 2.0 * v(centre - s)) / 6.0;
        let steepest = below.max(-above).max(0.0);
        squared += steepest * steepest;
    }
    squared.sqrt()
}
