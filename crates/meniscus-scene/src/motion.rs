//! Solids that move along keyframes.

use std::any::Any;

use meniscus_core::serde_array::array;
use meniscus_core::shape::{RigidTransform, Rotation};
use meniscus_core::vector::sub;
use serde::{Deserialize, Serialize};

use crate::content::Interpolation;

/// A motion through keyframes, held before the first and after the last one unless it repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion<const D: usize> {
    /// The point that rotations are about.
    #[serde(with = "array")]
    pub pivot: [f64; D],
    /// The axis of rotations in 3D, of any length but zero; in 2D it is not used.
    pub axis: [f64; 3],
    /// At least one, at strictly increasing times.
    pub keyframes: Vec<Pose<D>>,
    /// What happens between keyframes.
    pub interpolation: Interpolation,
    /// Whether the motion starts again after the last keyframe; then there are at least two of them, and the
    /// first and the last pose agree modulo full turns.
    pub repeat: bool,
}

/// Where a solid is at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose<const D: usize> {
    /// In seconds.
    pub time: f64,
    /// From where the shape of the scene is, in metres.
    #[serde(with = "array")]
    pub translation: [f64; D],
    /// About the pivot, counter-clockwise.
    pub degrees: f64,
}

impl<const D: usize> Motion<D> {
    /// The transform that takes the shape, as the scene gives it, to where it is at `time`. It is exact at
    /// keyframes, and the identity where translation and angle are zero.
    pub fn pose(&self, time: f64) -> RigidTransform<D> {
        let (translation, degrees) = self.translation_and_degrees(self.within_period(time));
        turned_about(self.pivot, self.axis, degrees, translation)
    }

    /// The time of the first period at which the solid is where it is at `time`.
    fn within_period(&self, time: f64) -> f64 {
        let (first, last) = self.ends();
        if self.repeat && time > last { first + (time - first).rem_euclid(last - first) } else { time }
    }

    /// The times of the first and the last keyframe.
    fn ends(&self) -> (f64, f64) {
        let time = |pose: Option<&Pose<D>>| pose.map_or(0.0, |pose| pose.time);
        (time(self.keyframes.first()), time(self.keyframes.last()))
    }

    fn translation_and_degrees(&self, time: f64) -> ([f64; D], f64) {
        let next = self.keyframes.partition_point(|pose| pose.time <= time);
        let before = next.checked_sub(1).and_then(|index| self.keyframes.get(index));
        match (before, self.keyframes.get(next)) {
            (Some(a), Some(b)) => {
                let s = self.progress((time - a.time) / (b.time - a.time));
                let mix = |from: f64, to: f64| from + s * (to - from);
                let translation = std::array::from_fn(|i| mix(a.translation[i], b.translation[i]));
                (translation, mix(a.degrees, b.degrees))
            }
            (Some(held), None) | (None, Some(held)) => (held.translation, held.degrees),
            (None, None) => ([0.0; D], 0.0),
        }
    }

    /// How much of the way between two keyframes is done after the part `s` of the time.
    fn progress(&self, s: f64) -> f64 {
        match self.interpolation {
            Interpolation::Linear => s,
            Interpolation::Smooth => s * s * (3.0 - 2.0 * s),
        }
    }
}

/// The rotation by `degrees` about `pivot` (in 3D around `axis`), followed by a translation. An axis without a
/// direction or an angle that is not finite does not turn.
pub fn turned_about<const D: usize>(
    pivot: [f64; D],
    axis: [f64; 3],
    degrees: f64,
    translation: [f64; D],
) -> RigidTransform<D> {
    // Full turns are taken off in degrees, where they are exact.
    let rotation = rotation::<D>(axis, (degrees % 360.0).to_radians()).unwrap_or(Rotation::identity());
    let moved_pivot = sub(pivot, rotation.apply(pivot));
    RigidTransform { rotation, translation: std::array::from_fn(|a| translation[a] + moved_pivot[a]) }
}

