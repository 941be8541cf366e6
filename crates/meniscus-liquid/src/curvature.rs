//! The curvature of the surface, and the pressure of its tension.

use meniscus_core::grid::{BLOCK_EDGE, Field, Slot, Tile, block_len, cell_in_block};
use meniscus_core::vector::{dot, norm};
use rayon::prelude::*;

use crate::params::Params;

/// The largest curvature that the grid can tell, per axis across the normal, in 1/cells.
const LARGEST: f64 = 1.0;

/// By how much the liquid's pressure exceeds that of the air at the surface near each cell, in Pa: surface tension
/// times the sum of the principal curvatures, positive for a drop. 0 for cells away from the surface.
pub fn surface_pressure<const D: usize>(params: &Params<D>, level_set: &Field<f32, D>) -> Field<f32, D> {
    let k = [1.0 / env("SIG2", 1.0), 1.0 / env("SIGN", 0.4)];
    let scale = params.surface_tension / params.grid.dx;
    let mut pressure = Field::new(level_set.blocks().clone(), 0.0);
    pressure.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each_init(
        || Tile::<f32, D, 2>::new(0.0),
        |tile, (block, values)| {
            if level_set.block(block).iter().all(|v| v.abs() > FAR) {
                return;
            }
            load_mirrored(level_set, block, tile);
            for (local, value) in values.iter_mut().enumerate() {
                if level_set[Slot { block, local }].abs() <= FAR {
                    let centre = Tile::<f32, D, 2>::index(cell_in_block::<D>(local).map(|c| c + 2));
                    *value = (scale * curvature(tile, centre, k)) as f32;
                }
            }
        },
    );
    pressure
}

/// Cells farther from the surface than this have no neighbour across it.
const FAR: f32 = 1.5;

fn env(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The sum of the principal curvatures of the surface at its point nearest to a cell, in 1/cells.
///
/// The level set around that point, with normal coordinate `s` and tangential ones `t`, is fitted by
/// `c + g s + h t + t H t / 2` by least squares.
fn curvature<const D: usize>(tile: &Tile<f32, D, 2>, centre: usize, k: [f64; 2]) -> f64 {
    let at = |index: usize| f64::from(tile.values()[index]);
    let stride = |a: usize| Tile::<f32, D, 2>::stride(a);
    let own = at(centre);
    let gradient: [f64; D] = std::array::from_fn(|a| 0.5 * (at(centre + stride(a)) - at(centre - stride(a))));
    let length = norm(gradient);
    if length < FLAT {
        return 0.0;
    }
    let normal = gradient.map(|g| g / length);
    let frame = frame(normal);
    let foot = normal.map(|n| -n * own / length.max(0.5));
    let unknowns = if D == 2 { 4 } else { 7 };
    let mut system = [[0.0; 8]; 7];
    for index in 0..5usize.pow(D as u32) {
        let offset: [i64; D] = std::array::from_fn(|a| (index / 5usize.pow(a as u32) % 5) as i64 - 2);
        let there = (0..D).fold(centre as i64, |at, a| at + offset[a] * stride(a) as i64) as usize;
        let value = at(there);
        if value.abs() > 2.0 {
            continue;
        }
        let x: [f64; D] = std::array::from_fn(|a| offset[a] as f64 - foot[a]);
        let local = frame.map(|axis| dot(axis, x));
        let across: f64 = (1..D).map(|a| local[a] * local[a]).sum();
        let weight = (-0.5 * (across * k[0] + value * value * k[1])).exp();
        let mut row = [0.0; 8];
        row[0] = 1.0;
        row[1..=D].copy_from_slice(&local);
        if D == 2 {
            row[3] = 0.5 * local[1] * local[1];
        } else {
            (row[4], row[5]) = (0.5 * local[1] * local[1], 0.5 * local[2] * local[2]);
            row[6] = local[1] * local[2];
        }
        row[7] = value;
        for i in 0..unknowns {
            for j in i..unknowns {
                system[i][j] += weight * row[i] * row[j];
            }
            system[i][7] += weight * row[i] * row[7];
        }
    }
    let Some(fit) = solve(system, unknowns) else { return 0.0 };
    let slope: [f64; D] = std::array::from_fn(|a| fit[1 + a]);
    let length = norm(slope);
    if length < FLAT {
        return 0.0;
    }
    let n = slope.map(|g| g / length);
    let (trace, along) = if D == 2 {
        (fit[3], fit[3] * n[1] * n[1])
    } else {
        (fit[4] + fit[5], fit[4] * n[1] * n[1] + fit[5] * n[2] * n[2] + 2.0 * fit[6] * n[1] * n[2])
    };
    let limit = (D - 1) as f64 * LARGEST;
    ((trace - along) / length).clamp(-limit, limit)
}

/// An orthonormal frame whose first axis is given.
fn frame<const D: usize>(normal: [f64; D]) -> [[f64; D]; D] {
    let mut frame = [[0.0; D]; D];
    frame[0] = normal;
    if D == 2 {
        (frame[1][0], frame[1][1]) = (-normal[1], normal[0]);
        return frame;
    }
    let least = (0..D).min_by(|&a, &b| normal[a].abs().total_cmp(&normal[b].abs())).unwrap_or(0);
    let mut axis = [0.0; D];
    axis[least] = 1.0;
    let tangent: [f64; D] = std::array::from_fn(|a| axis[a] - normal[least] * normal[a]);
    let length = norm(tangent);
    frame[1] = tangent.map(|t| t / length);
    frame[2] = std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % D, (a + 2) % D);
        frame[0][b] * frame[1][c] - frame[0][c] * frame[1][b]
    });
    frame
}

