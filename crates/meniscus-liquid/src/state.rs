//! The state of a simulation: all that a checkpoint must hold.

use std::sync::Arc;

use meniscus_core::compiled_here;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Field};
use meniscus_core::interpolate::interpolate;
use meniscus_core::level_set::redistance;
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles, SortWorkspace, blocks_near, seed};
use meniscus_core::shape::{Bounds, Shape};
use serde::{Deserialize, Serialize};

use crate::boundary::{Boundary, BoundaryCache};
use crate::measure::liquid_by_block;
use crate::params::{AirModel, Params, Transfer};
use crate::particles::{Markers, half_of, missing_markers};
use crate::surface::{agree_in_walls, initial_surface, inner};
use crate::surroundings::{Solid, Surroundings};
use crate::tracking::{AirRegion, Found, Tracked};
use crate::volume::accounts::Accounts;
use meniscus_rigid::RigidState;

/// A liquid at one moment. All fields have the same blocks; the particles are sorted by them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State<const D: usize> {
    /// The time, in s.
    pub time: f64,
    /// Substeps taken so far.
    pub substep: u64,
    /// The particles of the liquid.
    pub particles: Particles<D>,
    /// The particles of the fluid that fills what the liquid leaves; none if nothing does.
    pub second: Particles<D>,
    /// The level set, in cells: negative in liquid, extended into solids.
    pub level_set: Field<f32, D>,
    /// The velocity, in m/s, extrapolated beyond the liquid.
    pub velocity: FaceField<f32, D>,
    /// The pressure, in Pa; 0 outside the liquid.
    pub pressure: Field<f64, D>,
    /// The greatest speed of a face of the liquid along an axis, in m/s.
    pub max_speed: f64,
    /// What sources push out with this velocity, in m³/s (2D: m²/s).
    pub inflow: f64,
    /// What corrections ask the liquid to grow by with this velocity, in m³/s (2D: m²/s).
    pub growth: f64,
    /// The kinetic energy of the fluids, and of the bodies, in J (2D: J/m).
    pub energy: [f64; 2],
    /// The volume of the liquid, in m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have.
    pub volume_target: f64,
    /// What corrections have changed of it so far.
    pub corrected: f64,
    /// The volume at the start.
    pub volume_at_start: f64,
    /// By how much the volume was changed since the latest substep, by [`change`](Self::change).
    pub(crate) placed: f64,
    /// By block, what is there and did not flow there.
    pub(crate) accounts: Accounts,
    /// The rigid bodies that the liquid moves.
    pub bodies: Vec<RigidState<D>>,
    /// The markers of each smoke.
    pub smoke: Vec<Markers<D>>,
    /// Bodies of liquid and regions of air, where air keeps its volume.
    pub tracked: Option<Tracked<D>>,
}

/// One of two fluids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Where the level set is negative.
    Liquid,
    /// What fills the rest.
    Second,
}

impl Phase {
    /// The one where this one is not.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Liquid => Self::Second,
            Self::Second => Self::Liquid,
        }
    }

    /// A level set that is negative in this fluid, from that of the liquid.
    pub(crate) fn level(self, of_liquid: f32) -> f32 {
        match self {
            Self::Liquid => of_liquid,
            Self::Second => -of_liquid,
        }
    }
}

/// A body of liquid to begin with.
#[derive(Clone, Debug)]
pub struct InitialLiquid<const D: usize> {
    /// Where it is, in metres.
    pub shape: Shape<D>,
    /// Its velocity, in m/s.
    pub velocity: [f64; D],
}

type Begin<const D: usize> =
    fn(&Params<D>, &[InitialLiquid<D>], &[InitialLiquid<D>], &Surroundings<D>) -> State<D>;

