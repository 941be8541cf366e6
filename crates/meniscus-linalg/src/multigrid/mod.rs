//! One multigrid over cells, extra unknowns and low-rank terms: a symmetric V-cycle in f32.

mod aggregate;
mod clusters;
mod coarsen;
mod coarsest;
mod nullspace;
mod smooth;
#[cfg(test)]
mod tests;

use meniscus_core::grid::block_len;
use meniscus_core::simd::simd;
use rayon::prelude::*;

use crate::operator::{Level, Scratch, Stencil, TASK_BLOCKS};
use crate::profile::{Kernel, Profile};
use crate::real::Real;
use aggregate::{Aggregation, coarse_local};
use coarsest::Coarsest;
use nullspace::Labels;
pub(crate) use nullspace::NullSpace;
pub(crate) use smooth::Vectors;
use smooth::{Schedule, sweep_back, sweep_from_zero};

/// Coarsening ends at this many unknowns.
const COARSEST: usize = 100;

/// A coarsest level with more unknowns than this (extra unknowns and scattered parts do not coarsen) is relaxed
/// instead of solved: a dense matrix would cost more than it gains.
const DENSE_LIMIT: usize = 1200;

/// Rounds of relaxation in one visit to a block. Coarse levels are cheap, and what they do well the finest
/// need not repeat.
const FINE_ROUNDS: usize = 2;
const COARSE_ROUNDS: usize = 4;

/// A level below the finest.
struct CoarseLevel<const D: usize> {
    level: Level<f32, D>,
    /// Unknowns without an equation: see [`nullspace::collapsed`].
    collapsed: Vec<usize>,
    schedule: Schedule,
    vectors: Vectors,
}

/// The hierarchy of an operator, without the operator itself.
pub(crate) struct Multigrid<const D: usize> {
    schedule: Schedule,
    aggregations: Vec<Aggregation<D>>,
    coarse: Vec<CoarseLevel<D>>,
    coarsest: Option<Coarsest>,
    null_space: NullSpace,
}

impl<const D: usize> Multigrid<D> {
    pub(crate) fn new(finest: &Level<f64, D>) -> Self {
        let mut aggregations: Vec<Aggregation<D>> = Vec::new();
        let mut coarse: Vec<CoarseLevel<D>> = Vec::new();
        let mut unknowns = finest.unknowns();
        while unknowns > COARSEST {
            let (aggregation, level, collapsed) = match coarse.last() {
                None => next_level(finest),
                Some(last) => next_level(&last.level),
            };
            let fewer = level.unknowns();
            if fewer >= unknowns {
                break;
            }
            unknowns = fewer;
            let schedule = Schedule::new(&level, COARSE_ROUNDS);
            let mut vectors = Vectors::default();
            vectors.fit(&level);
            aggregations.push(aggregation);
            coarse.push(CoarseLevel { level, collapsed, schedule, vectors });
        }
        let (null_space, coarsest) = bottom(finest, &aggregations, &coarse);
        Self { schedule: Schedule::new(finest, FINE_ROUNDS), aggregations, coarse, coarsest, null_space }
    }

    /// The null space of the finest operator.
    pub(crate) fn null_space(&self) -> &NullSpace {
        &self.null_space
    }

    /// One V-cycle from zero: x from b.
    pub(crate) fn cycle(&mut self, finest: &Level<f64, D>, vectors: &mut Vectors, profile: &mut Profile) {
        let depth = self.coarse.len();
        if depth == 0 {
            self.schedule.solve_coarsest(finest, vectors, self.coarsest.as_ref());
            return;
        }
        let Self { schedule, aggregations, coarse, .. } = self;
        profile.time(Kernel::SmoothDown, || sweep_from_zero(finest, schedule, vectors));
        profile.time(Kernel::Restrict, || restrict(finest, vectors, &aggregations[0], &mut coarse[0]));
        profile.time(Kernel::Coarse, || self.coarse_cycle());
        let Self { schedule, aggregations, coarse, .. } = self;
        profile.time(Kernel::SmoothUp, || {
            ascend(finest, schedule, vectors, &aggregations[0], &coarse[0].vectors);
        });
    }

