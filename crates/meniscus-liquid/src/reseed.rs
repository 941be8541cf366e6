//! Keeping the number of particles in a cell within bounds.

use meniscus_core::grid::{BLOCK_EDGE, Slot, block_len, local_index};
use meniscus_core::particles::{BlockRanges, jittered};
use rayon::prelude::*;

use crate::params::{Params, Solid};
use crate::particles::Newcomers;
use crate::state::{Phase, State};
use crate::sweep::sees;

/// Cells at least this deep below the surface, in cells, are reseeded: nearer to it, few particles may be
/// what is right.
const DEPTH: f32 = -1.0;

/// A particle that the flow carries this far into the other fluid, in cells, is of nothing that the grid could tell.
const STRAY: f32 = 2.0;

/// A wall that is thinner, in cells, may be seeded through.
const LEAST_WALL: f64 = 0.02;

/// What a reseeding did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReseedInfo {
    /// Particles added.
    pub added: usize,
    /// Particles taken away.
    pub thinned: usize,
}

impl ReseedInfo {
    /// What two reseedings did.
    pub fn plus(self, other: Self) -> Self {
        Self { added: self.added + other.added, thinned: self.thinned + other.thinned }
    }
}

/// Adds particles to cells inside a fluid with too few, and takes particles from cells with too many, and from far inside the
/// other fluid. Those taken are put at no position, so that the next sort drops them.
pub fn reseed<const D: usize>(
    state: &mut State<D>,
    phase: Phase,
    ranges: &BlockRanges<D>,
    params: &Params<D>,
    solids: &[Solid<D>],
) -> (Newcomers<D>, ReseedInfo) {
    let blocks = ranges.blocks().clone();
    let [fewest, most] = params.particles_per_cell;
    let salt = state.substep;
    let position = &state.particles_of(phase).position;
    let level_at = |slot: Slot| phase.level(state.level_set[slot]);
    let has_strays = params.second().is_some() && !(phase == Phase::Liquid && params.has_spray());
    let found: Vec<(Vec<[f32; D]>, Vec<usize>)> = (0..blocks.len())
        .into_par_iter()
        .map(|block| {
            let (mut new, mut surplus) = (Vec::new(), Vec::new());
            let mut counts = [0; BLOCK_EDGE.pow(3)];
            for x in &position[ranges.range(block)] {
                counts[local_index(x.map(|c| c as usize % BLOCK_EDGE))] += 1;
            }
            let mut next = ranges.range(block).start;
            for (local, &count) in counts.iter().enumerate().take(block_len::<D>()) {
                // Those of a cell follow one another.
                let own = next..next + count;
                next = own.end;
                let slot = Slot { block, local };
                if has_strays && level_at(slot) > STRAY {
                    surplus.extend(own);
                    continue;
                }
                surplus.extend(own.clone().skip(most));
                if count >= fewest || level_at(slot) > DEPTH {
                    continue;
                }
                if !blocks.is_inside(slot) {
                    continue;
                }
                let cell = blocks.cell(slot);
                let centre = params.grid.cell_centre(cell.map(|c| c as i64));
                let half_diagonal = 0.5 * (D as f64).sqrt() * params.grid.dx;
                if solids.iter().any(|solid| solid.distance_before(centre) < -half_diagonal) {
                    continue;
                }
                let missing = fewest - count;
                let halves = position[own].iter().fold(0u8, |halves, x| halves | 1 << half_of(*x));
                let empty = (0..1 << D).filter(|k| halves >> k & 1 == 0);
                let places = empty.map(|k| jittered(cell, k, salt));
                // A wall may part a cell, and what is known of its level is known of the centre.
                let is_seen = |x: &[f32; D]| is_seen_before(params, solids, [centre, params.to_metres(*x)]);
                new.extend(places.filter(is_seen).take(missing));
            }
            (new, surplus)
        })
        .collect();

    let (new, surplus): (Vec<Vec<[f32; D]>>, Vec<Vec<usize>>) = found.into_iter().unzip();
    let (new, surplus) = (new.concat(), surplus.concat());
    let info = ReseedInfo { added: new.len(), thinned: surplus.len() };
    for particle in surplus {
        state.particles_of_mut(phase).position[particle] = [f32::NAN; D];
    }
    let mut newcomers = Newcomers::default();
    newcomers.join_flow(new, &state.velocity, params);
    (newcomers, info)
}

/// Whether the second of two points sees the first, at the beginning of a substep: then it is on the same side of thin walls.
pub(crate) fn is_seen_before<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    way: [[f64; D]; 2],
) -> bool {
    let dx = params.grid.dx;
    solids.iter().all(|solid| sees(|point| solid.distance_before(point), way, LEAST_WALL * dx, dx))
}

/// Which half-cell a position is in: bit `a` is set in the upper half along axis `a`.
pub(crate) fn half_of<const D: usize>(x: [f32; D]) -> usize {
    (0..D).map(|a| ((2.0 * x[a]) as usize & 1) << a).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use meniscus_core::grid::Grid;
    use meniscus_core::particles::SortWorkspace;
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::params::Surroundings;
    use crate::state::Body;

    #[test]
    fn empty_cells_are_filled_and_crowded_ones_thinned_but_not_at_the_surface() {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [24, 24] });
        let pool = Body { shape: Shape::box_between([0.0, 0.0], [24.0, 12.0]).unwrap(), velocity: [0.0; 2] };
        let mut state = State::new(&params, &[pool], &Surroundings::default());
        let cell_of = |x: &[f32; 2]| x.map(|c| c as usize);
        // One deep cell and one at the surface are emptied, one deep cell gets twenty more.
        let emptied = [[5, 5], [8, 11]];
        let keep = |x: &[f32; 2]| !emptied.contains(&cell_of(x));
        state.particles.position.retain(keep);
        state.particles.position.extend((0..20).map(|k| [3.02 + 0.04 * k as f32, 3.5]));
        let count = state.particles.position.len();
        state.particles.velocity = vec![[0.0; 2]; count];
        state.particles.affine = Some(vec![[[0.0; 2]; 2]; count]);
        let blocks = state.level_set.blocks().clone();
        let ranges = state.sort(Phase::Liquid, &blocks, &mut SortWorkspace::default());

        let (new, info) = reseed(&mut state, Phase::Liquid, &ranges, &params, &[]);
        let [fewest, most] = params.particles_per_cell;
        let mut counts = HashMap::new();
        let all = state.particles.position.iter().filter(|x| x[0].is_finite()).chain(&new.position);
        all.for_each(|x| *counts.entry(cell_of(x)).or_insert(0) += 1);
        assert_eq!(counts[&[5, 5]], fewest);
        assert_eq!(counts[&[3, 3]], most);
        assert_eq!(counts.get(&[8, 11]), None);
        assert_eq!(info, ReseedInfo { added: fewest, thinned: 24 - most });
    }
}
