//! What an operator cannot see: the constant vectors of sealed components.
//!
//! A component of unknowns without an anchor is sealed: its rows of the stencil vanish on constants. A
//! low-rank term that it pushes on may still hold it; what is left is the null space of the operator.
//! Unknowns of one aggregate are connected, so the components of a level are those of the next
//! coarser one, and they are found where there are few unknowns.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;
use meniscus_core::grid::{Mask, block_len};
use meniscus_core::parallel;

use super::aggregate::{Aggregation, coarse_local, groups};
use crate::operator::{Level, Matrix, Outer, Places, Stencil};
use crate::real::Real;

/// No sealed component.
const NONE: u32 = u32::MAX;

/// Values that a thread takes at a time. Sums are taken over them, so results depend on this number by rounding.
const CHUNK: usize = 1 << 14;

/// Where at most one of so many unknowns is sealed, they are few: they are listed, and all others need not be looked at. For speed alone, but for the order of sums.
const FEW: usize = 16;

/// An orthonormal basis of the null space. A vector is a list of (component, value): it has that value on
/// all unknowns of the component.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullSpace {
    /// By unknown of the finest level: its sealed component.
    labels: Arc<Vec<u32>>,
    /// The unknowns that have one, in ascending order, where they are few.
    few: Option<Arc<Vec<u32>>>,
    /// By component: unknowns, and the first of them.
    pub(crate) sizes: Vec<usize>,
    pub(crate) first: Vec<usize>,
    pub(crate) vectors: Vec<Vec<(usize, f64)>>,
}

/// Sealed components as labels on one level.
#[derive(Clone)]
pub(crate) struct Labels {
    labels: Vec<u32>,
    count: u32,
}

impl Labels {
    /// The sealed components of the coarsest level.
    pub(crate) fn of_coarsest<T: Real, const D: usize>(level: &Level<T, D>) -> Self {
        let unknowns: Vec<usize> = (0..level.len()).filter(|&i| level.is_unknown(i)).collect();
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
            self.labels.resize(self.labels.len().max(i + 1), NONE);
            self.labels[i] = self.fresh();
        }
        // Without sealed components there is nothing to carry, and labels left out are none.
        let len = if self.count > 0 { fine.len() } else { 0 };
        let label = |i: usize| {
            let target = if fine.is_unknown(i) { aggregation.target(fine.slots(), i) } else { None };
            target.and_then(|t| self.labels.get(t).copied()).unwrap_or(NONE)
        };
        Self { labels: parallel::map_each(len, label), count: self.count }
    }

    /// The null vectors on the unknowns of this level, as lists of (unknown, value); those of components
    /// that have no unknown here are left out.
    pub(crate) fn vectors(&self, null_space: &NullSpace) -> Vec<Vec<(usize, f64)>> {
        let mut members = vec![Vec::new(); null_space.sizes.len()];
        for (i, &label) in self.labels.iter().enumerate().filter(|(_, l)| **l != NONE) {
            members[label as usize].push(i);
        }
        let spread = |vector: &Vec<(usize, f64)>| -> Vec<(usize, f64)> {
            vector.iter().flat_map(|&(c, value)| members[c].iter().map(move |&i| (i, value))).collect()
        };
        null_space.vectors.iter().map(spread).filter(|v| !v.is_empty()).collect()
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
    let in_block = |block: usize| -> Vec<usize> {
        if matches!(coarse.matrix.stencils[block], Stencil::Uniform { .. }) {
            return Vec::new();
        }
        // Those above an unknown, as far as that can be seen without a closer look.
        let mut known = Mask::EMPTY;
        for (octant, child) in aggregation.children[block].iter().enumerate() {
            let Some(child) = child.map(|c| c as usize) else { continue };
            let unknown = fine.matrix.unknown_cells(child);
            let groups = groups::<D>().filter(|&group| unknown.count_in_group(group) > 0);
            groups.for_each(|group| known.insert(coarse_local::<D>(octant, group)));
        }
        let known = known.without(&coarse.matrix.unknown_cells(block));
        let is_collapsed = |&local: &usize| {
            let mut members = aggregation.members(block, local).into_iter();
            members.any(|(b, l)| fine.is_unknown(b * n + l) && aggregation.is_regular(b, l))
        };
        known.iter().filter(is_collapsed).map(|local| block * n + local).collect()
    };
    let mut found = parallel::map(coarse.matrix.blocks.len(), in_block).concat();
    let extras = coarse.slots()..coarse.len();
    found.extend(extras.filter(|&i| !coarse.is_unknown(i)));
    // A part may have become the only member of a coarse cell.
    found.extend(aggregation.extras.iter().flatten().map(|&i| i as usize).filter(|&i| !coarse.is_unknown(i)));
    found.sort_unstable();
    found.dedup();
    found
}

