//! Liquid and air that solids and sources squeeze where nothing can give way.

use meniscus_core::grid::{Slot, block_len, sides};
use meniscus_core::parallel;
use meniscus_linalg::{Sealed, SolveInfo};

use crate::boundary::Boundary;
use crate::regions::{Owner, Regions};
use crate::state::State;
use crate::substep::Substep;
use crate::surroundings::Solid;

/// Something whose walls do not leave it its volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Squeeze {
    /// What it is.
    pub what: Squeezed,
    /// The solids, by number, that move at its walls.
    pub solids: Vec<usize>,
    /// The sources, by number, that pour more into it than its walls make room for.
    pub sources: Vec<usize>,
    /// The part of it that they do not pour: liquid does not give way at all.
    pub refused: f64,
}

/// What is squeezed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squeezed {
    /// A body of liquid without a free surface. It has the flow that is closest to keeping its volume: all its cells share
    /// the rest.
    Liquid,
    /// The air of a room that holds liquid and that nothing connects with the outside. Its region with the largest surface
    /// takes up what walls and sources do, and resists no more than open air would.
    Air,
}

/// What is left of a divergence by rounding is no squeeze, as a part of the right-hand side. Above the tolerance of solves; a smaller squeeze is not told, and shared by all cells as any.
const IMBALANCE: f64 = 1e-3;

/// What is squeezed or stretched where nothing gives way: what the solve had to make compatible, if it is the doing of walls or sources. A wheel that turns
/// in a full box changes its room by what the grid does not see exactly.
pub fn find_squeezes<const D: usize>(substep: Substep<D>, solve: &SolveInfo) -> Vec<Squeeze> {
    let boundary = substep.boundary;
    let blocks = boundary.blocks();
    let find = |sealed: &Sealed| {
        let is_imbalanced = sealed.imbalance > IMBALANCE;
        if !is_imbalanced && boundary.outlets.is_empty() {
            return None;
        }
        let room = room_around(boundary, Slot::from_flat::<D>(sealed.first));
        let is_member = |slot: Slot| room[slot.flat::<D>()];
        let change = changes(substep, 1, |slot| is_member(slot).then_some(0))[0];
        // Gravity may be most of the right-hand side: what a source pours counts however little that is.
        (is_imbalanced || change.poured > 0.0)
            .then(|| change.squeeze(Squeezed::Liquid, substep, is_member))
            .flatten()
    };
    // Numbers after the slots are those of bubbles that touch no liquid.
    solve.sealed.iter().filter(|sealed| sealed.first < blocks.slots()).filter_map(find).collect()
}

