//! The matrix of a level as the cycle reads it.
//!
//! Rows come in chunks of a fixed number. Gauss-Seidel goes through the rows of a chunk one after the other, and chunks do not see each
//! other, so that they can be worked through in parallel, with a result that does not depend on who does what. A row has its entries
//! in an order that suits: those of earlier rows of its chunk, those of later ones, those of other chunks.

use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::super::block::{Block, rounded, times};
use super::super::bsr::Bsr;
use super::super::pattern::Pattern;
use super::Number;

/// A block and its column. In the chunk of a row columns count from the chunk's first.
#[derive(Clone, Copy)]
pub(super) struct Entry<const R: usize, const C: usize> {
    column: u32,
    block: [[Number; C]; R],
}

impl<const R: usize, const C: usize> Entry<R, C> {
    const NONE: Self = Self { column: 0, block: [[0.0; C]; R] };
}

/// A vector of a level.
pub(super) type Vector<const B: usize> = Vec<[Number; B]>;

/// Rows of a chunk: with some fifty entries a row, or blocks of a dozen, the chunk stays in the second cache for both sweeps.
const fn chunk_rows<const B: usize>() -> usize {
    if B == 1 { 1024 } else { 384 }
}

/// A square matrix with its diagonal apart.
pub(super) struct Arranged<const B: usize> {
    rows: Vec<[u32; 3]>,
    entries: Vec<Entry<B, B>>,
    diagonal: Vec<[[Number; B]; B]>,
    inverse: Vec<[[Number; B]; B]>,
}

impl<const B: usize> Arranged<B> {
    /// Rows of a chunk.
    pub(super) const CHUNK: usize = chunk_rows::<B>();

    /// Of a matrix, divided by `scale`, and the inverses of the blocks on its diagonal, which are all stored.
    pub(super) fn new(matrix: &Bsr<B, B>, inverse: &[Block<B, B>], scale: f64) -> Self {
        let pattern = matrix.pattern();
        let count = pattern.rows();
        let mut arranged = Self {
            rows: vec![[0; 3]; count + 1],
            entries: vec![Entry::NONE; pattern.len() - count],
            diagonal: vec![[[0.0; B]; B]; count],
            inverse: inverse.iter().map(|block| scaled(block, scale)).collect(),
        };
        // A diagonal block is taken out of every row before this one.
        let first = |row: usize| pattern.range(row).start - row;
        arranged.rows[count] = [(pattern.len() - count) as u32; 3];
        let Self { rows, entries, diagonal, .. } = &mut arranged;
        let mut parts = Vec::new();
        let mut rest = &mut entries[..];
        let chunks = rows[..count].chunks_mut(Self::CHUNK).zip(diagonal.chunks_mut(Self::CHUNK));
        for (k, (rows, diagonal)) in chunks.enumerate() {
            let end = first_of(pattern, k * Self::CHUNK + rows.len());
            let (entries, tail) = rest.split_at_mut(end - first(k * Self::CHUNK));
            parts.push((rows, diagonal, entries));
            rest = tail;
        }
        parallel::map_parts_with(parts, || (), |(), k, (rows, diagonal, entries)| {
            let chunk = k * Self::CHUNK..k * Self::CHUNK + rows.len();
            let mut next = 0;
            for (row, (starts, diagonal)) in chunk.clone().zip(rows.iter_mut().zip(diagonal)) {
                let (columns, blocks) = matrix.row(row);
                let of = |kind: usize| {
                    let chunk = chunk.clone();
                    columns.iter().zip(blocks).filter(move |(column, _)| {
                        let column = **column as usize;
                        column != row
                            && kind == if !chunk.contains(&column) { 2 } else { usize::from(column > row) }
                    })
                };
                for kind in 0..3 {
                    starts[kind] = (first(chunk.start) + next) as u32;
                    let base = if kind == 2 { 0 } else { chunk.start as u32 };
                    for (column, block) in of(kind) {
                        entries[next] = Entry { column: column - base, block: scaled(block, 1.0 / scale) };
                        next += 1;
                    }
                }
                let own = columns.binary_search(&(row as u32)).expect("the diagonal is stored");
                *diagonal = scaled(&blocks[own], 1.0 / scale);
            }
        });
        arranged
    }

    pub(super) fn chunks(&self) -> usize {
        self.diagonal.len().div_ceil(Self::CHUNK)
    }

    /// (b - A x) of a row.
    #[inline(always)]
    fn residual_of(&self, row: usize, b: &[Number; B], x: &[[Number; B]]) -> [Number; B] {
        let (chunk, [begin, _, outside], end) =
            (row / Self::CHUNK * Self::CHUNK, self.rows[row], self.rows[row + 1][0]);
        let inner = gathered(&self.entries[begin as usize..outside as usize], &x[chunk..]);
        let outer = gathered(&self.entries[outside as usize..end as usize], x);
        let own = times(&self.diagonal[row], &x[row]);
        let mut residual = *b;
        for r in 0..B {
            residual[r] -= own[r] + (inner[r] + outer[r]);
        }
        residual
    }

    /// r = b - A x.
    pub(super) fn residual(&self, b: &[[Number; B]], x: &[[Number; B]], r: &mut [[Number; B]]) {
        parallel::for_chunks(r, Self::CHUNK, |k, r| self.chunk_residual(k, b, x, r));
    }