/// Solves the upper half of a symmetric positive definite system, the right-hand side in the last column.
fn solve(mut m: [[f64; 8]; 7], n: usize) -> Option<[f64; 7]> {
    for i in 0..n {
        let pivot = m[i][i];
        if pivot.is_nan() || pivot < 1e-6 {
            return None;
        }
        for j in i + 1..n {
            let f = m[i][j] / pivot;
            for k in j..n {
                m[j][k] -= f * m[i][k];
            }
            m[j][7] -= f * m[i][7];
        }
    }
    let mut x = [0.0; 7];
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| m[i][j] * x[j]).sum();
        x[i] = (m[i][7] - rest) / m[i][i];
    }
    Some(x)
}

/// Where the gradient is smaller than this, the cell lies between two surfaces and has no direction to either.
const FLAT: f64 = 0.1;

/// Loads a block and its halo; cells outside the domain mirror those inside, so that surfaces meet its sides at
/// right angles.
pub fn load_mirrored<const D: usize, const HALO: usize>(
    phi: &Field<f32, D>,
    block: usize,
    tile: &mut Tile<f32, D, HALO>,
) {
    tile.load(phi, block);
    let edge = BLOCK_EDGE + 2 * HALO;
    let (coord, cells) = (phi.blocks().coord(block), phi.blocks().cells());
    for axis in 0..D {
        let stride = Tile::<f32, D, HALO>::stride(axis);
        // The domain's cells along the axis are those from `first` to before `end`.
        let first = if coord[axis] == 0 { HALO } else { 0 };
        let end = (cells[axis] + HALO - coord[axis] * BLOCK_EDGE).min(edge);
        if first == 0 && end == edge {
            continue;
        }
        for index in 0..Tile::<f32, D, HALO>::LEN {
            let c = index / stride % edge;
            let mirrored = if c < first {
                2 * first - 1 - c
            } else if c >= end {
                (2 * end).saturating_sub(1 + c).max(first)
            } else {
                continue;
            };
            tile.values_mut()[index] = tile.values()[index + mirrored * stride - c * stride];
        }
    }
}