    /// The V-cycle below the finest level.
    fn coarse_cycle(&mut self) {
        let depth = self.coarse.len();
        for k in 1..depth {
            let (upper, lower) = self.coarse.split_at_mut(k);
            let at = &mut upper[k - 1];
            sweep_from_zero(&at.level, &at.schedule, &mut at.vectors);
            restrict(&at.level, &at.vectors, &self.aggregations[k], &mut lower[0]);
        }
        let last = &mut self.coarse[depth - 1];
        last.schedule.solve_coarsest(&last.level, &mut last.vectors, self.coarsest.as_ref());
        for k in (1..depth).rev() {
            let (upper, lower) = self.coarse.split_at_mut(k);
            let at = &mut upper[k - 1];
            ascend(&at.level, &at.schedule, &mut at.vectors, &self.aggregations[k], &lower[0].vectors);
        }
    }

    /// Unknowns of every level, finest first.
    pub(crate) fn sizes(&self, finest: &Level<f64, D>) -> Vec<usize> {
        std::iter::once(finest.unknowns()).chain(self.coarse.iter().map(|c| c.level.unknowns())).collect()
    }
}

impl Schedule {
    /// x from b on the coarsest level, and v with it.
    fn solve_coarsest<T: Real, const D: usize>(
        &self,
        level: &Level<T, D>,
        vectors: &mut Vectors,
        direct: Option<&Coarsest>,
    ) {
        match direct {
            Some(direct) => {
                vectors.clear();
                direct.solve(&vectors.b, &mut vectors.x);
                vectors.v = level.low_rank.state(&vectors.x);
            }
            None => {
                sweep_from_zero(level, self, vectors);
                sweep_back(level, self, vectors);
            }
        }
    }
}

/// The null space of the finest level, and the direct solver of the coarsest.
fn bottom<const D: usize>(
    finest: &Level<f64, D>,
    aggregations: &[Aggregation<D>],
    coarse: &[CoarseLevel<D>],
) -> (NullSpace, Option<Coarsest>) {
    let labels = match coarse.last() {
        None => Labels::of_coarsest(finest),
        Some(last) => Labels::of_coarsest(&last.level),
    };
    let mut finer = labels.clone();
    for k in (0..coarse.len()).rev() {
        finer = match k {
            0 => finer.refine(finest, &coarse[0].collapsed, &aggregations[0]),
            _ => finer.refine(&coarse[k - 1].level, &coarse[k].collapsed, &aggregations[k]),
        };
    }
    let null_space = NullSpace::new(finest, finer);
    let vectors = labels.vectors(&null_space);
    let coarsest = match coarse.last() {
        None => Coarsest::new(finest, &vectors, DENSE_LIMIT),
        Some(last) => Coarsest::new(&last.level, &vectors, DENSE_LIMIT),
    };
    (null_space, coarsest)
}

fn next_level<T: Real, const D: usize>(fine: &Level<T, D>) -> (Aggregation<D>, Level<f32, D>, Vec<usize>) {
    let aggregation = Aggregation::new(fine);
    let level = coarsen::coarsen(fine, &aggregation);
    let collapsed = nullspace::collapsed(fine, &level, &aggregation);
    (aggregation, level, collapsed)
}

impl Vectors {
    /// Makes room for the unknowns of a level.
    pub(crate) fn fit<T: Real, const D: usize>(&mut self, level: &Level<T, D>) {
        self.x.resize(level.len(), 0.0);
        self.b.resize(level.len(), 0.0);
        self.v.resize(level.low_rank.dofs(), 0.0);
    }

    pub(crate) fn clear(&mut self) {
        self.x.par_chunks_mut(1 << 16).for_each(|chunk| chunk.fill(0.0));
        self.v.fill(0.0);
    }
}

/// The right-hand side of the coarse level: the residual, restricted.
fn restrict<T: Real, const D: usize>(
    level: &Level<T, D>,
    vectors: &Vectors,
    aggregation: &Aggregation<D>,
    coarse: &mut CoarseLevel<D>,
) {
    restrict_residual(level, vectors, aggregation, &mut coarse.vectors.b);
    for &i in &coarse.collapsed {
        coarse.vectors.b[i] = 0.0;
    }
}

/// Adds the coarse correction and relaxes.
fn ascend<T: Real, const D: usize>(
    level: &Level<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
    aggregation: &Aggregation<D>,
    coarse: &Vectors,
) {
    prolong(level, vectors, aggregation, coarse);
    sweep_back(level, schedule, vectors);
}

