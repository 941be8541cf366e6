//! Signed distances from an arbitrary level set, in a narrow band.

use crate::grid::{BLOCK_EDGE, Blocks, Field, HaloTile, block_len, for_each_overlap};
use crate::parallel;

/// What a redistancing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedistanceInfo {
    /// Cells next to the surface, whose values define it.
    pub interface_cells: usize,
    /// Blocks swept, each counted as often as it was.
    pub block_sweeps: usize,
}

/// Makes `phi` a signed distance, in cells, within `band` cells of its zero level set, and plus or minus
/// `band` beyond. The zero level set and the sign of every cell stay.
///
/// Cells with a face neighbour of the other sign are set to `phi / |grad phi|` (Russo and Smereka
/// 2000), with central differences where `phi` is monotone, and at most the distance to the nearest
/// crossing along an axis; they keep `phi` where its gradient is near one already, so that
/// redistancing again and again does not move the surface. All other cells follow from the eikonal
/// equation `|grad phi| = 1` by first-order upwind differences (Zhao 2005), in sweeps inside blocks
/// that repeat, red blocks then black, where a neighbour has changed.
///
/// The error, in cells, falls with the curvature of the surface; a cell beyond a sharp convex edge,
/// with no face neighbour inside, comes out up to a cell too far.
///
/// Cells outside the domain and in inactive blocks tell nothing: the surface never lies between them
/// and an active cell.
///
/// # Panics
/// If `band` is not positive.
pub fn redistance<const D: usize>(phi: &mut Field<f32, D>, band: f32) -> RedistanceInfo {
    assert!(band > 0.0, "the band has a positive width");
    let blocks = phi.blocks().clone();
    let counts = initialise(phi, band);
    let mut info = RedistanceInfo { interface_cells: counts.iter().sum(), block_sweeps: 0 };

    let mut waiting: Vec<bool> = counts.iter().map(|&count| count > 0).collect();
    for block in 0..blocks.len() {
        if counts[block] > 0 {
            mark_neighbours(&blocks, block, &mut waiting);
        }
    }
    let (red, black) = phi.values_mut().split_at_mut(blocks.red_len() * block_len::<D>());
    while waiting.contains(&true) {
        info.block_sweeps += waiting.iter().filter(|&&w| w).count();
        sweep_colour(&blocks, red, black, 0, band, &mut waiting);
        sweep_colour(&blocks, black, red, blocks.red_len(), band, &mut waiting);
    }
    info
}

fn mark_neighbours<const D: usize>(blocks: &Blocks<D>, block: usize, waiting: &mut [bool]) {
    for axis in 0..D {
        for side in 0..2 {
            if let Some(other) = blocks.neighbour(block, axis, side) {
                waiting[other] = true;
            }
        }
    }
}

/// Sets the cells next to the surface, and all others to the band's width; gives the number of the
/// former in each block.
fn initialise<const D: usize>(phi: &mut Field<f32, D>, band: f32) -> Vec<usize> {
    let old = phi.clone();
    let blocks = old.blocks();
    parallel::map_chunks_with(
        phi.values_mut(),
        block_len::<D>(),
        || HaloTile::new(0.0),
        |tile, block, new| {
            load(blocks, block, |other| old.block(other), tile);
            let mut count = 0;
            for_each_row::<D>(false, |local, centre| {
                for lane in 0..BLOCK_EDGE {
                    let value = tile.values()[centre + lane];
                    if value.is_nan() {
                        continue;
                    }
                    let neighbours: [[f32; 2]; D] = std::array::from_fn(|a| {
                        let stride = HaloTile::<f32, D, 1>::stride(a);
                        [tile.values()[centre + lane - stride], tile.values()[centre + lane + stride]]
                    });
                    let distance = interface_distance(value, neighbours);
                    count += usize::from(distance.is_some());
                    // Never zero, so that the sign of an inner cell survives.
                    let distance = distance.unwrap_or(band).clamp(f32::MIN_POSITIVE, band);
                    new[local + lane] = if value < 0.0 { -distance } else { distance };
                }
            });
            count
        },
    )
}

