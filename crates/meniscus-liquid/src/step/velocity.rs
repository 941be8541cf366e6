//! From the particles' velocities to the grid's, made to keep every volume, and back.

use meniscus_core::extrapolate::extrapolate;
use meniscus_core::grid::{FaceField, Field, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles};
use meniscus_core::transfer::{Scheme, TransferWorkspace, grid_to_particles, particles_to_grid};
use meniscus_core::vector::norm;
use meniscus_linalg::SolveInfo;

use super::clock::Clock;
use super::info::StepError;
use super::problem::Problem;
use super::ranges::PhaseRanges;
use super::smoke::add_buoyancy;
use super::spray::Spray;
use super::workspace::Workspace;
use crate::books::EnergyBook;
use crate::params::{Params, Transfer};
use crate::projection::{
    self, Inertia, Liquid, ProjectionError, ProjectionInfo, Work, kinetic_energy, project,
};
use crate::rigid::RigidCarrier;
use crate::state::State;
use crate::substep::Substep;
use crate::surface::curvature::{impulses_of_contact_lines, surface_pressure};
use crate::surface::separate::leave_walls;
use crate::viscosity::{Viscosity, ViscosityParams, diffuse};
use meniscus_rigid::{Twist, dot};

/// How the velocity was found.
pub struct Solved<const D: usize> {
    /// How the projection went, the last of them.
    pub projection: ProjectionInfo<D>,
    /// How the solve of the viscosity went, if there is any.
    pub viscosity: Option<SolveInfo>,
    /// What changed the kinetic energy.
    pub energy_book: EnergyBook,
}

/// From the velocities of the particles to those of the grid, and back; tells how the solves went.
pub fn solve_velocity<const D: usize>(
    substep: Substep<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    clock: &mut Clock,
) -> Result<Solved<D>, StepError> {
    let params = substep.params;
    let mut velocity = to_grid(params, ranges, state, &mut workspace.transfer);
    clock.stage("to_grid");
    let before = matches!(params.transfer, Transfer::Flip { .. }).then(|| velocity.clone());
    let without_buoyancy = add_forces(substep, state, &mut velocity);
    clock.stage("forces");
    let (problem, pulls) = pose(substep, state, clock);

    let pressure = state.pressure.moved_to(ranges.liquid.blocks());
    let memory = &mut workspace.projection;
    let mut projections = Projections { substep, state, problem: &problem, pressure, memory, iterations: 0 };
    let mut book = EnergyBook::default();
    if let Some(without) = &without_buoyancy {
        book.buoyancy = projections.energy(&velocity)? - projections.energy(without)?;
    }
    let mut viscosity = None;
    if let Some(numbers) = viscosity_params(params, substep.dt) {
        let (info, energy) = projections.resist(&mut velocity, &numbers, clock)?;
        (viscosity, book.viscosity) = (Some(info), energy);
    }
    let info = projections.project(&mut velocity, book.viscosity)?;
    let pressure = projections.pressure;
    state.book_projection(&mut book, &info, substep, &problem.bodies, &pulls);
    state.book_sources(&mut book, &info, substep, &problem, &pressure);
    state.take_over(&info, params, pressure);
    clock.stage("projection");

    state.continue_velocity(substep, velocity, &info);
    clock.stage("extrapolate");
    to_particles(substep, ranges, state, before.as_ref());
    clock.stage("to_particles");
    Ok(Solved { projection: info, viscosity, energy_book: book })
}

/// Lets gravity act, and the buoyancy of smoke; gives the velocity without the latter, if there is any.
fn add_forces<const D: usize>(
    substep: Substep<D>,
    state: &State<D>,
    velocity: &mut FaceField<f32, D>,
) -> Option<FaceField<f32, D>> {
    add_gravity(substep, velocity);
    let has_buoyancy = substep.surroundings.smoke.iter().any(|smoke| smoke.buoyancy != 0.0);
    let without = has_buoyancy.then(|| velocity.clone());
    add_buoyancy(substep, &state.smoke, velocity);
    without
}

