//! Where liquid is that did not flow there.
//!
//! A level set makes and loses liquid: where it is advected, held to particles, made a distance again, where films and specks are filled. What a block of the grid should
//! hold changes only by what flows through its faces; what it holds beyond that is its *excess*. It is corrected where it is, by a divergence
//! of the velocity there: taken from the whole body instead, liquid that churning water has made would vanish from calm water far away, and what passes a cross-section
//! would not be what is gone behind it.

use std::collections::BTreeSet;
use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Field, Slot, block_len, cell_in_block, sides};
use meniscus_core::parallel;
use serde::{Deserialize, Serialize};

use crate::boundary::Boundary;
use crate::measure::{Filling, filling, wet_part_meanwhile};
use crate::regions::Owner;
use crate::substep::Substep;

/// The accounts of the blocks, in their order, in cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accounts {
    /// The liquid that each holds.
    pub volume: Vec<f64>,
    /// What of it did not flow there.
    pub excess: Vec<f64>,
    /// What sources push into each, in cells per second.
    poured: Vec<f64>,
    /// What flows out of the domain from each in this substep; nothing between substeps.
    #[serde(skip)]
    left: Vec<f64>,
}

impl Accounts {
    /// The accounts of blocks that hold what they should.
    pub fn new(volume: Vec<f64>) -> Self {
        let nothing = || vec![0.0; volume.len()];
        Self { excess: nothing(), poured: nothing(), left: nothing(), volume }
    }

    /// Whether there are none.
    pub fn are_closed(&self) -> bool {
        self.volume.is_empty()
    }

    /// Moves to other blocks, of which some are the same: those that are new hold nothing, and the accounts of those that are no longer are closed.
    pub fn move_to<const D: usize>(&mut self, old: &Blocks<D>, new: &Blocks<D>) {
        if old == new {
            return;
        }
        let was: Vec<Option<usize>> = (0..new.len()).map(|block| old.find(new.coord(block))).collect();
        let moved = |values: &[f64]| was.iter().map(|was| was.map_or(0.0, |was| values[was])).collect();
        let Self { volume, excess, poured, left } = self;
        left.resize(volume.len(), 0.0);
        [volume, excess, poured, left].into_iter().for_each(|values| *values = moved(values));
    }

    /// Takes over what the blocks hold now, and should.
    pub fn hold(&mut self, volume: Vec<f64>) {
        let Self { excess, poured, .. } = self;
        [excess, poured].into_iter().for_each(|values| values.resize(volume.len(), 0.0));
        self.volume = volume;
    }

    /// Notes that a block holds so much more, or less, and that it should.
    pub fn add(&mut self, block: usize, volume: f64) {
        self.volume[block] += volume;
    }

    /// Notes what has flowed out of the domain from a block.
    pub fn flowed_out(&mut self, block: usize, volume: f64) {
        self.left.resize(self.volume.len(), 0.0);
        self.left[block] += volume;
    }

    /// Takes over what the blocks hold after `dt` seconds in which so much flowed out of each to others.
    pub fn settle(&mut self, volume: &[f64], outflow: &[f64], dt: f64) {
        self.left.resize(volume.len(), 0.0);
        for (block, excess) in self.excess.iter_mut().enumerate() {
            let flowed = outflow[block] + self.left[block] - self.poured[block] * dt;
            *excess += volume[block] + flowed - self.volume[block];
        }
        self.volume = volume.to_vec();
        self.left.fill(0.0);
    }

    /// Notes what sources push into blocks from now on.
    pub fn set_poured<const D: usize>(&mut self, boundary: &Boundary<D>, cell_volume: f64) {
        let blocks = boundary.blocks();
        self.poured = vec![0.0; blocks.len()];
        for outlet in &boundary.outlets {
            if let Some(slot) = blocks.locate(outlet.cell) {
                self.poured[slot.block] += outlet.rate / cell_volume;
            }
        }
    }

    /// Notes that a source does not push so much into a block after all, in cells per second.
    pub fn not_poured(&mut self, block: usize, rate: f64) {
        self.poured[block] -= rate;
    }

