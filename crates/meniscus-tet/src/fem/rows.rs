//! Sparse matrices of small blocks, row by row, with ascending columns.

/// Where a matrix has blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Row `i` holds the places `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// The column of each place; ascending in a row.
    pub columns: Vec<u32>,
}

impl Pattern {
    /// The pattern whose row `i` has the columns that `columns_of` pushes, in any order and number.
    pub fn new(rows: usize, columns_of: impl Fn(usize, &mut Vec<u32>)) -> Self {
        let mut pattern = Self { starts: vec![0], columns: Vec::new() };
        let mut row = Vec::new();
        for i in 0..rows {
            row.clear();
            columns_of(i, &mut row);
            row.sort_unstable();
            row.dedup();
            pattern.columns.extend_from_slice(&row);
            pattern.starts.push(pattern.columns.len());
        }
        pattern
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The columns of row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }

    /// The pattern of the rows' columns' columns: of this one times itself.
    pub fn squared(&self) -> Self {
        Self::new(self.rows(), |i, row| {
            row.extend(self.row(i).iter().flat_map(|&k| self.row(k as usize)));
        })
    }
}

/// A matrix of blocks of R rows and C columns on a pattern.
#[derive(Clone, Debug)]
pub struct BlockRows<const R: usize, const C: usize> {
    /// Where the blocks are.
    pub pattern: Pattern,
    /// A block for each place.
    pub blocks: Vec<[[f64; C]; R]>,
}

impl<const R: usize, const C: usize> BlockRows<R, C> {
    /// Fills a pattern; `fill(i, row)` adds up row `i`, which starts from zero. Rows are independent of each other.
    pub fn gather(pattern: &Pattern, fill: impl Fn(usize, &mut Row<'_, R, C>)) -> Self {
        let mut blocks = vec![[[0.0; C]; R]; pattern.columns.len()];
        for i in 0..pattern.rows() {
            let blocks = &mut blocks[pattern.starts[i]..pattern.starts[i + 1]];
            fill(i, &mut Row { columns: pattern.row(i), blocks });
        }
        Self { pattern: pattern.clone(), blocks }
    }

    /// The columns and blocks of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[[f64; C]; R])> {
        let places = self.pattern.starts[i]..self.pattern.starts[i + 1];
        self.pattern.columns[places.clone()].iter().map(|&j| j as usize).zip(&self.blocks[places])
    }

    /// Row `i` times a vector.
    pub fn row_times(&self, i: usize, x: &[[f64; C]]) -> [f64; R] {
        let mut y = [0.0; R];
        for (j, block) in self.row(i) {
            for r in 0..R {
                for c in 0..C {
                    y[r] += block[r][c] * x[j][c];
                }
            }
        }
        y
    }

    /// The matrix times a vector.
    pub fn times(&self, x: &[[f64; C]]) -> Vec<[f64; R]> {
        (0..self.pattern.rows()).map(|i| self.row_times(i, x)).collect()
    }
}

/// A row that is being filled.
pub struct Row<'a, const R: usize, const C: usize> {
    /// Its columns, ascending.
    pub columns: &'a [u32],
    /// Its blocks.
    pub blocks: &'a mut [[[f64; C]; R]],
}

impl<const R: usize, const C: usize> Row<'_, R, C> {
    /// Adds to the block of `column`, which the pattern must have.
    pub fn add(&mut self, column: u32, block: [[f64; C]; R]) {
        let place = self.columns.binary_search(&column).expect("a column of the pattern");
        self.add_at(place, block);
    }

    /// Adds to blocks of ascending columns, all of which the pattern must have.
    pub fn add_ascending(&mut self, blocks: impl Iterator<Item = (usize, [[f64; C]; R])>) {
        let mut place = 0;
        for (column, block) in blocks {
            while (self.columns[place] as usize) < column {
                place += 1;
            }
            self.add_at(place, block);
        }
    }

    fn add_at(&mut self, place: usize, block: [[f64; C]; R]) {
        for (sum, row) in self.blocks[place].iter_mut().zip(block) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}
