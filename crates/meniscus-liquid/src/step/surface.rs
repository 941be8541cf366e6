//! The surface of the liquid moves.

use std::sync::Arc;

use meniscus_core::grid::Blocks;

use super::clock::Clock;
use super::inflow::{cells_of_sinks, empty_sinks, fill_sources};
use super::ranges::PhaseRanges;
use crate::books::Ledger;
use crate::measure::liquid_by_block;
use crate::params::AirModel;
use crate::particles::Sorted;
use crate::state::{State, active_blocks, without_surface};
use crate::substep::{Given, Substep};
use crate::surface::{advect_surface, follow_particles, thicken_films};
use crate::volume::accounts::flow_between_blocks;

/// The blocks that the fields of the moved liquid need: the same as before, if they are.
pub fn blocks_of_fields<const D: usize>(
    Given { params, surroundings, .. }: Given<D>,
    state: &State<D>,
) -> Arc<Blocks<D>> {
    let blocks = active_blocks(params, surroundings, &state.particles.position);
    let known = state.level_set.blocks();
    if blocks == **known { known.clone() } else { Arc::new(blocks) }
}

/// Moves the level set with the flow, and holds it to what the particles allow. Tells what flowed out of each block to others.
pub fn move_surface<const D: usize>(
    substep: Substep<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> Vec<f64> {
    let Substep { params, surroundings, boundary, .. } = substep;
    let (blocks, known) = (boundary.blocks(), state.level_set.blocks().clone());
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
        let before = ledger.by_block().to_vec();
        fill_sources(&mut state.level_set, params, &surroundings.sources);
        ledger.book(|book| &mut book.advected, liquid_by_block(&state.level_set, boundary));
        // One that opens in air has found no blocks to fill: those were made since.
        for block in (0..blocks.len()).filter(|&block| known.find(blocks.coord(block)).is_none()) {
            let filled = ledger.by_block()[block] - before[block];
            state.accounts.add(block, filled);
            ledger.flowed(|book| &mut book.poured, filled * params.cell_volume());
        }
    }
    outflow
}
