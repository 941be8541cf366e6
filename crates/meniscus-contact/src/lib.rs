//! Contact and friction: rigid bodies against each other, against solids and against the sides of a domain.
//!
//! [`Contacts`] holds the collision shapes, made once. [`Contacts::advance`] moves bodies by one step: they fly, meet
//! what is in their way, slide and roll. No force acts during the step. Gravity and whatever else pushes the bodies
//! is in the velocities that they bring, so a body at rest on the floor arrives with g dt and leaves with nothing.
//!
//! It keeps nothing from one step to the next: what bodies do follows from their poses and velocities alone, bit for
//! bit, and a run can be resumed anywhere.
//!
//! ```
//! use meniscus_contact::{BodySpec, Contacts, Domain, Moving};
//! use meniscus_core::shape::{Bounds, RigidTransform, Rotation, Shape};
//!
//! let bounds = Bounds { lower: [0.0; 2], upper: [1.0; 2] };
//! let domain = Domain { bounds, closed: [[true; 2]; 2], dx: 0.02, film: 0.0, gravity: [0.0, -9.81] };
//! let disc = Shape::<2>::sphere([0.0; 2], 0.1)?;
//! let (mass, mut inertia) = (30.0, [[0.0; 3]; 3]);
//! inertia[2][2] = 0.5 * mass * 0.01;
//! let body = BodySpec { shape: &disc, mass, inertia, friction: 0.5, restitution: 0.0 };
//! let contacts = Contacts::new(&[body], &[], &domain)?;
//!
//! let pose = RigidTransform { rotation: Rotation::identity(), translation: [0.5, 0.3] };
//! let mut bodies = [Moving { pose, velocity: [0.0; 2], spin: [0.0; 3] }];
//! for _ in 0..100 {
//!     bodies[0].velocity[1] -= 9.81 * 0.01;
//!     contacts.advance(&mut bodies, &[], 0.01);
//! }
//! assert!((bodies[0].pose.translation[1] - 0.1).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The contact solver is rapier. It is set up anew in each step, without memory of the last one, as a plain
//! Gauss-Seidel solver of rigid contacts with many sweeps. Friction is Coulomb's, with one constraint for each patch of
//! contact. Bounces are Poisson's, with friction, and free rotation is of second order; both are our own.
//!
//! Shapes made by booleans and shells become convex pieces, exact for flat faces and to a tenth of a cell for round ones.
//! A mesh remains a surface where it is a solid, and is cut into convex hulls, to about half a cell, where it is a body.
//! A stack creeps when a body in it is more than about fifty times as heavy as one that carries it.

mod carve;
mod check;
mod error;
mod flight;
mod pieces;
mod polytope;
mod sample;
mod world;

use meniscus_core::compiled_here;
use meniscus_core::shape::{Bounds, RigidTransform, Shape};

pub use error::{ContactError, Owner};
use flight::Inertia;
use world::World;

/// A body as contact sees it.
#[derive(Clone, Copy, Debug)]
pub struct BodySpec<'a, const D: usize> {
    /// Its shape, with the centre of mass at the origin.
    pub shape: &'a Shape<D>,
    /// Its mass, in kilograms (2D: for a metre of depth).
    pub mass: f64,
    /// Its inertia about the centre of mass, along the axes of its shape; 2D uses `inertia[2][2]` alone.
    pub inertia: [[f64; 3]; 3],
    /// The coefficient of friction; of two that touch the smaller one counts.
    pub friction: f64,
    /// The coefficient of restitution, from 0 to 1; of two that touch the smaller one counts.
    pub restitution: f64,
}

/// A solid as contact sees it: it rests or moves, whatever it meets.
#[derive(Clone, Copy, Debug)]
pub struct SolidSpec<'a, const D: usize> {
    /// Its shape.
    pub shape: &'a Shape<D>,
    /// The coefficient of friction; of two that touch the smaller one counts.
    pub friction: f64,
    /// The coefficient of restitution, from 0 to 1; of two that touch the smaller one counts.
    pub restitution: f64,
}

/// Where all this happens.
#[derive(Clone, Copy, Debug)]
pub struct Domain<const D: usize> {
    /// The box of the simulation.
    pub bounds: Bounds<D>,
    /// Whether the lower and the upper side along each axis are walls; they have the friction and restitution of what
    /// touches them.
    pub closed: [[bool; 2]; D],
    /// The edge of a cell, in metres: curved and concave shapes are followed to a fraction of it.
    pub dx: f64,
    /// How far from each other things stay, in metres: what is nearer touches.
    pub film: f64,
    /// Gravity, in m/s². What falls more slowly than gravity makes it in two steps does not bounce.
    pub gravity: [f64; D],
}

/// A body on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving<const D: usize> {
    /// Takes its shape to its place, and so the origin to its centre of mass.
    pub pose: RigidTransform<D>,
    /// The velocity of the centre of mass, in m/s.
    pub velocity: [f64; D],
    /// The axis of rotation times its rate, in rad/s; 2D uses the last component alone.
    pub spin: [f64; 3],
}

/// A point where a body touches something, or may do so within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<const D: usize> {
    /// The body.
    pub body: usize,
    /// The other body; `None` if it is a solid or a side.
    pub other: Option<usize>,
    /// Where, in metres: in the middle between the two.
    pub point: [f64; D],
    /// The direction from the other to the body.
    pub normal: [f64; D],
    /// How far they are from each other, in metres; negative where they overlap.
    pub gap: f64,
    /// The velocity of the other there, in m/s, if it is no body.
    pub velocity: [f64; D],
    /// The coefficient of friction.
    pub friction: f64,
}

