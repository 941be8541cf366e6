//! One step of rapier, set up from nothing. Compiled once for each dimension.

#[path = "impact.rs"]
mod impact;

use std::sync::Mutex;

use meniscus_core::vector::{add_scaled, norm, sub};

use super::super::{Part, Scales, Start, Way, Weight};
use super::rapier::prelude::*;
use super::{
    Pose, angular, angular_array, array, convex, cross, mass_properties, placed, quaternion, surface_of,
    vector, without_gyration,
};
use crate::pieces::Piece;
use crate::{AdvanceInfo, ContactError, Owner, Touch};
use impact::{Moment, hits, pressed, step};

/// How much of an overlap is taken away in a step.
const OVERLAP_REDUCTION: f64 = 0.4;
/// How far an overlap pushes a body in a whole step at most, in cells: what has to give way should do so gently.
const OVERLAP_PUSH: f64 = 0.2;
/// Contacts are damped this much beyond the critical, which makes them rigid: their compliance is with its square.
const DAMPING_RATIO: f64 = 100.0;
/// Sweeps over all contacts, before bodies move and again after.
const SWEEPS: usize = 100;
/// How near things are that touch, in cells.
const NEAR: f64 = 1e-3;
/// How far a body goes in a step at most, in cells: where it hits something, the step ends.
const STRIDE: f64 = 0.25;
/// Steps at most, of the fastest and smallest bodies. What is faster still is swept along its way.
const MAX_STEPS: f64 = 16.0;

/// Collision shapes, and how to step with them.
pub struct Engine {
    bodies: Vec<(Colliders, Weight)>,
    solids: Vec<Colliders>,
    sides: Vec<Collider>,
    scales: Scales,
}

/// What belongs to one body or solid.
struct Colliders {
    colliders: Vec<Collider>,
    /// How far it reaches from its origin.
    reach: f64,
}

impl Engine {
    pub fn new(
        bodies: Vec<(Part, Weight)>,
        solids: Vec<Part>,
        sides: Vec<Piece>,
        scales: Scales,
    ) -> Result<Self, ContactError> {
        let mut with_weights = Vec::new();
        for (part, weight) in bodies {
            with_weights.push((Colliders::new(&part, &scales)?, weight));
        }
        Ok(Self {
            bodies: with_weights,
            solids: solids.iter().map(|part| Colliders::new(part, &scales)).collect::<Result<_, _>>()?,
            // The smaller coefficient counts, so that these are always those of the body.
            sides: sides.iter().filter_map(half_space).map(|c| surface(c, &scales, f64::MAX, 1.0)).collect(),
            scales,
        })
    }

    /// Moves the bodies by `dt` while the solids move from their first to their second poses.
    ///
    /// Contacts that exist are solved first, for velocities alone: forces have acted on these, and what rests must be at
    /// rest, by friction too, before it moves. Contacts that come up on the way are solved there.
    pub fn advance(&self, starts: &[Start], solids: &[[Pose; 2]], dt: f64) -> (Vec<Way>, AdvanceInfo<3>) {
        if !self.may_meet(starts, solids, dt) {
            return (starts.iter().map(|start| Way::free(start, dt)).collect(), AdvanceInfo::default());
        }
        let (rest, near) = (self.rest(dt), NEAR * self.scales.dx);
        let (mut world, bodies, movers) = self.world(starts, solids, dt);
        world.integration_parameters = self.parameters(dt, dt, near);
        world.integration_parameters.max_ccd_substeps = 0;
        move_solids(&mut world, &movers, solids, 1.0);
        let moment = Moment { rest, near, fall: Vector::ZERO };
        let impacts = step(&mut world, &moment);
        let (contacts, deepest) = touching(&world.narrow_phase);
        let mut info = AdvanceInfo { contacts, deepest, hits: hits(&world, &bodies, &impacts, 1.0) };
        let held: Vec<Start> =
            bodies.iter().zip(starts).map(|(handle, start)| held(&world.bodies[*handle], start)).collect();

        let (steps, travel) = self.steps(&held, solids, dt);
        let (mut world, bodies, movers) = self.world(&held, solids, dt);
        let prediction = (2.0 * travel / steps as f64) + near;
        world.integration_parameters = self.parameters(dt / steps as f64, dt, prediction);
        for part in 1..=steps {
            move_solids(&mut world, &movers, solids, part as f64 / steps as f64);
            let passed = (part as f64 - 0.5) / steps as f64;
            let fall = (0.5 - passed).max(0.0) * dt * vector(self.scales.gravity);
            let impacts = step(&mut world, &Moment { rest, near, fall });
            info.contacts = info.contacts.max(touching(&world.narrow_phase).0);
            info.hits.extend(hits(&world, &bodies, &impacts, 1.0 - passed));
        }
        let ways = bodies.iter().zip(starts).map(|(handle, start)| way(&world.bodies[*handle], start, dt));
        (ways.collect(), info)
    }