/// The unknowns whose labels `f` holds for, in ascending order.
fn unknowns_with(labels: &[u32], f: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
    let of_chunk = |k: usize| -> Vec<u32> {
        let labels = (k * CHUNK..).zip(parallel::chunk(labels, CHUNK, k));
        labels.filter(|(_, label)| f(**label)).map(|(unknown, _)| unknown as u32).collect()
    };
    parallel::map(labels.len().div_ceil(CHUNK), of_chunk).concat()
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
        let vectors = null_vectors(finest, &labels, &sizes);
        Self { sizes, first, vectors, ..Self::default() }.labelled(labels.labels)
    }

    fn labelled(self, labels: Vec<u32>) -> Self {
        let is_few = FEW * self.sizes.iter().sum::<usize>() <= labels.len();
        let few = is_few.then(|| Arc::new(unknowns_with(&labels, |label| label != NONE)));
        Self { labels: Arc::new(labels), few, ..self }
    }

    /// This null space in vectors that have been arranged.
    pub(crate) fn arranged<const D: usize>(&self, places: &Places<D>) -> Self {
        if self.labels.is_empty() {
            return self.clone();
        }
        let mut labels = Vec::new();
        places.gather(&self.labels, NONE, &mut labels);
        self.clone().labelled(labels)
    }

    /// The unknowns of sealed components whose unknowns all are below `slots`, in ascending order.
    pub(crate) fn sealed_cells(&self, slots: usize) -> Vec<usize> {
        let mut has_extra = vec![false; self.sizes.len()];
        let of_extras = self.labels.iter().skip(slots).filter(|label| **label != NONE);
        of_extras.for_each(|&label| has_extra[label as usize] = true);
        let is_sealed = |label: u32| label != NONE && !has_extra[label as usize];
        let cells = unknowns_with(&self.labels[..slots.min(self.labels.len())], is_sealed);
        cells.into_iter().map(|unknown| unknown as usize).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// The sum of a vector over each component, the same for any number of threads.
    fn sums(&self, vector: &[f64]) -> Vec<f64> {
        let add = |mut sums: Vec<f64>, k: usize| {
            let (values, labels) =
                (parallel::chunk(vector, CHUNK, k), parallel::chunk(&self.labels, CHUNK, k));
            for (value, &label) in values.iter().zip(labels) {
                if label != NONE {
                    sums[label as usize] += value;
                }
            }
            sums
        };
        let zeros = || vec![0.0; self.sizes.len()];
        if let Some(few) = &self.few {
            let mut sums = zeros();
            few.iter().for_each(|&i| sums[self.labels[i as usize] as usize] += vector[i as usize]);
            return sums;
        }
        // Many components are summed one chunk after another, since each chunk would need room for all.
        let chunks = self.labels.len().div_ceil(CHUNK);
        if self.sizes.len() > 64 {
            return (0..chunks).fold(zeros(), add);
        }
        let parts = parallel::map(chunks, |k| add(zeros(), k));
        parts.iter().fold(zeros(), |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            sums
        })
    }

    /// This null space and with it vectors of one unknown each; vectors are `len` long.
    pub(crate) fn with_single(&self, len: usize, unknowns: &[u32]) -> Self {
        if unknowns.is_empty() {
            return self.clone();
        }
        let (mut this, mut labels) = (self.clone(), self.labels.to_vec());
        labels.resize(len, NONE);
        for &unknown in unknowns {
            let component = this.sizes.len();
            labels[unknown as usize] = component as u32;
            this.sizes.push(1);
            this.first.push(unknown as usize);
            this.vectors.push(vec![(component, 1.0)]);
        }
        this.labelled(labels)
    }

    /// The part of it that outer terms do not feel.
    pub(crate) fn unfelt_by(&self, outer: &Outer) -> Self {
        // Most of what the terms touch is not sealed.
        let outer = &outer.renamed(|i| self.has(i).then_some(i));
        let state = |k: usize| outer.state_by(|i| self.value(&self.vectors[k], i));
        let states = parallel::map(self.vectors.len(), state);
        let states: Vec<_> = states.into_iter().zip(self.felt_at_most(outer)).collect();
        let (felt, free): (Vec<usize>, Vec<usize>) = (0..states.len()).partition(|&k| states[k].1 > 0.0);
        let mut vectors: Vec<Vec<(usize, f64)>> = free.iter().map(|&k| self.vectors[k].clone()).collect();
        let n = felt.len();
        if n > 0 {
            let pushed: Vec<Vec<f64>> = felt.iter().map(|&k| outer.pushed(&states[k].0)).collect();
            let gram = Mat::from_fn(n, n, |i, j| {
                let (a, b) = (&states[felt[i]], &states[felt[j]]);
                a.0.iter().zip(&pushed[j]).map(|(v, w)| v * w).sum::<f64>() / (a.1 * b.1).sqrt()
            });
            let combinations = free_combinations(&gram, |i| states[felt[i]].1);
            for combination in orthonormal(combinations, &vec![1.0; n]) {
                vectors.push(self.combined(felt.iter().copied().zip(combination)));
            }
        }
        Self { vectors, ..self.clone() }
    }

    /// By vector: the energy of its values one by one, what outer terms would feel of it without cancellation.
    pub(crate) fn felt_at_most(&self, outer: &Outer) -> Vec<f64> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut energies = outer.energies();
        energies.retain(|(unknown, _)| self.has(*unknown));
        let felt = |k: usize| -> f64 {
            let vector = &self.vectors[k];
            energies.iter().map(|&(unknown, energy)| energy * self.value(vector, unknown).powi(2)).sum()
        };
        parallel::map(self.vectors.len(), felt)
    }

    /// A sum of its vectors, each times a factor.
    fn combined(&self, factors: impl Iterator<Item = (usize, f64)>) -> Vec<(usize, f64)> {
        let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
        for (k, factor) in factors {
            self.vectors[k].iter().for_each(|&(c, value)| *sum.entry(c).or_insert(0.0) += factor * value);
        }
        sum.into_iter().collect()
    }

    /// Whether an unknown is in a sealed component.
    pub(crate) fn has(&self, unknown: usize) -> bool {
        self.labels.get(unknown).is_some_and(|label| *label != NONE)
    }

    /// The unknowns of sealed components, where they are few.
    pub(crate) fn few(&self) -> Option<&[u32]> {
        self.few.as_deref().map(Vec::as_slice)
    }

    /// The value of one of its vectors at an unknown.
    pub(crate) fn value(&self, vector: &[(usize, f64)], unknown: usize) -> f64 {
        let label = self.labels.get(unknown).copied().unwrap_or(NONE);
        vector.iter().find(|(c, _)| *c as u32 == label).map_or(0.0, |(_, value)| *value)
    }

    /// The products of a vector with those of the basis.
    pub(crate) fn coefficients(&self, vector: &[f64]) -> Vec<f64> {
        if self.is_empty() {
            return Vec::new();
        }
        let sums = self.sums(vector);
        self.vectors.iter().map(|v| v.iter().map(|&(c, w)| w * sums[c]).sum()).collect()
    }

    /// Adds the vectors of the basis, each times a factor.
    pub(crate) fn add(&self, factors: &[f64], to: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        let mut added = vec![0.0; self.sizes.len()];
        for (vector, k) in self.vectors.iter().zip(factors) {
            vector.iter().for_each(|&(c, w)| added[c] += k * w);
        }
        if let Some(few) = &self.few {
            few.iter().for_each(|&i| to[i as usize] += added[self.labels[i as usize] as usize]);
            return;
        }
        parallel::for_chunks(to, CHUNK, |k, to| {
            for (value, &label) in to.iter_mut().zip(parallel::chunk(&self.labels, CHUNK, k)) {
                if label != NONE {
                    *value += added[label as usize];
                }
            }
        });
    }

    /// Takes the part of a vector that lies in the null space away; returns its coefficients.
    pub(crate) fn project_out(&self, vector: &mut [f64]) -> Vec<f64> {
        let coefficients = self.coefficients(vector);
        let removed: Vec<f64> = coefficients.iter().map(|c| -c).collect();
        self.add(&removed, vector);
        coefficients
    }
}

