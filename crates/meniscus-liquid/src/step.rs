//! One substep, as a list of stages.

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::advect::{advect_particles, advect_points};
use meniscus_core::grid::{Blocks, Grid};
use meniscus_core::particles::{BlockRanges, SortWorkspace};
use meniscus_core::transfer::TransferWorkspace;
use meniscus_core::vector::{norm, sub};
use meniscus_core::waves::{capillary_time_step, gravity_time_step};
use meniscus_linalg::SolveInfo;

use crate::books::{EnergyBook, Ledger, VolumeBook};
use crate::boundary::{Boundary, BoundaryCache};
use crate::collide::{CollideInfo, Obstacles, keep_inside, meet_solids};
use crate::compiled::{InBoth, picked};
use crate::excess::{Accounts, flow_between_blocks};
use crate::inflow::{Flows, cells_of_sinks, empty_sinks, exchange, fill_sources, leave};
use crate::measure::liquid_by_block;
use crate::params::{AirModel, Params, Solid, Surroundings};
use crate::particles::Newcomers;
use crate::projection::{self, ContactInfo, ProjectionError, Separation};
use crate::regions::Regions;
use crate::reseed::{ReseedInfo, reseed};
use crate::smoke::carry;
use crate::spray::Spray;
use crate::squeeze::{Squeeze, find_compressed_air, find_squeezes};
use crate::state::{Phase, State, active_blocks, without_surface};
use crate::substep::{Given, Substep};
use crate::surface::{Sorted, advect_surface, follow_particles, thicken_films};
use crate::tracking::{BubbleEvent, Found, Moment, Tracked, trace};
use crate::velocity::{Solved, solve_velocity};
use crate::viscosity::ViscosityError;
use crate::volume::{undo_sudden_change, undo_sudden_changes};

/// Memory that one substep leaves to the next; it holds nothing that a state does not.
#[derive(Clone, Debug, Default)]
pub struct Workspace<const D: usize> {
    ranges: Option<PhaseRanges<D>>,
    /// Those of the markers of each smoke.
    of_smoke: Vec<BlockRanges<D>>,
    sort: SortWorkspace<D>,
    /// Where the particles of each fluid were at the start of a substep.
    start: [Vec<[f32; D]>; 2],
    pub(crate) transfer: TransferWorkspace,
    boundary: BoundaryCache<D>,
    /// Of the solids where they were at the start of a substep.
    boundary_before: BoundaryCache<D>,
    pub(crate) walls: Option<Boundary<D>>,
    pub(crate) projection: projection::Workspace,
}

impl<const D: usize> Workspace<D> {
    /// To be called when particles or markers of the state have been changed from outside.
    pub fn particles_changed(&mut self) {
        self.ranges = None;
        self.of_smoke.clear();
    }

    /// The walls at the end of the latest substep.
    pub(crate) fn walls(&self) -> Option<&Boundary<D>> {
        self.walls.as_ref()
    }
}

/// Where the particles of each fluid begin in each block.
#[derive(Clone, Debug)]
pub struct PhaseRanges<const D: usize> {
    pub liquid: BlockRanges<D>,
    /// Of the second fluid, if there is one.
    pub second: Option<BlockRanges<D>>,
}

impl<const D: usize> PhaseRanges<D> {
    /// Sorts the particles of all fluids by blocks.
    fn sort(
        state: &mut State<D>,
        params: &Params<D>,
        blocks: &Arc<Blocks<D>>,
        workspace: &mut SortWorkspace<D>,
    ) -> Self {
        let liquid = state.sort(Phase::Liquid, blocks, workspace);
        let second = params.second().map(|_| state.sort(Phase::Second, blocks, workspace));
        Self { liquid, second }
    }

    /// Each fluid that particles carry, and its ranges.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, &BlockRanges<D>)> {
        [(Phase::Liquid, &self.liquid)].into_iter().chain(self.second.iter().map(|r| (Phase::Second, r)))
    }
}