    /// Where bodies touch something, or may do so within `dt` while the solids move: what approaches, faster by what gravity makes in two steps.
    pub fn touches(&self, starts: &[Start], solids: &[[Pose; 2]], dt: f64) -> Vec<Touch<3>> {
        if !self.may_meet(starts, solids, dt) {
            return Vec::new();
        }
        let (mut world, bodies, _) = self.world(starts, solids, dt);
        let fall = self.rest(dt);
        let near = NEAR * self.scales.dx;
        let prediction = 2.0 * (self.steps(starts, solids, dt).1 + fall * dt) + 2.0 * near;
        world.integration_parameters = self.parameters(dt, dt, prediction);
        let seen = Seen { dt, near: 2.0 * near + fall * dt, bodies, found: Mutex::default() };
        world.detect_collisions(&seen, &());
        let mut found = seen.found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Whatever order they were found in.
        found.sort_by(|a, b| {
            let key = |touch: &Touch<3>| (touch.body, touch.other);
            let places = || (0..3).map(|i| a.point[i].total_cmp(&b.point[i])).find(|order| order.is_ne());
            key(a).cmp(&key(b)).then_with(|| places().unwrap_or(std::cmp::Ordering::Equal))
        });
        found
    }

    /// Whether some body may touch something within `dt`, by balls around bodies and boxes around solids: to set up a step of rapier takes longer than all else where bodies are
    /// few and far from each other.
    fn may_meet(&self, starts: &[Start], solids: &[[Pose; 2]], dt: f64) -> bool {
        let margin = self.scales.film + 2.0 * NEAR * self.scales.dx + self.rest(dt) * dt;
        let balls: Vec<(Vector, f64)> = self
            .bodies
            .iter()
            .zip(starts)
            .map(|((body, _), start)| {
                (vector(start.pose.translation), body.reach + body.travel(start, dt) + margin)
            })
            .collect();
        let meet = |&(a, of_a): &(Vector, f64), &(b, of_b): &(Vector, f64)| (a - b).length() < of_a + of_b;
        let pairs = (0..balls.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        if pairs.into_iter().any(|(a, b)| meet(&balls[a], &balls[b])) {
            return true;
        }
        let is_at = |collider: &Collider, place: &Pose, more: f64| {
            let place = placed(place.translation, place.quaternion) * *collider.position();
            let shape = collider.shape().compute_aabb(&place);
            balls.iter().any(|&(centre, reach)| shape.distance_to_local_point(centre, true) < reach + more)
        };
        let is_at_solid = |(solid, [from, to]): (&Colliders, &[Pose; 2])| {
            let way = solid.way(from, to);
            solid.colliders.iter().any(|collider| is_at(collider, from, way))
        };
        let is_at_side = |side: &Collider| {
            balls
                .iter()
                .any(|&(centre, reach)| side.shape().distance_to_point(side.position(), centre, true) < reach)
        };
        self.sides.iter().any(is_at_side) || self.solids.iter().zip(solids).any(is_at_solid)
    }

    /// Everything at the beginning of a step, and where bodies and solids are in it.
    fn world(
        &self,
        starts: &[Start],
        solids: &[[Pose; 2]],
        dt: f64,
    ) -> (PhysicsWorld, Vec<RigidBodyHandle>, Vec<RigidBodyHandle>) {
        let mut world = PhysicsWorld { gravity: Vector::ZERO, ..PhysicsWorld::default() };
        let movers = self.insert_solids(&mut world, solids, dt);
        let bodies = self.insert_bodies(&mut world, starts);
        (world, bodies, movers)
    }

    fn insert_solids(
        &self,
        world: &mut PhysicsWorld,
        motions: &[[Pose; 2]],
        dt: f64,
    ) -> Vec<RigidBodyHandle> {
        for side in &self.sides {
            world.colliders.insert(side.clone());
        }
        let mut handles = Vec::new();
        for (solid, [from, to]) in self.solids.iter().zip(motions) {
            let rests = from == to;
            let kind = if rests { RigidBodyType::Fixed } else { RigidBodyType::KinematicVelocityBased };
            let builder = RigidBodyBuilder::new(kind).pose(placed(from.translation, from.quaternion));
            let handle = world.bodies.insert(builder);
            solid.insert_into(world, handle);
            if !rests {
                let body = &mut world.bodies[handle];
                body.recompute_mass_properties_from_colliders(&world.colliders);
                set_velocity(body, from, to, dt);
                body.set_body_type(RigidBodyType::KinematicPositionBased, false);
            }
            handles.push(handle);
        }
        handles
    }

    fn insert_bodies(&self, world: &mut PhysicsWorld, starts: &[Start]) -> Vec<RigidBodyHandle> {
        let mut handles = Vec::new();
        for ((body, weight), start) in self.bodies.iter().zip(starts) {
            let handle = world.bodies.insert(
                without_gyration(RigidBodyBuilder::dynamic())
                    .pose(placed(start.pose.translation, start.pose.quaternion))
                    .linvel(vector(start.velocity))
                    .angvel(angular(start.spin))
                    .additional_mass_properties(mass_properties(weight.mass, &weight.inertia))
                    .allow_fast_rotation(true)
                    .can_sleep(false)
                    .ccd_enabled(true),
            );
            body.insert_into(world, handle);
            handles.push(handle);
        }
        handles
    }

    /// What gravity makes in two steps: what meets more slowly may have lain there.
    fn rest(&self, dt: f64) -> f64 {
        2.0 * norm(self.scales.gravity) * dt
    }

    /// In how many steps to go, and how far anything can move in all of them.
    fn steps(&self, starts: &[Start], solids: &[[Pose; 2]], dt: f64) -> (usize, f64) {
        let ways = self.solids.iter().zip(solids).map(|(solid, [from, to])| solid.way(from, to));
        let solid_travel = ways.fold(0.0, f64::max);
        let (mut travel, mut steps) = (solid_travel, 1.0_f64);
        for ((body, weight), start) in self.bodies.iter().zip(starts) {
            let own = body.travel(start, dt);
            travel = travel.max(own);
            steps = steps.max((own + solid_travel) / weight.thickness.min(STRIDE * self.scales.dx));
        }
        (steps.min(MAX_STEPS).ceil() as usize, travel)
    }

    /// For steps of `step` in a whole of `dt`, with contacts up to a distance of `prediction`.
    fn parameters(&self, step: f64, dt: f64, prediction: f64) -> IntegrationParameters {
        // Rapier takes the part w h / (w h + 2 z) of an overlap away in a time h, by a spring of angular frequency w
        // and damping ratio z.
        let frequency = 2.0 * DAMPING_RATIO * OVERLAP_REDUCTION / ((1.0 - OVERLAP_REDUCTION) * step);
        let rigid = SpringCoefficients::new(frequency / std::f64::consts::TAU, DAMPING_RATIO);
        IntegrationParameters {
            dt: step,
            contact_softness: rigid,
            static_contact_softness: rigid,
            warmstart_coefficient: 0.0,
            normalized_allowed_linear_error: 1e-3 * self.scales.dx,
            normalized_max_corrective_velocity: OVERLAP_PUSH * self.scales.dx / dt,
            normalized_prediction_distance: prediction,
            normalized_max_linear_velocity: f64::MAX,
            // No substeps. Rapier spreads forces over them, but ours have acted when the step begins: the first substep
            // would need all of the impulse, and the others, with none, would have no friction.
            num_solver_iterations: 1,
            num_internal_pgs_iterations: SWEEPS,
            num_internal_stabilization_iterations: SWEEPS,
            contact_recycling: false,
            ..IntegrationParameters::default()
        }
    }
}

/// Gives a solid the velocity of its way. Rapier finds it as well, but only after it looked for contacts; it is that of the centre of
/// mass, which is not the origin of its pose, and even what weighs nothing has one.
fn set_velocity(body: &mut RigidBody, from: &Pose, to: &Pose, dt: f64) {
    let centre = body.local_center_of_mass();
    let at = |pose: &Pose| placed(pose.translation, pose.quaternion).transform_point(centre);
    body.set_linvel((at(to) - at(from)) / dt, false);
    body.set_angvel(angular(from.turn_to(to)) / dt, false);
}

/// Tells solids where to be after a step, at a part of their way.
fn move_solids(world: &mut PhysicsWorld, handles: &[RigidBodyHandle], solids: &[[Pose; 2]], part: f64) {
    for (handle, [from, to]) in handles.iter().zip(solids) {
        if from != to {
            let body = &mut world.bodies[*handle];
            let pose = from.part_of_way(to, part);
            // Of the two quaternions of a rotation the nearer one: rapier takes the other for nearly a full turn.
            let now = quaternion(body.position().rotation);
            let along: f64 = (0..4).map(|i| now[i] * pose.quaternion[i]).sum();
            let nearer = pose.quaternion.map(|c| c * along.signum());
            body.set_next_kinematic_position(placed(pose.translation, nearer));
        }
    }
}

/// Where a body starts, with the velocity that it has now.
fn held(body: &RigidBody, start: &Start) -> Start {
    Start { pose: start.pose, velocity: array(body.linvel()), spin: angular_array(body.angvel()) }
}

impl Colliders {
    /// The mesh of a solid remains a surface. That of a body is cut into convex parts: two surfaces, neither of which
    /// has an inside, could not tell which way to push.
    fn new(part: &Part, scales: &Scales) -> Result<Self, ContactError> {
        let is_solid = matches!(part.owner, Owner::Solid(_));
        let mut shapes = Vec::new();
        let mut parts = Vec::new();
        for piece in &part.pieces {
            if let Some(plane) = half_space(piece) {
                shapes.push(plane);
            } else if let Some(surface) = surface_of(piece).filter(|_| is_solid) {
                shapes.push(ColliderBuilder::new(surface));
            } else {
                let convex = convex(piece, scales.dx);
                if convex.is_empty() {
                    return Err(ContactError::NothingToTouch { owner: part.owner });
                }
                parts.extend(convex);
            }
        }
        if let [(pose, shape)] = parts.as_slice() {
            shapes.push(ColliderBuilder::new(shape.clone()).position(*pose));
        } else if !parts.is_empty() {
            shapes.push(ColliderBuilder::new(SharedShape::compound(parts)));
        }
        let colliders =
            shapes.into_iter().map(|shape| surface(shape, scales, part.friction, part.restitution));
        Ok(Self { colliders: colliders.collect(), reach: part.reach })
    }

