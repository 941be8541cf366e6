//! One multigrid over cells, extra unknowns and low-rank terms: a symmetric V-cycle in f32.
//!
//! The hierarchy is built of [`Level`]s whose blocks are all whole, from the finest to the coarsest. Then it is known which blocks may be cut into
//! sheets, and every level is [`Arranged`] to be worked on.

mod aggregate;
mod clusters;
mod coarsen;
mod coarsest;
mod dissolve;
mod nullspace;
mod smooth;
#[cfg(test)]
mod tests;
mod transfer;

use meniscus_core::grid::block_len;
use meniscus_core::parallel;

use crate::operator::{Arranged, Level, Places};
use crate::profile::{Kernel, Profile};
use crate::real::Real;
use aggregate::Aggregation;
use clusters::{Cluster, find_clusters};
use coarsest::Coarsest;
use nullspace::Labels;
pub(crate) use nullspace::NullSpace;
pub(crate) use smooth::Vectors;
use smooth::{Schedule, sweep_back, sweep_from_zero};
use transfer::Transfer;

/// Coarsening ends at this many unknowns. With 30 a channel takes 20 iterations instead of 17 (`a_serpentine_channel_3d` in `tests/iterations.rs`); 300 are not
/// noticed, but for their dense matrix.
const COARSEST: usize = 100;

/// A coarsest level with more unknowns than this (extra unknowns and scattered parts do not coarsen) is relaxed
/// instead of solved: a dense matrix would cost more than it gains. For speed: with 100 the tests take as many iterations.
const DENSE_LIMIT: usize = 1200;

/// Rounds of relaxation in one visit to a block of the finest level. With one, 16 iterations instead of 10 (system A at 128 cells), and in `tests/iterations.rs` 12
/// instead of 9 (where coefficients jump, in 3D); three are not noticed.
const FINE_ROUNDS: usize = 2;

/// Rounds of relaxation in one visit to a block of a coarser level. Coarse levels are cheap, and what they do well the finest need not repeat.
/// `iterations_do_not_grow_with_resolution_3d` (`tests/iterations.rs`) does not allow 8; 2 are not noticed.
const COARSE_ROUNDS: usize = 4;

/// A level below the finest, as it is worked on.
struct CoarseLevel<const D: usize> {
    /// Between the level above and this one.
    transfer: Transfer<D>,
    level: Arranged<f32, D>,
    unknowns: usize,
    /// Whether terms of the level above have [dissolved](dissolve) in this one, and have no state here.
    dissolved: bool,
    /// Unknowns without an equation: see [`nullspace::collapsed`].
    collapsed: Vec<usize>,
    schedule: Schedule,
    vectors: Vectors,
}

/// The hierarchy of an operator.
pub(crate) struct Multigrid<const D: usize> {
    finest: Arranged<f64, D>,
    /// Where the unknowns of the finest level are in vectors that it is worked on with, if not in their own places.
    places: Option<Places<D>>,
    schedule: Schedule,
    coarse: Vec<CoarseLevel<D>>,
    coarsest: Option<Coarsest>,
    /// The null space of the finest operator, and that in vectors that the finest level is worked on with.
    null_space: NullSpace,
    arranged_null_space: NullSpace,
}

impl<const D: usize> Multigrid<D> {
    /// The blocks in `whole`, in ascending order, are not cut into sheets.
    pub(crate) fn new(finest: &Level<f64, D>, whole: &[usize]) -> Self {
        let coarsenings = coarsenings(finest);
        let (null_space, coarsest) = bottom(finest, &coarsenings);
        let mut places = places(finest, &coarsenings, whole);
        let pairs = coarsenings.into_iter().zip(places.windows(2));
        let coarse =
            pairs.map(|(coarsening, places)| coarsening.arranged([&places[0], &places[1]])).collect();
        let places = places.swap_remove(0);
        let (finest, schedule) = arranged(finest, places.as_ref(), FINE_ROUNDS);
        let arranged_null_space =
            places.as_ref().map_or_else(|| null_space.clone(), |places| null_space.arranged(places));
        Self { finest, places, schedule, coarse, coarsest, null_space, arranged_null_space }
    }

    /// The finest level as it is worked on.
    pub(crate) fn finest(&self) -> &Arranged<f64, D> {
        &self.finest
    }

    /// Where the unknowns of the finest level are in vectors that it is worked on with, if not in their own places.
    pub(crate) fn places(&self) -> Option<&Places<D>> {
        self.places.as_ref()
    }

    /// The null space of the finest operator in vectors that the finest level is worked on with.
    pub(crate) fn arranged_null_space(&self) -> &NullSpace {
        &self.arranged_null_space
    }

