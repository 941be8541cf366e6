//! Matrices of small dense blocks in compressed rows.

use std::sync::Arc;

use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::block::{Block, times, transposed};
use super::pattern::{NONE, Pattern, ROWS};

/// A sparse matrix of blocks of R rows and C columns, row after row: R = C = 1 is the common compressed-row format. Vectors
/// are flat, R (or C) numbers for each row (or column) of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Bsr<const R: usize, const C: usize> {
    pattern: Arc<Pattern>,
    blocks: Vec<Block<R, C>>,
}

impl<const R: usize, const C: usize> Bsr<R, C> {
    /// All blocks of the pattern, as zeros.
    pub fn zeros(pattern: Arc<Pattern>) -> Self {
        let blocks = vec![[[0.0; C]; R]; pattern.len()];
        Self { pattern, blocks }
    }

    /// The matrix of which `gather(row, columns, blocks)` gives the blocks of a row, which are zeros before.
    pub fn assembled(
        pattern: Arc<Pattern>,
        gather: impl Fn(usize, &[u32], &mut [Block<R, C>]) + Sync,
    ) -> Self {
        let mut matrix = Self::zeros(pattern);
        matrix.update(gather);
        matrix
    }

    /// Calls `f(row, columns, blocks)` for every row, in parallel: to assemble anew what has the same pattern, blocks are overwritten.
    pub fn update(&mut self, f: impl Fn(usize, &[u32], &mut [Block<R, C>]) + Sync) {
        let Self { pattern, blocks } = self;
        pattern.each_row(blocks, || (), |(), row, blocks| f(row, pattern.row(row), blocks));
    }

    /// Which blocks are stored.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// All blocks, row after row.
    pub fn blocks(&self) -> &[Block<R, C>] {
        &self.blocks
    }

    /// The block in this place; none if it is not stored.
    pub fn get(&self, row: usize, column: usize) -> Option<&Block<R, C>> {
        self.pattern.find(row, column).map(|place| &self.blocks[place])
    }

    /// Rows of the matrix as numbers: the length of y = A x.
    pub fn height(&self) -> usize {
        R * self.pattern.rows()
    }

    /// Columns of the matrix as numbers: the length of x.
    pub fn width(&self) -> usize {
        C * self.pattern.width()
    }

    /// The columns and blocks of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[Block<R, C>]) {
        (self.pattern.row(row), &self.blocks[self.pattern.range(row)])
    }

    /// All columns with their blocks to be overwritten.
    pub(super) fn parts_mut(&mut self) -> (&Pattern, &mut [Block<R, C>]) {
        (&self.pattern, &mut self.blocks)
    }

    /// y = A x.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.each_product(x, y, |y, product| *y = product);
    }

    /// y += scale A x.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn apply_add(&self, scale: f64, x: &[f64], y: &mut [f64]) {
        self.each_product(x, y, |y, product| *y += scale * product);
    }

    /// Calls `f` with each entry of y and of A x.
    fn each_product(&self, x: &[f64], y: &mut [f64], f: impl Fn(&mut f64, f64) + Sync) {
        assert_eq!([x.len(), y.len()], [self.width(), self.height()], "the vectors fit the matrix");
        let x = x.as_chunks::<C>().0;
        parallel::for_chunks(y, ROWS * R, |k, y| {
            simd(
                #[inline(always)]
                || {
                    for (row, y) in (k * ROWS..).zip(y.as_chunks_mut::<R>().0) {
                        let (columns, blocks) = self.row(row);
                        let product = row_product(columns, blocks, x);
                        y.iter_mut().zip(product).for_each(|(y, product)| f(y, product));
                    }
                },
            );
        });
    }

    /// Multiplies every row of numbers by its factor.
    ///
    /// # Panics
    /// If there is not a factor for each.
    pub fn scale_rows(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.height(), "a factor for each row");
        let factors = factors.as_chunks::<R>().0;
        self.update(|row, _, blocks| {
            for block in blocks {
                for (values, factor) in block.iter_mut().zip(factors[row]) {
                    values.iter_mut().for_each(|value| *value *= factor);
                }
            }
        });
    }

    /// Adds `scale` times another matrix, whose blocks must all be among the blocks of this one.
    ///
    /// # Panics
    /// If one is not.
    pub fn add(&mut self, scale: f64, other: &Self) {
        assert_eq!(self.pattern.rows(), other.pattern.rows(), "matrices of one size");
        self.update(|row, columns, blocks| {
            let mut place = 0;
            let (others, added) = other.row(row);
            for (column, added) in others.iter().zip(added) {
                while columns[place] < *column {
                    place += 1;
                }
                assert_eq!(columns[place], *column, "every block of the other matrix has a place");
                for (values, added) in blocks[place].iter_mut().zip(added) {
                    values.iter_mut().zip(added).for_each(|(value, added)| *value += scale * added);
                }
            }
        });
    }
}

