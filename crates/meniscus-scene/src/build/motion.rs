//! Keyframed motion.

use super::Builder;
use crate::content::{self, Interpolation};
use crate::document::Node;
use crate::motion::{Motion, Pose};

/// Poses this near are the same, in metres and in degrees.
const SAME: f64 = 1e-9;

impl<const D: usize> Builder<'_, D> {
    pub(super) fn motion(
        &mut self,
        node: &Node,
        motion: &content::Motion,
        pivot: [f64; D],
    ) -> Option<Motion<D>> {
        let pivot = self.optional_vector(node, "pivot", motion.pivot.as_deref(), pivot);
        let axis = self.rotation_axis(node, motion.axis.as_deref());
        let list = node.at("keyframes");
        let keyframes = self.each(Some(list), &motion.keyframes, Self::pose)?;
        if keyframes.is_empty() {
            if !self.problems.has_errors() {
                let help =
                    "give at least one, such as keyframes = [{ time = 0 }, { time = 1, degrees = 90 }]";
                self.problems.error(&list.place, "a motion without keyframes", "empty", help);
            }
            return None;
        }
        let increasing = self.increasing(list, &keyframes);
        if increasing && motion.repeat {
            self.repeatable(node, &keyframes);
        }
        if keyframes.len() == 1 && motion.interpolation != Interpolation::Linear {
            let help = "add a second keyframe, or remove `interpolation`";
            let place = &node.at("interpolation").place;
            self.problems.warning(place, "there is nothing to interpolate", "only one keyframe", help);
        }
        let (interpolation, repeat) = (motion.interpolation, motion.repeat);
        Some(Motion { pivot: pivot?, axis: axis?, keyframes, interpolation, repeat })
    }

    fn pose(&mut self, node: &Node, keyframe: &content::Keyframe) -> Option<Pose<D>> {
        let translation =
            self.optional_vector(node, "translation", keyframe.translation.as_deref(), [0.0; D])?;
        Some(Pose { time: keyframe.time, translation, degrees: keyframe.degrees })
    }

    fn increasing(&mut self, list: &Node, keyframes: &[Pose<D>]) -> bool {
        let mut increasing = true;
        for (index, pair) in keyframes.windows(2).enumerate() {
            if pair[1].time <= pair[0].time {
                increasing = false;
                self.problems.error(
                    &list.entry(index + 1).at("time").place,
                    if pair[1].time == pair[0].time {
                        format!("two keyframes at {} s", pair[1].time)
                    } else {
                        format!(
                            "keyframes are out of order: {} s comes after {} s",
                            pair[1].time, pair[0].time
                        )
                    },
                    format!("must be later than {} s", pair[0].time),
                    "list the keyframes by increasing time, no two at the same time",
                );
            }
        }
        increasing
    }

    /// A motion that repeats must end where it begins.
    fn repeatable(&mut self, node: &Node, keyframes: &[Pose<D>]) {
        let ([first, .., last], place) = (keyframes, &node.at("repeat").place) else {
            let help = "add a second keyframe, or remove `repeat`";
            let place = &node.at("repeat").place;
            self.problems.error(place, "a motion with one keyframe cannot repeat", "repeats nothing", help);
            return;
        };
        let moved = (0..D).any(|a| (last.translation[a] - first.translation[a]).abs() > SAME);
        let turns = (last.degrees - first.degrees) / 360.0;
        let turned = (turns - turns.round()).abs() * 360.0 > SAME;
        if moved || turned {
            let what = if moved { "translation" } else { "angle" };
            self.problems.error(
                place,
                format!("the motion would jump when it repeats: its first and last {what} differ"),
                "the motion starts again after its last keyframe",
                "make the last keyframe like the first one (full turns of 360 degrees do not matter), or remove `repeat`",
            );
            let list = node.at("keyframes");
            self.problems.also_at(&list.entry(keyframes.len() - 1).place, "ends here");
        }
    }
}
