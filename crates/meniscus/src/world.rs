//! What every simulator finds around its fluid: solids that keyframes move, rigid bodies and what they run into.

use std::sync::Arc;

use meniscus_contact::{AdvanceInfo, ContactError, Contacts, Owner};
use meniscus_core::shape::RigidTransform;
use meniscus_liquid::{Contact, Rigid, RigidState, Solid, solid_travel};
use meniscus_scene::{Scene, Setup, SolidSetup};

use crate::bodies::{Ahead, Ways, body_travel, contacts, for_the_grid, move_bodies, rigid_bodies};
use crate::pressed::Samples;
use crate::simulation::SimulationError;

/// A step in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// When it begins, in s.
    pub from: f64,
    /// How long it is, in s.
    pub dt: f64,
    /// The time after it, in s: `from + dt`, or what that should be but for rounding.
    pub end: f64,
}

impl Step {
    pub fn new(from: f64, dt: f64) -> Self {
        Self { from, dt, end: from + dt }
    }

    /// When what moves by itself is at its end.
    pub fn to(self) -> f64 {
        self.from + self.dt
    }
}

/// The solids and the bodies of a scene.
pub(crate) struct World<const D: usize> {
    /// The scene; meshes that move are sampled.
    pub setup: Setup<D>,
    /// The bodies as the scene has them.
    pub bodies: Vec<Rigid<D>>,
    contacts: Option<Arc<Contacts<D>>>,
    samples: Samples<D>,
}

impl<const D: usize> World<D> {
    /// # Errors
    /// If the collisions of a solid or a body cannot be set up.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        let mut setup = scene.setup::<D>();
        let bodies = rigid_bodies(&setup);
        let contacts = contacts(&setup).map_err(|source| unfit(&setup, source))?;
        let dx = setup.grid.dx;
        for solid in setup.solids.iter_mut().filter(|solid| solid.motion.is_some()) {
            solid.shape = for_the_grid(&solid.shape, dx);
        }
        Ok(Self { samples: Samples::new(&bodies), setup, bodies, contacts })
    }

    /// The solids in a step.
    pub fn solids(&self, step: Step) -> Vec<Solid<D>> {
        let (from, to) = (step.from, step.to());
        let solid = |solid: &SolidSetup<D>| Solid {
            shape: solid.shape.clone(),
            from: pose_at(solid, from),
            to: pose_at(solid, to),
            next: Some(pose_at(solid, to + (to - from))),
            free: None,
            separates: solid.separation,
        };
        self.setup.solids.iter().map(solid).collect()
    }

    /// Where the solids are at a time, and after them bodies.
    pub fn poses(&self, time: f64, bodies: &[RigidState<D>]) -> Vec<RigidTransform<D>> {
        let of_solids = self.setup.solids.iter().map(|solid| pose_at(solid, time));
        of_solids.chain(bodies.iter().map(|body| body.pose)).collect()
    }

    /// The longest step, if one of a length moves what is in it too far: neither a solid nor a body may move farther than the fluid.
    pub fn shorter(&self, step: Step, bodies: &[RigidState<D>]) -> Option<f64> {
        let grid = &self.setup.grid;
        let of_solids = self.solids(step).into_iter().map(|solid| solid_travel(grid, &solid));
        let bodies = self.bodies.iter().zip(bodies);
        let of_bodies = bodies.map(|(body, state)| body_travel(body, state, step.dt));
        let travel = of_solids.chain(of_bodies).fold(0.0, f64::max);
        let allowed = self.setup.time.cfl * grid.dx;
        (travel > 1.001 * allowed).then(|| step.dt * (allowed / travel).min(0.99))
    }

    /// Moves the bodies in a step, in which they meet each other and the solids.
    pub fn move_bodies(&self, bodies: &mut [RigidState<D>], step: Step) -> Option<AdvanceInfo> {
        let contacts = self.contacts.as_ref()?;
        Some(move_bodies(contacts, bodies, &self.ways(step.from, step.to()), step.dt))
    }

    /// What the bodies will run into after a step.
    pub fn ahead(&self, step: Step) -> Option<Arc<dyn Contact<D>>> {
        let contacts = self.contacts.clone()?;
        Some(Arc::new(Ahead { contacts, solids: self.ways(step.to(), step.to() + step.dt) }))
    }

    fn ways(&self, from: f64, to: f64) -> Ways<D> {
        self.setup.solids.iter().map(|solid| (pose_at(solid, from), pose_at(solid, to))).collect()
    }

    /// Warns of bodies that are pressed into solids or sides after a step.
    pub fn warnings(&self, step: Step, bodies: &[RigidState<D>]) -> Vec<String> {
        if bodies.is_empty() {
            return Vec::new();
        }
        self.samples.warnings(&self.setup, bodies, &self.solids(step))
    }
}

/// What takes the shape of a solid to where it is at a time.
fn pose_at<const D: usize>(solid: &SolidSetup<D>, time: f64) -> RigidTransform<D> {
    solid.motion.as_ref().map_or(RigidTransform::IDENTITY, |motion| motion.pose(time))
}

fn unfit<const D: usize>(setup: &Setup<D>, source: ContactError) -> SimulationError {
    let what = match source.owner() {
        Some(Owner::Body(k)) => format!("the body `{}`", setup.bodies[k].name),
        Some(Owner::Solid(k)) => format!("the solid `{}`", setup.solids[k].name),
        None => "the bodies".into(),
    };
    SimulationError::Contact { what, source }
}