    fn chunk_residual(&self, k: usize, b: &[[Number; B]], x: &[[Number; B]], r: &mut [[Number; B]]) {
        simd(
            #[inline(always)]
            || {
                for (row, r) in (k * Self::CHUNK..).zip(r) {
                    *r = self.residual_of(row, &b[row], x);
                }
            },
        );
    }

    /// x = M^-1 b for a chunk, M = (D + L) D^-1 (D + U).
    fn sweep(&self, k: usize, b: &[[Number; B]], x: &mut [[Number; B]]) {
        simd(
            #[inline(always)]
            || {
                let base = k * Self::CHUNK;
                for (i, b) in b.iter().enumerate() {
                    let [begin, later, _] = self.rows[base + i];
                    let known = gathered(&self.entries[begin as usize..later as usize], x);
                    let mut rest = *b;
                    for r in 0..B {
                        rest[r] -= known[r];
                    }
                    x[i] = times(&self.inverse[base + i], &rest);
                }
                for i in (0..b.len()).rev() {
                    let [_, later, outside] = self.rows[base + i];
                    let known = gathered(&self.entries[later as usize..outside as usize], x);
                    let change = times(&self.inverse[base + i], &known);
                    for r in 0..B {
                        x[i][r] -= change[r];
                    }
                }
            },
        );
    }

    /// x = M^-1 b by a symmetric sweep of Gauss-Seidel in every chunk.
    pub(super) fn sweep_from_zero(&self, b: &[[Number; B]], x: &mut [[Number; B]]) {
        parallel::for_chunks(x, Self::CHUNK, |k, x| self.sweep(k, parallel::chunk(b, Self::CHUNK, k), x));
    }

    /// y = x + factor M^-1 (b - A x): a chunk is read once, and again from the cache.
    pub(super) fn sweep_on(&self, factor: Number, b: &[[Number; B]], x: &[[Number; B]], y: &mut [[Number; B]]) {
        let scratch = || vec![[0.0; B]; Self::CHUNK];
        parallel::for_chunks_with(y, Self::CHUNK, scratch, |r, k, y| {
            let r = &mut r[..y.len()];
            self.chunk_residual(k, b, x, r);
            self.sweep(k, r, y);
            for (y, x) in y.iter_mut().zip(parallel::chunk(x, Self::CHUNK, k)) {
                for r in 0..B {
                    y[r] = x[r] + factor * y[r];
                }
            }
        });
    }

    /// direction = keep direction + step D^-1 (b - A x), y = x + direction; with no x it is zero.
    pub(super) fn step(
        &self,
        [keep, step]: [Number; 2],
        b: &[[Number; B]],
        x: Option<&[[Number; B]]>,
        direction: &mut [[Number; B]],
        y: &mut [[Number; B]],
    ) {
        parallel::for_both_chunks([Self::CHUNK; 2], direction, y, |k, direction, y| {
            simd(
                #[inline(always)]
                || {
                    for (row, (direction, y)) in (k * Self::CHUNK..).zip(direction.iter_mut().zip(y)) {
                        let residual = x.map_or(b[row], |x| self.residual_of(row, &b[row], x));
                        let change = times(&self.inverse[row], &residual);
                        for r in 0..B {
                            let old = if keep == 0.0 { 0.0 } else { keep * direction[r] };
                            direction[r] = old + step * change[r];
                            y[r] = x.map_or(0.0, |x| x[row][r]) + direction[r];
                        }
                    }
                },
            );
        });
    }
}

fn first_of(pattern: &Pattern, row: usize) -> usize {
    let place = if row < pattern.rows() { pattern.range(row).start } else { pattern.len() };
    place - row
}

fn scaled<const R: usize, const C: usize>(block: &Block<R, C>, scale: f64) -> [[Number; C]; R] {
    rounded(&block.map(|row| row.map(|value| scale * value)))
}

/// The product of entries with x, in four sums at once for numbers, to hide the time that an addition takes.
#[inline(always)]
fn gathered<const R: usize, const C: usize>(entries: &[Entry<R, C>], x: &[[Number; C]]) -> [Number; R] {
    let mut lanes = [[0.0; R]; 4];
    let (groups, rest) = entries.as_chunks::<4>();
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

/// A matrix between levels.
pub(super) struct Between<const R: usize, const C: usize> {
    starts: Vec<u32>,
    entries: Vec<Entry<R, C>>,
}

impl<const R: usize, const C: usize> Between<R, C> {
    const CHUNK: usize = 512;

    pub(super) fn new(matrix: &Bsr<R, C>) -> Self {
        let pattern = matrix.pattern();
        let starts = (0..pattern.rows()).map(|row| pattern.range(row).start as u32);
        let entry = |(&column, block)| Entry { column, block: rounded(block) };
        Self {
            starts: starts.chain([pattern.len() as u32]).collect(),
            entries: pattern.columns().iter().zip(matrix.blocks()).map(entry).collect(),
        }
    }

    /// y = A x, or y += A x.
    pub(super) fn apply(&self, x: &[[Number; C]], y: &mut [[Number; R]], add: bool) {
        parallel::for_chunks(y, Self::CHUNK, |k, y| {
            simd(
                #[inline(always)]
                || {
                    for (row, y) in (k * Self::CHUNK..).zip(y) {
                        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
                        let product = gathered(&self.entries[range], x);
                        for r in 0..R {
                            y[r] = if add { y[r] + product[r] } else { product[r] };
                        }
                    }
                },
            );
        });
    }
}
