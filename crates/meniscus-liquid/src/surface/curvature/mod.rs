//! The curvature of the surface, and the pressure of its tension.
//!
//! A level set that moves with the flow and is made a distance again in every substep is accurate next to the
//! surface, where its values stay as the flow brought them; a cell or two farther they are distances of first order
//! only, whose second derivatives mean nothing. So the curvature is that of a surface fitted to the
//! values by least squares, in which those next to the surface count most ([`ACROSS`]). It is exact for spheres.
//!
//! Along the surface the weights fall as a Gaussian ([`ALONG`]). Its width is what makes surface tension stable: the
//! fit's answer to a wave of the surface must have the sign of its curvature up to the shortest wave that the grid
//! carries. Weights `w_i` of cells along a line answer `cos(k i)` with a multiple of `sum w_i (i² - m) cos(k i)`,
//! `m` the mean of `i²`. For the five cells of a line that the fit sees, the answer at `k = pi` is negative up to a
//! variance of 1.1 cells², but positive for wider weights, which then feed the shortest waves. From longer waves they take about
//! `k² ALONG / 2` of their curvature, which is given back afterwards ([`sharpen`]).
//!
//! Surfaces meet walls at right angles: inside solids, and outside the domain, the level set is that of the mirrored
//! point.

mod balance;
mod contact_lines;
mod sharpen;

use meniscus_core::grid::{BLOCK_EDGE, Field, HaloTile, Slot, block_len, cell_in_block, neighbourhood};
use meniscus_core::interpolate::interpolate_cubic;
use meniscus_core::parallel;
use meniscus_core::vector::{dot, norm};

use balance::balance;
pub use contact_lines::impulses_of_contact_lines;
use sharpen::sharpened;

use crate::boundary::Boundary;
use crate::params::Params;

/// The variance of the weights along the surface, in cells². Below the 1.1 at which the shortest waves are fed: see the [module](self). `balls_have_their_curvature` holds it from above.
const ALONG: f64 = 0.9;

/// The variance of the weights across the surface, in cells²: cells within a third of a cell count most. Less has too few cells where the surface passes between centres; more counts
/// values that redistancing has made, of first order.
const ACROSS: f64 = 0.1;

/// The largest curvature that the grid can tell, for each direction along the surface, in 1/cells. Drops, films and
/// edges below the size of a cell have this one. More pulls harder at what is not resolved. `what_the_grid_does_not_resolve_is_bounded` holds it from above.
const LARGEST: f64 = 1.0;

/// The largest sum of the principal curvatures, in 1/cells.
const fn largest_sum<const D: usize>() -> f64 {
    (D - 1) as f64 * LARGEST
}

/// How far from a cell the fit looks, in cells.
const REACH: usize = 2;

type FitTile<const D: usize> = HaloTile<f32, D, REACH>;

/// By how much the liquid's pressure exceeds that of the air at the surface near each cell, in Pa: surface tension
/// times the sum of the principal curvatures, positive for a drop. 0 for cells with no face neighbour across the
/// surface.
pub fn surface_pressure<const D: usize>(
    params: &Params<D>,
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
) -> Field<f32, D> {
    let scale = params.surface_tension / params.grid.dx;
    let mut pressure = Field::new(level_set.blocks().clone(), 0.0);
    parallel::for_chunks_with(
        pressure.values_mut(),
        block_len::<D>(),
        || HaloTile::new(0.0),
        |tile, block, values| {
            if level_set.block(block).iter().all(|v| v.abs() > FAR) {
                return;
            }
            load_mirrored(level_set, boundary, block, tile);
            for (local, value) in values.iter_mut().enumerate() {
                let centre = FitTile::<D>::index(cell_in_block::<D>(local).map(|c| c + REACH));
                if is_at_surface(tile, centre) {
                    *value = (scale * curvature(tile, centre)) as f32;
                }
            }
        },
    );
    let largest = (scale * largest_sum::<D>()) as f32;
    let mut pressure = sharpened(&pressure, level_set);
    balance(&mut pressure, level_set, boundary);
    parallel::update(pressure.values_mut(), |value| *value = value.clamp(-largest, largest));
    pressure
}

/// Cells next to the surface are nearer to it than this, in cells.
const FAR: f32 = 1.5;

fn is_at_surface<const D: usize>(tile: &FitTile<D>, centre: usize) -> bool {
    let inside = |index: usize| tile.values()[index] < 0.0;
    let strides = (0..D).map(FitTile::<D>::stride);
    strides.flat_map(|s| [centre - s, centre + s]).any(|other| inside(other) != inside(centre))
}