impl<const D: usize> State<D> {
    /// Adds a velocity to what the liquid has, that of each place.
    pub fn stir(&mut self, params: &Params<D>, velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync)) {
        let particles = [&mut self.particles, &mut self.second];
        for particles in particles {
            parallel::update_by(&mut particles.velocity, &particles.position, |v, x| {
                let added = velocity(params.to_metres(*x));
                *v = std::array::from_fn(|a| v[a] + added[a] as f32);
            });
        }
        let before = self.velocity.clone();
        self.velocity = FaceField::from_fn(before.blocks().clone(), 0.0, |axis, cell| {
            let cell = cell.map(|c| c as i64);
            let face = params.grid.face_centre(axis, cell);
            before.axes[axis].get(cell) + velocity(face)[axis] as f32
        });
        let speeds = self.velocity.axes.iter().flat_map(|axis| axis.values()).map(|v| f64::from(v.abs()));
        self.max_speed = speeds.fold(self.max_speed, f64::max);
    }
}

impl<const D: usize> State<D> {
    /// Bodies of liquid in their surroundings. Where bodies overlap, the first one's velocity holds. A second fluid is at rest.
    pub fn new(params: &Params<D>, bodies: &[InitialLiquid<D>], surroundings: &Surroundings<D>) -> Self {
        Self::with_second(params, bodies, &[], surroundings)
    }

    /// Bodies of liquid in their surroundings, as [`new`](Self::new) has them, in a second fluid with the velocities of the first, or nearest, of other bodies.
    pub fn with_second(
        params: &Params<D>,
        bodies: &[InitialLiquid<D>],
        of_second: &[InitialLiquid<D>],
        surroundings: &Surroundings<D>,
    ) -> Self {
        compiled_here!(State::<D>::begin as Begin<D>)(params, bodies, of_second, surroundings)
    }