/// Poses the problem of the substep, and tells the impulses that the surface pulls bodies with; there are none without tension.
fn pose<const D: usize>(
    substep: Substep<D>,
    state: &mut State<D>,
    clock: &mut Clock,
) -> (Problem<D>, Vec<Twist>) {
    let params = substep.params;
    let has_tension = params.surface_tension > 0.0;
    let surface_pressure = has_tension.then(|| surface_pressure(params, &state.level_set, substep.boundary));
    if has_tension {
        clock.stage("tension");
    }
    let mut problem = Problem::new(substep, state);
    problem.surface_pressure = surface_pressure;
    problem.separates = substep.separating_faces(&state.level_set);
    problem.weight_outside = params.gravity.map(|g| params.density_outside() * g);
    let pulls = if has_tension { impulses_of_contact_lines(substep, &state.level_set) } else { Vec::new() };
    problem.bodies.iter_mut().zip(&pulls).for_each(|(body, pull)| body.push(pull));
    problem.corrections = state.find_corrections(substep);
    clock.stage("walls");
    problem.reduce(substep, &state.level_set);
    if params.tiling.is_some() {
        clock.stage("tiles");
    }
    (problem, pulls)
}

/// The projections of a substep, one after the other.
struct Projections<'a, const D: usize> {
    substep: Substep<'a, D>,
    state: &'a State<D>,
    problem: &'a Problem<D>,
    /// As the last one left it, a guess for the next one.
    pressure: Field<f64, D>,
    memory: &'a mut projection::Workspace,
    /// The most iterations of any.
    iterations: usize,
}

impl<const D: usize> Projections<'_, D> {
    /// Makes a velocity keep every volume, with a part of the corrections.
    fn project_part(
        &mut self,
        velocity: &mut FaceField<f32, D>,
        part: f64,
    ) -> Result<ProjectionInfo<D>, ProjectionError> {
        let Self { substep, state, problem, pressure, memory, .. } = self;
        let numbers = substep.params.projection(substep.dt);
        let info = problem.with_liquid(*substep, state, part, |liquid| {
            project(liquid, velocity, pressure, &numbers, memory)
        })?;
        self.iterations = self.iterations.max(info.solve.iterations);
        Ok(info)
    }

    /// Makes a velocity keep every volume. Corrections that do too much work are asked for once more, in part, and again where less is allowed of the slower motion
    /// that they leave; at last there are none.
    fn project(
        &mut self,
        velocity: &mut FaceField<f32, D>,
        by_viscosity: f64,
    ) -> Result<ProjectionInfo<D>, ProjectionError> {
        let tentative = self.problem.corrections.is_some().then(|| velocity.clone());
        let mut info = self.project_part(velocity, 1.0)?;
        let mut part = 1.0;
        for tried in 1..=MOST_TRIES {
            let allowed = self.state.part_of_corrections_allowed(self.substep, &info, velocity, by_viscosity);
            let Some((tentative, allowed)) = tentative.as_ref().zip(allowed) else { break };
            // The pressure is linear in what is asked for: a part of it does no more than that part of the work.
            part *= if tried == MOST_TRIES { 0.0 } else { 0.8 * allowed };
            velocity.clone_from(tentative);
            info = self.project_part(velocity, part)?;
        }
        info.solve.iterations = self.iterations;
        Ok(info)
    }

    /// Lets viscosity act on the motion that the pressure leaves, and adds what that changes: see [`viscosity`](crate::viscosity). Gives the energy that it adds.
    fn resist(
        &mut self,
        velocity: &mut FaceField<f32, D>,
        numbers: &ViscosityParams<D>,
        clock: &mut Clock,
    ) -> Result<(SolveInfo, f64), StepError> {
        let Self { substep, state, problem, .. } = *self;
        let mut moved = velocity.clone();
        let mut valid = self.project_part(&mut moved, 1.0)?.valid;
        clock.stage("projection");
        substep.boundary.forget_narrow_faces(&mut valid);
        extrapolate(&mut moved, &mut valid, 2);
        let before = moved.clone();
        let beside_walls = substep.velocity_beside_walls();
        let info = problem.with_liquid(substep, state, 1.0, |liquid| {
            diffuse(&Liquid { solid_velocity: beside_walls.as_ref(), ..*liquid }, &mut moved, numbers)
        })?;
        let without = self.energy(velocity)?;
        add_change(velocity, &before, &moved);
        let energy = self.energy(velocity)? - without;
        clock.stage("viscosity");
        Ok((info, energy))
    }

    /// The kinetic energy that the fluids would have with a velocity less what gravity has added to it, in J.
    fn energy(&self, velocity: &FaceField<f32, D>) -> Result<f64, ProjectionError> {
        let numbers = self.substep.params.projection(self.substep.dt);
        let of_liquid = |liquid: &Liquid<f32, D>| kinetic_energy(liquid, velocity, &numbers);
        let (energy, inertia): (f64, Inertia<D>) =
            self.problem.with_liquid(self.substep, self.state, 1.0, of_liquid)?;
        Ok(energy - inertia.gain(self.substep.kick()))
    }
}

