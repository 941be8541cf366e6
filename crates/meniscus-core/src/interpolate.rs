//! Multilinear interpolation of cell and face fields.
//!
//! Points are in *cell units*: cell `c` covers `[c, c + 1)` along each axis, its centre is at
//! `c + 1/2`, and its lower face along axis `a` at `c` in that axis. Beyond the outermost samples of
//! the domain a field continues as a constant (the point is clamped to the box of the samples), so
//! nothing outside the domain is ever read. Inactive blocks inside the domain count as the background.

use crate::grid::{BLOCK_EDGE, FaceField, Field, Slot, local_index};

/// The most corners that a stencil has: 2^D with D at most 3.
pub const MAX_CORNERS: usize = 8;

/// The 2^D samples around a point, and the point's place among them.
///
/// Corner `k` is the sample `base + (bits of k)`: bit `a` moves one up along axis `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil<const D: usize> {
    /// The lowest sample.
    pub base: [i32; D],
    /// The place between `base` (0) and the next sample (1) along each axis.
    pub fraction: [f32; D],
}

/// The floats from 2^23 on are the integers: adding it rounds, and leaves the integer in the bits.
const INTEGERS: f32 = (1 << 23) as f32;

/// An integer of at most 2^22 in size, without the checks of a saturating cast.
#[inline(always)]
pub(crate) fn to_integer(x: f32) -> i32 {
    (x + INTEGERS).to_bits() as i32 - INTEGERS.to_bits() as i32
}

/// Which samples a coordinate falls between, and where between them: the samples lie at
/// `shift + 0, 1, .. count - 1`. A coordinate that is no number falls on the first.
///
/// Written without branches, calls or casts, so that loops over it become vector code.
#[inline(always)]
pub(crate) fn bracket(x: f32, shift: f32, count: usize) -> (f32, f32) {
    let last = (count - 1) as f32;
    let y = x - shift;
    let y = if y > 0.0 { y } else { 0.0 };
    let y = if y < last { y } else { last };
    let nearest = (y + INTEGERS) - INTEGERS;
    let floor = if nearest > y { nearest - 1.0 } else { nearest };
    let highest = if last > 1.0 { last - 1.0 } else { 0.0 };
    let base = if floor < highest { floor } else { highest };
    (base, y - base)
}

impl<const D: usize> Stencil<D> {
    /// The cell centres around a point.
    #[inline]
    pub fn of_cells(cells: [usize; D], point: [f32; D]) -> Self {
        Self::from_brackets(|a| bracket(point[a], 0.5, cells[a]))
    }

    /// The centres of the faces normal to `axis` around a point.
    #[inline]
    pub fn of_faces(cells: [usize; D], axis: usize, point: [f32; D]) -> Self {
        Self::from_brackets(|a| {
            if a == axis { bracket(point[a], 0.0, cells[a] + 1) } else { bracket(point[a], 0.5, cells[a]) }
        })
    }

    #[inline]
    fn from_brackets(bracket: impl Fn(usize) -> (f32, f32)) -> Self {
        let (mut base, mut fraction) = ([0; D], [0.0; D]);
        for a in 0..D {
            let (lower, f) = bracket(a);
            (base[a], fraction[a]) = (to_integer(lower), f);
        }
        Self { base, fraction }
    }

    /// The weight of a corner; the weights sum to one.
    #[inline]
    pub fn weight(&self, corner: usize) -> f32 {
        let mut weight = 1.0;
        for a in 0..D {
            weight *= self.weight_along(corner, a);
        }
        weight
    }

    #[inline]
    fn weight_along(&self, corner: usize, axis: usize) -> f32 {
        if corner >> axis & 1 == 1 { self.fraction[axis] } else { 1.0 - self.fraction[axis] }
    }

    /// The interpolated value, from the values at the corners.
    #[inline]
    pub fn value(&self, corners: [f32; MAX_CORNERS]) -> f32 {
        value_and_gradient(corners, self.fraction).0
    }

    /// The gradient of the interpolated value, per cell, from the values at the corners.
    #[inline]
    pub fn gradient(&self, corners: [f32; MAX_CORNERS]) -> [f32; D] {
        value_and_gradient(corners, self.fraction).1
    }

    /// The values of a field at the corners; those past 2^D are zero.
    #[inline]
    pub fn gather(&self, field: &Field<f32, D>) -> [f32; MAX_CORNERS] {
        gather(field, self.base)
    }
}

