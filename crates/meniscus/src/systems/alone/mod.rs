//! A flow of modes without bodies: between resting solids in the plane, or in a box in space.

mod islands;
mod space;

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::particles::markers_along;
use meniscus_core::stroke::Stroke;
use meniscus_io::{Channel, Frame, Points, names};
use meniscus_liquid::{EnergyBook, VolumeBook};
use meniscus_modal::flow::{Advection, Integrator};
use meniscus_modal::{Alone, Carriage, FlowState, StepInfo, Tracers, Velocities};
use meniscus_rigid::RigidState;
use meniscus_scene::{FluidSetup, ModesDomain, ProbeKind, Setup};

use super::modes::{integrator, of};
use super::terms::fills;
use super::within::Fluid;
use super::{Rearrangement, Saved, Size, System};
use crate::controls::Controls;
use crate::error::StepFailure;
use crate::stats::{BubbleEvent, CellCounts, ContactStats, ModesStats, ProbeValue, SolveStats, Stats};
use crate::world::{Step, World};
use islands::Islands;
use space::Space;

/// What a flow without bodies is made of.
trait Medium<const D: usize>: Send + Sync + Sized + 'static {
    /// How its modes carry each other.
    type Dynamics: Advection + Send;

    /// Finds it.
    fn find(world: &World<D>) -> Result<Self, StepFailure>;

    /// What advances its flows.
    fn alone(&self) -> Alone<Self::Dynamics>;

    /// The volume of the fluid, in m³ (2D: m²), and the part of it that the sum of w² / λ, times that, is the integral of the square of the velocity with.
    fn volume(&self) -> (f64, f64);

    /// The flow at the start.
    fn start(&self, fluid: &FluidSetup<D>) -> Result<Vec<f64>, StepFailure>;

    /// The integral of half the square of the vorticity.
    fn enstrophy(&self, flow: &[f64]) -> f64;

    /// The circulations about islands, by a solid of each.
    fn circulations(&self, _flow: &[f64]) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    fn velocity(&self, flow: &[f64], x: [f64; D]) -> [f64; D];

    /// The velocities that carry what shows the flow.
    fn velocities(&self, flow: &[f64]) -> Velocities<D>;

    /// The velocities through the faces of the cells of the grid, by axis and the cell above a face.
    fn faces(&self, flow: &[f64], cells: [usize; D], dx: f64) -> Faces<D>;

    /// Whether a point is in the fluid.
    fn is_fluid(&self, x: [f64; D]) -> bool;

    /// Moves a point out of what is no fluid.
    fn keep_out(&self, x: &mut [f32; D]);
}

/// Velocities through faces: for each axis a list by x, and these by y, with a face more than cells along the axis.
struct Faces<const D: usize> {
    cells: [usize; D],
    of: [Vec<f64>; D],
}

impl<const D: usize> Faces<D> {
    /// Nothing beyond the box.
    fn at(&self, axis: usize, cell: [usize; D]) -> f64 {
        let count = |a: usize| self.cells[a] + usize::from(a == axis);
        if (0..D).any(|a| cell[a] >= count(a)) {
            return 0.0;
        }
        self.of[axis][(0..D).fold(0, |place, a| place * count(a) + cell[a])]
    }

    /// The velocity at a point of the box, in cells: each component changes evenly along its own axis in a cell, and not along others.
    fn velocity(&self, x: [f64; D]) -> [f64; D] {
        let cell: [usize; D] = std::array::from_fn(|a| (x[a].max(0.0) as usize).min(self.cells[a] - 1));
        std::array::from_fn(|axis| {
            let mut upper = cell;
            upper[axis] += 1;
            let part = x[axis] - cell[axis] as f64;
            (1.0 - part) * self.at(axis, cell) + part * self.at(axis, upper)
        })
    }

    fn largest(&self) -> f64 {
        self.of.iter().flatten().fold(0.0, |most, v| most.max(v.abs()))
    }
}

/// A flow without bodies, and what its solver works in.
struct Flow<const D: usize, M: Medium<D>> {
    medium: M,
    alone: Alone<M::Dynamics>,
    state: FlowState<D>,
    grid: Grid<D>,
    density: f64,
    /// The kinematic one, in m²/s.
    viscosity: f64,
    integrator: Integrator,
}

/// Whether a scene of modes is one of these.
pub fn is_alone<const D: usize>(setup: &Setup<D>) -> bool {
    D == 3 || of(setup).domain == ModesDomain::Solids
}

/// A scene at its beginning.
pub fn begin<const D: usize>(world: &World<D>) -> Result<Box<dyn System<D>>, StepFailure> {
    let any: &dyn Any = world;
    match (any.downcast_ref::<World<2>>(), any.downcast_ref::<World<3>>()) {
        (Some(world), _) => Ok(in_dimension::<2, D>(Box::new(Flow::<2, Islands>::begin(world)?))),
        (_, Some(world)) => Ok(in_dimension::<3, D>(Box::new(Flow::<3, Space>::begin(world)?))),
        _ => unreachable!("scenes have two or three dimensions"),
    }
}

