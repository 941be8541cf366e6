//! Cells by masks instead of one by one.
//!
//! Most blocks of most scenes are *plain*: all their faces are wholly open and lie between cells of one fluid, so that rows of numbers
//! do what elsewhere is done face by face. The result is the same to the last bit but for the order in which energies are summed.

use meniscus_core::grid::{BLOCK_EDGE, FaceField, Mask, Slot, block_len};
use meniscus_core::parallel;
use meniscus_core::simd::simd;
use meniscus_linalg::Patch;

use super::energy::Pushed;
use super::faces::{Between, Faces};
use super::{KineticEnergy, Liquid, Stored};

/// By block, whether all open fractions of all faces of its cells are 1.
pub(super) fn clear_blocks<T: Stored, const D: usize>(liquid: &Liquid<T, D>) -> Vec<bool> {
    let blocks = liquid.open.blocks();
    let is_one = |value: &T| (*value).into() == 1.0;
    let is_clear = |block: usize| {
        let last = Slot { block, local: block_len::<D>() - 1 };
        blocks.is_inside(last)
            && liquid.open.axes.iter().enumerate().all(|(axis, open)| {
                let stride = BLOCK_EDGE.pow(axis as u32);
                let first_layer = |above: usize| {
                    open.block(above).chunks_exact(BLOCK_EDGE * stride).flat_map(|chunk| &chunk[..stride])
                };
                open.block(block).iter().all(is_one)
                    && blocks.neighbour(block, axis, 1).is_some_and(|above| first_layer(above).all(is_one))
            })
    };
    parallel::map(blocks.len(), is_clear)
}

/// By block, the mobility of its faces if it is clear and all cells within it and around it are of the same fluid; else 0. `fluid` are the cells that are
/// solved for, by themselves or in tiles, and `second` is the mobility of the second fluid.
pub(super) fn mobilities<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    clear: &[bool],
    fluid: impl Fn(usize) -> Mask<D> + Sync,
    second: Option<f64>,
) -> Vec<f64> {
    let blocks = liquid.level_set.blocks();
    let of_liquid = |block: usize| Mask::from_fn(|local| liquid.level_set.block(block)[local].into() < 0.0);
    let is_whole = |block: usize, cells: &dyn Fn(usize) -> Mask<D>| {
        cells(block).is_full()
            && (0..2 * D).map(|k| (k / 2, k % 2)).all(|(axis, side)| {
                let at = (BLOCK_EDGE - 1) * (1 - side);
                let all = Mask::<D>::all().layer(axis, at);
                blocks.neighbour(block, axis, side).is_some_and(|other| cells(other).layer(axis, at) == all)
            })
    };
    let mobility = |block: usize| match second {
        _ if !clear[block] || !is_whole(block, &fluid) => 0.0,
        None => 1.0,
        Some(_) if is_whole(block, &of_liquid) => 1.0,
        Some(second) if is_whole(block, &|block| Mask::all().without(&of_liquid(block))) => second,
        Some(_) => 0.0,
    };
    parallel::map(blocks.len(), mobility)
}