/// The values of a field at the 2^D samples from `base` on.
pub(crate) fn gather<const D: usize>(field: &Field<f32, D>, base: [i32; D]) -> [f32; MAX_CORNERS] {
    let mut corners = [0.0; MAX_CORNERS];
    let inner = base.map(|b| b as usize % BLOCK_EDGE);
    if inner.iter().all(|&c| c < BLOCK_EDGE - 1) {
        // All corners lie in one block.
        let block = field.blocks().find(base.map(|b| b as usize / BLOCK_EDGE));
        for k in 0..1 << D {
            corners[k] = block.map_or(field.background(), |block| {
                field[Slot { block, local: local_index(inner) + corner_offset::<D>(k, BLOCK_EDGE) }]
            });
        }
    } else {
        for k in 0..1 << D {
            corners[k] = field.get(std::array::from_fn(|a| i64::from(base[a]) + (k >> a & 1) as i64));
        }
    }
    corners
}

/// The multilinear interpolant of the values at the corners and its gradient, per cell.
#[inline(always)]
pub fn value_and_gradient<const D: usize>(
    mut values: [f32; MAX_CORNERS],
    fraction: [f32; D],
) -> (f32, [f32; D]) {
    let mut slopes = [[0.0; MAX_CORNERS / 2]; D];
    // The highest axis first: each step halves the corners, those with the axis's bit set folding
    // onto those without, and the slopes along higher axes with them.
    for axis in (0..D).rev() {
        let (half, f) = (1 << axis, fraction[axis]);
        for k in 0..half {
            let rise = values[k + half] - values[k];
            values[k] += f * rise;
            slopes[axis][k] = rise;
            for higher in axis + 1..D {
                slopes[higher][k] += f * (slopes[higher][k + half] - slopes[higher][k]);
            }
        }
    }
    let mut gradient = [0.0; D];
    for axis in 0..D {
        gradient[axis] = slopes[axis][0];
    }
    (values[0], gradient)
}

/// The distance in memory from corner 0 to corner `k` in an array with `edge` values along each axis.
#[inline]
pub(crate) fn corner_offset<const D: usize>(k: usize, edge: usize) -> usize {
    let (mut offset, mut stride) = (0, 1);
    for a in 0..D {
        offset += (k >> a & 1) * stride;
        stride *= edge;
    }
    offset
}

/// A cell field at a point.
#[inline]
pub fn interpolate<const D: usize>(field: &Field<f32, D>, point: [f32; D]) -> f32 {
    let stencil = Stencil::of_cells(field.blocks().cells(), point);
    stencil.value(stencil.gather(field))
}

/// The gradient of the multilinear interpolant of a cell field at a point, per cell. It jumps where
/// the point crosses the plane of a sample; beyond the outermost samples it is that at the boundary.
#[inline]
pub fn interpolate_gradient<const D: usize>(field: &Field<f32, D>, point: [f32; D]) -> [f32; D] {
    let stencil = Stencil::of_cells(field.blocks().cells(), point);
    stencil.gradient(stencil.gather(field))
}

/// A cell field at a point by cubic (Catmull-Rom) interpolation along each axis: of third order, where
/// [`interpolate`] is of second. It may overshoot, but by no more than the spread of the values around the
/// point. Beyond the outermost samples the field continues as a constant.
pub fn interpolate_cubic<const D: usize>(field: &Field<f32, D>, point: [f32; D]) -> f32 {
    let cells = field.blocks().cells();
    let Stencil { base, fraction } = Stencil::of_cells(cells, point);
    let weights: [[f32; 4]; D] = fraction.map(cubic_weights);
    let (mut sum, mut lowest, mut highest) = (0.0, f32::INFINITY, f32::NEG_INFINITY);
    for k in 0..4usize.pow(D as u32) {
        let (mut weight, mut inner, mut cell) = (1.0, true, [0; D]);
        for a in 0..D {
            let step = k >> (2 * a) & 3;
            weight *= weights[a][step];
            inner &= step == 1 || step == 2;
            cell[a] = (i64::from(base[a]) + step as i64 - 1).clamp(0, cells[a] as i64 - 1);
        }
        let value = field.get(cell);
        sum += weight * value;
        if inner {
            (lowest, highest) = (lowest.min(value), highest.max(value));
        }
    }
    let spread = highest - lowest;
    sum.clamp(lowest - spread, highest + spread)
}

/// The weights of the samples at -1, 0, 1 and 2.
fn cubic_weights(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        0.5 * (-t3 + 2.0 * t2 - t),
        0.5 * (3.0 * t3 - 5.0 * t2 + 2.0),
        0.5 * (-3.0 * t3 + 4.0 * t2 + t),
        0.5 * (t3 - t2),
    ]
}