/// A scene where it was saved.
pub fn resume<const D: usize>(
    world: &World<D>,
    state: FlowState<D>,
) -> Result<Box<dyn System<D>>, StepFailure> {
    let (any, state): (&dyn Any, Box<dyn Any>) = (world, Box::new(state));
    if let Some(world) = any.downcast_ref::<World<2>>() {
        let state = *state.downcast().expect("of the same dimension");
        return Ok(in_dimension::<2, D>(Box::new(Flow::<2, Islands>::resume(world, state)?)));
    }
    let world = any.downcast_ref::<World<3>>().expect("scenes have two or three dimensions");
    let state = *state.downcast().expect("of the same dimension");
    Ok(in_dimension::<3, D>(Box::new(Flow::<3, Space>::resume(world, state)?)))
}

/// What is of one dimension as what is of the same dimension by another name.
fn in_dimension<const N: usize, const D: usize>(system: Box<dyn System<N>>) -> Box<dyn System<D>> {
    let any: Box<dyn Any> = Box::new(system);
    *any.downcast().expect("of the same dimension")
}

impl<const D: usize, M: Medium<D>> Flow<D, M> {
    fn begin(world: &World<D>) -> Result<Self, StepFailure> {
        let setup = &world.setup;
        let medium = M::find(world)?;
        let alone = medium.alone();
        let flow = match &setup.fluid {
            Some(fluid) => medium.start(fluid)?,
            None => vec![0.0; alone.dynamics().squares().len()],
        };
        let tracers = vec![Tracers::default(); setup.smoke.len()];
        let mut system = Self::with(setup, medium, alone, FlowState { time: 0.0, flow, tracers });
        system.emit_smoke(world, Step::new(0.0, 0.0));
        Ok(system)
    }

    fn resume(world: &World<D>, state: FlowState<D>) -> Result<Self, StepFailure> {
        let medium = M::find(world)?;
        let alone = medium.alone();
        Ok(Self::with(&world.setup, medium, alone, state))
    }

    fn with(setup: &Setup<D>, medium: M, alone: Alone<M::Dynamics>, state: FlowState<D>) -> Self {
        let (density, viscosity) = (setup.density, setup.viscosity / setup.density);
        let grid = setup.grid;
        Self { medium, alone, state, grid, density, viscosity, integrator: integrator(setup) }
    }

    /// Fills the shapes of smoke that are to be full at the end of a step.
    fn emit_smoke(&mut self, world: &World<D>, now: Step) {
        let setup = &world.setup;
        let (dx, along) = (setup.grid.dx, markers_along::<D>() as f64);
        let salt = (now.end * setup.time.fps * 1e3) as u64;
        for (smoke, tracers) in setup.smoke.iter().zip(&mut self.state.tracers) {
            if !fills(smoke, [now.from, now.end]) {
                continue;
            }
            let bounds = smoke.shape.bounds();
            let part = |x: [f64; D]| -> [usize; D] {
                std::array::from_fn(|axis| {
                    (x[axis] / dx * along).clamp(0.0, setup.grid.cells[axis] as f64 * along - 1.0) as usize
                })
            };
            tracers.fill(dx, [part(bounds.lower), part(bounds.upper)], salt, |x| {
                smoke.shape.signed_distance(x) < 0.0 && self.medium.is_fluid(x)
            });
        }
    }

