//! How much bodies of liquid and regions of air hold.
//!
//! A cell on the surface is partly liquid and partly air, whatever its label says. The part that its own body or
//! region does not take goes to the neighbour of the other kind that lies deepest on the other side.

use meniscus_core::components::BlockCells;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, HaloTile, Slot, block_len, cell_in_block, unravel};
use meniscus_core::parallel;

use super::labels::NOTHING;
use super::{Owner, Regions};
use crate::boundary::{Boundary, OpenCells};
use crate::holding::Holding;
use crate::measure::{liquid_fraction, load_extended};

/// What all of them hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Volumes<const D: usize> {
    /// By body of liquid.
    pub bodies: Vec<Holding<D>>,
    /// By region of air.
    pub regions: Vec<Holding<D>>,
    /// The liquid that is of no body: in cells of sources, and in drops that cover no centre of a cell.
    pub stray_liquid: f64,
}

impl<const D: usize> Volumes<D> {
    fn of(&mut self, owner: Owner) -> &mut Holding<D> {
        match owner {
            Owner::Liquid(body) => &mut self.bodies[body],
            Owner::Air(region) => &mut self.regions[region],
        }
    }
}

/// The volumes within those blocks of the labels that are `wanted`, of `counts` bodies and regions.
pub fn measure_volumes<const D: usize>(
    labels: &Field<u32, D>,
    [bodies, regions]: [usize; 2],
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
    wanted: impl Fn(usize) -> bool + Sync,
) -> Volumes<D> {
    let of_block = |tiles: &mut Tiles<D>, block: usize| {
        let mut found = Found { parts: Vec::new(), stray_liquid: 0.0 };
        if wanted(block) && !boundary.is_solid(block) {
            found.measure(labels, level_set, boundary, block, tiles);
        }
        found
    };
    let found: Vec<Found<D>> = parallel::map_with(labels.blocks().len(), Tiles::new, of_block);
    let mut volumes = Volumes {
        bodies: vec![Holding::NOTHING; bodies],
        regions: vec![Holding::NOTHING; regions],
        stray_liquid: 0.0,
    };
    // Summed in the order of the blocks: the same for any number of threads.
    for of_block in found {
        volumes.stray_liquid += of_block.stray_liquid;
        for (owner, holding) in of_block.parts {
            volumes.of(owner).add(&holding);
        }
    }
    volumes
}

impl<const D: usize> Regions<D> {
    /// What all bodies and regions hold. Of the blocks without fields, `open` tells what resting solids leave open.
    pub fn measure(
        &self,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        open: &[OpenCells<D>],
    ) -> Volumes<D> {
        let blocks = level_set.blocks();
        // What holds nothing but air, with no surface near, is known.
        let of_block = |block: usize| {
            !boundary.is_resting(block) || level_set.block(block).iter().any(|&level| level < 1.0)
        };
        let wanted: Vec<bool> = parallel::map(blocks.len(), of_block);
        let counts = [self.bodies.len(), self.air.len()];
        let mut volumes = measure_volumes(&self.labels, counts, level_set, boundary, |block| wanted[block]);
        let dims = Blocks::dims_of(blocks.cells());
        for (index, open) in open.iter().enumerate() {
            let coord = unravel(index, dims);
            if blocks.find(coord).is_some_and(|block| wanted[block])
                || matches!(self.air.block(coord), BlockCells::None)
            {
                continue;
            }
            for (&region, holding) in self.air.of_parts(coord).iter().zip(&open.holdings) {
                volumes.regions[region as usize].add(holding);
            }
        }
        volumes
    }
}

/// A block and its halo.
struct Tiles<const D: usize> {
    levels: HaloTile<f32, D, 1>,
    labels: HaloTile<u32, D, 1>,
}

impl<const D: usize> Tiles<D> {
    fn new() -> Self {
        Self { levels: HaloTile::new(0.0), labels: HaloTile::new(NOTHING) }
    }

    fn load(
        &mut self,
        labels: &Field<u32, D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        block: usize,
    ) {
        load_extended(level_set, block, boundary, &mut self.levels);
        self.labels.load(labels, block);
    }

    /// The owner on the other side of the surface from a cell: see [`across`].
    fn across(&self, inner: [usize; D], is_liquid: bool) -> Option<Owner> {
        deepest_across(is_liquid, |step: [usize; D]| {
            let at = HaloTile::<u32, D, 1>::index(std::array::from_fn(|a| inner[a] + step[a]));
            Some((self.levels.values()[at], self.labels.values()[at]))
        })
    }
}

