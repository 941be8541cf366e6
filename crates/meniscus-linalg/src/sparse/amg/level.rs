//! A level of the hierarchy: its matrix, how it is smoothed, and the way to the next one.

use std::sync::Arc;

use meniscus_core::parallel;

use super::super::block::{Block, add_product, inverse, product, times};
use super::super::bsr::{Bsr, Transposition};
use super::super::pattern::{NONE, Pattern};
use super::super::product::Product;
use super::aggregates::{Aggregates, aggregate, strong};
use super::arranged::{Arranged, Between, Vector};
use super::spectrum::largest_eigenvalue;
use super::tentative::tentative;
use super::{AmgError, AmgParams, Number, Smoother};

/// Steps of Lanczos' method: they find the largest eigenvalue to a few percent.
const STEPS: usize = 8;

/// Chunks are swept independently of each other: together they may go too far, and a smoother must not double an error. Up to this factor
/// of M^-1 A, estimated from below, nothing is done about it.
const FARTHEST: f64 = 1.7;

/// A diagonal entry of a coarse matrix below this fraction of the fine one's largest is of a vector that the matrix does not see, or of none.
const NULL: f64 = 1e-12;

/// What depends on patterns, candidates and aggregates, and stays when only the numbers of a matrix change.
pub(super) struct Plan<const R: usize, const K: usize> {
    pub(super) pattern: Arc<Pattern>,
    aggregates: Aggregates,
    tentative: Vec<Block<R, K>>,
    prolongation: Arc<Pattern>,
    transposition: Transposition,
    image: Product,
    coarse: Product,
}

/// What the next level is made of: the candidates in its unknowns, and the part that each of them lies in.
pub(super) struct Next<const K: usize> {
    pub(super) candidates: Vec<Block<K, K>>,
    pub(super) parts: Option<Vec<u32>>,
}

impl<const R: usize, const K: usize> Plan<R, K> {
    pub(super) fn new(
        matrix: &Bsr<R, R>,
        candidates: &[Block<R, K>],
        parts: Option<&[u32]>,
        params: &AmgParams,
    ) -> (Self, Next<K>) {
        let pattern = Arc::clone(matrix.pattern());
        let aggregates = aggregate(&strong(matrix, params.strength, parts));
        let (tentative, coarse_candidates) = tentative(candidates, &aggregates);
        let aggregates_of = |row: usize, columns: &mut Vec<u32>| {
            let mut last = NONE;
            for &other in pattern.row(row) {
                let aggregate = aggregates.of[other as usize];
                if aggregate != NONE && aggregate != last {
                    columns.push(aggregate);
                    last = aggregate;
                }
            }
        };
        let prolongation = Arc::new(Pattern::from_rows(pattern.rows(), aggregates.count, aggregates_of));
        let transposition = Transposition::new(&prolongation);
        let image = Product::new(&pattern, &prolongation);
        let coarse = Product::new(transposition.pattern(), image.pattern());
        let parts = parts.map(|parts| aggregates.parts(parts));
        let plan = Self { pattern, aggregates, tentative, prolongation, transposition, image, coarse };
        (plan, Next { candidates: coarse_candidates, parts })
    }

    pub(super) fn aggregates(&self) -> usize {
        self.aggregates.count
    }

    /// P = (I - factor D^-1 A) T.
    fn smoothed(&self, matrix: &Bsr<R, R>, inverse: &[Block<R, R>], factor: f64) -> Bsr<R, K> {
        let mut out = Bsr::zeros(Arc::clone(&self.prolongation));
        let (pattern, blocks) = out.parts_mut();
        let scratch = || vec![NONE; pattern.width()];
        pattern.each_row(blocks, scratch, |places, row, blocks| {
            for (place, &column) in (0..).zip(pattern.row(row)) {
                places[column as usize] = place;
            }
            let (columns, factors) = matrix.row(row);
            for (&column, a) in columns.iter().zip(factors) {
                let aggregate = self.aggregates.of[column as usize];
                if aggregate != NONE {
                    let block = &mut blocks[places[aggregate as usize] as usize];
                    add_product(block, a, &self.tentative[column as usize]);
                }
            }
            let step = inverse[row].map(|values| values.map(|value| -factor * value));
            for block in &mut *blocks {
                *block = product(&step, block);
            }
            let own = self.aggregates.of[row];
            if own != NONE {
                let block = &mut blocks[places[own as usize] as usize];
                for (values, added) in block.iter_mut().zip(&self.tentative[row]) {
                    values.iter_mut().zip(added).for_each(|(value, added)| *value += added);
                }
            }
        });
        out
    }
}