    /// Moves the excess of blocks that cannot take it, since they have none of the `cells` that can, to their neighbours.
    pub fn pass_on<const D: usize>(&mut self, blocks: &Blocks<D>, cells: &[f64]) {
        let mut passed = vec![0.0; self.excess.len()];
        for (block, &excess) in self.excess.iter().enumerate() {
            let takers: Vec<usize> =
                sides::<D>().filter_map(|(axis, side)| blocks.neighbour(block, axis, side)).collect();
            let sum: f64 = takers.iter().map(|&taker| cells[taker]).sum();
            if cells[block] > 0.0 || sum == 0.0 {
                passed[block] += excess;
            } else {
                takers.iter().for_each(|&taker| passed[taker] += excess * cells[taker] / sum);
            }
        }
        self.excess = passed;
    }
}

/// An excess of a block, in cells, that is not to grow: a tenth of a layer of its cells.
pub const fn large_excess<const D: usize>() -> f64 {
    0.1 * BLOCK_EDGE.pow(D as u32 - 1) as f64
}

/// What flows out of each block through the faces between it and others in a substep, in cells: with the
/// velocity of the start, through what is wet of the faces meanwhile. Faces of the cells of sinks count apart.
pub fn flow_between_blocks<const D: usize>(
    substep: Substep<D>,
    [before, after]: [&Field<f32, D>; 2],
    velocity: &FaceField<f32, D>,
    sinks: &BTreeSet<[i64; D]>,
) -> Vec<f64> {
    let (boundary, dt) = (substep.boundary, substep.dt_in_cells());
    let blocks: &Arc<Blocks<D>> = after.blocks();
    let filling_of = |block: usize| {
        let first = blocks.cell(Slot { block, local: 0 }).map(|c| c as i64);
        let old =
            before.blocks().locate(first).map_or(Filling::InPart, |slot| filling(before.block(slot.block)));
        if filling(after.block(block)) == old { old } else { Filling::InPart }
    };
    let fillings: Vec<Filling> = parallel::map(blocks.len(), filling_of);
    // Through the lower faces of a block along an axis, upwards.
    let through = |block: usize, axis: usize| -> f64 {
        let Some(below) = blocks.neighbour(block, axis, 0) else { return 0.0 };
        let of_both = if fillings[below] == fillings[block] { fillings[block] } else { Filling::InPart };
        if of_both == Filling::Dry {
            return 0.0;
        }
        let of_layer = (0..block_len::<D>()).filter(|&local| cell_in_block::<D>(local)[axis] == 0);
        let flow = |local: usize| {
            let slot = Slot { block, local };
            let open = boundary.open.axes[axis][slot];
            if open == 0.0 {
                return 0.0;
            }
            let cell = blocks.cell(slot).map(|c| c as i64);
            let speed = velocity.get(axis, cell);
            if speed == 0.0 {
                return 0.0;
            }
            if of_both == Filling::Full {
                return f64::from(open * speed * dt);
            }
            let beside = std::array::from_fn(|a| cell[a] - i64::from(a == axis));
            if !sinks.is_empty() && sinks.contains(&cell) != sinks.contains(&beside) {
                return 0.0;
            }
            let wet = wet_part_meanwhile([before, after], axis, cell);
            wet * f64::from(open * speed * dt)
        };
        of_layer.map(flow).sum()
    };
    let through: Vec<[f64; D]> =
        parallel::map(blocks.len(), |block| std::array::from_fn(|axis| through(block, axis)));
    let out = |block: usize| {
        let of_axis = |axis: usize| {
            let above = blocks.neighbour(block, axis, 1);
            above.map_or(0.0, |above| through[above][axis]) - through[block][axis]
        };
        (0..D).map(of_axis).sum()
    };
    (0..blocks.len()).map(out).collect()
}

/// The cells of a block by what they belong to.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Cells of liquid.
    pub liquid: f64,
    /// Cells of air.
    pub air: f64,
    /// By body and region.
    pub owners: Vec<(Owner, f64)>,
}

impl Census {
    fn count(&mut self, owner: Owner) {
        match owner {
            Owner::Liquid(_) => self.liquid += 1.0,
            Owner::Air(_) => self.air += 1.0,
        }
        match self.owners.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, cells)) => *cells += 1.0,
            None => self.owners.push((owner, 1.0)),
        }
    }
}

/// Counts the cells of all blocks by what they belong to.
pub fn count_cells<const D: usize>(
    blocks: &Blocks<D>,
    owner: impl Fn(Slot) -> Option<Owner> + Sync,
) -> Vec<Census> {
    let of_block = |block: usize| {
        let mut census = Census::default();
        blocks.cells_inside(block).filter_map(&owner).for_each(|owner| census.count(owner));
        census
    };
    parallel::map(blocks.len(), of_block)
}
