//! The surroundings of an outer term, and what moves it there.

use meniscus_core::grid::block_len;

use crate::operator::{Level, Term};

/// How far around a term its columns of Z reach, in cells, in two and in three dimensions: what moves a body decays more slowly in the plane. Bounded
/// by the tests of rigid bodies in `tests/iterations.rs`: with a quarter of it they take 20 iterations instead of 14, and 15 instead of 11.
const REACH: [usize; 2] = [8, 4];
/// Sweeps that make the columns, there and back. Half as many cost three iterations where bodies are lightest (the same tests, in 2D); twice as many
/// are not noticed.
const SWEEPS: usize = 6;

/// By how much more than Gauss-Seidel, which is 1, these sweeps relax. With 1 or 1.2 iterations grow too much with resolution
/// (`iterations_do_not_grow_with_resolution_3d`); 1.7 is not noticed.
const RELAXATION: f64 = 1.4;

/// Numbers side by side in a row of Z, as many as the widest vector registers hold.
pub(super) const WIDTH: usize = 8;
pub(super) type Row = [f64; WIDTH];

/// The unknowns around a term, and A among them.
pub(super) struct Neighbourhood {
    pub(super) unknowns: Vec<u32>,
    starts: Vec<usize>,
    /// (place in the list, weight) of the neighbours of each.
    neighbours: Vec<(u32, f64)>,
    diagonal: Vec<f64>,
    /// (unknown beside the list, place of its neighbour, weight).
    beside: Vec<(u32, u32, f64)>,
}

impl Neighbourhood {
    /// The unknowns within [`REACH`] of those that a term touches. Extra unknowns are those that it touches alone, and what terms of the hierarchy touch is left out, since
    /// these reach far.
    pub(super) fn around<const D: usize>(level: &Level<f64, D>, term: &Term) -> Self {
        let n = block_len::<D>();
        let matrix = &level.matrix;
        let is_touched = |i: usize| matrix.low_rank.find_row(i).is_some();
        let is_local = |i: usize| i < level.slots() && !matrix.affine.touches(i / n, i % n) && !is_touched(i);
        let is_extra = |i: usize| i >= level.slots() && !is_touched(i);
        let mut numbers = Numbers::new(n);
        let touched = term.unknowns.iter().map(|&u| u as usize);
        let mut unknowns: Vec<usize> =
            touched.filter(|&i| level.is_unknown(i) && (is_local(i) || is_extra(i))).collect();
        unknowns.retain(|&i| numbers.insert(i));
        let mut reached = 0;
        for _ in 0..REACH[D - 2] {
            for at in std::mem::replace(&mut reached, unknowns.len())..unknowns.len() {
                if is_local(unknowns[at]) {
                    level.for_each_neighbour(unknowns[at], |j, _| {
                        if is_local(j) && numbers.insert(j) {
                            unknowns.push(j);
                        }
                    });
                }
            }
        }
        unknowns.sort_unstable();
        unknowns.iter().enumerate().for_each(|(k, &i)| numbers.set(i, k as u32));

        let (mut starts, mut neighbours) = (Vec::with_capacity(unknowns.len() + 1), Vec::new());
        let (mut beside, mut of_extras) = (Vec::new(), Vec::new());
        let cells = unknowns.partition_point(|&i| i < level.slots());
        for (k, &i) in unknowns[..cells].iter().enumerate() {
            starts.push(neighbours.len());
            level.for_each_neighbour(i, |j, weight| match numbers.get(j) {
                Some(other) => {
                    neighbours.push((other, weight));
                    if is_extra(j) {
                        of_extras.push((other, k as u32, weight));
                    }
                }
                None => beside.push((j as u32, k as u32, weight)),
            });
        }
        // The neighbours of an extra unknown may be very many: those here were found from the cells.
        of_extras.sort_unstable_by_key(|&(extra, cell, _)| (extra, cell));
        for (k, &i) in unknowns.iter().enumerate().skip(cells) {
            starts.push(neighbours.len());
            let own = of_extras.iter().filter(|entry| entry.0 as usize == k);
            neighbours.extend(own.map(|&(_, cell, weight)| (cell, weight)));
            level.for_each_neighbour(i, |j, weight| {
                if numbers.get(j).is_none() {
                    beside.push((j as u32, k as u32, weight));
                }
            });
        }
        starts.push(neighbours.len());
        beside.sort_unstable_by_key(|&(unknown, at, _)| (unknown, at));
        Self {
            starts,
            neighbours,
            diagonal: unknowns.iter().map(|&i| level.diagonal(i)).collect(),
            beside,
            unknowns: unknowns.into_iter().map(|i| i as u32).collect(),
        }
    }

