//! A flow of modes, with bodies in it. It lives in the plane; `D` is 2.

mod basis;
mod learn;
mod live;
mod meeting;
mod pace;
pub(crate) mod portrait;
mod things;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::particles::markers_along;
use meniscus_io::{Channel, Frame, Points, names};
use meniscus_liquid::{EnergyBook, VolumeBook};
use meniscus_modal::flow::{Basis, Dynamics, Integrator, drawn};
use meniscus_modal::panels::{Body, Motion, Solution};
use meniscus_modal::{
    BodyState, Course, Feedback, Forces, Observer, Params, State, StepInfo, Tracers, Workspace, begin, step,
};
use meniscus_rigid::RigidState;
use meniscus_scene::{
    ModesFeedback, ModesForces, ModesIntegrator, ModesSetup, ProbeKind, STEPS_OF_SHEDDING, Setup, SolidSetup,
};
use serde::{Deserialize, Serialize};

use super::terms::fills;
use super::within::Fluid;
use super::{Rearrangement, Saved, Size, System};
use crate::bodies::body_stats;
use crate::controls::Controls;
use crate::error::StepFailure;
use crate::stats::{BubbleEvent, CellCounts, ContactStats, ModesStats, ProbeValue, SolveStats, Stats};
use crate::warning::Warning;
use crate::world::{Step, World};
use basis::{amplitudes_at_start, basis_of, coefficients_of};
pub(crate) use learn::learnt_flows;
pub use live::{ModeStrength, ModesView};
use meeting::Meeting;
use pace::longest_step;
use portrait::shown;
use things::{Things, plane, space};

/// A flow of modes, and what its solver works in.
pub(crate) struct Modes<const D: usize> {
    params: Params,
    grid: Grid<D>,
    things: Things,
    observer: Observer,
    saved: SavedModes<D>,
    workspace: Workspace,
    /// Steps between these are taken, in s.
    shortest_step: f64,
    of_shedding: f64,
    /// What bodies keep between them, in m.
    film: f64,
    /// What nobody has been told of yet.
    warnings: Vec<Warning>,
}

/// What a checkpoint keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedModes<const D: usize> {
    state: State,
    bodies: Vec<RigidState<D>>,
}

impl<const D: usize> Modes<D> {
    pub fn new(world: &World<D>) -> Result<Self, StepFailure> {
        let setup = &world.setup;
        let (basis, warnings) = basis_of(world);
        let mut vorticity = vec![0.0; basis.sines.len()];
        for wave in setup.fluid.iter().flat_map(|fluid| &fluid.whirls) {
            vorticity[basis.sines.place(wave.half_waves)] += wave.vorticity;
        }
        for stroke in setup.fluid.iter().flat_map(|fluid| &fluid.strokes) {
            let drawn = drawn(stroke, &basis.sines);
            vorticity.iter_mut().zip(&drawn).for_each(|(to, w)| *to += w);
        }
        let mut flow = coefficients_of(&vorticity, &basis);
        let of_modes = amplitudes_at_start(setup, &basis, |_| true);
        flow.iter_mut().zip(of_modes).for_each(|(to, part)| *to += part);
        let bodies: Vec<RigidState<D>> = world.bodies.iter().map(RigidState::new).collect();
        let state = State { flow, ..State::new(basis) };
        let mut system = Self::resume(world, SavedModes { state, bodies });
        system.warnings = warnings;
        system.saved.state.bodies = system.states(world, Step::new(0.0, 0.0));
        begin(&mut system.saved.state, &system.things.bodies, &mut system.workspace)?;
        system.saved.state.tracers = vec![Tracers::default(); setup.smoke.len()];
        system.emit_smoke(world, Step::new(0.0, 0.0));
        Ok(system)
    }

