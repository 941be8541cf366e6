//! What thin walls hide: a particle tells nothing of the fluid on the other side of them.
//!
//! The grid knows a thin wall by the faces that it closes, which part cells. So each particle near one is given to a cell on its own side,
//! and a cell is told of the particles of those cells alone that it is connected to.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, Slot, block_len, local_index, sides, unravel};
use meniscus_core::level_set::{interface_distance, redistance};
use meniscus_core::parallel;

use crate::boundary::Boundary;
use crate::params::Params;
use crate::particles::Sorted;
use crate::substep::Substep;
use crate::surroundings::Solid;
use crate::sweep::{is_parted, point_in_the_open};

/// How far a cell is told of particles, in cells.
const REACH: i64 = 2;

/// The edge of the cube of cells around a cell that it may be told of.
const EDGE: usize = 2 * REACH as usize + 1;

/// The cells near thin walls, and the particles that these walls hide from them.
pub struct ThinWalls<'a, const D: usize> {
    params: &'a Params<D>,
    solids: &'a [Solid<D>],
    boundary: &'a Boundary<D>,
    /// The cells that such a wall may hide a particle from.
    near: Vec<Slot>,
}

impl<'a, const D: usize> ThinWalls<'a, D> {
    /// Finds the cells near thin walls; `None` if there are no such walls.
    pub fn find(Substep { params, surroundings, boundary, .. }: Substep<'a, D>) -> Option<Self> {
        let solids = &surroundings.solids;
        let near = cells_near_thin_walls(boundary);
        (!near.is_empty()).then_some(Self { params, solids, boundary, near })
    }

    /// Corrects the distances of the cells to sorted particles: where a cell has none on its side of thin walls they are
    /// at least `unseen`, which is at most [`REACH`].
    pub fn hide(&self, distance: &mut Field<f32, D>, particles: Sorted<D>, unseen: f32) {
        let at_home = AtHome::new(self, particles);
        let corrected = |k: usize| {
            let slot = self.near[k];
            let known = distance[slot];
            if known >= unseen {
                return None;
            }
            let centre = self.boundary.blocks().cell(slot).map(|c| c as f32 + 0.5);
            // Most often the nearest one is its own.
            let own = nearest_of(centre, at_home.of(slot));
            let seen = if own <= known + 1e-6 { own } else { self.nearest_seen(slot, centre, &at_home) };
            (seen > known + 1e-6).then_some((slot, seen.min(unseen)))
        };
        for (slot, value) in parallel::gather(self.near.len(), corrected) {
            distance.values_mut()[slot.flat::<D>()] = value;
        }
    }

    /// The distances of cells from the surface that they see, where such a wall lies between them and a cell of the other fluid: the surface is not in the wall.
    fn distances_seen(&self, phi: &Field<f32, D>) -> Vec<Seen> {
        let of_cell = |k: usize| {
            let slot = self.near[k];
            if !self.has_open_face(slot) {
                return None;
            }
            let value = phi[slot];
            let mut parted = false;
            let neighbours = std::array::from_fn(|axis| {
                [0, 1].map(|side| {
                    let Some((other, open)) = self.across(slot, axis, side) else { return f32::NAN };
                    parted |= !open && (phi[other] < 0.0) != (value < 0.0);
                    if open { phi[other] } else { f32::NAN }
                })
            });
            parted.then(|| Seen { slot, value, distance: interface_distance::<D>(value, neighbours) })
        };
        parallel::gather(self.near.len(), of_cell)
    }

    /// The cell across a face, and whether that is open.
    fn across(&self, slot: Slot, axis: usize, side: usize) -> Option<(Slot, bool)> {
        let blocks = self.boundary.blocks();
        let other = blocks.step(slot, axis, side).filter(|other| blocks.is_inside(*other))?;
        let face = if side == 0 { slot } else { other };
        Some((other, self.boundary.open.axes[axis][face] > 0.0))
    }

    fn has_open_face(&self, slot: Slot) -> bool {
        sides::<D>().any(|(axis, side)| self.across(slot, axis, side).is_some_and(|(_, open)| open))
    }

