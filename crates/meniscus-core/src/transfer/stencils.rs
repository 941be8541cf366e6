//! The stencils of many points near one block, and velocities interpolated by them.

use crate::grid::{BLOCK_EDGE, Blocks, FaceField, HaloTile};
use crate::interpolate::{MAX_CORNERS, bracket, corner_offset, to_integer, value_and_gradient};

/// Points whose stencils are found together, a vector register at a time.
pub(crate) const BATCH: usize = 64;

/// The stencils of up to [`BATCH`] points near one block, relative to the block's tile.
pub(crate) struct Stencils<const D: usize, const HALO: usize> {
    cells: [usize; D],
    /// The lowest cell of the tile.
    first: [f32; D],
    /// The tile index of the lowest sample, for each velocity component.
    base: [[i32; BATCH]; D],
    /// The place between samples: along each axis only two occur, that among the faces normal to it ..
    normal: [[f32; BATCH]; D],
    /// .. and that among all other faces.
    tangential: [[f32; BATCH]; D],
    /// How many coordinates of each point lie outside the tile.
    outside: [u8; BATCH],
}

impl<const D: usize, const HALO: usize> Stencils<D, HALO> {
    const EDGE: usize = BLOCK_EDGE + 2 * HALO;

    pub fn new(blocks: &Blocks<D>, block: usize) -> Self {
        let first = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f32 - HALO as f32);
        let zero = [[0.0; BATCH]; D];
        Self {
            cells: blocks.cells(),
            first,
            base: [[0; BATCH]; D],
            normal: zero,
            tangential: zero,
            outside: [0; BATCH],
        }
    }

    /// Finds the stencils of one to [`BATCH`] points; says whether all lie within the tile, without
    /// which they must not be used.
    #[must_use]
    #[inline(always)]
    pub fn find(&mut self, position: &[[f32; D]]) -> bool {
        let mut base = [[0.0; BATCH]; D];
        self.outside = [0; BATCH];
        for a in 0..D {
            let mut x = [position[0][a]; BATCH];
            for (x, position) in x.iter_mut().zip(position) {
                *x = position[a];
            }
            let normal = brackets(&x, 0.0, self.cells[a] + 1, self.first[a], &mut self.normal[a]);
            let tangential = brackets(&x, 0.5, self.cells[a], self.first[a], &mut self.tangential[a]);
            for base in [&normal, &tangential] {
                for k in 0..BATCH {
                    let is_outside = (base[k] < 0.0) | (base[k] > (Self::EDGE - 2) as f32);
                    self.outside[k] += u8::from(is_outside);
                }
            }
            let stride = Self::EDGE.pow(a as u32) as f32;
            for axis in 0..D {
                let along = if a == axis { &normal } else { &tangential };
                for k in 0..BATCH {
                    base[axis][k] += stride * along[k];
                }
            }
        }
        for axis in 0..D {
            for k in 0..BATCH {
                self.base[axis][k] = to_integer(base[axis][k]);
            }
        }
        self.outside == [0; BATCH]
    }

    /// Whether point `k`'s stencil lies within the tile.
    #[inline(always)]
    pub fn is_inside(&self, k: usize) -> bool {
        self.outside[k] == 0
    }

    /// Point `k`'s stencil for one velocity component: the tile index of the lowest sample, and the
    /// place among the samples.
    #[inline(always)]
    pub fn get(&self, axis: usize, k: usize) -> (usize, [f32; D]) {
        let mut fraction = [0.0; D];
        for a in 0..D {
            fraction[a] = if a == axis { self.normal[a][k] } else { self.tangential[a][k] };
        }
        (self.base[axis][k] as usize, fraction)
    }
}

/// The brackets of coordinates `x` along one axis: the lowest samples relative to the tile's `first`
/// cell, and the places between samples.
#[inline(always)]
fn brackets(
    x: &[f32; BATCH],
    shift: f32,
    count: usize,
    first: f32,
    fraction: &mut [f32; BATCH],
) -> [f32; BATCH] {
    let mut base = [0.0; BATCH];
    for k in 0..BATCH {
        let (lower, f) = bracket(x[k], shift, count);
        (base[k], fraction[k]) = (lower - first, f);
    }
    base
}

/// The face velocities of one block and its halo.
pub(crate) struct FaceTiles<const D: usize, const HALO: usize> {
    axes: [HaloTile<f32, D, HALO>; D],
}

impl<const D: usize, const HALO: usize> FaceTiles<D, HALO> {
    pub fn new() -> Self {
        Self { axes: std::array::from_fn(|_| HaloTile::new(0.0)) }
    }

    pub fn load(&mut self, field: &FaceField<f32, D>, block: usize) {
        for (tile, field) in self.axes.iter_mut().zip(&field.axes) {
            tile.load(field, block);
        }
    }

    /// `other - self`.
    pub fn subtract_from(&mut self, other: &Self) {
        for (tile, other) in self.axes.iter_mut().zip(&other.axes) {
            for (value, &other) in tile.values_mut().iter_mut().zip(other.values()) {
                *value = other - *value;
            }
        }
    }

    #[inline(always)]
    pub fn velocity(&self, stencils: &Stencils<D, HALO>, k: usize) -> [f32; D] {
        self.velocity_and_gradient(stencils, k).0
    }

    #[inline(always)]
    pub fn velocity_and_gradient(&self, stencils: &Stencils<D, HALO>, k: usize) -> ([f32; D], [[f32; D]; D]) {
        let (mut velocity, mut gradient) = ([0.0; D], [[0.0; D]; D]);
        for axis in 0..D {
            let (base, fraction) = stencils.get(axis, k);
            let edge = HaloTile::<f32, D, HALO>::EDGE;
            let nodes = &self.axes[axis].values()[base..base + corner_offset::<D>((1 << D) - 1, edge) + 1];
            let mut corners = [0.0; MAX_CORNERS];
            for k in 0..1 << D {
                corners[k] = nodes[corner_offset::<D>(k, edge)];
            }
            (velocity[axis], gradient[axis]) = value_and_gradient(corners, fraction);
        }
        (velocity, gradient)
    }
}