impl NullSpace {
    /// Moves `x` along each null vector of one sign so that the least of its `bounded` unknowns is 0. Those least unknowns are
    /// returned for the vectors along which the sum of `b` is below `-least`.
    pub(crate) fn raise(&self, x: &mut [f64], bounded: &[usize], b: &[f64], least: f64) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let sums = self.sums(b);
        let mut growing = Vec::new();
        for vector in &self.vectors {
            let sign =
                vector.iter().map(|v| v.1).fold(0.0, |a: f64, v| if v.abs() > a.abs() { v } else { a });
            let values: BTreeMap<usize, f64> = vector.iter().map(|&(c, v)| (c, v * sign.signum())).collect();
            if values.values().any(|&v| v < -1e-12) {
                continue;
            }
            let value = |i: usize| values.get(&(self.labels[i] as usize)).copied().filter(|&v| v > 1e-12);
            let levels = bounded.iter().filter_map(|&i| Some((i, x[i] / value(i)?)));
            let Some((lowest, level)) = levels.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            parallel::for_chunks(x, CHUNK, |k, x| {
                for (x, label) in x.iter_mut().zip(parallel::chunk(&self.labels, CHUNK, k)) {
                    *x -= values.get(&(*label as usize)).map_or(0.0, |v| v * level);
                }
            });
            if values.iter().map(|(&c, v)| v * sums[c]).sum::<f64>() < -least {
                growing.push(lowest);
            }
        }
        growing
    }
}

