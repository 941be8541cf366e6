//! The system of equations, as a product.

use std::sync::Arc;

use meniscus_core::grid::{
    Blocks, FaceField, HaloTile, block_len, cell_in_block, for_each_overlap, neighbourhood,
};
use meniscus_core::parallel;
use meniscus_linalg::{AssembleError, Operator, Patch};

use super::weights::{BlockWeights, Source, pair_of, tile_len};
use crate::projection::Stored;
use meniscus_rigid::{PAIRS, pair_count};

/// The symmetric positive definite system of the velocities after a step.
///
/// Vectors hold, block after block, the values of all axes: entry `(block D + axis) 8^D + local`; faces that are not unknowns
/// hold 0.
pub(super) struct System<const D: usize> {
    pub(super) blocks: Arc<Blocks<D>>,
    /// `None` where no face of a block is an unknown.
    pub(super) weights: Vec<Option<BlockWeights<D>>>,
}

/// The values of a block's axes with their halo, and the stresses of the samples.
struct Scratch {
    values: Vec<f64>,
    normal: Vec<f64>,
    shear: Vec<f64>,
}

impl<const D: usize> System<D> {
    pub(super) fn new<T: Stored>(source: &Source<T, D>) -> Self {
        let blocks = source.corners.blocks().clone();
        let weights = parallel::map(blocks.len(), |block| BlockWeights::new(source, block));
        Self { blocks, weights }
    }

    /// The length of a vector.
    pub(super) fn len(&self) -> usize {
        D * self.blocks.slots()
    }

    /// The right-hand side.
    pub(super) fn rhs(&self) -> Vec<f64> {
        self.gather(|weights, out| out.copy_from_slice(&weights.rhs))
    }

    /// The velocities of the unknown faces.
    pub(super) fn velocities<T: Stored>(&self, velocity: &FaceField<T, D>) -> Vec<f64> {
        let n = block_len::<D>();
        let mut x = vec![0.0; self.len()];
        parallel::for_chunks(&mut x, D * n, |block, x| {
            let Some(weights) = &self.weights[block] else { return };
            for (axis, x) in x.chunks_exact_mut(n).enumerate() {
                let own = velocity.axes[axis].block(block).iter().zip(&weights.held[axis * n..]);
                for (x, (&u, &held)) in x.iter_mut().zip(own) {
                    *x = if held > 0.0 { u.into() } else { 0.0 };
                }
            }
        });
        x
    }

    /// Writes the values of the unknown faces.
    pub(super) fn store<T: Stored>(&self, x: &[f64], velocity: &mut FaceField<T, D>) {
        let n = block_len::<D>();
        for (axis, field) in velocity.axes.iter_mut().enumerate() {
            parallel::for_chunks(field.values_mut(), n, |block, own| {
                let Some(weights) = &self.weights[block] else { return };
                let x = &x[(block * D + axis) * n..][..n];
                for ((u, &x), &held) in own.iter_mut().zip(x).zip(&weights.held[axis * n..]) {
                    if held > 0.0 {
                        *u = T::nearest(x);
                    }
                }
            });
        }
    }

    pub(super) fn gather(&self, fill: impl Fn(&BlockWeights<D>, &mut [f64]) + Sync) -> Vec<f64> {
        let mut x = vec![0.0; self.len()];
        parallel::for_chunks(&mut x, D * block_len::<D>(), |block, x| {
            if let Some(weights) = &self.weights[block] {
                fill(weights, x);
            }
        });
        x
    }

    /// The diagonal of the matrix.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let n = block_len::<D>();
        self.gather(|weights, out| {
            for (index, out) in out.iter_mut().enumerate().filter(|(index, _)| weights.held[*index] > 0.0) {
                *out = weights.held[index];
                weights.for_each_coupling(index / n, index % n, |_, _, weight| *out += weight);
            }
        })
    }

    /// y = A x.
    pub(super) fn product(&self, x: &[f64], y: &mut [f64]) {
        let scratch = || Scratch {
            values: vec![0.0; D * tile_len::<D>()],
            normal: vec![0.0; D * tile_len::<D>()],
            shear: vec![0.0; pair_count::<D>() * tile_len::<D>()],
        };
        parallel::for_chunks_with(y, D * block_len::<D>(), scratch, |scratch, block, y| {
            match &self.weights[block] {
                Some(weights) => {
                    self.load(x, block, &mut scratch.values);
                    weights.product(scratch, y);
                }
                None => y.fill(0.0),
            }
        });
    }

    /// Copies the values of a block and its halo; there are none outside the blocks.
    fn load(&self, x: &[f64], block: usize, values: &mut [f64]) {
        let n = block_len::<D>();
        for (offset, other) in neighbourhood(&self.blocks, block) {
            for (axis, values) in values.chunks_exact_mut(tile_len::<D>()).enumerate() {
                for_each_overlap(1, offset, |tile, local, len| {
                    let row = &mut values[tile..tile + len];
                    match other {
                        Some(other) => {
                            row.copy_from_slice(&x[(other * D + axis) * n + local..][..len]);
                        }
                        None => row.fill(0.0),
                    }
                });
            }
        }
    }

    /// The part of the system that couples the faces of one axis with each other: a stencil on its faces, twice as stiff
    /// along the axis as across.
    pub(super) fn component(&self, axis: usize) -> Result<Operator<D>, AssembleError> {
        let fill = |block: usize, patch: &mut Patch<D>| {
            let Some(weights) = &self.weights[block] else { return };
            let n = block_len::<D>();
            for local in (0..n).filter(|local| weights.held[axis * n + local] > 0.0) {
                patch.masses[local] = weights.mass[axis * n + local];
                patch.anchors[local] = weights.held[axis * n + local] - patch.masses[local];
                weights.for_each_coupling(axis, local, |along, side, weight| {
                    patch.set_face(along, side, local, weight);
                });
            }
        };
        Operator::assemble(self.blocks.clone(), fill, &[], &[])
    }
}