/// The part of the kinetic energy, and of what gravity can do in a substep, that corrections may add to it. Measured: one substep of a hundred where water glugs asks for more, and no others.
/// More lets slivers be shot out of corners, less lets volume drift.
const WORK_OF_CORRECTIONS: f64 = 0.01;

/// How often less is asked for: each try is a solve. The last one asks for nothing.
const MOST_TRIES: usize = 4;

/// What corrections may do anyway: to lift all liquid by this part of a cell, and to make this part of a cell's face of surface. It keeps liquid at rest, which has no energy, from
/// being solved for again and again.
const NEGLIGIBLE_WORK: f64 = 1e-6;

impl<const D: usize> State<D> {
    /// The part of their work that corrections may do, if they do too much in a substep: slivers of liquid in a corner that is to grow would be shot out of it. They may do what viscosity takes
    /// in the same substep: where it lets hardly anything move, they would come too late. Without gravity and tension nothing tells how much is much.
    fn part_of_corrections_allowed(
        &self,
        Substep { params, dt, .. }: Substep<D>,
        info: &ProjectionInfo<D>,
        velocity: &FaceField<f32, D>,
        by_viscosity: f64,
    ) -> Option<f64> {
        let work = info.work.corrections;
        let weight = params.density * self.volume * norm(params.gravity);
        let negligible =
            NEGLIGIBLE_WORK * (weight * params.grid.dx + params.surface_tension * params.face_area());
        if negligible == 0.0 || work <= WORK_OF_CORRECTIONS * info.kinetic_energy.after {
            return None;
        }
        let fall = max_speed(velocity, &info.valid) * dt;
        let driven = info.kinetic_energy.after + weight * fall;
        let allowed = WORK_OF_CORRECTIONS * driven - by_viscosity.min(0.0) + negligible;
        (work > allowed).then(|| allowed / work)
    }

