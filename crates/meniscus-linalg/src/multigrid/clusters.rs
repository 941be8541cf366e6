//! Small sets of unknowns that are tied to each other much more than to all others.
//!
//! Relaxation of single unknowns makes the values of such a set equal at once, but hardly moves their mean: what one of them gains, the
//! others pull back. So the mean is relaxed by itself, as if the set were one unknown.

use meniscus_core::grid::block_len;
use meniscus_core::parallel;

use super::aggregate::is_strong;
use super::smooth::Vectors;
use crate::operator::{Level, Places, Stencil};
use crate::real::Real;

/// The most unknowns of a cluster: larger sets are seen by coarser levels. With 8 of them stiff inclusions take 23 iterations instead of 14
/// (`many_small_inclusions_3d`); from 64 on no test notices.
const LARGEST: usize = 512;

/// A set of unknowns, by flat index.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    members: Vec<u32>,
    /// What ties it to others: member, other, weight.
    ties: Vec<(u32, u32, f32)>,
    /// Members with an anchor or a mass, and what holds them.
    held: Vec<(u32, f32)>,
    /// The inverse of what holds the whole set.
    inverse: f32,
}

/// What is known of an unknown while clusters are looked for.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    /// Of a set that is too large, or that low-rank terms touch.
    Other,
    /// Of the flood that is going on, or of a cluster.
    Seen(u32),
}

/// The clusters of a level.
pub(crate) fn find_clusters<T: Real, const D: usize>(level: &Level<T, D>) -> Vec<Cluster> {
    let seeds = seeds(level);
    if seeds.is_empty() {
        return Vec::new();
    }
    let mut marks = vec![Mark::New; level.len()];
    let mut clusters = Vec::new();
    for (number, seed) in seeds.into_iter().enumerate() {
        if marks[seed] == Mark::New {
            clusters.extend(flood(level, seed, number as u32, &mut marks));
        }
    }
    clusters
}

/// The unknowns with a weak connection beside strong ones.
fn seeds<T: Real, const D: usize>(level: &Level<T, D>) -> Vec<usize> {
    let (n, matrix) = (block_len::<D>(), &level.matrix);
    let may_differ = |block: usize| {
        matches!(matrix.stencils[block], Stencil::General(_)) || !matrix.couplings[block].is_empty()
    };
    let is_seed = |&i: &usize| {
        let (mut least, mut sum) = (f64::INFINITY, 0.0);
        level.for_each_neighbour(i, |_, weight| {
            least = weight.min(least);
            sum += weight;
        });
        sum > 0.0 && !is_strong(least, sum, sum)
    };
    let of_block = |block: usize| -> Vec<usize> {
        let cells = if may_differ(block) { block * n..(block + 1) * n } else { 0..0 };
        cells.filter(is_seed).collect()
    };
    let mut seeds = parallel::map(matrix.blocks.len(), of_block).concat();
    seeds.extend((level.slots()..level.len()).filter(is_seed));
    seeds
}

/// Whether a low-rank term touches an unknown.
fn is_touched<T: Real, const D: usize>(level: &Level<T, D>, i: usize) -> bool {
    let (n, matrix) = (block_len::<D>(), &level.matrix);
    matrix.low_rank.find_row(i).is_some() || i < level.slots() && matrix.affine.touches(i / n, i % n)
}

/// The set of a seed, if it is small.
fn flood<T: Real, const D: usize>(
    level: &Level<T, D>,
    seed: usize,
    number: u32,
    marks: &mut [Mark],
) -> Option<Cluster> {
    let (mut members, mut ties, mut next) = (vec![seed as u32], Vec::new(), 0);
    marks[seed] = Mark::Seen(number);
    let mut is_small = true;
    while next < members.len() && is_small {
        let i = members[next] as usize;
        next += 1;
        is_small &= !is_touched(level, i);
        let own = level.reach(i);
        level.for_each_neighbour(i, |j, weight| {
            if !is_strong(weight, own, level.reach(j)) {
                ties.push((i as u32, j as u32, weight as f32));
            } else if marks[j] == Mark::New {
                marks[j] = Mark::Seen(number);
                members.push(j as u32);
            } else {
                is_small &= marks[j] == Mark::Seen(number);
            }
        });
        is_small &= members.len() <= LARGEST;
    }
    if !is_small || members.len() == 1 {
        members.iter().for_each(|&i| marks[i as usize] = Mark::Other);
        return None;
    }
    let held =
        members.iter().map(|&i| (i, level.hold(i as usize).sum() as f32)).filter(|&(_, hold)| hold > 0.0);
    let held: Vec<(u32, f32)> = held.collect();
    let all = ties.iter().map(|tie| tie.2).chain(held.iter().map(|held| held.1)).sum::<f32>();
    (all > 0.0).then(|| Cluster { members, ties, held, inverse: 1.0 / all })
}

impl Cluster {
    /// The cluster on a level whose unknowns have these places.
    pub(super) fn arranged<const D: usize>(mut self, places: &Places<D>) -> Self {
        let moved = |i: &mut u32| *i = places.index(*i as usize) as u32;
        self.members.iter_mut().for_each(moved);
        self.ties.iter_mut().for_each(|(i, j, _)| [i, j].into_iter().for_each(moved));
        self.held.iter_mut().for_each(|(i, _)| moved(i));
        self
    }

    /// Relaxes the mean of its unknowns.
    pub(super) fn relax(&self, Vectors { x, b, .. }: &mut Vectors) {
        let of_side: f32 = self.members.iter().map(|&i| b[i as usize]).sum();
        let of_ties: f32 = self.ties.iter().map(|&(i, j, w)| w * (x[i as usize] - x[j as usize])).sum();
        let of_held: f32 = self.held.iter().map(|&(i, hold)| hold * x[i as usize]).sum();
        let change = (of_side - of_ties - of_held) * self.inverse;
        self.members.iter().for_each(|&i| x[i as usize] += change);
    }
}