impl<const D: usize> BlockWeights<D> {
    /// Calls `f(along, side, weight)` for the samples between a face and the next ones of its axis.
    fn for_each_coupling(&self, axis: usize, local: usize, mut f: impl FnMut(usize, usize, f64)) {
        let at = HaloTile::<f32, D, 1>::index(cell_in_block::<D>(local).map(|c| c + 1));
        for along in 0..D {
            let stride = HaloTile::<f32, D, 1>::stride(along);
            let (of, lower, upper) = if along == axis {
                (&self.normal[axis * tile_len::<D>()..], at - stride, at)
            } else {
                (&self.shear[pair_of(axis, along) * tile_len::<D>()..], at, at + stride)
            };
            f(along, 0, of[lower].into());
            f(along, 1, of[upper].into());
        }
    }

    /// The product of a block. Loops run over whole tiles: what they compute where a sample lies outside is not used.
    fn product(&self, scratch: &mut Scratch, y: &mut [f64]) {
        let len = tile_len::<D>();
        let stride = HaloTile::<f32, D, 1>::stride;
        let Scratch { values, normal, shear } = scratch;
        let of = |axis: usize| &values[axis * len..][..len];
        for axis in 0..D {
            let (lower, upper) = (of(axis), &of(axis)[stride(axis)..]);
            let weights = &self.normal[axis * len..][..len];
            let stresses = normal[axis * len..][..len].iter_mut().zip(weights);
            for ((stress, &weight), (l, u)) in stresses.zip(lower.iter().zip(upper)) {
                *stress = f64::from(weight) * (u - l);
            }
        }
        for (pair, &(a, b)) in PAIRS.iter().enumerate().take(pair_count::<D>()) {
            // b is the later axis and has the larger stride.
            let first = stride(b);
            let (u_a, below_a) = (&of(a)[first..], &of(a)[..len - first]);
            let (u_b, below_b) = (&of(b)[first..], &of(b)[first - stride(a)..]);
            let weights = &self.shear[pair * len + first..][..len - first];
            let stresses = shear[pair * len + first..][..len - first].iter_mut().zip(weights);
            let rates = u_a.iter().zip(below_a).zip(u_b.iter().zip(below_b));
            for ((stress, &weight), ((u_a, below_a), (u_b, below_b))) in stresses.zip(rates) {
                *stress = f64::from(weight) * ((u_a - below_a) + (u_b - below_b));
            }
        }
        let n = block_len::<D>();
        for (axis, y) in y.chunks_exact_mut(n).enumerate() {
            let own = of(axis);
            let normal = &normal[axis * len..][..len];
            let held = &self.held[axis * n..][..n];
            for (row, (y, held)) in y.chunks_exact_mut(8).zip(held.chunks_exact(8)).enumerate() {
                let at = HaloTile::<f32, D, 1>::index(cell_in_block::<D>(8 * row).map(|c| c + 1));
                let (below, normal) = (&normal[at - stride(axis)..][..8], &normal[at..][..8]);
                let own = &own[at..][..8];
                for i in 0..8 {
                    y[i] = held[i] * own[i] + below[i] - normal[i];
                }
                for other in (0..D).filter(|&other| other != axis) {
                    let shear = &shear[pair_of(axis, other) * len..][..len];
                    let (lower, upper) = (&shear[at..][..8], &shear[at + stride(other)..][..8]);
                    for i in 0..8 {
                        y[i] += lower[i] - upper[i];
                    }
                }
            }
        }
    }
}