    /// Goes on in other modes: with the part of the flow that they hold, and what new ones have at the start.
    fn change_basis(&mut self, basis: Basis, setup: &Setup<D>) {
        let state = &mut self.saved.state;
        let vorticity = Dynamics::new(&state.basis).vorticity_of(&state.flow);
        let moved = state.basis.sines.moved(&vorticity, &basis.sines);
        state.flow = coefficients_of(&moved, &basis);
        let enrichment = &state.basis.enrichment;
        let was =
            |name: &str| enrichment.iter().any(|mode| mode.name == name || mode.name == format!("{name}-1"));
        let of_new = amplitudes_at_start(setup, &basis, |name| !was(name));
        state.flow.iter_mut().zip(of_new).for_each(|(to, part)| *to += part);
        self.observer = Observer::new(&basis);
        state.basis = basis;
    }

    /// Fills the shapes of smoke that are to be full at the end of a step, outside of bodies.
    fn emit_smoke(&mut self, world: &World<D>, now: Step) {
        let setup = &world.setup;
        let (dx, along) = (setup.grid.dx, markers_along::<2>() as f64);
        let salt = (now.end * setup.time.fps * 1e3) as u64;
        let State { tracers, bodies, .. } = &mut self.saved.state;
        for (smoke, tracers) in setup.smoke.iter().zip(tracers) {
            if !fills(smoke, [now.from, now.end]) {
                continue;
            }
            let bounds = smoke.shape.bounds();
            let part = |x: f64, axis: usize| {
                (x / dx * along).clamp(0.0, setup.grid.cells[axis] as f64 * along - 1.0) as usize
            };
            let ends = [bounds.lower, bounds.upper].map(|x| [0, 1].map(|axis| part(x[axis], axis)));
            tracers.fill(dx, ends, salt, |x| {
                smoke.shape.signed_distance(space(x)) < 0.0 && !self.things.is_in_some(bodies, x)
            });
        }
    }

    pub fn resume(world: &World<D>, saved: SavedModes<D>) -> Self {
        let (setup, modes) = (&world.setup, of(&world.setup));
        let params = Params {
            density: setup.density,
            viscosity: setup.viscosity / setup.density,
            gravity: plane(setup.gravity),
            integrator: integrator(setup),
            feedback: match modes.feedback {
                ModesFeedback::Shed => Feedback::Shed(modes.shed_time),
                ModesFeedback::Paper => Feedback::Paper,
                ModesFeedback::None => Feedback::None,
            },
            forces: match modes.forces {
                ModesForces::Potential => Forces::Potential,
                ModesForces::Paper => Forces::Paper,
            },
        };
        let shortest_step = 1.0 / (setup.time.fps * f64::from(setup.time.max_substeps));
        let of_shedding = match modes.feedback {
            // The scene warns where there are too few substeps for it.
            ModesFeedback::Shed => (modes.shed_time / STEPS_OF_SHEDDING).max(shortest_step),
            _ => f64::INFINITY,
        };
        let (things, observer) = (Things::new(setup), Observer::new(&saved.state.basis));
        Self {
            params,
            grid: setup.grid,
            things,
            observer,
            saved,
            workspace: Workspace::default(),
            shortest_step,
            of_shedding,
            film: 0.5 * modes.panel,
            warnings: Vec::new(),
        }
    }

    /// The bodies as they are, and the solids at the end of a step.
    fn states(&self, world: &World<D>, now: Step) -> Vec<BodyState> {
        let count = self.saved.bodies.len();
        let bodies = self.saved.bodies.iter().enumerate().map(|(k, state)| self.things.state(k, state));
        let solids = (0..world.setup.solids.len()).map(|k| {
            let pose_at = |time: f64| self.things.pose(count + k, &world.solid_pose(k, time));
            // Keyframes are smooth between two of them.
            let way = 1e-3 * now.dt.max(1e-3);
            let [before, after] = [pose_at((now.end - way).max(0.0)), pose_at(now.end + way)];
            let passed = now.end + way - (now.end - way).max(0.0);
            let turn = (after.angle - before.angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU);
            let [u, v] = [0, 1].map(|axis| (after.centre[axis] - before.centre[axis]) / passed);
            BodyState { pose: pose_at(now.end), motion: [u, v, (turn - std::f64::consts::PI) / passed] }
        });
        bodies.chain(solids).collect()
    }