    /// How far any of it goes at most from one pose to another.
    fn way(&self, from: &Pose, to: &Pose) -> f64 {
        norm(sub(to.translation, from.translation)) + self.reach * norm(from.turn_to(to))
    }

    /// And in a time.
    fn travel(&self, start: &Start, dt: f64) -> f64 {
        dt * (norm(start.velocity) + self.reach * norm(start.spin))
    }

    fn insert_into(&self, world: &mut PhysicsWorld, handle: RigidBodyHandle) {
        for collider in &self.colliders {
            world.colliders.insert_with_parent(collider.clone(), handle, &mut world.bodies);
        }
    }
}

fn half_space(piece: &Piece) -> Option<ColliderBuilder> {
    let Piece::HalfSpace { point, normal } = piece else { return None };
    Some(ColliderBuilder::new(SharedShape::halfspace(vector(*normal))).translation(vector(*point)))
}

/// A collider that weighs nothing. Of two coefficients of friction the smaller one counts. Bounces are ours to do, so
/// that the coefficient of restitution is kept where rapier does not see it.
fn surface(collider: ColliderBuilder, scales: &Scales, friction: f64, restitution: f64) -> Collider {
    collider
        .density(0.0)
        .contact_skin(0.5 * scales.film)
        .friction(friction)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS)
        .user_data(restitution.to_bits().into())
        .build()
}