    /// How far the nearest particle is that belongs to a cell connected to this one.
    fn nearest_seen(&self, slot: Slot, centre: [f32; D], at_home: &AtHome<D>) -> f32 {
        let connected = self.connected(slot);
        connected.into_iter().map(|slot| nearest_of(centre, at_home.of(slot))).fold(f32::INFINITY, f32::min)
    }

    /// The cells within reach that open faces, within reach too, connect to a cell.
    fn connected(&self, slot: Slot) -> Vec<Slot> {
        let blocks = self.boundary.blocks();
        let first = blocks.cell(slot).map(|c| c as i64 - REACH);
        let place = |cell: [i64; D]| {
            let inside = (0..D).all(|a| (0..EDGE as i64).contains(&(cell[a] - first[a])));
            inside.then(|| (0..D).rev().fold(0, |index, a| index * EDGE + (cell[a] - first[a]) as usize))
        };
        let mut visited = [false; EDGE.pow(3)];
        visited[EDGE.pow(D as u32) / 2] = true;
        let mut found = vec![slot];
        let mut next = 0;
        while next < found.len() {
            let here = found[next];
            next += 1;
            for (axis, side) in sides::<D>() {
                let Some((other, true)) = self.across(here, axis, side) else { continue };
                let Some(place) = place(blocks.cell(other).map(|c| c as i64)) else { continue };
                if !visited[place] {
                    visited[place] = true;
                    found.push(other);
                }
            }
        }
        found
    }

    /// The distances to the solids at the end of the substep, all in cells.
    fn distances(&self) -> Vec<impl Fn([f64; D]) -> f64> {
        let grid = &self.params.grid;
        self.solids
            .iter()
            .map(|solid| move |point: [f64; D]| solid.distance(grid.point(point)) / grid.dx)
            .collect()
    }

    /// Whether a solid may cut a cell.
    fn is_cut(&self, slot: Slot) -> bool {
        let half_diagonal = 0.5 * (D as f64).sqrt();
        let nodes = self.boundary.corner_distances(slot);
        nodes.is_some_and(|nodes| nodes[..1 << D].iter().any(|d| *d < half_diagonal))
    }

    /// The nearest cell that stands for the side of thin walls on which a point is.
    fn home(&self, solids: &[impl Fn([f64; D]) -> f64], x: [f32; D]) -> Option<Slot> {
        let blocks = self.boundary.blocks();
        let from_centre = |slot: &Slot| {
            let cell = blocks.cell(*slot);
            (0..D).map(|a| (cell[a] as f32 + 0.5 - x[a]).powi(2)).sum::<f32>()
        };
        let sees = |slot: &Slot| {
            let centre = blocks.cell(*slot).map(|c| c as f64 + 0.5);
            let point = point_in_the_open(solids, centre);
            point.is_some_and(|point| !is_parted(solids, point, x.map(f64::from)))
        };
        let own = blocks.locate(x.map(|c| c as i64))?;
        if sees(&own) {
            return Some(own);
        }
        let mut others: Vec<Slot> = around(blocks, x.map(|c| c as i64), -1..=1).collect();
        others.sort_by(|a, b| from_centre(a).total_cmp(&from_centre(b)));
        others.into_iter().filter(|slot| blocks.is_inside(*slot)).find(sees)
    }
}

/// Makes a level set a distance again, on each side of thin walls by itself.
pub fn redistance_between<const D: usize>(walls: Option<&ThinWalls<D>>, phi: &mut Field<f32, D>) {
    let seen = walls.map(|walls| walls.distances_seen(phi));
    let band = phi.background();
    redistance(phi, band);
    seen.iter().flatten().for_each(|seen| seen.set(phi));
}

/// The distance of a cell from the surface that it sees.
struct Seen {
    slot: Slot,
    value: f32,
    /// If there is a surface between it and its neighbours.
    distance: Option<f32>,
}

impl Seen {
    /// Sets what a redistancing that saw through walls has made of the cell.
    fn set<const D: usize>(&self, phi: &mut Field<f32, D>) {
        let level = &mut phi.values_mut()[self.slot.flat::<D>()];
        let distance = self.distance.unwrap_or(level.abs().max(self.value.abs()));
        *level = distance.copysign(*level);
    }
}

