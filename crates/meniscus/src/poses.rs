//! Where the solids and the bodies of a frame are.

use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_io::{Frame, names};
use meniscus_scene::Setup;

/// The poses of the solids and the bodies of a frame.
pub(crate) fn poses_in<'a, const D: usize>(frame: &'a Frame<D>) -> &'a [RigidTransform<D>] {
    frame.poses(names::SOLIDS).unwrap_or_default()
}

/// The solids and the bodies of a scene, moved.
pub(crate) fn posed_solids<const D: usize>(setup: &Setup<D>, poses: &[RigidTransform<D>]) -> Vec<Shape<D>> {
    let shapes =
        setup.solids.iter().map(|solid| &solid.shape).chain(setup.bodies.iter().map(|body| &body.shape));
    let posed = |(shape, pose): (&Shape<D>, &RigidTransform<D>)| {
        shape.clone().transformed(*pose).expect("a finite pose")
    };
    shapes.zip(poses).map(posed).collect()
}
