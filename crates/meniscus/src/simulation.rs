//! A scene that runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_contact::{ContactError, Contacts, Owner};
use meniscus_core::grid::{Field, Grid};
use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_io::{Frame, FrameAir, FrameBubble, FrameParticles, NO_AIR};
use meniscus_liquid::projection::{self, AffineRegions, ProjectionError, ProjectionInfo};
use meniscus_liquid::{
    AirModel, Body, Bubble, EventKind, Params, Preconditioner, Rigid, RigidState, State, StepError, StepInfo,
    Surroundings, Tiling, Tracked, TrialSolve, Workspace, max_time_step, probe, solid_travel, step,
};
use meniscus_scene::{ProbeKind, Scene, Setup};
use serde::{Deserialize, Serialize};

use crate::bodies::{Ahead, body_stats, body_travel, contacts, for_the_grid, move_bodies, rigid_bodies};
use crate::exact::exact_volume;
use crate::pressed::Samples;
use crate::stats::{BubbleEvent, BubbleStats, CellCounts, ContactStats, ProbeValue, SolveStats, Stats};
use crate::terms::{active_sources, bodies_of, everywhere, params_of, pose_at, surroundings_of};
use crate::warnings::{step_warnings, volume_warning};

/// Where a solid is at a time, in seconds: the transform of its shape in the scene.
pub type MotionFn<const D: usize> = Box<dyn Fn(f64) -> RigidTransform<D> + Send + Sync>;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The velocity could not be solved for.
    #[error("a solve failed in frame {frame}, at {time:.6} s")]
    Step {
        /// The frame.
        frame: u32,
        /// The simulated time, in s.
        time: f64,
        /// Why.
        source: StepError,
    },
    /// The bodies cannot be made to run into things.
    #[error("the collisions of {what} cannot be set up")]
    Contact {
        /// The body or the solid.
        what: String,
        /// Why.
        source: ContactError,
    },
    /// There is no liquid and never will be.
    #[error(
        "there is nothing to simulate: no liquid is left outside the solids and inside the domain, and no source pours \
         any; move the liquid or the solids"
    )]
    NoLiquid,
    /// A name that no solid of the scene has.
    #[error("the scene has no solid named \"{name}\"; it has {}", known.join(", "))]
    NoSuchSolid {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
}

/// A simulation between two substeps, as a checkpoint keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint<const D: usize> {
    /// Frames that are complete.
    pub frames_done: u32,
    /// Substeps taken of the next frame.
    pub substeps_of_frame: u32,
    /// The liquid.
    pub state: State<D>,
}

/// A scene that runs, in `D` dimensions. See the [crate](crate) for an example.
pub struct Simulation<const D: usize> {
    setup: Setup<D>,
    params: Params<D>,
    motions: Vec<Option<MotionFn<D>>>,
    bodies: Vec<Rigid<D>>,
    contacts: Result<Option<Arc<Contacts<D>>>, ContactError>,
    samples: Samples<D>,
    frames_done: u32,
    substeps_of_frame: u32,
    state: State<D>,
    workspace: Workspace<D>,
    domain_cells: usize,
}

impl<const D: usize> Simulation<D> {
    /// A scene at its beginning.
    ///
    /// # Panics
    /// If the scene has another dimension.
    pub fn new(scene: &Scene) -> Self {
        let setup = scene.setup::<D>();
        let params = params_of(&setup);
        let (mut bodies, second) = bodies_of(&setup.liquids);
        bodies.extend(setup.fluid.iter().map(|f| Body { shape: everywhere(), velocity: f.velocity }));
        let state =
            |surroundings: &Surroundings<D>| State::with_second(&params, &bodies, &second, surroundings);
        Self::with(setup, params.clone(), state)
    }

    /// A scene where a checkpoint left it.
    ///
    /// # Panics
    /// If the scene has another dimension.
    pub fn resume(scene: &Scene, checkpoint: Checkpoint<D>) -> Self {
        let setup = scene.setup::<D>();
        let params = params_of(&setup);
        let Checkpoint { frames_done, substeps_of_frame, state } = checkpoint;
        let mut simulation = Self::with(setup, params, |_| state);
        (simulation.frames_done, simulation.substeps_of_frame) = (frames_done, substeps_of_frame);
        simulation
    }