/// The cells that thin walls may hide a particle from.
pub fn cells_near_thin_walls<const D: usize>(boundary: &Boundary<D>) -> Vec<Slot> {
    let blocks = boundary.blocks();
    let parted: Vec<Slot> = (0..blocks.len()).flat_map(|block| boundary.parted_cells(block)).collect();
    if parted.is_empty() {
        return Vec::new();
    }
    let mut is_near = vec![false; blocks.slots()];
    for slot in parted {
        // A wall across the lower face of a cell is as near to the cell below.
        let cells = around(blocks, blocks.cell(slot).map(|c| c as i64), -REACH - 1..=REACH);
        cells.for_each(|slot| is_near[slot.flat::<D>()] = true);
    }
    let near = (0..blocks.slots()).filter(|flat| is_near[*flat]).map(Slot::from_flat::<D>);
    near.filter(|slot| blocks.is_inside(*slot)).collect()
}

/// The cells of a cube around a cell that have a slot.
fn around<const D: usize>(
    blocks: &Blocks<D>,
    cell: [i64; D],
    offsets: RangeInclusive<i64>,
) -> impl Iterator<Item = Slot> {
    let (first, edge) = (*offsets.start(), offsets.count());
    let offset = move |index: usize| unravel(index, [edge; D]).map(|o| o as i64 + first);
    let cells = (0..edge.pow(D as u32)).map(move |index| {
        let offset = offset(index);
        std::array::from_fn(|a| cell[a] + offset[a])
    });
    cells.filter_map(|cell| blocks.locate(cell))
}

/// Which particles belong to which cell.
struct AtHome<'a, const D: usize> {
    particles: Sorted<'a, D>,
    /// By block: where the particles of each cell begin, and those of the last one end.
    starts: Vec<Vec<u32>>,
    /// The particles of cells to which not just those inside belong.
    gathered: HashMap<usize, Vec<[f32; D]>>,
}

impl<'a, const D: usize> AtHome<'a, D> {
    fn new(walls: &ThinWalls<D>, particles: Sorted<'a, D>) -> Self {
        let blocks = walls.boundary.blocks().len();
        let starts = parallel::map(blocks, |block| starts_of_cells(particles, block));
        let mut homes = Self { particles, starts, gathered: HashMap::new() };
        let cut: Vec<Slot> = walls.near.iter().copied().filter(|slot| walls.is_cut(*slot)).collect();
        let solids = walls.distances();
        // What the particles of a cell see is enough work to be a piece.
        let of_cell = |k: usize| -> Vec<(Option<Slot>, [f32; D])> {
            homes.inside(cut[k]).iter().map(|&x| (walls.home(&solids, x), x)).collect()
        };
        let found = parallel::map(cut.len(), of_cell);
        homes.gathered.extend(cut.iter().map(|slot| (slot.flat::<D>(), Vec::new())));
        for (home, x) in found.into_iter().flatten() {
            let Some(home) = home else { continue };
            let inside = homes.inside(home);
            homes.gathered.entry(home.flat::<D>()).or_insert_with(|| inside.to_vec()).push(x);
        }
        homes
    }

    /// The particles inside a cell.
    fn inside(&self, Slot { block, local }: Slot) -> &'a [[f32; D]] {
        let [start, end] = [local, local + 1].map(|at| self.starts[block][at] as usize);
        &self.particles.position[start..end]
    }

    /// The particles that belong to a cell.
    fn of(&self, slot: Slot) -> &[[f32; D]] {
        self.gathered.get(&slot.flat::<D>()).map_or_else(|| self.inside(slot), Vec::as_slice)
    }
}

/// Where the particles of each cell of a block begin, and those of the last one end.
fn starts_of_cells<const D: usize>(Sorted { position, ranges }: Sorted<D>, block: usize) -> Vec<u32> {
    let range = ranges.range(block);
    let mut starts = vec![0; block_len::<D>() + 1];
    for x in &position[range.clone()] {
        starts[local_index(x.map(|c| c as usize % BLOCK_EDGE)) + 1] += 1;
    }
    let mut end = range.start as u32;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    starts
}