/// The distance of a cell from the surface, if a face neighbour lies across it. Neighbours that are
/// not there are no number.
///
/// The slope along an axis on which the surface lies between two cells is that between them, for both alike: to scale both by the same number
/// leaves the surface where it is.
#[inline]
pub fn interface_distance<const D: usize>(value: f32, neighbours: [[f32; 2]; D]) -> Option<f32> {
    let mut along_axes = f32::INFINITY;
    for other in neighbours.as_flattened() {
        if !other.is_nan() && (*other < 0.0) != (value < 0.0) {
            along_axes = along_axes.min(value / (value - other));
        }
    }
    if along_axes == f32::INFINITY {
        return None;
    }
    let mut squared = 0.0;
    for [below, above] in neighbours {
        let (backward, forward) = (value - below, above - value);
        let slope = if backward.is_nan() {
            if forward.is_nan() { 0.0 } else { forward }
        } else if forward.is_nan() {
            backward
        } else if backward * forward > 0.0 {
            match [below, above].map(|other| (other < 0.0) != (value < 0.0)) {
                [true, false] => backward,
                [false, true] => forward,
                _ => 0.5 * (backward + forward),
            }
        } else {
            // An extremum along the axis: central differences would not see the slope of a kink.
            backward.abs().max(forward.abs())
        };
        squared += slope * slope;
    }
    let gradient = squared.sqrt();
    let gradient = if (gradient - 1.0).abs() < NEAR_ONE { 1.0 } else { gradient };
    Some((value.abs() / gradient).min(along_axes))
}

/// A gradient as near to one as this counts as one: it is measured with neighbours that are
/// themselves off by the first-order error of the last redistancing, and to follow that error again
/// and again would move the surface: `fifty_redistancings_do_not_move_the_surface` fails without it, and `distances_to_a_distorted_sphere` with 0.5.
const NEAR_ONE: f32 = 0.2;

/// Sweeps the waiting blocks of one colour, whose values are `own` and begin at block `first`; blocks next
/// to one that changed, all of the other colour, then wait.
fn sweep_colour<const D: usize>(
    blocks: &Blocks<D>,
    own: &mut [f32],
    other: &[f32],
    first: usize,
    band: f32,
    waiting: &mut [bool],
) {
    let n = block_len::<D>();
    let other_first = if first == 0 { blocks.red_len() } else { 0 };
    let changed = parallel::map_chunks_with(own, n, SweepTile::new, |tile, k, values| {
        let block = first + k;
        if !waiting[block] {
            return false;
        }
        let neighbour = |b: usize| &other[(b - other_first) * n..][..n];
        tile.load(blocks, block, values, neighbour, band);
        let changed = tile.sweep();
        tile.store(values);
        changed
    });
    for (k, &changed) in changed.iter().enumerate() {
        waiting[first + k] = false;
        if changed {
            mark_neighbours(blocks, first + k, waiting);
        }
    }
}

/// A change of a distance that is passed on to neighbours, in cells: well below the error of distances, of first order. For speed: no test tells 0 from 1e-3.
const TOLERANCE: f32 = 3e-5;

/// The distances of one block, without their signs, and of the face neighbours around it.
struct SweepTile<const D: usize> {
    signed: HaloTile<f32, D, 1>,
    distance: HaloTile<f32, D, 1>,
    /// For the block's own cells, what the distance may not fall below: for cells that are next to the
    /// surface or not there, what it is.
    least: Vec<f32>,
}

impl<const D: usize> SweepTile<D> {
    fn new() -> Self {
        Self { signed: HaloTile::new(0.0), distance: HaloTile::new(0.0), least: vec![0.0; block_len::<D>()] }
    }

