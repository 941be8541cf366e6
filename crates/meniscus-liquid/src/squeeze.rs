//! Liquid that solids squeeze where nothing can give way.

use meniscus_core::grid::{Slot, block_len};
use meniscus_linalg::SolveInfo;
use rayon::prelude::*;

use crate::boundary::Boundary;
use crate::params::{Params, Surroundings};
use crate::state::State;

/// A body of liquid without a free surface whose walls do not leave it its volume. It has the flow that is closest to
/// keeping it: all its cells share the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Squeeze {
    /// The solids, by number, that move at its walls.
    pub solids: Vec<usize>,
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
    let squeezed = solve.sealed.iter().filter(|sealed| sealed.imbalance > IMBALANCE);
    let find = |first: usize| {
        let body = |slot: Slot| state.tracked.as_ref().and_then(|tracked| tracked.body_at(slot));
        let slot_of = |flat: usize| Slot { block: flat / block_len::<D>(), local: flat % block_len::<D>() };
        // A component may begin with a bubble, whose numbers come after the slots.
        let wanted = (first < state.level_set.values().len()).then(|| body(slot_of(first))).flatten();
        let is_member =
            |slot: Slot| state.level_set[slot] < 0.0 && (wanted.is_none() || body(slot) == wanted);
        Squeeze { solids: moving_solids_at(params, surroundings, boundary, state, is_member) }
    };
    squeezed.map(|sealed| find(sealed.first)).collect()
}

/// The moving solids within a cell of the cells for which `is_member` holds.
fn moving_solids_at<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    state: &State<D>,
    is_member: impl Fn(Slot) -> bool + Sync,
) -> Vec<usize> {
    let blocks = state.level_set.blocks();
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