/// Components that no low-rank term touches are free one by one. Of the others, those combinations of their
/// constants are free that no term feels: the null space of the matrix whose columns are F 1_c, each scaled to
/// what it would be without cancellation.
fn null_vectors<T: Real, const D: usize>(
    finest: &Level<T, D>,
    labels: &Labels,
    sizes: &[usize],
) -> Vec<Vec<(usize, f64)>> {
    let Matrix { low_rank, affine, dofs, .. } = &*finest.matrix;
    let mut pushes: BTreeMap<usize, (Vec<f64>, f64)> = BTreeMap::new();
    for row in low_rank.rows_in(0..finest.len()) {
        let label = labels.labels[low_rank.row_unknown(row)];
        // A term of no strength touches nothing.
        if label != NONE && low_rank.row_diagonal(row) != T::ZERO {
            let (push, scale) = pushes.entry(label as usize).or_insert_with(|| (vec![0.0; *dofs], 0.0));
            low_rank.push(row, 1.0, push);
            *scale += low_rank.row_diagonal(row).f64();
        }
    }
    let n = block_len::<D>();
    for block in 0..affine.blocks() {
        for local in affine.touched(block).iter() {
            let label = labels.labels[block * n + local];
            if label != NONE {
                let (push, scale) = pushes.entry(label as usize).or_insert_with(|| (vec![0.0; *dofs], 0.0));
                affine.push(block, local, 1.0, push);
                *scale += affine.diagonal(block, local);
            }
        }
    }
    let untouched = (0..sizes.len()).filter(|c| !pushes.contains_key(c));
    let mut vectors: Vec<_> = untouched.map(|c| vec![(c, 1.0 / (sizes[c] as f64).sqrt())]).collect();
    let touched: Vec<(usize, Vec<f64>, f64)> = pushes.into_iter().map(|(c, (p, s))| (c, p, s)).collect();
    if touched.is_empty() {
        return vectors;
    }
    let n = touched.len();
    let gram = Mat::from_fn(n, n, |i, j| {
        let ((_, a, s), (_, b, t)) = (&touched[i], &touched[j]);
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / (s * t).sqrt()
    });
    let combinations = free_combinations(&gram, |i| touched[i].2);
    let counts: Vec<f64> = touched.iter().map(|t| sizes[t.0] as f64).collect();
    for vector in orthonormal(combinations, &counts) {
        vectors.push(touched.iter().map(|t| t.0).zip(vector).collect());
    }
    vectors
}

/// The combinations of vectors that a matrix of their products does not see, where each was scaled to the size 1 by the square root of `scale`.
fn free_combinations(gram: &Mat<f64>, scale: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
    let n = gram.nrows();
    let eigen =
        gram.self_adjoint_eigen(faer::Side::Lower).expect("a small symmetric matrix has eigenvectors");
    let free = (0..n).filter(|&k| eigen.S()[k] < 1e-13 * n as f64);
    free.map(|k| (0..n).map(|i| cleaned(eigen.U()[(i, k)]) / scale(i).sqrt()).collect()).collect()
}

/// An entry of a vector of length 1 that is rounding becomes 0: outer terms that touch it alone would take it for something they feel.
fn cleaned(entry: f64) -> f64 {
    if entry.abs() < 1e-13 { 0.0 } else { entry }
}

/// Gram-Schmidt in the inner product that weighs a component by its unknowns.
fn orthonormal(vectors: Vec<Vec<f64>>, counts: &[f64]) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { (0..counts.len()).map(|c| a[c] * b[c] * counts[c]).sum() };
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        for other in &basis {
            let d = dot(&vector, other);
            vector.iter_mut().zip(other).for_each(|(v, o)| *v -= d * o);
        }
        let length = dot(&vector, &vector).sqrt();
        for (v, count) in vector.iter_mut().zip(counts) {
            *v = cleaned(*v / length * count.sqrt()) / count.sqrt();
        }
        basis.push(vector);
    }
    basis
}
