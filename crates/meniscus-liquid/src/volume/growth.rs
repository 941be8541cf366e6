//! How fast volumes are corrected.

use meniscus_core::parallel;
use meniscus_core::vector::norm;

use crate::params::Params;
use crate::projection::{Bubbles, NO_BUBBLE};
use crate::regions::Owner;
use crate::tracking::{AirRegion, Tracked};

/// The part of an error of the volume that is corrected in a time of correction. (Goldade 2020, section 7.1; all at
/// once would ring.)
pub const CORRECTION: f64 = 0.5;

/// The most that the volume is changed in a time of correction, as a part of it. What is off by more mends more slowly, instead of being pumped up in one substep.
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

/// The farthest that the surface of a bubble is moved in a time of correction to regain its volume, in cells: with more, what has to pass a slit shortens the next substep, in which the
/// same way takes a higher speed.
const MAX_BUBBLE_SHIFT: f64 = 0.1;

/// The farthest that the surface of a void, which is to vanish at once, is moved in a time of correction, in cells: one of a cell's width closes in one.
const MAX_VOID_SHIFT: f64 = 0.5;

/// The rate at which a bubble must grow to regain its volume in so many seconds, in m³/s (2D: m²/s; eq. 25 of Goldade 2020). All has to pass the `open` area of the faces between it and
/// liquid: beside walls that may be far less than its surface.
pub fn bubble_growth<const D: usize>(bubble: &AirRegion<D>, open: f64, dx: f64, time: f64) -> f64 {
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

/// The bubbles as the projection wants them, whose volumes are corrected in so many seconds.
pub fn constraints<const D: usize>(tracked: &Tracked<D>, dx: f64, time: f64) -> Bubbles {
    let open = tracked.open_areas(dx);
    let kept: Vec<usize> = (0..tracked.regions.len()).filter(|&r| tracked.constrained[r]).collect();
    let mut numbers = vec![NO_BUBBLE; tracked.regions.len()];
    for (number, &region) in kept.iter().enumerate() {
        numbers[region] = number as u32;
    }
    let labels = tracked.labels.values();
    let number = |k: usize| match Owner::of(labels[k]) {
        Some(Owner::Air(region)) => numbers[region],
        _ => NO_BUBBLE,
    };
    Bubbles {
        of_slot: parallel::map_each(labels.len(), number),
        growth: kept.iter().map(|&r| bubble_growth(&tracked.regions[r], open[r], dx, time)).collect(),
        pressure: kept.iter().map(|&r| tracked.regions[r].pressure).collect(),
    }
}
