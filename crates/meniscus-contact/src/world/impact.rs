//! Impacts: what meets fast, and how it bounces.

use super::super::rapier::prelude::*;
use super::super::{array, cross};
use super::{OnlyWhatMeets, velocity_at};
use crate::Hit;

/// Sweeps over what rubs in bounces.
const SWEEPS: usize = 100;
/// Until no velocity changes by more than this part of the fastest that met.
const PRECISION: f64 = 1e-10;

/// What a step knows of speeds.
pub struct Moment {
    /// What meets more slowly may have lain there, in m/s.
    pub rest: f64,
    /// How near things are that touch, in m.
    pub near: f64,
    /// By how much gravity makes what hits now too fast in the velocities at hand.
    pub fall: Vector,
}

/// A contact that pushed in a step.
pub struct Impact {
    bodies: [Option<RigidBodyHandle>; 2],
    /// From the first to the second.
    normal: Vector,
    /// How fast they met.
    speed: f64,
    friction: f64,
    restitution: f64,
    points: Vec<Point>,
}

/// A point of it.
struct Point {
    /// From the centres of mass.
    arms: [Vector; 2],
    impulse: f64,
}

/// A step without bounces, and then the bounces of what met faster than gravity makes it.
pub fn step(world: &mut PhysicsWorld, moment: &Moment) -> Vec<Impact> {
    let before: Vec<(Vector, AngVector)> =
        world.bodies.iter().map(|(_, body)| (body.linvel(), body.angvel())).collect();
    let dt = world.integration_parameters.dt;
    world.step_with_events(&OnlyWhatMeets { dt, near: moment.near }, &());
    let impacts = impacts(world, &before);
    bounce(world, &impacts, moment);
    impacts
}

fn impacts(world: &PhysicsWorld, before: &[(Vector, AngVector)]) -> Vec<Impact> {
    let velocity = |handle: Option<RigidBodyHandle>, arm: Vector| {
        // Nothing was ever removed, so that bodies are in the order of their indices.
        let known = handle.map(|handle| before[handle.into_raw_parts().0 as usize]);
        known.map_or(Vector::ZERO, |(linear, spin)| linear + cross(spin, arm))
    };
    let mut impacts = Vec::new();
    for pair in world.narrow_phase.contact_pairs() {
        let colliders = [pair.collider1, pair.collider2].map(|handle| &world.colliders[handle]);
        let [friction, restitution] =
            [colliders.map(|collider| collider.friction()), colliders.map(restitution)]
                .map(|[a, b]| a.min(b));
        for manifold in pair.solver_manifolds() {
            let ContactManifoldData { rigid_body1, rigid_body2, normal, .. } = manifold.data;
            let approach = |contact: &ContactData| {
                let relative =
                    velocity(rigid_body1, contact.solver_dp1) - velocity(rigid_body2, contact.solver_dp2);
                relative.dot(normal)
            };
            let point = |contact: &ContactData| Point {
                arms: [contact.solver_dp1, contact.solver_dp2],
                impulse: contact.impulse,
            };
            let points: Vec<Point> = pressed(manifold).map(point).collect();
            if !points.is_empty() {
                let speed = pressed(manifold).map(approach).fold(0.0, f64::max);
                let bodies = [rigid_body1, rigid_body2];
                impacts.push(Impact { bodies, normal, speed, friction, restitution, points });
            }
        }
    }
    impacts
}

/// Bounces are Poisson's: what contacts did in a step is done again with the restitution as a factor, for all points of a
/// contact at once, so that what lands flat leaves flat. All contacts are new to us; those at rest are slow. And they rub as they did before: without that, what
/// stuck in the first part of a hit would slip in the second, and leave with more energy than it came with.
///
/// Velocities are those of the middle of a step, and gravity acts between steps: what hits earlier than the middle is slower by `fall` in truth, and by as much again after it.
/// It would bounce too high without that. What hits later is left too slow: bounces make no energy.
///
/// Of a body that spins rapier leaves some of the approach: it looks at where the point will have turned to.
fn bounce(world: &mut PhysicsWorld, impacts: &[Impact], moment: &Moment) {
    let mut bounces = Vec::new();
    let mut fastest = 0.0;
    for Impact { bodies, normal, speed, friction, restitution, points } in impacts {
        if *restitution == 0.0 || *speed <= moment.rest {
            continue;
        }
        let [first, second] = bodies.map(|body| body.is_some_and(|body| world.bodies[body].is_dynamic()));
        let fall = match (first, second) {
            (true, true) => moment.fall.dot(*normal).abs(),
            (true, false) => moment.fall.dot(*normal).max(0.0),
            _ => (-moment.fall.dot(*normal)).max(0.0),
        };
        let restitution = (restitution - (1.0 + restitution) * fall / speed).max(0.0);
        fastest = speed.max(fastest);
        bounces.extend(points.iter().map(|Point { arms, impulse }| Bounce {
            pair: Pair { bodies: *bodies, arms: *arms },
            normal: *normal,
            impulse: *impulse,
            added: 0.0,
            restitution,
            friction: *friction,
            rubbed: Vector::ZERO,
        }));
    }
    let least = PRECISION * fastest;
    sweep(&mut bounces, least, |bounce| bounce.stop(world));
    bounces.iter_mut().for_each(|bounce| bounce.part(world));
    sweep(&mut bounces, least, |bounce| bounce.rub(world));
}