    fn load<'a>(
        &mut self,
        blocks: &Blocks<D>,
        block: usize,
        own: &'a [f32],
        neighbour: impl Fn(usize) -> &'a [f32],
        band: f32,
    ) {
        load(blocks, block, |b| if b == block { own } else { neighbour(b) }, &mut self.signed);
        let signed = self.signed.values();
        for (distance, &signed) in self.distance.values_mut().iter_mut().zip(signed) {
            // A cell that is not there is no number and becomes the band's width.
            *distance = if signed.abs() < band { signed.abs() } else { band };
        }
        for_each_row::<D>(false, |local, centre| {
            let own: &[f32; BLOCK_EDGE] = row(signed, centre);
            let mut fixed = own.map(|v| u32::from(v.is_nan()));
            for a in 0..D {
                let stride = HaloTile::<f32, D, 1>::stride(a);
                for start in [centre - stride, centre + stride] {
                    let other: &[f32; BLOCK_EDGE] = row(signed, start);
                    for lane in 0..BLOCK_EDGE {
                        // No distance is zero, so signs are sign bits.
                        let across = (own[lane].to_bits() ^ other[lane].to_bits()) >> 31;
                        fixed[lane] |= if other[lane].is_nan() { 0 } else { across };
                    }
                }
            }
            let distance: &[f32; BLOCK_EDGE] = row(self.distance.values(), centre);
            let least: &mut [f32; BLOCK_EDGE] = row_mut(&mut self.least, local);
            for lane in 0..BLOCK_EDGE {
                least[lane] = if fixed[lane] != 0 { distance[lane] } else { 0.0 };
            }
        });
    }

    /// Solves the eikonal equation inside the block by sweeps up and down over the rows that have
    /// changed, or lie beside one that has, until no distance changes; says whether one did.
    fn sweep(&mut self) -> bool {
        let rows = block_len::<D>() / BLOCK_EDGE;
        let mut waiting = [true; BLOCK_EDGE * BLOCK_EDGE];
        let (mut any, mut reverse) = (false, false);
        while waiting[..rows].contains(&true) {
            for_each_row::<D>(reverse, |local, centre| {
                let index = local / BLOCK_EDGE;
                if !waiting[index] {
                    return;
                }
                let changed = update_row::<D>(self.distance.values_mut(), row(&self.least, local), centre);
                waiting[index] = changed;
                any |= changed;
                for a in 0..if changed { D - 1 } else { 0 } {
                    let stride = BLOCK_EDGE.pow(a as u32);
                    match index / stride % BLOCK_EDGE {
                        0 => waiting[index + stride] = true,
                        c if c == BLOCK_EDGE - 1 => waiting[index - stride] = true,
                        _ => (waiting[index - stride], waiting[index + stride]) = (true, true),
                    }
                }
            });
            reverse = !reverse;
        }
        any
    }

    fn store(&self, values: &mut [f32]) {
        for_each_row::<D>(false, |local, centre| {
            let distance: &[f32; BLOCK_EDGE] = row(self.distance.values(), centre);
            let own: &[f32; BLOCK_EDGE] = row(self.signed.values(), centre);
            let values: &mut [f32; BLOCK_EDGE] = row_mut(values, local);
            for lane in 0..BLOCK_EDGE {
                let signed = distance[lane].copysign(own[lane]);
                values[lane] = if own[lane].is_nan() { values[lane] } else { signed };
            }
        });
    }
}

/// Updates one row of cells from their neighbours; says whether one changed enough to pass it on.
#[inline(always)]
fn update_row<const D: usize>(distance: &mut [f32], least: &[f32; BLOCK_EDGE], centre: usize) -> bool {
    let mut nearest = [[0.0; BLOCK_EDGE]; D];
    for a in 0..D {
        let stride = HaloTile::<f32, D, 1>::stride(a);
        nearest[a] = lower(row(distance, centre - stride), row(distance, centre + stride));
    }
    let own: &mut [f32; BLOCK_EDGE] = row_mut(distance, centre);
    let new = higher(&lower(&solve_eikonal(nearest), own), least);
    let mut changed = 0;
    for lane in 0..BLOCK_EDGE {
        changed |= u32::from(own[lane] - new[lane] > TOLERANCE);
    }
    *own = new;
    changed != 0
}

