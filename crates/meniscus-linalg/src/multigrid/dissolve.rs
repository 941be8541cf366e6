//! Affine terms on levels whose cells are nearly as large as they: there they are faces of the stencil.
//!
//! F P of a term that lies between two coarse cells is their difference over the width of the term, though the cells are farther apart: as
//! a term, each would be twice as stiff from one level to the next. But a term stands for cells that it moves as one, and for functions
//! that are smooth beside it that is no restriction. So a small term becomes what its cells would be as unknowns. Some coarse cells
//! then have no unknown of the finer level below them; they only carry on what goes through.

use meniscus_core::grid::{Blocks, Slot};
use meniscus_core::parallel;

use super::coarsen::STIFFNESS;
use crate::operator::Affine;

/// The most cells from the first to the last one that a small term touches along an axis. Found by measurement, at 512×220×512 cells with tiles of 16: with 2 as many
/// iterations as with 4 but more time, with 8 up to four more. The tests of tiles in `tests/iterations.rs` notice 8, with 56 iterations instead of 8.
const SPAN: usize = 4;

/// The two cells, by flat index, and the weight of what joins them.
pub(crate) type Edge = (usize, usize, f64);

/// Which terms are small, and surround nothing that would then be joined to what surrounds them.
pub(crate) fn small_terms<const D: usize>(affine: &Affine<D>, blocks: &Blocks<D>) -> Vec<bool> {
    let is_small = |term: usize| {
        let mut touched = touched_cells(affine, blocks, term).peekable();
        if affine.inner_weight(term).is_none() || touched.peek().is_none() {
            return false;
        }
        let (mut low, mut high) = ([usize::MAX; D], [0; D]);
        touched.all(|(cell, ..)| {
            low = std::array::from_fn(|a| low[a].min(cell[a]));
            high = std::array::from_fn(|a| high[a].max(cell[a]));
            (0..D).all(|a| high[a] - low[a] <= SPAN)
        })
    };
    parallel::map(affine.terms(), is_small)
}

/// What the cells of these terms would be joined by.
///
/// Going up a line of cells, a term begins where faces lead up to it and ends where they lead down to it: the sum of those passed says how many faces of the
/// finest level lie within it across the line.
pub(crate) fn edges<const D: usize>(affine: &Affine<D>, blocks: &Blocks<D>, terms: &[bool]) -> Vec<Edge> {
    let scale = STIFFNESS.powf(affine.edge.log2());
    let of_term = |term: usize| -> Vec<Edge> {
        if !terms[term] {
            return Vec::new();
        }
        let weight = scale * affine.inner_weight(term).unwrap_or(0.0);
        let mut touched: Vec<_> = touched_cells(affine, blocks, term)
            .map(|(cell, axis, faces)| {
                let mut line = cell;
                line[axis] = 0;
                (axis, line, cell[axis], faces)
            })
            .collect();
        touched.sort_by_key(|t| (t.0, t.1, t.2));
        let mut edges = Vec::new();
        for line in touched.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let mut within = 0.0;
            for pair in line.windows(2) {
                let ((axis, mut cell, from, faces), to) = (pair[0], pair[1].2);
                within += faces;
                for at in from..to {
                    cell[axis] = at;
                    edges.extend(edge(blocks, cell, axis, weight * within));
                }
            }
        }
        edges
    };
    parallel::map(terms.len(), of_term).concat()
}

/// The cells that a term touches, each with the axis and the number of faces that lead up to it, less those that lead down.
fn touched_cells<'a, const D: usize>(
    affine: &'a Affine<D>,
    blocks: &'a Blocks<D>,
    term: usize,
) -> impl Iterator<Item = ([usize; D], usize, f64)> + 'a {
    affine.of_term(term).flat_map(move |(block, contact)| {
        let cell = move |local| blocks.cell(Slot { block, local });
        contact.locals().map(move |local| (cell(local), contact.axis as usize, f64::from(contact.weight)))
    })
}

/// The edge from a cell to the next one along an axis.
fn edge<const D: usize>(blocks: &Blocks<D>, cell: [usize; D], axis: usize, weight: f64) -> Option<Edge> {
    let flat = |cell: [usize; D]| blocks.locate(cell.map(|c| c as i64)).map(Slot::flat::<D>);
    let mut next = cell;
    next[axis] += 1;
    Some((flat(cell)?, flat(next)?, weight)).filter(|edge| edge.2 > 0.0)
}
