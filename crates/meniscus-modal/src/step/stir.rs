//! Changes of a flow between two steps.

use super::Workspace;
use crate::error::StepError;
use crate::find::{EXACT, find};
use crate::panels::{Body, Drive};
use crate::state::State;

/// Adds to a flow, by coefficients of its modes: what a force does to all fluid in no time, also to that in whose place bodies are. The first `free` bodies are moved by it as that
/// fluid would be: they keep their momenta, with that of the fluid which they take along. Others keep their velocities.
pub fn stir(
    state: &mut State,
    bodies: &[Body],
    free: usize,
    by: &[f64],
    workspace: &mut Workspace,
) -> Result<(), StepError> {
    let of = workspace.of(&state.basis);
    let poses = state.poses();
    let before = of.immersed(bodies, state, &poses);
    let circulations = state.wake.circulations_of(bodies.len());
    let drives: Vec<Drive> = (0..bodies.len())
        .map(|body| match body < free {
            true => Drive::Free(before.momentum(&state.sheets, body)),
            false => Drive::Given(state.bodies[body].motion),
        })
        .collect();
    state.flow.iter_mut().zip(by).for_each(|(to, part)| *to += part);
    if bodies.is_empty() {
        return Ok(());
    }
    let immersed = of.immersed(bodies, state, &poses);
    find(EXACT, &immersed, &immersed.influence(), &drives, &circulations, &mut state.sheets)?;
    state.move_as_found();
    Ok(())
}
