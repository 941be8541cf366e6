//! Particles: how they are handed on, and how they are kept where they may be.

pub mod collide;
mod markers;

use meniscus_core::grid::FaceField;
use meniscus_core::interpolate::{Stencil, interpolate_faces};
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles};

use crate::params::{Params, Transfer};
pub use markers::{Markers, missing_markers};

/// Sorted particles.
#[derive(Clone, Copy)]
pub struct Sorted<'a, const D: usize> {
    pub position: &'a [[f32; D]],
    pub ranges: &'a BlockRanges<D>,
}

/// Particles that are not sorted yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Newcomers<const D: usize> {
    /// Their positions, in cells.
    pub position: Vec<[f32; D]>,
    velocity: Vec<[f32; D]>,
    affine: Vec<[[f32; D]; D]>,
}

impl<const D: usize> Newcomers<D> {
    /// Adds particles that move with the flow.
    pub fn join_flow(&mut self, position: Vec<[f32; D]>, flow: &FaceField<f32, D>, params: &Params<D>) {
        self.velocity.extend(parallel::map_each(position.len(), |k| interpolate_faces(flow, position[k])));
        if params.transfer == Transfer::Apic {
            let gradient = |x: [f32; D], axis: usize| {
                let stencil = Stencil::of_faces(flow.blocks().cells(), axis, x);
                stencil.gradient(stencil.gather(&flow.axes[axis]))
            };
            let affine = |k: usize| std::array::from_fn(|axis| gradient(position[k], axis));
            self.affine.extend(parallel::map_each(position.len(), affine));
        }
        self.position.extend(position);
    }

    /// Adds particles with a velocity of their own.
    pub fn join(&mut self, position: Vec<[f32; D]>, velocity: [f32; D], params: &Params<D>) {
        self.velocity.extend(position.iter().map(|_| velocity));
        if params.transfer == Transfer::Apic {
            self.affine.extend(position.iter().map(|_| [[0.0; D]; D]));
        }
        self.position.extend(position);
    }

    /// Adds others.
    pub fn extend(&mut self, other: Self) {
        self.position.extend(other.position);
        self.velocity.extend(other.velocity);
        self.affine.extend(other.affine);
    }

    /// Moves them to the end of the others.
    pub fn append_to(self, particles: &mut Particles<D>) {
        particles.position.extend(self.position);
        particles.velocity.extend(self.velocity);
        if let Some(affine) = &mut particles.affine {
            affine.extend(self.affine);
        }
    }
}

/// Which half-cell a position is in: bit `a` is set in the upper half along axis `a`.
pub fn half_of<const D: usize>(x: [f32; D]) -> usize {
    (0..D).map(|a| ((2.0 * x[a]) as usize & 1) << a).sum()
}