    fn with(
        mut setup: Setup<D>,
        params: Params<D>,
        state: impl FnOnce(&Surroundings<D>) -> State<D>,
    ) -> Self {
        let motions: Vec<Option<MotionFn<D>>> = setup
            .solids
            .iter()
            .map(|solid| {
                solid.motion.clone().map(|motion| Box::new(move |time| motion.pose(time)) as MotionFn<D>)
            })
            .collect();
        let (bodies, contacts) = (rigid_bodies(&setup), contacts(&setup));
        let samples = Samples::new(&bodies);
        let dx = setup.grid.dx;
        for solid in setup.solids.iter_mut().filter(|solid| solid.motion.is_some()) {
            solid.shape = for_the_grid(&solid.shape, dx);
        }
        for shape in setup.probes.iter_mut().filter_map(|probe| probe.kind.shape_mut()) {
            *shape = for_the_grid(shape, dx);
        }
        let surroundings =
            Surroundings { bodies: bodies.clone(), ..surroundings_of(&setup, &motions, [0.0; 2]) };
        let state = state(&surroundings);
        let domain_cells = params.grid.cells.iter().product();
        Self {
            setup,
            params,
            motions,
            bodies,
            contacts,
            samples,
            frames_done: 0,
            substeps_of_frame: 0,
            state,
            workspace: Workspace::default(),
            domain_cells,
        }
    }

    /// What a checkpoint must hold.
    pub fn checkpoint(&self) -> Checkpoint<D> {
        let (frames_done, substeps_of_frame) = (self.frames_done, self.substeps_of_frame);
        Checkpoint { frames_done, substeps_of_frame, state: self.state.clone() }
    }

    /// Frames that are complete.
    pub fn frames_done(&self) -> u32 {
        self.frames_done
    }

    /// The simulated time, in s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Where the cells lie.
    pub fn grid(&self) -> &Grid<D> {
        &self.params.grid
    }

    /// The liquid: particles, level set, velocity, pressure.
    pub fn state(&self) -> &State<D> {
        &self.state
    }

    /// Which cells move together at this moment: see [`State::regions`].
    pub fn regions(&self) -> Option<AffineRegions> {
        self.state.regions(&self.params, &self.surroundings(0.0))
    }

    /// Projects the velocities of this moment with another tiling: see [`State::trial_projection`].
    pub(crate) fn trial_projection(
        &self,
        tiling: Option<Tiling>,
        workspace: &mut projection::Workspace,
    ) -> Result<(ProjectionInfo<D>, f64), SimulationError> {
        let dt = self.next_time_step().0;
        let params = Params { tiling, ..self.params.clone() };
        let trial = self.state.trial_projection(&params, &self.surroundings(dt), dt, workspace);
        trial.map_err(|error| self.unsolved(error))
    }

    /// Solves the pressure system of this moment with another tiling: see [`State::trial_solve`].
    pub(crate) fn trial_solve(
        &self,
        tiling: Option<Tiling>,
        preconditioner: Preconditioner,
    ) -> Result<TrialSolve, ProjectionError> {
        let dt = self.next_time_step().0;
        let params = Params { tiling, ..self.params.clone() };
        self.state.trial_solve(&params, &self.surroundings(dt), dt, preconditioner)
    }

    /// How the interior of the fluids is cut into regions, and whether there are two fluids.
    pub(crate) fn tiling(&self) -> (Option<Tiling>, bool) {
        (self.params.tiling, self.params.second().is_some())
    }

    /// The error of a pressure system that cannot be solved at this moment.
    pub(crate) fn unsolved(&self, error: ProjectionError) -> SimulationError {
        let (frame, time) = (self.frames_done + 1, self.state.time);
        SimulationError::Step { frame, time, source: error.into() }
    }

    /// Moves a solid otherwise from now on. `motion` gives the transform of the solid's shape at a time in
    /// seconds; it should agree with where the solid is now, or the liquid feels the jump.
    ///
    /// # Errors
    /// If no solid has the name.
    pub fn set_motion(
        &mut self,
        solid: &str,
        motion: impl Fn(f64) -> RigidTransform<D> + Send + Sync + 'static,
    ) -> Result<(), SimulationError> {
        let found = self.setup.solids.iter().position(|s| s.name == solid);
        let index = found.ok_or_else(|| SimulationError::NoSuchSolid {
            name: solid.into(),
            known: self.setup.solids.iter().map(|s| s.name.clone()).collect(),
        })?;
        self.motions[index] = Some(Box::new(motion));
        Ok(())
    }