/// How a substep went.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Liquid cells.
    pub liquid_cells: usize,
    /// Unknowns of the pressure solve: cells of all fluids, and bubbles.
    pub unknowns: usize,
    /// Affine regions that took the place of cells.
    pub regions: usize,
    /// Cells of the domain wholly inside solids.
    pub solid_cells: usize,
    /// The kinetic energy of the liquid and of the bodies, in J (2D: J/m).
    pub kinetic_energy: f64,
    /// The potential energy of the fluids and of the bodies, in J (2D: J/m), at the moment of their velocities: half a substep after that of where they are.
    pub potential_energy: f64,
    /// The largest error of a cell's divergence, in 1/s.
    pub max_divergence: f64,
    /// The pressure solve; of the two that viscosity needs the last, but the most iterations.
    pub solve: SolveInfo,
    /// Where the liquid leaves walls.
    pub separation: Separation,
    /// How it went with the contacts of bodies.
    pub contact: ContactInfo,
    /// The solve of the viscosity, if there is any.
    pub viscosity: Option<SolveInfo>,
    /// Particles added and thinned out.
    pub reseed: ReseedInfo,
    /// Particles that left and were lost.
    pub collide: CollideInfo,
    /// Particles that sinks took.
    pub drained: usize,
    /// Liquid and air that solids squeeze or stretch.
    pub squeezes: Vec<Squeeze>,
    /// What happened to bubbles.
    pub bubble_events: Vec<BubbleEvent>,
    /// Bubbles whose volume was a constraint of the projection.
    pub constrained_bubbles: usize,
    /// What changed the volume of the liquid.
    pub volume_book: VolumeBook,
    /// What changed the kinetic energy.
    pub energy_book: EnergyBook,
    /// The seconds that each stage took, in order.
    pub stages: Vec<(&'static str, f64)>,
}

/// Why a substep failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The viscosity could not be solved for.
    #[error("the viscosity cannot be solved for")]
    Viscosity(#[from] ViscosityError),
    /// The pressure could not be solved for.
    #[error("the pressure cannot be solved for")]
    Projection(#[from] ProjectionError),
}

/// The largest time step that keeps the liquid's way within [`Params::cfl`] cells: of its speed, and of that
/// which gravity adds while it crosses a cell; and that keeps waves of the surface stable.
pub fn max_time_step<const D: usize>(state: &State<D>, params: &Params<D>) -> f64 {
    let gravity = norm(params.gravity);
    let dx = params.grid.dx;
    let speed = state.max_speed + (gravity * dx).sqrt();
    let of_way = if speed > 0.0 { params.cfl * dx / speed } else { f64::INFINITY };
    if params.air == AirModel::None {
        return of_way;
    }
    let second = params.second().map_or(0.0, |second| second.density);
    let part = (params.density - second).abs() / params.density.max(second);
    of_way
        .min(capillary_time_step::<D>(dx, params.density + second, params.surface_tension))
        .min(gravity_time_step::<D>(dx, gravity, part))
}

/// How far the surface of a solid moves in its substep, in metres: at most this. Of an unbounded one, what is in the domain.
pub fn solid_travel<const D: usize>(grid: &Grid<D>, solid: &Solid<D>) -> f64 {
    let bounds = solid.shape.bounds();
    let corner = |k: usize, [lower, upper]: [[f64; D]; 2]| -> [f64; D] {
        std::array::from_fn(|a| if k >> a & 1 == 1 { upper[a] } else { lower[a] })
    };
    let travel = |k: usize| match bounds.is_finite() {
        true => {
            let corner = corner(k, [bounds.lower, bounds.upper]);
            norm(sub(solid.to.apply(corner), solid.from.apply(corner)))
        }
        false => norm(solid.displacement(corner(k, [grid.origin, grid.point(grid.cells.map(|n| n as f64))]))),
    };
    (0..1 << D).map(travel).fold(0.0, f64::max)
}

/// Advances a liquid by `dt` seconds. Rigid bodies have been moved before, by [`RigidState::fly`](crate::RigidState::fly) or by whoever knows what they
/// run into; the pressure then gives them their new velocity.
///
/// # Errors
/// If the viscosity or the pressure cannot be solved for. The state is then of no use.
pub fn step<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    dt: f64,
    workspace: &mut Workspace<D>,
) -> Result<StepInfo, StepError> {
    picked::<Step<D>>(STEP)(state, params, surroundings, dt, workspace)
}

type Step<const D: usize> =
    fn(&mut State<D>, &Params<D>, &Surroundings<D>, f64, &mut Workspace<D>) -> Result<StepInfo, StepError>;

static STEP: InBoth = [&(advance::<2> as Step<2>), &(advance::<3> as Step<3>)];

