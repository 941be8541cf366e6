//! The divergence of the velocity that corrects volumes (Goldade 2020, section 7.1).
//!
//! What a block holds in excess is corrected in that block, but for what the flow between blocks is not known to; what bodies of liquid and regions of air are off by
//! beyond that, all over them.

use meniscus_core::grid::{Slot, block_len};

use crate::boundary::Boundary;
use crate::params::{AirModel, Params};
use crate::regions::Owner;
use crate::state::State;
use crate::substep::Substep;
use crate::tracking::AirRegion;
use crate::volume::accounts::{Census, count_cells, large_excess};
use crate::volume::growth::{CORRECTION, bubble_growth, most_growth, volume_correction};

/// The most that the liquid of a block is changed by in a time of correction, as a part of it: ten times what a whole body may.
const MAX_OF_BLOCK: f64 = 0.1;

/// An excess that is left where it is, as a part of [`large_excess`]: what blocks at rest seem to have comes and goes. More leaves drift to whole bodies; less stirs water at rest.
const SMALL: f64 = 0.15;

/// A block of which solids leave less than this part of its cells, a layer, holds slivers: its excess goes to its neighbours, since it would be shot out of it.
const SLIVERS: f64 = 0.125;

/// The rates at which cells must grow for volumes to be regained, in 1/s.
pub struct Corrections {
    /// By block, of its liquid.
    liquid: Vec<f64>,
    /// By block, of its air, where that is solved for.
    air: Vec<f64>,
    /// By body of liquid: what is added to that of its blocks, and what part of theirs there is room for.
    bodies: Vec<(f64, f64)>,
    /// By region of air.
    regions: Vec<f64>,
}

impl Corrections {
    /// The rate of a cell.
    pub fn rate(&self, block: usize, owner: Option<Owner>) -> f64 {
        match owner {
            Some(Owner::Liquid(body)) => {
                let (added, part) = self.bodies[body];
                added + part * self.liquid[block]
            }
            Some(Owner::Air(region)) => self.regions[region] + self.air[block],
            None => 0.0,
        }
    }
}

impl<const D: usize> State<D> {
    /// What a cell belongs to.
    pub(crate) fn owner(&self, slot: Slot) -> Option<Owner> {
        match &self.tracked {
            Some(tracked) => Owner::of(tracked.labels[slot]),
            None => (self.level_set[slot] < 0.0).then_some(Owner::Liquid(0)),
        }
    }

    /// Moves the excess of blocks that cannot take it to their neighbours.
    fn pass_excess_on(&mut self, boundary: &Boundary<D>, cells: &[Census]) {
        let full = block_len::<D>() as f64;
        let taken = |(block, census): (usize, &Census)| {
            // What is full of liquid has no excess of its own, and may move as a whole.
            let is_full = census.liquid == full;
            // What resting solids leave of a block may be too little for what its excess comes to in time.
            let has_slivers = boundary.is_resting(block)
                && !boundary.is_clear(block)
                && (boundary.count_open_cells(block) as f64) < SLIVERS * full;
            if is_full || has_slivers { 0.0 } else { census.liquid }
        };
        let takers: Vec<f64> = cells.iter().enumerate().map(taken).collect();
        self.accounts.pass_on(self.level_set.blocks(), &takers);
    }

    /// Tells the corrections of a substep; none of a fluid without a surface.
    pub(crate) fn find_corrections(
        &mut self,
        Substep { params, boundary, dt, .. }: Substep<D>,
    ) -> Option<Corrections> {
        if params.air == AirModel::None {
            return None;
        }
        let time = params.correction_time(dt);
        let cells = count_cells(boundary.blocks(), |slot| self.owner(slot));
        self.pass_excess_on(boundary, &cells);
        let of_block = |(census, &excess): (&Census, &f64)| {
            let most = MAX_OF_BLOCK / time;
            if census.liquid > 0.0 {
                (-CORRECTION * excess / (census.liquid * time)).clamp(-most, most)
            } else {
                0.0
            }
        };
        let beyond = |(census, excess): (&Census, &f64)| {
            let small = if self.is_unsure(params, census) { 1.0 } else { SMALL } * large_excess::<D>();
            excess - excess.clamp(-small, small)
        };
        let excess: Vec<f64> = cells.iter().zip(&self.accounts.excess).map(beyond).collect();
        let liquid: Vec<f64> = cells.iter().zip(&excess).map(of_block).collect();
        // What the liquid of a block gives, air that is solved for takes.
        let is_solved_for = params.second().is_some();
        let beside = |(census, &rate): (&Census, &f64)| {
            let has_both = is_solved_for && census.air > 0.0;
            if has_both { -rate * census.liquid / census.air } else { 0.0 }
        };
        let air: Vec<f64> = cells.iter().zip(&liquid).map(beside).collect();
        let bodies = self.of_bodies(params, &cells, &excess, &liquid, time);
        let regions = if is_solved_for { self.of_regions(params, &cells, &excess, time) } else { Vec::new() };
        Some(Corrections { liquid, air, bodies, regions })
    }

