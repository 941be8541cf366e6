//! Matrices as the cycle reads them: each block beside its column, in the precision of the cycle.

use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::super::block::{Block, rounded, times};
use super::super::bsr::Bsr;
use super::Number;

/// Rows that one task works through.
const CHUNK: usize = 512;

/// A vector of a level.
pub(super) type Vector<const B: usize> = Vec<[Number; B]>;

#[derive(Clone, Copy)]
struct Entry<const R: usize, const C: usize> {
    column: u32,
    block: [[Number; C]; R],
}

/// A sparse matrix.
pub(super) struct Rows<const R: usize, const C: usize> {
    starts: Vec<u32>,
    entries: Vec<Entry<R, C>>,
}

impl<const R: usize, const C: usize> Rows<R, C> {
    /// Of a matrix, times a factor.
    pub(super) fn new(matrix: &Bsr<R, C>, factor: f64) -> Self {
        let pattern = matrix.pattern();
        let starts = (0..pattern.rows()).map(|row| pattern.range(row).start as u32);
        let mut entries = vec![Entry { column: 0, block: [[0.0; C]; R] }; pattern.len()];
        parallel::for_chunks(&mut entries, CHUNK, |k, entries| {
            let columns = parallel::chunk(pattern.columns(), CHUNK, k);
            let blocks = parallel::chunk(matrix.blocks(), CHUNK, k);
            for (entry, (column, block)) in entries.iter_mut().zip(columns.iter().zip(blocks)) {
                *entry = Entry { column: *column, block: scaled(block, factor) };
            }
        });
        Self { starts: starts.chain([pattern.len() as u32]).collect(), entries }
    }

    /// The product of a row with x, in four sums at once, to hide the time that an addition takes.
    #[inline(always)]
    fn product(&self, row: usize, x: &[[Number; C]]) -> [Number; R] {
        let mut lanes = [[0.0; R]; 4];
        let (groups, rest) =
            self.entries[self.starts[row] as usize..self.starts[row + 1] as usize].as_chunks::<4>();
        for group in groups {
            for lane in 0..4 {
                let product = times(&group[lane].block, &x[group[lane].column as usize]);
                for r in 0..R {
                    lanes[lane][r] += product[r];
                }
            }
        }
        for (lane, entry) in rest.iter().enumerate() {
            let product = times(&entry.block, &x[entry.column as usize]);
            for r in 0..R {
                lanes[lane][r] += product[r];
            }
        }
        let mut sum = [0.0; R];
        for r in 0..R {
            sum[r] = (lanes[0][r] + lanes[1][r]) + (lanes[2][r] + lanes[3][r]);
        }
        sum
    }

    /// Calls `f` with each entry of y and of A x, row by row.
    fn each(
        &self,
        x: &[[Number; C]],
        y: &mut [[Number; R]],
        f: impl Fn(usize, &mut [Number; R], [Number; R]) + Sync,
    ) {
        parallel::for_chunks(y, CHUNK, |k, y| {
            simd(
                #[inline(always)]
                || {
                    for (row, y) in (k * CHUNK..).zip(y) {
                        f(row, y, self.product(row, x));
                    }
                },
            );
        });
    }

    /// y = A x.
    pub(super) fn apply(&self, x: &[[Number; C]], y: &mut [[Number; R]]) {
        self.each(x, y, |_, y, product| *y = product);
    }

    /// y += A x.
    pub(super) fn add(&self, x: &[[Number; C]], y: &mut [[Number; R]]) {
        self.each(x, y, |_, y, product| (0..R).for_each(|r| y[r] += product[r]));
    }

    /// r = b - A x.
    pub(super) fn residual(&self, b: &[[Number; R]], x: &[[Number; C]], r: &mut [[Number; R]]) {
        self.each(x, r, |row, residual, product| (0..R).for_each(|r| residual[r] = b[row][r] - product[r]));
    }
}

/// A square matrix and what the smoother divides by.
pub(super) struct Arranged<const B: usize> {
    pub(super) rows: Rows<B, B>,
    inverse: Vec<[[Number; B]; B]>,
}

impl<const B: usize> Arranged<B> {
    /// Of a matrix, divided by `scale`, and the inverses of the blocks on its diagonal.
    pub(super) fn new(matrix: &Bsr<B, B>, inverse: &[Block<B, B>], scale: f64) -> Self {
        let inverse = inverse.iter().map(|block| scaled(block, scale)).collect();
        Self { rows: Rows::new(matrix, 1.0 / scale), inverse }
    }

    /// direction = step D^-1 b, x = direction: the first step from x = 0.
    pub(super) fn begin(
        &self,
        step: Number,
        b: &[[Number; B]],
        direction: &mut [[Number; B]],
        x: &mut [[Number; B]],
    ) {
        parallel::for_both_chunks([CHUNK; 2], direction, x, |k, direction, x| {
            for (row, (direction, x)) in (k * CHUNK..).zip(direction.iter_mut().zip(x)) {
                *direction = times(&self.inverse[row], &b[row]).map(|change| step * change);
                *x = *direction;
            }
        });
    }

    /// direction = keep direction + step D^-1 (b - A x), y = x + direction: the matrix is read once.
    pub(super) fn step(
        &self,
        [keep, step]: [Number; 2],
        b: &[[Number; B]],
        x: &[[Number; B]],
        direction: &mut [[Number; B]],
        y: &mut [[Number; B]],
    ) {
        parallel::for_both_chunks([CHUNK; 2], direction, y, |k, direction, y| {
            simd(
                #[inline(always)]
                || {
                    for (row, (direction, y)) in (k * CHUNK..).zip(direction.iter_mut().zip(y)) {
                        let product = self.rows.product(row, x);
                        let mut residual = b[row];
                        for r in 0..B {
                            residual[r] -= product[r];
                        }
                        let change = times(&self.inverse[row], &residual);
                        for r in 0..B {
                            // What the direction was before the first step of all is nothing, not even a number.
                            let kept = if keep == 0.0 { 0.0 } else { keep * direction[r] };
                            direction[r] = kept + step * change[r];
                            y[r] = x[row][r] + direction[r];
                        }
                    }
                },
            );
        });
    }
}

fn scaled<const R: usize, const C: usize>(block: &Block<R, C>, factor: f64) -> [[Number; C]; R] {
    rounded(&block.map(|row| row.map(|value| factor * value)))
}
