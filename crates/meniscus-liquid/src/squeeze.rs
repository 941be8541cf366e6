//! Liquid and air that solids squeeze where nothing can give way.

use meniscus_core::grid::{Blocks, Slot, block_len};
use meniscus_linalg::SolveInfo;
use rayon::prelude::*;

use crate::boundary::Boundary;
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

/// The bodies that are squeezed or stretched, by what the solve made compatible.
pub fn find_squeezes<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    solve: &SolveInfo,
) -> Vec<Squeeze> {
    let level_set = &state.level_set;
    let squeezed = solve.sealed.iter().filter(|sealed| sealed.imbalance > IMBALANCE);
    let find = |first: usize| {
        let body = |slot: Slot| state.tracked.as_ref().and_then(|tracked| tracked.body_at(slot));
        let slot_of = |flat: usize| Slot { block: flat / block_len::<D>(), local: flat % block_len::<D>() };
        // A component may begin with a bubble, whose numbers come after the slots.
        let wanted = (first < level_set.values().len()).then(|| body(slot_of(first))).flatten();
        let is_member = |slot: Slot| level_set[slot] < 0.0 && (wanted.is_none() || body(slot) == wanted);
        let solids = moving_solids_at(params, surroundings, boundary, level_set.blocks(), is_member);
        Squeeze { what: Squeezed::Liquid, solids }
    };
    squeezed.map(|sealed| find(sealed.first)).collect()
}

/// What moving walls add to the room of a sealed group and take from it elsewhere is the same, but for this part of it: the
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
        let mut rates = vec![[0.0; 2]; groups.len()];
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        for slot in slots.filter(|_| !boundary.is_resting(block)) {
            if let Some(group) = group_of(regions.labels[slot]) {
                let rate = boundary.room_rate(params, surroundings, dt, slot);
                rates[group] = [rates[group][0] + rate, rates[group][1] + rate.abs()];
            }
        }
        rates
    };
    let rates: Vec<Vec<[f64; 2]>> = (0..blocks.len()).into_par_iter().map(of_block).collect();
    let is_compressed = |group: &usize| {
        let [net, all] = rates
            .iter()
            .fold([0.0; 2], |[net, all], of_block| [net + of_block[*group][0], all + of_block[*group][1]]);
        net.abs() > UNEQUAL * all
    };
    let squeeze = |group: usize| {
        let is_member = |slot: Slot| group_of(regions.labels[slot]) == Some(group);
        let solids = moving_solids_at(params, surroundings, boundary, blocks, is_member);
        Squeeze { what: Squeezed::Air, solids }
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