    /// # Errors
    /// If a solid has moved out of the box.
    fn stay_in_the_box(&self, world: &World<D>, states: &[BodyState]) -> Result<(), StepFailure> {
        let size = self.saved.state.basis.sines.size;
        let count = world.setup.bodies.len();
        let solids = self.things.bodies.iter().zip(states).skip(count).zip(&world.setup.solids);
        for ((body, state), SolidSetup { name, .. }) in solids {
            let mut corners = body.profile.panels.iter().map(|panel| state.pose.place(panel.start));
            if corners.any(|x| (0..2).any(|axis| !(0.0..=size[axis]).contains(&x[axis]))) {
                let problem = "moves out of the box, which solids do not with method = \"modes\"";
                return Err(format!("the solid \"{name}\" {problem}").into());
            }
        }
        Ok(())
    }

    fn stats(&self, world: &World<D>, now: Step, info: &StepInfo, contacts: ContactStats) -> Stats {
        let setup = &world.setup;
        let energies = self.observer.energies(&self.saved.state, &self.params, &self.things.bodies);
        let probes = setup.probes.iter().map(|p| (p.name.clone(), self.measure(&p.kind))).collect();
        let state = &self.saved.state;
        let [energy, enstrophy] = info.advanced.put_back;
        let area = state.basis.sines.area();
        let forces = info.forces.get(setup.bodies.len()..).unwrap_or_default();
        let named = setup.bodies.iter().map(|body| &body.name).chain(setup.solids.iter().map(|s| &s.name));
        let circulations =
            self.things.bodies.iter().enumerate().map(|(k, body)| (body, state.wake.circulation(k)));
        let with_edges = |(name, (body, circulation)): (&String, (&Body, f64))| {
            (!body.edges.is_empty()).then(|| (name.clone(), circulation))
        };
        let of_solid = |(solid, force): (&SolidSetup<D>, &Motion)| (solid.name.clone(), force.to_vec());
        Stats {
            frame: 0,
            substep: 0,
            time: state.time,
            dt: now.dt,
            cells: CellCounts { liquid: setup.grid.cells.iter().product(), air: 0, solid: 0 },
            particles: 0,
            liquid_volume: area,
            liquid_volume_target: area,
            liquid_volume_uncorrected: area,
            kinetic_energy: energies.kinetic,
            potential_energy: energies.potential,
            max_speed: self.observer.max_speed(&self.saved.state),
            max_divergence: 0.0,
            bubbles: Vec::new(),
            bodies: setup.bodies.iter().zip(&self.saved.bodies).map(|(b, s)| body_stats(b, s)).collect(),
            contacts,
            probes,
            solve: SolveStats {
                unknowns: self.things.bodies.iter().map(Body::panels).sum(),
                bubbles: 0,
                regions: 0,
                iterations: info.iterations,
                residual: info.residual,
                seconds: 0.0,
            },
            stages: BTreeMap::new(),
            seconds: 0.0,
            added_particles: 0,
            thinned_particles: 0,
            removed_particles: 0,
            drained_particles: 0,
            poured_volume: 0.0,
            drained_volume: 0.0,
            volume_book: VolumeBook::default(),
            energy_book: EnergyBook::default(),
            modes: Some(ModesStats {
                energy: energies.of_modes,
                enstrophy: energies.enstrophy,
                energy_put_back: 0.125 * area * self.params.density * energy,
                enstrophy_put_back: 0.125 * area * enstrophy,
                energy_shed: info.shed,
                substeps: info.advanced.substeps,
                forces: setup.solids.iter().zip(forces).map(of_solid).collect(),
                circulations: named.zip(circulations).filter_map(with_edges).collect(),
                wake_vortices: state.wake.blobs.len(),
            }),
            warnings: Vec::new(),
            events: Vec::new(),
        }
    }
}

/// What a scene says of its modes.
pub(super) fn of<const D: usize>(setup: &Setup<D>) -> &ModesSetup {
    setup.modes.as_ref().expect("a scene of modes")
}