/// How a body came from its start to where it is.
fn way(body: &RigidBody, start: &Start, dt: f64) -> Way {
    let (translation, velocity) = (array(body.translation()), array(body.linvel()));
    let spin = angular_array(body.angvel());
    let unhindered = add_scaled(start.pose.translation, dt, start.velocity);
    let rounding = 1e-12 * (norm(unhindered) + dt * norm(start.velocity));
    // What stopped it on its way, without a contact, has left the velocity as it was.
    let is_free =
        velocity == start.velocity && spin == start.spin && norm(sub(translation, unhindered)) <= rounding;
    let end = Pose { translation, quaternion: quaternion(body.position().rotation) };
    Way { translation, turn: start.pose.turn_to(&end), velocity, spin, is_free }
}

/// How many pairs touch, and how deep.
fn touching(narrow_phase: &NarrowPhase) -> (usize, f64) {
    let (mut contacts, mut deepest) = (0, 0.0);
    for pair in narrow_phase.contact_pairs() {
        let points = || pair.manifolds().iter().flat_map(|manifold| &manifold.points);
        let pushes = pair.solver_manifolds().iter().any(|manifold| pressed(manifold).next().is_some());
        contacts += usize::from(pushes);
        deepest = points().fold(deepest, |depth: f64, point| depth.max(-point.dist));
    }
    (contacts, deepest)
}

