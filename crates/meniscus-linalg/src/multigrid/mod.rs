//! One multigrid over cells, extra unknowns and low-rank terms: a symmetric V-cycle in f32.

mod aggregate;
mod clusters;
mod coarsen;
mod coarsest;
mod dissolve;
mod nullspace;
mod smooth;
#[cfg(test)]
mod tests;

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use crate::operator::{Level, Moments, NONE, Places, SHEET, SHEET_TASK, Scratch, Stencil, TASK_BLOCKS};
use crate::profile::{Kernel, Profile};
use crate::real::Real;
use aggregate::{Aggregation, coarse_local};
use clusters::{Cluster, find_clusters};
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
    unknowns: usize,
    clusters: Vec<Cluster>,
    /// Whether terms of the level above have [dissolved](dissolve) in this one, and have no state here.
    dissolved: bool,
    /// Unknowns without an equation: see [`nullspace::collapsed`].
    collapsed: Vec<usize>,
    schedule: Schedule,
    vectors: Vectors,
}

/// The hierarchy of an operator, without the operator itself.
pub(crate) struct Multigrid<const D: usize> {
    /// Where blocks of the finest level have been cut into sheets: that level as it is worked on, and where its unknowns are.
    arranged: Option<(Level<f64, D>, Places<D>)>,
    schedule: Schedule,
    clusters: Vec<Cluster>,
    aggregations: Vec<Aggregation<D>>,
    coarse: Vec<CoarseLevel<D>>,
    coarsest: Option<Coarsest>,
    null_space: NullSpace,
    inner_null_space: NullSpace,
}

impl<const D: usize> Multigrid<D> {
    /// The blocks in `whole`, in ascending order, are not cut into sheets.
    pub(crate) fn new(finest: &Level<f64, D>, whole: &[usize]) -> Self {
        let mut aggregations: Vec<Aggregation<D>> = Vec::new();
        let mut coarse: Vec<CoarseLevel<D>> = Vec::new();
        let mut unknowns = finest.unknowns();
        while unknowns > COARSEST {
            let Next { aggregation, level, dissolved, collapsed } = match coarse.last() {
                None => next_level(finest),
                Some(last) => next_level(&last.level),
            };
            let fewer = level.unknowns();
            if fewer >= unknowns {
                break;
            }
            unknowns = fewer;
            aggregations.push(aggregation);
            coarse.push(CoarseLevel {
                clusters: find_clusters(&level),
                level,
                unknowns,
                dissolved,
                collapsed,
                schedule: Schedule::default(),
                vectors: Vectors::default(),
            });
        }
        let (null_space, coarsest) = bottom(finest, &aggregations, &coarse);
        let mut this = Self {
            arranged: None,
            schedule: Schedule::default(),
            clusters: find_clusters(finest),
            aggregations,
            coarse,
            coarsest,
            inner_null_space: null_space.clone(),
            null_space,
        };
        this.arrange(finest, whole);
        let clusters = std::mem::take(&mut this.clusters);
        this.schedule = Schedule::new(this.finest(finest), FINE_ROUNDS, clusters);
        for CoarseLevel { level, schedule, clusters, vectors, .. } in &mut this.coarse {
            *schedule = Schedule::new(level, COARSE_ROUNDS, std::mem::take(clusters));
            vectors.fit(level);
        }
        this
    }

    /// Cuts blocks of few unknowns into sheets, level by level as long as there are any.
    fn arrange(&mut self, finest: &Level<f64, D>, whole: &[usize]) {
        let keeps = |aggregation: &Aggregation<D>, block: usize| !aggregation.irregular[block].is_empty();
        let Some(first) = self.aggregations.first() else { return };
        let keep = |block: usize| keeps(first, block) || whole.binary_search(&block).is_ok();
        let Some(places) = Places::new(finest, keep) else { return };
        self.inner_null_space = self.null_space.arranged(&places);
        self.arranged = Some((finest.arranged(&places), places.clone()));
        self.clusters.iter_mut().for_each(|cluster| cluster.arrange(&places));
        let mut above = Some(places);
        for k in 0..self.coarse.len() {
            let Some(fine) = above.take() else { return };
            // What lies above a whole block must be whole, and what holds an unknown without an equation, and the last level.
            let aggregation = &self.aggregations[k];
            let mut keep = vec![k + 1 == self.coarse.len(); aggregation.coarse.len()];
            fine.whole_blocks().for_each(|block| keep[aggregation.parent(block).0] = true);
            let CoarseLevel { level, collapsed, .. } = &self.coarse[k];
            collapsed.iter().filter(|&&i| i < level.slots()).for_each(|i| keep[i / block_len::<D>()] = true);
            let next = self.aggregations.get(k + 1);
            let coarse =
                Places::new(level, |block| keep[block] || next.is_some_and(|next| keeps(next, block)));
            self.aggregations[k] = aggregation.arranged(&fine, coarse.as_ref());
            if let Some(places) = &coarse {
                let at = &mut self.coarse[k];
                at.level = at.level.arranged(places);
                at.collapsed.iter_mut().for_each(|i| *i = places.index(*i));
                at.clusters.iter_mut().for_each(|cluster| cluster.arrange(places));
            }
            above = coarse;
        }
    }

