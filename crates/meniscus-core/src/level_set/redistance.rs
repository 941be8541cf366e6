//! Signed distances from an arbitrary level set, in a narrow band.

use rayon::prelude::*;

use crate::grid::{BLOCK_EDGE, Blocks, Field, Tile, block_len, for_each_overlap};

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
/// crossing along an axis: this does not move the zero level set to first order, and hardly at all
/// once `phi` is a distance. All other cells follow from the eikonal equation `|grad phi| = 1`
/// by first-order upwind differences (Zhao 2005), in sweeps inside blocks that repeat, red blocks
/// then black, where a neighbour has changed.
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
    let new = phi.values_mut().par_chunks_mut(block_len::<D>()).enumerate();
    new.map_init(
        || Tile::new(0.0),
        |tile, (block, new)| {
            load(blocks, block, |other| old.block(other), tile);
            let mut count = 0;
            for_each_row::<D>(false, |local, centre| {
                for lane in 0..BLOCK_EDGE {
                    let value = tile.values()[centre + lane];
                    if value.is_nan() {
                        continue;
                    }
                    let neighbours = std::array::from_fn(|a| {
                        let stride = Tile::<f32, D, 1>::stride(a);
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
    .collect()
}

/// The distance of a cell from the surface, if a face neighbour lies across it. Neighbours that are
/// not there are no number.
#[inline]
fn interface_distance<const D: usize>(value: f32, neighbours: [[f32; 2]; D]) -> Option<f32> {
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
            0.5 * (backward + forward)
        } else {
            // An extremum along the axis: central differences would not see the slope of a kink.
            backward.abs().max(forward.abs())
        };
        squared += slope * slope;
    }
    Some((value.abs() / squared.sqrt()).min(along_axes))
}

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
    let changed: Vec<bool> = own
        .par_chunks_mut(n)
        .enumerate()
        .map_init(SweepTile::new, |tile, (k, values)| {
            let block = first + k;
            if !waiting[block] {
                return false;
            }
            let neighbour = |b: usize| &other[(b - other_first) * n..][..n];
            tile.load(blocks, block, values, neighbour, band);
            let changed = tile.sweep();
            tile.store(values);
            changed
        })
        .collect();
    for (k, &changed) in changed.iter().enumerate() {
        waiting[first + k] = false;
        if changed {
            mark_neighbours(blocks, first + k, waiting);
        }
    }
}

/// A change of a distance that is passed on to neighbours, in cells.
const TOLERANCE: f32 = 1e-5;

/// The distances of one block, without their signs, and of the face neighbours around it.
struct SweepTile<const D: usize> {
    signed: Tile<f32, D, 1>,
    distance: Tile<f32, D, 1>,
    /// For the block's own cells: whether the distance may change.
    free: Vec<bool>,
}

impl<const D: usize> SweepTile<D> {
    fn new() -> Self {
        Self { signed: Tile::new(0.0), distance: Tile::new(0.0), free: vec![false; block_len::<D>()] }
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
            let free: &mut [bool; BLOCK_EDGE] = row_mut(&mut self.free, local);
            let own: &[f32; BLOCK_EDGE] = row(signed, centre);
            for lane in 0..BLOCK_EDGE {
                free[lane] = !own[lane].is_nan();
            }
            for a in 0..D {
                let stride = Tile::<f32, D, 1>::stride(a);
                for start in [centre - stride, centre + stride] {
                    let other: &[f32; BLOCK_EDGE] = row(signed, start);
                    for lane in 0..BLOCK_EDGE {
                        // The product is negative just where both are numbers and the signs differ.
                        free[lane] &= !(own[lane] < 0.0 && other[lane] >= 0.0)
                            & !(own[lane] >= 0.0 && other[lane] < 0.0);
                    }
                }
            }
        });
    }

    /// Solves the eikonal equation inside the block by sweeps up and down until no distance changes;
    /// says whether one did.
    fn sweep(&mut self) -> bool {
        let mut any = false;
        loop {
            let mut largest = 0.0f32;
            for reverse in [false, true] {
                for_each_row::<D>(reverse, |local, centre| {
                    largest = largest.max(update_row(self.distance.values_mut(), row(&self.free, local), centre));
                });
            }
            if largest <= TOLERANCE {
                return any;
            }
            any = true;
        }
    }

    fn store(&self, values: &mut [f32]) {
        for_each_row::<D>(false, |local, centre| {
            for lane in 0..BLOCK_EDGE {
                if self.free[local + lane] {
                    let distance = self.distance.values()[centre + lane];
                    values[local + lane] = distance.copysign(values[local + lane]);
                }
            }
        });
    }
}