impl<const B: usize> Bsr<B, B> {
    /// The blocks on the diagonal; zeros where none is stored.
    pub fn diagonal_blocks(&self) -> Vec<Block<B, B>> {
        let block = |row| self.get(row, row).copied().unwrap_or([[0.0; B]; B]);
        parallel::map_each(self.pattern.rows(), block)
    }

    /// The numbers on the diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let blocks = self.diagonal_blocks();
        blocks.iter().flat_map(|block| (0..B).map(|r| block[r][r])).collect()
    }
}

/// The product of a row with x. Four sums at once hide the time that an addition takes.
#[inline(always)]
fn row_product<const R: usize, const C: usize>(
    columns: &[u32],
    blocks: &[Block<R, C>],
    x: &[[f64; C]],
) -> [f64; R] {
    let mut lanes = [[0.0; R]; 4];
    let ((columns, last_columns), (blocks, last_blocks)) =
        (columns.as_chunks::<4>(), blocks.as_chunks::<4>());
    for (columns, blocks) in columns.iter().zip(blocks) {
        for lane in 0..4 {
            let product = times(&blocks[lane], &x[columns[lane] as usize]);
            for r in 0..R {
                lanes[lane][r] += product[r];
            }
        }
    }
    for (lane, (column, block)) in last_columns.iter().zip(last_blocks).enumerate() {
        let product = times(block, &x[*column as usize]);
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

/// Where the blocks of a matrix are in its transpose: found once for a pattern.
#[derive(Clone, Debug)]
pub struct Transposition {
    from: Arc<Pattern>,
    to: Arc<Pattern>,
    sources: Vec<u32>,
}

impl Transposition {
    /// Of matrices with this pattern.
    pub fn new(pattern: &Arc<Pattern>) -> Self {
        let mut offsets = vec![0; pattern.width() + 1];
        for &column in pattern.columns() {
            offsets[column as usize + 1] += 1;
        }
        for row in 0..pattern.width() {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let [mut columns, mut sources] = [vec![NONE; pattern.len()], vec![NONE; pattern.len()]];
        for row in 0..pattern.rows() {
            for place in pattern.range(row) {
                let next = &mut next[pattern.columns()[place] as usize];
                (columns[*next], sources[*next]) = (row as u32, place as u32);
                *next += 1;
            }
        }
        let to = Pattern::new(offsets, columns, pattern.rows()).expect("rows come in their order");
        Self { from: Arc::clone(pattern), to: Arc::new(to), sources }
    }

    /// The pattern of the transpose.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.to
    }

    /// The transpose.
    ///
    /// # Panics
    /// If the matrix has another pattern.
    pub fn apply<const R: usize, const C: usize>(&self, matrix: &Bsr<R, C>) -> Bsr<C, R> {
        let mut out = Bsr::zeros(Arc::clone(&self.to));
        self.apply_into(matrix, &mut out);
        out
    }

    /// The transpose, written over what has its pattern.
    ///
    /// # Panics
    /// If one of the matrices has another pattern.
    pub fn apply_into<const R: usize, const C: usize>(&self, matrix: &Bsr<R, C>, out: &mut Bsr<C, R>) {
        assert!(same(&self.from, matrix.pattern()) && same(&self.to, out.pattern()), "the patterns of old");
        let chunk = ROWS * 16;
        parallel::for_chunks(&mut out.blocks, chunk, |k, blocks| {
            for (block, source) in blocks.iter_mut().zip(parallel::chunk(&self.sources, chunk, k)) {
                *block = transposed(&matrix.blocks[*source as usize]);
            }
        });
    }
}

/// Whether patterns are the same; that of one matrix in two places need not be compared.
pub(super) fn same(a: &Arc<Pattern>, b: &Arc<Pattern>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