    /// Whether the excess of a block is not known so well that all of it should be corrected there: with surface tension cells move as the surface nearest to them does, not by the flow
    /// that is counted; and to bubbles their own volume is more than that of the blocks around them.
    fn is_unsure(&self, params: &Params<D>, census: &Census) -> bool {
        let is_bubble = |owner: &Owner| match (owner, &self.tracked) {
            (Owner::Air(region), Some(tracked)) => tracked.constrained[*region],
            _ => false,
        };
        params.surface_tension > 0.0 || census.owners.iter().any(|(owner, _)| is_bubble(owner))
    }

    /// What bodies are off by beyond the excess of their blocks, and what part of the corrections of these they have room for.
    fn of_bodies(
        &self,
        params: &Params<D>,
        cells: &[Census],
        excess: &[f64],
        rates: &[f64],
        time: f64,
    ) -> Vec<(f64, f64)> {
        let cell_volume = params.cell_volume();
        let (bodies, open) = match &self.tracked {
            Some(tracked) => {
                let volumes = tracked.bodies.iter().map(|body| (body.volume, body.rest_volume));
                (volumes.collect(), tracked.openings(params))
            }
            None => (vec![(self.volume, self.volume_target)], vec![f64::INFINITY]),
        };
        // What the excess of blocks explains, and what is asked of blocks, by body.
        let (mut explained, mut asked) = (vec![0.0; bodies.len()], vec![0.0; bodies.len()]);
        for ((census, excess), rate) in cells.iter().zip(excess).zip(rates) {
            for (owner, count) in &census.owners {
                if let Owner::Liquid(body) = *owner {
                    explained[body] += excess * cell_volume * count / census.liquid;
                    asked[body] += rate * cell_volume * count;
                }
            }
        }
        let of_body = |(body, (volume, rest)): (usize, (f64, f64))| {
            if volume <= 0.0 {
                return (0.0, 0.0);
            }
            let missing = rest - volume + explained[body];
            let added = volume_correction(volume, volume + missing, time);
            let (all, most) = (asked[body] + added * volume, most_growth(open[body], params.grid.dx) / time);
            let part = if all.abs() > most { most / all.abs() } else { 1.0 };
            (part * added, part)
        };
        bodies.into_iter().enumerate().map(of_body).collect()
    }

    /// What regions of air are off by beyond the excess of the liquid beside them.
    fn of_regions(&self, params: &Params<D>, cells: &[Census], excess: &[f64], time: f64) -> Vec<f64> {
        let cell_volume = params.cell_volume();
        let Some(tracked) = &self.tracked else { return Vec::new() };
        let mut explained = vec![0.0; tracked.regions.len()];
        for (census, excess) in cells.iter().zip(excess).filter(|(census, _)| census.liquid > 0.0) {
            for (owner, count) in &census.owners {
                if let Owner::Air(region) = *owner {
                    explained[region] += excess * cell_volume * count / census.air;
                }
            }
        }
        let open = tracked.open_areas(params.grid.dx);
        let of_region = |((region, open), explained): ((&AirRegion<D>, f64), f64)| {
            let missing = region.rest_volume - region.volume - explained;
            let mut unexplained = *region;
            unexplained.rest_volume = region.volume + missing;
            let growth = bubble_growth(&unexplained, open, params.grid.dx, time);
            growth / region.volume.max(cell_volume)
        };
        tracked.regions.iter().zip(open).zip(explained).map(of_region).collect()
    }
}