    /// Books a projection of velocities that gravity gave a kick `k` to, and what has changed since the last one.
    ///
    /// With `u0` before the kick, `u` projected and `f` all that pushes, `M (u - u0) = M k + f`: the energy changes by the work
    /// along `u`, `u M k + u f`, less that of the change, `(u - u0) M (u - u0) / 2`, which is what the step takes.
    fn book_projection(
        &mut self,
        book: &mut EnergyBook,
        info: &ProjectionInfo<D>,
        substep: Substep<D>,
        bodies: &[RigidCarrier<D>],
        pulls: &[Twist],
    ) {
        let kick = substep.kick();
        // What the surface pulls bodies with, and what else pushes them, has been added to their velocities as gravity has.
        let of_pulls: f64 =
            info.body_velocity.iter().zip(pulls).map(|(velocity, pull)| dot(velocity, pull)).sum();
        let of_pushes = info.body_velocity.iter().zip(&substep.surroundings.bodies);
        let pushes: f64 = of_pushes.map(|(velocity, body)| substep.dt * dot(velocity, &body.push)).sum();
        let of_bodies = || bodies.iter().zip(&self.bodies).zip(&info.body_velocity);
        let bodies_before: f64 = of_bodies().map(|((body, state), _)| body.energy(&state.velocity)).sum();
        let on_bodies: f64 = of_bodies()
            .map(|((body, state), after)| body.work(after, &minus(&body.velocity, &state.velocity)))
            .sum();
        let on_fluids: f64 = kick.iter().zip(info.momentum).map(|(kick, momentum)| kick * momentum).sum();
        let gained = info.inertia.gain(kick) + info.body_energy.before - bodies_before;
        let Work { corrections, solids, tension, outside, contacts } = info.work;
        let fluids_before = info.kinetic_energy.before
            - info.body_energy.before
            - info.inertia.gain(kick)
            - book.buoyancy
            - book.viscosity;
        *book = EnergyBook {
            transfer: fluids_before - self.energy[0],
            hits: bodies_before - self.energy[1],
            gravity: on_fluids + on_bodies - of_pulls - pushes,
            pushes,
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

    /// Books the work of sources, of that of all solids.
    fn book_sources(
        &self,
        book: &mut EnergyBook,
        info: &ProjectionInfo<D>,
        Substep { boundary, dt, .. }: Substep<D>,
        problem: &Problem<D>,
        pressure: &Field<f64, D>,
    ) {
        // Air has the pressure of its bubble.
        let pressure_at = |cell: [i64; D]| {
            let air = boundary.blocks().locate(cell).filter(|slot| self.level_set[*slot] >= 0.0);
            let bubble = air.zip(problem.bubbles.as_ref());
            let bubble = bubble.map(|(slot, bubbles)| bubbles.of_slot[slot.flat::<D>()]);
            bubble.and_then(|k| info.bubble_pressure.get(k as usize).copied()).unwrap_or(pressure.get(cell))
        };
        book.sources = boundary.outlets.iter().map(|out| pressure_at(out.cell) * out.rate * dt).sum();
        book.solids -= book.sources;
    }

    /// Takes over what a projection found but for the velocity of the fluids.
    fn take_over(&mut self, info: &ProjectionInfo<D>, params: &Params<D>, pressure: Field<f64, D>) {
        if let Some(tracked) = &mut self.tracked {
            match params.second() {
                Some(_) => tracked.set_mean_pressures(&pressure),
                None => tracked.set_pressures(&info.bubble_pressure),
            }
        }
        self.pressure = pressure;
        self.growth = info.growth;
        for (index, body) in self.bodies.iter_mut().enumerate() {
            // The liquid gives way before a body hits something, the body does not.
            let until_hit = info.contact.until_hit.get(index).copied().flatten();
            body.velocity = until_hit.unwrap_or(info.body_velocity[index]);
        }
    }

    /// Takes over a projected velocity, continued beyond the liquid and into walls, and makes those walls that liquid leaves its surface.
    fn continue_velocity(
        &mut self,
        substep: Substep<D>,
        mut velocity: FaceField<f32, D>,
        info: &ProjectionInfo<D>,
    ) {
        let surroundings = &substep.surroundings.with_velocities(&info.body_velocity);
        let substep = Substep { surroundings, ..substep };
        let mut valid = info.valid.clone();
        substep.boundary.forget_narrow_faces(&mut valid);
        self.max_speed = max_speed(&velocity, &valid).max(surroundings.source_speed());
        extrapolate(&mut velocity, &mut valid, substep.params.reach());
        // Nothing is known farther out.
        for axis in 0..D {
            parallel::update_by(velocity.axes[axis].values_mut(), valid.axes[axis].values(), |u, &valid| {
                if !valid {
                    *u = 0.0;
                }
            });
        }
        let leaving: Vec<Slot> = info.separation.cells.iter().map(|(slot, _)| *slot).collect();
        substep.constrain(&mut velocity, &valid, &leaving);
        self.velocity = velocity;
        if !leaving.is_empty() {
            leave_walls(substep, &mut self.level_set, &self.velocity, &leaving);
        }
    }
}

/// The difference of two velocities.
fn minus(a: &Twist, b: &Twist) -> Twist {
    std::array::from_fn(|motion| a[motion] - b[motion])
}

/// The velocity of the grid from that of the particles. Where those of two fluids meet, each counts by its mass.
fn to_grid<const D: usize>(
    params: &Params<D>,
    ranges: &PhaseRanges<D>,
    state: &State<D>,
    workspace: &mut TransferWorkspace,
) -> FaceField<f32, D> {
    let blocks = ranges.liquid.blocks();
    let mut transfer = |particles: &Particles<D>, ranges: &BlockRanges<D>| {
        let mut velocity = FaceField::new(blocks.clone(), 0.0);
        let mut weight = FaceField::new(blocks.clone(), 0.0);
        particles_to_grid(particles, ranges, &mut velocity, &mut weight, workspace);
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

/// From the velocity of the grid to that of the particles, of a grid that had another one `before` it was solved for.
fn to_particles<const D: usize>(
    substep: Substep<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    before: Option<&FaceField<f32, D>>,
) {
    let Substep { params, dt, .. } = substep;
    let scheme = match (params.transfer, before) {
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
pub fn add_gravity<const D: usize>(substep: Substep<D>, velocity: &mut FaceField<f32, D>) {
    for (velocity, kick) in velocity.axes.iter_mut().zip(substep.kick()) {
        let change = kick as f32;
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
