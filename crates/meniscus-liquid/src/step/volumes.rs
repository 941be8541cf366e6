//! The volumes of a substep: what changed them is booked, and what should not have is undone, as far as corrections cannot mend it.

use super::clock::Clock;
use super::inflow::{Flows, fill_sources};
use super::squeeze::{Squeeze, find_compressed_air};
use super::workspace::Workspace;
use crate::books::Ledger;
use crate::boundary::Boundary;
use crate::measure::liquid_by_block;
use crate::params::AirModel;
use crate::regions::Regions;
use crate::state::State;
use crate::substep::{Given, Substep};
use crate::surface::shift::{undo_sudden_change, undo_sudden_changes};
use crate::tracking::{BubbleEvent, Found, Now, Tracked, trace};
use crate::volume::accounts::Accounts;

/// Opens a page of the book of volumes, and the accounts of the blocks if they are closed.
pub fn open_book<const D: usize>(
    given: Given<D>,
    state: &mut State<D>,
    at_start: Option<&Boundary<D>>,
) -> Ledger {
    if let Some(boundary) = at_start.filter(|_| state.accounts.are_closed()) {
        state.accounts = Accounts::new(liquid_by_block(&state.level_set, boundary));
    }
    let mut ledger = Ledger::new(state.accounts.volume.clone(), given.params.cell_volume());
    ledger.carry(|book| &mut book.placed, std::mem::take(&mut state.placed));
    ledger
}

/// Books what flowed into sinks and out through open sides, and what sources and corrections brought; tells what volume the liquid should have.
pub fn book_flows<const D: usize>(
    Substep { boundary, dt, .. }: Substep<D>,
    Flows { into_sinks, out, .. }: Flows,
    state: &mut State<D>,
    ledger: &mut Ledger,
) {
    ledger.flowed(|book| &mut book.left, -out);
    ledger.flowed(|book| &mut book.drained, -into_sinks);
    ledger.flowed(|book| &mut book.poured, state.inflow * dt);
    ledger.flowed(|book| &mut book.divergence, state.growth * dt);
    state.volume_target = (state.volume_target + ledger.page().wanted()).max(0.0);
    state.inflow = boundary.inflow();
    if state.substep == 0 && state.tracked.is_some() {
        // What particles first make of the surface of bubbles is no error to correct: their pressures would tell. What a wall that moves leaves behind is one.
        state.volume_target = ledger.volume() - ledger.page().advected;
    }
}

/// Undoes what volumes have changed by that is more than corrections can mend, of all that keep theirs. Tells what happened to bubbles, and what air is compressed.
pub fn keep_volumes<const D: usize>(
    substep: Substep<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> (Vec<BubbleEvent>, Vec<Squeeze>) {
    match state.tracked.take() {
        Some(old) => follow_regions(substep, old, state, workspace, ledger, clock),
        None => {
            keep_volume(substep, state, ledger);
            Default::default()
        }
    }
}

/// Undoes what the volume of all liquid has changed by that is more than corrections can mend.
fn keep_volume<const D: usize>(
    Substep { params, surroundings, boundary, .. }: Substep<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
) {
    let State { level_set, volume_target, .. } = state;
    let in_cells = |volume: f64| volume / params.cell_volume();
    if params.air == AirModel::None {
        // What fills the domain is as much as solids leave of it.
        *volume_target = ledger.volume();
    } else if undo_sudden_change(level_set, boundary, in_cells(ledger.volume()), in_cells(*volume_target)) {
        fill_sources(level_set, params, &surroundings.sources);
        ledger.book(|book| &mut book.shifted, liquid_by_block(level_set, boundary));
    }
}

/// Finds the bodies of liquid and the regions of air, measures them, and tells who of the `old` ones is who; undoes what the volume of each of them has changed by
/// that is more than corrections can mend. Tells what happened to bubbles, and what air is compressed.
fn follow_regions<const D: usize>(
    substep: Substep<D>,
    old: Tracked<D>,
    state: &mut State<D>,
    workspace: &mut Workspace<D>,
    ledger: &mut Ledger,
    clock: &mut Clock,
) -> (Vec<BubbleEvent>, Vec<Squeeze>) {
    let Substep { params, surroundings, boundary, dt } = substep;
    let cache = &mut workspace.boundary;
    let regions = Regions::find(params, surroundings, &state.level_set, boundary, cache);
    clock.stage("regions");
    let volumes = regions.measure(&state.level_set, boundary, cache.open_cells(params, &surroundings.solids));
    let mut found = Found { regions, volumes };
    clock.stage("measure");
    let labels = [&old.labels, &found.regions.labels];
    let ancestry = trace(labels, &state.level_set, &state.velocity, substep.dt_in_cells());
    let specks = old.specks(&found, &ancestry);
    if !specks.is_empty() {
        found.regions.fill(&specks, &mut found.volumes, &mut state.level_set);
        ledger.book(|book| &mut book.specks, liquid_by_block(&state.level_set, boundary));
    }
    let now = Now { time: state.time + dt, dt, liquid: state.volume_target };
    let (mut tracked, events) = old.succeeded_by(params, &found, &ancestry, now);
    if state.substep == 0 {
        tracked.rest_as_measured(state.volume_target / ledger.volume().max(f64::MIN_POSITIVE));
    }
    tracked.set_inflow(boundary);
    clock.stage("tracking");
    if undo_sudden_changes(&tracked, &mut state.level_set, params.cell_volume()) {
        let open = cache.open_cells(params, &surroundings.solids);
        found.volumes = found.regions.measure(&state.level_set, boundary, open);
        tracked.set_volumes(params, &found.volumes);
        ledger.book(|book| &mut book.shifted, liquid_by_block(&state.level_set, boundary));
    }
    state.tracked = Some(tracked);
    let squeezes = match params.air {
        AirModel::Bubbles => find_compressed_air(substep, &found.regions),
        // Air that is solved for is compressed as liquid is.
        _ => Vec::new(),
    };
    (events, squeezes)
}

/// Takes over the volume of the liquid, and settles the accounts of the blocks, from which so much flowed to others.
pub fn settle<const D: usize>(
    Substep { params, boundary, dt, .. }: Substep<D>,
    state: &mut State<D>,
    ledger: &Ledger,
    outflow: &[f64],
) {
    state.volume = ledger.volume();
    state.corrected += ledger.page().corrected();
    if params.air == AirModel::None {
        // What fills the domain has what it should have everywhere.
        state.accounts.hold(ledger.by_block().to_vec());
    } else {
        state.accounts.settle(ledger.by_block(), outflow, dt);
        state.accounts.set_poured(boundary, params.cell_volume());
    }
}
