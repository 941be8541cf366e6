//! Where a path meets a solid. After a step a particle may be on the far side of a wall, or nearer to that side: only its
//! path tells which side it belongs to.

mod distance;
mod thin;

use meniscus_core::vector::{add_scaled, dot, norm, sub};

use crate::params::Params;
use crate::surroundings::Solid;
use distance::meet;
pub use distance::{is_thick, outwards, sees, shortest_way_out};
pub use thin::{THIN, is_parted, point_in_the_open};

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

/// A point that is nearer than the clearance by this part of it is not pushed: single precision is no better. With nothing, particles at rest are pushed for ever.
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

/// A wall that is thinner, in cells, may be seeded through, as particles may pass it.
const LEAST_WALL: f64 = 0.02;

/// Whether two points see one another at the beginning of a substep: then they are on the same side of thin walls.
pub fn is_seen_before<const D: usize>(params: &Params<D>, solids: &[Solid<D>], way: [[f64; D]; 2]) -> bool {
    let dx = params.grid.dx;
    solids.iter().all(|solid| sees(|point| solid.distance_before(point), way, LEAST_WALL * dx, THIN * dx))
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
