//! Markers of smoke: particles that the flow carries, and that carry nothing.

use meniscus_core::grid::{Field, unravel};
use meniscus_core::interpolate::interpolate;
use meniscus_core::parallel;
use meniscus_core::particles::{jittered, markers_along};
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use crate::params::Params;
use crate::surroundings::{Smoke, Solid};

/// The markers of one smoke: where they are, in cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Markers<const D: usize> {
    /// Positions, in cells.
    #[serde(with = "bulk")]
    pub position: Vec<[f32; D]>,
}

/// The markers of smoke that its shape lacks: one for each part of a cell that has none of its own, in the fluid and out of
/// solids.
pub fn missing_markers<const D: usize>(
    params: &Params<D>,
    smoke: &Smoke<D>,
    solids: &[Solid<D>],
    level_set: &Field<f32, D>,
    markers: &[[f32; D]],
    salt: u64,
) -> Vec<[f32; D]> {
    let along = markers_along::<D>();
    let bounds = smoke.shape.bounds();
    let (lower, upper) = (params.grid.to_cells(bounds.lower), params.grid.to_cells(bounds.upper));
    let parts = |x: f64, a: usize| (x * along as f64).clamp(0.0, (params.grid.cells[a] * along) as f64);
    let first: [usize; D] = std::array::from_fn(|a| parts(lower[a], a).floor() as usize);
    let count: [usize; D] =
        std::array::from_fn(|a| (parts(upper[a], a).ceil() as usize).saturating_sub(first[a]));
    let mut is_full = vec![false; count.iter().product()];
    for x in markers {
        let part = x.map(|c| (c * along as f32) as usize);
        if (0..D).all(|a| part[a] >= first[a] && part[a] - first[a] < count[a]) {
            let index = (0..D).rev().fold(0, |index, a| index * count[a] + part[a] - first[a]);
            is_full[index] = true;
        }
    }
    let place = |index: usize| {
        let within = unravel(index, count);
        let part: [usize; D] = std::array::from_fn(|a| first[a] + within[a]);
        // As half-cells of cells of a grid that is finer.
        let half = (0..D).map(|a| (part[a] % 2) << a).sum();
        jittered(part.map(|p| p / 2), half, salt).map(|c| c * 2.0 / along as f32)
    };
    let belongs = |x: &[f32; D]| {
        let point = params.to_metres(*x);
        smoke.shape.signed_distance(point) < 0.0
            && interpolate(level_set, *x) < 0.0
            && solids.iter().all(|solid| solid.distance(point) > 0.0)
    };
    parallel::gather(is_full.len(), |k| (!is_full[k]).then(|| place(k)).filter(belongs))
}
