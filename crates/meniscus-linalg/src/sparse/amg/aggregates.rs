//! Aggregates: small groups of rows that are strongly coupled, each of which is one row of the next level.

use meniscus_core::parallel;

use super::super::block::norm;
use super::super::bsr::Bsr;
use super::super::pattern::{NONE, Pattern};

/// Which aggregate every row belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregates {
    /// The aggregate of a row, or none for a row that is coupled to nothing.
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

impl Aggregates {
    /// The rows of every aggregate, in their order: those of aggregate k from the k-th of the offsets to the next.
    pub(super) fn members(&self) -> (Vec<usize>, Vec<u32>) {
        let mut offsets = vec![0; self.count + 1];
        let inside = || (0..).zip(&self.of).filter(|&(_, &aggregate)| aggregate != NONE);
        inside().for_each(|(_, &aggregate): (u32, _)| offsets[aggregate as usize + 1] += 1);
        for k in 0..self.count {
            offsets[k + 1] += offsets[k];
        }
        let (mut next, mut rows) = (offsets.clone(), vec![NONE; offsets[self.count]]);
        for (row, &aggregate) in inside() {
            let next = &mut next[aggregate as usize];
            rows[*next] = row;
            *next += 1;
        }
        (offsets, rows)
    }

    /// The part that every aggregate lies in.
    pub(super) fn parts(&self, parts: &[u32]) -> Vec<u32> {
        let mut coarse = vec![NONE; self.count];
        for (&aggregate, &part) in self.of.iter().zip(parts).filter(|(aggregate, _)| **aggregate != NONE) {
            coarse[aggregate as usize] = part;
        }
        coarse
    }
}

/// The strong couplings of every row: those with |a_ij|^2 >= strength^2 |a_ii| |a_jj| (Vanek, Mandel, Brezina 1996), within one part.
pub(super) fn strong<const B: usize>(matrix: &Bsr<B, B>, strength: f64, parts: Option<&[u32]>) -> Pattern {
    let diagonal: Vec<f64> = matrix.diagonal_blocks().iter().map(norm).collect();
    let rows = matrix.pattern().rows();
    let couplings = |row: usize, strong: &mut Vec<u32>| {
        let (columns, blocks) = matrix.row(row);
        for (&column, block) in columns.iter().zip(blocks) {
            let other = column as usize;
            let size = norm(block);
            let together = parts.is_none_or(|parts| parts[row] == parts[other]);
            let bound = strength * strength * diagonal[row] * diagonal[other];
            if other != row && together && size > 0.0 && size * size >= bound {
                strong.push(column);
            }
        }
    };
    Pattern::from_rows(rows, rows, couplings)
}

/// Greedy aggregation: rows whose neighbours are all free become aggregates with them, what is left joins the aggregate that most of its
/// neighbours are in, and the rest, if any, makes aggregates of its own.
pub(super) fn aggregate(strong: &Pattern) -> Aggregates {
    let rows = strong.rows();
    let (mut of, mut count) = (vec![NONE; rows], 0);
    let is_free = |of: &[u32], row: usize| of[row] == NONE;
    for row in 0..rows {
        let neighbours = strong.row(row);
        let all_free = neighbours.iter().all(|&other| is_free(&of, other as usize));
        if !neighbours.is_empty() && is_free(&of, row) && all_free {
            of[row] = count;
            neighbours.iter().for_each(|&other| of[other as usize] = count);
            count += 1;
        }
    }
    let kernels = of.clone();
    let joined = parallel::map_each(rows, |row| {
        if kernels[row] != NONE {
            return kernels[row];
        }
        most_frequent(strong.row(row).iter().map(|&other| kernels[other as usize]))
    });
    of.copy_from_slice(&joined);
    for row in 0..rows {
        if is_free(&of, row) && !strong.row(row).is_empty() {
            of[row] = count;
            for &other in strong.row(row) {
                if is_free(&of, other as usize) {
                    of[other as usize] = count;
                }
            }
            count += 1;
        }
    }
    Aggregates { of, count: count as usize }
}

/// The value that comes most often, the first of several.
fn most_frequent(values: impl Iterator<Item = u32>) -> u32 {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for value in values.filter(|&value| value != NONE) {
        match counts.iter_mut().find(|(other, _)| *other == value) {
            Some((_, times)) => *times += 1,
            None => counts.push((value, 1)),
        }
    }
    let mut best = (NONE, 0);
    for (value, times) in counts {
        if times > best.1 {
            best = (value, times);
        }
    }
    best.0
}