/// Values of more variances than this have no weight to speak of: exp(-10).
const NO_WEIGHT: f64 = 20.0;

/// The most coefficients of a fit.
const MOST: usize = 7;

/// Coefficients of a fit: 1, the D coordinates, and the second derivatives along the surface.
const fn coefficients<const D: usize>() -> usize {
    1 + D + D * (D - 1) / 2
}

/// The sum of the principal curvatures of the surface at its point nearest to a cell, in 1/cells.
///
/// With the coordinate `s` along the normal at that point and `t` along the surface, the level set is fitted by
/// `c + g s + h t + t H t / 2 + m (s² - phi²) / 2`, `m` the mean of the principal curvatures, which are those of `H`. Without its last term this is a quadric. With it, a sphere of any radius is
/// met exactly: there, `phi + phi² / (2 R) = (x² - R²) / (2 R)`.
fn curvature<const D: usize>(tile: &FitTile<D>, centre: usize) -> f64 {
    let at = |index: usize| f64::from(tile.values()[index]);
    let stride = |a: usize| FitTile::<D>::stride(a);
    let gradient: [f64; D] = std::array::from_fn(|a| 0.5 * (at(centre + stride(a)) - at(centre - stride(a))));
    let steepness = norm(gradient);
    if steepness < FLAT {
        return 0.0;
    }
    let frame = frame(gradient.map(|g| g / steepness));
    let nearest = frame[0].map(|n| -n * at(centre) / steepness.max(0.5));
    let n = coefficients::<D>();
    let edge = 2 * REACH + 1;
    let mut system = [[0.0; MOST + 1]; MOST];
    for index in 0..edge.pow(D as u32) {
        let offset: [usize; D] = std::array::from_fn(|a| index / edge.pow(a as u32) % edge);
        let cell = (0..D).fold(centre, |cell, a| cell + offset[a] * stride(a) - REACH * stride(a));
        let value = at(cell);
        if value * value > NO_WEIGHT * ACROSS {
            continue;
        }
        let x: [f64; D] = std::array::from_fn(|a| offset[a] as f64 - REACH as f64 - nearest[a]);
        let local = frame.map(|axis| dot(axis, x));
        let along: f64 = local[1..].iter().map(|t| t * t).sum();
        let weight = (-0.5 * (along / ALONG + value * value / ACROSS)).exp();
        let terms = terms(local, value);
        for i in 0..n {
            for j in i..n {
                system[i][j] += weight * terms[i] * terms[j];
            }
            system[i][MOST] += weight * terms[i] * terms[MOST];
        }
    }
    let limit = largest_sum::<D>();
    solve(system, n).map_or(0.0, |fit| curvature_of_fit::<D>(&fit)).clamp(-limit, limit)
}

/// Where the gradient is smaller than this, the cell lies between two surfaces and has no direction to either: a distance has 1.
const FLAT: f64 = 0.1;

/// What the coefficients of a fit are multiplied by at a point, and last the value there.
fn terms<const D: usize>(local: [f64; D], value: f64) -> [f64; MOST + 1] {
    let mut terms = [0.0; MOST + 1];
    terms[0] = 1.0;
    terms[1..=D].copy_from_slice(&local);
    let of_sphere = (local[0] * local[0] - value * value) / (D - 1) as f64;
    let mut next = D + 1;
    for a in 1..D {
        for b in a..D {
            terms[next] = if a == b { 0.5 * (local[a] * local[a] + of_sphere) } else { local[a] * local[b] };
            next += 1;
        }
    }
    terms[MOST] = value;
    terms
}

/// `(tr H - n H n) / |g|` for the gradient `g`, its direction `n` and the second derivatives `H` of a fit.
fn curvature_of_fit<const D: usize>(fit: &[f64; MOST]) -> f64 {
    let gradient: [f64; D] = std::array::from_fn(|a| fit[1 + a]);
    let steepness = norm(gradient);
    if steepness < FLAT {
        return 0.0;
    }
    let normal = gradient.map(|g| g / steepness);
    let (mut across, mut next) = (0.0, D + 1);
    for a in 1..D {
        for b in a..D {
            let factor = if a == b { 1.0 - normal[a] * normal[a] } else { -2.0 * normal[a] * normal[b] };
            across += fit[next] * factor;
            next += 1;
        }
    }
    across / steepness
}

