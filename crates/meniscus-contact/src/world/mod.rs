//! The same engine in the plane and in space.
//!
//! `engine.rs` is compiled twice: rapier is a crate of its own in each dimension, with the same names in it. What
//! differs, the conversions, is in `plane.rs` and `space.rs`.

mod plane;
mod space;

use meniscus_core::shape::{Bounds, RigidTransform, Rotation, Shape};
use meniscus_core::vector::norm;

use crate::pieces::{Piece, padded, pieces};
use crate::{AdvanceInfo, BodySpec, ContactError, Domain, Hit, Moving, Owner, SolidSpec, Touch};

/// All that can be touched.
pub enum World {
    Plane(plane::Engine),
    Space(space::Engine),
}

/// A body or a solid, or the sides of the domain, for the engine.
pub struct Part {
    owner: Owner,
    pieces: Vec<Piece>,
    /// How far it reaches from its origin.
    reach: f64,
    friction: f64,
    restitution: f64,
}

/// What else the engine has to know of a body.
pub struct Weight {
    mass: f64,
    inertia: [[f64; 3]; 3],
    /// Half of the smallest extent of its shape.
    thickness: f64,
}

/// Lengths and speeds that the engine is tuned by.
#[derive(Clone, Copy)]
pub struct Scales {
    dx: f64,
    film: f64,
    gravity: [f64; 3],
}

/// A pose by its quaternion `[x, y, z, w]`.
#[derive(Clone, Copy, PartialEq)]
pub struct Pose {
    translation: [f64; 3],
    quaternion: [f64; 4],
}

/// A body when the step begins; the spin is that of halfway.
pub struct Start {
    pose: Pose,
    velocity: [f64; 3],
    spin: [f64; 3],
}

/// How a body moves in a step.
pub struct Way {
    /// Where its centre of mass comes to.
    pub translation: [f64; 3],
    /// How it turns: the axis times the angle.
    pub turn: [f64; 3],
    /// Its velocity afterwards.
    pub velocity: [f64; 3],
    /// Its spin afterwards.
    pub spin: [f64; 3],
    /// Whether nothing was in its way.
    pub is_free: bool,
}

impl Way {
    /// Of a body that meets nothing.
    fn free(start: &Start, dt: f64) -> Self {
        let Start { pose, velocity, spin } = *start;
        let translation = std::array::from_fn(|a| pose.translation[a] + dt * velocity[a]);
        Self { translation, turn: spin.map(|rate| dt * rate), velocity, spin, is_free: true }
    }
}

