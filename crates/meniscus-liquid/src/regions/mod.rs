//! The connected bodies of liquid and regions of air, and which of them touch.

mod fill;
mod labels;
mod volumes;

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_core::components::{BlockCells, Components, Partition, Parts};
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, Slot, block_len, cell_in_block, ravel, unravel};
use meniscus_core::shape::Shape;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::boundary::{Boundary, BoundaryCache};
use crate::params::{Params, Solid, Surroundings};
pub use labels::Owner;
use labels::find_labels;
pub use volumes::{Volumes, across, measure_volumes};

/// Bodies of liquid and regions of air. Cells belong together if they share an open face, so that a wall parts
/// what lies on its two sides.
pub struct Regions<const D: usize> {
    /// The bodies of liquid.
    pub bodies: Components<D>,
    /// The regions of air.
    pub air: Components<D>,
    /// What each cell of the blocks belongs to; [`Owner::of`] reads it.
    pub labels: Field<u32, D>,
    /// By region of air: whether it reaches an open side or a sink, through which air comes and goes.
    pub vented: Vec<bool>,
    /// Who touches whom.
    pub contacts: Vec<Contact>,
}

/// A body of liquid and a region of air that touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// The body.
    pub body: usize,
    /// The region.
    pub region: usize,
    /// The open area of the faces between them, in faces.
    pub area: f64,
}

impl<const D: usize> Regions<D> {
    /// Finds them. The blocks hold every cell of liquid, and all that a moving solid cuts.
    pub fn find(
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        cache: &mut BoundaryCache<D>,
    ) -> Self {
        let cells = params.grid.cells;
        let dims = Blocks::dims_of(cells);
        let blocks = level_set.blocks();
        let moving: Vec<&Solid<D>> = surroundings.solids.iter().filter(|s| s.moves()).collect();
        let elsewhere = cache.open_cells(params, &surroundings.solids);
        let bodies = Components::find(cells, |coord| match blocks.find(coord) {
            Some(block) => cells_with(level_set, boundary, block, |level| level < 0.0),
            None => BlockCells::None,
        });
        let air = Components::find(cells, |coord| match blocks.find(coord) {
            Some(block) => cells_with(level_set, boundary, block, |level| level >= 0.0),
            None if is_inside_any(params, &moving, coord) => BlockCells::None,
            None => elsewhere[ravel(coord, dims)].cells.clone(),
        });
        let labels = find_labels(&bodies, &air, blocks);
        let contacts = find_contacts(&labels, boundary);
        let vented = find_vented(params, &surroundings.sinks, &air);
        Self { bodies, air, labels, vented, contacts }
    }

    /// The regions that keep their volume: those that touch liquid and are not vented, but for the unconstrained one
    /// of each sealed group.
    pub fn constrained(&self) -> Vec<bool> {
        let area = self.liquid_area();
        let mut constrained: Vec<bool> =
            (0..self.air.len()).map(|r| area[r] > 0.0 && !self.vented[r]).collect();
        for group in self.sealed_groups() {
            constrained[group.unconstrained] = false;
        }
        constrained
    }

    /// The parts of the world that hold both air and liquid and that nothing connects with the outside.
    pub fn sealed_groups(&self) -> Vec<SealedGroup> {
        let count = self.air.len();
        let mut partition = Partition::new(count + self.bodies.len());
        for contact in &self.contacts {
            partition.join(contact.region, count + contact.body);
        }
        let (class, groups) = partition.classes();
        let class = |member: usize| class[member] as usize;
        let mut vented = vec![false; groups];
        for region in (0..count).filter(|&region| self.vented[region]) {
            vented[class(region)] = true;
        }
        let area = self.liquid_area();
        let mut sealed: BTreeMap<usize, SealedGroup> = BTreeMap::new();
        for region in (0..count).filter(|&region| area[region] > 0.0 && !vented[class(region)]) {
            let new = || SealedGroup { regions: Vec::new(), bodies: Vec::new(), unconstrained: region };
            let group = sealed.entry(class(region)).or_insert_with(new);
            group.regions.push(region);
            if area[region] > area[group.unconstrained] {
                group.unconstrained = region;
            }
        }
        for body in 0..self.bodies.len() {
            if let Some(group) = sealed.get_mut(&class(count + body)) {
                group.bodies.push(body);
            }
        }
        sealed.into_values().collect()
    }

    /// By region, the open area of the faces that it shares with liquid, in faces.
    pub fn liquid_area(&self) -> Vec<f64> {
        let mut area = vec![0.0; self.air.len()];
        for contact in &self.contacts {
            area[contact.region] += contact.area;
        }
        area
    }

    /// The region that a cell belongs to.
    pub fn region_at(&self, cell: [usize; D]) -> Option<usize> {
        self.air.of_cell(cell.map(|c| c / BLOCK_EDGE), cell.map(|c| c % BLOCK_EDGE))
    }
}

/// Bodies and regions that are connected with one another and with nothing else. The last constraint on their volumes
/// follows from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedGroup {
    /// Its regions.
    pub regions: Vec<usize>,
    /// Its bodies.
    pub bodies: Vec<usize>,
    /// The region that goes without a constraint and takes up what the others leave: the one with the largest
    /// surface (Goldade 2017).
    pub unconstrained: usize,
}

