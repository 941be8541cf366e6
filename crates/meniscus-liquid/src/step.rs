//! One substep, as a list of stages.

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::advect::{advect_particles, advect_points};
use meniscus_core::extrapolate::extrapolate;
use meniscus_core::grid::{Blocks, FaceField, Field, Grid, Slot, block_len};
use meniscus_core::particles::{BlockRanges, SortWorkspace};
use meniscus_core::transfer::{Scheme, TransferWorkspace, grid_to_particles, particles_to_grid};
use meniscus_core::vector::{norm, sub};
use meniscus_linalg::SolveInfo;
use rayon::prelude::*;

use crate::bodies::{RigidState, mass_of};
use crate::boundary::{BodyView, Boundary, BoundaryCache};
use crate::collide::{CollideInfo, keep_inside, meet_solids};
use crate::curvature::surface_pressure;
use crate::inflow::{drain, fill_sources, outflow, pour};
use crate::measure::liquid_volume;
use crate::params::{AirModel, Params, Rigid, Solid, Surroundings, Transfer};
use crate::particles::Newcomers;
use crate::projection::{
    self, Liquid, ProjectionError, ProjectionInfo, RigidBody, Separation, SolidVelocity, project,
};
use crate::regions::Regions;
use crate::reseed::{ReseedInfo, reseed};
use crate::rigid::Twist;
use crate::separate::{Walls, leave_walls};
use crate::smoke::{add_buoyancy, carry};
use crate::spray::Spray;
use crate::squeeze::{Squeeze, find_compressed_air, find_squeezes};
use crate::state::{State, active_blocks, without_surface};
use crate::surface::{advect_surface, follow_particles, thicken_films};
use crate::tracking::{BubbleEvent, Found, trace};
use crate::viscosity::{Viscosity, ViscosityError, ViscosityParams, diffuse};
use crate::volume::{undo_sudden_change, undo_sudden_changes, volume_correction};

/// Memory that one substep leaves to the next; it holds nothing that a state does not.
#[derive(Clone, Debug, Default)]
pub struct Workspace<const D: usize> {
    ranges: Option<BlockRanges<D>>,
    sort: SortWorkspace<D>,
    transfer: TransferWorkspace,
    boundary: BoundaryCache<D>,
    /// Of the solids where they were at the start of a substep.
    boundary_before: BoundaryCache<D>,
    walls: Option<Boundary<D>>,
    projection: projection::Workspace,
}

impl<const D: usize> Workspace<D> {
    /// To be called when particles of the state have been changed from outside.
    pub fn particles_changed(&mut self) {
        self.ranges = None;
    }

    /// The walls at the end of the latest substep.
    pub(crate) fn walls(&self) -> Option<&Boundary<D>> {
        self.walls.as_ref()
    }
}

/// How a substep went.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Liquid cells.
    pub liquid_cells: usize,
    /// Cells of the domain wholly inside solids.
    pub solid_cells: usize,
    /// The kinetic energy of the liquid, in J (2D: J/m).
    pub kinetic_energy: f64,
    /// The largest error of a cell's divergence, in 1/s.
    pub max_divergence: f64,
    /// The pressure solve; of the two that viscosity needs the last, but the most iterations.
    pub solve: SolveInfo,
    /// Where the liquid leaves walls.
    pub separation: Separation,
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
    /// The volume poured in by sources, drained by sinks and gone through open sides, in m³ (2D: m²).
    pub poured: f64,
    /// See `poured`.
    pub removed: f64,
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
/// which gravity adds while it crosses a cell; and that keeps capillary waves stable.
pub fn max_time_step<const D: usize>(state: &State<D>, params: &Params<D>) -> f64 {
    let gravity = params.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let dx = params.grid.dx;
    let speed = state.max_speed + (gravity * dx).sqrt();
    let of_way = if speed > 0.0 { params.cfl * dx / speed } else { f64::INFINITY };
    of_way.min(capillary_time_step(params))
}

