//! The connected bodies of liquid and regions of air, and which of them touch.

mod fill;
mod labels;
mod volumes;

use std::collections::BTreeMap;

use meniscus_core::components::{BlockCells, Components, Partition};
use meniscus_core::grid::{
    BLOCK_EDGE, Blocks, Field, Mask, Slot, block_len, cell_in_block, ravel, sides, unravel,
};
use meniscus_core::parallel;
use meniscus_core::shape::Shape;
use serde::{Deserialize, Serialize};

use crate::boundary::{Boundary, BoundaryCache};
use crate::params::Params;
use crate::surroundings::{Solid, Surroundings};
pub use labels::Owner;
use labels::{NOTHING, find_labels};
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
    /// By body of liquid: whether it reaches an open side, through which liquid comes and goes.
    pub spilling: Vec<bool>,
    /// Who touches whom.
    pub interfaces: Vec<Interface>,
}

/// A body of liquid and a region of air that touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
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
        let open = open_faces(boundary, blocks);
        let of_block = |block: usize| {
            let levels = level_set.block(block);
            let liquid = Mask::from_fn(|local| levels[local] < 0.0);
            if boundary.is_solid(block) {
                [BlockCells::None, BlockCells::None]
            } else if liquid.is_empty() && boundary.is_resting(block) {
                [BlockCells::None, elsewhere[ravel(blocks.coord(block), dims)].cells.clone()]
            } else if liquid.is_full() && boundary.is_clear(block) {
                [BlockCells::All, BlockCells::None]
            } else {
                parted_cells(blocks, &liquid, &open, block)
            }
        };
        let found: Vec<[BlockCells<D>; 2]> = parallel::map(blocks.len(), of_block);
        let bodies = Components::find(cells, |coord| match blocks.find(coord) {
            Some(block) => found[block][0].clone(),
            None => BlockCells::None,
        });
        let air = Components::find(cells, |coord| match blocks.find(coord) {
            Some(block) => found[block][1].clone(),
            None if is_inside_any(params, &moving, coord) => BlockCells::None,
            None => elsewhere[ravel(coord, dims)].cells.clone(),
        });
        let labels = find_labels(&bodies, &air, blocks);
        let interfaces = find_interfaces(&labels, &found, &open, boundary);
        let vented = reach_outside(params, &surroundings.sinks, &air);
        let spilling = reach_outside(params, &[], &bodies);
        Self { bodies, air, labels, vented, spilling, interfaces }
    }

    /// The regions that keep their volume: those that touch liquid and are not vented, but for the unconstrained one
    /// of each sealed group.
    pub fn constrained(&self) -> Vec<bool> {
        let area = liquid_area(&self.interfaces, self.air.len());
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
        for interface in &self.interfaces {
            partition.join(interface.region, count + interface.body);
        }
        let (class, groups) = partition.classes();
        let class = |member: usize| class[member] as usize;
        let mut vented = vec![false; groups];
        for region in (0..count).filter(|&region| self.vented[region]) {
            vented[class(region)] = true;
        }
        for body in (0..self.bodies.len()).filter(|&body| self.spilling[body]) {
            vented[class(count + body)] = true;
        }
        let area = liquid_area(&self.interfaces, count);
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

    /// The region that a cell belongs to.
    pub fn region_at(&self, cell: [usize; D]) -> Option<usize> {
        self.air.of_cell(cell.map(|c| c / BLOCK_EDGE), cell.map(|c| c % BLOCK_EDGE))
    }
}

