//! The level set where liquid leaves walls.
//!
//! Liquid that touches a wall has no surface there: the level set goes on into the wall. Where it leaves the wall, the wall becomes its
//! surface, and the level set positive behind it; from then on it moves as any surface does, and the gap that opens is no liquid.
//!
//! Beyond a side of the domain there are no cells. The first cell at a side holds the surface instead: its level is above -½ where there
//! is a gap, and the level set is taken to rise from it towards the side.

use std::collections::BTreeSet;

use meniscus_core::grid::{FaceField, Field, Slot, block_len, unravel};
use meniscus_core::interpolate::{interpolate, interpolate_face};
use meniscus_core::level_set::redistance;
use meniscus_core::parallel;

use crate::boundary::Boundary;
use crate::measure::{AT_SIDE, beyond_side};
use crate::substep::Substep;

/// Liquid that moves away from a wall by less than this in a substep, in cells, still touches it: above rounding of the solve, far below what a substep moves it by.
const LEAST_GAP: f32 = 1e-3;

/// What tells a cell that has just left a side from one that touches it, in cells: less than [`LEAST_GAP`], above the rounding of levels.
const JUST_LEFT: f32 = 1e-4;

/// The level set rises by more than this a cell towards a side that liquid has left. Towards a side that liquid touches it falls or is flat, towards one that it has left it rises by 1: half
/// way between the two.
const LEAST_RISE: f32 = 0.5;

/// How near to a wall a cell is for the wall to be its surface, in cells: farther ones are not beside it.
const AT_WALL: f32 = 1.5;

/// Makes the walls that liquid leaves its surface, in and around the cells that are `leaving`.
pub fn leave_walls<const D: usize>(
    substep: Substep<D>,
    level_set: &mut Field<f32, D>,
    velocity: &FaceField<f32, D>,
    leaving: &[Slot],
) {
    let sides = substep.boundary.separating_sides;
    let near = around(leaving, substep.boundary);
    let raised = parallel::gather(near.len(), |k| {
        let level = level_at_wall(substep, velocity, near[k])?;
        (level > level_set[near[k]]).then_some((near[k], level))
    });
    let left = leaving.iter().flat_map(|&slot| gaps_of(substep, level_set, velocity, slot));
    let mut gaps: Vec<Gap> = left.collect();
    let crosses = raised.iter().any(|&(slot, level)| (level < 0.0) != (level_set[slot] < 0.0));
    if crosses {
        gaps.extend(gaps_at_sides(level_set, sides));
    }
    for (slot, level) in raised {
        level_set.values_mut()[slot.flat::<D>()] = level;
    }
    if crosses {
        let band = level_set.background();
        redistance(level_set, band);
    }
    apply_gaps(level_set, &gaps);
}

/// Cells next to solids that share at least a corner with one of those given, in order.
fn around<const D: usize>(cells: &[Slot], boundary: &Boundary<D>) -> Vec<Slot> {
    let blocks = boundary.blocks();
    let mut found = BTreeSet::new();
    for &slot in cells {
        let cell = blocks.cell(slot);
        for k in 0..3usize.pow(D as u32) {
            let step = unravel(k, [3; D]);
            let other = std::array::from_fn(|a| (cell[a] + step[a]) as i64 - 1);
            let is_wanted = |slot: &Slot| blocks.is_inside(*slot) && boundary.is_cut(slot.block);
            let slot = blocks.locate(other).filter(is_wanted);
            found.extend(slot.map(Slot::flat::<D>));
        }
    }
    found.into_iter().map(Slot::from_flat::<D>).collect()
}

/// The level set of a cell if the wall next to it is the surface of the liquid, where the flow leaves that wall.
fn level_at_wall<const D: usize>(
    substep: Substep<D>,
    velocity: &FaceField<f32, D>,
    slot: Slot,
) -> Option<f32> {
    let Substep { params, boundary, dt, .. } = substep;
    let centre: [f32; D] = boundary.blocks().cell(slot).map(|c| c as f32 + 0.5);
    let distance = boundary.distance(slot.block, centre);
    if distance.abs() >= AT_WALL {
        return None;
    }
    let normal = boundary.normal(slot.block, centre);
    let foot: [f32; D] = std::array::from_fn(|a| centre[a] - distance * normal[a]);
    let wall = substep.wall_velocity(slot.block, foot);
    let out: f32 = (0..D).map(|a| (interpolate_face(velocity, a, foot) - wall[a] as f32) * normal[a]).sum();
    let leaves = f64::from(out) * dt > f64::from(LEAST_GAP) * params.grid.dx;
    (leaves && substep.nearest_separates(params.to_metres(foot))).then_some(-distance)
}

