//! Keeping volumes.
//!
//! Two corrections share the work. Errors are undone by a small divergence of the velocity (Goldade 2020, section 7.1, applied to the liquid too), which moves
//! surface and particles alike; how fast, is said here, and where, in `corrections`. What is off by more than that can mend at once, as when a cavity closes between
//! two cells, is undone by moving the level set.

use std::collections::BTreeMap;

use meniscus_core::grid::{Field, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::vector::norm;

use crate::boundary::Boundary;
use crate::hidden::cells_near_thin_walls;
use crate::measure::liquid_by_block;
use crate::params::Params;
use crate::regions::{Contact, Owner, across, liquid_area};
use crate::tracking::{Bubble, Tracked};

/// The part of an error of the volume that is corrected in a time of correction (Goldade 2020, section 7.1; all at
/// once would ring).
pub const CORRECTION: f64 = 0.5;

/// The most that the volume is changed in that time, as a part of it.
const MAX_CORRECTION: f64 = 0.01;

impl<const D: usize> Params<D> {
    /// The time in which volumes are corrected, in s: a quarter of that in which gravity gives a wave of a cell its speed, or that of a longer substep. By the
    /// substep, what is missing would be asked for in ever less time as what it sets in motion makes substeps short: energy goes with the square of that.
    pub(crate) fn correction_time(&self, dt: f64) -> f64 {
        let gravity = norm(self.gravity);
        if gravity > 0.0 { dt.max(0.25 * (self.grid.dx / gravity).sqrt()) } else { dt }
    }
}

/// The rate at which a liquid must grow to regain its volume in so many seconds, in 1/s.
pub fn volume_correction(volume: f64, target: f64, time: f64) -> f64 {
    let missing = (target - volume) / volume;
    (CORRECTION * missing).clamp(-MAX_CORRECTION, MAX_CORRECTION) / time
}

/// The farthest that the surface of a bubble is moved in that time to regain its volume, in cells.
const MAX_BUBBLE_SHIFT: f64 = 0.1;

/// The same for a void, which is to vanish at once.
const MAX_VOID_SHIFT: f64 = 0.5;

/// The rate at which a bubble must grow to regain its volume in so many seconds, in m³/s (2D: m²/s; eq. 25 of Goldade 2020). All has to pass the `open` area of the faces between it and
/// liquid: beside walls that may be far less than its surface.
pub fn bubble_growth<const D: usize>(bubble: &Bubble<D>, open: f64, dx: f64, time: f64) -> f64 {
    let missing = bubble.rest_volume - bubble.volume;
    let (part, shift) = match bubble.rest_volume > 0.0 {
        true => (CORRECTION, MAX_BUBBLE_SHIFT),
        false => (1.0, MAX_VOID_SHIFT),
    };
    let most = shift * dx * bubble.area.min(open);
    (part * missing).clamp(-most, most) / time
}

/// What a body may grow by at most in a time of correction, through an `open` area between it and air that gives way.
pub fn most_growth(open: f64, dx: f64) -> f64 {
    MAX_BUBBLE_SHIFT * dx * open
}

/// An error of the volume beyond this part of it is the work of an event.
const SUDDEN: f64 = 1e-3;

/// The farthest that the level set is moved in a substep, in cells.
const MAX_SHIFT: f64 = 0.1;

/// Moves the surface, by at most [`MAX_SHIFT`], if the volume is off its target, both in cells, by more than slow drift explains; says
/// whether it did.
pub fn undo_sudden_change<const D: usize>(
    level_set: &mut Field<f32, D>,
    boundary: &Boundary<D>,
    [volume, target]: [f64; 2],
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

/// Bubbles of fewer cells, and voids, are left to the flow: a shift would pin them to the cells that they are in.
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
                (Owner::Body(body), Some(Owner::Region(region))) => (body, region),
                (Owner::Region(region), Some(Owner::Body(body))) => (body, region),
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

/// The least distance of a centre from the surface that a shift leaves, in cells.
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
    let area = liquid_area(&tracked.contacts, of_region.len());
    let mut free_area = vec![0.0; of_body.len()];
    for contact in &tracked.contacts {
        if !tracked.constrained[contact.region] {
            free_area[contact.body] += contact.area;
        }
        of_body[contact.body] += of_region[contact.region] * contact.area / area[contact.region];
    }
    let shift = |contact: &Contact| {
        let shift = if tracked.constrained[contact.region] {
            -of_region[contact.region] / area[contact.region]
        } else {
            of_body[contact.body] / free_area[contact.body]
        };
        ((contact.body, contact.region), shift.clamp(-MAX_SHIFT, MAX_SHIFT))
    };
    Some(tracked.contacts.iter().map(shift).collect())
}