/// The cells of a block with such a level and an open face.
fn cells_with<const D: usize>(
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
    block: usize,
    wanted: impl Fn(f32) -> bool,
) -> BlockCells<D> {
    let levels = level_set.block(block);
    if boundary.is_solid(block) || !levels.iter().any(|&level| wanted(level)) {
        return BlockCells::None;
    }
    if boundary.is_clear(block) {
        if levels.iter().all(|&level| wanted(level)) {
            return BlockCells::All;
        }
        return BlockCells::Some(Arc::new(Parts::new(|local| wanted(levels[local]), |_, _| true)));
    }
    let blocks = level_set.blocks();
    let is_open = |axis: usize, slot: Slot| boundary.open.axes[axis][slot] > 0.0;
    let member = |local: usize| {
        let slot = Slot { block, local };
        let cell = blocks.cell(slot);
        let inside = (0..D).all(|a| cell[a] < blocks.cells()[a]);
        let above = |axis: usize| blocks.step(slot, axis, 1).is_some_and(|upper| is_open(axis, upper));
        wanted(levels[local]) && inside && (0..D).any(|axis| is_open(axis, slot) || above(axis))
    };
    let parts = Parts::new(member, |axis, local| is_open(axis, Slot { block, local }));
    if parts.is_empty() { BlockCells::None } else { BlockCells::Some(Arc::new(parts)) }
}

/// Whether a block lies wholly inside one of the solids.
fn is_inside_any<const D: usize>(params: &Params<D>, solids: &[&Solid<D>], coord: [usize; D]) -> bool {
    let (centre, half_diagonal) = params.block_ball(coord);
    solids.iter().any(|solid| solid.distance(centre) < -half_diagonal)
}

/// The open area between bodies and regions.
fn find_contacts<const D: usize>(labels: &Field<u32, D>, boundary: &Boundary<D>) -> Vec<Contact> {
    let blocks = labels.blocks();
    let of_block = |block: usize| -> BTreeMap<(usize, usize), f64> {
        let mut found = BTreeMap::new();
        let below = (0..D).filter_map(|axis| blocks.neighbour(block, axis, 0));
        let first = labels.block(block)[0];
        if below.chain([block]).all(|b| labels.block(b).iter().all(|&label| label == first)) {
            return found;
        }
        for upper in (0..block_len::<D>()).map(|local| Slot { block, local }) {
            for axis in 0..D {
                let open = f64::from(boundary.open.axes[axis][upper]);
                let Some(lower) = blocks.step(upper, axis, 0).filter(|_| open > 0.0) else { continue };
                if labels[lower] == labels[upper] {
                    continue;
                }
                let pair = match (Owner::of(labels[lower]), Owner::of(labels[upper])) {
                    (Some(Owner::Body(body)), Some(Owner::Region(region))) => (body, region),
                    (Some(Owner::Region(region)), Some(Owner::Body(body))) => (body, region),
                    _ => continue,
                };
                *found.entry(pair).or_insert(0.0) += open;
            }
        }
        found
    };
    let parts: Vec<_> = (0..blocks.len()).into_par_iter().map(of_block).collect();
    let mut all = BTreeMap::new();
    for (pair, area) in parts.into_iter().flatten() {
        *all.entry(pair).or_insert(0.0) += area;
    }
    all.into_iter().map(|((body, region), area)| Contact { body, region, area }).collect()
}

/// The regions of air that reach an open side of the domain or a sink.
fn find_vented<const D: usize>(params: &Params<D>, sinks: &[Shape<D>], air: &Components<D>) -> Vec<bool> {
    let mut vented = vec![false; air.len()];
    let cells = params.grid.cells;
    let last = cells.map(|n| (n - 1) / BLOCK_EDGE);
    let mut vent = |coord: [usize; D], is_vent: &dyn Fn([usize; D]) -> bool| {
        for inner in (0..block_len::<D>()).map(cell_in_block::<D>) {
            if let Some(region) = air.of_cell(coord, inner)
                && !vented[region]
                && is_vent(std::array::from_fn(|a| coord[a] * BLOCK_EDGE + inner[a]))
            {
                vented[region] = true;
            }
        }
    };
    if sinks.is_empty() && params.open_sides.iter().flatten().all(|open| !open) {
        return vented;
    }
    let dims = Blocks::<D>::dims_of(cells);
    for index in 0..dims.iter().product() {
        let coord = unravel(index, dims);
        let at_side =
            |axis: usize, end: usize| params.open_sides[axis][end] && coord[axis] == [0, last[axis]][end];
        if (0..D).any(|axis| at_side(axis, 0) || at_side(axis, 1)) {
            vent(coord, &|cell| {
                (0..D).any(|axis| {
                    at_side(axis, 0) && cell[axis] == 0 || at_side(axis, 1) && cell[axis] + 1 == cells[axis]
                })
            });
        }
        let (centre, half_diagonal) = params.block_ball(coord);
        for sink in sinks.iter().filter(|sink| sink.signed_distance(centre) < half_diagonal) {
            vent(coord, &|cell| sink.signed_distance(params.grid.cell_centre(cell.map(|c| c as i64))) < 0.0);
        }
    }
    vented
}

#[cfg(test)]
mod tests;
