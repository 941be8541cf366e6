//! What the fit of the curvature takes from waves, given back.

use meniscus_core::grid::{Field, HaloTile, block_len, cell_in_block};
use meniscus_core::parallel;
use meniscus_core::vector::{dot, norm};

use super::{FLAT, FitTile, REACH};

/// The variances of the weights of a mean over the surface, along it and across it, in cells².
const MEAN_ALONG: f64 = 4.0;
const MEAN_ACROSS: f64 = 0.3;

/// How much of the difference from the mean is added. The fit answers a wave of number `k` with `1 - k² v / 2` of its curvature, and the mean over the cells in reach takes `k² m / 2`:
/// this would be `v / m`, less a little for what both take from the shortest waves. `balls_have_their_curvature` holds it from above.
const PART: f64 = 0.3;

/// A field of the cells at a surface, 0 elsewhere, with its differences from the mean around each cell raised.
pub fn sharpened<const D: usize>(values: &Field<f32, D>, level_set: &Field<f32, D>) -> Field<f32, D> {
    let mut sharp = values.clone();
    parallel::for_chunks_with(
        sharp.values_mut(),
        block_len::<D>(),
        || (HaloTile::new(0.0), HaloTile::new(0.0)),
        |(tile, phi), block, sharp| {
            if values.block(block).iter().all(|value| *value == 0.0) {
                return;
            }
            tile.load(values, block);
            phi.load(level_set, block);
            for (local, value) in sharp.iter_mut().enumerate().filter(|(_, value)| **value != 0.0) {
                let centre = FitTile::<D>::index(cell_in_block::<D>(local).map(|c| c + REACH));
                *value += PART as f32 * (*value - mean_around(tile, phi, centre));
            }
        },
    );
    sharp
}

/// The mean of the values of a surface around a cell.
fn mean_around<const D: usize>(values: &FitTile<D>, phi: &FitTile<D>, centre: usize) -> f32 {
    let stride = |a: usize| FitTile::<D>::stride(a);
    let at = |index: usize| f64::from(phi.values()[index]);
    let gradient: [f64; D] = std::array::from_fn(|a| 0.5 * (at(centre + stride(a)) - at(centre - stride(a))));
    let steepness = norm(gradient).max(FLAT);
    let edge = 2 * REACH + 1;
    let (mut sum, mut weights) = (0.0, 0.0);
    for index in 0..edge.pow(D as u32) {
        let offset: [usize; D] = std::array::from_fn(|a| index / edge.pow(a as u32) % edge);
        let cell = (0..D).fold(centre, |cell, a| cell + offset[a] * stride(a) - REACH * stride(a));
        let value = f64::from(values.values()[cell]);
        if value == 0.0 {
            continue;
        }
        let x: [f64; D] = std::array::from_fn(|a| offset[a] as f64 - REACH as f64);
        let along = dot(x, x) - (dot(gradient, x) / steepness).powi(2);
        let weight = (-0.5 * (along / MEAN_ALONG + at(cell).powi(2) / MEAN_ACROSS)).exp();
        sum += weight * value;
        weights += weight;
    }
    (sum / weights) as f32
}