fn advance<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    dt: f64,
    workspace: &mut Workspace<D>,
) -> Result<StepInfo, StepError> {
    let mut clock = Clock::new();
    let given = Given { params, surroundings: &surroundings.with_bodies(&state.bodies), dt };
    let (ranges, mut fate) = known_ranges(given, state, workspace);
    clock.stage("sort");
    let at_start = walls_at_start(given, state, workspace);
    let mut ledger = open_book(given, state, at_start.as_ref());
    let newcomers = refill(given, &ranges, state, &mut fate);
    clock.stage("reseed");
    let flows = let_through(given, &ranges, state, at_start, &mut ledger);
    fate.drained = flows.drained;
    clock.stage("sources");
    move_particles(given, &ranges, state, newcomers, flows.poured, workspace, &mut fate);
    clock.stage("advect");

    let blocks = &blocks_of_fields(given, state);
    let boundary = Boundary::new(params, given.surroundings, blocks, &mut workspace.boundary);
    let substep = given.with_walls(&boundary);
    let obstacles = Obstacles::new(substep, state.max_speed);
    stop_particles(&obstacles, state, workspace, &mut fate);
    clock.stage("solids");
    let ranges = sort_into(blocks, params, state, workspace, &mut fate);
    clock.stage("sort");

    state.accounts.move_to([state.level_set.blocks(), blocks]);
    let outflow = move_surface(substep, &ranges, state, &mut ledger, &mut clock);
    book_flows(substep, state, &mut ledger, [flows.into_sinks, flows.out]);
    clock.stage("level_set");
    let (bubble_events, mut squeezes) = keep_volumes(substep, state, workspace, &mut ledger, &mut clock);
    settle(substep, state, &ledger, &outflow);
    clock.stage("measure");
    move_smoke(&obstacles, state, workspace, &mut clock);

    let Solved { projection, viscosity, energy_book } =
        solve_velocity(substep, &ranges, state, workspace, &mut clock)?;
    squeezes.extend(find_squeezes(substep, &projection.solve));
    state.stop_pouring(substep, &squeezes);
    // Velocities are those of the end of the substep that moved everything by the last ones: gravity does half of its work until positions are as far.
    let potential_energy = state.potential_energy(substep) - 0.5 * energy_book.gravity;
    let solid_cells = workspace.boundary.solid_cells(params, &given.surroundings.solids, &boundary);
    clock.stage("measure");
    workspace.ranges = Some(ranges);
    workspace.walls = Some(boundary);
    state.time += dt;
    state.substep += 1;
    Ok(StepInfo {
        liquid_cells: projection.liquid_cells,
        unknowns: projection.unknowns,
        regions: projection.regions,
        solid_cells,
        kinetic_energy: state.energy.iter().sum(),
        potential_energy,
        max_divergence: projection.max_divergence,
        solve: projection.solve,
        separation: projection.separation,
        contact: projection.contact,
        viscosity,
        reseed: fate.reseed,
        collide: fate.collide,
        drained: fate.drained,
        squeezes,
        bubble_events,
        constrained_bubbles: projection.bubble_pressure.len(),
        volume_book: ledger.page(),
        energy_book,
        stages: clock.stages,
    })
}

/// What becomes of particles in a substep.
#[derive(Default)]
struct Fate {
    /// Those that lay in no block to begin with.
    dropped: usize,
    reseed: ReseedInfo,
    drained: usize,
    collide: CollideInfo,
}

/// Where the particles are that the last substep sorted; they are sorted if it did not, or someone has changed them.
fn known_ranges<const D: usize>(
    given: Given<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
) -> (PhaseRanges<D>, Fate) {
    let before = state.particle_count();
    let blocks = state.level_set.blocks().clone();
    let sort = || PhaseRanges::sort(state, given.params, &blocks, &mut workspace.sort);
    let ranges = workspace.ranges.take().unwrap_or_else(sort);
    // Particles put outside the blocks from outside are dropped; the sort of a state of our own drops none.
    let dropped = before - state.particle_count();
    (ranges, Fate { dropped, collide: CollideInfo { left: 0, lost: dropped }, ..Fate::default() })
}

/// The walls where solids are at the start of a substep, if someone wants to know.
fn walls_at_start<const D: usize>(
    Given { params, surroundings, .. }: Given<D>,
    state: &State<D>,
    workspace: &mut Workspace<D>,
) -> Option<Boundary<D>> {
    if !surroundings.exchanges() && !state.accounts.are_closed() {
        return None;
    }
    let solids = surroundings.solids.iter().map(|s| Solid { to: s.from, next: None, ..s.clone() }).collect();
    let at_start = Surroundings { solids, ..surroundings.clone() };
    Some(Boundary::new(params, &at_start, state.level_set.blocks(), &mut workspace.boundary_before))
}