/// The largest time step that is stable with surface tension: 2 / omega for the shortest wave of the grid.
///
/// A wave of a free surface has `omega² = sigma k³ / rho`; the shortest, along the diagonal of a plane of cells,
/// `k² = (D - 1) (pi / dx)²`. The surface moves first, and its new shape then drives the velocity: for an oscillator
/// that is the symplectic Euler method, stable for `omega dt < 2`. The grid's own waves are slower than the
/// exact ones, which leaves a margin.
fn capillary_time_step<const D: usize>(params: &Params<D>) -> f64 {
    if params.surface_tension == 0.0 {
        return f64::INFINITY;
    }
    let shortest = ((D - 1) as f64).sqrt() * std::f64::consts::PI / params.grid.dx;
    2.0 * (params.density / (params.surface_tension * shortest.powi(3))).sqrt()
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

/// Advances a liquid by `dt` seconds. Rigid bodies have been moved before, by [`RigidState::fly`] or by whoever knows what they
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
    let mut clock = Clock::new();
    let surroundings = &surroundings.with_bodies(&state.bodies);
    let dt_in_cells = (dt / params.grid.dx) as f32;

    let given = state.particles.len();
    let ranges = workspace.ranges.take();
    let ranges = ranges.unwrap_or_else(|| state.sort(state.level_set.blocks().clone(), &mut workspace.sort));
    // Particles put outside the blocks from outside are dropped; the sort of a state of our own drops none.
    let dropped = given - state.particles.len();
    clock.stage("sort");

    let (mut newcomers, reseeded) = reseed(state, &ranges, params, &surroundings.solids);
    clock.stage("reseed");
    let mut flow = exchange(state, &ranges, params, surroundings, dt, &mut newcomers, workspace);
    clock.stage("sources");

    let spray = Spray::find(state, &ranges);
    let solids = !surroundings.solids.is_empty();
    let start = solids.then(|| [&state.particles.position[..], &newcomers.position[..]].concat());
    advect_particles(&mut state.particles.position, &ranges, &state.velocity, dt_in_cells);
    spray.fly(&mut state.particles, dt_in_cells);
    advect_points(&mut newcomers.position, &state.velocity, dt_in_cells);
    newcomers.append_to(&mut state.particles);
    let mut collide = keep_inside(params, &mut state.particles);
    collide.lost += dropped;
    clock.stage("advect");

    let blocks = Arc::new(active_blocks(params, surroundings, &state.particles.position));
    let blocks = if &blocks == state.level_set.blocks() { state.level_set.blocks().clone() } else { blocks };
    let boundary = Boundary::new(params, surroundings, &blocks, &mut workspace.boundary);
    if let Some(start) = start {
        let met = meet_solids(params, surroundings, &boundary, dt, &start, &mut state.particles);
        collide = collide.plus(met).plus(keep_inside(params, &mut state.particles));
    }
    clock.stage("solids");

    let known = reseeded.thinned + flow.drained + collide.left + collide.lost - dropped;
    let before = state.particles.len();
    let ranges = state.sort(blocks.clone(), &mut workspace.sort);
    // Whatever else the sort dropped was at no finite position.
    collide.lost += before - state.particles.len() - known;
    clock.stage("sort");

    move_surface(state, params, surroundings, &ranges, &boundary, dt, &mut clock);
    flow.poured += state.inflow * dt;
    state.volume_target += state.inflow * dt;
    state.inflow = boundary.inflow();
    clock.stage("level_set");
    let substep = Substep { dt, ranges: &ranges, boundary: &boundary };
    let (bubble_events, mut squeezes) = if state.tracked.is_some() {
        follow_regions(state, params, surroundings, substep, workspace, &mut clock)
    } else {
        keep_volume(state, params, surroundings, &boundary);
        (Vec::new(), Vec::new())
    };
    clock.stage("measure");
    if !surroundings.smoke.is_empty() {
        let State { smoke, velocity, .. } = state;
        for markers in smoke {
            carry(params, surroundings, &boundary, velocity, dt, &mut workspace.sort, markers);
        }
        state.emit_smoke(params, surroundings);
        clock.stage("smoke");
    }

    let (projected, viscosity) = solve_velocity(state, params, surroundings, substep, workspace, &mut clock)?;
    squeezes.extend(find_squeezes(state, params, surroundings, &boundary, dt, &projected.solve));
    let solid_cells = workspace.boundary.solid_cells(params, &surroundings.solids, &boundary);
    clock.stage("measure");
    workspace.ranges = Some(ranges);
    workspace.walls = Some(boundary);
    state.time += dt;
    state.substep += 1;
    Ok(StepInfo {
        liquid_cells: projected.unknowns - projected.bubble_pressure.len(),
        solid_cells,
        kinetic_energy: projected.kinetic_energy.after,
        max_divergence: projected.max_divergence,
        solve: projected.solve,
        separation: projected.separation,
        viscosity,
        reseed: reseeded,
        collide,
        drained: flow.drained,
        squeezes,
        bubble_events,
        constrained_bubbles: projected.bubble_pressure.len(),
        poured: flow.poured,
        removed: flow.removed,
        stages: clock.stages,
    })
}

