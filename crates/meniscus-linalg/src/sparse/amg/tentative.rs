//! The tentative prolongation: it reproduces the candidates, with orthonormal columns that live on one aggregate each.

use meniscus_core::parallel;

use super::super::block::Block;
use super::super::pattern::NONE;
use super::aggregates::Aggregates;

/// Aggregates of a task.
const FEW: usize = 16;

/// A column that others explain but for this fraction of it is no column.
const DEPENDENT: f64 = 1e-8;

/// The block of every row, zeros where it is in no aggregate, and the candidates of the next level: Q and R of the candidates of each
/// aggregate. Where some depend on others, their columns of Q are zeros.
pub(super) fn tentative<const R: usize, const K: usize>(
    candidates: &[Block<R, K>],
    aggregates: &Aggregates,
) -> (Vec<Block<R, K>>, Vec<Block<K, K>>) {
    let (offsets, members) = aggregates.members();
    let factors = parallel::map(aggregates.count.div_ceil(FEW), |piece| {
        let mut factors = Vec::new();
        for k in piece * FEW..aggregates.count.min((piece + 1) * FEW) {
            let members = &members[offsets[k]..offsets[k + 1]];
            let mut rows: Vec<_> = members.iter().map(|&row| candidates[row as usize]).collect();
            let triangle = factorise(&mut rows);
            factors.push((rows, triangle));
        }
        factors
    });
    let mut blocks = vec![[[0.0; K]; R]; candidates.len()];
    let mut coarse = Vec::with_capacity(aggregates.count);
    for (k, (rows, triangle)) in factors.into_iter().flatten().enumerate() {
        for (&member, row) in members[offsets[k]..offsets[k + 1]].iter().zip(rows) {
            blocks[member as usize] = row;
        }
        coarse.push(triangle);
    }
    debug_assert!(aggregates.of.iter().all(|&k| k == NONE || (k as usize) < coarse.len()));
    (blocks, coarse)
}

/// Makes the columns orthonormal by Gram-Schmidt, twice; returns the triangle.
fn factorise<const R: usize, const K: usize>(rows: &mut [Block<R, K>]) -> Block<K, K> {
    let dot = |rows: &[Block<R, K>], a: usize, b: usize| -> f64 {
        rows.iter().flatten().map(|values| values[a] * values[b]).sum()
    };
    let mut triangle = [[0.0; K]; K];
    for column in 0..K {
        let length = dot(rows, column, column).sqrt();
        for _ in 0..2 {
            for other in 0..column {
                let product = dot(rows, other, column);
                triangle[other][column] += product;
                for values in rows.iter_mut().flatten() {
                    values[column] -= product * values[other];
                }
            }
        }
        let rest = dot(rows, column, column).sqrt();
        let scale = if rest > DEPENDENT * length { 1.0 / rest } else { 0.0 };
        rows.iter_mut().flatten().for_each(|values| values[column] *= scale);
        triangle[column][column] = scale * rest * rest;
    }
    triangle
}
