//! A liquid on a grid.

use std::borrow::Cow;
use std::collections::BTreeMap;

use meniscus_core::grid::Field;
use meniscus_core::particles::Particles;
use meniscus_core::shape::Shape;
use meniscus_io::{Channel, Frame, FrameBubble, NO_AIR, OPEN_AIR, Points, names};
use meniscus_liquid::projection::{self, AffineTiles, ProjectionError, ProjectionInfo};
use meniscus_liquid::{
    AirModel, AirRegion, Change, EventKind, InitialLiquid, Params, Preconditioner, State, StepInfo, Tiling,
    Tracked, TrialSolve, Workspace, max_time_step, probe, step,
};
use meniscus_rigid::RigidState;
use meniscus_scene::{FluidSetup, ProbeKind, Setup};

use super::terms::{bodies_of, everywhere, params_of, surroundings_of};
use super::warnings::{step_warnings, volume_warning};
use super::{Rearrangement, Saved, Size, System};
use crate::bodies::body_stats;
use crate::controls::Controls;
use crate::error::StepFailure;
use crate::exact::exact_volume;
use crate::stats::{BubbleEvent, CellCounts, ContactStats, ProbeValue, SolveStats, Stats, bubble_stats};
use crate::world::{Step, World};

/// A liquid on a grid, and what its solver works in.
pub(crate) struct Liquid<const D: usize> {
    params: Params<D>,
    state: State<D>,
    workspace: Workspace<D>,
}

impl<const D: usize> Liquid<D> {
    pub fn new(world: &World<D>) -> Self {
        let setup = &world.setup;
        let params = params_of(setup);
        let (mut bodies, second) = bodies_of(&setup.liquids);
        bodies
            .extend(setup.fluid.iter().map(|f| InitialLiquid { shape: everywhere(), velocity: f.velocity }));
        let surroundings = surroundings_of(world, Step::new(0.0, 0.0));
        let mut state = State::with_second(&params, &bodies, &second, &surroundings);
        if let Some(FluidSetup { whirls, strokes, .. }) = &setup.fluid
            && !(whirls.is_empty() && strokes.is_empty())
        {
            state.stir(&params, &|x| {
                let x = [x[0], x[1]];
                let of_strokes = strokes.iter().map(|stroke| stroke.velocity(x));
                let added = whirls.iter().map(|whirls| whirls.velocity(x)).chain(of_strokes);
                added.fold([0.0; D], |sum, [u, v]| std::array::from_fn(|axis| sum[axis] + [u, v, 0.0][axis]))
            });
        }
        Self { params, state, workspace: Workspace::default() }
    }

    pub fn resume(world: &World<D>, state: State<D>) -> Self {
        Self { params: params_of(&world.setup), state, workspace: Workspace::default() }
    }

    pub fn state(&self) -> &State<D> {
        &self.state
    }

    /// How the interior of the fluids is cut into regions, and whether there are two fluids.
    pub fn tiling(&self) -> (Option<Tiling>, bool) {
        (self.params.tiling, self.params.second().is_some())
    }

    /// Which cells move together at this moment: see [`State::tiles`].
    pub fn regions(&self, world: &World<D>) -> Option<AffineTiles> {
        let now = Step::new(self.state.time, 0.0);
        self.state.tiles(&self.params, &surroundings_of(world, now))
    }

    /// Projects the velocities of this moment with another tiling: see [`State::trial_projection`].
    pub fn trial_projection(
        &self,
        world: &World<D>,
        dt: f64,
        tiling: Option<Tiling>,
        workspace: &mut projection::Workspace,
    ) -> Result<(ProjectionInfo<D>, f64), ProjectionError> {
        let params = Params { tiling, ..self.params.clone() };
        let surroundings = surroundings_of(world, Step::new(self.state.time, dt));
        self.state.trial_projection(&params, &surroundings, dt, workspace)
    }

    /// Solves the pressure system of this moment with another tiling: see [`State::trial_solve`].
    pub fn trial_solve(
        &self,
        world: &World<D>,
        dt: f64,
        tiling: Option<Tiling>,
        preconditioner: Preconditioner,
    ) -> Result<TrialSolve, ProjectionError> {
        let params = Params { tiling, ..self.params.clone() };
        let surroundings = surroundings_of(world, Step::new(self.state.time, dt));
        self.state.trial_solve(&params, &surroundings, dt, preconditioner)
    }
}