/// Moves the level set with the flow, and holds it to what the particles allow.
fn move_surface<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    ranges: &BlockRanges<D>,
    boundary: &Boundary<D>,
    dt: f64,
    clock: &mut Clock,
) {
    let blocks = ranges.blocks();
    if params.air == AirModel::None {
        state.level_set = without_surface(params, blocks);
        return;
    }
    let speed = state.max_speed.max(source_speed(surroundings));
    let travel = (speed * dt / params.grid.dx) as f32 * (D as f32).sqrt();
    let dt_in_cells = (dt / params.grid.dx) as f32;
    let sides = params.separating_sides();
    let mut phi = advect_surface(&state.level_set, &state.velocity, dt_in_cells, travel, blocks, sides);
    clock.stage("surface");
    follow_particles(&mut phi, &state.particles.position, ranges, boundary);
    if state.tracked.is_some() {
        thicken_films(&mut phi);
    }
    state.level_set = phi;
    // What a source sends out is replaced at once.
    fill_sources(&mut state.level_set, params, &surroundings.sources);
}

/// Measures the liquid, and undoes a sudden change of its volume.
fn keep_volume<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
) {
    let cell_volume = params.grid.dx.powi(D as i32);
    state.volume = liquid_volume(&state.level_set, boundary) * cell_volume;
    if params.air == AirModel::None {
        // What fills the domain is as much as solids leave of it.
        state.volume_target = state.volume;
        return;
    }
    if undo_sudden_change(state, boundary, cell_volume) && !surroundings.sources.is_empty() {
        fill_sources(&mut state.level_set, params, &surroundings.sources);
        state.volume = liquid_volume(&state.level_set, boundary) * cell_volume;
    }
}

/// Finds the bodies of liquid and the regions of air, measures them, and tells who is who; the same for each of them as
/// [`keep_volume`] does for all liquid. Tells what happened to bubbles, and what air is compressed.
fn follow_regions<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    Substep { dt, boundary, .. }: Substep<D>,
    workspace: &mut Workspace<D>,
    clock: &mut Clock,
) -> (Vec<BubbleEvent>, Vec<Squeeze>) {
    let Some(old) = state.tracked.take() else { return Default::default() };
    let cell_volume = params.grid.dx.powi(D as i32);
    let regions = Regions::find(params, surroundings, &state.level_set, boundary, &mut workspace.boundary);
    clock.stage("regions");
    let open = workspace.boundary.open_cells(params, &surroundings.solids);
    let volumes = regions.measure(&state.level_set, boundary, open);
    let mut found = Found { regions, volumes };
    clock.stage("measure");
    let dt_in_cells = (dt / params.grid.dx) as f32;
    let ancestry = trace(&old.labels, &found.regions.labels, &state.level_set, &state.velocity, dt_in_cells);
    let specks = old.specks(&found, &ancestry);
    found.regions.fill(&specks, &mut found.volumes, &mut state.level_set);
    let times = [state.time + dt, dt];
    let (mut tracked, events) = old.succeeded_by(params, &found, &ancestry, times, state.volume_target);
    tracked.set_inflow(boundary);
    clock.stage("tracking");
    if undo_sudden_changes(&tracked, &mut state.level_set, cell_volume) {
        let open = workspace.boundary.open_cells(params, &surroundings.solids);
        found.volumes = found.regions.measure(&state.level_set, boundary, open);
        tracked.set_volumes(params, &found.volumes);
    }
    state.volume = found.volumes.liquid() * cell_volume;
    state.tracked = Some(tracked);
    (events, find_compressed_air(params, surroundings, boundary, &found.regions, dt))
}

