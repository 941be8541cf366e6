//! A scene that runs, in one dimension: the clock, and what all systems do in a substep.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Instant;

use meniscus_core::shape::RigidTransform;
use meniscus_io::{Channel, Frame, Kind, names};
use meniscus_scene::{Method, Scene};
use serde::{Deserialize, Serialize};

use crate::bodies::body_stats;
use crate::controls::Controls;
use crate::error::{SimulationError, StepFailure};
use crate::stats::{BodyStats, BubbleEvent, Stats};
use crate::systems::{self, Liquid, Modes, Saved, System};
use crate::warning::Warning;
use crate::world::{Step, World};

/// A session between two substeps, as a checkpoint keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession<const D: usize> {
    /// Of the scene: see [`hash_of`](crate::identity::hash_of).
    pub scene: String,
    /// Frames that are complete.
    pub frames_done: u32,
    /// Substeps taken of the next frame.
    pub substeps_of_frame: u32,
    /// What was changed of the scene.
    pub controls: Controls<D>,
    /// The system.
    pub system: Saved<D>,
}

impl<const D: usize> SavedSession<D> {
    /// Of the file that holds this.
    pub fn kind(&self) -> Kind {
        match self.system {
            Saved::Liquid(_) => Self::kind_of(Method::Grid),
            Saved::Modes(_) | Saved::Flow(_) => Self::kind_of(Method::Modes),
        }
    }

    /// Of the files that hold what a method saves. A test holds the versions to the layouts.
    pub fn kind_of(method: Method) -> Kind {
        match (method, D) {
            (Method::Grid, 2) => Kind::checkpoint(*b"liq2", 2),
            (Method::Grid, _) => Kind::checkpoint(*b"liq3", 2),
            (Method::Modes, 2) => Kind::checkpoint(*b"mod2", 2),
            (Method::Modes, _) => Kind::checkpoint(*b"mod3", 1),
        }
    }
}

/// A scene that runs, in `D` dimensions.
pub(crate) struct Session<const D: usize> {
    pub world: World<D>,
    pub system: Box<dyn System<D>>,
    pub frames_done: u32,
    pub substeps_of_frame: u32,
    /// Whether a step failed, so that the state is of no use.
    pub has_failed: bool,
    /// What happened to bubbles since the latest substep.
    pub events: Vec<BubbleEvent>,
}