    fn begin(
        params: &Params<D>,
        bodies: &[InitialLiquid<D>],
        of_second: &[InitialLiquid<D>],
        surroundings: &Surroundings<D>,
    ) -> Self {
        let rigid: Vec<RigidState<D>> = surroundings.bodies.iter().map(RigidState::new).collect();
        let surroundings = &surroundings.with_bodies(&rigid);
        let shapes: Vec<Shape<D>> = bodies.iter().map(|b| b.shape.clone()).collect();
        let (near, phi) = match params.air {
            AirModel::None => {
                let all = Arc::new(Blocks::all(params.grid.cells));
                let full = without_surface(params, &all);
                (all, full)
            }
            air => {
                let near = match air.fills_domain() {
                    true => Arc::new(Blocks::all(params.grid.cells)),
                    false => Arc::new(blocks_of_shapes(params, &shapes)),
                };
                let phi = initial_surface(params, &shapes, &surroundings.solids, &near);
                (near, phi)
            }
        };
        let open = |x: [f32; D]| surroundings.solids.iter().all(|s| s.distance(params.to_metres(x)) > 0.0);
        // Between cells on two sides of a thin wall the level set is of neither.
        let is_of = |phase: Phase, x: [f32; D]| {
            let point = params.to_metres(x);
            let in_shape = || shapes.iter().any(|shape| shape.signed_distance(point) <= 0.0);
            params.air == AirModel::None || in_shape() == (phase == Phase::Liquid)
        };
        let seeded = |phase: Phase| {
            let level = |x| phase.level(interpolate(&phi, x)) + inner::<D>();
            let position = seed(&near, 0, |x| if open(x) { level(x) } else { 1.0 });
            if surroundings.solids.is_empty() {
                return position;
            }
            parallel::gather(position.len(), |k| Some(position[k]).filter(|&x| is_of(phase, x)))
        };
        let mut position = seeded(Phase::Liquid);
        if D == 3 && params.air == AirModel::None {
            // Without a surface to resolve, four in a cell are enough: every other half-cell.
            position.retain(|&x| half_of(x).count_ones().is_multiple_of(2));
        }
        let with_velocity = |position: Vec<[f32; D]>, bodies: &[InitialLiquid<D>]| {
            let mut particles = Particles::at(position);
            for (x, v) in particles.position.iter().zip(&mut particles.velocity) {
                *v = body_velocity(bodies, params.to_metres(*x));
            }
            if params.transfer == Transfer::Apic {
                particles.affine = Some(vec![[[0.0; D]; D]; particles.len()]);
            }
            particles
        };
        let particles = with_velocity(position, bodies);
        let second = match params.second() {
            Some(_) => with_velocity(seeded(Phase::Second), of_second),
            None => Particles::default(),
        };

        let blocks = Arc::new(active_blocks(params, surroundings, &particles.position));
        let mut level_set =
            Field::from_fn(blocks.clone(), params.band(), |cell| phi.get(cell.map(|c| c as i64)));
        let velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| {
            let centre = params.grid.face_centre(axis, cell.map(|c| c as i64));
            let is_second = || interpolate(&phi, params.grid.to_cells(centre).map(|c| c as f32)) > 0.0;
            let bodies = if params.second().is_some() && is_second() { of_second } else { bodies };
            body_velocity(bodies, centre)[axis]
        });
        let mut cache = BoundaryCache::default();
        let boundary = Boundary::new(params, surroundings, &blocks, &mut cache);
        if params.air != AirModel::None && agree_in_walls(&mut level_set, &boundary) {
            redistance(&mut level_set, params.band());
        }
        let tracked = params.air.keeps_volumes().then(|| {
            let found = Found::new(params, surroundings, &level_set, &boundary, &mut cache);
            Tracked::new(params, found)
        });
        let by_block = liquid_by_block(&level_set, &boundary);
        let volume = by_block.iter().sum::<f64>() * params.cell_volume();
        let speeds = bodies.iter().chain(of_second).flat_map(|b| b.velocity).map(f64::abs);
        let mut state = Self {
            time: 0.0,
            substep: 0,
            particles,
            second,
            level_set,
            velocity,
            pressure: Field::new(blocks.clone(), 0.0),
            max_speed: speeds.fold(0.0, f64::max),
            inflow: 0.0,
            growth: 0.0,
            energy: [0.0; 2],
            volume,
            volume_target: volume,
            corrected: 0.0,
            volume_at_start: volume,
            placed: 0.0,
            accounts: Accounts::new(by_block),
            bodies: rigid,
            smoke: vec![Markers::default(); surroundings.smoke.len()],
            tracked,
        };
        state.emit_smoke(params, surroundings, |_| true);
        state.sort_all();
        state
    }

    /// To be called when the level set has been changed from outside: what it holds then is what it should.
    pub fn surface_changed(&mut self) {
        self.accounts = Accounts::default();
    }

    /// The bubbles: regions of air that keep their volume, and that liquid touches.
    pub fn bubbles(&self) -> impl Iterator<Item = &AirRegion<D>> {
        self.tracked.iter().flat_map(|tracked| &tracked.regions).filter(|region| region.is_bubble())
    }

    /// The particles of all fluids.
    pub fn particle_count(&self) -> usize {
        self.particles.len() + self.second.len()
    }

    /// The particles of a fluid.
    pub(crate) fn particles_of(&self, phase: Phase) -> &Particles<D> {
        match phase {
            Phase::Liquid => &self.particles,
            Phase::Second => &self.second,
        }
    }

    /// The particles of a fluid.
    pub(crate) fn particles_of_mut(&mut self, phase: Phase) -> &mut Particles<D> {
        match phase {
            Phase::Liquid => &mut self.particles,
            Phase::Second => &mut self.second,
        }
    }

    /// Fills the shapes of those smokes that are to be full, by their numbers.
    pub(crate) fn emit_smoke(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        which: impl Fn(usize) -> bool,
    ) {
        let Surroundings { solids, smoke, .. } = surroundings;
        let all = smoke.iter().zip(&mut self.smoke).enumerate();
        for (_, (smoke, markers)) in all.filter(|(number, (smoke, _))| smoke.fills && which(*number)) {
            let new =
                missing_markers(params, smoke, solids, &self.level_set, &markers.position, self.substep);
            markers.position.extend(new);
        }
    }

    /// Sorts all particles and markers by blocks.
    pub(crate) fn sort_all(&mut self) {
        let (blocks, mut memory) = (self.level_set.blocks().clone(), SortWorkspace::default());
        self.sort_smoke(&blocks, &mut memory);
        self.sort(Phase::Liquid, &blocks, &mut memory);
        self.sort(Phase::Second, &blocks, &mut memory);
    }

    /// Sorts the markers of each smoke by blocks.
    pub(crate) fn sort_smoke(
        &mut self,
        blocks: &Arc<Blocks<D>>,
        workspace: &mut SortWorkspace<D>,
    ) -> Vec<BlockRanges<D>> {
        let markers = self.smoke.iter_mut();
        markers.map(|markers| workspace.sort_points(blocks, &mut markers.position)).collect()
    }

    /// Sorts the particles of a fluid by blocks, and drops those that lie in none of them.
    pub(crate) fn sort(
        &mut self,
        phase: Phase,
        blocks: &Arc<Blocks<D>>,
        workspace: &mut SortWorkspace<D>,
    ) -> BlockRanges<D> {
        let particles = self.particles_of_mut(phase);
        let ranges = particles.sort_by_block(blocks, workspace);
        particles.truncate(ranges.sorted());
        ranges
    }
}