/// What enters and leaves in a substep.
struct Flow {
    poured: f64,
    removed: f64,
    drained: usize,
}

/// Fills sources and empties sinks, and keeps account of the volume.
fn exchange<const D: usize>(
    state: &mut State<D>,
    ranges: &BlockRanges<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    dt: f64,
    newcomers: &mut Newcomers<D>,
    workspace: &mut Workspace<D>,
) -> Flow {
    let cell_volume = params.grid.dx.powi(D as i32);
    let mut flow = Flow { poured: 0.0, removed: 0.0, drained: 0 };
    let has_sources = !surroundings.sources.is_empty();
    let has_sinks = !surroundings.sinks.is_empty();
    if has_sources || has_sinks {
        let at_start = surroundings.solids.iter().map(|s| Solid { to: s.from, ..s.clone() }).collect();
        let at_start = Surroundings { solids: at_start, ..surroundings.clone() };
        let boundary = Boundary::new(params, &at_start, ranges.blocks(), &mut workspace.boundary_before);
        let total = |state: &State<D>| liquid_volume(&state.level_set, &boundary) * cell_volume;
        let at_first = total(state);
        if has_sources {
            newcomers.extend(pour(state, ranges, params, &surroundings.sources));
            flow.poured = total(state) - at_first;
        }
        if has_sinks {
            let by_body = |state: &State<D>| -> Vec<f64> {
                let tracked = state.tracked.iter();
                tracked.flat_map(|t| t.body_volumes(&state.level_set, &boundary, cell_volume)).collect()
            };
            let before = by_body(state);
            flow.drained = drain(state, params, &surroundings.sinks);
            flow.removed = at_first + flow.poured - total(state);
            let after = by_body(state);
            if let Some(tracked) = &mut state.tracked {
                for (body, (before, after)) in tracked.bodies.iter_mut().zip(before.iter().zip(&after)) {
                    body.rest_volume -= before - after;
                }
            }
        }
    }
    let out = outflow(state, params);
    flow.removed += out.iter().map(|(_, out)| out).sum::<f64>() * cell_volume * dt / params.grid.dx;
    if let Some(tracked) = &mut state.tracked {
        for (cell, out) in out {
            if let Some(body) = tracked.body_at(cell) {
                tracked.bodies[body].rest_volume -= out * cell_volume * dt / params.grid.dx;
            }
        }
        for body in &mut tracked.bodies {
            body.rest_volume = (body.rest_volume + body.inflow * dt).max(0.0);
        }
    }
    state.volume_target = (state.volume_target + flow.poured - flow.removed).max(0.0);
    flow
}

/// What the stages of the velocity share.
#[derive(Clone, Copy)]
struct Substep<'a, const D: usize> {
    pub dt: f64,
    pub ranges: &'a BlockRanges<D>,
    pub boundary: &'a Boundary<D>,
}

