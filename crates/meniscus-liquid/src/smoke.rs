//! Smoke: markers that the flow carries, and that may be lighter than the fluid around them.

use meniscus_core::advect::advect_points_then;
use meniscus_core::grid::{FaceField, Field, unravel};
use meniscus_core::interpolate::interpolate;
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, jittered, markers_along};
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use crate::collide::{CollideInfo, Obstacles, keep_points};
use crate::params::{Params, Smoke, Solid};
use crate::substep::Substep;

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

/// Moves markers, sorted by the blocks of the velocity, with the flow, past solids; those that leave through open sides are gone.
pub fn carry<const D: usize>(
    obstacles: &Obstacles<D>,
    velocity: &FaceField<f32, D>,
    ranges: &BlockRanges<D>,
    Markers { position }: &mut Markers<D>,
) {
    position.truncate(ranges.sorted());
    let dt_in_cells = obstacles.substep().dt_in_cells();
    let kept = advect_points_then(position, ranges, velocity, dt_in_cells, |before, points| {
        keep_points(obstacles, before, points)
    });
    if kept.into_iter().any(|kept| kept != CollideInfo::default()) {
        position.retain(|x| x.iter().all(|c| c.is_finite()));
    }
}

/// Lets smoke rise: where it fills a cell, gravity is weaker by the part `buoyancy` (Boussinesq: the inertia is that of the
/// fluid).
pub fn add_buoyancy<const D: usize>(
    Substep { params, surroundings, dt, .. }: Substep<D>,
    markers: &[Markers<D>],
    velocity: &mut FaceField<f32, D>,
) {
    let full = markers_along::<D>().pow(D as u32) as f64;
    for (smoke, markers) in surroundings.smoke.iter().zip(markers).filter(|(smoke, _)| smoke.buoyancy != 0.0)
    {
        let lift = params.gravity.map(|g| (-g * smoke.buoyancy * dt / full) as f32);
        for (axis, &lift) in lift.iter().enumerate().filter(|(_, lift)| **lift != 0.0) {
            let field = &mut velocity.axes[axis];
            let blocks = field.blocks().clone();
            let values = field.values_mut();
            // A marker counts for the two faces that it is between, by how near they are.
            for x in &markers.position {
                let cell = x.map(|c| c as i64);
                let part = x[axis] - cell[axis] as f32;
                for (step, share) in [(0, 1.0 - part), (1, part)] {
                    let mut face = cell;
                    face[axis] += step;
                    if let Some(slot) = blocks.locate(face) {
                        values[slot.flat::<D>()] += lift * share;
                    }
                }
            }
        }
    }
}
