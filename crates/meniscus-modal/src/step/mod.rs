//! One step in time, as a list of stages.

mod info;
mod kutta;
mod stir;
mod workspace;

use std::time::Instant;

use crate::contact::{press, strike};
use crate::course::{Course, Encounters, Hit, Unhindered};
use crate::error::StepError;
use crate::find::{EXACT, find};
use crate::flow::{Stages, TooFast};
use crate::of_basis::OfBasis;
use crate::panels::{Body, Drive, Immersed, Influence, Motion};
use crate::params::{Forces, Params};
use crate::state::{BodyState, State};
use crate::tracers::Velocities;
use crate::wake::Blob;
use info::Log;
pub use info::StepInfo;
pub use stir::stir;
pub use workspace::Workspace;

/// Advances a simulation by a time. `bodies` are what the bodies of the state are made of, and `courses` are theirs.
pub fn step(
    state: &mut State,
    params: &Params,
    bodies: &[Body],
    courses: &[Course],
    encounters: &mut dyn Encounters,
    dt: f64,
    workspace: &mut Workspace,
) -> Result<StepInfo, StepError> {
    let memory = std::mem::take(&mut workspace.memory);
    let left = vec![[0.0; 3]; bodies.len()];
    let mut log =
        Log { info: StepInfo::default(), since: Instant::now(), memory, left, released: Vec::new() };
    let mut stages = std::mem::take(&mut workspace.stages);
    let tracers = std::mem::take(&mut state.tracers);
    let of = workspace.of(&state.basis);
    let mut step = Step { params, bodies, courses, dt, of };
    let start = step.impulses(state, &step.of.immersed(bodies, state, &state.poses()));
    let wake = state.wake.blobs.clone();
    let at_start = step.velocities_of_wake(state);
    step.decay(&mut state.flow);
    // The sheets of the beginning carry the modes for one half of the step, those of its end for the other.
    step.carry(&mut stages, state)?;
    log.info.advanced = stages.advance(&mut step.of.dynamics, params.integrator, &mut state.flow, dt)?;
    if !log.info.advanced.is_solved {
        return Err(StepError::Unsolved);
    }
    log.stage("flow");
    if !bodies.is_empty() {
        let mut ahead = state.clone();
        let end = step.predict(&mut ahead, &start, (&wake, &at_start), encounters, &mut log)?;
        let at_end = step.velocities_of_wake(&ahead);
        let velocities: Vec<[f64; 2]> =
            at_start.iter().zip(at_end).map(|(a, b)| [0, 1].map(|axis| 0.5 * (a[axis] + b[axis]))).collect();
        step.carry(&mut stages, &mut ahead)?;
        log.stage("flow");
        (state.flow, state.sheets) = (ahead.flow, ahead.sheets);
        step.correct(state, &ahead.bodies, [&start, &end], (&wake, &velocities), encounters, &mut log)?;
        step.release_wake(state, &log);
    }
    step.decay(&mut state.flow);
    state.tracers = tracers;
    step.carry_tracers(state);
    log.stage("tracers");
    state.time += dt;
    (workspace.stages, workspace.memory) = (stages, log.memory);
    if state.flow.iter().all(|w| w.is_finite()) { Ok(log.info) } else { Err(StepError::TooFast) }
}

/// Finds the sheets of bodies that were put where they are, with the velocities that they have.
pub fn begin(state: &mut State, bodies: &[Body], workspace: &mut Workspace) -> Result<(), StepError> {
    if bodies.is_empty() {
        return Ok(());
    }
    let of = workspace.of(&state.basis);
    let poses = state.poses();
    let immersed = of.immersed(bodies, state, &poses);
    let drives: Vec<Drive> = state.bodies.iter().map(|body| Drive::Given(body.motion)).collect();
    let circulations = state.wake.circulations_of(bodies.len());
    find(EXACT, &immersed, &immersed.influence(), &drives, &circulations, &mut state.sheets)?;
    state.move_as_found();
    Ok(())
}