/// What the cells of a block hold, by owner.
struct Found<const D: usize> {
    parts: Vec<(Owner, Holding<D>)>,
    stray_liquid: f64,
}

impl<const D: usize> Found<D> {
    fn measure(
        &mut self,
        labels: &Field<u32, D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        block: usize,
        tiles: &mut Tiles<D>,
    ) {
        let blocks = labels.blocks();
        let levels = level_set.block(block);
        let has_surface = levels.iter().any(|level| level.abs() < 1.0);
        if has_surface {
            tiles.load(labels, level_set, boundary, block);
        } else if boundary.is_clear(block) {
            // All of one kind, and of one owner.
            if let Some(owner) = Owner::of(labels.block(block)[0]) {
                self.parts.push((owner, whole_block(blocks.coord(block))));
            }
            return;
        }
        for (local, &level) in levels.iter().enumerate() {
            let slot = Slot { block, local };
            let cell = blocks.cell(slot);
            if (0..D).any(|a| cell[a] >= blocks.cells()[a]) {
                continue;
            }
            let open = boundary.open_volume(slot);
            let on_surface = level.abs() < 1.0;
            let wet = match on_surface {
                true => liquid_fraction(&tiles.levels, boundary, slot).min(open),
                false if level < 0.0 => open,
                false => 0.0,
            };
            let own = Owner::of(labels[slot]);
            let other = if on_surface { tiles.across(cell_in_block::<D>(local), level < 0.0) } else { None };
            let (own_part, other_part) = if level < 0.0 { (wet, open - wet) } else { (open - wet, wet) };
            // A smoothed delta function of the distance, one cell to either side.
            let area = if on_surface {
                0.5 * open * (1.0 + f64::from(std::f32::consts::PI * level).cos())
            } else {
                0.0
            };
            for (owner, volume, is_liquid) in
                [(own, own_part, level < 0.0), (other, other_part, level >= 0.0)]
            {
                match owner {
                    Some(owner) => self.add(owner, volume, area, cell),
                    None if is_liquid => self.stray_liquid += volume,
                    None => {}
                }
            }
        }
    }

    fn add(&mut self, owner: Owner, volume: f64, area: f64, cell: [usize; D]) {
        let part = match self.parts.iter().position(|(known, _)| *known == owner) {
            Some(part) => part,
            None => {
                self.parts.push((owner, Holding::NOTHING));
                self.parts.len() - 1
            }
        };
        let first_moment = cell.map(|c| (c as f64 + 0.5) * volume);
        self.parts[part].1.add(&Holding { volume, area, first_moment });
    }
}

/// What a block holds that is all of one kind.
fn whole_block<const D: usize>(coord: [usize; D]) -> Holding<D> {
    let volume = block_len::<D>() as f64;
    let first_moment = coord.map(|c| (c as f64 + 0.5) * BLOCK_EDGE as f64 * volume);
    Holding { volume, area: 0.0, first_moment }
}

/// The owner on the other side of the surface from a cell: that of the neighbour, diagonal ones included, which
/// lies deepest in the air (`is_liquid`: seen from the liquid) or in the liquid.
pub fn across<const D: usize>(
    labels: &Field<u32, D>,
    level_set: &Field<f32, D>,
    cell: [usize; D],
    is_liquid: bool,
) -> Option<Owner> {
    deepest_across(is_liquid, |step: [usize; D]| {
        let at: [i64; D] = std::array::from_fn(|a| cell[a] as i64 + step[a] as i64 - 1);
        labels.blocks().locate(at).map(|slot| (level_set[slot], labels[slot]))
    })
}

/// The owner on the other side of the surface, by the level and the label of the neighbour at a step; 1 is no step.
fn deepest_across<const D: usize>(
    is_liquid: bool,
    at: impl Fn([usize; D]) -> Option<(f32, u32)>,
) -> Option<Owner> {
    let mut deepest = None;
    for (level, label) in (0..3usize.pow(D as u32)).filter_map(|index| at(unravel(index, [3; D]))) {
        let depth = if is_liquid { level } else { -level };
        let owner = Owner::of(label).filter(|owner| matches!(owner, Owner::Air(_)) == is_liquid);
        if let Some(owner) = owner
            && deepest.is_none_or(|(known, _)| depth > known)
        {
            deepest = Some((depth, owner));
        }
    }
    deepest.map(|(_, owner)| owner)
}