    /// The null space of the finest operator.
    pub(crate) fn null_space(&self) -> &NullSpace {
        &self.null_space
    }

    /// One V-cycle from zero: x from b.
    pub(crate) fn cycle(&mut self, vectors: &mut Vectors, profile: &mut Profile) {
        let Self { finest, schedule, coarse, coarsest, .. } = self;
        if coarse.is_empty() {
            schedule.solve_coarsest(finest, vectors, coarsest.as_ref());
            return;
        }
        profile.time(Kernel::SmoothDown, || sweep_from_zero(finest, schedule, vectors));
        profile.time(Kernel::Restrict, || coarse[0].take_residual(finest, vectors));
        profile.time(Kernel::Coarse, || coarse_cycle(coarse, coarsest.as_ref()));
        profile.time(Kernel::SmoothUp, || ascend(&mut coarse[0], finest, schedule, vectors));
    }

    /// Unknowns of every level below the finest.
    pub(crate) fn coarse_sizes(&self) -> impl Iterator<Item = usize> {
        self.coarse.iter().map(|coarse| coarse.unknowns)
    }
}

/// The V-cycle below the finest level.
fn coarse_cycle<const D: usize>(coarse: &mut [CoarseLevel<D>], coarsest: Option<&Coarsest>) {
    let depth = coarse.len();
    for k in 1..depth {
        let (upper, lower) = coarse.split_at_mut(k);
        let CoarseLevel { level, schedule, vectors, .. } = &mut upper[k - 1];
        sweep_from_zero(level, schedule, vectors);
        lower[0].take_residual(level, vectors);
    }
    let last = &mut coarse[depth - 1];
    last.schedule.solve_coarsest(&last.level, &mut last.vectors, coarsest);
    for k in (1..depth).rev() {
        let (upper, lower) = coarse.split_at_mut(k);
        let CoarseLevel { level, schedule, vectors, .. } = &mut upper[k - 1];
        ascend(&mut lower[0], level, schedule, vectors);
    }
}

