//! Which entries of a sparse matrix are stored.

use meniscus_core::parallel;

/// Rows that one task works through: pieces do not depend on the number of threads.
pub(super) const ROWS: usize = 256;

/// No entry, no row, no column.
pub(super) const NONE: u32 = u32::MAX;

/// The columns of every row of a sparse matrix, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    width: usize,
}

/// Why a pattern was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The offsets do not begin at zero, ascend, and end at the number of columns.
    #[error("the offsets of the rows do not ascend from 0 to the {columns} columns that are listed")]
    Offsets {
        /// Columns that are listed.
        columns: usize,
    },
    /// A row's columns do not ascend.
    #[error("the columns of row {row} do not ascend")]
    Order {
        /// The row.
        row: usize,
    },
    /// A column lies outside of the matrix.
    #[error("row {row} has the column {column}, the matrix has {width}")]
    Column {
        /// The row.
        row: usize,
        /// The column.
        column: u32,
        /// Columns of the matrix.
        width: usize,
    },
}

impl Pattern {
    /// The pattern whose row i has the columns `columns[offsets[i]..offsets[i + 1]]`, of `width` columns in all.
    ///
    /// # Errors
    /// If the offsets or the columns of a row do not ascend, or a column is not below `width`.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, width: usize) -> Result<Self, PatternError> {
        let ascend = offsets.is_sorted() && offsets.first() == Some(&0);
        if !ascend || offsets.last() != Some(&columns.len()) {
            return Err(PatternError::Offsets { columns: columns.len() });
        }
        let pattern = Self { offsets, columns, width };
        let fault = parallel::find_first(pattern.rows(), |row| {
            let columns = pattern.row(row);
            if !columns.is_sorted_by(|a, b| a < b) {
                return Some(PatternError::Order { row });
            }
            let column = *columns.last()?;
            (column as usize >= width).then_some(PatternError::Column { row, column, width })
        });
        fault.map_or(Ok(pattern), Err)
    }

    /// The pattern whose row i has the columns that `columns_of(i, columns)` pushes, in any order and as often as it likes.
    ///
    /// # Panics
    /// If a column is not below `width`.
    pub fn from_rows(rows: usize, width: usize, columns_of: impl Fn(usize, &mut Vec<u32>) + Sync) -> Self {
        Self::from_rows_with(rows, width, || (), |(), row, columns| columns_of(row, columns))
    }

    /// [`from_rows`](Self::from_rows) with a scratch that a thread takes from piece to piece.
    pub(super) fn from_rows_with<S>(
        rows: usize,
        width: usize,
        scratch: impl Fn() -> S + Sync,
        columns_of: impl Fn(&mut S, usize, &mut Vec<u32>) + Sync,
    ) -> Self {
        let parts = parallel::map_with(
            rows.div_ceil(ROWS),
            || (scratch(), Vec::new()),
            |(scratch, row), k| {
                let (mut ends, mut columns) = (Vec::new(), Vec::new());
                for i in k * ROWS..rows.min((k + 1) * ROWS) {
                    row.clear();
                    columns_of(scratch, i, row);
                    row.sort_unstable();
                    row.dedup();
                    let last = row.last().map_or(0, |&last| last as usize + 1);
                    assert!(last <= width, "a column of row {i} lies outside of the matrix");
                    columns.extend_from_slice(row);
                    ends.push(columns.len());
                }
                (ends, columns)
            },
        );
        let mut pattern = Self { offsets: vec![0], columns: Vec::new(), width };
        pattern.columns.reserve_exact(parts.iter().map(|part| part.1.len()).sum());
        for (ends, columns) in parts {
            let first = pattern.columns.len();
            pattern.offsets.extend(ends.into_iter().map(|end| first + end));
            pattern.columns.extend(columns);
        }
        pattern
    }

    /// Rows of the matrix, counted in blocks.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Columns of the matrix, counted in blocks.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Blocks that are stored.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Where the blocks of a row are among all.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// The columns of a row, ascending.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.range(row)]
    }

    /// Where a block is among all.
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let place = self.row(row).binary_search(&u32::try_from(column).ok()?).ok()?;
        Some(self.offsets[row] + place)
    }

    /// All columns, row after row.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Calls `f` with every row and its part of `values`, which has an entry for each that is stored; `f` works in a scratch that
    /// a thread takes from piece to piece.
    pub(super) fn each_row<S, T: Send>(
        &self,
        values: &mut [T],
        scratch: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, usize, &mut [T]) + Sync,
    ) {
        assert_eq!(values.len(), self.len(), "a value for each entry");
        let (mut parts, mut rest) = (Vec::with_capacity(self.rows().div_ceil(ROWS)), values);
        for first in (0..self.rows()).step_by(ROWS) {
            let last = self.rows().min(first + ROWS);
            let (part, tail) = rest.split_at_mut(self.offsets[last] - self.offsets[first]);
            parts.push(part);
            rest = tail;
        }
        parallel::map_parts_with(parts, scratch, |scratch, k, mut part| {
            for row in k * ROWS..self.rows().min((k + 1) * ROWS) {
                let (values, tail) = part.split_at_mut(self.range(row).len());
                f(scratch, row, values);
                part = tail;
            }
        });
    }
}
