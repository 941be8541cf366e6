//! Keeping the number of particles in a cell within bounds.

use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Slot, block_len, local_index};
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, jittered};

use crate::params::Params;
use crate::particles::{Newcomers, half_of};
use crate::state::{Phase, State};
use crate::substep::Given;
use crate::surroundings::Solid;
use crate::sweep::is_seen_before;

/// Cells at least this deep below the surface, in cells, are reseeded: nearer to it, few particles may be
/// what is right. Shallower, spray and films would be filled up; deeper, thin sheets run dry. `no_particle_is_born_behind_a_thin_wall` notices twice as much.
const DEPTH: f32 = -1.0;

/// A particle that the flow carries this far into the other fluid, in cells, is of nothing that the grid could tell: farther than liquid may reach beyond its particles.
const STRAY: f32 = 2.0;

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
    Given { params, surroundings, .. }: Given<D>,
    phase: Phase,
    ranges: &BlockRanges<D>,
    state: &mut State<D>,
) -> (Newcomers<D>, ReseedInfo) {
    let solids = &surroundings.solids;
    let blocks = ranges.blocks().clone();
    let [fewest, most] = params.particles_per_cell;
    let salt = state.substep;
    let position = &state.particles_of(phase).position;
    let level_at = |slot: Slot| phase.level(state.level_set[slot]);
    let has_strays = params.second().is_some() && !(phase == Phase::Liquid && params.has_spray());
    let found: Vec<(Vec<[f32; D]>, Vec<usize>)> = parallel::map(blocks.len(), |block| {
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
            let inside = |slot: &Slot| level_at(*slot) < 0.0;
            let views = known_inside(params, solids, &blocks, slot, inside);
            let missing = fewest - count;
            let halves = position[own].iter().fold(0u8, |halves, x| halves | 1 << half_of(*x));
            let empty = (0..1 << D).filter(|k| halves >> k & 1 == 0);
            let places = empty.map(|k| jittered(cell, k, salt));
            // A wall may part a cell: what is known there holds for what is seen from there.
            let is_seen = |x: &[f32; D]| {
                let place = params.to_metres(*x);
                views.iter().any(|view| is_seen_before(params, solids, [*view, place]))
            };
            new.extend(places.filter(is_seen).take(missing));
        }
        (new, surplus)
    });

    let (new, surplus): (Vec<Vec<[f32; D]>>, Vec<Vec<usize>>) = found.into_iter().unzip();
    let (new, surplus) = (new.concat(), surplus.concat());
    let info = ReseedInfo { added: new.len(), thinned: surplus.len() };
    for particle in surplus {
        state.particles_of_mut(phase).position[particle] = [f32::NAN; D];
    }
    let (entering, others) = new.into_iter().partition(|x| enters(params, &state.velocity, *x));
    let mut newcomers = Newcomers::default();
    newcomers.join_flow(others, &state.velocity, params);
    newcomers.join(entering, [0.0; D], params);
    (newcomers, info)
}

/// Whether what is new at a place has come in through an open side. It was at rest outside: with the velocity of the flow that sucks it in, what comes and goes there
/// would bring energy along, without end.
fn enters<const D: usize>(params: &Params<D>, velocity: &FaceField<f32, D>, x: [f32; D]) -> bool {
    let cell = x.map(|c| c as i64);
    let through = |axis: usize, side: usize| {
        let layer = [0, params.grid.cells[axis] as i64 - 1][side];
        let mut face = cell;
        face[axis] += side as i64;
        let inwards = velocity.get(axis, face) * [1.0, -1.0][side];
        params.open_sides[axis][side] && cell[axis] == layer && inwards > 0.0
    };
    (0..D).any(|axis| through(axis, 0) || through(axis, 1))
}

