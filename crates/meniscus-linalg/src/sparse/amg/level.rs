//! A level of the hierarchy: its matrix, how it is smoothed, and the way to the next one.

use std::sync::Arc;

use super::super::block::{Block, add_product, inverse, product, times};
use super::super::bsr::{Bsr, Transposition};
use super::super::pattern::{NONE, Pattern};
use super::super::product::Product;
use super::aggregates::{Aggregates, aggregate, strong};
use super::arranged::{Arranged, Rows, Vector};
use super::spectrum::largest_eigenvalue;
use super::tentative::tentative;
use super::{AmgError, AmgParams, Number};

/// Steps of Lanczos' method: they find the largest eigenvalue to a few percent.
const STEPS: usize = 8;

/// A diagonal entry of a coarse matrix below this fraction of the fine one's largest is of a vector that the matrix does not see, or of none.
const NULL: f64 = 1e-12;

/// What depends on patterns, candidates and aggregates, and stays when only the numbers of a matrix change.
pub(super) struct Plan<const R: usize, const K: usize> {
    pub(super) pattern: Arc<Pattern>,
    strong: Pattern,
    aggregates: Aggregates,
    tentative: Vec<Block<R, K>>,
    candidates: Vec<Block<R, K>>,
    /// From candidates to the unknowns of an aggregate.
    combinations: Vec<Block<K, K>>,
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
        let strong = strong(matrix, params.strength, parts);
        let aggregates = aggregate(&strong);
        let (tentative, coarse_candidates) = tentative(candidates, &aggregates);
        let aggregates_of = |row: usize, columns: &mut Vec<u32>| {
            let mut last = NONE;
            for &other in strong.row(row).iter().chain([&(row as u32)]) {
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
        let plan = Self {
            pattern,
            strong,
            aggregates,
            tentative,
            candidates: candidates.to_vec(),
            combinations: coarse_candidates.iter().map(inverse_triangle).collect(),
            prolongation,
            transposition,
            image,
            coarse,
        };
        (plan, Next { candidates: coarse_candidates, parts })
    }

    #[cfg(test)]
    pub(super) fn aggregates(&self) -> usize {
        self.aggregates.count
    }

    /// P = (I - factor D^-1 A) T, where weakly coupled rows count as rows of the aggregate at hand, so that P reaches only as far as strong
    /// couplings do, and candidates become what they would become without it.
    fn smoothed(&self, matrix: &Bsr<R, R>, inverse: &[Block<R, R>], factor: f64) -> Bsr<R, K> {
        let mut out = Bsr::zeros(Arc::clone(&self.prolongation));
        let (pattern, blocks) = out.parts_mut();
        let scratch = || vec![NONE; pattern.width()];
        pattern.each_row(blocks, scratch, |places, row, blocks| {
            for (place, &column) in (0..).zip(pattern.row(row)) {
                places[column as usize] = place;
            }
            let (columns, factors) = matrix.row(row);
            let mut strong = self.strong.row(row).iter().peekable();
            for (&column, a) in columns.iter().zip(factors) {
                let is_strong = strong.next_if_eq(&&column).is_some() || column as usize == row;
                let aggregate = self.aggregates.of[if is_strong { column as usize } else { row }];
                if aggregate != NONE {
                    let block = &mut blocks[places[aggregate as usize] as usize];
                    if is_strong {
                        add_product(block, a, &self.tentative[column as usize]);
                    } else {
                        let extended = &self.candidates[column as usize];
                        add_product(block, a, &product(extended, &self.combinations[aggregate as usize]));
                    }
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

/// The numbers of a level, in the precision of the cycle.
pub(super) struct Level<const R: usize, const K: usize> {
    matrix: Arranged<R>,
    /// The smoother, Chebyshev's polynomial in D^-1 A: how much of the last direction is kept and how much of the residual is added, step by step.
    steps: Vec<[Number; 2]>,
    down: Rows<K, R>,
    up: Rows<R, K>,
    pub(super) b: Vector<R>,
    pub(super) x: Vector<R>,
    /// The residual, and the last step of the smoother.
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
        let inverse = inverses(&matrix.diagonal_blocks(), is_finest)?;
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
        let zeros = || vec![[0.0; R]; plan.pattern.rows()];
        let level = Self {
            matrix: Arranged::new(matrix, &inverse, scale),
            steps: polynomial(params.degree.max(1), radius),
            down: Rows::new(&restriction, 1.0),
            up: Rows::new(&prolongation, 1.0),
            b: zeros(),
            x: zeros(),
            r: zeros(),
            spare: zeros(),
        };
        Ok((level, coarse))
    }

    /// Smooths x = 0 and restricts what is left of b.
    pub(super) fn descend(&mut self, coarse: &mut [[Number; K]]) {
        let Self { matrix, steps, b, x, r, spare, .. } = self;
        matrix.begin(steps[0][1], b, r, x);
        for step in &steps[1..] {
            matrix.step(*step, b, x, r, spare);
            std::mem::swap(x, spare);
        }
        matrix.rows.residual(b, x, r);
        self.down.apply(&self.r, coarse);
    }

    /// Adds the correction of the next level and smooths.
    pub(super) fn ascend(&mut self, coarse: &[[Number; K]]) {
        let Self { matrix, steps, up, b, x, r, spare, .. } = self;
        up.add(coarse, x);
        for step in steps {
            matrix.step(*step, b, x, r, spare);
            std::mem::swap(x, spare);
        }
    }

    /// The prolongation alone.
    #[cfg(test)]
    pub(super) fn prolong(&self, coarse: &[[Number; K]]) -> Vector<R> {
        let mut fine = vec![[0.0; R]; self.x.len()];
        self.up.apply(coarse, &mut fine);
        fine
    }
}

/// The inverse of an upper triangle; a row with a zero on its diagonal is of no unknown.
fn inverse_triangle<const K: usize>(triangle: &Block<K, K>) -> Block<K, K> {
    let mut inverse = [[0.0; K]; K];
    for c in (0..K).filter(|c| triangle[*c][*c] > 0.0) {
        for r in (0..=c).rev().filter(|r| triangle[*r][*r] > 0.0) {
            let unit = if r == c { 1.0 } else { 0.0 };
            let known: f64 = (r + 1..=c).map(|m| triangle[r][m] * inverse[m][c]).sum();
            inverse[r][c] = (unit - known) / triangle[r][r];
        }
    }
    inverse
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

/// Puts a number on the diagonal where a coarse unknown stands for nothing that the matrix sees: one like those beside it.
fn hold_unseen<const B: usize>(matrix: &mut Bsr<B, B>, scale: f64) {
    matrix.update(|row, columns, blocks| {
        let own = columns.binary_search(&(row as u32)).expect("aggregates are coupled to themselves");
        let largest = (0..B).map(|r| blocks[own][r][r]).fold(0.0, f64::max);
        let instead = if largest > NULL * scale { largest } else { scale };
        for r in 0..B {
            let seen = blocks[own][r][r] > NULL * scale;
            if !seen {
                blocks[own][r][r] = instead;
            }
        }
    });
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