/// How errors are smoothed.
enum Smoothing {
    /// A symmetric sweep in every chunk, times a factor.
    Sweep(Number),
    /// Chebyshev's polynomial: how much of the last direction is kept and how much of the scaled residual is added, step by step.
    Polynomial(Vec<[Number; 2]>),
}

/// The numbers of a level, in the precision of the cycle.
pub(super) struct Level<const R: usize, const K: usize> {
    matrix: Arranged<R>,
    smoothing: Smoothing,
    down: Between<K, R>,
    up: Between<R, K>,
    pub(super) b: Vector<R>,
    pub(super) x: Vector<R>,
    r: Vector<R>,
    spare: Vector<R>,
}

impl<const R: usize, const K: usize> Level<R, K> {
    /// Of a matrix that is divided by `scale`; also returns the matrix of the next level, not divided.
    pub(super) fn new(
        plan: &Plan<R, K>,
        matrix: &Bsr<R, R>,
        params: &AmgParams,
        scale: f64,
        is_finest: bool,
    ) -> Result<(Self, Bsr<K, K>), AmgError> {
        let diagonal = matrix.diagonal_blocks();
        let inverse = inverses(&diagonal, is_finest)?;
        let by_diagonal = |r: &[f64], z: &mut [f64]| {
            let blocks = r.as_chunks::<R>().0.iter().zip(z.as_chunks_mut::<R>().0).zip(&inverse);
            for ((r, z), inverse) in blocks {
                *z = times(inverse, r);
            }
        };
        let product = |x: &[f64], y: &mut [f64]| matrix.apply(x, y);
        let radius = largest_eigenvalue(matrix.height(), STEPS, product, by_diagonal);
        let prolongation = plan.smoothed(matrix, &inverse, params.relaxation / radius);
        let restriction = plan.transposition.apply(&prolongation);
        let mut coarse = plan.coarse.compute(&restriction, &plan.image.compute(matrix, &prolongation));
        hold_unseen(&mut coarse, scale);
        let (arranged, smoothing) = match params.smoother {
            Smoother::GaussSeidel => {
                let arranged = Arranged::new(matrix, &inverses(&swept(matrix, diagonal), is_finest)?, scale);
                let factor = sweep_factor(matrix, &arranged, scale);
                (arranged, Smoothing::Sweep(factor))
            }
            Smoother::Chebyshev { degree } => {
                let steps = polynomial(degree.max(1), radius);
                (Arranged::new(matrix, &inverse, scale), Smoothing::Polynomial(steps))
            }
        };
        let zeros = || vec![[0.0; R]; plan.pattern.rows()];
        let level = Self {
            matrix: arranged,
            smoothing,
            down: Between::new(&restriction),
            up: Between::new(&prolongation),
            b: zeros(),
            x: zeros(),
            r: zeros(),
            spare: zeros(),
        };
        Ok((level, coarse))
    }

    /// Smooths x = 0 and restricts what is left of b.
    pub(super) fn descend(&mut self, coarse: &mut [[Number; K]]) {
        match &self.smoothing {
            Smoothing::Sweep(factor) => {
                self.matrix.sweep_from_zero(&self.b, &mut self.x);
                if *factor != 1.0 {
                    self.x.as_flattened_mut().iter_mut().for_each(|x| *x *= factor);
                }
            }
            Smoothing::Polynomial(steps) => {
                let Self { matrix, b, x, r, spare, .. } = self;
                for (k, step) in steps.iter().enumerate() {
                    matrix.step(*step, b, (k > 0).then_some(&x[..]), r, spare);
                    std::mem::swap(x, spare);
                }
            }
        }
        self.matrix.residual(&self.b, &self.x, &mut self.r);
        self.down.apply(&self.r, coarse, false);
    }