impl<T: Stored, const D: usize> Faces<'_, T, D> {
    /// The cells that are unknowns, of a block or beyond the blocks.
    fn unknown_in(&self, block: Option<usize>) -> Mask<D> {
        block.map_or(Mask::EMPTY, |block| self.unknown_cells(block))
    }

    /// The unknowns of a block whose lower (`side` 0) or upper (`side` 1) neighbour along an axis is one too.
    fn joined(&self, block: usize, axis: usize, side: usize) -> Mask<D> {
        let own = self.unknown_cells(block);
        let beyond = self.unknown_in(self.blocks().neighbour(block, axis, side));
        own.and(&own.beside(axis, side, &beyond))
    }

    /// Writes the stencil of a block, and its faces towards tiles.
    pub(super) fn fill(&self, block: usize, patch: &mut Patch<D>) {
        let (unknown, plain) = (self.unknown_cells(block), self.plain_mobility(block));
        let sides = || (0..2 * D).map(|k| (k / 2, k % 2));
        if let Some(mobility) = plain
            && sides().all(|(axis, side)| self.joined(block, axis, side).is_full())
        {
            return patch.fill_faces(mobility);
        }
        for (axis, side) in sides().filter(|_| !unknown.is_empty()) {
            let joined = self.joined(block, axis, side);
            let mut alone = unknown.without(&joined);
            for (tile, cells) in self.parts().beside(self.blocks(), block, axis, side) {
                patch.touch_cells(axis, side, &unknown.and(&cells), tile);
                alone = alone.without(&cells);
            }
            // An upper face is the lower one of the next cell, unless that is in another block.
            let own = if side == 0 { joined } else { joined.and(&Mask::plane(axis, BLOCK_EDGE - 1)) };
            match plain {
                Some(mobility) => own.iter().for_each(|local| patch.set_face(axis, side, local, mobility)),
                None => {
                    own.or(&alone).iter().for_each(|local| self.fill_face(block, axis, side, local, patch));
                }
            }
        }
    }

    /// Writes one face of an unknown.
    fn fill_face(&self, block: usize, axis: usize, side: usize, local: usize, patch: &mut Patch<D>) {
        let face = self.get(axis, self.slot_of(Slot { block, local }, axis, side));
        match face.map(|face| (face.between, face.open * face.mobility)) {
            Some((Between::Cells, weight)) => patch.set_face(axis, side, local, weight),
            Some((Between::OpenAir, weight)) => patch.anchors[local] += weight,
            Some((Between::Bubble(_), _)) | None => {}
        }
    }

    /// Writes the flux out of the cells of a plain block.
    pub(super) fn plain_flux(&self, block: usize, velocity: Option<&FaceField<T, D>>, flux: &mut [f64]) {
        let n = block_len::<D>();
        flux.fill(0.0);
        for (axis, field) in velocity.iter().flat_map(|velocity| velocity.axes.iter().enumerate()) {
            let mut upper = [0.0; 512];
            let above = self.blocks().neighbour(block, axis, 1).expect("a plain block has neighbours");
            let (own, above) = (field.block(block), field.block(above));
            simd(
                #[inline(always)]
                || {
                    raise(axis, own, above, &mut upper[..n]);
                    for ((flux, upper), lower) in flux.iter_mut().zip(&upper).zip(own) {
                        *flux += upper - (*lower).into();
                    }
                },
            );
        }
        let unknown = self.unknown_cells(block);
        Mask::all().without(&unknown).fill(0.0, flux);
        if let Some(divergence) = self.liquid().divergence {
            for local in unknown.iter() {
                let rate = divergence(Slot { block, local });
                if rate != 0.0 {
                    flux[local] -= rate * self.liquid().grid.dx;
                }
            }
        }
    }

    /// Subtracts the gradient of the scaled pressure from the lower faces along `axis` of a plain block.
    pub(super) fn subtract_plain_gradient(
        &self,
        axis: usize,
        block: usize,
        scaled_pressure: &[f64],
        values: &mut [T],
    ) -> Pushed<D> {
        let (n, mobility) = (block_len::<D>(), self.plain_mobility(block).expect("a plain block"));
        let below = self.blocks().neighbour(block, axis, 0).expect("a plain block has neighbours");
        let [own, below] = [block, below].map(|block| &scaled_pressure[block * n..(block + 1) * n]);
        let joined = self.joined(block, axis, 0);
        let mut lower = [0.0; 512];
        let mut sums = [[0.0; 8]; 5];
        simd(
            #[inline(always)]
            || {
                lower_values(axis, own, below, &mut lower[..n]);
                for (first, bits) in joined.rows() {
                    for i in 0..8 {
                        let at = first + i;
                        let before: f64 = values[at].into();
                        let moved = T::nearest(before - (own[at] - lower[at]) * mobility);
                        let is_joined = bits >> i & 1 == 1;
                        values[at] = if is_joined { moved } else { values[at] };
                        let (before, after) = if is_joined { (before, moved.into()) } else { (0.0, 0.0) };
                        sums[0][i] += before * before;
                        sums[1][i] += after * after;
                        sums[2][i] += (after - before) * (after - before);
                        sums[3][i] += before;
                        sums[4][i] += after;
                    }
                }
            },
        );
        let [before, after, change, momentum, momentum_after] = sums.map(|lanes| lanes.iter().sum());
        let mut pushed = Pushed::NOTHING;
        pushed.energy = KineticEnergy { before, after, change }.scaled(1.0 / mobility);
        pushed.inertia.mass[axis] = joined.count() as f64 / mobility;
        pushed.inertia.momentum[axis] = momentum / mobility;
        pushed.momentum_after[axis] = momentum_after / mobility;
        pushed
    }
}

/// By cell of a block, the value at the next cell up an axis.
#[inline(always)]
fn raise<T: Stored>(axis: usize, own: &[T], above: &[T], upper: &mut [f64]) {
    let stride = BLOCK_EDGE.pow(axis as u32);
    for first in (0..own.len()).step_by(BLOCK_EDGE * stride) {
        let (next, end) = (first + stride, first + BLOCK_EDGE * stride);
        let inner = own[next..end].iter().chain(&above[first..next]);
        upper[first..end].iter_mut().zip(inner).for_each(|(upper, value)| *upper = (*value).into());
    }
}