/// A side of the domain that the liquid in the first cell behind it has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    slot: Slot,
    axis: usize,
    side: usize,
    /// The level set of the cell.
    level: f32,
}

/// The sides that the liquid in a cell leaves with its velocity.
fn gaps_of<const D: usize>(
    Substep { params, boundary, dt, .. }: Substep<D>,
    level_set: &Field<f32, D>,
    velocity: &FaceField<f32, D>,
    slot: Slot,
) -> Vec<Gap> {
    let blocks = boundary.blocks();
    let cell = blocks.cell(slot);
    let leaves = |&(axis, side): &(usize, usize)| {
        if !boundary.separating_sides[axis][side] || cell[axis] != [0, blocks.cells()[axis] - 1][side] {
            return false;
        }
        let mut face = cell.map(|c| c as i64);
        face[axis] += side as i64;
        let out = f64::from(velocity.get(axis, face)) * [1.0, -1.0][side];
        out * dt > f64::from(LEAST_GAP) * params.grid.dx
    };
    let level = level_set[slot].max(AT_SIDE + JUST_LEFT);
    let sides = (0..2 * D).map(|k| (k / 2, k % 2)).filter(leaves);
    sides.map(|(axis, side)| Gap { slot, axis, side, level }).collect()
}

/// The gaps between sides of the domain and the liquid that a level set holds.
pub fn gaps_at_sides<const D: usize>(level_set: &Field<f32, D>, separating: [[bool; 2]; D]) -> Vec<Gap> {
    if separating == [[false; 2]; D] {
        return Vec::new();
    }
    let blocks = level_set.blocks();
    let of_block = |block: usize| -> Vec<Gap> {
        let mut found = Vec::new();
        for slot in (0..block_len::<D>()).map(|local| Slot { block, local }) {
            let (cell, level) = (blocks.cell(slot), level_set[slot]);
            if !blocks.is_inside(slot) || !(AT_SIDE + 0.5 * LEAST_GAP..0.0).contains(&level) {
                continue;
            }
            for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                let is_first = cell[axis] == [0, blocks.cells()[axis] - 1][side];
                let second = blocks.step(slot, axis, 1 - side);
                let rises = second.is_some_and(|second| level - level_set[second] > LEAST_RISE);
                if separating[axis][side] && is_first && rises {
                    found.push(Gap { slot, axis, side, level });
                }
            }
        }
        found
    };
    parallel::map(blocks.len(), of_block).concat()
}

/// Puts the gaps at sides into a level set, where redistancing has forgotten them.
pub fn apply_gaps<const D: usize>(level_set: &mut Field<f32, D>, gaps: &[Gap]) {
    let (blocks, band) = (level_set.blocks().clone(), level_set.background());
    for &Gap { slot, axis, side, level } in gaps {
        let (mut at, mut level) = (Some(slot), level);
        while let Some(slot) = at.filter(|_| level > -band) {
            let value = &mut level_set.values_mut()[slot.flat::<D>()];
            *value = value.max(level);
            level -= 1.0;
            at = blocks.step(slot, axis, 1 - side);
        }
    }
}

/// By how much the level set at a point beyond the cells next to the separating sides exceeds that at these cells.
pub fn rise_beyond_sides<const D: usize>(
    level_set: &Field<f32, D>,
    point: [f32; D],
    separating: [[bool; 2]; D],
) -> f32 {
    let cells = level_set.blocks().cells();
    let rise = |axis: usize, side: usize| {
        let last = [0.5, cells[axis] as f32 - 0.5][side];
        let beyond = (point[axis] - last) * [-1.0, 1.0][side];
        if !separating[axis][side] || beyond <= 0.0 {
            return 0.0;
        }
        let at = |inwards: f32| {
            let mut at = point;
            at[axis] = last + inwards * [1.0, -1.0][side];
            interpolate(level_set, at)
        };
        let first = at(0.0);
        (beyond_side(first, at(1.0)) - first) * beyond
    };
    (0..D).map(|axis| rise(axis, 0) + rise(axis, 1)).sum()
}