impl World {
    pub fn new<const D: usize>(
        bodies: &[BodySpec<'_, D>],
        solids: &[SolidSpec<'_, D>],
        domain: &Domain<D>,
    ) -> Result<Self, ContactError> {
        let mut body_parts = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            let owner = Owner::Body(index);
            let BodySpec { shape, mass, inertia, friction, restitution } = *body;
            let thickness = 0.5 * shape.bounds().extent().into_iter().fold(f64::INFINITY, f64::min);
            let (pieces, reach) = (pieces(owner, shape, domain)?, reach(shape, domain));
            let part = Part { owner, pieces, reach, friction, restitution };
            body_parts.push((part, Weight { mass, inertia, thickness }));
        }
        let mut solid_parts = Vec::new();
        for (index, solid) in solids.iter().enumerate() {
            let owner = Owner::Solid(index);
            let SolidSpec { shape, friction, restitution } = *solid;
            let (pieces, reach) = (pieces(owner, shape, domain)?, reach(shape, domain));
            solid_parts.push(Part { owner, pieces, reach, friction, restitution });
        }
        let sides = sides(domain);
        let scales = Scales { dx: domain.dx, film: domain.film, gravity: padded(domain.gravity) };
        Ok(if D == 2 {
            Self::Plane(plane::Engine::new(body_parts, solid_parts, sides, scales)?)
        } else {
            Self::Space(space::Engine::new(body_parts, solid_parts, sides, scales)?)
        })
    }

    pub fn advance<const D: usize>(
        &self,
        bodies: &[Moving<D>],
        mean_spins: &[[f64; 3]],
        solids: &[(RigidTransform<D>, RigidTransform<D>)],
        dt: f64,
    ) -> (Vec<Way>, AdvanceInfo<D>) {
        let (starts, motions) = (starts(bodies, mean_spins), motions(solids));
        let (ways, info) = match self {
            Self::Plane(engine) => engine.advance(&starts, &motions, dt),
            Self::Space(engine) => engine.advance(&starts, &motions, dt),
        };
        let hit = |hit: Hit<3>| {
            let Hit { body, other, arms, normal, velocity, speed, left, friction, restitution } = hit;
            let (arms, [normal, velocity]) = (arms.map(shortened), [normal, velocity].map(shortened));
            Hit { body, other, arms, normal, velocity, speed, left, friction, restitution }
        };
        let AdvanceInfo { contacts, deepest, hits } = info;
        (ways, AdvanceInfo { contacts, deepest, hits: hits.into_iter().map(hit).collect() })
    }

    pub fn touches<const D: usize>(
        &self,
        bodies: &[Moving<D>],
        solids: &[(RigidTransform<D>, RigidTransform<D>)],
        dt: f64,
    ) -> Vec<Touch<D>> {
        let spins: Vec<[f64; 3]> = bodies.iter().map(|body| body.spin).collect();
        let (starts, motions) = (starts(bodies, &spins), motions(solids));
        let found = match self {
            Self::Plane(engine) => engine.touches(&starts, &motions, dt),
            Self::Space(engine) => engine.touches(&starts, &motions, dt),
        };
        let touch = |touch: Touch<3>| {
            let Touch { body, other, point, normal, gap, velocity, friction } = touch;
            let [point, normal, velocity] = [point, normal, velocity].map(shortened);
            Touch { body, other, point, normal, gap, velocity, friction }
        };
        found.into_iter().map(touch).collect()
    }
}

/// A vector of the engine in the dimension of the bodies.
fn shortened<const D: usize>(v: [f64; 3]) -> [f64; D] {
    std::array::from_fn(|a| v[a])
}

fn starts<const D: usize>(bodies: &[Moving<D>], spins: &[[f64; 3]]) -> Vec<Start> {
    let start = |(body, spin): (&Moving<D>, &[f64; 3])| Start {
        pose: Pose::new(&body.pose),
        velocity: padded(body.velocity),
        spin: *spin,
    };
    bodies.iter().zip(spins).map(start).collect()
}

fn motions<const D: usize>(solids: &[(RigidTransform<D>, RigidTransform<D>)]) -> Vec<[Pose; 2]> {
    solids.iter().map(|(from, to)| [Pose::new(from), Pose::new(to)]).collect()
}

/// How far a shape reaches from its origin, or the domain is wide.
fn reach<const D: usize>(shape: &Shape<D>, domain: &Domain<D>) -> f64 {
    let Bounds { lower, upper } = shape.bounds();
    let farthest: [f64; D] = std::array::from_fn(|a| lower[a].abs().max(upper[a].abs()));
    norm(farthest).min(norm(domain.bounds.extent()))
}

/// The closed sides of the domain.
fn sides<const D: usize>(domain: &Domain<D>) -> Vec<Piece> {
    let mut sides = Vec::new();
    for axis in 0..D {
        for (side, inwards) in [(0, 1.0), (1, -1.0)] {
            if domain.closed[axis][side] {
                let corner = if side == 0 { domain.bounds.lower } else { domain.bounds.upper };
                let mut normal = [0.0; 3];
                normal[axis] = inwards;
                sides.push(Piece::HalfSpace { point: padded(corner), normal });
            }
        }
    }
    sides
}

impl Pose {
    fn new<const D: usize>(transform: &RigidTransform<D>) -> Self {
        let quaternion = transform.rotation.to_quaternion();
        Self { translation: padded(transform.translation), quaternion }
    }

    /// The turn that takes this pose's rotation to that of `to`: the axis times the angle, at most a half turn.
    fn turn_to(&self, to: &Self) -> [f64; 3] {
        if self.quaternion == to.quaternion {
            return [0.0; 3];
        }
        // The product a b^-1 of the quaternions.
        let [ax, ay, az, aw] = to.quaternion;
        let [x, y, z, bw] = self.quaternion;
        let [bx, by, bz] = [-x, -y, -z];
        let product = [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ];
        let [x, y, z, w] = if product[3] < 0.0 { product.map(|c| -c) } else { product };
        let sin = (x * x + y * y + z * z).sqrt();
        let factor = if sin > 0.0 { 2.0 * sin.atan2(w) / sin } else { 2.0 };
        [x, y, z].map(|c| factor * c)
    }

    /// The pose at a part of the way to `to`, at constant velocity and spin.
    fn part_of_way(&self, to: &Self, part: f64) -> Self {
        let turn = self.turn_to(to).map(|angle| part * angle);
        let rotation = Rotation::<3>::from_quaternion(self.quaternion).unwrap_or(Rotation::identity());
        Self {
            translation: std::array::from_fn(|a| {
                self.translation[a] + part * (to.translation[a] - self.translation[a])
            }),
            quaternion: rotation.turned(turn).to_quaternion(),
        }
    }
}
