//! The rigid bodies of a scene.

use std::fmt;
use std::sync::Arc;

use meniscus_contact::{AdvanceInfo, BodySpec, ContactError, Contacts, Domain, Moving, SolidSpec};
use meniscus_core::shape::{Bounds, RigidTransform, Rotation, Shape};
use meniscus_core::vector::norm;
use meniscus_rigid::Touch;
use meniscus_rigid::{Contact, RigidBody, RigidState, Twist, twist};
use meniscus_scene::{BodySetup, Setup};

use crate::stats::BodyStats;

/// The bodies as the liquid wants them.
pub(crate) fn rigid_bodies<const D: usize>(setup: &Setup<D>) -> Vec<RigidBody<D>> {
    let rigid = |body: &BodySetup<D>| RigidBody {
        shape: for_the_grid(&body.shape, setup.grid.dx),
        density: body.density,
        volume: body.mass / body.density,
        unit_inertia: body.inertia.map(|row| row.map(|x| x / body.density)),
        pose: RigidTransform { rotation: Rotation::identity(), translation: body.centre },
        velocity: twist(body.velocity, body.angular_velocity),
        separates: body.separation,
        push: Twist::default(),
    };
    setup.bodies.iter().map(rigid).collect()
}

/// The shape of something that moves, and so is asked for distances all the time: a mesh is sampled.
pub(crate) fn for_the_grid<const D: usize>(shape: &Shape<D>, dx: f64) -> Shape<D> {
    if shape.has_mesh() && shape.bounds().is_finite() { shape.sampled(0.5 * dx) } else { shape.clone() }
}

/// How far the surface of a body moves in `dt`, at most, in metres.
pub(crate) fn body_travel<const D: usize>(body: &RigidBody<D>, state: &RigidState<D>, dt: f64) -> f64 {
    (norm(state.centre_velocity()) + norm(state.angular_velocity()) * body.shape.radius()) * dt
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

/// What the bodies of a scene run into; none where there are no bodies.
pub(crate) fn contacts<const D: usize>(setup: &Setup<D>) -> Result<Option<Arc<Contacts<D>>>, ContactError> {
    if setup.bodies.is_empty() {
        return Ok(None);
    }
    let bodies = setup.bodies.iter().map(|body| BodySpec {
        shape: &body.shape,
        mass: body.mass,
        inertia: body.inertia,
        friction: body.friction,
        restitution: body.restitution,
    });
    // Of two that touch the smaller value counts: that of the body.
    let solids = setup.solids.iter().map(|s| SolidSpec { shape: &s.shape, friction: 1e3, restitution: 1.0 });
    let domain = Domain {
        bounds: Bounds {
            lower: setup.grid.origin,
            upper: setup.grid.point(setup.grid.cells.map(|n| n as f64)),
        },
        closed: setup.open.map(|sides| sides.map(|open| !open)),
        dx: setup.grid.dx,
        film: setup.modes.as_ref().map_or(0.0, |modes| 0.5 * modes.panel),
        gravity: setup.gravity,
    };
    let (bodies, solids): (Vec<_>, Vec<_>) = (bodies.collect(), solids.collect());
    Contacts::new(&bodies, &solids, &domain).map(|contacts| Some(Arc::new(contacts)))
}

/// The way of each solid in a substep.
pub(crate) type Ways<const D: usize> = Vec<(RigidTransform<D>, RigidTransform<D>)>;

/// Moves the bodies for `dt`, while the solids go their ways.
pub(crate) fn move_bodies<const D: usize>(
    contacts: &Contacts<D>,
    bodies: &mut [RigidState<D>],
    solids: &Ways<D>,
    dt: f64,
) -> AdvanceInfo<D> {
    let (moved, info) = advance(contacts, bodies, solids, dt);
    for (body, Moving { pose, velocity, spin }) in bodies.iter_mut().zip(moved) {
        body.move_to(pose, velocity, spin);
    }
    info
}

fn advance<const D: usize>(
    contacts: &Contacts<D>,
    bodies: &[RigidState<D>],
    solids: &Ways<D>,
    dt: f64,
) -> (Vec<Moving<D>>, AdvanceInfo<D>) {
    let mut moving = moving(bodies);
    let info = contacts.advance(&mut moving, solids, dt);
    (moving, info)
}

fn moving<const D: usize>(bodies: &[RigidState<D>]) -> Vec<Moving<D>> {
    let moving = |body: &RigidState<D>| Moving {
        pose: body.pose,
        velocity: body.centre_velocity(),
        spin: body.angular_velocity(),
    };
    bodies.iter().map(moving).collect()
}

/// What bodies will run into after a substep, while the solids go their ways.
pub(crate) struct Ahead<const D: usize> {
    pub contacts: Arc<Contacts<D>>,
    pub solids: Ways<D>,
}

impl<const D: usize> Contact<D> for Ahead<D> {
    fn touches(&self, bodies: &[RigidState<D>], dt: f64) -> Vec<Touch<D>> {
        let touch = |touch: meniscus_contact::Touch<D>| {
            let meniscus_contact::Touch { body, other, point, normal, gap, velocity, friction } = touch;
            Touch { body, other, point, normal, gap, velocity, friction }
        };
        self.contacts.touches(&moving(bodies), &self.solids, dt).into_iter().map(touch).collect()
    }
}

impl<const D: usize> fmt::Debug for Ahead<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("solids", &self.solids).finish_non_exhaustive()
    }
}