impl Schedule {
    /// x from b on the coarsest level, and v with it.
    fn solve_coarsest<T: Real, const D: usize>(
        &self,
        level: &Arranged<T, D>,
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

/// A coarser level as it is built, and how it follows from the finer one.
struct Coarsening<const D: usize> {
    aggregation: Aggregation<D>,
    level: Level<f32, D>,
    unknowns: usize,
    dissolved: bool,
    collapsed: Vec<usize>,
}

impl<const D: usize> Coarsening<D> {
    fn of<T: Real>(fine: &Level<T, D>) -> Self {
        let aggregation = Aggregation::new(fine);
        let (level, dissolved) = coarsen::coarsen(fine, &aggregation);
        let collapsed = nullspace::collapsed(fine, &level, &aggregation);
        Self { aggregation, unknowns: level.unknowns(), level, dissolved, collapsed }
    }

    /// Where its unknowns are, if not in their own places, below a level whose unknowns are in the places `fine` and above one that follows by `next`.
    fn places(&self, fine: &Places<D>, next: Option<&Aggregation<D>>) -> Option<Places<D>> {
        // The last level stays whole, and what has irregular cells, lies above a whole block or holds an unknown without an equation.
        let mut keep: Vec<bool> = next?.irregular.iter().map(|cells| !cells.is_empty()).collect();
        fine.whole_blocks().for_each(|block| keep[self.aggregation.parent(block).0] = true);
        let cells = self.collapsed.iter().filter(|&&i| i < self.level.slots());
        cells.for_each(|i| keep[i / block_len::<D>()] = true);
        Places::new(&self.level, |block| keep[block])
    }

    /// The level as it is worked on, given the places of the finer level and its own.
    fn arranged(self, [fine, own]: [&Option<Places<D>>; 2]) -> CoarseLevel<D> {
        let Self { aggregation, level, unknowns, dissolved, mut collapsed } = self;
        if let Some(places) = own {
            collapsed.iter_mut().for_each(|i| *i = places.index(*i));
        }
        let transfer = aggregation.transfer(fine.as_ref(), own.as_ref());
        let (level, schedule) = arranged(&level, own.as_ref(), COARSE_ROUNDS);
        let mut vectors = Vectors::default();
        vectors.fit(&level);
        CoarseLevel { transfer, level, unknowns, dissolved, collapsed, schedule, vectors }
    }
}

/// The levels below the finest.
fn coarsenings<const D: usize>(finest: &Level<f64, D>) -> Vec<Coarsening<D>> {
    let mut all: Vec<Coarsening<D>> = Vec::new();
    let mut unknowns = finest.unknowns();
    while unknowns > COARSEST {
        let next = match all.last() {
            None => Coarsening::of(finest),
            Some(last) => Coarsening::of(&last.level),
        };
        if next.unknowns >= unknowns {
            break;
        }
        unknowns = next.unknowns;
        all.push(next);
    }
    all
}

/// The null space of the finest level, and the direct solver of the coarsest.
fn bottom<const D: usize>(
    finest: &Level<f64, D>,
    coarsenings: &[Coarsening<D>],
) -> (NullSpace, Option<Coarsest>) {
    let labels = match coarsenings.last() {
        None => Labels::of_coarsest(finest),
        Some(last) => Labels::of_coarsest(&last.level),
    };
    let mut finer = labels.clone();
    for (k, Coarsening { aggregation, collapsed, .. }) in coarsenings.iter().enumerate().rev() {
        finer = match k {
            0 => finer.refine(finest, collapsed, aggregation),
            _ => finer.refine(&coarsenings[k - 1].level, collapsed, aggregation),
        };
    }
    let null_space = NullSpace::new(finest, finer);
    let vectors = labels.vectors(&null_space);
    let coarsest = match coarsenings.last() {
        None => Coarsest::new(finest, &vectors, DENSE_LIMIT),
        Some(last) => Coarsest::new(&last.level, &vectors, DENSE_LIMIT),
    };
    (null_space, coarsest)
}

/// Where the unknowns of every level are, finest first, once blocks of few unknowns have been cut into sheets, level by level as long as there are
/// any; `None` where they keep their own places.
fn places<const D: usize>(
    finest: &Level<f64, D>,
    coarsenings: &[Coarsening<D>],
    whole: &[usize],
) -> Vec<Option<Places<D>>> {
    let mut all = vec![None; coarsenings.len() + 1];
    if let Some(Coarsening { aggregation, .. }) = coarsenings.first() {
        let keep =
            |block: usize| !aggregation.irregular[block].is_empty() || whole.binary_search(&block).is_ok();
        all[0] = Places::new(finest, keep);
    }
    for (k, coarsening) in coarsenings.iter().enumerate() {
        let Some(fine) = &all[k] else { break };
        all[k + 1] = coarsening.places(fine, coarsenings.get(k + 1).map(|next| &next.aggregation));
    }
    all
}

/// A level as it is worked on, and how its blocks are visited.
fn arranged<T: Real, const D: usize>(
    level: &Level<T, D>,
    places: Option<&Places<D>>,
    rounds: usize,
) -> (Arranged<T, D>, Schedule) {
    let clusters = find_clusters(level).into_iter();
    let (level, clusters): (_, Vec<Cluster>) = match places {
        None => (level.whole(), clusters.collect()),
        Some(places) => (level.arranged(places), clusters.map(|c| c.arranged(places)).collect()),
    };
    let schedule = Schedule::new(&level, rounds, clusters);
    (level, schedule)
}

impl Vectors {
    /// Makes room for the unknowns of a level.
    pub(crate) fn fit<T: Real, const D: usize>(&mut self, level: &Arranged<T, D>) {
        self.x.resize(level.len(), 0.0);
        self.b.resize(level.len(), 0.0);
        self.v.resize(level.matrix.dofs, 0.0);
    }

    pub(crate) fn clear(&mut self) {
        parallel::for_chunks(&mut self.x, 1 << 16, |_, chunk| chunk.fill(0.0));
        self.v.fill(0.0);
    }
}

impl<const D: usize> CoarseLevel<D> {
    /// The right-hand side from a finer level: the residual, restricted.
    fn take_residual<T: Real>(&mut self, finer: &Arranged<T, D>, vectors: &Vectors) {
        self.transfer.restrict_residual(finer, vectors, &mut self.vectors.b);
        for &i in &self.collapsed {
            self.vectors.b[i] = 0.0;
        }
    }
}

/// Adds the correction of a coarse level to the next finer one, and relaxes that.
fn ascend<T: Real, const D: usize>(
    coarse: &mut CoarseLevel<D>,
    finer: &Arranged<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
) {
    // F P x_coarse is the coarse state, unless the coarse level has other terms.
    if !coarse.dissolved {
        let Vectors { x, v, .. } = &mut coarse.vectors;
        coarse.level.find_affine_state(x, v);
    }
    coarse.transfer.prolong(finer, schedule, &coarse.vectors, vectors);
    if coarse.dissolved {
        finer.find_affine_state(&vectors.x, &mut vectors.v);
    }
    sweep_back(finer, schedule, vectors);
}
