//! Sources, sinks and open sides: what enters and leaves.

use meniscus_core::grid::{BLOCK_EDGE, Slot, block_len, local_index};
use meniscus_core::particles::{BlockRanges, jittered};
use meniscus_core::shape::Shape;
use rayon::prelude::*;

use crate::params::{Params, Source, Surroundings};
use crate::particles::Newcomers;
use crate::reseed::half_of;
use crate::state::State;
use crate::surface::inner;

/// Fills the sources: level set, velocity, and a particle in every half-cell without one.
pub fn pour<const D: usize>(
    state: &mut State<D>,
    ranges: &BlockRanges<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
) -> Newcomers<D> {
    let mut newcomers = Newcomers::default();
    for source in &surroundings.sources {
        let velocity = source.velocity.map(|v| v as f32);
        let taken = fill_region(state, params, source);
        let new = taken.into_iter().map(|block| fill_halves(state, ranges, params, surroundings, source, block));
        for position in new.collect::<Vec<_>>() {
            newcomers.join(position, velocity, params);
        }
    }
    newcomers
}

/// Sets the level set and the velocity in a source; gives the blocks that hold a part of it.
fn fill_region<const D: usize>(state: &mut State<D>, params: &Params<D>, source: &Source<D>) -> Vec<usize> {
    let blocks = state.level_set.blocks().clone();
    let touched: Vec<usize> = (0..blocks.len()).filter(|&b| touches(params, &source.shape, blocks.coord(b))).collect();
    for &block in &touched {
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            let cell = blocks.cell(slot).map(|c| c as i64);
            if (0..D).any(|a| cell[a] >= blocks.cells()[a] as i64) {
                continue;
            }
            let distance = source.shape.signed_distance(params.grid.cell_centre(cell)) / params.grid.dx;
            let value = &mut state.level_set.values_mut()[slot.flat::<D>()];
            *value = value.min(distance as f32);
            for axis in 0..D {
                if source.shape.signed_distance(params.grid.face_centre(axis, cell)) < 0.0 {
                    state.velocity.axes[axis].values_mut()[slot.flat::<D>()] = source.velocity[axis] as f32;
                }
            }
        }
    }
    touched
}

/// Places for particles in the half-cells of a block that lie in a source and hold none.
fn fill_halves<const D: usize>(
    state: &State<D>,
    ranges: &BlockRanges<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    source: &Source<D>,
    block: usize,
) -> Vec<[f32; D]> {
    let blocks = ranges.blocks();
    let mut halves = [0u8; BLOCK_EDGE.pow(3)];
    for x in &state.particles.position[ranges.range(block)] {
        // Particles that a reseeding took away are at no position.
        if x[0].is_finite() {
            halves[local_index(x.map(|c| c as usize % BLOCK_EDGE))] |= 1 << half_of(*x);
        }
    }
    let mut new = Vec::new();
    for local in 0..block_len::<D>() {
        let cell = blocks.cell(Slot { block, local });
        if (0..D).any(|a| cell[a] >= blocks.cells()[a]) {
            continue;
        }
        for k in (0..1 << D).filter(|k| halves[local] >> k & 1 == 0) {
            let x = jittered(cell, k, state.substep);
            let point = params.to_metres(x);
            let inside = source.shape.signed_distance(point) < -f64::from(inner::<D>()) * params.grid.dx;
            if inside && surroundings.solids.iter().all(|s| s.distance(point) > 0.0) {
                new.push(x);
            }
        }
    }
    new
}

/// Empties the sinks; gives the number of particles taken. They are put at no position, so that the next
/// sort drops them.
pub fn drain<const D: usize>(state: &mut State<D>, params: &Params<D>, sinks: &[Shape<D>]) -> usize {
    let mut drained = 0;
    let blocks = state.level_set.blocks().clone();
    for sink in sinks {
        let State { level_set, particles, .. } = state;
        level_set.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, values)| {
            if !touches(params, sink, blocks.coord(block)) {
                return;
            }
            for (local, value) in values.iter_mut().enumerate() {
                let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
                let distance = sink.signed_distance(params.grid.cell_centre(cell)) / params.grid.dx;
                *value = value.max(-distance as f32);
            }
        });
        let bounds = sink.bounds();
        let taken = particles.position.par_iter_mut().filter_map(|x| {
            let point = params.to_metres(*x);
            let near = (0..D).all(|a| point[a] >= bounds.lower[a] && point[a] <= bounds.upper[a]);
            let inside = near && sink.signed_distance(point) < 0.0;
            inside.then(|| *x = [f32::NAN; D])
        });
        drained += taken.count();
    }
    drained
}

/// Whether a shape comes near a block.
fn touches<const D: usize>(params: &Params<D>, shape: &Shape<D>, coord: [usize; D]) -> bool {
    let half = 0.5 * BLOCK_EDGE as f64;
    let centre = params.grid.point(coord.map(|c| (c * BLOCK_EDGE) as f64 + half));
    shape.signed_distance(centre) < params.grid.dx * (half * (D as f64).sqrt() + f64::from(params.band()))
}

/// The volume that leaves through the open sides in a time of one cell per velocity, in cells.
pub fn outflow<const D: usize>(state: &State<D>, params: &Params<D>) -> f64 {
    let blocks = state.level_set.blocks();
    let cells = blocks.cells();
    let mut sum = 0.0;
    for axis in 0..D {
        for side in (0..2).filter(|&side| params.open_sides[axis][side]) {
            let layer = if side == 0 { 0 } else { cells[axis] - 1 };
            for block in (0..blocks.len()).filter(|&b| blocks.coord(b)[axis] == layer / BLOCK_EDGE) {
                for local in 0..block_len::<D>() {
                    let slot = Slot { block, local };
                    let cell = blocks.cell(slot);
                    if cell[axis] != layer || (0..D).any(|a| cell[a] >= cells[a]) {
                        continue;
                    }
                    let wet = f64::from((0.5 - state.level_set[slot]).clamp(0.0, 1.0));
                    let mut face = cell.map(|c| c as i64);
                    face[axis] += side as i64;
                    let out = f64::from(state.velocity.get(axis, face)) * (2.0 * side as f64 - 1.0);
                    sum += wet * out;
                }
            }
        }
    }
    sum
}