impl<const D: usize> System<D> for Liquid<D> {
    fn time(&self) -> f64 {
        self.state.time
    }

    fn heed(&mut self, controls: &Controls<D>) {
        self.params.gravity = controls.gravity;
    }

    fn longest_step(&self) -> f64 {
        max_time_step(&self.state, &self.params)
    }

    fn is_void(&self, world: &World<D>) -> bool {
        self.state.particles.is_empty() && world.setup.sources.is_empty()
    }

    fn bodies(&self) -> &[RigidState<D>] {
        &self.state.bodies
    }

    fn step(&mut self, world: &World<D>, now: Step) -> Result<Stats, StepFailure> {
        let (contacts, _) = world.move_bodies(&mut self.state.bodies, now);
        let surroundings = surroundings_of(world, now);
        let info = step(&mut self.state, &self.params, &surroundings, now.dt, &mut self.workspace)?;
        self.state.time = now.end;
        let sources = world.open_sources(now.from).map(|k| &world.setup.sources[k]);
        let sources: Vec<&str> = sources.map(|source| source.name.as_str()).collect();
        let mut warnings = step_warnings(&world.setup, &sources, &info);
        warnings.extend(volume_warning(&self.state, self.params.grid.dx));
        Ok(Stats { contacts, warnings, ..self.stats(&world.setup, now.dt, &info) })
    }