/// A point where a body pressed against something in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit<const D: usize> {
    /// The body.
    pub body: usize,
    /// The other body; `None` if it is a solid or a side.
    pub other: Option<usize>,
    /// The ways to the point from the centres of mass of the two, in metres.
    pub arms: [[f64; D]; 2],
    /// The direction from the other to the body.
    pub normal: [f64; D],
    /// The velocity of the other there, in m/s, if it is no body.
    pub velocity: [f64; D],
    /// How fast the two met, in m/s.
    pub speed: f64,
    /// The part of the step that was left then.
    pub left: f64,
    /// The coefficient of friction.
    pub friction: f64,
    /// The coefficient of restitution.
    pub restitution: f64,
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvanceInfo<const D: usize> {
    /// How many pairs touched.
    pub contacts: usize,
    /// How deep bodies lay in what they touch when the step began, in metres.
    pub deepest: f64,
    /// Where bodies pressed against something on their way.
    pub hits: Vec<Hit<D>>,
}

impl<const D: usize> Default for AdvanceInfo<D> {
    fn default() -> Self {
        Self { contacts: 0, deepest: 0.0, hits: Vec::new() }
    }
}

/// The collision shapes of bodies, solids and sides. See the [crate](self).
pub struct Contacts<const D: usize> {
    world: World,
    inertias: Vec<Inertia>,
    solids: usize,
}

/// From the first to the second pose.
type Way<const D: usize> = (RigidTransform<D>, RigidTransform<D>);

type Make<const D: usize> =
    fn(&[BodySpec<'_, D>], &[SolidSpec<'_, D>], &Domain<D>) -> Result<Contacts<D>, ContactError>;
type Meet<const D: usize> = fn(&World, &[Moving<D>], &[Way<D>], f64) -> Vec<Touch<D>>;
type Advance<const D: usize> = fn(&Contacts<D>, &mut [Moving<D>], &[Way<D>], f64) -> AdvanceInfo<D>;

impl<const D: usize> Contacts<D> {
    /// Makes the collision shapes.
    pub fn new(
        bodies: &[BodySpec<'_, D>],
        solids: &[SolidSpec<'_, D>],
        domain: &Domain<D>,
    ) -> Result<Self, ContactError> {
        compiled_here!(Contacts::<D>::make as Make<D>)(bodies, solids, domain)
    }

    fn make(
        bodies: &[BodySpec<'_, D>],
        solids: &[SolidSpec<'_, D>],
        domain: &Domain<D>,
    ) -> Result<Self, ContactError> {
        check::domain(domain)?;
        let mut inertias = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            inertias.push(check::body(Owner::Body(index), body)?);
        }
        for (index, solid) in solids.iter().enumerate() {
            check::surface(Owner::Solid(index), solid.friction, solid.restitution)?;
        }
        Ok(Self { world: World::new(bodies, solids, domain)?, inertias, solids: solids.len() })
    }

    /// Where bodies touch each other, solids and sides, or may do so within `dt` while each solid goes from the first to the second of its poses.
    ///
    /// # Panics
    /// If there are not as many bodies or solids as were given to [`Contacts::new`].
    pub fn touches(
        &self,
        bodies: &[Moving<D>],
        solids: &[(RigidTransform<D>, RigidTransform<D>)],
        dt: f64,
    ) -> Vec<Touch<D>> {
        assert_eq!(bodies.len(), self.inertias.len(), "one state for each body");
        assert_eq!(solids.len(), self.solids, "one motion for each solid");
        if bodies.is_empty() || dt <= 0.0 {
            Vec::new()
        } else {
            compiled_here!(World::touches::<D> as Meet<D>)(&self.world, bodies, solids, dt)
        }
    }

    /// Moves the bodies by `dt` while each solid goes from the first to the second of its poses.
    ///
    /// # Panics
    /// If there are not as many bodies or solids as were given to [`Contacts::new`].
    pub fn advance(
        &self,
        bodies: &mut [Moving<D>],
        solids: &[(RigidTransform<D>, RigidTransform<D>)],
        dt: f64,
    ) -> AdvanceInfo<D> {
        compiled_here!(Contacts::<D>::go as Advance<D>)(self, bodies, solids, dt)
    }

    fn go(&self, bodies: &mut [Moving<D>], solids: &[Way<D>], dt: f64) -> AdvanceInfo<D> {
        assert_eq!(bodies.len(), self.inertias.len(), "one state for each body");
        assert_eq!(solids.len(), self.solids, "one motion for each solid");
        if bodies.is_empty() || dt <= 0.0 {
            return AdvanceInfo::default();
        }
        let mean_spins: Vec<[f64; 3]> = bodies
            .iter()
            .zip(&self.inertias)
            .map(|(body, inertia)| inertia.mean_spin(&body.pose.rotation, body.spin, dt))
            .collect();
        let (ways, info) = self.world.advance(bodies, &mean_spins, solids, dt);
        for (((body, way), inertia), mean_spin) in
            bodies.iter_mut().zip(ways).zip(&self.inertias).zip(mean_spins)
        {
            let turn = if way.is_free { mean_spin.map(|rate| rate * dt) } else { way.turn };
            let middle = body.pose.rotation.turned(mean_spin.map(|rate| 0.5 * rate * dt));
            let rotation = body.pose.rotation.turned(turn);
            // Contact changed the spin that the body has halfway; what remains of its momentum is kept to the end.
            let spin = inertia.spin(&rotation, inertia.momentum(&middle, way.spin));
            let translation = std::array::from_fn(|a| {
                if way.is_free {
                    body.pose.translation[a] + dt * body.velocity[a]
                } else {
                    way.translation[a]
                }
            });
            let velocity = std::array::from_fn(|a| way.velocity[a]);
            *body = Moving { pose: RigidTransform { rotation, translation }, velocity, spin };
        }
        info
    }
}
