//! Rigid bodies that the liquid moves: what they are, where they are, and what they run into.

use std::fmt::Debug;

use meniscus_core::shape::{MassProperties, RigidTransform, Shape};
use serde::{Deserialize, Serialize};

use crate::contact::Touch;
use crate::motion::{SIZE, Twist, rotation_vector, twist};

/// A rigid body that the liquid moves.
#[derive(Clone, Debug)]
pub struct RigidBody<const D: usize> {
    /// Its shape, with its centre of mass at the origin, in metres.
    pub shape: Shape<D>,
    /// Its density, in kg/m³ (2D: kg/m²).
    pub density: f64,
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// Its tensor of inertia at a density of 1, in its own frame; in 2D only the last entry counts.
    pub unit_inertia: [[f64; 3]; 3],
    /// Where it begins.
    pub pose: RigidTransform<D>,
    /// The velocity that it begins with.
    pub velocity: Twist,
    /// Whether it lets go of the liquid: see `Solid::separates` of the grid liquid.
    pub separates: bool,
    /// The force on it beside all others, in N, and its torque about the centre of mass, in N m (2D: for a metre of depth).
    pub push: Twist,
}

impl<const D: usize> RigidBody<D> {
    /// A body at rest; `None` if its shape has no volume or no bounds. Its shape has its centre of mass at the origin.
    pub fn new(shape: Shape<D>, density: f64, pose: RigidTransform<D>) -> Option<Self> {
        let MassProperties { volume, inertia: unit_inertia, .. } = shape.mass_properties()?;
        let [velocity, push] = [[0.0; SIZE]; 2];
        Some(Self { shape, density, volume, unit_inertia, pose, velocity, separates: false, push })
    }
}

/// A rigid body at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RigidState<const D: usize> {
    /// Where it was before it last moved.
    pub from: RigidTransform<D>,
    /// Where it is: the transform of its shape.
    pub pose: RigidTransform<D>,
    /// Its velocity.
    pub velocity: Twist,
}

impl<const D: usize> RigidState<D> {
    /// A body as it begins.
    pub fn new(body: &RigidBody<D>) -> Self {
        Self { from: body.pose, pose: body.pose, velocity: body.velocity }
    }

    /// The velocity of its centre of mass, in m/s.
    pub fn centre_velocity(&self) -> [f64; D] {
        std::array::from_fn(|a| self.velocity[a])
    }

    /// The axis that it turns about, as long as the rate in radians a second.
    pub fn angular_velocity(&self) -> [f64; 3] {
        rotation_vector::<D>(&self.velocity)
    }

    /// Moves it to a pose and gives it a velocity.
    pub fn move_to(
        &mut self,
        pose: RigidTransform<D>,
        centre_velocity: [f64; D],
        angular_velocity: [f64; 3],
    ) {
        *self = Self { from: self.pose, pose, velocity: twist(centre_velocity, angular_velocity) };
    }

    /// Moves it by its velocity, as if it met nothing.
    pub fn fly(&mut self, dt: f64) {
        let turn = self.angular_velocity().map(|rate| rate * dt);
        let pose = RigidTransform {
            rotation: self.pose.rotation.turned(turn),
            translation: std::array::from_fn(|a| self.pose.translation[a] + dt * self.velocity[a]),
        };
        (self.from, self.pose) = (self.pose, pose);
    }
}

/// What bodies run into, as someone else knows it.
pub trait Contact<const D: usize>: Debug + Send + Sync {
    /// Where bodies touch each other, solids and sides of the domain, or may do so before `dt` seconds have passed.
    fn touches(&self, bodies: &[RigidState<D>], dt: f64) -> Vec<Touch<D>>;
}
