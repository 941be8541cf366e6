//! The rigid motions of bodies of liquid.
//!
//! They are what viscosity does not resist: nothing but mass holds them. The equations of one axis by themselves are stiff
//! against a rotation, so a preconditioner made of them alone would leave it to the iteration to find every body that turns.

use meniscus_core::components::{BlockCells, Components, Partition};
use meniscus_core::grid::{BLOCK_EDGE, FaceField, Field, Mask, Slot, block_len, cell_in_block};
use meniscus_core::parallel;

use super::system::System;
use super::volume::Corners;
use crate::projection::Stored;
use meniscus_rigid::{Matrix, PAIRS, SIZE, Twist, dot, inverse, motion_count, motions, pair_count, product};

const NO_BODY: u32 = u32::MAX;

/// The rigid motions of every body, a connected set of cells that hold liquid.
pub(super) struct RigidMotions<const D: usize> {
    /// By entry of a vector: the body of an unknown face.
    body: Vec<u32>,
    /// By body: the point that rotations are about, in cells.
    centres: Vec<[f64; D]>,
    /// By body: the inverse of the matrix of what holds its motions.
    inverses: Vec<Matrix>,
}

impl<const D: usize> RigidMotions<D> {
    pub(super) fn new<T: Stored>(
        system: &System<D>,
        corners: &Field<Corners, D>,
        open: &FaceField<T, D>,
    ) -> Self {
        let (body, count) = bodies_of_faces(system, &find_bodies(corners, open));
        let mut rigid = Self { body, centres: vec![[0.0; D]; count], inverses: Vec::new() };
        let moments = rigid.sums(system, |_, held, _, x| {
            let mut moments = [0.0; SIZE];
            moments[0] = held;
            (0..D).for_each(|a| moments[1 + a] = held * x[a]);
            moments
        });
        for (centre, moments) in rigid.centres.iter_mut().zip(&moments) {
            *centre = std::array::from_fn(|a| moments[1 + a] / moments[0]);
        }
        let mut matrices = vec![[[0.0; SIZE]; SIZE]; count];
        for row in 0..motion_count::<D>() {
            let rows = rigid.sums(system, |_, held, axis, x| {
                let motions = motions(axis, x);
                motions.map(|m| held * motions[row] * m)
            });
            matrices.iter_mut().zip(rows).for_each(|(matrix, values)| matrix[row] = values);
        }
        rigid.inverses = matrices.into_iter().map(inverse).collect();
        rigid
    }

    /// Adds to `z` the motion that `r` would cause if each body were rigid: P (P^T A P)^-1 P^T r, where the columns of P are the
    /// rigid motions. No sample is strained by one, so P^T A P is a small matrix for each body, of its masses
    /// and of what ties it to walls.
    pub(super) fn add(&self, system: &System<D>, r: &[f64], z: &mut [f64]) {
        let forces = self.sums(system, |entry, _, axis, x| motions(axis, x).map(|m| m * r[entry]));
        let bodies = forces.iter().zip(&self.inverses);
        let velocities: Vec<Twist> = bodies.map(|(force, inverse)| product(inverse, force)).collect();
        parallel::for_chunks(z, D * block_len::<D>(), |block, z| {
            self.for_each_face(system, block, |entry, _, axis, body, x| {
                let motions = motions(axis, x);
                z[entry % (D * block_len::<D>())] += dot(&motions, &velocities[body]);
            });
        });
    }

    /// The sums over the faces of each body of `value(entry, held, axis, position from the centre)`, in the order of the blocks.
    pub(super) fn sums(
        &self,
        system: &System<D>,
        value: impl Fn(usize, f64, usize, [f64; D]) -> Twist + Sync,
    ) -> Vec<Twist> {
        let of_block = |block: usize| {
            let mut sums: Vec<(usize, Twist)> = Vec::new();
            self.for_each_face(system, block, |entry, held, axis, body, x| {
                let value = value(entry, held, axis, x);
                match sums.iter_mut().find(|(other, _)| *other == body) {
                    Some((_, sum)) => sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += value),
                    None => sums.push((body, value)),
                }
            });
            sums
        };
        let parts = parallel::map(system.blocks.len(), of_block);
        let mut sums = vec![[0.0; SIZE]; self.centres.len()];
        for (body, part) in parts.into_iter().flatten() {
            sums[body].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        sums
    }