    fn neighbours(&self, k: usize) -> &[(u32, f64)] {
        &self.neighbours[self.starts[k]..self.starts[k + 1]]
    }

    /// Sweeps of A z = b.
    pub(super) fn relaxed(&self, b: &[Row]) -> Vec<Row> {
        let mut z = vec![[0.0; WIDTH]; b.len()];
        let mut relax = |k: usize| {
            let mut sum = b[k];
            for &(other, weight) in self.neighbours(k) {
                let other = &z[other as usize];
                for i in 0..WIDTH {
                    sum[i] += weight * other[i];
                }
            }
            let inverse = RELAXATION / self.diagonal[k];
            for i in 0..WIDTH {
                z[k][i] += inverse * sum[i] - RELAXATION * z[k][i];
            }
        };
        for _ in 0..SWEEPS {
            (0..b.len()).for_each(&mut relax);
            (0..b.len()).rev().for_each(&mut relax);
        }
        z
    }

    /// A z, also beside the list.
    pub(super) fn product(&self, z: &[Row]) -> Vec<(u32, Row)> {
        let mut product: Vec<(u32, Row)> = Vec::with_capacity(z.len());
        for (k, &unknown) in self.unknowns.iter().enumerate() {
            let mut sum = z[k].map(|z| z * self.diagonal[k]);
            for &(other, weight) in self.neighbours(k) {
                sum.iter_mut().zip(&z[other as usize]).for_each(|(s, z)| *s -= weight * z);
            }
            product.push((unknown, sum));
        }
        for run in self.beside.chunk_by(|a, b| a.0 == b.0) {
            let mut sum = [0.0; WIDTH];
            for &(_, at, weight) in run {
                sum.iter_mut().zip(&z[at as usize]).for_each(|(s, z)| *s -= weight * z);
            }
            product.push((run[0].0, sum));
        }
        product
    }
}

/// The numbers of a set of unknowns, by block: neighbours are mostly in the same one.
struct Numbers {
    block_len: usize,
    /// (block, where its cells begin), in ascending order.
    blocks: Vec<(usize, usize)>,
    cells: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Numbers {
    fn new(block_len: usize) -> Self {
        Self { block_len, blocks: Vec::new(), cells: Vec::new() }
    }

    /// Adds an unknown, of a number to be [set](Self::set) later; whether it was not there.
    fn insert(&mut self, i: usize) -> bool {
        let (block, local) = (i / self.block_len, i % self.block_len);
        let at = self.blocks.binary_search_by_key(&block, |entry| entry.0).unwrap_or_else(|at| {
            self.blocks.insert(at, (block, self.cells.len()));
            self.cells.resize(self.cells.len() + self.block_len, ABSENT);
            at
        });
        std::mem::replace(&mut self.cells[self.blocks[at].1 + local], 0) == ABSENT
    }

    fn set(&mut self, i: usize, number: u32) {
        let at = self.blocks.partition_point(|entry| entry.0 < i / self.block_len);
        self.cells[self.blocks[at].1 + i % self.block_len] = number;
    }

    fn get(&self, i: usize) -> Option<u32> {
        let at = self.blocks.binary_search_by_key(&(i / self.block_len), |entry| entry.0).ok()?;
        Some(self.cells[self.blocks[at].1 + i % self.block_len]).filter(|number| *number != ABSENT)
    }
}
