//! What becomes of particles in a substep.

use std::sync::Arc;

use meniscus_core::advect::{advect_particles, advect_points};
use meniscus_core::grid::Blocks;
use meniscus_core::particles::BlockRanges;

use super::ranges::PhaseRanges;
use super::reseed::{ReseedInfo, reseed};
use super::spray::Spray;
use super::workspace::Workspace;
use crate::params::Params;
use crate::particles::Newcomers;
use crate::particles::collide::{CollideInfo, Obstacles, keep_inside, meet_solids};
use crate::state::{Phase, State};
use crate::substep::Given;

/// How many particles came and went, and how.
#[derive(Default)]
pub struct Fate {
    /// Particles that lay in no block to begin with.
    pub dropped: usize,
    pub reseed: ReseedInfo,
    pub drained: usize,
    pub collide: CollideInfo,
}

/// Where the particles are that the last substep sorted; they are sorted if it did not, or someone has changed them.
pub fn known_ranges<const D: usize>(
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

/// Keeps the number of particles in a cell within bounds; gives those that are new, by fluid.
pub fn refill<const D: usize>(
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

/// Moves the particles of all fluids with the flow, newcomers too, and holds them behind the sides of the domain. What was `poured` is liquid.
pub fn move_particles<const D: usize>(
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

/// Stops particles at the solids that they met on their way.
pub fn stop_particles<const D: usize>(
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
pub fn sort_into<const D: usize>(
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