/// coarse_b = P^T (b - A x).
fn restrict_residual<T: Real, const D: usize>(
    level: &Level<T, D>,
    vectors: &Vectors,
    aggregation: &Aggregation<D>,
    coarse_b: &mut [f32],
) {
    let n = block_len::<D>();
    let Vectors { x, b, v } = vectors;
    let (cells, extras) = coarse_b.split_at_mut(aggregation.coarse.slots());
    let irregular: Vec<Vec<(u32, f32)>> = cells
        .par_chunks_mut(n)
        .enumerate()
        .map_init(Scratch::new, |scratch, (coarse, sums)| {
            simd(
                #[inline(always)]
                || {
                    sums.fill(0.0);
                    let mut aside = Vec::new();
                    let mut residual = [0.0; 512];
                    for octant in 0..1 << D {
                        let Some(block) = aggregation.children[coarse][octant].map(|c| c as usize) else {
                            continue;
                        };
                        let residual = &mut residual[..n];
                        level.product(block, x, v, scratch, residual);
                        for (r, b) in residual.iter_mut().zip(&b[block * n..(block + 1) * n]) {
                            *r = b - *r;
                        }
                        for &(local, target) in &aggregation.irregular[block] {
                            aside.extend(target.map(|t| (t, residual[local as usize])));
                            residual[local as usize] = 0.0;
                        }
                        sum_groups::<D>(residual, octant, sums);
                    }
                    aside
                },
            )
        })
        .collect();
    let slots = aggregation.coarse.slots();
    extras.fill(0.0);
    for (target, r) in irregular.into_iter().flatten() {
        extras[target as usize - slots] += r;
    }
    for e in 0..level.extras.len() {
        let Some(target) = aggregation.extras[e] else { continue };
        let residual = b[level.slots() + e].f64() - level.extra_product(e, x, v);
        coarse_b[target as usize] += residual as f32;
    }
}

/// Adds the values of a block to the coarse cells above it.
#[inline(always)]
fn sum_groups<const D: usize>(values: &[f32], octant: usize, sums: &mut [f32]) {
    for (row, values) in values.chunks_exact(8).enumerate() {
        let first = coarse_local::<D>(octant, 8 * row);
        let sums = &mut sums[first..first + 4];
        for i in 0..4 {
            sums[i] += values[2 * i] + values[2 * i + 1];
        }
    }
}

/// Adds the values of the coarse cells above a block to its unknowns.
#[inline(always)]
fn add_to_groups<T: Real, const D: usize>(
    above: &[f32],
    octant: usize,
    own: &mut [f32],
    stencil: &Stencil<T, D>,
) {
    let uniform = matches!(stencil, Stencil::Uniform { .. });
    for (row, own) in own.chunks_exact_mut(8).enumerate() {
        let first = coarse_local::<D>(octant, 8 * row);
        let a = &above[first..first + 4];
        let pairs = [a[0], a[0], a[1], a[1], a[2], a[2], a[3], a[3]];
        if uniform {
            for i in 0..8 {
                own[i] += pairs[i];
            }
        } else {
            let unknown = stencil.unknown_row(row);
            for i in 0..8 {
                own[i] += if unknown[i] { pairs[i] } else { 0.0 };
            }
        }
    }
}

/// x += P x_coarse, and the states with it: F P x_coarse is the coarse state.
fn prolong<T: Real, const D: usize>(
    level: &Level<T, D>,
    vectors: &mut Vectors,
    aggregation: &Aggregation<D>,
    coarse: &Vectors,
) {
    let n = block_len::<D>();
    let (cells, extras) = vectors.x.split_at_mut(level.slots());
    cells.par_chunks_mut(n * TASK_BLOCKS).enumerate().for_each(|(task, chunk)| {
        simd(
            #[inline(always)]
            || {
                for (i, own) in chunk.chunks_exact_mut(n).enumerate() {
                    let block = task * TASK_BLOCKS + i;
                    let (parent, octant) = aggregation.parent(block);
                    let above = &coarse.x[parent * n..(parent + 1) * n];
                    let stencil = &level.stencils[block];
                    for &(local, target) in &aggregation.irregular[block] {
                        // What the loop below adds is taken away first.
                        let wrong = above[coarse_local::<D>(octant, local as usize)];
                        own[local as usize] += target.map_or(0.0, |t| coarse.x[t as usize]) - wrong;
                    }
                    add_to_groups(above, octant, own, stencil);
                    // Cells that only low-rank terms hold.
                    for row in level.low_rank.rows_in(block * n..(block + 1) * n) {
                        let local = level.low_rank.row_unknown(row) % n;
                        if stencil.diagonal(local) == T::ZERO {
                            own[local] += above[coarse_local::<D>(octant, local)];
                        }
                    }
                }
            },
        );
    });
    for (x, target) in extras.iter_mut().zip(&aggregation.extras) {
        *x += target.map_or(0.0, |t| coarse.x[t as usize]);
    }
    for (v, dv) in vectors.v.iter_mut().zip(&coarse.v) {
        *v += dv;
    }
}