/// The level set of a fluid that fills the domain.
pub(crate) fn without_surface<const D: usize>(params: &Params<D>, blocks: &Arc<Blocks<D>>) -> Field<f32, D> {
    let mut phi = Field::new(blocks.clone(), params.band());
    phi.values_mut().fill(-params.band());
    phi
}

/// The velocity of the first body around a point, or of the nearest.
pub(crate) fn body_velocity<const D: usize>(bodies: &[InitialLiquid<D>], point: [f64; D]) -> [f32; D] {
    let distance = |b: &InitialLiquid<D>| b.shape.signed_distance(point).max(0.0);
    let nearest = bodies.iter().map(|b| (distance(b), b)).reduce(|a, b| if b.0 < a.0 { b } else { a });
    nearest.map_or([0.0; D], |(_, body)| body.velocity.map(|v| v as f32))
}

/// The blocks that fields need: around particles and sources and, where air keeps its volume, around the surfaces
/// of solids that move.
pub(crate) fn active_blocks<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    position: &[[f32; D]],
) -> Blocks<D> {
    if params.air.fills_domain() {
        return Blocks::all(params.grid.cells);
    }
    let near = blocks_near(params.grid.cells, position, params.reach() as f32);
    // Moving solids push air that keeps its volume, and bodies push the films that they lie on.
    let pushes = |solid: &&Solid<D>| solid.free.is_some() || params.air == AirModel::Bubbles && solid.moves();
    let pistons: Vec<&Solid<D>> = surroundings.solids.iter().filter(pushes).collect();
    if surroundings.sources.is_empty() && pistons.is_empty() {
        return near;
    }
    let sources: Vec<Shape<D>> = surroundings.sources.iter().map(|s| s.shape.clone()).collect();
    let around = blocks_of_shapes(params, &sources);
    let at_surface = |coord: [usize; D]| {
        let (centre, half_diagonal) = params.block_ball(coord);
        pistons.iter().any(|solid| solid.distance(centre).abs() < half_diagonal + params.grid.dx)
    };
    Blocks::new(params.grid.cells, |coord| {
        near.find(coord).is_some() || around.find(coord).is_some() || at_surface(coord)
    })
}

/// The blocks within reach of the bounds of shapes.
pub(crate) fn blocks_of_shapes<const D: usize>(params: &Params<D>, shapes: &[Shape<D>]) -> Blocks<D> {
    let margin = f64::from(params.band()) * params.grid.dx;
    let bounds: Vec<Bounds<D>> = shapes.iter().map(Shape::bounds).collect();
    Blocks::new(params.grid.cells, |coord| {
        let lower = params.grid.point(coord.map(|c| (c * BLOCK_EDGE) as f64));
        let edge = BLOCK_EDGE as f64 * params.grid.dx;
        bounds
            .iter()
            .any(|b| (0..D).all(|a| lower[a] + edge > b.lower[a] - margin && lower[a] < b.upper[a] + margin))
    })
}