    /// Calls `f(entry, held, axis, body, position from its centre)` for the faces of a block that belong to a body.
    #[inline]
    fn for_each_face(
        &self,
        system: &System<D>,
        block: usize,
        mut f: impl FnMut(usize, f64, usize, usize, [f64; D]),
    ) {
        let Some(weights) = &system.weights[block] else { return };
        let n = block_len::<D>();
        let first = system.blocks.coord(block).map(|c| c * BLOCK_EDGE);
        for (index, &held) in weights.held.iter().enumerate() {
            let entry = block * D * n + index;
            if held == 0.0 || self.body[entry] == NO_BODY {
                continue;
            }
            let (axis, inner, body) = (index / n, cell_in_block::<D>(index % n), self.body[entry] as usize);
            let centre = &self.centres[body];
            let position =
                |a: usize| (first[a] + inner[a]) as f64 + if a == axis { 0.0 } else { 0.5 } - centre[a];
            f(entry, held, axis, body, std::array::from_fn(position));
        }
    }
}

/// Bodies hang together through open faces between cells that hold liquid.
fn find_bodies<T: Stored, const D: usize>(
    corners: &Field<Corners, D>,
    open: &FaceField<T, D>,
) -> Components<D> {
    let blocks = corners.blocks();
    Components::find(blocks.cells(), |coord| {
        let Some(block) = blocks.find(coord) else { return BlockCells::None };
        let is_open = |axis: usize, local: usize| open.axes[axis][Slot { block, local }].into() > 0.0;
        let wet = Mask::from_fn(|local| corners.block(block)[local] != [0.0; 8]);
        BlockCells::in_parts(wet, &std::array::from_fn(|axis| Mask::from_fn(|local| is_open(axis, local))))
    })
}

/// The body of every unknown face, and the number of bodies. Bodies that a shear rate ties together, because they touch at an edge, are one:
/// else a rigid motion of one of them would strain that sample.
fn bodies_of_faces<const D: usize>(system: &System<D>, cells: &Components<D>) -> (Vec<u32>, usize) {
    let n = block_len::<D>();
    let mut body = vec![NO_BODY; system.len()];
    parallel::for_chunks(&mut body, n, |chunk, body| {
        let (block, axis) = (chunk / D, chunk % D);
        let Some(weights) = &system.weights[block] else { return };
        for (local, body) in
            body.iter_mut().enumerate().filter(|(local, _)| weights.held[axis * n + local] > 0.0)
        {
            *body = body_of_face(system, cells, axis, Slot { block, local }).unwrap_or(NO_BODY);
        }
    });
    if cells.len() <= 1 {
        return (body, cells.len());
    }
    let ties = |block: usize| -> Vec<(u32, u32)> {
        let Some(weights) = &system.weights[block] else { return Vec::new() };
        let mut ties = Vec::new();
        for (pair, &(a, b)) in PAIRS.iter().enumerate().take(pair_count::<D>()) {
            for slot in
                (0..n).map(|local| Slot { block, local }).filter(|s| weights.shear_at(pair, s.local) > 0.0)
            {
                let below = |axis| system.blocks.step(slot, axis, 0);
                let faces = [(a, Some(slot)), (a, below(b)), (b, Some(slot)), (b, below(a))];
                let of_face = |(axis, slot): (usize, Option<Slot>)| {
                    slot.map_or(NO_BODY, |slot| body[(slot.block * D + axis) * n + slot.local])
                };
                let found = faces.map(of_face);
                ties.extend(
                    found[1..].iter().map(|&other| (found[0], other)).filter(|(one, other)| one != other),
                );
            }
        }
        ties
    };
    let ties = parallel::map(system.blocks.len(), ties);
    let mut partition = Partition::new(cells.len());
    for (one, other) in ties.into_iter().flatten().filter(|tie| tie.0 != NO_BODY && tie.1 != NO_BODY) {
        partition.join(one as usize, other as usize);
    }
    let (classes, count) = partition.classes();
    parallel::update(&mut body, |body| {
        if *body != NO_BODY {
            *body = classes[*body as usize];
        }
    });
    (body, count)
}

/// The body of a cell of the face, or else of a cell at an edge of the face that liquid reaches.
fn body_of_face<const D: usize>(
    system: &System<D>,
    cells: &Components<D>,
    axis: usize,
    slot: Slot,
) -> Option<u32> {
    let blocks = &system.blocks;
    let of_cell = |slot: Slot| cells.of_cell(blocks.coord(slot.block), cell_in_block::<D>(slot.local));
    let of_either = |upper: Slot| of_cell(upper).or_else(|| blocks.step(upper, axis, 0).and_then(of_cell));
    let beside = (0..D).filter(|&other| other != axis).flat_map(|other| [(other, 0), (other, 1)]);
    let mut candidates = beside.filter_map(|(other, side)| blocks.step(slot, other, side));
    of_either(slot).or_else(|| candidates.find_map(of_either)).map(|body| body as u32)
}
