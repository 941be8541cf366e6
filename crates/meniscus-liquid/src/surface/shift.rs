//! Moving the level set, where more of a volume is missing than corrections can mend.

use std::collections::BTreeMap;

use meniscus_core::grid::{Field, Slot, block_len};
use meniscus_core::parallel;

use super::thin_walls::cells_near_thin_walls;
use crate::boundary::Boundary;
use crate::measure::liquid_by_block;
use crate::regions::{Interface, Owner, across, liquid_area};
use crate::tracking::Tracked;

/// An error of the volume beyond this part of it is the work of an event. A divergence mends what is less, where it is; a shift moves all of the surface, where nothing is wrong too.
const SUDDEN: f64 = 1e-3;

/// The farthest that the level set is moved in a substep, in cells: less than [`ESCAPED`](super::ESCAPED), so that no particle escapes by it.
const MAX_SHIFT: f64 = 0.1;

/// Moves the surface, by at most [`MAX_SHIFT`], if the volume is off its target, both in cells, by more than slow drift explains; says
/// whether it did.
pub fn undo_sudden_change<const D: usize>(
    level_set: &mut Field<f32, D>,
    boundary: &Boundary<D>,
    volume: f64,
    target: f64,
) -> bool {
    let off = volume - target;
    let slow = SUDDEN * target;
    let excess = off - off.clamp(-slow, slow);
    if excess == 0.0 || volume <= 0.0 {
        return false;
    }
    // Behind a thin wall the liquid does not grow.
    let mut dry = cells_near_thin_walls(boundary);
    dry.retain(|slot| level_set[*slot] >= 0.0);
    let trial = 0.02_f64.copysign(excess);
    shift(level_set, trial);
    let change = liquid_by_block(level_set, boundary).iter().sum::<f64>() - volume;
    // The area of the surface, negative.
    let slope = change / trial;
    let wanted = if slope < 0.0 { (-excess / slope).clamp(-MAX_SHIFT, MAX_SHIFT) } else { 0.0 };
    shift(level_set, wanted - trial);
    for slot in dry {
        let value = &mut level_set.values_mut()[slot.flat::<D>()];
        *value = value.max(LEAST_LEVEL);
    }
    true
}

fn shift<const D: usize>(level_set: &mut Field<f32, D>, by: f64) {
    parallel::update(level_set.values_mut(), |value| *value += by as f32);
}

/// A bubble's error beyond this part of its volume is the work of an event; it is larger than [`SUDDEN`] because what
/// a bubble of few cells measures depends on where it lies on the grid.
const SUDDEN_FOR_BUBBLE: f64 = 0.02;

/// Bubbles of fewer cells, and voids, are left to the flow: a shift would pin them to the cells that they are in, since it moves no cell from one side to the other.
const RESOLVED: f64 = 10.0;

/// Moves the surfaces of the bodies and bubbles whose volumes have changed by more than slow drift explains, by at most
/// [`MAX_SHIFT`]; says whether there were any. No cell passes from liquid to air or back, so that everything remains of
/// the body or region that it is of.
pub fn undo_sudden_changes<const D: usize>(
    tracked: &Tracked<D>,
    level_set: &mut Field<f32, D>,
    cell_volume: f64,
) -> bool {
    let Some(shifts) = shifts(tracked, cell_volume) else { return false };
    let old = level_set.clone();
    let blocks = old.blocks();
    parallel::for_chunks(level_set.values_mut(), block_len::<D>(), |block, values| {
        for (local, value) in values.iter_mut().enumerate() {
            let slot = Slot { block, local };
            let owner = Owner::of(tracked.labels[slot]).filter(|_| value.abs() < 1.0);
            let Some(owner) = owner else { continue };
            let other = across(&tracked.labels, &old, blocks.cell(slot), *value < 0.0);
            let pair = match (owner, other) {
                (Owner::Liquid(body), Some(Owner::Air(region))) => (body, region),
                (Owner::Air(region), Some(Owner::Liquid(body))) => (body, region),
                _ => continue,
            };
            if let Some(shift) = shifts.get(&pair) {
                let moved = *value - *shift as f32;
                *value = if *value < 0.0 { moved.min(-LEAST_LEVEL) } else { moved.max(LEAST_LEVEL) };
            }
        }
    });
    true
}

/// The least distance of a centre from the surface that a shift leaves, in cells: no more than to keep its sign.
const LEAST_LEVEL: f32 = 1e-3;

/// How far the surface between bodies and regions is to move into the air, in cells, by (body, region).
///
/// A bubble regains its volume all over its surface. A body gives or takes what it must, and what its bubbles took or
/// gave, where it touches air whose volume is not constrained.
fn shifts<const D: usize>(tracked: &Tracked<D>, cell_volume: f64) -> Option<BTreeMap<(usize, usize), f64>> {
    let sudden = |missing: f64, rest: f64, part: f64| {
        let slow = part * rest;
        if missing.abs() > slow { (missing - slow.copysign(missing)) / cell_volume } else { 0.0 }
    };
    let mut of_body: Vec<f64> =
        tracked.bodies.iter().map(|b| sudden(b.rest_volume - b.volume, b.rest_volume, SUDDEN)).collect();
    let of_region: Vec<f64> = (tracked.regions.iter().zip(&tracked.constrained))
        .map(|(r, &constrained)| {
            let resolved = r.rest_volume > RESOLVED * cell_volume;
            let part = if constrained && resolved { SUDDEN_FOR_BUBBLE } else { f64::INFINITY };
            sudden(r.rest_volume - r.volume, r.rest_volume, part)
        })
        .collect();
    if of_body.iter().chain(&of_region).all(|missing| *missing == 0.0) {
        return None;
    }
    let area = liquid_area(&tracked.interfaces, of_region.len());
    let mut free_area = vec![0.0; of_body.len()];
    for interface in &tracked.interfaces {
        if !tracked.constrained[interface.region] {
            free_area[interface.body] += interface.area;
        }
        of_body[interface.body] += of_region[interface.region] * interface.area / area[interface.region];
    }
    let shift = |interface: &Interface| {
        let shift = if tracked.constrained[interface.region] {
            -of_region[interface.region] / area[interface.region]
        } else {
            of_body[interface.body] / free_area[interface.body]
        };
        ((interface.body, interface.region), shift.clamp(-MAX_SHIFT, MAX_SHIFT))
    };
    Some(tracked.interfaces.iter().map(shift).collect())
}