/// The distance `d` with `sum (d - a)^2 = 1` over the axes whose nearest neighbour's distance `a` is
/// below `d` (the upwind Godunov scheme), for a row of cells at once.
#[inline(always)]
fn solve_eikonal<const D: usize>(mut a: [[f32; BLOCK_EDGE]; D]) -> [f32; BLOCK_EDGE] {
    for i in 0..D {
        for j in i + 1..D {
            (a[i], a[j]) = (lower(&a[i], &a[j]), higher(&a[i], &a[j]));
        }
    }
    let mut solution = [0.0; BLOCK_EDGE];
    let (mut sum, mut squares) = ([0.0; BLOCK_EDGE], [0.0; BLOCK_EDGE]);
    for lane in 0..BLOCK_EDGE {
        solution[lane] = a[0][lane] + 1.0;
    }
    for i in 1..D {
        let (n, reciprocal) = ((i + 1) as f32, 1.0 / (i + 1) as f32);
        for lane in 0..BLOCK_EDGE {
            // Relative to the smallest, against cancellation.
            let excess = a[i][lane] - a[0][lane];
            sum[lane] += excess;
            squares[lane] += excess * excess;
            let discriminant = sum[lane] * sum[lane] - n * (squares[lane] - 1.0);
            let root = (if discriminant > 0.0 { discriminant } else { 0.0 }).sqrt();
            let candidate = a[0][lane] + (sum[lane] + root) * reciprocal;
            solution[lane] = if solution[lane] > a[i][lane] { candidate } else { solution[lane] };
        }
    }
    solution
}

#[inline(always)]
fn lower(a: &[f32; BLOCK_EDGE], b: &[f32; BLOCK_EDGE]) -> [f32; BLOCK_EDGE] {
    let mut result = *a;
    for lane in 0..BLOCK_EDGE {
        result[lane] = if a[lane] < b[lane] { a[lane] } else { b[lane] };
    }
    result
}

#[inline(always)]
fn higher(a: &[f32; BLOCK_EDGE], b: &[f32; BLOCK_EDGE]) -> [f32; BLOCK_EDGE] {
    let mut result = *a;
    for lane in 0..BLOCK_EDGE {
        result[lane] = if a[lane] < b[lane] { b[lane] } else { a[lane] };
    }
    result
}

/// Loads a block and its face neighbours (no further corners); cells that are outside the domain or in
/// inactive blocks become no number.
fn load<'a, const D: usize>(
    blocks: &Blocks<D>,
    block: usize,
    values: impl Fn(usize) -> &'a [f32],
    tile: &mut HaloTile<f32, D, 1>,
) {
    let tile = tile.values_mut();
    for_each_overlap(1, [0; D], |start, local, len| {
        tile[start..start + len].copy_from_slice(&values(block)[local..local + len]);
    });
    for axis in 0..D {
        for side in 0..2 {
            let mut offset = [0; D];
            offset[axis] = 2 * side as i64 - 1;
            let other = blocks.neighbour(block, axis, side).map(&values);
            for_each_overlap(1, offset, |start, local, len| match other {
                Some(other) => tile[start..start + len].copy_from_slice(&other[local..local + len]),
                None => tile[start..start + len].fill(f32::NAN),
            });
        }
    }
    let (coord, cells) = (blocks.coord(block), blocks.cells());
    for axis in 0..D {
        // The tile's first cell along the axis is one below the block's.
        let inside = cells[axis] + 1 - coord[axis] * BLOCK_EDGE;
        let stride = HaloTile::<f32, D, 1>::stride(axis);
        if inside < HaloTile::<f32, D, 1>::EDGE {
            for index in 0..tile.len() {
                if index / stride % HaloTile::<f32, D, 1>::EDGE >= inside {
                    tile[index] = f32::NAN;
                }
            }
        }
    }
}

/// Calls `f(start in block, start in tile)` for each x row of a block, in order or in reverse.
#[inline(always)]
fn for_each_row<const D: usize>(reverse: bool, mut f: impl FnMut(usize, usize)) {
    let rows = block_len::<D>() / BLOCK_EDGE;
    for step in 0..rows {
        let index = if reverse { rows - 1 - step } else { step };
        let mut start = 1;
        for a in 1..D {
            let c = index / BLOCK_EDGE.pow(a as u32 - 1) % BLOCK_EDGE;
            start += (c + 1) * HaloTile::<f32, D, 1>::stride(a);
        }
        f(index * BLOCK_EDGE, start);
    }
}

#[inline(always)]
fn row<T>(values: &[T], start: usize) -> &[T; BLOCK_EDGE] {
    values[start..].first_chunk().expect("a whole row")
}

#[inline(always)]
fn row_mut<T>(values: &mut [T], start: usize) -> &mut [T; BLOCK_EDGE] {
    values[start..].first_chunk_mut().expect("a whole row")
}

#[cfg(test)]
#[path = "redistance_tests.rs"]
mod tests;
