//! Unknowns that are not cells of the grid: each is coupled to any number of cells and of its own kind.

use super::level::Hold;
use crate::real::Real;

/// An extra unknown as the caller describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtraUnknown {
    /// The cells it is coupled to, by flat index, each with its weight w > 0: w (x_e - x_c) is added to
    /// its row, w (x_c - x_e) to the cell's.
    pub couplings: Vec<(usize, f64)>,
    /// The weight of its coupling to a known value.
    pub anchor: f64,
}

/// A coupling seen from a cell of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coupling<T> {
    pub(crate) local: u16,
    /// The flat index of the extra unknown.
    pub(crate) extra: u32,
    pub(crate) weight: T,
}

/// An edge between two unknowns, by flat index, of which at least one is an extra unknown.
pub(crate) type Edge = (u32, u32, f64);

/// The rows of the extra unknowns. In vectors they come last.
#[derive(Clone, Debug)]
pub(crate) struct Extras<T> {
    pub(crate) diagonal: Vec<T>,
    starts: Vec<u32>,
    edges: Vec<(u32, T)>,
}

impl<T: Real> Extras<T> {
    /// The sum of the weights of all edges of an extra unknown.
    pub(crate) fn reach(&self, extra: usize) -> f64 {
        self.edges(extra).iter().map(|&(_, weight)| weight.f64()).sum()
    }

    /// Builds the rows, and the same couplings seen from the cells, by block.
    pub(crate) fn new(
        slots: usize,
        block_len: usize,
        holds: &[Hold<f64>],
        edges: &[Edge],
    ) -> (Self, Vec<Vec<Coupling<T>>>) {
        let count = holds.len();
        let is_extra = |u: u32| u as usize >= slots;
        let mut directed: Vec<Edge> = Vec::with_capacity(2 * edges.len());
        for &(a, b, w) in edges {
            directed.extend(is_extra(a).then_some((a, b, w)));
            directed.extend(is_extra(b).then_some((b, a, w)));
        }
        directed.sort_by_key(|&(from, to, _)| (from, to));
        directed.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });

        let mut couplings = vec![Vec::new(); slots / block_len];
        let mut sums: Vec<f64> = holds.iter().map(|hold| hold.sum()).collect();
        let mut starts = vec![0; count + 1];
        for &(from, to, weight) in &directed {
            let extra = from as usize - slots;
            sums[extra] += weight;
            starts[extra + 1] += 1;
            if !is_extra(to) {
                couplings[to as usize / block_len].push(Coupling {
                    local: (to as usize % block_len) as u16,
                    extra: from,
                    weight: T::of(weight),
                });
            }
        }
        for e in 0..count {
            starts[e + 1] += starts[e];
        }
        let rows = Self {
            diagonal: sums.iter().map(|&d| T::of(d)).collect(),
            starts,
            edges: directed.iter().map(|&(_, to, w)| (to, T::of(w))).collect(),
        };
        (rows, couplings)
    }

    /// These rows with other indices for what the edges lead to.
    pub(crate) fn renamed(&self, index: impl Fn(usize) -> usize) -> Self {
        let edges = self.edges.iter().map(|&(to, w)| (index(to as usize) as u32, w)).collect();
        Self { edges, ..self.clone() }
    }

    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// The neighbours of an extra unknown with their weights.
    pub(crate) fn edges(&self, extra: usize) -> &[(u32, T)] {
        &self.edges[self.starts[extra] as usize..self.starts[extra + 1] as usize]
    }

    /// The sum of w x over an extra unknown's neighbours.
    pub(crate) fn neighbour_sum<V: Real>(&self, extra: usize, x: &[V]) -> f64 {
        self.edges(extra).iter().map(|&(to, w)| w.f64() * x[to as usize].f64()).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.edges.len() * size_of::<(u32, T)>() + self.len() * size_of::<T>()
    }
}