/// How its flow is advanced.
pub(super) fn integrator<const D: usize>(setup: &Setup<D>) -> Integrator {
    match of(setup).integrator {
        ModesIntegrator::Conserving => Integrator::Conserving,
        ModesIntegrator::Midpoint => Integrator::Midpoint,
        ModesIntegrator::Rk4 => Integrator::Rk4,
        ModesIntegrator::Paper => Integrator::Paper,
    }
}

impl<const D: usize> System<D> for Modes<D> {
    fn time(&self) -> f64 {
        self.saved.state.time
    }

    fn heed(&mut self, controls: &Controls<D>) {
        self.params.gravity = plane(controls.gravity);
    }

    fn longest_step(&self) -> f64 {
        let (state, bodies) = (&self.saved.state, &self.things.bodies);
        if bodies.is_empty() {
            return f64::INFINITY;
        }
        let of_bodies = longest_step(state.basis.sines.size, self.film, bodies, &state.bodies);
        of_bodies.min(self.of_shedding).max(self.shortest_step)
    }

    fn is_void(&self, _: &World<D>) -> bool {
        false
    }

    fn bodies(&self) -> &[RigidState<D>] {
        &self.saved.bodies
    }

    fn step(&mut self, world: &World<D>, now: Step) -> Result<Stats, StepFailure> {
        let started = Instant::now();
        let states = self.states(world, now);
        let free = world.bodies.iter().map(|body| {
            let [fx, fy, torque, ..] = body.push;
            Course::Free([fx, fy, torque])
        });
        let courses: Vec<Course> =
            free.chain(states[world.bodies.len()..].iter().copied().map(Course::Given)).collect();
        self.stay_in_the_box(world, &states)?;
        let Self { params, things, saved, workspace, .. } = self;
        let (bodies, contacts) = (&mut saved.bodies, ContactStats::default());
        let mut meeting = Meeting { world, things, bodies, now, contacts };
        let info = step(&mut saved.state, params, &things.bodies, &courses, &mut meeting, now.dt, workspace)?;
        let contacts = meeting.contacts;
        self.things.give_motions(&self.saved.state.bodies, &mut self.saved.bodies);
        self.saved.state.time = now.end;
        self.emit_smoke(world, now);
        let seconds = started.elapsed().as_secs_f64();
        let mut stats = self.stats(world, now, &info, contacts);
        stats.solve.seconds = seconds;
        stats.stages = info.stages.iter().map(|&(stage, seconds)| (stage.to_owned(), seconds)).collect();
        stats.warnings.append(&mut self.warnings);
        if !info.contacts.is_settled {
            let (touches, rounds) = (info.contacts.touches, 0);
            stats.warnings.push(Warning::UnsettledContacts { touches, rounds });
        }
        Ok(stats)
    }

    fn rearrange(
        &mut self,
        world: &World<D>,
        change: Rearrangement<D>,
    ) -> Result<Vec<BubbleEvent>, StepFailure> {
        let old = std::mem::take(&mut self.saved.state.tracers);
        let of_smoke =
            |number: &Option<usize>| number.map_or_else(Tracers::default, |number| old[number].clone());
        self.saved.state.tracers = change.smoke.iter().map(of_smoke).collect();
        let (basis, warnings) = basis_of(world);
        let is_same_basis = basis == self.saved.state.basis;
        if !is_same_basis {
            self.change_basis(basis, &world.setup);
            self.warnings = warnings;
        }
        let panels: usize = self.things.bodies.iter().map(Body::panels).sum();
        let are_same = change.bodies == self.saved.bodies
            && change.left.is_empty()
            && change.taken.is_empty()
            && panels == self.saved.state.sheets.strengths.len();
        if are_same && is_same_basis {
            return Ok(Vec::new());
        }
        self.saved.bodies = change.bodies;
        let now = Step::new(self.saved.state.time, 0.0);
        self.saved.state.bodies = self.states(world, now);
        if !are_same {
            let State { sheets, wake, .. } = &mut self.saved.state;
            *sheets = Solution::default();
            let circulation = |was: &Option<usize>| was.map_or(0.0, |was| wake.circulation(was));
            wake.circulations = change.things.iter().map(circulation).collect();
        }
        begin(&mut self.saved.state, &self.things.bodies, &mut self.workspace)?;
        Ok(Vec::new())
    }