    /// Adds the correction of the next level and smooths.
    pub(super) fn ascend(&mut self, coarse: &[[Number; K]]) {
        let Self { matrix, smoothing, up, b, x, r, spare, .. } = self;
        up.apply(coarse, x, true);
        match smoothing {
            Smoothing::Sweep(factor) => {
                matrix.sweep_on(*factor, b, x, spare);
                std::mem::swap(x, spare);
            }
            Smoothing::Polynomial(steps) => {
                for step in steps {
                    matrix.step(*step, b, Some(x), r, spare);
                    std::mem::swap(x, spare);
                }
            }
        }
    }
}

/// The inverses of the blocks on the diagonal. Those of coarse levels may be singular, where candidates are not seen by the matrix.
fn inverses<const B: usize>(blocks: &[Block<B, B>], strict: bool) -> Result<Vec<Block<B, B>>, AmgError> {
    let of = |(row, block): (usize, &Block<B, B>)| match inverse(block) {
        Some(inverse) => Ok(inverse),
        None if strict => Err(AmgError::Diagonal { row }),
        None => {
            let mut numbers = [[0.0; B]; B];
            for r in 0..B {
                numbers[r][r] = 1.0 / (B as f64 * block[r][r]);
            }
            Ok(numbers)
        }
    };
    blocks.iter().enumerate().map(of).collect()
}

/// The diagonal for sweeps: with half of what couples a row to other chunks. Without it the sweeps of two chunks that are nearly rigid, each
/// correcting for the other, would together go twice as far as they should, and what they overshoot no coarse level sees.
fn swept<const B: usize>(matrix: &Bsr<B, B>, mut diagonal: Vec<Block<B, B>>) -> Vec<Block<B, B>> {
    parallel::for_chunks(&mut diagonal, Arranged::<B>::CHUNK, |k, diagonal| {
        let chunk = k * Arranged::<B>::CHUNK..k * Arranged::<B>::CHUNK + diagonal.len();
        for (row, own) in chunk.clone().zip(diagonal) {
            let (columns, blocks) = matrix.row(row);
            for (_, block) in columns.iter().zip(blocks).filter(|(j, _)| !chunk.contains(&(**j as usize))) {
                for r in 0..B {
                    own[r][r] += 0.5 * block[r].iter().map(|value| value.abs()).sum::<f64>();
                }
            }
        }
    });
    diagonal
}

/// Puts ones, in the scale of the matrix, on the diagonal where a coarse unknown stands for nothing that the matrix sees.
fn hold_unseen<const B: usize>(matrix: &mut Bsr<B, B>, scale: f64) {
    matrix.update(|row, columns, blocks| {
        let own = columns.binary_search(&(row as u32)).expect("aggregates are coupled to themselves");
        for r in 0..B {
            let seen = blocks[own][r][r] > NULL * scale;
            if !seen {
                blocks[own][r][r] = scale;
            }
        }
    });
}

/// What makes a sweep of all chunks at once a smoother.
fn sweep_factor<const B: usize>(matrix: &Bsr<B, B>, arranged: &Arranged<B>, scale: f64) -> Number {
    if arranged.chunks() == 1 {
        return 1.0;
    }
    let count = matrix.pattern().rows();
    let [mut b, mut x] = [vec![[0.0; B]; count], vec![[0.0; B]; count]];
    let sweep = |r: &[f64], z: &mut [f64]| {
        b.as_flattened_mut().iter_mut().zip(r).for_each(|(b, r)| *b = *r as Number);
        arranged.sweep_from_zero(&b, &mut x);
        z.iter_mut().zip(x.as_flattened()).for_each(|(z, x)| *z = f64::from(*x) / scale);
    };
    let farthest = largest_eigenvalue(matrix.height(), STEPS, |x, y| matrix.apply(x, y), sweep);
    (FARTHEST / farthest).min(1.0) as Number
}

/// Chebyshev's polynomial for eigenvalues between 1.1 / 8 and 1.1 of the largest of D^-1 A.
fn polynomial(degree: usize, radius: f64) -> Vec<[Number; 2]> {
    let [low, high] = [1.1 / 8.0 * radius, 1.1 * radius];
    let [middle, half] = [0.5 * (high + low), 0.5 * (high - low)];
    let sigma = middle / half;
    let mut rho = 1.0 / sigma;
    let mut steps = vec![[0.0, (1.0 / middle) as Number]];
    for _ in 1..degree {
        let next = 1.0 / (2.0 * sigma - rho);
        steps.push([(next * rho) as Number, (2.0 * next / half) as Number]);
        rho = next;
    }
    steps
}
