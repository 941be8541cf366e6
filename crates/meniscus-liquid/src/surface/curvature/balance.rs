//! Surface tension moves nothing as a whole: its forces on a closed surface add up to nothing.
//!
//! Those of a curvature with errors do not. What of them bends the surface ends where the surface has the shape that looks uniform to the grid; their sum is a force that nothing
//! holds, and a drop at rest would fall sideways for ever.

use meniscus_core::components::{BlockCells, Components};
use meniscus_core::grid::{Blocks, Field, Mask, Slot, block_len, cell_in_block, sides};
use meniscus_core::parallel;

use crate::boundary::Boundary;

/// Makes the forces of the pressure of tension on each bubble and each drop whose surface touches no wall add up to nothing, by a linear function of the position.
pub fn balance<const D: usize>(
    pressure: &mut Field<f32, D>,
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
) {
    // A bubble in a drop is a part of its surface.
    for is_liquid in [false, true] {
        Islands::find(level_set, is_liquid).balance(pressure, level_set, boundary);
    }
}

/// The connected components of liquid, or of air.
struct Islands<const D: usize>(Components<D>);

/// Sums over the faces of the surface of an island.
#[derive(Clone, Copy)]
struct Sums<const D: usize> {
    /// Of the pressure, outwards.
    force: [f64; D],
    /// Of the coordinate where the surface crosses the face's axis, outwards: the island's volume, in cells.
    volume: [f64; D],
    /// Of the position, and of 1.
    position: [f64; D],
    faces: f64,
    /// Whether the surface touches a solid or a side of the domain, or goes on where there are no fields.
    is_open: bool,
}

impl<const D: usize> Sums<D> {
    const NOTHING: Self =
        Self { force: [0.0; D], volume: [0.0; D], position: [0.0; D], faces: 0.0, is_open: false };

    fn add(&mut self, other: &Self) {
        for a in 0..D {
            self.force[a] += other.force[a];
            self.volume[a] += other.volume[a];
            self.position[a] += other.position[a];
        }
        self.faces += other.faces;
        self.is_open |= other.is_open;
    }

    /// The linear function of the position that has the same force, if the surface is closed, and around the island: that of what lies around a drop has a volume of less than nothing.
    fn tilt(&self) -> Option<Tilt<D>> {
        let is_closed = !self.is_open && self.volume.iter().all(|&volume| volume > SMALLEST);
        is_closed.then(|| Tilt {
            slope: std::array::from_fn(|a| self.force[a] / self.volume[a]),
            middle: self.position.map(|x| x / self.faces),
        })
    }
}

/// A linear function of the position, in cells, that is 0 in the middle of an island.
#[derive(Clone, Copy)]
struct Tilt<const D: usize> {
    slope: [f64; D],
    middle: [f64; D],
}

impl<const D: usize> Tilt<D> {
    fn at(&self, cell: [usize; D]) -> f64 {
        (0..D).map(|a| self.slope[a] * (cell[a] as f64 + 0.5 - self.middle[a])).sum()
    }
}

/// Islands of less than this, in cells, have no shape to speak of: their forces are left as they are.
const SMALLEST: f64 = 1.0;

impl<const D: usize> Islands<D> {
    fn find(level_set: &Field<f32, D>, is_liquid: bool) -> Self {
        let blocks = level_set.blocks();
        let open = std::array::from_fn(|_| Mask::all());
        let of_block = |block: usize| {
            let is_member = |slot: Slot| blocks.is_inside(slot) && (level_set[slot] < 0.0) == is_liquid;
            BlockCells::in_parts(Mask::from_fn(|local| is_member(Slot { block, local })), &open)
        };
        let of_coord = |coord| blocks.find(coord).map_or(BlockCells::None, of_block);
        Self(Components::find(blocks.cells(), of_coord))
    }

    fn at(&self, blocks: &Blocks<D>, slot: Slot) -> Option<usize> {
        self.0.of_cell(blocks.coord(slot.block), cell_in_block::<D>(slot.local))
    }

    fn balance(&self, pressure: &mut Field<f32, D>, level_set: &Field<f32, D>, boundary: &Boundary<D>) {
        let sums = self.sums(pressure, level_set, boundary);
        let tilts: Vec<Option<Tilt<D>>> = sums.iter().map(Sums::tilt).collect();
        if tilts.iter().all(Option::is_none) {
            return;
        }
        let blocks = level_set.blocks();
        parallel::for_chunks(pressure.values_mut(), block_len::<D>(), |block, values| {
            for (local, value) in values.iter_mut().enumerate().filter(|(_, value)| **value != 0.0) {
                let slot = Slot { block, local };
                // The cells on both sides of the surface have its pressure.
                let around = sides::<D>().filter_map(|(axis, side)| blocks.step(slot, axis, side));
                let island = std::iter::once(slot).chain(around).find_map(|slot| self.at(blocks, slot));
                if let Some(tilt) = island.and_then(|island| tilts[island]) {
                    *value -= tilt.at(blocks.cell(slot)) as f32;
                }
            }
        });
    }

    fn sums(
        &self,
        pressure: &Field<f32, D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
    ) -> Vec<Sums<D>> {
        let blocks = level_set.blocks();
        let of_block = |block: usize| {
            let mut found: Vec<(usize, Sums<D>)> = Vec::new();
            for slot in (0..block_len::<D>()).map(|local| Slot { block, local }) {
                if let Some(island) = self.at(blocks, slot) {
                    let sums = self.sums_of_cell(pressure, level_set, boundary, slot);
                    match found.iter_mut().find(|(known, _)| *known == island) {
                        Some((_, sum)) => sum.add(&sums),
                        None => found.push((island, sums)),
                    }
                }
            }
            found
        };
        let parts = parallel::map(blocks.len(), of_block);
        let mut sums = vec![Sums::NOTHING; self.0.len()];
        // In the order of the blocks: the same for any number of threads.
        parts.iter().flatten().for_each(|(island, part)| sums[*island].add(part));
        sums
    }

    /// The sums over the faces of a cell of an island.
    fn sums_of_cell(
        &self,
        pressure: &Field<f32, D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        slot: Slot,
    ) -> Sums<D> {
        let blocks = level_set.blocks();
        let mut sums = Sums::NOTHING;
        for (axis, side) in sides::<D>() {
            let Some(other) = blocks.step(slot, axis, side).filter(|other| blocks.is_inside(*other)) else {
                sums.is_open = true;
                continue;
            };
            let upper = if side == 1 { other } else { slot };
            sums.is_open |= boundary.open.axes[axis][upper] < 1.0;
            if self.at(blocks, other).is_some() {
                continue;
            }
            // Where the surface is, and the pressure there, as the projection has it.
            let [here, there] = [level_set[slot], level_set[other]].map(f64::from);
            let way = here / (here - there);
            let [here, there] = [pressure[slot], pressure[other]].map(f64::from);
            let sign = [-1.0, 1.0][side];
            let mut position = blocks.cell(slot).map(|c| c as f64 + 0.5);
            position[axis] += sign * way;
            sums.force[axis] += sign * (here + way * (there - here));
            sums.volume[axis] += sign * position[axis];
            (0..D).for_each(|a| sums.position[a] += position[a]);
            sums.faces += 1.0;
        }
        // What touches a wall elsewhere has no edge there.
        sums.is_open &= sums.faces > 0.0;
        sums
    }
}