    fn give_up(&mut self, things: &[usize]) {
        let Self { saved, observer, things: Things { bodies, .. }, .. } = self;
        let shed = observer.flow_of_sheets(&saved.state, bodies, |thing| things.contains(&thing));
        saved.state.flow.iter_mut().zip(shed).for_each(|(to, part)| *to += part);
    }

    fn overlap(&self) -> Option<[usize; 2]> {
        let State { basis, bodies, .. } = &self.saved.state;
        self.things.overlap(basis.sines.size, bodies)
    }

    fn measure(&self, kind: &ProbeKind<D>) -> ProbeValue {
        let (state, bodies) = (&self.saved.state, &self.things.bodies);
        match *kind {
            ProbeKind::Velocity { at } => {
                ProbeValue::Vector(self.observer.velocities(state, bodies, &[plane(at)])[0].to_vec())
            }
            ProbeKind::Pressure { at } => {
                ProbeValue::Scalar(Some(self.observer.pressure(state, &self.params, plane(at))))
            }
            _ => {
                let velocities = |points: &[[f64; D]]| {
                    let points: Vec<[f64; 2]> = points.iter().map(|&x| plane(x)).collect();
                    self.observer.velocities(state, bodies, &points).into_iter().map(space).collect()
                };
                let is_fluid = |x: [f64; D]| !self.things.is_in_some(&state.bodies, plane(x));
                let (grid, density) = (&self.grid, self.params.density);
                Fluid { grid, density, velocities: &velocities, is_fluid: &is_fluid }.measure(kind)
            }
        }
    }

    fn show<'a>(&'a self, setup: &Setup<D>, mut frame: Frame<'a, D>) -> Frame<'a, D> {
        let grid = &setup.grid;
        let cells = [grid.cells[0], grid.cells[1]];
        let streams = self.observer.streams(&self.saved.state, &self.things.bodies, cells);
        let blocks = Arc::new(Blocks::all(grid.cells));
        let at = |i: usize, j: usize| streams[i * (cells[1] + 1) + j];
        let velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| {
            let [i, j] = [cell[0], cell[1]];
            // Blocks reach beyond the domain.
            let difference = match axis {
                _ if i > cells[0] || j > cells[1] => 0.0,
                0 if j < cells[1] => at(i, j + 1) - at(i, j),
                1 if i < cells[0] => at(i, j) - at(i + 1, j),
                _ => 0.0,
            };
            (difference / grid.dx) as f32
        });
        let everywhere = Field::from_fn(blocks, -3.0, |_| -3.0);
        for (number, tracers) in self.saved.state.tracers.iter().enumerate() {
            let in_cells =
                |x: &[f32; 2]| -> [f32; D] { space(x.map(|c| f64::from(c) / grid.dx)).map(|c| c as f32) };
            let points: Vec<[f32; D]> = tracers.position.iter().map(in_cells).collect();
            frame = frame.with(names::smoke(number), Channel::Points(Points::at(points)));
        }
        let mut flow = BTreeMap::from([("flow".to_owned(), self.saved.state.flow.clone())]);
        flow.extend(shown(&self.saved.state.basis));
        frame
            .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(everywhere)))
            .with(names::VELOCITY, Channel::Faces(Cow::Owned(velocity)))
            .with(names::MODES, Channel::Numbers(Cow::Owned(flow)))
    }

    fn save(&self) -> Saved<D> {
        Saved::Modes(Box::new(self.saved.clone()))
    }

    fn volume_at_start(&self, _: &World<D>) -> Option<[f64; 2]> {
        None
    }

    fn size(&self) -> Size {
        let markers = self.saved.state.tracers.iter().map(|tracers| tracers.position.len()).sum();
        Size { particles: 0, markers, cells: 0 }
    }
}
