//! One substep, as a list of stages.

mod clock;
mod corrections;
mod inflow;
mod info;
mod particles;
mod potential;
pub mod problem;
mod ranges;
pub mod reseed;
mod smoke;
mod spray;
mod squeeze;
mod surface;
pub mod velocity;
mod volumes;
mod workspace;

use meniscus_core::compiled_here;
use meniscus_core::vector::norm;
use meniscus_core::waves::{capillary_time_step, gravity_time_step};

use crate::boundary::Boundary;
use crate::params::{AirModel, Params};
use crate::particles::collide::Obstacles;
use crate::state::State;
use crate::substep::Given;
use crate::surroundings::Surroundings;
use clock::Clock;
use inflow::{let_through, walls_at_start};
pub use info::{StepError, StepInfo};
use particles::{known_ranges, move_particles, refill, sort_into, stop_particles};
pub use reseed::ReseedInfo;
use smoke::move_smoke;
use squeeze::find_squeezes;
pub use squeeze::{Squeeze, Squeezed};
use surface::{blocks_of_fields, move_surface};
use velocity::{Solved, solve_velocity};
use volumes::{book_flows, keep_volumes, open_book, settle};
pub use workspace::Workspace;

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

/// Advances a liquid by `dt` seconds. Rigid bodies have been moved before, by [`RigidState::fly`](meniscus_rigid::RigidState::fly) or by whoever knows what they
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
    compiled_here!(advance::<D> as Step<D>)(state, params, surroundings, dt, workspace)
}

type Step<const D: usize> =
    fn(&mut State<D>, &Params<D>, &Surroundings<D>, f64, &mut Workspace<D>) -> Result<StepInfo, StepError>;

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
    let (poured, flows) = let_through(given, &ranges, state, at_start, &mut ledger);
    fate.drained = flows.drained;
    clock.stage("sources");
    move_particles(given, &ranges, state, newcomers, poured, workspace, &mut fate);
    clock.stage("advect");

    let blocks = &blocks_of_fields(given, state);
    let boundary = Boundary::new(params, given.surroundings, blocks, &mut workspace.boundary);
    let substep = given.with_walls(&boundary);
    let obstacles = Obstacles::new(substep, state.max_speed);
    stop_particles(&obstacles, state, workspace, &mut fate);
    clock.stage("solids");
    let ranges = sort_into(blocks, params, state, workspace, &mut fate);
    clock.stage("sort");

    state.accounts.move_to(state.level_set.blocks(), blocks);
    let outflow = move_surface(substep, &ranges, state, &mut ledger, &mut clock);
    book_flows(substep, flows, state, &mut ledger);
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
        tiles: projection.tiles,
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
