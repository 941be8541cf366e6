//! From the particles' velocities to the grid's, made to keep every volume, and back.

use meniscus_core::extrapolate::extrapolate;
use meniscus_core::grid::{FaceField, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles};
use meniscus_core::transfer::{Scheme, grid_to_particles, particles_to_grid};
use meniscus_core::vector::norm;
use meniscus_linalg::SolveInfo;

use crate::books::EnergyBook;
use crate::boundary::Boundary;
use crate::carriers::{carriers, touching};
use crate::curvature::{impulses_of_contact_lines, surface_pressure};
use crate::params::{Params, Solid, Surroundings, Transfer};
use crate::projection::{Liquid, ProjectionInfo, RigidBody, SolidVelocity, Work, kinetic_energy, project};
use crate::rigid::{Twist, dot};
use crate::separate::{Walls, leave_walls};
use crate::smoke::add_buoyancy;
use crate::spray::Spray;
use crate::state::State;
use crate::step::{Clock, PhaseRanges, StepError, Workspace};
use crate::tiles::find_regions;
use crate::viscosity::{Viscosity, ViscosityParams, diffuse};

/// What the stages of the velocity share.
#[derive(Clone, Copy)]
pub struct Substep<'a, const D: usize> {
    pub dt: f64,
    pub ranges: &'a PhaseRanges<D>,
    pub boundary: &'a Boundary<D>,
}

/// How the velocity was found.
pub struct Solved<const D: usize> {
    pub projection: ProjectionInfo<D>,
    pub viscosity: Option<SolveInfo>,
    pub energy_book: EnergyBook,
}

