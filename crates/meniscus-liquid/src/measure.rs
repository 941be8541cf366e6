//! What there is: volumes and cells.

use meniscus_core::fractions::cell_open_fraction;
use meniscus_core::grid::{BLOCK_EDGE, Field, Slot, Tile, block_len, cell_in_block};
use rayon::prelude::*;

use crate::boundary::Boundary;

/// The volume of the liquid in cells: that within the zero level set of the multilinear interpolant, less
/// what solids take of its cells.
pub fn liquid_volume<const D: usize>(phi: &Field<f32, D>, boundary: &Boundary<D>) -> f64 {
    let blocks = phi.blocks();
    let of_block = |tile: &mut Tile<f32, D, 1>, block: usize| {
        if phi.block(block).iter().all(|&v| v > 1.0) {
            return 0.0;
        }
        load_clamped(phi, block, tile);
        let mut sum = 0.0;
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            let cell = blocks.cell(slot);
            if (0..D).all(|a| cell[a] < blocks.cells()[a]) {
                let fraction = liquid_fraction(tile, cell_in_block::<D>(local));
                if fraction > 0.0 {
                    sum += fraction * boundary.cell_open_fraction(slot);
                }
            }
        }
        sum
    };
    let sums: Vec<f64> = (0..blocks.len()).into_par_iter().map_init(|| Tile::new(0.0), of_block).collect();
    sums.iter().sum()
}

/// Loads a block and its halo; cells outside the domain take the value of the nearest one inside.
fn load_clamped<const D: usize>(phi: &Field<f32, D>, block: usize, tile: &mut Tile<f32, D, 1>) {
    tile.load(phi, block);
    let (coord, cells) = (phi.blocks().coord(block), phi.blocks().cells());
    for axis in 0..D {
        let edge = Tile::<f32, D, 1>::EDGE;
        // The tile's cells along the axis are those of the domain from `first` to before `end`.
        let first = usize::from(coord[axis] == 0);
        let end = (cells[axis] + 1 - coord[axis] * BLOCK_EDGE).min(edge);
        let stride = Tile::<f32, D, 1>::stride(axis);
        if first == 0 && end == edge {
            continue;
        }
        for index in 0..Tile::<f32, D, 1>::LEN {
            let c = index / stride % edge;
            let nearest = c.clamp(first, end.max(first + 1) - 1);
            tile.values_mut()[index] = tile.values()[index + nearest * stride - c * stride];
        }
    }
}

/// The part of a cell where the multilinear interpolant of cell values is negative. The interpolant is linear
/// along each axis between cell centres, so the cell is cut at its centre into 2^D parts.
fn liquid_fraction<const D: usize>(tile: &Tile<f32, D, 1>, inner: [usize; D]) -> f64 {
    let centre = Tile::<f32, D, 1>::index(inner.map(|c| c + 1));
    let values = tile.values();
    let own = values[centre];
    // A distance of one (the half-diagonal of a cell is less) leaves nothing of the other sign.
    if own.abs() >= 1.0 {
        return if own < 0.0 { 1.0 } else { 0.0 };
    }
    let part = |k: usize| {
        let mut corners = [0.0; 8];
        for (index, corner) in corners.iter_mut().enumerate().take(1 << D) {
            // The corner lies half-way to the neighbours along the axes whose bits are set.
            let mut sum = 0.0;
            for subset in 0..1usize << D {
                let mut at = centre;
                for a in 0..D {
                    if subset >> a & 1 == 1 && index >> a & 1 == 1 {
                        let stride = Tile::<f32, D, 1>::stride(a);
                        at = if k >> a & 1 == 1 { at + stride } else { at - stride };
                    }
                }
                sum += f64::from(values[at]);
            }
            *corner = -sum / f64::from(1u32 << D);
        }
        cell_open_fraction::<D>(&corners[..1 << D])
    };
    (0..1 << D).map(part).sum::<f64>() / f64::from(1u32 << D)
}