/// Orthonormal axes, of which the first is given.
fn frame<const D: usize>(normal: [f64; D]) -> [[f64; D]; D] {
    let mut frame = [normal; D];
    if D == 2 {
        (frame[1][0], frame[1][1]) = (-normal[1], normal[0]);
        return frame;
    }
    let least = (0..D).fold(0, |least, a| if normal[a].abs() < normal[least].abs() { a } else { least });
    let tangent: [f64; D] =
        std::array::from_fn(|a| f64::from(u8::from(a == least)) - normal[least] * normal[a]);
    let length = norm(tangent);
    frame[1] = tangent.map(|t| t / length);
    frame[2] = std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % D, (a + 2) % D);
        frame[0][b] * frame[1][c] - frame[0][c] * frame[1][b]
    });
    frame
}

/// Solves `n` equations with a symmetric matrix, of which the upper half is given, and the right-hand side in the
/// last column; `None` if it is not safely positive definite.
fn solve(mut system: [[f64; MOST + 1]; MOST], n: usize) -> Option<[f64; MOST]> {
    for i in 0..n {
        let pivot = system[i][i];
        if pivot.is_nan() || pivot < SMALLEST_PIVOT {
            return None;
        }
        for j in i + 1..n {
            let factor = system[i][j] / pivot;
            for k in (j..n).chain([MOST]) {
                system[j][k] -= factor * system[i][k];
            }
        }
    }
    let mut x = [0.0; MOST];
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| system[i][j] * x[j]).sum();
        x[i] = (system[i][MOST] - rest) / system[i][i];
    }
    Some(x)
}

/// Below this, in sums of weights of at most 1, the cells around do not determine the fit, and the curvature is 0.
const SMALLEST_PIVOT: f64 = 1e-6;

/// Loads a block and what surrounds it, mirrored at walls.
fn load_mirrored<const D: usize>(
    phi: &Field<f32, D>,
    boundary: &Boundary<D>,
    block: usize,
    tile: &mut FitTile<D>,
) {
    tile.load(phi, block);
    let blocks = phi.blocks();
    if neighbourhood(blocks, block).any(|(_, other)| other.is_some_and(|b| boundary.is_cut(b))) {
        mirror_in_solids(phi, boundary, block, tile);
    }
    let edge = FitTile::<D>::EDGE;
    let (coord, cells) = (blocks.coord(block), blocks.cells());
    for axis in 0..D {
        let stride = FitTile::<D>::stride(axis);
        // The domain's cells along the axis are those from `first` to before `end`.
        let first = if coord[axis] == 0 { REACH } else { 0 };
        let end = (cells[axis] + REACH - coord[axis] * BLOCK_EDGE).min(edge);
        if first == 0 && end == edge {
            continue;
        }
        for index in 0..FitTile::<D>::LEN {
            let c = index / stride % edge;
            let mirrored = if c < first { 2 * first - 1 - c } else { (2 * end - 1).saturating_sub(c) };
            if c < first || c >= end {
                let from = index + mirrored.clamp(first, end - 1) * stride - c * stride;
                tile.values_mut()[index] = tile.values()[from];
            }
        }
    }
}

/// Gives cells in solids the value of the mirrored point, as far as the distance to the wall is in sight.
fn mirror_in_solids<const D: usize>(
    phi: &Field<f32, D>,
    boundary: &Boundary<D>,
    block: usize,
    tile: &mut FitTile<D>,
) {
    let edge = FitTile::<D>::EDGE;
    let corner = phi.blocks().coord(block).map(|c| (c * BLOCK_EDGE) as i64 - REACH as i64);
    for (index, value) in tile.values_mut().iter_mut().enumerate() {
        let cell: [i64; D] =
            std::array::from_fn(|a| corner[a] + (index / FitTile::<D>::stride(a) % edge) as i64);
        if let Some(mirrored) = mirrored_in_solid(phi, boundary, cell) {
            *value = mirrored;
        }
    }
}

/// The value of the mirrored point, of a cell in a solid.
fn mirrored_in_solid<const D: usize>(
    phi: &Field<f32, D>,
    boundary: &Boundary<D>,
    cell: [i64; D],
) -> Option<f32> {
    let Slot { block, .. } = phi.blocks().locate(cell).filter(|slot| boundary.is_cut(slot.block))?;
    let centre = cell.map(|c| c as f32 + 0.5);
    let to_wall = boundary.distance(block, centre);
    (to_wall < 0.0).then(|| {
        let normal = boundary.normal(block, centre);
        interpolate_cubic(phi, std::array::from_fn(|a| centre[a] - 2.0 * to_wall * normal[a]))
    })
}

#[cfg(test)]
mod tests;