/// From the particles' velocities to the grid's, made to keep every volume, and back.
fn solve_velocity<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    substep: Substep<D>,
    workspace: &mut Workspace<D>,
    clock: &mut Clock,
) -> Result<(ProjectionInfo<D>, Option<SolveInfo>), StepError> {
    let Substep { dt, ranges, boundary } = substep;
    let blocks = ranges.blocks();
    let mut velocity = FaceField::new(blocks.clone(), 0.0);
    let mut weight = FaceField::new(blocks.clone(), 0.0);
    particles_to_grid(&state.particles, ranges, &mut velocity, &mut weight, &mut workspace.transfer);
    let mut valid = FaceField::new(blocks.clone(), false);
    for axis in 0..D {
        let weight = weight.axes[axis].values().par_iter();
        valid.axes[axis]
            .values_mut()
            .par_iter_mut()
            .zip(weight)
            .for_each(|(valid, &weight)| *valid = weight > 0.0);
    }
    drop(weight);
    // Faces of the liquid that no particle reaches.
    extrapolate(&mut velocity, &mut valid, 2);
    clock.stage("to_grid");

    let before = matches!(params.transfer, Transfer::Flip { .. }).then(|| velocity.clone());
    add_gravity(params, dt, &mut velocity);
    add_buoyancy(params, &surroundings.smoke, &state.smoke, dt, &mut velocity);
    clock.stage("forces");

    let has_tension = params.surface_tension > 0.0;
    let surface_pressure = has_tension.then(|| surface_pressure(params, &state.level_set, boundary));
    if has_tension {
        clock.stage("tension");
    }

    let wall = |axis: usize, cell: [usize; D]| boundary.wall_share(params, surroundings, dt, axis, cell);
    let bodies = carriers(state, params, surroundings, boundary, dt);
    let moving = boundary.has_moving_walls(surroundings);
    let bubbles = state.tracked.as_ref().map(|tracked| tracked.constraints(params.grid.dx, dt));
    let corrections = match &state.tracked {
        Some(tracked) => tracked.corrections(params, dt),
        None => vec![volume_correction(state.volume, state.volume_target, dt)],
    };
    let divergence = |cell: Slot| match state.tracked.as_ref().map(|tracked| tracked.body_at(cell)) {
        Some(body) => body.map_or(0.0, |body| corrections[body]),
        None => corrections[0],
    };
    let separates = |axis: usize, cell: [usize; D]| boundary.separates(params, surroundings, axis, cell);
    let any_separates = params.sides_separate || surroundings.solids.iter().any(|solid| solid.separates);
    let liquid = Liquid {
        grid: &params.grid,
        level_set: &state.level_set,
        open: &boundary.open,
        solid_velocity: if moving { Some(&wall) } else { None },
        bubbles: bubbles.as_ref(),
        divergence: Some(&divergence),
        bodies: &bodies,
        separates: if any_separates { Some(&separates) } else { None },
        surface_pressure: surface_pressure.as_ref(),
    };
    let mut pressure = moved_to(&state.pressure, blocks);
    let (mut viscosity, mut first_iterations) = (None, 0);
    if let Some(numbers) = viscosity_params(params, dt) {
        // Viscosity acts on the motion that the pressure leaves: see `viscosity`.
        let mut moved = velocity.clone();
        let info =
            project(&liquid, &mut moved, &mut pressure, &params.projection(dt), &mut workspace.projection)?;
        first_iterations = info.solve.iterations;
        clock.stage("projection");
        let mut valid = info.valid;
        boundary.forget_narrow_faces(&mut valid);
        extrapolate(&mut moved, &mut valid, 2);
        let before = moved.clone();
        let everything = |_: &Solid<D>| true;
        let wall = |axis: usize, cell: [usize; D]| {
            boundary.wall_speed(params, surroundings, dt, axis, cell, everything)
        };
        let solid_velocity: Option<SolidVelocity<D>> = if moving { Some(&wall) } else { None };
        viscosity = Some(diffuse(&Liquid { solid_velocity, ..liquid }, &mut moved, &numbers)?);
        add_change(&mut velocity, &before, &moved);
    }
    clock.stage("viscosity");

    let tentative = surroundings.contact.is_some().then(|| velocity.clone());
    let mut info =
        project(&liquid, &mut velocity, &mut pressure, &params.projection(dt), &mut workspace.projection)?;
    if let Some((tentative, held)) = tentative.zip(stopped(state, surroundings, &bodies, &info, dt)) {
        // What lies on the floor does not fall: the liquid must not see it do so.
        velocity = tentative;
        let liquid = Liquid { bodies: &held, ..liquid };
        info = project(
            &liquid,
            &mut velocity,
            &mut pressure,
            &params.projection(dt),
            &mut workspace.projection,
        )?;
    }
    info.solve.iterations = info.solve.iterations.max(first_iterations);
    state.pressure = pressure;
    if let Some(tracked) = &mut state.tracked {
        tracked.set_pressures(&info.bubble_pressure);
    }
    for (body, &velocity) in state.bodies.iter_mut().zip(&info.body_velocity) {
        body.velocity = velocity;
    }
    let surroundings = &surroundings.with_velocities(&info.body_velocity);
    clock.stage("projection");

    let mut valid = info.valid.clone();
    boundary.forget_narrow_faces(&mut valid);
    state.max_speed = max_speed(&velocity, &valid).max(source_speed(surroundings));
    extrapolate(&mut velocity, &mut valid, params.reach());
    // Nothing is known farther out.
    for axis in 0..D {
        let valid = valid.axes[axis].values().par_iter();
        velocity.axes[axis].values_mut().par_iter_mut().zip(valid).for_each(|(u, &valid)| {
            if !valid {
                *u = 0.0;
            }
        });
    }
    let leaving: Vec<Slot> = info.separation.cells.iter().map(|(slot, _)| *slot).collect();
    boundary.constrain(params, surroundings, dt, &mut velocity, &valid, &leaving);
    state.velocity = velocity;
    if !leaving.is_empty() {
        let walls = Walls { params, surroundings, boundary, dt };
        leave_walls(&mut state.level_set, &state.velocity, walls, &leaving);
    }
    clock.stage("extrapolate");

    let scheme = match (params.transfer, &before) {
        (Transfer::Flip { blend }, Some(before)) => Scheme::Flip { before, blend },
        _ => Scheme::Apic,
    };
    let spray = Spray::find(state, ranges);
    grid_to_particles(&state.velocity, scheme, &mut state.particles, ranges);
    spray.fall(&mut state.particles, params.gravity.map(|g| (g * dt) as f32));
    clock.stage("to_particles");
    Ok((info, viscosity))
}