impl<const D: usize> Session<D> {
    /// A scene at its beginning.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        let mut world = World::new(scene)?;
        world.learnt = systems::learnt_flows(&world.setup)?;
        let system =
            systems::begin(&world).map_err(|source| SimulationError::Step { frame: 1, time: 0.0, source })?;
        if system.is_void(&world) {
            return Err(SimulationError::NoLiquid);
        }
        Ok(Self {
            world,
            system,
            frames_done: 0,
            substeps_of_frame: 0,
            has_failed: false,
            events: Vec::new(),
        })
    }

    /// A scene where it was saved.
    pub fn resume(scene: &Scene, saved: SavedSession<D>) -> Result<Self, SimulationError> {
        let world = World::new(scene)?;
        world.is_of(&saved.scene)?;
        let SavedSession { frames_done, substeps_of_frame, controls, system, .. } = saved;
        let system = resumed(&world, system, frames_done)?;
        let events = Vec::new();
        let mut session = Self { world, system, frames_done, substeps_of_frame, has_failed: false, events };
        session.set_controls(controls);
        Ok(session)
    }

    /// Goes back to where it was saved.
    ///
    /// # Errors
    /// If that is of another scene.
    pub fn restore(&mut self, saved: SavedSession<D>) -> Result<(), SimulationError> {
        self.world.is_of(&saved.scene)?;
        let SavedSession { frames_done, substeps_of_frame, controls, system, .. } = saved;
        self.system = resumed(&self.world, system, frames_done)?;
        self.set_controls(controls);
        (self.frames_done, self.substeps_of_frame, self.has_failed) = (frames_done, substeps_of_frame, false);
        self.events.clear();
        Ok(())
    }

    /// Changes the scene from now on.
    pub fn set_controls(&mut self, controls: Controls<D>) {
        self.system.heed(&controls);
        self.world.control(controls);
    }

    /// What a checkpoint keeps.
    pub fn save(&self) -> SavedSession<D> {
        let Self { frames_done, substeps_of_frame, .. } = *self;
        let (scene, controls) = (self.world.identity.clone(), self.world.controls().clone());
        SavedSession { scene, frames_done, substeps_of_frame, controls, system: self.system.save() }
    }

    pub fn frames_done(&self) -> u32 {
        self.frames_done
    }

    /// The system, if it is a liquid on a grid.
    pub fn liquid(&self) -> Option<&Liquid<D>> {
        let system: &dyn Any = &*self.system;
        system.downcast_ref()
    }

    /// The system, if it is a flow of modes.
    pub fn modes(&self) -> Option<&Modes<D>> {
        let system: &dyn Any = &*self.system;
        system.downcast_ref()
    }

    /// The system to be stirred, if it is a flow of modes, with its world.
    pub fn modes_mut(&mut self) -> Option<(&mut Modes<D>, &World<D>)> {
        let system: &mut dyn Any = &mut *self.system;
        Some((system.downcast_mut()?, &self.world))
    }

    /// Advances to the end of the next frame; gives what its substeps measured.
    pub fn advance_frame(&mut self) -> Result<Vec<Stats>, SimulationError> {
        let frame = self.frames_done;
        let mut stats = Vec::new();
        while self.frames_done == frame {
            stats.push(self.advance_substep()?);
        }
        Ok(stats)
    }

    /// Takes one substep towards the end of the next frame.
    pub fn advance_substep(&mut self) -> Result<Stats, SimulationError> {
        let started = Instant::now();
        let (frame, from) = (self.frames_done + 1, self.system.time());
        if self.has_failed {
            return Err(SimulationError::HasFailed { frame, time: from });
        }
        let (dt, last, mut warnings) = self.next_time_step();
        let mut step = Step::new(from, dt);
        if last {
            // Exactly, so that rounding does not add up over frames.
            step.end = f64::from(frame) / self.world.setup.time.fps;
        }
        let mut stats = self.system.step(&self.world, step).map_err(|source| {
            self.has_failed = true;
            SimulationError::Step { frame, time: from, source }
        })?;
        self.world.step_done();
        self.substeps_of_frame += 1;
        stats.events.splice(..0, self.events.drain(..));
        stats.stamp(frame, self.substeps_of_frame);
        if last {
            (self.frames_done, self.substeps_of_frame) = (frame, 0);
            warnings.extend(self.world.warnings(step, self.system.bodies()));
        }
        warnings.append(&mut stats.warnings);
        stats.warnings = warnings;
        stats.seconds = started.elapsed().as_secs_f64();
        Ok(stats)
    }

    /// The next time step, in s.
    pub fn dt(&self) -> f64 {
        self.next_time_step().0
    }

    /// The error of what cannot be solved at this moment.
    pub fn failed(&self, source: impl Into<StepFailure>) -> SimulationError {
        let (frame, time) = (self.frames_done + 1, self.system.time());
        SimulationError::Step { frame, time, source: source.into() }
    }

    /// The next time step, and whether it ends the frame.
    fn next_time_step(&self) -> (f64, bool, Vec<Warning>) {
        let time = &self.world.setup.time;
        let from = self.system.time();
        let left = f64::from(self.frames_done + 1) / time.fps - from;
        let mut most = self.system.longest_step();
        while let Some(shorter) = self.world.shorter(Step::new(from, left.min(most)), self.system.bodies()) {
            most = shorter;
        }
        let wanted = (left / most - 1e-9).ceil().max(1.0);
        let allowed = f64::from(time.max_substeps.saturating_sub(self.substeps_of_frame).max(1));
        let mut warnings = Vec::new();
        if wanted > allowed {
            let (most, cells) = (time.max_substeps, time.cfl * wanted / allowed);
            warnings.push(Warning::FewSubsteps { wanted, allowed, most, cells });
        }
        let count = wanted.min(allowed);
        (left / count, count == 1.0, warnings)
    }

    /// The transforms of the solids' shapes now, and after them of the bodies'.
    pub fn poses(&self) -> Vec<RigidTransform<D>> {
        self.world.poses(self.system.time(), self.system.bodies())
    }

    /// This moment; lent, not copied.
    pub fn frame(&self) -> Frame<'_, D> {
        let setup = &self.world.setup;
        let mut frame = Frame::new(self.frames_done, self.system.time(), setup.grid)
            .with(names::SOLIDS, Channel::Poses(self.poses().into()));
        if !setup.bodies.is_empty() {
            let motion = |(body, state)| {
                let BodyStats { name, velocity, angular_velocity, .. } = body_stats(body, state);
                (name, [velocity, angular_velocity].concat())
            };
            let motions: BTreeMap<_, _> = setup.bodies.iter().zip(self.system.bodies()).map(motion).collect();
            frame = frame.with(names::BODIES, Channel::Numbers(Cow::Owned(motions)));
        }
        self.system.show(setup, frame)
    }
}

/// The system of a scene where it was saved, after a number of frames.
pub(crate) fn resumed<const D: usize>(
    world: &World<D>,
    saved: Saved<D>,
    frames_done: u32,
) -> Result<Box<dyn System<D>>, SimulationError> {
    let time = f64::from(frames_done) / world.setup.time.fps;
    systems::resume(world, saved).map_err(|source| SimulationError::Step {
        frame: frames_done + 1,
        time,
        source,
    })
}
