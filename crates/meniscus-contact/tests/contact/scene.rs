//! Small scenes: bodies of uniform density, gravity between the steps.

use meniscus_contact::{AdvanceInfo, BodySpec, Contacts, Domain, Moving, SolidSpec};
use meniscus_core::shape::{Bounds, RigidTransform, Rotation, Shape};
use meniscus_core::vector::norm;

pub const GRAVITY: f64 = 9.81;

/// A body with its shape.
#[derive(Clone)]
pub struct Body<const D: usize> {
    pub shape: Shape<D>,
    pub mass: f64,
    pub inertia: [[f64; 3]; 3],
    pub friction: f64,
    pub restitution: f64,
    pub start: Moving<D>,
}

/// A solid with its shape and way.
pub struct Solid<const D: usize> {
    pub shape: Shape<D>,
    pub friction: f64,
    pub restitution: f64,
}

pub struct Scene<const D: usize> {
    pub contacts: Contacts<D>,
    pub bodies: Vec<Moving<D>>,
    pub info: AdvanceInfo<D>,
}

/// A ball or disc of density 1000.
pub fn ball<const D: usize>(radius: f64, centre: [f64; D]) -> Body<D> {
    let (volume, factor) = if D == 2 {
        (std::f64::consts::PI * radius.powi(2), 0.5)
    } else {
        (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3), 0.4)
    };
    let moment = factor * 1000.0 * volume * radius * radius;
    Body::new(Shape::sphere([0.0; D], radius).unwrap(), 1000.0 * volume, diagonal([moment; 3]), centre)
}

/// A box of density 1000.
pub fn block<const D: usize>(half_extents: [f64; D], centre: [f64; D]) -> Body<D> {
    let mass = 1000.0 * half_extents.iter().map(|h| 2.0 * h).product::<f64>();
    let square = |a: usize| if a < D { half_extents[a].powi(2) } else { 0.0 };
    let moments = std::array::from_fn(|a| mass / 3.0 * (square((a + 1) % 3) + square((a + 2) % 3)));
    Body::new(Shape::centred_box([0.0; D], half_extents).unwrap(), mass, diagonal(moments), centre)
}

fn diagonal(entries: [f64; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { entries[i] } else { 0.0 }))
}

impl<const D: usize> Body<D> {
    pub fn new(shape: Shape<D>, mass: f64, inertia: [[f64; 3]; 3], centre: [f64; D]) -> Self {
        let pose = RigidTransform { rotation: Rotation::identity(), translation: centre };
        let start = Moving { pose, velocity: [0.0; D], spin: [0.0; 3] };
        Self { shape, mass, inertia, friction: 0.5, restitution: 0.0, start }
    }

    pub fn velocity(mut self, velocity: [f64; D]) -> Self {
        self.start.velocity = velocity;
        self
    }

    pub fn spin(mut self, spin: [f64; 3]) -> Self {
        self.start.spin = spin;
        self
    }

    pub fn turned(mut self, turn: [f64; 3]) -> Self {
        self.start.pose.rotation = self.start.pose.rotation.turned(turn);
        self
    }

    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    pub fn restitution(self, restitution: f64) -> Self {
        Self { restitution, ..self }
    }
}

impl<const D: usize> Solid<D> {
    /// A solid that leaves friction and restitution to the bodies.
    pub fn new(shape: Shape<D>) -> Self {
        Self { shape, friction: 1e6, restitution: 1.0 }
    }
}

/// The unit cube, times `size`, with all sides closed.
pub fn closed_domain<const D: usize>(size: f64, cells: f64) -> Domain<D> {
    let bounds = Bounds { lower: [0.0; D], upper: [size; D] };
    let gravity = std::array::from_fn(|a| if a == 1 { -GRAVITY } else { 0.0 });
    Domain { bounds, closed: [[true; 2]; D], dx: size / cells, film: 0.0, gravity }
}

impl<const D: usize> Scene<D> {
    pub fn new(domain: &Domain<D>, bodies: &[Body<D>], solids: &[Solid<D>]) -> Self {
        let specs: Vec<BodySpec<'_, D>> = bodies
            .iter()
            .map(|b| BodySpec {
                shape: &b.shape,
                mass: b.mass,
                inertia: b.inertia,
                friction: b.friction,
                restitution: b.restitution,
            })
            .collect();
        let solids: Vec<SolidSpec<'_, D>> = solids
            .iter()
            .map(|s| SolidSpec { shape: &s.shape, friction: s.friction, restitution: s.restitution })
            .collect();
        let contacts = Contacts::new(&specs, &solids, domain).unwrap();
        Self { contacts, bodies: bodies.iter().map(|b| b.start).collect(), info: AdvanceInfo::default() }
    }

    /// Without gravity.
    pub fn drift(&mut self, solids: &[(RigidTransform<D>, RigidTransform<D>)], dt: f64) {
        self.info = self.contacts.advance(&mut self.bodies, solids, dt);
    }

    /// With gravity, downwards along the second axis, and solids at rest where their shapes are.
    pub fn fall(&mut self, solids: usize, dt: f64) {
        self.bodies.iter_mut().for_each(|body| body.velocity[1] -= GRAVITY * dt);
        self.drift(&vec![(RigidTransform::IDENTITY, RigidTransform::IDENTITY); solids], dt);
    }

    pub fn position(&self, body: usize) -> [f64; D] {
        self.bodies[body].pose.translation
    }

    pub fn speed(&self, body: usize) -> f64 {
        norm(self.bodies[body].velocity)
    }
}
