//! How long steps may be for what bodies do.

use meniscus_modal::BodyState;
use meniscus_modal::panels::Body;

/// In a step a body moves or turns by such a part of how far it reaches, at most.
const MOST_OF_REACH: f64 = 0.25;
/// Or of the way to what it may meet: the nearer that is, the more the fluid in between weighs.
const MOST_OF_WAY: f64 = 0.5;

/// The longest step, in s, of bodies in a box that keep a film between them.
pub fn longest_step(size: [f64; 2], film: f64, bodies: &[Body], states: &[BodyState]) -> f64 {
    let all: Vec<(&Body, &BodyState)> = bodies.iter().zip(states).collect();
    let mut longest = f64::INFINITY;
    for (k, &(body, state)) in all.iter().enumerate() {
        let [u, v, spin] = state.motion;
        let reach = body.profile.reach;
        longest = longest.min(MOST_OF_REACH * reach / u.hypot(v).max(spin.abs() * reach));
        for axis in 0..2 {
            let x = body.profile.panels.iter().map(|panel| state.pose.place(panel.start)[axis]);
            let [low, high] = x.fold([f64::INFINITY, 0.0], |[low, high], x| [x.min(low), x.max(high)]);
            for (gap, closing) in [(low, -state.motion[axis]), (size[axis] - high, state.motion[axis])] {
                longest = longest.min(until_met(gap, closing, film));
            }
        }
        for &(other, of_other) in &all[..k] {
            let between = [0, 1].map(|axis| of_other.pose.centre[axis] - state.pose.centre[axis]);
            let apart = between[0].hypot(between[1]);
            let relative = [0, 1].map(|axis| state.motion[axis] - of_other.motion[axis]);
            let closing = (between[0] * relative[0] + between[1] * relative[1]) / apart;
            longest = longest.min(until_met(apart - reach - other.profile.reach, closing, film));
        }
    }
    longest
}

/// A step for what is so far apart and comes nearer at some speed.
fn until_met(gap: f64, closing: f64, film: f64) -> f64 {
    let way = film + MOST_OF_WAY * (gap - film).max(0.0);
    if closing > 0.0 { way / closing } else { f64::INFINITY }
}
