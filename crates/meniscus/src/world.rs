//! What every simulator finds around its fluid: solids that keyframes move, rigid bodies and what they run into.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use meniscus_contact::{ContactError, Contacts, Hit, Owner};
use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_liquid::{Solid, solid_travel};
use meniscus_modal::domain;
use meniscus_rigid::{Contact, RigidBody, RigidState, Twist};
use meniscus_scene::{Scene, Setup, SolidSetup, SourceSetup};

use crate::bodies::{Ahead, Ways, body_travel, contacts, for_the_grid, move_bodies, rigid_bodies};
use crate::controls::Controls;
use crate::error::SimulationError;
use crate::identity::hash_of;
use crate::pressed::Samples;
use crate::stats::ContactStats;
use crate::warning::Warning;

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
    /// The scene.
    pub scene: Scene,
    /// Tells the scene from others: see [`hash_of`].
    pub identity: String,
    /// The scene, typed.
    pub setup: Setup<D>,
    /// The bodies as the scene has them.
    pub bodies: Vec<RigidBody<D>>,
    /// What was changed.
    controls: Controls<D>,
    /// The shapes of solids that move, which are asked for distances all the time.
    moving: BTreeMap<usize, Shape<D>>,
    contacts: Option<Arc<Contacts<D>>>,
    samples: Samples<D>,
    /// For each entry of modes that are learnt from a run its flows; none of a world that only goes on.
    pub learnt: BTreeMap<usize, Vec<Vec<f64>>>,
    /// The modes between its solids, once they have been found.
    pub domain: OnceLock<Arc<domain::Modes>>,
}

impl<const D: usize> World<D> {
    /// # Errors
    /// If the collisions of a solid or a body cannot be set up.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        let mut setup = scene.setup::<D>();
        let bodies = rigid_bodies(&setup);
        let contacts = contacts(&setup).map_err(|source| unfit(&setup, source))?;
        let dx = setup.grid.dx;
        for shape in setup.probes.iter_mut().filter_map(|probe| probe.kind.shape_mut()) {
            *shape = for_the_grid(shape, dx);
        }
        let (samples, controls) = (Samples::new(&bodies), Controls::new(&setup));
        let (scene, identity) = (scene.clone(), hash_of(scene));
        let moving = BTreeMap::new();
        let learnt = BTreeMap::new();
        let domain = OnceLock::new();
        let mut world =
            Self { scene, identity, setup, bodies, controls, moving, contacts, samples, learnt, domain };
        world.find_moving();
        Ok(world)
    }

    /// # Errors
    /// If what was saved is of another scene than this.
    pub fn is_of(&self, identity: &str) -> Result<(), SimulationError> {
        if identity == self.identity { Ok(()) } else { Err(SimulationError::OtherScene) }
    }

    /// What was changed of the scene.
    pub fn controls(&self) -> &Controls<D> {
        &self.controls
    }

    /// Changes the scene from now on.
    pub fn control(&mut self, controls: Controls<D>) {
        self.controls = controls;
        self.find_moving();
        self.push_bodies();
    }

    /// Forgets what was for one step only.
    pub fn step_done(&mut self) {
        self.controls.pushes.retain(|_, push| push.is_held);
        self.push_bodies();
    }

    fn push_bodies(&mut self) {
        for (body, rigid) in self.bodies.iter_mut().enumerate() {
            rigid.push = self.controls.pushes.get(&body).map_or(Twist::default(), |push| push.push);
        }
    }

    /// Which solids move follows from the scene and from what was changed of it, so that what is restored is as what is resumed.
    fn find_moving(&mut self) {
        let moves = |solid: usize| {
            self.setup.solids[solid].motion.is_some() || self.controls.courses.contains_key(&solid)
        };
        let known = std::mem::take(&mut self.moving);
        let shape = |solid: usize| {
            let new = || for_the_grid(&self.setup.solids[solid].shape, self.setup.grid.dx);
            (solid, known.get(&solid).cloned().unwrap_or_else(new))
        };
        self.moving = (0..self.setup.solids.len()).filter(|&solid| moves(solid)).map(shape).collect();
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
            let SourceSetup { start, stop, .. } = self.setup.sources[*source];
            let by_times = || is_active(start, stop, time);
            self.controls.sources.get(source).copied().unwrap_or_else(by_times)
        };
        (0..self.setup.sources.len()).filter(is_open)
    }

    /// The solids in a step.
    pub fn solids(&self, step: Step) -> Vec<Solid<D>> {
        let (from, to) = (step.from, step.to());
        let solid = |(k, solid): (usize, &SolidSetup<D>)| Solid {
            shape: self.moving.get(&k).unwrap_or(&solid.shape).clone(),
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
    pub fn move_bodies(&self, bodies: &mut [RigidState<D>], step: Step) -> (ContactStats, Vec<Hit<D>>) {
        let Some(contacts) = &self.contacts else { return (ContactStats::default(), Vec::new()) };
        let info = move_bodies(contacts, bodies, &self.ways(step.from, step.to()), step.dt);
        (ContactStats { pairs: info.contacts, overlap: info.deepest }, info.hits)
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
    pub fn warnings(&self, step: Step, bodies: &[RigidState<D>]) -> Vec<Warning> {
        if bodies.is_empty() {
            return Vec::new();
        }
        self.samples.warnings(&self.setup, bodies, &self.solids(step))
    }
}

/// Whether what starts and stops is there at a time.
pub(crate) fn is_active(start: f64, stop: Option<f64>, time: f64) -> bool {
    start <= time && stop.is_none_or(|stop| time < stop)
}

fn unfit<const D: usize>(setup: &Setup<D>, source: ContactError) -> SimulationError {
    let what = match source.owner() {
        Some(Owner::Body(k)) => format!("the body `{}`", setup.bodies[k].name),
        Some(Owner::Solid(k)) => format!("the solid `{}`", setup.solids[k].name),
        None => "the bodies".into(),
    };
    SimulationError::Contact { what, source }
}