/// Opens a page of the book of volumes, and the accounts of the blocks if they are closed.
fn open_book<const D: usize>(
    given: Given<D>,
    state: &mut State<D>,
    at_start: Option<&Boundary<D>>,
) -> Ledger {
    if let Some(boundary) = at_start.filter(|_| state.accounts.are_closed()) {
        state.accounts = Accounts::new(liquid_by_block(&state.level_set, boundary));
    }
    Ledger::new(state.accounts.volume.clone(), given.params.cell_volume())
}

/// Keeps the number of particles in a cell within bounds; gives those that are new, by fluid.
fn refill<const D: usize>(
    given: Given<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    fate: &mut Fate,
) -> Vec<Newcomers<D>> {
    let of_fluid = |(phase, ranges)| {
        let (new, info) = reseed(given, phase, ranges, state);
        fate.reseed = fate.reseed.plus(info);
        new
    };
    ranges.iter().map(of_fluid).collect()
}

/// Lets liquid in and out: through sources and sinks, and through open sides.
fn let_through<const D: usize>(
    given: Given<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    at_start: Option<Boundary<D>>,
    ledger: &mut Ledger,
) -> Flows<D> {
    let mut flows = match at_start.filter(|_| given.surroundings.exchanges()) {
        Some(boundary) => exchange(given.with_walls(&boundary), &ranges.liquid, state, ledger),
        None => Flows::default(),
    };
    flows.out = leave(given, state);
    flows
}

/// Moves the particles of all fluids with the flow, newcomers too, and holds them behind the sides of the domain. What was `poured` is liquid.
fn move_particles<const D: usize>(
    given: Given<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    mut newcomers: Vec<Newcomers<D>>,
    poured: Newcomers<D>,
    workspace: &mut Workspace<D>,
    fate: &mut Fate,
) {
    newcomers[0].extend(poured);
    for ((phase, ranges), newcomers) in ranges.iter().zip(newcomers) {
        let start = &mut workspace.start[phase as usize];
        start.clear();
        if !given.surroundings.solids.is_empty() {
            start.extend_from_slice(&state.particles_of(phase).position);
            start.extend_from_slice(&newcomers.position);
        }
        fate.collide = fate.collide.plus(advect(given, phase, ranges, state, newcomers));
    }
}

/// Moves the particles of a fluid with the flow, newcomers too, and holds them behind the sides of the domain.
fn advect<const D: usize>(
    given: Given<D>,
    phase: Phase,
    ranges: &BlockRanges<D>,
    state: &mut State<D>,
    mut newcomers: Newcomers<D>,
) -> CollideInfo {
    let dt_in_cells = given.dt_in_cells();
    let spray = (phase == Phase::Liquid).then(|| Spray::find(state, ranges, given.params));
    let State { particles, second, velocity, .. } = state;
    let particles = if phase == Phase::Liquid { particles } else { second };
    advect_particles(&mut particles.position, ranges, velocity, dt_in_cells);
    if let Some(spray) = spray {
        spray.fly(particles, dt_in_cells);
    }
    advect_points(&mut newcomers.position, velocity, dt_in_cells);
    newcomers.append_to(particles);
    keep_inside(given.params, particles)
}

/// The blocks that the fields of the moved liquid need: the same as before, if they are.
fn blocks_of_fields<const D: usize>(
    Given { params, surroundings, .. }: Given<D>,
    state: &State<D>,
) -> Arc<Blocks<D>> {
    let blocks = active_blocks(params, surroundings, &state.particles.position);
    let known = state.level_set.blocks();
    if blocks == **known { known.clone() } else { Arc::new(blocks) }
}

/// Stops particles at the solids that they met on their way.
fn stop_particles<const D: usize>(
    obstacles: &Obstacles<D>,
    state: &mut State<D>,
    workspace: &Workspace<D>,
    fate: &mut Fate,
) {
    if obstacles.substep().surroundings.solids.is_empty() {
        return;
    }
    for phase in [Phase::Liquid, Phase::Second] {
        let start = &workspace.start[phase as usize];
        fate.collide = fate.collide.plus(meet_solids(obstacles, start, state.particles_of_mut(phase)));
    }
}

