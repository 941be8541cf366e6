//! Products of sparse matrices.

use std::sync::Arc;

use super::block::{Block, add_product};
use super::bsr::Bsr;
use super::pattern::{NONE, Pattern};

/// The pattern of a product of two matrices: found once for their patterns. A row of the product gathers the rows of the second matrix
/// that the first one's row names, in their order.
#[derive(Clone, Debug)]
pub struct Product {
    pattern: Arc<Pattern>,
}

impl Product {
    /// Of matrices with these patterns.
    ///
    /// # Panics
    /// If the first has not as many columns as the second has rows.
    pub fn new(a: &Pattern, b: &Pattern) -> Self {
        Self::containing(a, b, &[])
    }

    /// Of matrices with these patterns, with room for others to be [added](Bsr::add).
    ///
    /// # Panics
    /// If the first has not as many columns as the second has rows, or another is not as large as the product.
    pub fn containing(a: &Pattern, b: &Pattern, others: &[&Pattern]) -> Self {
        assert_eq!(a.width(), b.rows(), "the matrices fit");
        for other in others {
            assert_eq!([other.rows(), other.width()], [a.rows(), b.width()], "what is added is as large");
        }
        let scratch = || vec![NONE; b.width()];
        let columns_of = |seen: &mut Vec<u32>, row: usize, columns: &mut Vec<u32>| {
            let inner = a.row(row).iter().map(|&m| b.row(m as usize));
            for &column in inner.chain(others.iter().map(|other| other.row(row))).flatten() {
                if std::mem::replace(&mut seen[column as usize], row as u32) != row as u32 {
                    columns.push(column);
                }
            }
        };
        Self { pattern: Arc::new(Pattern::from_rows_with(a.rows(), b.width(), scratch, columns_of)) }
    }

    /// The pattern of the product.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// a b.
    ///
    /// # Panics
    /// If the matrices have not the patterns that were given at first.
    pub fn compute<const R: usize, const M: usize, const C: usize>(
        &self,
        a: &Bsr<R, M>,
        b: &Bsr<M, C>,
    ) -> Bsr<R, C> {
        let mut out = Bsr::zeros(Arc::clone(&self.pattern));
        self.gather(a, b, &mut out);
        out
    }

    /// a b, written over what has its pattern.
    ///
    /// # Panics
    /// If the matrices have not the patterns that were given at first.
    pub fn compute_into<const R: usize, const M: usize, const C: usize>(
        &self,
        a: &Bsr<R, M>,
        b: &Bsr<M, C>,
        out: &mut Bsr<R, C>,
    ) {
        assert!(super::bsr::same(&self.pattern, out.pattern()), "the pattern of the product");
        self.gather(a, b, out);
    }

    fn gather<const R: usize, const M: usize, const C: usize>(
        &self,
        a: &Bsr<R, M>,
        b: &Bsr<M, C>,
        out: &mut Bsr<R, C>,
    ) {
        assert_eq!(a.pattern().width(), b.pattern().rows(), "the matrices fit");
        assert_eq!(a.pattern().rows(), self.pattern.rows(), "the matrices of old");
        let (pattern, blocks) = out.parts_mut();
        let scratch = || vec![NONE; pattern.width()];
        let fill = |places: &mut Vec<u32>, row: usize, blocks: &mut [Block<R, C>]| {
            for (place, &column) in (0..).zip(pattern.row(row)) {
                places[column as usize] = place;
            }
            blocks.fill([[0.0; C]; R]);
            let (columns, factors) = a.row(row);
            for (&m, factor) in columns.iter().zip(factors) {
                let (columns, others) = b.row(m as usize);
                for (&column, other) in columns.iter().zip(others) {
                    add_product(&mut blocks[places[column as usize] as usize], factor, other);
                }
            }
            // What the pattern does not have is no place in the next row either.
            pattern.row(row).iter().for_each(|&column| places[column as usize] = NONE);
        };
        pattern.each_row(blocks, scratch, fill);
    }
}