    /// Advances to the end of the next frame; gives what its substeps measured.
    ///
    /// # Errors
    /// If the pressure cannot be solved for.
    pub fn advance_frame(&mut self) -> Result<Vec<Stats>, SimulationError> {
        let frame = self.frames_done;
        let mut stats = Vec::new();
        while self.frames_done == frame {
            stats.push(self.advance_substep()?);
        }
        Ok(stats)
    }

    /// Takes one substep towards the end of the next frame.
    ///
    /// # Errors
    /// If the pressure cannot be solved for.
    pub fn advance_substep(&mut self) -> Result<Stats, SimulationError> {
        let started = std::time::Instant::now();
        self.anything_to_simulate()?;
        let frame = self.frames_done + 1;
        let (dt, last, mut warnings) = self.next_time_step();
        let time = self.state.time;
        let surroundings = self.surroundings(dt);
        let mut contact = ContactStats::default();
        if let Some(contacts) = self.contacts()? {
            let solids = surroundings.solids.iter().map(|solid| (solid.from, solid.to)).collect();
            let info = move_bodies(&contacts, &mut self.state.bodies, &solids, dt);
            contact = ContactStats { pairs: info.contacts, overlap: info.deepest };
        }
        let info = step(&mut self.state, &self.params, &surroundings, dt, &mut self.workspace)
            .map_err(|source| SimulationError::Step { frame, time, source })?;
        self.substeps_of_frame += 1;
        let substep = self.substeps_of_frame;
        if last {
            // Exactly, so that rounding does not add up over frames.
            self.state.time = f64::from(frame) / self.setup.time.fps;
            (self.frames_done, self.substeps_of_frame) = (frame, 0);
            warnings.extend(self.samples.warnings(&self.setup, &self.state.bodies, &surroundings.solids));
        }
        let sources: Vec<&str> =
            active_sources(&self.setup, time).map(|source| source.name.as_str()).collect();
        warnings.extend(step_warnings(&self.setup, &sources, &info));
        warnings.extend(volume_warning(&self.state, self.params.grid.dx));
        let seconds = started.elapsed().as_secs_f64();
        Ok(Stats { contacts: contact, seconds, warnings, ..self.stats(frame, substep, dt, &info) })
    }

    /// The volume that the liquid had at the start, in m³ (2D: m²), and that of its shapes, which the grid knows only so well. None of a fluid
    /// that fills the domain.
    pub fn volume_at_start(&self) -> Option<[f64; 2]> {
        if self.params.air == AirModel::None {
            return None;
        }
        let shapes: Vec<Shape<D>> =
            bodies_of(&self.setup.liquids).0.into_iter().map(|body| body.shape).collect();
        let at_start = self.motions.iter().map(|motion| pose_at(motion, 0.0));
        let poses: Vec<_> =
            at_start.chain(self.bodies.iter().map(|body| RigidState::new(body).pose)).collect();
        let solids = posed_solids(&self.setup, &poses);
        Some([self.state.volume_at_start, exact_volume(&self.params.grid, &shapes, &solids)])
    }

    /// The particles of all fluids.
    pub fn particle_count(&self) -> usize {
        self.state.particles.len() + self.state.second.len()
    }

    /// What the bodies run into.
    fn contacts(&self) -> Result<Option<Arc<Contacts<D>>>, SimulationError> {
        let name = |owner: Option<Owner>| match owner {
            Some(Owner::Body(k)) => format!("the body `{}`", self.setup.bodies[k].name),
            Some(Owner::Solid(k)) => format!("the solid `{}`", self.setup.solids[k].name),
            None => "the bodies".into(),
        };
        self.contacts
            .clone()
            .map_err(|source| SimulationError::Contact { what: name(source.owner()), source })
    }

    /// Whether there is liquid or will be.
    pub(crate) fn anything_to_simulate(&self) -> Result<(), SimulationError> {
        let never =
            self.state.substep == 0 && self.state.particles.is_empty() && self.setup.sources.is_empty();
        if never { Err(SimulationError::NoLiquid) } else { Ok(()) }
    }