/// The rotation of the plane or of space, whichever `D` says.
fn rotation<const D: usize>(axis: [f64; 3], angle: f64) -> Option<Rotation<D>> {
    let rotation: Box<dyn Any> = match D {
        2 => Box::new(Rotation::<2>::from_angle(angle).ok()?),
        _ => Box::new(Rotation::<3>::from_axis_angle(axis, angle).ok()?),
    };
    rotation.downcast_ref().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(interpolation: Interpolation, repeat: bool) -> Motion<2> {
        let pose = |time, x, degrees| Pose { time, translation: [x, 0.0], degrees };
        let keyframes = vec![pose(0.1, 0.0, 0.0), pose(0.4, 0.3, 90.0), pose(1.1, 0.0, 360.0)];
        Motion { pivot: [0.5, 0.25], axis: [0.0, 0.0, 1.0], keyframes, interpolation, repeat }
    }

    #[test]
    fn poses_are_exact_at_keyframes() {
        for interpolation in [Interpolation::Linear, Interpolation::Smooth] {
            let motion = motion(interpolation, false);
            assert_eq!(motion.pose(0.1), RigidTransform::IDENTITY);
            assert_eq!(motion.pose(1.1), RigidTransform::IDENTITY);
            let quarter = motion.pose(0.4);
            assert_eq!(quarter, turned_about([0.5, 0.25], [0.0, 0.0, 1.0], 90.0, [0.3, 0.0]));
            let moved = quarter.apply([0.6, 0.25]);
            assert!((moved[0] - 0.8).abs() < 1e-15 && (moved[1] - 0.35).abs() < 1e-15, "{moved:?}");
        }
    }

    #[test]
    fn a_pure_translation_is_exact_whatever_the_pivot() {
        let pose = |time, x| Pose { time, translation: [x, 0.0, 0.0], degrees: 0.0 };
        let motion = Motion {
            pivot: [1e5, -3.3, 0.7],
            axis: [1.0, 1.0, 0.0],
            keyframes: vec![pose(0.0, 0.1), pose(1.0, 0.1)],
            interpolation: Interpolation::Linear,
            repeat: false,
        };
        assert_eq!(motion.pose(0.3).translation, [0.1, 0.0, 0.0]);
        assert_eq!(motion.pose(0.3).rotation, Rotation::identity());
    }

    #[test]
    fn the_pivot_moves_by_the_translation_alone() {
        let motion = motion(Interpolation::Linear, false);
        let moved = motion.pose(0.25).apply([0.5, 0.25]);
        assert!((moved[0] - 0.65).abs() < 1e-15 && (moved[1] - 0.25).abs() < 1e-15, "{moved:?}");
    }

    #[test]
    fn a_motion_is_held_before_its_first_and_after_its_last_keyframe() {
        let motion = motion(Interpolation::Linear, false);
        assert_eq!(motion.pose(-3.0), motion.pose(0.1));
        assert_eq!(motion.pose(7.0), motion.pose(1.1));
    }

    #[test]
    fn a_smooth_motion_rests_at_keyframes_and_a_linear_one_does_not() {
        let speed = |interpolation, time: f64| {
            let (motion, h) = (motion(interpolation, false), 1e-6);
            let x = |t| motion.pose(t).apply([0.5, 0.25])[0];
            (x(time + h) - x(time)) / h
        };
        assert!(speed(Interpolation::Smooth, 0.1).abs() < 1e-4);
        assert!(speed(Interpolation::Smooth, 0.4).abs() < 1e-4);
        assert!((speed(Interpolation::Linear, 0.1) - 1.0).abs() < 1e-6);
        // Half of the way at half of the time, 1.5 times as fast.
        assert!((speed(Interpolation::Smooth, 0.25) - 1.5).abs() < 1e-4);
    }

    #[test]
    fn a_repeated_motion_has_its_period() {
        let motion = motion(Interpolation::Smooth, true);
        for time in [0.15, 0.3, 0.77, 1.05] {
            for periods in 1..4 {
                let (now, later) = (motion.pose(time), motion.pose(time + f64::from(periods)));
                for point in [[0.0, 0.0], [1.0, 0.3]] {
                    let (a, b) = (now.apply(point), later.apply(point));
                    assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-12, "{time} {periods}");
                }
            }
        }
        assert_eq!(motion.pose(0.0), motion.pose(0.1), "held before the first keyframe");
    }

    #[test]
    fn turns_in_space_follow_the_right_hand_rule() {
        let turn = turned_about::<3>([0.0; 3], [0.0, 2.0, 0.0], 90.0, [0.0; 3]);
        let moved = turn.apply([0.0, 0.0, 1.0]);
        assert!((moved[0] - 1.0).abs() < 1e-15 && moved[2].abs() < 1e-15, "{moved:?}");
    }
}