/// From the velocities of the particles to those of the grid, and back; tells how the solves went.
pub fn solve_velocity<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    substep: Substep<D>,
    workspace: &mut Workspace<D>,
    clock: &mut Clock,
) -> Result<Solved<D>, StepError> {
    let Substep { dt, ranges, boundary } = substep;
    let blocks = ranges.liquid.blocks();
    let mut velocity = to_grid(state, params, ranges, workspace);
    clock.stage("to_grid");

    let before = matches!(params.transfer, Transfer::Flip { .. }).then(|| velocity.clone());
    let smoke = (&surroundings.smoke[..], &state.smoke[..]);
    let has_buoyancy = smoke.0.iter().any(|smoke| smoke.buoyancy != 0.0);
    add_gravity(params, dt, &mut velocity);
    let without_buoyancy = has_buoyancy.then(|| velocity.clone());
    add_buoyancy(params, smoke.0, smoke.1, dt, &mut velocity);
    clock.stage("forces");

    let has_tension = params.surface_tension > 0.0;
    let surface_pressure = has_tension.then(|| surface_pressure(params, &state.level_set, boundary));
    if has_tension {
        clock.stage("tension");
    }

    let walls = boundary.wall_shares(params, surroundings, dt);
    let wall = |axis: usize, cell: [usize; D]| walls.get(axis, cell.map(|c| c as i64));
    let mut bodies = carriers(state, params, surroundings, boundary, dt);
    let pulls = if has_tension {
        let pulls = impulses_of_contact_lines(params, &state.level_set, boundary, surroundings, dt);
        bodies.iter_mut().zip(&pulls).for_each(|(body, pull)| body.push(pull));
        pulls
    } else {
        Vec::new()
    };
    let touching = touching(state, params, surroundings, dt);
    let moving = boundary.has_moving_walls(surroundings);
    let bubbles = state.constraints(params, dt);
    let corrections = state.find_corrections(params, boundary, dt);
    clock.stage("walls");
    let divergence = |slot: Slot| match &corrections {
        Some(corrections) => corrections.rate(slot.block, state.owner(slot)),
        None => 0.0,
    };
    let tiling = params.tiling.as_ref();
    let regions = tiling.map(|tiling| find_regions(params, tiling, &state.level_set, boundary));
    if tiling.is_some() {
        clock.stage("tiles");
    }
    let separates = |axis: usize, cell: [usize; D]| boundary.separates(params, surroundings, axis, cell);
    let any_separates = params.sides_separate || surroundings.solids.iter().any(|solid| solid.separates);
    let liquid = Liquid {
        grid: &params.grid,
        level_set: &state.level_set,
        open: &boundary.open,
        solid_velocity: if moving { Some(&wall) } else { None },
        bubbles: bubbles.as_ref(),
        divergence: if corrections.is_some() { Some(&divergence) } else { None },
        bodies: &bodies,
        touching: touching.as_ref(),
        regions: regions.as_ref(),
        second_density_ratio: params.second_density_ratio(),
        separates: if any_separates { Some(&separates) } else { None },
        surface_pressure: surface_pressure.as_ref(),
        weight_outside: params.gravity.map(|g| params.density_outside() * g),
    };
    let mut book = EnergyBook::default();
    let kick = params.gravity.map(|g| g * dt);
    // Of the fluids as they would be without gravity.
    let energy_of = |velocity: &FaceField<f32, D>| -> Result<f64, StepError> {
        let (energy, inertia) = kinetic_energy(&liquid, velocity, &params.projection(dt))?;
        Ok(energy - inertia.gain(kick))
    };
    if let Some(without) = &without_buoyancy {
        book.buoyancy = energy_of(&velocity)? - energy_of(without)?;
    }
    let mut pressure = state.pressure.moved_to(blocks);
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
        let without_viscosity = energy_of(&velocity)?;
        add_change(&mut velocity, &before, &moved);
        book.viscosity = energy_of(&velocity)? - without_viscosity;
        clock.stage("viscosity");
    }

    let tentative = corrections.is_some().then(|| velocity.clone());
    let mut info =
        project(&liquid, &mut velocity, &mut pressure, &params.projection(dt), &mut workspace.projection)?;
    // Corrections that do too much work are asked for once more, in part, and again where less is allowed of the slower motion that they leave; at last there are none.
    let mut part = 1.0;
    for tried in 1..=MOST_TRIES {
        let allowed = state.part_of_corrections_allowed(params, &info, &velocity, book.viscosity, dt);
        let Some((tentative, allowed)) = tentative.as_ref().zip(allowed) else { break };
        first_iterations = first_iterations.max(info.solve.iterations);
        // The pressure is linear in what is asked for: a part of it does no more than that part of the work.
        part *= if tried == MOST_TRIES { 0.0 } else { 0.8 * allowed };
        let less = |slot: Slot| part * divergence(slot);
        let bubbles = bubbles.as_ref().map(|bubbles| bubbles.with_part_of_growth(part));
        let liquid = Liquid { divergence: Some(&less), bubbles: bubbles.as_ref(), ..liquid };
        velocity.clone_from(tentative);
        info = project(
            &liquid,
            &mut velocity,
            &mut pressure,
            &params.projection(dt),
            &mut workspace.projection,
        )?;
    }
    info.solve.iterations = info.solve.iterations.max(first_iterations);
    let of_pulls = info.body_velocity.iter().zip(&pulls);
    book.tension = of_pulls.map(|(velocity, pull)| dot(velocity, pull)).sum();
    let of_pushes = info.body_velocity.iter().zip(&surroundings.bodies);
    book.pushes = of_pushes.map(|(velocity, body)| dt * dot(velocity, &body.push)).sum();
    state.book_projection(&mut book, &info, &bodies, kick);
    // Air has the pressure of its bubble.
    let pressure_at = |cell: [i64; D]| {
        let air = boundary.blocks().locate(cell).filter(|slot| state.level_set[*slot] >= 0.0);
        let bubble = air.zip(bubbles.as_ref()).map(|(slot, bubbles)| bubbles.of_slot[slot.flat::<D>()]);
        bubble.and_then(|k| info.bubble_pressure.get(k as usize).copied()).unwrap_or(pressure.get(cell))
    };
    book.sources = boundary.outlets.iter().map(|out| pressure_at(out.cell) * out.rate * dt).sum();
    book.solids -= book.sources;
    if let Some(tracked) = &mut state.tracked {
        match params.second() {
            Some(_) => tracked.set_mean_pressures(&pressure),
            None => tracked.set_pressures(&info.bubble_pressure),
        }
    }
    state.pressure = pressure;
    state.growth = info.growth;
    for (index, body) in state.bodies.iter_mut().enumerate() {
        // The liquid gives way before a body hits something, the body does not.
        let until_hit = info.contact.until_hit.get(index).copied().flatten();
        body.velocity = until_hit.unwrap_or(info.body_velocity[index]);
    }
    let surroundings = &surroundings.with_velocities(&info.body_velocity);
    clock.stage("projection");

    let mut valid = info.valid.clone();
    boundary.forget_narrow_faces(&mut valid);
    state.max_speed = max_speed(&velocity, &valid).max(source_speed(surroundings));
    extrapolate(&mut velocity, &mut valid, params.reach());
    // Nothing is known farther out.
    for axis in 0..D {
        parallel::update_by(velocity.axes[axis].values_mut(), valid.axes[axis].values(), |u, &valid| {
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
    let spray = Spray::find(state, &ranges.liquid, params);
    grid_to_particles(&state.velocity, scheme, &mut state.particles, &ranges.liquid);
    let lift = 1.0 - params.second_density_ratio().unwrap_or(0.0);
    spray.fall(&mut state.particles, params.gravity.map(|g| (lift * g * dt) as f32));
    if let Some(ranges) = &ranges.second {
        grid_to_particles(&state.velocity, scheme, &mut state.second, ranges);
    }
    clock.stage("to_particles");
    Ok(Solved { projection: info, viscosity, energy_book: book })
}

/// The part of the kinetic energy, and of what gravity can do in a substep, that corrections may add to it.
const WORK_OF_CORRECTIONS: f64 = 0.01;

/// How often less is asked for.
const MOST_TRIES: usize = 4;

/// What corrections may do anyway: to lift all liquid by this part of a cell, and to make this part of a cell's face of surface.
const NEGLIGIBLE: f64 = 1e-6;

impl<const D: usize> State<D> {
    /// The part of their work that corrections may do, if they do too much in a substep: slivers of liquid in a corner that is to grow would be shot out of it. They may do what viscosity takes
    /// in the same substep: where it lets hardly anything move, they would come too late. Without gravity and tension nothing tells how much is much.
    fn part_of_corrections_allowed(
        &self,
        params: &Params<D>,
        info: &ProjectionInfo<D>,
        velocity: &FaceField<f32, D>,
        by_viscosity: f64,
        dt: f64,
    ) -> Option<f64> {
        let work = info.work.corrections;
        let weight = params.density * self.volume * norm(params.gravity);
        let negligible = NEGLIGIBLE
            * (weight * params.grid.dx + params.surface_tension * params.grid.dx.powi(D as i32 - 1));
        if negligible == 0.0 || work <= WORK_OF_CORRECTIONS * info.kinetic_energy.after {
            return None;
        }
        let fall = max_speed(velocity, &info.valid) * dt;
        let driven = info.kinetic_energy.after + weight * fall;
        let allowed = WORK_OF_CORRECTIONS * driven - by_viscosity.min(0.0) + negligible;
        (work > allowed).then(|| allowed / work)
    }

    /// Books the projection of velocities that gravity gave a `kick` to, and what has changed since the last one.
    ///
    /// With `u0` before the kick `k`, `u` projected and `f` all that pushes, `M (u - u0) = M k + f`: the energy changes by the work
    /// along `u`, `u M k + u f`, less that of the change, `(u - u0) M (u - u0) / 2`, which is what the step takes.
    fn book_projection(
        &mut self,
        book: &mut EnergyBook,
        info: &ProjectionInfo<D>,
        bodies: &[RigidBody<D>],
        kick: [f64; D],
    ) {
        let of_bodies = || bodies.iter().zip(&self.bodies).zip(&info.body_velocity);
        let bodies_before: f64 = of_bodies().map(|((body, state), _)| body.energy(&state.velocity)).sum();
        let on_bodies: f64 = of_bodies()
            .map(|((body, state), after)| body.work(after, &minus(&body.velocity, &state.velocity)))
            .sum();
        let on_fluids: f64 = kick.iter().zip(info.momentum).map(|(kick, momentum)| kick * momentum).sum();
        let gained = info.inertia.gain(kick) + info.body_energy.before - bodies_before;
        // What the surface pulls bodies with, and what else pushes them, has been added to their velocities as gravity has.
        let of_pulls = book.tension;
        let Work { corrections, solids, tension, outside, contacts } = info.work;
        let fluids_before = info.kinetic_energy.before
            - info.body_energy.before
            - info.inertia.gain(kick)
            - book.buoyancy
            - book.viscosity;
        *book = EnergyBook {
            transfer: fluids_before - self.energy[0],
            hits: bodies_before - self.energy[1],
            gravity: on_fluids + on_bodies - of_pulls - book.pushes,
            projection: gained - on_fluids - on_bodies - info.kinetic_energy.change,
            solids,
            tension: tension + of_pulls,
            outside,
            contacts,
            corrections,
            ..*book
        };
        self.energy = [info.kinetic_energy.after - info.body_energy.after, info.body_energy.after];
    }
}

/// The difference of two velocities.
fn minus(a: &Twist, b: &Twist) -> Twist {
    std::array::from_fn(|motion| a[motion] - b[motion])
}

/// The velocity of the grid from that of the particles. Where those of two fluids meet, each counts by its mass.
fn to_grid<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    ranges: &PhaseRanges<D>,
    workspace: &mut Workspace<D>,
) -> FaceField<f32, D> {
    let blocks = ranges.liquid.blocks();
    let mut transfer = |particles: &Particles<D>, ranges: &BlockRanges<D>| {
        let mut velocity = FaceField::new(blocks.clone(), 0.0);
        let mut weight = FaceField::new(blocks.clone(), 0.0);
        particles_to_grid(particles, ranges, &mut velocity, &mut weight, &mut workspace.transfer);
        (velocity, weight)
    };
    let (mut velocity, mut weight) = transfer(&state.particles, &ranges.liquid);
    if let Some((ratio, ranges)) = params.second_density_ratio().zip(ranges.second.as_ref()) {
        let (other, other_weight) = transfer(&state.second, ranges);
        mix([&mut velocity, &mut weight], [&other, &other_weight], ratio as f32);
    }
    let mut valid = FaceField::new(blocks.clone(), false);
    for axis in 0..D {
        let (valid, weight) = (valid.axes[axis].values_mut(), weight.axes[axis].values());
        parallel::update_by(valid, weight, |valid, &weight| *valid = weight > 0.0);
    }
    drop(weight);
    // Faces of the fluid that no particle reaches.
    extrapolate(&mut velocity, &mut valid, 2);
    velocity
}

/// The mean of two velocities by their weights, that of the second times `ratio`; the weights are added up.
fn mix<const D: usize>(
    [velocity, weight]: [&mut FaceField<f32, D>; 2],
    [other, other_weight]: [&FaceField<f32, D>; 2],
    ratio: f32,
) {
    for axis in 0..D {
        let (velocity, weight) = (velocity.axes[axis].values_mut(), weight.axes[axis].values_mut());
        parallel::for_both_chunks([block_len::<D>(); 2], velocity, weight, |block, velocity, weight| {
            let others = other.axes[axis].block(block).iter().zip(other_weight.axes[axis].block(block));
            for ((u, w), (&other, &of_other)) in velocity.iter_mut().zip(weight).zip(others) {
                let both = *w + ratio * of_other;
                if of_other > 0.0 {
                    *u = (*w * *u + ratio * of_other * other) / both;
                }
                *w = both;
            }
        });
    }
}

/// What gravity adds to the velocity in a substep.
pub fn add_gravity<const D: usize>(params: &Params<D>, dt: f64, velocity: &mut FaceField<f32, D>) {
    for (velocity, gravity) in velocity.axes.iter_mut().zip(params.gravity) {
        let change = (gravity * dt) as f32;
        parallel::update(velocity.values_mut(), |u| *u += change);
    }
}

/// `velocity += after - before`.
fn add_change<const D: usize>(
    velocity: &mut FaceField<f32, D>,
    before: &FaceField<f32, D>,
    after: &FaceField<f32, D>,
) {
    for axis in 0..D {
        parallel::for_chunks(velocity.axes[axis].values_mut(), block_len::<D>(), |block, velocity| {
            let change = before.axes[axis].block(block).iter().zip(after.axes[axis].block(block));
            velocity.iter_mut().zip(change).for_each(|(u, (before, after))| *u += after - before);
        });
    }
}

/// The numbers of the viscosity, if there is any.
fn viscosity_params<const D: usize>(params: &Params<D>, dt: f64) -> Option<ViscosityParams<'static, D>> {
    let second = params.second().map(|second| second.viscosity);
    (params.viscosity != 0.0 || second.is_some_and(|second| second != 0.0)).then_some(ViscosityParams {
        dt,
        density: params.density,
        viscosity: match second {
            Some(second) => Viscosity::OfFluids([params.viscosity, second]),
            None => Viscosity::Uniform(params.viscosity),
        },
        walls: params.walls,
        slip_sides: params.slip_sides,
        solve: params.solve,
    })
}

/// The largest component of a velocity that a source prescribes, in m/s.
pub fn source_speed<const D: usize>(surroundings: &Surroundings<D>) -> f64 {
    surroundings.sources.iter().flat_map(|s| s.velocity).fold(0.0, |speed, v| v.abs().max(speed))
}

fn max_speed<const D: usize>(velocity: &FaceField<f32, D>, valid: &FaceField<bool, D>) -> f64 {
    let of_axis = |axis: usize| {
        let of_block = |block: usize| {
            let values = velocity.axes[axis].block(block).iter().zip(valid.axes[axis].block(block));
            values.map(|(u, &valid)| if valid { u.abs() } else { 0.0 }).fold(0.0, f32::max)
        };
        parallel::map(velocity.blocks().len(), of_block).into_iter().fold(0.0, f32::max)
    };
    f64::from((0..D).map(of_axis).fold(0.0, f32::max))
}