/// The points of and around a cell inside of a fluid where its level set may be known to be that of the fluid: the centre; where a solid covers that at the beginning
/// of a substep, what the level set has there may be of the other side of it, and the centres of its neighbours in the open count too that are `inside` the fluid.
fn known_inside<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    blocks: &Blocks<D>,
    slot: Slot,
    inside: impl Fn(&Slot) -> bool,
) -> Vec<[f64; D]> {
    let is_open = |point: &[f64; D]| solids.iter().all(|solid| solid.distance_before(*point) > 0.0);
    let centre = |slot: Slot| params.grid.cell_centre(blocks.cell(slot).map(|c| c as i64));
    let mut known = vec![centre(slot)];
    if !is_open(&known[0]) {
        let neighbours = (0..D).flat_map(|axis| [0, 1].map(|side| blocks.step(slot, axis, side))).flatten();
        let inside = neighbours.filter(|slot| blocks.is_inside(*slot) && inside(slot));
        known.extend(inside.map(centre).filter(is_open));
    }
    known
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use meniscus_core::grid::{Field, Grid};
    use meniscus_core::particles::SortWorkspace;
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::state::InitialLiquid;
    use crate::surroundings::Surroundings;

    #[test]
    fn empty_cells_are_filled_and_crowded_ones_thinned_but_not_at_the_surface() {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [24, 24] });
        let pool = InitialLiquid {
            shape: Shape::box_between([0.0, 0.0], [24.0, 12.0]).unwrap(),
            velocity: [0.0; 2],
        };
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

        let given = Given { params: &params, surroundings: &Surroundings::default(), dt: 0.01 };
        let (new, info) = reseed(given, Phase::Liquid, &ranges, &mut state);
        let [fewest, most] = params.particles_per_cell;
        let mut counts = HashMap::new();
        let all = state.particles.position.iter().filter(|x| x[0].is_finite()).chain(&new.position);
        all.for_each(|x| *counts.entry(cell_of(x)).or_insert(0) += 1);
        assert_eq!(counts[&[5, 5]], fewest);
        assert_eq!(counts[&[3, 3]], most);
        assert_eq!(counts.get(&[8, 11]), None);
        assert_eq!(info, ReseedInfo { added: fewest, thinned: 24 - most });
    }

    /// What the level set has inside of a wall may be of the other side. So particles came to be below plates of up to two cells: a cell that reached below
    /// had its centre, and liquid, inside.
    #[test]
    fn no_particle_is_born_on_the_other_side_of_a_wall() {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [24, 24] });
        let (bottom, top) = (10.35, 11.65);
        let plate = Solid::fixed(Shape::box_between([-5.0, bottom], [29.0, top]).unwrap());
        let surroundings = Surroundings { solids: vec![plate], ..Surroundings::default() };
        let mut state = State::new(&params, &[], &surroundings);
        let blocks = Arc::new(Blocks::all([24, 24]));
        let ranges = state.sort(Phase::Liquid, &blocks, &mut SortWorkspace::default());
        state.velocity = FaceField::new(blocks.clone(), 0.0);
        let born = |state: &mut State<2>, is_liquid: fn(usize) -> bool| -> [usize; 2] {
            let level = |[_, y]: [usize; 2]| if is_liquid(y) { -2.0 } else { 2.0 };
            state.level_set = Field::from_fn(blocks.clone(), params.band(), level);
            let given = Given { params: &params, surroundings: &surroundings, dt: 0.01 };
            let (new, _) = reseed(given, Phase::Liquid, &ranges, state);
            let heights = || new.position.iter().map(|x| f64::from(x[1]));
            assert!(heights().all(|y| y < bottom || y > top));
            // Those in the cells that are cut.
            [
                heights().filter(|y| (10.0..bottom).contains(y)).count(),
                heights().filter(|y| (top..12.0).contains(y)).count(),
            ]
        };
        let [below, above] = born(&mut state, |y| y >= 10);
        assert!(below == 0 && above > 0, "{below} {above}");
        let [below, above] = born(&mut state, |y| y <= 11);
        assert!(below > 0 && above == 0, "{below} {above}");
    }
}
