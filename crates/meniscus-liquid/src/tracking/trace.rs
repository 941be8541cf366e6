//! Where the cells of new regions came from.

use meniscus_core::advect::advect_point;
use meniscus_core::grid::{FaceField, Field, Slot, block_len};
use rayon::prelude::*;

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

/// How far from the surface, in cells, cells are traced: every body and every region has cells as near as that.
const NEAR: f32 = 1.0;

/// Follows the cells next to the surface back by `dt` (in cells per velocity), through the velocity that the surface
/// was moved by.
pub fn trace<const D: usize>(
    old: &Field<u32, D>,
    new: &Field<u32, D>,
    level_set: &Field<f32, D>,
    velocity: &FaceField<f32, D>,
    dt: f32,
) -> Ancestry {
    let blocks = new.blocks();
    let of_block = |block: usize| {
        let mut found = Tally::default();
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            if level_set[slot].abs() > NEAR {
                continue;
            }
            if let Some(owner) = Owner::of(new[slot]) {
                found.add(owner_at(old, departure(blocks.cell(slot), velocity, dt), owner), owner);
            }
        }
        found.counts
    };
    let parts: Vec<Vec<(Pair, u32)>> = (0..blocks.len()).into_par_iter().map(of_block).collect();
    let mut ancestry = Ancestry::default();
    for ((from, owner), count) in parts.into_iter().flatten() {
        let from = from.map(|(Owner::Body(from) | Owner::Region(from))| from);
        match owner {
            Owner::Body(body) => ancestry.bodies.add(from, body, count),
            Owner::Region(region) => ancestry.regions.add(from, region, count),
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

/// Where what is at the centre of a cell came from.
fn departure<const D: usize>(cell: [usize; D], velocity: &FaceField<f32, D>, dt: f32) -> [f32; D] {
    let centre = cell.map(|c| c as f32 + 0.5);
    let lower = cell.map(|c| c as i64);
    let way: [f32; D] = std::array::from_fn(|axis| {
        let mut upper = lower;
        upper[axis] += 1;
        0.5 * dt * (velocity.get(axis, lower) + velocity.get(axis, upper))
    });
    // On a short way it does not matter by which method.
    match way.iter().all(|w| w.abs() < 0.5) {
        true => std::array::from_fn(|a| centre[a] - way[a]),
        false => advect_point(centre, velocity, -dt),
    }
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
