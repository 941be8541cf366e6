//! Smoke moves with the flow, and may be lighter than the fluid around it.

use meniscus_core::advect::advect_points_then;
use meniscus_core::grid::FaceField;
use meniscus_core::particles::{BlockRanges, markers_along};

use super::clock::Clock;
use super::workspace::Workspace;
use crate::particles::Markers;
use crate::particles::collide::{CollideInfo, Obstacles, keep_points};
use crate::state::State;
use crate::substep::Substep;

/// Moves markers, sorted by the blocks of the velocity, with the flow, past solids; those that leave through open sides are gone.
fn carry<const D: usize>(
    obstacles: &Obstacles<D>,
    velocity: &FaceField<f32, D>,
    ranges: &BlockRanges<D>,
    Markers { position }: &mut Markers<D>,
) {
    position.truncate(ranges.sorted());
    let dt_in_cells = obstacles.substep().dt_in_cells();
    let kept = advect_points_then(position, ranges, velocity, dt_in_cells, |before, points| {
        keep_points(obstacles, before, points)
    });
    if kept.into_iter().any(|kept| kept != CollideInfo::default()) {
        position.retain(|x| x.iter().all(|c| c.is_finite()));
    }
}

/// Lets smoke rise: where it fills a cell, gravity is weaker by the part `buoyancy` (Boussinesq: the inertia is that of the
/// fluid).
pub fn add_buoyancy<const D: usize>(
    Substep { params, surroundings, dt, .. }: Substep<D>,
    markers: &[Markers<D>],
    velocity: &mut FaceField<f32, D>,
) {
    let full = markers_along::<D>().pow(D as u32) as f64;
    for (smoke, markers) in surroundings.smoke.iter().zip(markers).filter(|(smoke, _)| smoke.buoyancy != 0.0)
    {
        let lift = params.gravity.map(|g| (-g * smoke.buoyancy * dt / full) as f32);
        for (axis, &lift) in lift.iter().enumerate().filter(|(_, lift)| **lift != 0.0) {
            let field = &mut velocity.axes[axis];
            let blocks = field.blocks().clone();
            let values = field.values_mut();
            // A marker counts for the two faces that it is between, by how near they are.
            for x in &markers.position {
                let cell = x.map(|c| c as i64);
                let part = x[axis] - cell[axis] as f32;
                for (step, share) in [(0, 1.0 - part), (1, part)] {
                    let mut face = cell;
                    face[axis] += step;
                    if let Some(slot) = blocks.locate(face) {
                        values[slot.flat::<D>()] += lift * share;
                    }
                }
            }
        }
    }
}

/// Moves the markers of all smoke with the flow, and emits new ones.
pub fn move_smoke<const D: usize>(
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
    state.emit_smoke(substep.params, substep.surroundings, |_| true);
    *of_smoke = state.sort_smoke(substep.boundary.blocks(), sort);
    clock.stage("smoke");
}
