//! The rigid bodies of a scene.

use meniscus_core::shape::{RigidTransform, Rotation};
use meniscus_liquid::{Rigid, RigidState, twist};
use meniscus_scene::{BodySetup, Setup};

use crate::stats::BodyStats;

/// The bodies as the liquid wants them.
pub(crate) fn rigid_bodies<const D: usize>(setup: &Setup<D>) -> Vec<Rigid<D>> {
    let rigid = |body: &BodySetup<D>| Rigid {
        shape: body.shape.clone(),
        density: body.density,
        volume: body.mass / body.density,
        unit_inertia: body.inertia.map(|row| row.map(|x| x / body.density)),
        pose: RigidTransform { rotation: Rotation::identity(), translation: body.centre },
        velocity: twist(body.velocity, body.angular_velocity),
    };
    setup.bodies.iter().map(rigid).collect()
}

/// How far the surface of a body moves in `dt`, at most, in metres.
pub(crate) fn body_travel<const D: usize>(body: &Rigid<D>, state: &RigidState<D>, dt: f64) -> f64 {
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    (length(&state.centre_velocity()) + length(&state.angular_velocity()) * body.shape.radius()) * dt
}

pub(crate) fn body_stats<const D: usize>(setup: &BodySetup<D>, state: &RigidState<D>) -> BodyStats {
    let angular_velocity = state.angular_velocity();
    BodyStats {
        name: setup.name.clone(),
        position: state.pose.translation.to_vec(),
        rotation: state.pose.rotation.to_quaternion(),
        velocity: state.centre_velocity().to_vec(),
        angular_velocity: if D == 2 { vec![angular_velocity[2]] } else { angular_velocity.to_vec() },
    }
}