/// Goes over all bounces until none of them changes a velocity by more than this.
fn sweep(bounces: &mut [Bounce], least: f64, mut change: impl FnMut(&mut Bounce) -> f64) {
    for _ in 0..SWEEPS {
        if bounces.iter_mut().map(&mut change).fold(0.0, f64::max) <= least {
            break;
        }
    }
}

/// Two that meet at a point.
struct Pair {
    bodies: [Option<RigidBodyHandle>; 2],
    arms: [Vector; 2],
}

impl Pair {
    /// Pushes the second, and the first back.
    fn push(&self, world: &mut PhysicsWorld, impulse: Vector) {
        for ((handle, arm), impulse) in self.bodies.iter().zip(self.arms).zip([-impulse, impulse]) {
            if let Some(body) = handle.map(|handle| &mut world.bodies[handle]) {
                let point = body.center_of_mass() + arm;
                body.apply_impulse_at_point(impulse, point, true);
            }
        }
    }

    /// How much faster the first is.
    fn slip(&self, world: &PhysicsWorld) -> Vector {
        let [first, second] = [0, 1].map(|k| {
            let place = self.bodies[k].map(|handle| world.bodies[handle].center_of_mass() + self.arms[k]);
            place.map_or(Vector::ZERO, |place| velocity_at(&world.bodies, self.bodies[k], place))
        });
        first - second
    }
}

/// A bounce at a point.
struct Bounce {
    pair: Pair,
    /// From the first to the second.
    normal: Vector,
    /// What stopped the approach, and after that what parts the two.
    impulse: f64,
    /// What of that has not rubbed yet.
    added: f64,
    restitution: f64,
    friction: f64,
    /// The impulse of friction on the second so far.
    rubbed: Vector,
}

impl Bounce {
    /// Takes away what is left of the approach; gives how fast that was.
    fn stop(&mut self, world: &mut PhysicsWorld) -> f64 {
        let speed = self.pair.slip(world).dot(self.normal);
        if speed <= 0.0 {
            return 0.0;
        }
        let more = speed / self.softness(world, self.normal);
        self.pair.push(world, more * self.normal);
        self.impulse += more;
        self.added += more;
        speed
    }

    /// Does again what stopped it.
    fn part(&mut self, world: &mut PhysicsWorld) {
        self.impulse *= self.restitution;
        self.added += self.impulse;
        self.pair.push(world, self.impulse * self.normal);
    }

    /// Takes the velocity along the contact away, as far as friction can; gives by how much it changed.
    fn rub(&mut self, world: &mut PhysicsWorld) -> f64 {
        let slip = self.pair.slip(world);
        let slip = slip - slip.dot(self.normal) * self.normal;
        let (speed, most) = (slip.length(), self.friction * self.added);
        if speed == 0.0 || most == 0.0 {
            return 0.0;
        }
        let along = slip / speed;
        let softness = self.softness(world, along);
        let wanted = self.rubbed + speed / softness * along;
        let size = wanted.length();
        let allowed = if size > most { most / size * wanted } else { wanted };
        let change = allowed - self.rubbed;
        self.pair.push(world, change);
        self.rubbed = allowed;
        change.length() * softness
    }

    /// What a unit impulse changes of the velocity along it.
    fn softness(&self, world: &mut PhysicsWorld, along: Vector) -> f64 {
        let before = self.pair.slip(world).dot(along);
        self.pair.push(world, along);
        let after = self.pair.slip(world).dot(along);
        self.pair.push(world, -along);
        before - after
    }
}

/// The points of a contact that pushed in the last step.
pub fn pressed(manifold: &ContactManifold) -> impl Iterator<Item = &ContactData> {
    let solved = manifold.data.solver_contacts.iter().flat_map(|contact| contact.contact_indices());
    solved.map(|index| &manifold.points[index as usize].data).filter(|contact| contact.impulse > 0.0)
}

fn restitution(collider: &Collider) -> f64 {
    f64::from_bits(collider.user_data as u64)
}

/// What pressed, as others see it.
pub fn hits(world: &PhysicsWorld, bodies: &[RigidBodyHandle], impacts: &[Impact], left: f64) -> Vec<Hit<3>> {
    let number = |handle: Option<RigidBodyHandle>| {
        handle.and_then(|handle| bodies.iter().position(|body| *body == handle))
    };
    let of_impact = |impact: &Impact| {
        let [first, second] = impact.bodies.map(number);
        // The normal points from the first to the second.
        let (body, other, at, sign) = match (first, second) {
            (Some(body), other) => (body, other, [0, 1], -1.0),
            (None, Some(body)) => (body, None, [1, 0], 1.0),
            (None, None) => return Vec::new(),
        };
        let hit = |point: &Point| {
            let place = world.bodies[bodies[body]].center_of_mass() + point.arms[at[0]];
            let of_solid = match other {
                Some(_) => Vector::ZERO,
                None => velocity_at(&world.bodies, impact.bodies[at[1]], place),
            };
            Hit {
                body,
                other,
                arms: at.map(|k| array(point.arms[k])),
                normal: array(sign * impact.normal),
                velocity: array(of_solid),
                speed: impact.speed,
                left,
                friction: impact.friction,
                restitution: impact.restitution,
            }
        };
        impact.points.iter().map(hit).collect::<Vec<_>>()
    };
    impacts.iter().flat_map(of_impact).collect()
}
