//! Vortices leave the edges of bodies.

use faer::Mat;
use faer::linalg::solvers::Solve;

use super::Step;
use super::info::Log;
use crate::error::StepError;
use crate::find::{EXACT, find};
use crate::panels::{Drive, Immersed, Influence, Solution};
use crate::state::State;
use crate::wake::{Blob, Wake};

/// A vortex that leaves an edge, of unit circulation, and what it does.
struct Leaving {
    body: usize,
    /// The panels that end and begin at the edge.
    panels: [usize; 2],
    blob: Blob,
    /// Where it is when it goes on its way.
    released: [f64; 2],
    /// What it takes from the momenta of the body.
    impulse: [f64; 3],
    /// The sheets and velocities that answer to it, with what it takes from the circulation around the body.
    answer: Solution,
}

impl Step<'_> {
    /// Finds sheets and velocities such that the flow leaves the edges of bodies smoothly. A vortex for that leaves each edge, of as much circulation as goes from around
    /// the body (Kelvin), and takes its momentum along, which the log has.
    pub(super) fn find_with_wake(
        &self,
        state: &mut State,
        immersed: &mut Immersed,
        influence: &Influence,
        drives: &[Drive],
        log: &mut Log,
    ) -> Result<(), StepError> {
        log.left.fill([0.0; 3]);
        log.released.clear();
        let circulations = state.wake.circulations_of(drives.len());
        log.solved(find(EXACT, immersed, influence, drives, &circulations, &mut state.sheets)?);
        let leaving = self.leaving(state, immersed, influence, drives)?;
        if leaving.is_empty() {
            return Ok(());
        }
        // The speeds on both sides of an edge are equal, and so the strengths there opposite: γ + γ' = 0.
        let at_edge = |edge: &Leaving, sheets: &Solution| -> f64 {
            edge.panels.iter().map(|&panel| sheets.strengths[panel]).sum()
        };
        let count = leaving.len();
        let matrix = Mat::from_fn(count, count, |i, j| at_edge(&leaving[i], &leaving[j].answer));
        let rest = Mat::from_fn(count, 1, |i, _| -at_edge(&leaving[i], &state.sheets));
        let circulations = matrix.partial_piv_lu().solve(&rest);
        state.wake.circulations.resize(drives.len(), 0.0);
        for (edge, Leaving { body, blob, released, impulse, answer, .. }) in leaving.into_iter().enumerate() {
            let circulation = circulations[(edge, 0)];
            let add = |to: &mut f64, part: &f64| *to += circulation * part;
            state.sheets.add(circulation, &answer);
            state.wake.circulations[body] -= circulation;
            log.left[body].iter_mut().zip(&impulse).for_each(|(to, part)| add(to, part));
            state.wake.blobs.push(Blob { circulation, ..blob });
            log.released.push(released);
            let new = Wake { blobs: vec![Blob { circulation, ..blob }], ..Wake::default() };
            immersed.add_streams(|points, streams| new.add_streams(&self.of.images, points, streams));
        }
        Ok(())
    }

    /// What leaves the edges of bodies that move in the fluid.
    fn leaving(
        &self,
        state: &State,
        immersed: &Immersed,
        influence: &Influence,
        drives: &[Drive],
    ) -> Result<Vec<Leaving>, StepError> {
        let mut all = Vec::new();
        for (body, range) in immersed.ranges().enumerate() {
            for &edge in &self.bodies[body].edges {
                let own = &self.bodies[body].profile.panels;
                let (before, after) = ((edge + own.len() - 1) % own.len(), edge);
                let pose = state.bodies[body].pose;
                let (at_edge, [u, v, spin]) = (pose.place(own[after].start), state.sheets.motions[body]);
                let [x, y] = [0, 1].map(|axis| at_edge[axis] - pose.centre[axis]);
                let [a, b] = [own[before].tangent, own[after].tangent];
                // Between the two sides, away from the body.
                let out = pose.turn([0, 1].map(|axis| a[axis] - b[axis]));
                let away =
                    |way: f64| [0, 1].map(|axis| at_edge[axis] + way * out[axis] / out[0].hypot(out[1]));
                let behind = away(BEHIND * self.bodies[body].profile.reach);
                let of_fluid = self.of.velocities(immersed, state, &[behind])[0];
                // How far fluid gets from the edge in this step.
                let way = (of_fluid[0] - u + spin * y).hypot(of_fluid[1] - v - spin * x) * self.dt;
                if way < LEAST_WAY * own[after].length {
                    continue;
                }
                let blob = Blob { at: away(ANSWERED * way), circulation: 1.0, core: way };
                let released = away(RELEASED * way);
                let impulse = [y, -x, -0.5 * (x * x + y * y)];
                let answer = self.answer(immersed, influence, drives, (body, blob, impulse))?;
                let panels = [before, after].map(|panel| range.start + panel);
                all.push(Leaving { body, panels, blob, released, impulse, answer });
            }
        }
        Ok(all)
    }

    /// What sheets and velocities answer to a vortex of unit circulation that leaves a body.
    fn answer(
        &self,
        immersed: &Immersed,
        influence: &Influence,
        drives: &[Drive],
        (body, blob, impulse): (usize, Blob, [f64; 3]),
    ) -> Result<Solution, StepError> {
        let mut alone = immersed.in_still_fluid();
        let wake = Wake { blobs: vec![blob], ..Wake::default() };
        alone.add_streams(|points, streams| wake.add_streams(&self.of.images, points, streams));
        let drive = |(number, drive): (usize, &Drive)| match drive {
            Drive::Given(_) => Drive::Given([0.0; 3]),
            Drive::Free(_) if number == body => Drive::Free(impulse.map(|part| -part)),
            Drive::Free(_) => Drive::Free([0.0; 3]),
        };
        let drives: Vec<Drive> = drives.iter().enumerate().map(drive).collect();
        let mut circulations = vec![0.0; drives.len()];
        circulations[body] = -1.0;
        let mut answer = Solution::default();
        find(EXACT, &alone, influence, &drives, &circulations, &mut answer)?;
        Ok(answer)
    }

    /// The velocities of the fluid at the vortices of the wake.
    pub(super) fn velocities_of_wake(&self, state: &State) -> Vec<[f64; 2]> {
        if state.wake.blobs.is_empty() {
            return Vec::new();
        }
        let points: Vec<[f64; 2]> = state.wake.blobs.iter().map(|blob| blob.at).collect();
        let poses = state.poses();
        let immersed = self.of.immersed(self.bodies, state, &poses);
        self.of.velocities(&immersed, state, &points)
    }

    /// Moves the vortices of the wake from where they were, but not into bodies or out of the box.
    pub(super) fn move_wake(&self, state: &mut State, from: &[Blob], velocities: &[[f64; 2]]) {
        let (size, poses) = (self.of.basis.sines.size, state.poses());
        let carried = state.wake.blobs.iter_mut().zip(from).zip(velocities);
        for ((blob, from), velocity) in carried {
            let to = [0, 1].map(|axis| from.at[axis] + self.dt * velocity[axis]);
            let inside = |x: [f64; 2]| [0, 1].map(|a| x[a].clamp(1e-6 * size[a], (1.0 - 1e-6) * size[a]));
            blob.at = inside(to);
            for (body, pose) in self.bodies.iter().zip(&poses) {
                let own = pose.place_back(blob.at);
                if own[0].hypot(own[1]) < body.profile.reach
                    && let Some(outside) = body.profile.nearest_outside(own)
                {
                    blob.at = inside(pose.place(outside));
                }
            }
        }
    }

    /// Has the vortices that left edges in this step go on their way.
    pub(super) fn release_wake(&self, state: &mut State, log: &Log) {
        let new = state.wake.blobs.iter_mut().rev().zip(log.released.iter().rev());
        new.for_each(|(blob, at)| blob.at = *at);
    }
}

/// What leaves an edge in a step is a sheet as long as the fluid gets in it, with as much everywhere. What a vortex does to the edge of a plate goes with one over the root of how far off it is:
/// in this part of the way a vortex does what the sheet does.
const ANSWERED: f64 = 0.25;
/// From the middle of the sheet the vortex goes on.
const RELEASED: f64 = 0.5;
/// How far behind an edge the flow is asked for its speed, in times that the body reaches: not nearer, where it may go around the edge before a vortex has left.
const BEHIND: f64 = 0.1;
/// Where fluid does not get farther than this part of a panel in a step, nothing leaves.
const LEAST_WAY: f64 = 1e-3;
