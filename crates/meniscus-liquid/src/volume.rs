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

/// The part of an error of the volume that is corrected in a substep (Goldade 2020, section 7.1; all at
/// once would ring).
const CORRECTION: f64 = 0.5;

/// The most that the volume is changed in a substep, as a part of it.
const MAX_CORRECTION: f64 = 0.01;

/// The rate at which the liquid must grow to regain its volume, in 1/s.
pub fn volume_correction<const D: usize>(state: &State<D>, dt: f64) -> f64 {
    if state.volume <= 0.0 {
        return 0.0;
    }
    let missing = (state.volume_target - state.volume) / state.volume;
    (CORRECTION * missing).clamp(-MAX_CORRECTION, MAX_CORRECTION) / dt
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