/// A step on its way.
struct Step<'a> {
    params: &'a Params,
    bodies: &'a [Body],
    courses: &'a [Course],
    dt: f64,
    of: &'a mut OfBasis,
}

/// The momenta of a body, over the density of the fluid, and the rate at which they change.
#[derive(Clone, Copy, Debug, Default)]
struct Impulse {
    momentum: Motion,
    rate: Motion,
}

impl Step<'_> {
    fn decay(&self, flow: &mut [f64]) {
        self.of.decay.apply(flow, 0.5 * self.params.viscosity * self.dt);
    }

    /// The momenta of all bodies and what changes them.
    fn impulses(&self, state: &State, immersed: &Immersed) -> Vec<Impulse> {
        let of_body = |(k, course): (usize, &Course)| {
            let momentum = immersed.momentum(&state.sheets, k);
            let force = match self.params.forces {
                Forces::Potential => immersed.force(&state.sheets, k, self.params.gravity),
                Forces::Paper => immersed.dynamic_pressure(&state.sheets, k, self.params.gravity),
            };
            match (*course, self.params.forces) {
                (Course::Given(_), _) => Impulse { momentum, rate: force },
                (Course::Free(push), forces) => {
                    let own = forces == Forces::Paper;
                    let momentum = if own { self.own_momentum(k, state.bodies[k].motion) } else { momentum };
                    Impulse { momentum, rate: along(force, 1.0 / self.params.density, push) }
                }
            }
        };
        self.courses.iter().enumerate().map(of_body).collect()
    }

    /// What a motion of a body makes of momentum without fluid.
    fn own_momentum(&self, body: usize, motion: Motion) -> Motion {
        let masses = self.bodies[body].masses();
        [0, 1, 2].map(|d| masses[d] * motion[d])
    }

    /// Lets the sheets carry the modes for half of the step.
    fn carry(&mut self, stages: &mut Stages, state: &mut State) -> Result<(), TooFast> {
        if self.bodies.is_empty() {
            return Ok(());
        }
        let poses = state.poses();
        let immersed = Immersed::new(&self.of.images, self.bodies, &poses);
        let mut by = self.of.coefficients_of(&immersed, &state.sheets.strengths);
        if !state.wake.blobs.is_empty() {
            let of_wake = self.of.dynamics.coefficients_of(&state.wake.vorticity(&self.of.basis.sines));
            by.iter_mut().zip(of_wake).for_each(|(to, part)| *to += part);
        }
        stages.carry(&mut self.of.dynamics, &by, &mut state.flow, 0.5 * self.dt)
    }

    /// Moves bodies by what is known at the beginning; gives what changes their momenta then. What is struck on its way is left with what it had: a mean of before and after a hit is of
    /// no use.
    fn predict(
        &self,
        state: &mut State,
        start: &[Impulse],
        wake: (&[Blob], &[[f64; 2]]),
        encounters: &mut dyn Encounters,
        log: &mut Log,
    ) -> Result<Vec<Impulse>, StepError> {
        for (body, course) in state.bodies.iter_mut().zip(self.courses) {
            if let Course::Given(end) = course {
                *body = *end;
            }
        }
        let before = state.bodies.clone();
        Unhindered.travel(&mut state.bodies, self.courses, self.dt);
        let mut struck = Vec::new();
        if self.may_meet(&state.bodies) {
            state.bodies.clone_from(&before);
            encounters.preview(&mut state.bodies, self.courses, self.dt);
            struck = self.struck(&state.bodies, before.iter().map(|body| body.motion));
        }
        let momenta: Vec<Motion> =
            start.iter().map(|impulse| along(impulse.momentum, self.dt, impulse.rate)).collect();
        let mut drives = self.drives(&momenta);
        for &(body, _) in &struck {
            drives[body] = Drive::Given(state.bodies[body].motion);
        }
        self.move_wake(state, wake.0, wake.1);
        let poses = state.poses();
        let mut immersed = self.of.immersed(self.bodies, state, &poses);
        let influence = immersed.influence_in(std::mem::take(&mut log.memory));
        log.stage("panels");
        self.find_with_wake(state, &mut immersed, &influence, &drives, log)?;
        state.move_as_found();
        log.stage("bodies");
        log.memory = influence.into_memory();
        let mut end = self.impulses(state, &immersed);
        for (body, _) in struck {
            state.bodies[body].motion = before[body].motion;
            end[body] = start[body];
        }
        Ok(end)
    }

    /// Whether some body may be where another one or a wall is.
    fn may_meet(&self, bodies: &[BodyState]) -> bool {
        let size = self.of.basis.sines.size;
        let circles: Vec<([f64; 2], f64)> =
            self.bodies.iter().zip(bodies).map(|(b, now)| (now.pose.centre, b.profile.reach)).collect();
        let is_out = |&(x, reach): &([f64; 2], f64)| (0..2).any(|a| x[a] < reach || x[a] > size[a] - reach);
        let meets = |k: usize| {
            let (x, reach) = circles[k];
            let near = |(y, other): &([f64; 2], f64)| (x[0] - y[0]).hypot(x[1] - y[1]) < reach + other;
            circles[..k].iter().any(near)
        };
        circles.iter().any(is_out) || (0..circles.len()).any(meets)
    }

    /// The bodies whose velocities changed, and by how much.
    fn struck(&self, now: &[BodyState], before: impl Iterator<Item = Motion>) -> Vec<(usize, Motion)> {
        let struck = |(k, ((now, before), course)): (usize, ((&BodyState, Motion), &Course))| {
            let change = along(now.motion, -1.0, before);
            // Less is rounding.
            let least = 1e-12 * before.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
            let is_struck = matches!(course, Course::Free(_)) && change.iter().any(|v| v.abs() > least);
            is_struck.then_some((k, change))
        };
        now.iter().zip(before).zip(self.courses).enumerate().filter_map(struck).collect()
    }

    /// Moves bodies by the mean of what is known at the beginning and what was predicted (Heun's method), and finds what moves them at the end.
    fn correct(
        &self,
        state: &mut State,
        predicted: &[BodyState],
        impulses: [&[Impulse]; 2],
        wake: (&[Blob], &[[f64; 2]]),
        encounters: &mut dyn Encounters,
        log: &mut Log,
    ) -> Result<(), StepError> {
        let last: Vec<Motion> = state.bodies.iter().map(|body| body.motion).collect();
        let (mut momenta, hits) = self.travel(state, predicted, impulses, encounters);
        log.stage("contact");
        self.move_wake(state, wake.0, wake.1);
        let poses = state.poses();
        let mut immersed = self.of.immersed(self.bodies, state, &poses);
        let influence = immersed.influence_in(std::mem::take(&mut log.memory));
        log.stage("panels");
        for (body, impulse) in self.strike(state, &immersed, &influence, (&hits, &momenta, &last))? {
            momenta[body] = along(momenta[body], 1.0, impulse);
        }
        log.stage("contact");
        self.find_with_wake(state, &mut immersed, &influence, &self.drives(&momenta), log)?;
        momenta
            .iter_mut()
            .zip(&log.left)
            .for_each(|(momentum, left)| *momentum = along(*momentum, -1.0, *left));
        state.move_as_found();
        log.stage("bodies");
        let touching = encounters.touches(&state.bodies, self.dt);
        if !touching.touches.is_empty() {
            let (bodies, dt) = (&state.bodies, self.dt);
            let pressed = press(&immersed, &influence, self.courses, bodies, &last, &touching, dt)?;
            log.info.contacts = pressed.contacts;
            for (body, impulse) in pressed.of_body {
                momenta[body] = along(momenta[body], 1.0, impulse);
            }
            let circulations = state.wake.circulations_of(self.bodies.len());
            let drives = self.drives(&momenta);
            log.solved(find(EXACT, &immersed, &influence, &drives, &circulations, &mut state.sheets)?);
            state.move_as_found();
        }
        log.stage("contact");
        log.info.forces = self.forces_on_given(state, &immersed, &last, impulses, &log.left);
        self.shed(state, &mut immersed, &influence, log)?;
        log.memory = influence.into_memory();
        Ok(())
    }

    /// Moves bodies; gives the momenta that they then have but for their hits, and these.
    fn travel(
        &self,
        state: &mut State,
        predicted: &[BodyState],
        [start, end]: [&[Impulse]; 2],
        encounters: &mut dyn Encounters,
    ) -> (Vec<Motion>, Vec<Hit>) {
        for ((body, predicted), course) in state.bodies.iter_mut().zip(predicted).zip(self.courses) {
            match course {
                Course::Free(_) => body.motion = mean(body.motion, predicted.motion),
                Course::Given(end) => *body = *end,
            }
        }
        let hits = encounters.travel(&mut state.bodies, self.courses, self.dt);
        let momentum =
            |(start, end): (&Impulse, &Impulse)| along(start.momentum, self.dt, mean(start.rate, end.rate));
        (start.iter().zip(end).map(momentum).collect(), hits)
    }

    /// What changes the momenta of bodies that met something fast. Where things lie on each other, which gravity makes meet a little in each step, contact finds that afterwards.
    fn strike(
        &self,
        state: &State,
        immersed: &Immersed,
        influence: &Influence,
        (hits, momenta, last): (&[Hit], &[Motion], &[Motion]),
    ) -> Result<Vec<(usize, Motion)>, StepError> {
        let rest = 2.0 * self.dt * self.params.gravity[0].hypot(self.params.gravity[1]);
        if !hits.iter().any(|hit| hit.speed > rest) {
            return Ok(Vec::new());
        }
        let mut without = state.sheets.clone();
        let circulations = state.wake.circulations_of(self.bodies.len());
        find(EXACT, immersed, influence, &self.drives(momenta), &circulations, &mut without)?;
        let rate = |(now, last): (&Motion, &Motion)| [0, 1, 2].map(|d| (now[d] - last[d]) / self.dt);
        let acceleration: Vec<Motion> = without.motions.iter().zip(last).map(rate).collect();
        let moving = (&without.motions[..], &acceleration[..]);
        strike(immersed, influence, self.courses, hits, moving, (self.dt, rest, self.params.forces))
    }

    /// Lets a share of the sheets, and what is too old of the wake, go over into the modes, while bodies keep their velocities.
    fn shed(
        &self,
        state: &mut State,
        immersed: &mut Immersed,
        influence: &Influence,
        log: &mut Log,
    ) -> Result<(), StepError> {
        let share = self.params.feedback.share(self.dt);
        let of_sheets = (share > 0.0).then(|| self.of_shedding_sheets(state, immersed)).flatten();
        if of_sheets.is_none() && !state.wake.is_too_long() {
            return Ok(());
        }
        let before = self.of.square(immersed, state);
        let add = |flow: &mut [f64], share: f64, part: &[f64]| {
            flow.iter_mut().zip(part).for_each(|(to, part)| *to += share * part);
        };
        if let Some(of_sheets) = of_sheets {
            add(&mut state.flow, share, &of_sheets);
        }
        if let Some(old) = state.wake.give_up_the_oldest(&self.of.basis.sines) {
            add(&mut state.flow, 1.0, &self.of.dynamics.coefficients_of(&old));
        }
        self.of.put_into(state, immersed);
        let drives: Vec<Drive> = state.bodies.iter().map(|body| Drive::Given(body.motion)).collect();
        let circulations = state.wake.circulations_of(drives.len());
        log.solved(find(EXACT, immersed, influence, &drives, &circulations, &mut state.sheets)?);
        log.info.shed = 0.5 * self.params.density * (self.of.square(immersed, state) - before);
        log.stage("shed");
        Ok(())
    }

    /// The flow of the sheets that shed, in modes; none if none do: what has edges leaves its wake there.
    fn of_shedding_sheets(&self, state: &State, immersed: &Immersed) -> Option<Vec<f64>> {
        let sheds = |body: &Body| body.edges.is_empty();
        let mut strengths = state.sheets.strengths.clone();
        for (_, range) in self.bodies.iter().zip(immersed.ranges()).filter(|(body, _)| !sheds(body)) {
            strengths[range].fill(0.0);
        }
        self.bodies.iter().any(sheds).then(|| self.of.coefficients_of(immersed, &strengths))
    }

    /// The forces of the fluid on bodies whose motion is given; nothing for others.
    fn forces_on_given(
        &self,
        state: &State,
        immersed: &Immersed,
        last: &[Motion],
        [start, end]: [&[Impulse]; 2],
        left: &[Motion],
    ) -> Vec<Motion> {
        let force = |(k, course): (usize, &Course)| match course {
            Course::Free(_) => [0.0; 3],
            Course::Given(_) => {
                let rate = mean(start[k].rate, end[k].rate);
                let at_end = along(immersed.momentum(&state.sheets, k), 1.0, left[k]);
                let momenta = [start[k].momentum, at_end];
                self.force_on_given(k, [last[k], state.bodies[k].motion], momenta, rate)
            }
        };
        self.courses.iter().enumerate().map(force).collect()
    }

    /// The force of the fluid on a body whose motion is given, from its velocities and momenta at the beginning and the end: what changes them without anyone's force, less
    /// what has changed of them, but for what the body itself has.
    fn force_on_given(
        &self,
        body: usize,
        motions: [Motion; 2],
        momenta: [Motion; 2],
        rate: Motion,
    ) -> Motion {
        let (masses, [gx, gy]) = (self.bodies[body].masses(), self.params.gravity);
        let weight = [masses[0] * gx, masses[1] * gy, 0.0];
        [0, 1, 2].map(|d| {
            let own = masses[d] * (motions[1][d] - motions[0][d]);
            let changed = (momenta[1][d] - momenta[0][d] - own) / self.dt;
            self.params.density * (rate[d] - weight[d] - changed)
        })
    }

    /// Carries tracers by the flow of the end. They are half a step ahead of it, and so of second order.
    fn carry_tracers(&self, state: &mut State) {
        if state.tracers.iter().all(|tracers| tracers.position.is_empty()) {
            return;
        }
        let sines = self.of.basis.fine_sines();
        let poses = state.poses();
        let immersed = Immersed::new(&self.of.images, self.bodies, &poses);
        let vorticity = self.of.vorticity(&immersed, state, &sines);
        let velocities = Velocities::new(&sines, &vorticity);
        for tracers in &mut state.tracers {
            tracers.carry(&velocities, self.bodies, &poses, self.dt);
        }
    }

    /// What moves the bodies, if they have these momenta.
    fn drives(&self, momenta: &[Motion]) -> Vec<Drive> {
        let drive = |(k, course): (usize, &Course)| match (course, self.params.forces) {
            (Course::Given(body), _) => Drive::Given(body.motion),
            (Course::Free(_), Forces::Potential) => Drive::Free(momenta[k]),
            (Course::Free(_), Forces::Paper) => {
                let masses = self.bodies[k].masses();
                Drive::Given([0, 1, 2].map(|d| momenta[k][d] / masses[d]))
            }
        };
        self.courses.iter().enumerate().map(drive).collect()
    }
}

fn along(from: Motion, dt: f64, rate: Motion) -> Motion {
    [0, 1, 2].map(|k| from[k] + dt * rate[k])
}

fn mean(a: Motion, b: Motion) -> Motion {
    [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
}
