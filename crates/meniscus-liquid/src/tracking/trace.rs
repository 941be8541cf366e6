//! Where the cells of new regions came from.

use meniscus_core::advect::advect_point;
use meniscus_core::grid::{FaceField, Field, Mask, Slot};
use meniscus_core::parallel;

use super::matching::Votes;
use crate::regions::Owner;

/// Which old bodies and regions the new ones came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ancestry {
    /// Of the bodies of liquid.
    pub bodies: Votes,
    /// Of the regions of air.
    pub regions: Votes,
}

/// How far from the surface, in cells, cells are traced: every body and every region has cells as near as that. More votes cost time, and add none that are surer. (Goldade 2020 takes
/// particles within 2 cells.)
const NEAR: f32 = 1.0;

/// Follows the cells next to the surface back by `dt` (in cells per velocity), through the velocity that the surface
/// was moved by.
pub fn trace<const D: usize>(
    [old, new]: [&Field<u32, D>; 2],
    level_set: &Field<f32, D>,
    velocity: &FaceField<f32, D>,
    dt: f32,
) -> Ancestry {
    let blocks = new.blocks();
    let of_block = |block: usize| {
        let levels = level_set.block(block);
        let near = Mask::<D>::from_fn(|local| levels[local].abs() <= NEAR);
        let mut found = Tally::default();
        if near.is_empty() {
            return found.counts;
        }
        // The old fields share their blocks, which need not be the new ones.
        let before = old.blocks().find(blocks.coord(block));
        let all_stayed = before.is_some_and(|block| is_slow(velocity, block, dt));
        for local in near.iter() {
            let Some(owner) = Owner::of(new.block(block)[local]) else { continue };
            let here = before.map(|block| Slot { block, local });
            let stayed = here.filter(|&here| all_stayed || is_near_by(velocity, here, dt));
            let from = stayed.and_then(|here| Owner::of(old[here])).filter(|old| old.is_like(owner));
            let from = from.or_else(|| {
                let centre = blocks.cell(Slot { block, local }).map(|c| c as f32 + 0.5);
                owner_at(old, advect_point(centre, velocity, -dt), owner)
            });
            found.add(from, owner);
        }
        found.counts
    };
    let parts: Vec<Vec<(Pair, u32)>> = parallel::map(blocks.len(), of_block);
    let mut ancestry = Ancestry::default();
    for ((from, owner), count) in parts.into_iter().flatten() {
        let from = from.map(|(Owner::Liquid(from) | Owner::Air(from))| from);
        match owner {
            Owner::Liquid(body) => ancestry.bodies.add(from, body, count),
            Owner::Air(region) => ancestry.regions.add(from, region, count),
        }
    }
    ancestry
}

/// From whom to whom, of the same kind.
type Pair = (Option<Owner>, Owner);

/// How often pairs were met.
#[derive(Default)]
struct Tally {
    counts: Vec<(Pair, u32)>,
}

impl Tally {
    fn add(&mut self, from: Option<Owner>, to: Owner) {
        match self.counts.iter_mut().find(|(pair, _)| *pair == (from, to)) {
            Some((_, count)) => *count += 1,
            None => self.counts.push(((from, to), 1)),
        }
    }
}

/// Whether what is in a block came from less than half a cell away.
fn is_slow<const D: usize>(velocity: &FaceField<f32, D>, block: usize, dt: f32) -> bool {
    let is_slow = |values: &[f32]| values.iter().fold(0.0, |most: f32, u| most.max(u.abs())) * dt < 0.5;
    velocity.axes.iter().enumerate().all(|(axis, along)| {
        let above = velocity.blocks().neighbour(block, axis, 1);
        is_slow(along.block(block)) && above.is_none_or(|above| is_slow(along.block(above)))
    })
}

/// Whether what is at the centre of a cell came from within that cell.
fn is_near_by<const D: usize>(velocity: &FaceField<f32, D>, cell: Slot, dt: f32) -> bool {
    velocity.axes.iter().enumerate().all(|(axis, along)| {
        let upper = velocity.blocks().step(cell, axis, 1).map_or(along.background(), |upper| along[upper]);
        (0.5 * dt * (along[cell] + upper)).abs() < 0.5
    })
}

/// The owner, of the same kind as `like`, of the nearest cell to a point, of the 2^D cells around it.
fn owner_at<const D: usize>(labels: &Field<u32, D>, x: [f32; D], like: Owner) -> Option<Owner> {
    let owner_of = |cell: [i64; D]| Owner::of(labels.get(cell)).filter(|owner| owner.is_like(like));
    // Most often the cell that the point is in will do.
    let own = owner_of(x.map(|c| c.floor() as i64));
    if own.is_some() {
        return own;
    }
    let base: [i64; D] = x.map(|c| (c - 0.5).floor() as i64);
    let mut nearest = None;
    for k in 0..1usize << D {
        let cell: [i64; D] = std::array::from_fn(|a| base[a] + (k >> a & 1) as i64);
        let distance: f32 = (0..D).map(|a| (x[a] - cell[a] as f32 - 0.5).powi(2)).sum();
        if let Some(owner) = owner_of(cell)
            && nearest.is_none_or(|(known, _)| distance < known)
        {
            nearest = Some((distance, owner));
        }
    }
    nearest.map(|(_, owner)| owner)
}
