//! What an operator cannot see: the constant vectors of sealed components.
//!
//! A component of unknowns without an anchor is sealed: its rows of the stencil vanish on constants. A
//! low-rank term that it pushes on may still hold it; what is left is the null space of the operator.
//! Unknowns of one aggregate are connected, so the components of a level are those of the next
//! coarser one, and they are found where there are few unknowns.

use faer::Mat;
use meniscus_core::grid::block_len;

use super::aggregate::Aggregation;
use crate::operator::{Level, Stencil};
use crate::real::Real;

const NONE: u32 = u32::MAX;

/// An orthonormal basis of the null space: vector k is `weights[k][c]` on all unknowns of component c.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullSpace {
    /// By unknown of the finest level: its sealed component.
    labels: Vec<u32>,
    /// By component: unknowns, and the first of them.
    pub(crate) sizes: Vec<usize>,
    pub(crate) first: Vec<usize>,
    pub(crate) weights: Vec<Vec<f64>>,
}

/// Sealed components as labels on one level.
pub(crate) struct Labels {
    labels: Vec<u32>,
    count: u32,
}

impl Labels {
    /// The sealed components of the coarsest level.
    pub(crate) fn of_coarsest<T: Real, const D: usize>(level: &Level<T, D>) -> Self {
        let unknowns: Vec<usize> = (0..level.len()).filter(|&i| level.diagonal(i) > 0.0).collect();
        let mut root: Vec<usize> = (0..unknowns.len()).collect();
        fn find(root: &mut [usize], mut i: usize) -> usize {
            while root[i] != i {
                root[i] = root[root[i]];
                i = root[i];
            }
            i
        }
        for (k, &i) in unknowns.iter().enumerate() {
            level.for_each_neighbour(i, |j, _| {
                let other = unknowns.binary_search(&j).expect("a neighbour is an unknown");
                let (a, b) = (find(&mut root, k), find(&mut root, other));
                root[a.max(b)] = a.min(b);
            });
        }
        let mut anchored = vec![false; unknowns.len()];
        for (k, &i) in unknowns.iter().enumerate() {
            if level.is_anchored(i) {
                anchored[find(&mut root, k)] = true;
            }
        }
        let mut this = Self { labels: vec![NONE; level.len()], count: 0 };
        let mut label_of = vec![NONE; unknowns.len()];
        for (k, &i) in unknowns.iter().enumerate() {
            let r = find(&mut root, k);
            if !anchored[r] {
                if label_of[r] == NONE {
                    label_of[r] = this.fresh();
                }
                this.labels[i] = label_of[r];
            }
        }
        this
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// Carries the labels to the next finer level. The unknowns that `collapsed` into one are sealed
    /// components too.
    pub(crate) fn refine<T: Real, const D: usize>(
        mut self,
        fine: &Level<T, D>,
        collapsed: &[usize],
        aggregation: &Aggregation<D>,
    ) -> Self {
        for &i in collapsed {
            self.labels[i] = self.fresh();
        }
        // Without sealed components there is nothing to carry.
        let mut labels = Vec::new();
        if self.count > 0 {
            labels.resize(fine.len(), NONE);
            for (i, label) in labels.iter_mut().enumerate() {
                if fine.diagonal(i) > 0.0 {
                    *label = aggregation.target(fine.slots(), i).map_or(NONE, |t| self.labels[t]);
                }
            }
        }
        Self { labels, count: self.count }
    }

    /// The value of each null vector on each unknown of this level.
    pub(crate) fn vectors(&self, null_space: &NullSpace) -> Vec<Vec<f64>> {
        let value = |weights: &[f64], label: u32| if label == NONE { 0.0 } else { weights[label as usize] };
        let spread = |weights: &Vec<f64>| self.labels.iter().map(|&l| value(weights, l)).collect();
        null_space.weights.iter().map(spread).collect()
    }
}

/// Coarse unknowns with a zero row that stand for connected fine ones: sealed components that have
/// become a single unknown, for which there is no equation on the coarse level.
pub(crate) fn collapsed<T: Real, const D: usize>(
    fine: &Level<T, D>,
    coarse: &Level<f32, D>,
    aggregation: &Aggregation<D>,
) -> Vec<usize> {
    let n = block_len::<D>();
    let mut found = Vec::new();
    for block in 0..coarse.blocks.len() {
        if matches!(coarse.stencils[block], Stencil::Uniform { .. }) {
            continue;
        }
        for local in (0..n).filter(|&local| coarse.diagonal(block * n + local) == 0.0) {
            let members = aggregation.members(block, local);
            if members
                .into_iter()
                .any(|(b, l)| fine.diagonal(b * n + l) > 0.0 && aggregation.is_regular(b, l))
            {
                found.push(block * n + local);
            }
        }
    }
    let extras = coarse.slots()..coarse.len();
    found.extend(extras.filter(|&i| coarse.diagonal(i) == 0.0));
    // A part may have become the only member of a coarse cell.
    found.extend(
        aggregation.extras.iter().flatten().map(|&i| i as usize).filter(|&i| coarse.diagonal(i) == 0.0),
    );
    found.sort_unstable();
    found.dedup();
    found
}

impl NullSpace {
    pub(crate) fn new<T: Real, const D: usize>(finest: &Level<T, D>, labels: Labels) -> Self {
        let count = labels.count as usize;
        if count == 0 {
            return Self::default();
        }
        let (mut sizes, mut first) = (vec![0; count], vec![usize::MAX; count]);
        for (i, &label) in labels.labels.iter().enumerate().filter(|(_, l)| **l != NONE) {
            sizes[label as usize] += 1;
            first[label as usize] = first[label as usize].min(i);
        }
        let weights = orthonormal(free_combinations(finest, &labels), &sizes);
        Self { labels: labels.labels, sizes, first, weights }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Takes the part of a vector that lies in the null space away; returns its coefficients.
    pub(crate) fn project_out(&self, vector: &mut [f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes.len()];
        for (value, &label) in vector.iter().zip(&self.labels) {
            if label != NONE {
                sums[label as usize] += value;
            }
        }
        let dot = |w: &Vec<f64>| w.iter().zip(&sums).map(|(w, s)| w * s).sum::<f64>();
        let coefficients: Vec<f64> = self.weights.iter().map(dot).collect();
        let removed: Vec<f64> = (0..sums.len())
            .map(|c| coefficients.iter().zip(&self.weights).map(|(k, w)| k * w[c]).sum())
            .collect();
        for (value, &label) in vector.iter_mut().zip(&self.labels) {
            if label != NONE {
                *value -= removed[label as usize];
            }
        }
        coefficients
    }
}

/// Combinations of the components' constants that no low-rank term feels: the null space of the matrix
/// whose columns are F 1_c, each scaled to what it would be without cancellation.
fn free_combinations<T: Real, const D: usize>(finest: &Level<T, D>, labels: &Labels) -> Vec<Vec<f64>> {
    let (count, low_rank) = (labels.count as usize, &finest.low_rank);
    let mut pushes = vec![vec![0.0; low_rank.dofs()]; count];
    let mut scale = vec![0.0; count];
    for row in low_rank.rows_in(0..finest.len()) {
        let label = labels.labels[low_rank.row_unknown(row)];
        if label != NONE {
            low_rank.push(row, 1.0, &mut pushes[label as usize]);
            scale[label as usize] += low_rank.row_diagonal(row).f64();
        }
    }
    let unit = |c: usize| (0..count).map(|k| f64::from(u8::from(k == c))).collect::<Vec<f64>>();
    let mut free: Vec<Vec<f64>> = (0..count).filter(|&c| scale[c] == 0.0).map(unit).collect();
    let touched: Vec<usize> = (0..count).filter(|&c| scale[c] > 0.0).collect();
    if touched.is_empty() {
        return free;
    }
    let gram = Mat::from_fn(touched.len(), touched.len(), |i, j| {
        let (a, b) = (touched[i], touched[j]);
        let dot: f64 = pushes[a].iter().zip(&pushes[b]).map(|(x, y)| x * y).sum();
        dot / (scale[a] * scale[b]).sqrt()
    });
    let eigen =
        gram.self_adjoint_eigen(faer::Side::Lower).expect("a small symmetric matrix has eigenvectors");
    for k in 0..touched.len() {
        if eigen.S()[k] < 1e-13 {
            let mut vector = vec![0.0; count];
            for (i, &c) in touched.iter().enumerate() {
                vector[c] = eigen.U()[(i, k)] / scale[c].sqrt();
            }
            free.push(vector);
        }
    }
    free
}

/// Gram-Schmidt in the inner product that weighs a component by its unknowns.
fn orthonormal(vectors: Vec<Vec<f64>>, sizes: &[usize]) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { (0..sizes.len()).map(|c| a[c] * b[c] * sizes[c] as f64).sum() };
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        for other in &basis {
            let d = dot(&vector, other);
            vector.iter_mut().zip(other).for_each(|(v, o)| *v -= d * o);
        }
        let length = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|v| *v /= length);
        basis.push(vector);
    }
    basis
}
