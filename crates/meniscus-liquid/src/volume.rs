//! Keeping the liquid's volume.
//!
//! Two corrections share the work. Slow drift is undone by a small divergence of the velocity (Goldade 2020,
//! section 7.1, applied to the liquid), which moves surface and particles alike. What an event adds or takes
//! at once, as when a cavity closes between two cells, is undone at once by moving the level set.

use meniscus_core::grid::Field;
use rayon::prelude::*;

use crate::boundary::Boundary;
use crate::measure::liquid_volume;
use crate::state::State;
use crate::tracking::Bubble;

/// The part of an error of the volume that is corrected in a substep (Goldade 2020, section 7.1; all at
/// once would ring).
const CORRECTION: f64 = 0.5;

/// The most that the volume is changed in a substep, as a part of it.
const MAX_CORRECTION: f64 = 0.01;

/// The rate at which a liquid must grow to regain its volume, in 1/s.
pub fn volume_correction(volume: f64, target: f64, dt: f64) -> f64 {
    if volume <= 0.0 {
        return 0.0;
    }
    let missing = (target - volume) / volume;
    (CORRECTION * missing).clamp(-MAX_CORRECTION, MAX_CORRECTION) / dt
}

/// The farthest that the surface of a bubble is moved in a substep to regain its volume, in cells.
const MAX_BUBBLE_SHIFT: f64 = 0.1;

/// The same for a void, which is to vanish at once.
const MAX_VOID_SHIFT: f64 = 0.5;

/// The rate at which a bubble must grow to regain its volume, in m³/s (2D: m²/s; eq. 25 of Goldade 2020).
pub fn bubble_growth<const D: usize>(bubble: &Bubble<D>, dx: f64, dt: f64) -> f64 {
    let missing = bubble.rest_volume - bubble.volume;
    let (part, shift) = match bubble.rest_volume > 0.0 {
        true => (CORRECTION, MAX_BUBBLE_SHIFT),
        false => (1.0, MAX_VOID_SHIFT),
    };
    let most = shift * dx * bubble.area;
    (part * missing).clamp(-most, most) / dt
}

/// An error of the volume beyond this part of it is the work of an event.
const SUDDEN: f64 = 1e-3;

/// The farthest that the level set is moved in a substep, in cells.
const MAX_SHIFT: f64 = 0.1;

/// Moves the surface, by at most [`MAX_SHIFT`], if the volume has changed by more than slow drift explains; says
/// whether it did.
pub fn undo_sudden_change<const D: usize>(
    state: &mut State<D>,
    boundary: &Boundary<D>,
    cell_volume: f64,
) -> bool {
    let excess = state.volume - state.volume_target;
    if excess.abs() <= SUDDEN * state.volume_target || state.volume <= 0.0 {
        return false;
    }
    let trial = 0.02_f64.copysign(excess);
    shift(&mut state.level_set, trial);
    let change = liquid_volume(&state.level_set, boundary) * cell_volume - state.volume;
    // The area of the surface, negative.
    let slope = change / trial;
    let wanted = if slope < 0.0 { (-excess / slope).clamp(-MAX_SHIFT, MAX_SHIFT) } else { 0.0 };
    shift(&mut state.level_set, wanted - trial);
    state.volume = liquid_volume(&state.level_set, boundary) * cell_volume;
    true
}

fn shift<const D: usize>(level_set: &mut Field<f32, D>, by: f64) {
    level_set.values_mut().par_iter_mut().for_each(|value| *value += by as f32);
}