    /// The next time step, and whether it ends the frame.
    fn next_time_step(&self) -> (f64, bool, Vec<String>) {
        let time = &self.setup.time;
        let end = f64::from(self.frames_done + 1) / time.fps;
        let left = end - self.state.time;
        let mut most = max_time_step(&self.state, &self.params);
        // Neither a solid nor a body may move farther than the liquid.
        loop {
            let dt = left.min(most);
            let moved = self.surroundings(dt);
            let of_solids = moved.solids.iter().map(|solid| solid_travel(&self.params.grid, solid));
            let bodies = self.bodies.iter().zip(&self.state.bodies);
            let of_bodies = bodies.map(|(body, state)| body_travel(body, state, dt));
            let travel = of_solids.chain(of_bodies).fold(0.0, f64::max);
            let allowed = self.params.cfl * self.params.grid.dx;
            if travel <= 1.001 * allowed {
                break;
            }
            most = dt * (allowed / travel).min(0.99);
        }
        let wanted = (left / most - 1e-9).ceil().max(1.0);
        let allowed = f64::from(time.max_substeps.saturating_sub(self.substeps_of_frame).max(1));
        let mut warnings = Vec::new();
        if wanted > allowed {
            warnings.push(format!(
                "the frame needs {wanted} more substeps, but time.max_substeps = {} leaves {allowed}: the liquid moves \
                 up to {:.1} cells in one; raise time.max_substeps",
                time.max_substeps,
                self.params.cfl * wanted / allowed,
            ));
        }
        let count = wanted.min(allowed);
        (left / count, count == 1.0, warnings)
    }

    fn stats(&self, frame: u32, substep: u32, dt: f64, info: &StepInfo) -> Stats {
        let state = &self.state;
        let stages: BTreeMap<String, f64> = info.stages.iter().map(|&(n, s)| (n.to_string(), s)).collect();
        let solid = info.solid_cells;
        Stats {
            frame,
            substep,
            time: state.time,
            dt,
            cells: CellCounts {
                liquid: info.liquid_cells,
                air: self.domain_cells.saturating_sub(info.liquid_cells + solid),
                solid,
            },
            particles: self.particle_count(),
            liquid_volume: state.volume,
            liquid_volume_target: state.volume_target,
            liquid_volume_uncorrected: state.volume - state.corrected,
            kinetic_energy: info.kinetic_energy,
            potential_energy: info.potential_energy,
            max_speed: state.max_speed,
            max_divergence: info.max_divergence,
            bubbles: state.bubbles().map(|bubble| bubble_stats(bubble, state.time)).collect(),
            bodies: self.setup.bodies.iter().zip(&state.bodies).map(|(b, s)| body_stats(b, s)).collect(),
            probes: self.setup.probes.iter().map(|p| (p.name.clone(), self.measure(&p.kind))).collect(),
            solve: SolveStats {
                unknowns: info.unknowns,
                bubbles: info.constrained_bubbles,
                regions: info.regions,
                iterations: info.solve.iterations,
                residual: info.solve.relative_residual,
                seconds: stages.get("projection").copied().unwrap_or(0.0),
            },
            stages,
            seconds: 0.0,
            contacts: ContactStats::default(),
            added_particles: info.reseed.added,
            thinned_particles: info.reseed.thinned,
            removed_particles: info.collide.lost,
            drained_particles: info.drained + info.collide.left,
            poured_volume: info.volume_book.poured,
            drained_volume: -info.volume_book.drained - info.volume_book.left,
            volume_book: info.volume_book,
            energy_book: info.energy_book,
            warnings: Vec::new(),
            events: info
                .bubble_events
                .iter()
                .map(|event| event_line(event, state.time, [frame, substep]))
                .collect(),
        }
    }

    fn measure(&self, kind: &ProbeKind<D>) -> ProbeValue {
        let (state, params, memory) = (&self.state, &self.params, &self.workspace);
        let within = |shape| probe::within(state, params, memory, shape);
        match *kind {
            ProbeKind::Pressure { at } => ProbeValue::Scalar(Some(probe::pressure(state, params, at))),
            ProbeKind::Velocity { at } => ProbeValue::Vector(probe::velocity(state, params, at).to_vec()),
            ProbeKind::Height { at } => ProbeValue::Scalar(Some(probe::height(state, params, memory, at))),
            ProbeKind::Underside { at } => ProbeValue::Scalar(probe::underside(state, params, memory, at)),
            ProbeKind::Flux { axis, from, to } => {
                ProbeValue::Scalar(Some(probe::flux(state, params, memory, axis, [from, to])))
            }
            ProbeKind::Front { axis, end, least } => {
                ProbeValue::Scalar(probe::front(state, params, memory, (axis, end), least))
            }
            ProbeKind::Volume { ref shape } => ProbeValue::Scalar(Some(within(shape).volume)),
            ProbeKind::MeanVelocity { ref shape } => within(shape).velocity.into(),
            ProbeKind::Energy { ref shape } => ProbeValue::Scalar(Some(within(shape).kinetic_energy)),
        }
    }