    /// The finest level as it is worked on.
    pub(crate) fn finest<'a>(&'a self, finest: &'a Level<f64, D>) -> &'a Level<f64, D> {
        self.arranged.as_ref().map_or(finest, |arranged| &arranged.0)
    }

    /// Where the unknowns of the finest level are in vectors that it is worked on with, if not in their own places.
    pub(crate) fn places(&self) -> Option<&Places<D>> {
        self.arranged.as_ref().map(|arranged| &arranged.1)
    }

    /// The null space in such vectors.
    pub(crate) fn inner_null_space(&self) -> &NullSpace {
        &self.inner_null_space
    }

    /// The null space of the finest operator.
    pub(crate) fn null_space(&self) -> &NullSpace {
        &self.null_space
    }

    /// One V-cycle from zero: x from b.
    pub(crate) fn cycle(&mut self, finest: &Level<f64, D>, vectors: &mut Vectors, profile: &mut Profile) {
        let Self { arranged, schedule, aggregations, coarse, coarsest, .. } = self;
        let finest = arranged.as_ref().map_or(finest, |arranged| &arranged.0);
        if coarse.is_empty() {
            schedule.solve_coarsest(finest, vectors, coarsest.as_ref());
            return;
        }
        profile.time(Kernel::SmoothDown, || sweep_from_zero(finest, schedule, vectors));
        profile.time(Kernel::Restrict, || restrict(finest, vectors, &aggregations[0], &mut coarse[0]));
        profile.time(Kernel::Coarse, || coarse_cycle(aggregations, coarse, coarsest.as_ref()));
        profile.time(Kernel::SmoothUp, || {
            ascend(finest, schedule, vectors, &aggregations[0], &mut coarse[0]);
        });
    }

    /// Unknowns of every level, finest first.
    pub(crate) fn sizes(&self, finest: &Level<f64, D>) -> Vec<usize> {
        std::iter::once(finest.unknowns()).chain(self.coarse.iter().map(|c| c.unknowns)).collect()
    }
}

