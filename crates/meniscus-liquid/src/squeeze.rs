//! Liquid and air that solids squeeze where nothing can give way.

use meniscus_core::grid::{Blocks, Slot, block_len};
use meniscus_linalg::SolveInfo;
use rayon::prelude::*;

use crate::boundary::{Boundary, Outlet};
use crate::params::{Params, Solid, Surroundings};
use crate::regions::{Owner, Regions};
use crate::state::State;

/// Something whose walls do not leave it its volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Squeeze {
    /// What it is.
    pub what: Squeezed,
    /// The solids, by number, that move at its walls.
    pub solids: Vec<usize>,
    /// The sources, by number, that push into it.
    pub sources: Vec<usize>,
}

/// What solids squeeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squeezed {
    /// A body of liquid without a free surface. It has the flow that is closest to keeping its volume: all its cells share
    /// the rest.
    Liquid,
    /// The air of a room that holds liquid and that nothing connects with the outside. Its region with the largest surface
    /// takes up what the walls do, and resists no more than open air would.
    Air,
}

/// What is left of a divergence by rounding is no squeeze, as a part of the right-hand side.
const IMBALANCE: f64 = 1e-3;

/// The bodies that are squeezed or stretched: those that the solve had to make compatible, if it is the walls' doing. A wheel that turns
/// in a full box changes its room by what the grid does not see exactly.
pub fn find_squeezes<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    dt: f64,
    solve: &SolveInfo,
) -> Vec<Squeeze> {
    let level_set = &state.level_set;
    let squeezed = solve.sealed.iter().filter(|sealed| sealed.imbalance > IMBALANCE);
    let find = |first: usize| {
        let body = |slot: Slot| state.tracked.as_ref().and_then(|tracked| tracked.body_at(slot));
        // A component may begin with a bubble, whose numbers come after the slots.
        let wanted = (first < level_set.values().len()).then(|| body(Slot::from_flat::<D>(first))).flatten();
        let is_of_body = |slot: Slot| level_set[slot] < 0.0 && (wanted.is_none() || body(slot) == wanted);
        let is_member = |slot: Slot| params.second().is_some() || is_of_body(slot);
        let rates = (0..level_set.blocks().len()).into_par_iter().map(|block| {
            let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
            let members = slots.filter(|&slot| !boundary.is_resting(block) && is_member(slot));
            members.fold(Rates::default(), |sum, slot| {
                sum.plus(boundary.room_rate(params, surroundings, dt, slot))
            })
        });
        let rates: Vec<Rates> = rates.collect();
        let rates = rates.into_iter().fold(Rates::default(), Rates::joined);
        // Where no wall moves it is a source that has no room, or two fluids that regain their volumes at different rates.
        let into = |outlet: &&Outlet<D>| level_set.blocks().locate(outlet.cell).is_some_and(is_member);
        let mut sources: Vec<usize> =
            boundary.outlets.iter().filter(into).map(|outlet| outlet.source).collect();
        sources.dedup();
        (!sources.is_empty() || rates.are_unequal()).then(|| {
            let solids = moving_solids_at(params, surroundings, boundary, level_set.blocks(), is_member);
            Squeeze { what: Squeezed::Liquid, solids, sources }
        })
    };
    squeezed.filter_map(|sealed| find(sealed.first)).collect()
}

impl<const D: usize> State<D> {
    /// Takes back what sources were to pour into liquid that has no room for it, with the velocity of this moment.
    pub(crate) fn stop_pouring(&mut self, params: &Params<D>, boundary: &Boundary<D>, squeezes: &[Squeeze]) {
        let is_full = |source: usize| squeezes.iter().any(|squeeze| squeeze.sources.contains(&source));
        for Outlet { cell, rate, .. } in boundary.outlets.iter().filter(|outlet| is_full(outlet.source)) {
            self.inflow -= rate;
            let Some(slot) = self.level_set.blocks().locate(*cell) else { continue };
            self.accounts.not_poured(slot.block, rate / params.grid.dx.powi(D as i32));
            if let Some(tracked) = &mut self.tracked
                && let Some(body) = tracked.body_at(slot)
            {
                tracked.bodies[body].inflow -= rate;
            }
        }
    }
}

/// What moving walls add to the room of something, in m³/s (2D: m²/s).
#[derive(Clone, Copy, Default)]
struct Rates {
    net: f64,
    all: f64,
}

impl Rates {
    fn plus(self, rate: f64) -> Self {
        Self { net: self.net + rate, all: self.all + rate.abs() }
    }

    fn joined(self, other: Self) -> Self {
        Self { net: self.net + other.net, all: self.all + other.all }
    }

    fn are_unequal(self) -> bool {
        self.net.abs() > UNEQUAL * self.all
    }
}

/// What moving walls add to the room of something sealed and take from it elsewhere is the same, but for this part of it: the
/// fractions that it is measured by are.
const UNEQUAL: f64 = 0.1;

/// The sealed groups of regions and bodies whose room moving solids change.
pub fn find_compressed_air<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    regions: &Regions<D>,
    dt: f64,
) -> Vec<Squeeze> {
    if !surroundings.solids.iter().any(Solid::moves) {
        return Vec::new();
    }
    let groups = regions.sealed_groups();
    let (mut of_body, mut of_region) = (vec![None; regions.bodies.len()], vec![None; regions.air.len()]);
    for (index, group) in groups.iter().enumerate() {
        group.bodies.iter().for_each(|&body| of_body[body] = Some(index));
        group.regions.iter().for_each(|&region| of_region[region] = Some(index));
    }
    let group_of = |label: u32| match Owner::of(label)? {
        Owner::Body(body) => of_body[body],
        Owner::Region(region) => of_region[region],
    };
    let blocks = regions.labels.blocks();
    let of_block = |block: usize| {
        let mut rates = vec![Rates::default(); groups.len()];
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        for slot in slots.filter(|_| !boundary.is_resting(block)) {
            if let Some(group) = group_of(regions.labels[slot]) {
                rates[group] = rates[group].plus(boundary.room_rate(params, surroundings, dt, slot));
            }
        }
        rates
    };
    let rates: Vec<Vec<Rates>> = (0..blocks.len()).into_par_iter().map(of_block).collect();
    let is_compressed = |group: &usize| {
        let of_group = rates.iter().map(|of_block| of_block[*group]);
        of_group.fold(Rates::default(), Rates::joined).are_unequal()
    };
    let squeeze = |group: usize| {
        let is_member = |slot: Slot| group_of(regions.labels[slot]) == Some(group);
        let solids = moving_solids_at(params, surroundings, boundary, blocks, is_member);
        Squeeze { what: Squeezed::Air, solids, sources: Vec::new() }
    };
    (0..groups.len()).filter(is_compressed).map(squeeze).collect()
}

/// The moving solids within a cell of the cells for which `is_member` holds.
fn moving_solids_at<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    blocks: &Blocks<D>,
    is_member: impl Fn(Slot) -> bool + Sync,
) -> Vec<usize> {
    let cut: Vec<usize> = (0..blocks.len()).filter(|&block| boundary.is_cut(block)).collect();
    let touches = |&index: &usize| {
        let solid = &surroundings.solids[index];
        solid.moves()
            && cut.par_iter().any(|&block| {
                let members =
                    (0..block_len::<D>()).map(|local| Slot { block, local }).filter(|&s| is_member(s));
                let centres =
                    members.map(|slot| params.grid.cell_centre(blocks.cell(slot).map(|c| c as i64)));
                centres.map(|centre| solid.distance(centre)).any(|distance| distance < params.grid.dx)
            })
    };
    (0..surroundings.solids.len()).filter(touches).collect()
}
