//! What every simulator finds around its fluid: solids that keyframes move, rigid bodies and what they run into.

use std::sync::Arc;

use meniscus_contact::{AdvanceInfo, ContactError, Contacts, Owner};
use meniscus_core::shape::RigidTransform;
use meniscus_liquid::{Contact, Rigid, RigidState, Solid, Twist, solid_travel};
use meniscus_scene::{Scene, Setup, SolidSetup, SourceSetup};

use crate::bodies::{Ahead, Ways, body_travel, contacts, for_the_grid, move_bodies, rigid_bodies};
use crate::controls::Controls;
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
    /// What was changed.
    controls: Controls<D>,
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
        for shape in setup.probes.iter_mut().filter_map(|probe| probe.kind.shape_mut()) {
            *shape = for_the_grid(shape, dx);
        }
        let controls = Controls::new(&setup);
        Ok(Self { samples: Samples::new(&bodies), setup, bodies, controls, contacts })
    }

    /// What was changed of the scene.
    pub fn controls(&self) -> &Controls<D> {
        &self.controls
    }

    /// Changes the scene from now on.
    pub fn control(&mut self, controls: Controls<D>) {
        for &solid in controls.courses.keys() {
            let solid = &mut self.setup.solids[solid];
            solid.shape = for_the_grid(&solid.shape, self.setup.grid.dx);
        }
        for (body, rigid) in self.bodies.iter_mut().enumerate() {
            rigid.push = controls.pushes.get(&body).map_or(Twist::default(), |push| push.push);
        }
        self.controls = controls;
    }

    /// Forgets what was for one step only.
    pub fn step_done(&mut self) {
        if !self.controls.pushes.is_empty() {
            let mut controls = self.controls.clone();
            controls.pushes.retain(|_, push| push.is_held);
            self.control(controls);
        }
    }

    /// What takes the shape of a solid to where it is at a time.
    pub fn solid_pose(&self, solid: usize, time: f64) -> RigidTransform<D> {
        match (self.controls.courses.get(&solid), &self.setup.solids[solid].motion) {
            (Some(course), _) => course.pose(time),
            (None, Some(motion)) => motion.pose(time),
            (None, None) => RigidTransform::IDENTITY,
        }
    }

    /// The numbers of the sources that pour in a step that begins at a time.
    pub fn open_sources(&self, time: f64) -> impl Iterator<Item = usize> {
        let is_open = move |source: &usize| {
            let by_times = || is_active(&self.setup.sources[*source], time);
            self.controls.sources.get(source).copied().unwrap_or_else(by_times)
        };
        (0..self.setup.sources.len()).filter(is_open)
    }

    /// The solids in a step.
    pub fn solids(&self, step: Step) -> Vec<Solid<D>> {
        let (from, to) = (step.from, step.to());
        let solid = |(k, solid): (usize, &SolidSetup<D>)| Solid {
            shape: solid.shape.clone(),
            from: self.solid_pose(k, from),
            to: self.solid_pose(k, to),
            next: Some(self.solid_pose(k, to + (to - from))),
            free: None,
            separates: solid.separation,
        };
        self.setup.solids.iter().enumerate().map(solid).collect()
    }

    /// Where the solids are at a time, and after them bodies.
    pub fn poses(&self, time: f64, bodies: &[RigidState<D>]) -> Vec<RigidTransform<D>> {
        let of_solids = (0..self.setup.solids.len()).map(|solid| self.solid_pose(solid, time));
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
        (0..self.setup.solids.len()).map(|k| (self.solid_pose(k, from), self.solid_pose(k, to))).collect()
    }

    /// Warns of bodies that are pressed into solids or sides after a step.
    pub fn warnings(&self, step: Step, bodies: &[RigidState<D>]) -> Vec<String> {
        if bodies.is_empty() {
            return Vec::new();
        }
        self.samples.warnings(&self.setup, bodies, &self.solids(step))
    }
}

/// Whether a source pours at a time, by the scene.
fn is_active<const D: usize>(source: &SourceSetup<D>, time: f64) -> bool {
    source.start <= time && source.stop.is_none_or(|stop| time < stop)
}

fn unfit<const D: usize>(setup: &Setup<D>, source: ContactError) -> SimulationError {
    let what = match source.owner() {
        Some(Owner::Body(k)) => format!("the body `{}`", setup.bodies[k].name),
        Some(Owner::Solid(k)) => format!("the solid `{}`", setup.solids[k].name),
        None => "the bodies".into(),
    };
    SimulationError::Contact { what, source }
}