/// The V-cycle below the finest level.
fn coarse_cycle<const D: usize>(
    aggregations: &[Aggregation<D>],
    coarse: &mut [CoarseLevel<D>],
    coarsest: Option<&Coarsest>,
) {
    let depth = coarse.len();
    for k in 1..depth {
        let (upper, lower) = coarse.split_at_mut(k);
        let at = &mut upper[k - 1];
        sweep_from_zero(&at.level, &at.schedule, &mut at.vectors);
        restrict(&at.level, &at.vectors, &aggregations[k], &mut lower[0]);
    }
    let last = &mut coarse[depth - 1];
    last.schedule.solve_coarsest(&last.level, &mut last.vectors, coarsest);
    for k in (1..depth).rev() {
        let (upper, lower) = coarse.split_at_mut(k);
        let at = &mut upper[k - 1];
        ascend(&at.level, &at.schedule, &mut at.vectors, &aggregations[k], &mut lower[0]);
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
                vectors.v = level.state(&vectors.x);
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

/// A coarser level, and how it follows from the finer one.
struct Next<const D: usize> {
    aggregation: Aggregation<D>,
    level: Level<f32, D>,
    dissolved: bool,
    collapsed: Vec<usize>,
}

fn next_level<T: Real, const D: usize>(fine: &Level<T, D>) -> Next<D> {
    let aggregation = Aggregation::new(fine);
    let (level, dissolved) = coarsen::coarsen(fine, &aggregation);
    let collapsed = nullspace::collapsed(fine, &level, &aggregation);
    Next { aggregation, level, dissolved, collapsed }
}

impl Vectors {
    /// Makes room for the unknowns of a level.
    pub(crate) fn fit<T: Real, const D: usize>(&mut self, level: &Level<T, D>) {
        self.x.resize(level.len(), 0.0);
        self.b.resize(level.len(), 0.0);
        self.v.resize(level.dofs, 0.0);
    }

    pub(crate) fn clear(&mut self) {
        parallel::for_chunks(&mut self.x, 1 << 16, |_, chunk| chunk.fill(0.0));
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
    coarse: &mut CoarseLevel<D>,
) {
    // F P x_coarse is the coarse state, unless the coarse level has other terms.
    if !coarse.dissolved {
        let Vectors { x, v, .. } = &mut coarse.vectors;
        coarse.level.affine.state(coarse.level.slots(), x, v);
    }
    prolong(level, schedule, vectors, aggregation, &coarse.vectors);
    if coarse.dissolved {
        level.affine.state(level.slots(), &vectors.x, &mut vectors.v);
    }
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
    let pull = level.affine.pull(v);
    let (cells, extras) = coarse_b.split_at_mut(aggregation.coarse.slots());
    let irregular = parallel::map_chunks_with(cells, n, Scratch::new, |scratch, coarse, sums| {
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
                    level.product(block, x, v, &pull, scratch, residual);
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
    });
    let slots = aggregation.coarse.slots();
    extras.fill(0.0);
    for (target, r) in irregular.into_iter().flatten() {
        extras[target as usize - slots] += r;
    }
    for e in 0..level.extras.len() {
        let Some(target) = aggregation.extras[e] else { continue };
        let residual = b[level.first_extra() + e].f64() - level.extra_product(e, x, v);
        coarse_b[target as usize] += residual as f32;
    }
    restrict_sheets(level, vectors, &pull, aggregation, coarse_b);
}

/// Adds the residuals of the sheets to coarse_b.
fn restrict_sheets<T: Real, const D: usize>(
    level: &Level<T, D>,
    vectors: &Vectors,
    pull: &[Moments<f32>],
    aggregation: &Aggregation<D>,
    coarse_b: &mut [f32],
) {
    let Vectors { x, b, .. } = vectors;
    let mut sums = vec![[0.0; 16]; level.sheets.list.len()];
    parallel::for_chunks(&mut sums, SHEET_TASK, |task, sums| {
        simd(
            #[inline(always)]
            || {
                let mut residual = [0.0; SHEET];
                for (i, sums) in sums.iter_mut().enumerate() {
                    let sheet = task * SHEET_TASK + i;
                    level.sheet_product(sheet, x, pull, &mut residual);
                    let b = &b[level.slots() + SHEET * sheet..][..SHEET];
                    for (r, b) in residual.iter_mut().zip(b) {
                        *r = b - *r;
                    }
                    for (pair, rows) in residual.chunks_exact(16).enumerate() {
                        for u in 0..4 {
                            sums[4 * pair + u] =
                                (rows[2 * u] + rows[2 * u + 1]) + (rows[8 + 2 * u] + rows[9 + 2 * u]);
                        }
                    }
                }
            },
        );
    });
    for (targets, sums) in aggregation.sheets.iter().zip(&sums) {
        for (&target, sum) in targets.iter().zip(sums) {
            if target != NONE {
                coarse_b[target as usize] += sum;
            }
        }
    }
}

/// Adds the coarse values to the unknowns of the sheets.
fn prolong_sheets<T: Real, const D: usize>(
    level: &Level<T, D>,
    x: &mut [f32],
    aggregation: &Aggregation<D>,
    coarse: &[f32],
) {
    parallel::for_chunks(x, SHEET * SHEET_TASK, |task, x| {
        let sheets = parallel::chunk(&level.sheets.list, SHEET_TASK, task).iter();
        let targets = parallel::chunk(&aggregation.sheets, SHEET_TASK, task);
        for ((own, sheet), targets) in x.chunks_exact_mut(SHEET).zip(sheets).zip(targets) {
            let values = targets.map(|target| if target == NONE { 0.0 } else { coarse[target as usize] });
            for (place, own) in own.iter_mut().enumerate() {
                let value = values[(place & 7) / 2 + place / 16 * 4];
                *own += if sheet.cells >> place & 1 == 1 { value } else { 0.0 };
            }
        }
    });
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

/// x += P x_coarse, and the states with it: F P x_coarse is the coarse state, of the terms that the coarse level has.
fn prolong<T: Real, const D: usize>(
    level: &Level<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
    aggregation: &Aggregation<D>,
    coarse: &Vectors,
) {
    let n = block_len::<D>();
    let (cells, rest) = vectors.x.split_at_mut(level.slots());
    let (sheets, extras) = rest.split_at_mut(level.first_extra() - level.slots());
    prolong_sheets(level, sheets, aggregation, &coarse.x);
    parallel::for_chunks(cells, n * TASK_BLOCKS, |task, chunk| {
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
                    for &local in &schedule.held[block] {
                        own[local as usize] += above[coarse_local::<D>(octant, local as usize)];
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
