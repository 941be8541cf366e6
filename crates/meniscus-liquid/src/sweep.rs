//! Where a path meets a solid. After a step a particle may be on the far side of a wall, or nearer to that side: only its
//! path tells which side it belongs to.

use meniscus_core::vector::{add_scaled, dot, norm, sub, unit};

use crate::params::Solid;

/// A path that was cut short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopped<const D: usize> {
    /// Where it ends.
    pub end: [f64; D],
    /// The direction out of the solid where it was met.
    pub normal: [f64; D],
}

/// The least step along a path, as a part of the clearance. A path that keeps the clearance misses nothing: no solid fits between two points whose
/// distances from it add up to the step.
const LEAST_STEP: f64 = 2.0;

/// A point that is nearer than the clearance by this part of it is not pushed: single precision is no better.
const SLACK: f64 = 0.01;

/// Follows a straight path, in a substep in which the solid moves too, and slides along the solid where the path meets it.
/// It stays `clearance` away from it; walls thinner than twice that may be missed. `None` if the path is free, or begins in
/// the solid. All is in metres.
pub fn sweep<const D: usize>(
    solid: &Solid<D>,
    [from, to]: [[f64; D]; 2],
    clearance: f64,
) -> Option<Stopped<D>> {
    // In the frame of the solid, which then rests.
    let (start, end) = (solid.from.apply_inverse(from), solid.to.apply_inverse(to));
    let distance = |point| solid.shape.signed_distance(point);
    let step = LEAST_STEP * clearance;
    let met = meet(distance, [start, end], step)?;
    let normal = outwards(distance, met, clearance);
    let kept = add_scaled(met, clearance, normal);
    let depth = dot(sub(kept, end), normal);
    let slid = add_scaled(end, depth, normal);
    // In a corner there may be no room to slide.
    let is_free = distance(slid) > 0.0 && meet(distance, [kept, slid], step).is_none();
    let end = if is_free { slid } else { kept };
    Some(Stopped { end: solid.to.apply(end), normal: solid.to.rotation.apply(normal) })
}

/// Whether a straight path is certain to stay `clearance` away from a solid, which moves too: it may be met elsewhere than at its end only if that is
/// nearer to it than the path is long, as the solid sees it.
pub fn is_clear<const D: usize>(solid: &Solid<D>, [from, to]: [[f64; D]; 2], clearance: f64) -> bool {
    let (start, end) = (solid.from.apply_inverse(from), solid.to.apply_inverse(to));
    solid.shape.signed_distance(end) > clearance.max(norm(sub(end, start)))
}

/// The nearest point outside of a solid, where it is at the end of the substep, if one is inside or nearer than `clearance`.
pub fn push_out<const D: usize>(solid: &Solid<D>, point: [f64; D], clearance: f64) -> Option<Stopped<D>> {
    let depth = clearance - solid.distance(point);
    let normal = (depth > SLACK * clearance).then(|| outwards(|x| solid.distance(x), point, clearance))?;
    Some(Stopped { end: add_scaled(point, depth, normal), normal })
}

/// Whether a straight path, in a substep in which the solid moves too, begins outside of the solid and ends there without having met it.
pub fn is_free<const D: usize>(solid: &Solid<D>, [from, to]: [[f64; D]; 2], clearance: f64) -> bool {
    let path = [solid.from.apply_inverse(from), solid.to.apply_inverse(to)];
    let distance = |point| solid.shape.signed_distance(point);
    path.iter().all(|&end| distance(end) > 0.0) && meet(distance, path, LEAST_STEP * clearance).is_none()
}

/// Whether the second of two points is outside of a solid, by its distance, and on the side of the first. From inside a wall that is thinner
/// than `thick` none is.
pub fn sees<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    [from, to]: [[f64; D]; 2],
    least_step: f64,
    thick: f64,
) -> bool {
    if distance(to) <= 0.0 {
        return false;
    }
    if distance(from) <= 0.0 {
        return is_thick(&distance, from, least_step, thick);
    }
    meet(distance, [from, to], least_step).is_none()
}

/// Whether a solid is thicker than `thick` at a point inside of it, along the shortest way out.
pub fn is_thick<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    step: f64,
    thick: f64,
) -> bool {
    let out = shortest_way_out(&distance, inside, 0.1 * step);
    goes_on(distance, inside, out, step, thick)
}

/// Whether a solid goes on for `thick` behind a point inside of it, seen from `out` of it. Another wall may begin behind a gap: all of the way counts.
pub fn goes_on<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    out: [f64; D],
    step: f64,
    thick: f64,
) -> bool {
    let mut gone = step;
    while gone < thick {
        let here = distance(add_scaled(inside, -gone, out));
        if here > 0.0 {
            return false;
        }
        gone += (-here).max(step);
    }
    distance(add_scaled(inside, -thick, out)) <= 0.0
}

/// The point where a path from outside meets a solid, just outside of it.
fn meet<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    [start, end]: [[f64; D]; 2],
    least_step: f64,
) -> Option<[f64; D]> {
    let way = sub(end, start);
    let length = norm(way);
    let (at_start, at_end) = (distance(start), distance(end));
    // What is met is as far from either end as the solid, and not farther from both than they are apart.
    if at_start <= 0.0 || at_end > 0.0 && at_start + at_end > length {
        return None;
    }
    let point = |gone: f64| add_scaled(start, gone / length, way);
    // How far it has gone, and how far the solid is there: outside of it, and inside.
    let (mut outside, mut inside) = ((0.0, at_start), (length, at_end));
    loop {
        let gone = outside.0 + outside.1.max(least_step);
        if gone >= length {
            break;
        }
        let here = distance(point(gone));
        if here <= 0.0 {
            inside = (gone, here);
            break;
        }
        outside = (gone, here);
    }
    if inside.1 > 0.0 {
        return None;
    }
    let near = 1e-4 * least_step;
    while outside.1 > 2.0 * near && inside.0 - outside.0 > near {
        // As if the distance were linear between the two; it is not where the solid is curved.
        let part = (outside.1 - near) / (outside.1 - inside.1);
        let middle = outside.0 + part.clamp(0.05, 0.95) * (inside.0 - outside.0);
        let here = distance(point(middle));
        *(if here > 0.0 { &mut outside } else { &mut inside }) = (middle, here);
    }
    Some(point(outside.0))
}

