//! The cells at the surface, each by itself.
//!
//! Where little liquid is left, a few faces may hang together by one shear rate alone, and turn about it as on a hinge. Each axis by itself
//! does not see this, and no rigid motion of a whole body is near it; the system of the faces of one cell is.

use meniscus_core::grid::{Field, Slot, block_len};
use meniscus_core::parallel;

use super::system::System;
use super::volume::Corners;
use meniscus_rigid::{Matrix, PAIRS, SIZE, inverse, pair_count};

/// The weight of the corrections: a face takes part in two cells, so that with one half they are a mean.
const SHARE: f64 = 0.5;

/// No face.
const NONE: u32 = u32::MAX;

/// Cells that are not full of liquid.
pub(super) struct SurfaceCells {
    cells: Vec<SurfaceCell>,
}

struct SurfaceCell {
    /// The entries of its lower faces by axis, then of its upper ones, where they are unknowns.
    faces: [u32; SIZE],
    inverse: [[f32; SIZE]; SIZE],
}

impl SurfaceCells {
    pub(super) fn new<const D: usize>(system: &System<D>, corners: &Field<Corners, D>) -> Self {
        let diagonal = system.diagonal();
        let of_block = |block: usize| -> Vec<SurfaceCell> {
            let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
            let is_full = |slot: &Slot| corners[*slot][..1 << D].iter().all(|&wet| wet == 1.0);
            slots
                .filter(|slot| !is_full(slot))
                .filter_map(|slot| surface_cell(system, &diagonal, slot))
                .collect()
        };
        let cells = parallel::map(system.blocks.len(), of_block);
        Self { cells: cells.into_iter().flatten().collect() }
    }

    /// Adds to `z` the solutions for the faces of each cell, all others at rest.
    pub(super) fn add(&self, r: &[f64], z: &mut [f64]) {
        let solve = |k: usize| {
            let cell = &self.cells[k];
            let r = cell.faces.map(|face| if face == NONE { 0.0 } else { r[face as usize] });
            cell.inverse.map(|row| row.iter().zip(r).map(|(&i, r)| f64::from(i) * r).sum::<f64>())
        };
        let solutions: Vec<[f64; SIZE]> = parallel::map_each(self.cells.len(), solve);
        for (cell, solution) in self.cells.iter().zip(&solutions) {
            for (&face, x) in cell.faces.iter().zip(solution).filter(|(face, _)| **face != NONE) {
                z[face as usize] += SHARE * x;
            }
        }
    }
}

/// A cell, if two of its faces are unknowns.
fn surface_cell<const D: usize>(system: &System<D>, diagonal: &[f64], slot: Slot) -> Option<SurfaceCell> {
    let blocks = &system.blocks;
    let weights = |slot: Slot| system.weights[slot.block].as_ref();
    let mut faces = [NONE; SIZE];
    let mut matrix: Matrix = [[0.0; SIZE]; SIZE];
    for axis in 0..D {
        for (side, face) in [(0, Some(slot)), (1, blocks.step(slot, axis, 1))] {
            let Some(face) = face else { continue };
            let entry = (face.block * D + axis) * block_len::<D>() + face.local;
            if diagonal[entry] > 0.0 {
                faces[axis + side * D] = entry as u32;
                matrix[axis + side * D][axis + side * D] = diagonal[entry];
            }
        }
        let normal = weights(slot).map_or(0.0, |weights| weights.normal_at(axis, slot.local));
        (matrix[axis][axis + D], matrix[axis + D][axis]) = (-f64::from(normal), -f64::from(normal));
    }
    if faces.iter().filter(|&&face| face != NONE).count() < 2 {
        return None;
    }
    for (pair, &(a, b)) in PAIRS.iter().enumerate().take(pair_count::<D>()) {
        for (side_a, side_b) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let step =
                |slot: Slot, axis, side| if side == 0 { Some(slot) } else { blocks.step(slot, axis, 1) };
            let Some(edge) = step(slot, a, side_a).and_then(|slot| step(slot, b, side_b)) else { continue };
            let Some(weights) = weights(edge) else { continue };
            // The face along one axis lies above the edge along the other, or below.
            let sign = if side_a == side_b { 1.0 } else { -1.0 };
            let product = sign * f64::from(weights.shear_at(pair, edge.local));
            let (i, j) = (a + side_a * D, b + side_b * D);
            (matrix[i][j], matrix[j][i]) = (product, product);
        }
    }
    Some(SurfaceCell { faces, inverse: inverse(matrix).map(|row| row.map(|value| value as f32)) })
}