/// One component of a face field at a point.
#[inline]
pub fn interpolate_face<const D: usize>(field: &FaceField<f32, D>, axis: usize, point: [f32; D]) -> f32 {
    let stencil = Stencil::of_faces(field.blocks().cells(), axis, point);
    stencil.value(stencil.gather(&field.axes[axis]))
}

/// All components of a face field at a point.
#[inline]
pub fn interpolate_faces<const D: usize>(field: &FaceField<f32, D>, point: [f32; D]) -> [f32; D] {
    std::array::from_fn(|axis| interpolate_face(field, axis, point))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::grid::Blocks;

    /// An affine function of position, in numbers that f32 adds exactly.
    fn affine<const D: usize>(x: [f32; D]) -> f32 {
        (0..D).map(|a| (a as f32 + 1.0) * 0.25 * x[a]).sum::<f32>() - 2.0
    }

    /// The definition, by look-ups alone.
    fn reference<const D: usize>(field: &Field<f32, D>, shift: [f32; D], point: [f32; D]) -> f64 {
        (0..1usize << D)
            .map(|k| {
                let mut weight = 1.0;
                let cell = std::array::from_fn(|a| {
                    let y = f64::from(point[a] - shift[a]);
                    let f = y - y.floor();
                    weight *= if k >> a & 1 == 1 { f } else { 1.0 - f };
                    y.floor() as i64 + (k >> a & 1) as i64
                });
                weight * f64::from(field.get(cell))
            })
            .sum()
    }

    fn check_affine<const D: usize>(cells: [usize; D], points: Vec<[f32; D]>) {
        let blocks = Arc::new(Blocks::all(cells));
        let field = Field::from_fn(blocks.clone(), 0.0, |c| affine(c.map(|c| c as f32 + 0.5)));
        let faces = FaceField::from_fn(blocks, 0.0, |axis, c| {
            affine::<D>(std::array::from_fn(|a| c[a] as f32 + if a == axis { 0.0 } else { 0.5 }))
        });
        for p in points {
            let inside: [f32; D] = std::array::from_fn(|a| p[a].clamp(0.5, cells[a] as f32 - 0.5));
            assert!((interpolate(&field, p) - affine(inside)).abs() < 2e-5);
            let deep = (0..D).all(|a| p[a] > 1.5 && p[a] < cells[a] as f32 - 1.5);
            assert!(!deep || (interpolate_cubic(&field, p) - affine(inside)).abs() < 5e-5);
            let gradient = interpolate_gradient(&field, p);
            for axis in 0..D {
                assert!((gradient[axis] - (axis as f32 + 1.0) * 0.25).abs() < 2e-5);
                let mut q = inside;
                q[axis] = p[axis].clamp(0.0, cells[axis] as f32);
                assert!((interpolate_face(&faces, axis, p) - affine(q)).abs() < 2e-5);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn affine_fields_are_reproduced_and_continued_as_constants(
            two in prop::collection::vec(prop::array::uniform2(-2.0f32..27.0), 20),
            three in prop::collection::vec(prop::array::uniform3(-2.0f32..19.0), 20),
        ) {
            check_affine([24, 17], two);
            check_affine([16, 17, 9], three);
        }

        #[test]
        fn inactive_blocks_count_as_the_background(
            mask in any::<u32>(),
            points in prop::collection::vec(prop::array::uniform3(0.5f32..14.4), 20),
        ) {
            let blocks = Arc::new(Blocks::new([15; 3], |c| mask >> (c[0] + 2 * c[1] + 4 * c[2]) & 1 == 1));
            let field = Field::from_fn(blocks, 7.5, |c| (c[0] as f32 * 1.7 + (c[1] * c[2]) as f32).sin());
            for p in points {
                let expected = reference(&field, [0.5; 3], p);
                prop_assert!((f64::from(interpolate(&field, p)) - expected).abs() < 2e-5);
            }
        }
    }

    #[test]
    fn a_domain_of_one_cell_is_constant() {
        let mut field = Field::new(Arc::new(Blocks::all([1, 1])), 5.0);
        field.set([0, 0], 2.0);
        assert_eq!(interpolate(&field, [0.9, -3.0]), 2.0);
    }

    #[test]
    fn weights_sum_to_one_and_equal_the_nested_interpolation() {
        let stencil = Stencil::<3>::of_cells([20; 3], [3.3, 7.9, 11.25]);
        let corners = [1.0, -2.0, 0.5, 4.0, 3.0, 8.0, -1.0, 2.0];
        let sum: f32 = (0..8).map(|k| stencil.weight(k)).sum();
        let value: f32 = (0..8).map(|k| stencil.weight(k) * corners[k]).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        assert!((value - stencil.value(corners)).abs() < 1e-5);
    }
}