/// By cell of a block, the value at the next cell down an axis.
#[inline(always)]
fn lower_values(axis: usize, own: &[f64], below: &[f64], lower: &mut [f64]) {
    let stride = BLOCK_EDGE.pow(axis as u32);
    for first in (0..own.len()).step_by(BLOCK_EDGE * stride) {
        let (next, last) = (first + stride, first + (BLOCK_EDGE - 1) * stride);
        lower[first..next].copy_from_slice(&below[last..last + stride]);
        lower[next..last + stride].copy_from_slice(&own[first..last]);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::{Blocks, Field, Grid};

    use super::super::bodies::Couplings;
    use super::super::{AffineTiles, NO_TILE, affine, assemble};
    use super::*;

    const CELLS: [usize; 2] = [56, 64];

    fn noise(seed: usize) -> f64 {
        (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_shr(40) as f64 / f64::from(1 << 24) - 0.5
    }

    /// What a way of working makes of a pool with a second fluid or air above it, a solid ball in it, and two tiles side by side.
    fn compare(second_density_ratio: Option<f64>) {
        let grid = Grid::<2> { origin: [0.0; 2], dx: 0.1, cells: CELLS };
        let blocks = Arc::new(Blocks::all(CELLS));
        let level_set =
            Field::from_fn(blocks.clone(), 1.0, |c| 0.1 * (c[1] as f64 - 51.3) + 0.02 * c[0] as f64);
        let open = FaceField::from_fn(blocks.clone(), 0.0, |axis, c: [usize; 2]| {
            let inside = c[axis] > 0 && (0..2).all(|a| c[a] < CELLS[a]);
            let from_ball = (c[0] as f64 - 50.0).hypot(c[1] as f64 - 10.0) - 5.0;
            if inside { from_ball.clamp(0.0, 1.0) } else { 0.0 }
        });
        let tile = |c: [usize; 2]| match c {
            [12..=26, 10..30] => 0,
            [28..36, 10..30] => 1,
            _ => NO_TILE,
        };
        let of_slot = (0..blocks.slots()).map(|i| tile(blocks.cell(Slot::from_flat::<2>(i)))).collect();
        let tiles = AffineTiles { of_slot, count: 2 };
        let liquid = Liquid {
            grid: &grid,
            level_set: &level_set,
            open: &open,
            solid_velocity: None,
            bubbles: None,
            bodies: &[],
            touching: None,
            tiles: Some(&tiles),
            second_density_ratio,
            separates: None,
            divergence: Some(&|slot| if slot.local % 5 == 0 { noise(slot.local) } else { 0.0 }),
            surface_pressure: None,
            weight_outside: [0.0; 2],
        };
        let velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, c: [usize; 2]| {
            noise(7 * c[0] + 1000 * c[1] + 31 * axis)
        });
        let pressure: Vec<f64> = (0..blocks.slots()).map(|i| noise(i + 17)).collect();
        let outcome = |faces: &Faces<f64, 2>| {
            let bodies = Couplings::new(faces, 1000.0);
            let mut moved = velocity.clone();
            let carriers = affine::Carriers::fit(faces, &mut moved);
            let operator = assemble(faces, &bodies, &carriers).unwrap();
            let rows: Vec<_> = (0..operator.len()).map(|i| operator.row(i)).collect();
            let mut flux = vec![0.0; blocks.slots()];
            faces.net_flux(&velocity, &mut flux);
            let energy = faces.subtract_gradient(&pressure, 0.5, &mut moved);
            let moved = moved.axes.map(|field| field.values().to_vec());
            let valid = faces.valid().axes.map(|field| field.values().to_vec());
            (rows, flux, energy, moved, valid, faces.liquid_cells())
        };
        let plain = Faces::new(&liquid, 1e-3).unwrap();
        let count = (0..blocks.len()).filter(|&block| plain.plain_mobility(block).is_some()).count();
        assert!((16..=30).contains(&count), "{count} of 63 blocks");
        let (fast, slow) = (outcome(&plain), outcome(&plain.face_by_face()));
        assert!(
            fast.0 == slow.0 && fast.1 == slow.1 && fast.3 == slow.3 && fast.4 == slow.4 && fast.5 == slow.5
        );
        let energies = |Pushed { energy, .. }: Pushed<2>| [energy.before, energy.after, energy.change];
        for (a, b) in energies(fast.2).into_iter().zip(energies(slow.2)) {
            assert!((a - b).abs() < 1e-12 * b, "{a} {b}");
        }
        // Sums of both signs.
        let momenta = |Pushed { inertia, momentum_after, .. }: Pushed<2>| {
            [inertia.mass, inertia.momentum, momentum_after].concat()
        };
        for (a, b) in momenta(fast.2).into_iter().zip(momenta(slow.2)) {
            assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn plain_blocks_are_as_face_by_face() {
        compare(None);
        compare(Some(0.3));
    }
}
