//! Finds out whether shapes meet, by bisection.

use std::collections::VecDeque;

use meniscus_core::shape::Bounds;
use meniscus_core::vector::norm;

/// What is known of a set of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// There is such a point.
    Somewhere,
    /// There is none.
    Nowhere,
    /// None was found, but there may be one.
    Unknown,
}

/// Looks in a box for a point where `value`, which changes by at most the distance between two points (as a
/// signed distance does), is below `-depth`. Boxes are halved down to `finest`, and `budget` evaluations are
/// shared by all searches of a scene.
pub(super) fn below<const D: usize>(
    bounds: Bounds<D>,
    depth: f64,
    finest: f64,
    budget: &mut usize,
    value: impl Fn([f64; D]) -> f64,
) -> Meeting {
    const MOST: usize = 4096;
    if bounds.is_empty() {
        return Meeting::Nowhere;
    }
    if !bounds.is_finite() {
        return Meeting::Unknown;
    }
    let mut certain = true;
    let mut boxes = VecDeque::from([bounds]);
    for evaluation in 0.. {
        let Some(piece) = boxes.pop_front() else { break };
        if evaluation >= MOST || *budget == 0 {
            return Meeting::Unknown;
        }
        *budget -= 1;
        let (centre, half) = (piece.centre(), piece.extent().map(|e| 0.5 * e));
        let here = value(centre);
        if here < -depth {
            return Meeting::Somewhere;
        }
        if here - norm(half) >= -depth {
            continue;
        }
        let longest = (0..D).fold(0, |best, axis| if half[axis] > half[best] { axis } else { best });
        if half[longest] <= 0.5 * finest {
            certain = false;
            continue;
        }
        let (mut lower, mut upper) = (piece, piece);
        lower.upper[longest] = centre[longest];
        upper.lower[longest] = centre[longest];
        boxes.extend([lower, upper]);
    }
    if certain { Meeting::Nowhere } else { Meeting::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::shape::Shape;

    const UNIT: Bounds<2> = Bounds { lower: [0.0; 2], upper: [1.0; 2] };

    fn search(shape: &Shape<2>) -> Meeting {
        below(UNIT, 0.0, 0.01, &mut 10_000, |p| shape.signed_distance(p))
    }

    #[test]
    fn small_shapes_are_found_and_far_ones_are_excluded() {
        let disc = |x, y, r| Shape::sphere([x, y], r).expect("a disc");
        assert_eq!(search(&disc(0.93, 0.07, 0.02)), Meeting::Somewhere);
        assert_eq!(search(&disc(1.5, 0.5, 0.3)), Meeting::Nowhere);
        let below_the_floor = Shape::half_space([0.0, -0.5], [0.3, 1.0]).expect("a half-space");
        assert_eq!(search(&below_the_floor), Meeting::Nowhere);
        let around = Shape::box_between([-1.0; 2], [2.0; 2]).expect("a box").complement();
        assert_eq!(search(&around), Meeting::Nowhere);
    }

    #[test]
    fn the_budget_is_kept() {
        let mut budget = 5;
        let speck = Shape::sphere([0.7, 0.3], 1e-4).expect("a disc");
        assert_eq!(below(UNIT, 0.0, 1e-6, &mut budget, |p| speck.signed_distance(p)), Meeting::Unknown);
        assert_eq!(budget, 0);
    }
}