/// The cells that open faces connect with one. What is sealed fills its room: nothing in it gives way, be it liquid or air.
fn room_around<const D: usize>(boundary: &Boundary<D>, first: Slot) -> Vec<bool> {
    let blocks = boundary.blocks();
    let mut room = vec![false; blocks.slots()];
    room[first.flat::<D>()] = true;
    let mut reached = vec![first];
    while let Some(slot) = reached.pop() {
        for (axis, side) in sides::<D>() {
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
    pub(crate) fn stop_pouring(
        &mut self,
        Substep { params, boundary, .. }: Substep<D>,
        squeezes: &[Squeeze],
    ) {
        for outlet in &boundary.outlets {
            let mut full = squeezes.iter().filter(|squeeze| squeeze.what == Squeezed::Liquid);
            let full = full.find(|squeeze| squeeze.sources.contains(&outlet.source));
            let Some((squeeze, slot)) = full.zip(self.level_set.blocks().locate(outlet.cell)) else {
                continue;
            };
            let rate = squeeze.refused * outlet.rate;
            self.inflow -= rate;
            self.accounts.not_poured(slot.block, rate / params.cell_volume());
            if let Some(tracked) = &mut self.tracked
                && let Some(body) = tracked.body_at(slot)
            {
                tracked.bodies[body].inflow -= rate;
            }
        }
    }
}

/// The sealed groups of regions and bodies whose room moving solids or sources change.
pub fn find_compressed_air<const D: usize>(substep: Substep<D>, regions: &Regions<D>) -> Vec<Squeeze> {
    let Substep { surroundings, boundary, .. } = substep;
    if boundary.outlets.is_empty() && !surroundings.solids.iter().any(Solid::moves) {
        return Vec::new();
    }
    let groups = regions.sealed_groups();
    let (mut of_body, mut of_region) = (vec![None; regions.bodies.len()], vec![None; regions.air.len()]);
    for (index, group) in groups.iter().enumerate() {
        group.bodies.iter().for_each(|&body| of_body[body] = Some(index));
        group.regions.iter().for_each(|&region| of_region[region] = Some(index));
    }
    let group_of = |slot: Slot| match Owner::of(regions.labels[slot])? {
        Owner::Liquid(body) => of_body[body],
        Owner::Air(region) => of_region[region],
    };
    let changes = changes(substep, groups.len(), group_of);
    let squeeze = |(group, change): (usize, Change)| {
        let is_member = |slot: Slot| group_of(slot) == Some(group);
        change.squeeze(Squeezed::Air, substep, is_member)
    };
    changes.into_iter().enumerate().filter_map(squeeze).collect()
}

/// What moving walls and sources do to the room of something that nothing leaves, in m³/s (2D: m²/s).
#[derive(Clone, Copy, Default)]
struct Change {
    /// What walls add to it and take from it.
    made: f64,
    /// What walls move of it, added or taken.
    moved: f64,
    /// What sources pour into it.
    poured: f64,
}

/// What moving walls add to the room of something sealed and take from it elsewhere is the same, but for this part of it: the
/// fractions that it is measured by are no better. A wheel that turns in a full box must not be told; a piston must.
const UNEQUAL: f64 = 0.1;

/// What a source has no room for below this part of what it pours, is what the grid does not see exactly. Only what is told depends on it, and what is refused of a source.
const NO_ROOM: f64 = 0.01;

impl Change {
    fn joined(self, other: Self) -> Self {
        Self {
            made: self.made + other.made,
            moved: self.moved + other.moved,
            poured: self.poured + other.poured,
        }
    }

    /// Whom to blame, if there is anyone. Where it is neither walls nor sources, two fluids regain their volumes at different rates.
    fn squeeze<const D: usize>(
        self,
        what: Squeezed,
        substep: Substep<D>,
        is_member: impl Fn(Slot) -> bool + Sync,
    ) -> Option<Squeeze> {
        let boundary = substep.boundary;
        let made = if self.made.abs() > UNEQUAL * self.moved { self.made } else { 0.0 };
        let no_room = if self.poured > 0.0 { (1.0 - made / self.poured).clamp(0.0, 1.0) } else { 0.0 };
        let mut sources = Vec::new();
        if no_room > NO_ROOM {
            let into =
                boundary.outlets.iter().filter(|o| boundary.blocks().locate(o.cell).is_some_and(&is_member));
            sources.extend(into.map(|outlet| outlet.source));
            sources.dedup();
        }
        let mut solids = Vec::new();
        // Walls that make no more room than sources fill are welcome.
        let by_walls = made < 0.0 || made > (1.0 + NO_ROOM) * self.poured;
        if by_walls {
            solids = moving_solids_at(substep, is_member);
        }
        let refused = if what == Squeezed::Liquid && !sources.is_empty() { no_room } else { 0.0 };
        (by_walls || !sources.is_empty()).then_some(Squeeze { what, solids, sources, refused })
    }
}

/// The changes of so many rooms; `room_of` tells which one a cell is of.
fn changes<const D: usize>(
    substep: Substep<D>,
    rooms: usize,
    room_of: impl Fn(Slot) -> Option<usize> + Sync,
) -> Vec<Change> {
    let boundary = substep.boundary;
    let blocks = boundary.blocks();
    let of_walls = |block: usize| {
        let mut changes = vec![Change::default(); rooms];
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        for slot in slots.filter(|_| !boundary.is_resting(block)) {
            if let Some(room) = room_of(slot) {
                let rate = substep.room_rate(slot);
                changes[room] = changes[room].joined(Change { made: rate, moved: rate.abs(), poured: 0.0 });
            }
        }
        changes
    };
    let of_blocks: Vec<Vec<Change>> = parallel::map(blocks.len(), of_walls);
    let mut changes = vec![Change::default(); rooms];
    for of_block in of_blocks {
        changes.iter_mut().zip(of_block).for_each(|(change, more)| *change = change.joined(more));
    }
    for outlet in &boundary.outlets {
        if let Some(room) = blocks.locate(outlet.cell).and_then(&room_of) {
            changes[room].poured += outlet.rate;
        }
    }
    changes
}

/// The moving solids within a cell of the cells for which `is_member` holds.
fn moving_solids_at<const D: usize>(
    Substep { params, surroundings, boundary, .. }: Substep<D>,
    is_member: impl Fn(Slot) -> bool + Sync,
) -> Vec<usize> {
    let blocks = boundary.blocks();
    let cut: Vec<usize> = (0..blocks.len()).filter(|&block| boundary.is_cut(block)).collect();
    let touches = |&index: &usize| {
        let solid = &surroundings.solids[index];
        solid.moves()
            && parallel::any(cut.len(), |k| {
                let block = cut[k];
                let members =
                    (0..block_len::<D>()).map(|local| Slot { block, local }).filter(|&s| is_member(s));
                let centres =
                    members.map(|slot| params.grid.cell_centre(blocks.cell(slot).map(|c| c as i64)));
                centres.map(|centre| solid.distance(centre)).any(|distance| distance < params.grid.dx)
            })
    };
    (0..surroundings.solids.len()).filter(touches).collect()
}