fn nearest_of<const D: usize>(centre: [f32; D], particles: &[[f32; D]]) -> f32 {
    let squared = |x: &[f32; D]| (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>();
    particles.iter().map(squared).fold(f32::INFINITY, f32::min).sqrt()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::Grid;
    use meniscus_core::particles::{Particles, SortWorkspace};
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::books::Ledger;
    use crate::boundary::BoundaryCache;
    use crate::state::{Phase, State};
    use crate::step::reseed::reseed;
    use crate::substep::Given;
    use crate::surface::Followed;
    use crate::surroundings::Surroundings;

    /// The underside of a plate of a fifth of a cell, barely above the centres of a row of cells.
    const UNDERSIDE: f64 = 11.51;

    /// A pool lies on the plate, and the flow has brought its level set to the underside. Holds the level set to the particles, all of them above, and
    /// counts the cells of liquid below the plate, and the newcomers there. A block may hover above the plate by less than a cell.
    fn found_below(knows_walls: bool, with_block: bool) -> [usize; 2] {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [24, 24] });
        let plate = Shape::box_between([-5.0, UNDERSIDE], [29.0, UNDERSIDE + 0.2]).unwrap();
        let block = Shape::box_between([6.0, UNDERSIDE + 0.7], [18.0, UNDERSIDE + 6.0]).unwrap();
        let shapes = [Some(plate), with_block.then_some(block)];
        let solids: Vec<Solid<2>> = shapes.into_iter().flatten().map(Solid::fixed).collect();
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let blocks = Arc::new(Blocks::all([24, 24]));
        let boundary = Boundary::new(&params, &surroundings, &blocks, &mut BoundaryCache::default());
        let mut state = State::new(&params, &[], &surroundings);
        let place = |k: usize| [(k % 24) as f32 + 0.5, UNDERSIDE as f32 + 0.22 + 0.5 * (k / 24) as f32];
        let is_outside =
            |x: &[f32; 2]| surroundings.solids.iter().all(|s| s.distance(x.map(f64::from)) > 0.0);
        state.particles = Particles::at((0..24 * 16).map(place).filter(is_outside).collect());
        state.particles.affine = Some(vec![[[0.0; 2]; 2]; state.particles.len()]);
        // Two rows of cells below the plate are liquid.
        let level = |y: usize| if y < 10 { 9.7 - y as f32 } else { (8.5 - y as f32).max(-3.0) };
        let mut phi = Field::from_fn(blocks.clone(), params.band(), |[_, y]| level(y).min(params.band()));
        let ranges = state.sort(Phase::Liquid, &blocks, &mut SortWorkspace::default());
        let sorted = Sorted { position: &state.particles.position, ranges: &ranges };
        let substep = Substep { params: &params, surroundings: &surroundings, dt: 0.01, boundary: &boundary };
        let walls = ThinWalls::find(substep).filter(|_| knows_walls);
        let no_excess = vec![0.0; phi.blocks().len()];
        let mut ledger = Ledger::new(no_excess.clone(), 1.0);
        let particles = Followed { liquid: sorted, second: None, excess: &no_excess };
        particles.hold(&mut phi, substep, walls.as_ref(), &mut ledger);
        let is_wet_below =
            |slot: &Slot| blocks.is_inside(*slot) && phi[*slot] < 0.0 && blocks.cell(*slot)[1] <= 11;
        let wet = (0..blocks.slots()).map(Slot::from_flat::<2>).filter(is_wet_below).count();
        state.level_set = phi;
        let given = Given { params: &params, surroundings: &surroundings, dt: 0.01 };
        let (newcomers, _) = reseed(given, Phase::Liquid, &ranges, &mut state);
        [wet, newcomers.position.iter().filter(|x| f64::from(x[1]) < UNDERSIDE).count()]
    }

    /// So particles came to be under a plate: none of them had passed it. The level set reached through it, as far as it may from the
    /// particles, and there it was deep enough to be reseeded.
    #[test]
    fn no_particle_is_born_behind_a_thin_wall() {
        let [wet, newcomers] = found_below(false, false);
        assert!(wet > 0 && newcomers > 0, "or else this tests nothing: {wet} {newcomers}");
        assert_eq!(found_below(true, false), [0, 0]);
    }

    /// The plate does not count as thicker for it.
    #[test]
    fn a_thin_wall_hides_what_is_between_it_and_a_block() {
        assert_eq!(found_below(true, true), [0, 0]);
    }
}