/// The direction in which the distance grows.
pub fn outwards<const D: usize>(distance: impl Fn([f64; D]) -> f64, at: [f64; D], step: f64) -> [f64; D] {
    unit(slope(distance, at, step))
}

/// What the distance grows by along a step in each direction.
fn slope<const D: usize>(distance: impl Fn([f64; D]) -> f64, at: [f64; D], step: f64) -> [f64; D] {
    std::array::from_fn(|axis| {
        let [mut lower, mut upper] = [at; 2];
        lower[axis] -= 0.5 * step;
        upper[axis] += 0.5 * step;
        distance(upper) - distance(lower)
    })
}

/// The direction of the shortest way out of a wall. In its middle the distance grows either way, and differences across that tell nothing: then the way
/// from a point beside.
pub fn shortest_way_out<const D: usize>(
    distance: &impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    step: f64,
) -> [f64; D] {
    let beside = |axis: usize| {
        let mut point = inside;
        point[axis] += 2.0 * step;
        point
    };
    let slope = |at: [f64; D]| slope(distance, at, step);
    let slopes = || std::iter::once(inside).chain((0..D).map(beside)).map(slope);
    let steeper = |a: &[f64; D], b: &[f64; D]| norm(*a).total_cmp(&norm(*b));
    let clear = slopes().find(|slope| norm(*slope) > 0.9 * step);
    unit(clear.or_else(|| slopes().max_by(steeper)).unwrap_or([0.0; D]))
}

#[cfg(test)]
mod tests {
    use meniscus_core::shape::{RigidTransform, Rotation, Shape};

    use super::*;

    const CLEARANCE: f64 = 0.01;

    fn plate() -> Solid<2> {
        Solid::fixed(Shape::box_between([0.0, 1.0], [2.0, 1.05]).unwrap())
    }

    /// In the middle of a wall either side is as near: a wall is thin there too.
    #[test]
    fn walls_are_as_thick_in_their_middle() {
        let plate = Shape::box_between([-9.0, -9.0, -0.3], [9.0, 9.0, 0.3]).unwrap();
        for degrees in [0.0_f64, 20.0, 45.0, 90.0] {
            let rotation = Rotation::<3>::from_axis_angle([1.0, 0.0, 0.0], degrees.to_radians()).unwrap();
            let plate =
                plate.clone().transformed(RigidTransform { rotation, translation: [0.0; 3] }).unwrap();
            for height in [-0.2, -0.003, 0.0, 1e-17, 0.001, 0.2] {
                let inside = rotation.apply([0.5, 0.5, height]);
                let is_thick = |thick| is_thick(|point| plate.signed_distance(point), inside, 0.02, thick);
                assert!(!is_thick(0.7), "{degrees} {height}");
                assert!(is_thick(0.29), "{degrees} {height}");
            }
        }
    }

    #[test]
    fn a_path_through_a_plate_ends_on_the_side_it_began() {
        for to in [[0.5, 1.04], [0.5, 1.3], [1.2, 3.0]] {
            let stopped = sweep(&plate(), [[0.4, 0.8], to], CLEARANCE).unwrap();
            assert!((stopped.end[1] - (1.0 - CLEARANCE)).abs() < 1e-5, "{stopped:?}");
            assert!((stopped.end[0] - to[0]).abs() < 1e-9, "it slides: {stopped:?}");
            assert!((stopped.normal[1] + 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_path_beside_a_plate_is_free() {
        assert_eq!(sweep(&plate(), [[0.4, 0.8], [1.9, 0.99]], CLEARANCE), None);
        assert_eq!(sweep(&plate(), [[-0.2, 0.8], [-0.1, 1.4]], CLEARANCE), None);
        assert_eq!(sweep(&plate(), [[0.4, 0.995], [1.9, 0.995]], CLEARANCE), None);
    }

    #[test]
    fn a_plate_that_moves_over_a_point_takes_it_along() {
        let moved = RigidTransform { translation: [0.0, -0.5], ..RigidTransform::IDENTITY };
        let solid = Solid { to: moved, ..plate() };
        let stopped = sweep(&solid, [[0.4, 0.8], [0.4, 0.8]], CLEARANCE).unwrap();
        assert!((stopped.end[1] - (0.5 - CLEARANCE)).abs() < 1e-5, "{stopped:?}");
    }

    #[test]
    fn there_is_no_room_to_slide_in_a_corner() {
        let corner = Shape::union(vec![
            Shape::box_between([0.0, 1.0], [2.0, 1.2]).unwrap(),
            Shape::box_between([1.0, 0.0], [1.2, 1.0]).unwrap(),
        ]);
        let stopped = sweep(&Solid::fixed(corner.unwrap()), [[0.9, 0.9], [1.4, 1.3]], CLEARANCE).unwrap();
        assert!(stopped.end[0] < 1.0 && stopped.end[1] < 1.0, "{stopped:?}");
    }
}