/// Writes down what touches, or is about to.
struct Seen {
    dt: f64,
    near: f64,
    bodies: Vec<RigidBodyHandle>,
    found: Mutex<Vec<Touch<3>>>,
}

impl PhysicsHooks for Seen {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let velocity = |handle, point| velocity_at(context.bodies, handle, point);
        let number = |handle: Option<RigidBodyHandle>| {
            handle.and_then(|handle| self.bodies.iter().position(|body| *body == handle))
        };
        let (first, second) = (context.rigid_body1, context.rigid_body2);
        let ModifiableContacts::Rigid(manifold) = &mut context.contacts else { return };
        // The normal points from the first to the second.
        let (body, other, solid, normal) = match (number(first), number(second)) {
            (Some(body), other) => (body, other, second, -*manifold.normal),
            (None, Some(body)) => (body, None, first, *manifold.normal),
            (None, None) => return,
        };
        let bend = bend(context.bodies, solid, Some(self.bodies[body]), self.dt);
        for contact in manifold.solver_contacts.iter() {
            let approach = velocity(first, contact.anchor1) - velocity(second, contact.anchor2);
            if contact.dist > self.near + self.dt * approach.dot(*manifold.normal).max(0.0) {
                continue;
            }
            let point = 0.5 * (contact.anchor1 + contact.anchor2);
            let of_solid = if other.is_none() { velocity(solid, point) + bend } else { Vector::ZERO };
            let touch = Touch {
                body,
                other,
                point: array(point),
                normal: array(normal),
                gap: contact.dist,
                velocity: array(of_solid),
                friction: *manifold.friction,
            };
            self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(touch);
        }
    }
}

/// The velocity of a body, or of a side, which rests.
fn velocity_at(bodies: &RigidBodySet, handle: Option<RigidBodyHandle>, point: Vector) -> Vector {
    handle.map_or(Vector::ZERO, |handle| bodies[handle].velocity_at_point(point))
}

/// What to add to the velocity of a solid where it touches a body, for what is carried by it to go along the chord of its turn: along the tangent it would go outwards. It is the
/// same at all contacts of the two, since a body that is carried along is not squeezed.
fn bend(
    bodies: &RigidBodySet,
    solid: Option<RigidBodyHandle>,
    body: Option<RigidBodyHandle>,
    dt: f64,
) -> Vector {
    let (Some(solid), Some(body)) = (solid.map(|s| &bodies[s]), body.map(|b| &bodies[b])) else {
        return Vector::ZERO;
    };
    if !solid.is_kinematic() {
        return Vector::ZERO;
    }
    let along = cross(solid.angvel(), body.center_of_mass() - solid.center_of_mass());
    let inwards = cross(solid.angvel(), along);
    let half_angle = 0.5 * dt * norm(angular_array(solid.angvel()));
    let sinc = |angle: f64| if angle == 0.0 { 1.0 } else { angle.sin() / angle };
    (sinc(2.0 * half_angle) - 1.0) * along + 0.5 * dt * sinc(half_angle).powi(2) * inwards
}

/// Leaves out contacts between what passes by or comes later: rapier would slow it down at the end of a step for the
/// sake of the next one, and divide an impact, and so a bounce, between the two.
struct OnlyWhatMeets {
    dt: f64,
    near: f64,
}

impl PhysicsHooks for OnlyWhatMeets {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let velocity = |handle, point| velocity_at(context.bodies, handle, point);
        let (first, second) = (context.rigid_body1, context.rigid_body2);
        let ModifiableContacts::Rigid(manifold) = &mut context.contacts else { return };
        let normal = *manifold.normal;
        manifold.solver_contacts.retain(|contact| {
            let approach = velocity(first, contact.anchor1) - velocity(second, contact.anchor2);
            contact.dist <= self.near + self.dt * approach.dot(normal).max(0.0)
        });
        // Rapier makes the second faster than the first by the velocity that is asked for.
        let [of_first, of_second] = [(first, second), (second, first)]
            .map(|(solid, body)| bend(context.bodies, solid, body, self.dt));
        manifold
            .solver_contacts
            .iter_mut()
            .for_each(|contact| contact.tangent_velocity = of_first - of_second);
    }
}
