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
    /// The sources, by number, that push into it and have no room to.
    pub sources: Vec<usize>,
    /// The part of what they push that there is no room for.
    pub refused: f64,
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

/// What is squeezed or stretched: what the solve had to make compatible, if it is the doing of walls or sources. A wheel that turns
/// in a full box changes its room by what the grid does not see exactly.
pub fn find_squeezes<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    dt: f64,
    solve: &SolveInfo,
) -> Vec<Squeeze> {
    let blocks = boundary.blocks();
    let find = |first: usize| {
        let room = room_around(boundary, Slot::from_flat::<D>(first));
        let is_member = |slot: Slot| room[slot.flat::<D>()];
        let rates = (0..blocks.len()).into_par_iter().map(|block| {
            let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
            let members = slots.filter(|&slot| !boundary.is_resting(block) && is_member(slot));
            members.fold(Rates::default(), |sum, slot| {
                sum.plus(boundary.room_rate(params, surroundings, dt, slot))
            })
        });
        let rates: Vec<Rates> = rates.collect();
        let rates = rates.into_iter().fold(Rates::default(), Rates::joined);
        let into = |outlet: &&Outlet<D>| blocks.locate(outlet.cell).is_some_and(is_member);
        let outlets: Vec<&Outlet<D>> = boundary.outlets.iter().filter(into).collect();
        let poured: f64 = outlets.iter().map(|outlet| outlet.rate).sum();
        let made = if rates.are_unequal() { rates.net } else { 0.0 };
        let refused = if poured > 0.0 { (1.0 - made / poured).clamp(0.0, 1.0) } else { 0.0 };
        let mut sources: Vec<usize> = outlets.iter().map(|outlet| outlet.source).collect();
        sources.dedup();
        sources.retain(|_| refused > 0.0);
        // Where neither is to blame, two fluids regain their volumes at different rates.
        let squeezes = rates.are_unequal() && (poured == 0.0 || made > poured || made < 0.0);
        (squeezes || !sources.is_empty()).then(|| {
            let mut solids = Vec::new();
            if squeezes {
                solids = moving_solids_at(params, surroundings, boundary, blocks, is_member);
            }
            Squeeze { what: Squeezed::Liquid, solids, sources, refused }
        })
    };
    // Numbers after the slots are those of bubbles that touch no liquid.
    let squeezed = solve.sealed.iter().filter(|sealed| sealed.imbalance > IMBALANCE);
    squeezed.filter(|sealed| sealed.first < blocks.slots()).filter_map(|sealed| find(sealed.first)).collect()
}

/// The cells that open faces connect with one. What is sealed fills its room: nothing in it gives way, be it liquid or air.
fn room_around<const D: usize>(boundary: &Boundary<D>, first: Slot) -> Vec<bool> {
    let blocks = boundary.blocks();
    let mut room = vec![false; blocks.slots()];
    room[first.flat::<D>()] = true;
    let mut reached = vec![first];
    while let Some(slot) = reached.pop() {
        for (axis, side) in (0..D).flat_map(|axis| [(axis, 0), (axis, 1)]) {
            let Some(next) = blocks.step(slot, axis, side).filter(|next| blocks.is_inside(*next)) else {
                continue;
            };
            let upper = if side == 1 { next } else { slot };
            if boundary.open.axes[axis][upper] > 0.0 && !room[next.flat::<D>()] {
                room[next.flat::<D>()] = true;
                reached.push(next);
            }
        }
    }
    room
}

impl<const D: usize> State<D> {
    /// Takes back what sources were to pour where there is no room for it, with the velocity of this moment.
    pub(crate) fn stop_pouring(&mut self, params: &Params<D>, boundary: &Boundary<D>, squeezes: &[Squeeze]) {
        for outlet in &boundary.outlets {
            let full = squeezes.iter().find(|squeeze| squeeze.sources.contains(&outlet.source));
            let Some((squeeze, slot)) = full.zip(self.level_set.blocks().locate(outlet.cell)) else {
                continue;
            };
            let rate = squeeze.refused * outlet.rate;
            self.inflow -= rate;
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
        Squeeze { what: Squeezed::Air, solids, sources: Vec::new(), refused: 0.0 }
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