/// By region, of so many, the open area of the faces that it shares with liquid, in faces.
pub fn liquid_area(interfaces: &[Interface], regions: usize) -> Vec<f64> {
    let mut area = vec![0.0; regions];
    for interface in interfaces {
        area[interface.region] += interface.area;
    }
    area
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

/// By block and axis, the cells whose lower faces are open.
fn open_faces<const D: usize>(boundary: &Boundary<D>, blocks: &Blocks<D>) -> Vec<[Mask<D>; D]> {
    let of_block = |block: usize| {
        if boundary.is_clear(block) || boundary.is_solid(block) {
            return [if boundary.is_solid(block) { Mask::EMPTY } else { Mask::all() }; D];
        }
        boundary.open.axes.each_ref().map(|open| {
            let values = open.block(block);
            Mask::from_fn(|local| values[local] > 0.0)
        })
    };
    parallel::map(blocks.len(), of_block)
}

/// The cells of a block that are liquid, and those that are not, of those with an open face.
fn parted_cells<const D: usize>(
    blocks: &Blocks<D>,
    liquid: &Mask<D>,
    open: &[[Mask<D>; D]],
    block: usize,
) -> [BlockCells<D>; 2] {
    let has_open_face = (0..D).fold(Mask::EMPTY, |cells, axis| {
        let above = blocks.neighbour(block, axis, 1).map_or(Mask::EMPTY, |above| open[above][axis]);
        cells.or(&open[block][axis]).or(&open[block][axis].lowered(axis, &above))
    });
    let is_inside = |local: usize| blocks.is_inside(Slot { block, local });
    let inside = match is_inside(block_len::<D>() - 1) {
        true => has_open_face,
        false => has_open_face.and(&Mask::from_fn(is_inside)),
    };
    [inside.and(liquid), inside.without(liquid)].map(|members| BlockCells::in_parts(members, &open[block]))
}

/// Whether a block lies wholly inside one of the solids.
fn is_inside_any<const D: usize>(params: &Params<D>, solids: &[&Solid<D>], coord: [usize; D]) -> bool {
    let (centre, half_diagonal) = params.block_ball(coord);
    solids.iter().any(|solid| solid.distance(centre) < -half_diagonal)
}

/// The open area between bodies and regions, by the cells of each kind in each block.
fn find_interfaces<const D: usize>(
    labels: &Field<u32, D>,
    cells: &[[BlockCells<D>; 2]],
    open: &[[Mask<D>; D]],
    boundary: &Boundary<D>,
) -> Vec<Interface> {
    let blocks = labels.blocks();
    let members = |block: Option<usize>, kind: usize| block.map_or(Mask::EMPTY, |b| cells[b][kind].members());
    let of_block = |block: usize| -> Vec<((usize, usize), f64)> {
        let mut found = Vec::new();
        let [liquid, air] = [0, 1].map(|kind| members(Some(block), kind));
        for axis in 0..D {
            let below = blocks.neighbour(block, axis, 0);
            let [liquid_below, air_below] =
                [(liquid, 0), (air, 1)].map(|(cells, kind)| cells.raised(axis, &members(below, kind)));
            let between = liquid.and(&air_below).or(&air.and(&liquid_below)).and(&open[block][axis]);
            for upper in between.iter().map(|local| Slot { block, local }) {
                let lower = blocks.step(upper, axis, 0).map_or(NOTHING, |lower| labels[lower]);
                let pair = match (Owner::of(lower), Owner::of(labels[upper])) {
                    (Some(Owner::Liquid(body)), Some(Owner::Air(region))) => (body, region),
                    (Some(Owner::Air(region)), Some(Owner::Liquid(body))) => (body, region),
                    _ => continue,
                };
                let area = f64::from(boundary.open.axes[axis][upper]);
                match found.iter_mut().find(|(known, _)| *known == pair) {
                    Some((_, sum)) => *sum += area,
                    None => found.push((pair, area)),
                }
            }
        }
        found
    };
    let parts = parallel::map(blocks.len(), of_block);
    let mut all = BTreeMap::new();
    for (pair, area) in parts.into_iter().flatten() {
        *all.entry(pair).or_insert(0.0) += area;
    }
    all.into_iter().map(|((body, region), area)| Interface { body, region, area }).collect()
}

/// Which components reach an open side of the domain or a sink.
fn reach_outside<const D: usize>(
    params: &Params<D>,
    sinks: &[Shape<D>],
    components: &Components<D>,
) -> Vec<bool> {
    let mut reach = vec![false; components.len()];
    let cells = params.grid.cells;
    let dims = Blocks::<D>::dims_of(cells);
    let mut look = |coord: [usize; D], is_outside: &dyn Fn([usize; D]) -> bool| {
        if components.of_parts(coord).iter().all(|&component| reach[component as usize]) {
            return;
        }
        for inner in (0..block_len::<D>()).map(cell_in_block::<D>) {
            if let Some(component) = components.of_cell(coord, inner)
                && !reach[component]
                && is_outside(std::array::from_fn(|a| coord[a] * BLOCK_EDGE + inner[a]))
            {
                reach[component] = true;
            }
        }
    };
    for (axis, end) in sides::<D>() {
        if !params.open_sides[axis][end] {
            continue;
        }
        let side = [0, cells[axis] - 1][end];
        let layer = std::array::from_fn(|a| if a == axis { 1 } else { dims[a] });
        for index in 0..layer.iter().product() {
            let mut coord = unravel(index, layer);
            coord[axis] = side / BLOCK_EDGE;
            look(coord, &|cell| cell[axis] == side);
        }
    }
    for sink in sinks {
        for coord in (0..dims.iter().product()).map(|index| unravel(index, dims)) {
            let (centre, half_diagonal) = params.block_ball(coord);
            if sink.signed_distance(centre) < half_diagonal {
                look(coord, &|cell| {
                    sink.signed_distance(params.grid.cell_centre(cell.map(|c| c as i64))) < 0.0
                });
            }
        }
    }
    reach
}

#[cfg(test)]
mod tests;