    fn rearrange(
        &mut self,
        world: &World<D>,
        change: Rearrangement<D>,
    ) -> Result<Vec<BubbleEvent>, StepFailure> {
        let Rearrangement { liquids, left, taken, bodies, smoke, .. } = change;
        let is_same =
            left.is_empty() && taken.is_empty() && liquids.is_empty() && bodies == self.state.bodies;
        if is_same && smoke.iter().copied().eq((0..self.state.smoke.len()).map(Some)) {
            return Ok(Vec::new());
        }
        let of_kind = |second: bool| -> Vec<InitialLiquid<D>> {
            let liquids = liquids.iter().filter(|liquid| liquid.is_second == second);
            liquids.map(|l| InitialLiquid { shape: l.shape.clone(), velocity: l.velocity }).collect()
        };
        let change = Change { liquid: of_kind(false), second: of_kind(true), left, taken, bodies, smoke };
        let surroundings = surroundings_of(world, Step::new(self.state.time, 0.0));
        self.workspace = Workspace::default();
        let events = self.state.change(&self.params, &surroundings, &change);
        Ok(events.iter().map(|event| event_line(event, self.state.time)).collect())
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

    fn show<'a>(&'a self, setup: &Setup<D>, mut frame: Frame<'a, D>) -> Frame<'a, D> {
        let state = &self.state;
        frame = frame
            .with(names::LEVEL_SET, Channel::Distance(Cow::Borrowed(&state.level_set)))
            .with(names::VELOCITY, Channel::Faces(Cow::Borrowed(&state.velocity)));
        if setup.output.particles {
            frame = frame.with(names::PARTICLES, points(&state.particles));
        }
        if setup.output.particles && setup.liquids.iter().any(|liquid| liquid.is_second) {
            frame = frame.with(names::SECOND_PARTICLES, points(&state.second));
        }
        for (number, markers) in state.smoke.iter().enumerate() {
            frame = frame.with(names::smoke(number), Channel::Points(Points::at(&markers.position[..])));
        }
        if let Some(tracked) = &state.tracked {
            let bubbles: Vec<_> = state.bubbles().map(|bubble| frame_bubble(bubble, state.time)).collect();
            frame = frame
                .with(names::BUBBLE, Channel::Labels(Cow::Owned(bubble_of_cells(tracked, state))))
                .with(names::BUBBLES, Channel::Bubbles(bubbles.into()));
        }
        frame
    }

    fn save(&self) -> Saved<D> {
        Saved::Liquid(Box::new(self.state.clone()))
    }

    fn volume_at_start(&self, world: &World<D>) -> Option<[f64; 2]> {
        if self.params.air == AirModel::None {
            return None;
        }
        let setup = &world.setup;
        let shapes: Vec<Shape<D>> = bodies_of(&setup.liquids).0.into_iter().map(|body| body.shape).collect();
        let posed = |shape: &Shape<D>, pose| shape.clone().transformed(pose).expect("a finite pose");
        let solids = world.solids(Step::new(0.0, 0.0)).into_iter().map(|solid| posed(&solid.shape, solid.to));
        let bodies =
            setup.bodies.iter().zip(&world.bodies).map(|(body, rigid)| posed(&body.shape, rigid.pose));
        let solids: Vec<Shape<D>> = solids.chain(bodies).collect();
        Some([self.state.volume_at_start, exact_volume(&self.params.grid, &shapes, &solids)])
    }

    fn size(&self) -> Size {
        Size {
            particles: self.state.particle_count(),
            markers: self.state.smoke.iter().map(|smoke| smoke.position.len()).sum(),
            cells: self.state.level_set.blocks().slots(),
        }
    }
}

impl<const D: usize> Liquid<D> {
    fn stats(&self, setup: &Setup<D>, dt: f64, info: &StepInfo) -> Stats {
        let state = &self.state;
        let stages: BTreeMap<String, f64> = info.stages.iter().map(|&(n, s)| (n.to_string(), s)).collect();
        let solid = info.solid_cells;
        let cells: usize = self.params.grid.cells.iter().product();
        Stats {
            frame: 0,
            substep: 0,
            time: state.time,
            dt,
            cells: CellCounts {
                liquid: info.liquid_cells,
                air: cells.saturating_sub(info.liquid_cells + solid),
                solid,
            },
            particles: state.particle_count(),
            liquid_volume: state.volume,
            liquid_volume_target: state.volume_target,
            liquid_volume_uncorrected: state.volume - state.corrected,
            kinetic_energy: info.kinetic_energy,
            potential_energy: info.potential_energy,
            max_speed: state.max_speed,
            max_divergence: info.max_divergence,
            bubbles: state.bubbles().map(|bubble| bubble_stats(&frame_bubble(bubble, state.time))).collect(),
            bodies: setup.bodies.iter().zip(&state.bodies).map(|(b, s)| body_stats(b, s)).collect(),
            probes: setup.probes.iter().map(|p| (p.name.clone(), self.measure(&p.kind))).collect(),
            solve: SolveStats {
                unknowns: info.unknowns,
                bubbles: info.constrained_bubbles,
                regions: info.tiles,
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
            modes: None,
            warnings: Vec::new(),
            events: info.bubble_events.iter().map(|event| event_line(event, state.time)).collect(),
        }
    }
}

fn points<const D: usize>(particles: &Particles<D>) -> Channel<'_, D> {
    Channel::Points(Points::moving(&particles.position[..], &particles.velocity[..]))
}

/// By cell, the bubble that its air belongs to.
fn bubble_of_cells<const D: usize>(tracked: &Tracked<D>, state: &State<D>) -> Field<u32, D> {
    let id = |region: usize| match &tracked.regions[region] {
        region if region.is_bubble() => region.id,
        _ => OPEN_AIR,
    };
    let of_cell = |cell: [usize; D]| tracked.region_at(cell.map(|c| c as i64)).map_or(NO_AIR, id);
    Field::from_fn(state.level_set.blocks().clone(), NO_AIR, of_cell)
}

fn frame_bubble<const D: usize>(bubble: &AirRegion<D>, time: f64) -> FrameBubble<D> {
    let AirRegion { id, volume, rest_volume, pressure, centroid, velocity, area, .. } = *bubble;
    FrameBubble { id, volume, rest_volume, pressure, centroid, velocity, area, age: time - bubble.born }
}

/// A line for the log; whoever knows the frame fills it in.
fn event_line(event: &meniscus_liquid::BubbleEvent, time: f64) -> BubbleEvent {
    let kind = match event.kind {
        EventKind::Birth => "birth",
        EventKind::Merge => "merge",
        EventKind::Split => "split",
        EventKind::Collapse => "collapse",
    };
    let meniscus_liquid::BubbleEvent { from, to, volumes, .. } = event.clone();
    BubbleEvent { kind, time, frame: 0, substep: 0, from, to, volumes }
}