    fn stats(&self, world: &World<D>, now: Step, info: &StepInfo) -> Stats {
        let setup = &world.setup;
        let (volume, part) = self.medium.volume();
        let joule = 0.5 * self.density * part * volume;
        let energy = joule * self.alone.dynamics().energy(&self.state.flow);
        let [energy_put_back, enstrophy_put_back] = info.advanced.put_back;
        let faces = self.medium.faces(&self.state.flow, setup.grid.cells, setup.grid.dx);
        Stats {
            frame: 0,
            substep: 0,
            time: self.state.time,
            dt: now.dt,
            cells: CellCounts { liquid: setup.grid.cells.iter().product(), air: 0, solid: 0 },
            particles: 0,
            liquid_volume: volume,
            liquid_volume_target: volume,
            liquid_volume_uncorrected: volume,
            kinetic_energy: energy,
            potential_energy: 0.0,
            max_speed: faces.largest(),
            max_divergence: 0.0,
            bubbles: Vec::new(),
            bodies: Vec::new(),
            contacts: ContactStats::default(),
            probes: setup.probes.iter().map(|p| (p.name.clone(), self.measure(&p.kind))).collect(),
            solve: SolveStats {
                unknowns: 0,
                bubbles: 0,
                regions: 0,
                iterations: 0,
                residual: 0.0,
                seconds: 0.0,
            },
            stages: info.stages.iter().map(|&(stage, seconds)| (stage.to_owned(), seconds)).collect(),
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
                energy,
                enstrophy: self.medium.enstrophy(&self.state.flow),
                energy_put_back: joule * energy_put_back,
                enstrophy_put_back: 0.5 * part * volume * enstrophy_put_back,
                energy_shed: 0.0,
                substeps: info.advanced.substeps,
                forces: BTreeMap::new(),
                circulations: self.medium.circulations(&self.state.flow),
                wake_vortices: 0,
            }),
            warnings: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl<const D: usize, M: Medium<D>> System<D> for Flow<D, M> {
    fn time(&self) -> f64 {
        self.state.time
    }

    /// The fluid bears itself, whatever gravity is.
    fn heed(&mut self, _: &Controls<D>) {}

    fn longest_step(&self) -> f64 {
        f64::INFINITY
    }

    fn is_void(&self, _: &World<D>) -> bool {
        false
    }

    fn bodies(&self) -> &[RigidState<D>] {
        &[]
    }

    fn step(&mut self, world: &World<D>, now: Step) -> Result<Stats, StepFailure> {
        let started = Instant::now();
        let Self { medium, alone, state, .. } = self;
        let carriage = Carriage {
            velocities: &|flow| medium.velocities(flow),
            keep_out: &|x: &mut [f32; D]| medium.keep_out(x),
        };
        let info = alone.step(state, self.integrator, self.viscosity, &carriage, now.dt)?;
        self.state.time = now.end;
        self.emit_smoke(world, now);
        let seconds = started.elapsed().as_secs_f64();
        let mut stats = self.stats(world, now, &info);
        stats.solve.seconds = seconds;
        Ok(stats)
    }

    fn rearrange(&mut self, _: &World<D>, change: Rearrangement<D>) -> Result<Vec<BubbleEvent>, StepFailure> {
        if !(change.left.is_empty() && change.taken.is_empty()) {
            return Err("solids that the modes lie between do not come and go while the flow runs".into());
        }
        if self.state.flow.len() != self.alone.dynamics().squares().len() {
            return Err("the number of modes of a flow without bodies does not change while it runs".into());
        }
        let old = std::mem::take(&mut self.state.tracers);
        let of_smoke =
            |number: &Option<usize>| number.map_or_else(Tracers::default, |number| old[number].clone());
        self.state.tracers = change.smoke.iter().map(of_smoke).collect();
        Ok(Vec::new())
    }

    fn measure(&self, kind: &ProbeKind<D>) -> ProbeValue {
        let flow = &self.state.flow;
        if let ProbeKind::Velocity { at } = *kind {
            return ProbeValue::Vector(self.medium.velocity(flow, at).to_vec());
        }
        let faces = self.medium.faces(flow, self.grid.cells, self.grid.dx);
        let velocities = |points: &[[f64; D]]| {
            points.iter().map(|x| faces.velocity(x.map(|x| x / self.grid.dx))).collect()
        };
        let is_fluid = |x| self.medium.is_fluid(x);
        let (grid, density) = (&self.grid, self.density);
        Fluid { grid, density, velocities: &velocities, is_fluid: &is_fluid }.measure(kind)
    }

    fn show<'a>(&'a self, setup: &Setup<D>, mut frame: Frame<'a, D>) -> Frame<'a, D> {
        let grid = &setup.grid;
        let blocks = Arc::new(Blocks::all(grid.cells));
        let faces = self.medium.faces(&self.state.flow, grid.cells, grid.dx);
        let velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| faces.at(axis, cell) as f32);
        let everywhere = Field::from_fn(blocks, -3.0, |_| -3.0);
        for (number, tracers) in self.state.tracers.iter().enumerate() {
            let in_cells = |x: &[f32; D]| x.map(|c| (f64::from(c) / grid.dx) as f32);
            let points: Vec<[f32; D]> = tracers.position.iter().map(in_cells).collect();
            frame = frame.with(names::smoke(number), Channel::Points(Points::at(points)));
        }
        let flow = BTreeMap::from([("flow".to_owned(), self.state.flow.clone())]);
        frame
            .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(everywhere)))
            .with(names::VELOCITY, Channel::Faces(Cow::Owned(velocity)))
            .with(names::MODES, Channel::Numbers(Cow::Owned(flow)))
    }

    fn save(&self) -> Saved<D> {
        Saved::Flow(Box::new(self.state.clone()))
    }

    fn volume_at_start(&self, _: &World<D>) -> Option<[f64; 2]> {
        None
    }

    fn size(&self) -> Size {
        let markers = self.state.tracers.iter().map(|tracers| tracers.position.len()).sum();
        Size { particles: 0, markers, cells: 0 }
    }
}

/// The sum of the velocities of whirls and strokes at a point of the plane.
fn drawn(fluid: &FluidSetup<2>, x: [f64; 2]) -> [f64; 2] {
    let whirls = fluid.whirls.iter().map(|whirls| whirls.velocity(x));
    let strokes = fluid.strokes.iter().map(|stroke: &Stroke| stroke.velocity(x));
    whirls.chain(strokes).fold([0.0; 2], |sum, [u, v]| [sum[0] + u, sum[1] + v])
}