    /// The solids, and after them the bodies, where they are now, in metres.
    pub fn solids(&self) -> Vec<Shape<D>> {
        posed_solids(&self.setup, &self.poses())
    }

    /// The transforms of the solids' shapes now, and after them of the bodies'.
    pub fn poses(&self) -> Vec<RigidTransform<D>> {
        let of_solids = self.motions.iter().map(|m| pose_at(m, self.state.time));
        of_solids.chain(self.state.bodies.iter().map(|body| body.pose)).collect()
    }

    /// What surrounds the liquid in a substep from now on.
    fn surroundings(&self, dt: f64) -> Surroundings<D> {
        let [from, to] = [self.state.time, self.state.time + dt];
        let contact = self.contacts.iter().flatten().map(|contacts| Ahead {
            contacts: contacts.clone(),
            solids: self.motions.iter().map(|m| (pose_at(m, to), pose_at(m, to + dt))).collect(),
        });
        Surroundings {
            bodies: self.bodies.clone(),
            contact: contact.map(|ahead| Arc::new(ahead) as _).next(),
            ..surroundings_of(&self.setup, &self.motions, [from, to])
        }
    }

    /// What the frame cache keeps of this moment.
    pub fn frame(&self) -> Frame<D> {
        let particles = &self.state.particles;
        let kept =
            || FrameParticles { position: particles.position.clone(), velocity: particles.velocity.clone() };
        Frame {
            frame: self.frames_done,
            time: self.state.time,
            grid: self.params.grid,
            level_set: self.state.level_set.clone(),
            velocity: self.state.velocity.clone(),
            particles: self.setup.output.particles.then(kept),
            smoke: self.state.smoke.iter().map(|markers| markers.position.clone()).collect(),
            solids: self.poses(),
            air: self.state.tracked.as_ref().map(|tracked| frame_air(tracked, &self.state)),
        }
    }
}

/// The bubbles of a moment. Air that no liquid touches counts as open: nothing holds it.
fn frame_air<const D: usize>(tracked: &Tracked<D>, state: &State<D>) -> FrameAir<D> {
    let id = |region: usize| match &tracked.regions[region] {
        region if region.is_bubble() => region.id,
        _ => meniscus_io::OPEN_AIR,
    };
    let of_cell = |cell: [usize; D]| tracked.region_at(cell.map(|c| c as i64)).map_or(NO_AIR, id);
    FrameAir {
        bubbles: state.bubbles().map(|bubble| frame_bubble(bubble, state.time)).collect(),
        bubble_of: Field::from_fn(state.level_set.blocks().clone(), NO_AIR, of_cell),
    }
}

fn frame_bubble<const D: usize>(bubble: &Bubble<D>, time: f64) -> FrameBubble<D> {
    let Bubble { id, volume, rest_volume, pressure, centroid, velocity, area, .. } = *bubble;
    FrameBubble { id, volume, rest_volume, pressure, centroid, velocity, area, age: time - bubble.born }
}

/// The solids and the bodies of a scene, moved.
pub(crate) fn posed_solids<const D: usize>(setup: &Setup<D>, poses: &[RigidTransform<D>]) -> Vec<Shape<D>> {
    let shapes =
        setup.solids.iter().map(|solid| &solid.shape).chain(setup.bodies.iter().map(|body| &body.shape));
    let posed = |(shape, pose): (&Shape<D>, &RigidTransform<D>)| {
        shape.clone().transformed(*pose).expect("a finite pose")
    };
    shapes.zip(poses).map(posed).collect()
}

fn bubble_stats<const D: usize>(bubble: &Bubble<D>, time: f64) -> BubbleStats {
    let Bubble { id, volume, rest_volume, pressure, area, .. } = *bubble;
    BubbleStats {
        id,
        volume,
        rest_volume,
        pressure,
        centroid: bubble.centroid.to_vec(),
        velocity: bubble.velocity.to_vec(),
        area,
        age: time - bubble.born,
    }
}

fn event_line(event: &meniscus_liquid::BubbleEvent, time: f64, [frame, substep]: [u32; 2]) -> BubbleEvent {
    let kind = match event.kind {
        EventKind::Birth => "birth",
        EventKind::Merge => "merge",
        EventKind::Split => "split",
        EventKind::Collapse => "collapse",
    };
    let meniscus_liquid::BubbleEvent { from, to, volumes, .. } = event.clone();
    BubbleEvent { kind, time, frame, substep, from, to, volumes }
}