/// The rigid bodies as the projection wants them: after gravity has acted on them.
pub(crate) fn carriers<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    dt: f64,
) -> Vec<RigidBody<D>> {
    let bodies = state.bodies.iter().zip(&surroundings.bodies).zip(&boundary.bodies);
    let carrier = |((state, body), view): ((&RigidState<D>, &Rigid<D>), &BodyView)| {
        let mut velocity = state.velocity;
        velocity.iter_mut().zip(params.gravity).for_each(|(v, g)| *v += g * dt);
        RigidBody {
            centre: state.pose.translation,
            mass: mass_of(body, &state.pose, &view.unit_mass),
            velocity,
            held: false,
            faces: view.faces.clone(),
        }
    };
    bodies.map(carrier).collect()
}

/// The bodies with those held that will run into something with the velocity that the projection gave them, at the velocity that
/// is left to them; `None` if all go their way.
fn stopped<const D: usize>(
    state: &State<D>,
    surroundings: &Surroundings<D>,
    bodies: &[RigidBody<D>],
    info: &ProjectionInfo<D>,
    dt: f64,
) -> Option<Vec<RigidBody<D>>> {
    let contact = surroundings.contact.as_ref()?;
    let given = info.body_velocity.iter();
    let moving = |(body, &velocity): (&RigidState<D>, &Twist)| RigidState { velocity, ..*body };
    let moving: Vec<RigidState<D>> = state.bodies.iter().zip(given).map(moving).collect();
    let left = contact.velocities(&moving, dt);
    let is_stopped = |(body, left): (&RigidState<D>, &Twist)| {
        let size = |v: &Twist| v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let change: Twist = std::array::from_fn(|k| left[k] - body.velocity[k]);
        size(&change) > UNHINDERED * size(&body.velocity)
    };
    let is_stopped: Vec<bool> = moving.iter().zip(&left).map(is_stopped).collect();
    let hold = |((body, &velocity), &is_stopped): ((&RigidBody<D>, &Twist), &bool)| match is_stopped {
        true => RigidBody { velocity, held: true, ..body.clone() },
        false => body.clone(),
    };
    is_stopped.contains(&true).then(|| bodies.iter().zip(&left).zip(&is_stopped).map(hold).collect())
}