/// Sorts all particles into blocks.
fn sort_into<const D: usize>(
    blocks: &Arc<Blocks<D>>,
    params: &Params<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    fate: &mut Fate,
) -> PhaseRanges<D> {
    let Fate { dropped, reseed, drained, collide } = fate;
    let known = reseed.thinned + *drained + collide.left + (collide.lost - *dropped);
    let before = state.particle_count();
    let ranges = PhaseRanges::sort(state, params, blocks, &mut workspace.sort);
    // Whatever else the sort dropped was at no finite position.
    collide.lost += (before - state.particle_count()).saturating_sub(known);
    ranges
}

/// Moves the level set with the flow, and holds it to what the particles allow. Tells what flowed out of each block to others.
fn move_surface<const D: usize>(
    substep: Substep<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> Vec<f64> {
    let Substep { params, surroundings, boundary, .. } = substep;
    let blocks = boundary.blocks();
    if params.air == AirModel::None {
        state.level_set = without_surface(params, blocks);
        ledger.book(|book| &mut book.advected, liquid_by_block(&state.level_set, boundary));
        return vec![0.0; blocks.len()];
    }
    let speed = state.max_speed.max(surroundings.source_speed());
    let mut phi = advect_surface(substep, &state.level_set, &state.velocity, speed);
    let sinks = &surroundings.sinks;
    empty_sinks(&mut phi, params, sinks);
    let cells_of_sinks = cells_of_sinks(params, blocks, sinks);
    let levels = [&state.level_set, &phi];
    let outflow = flow_between_blocks(substep, levels, &state.velocity, &cells_of_sinks);
    ledger.book(|book| &mut book.advected, liquid_by_block(&phi, boundary));
    clock.stage("surface");
    let of_liquid = Sorted { position: &state.particles.position, ranges: &ranges.liquid };
    let of_second = ranges.second.as_ref().map(|ranges| Sorted { position: &state.second.position, ranges });
    follow_particles(substep, of_liquid, of_second, &state.accounts.excess, &mut phi, ledger);
    if !sinks.is_empty() {
        // Particles that flowed in are taken with the next substep.
        empty_sinks(&mut phi, params, sinks);
        ledger.book(|book| &mut book.particles, liquid_by_block(&phi, boundary));
    }
    if params.air == AirModel::Bubbles && thicken_films(&mut phi) {
        ledger.book(|book| &mut book.films, liquid_by_block(&phi, boundary));
    }
    state.level_set = phi;
    if !surroundings.sources.is_empty() {
        // What a source sends out is replaced at once.
        fill_sources(&mut state.level_set, params, &surroundings.sources);
        ledger.book(|book| &mut book.advected, liquid_by_block(&state.level_set, boundary));
    }
    outflow
}

/// Books what flowed into sinks and out through open sides, and what sources and corrections brought; tells what volume the liquid should have.
fn book_flows<const D: usize>(
    Substep { boundary, dt, .. }: Substep<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
    [into_sinks, out]: [f64; 2],
) {
    ledger.flowed(|book| &mut book.left, -out);
    ledger.flowed(|book| &mut book.drained, -into_sinks);
    ledger.flowed(|book| &mut book.poured, state.inflow * dt);
    ledger.flowed(|book| &mut book.divergence, state.growth * dt);
    state.volume_target = (state.volume_target + ledger.page().wanted()).max(0.0);
    state.inflow = boundary.inflow();
    if state.substep == 0 && state.tracked.is_some() {
        // What particles first make of the surface of bubbles is no error to correct: their pressures would tell. What a wall that moves leaves behind is one.
        state.volume_target = ledger.volume() - ledger.page().advected;
    }
}

/// Undoes what volumes have changed by that is more than corrections can mend, of all that keep theirs. Tells what happened to bubbles, and what air is compressed.
fn keep_volumes<const D: usize>(
    substep: Substep<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> (Vec<BubbleEvent>, Vec<Squeeze>) {
    match state.tracked.take() {
        Some(old) => follow_regions(substep, old, state, workspace, ledger, clock),
        None => {
            keep_volume(substep, state, ledger);
            Default::default()
        }
    }
}

/// Undoes what the volume of all liquid has changed by that is more than corrections can mend.
fn keep_volume<const D: usize>(
    Substep { params, surroundings, boundary, .. }: Substep<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
) {
    let State { level_set, volume_target, .. } = state;
    let in_cells = |volume: f64| volume / params.cell_volume();
    if params.air == AirModel::None {
        // What fills the domain is as much as solids leave of it.
        *volume_target = ledger.volume();
    } else if undo_sudden_change(level_set, boundary, [ledger.volume(), *volume_target].map(in_cells)) {
        fill_sources(level_set, params, &surroundings.sources);
        ledger.book(|book| &mut book.shifted, liquid_by_block(level_set, boundary));
    }
}

/// Finds the bodies of liquid and the regions of air, measures them, and tells who of the `old` ones is who; undoes what the volume of each of them has changed by
/// that is more than corrections can mend. Tells what happened to bubbles, and what air is compressed.
fn follow_regions<const D: usize>(
    substep: Substep<D>,
    old: Tracked<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> (Vec<BubbleEvent>, Vec<Squeeze>) {
    let Substep { params, surroundings, boundary, dt } = substep;
    let cache = &mut workspace.boundary;
    let regions = Regions::find(params, surroundings, &state.level_set, boundary, cache);
    clock.stage("regions");
    let volumes = regions.measure(&state.level_set, boundary, cache.open_cells(params, &surroundings.solids));
    let mut found = Found { regions, volumes };
    clock.stage("measure");
    let labels = [&old.labels, &found.regions.labels];
    let ancestry = trace(labels, &state.level_set, &state.velocity, substep.dt_in_cells());
    let specks = old.specks(&found, &ancestry);
    if !specks.is_empty() {
        found.regions.fill(&specks, &mut found.volumes, &mut state.level_set);
        ledger.book(|book| &mut book.specks, liquid_by_block(&state.level_set, boundary));
    }
    let moment = Moment { time: state.time + dt, dt, liquid: state.volume_target };
    let (mut tracked, events) = old.succeeded_by(params, &found, &ancestry, moment);
    if state.substep == 0 {
        tracked.rest_as_measured(state.volume_target / ledger.volume().max(f64::MIN_POSITIVE));
    }
    tracked.set_inflow(boundary);
    clock.stage("tracking");
    if undo_sudden_changes(&tracked, &mut state.level_set, params.cell_volume()) {
        let open = cache.open_cells(params, &surroundings.solids);
        found.volumes = found.regions.measure(&state.level_set, boundary, open);
        tracked.set_volumes(params, &found.volumes);
        ledger.book(|book| &mut book.shifted, liquid_by_block(&state.level_set, boundary));
    }
    state.tracked = Some(tracked);
    let squeezes = match params.air {
        AirModel::Bubbles => find_compressed_air(substep, &found.regions),
        // Air that is solved for is compressed as liquid is.
        _ => Vec::new(),
    };
    (events, squeezes)
}

/// Takes over the volume of the liquid, and settles the accounts of the blocks, from which so much flowed to others.
fn settle<const D: usize>(
    Substep { params, boundary, dt, .. }: Substep<D>,
    state: &mut State<D>,
    ledger: &Ledger,
    outflow: &[f64],
) {
    state.volume = ledger.volume();
    state.corrected += ledger.page().corrected();
    if params.air != AirModel::None {
        state.accounts.settle(ledger.by_block(), outflow, dt);
        state.accounts.set_poured(boundary, params.cell_volume());
    }
}

/// Moves the markers of all smoke with the flow, and emits new ones.
fn move_smoke<const D: usize>(
    obstacles: &Obstacles<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    clock: &mut Clock,
) {
    let substep = obstacles.substep();
    if substep.surroundings.smoke.is_empty() {
        return;
    }
    let Workspace { of_smoke, sort, .. } = workspace;
    if of_smoke.is_empty() {
        *of_smoke = state.sort_smoke(&state.velocity.blocks().clone(), sort);
    }
    for (markers, ranges) in state.smoke.iter_mut().zip(of_smoke.iter()) {
        carry(obstacles, &state.velocity, ranges, markers);
    }
    state.emit_smoke(substep.params, substep.surroundings);
    *of_smoke = state.sort_smoke(substep.boundary.blocks(), sort);
    clock.stage("smoke");
}

/// Times stages by name.
pub(crate) struct Clock {
    last: Instant,
    stages: Vec<(&'static str, f64)>,
}

impl Clock {
    fn new() -> Self {
        Self { last: Instant::now(), stages: Vec::new() }
    }

    /// Ends a stage; the time of stages with the same name is added up.
    pub(crate) fn stage(&mut self, name: &'static str) {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        match self.stages.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) => *total += seconds,
            None => self.stages.push((name, seconds)),
        }
    }
}