/// A change of velocity by less than this part of it is the rounding of a free flight, and the turn of its axes.
const UNHINDERED: f64 = 1e-3;

/// What gravity adds to the velocity in a substep.
pub(crate) fn add_gravity<const D: usize>(params: &Params<D>, dt: f64, velocity: &mut FaceField<f32, D>) {
    for (velocity, gravity) in velocity.axes.iter_mut().zip(params.gravity) {
        let change = (gravity * dt) as f32;
        velocity.values_mut().par_iter_mut().for_each(|u| *u += change);
    }
}

/// `velocity += after - before`.
fn add_change<const D: usize>(
    velocity: &mut FaceField<f32, D>,
    before: &FaceField<f32, D>,
    after: &FaceField<f32, D>,
) {
    for axis in 0..D {
        let change = before.axes[axis].values().par_iter().zip(after.axes[axis].values());
        let velocity = velocity.axes[axis].values_mut().par_iter_mut();
        velocity.zip(change).for_each(|(u, (before, after))| *u += after - before);
    }
}

/// The numbers of the viscosity, if there is any.
fn viscosity_params<const D: usize>(params: &Params<D>, dt: f64) -> Option<ViscosityParams<'static, D>> {
    (params.viscosity != 0.0).then_some(ViscosityParams {
        dt,
        density: params.density,
        viscosity: Viscosity::Uniform(params.viscosity),
        walls: params.walls,
        solve: params.solve,
    })
}

fn source_speed<const D: usize>(surroundings: &Surroundings<D>) -> f64 {
    surroundings.sources.iter().flat_map(|s| s.velocity).fold(0.0, |speed, v| v.abs().max(speed))
}

fn max_speed<const D: usize>(velocity: &FaceField<f32, D>, valid: &FaceField<bool, D>) -> f64 {
    let of_axis = |axis: usize| {
        let values = velocity.axes[axis].values().par_iter().zip(valid.axes[axis].values());
        values.map(|(u, &valid)| if valid { u.abs() } else { 0.0 }).reduce(|| 0.0, f32::max)
    };
    f64::from((0..D).map(of_axis).fold(0.0, f32::max))
}

/// A field on other blocks: the same where both have the block.
fn moved_to<const D: usize>(field: &Field<f64, D>, blocks: &Arc<Blocks<D>>) -> Field<f64, D> {
    let mut new = Field::new(blocks.clone(), field.background());
    new.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, values)| {
        if let Some(old) = field.blocks().find(blocks.coord(block)) {
            values.copy_from_slice(field.block(old));
        }
    });
    new
}

/// Times stages by name.
struct Clock {
    last: Instant,
    stages: Vec<(&'static str, f64)>,
}

impl Clock {
    fn new() -> Self {
        Self { last: Instant::now(), stages: Vec::new() }
    }

    /// Ends a stage; the time of stages with the same name is added up.
    fn stage(&mut self, name: &'static str) {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        match self.stages.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) => *total += seconds,
            None => self.stages.push((name, seconds)),
        }
    }
}
