//! The faces of the liquid cells: the one place that says what a face is.

use std::sync::Arc;

use meniscus_core::fractions::ghost_fluid_fraction;
use meniscus_core::grid::{Blocks, FaceField, Mask, Slot, block_len, sides};
use meniscus_core::parallel;

use super::energy::{Inertia, Pushed};
use super::error::{ProjectionError, check_blocks, check_bubbles};
use super::parts::{Carried, Parts};
use super::{KineticEnergy, Liquid, NO_BUBBLE, NO_TILE, Stored, plain};

/// A face with an open fraction above 0 and at least one cell that is solved for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) open: f64,
    /// The inverse of its mass, as a part of that of a whole face in the liquid: 1 between liquid cells.
    pub(super) mobility: f64,
    pub(super) between: Between,
    /// By how much the pressure jumps along the axis at the surface, in Pa: from the air down to the liquid it
    /// rises by the pressure of the surface tension. 0 between cells of the same fluid.
    pub(super) jump: f64,
}

/// What a face lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Between {
    /// Two cells that are solved for.
    Cells,
    /// A cell and air at pressure 0.
    OpenAir,
    /// A cell and a bubble.
    Bubble(usize),
}

/// What corrections ask for: a flux out of liquid cells, per area of a face, and the work of all.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) flux: f64,
    pub(super) work: f64,
}

impl Asked {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { flux: self.flux + other.flux, work: self.work + other.work }
    }

    pub(super) fn less(self, other: Self) -> Self {
        Self { flux: self.flux - other.flux, work: self.work - other.work }
    }
}

/// The faces of the fluids. A face is named by the slot of the cell above it.
pub(super) struct Faces<'a, T, const D: usize> {
    liquid: &'a Liquid<'a, T, D>,
    theta_min: f64,
    /// The mobility of a whole face in the second fluid, if there is one. It has the digits of an f32: sums of a few of it are
    /// exact, and blocks full of the fluid are then seen to be uniform.
    second: Option<f64>,
    /// By block, the cells that are unknowns: those of the domain with an open face that hold liquid, or the second fluid.
    /// Cells buried in solid are not, so that no flux of a moving solid is asked of them.
    unknown: Vec<Mask<D>>,
    /// By block, the mobility of all its faces if it is [plain](super::plain), else 0.
    plain: Vec<f64>,
    /// The blocks that hold or touch a cell of a bubble.
    bubbly: Vec<usize>,
    /// The affine tiles.
    parts: Parts<D>,
}

impl<'a, T: Stored, const D: usize> Faces<'a, T, D> {
    /// Finds the cells that are solved for, and checks the open fractions of their faces.
    pub(super) fn new(liquid: &'a Liquid<'a, T, D>, theta_min: f64) -> Result<Self, ProjectionError> {
        check_blocks(liquid, "the open fraction", liquid.open.blocks())?;
        if let Some(solid) = liquid.solid_velocity {
            check_blocks(liquid, "the velocity of the solids", solid.blocks())?;
        }
        if let Some(separates) = liquid.separates {
            check_blocks(liquid, "what lets go of the liquid", separates.blocks())?;
        }
        check_bubbles(liquid)?;
        let second = second_mobility(liquid)?;
        let parts = liquid.tiles.map_or_else(Parts::default, |r| Parts::new(liquid.level_set.blocks(), r));
        let clear = plain::clear_blocks(liquid);
        let unknown_cells = |block: usize| {
            let levels = liquid.level_set.block(block);
            let is_number = |value: &T| !(*value).into().is_nan();
            if (parts.carried(block) == Carried::All || clear[block]) && levels.iter().all(is_number) {
                let is_fluid = |local: usize| second.is_some() || levels[local].into() < 0.0;
                return Ok(Mask::from_fn(is_fluid).without(&parts.cells(block)));
            }
            let mut unknown = Mask::EMPTY;
            for local in 0..block_len::<D>() {
                if is_solved_for(liquid, Slot { block, local })? {
                    unknown.insert(local);
                }
            }
            Ok(unknown)
        };
        let unknown = parallel::map(liquid.level_set.blocks().len(), unknown_cells);
        let unknown = unknown.into_iter().collect::<Result<Vec<Mask<D>>, ProjectionError>>()?;
        let fluid = |block: usize| unknown[block].or(&parts.cells(block));
        let plain = plain::mobilities(liquid, &clear, fluid, second);
        Ok(Self { liquid, theta_min, second, unknown, plain, bubbly: bubbly_blocks(liquid), parts })
    }

    /// These faces without plain blocks: all is done face by face.
    #[cfg(test)]
    pub(super) fn face_by_face(mut self) -> Self {
        self.plain.fill(0.0);
        self
    }

    /// The mobility of all faces of a block, if it is plain.
    pub(super) fn plain_mobility(&self, block: usize) -> Option<f64> {
        Some(self.plain[block]).filter(|&mobility| mobility > 0.0)
    }

    /// The cells of a block that are unknowns of their own.
    pub(super) fn unknown_cells(&self, block: usize) -> Mask<D> {
        self.unknown[block]
    }

    pub(super) fn liquid(&self) -> &'a Liquid<'a, T, D> {
        self.liquid
    }

    /// Whether a cell is an unknown of its own.
    pub(super) fn is_unknown(&self, cell: Slot) -> bool {
        self.unknown[cell.block].has(cell.local)
    }

    /// The cells of liquid that are solved for, by themselves or in tiles.
    pub(super) fn liquid_cells(&self) -> usize {
        let of_block = |block: usize| {
            let levels = self.liquid.level_set.block(block);
            let fluid = self.unknown[block].or(&self.parts.cells(block));
            fluid.and(&Mask::from_fn(|local| levels[local].into() < 0.0)).count()
        };
        parallel::map(self.blocks().len(), of_block).into_iter().sum()
    }

    /// Whether a face of a liquid cell is not wholly open, and one that `counts`.
    pub(super) fn touches_closed(&self, cell: Slot, counts: &FaceField<bool, D>) -> bool {
        sides::<D>().any(|(axis, side)| {
            let face = self.slot_of(cell, axis, side);
            self.liquid.open.axes[axis][face].into() < 1.0 && counts.axes[axis][face]
        })
    }

    /// Whether a liquid cell shares an open face with air of the pressure 0.
    pub(super) fn touches_open_air(&self, cell: Slot) -> bool {
        let mut touches = false;
        self.for_each_of_cell(cell.block, cell.local, |_, _, face| {
            touches |= face.between == Between::OpenAir;
        });
        touches
    }

    /// The unknown that is the pressure of a cell: its own, or that of its bubble.
    pub(super) fn unknown(&self, cell: Slot) -> Option<usize> {
        if self.is_unknown(cell) {
            return Some(cell.flat::<D>());
        }
        self.bubble_at(cell).map(|bubble| self.blocks().slots() + bubble)
    }

    /// The affine tile that a cell is of.
    #[inline]
    pub(super) fn tile_at(&self, cell: Slot) -> Option<usize> {
        let tile = self.liquid.tiles?.of_slot[cell.flat::<D>()];
        (tile != NO_TILE).then_some(tile as usize)
    }

    /// The affine tile that carries the lower face of a cell along an axis.
    #[inline]
    fn tile_of_face(&self, axis: usize, upper: Slot) -> Option<usize> {
        if self.parts.carried(upper.block) == Carried::None {
            return None;
        }
        let of_lower = || self.blocks().step(upper, axis, 0).and_then(|lower| self.tile_at(lower));
        self.tile_at(upper).or_else(of_lower)
    }

    /// The affine tiles block by block.
    pub(super) fn parts(&self) -> &Parts<D> {
        &self.parts
    }

    /// The density of what is in a cell, as a part of the liquid's.
    pub(super) fn density_ratio_at(&self, cell: Slot) -> f64 {
        let is_liquid = self.liquid.level_set[cell].into() < 0.0;
        self.second.filter(|_| !is_liquid).map_or(1.0, |mobility| 1.0 / mobility)
    }

    pub(super) fn blocks(&self) -> &Arc<Blocks<D>> {
        self.liquid.level_set.blocks()
    }

    /// The lower face along `axis` of the cell at a slot.
    #[inline(always)]
    pub(super) fn get(&self, axis: usize, upper: Slot) -> Option<Face> {
        let open = self.liquid.open.axes[axis][upper].into();
        if open == 0.0 {
            return None;
        }
        if self.tile_of_face(axis, upper).is_some() {
            return None;
        }
        let lower = self.blocks().step(upper, axis, 0);
        let below = lower.filter(|&lower| self.is_unknown(lower));
        match (below, self.is_unknown(upper)) {
            (None, false) => None,
            (Some(lower), true) => match self.second {
                None => Some(Face { open, mobility: 1.0, between: Between::Cells, jump: 0.0 }),
                Some(second) => Some(self.two_phase_face(axis, upper, lower, open, second)),
            },
            _ => Some(self.surface_face(axis, upper, lower, open)),
        }
    }

    /// A face between two cells, each of liquid or of the second fluid.
    #[inline(always)]
    fn two_phase_face(&self, axis: usize, upper: Slot, lower: Slot, open: f64, second: f64) -> Face {
        let [below, above] = [lower, upper].map(|slot| self.liquid.level_set[slot].into() < 0.0);
        match (below, above) {
            (true, true) => Face { open, mobility: 1.0, between: Between::Cells, jump: 0.0 },
            (false, false) => Face { open, mobility: second, between: Between::Cells, jump: 0.0 },
            _ => self.interface_face(axis, upper, lower, open, second),
        }
    }

    /// A face that the surface between liquid and second fluid crosses: its mass is that of both, each for its part of the
    /// way between the cells, since what accelerates both is the same.
    #[inline(never)]
    fn interface_face(&self, axis: usize, upper: Slot, lower: Slot, open: f64, second: f64) -> Face {
        let upper_liquid = self.liquid.level_set[upper].into() < 0.0;
        let (liquid, other) = if upper_liquid { (upper, lower) } else { (lower, upper) };
        let wet = self.wet(Some(liquid), Some(other), 0.0);
        let mobility = 1.0 / (wet + (1.0 - wet) / second);
        let sign = if upper_liquid { -1.0 } else { 1.0 };
        let jump = sign * self.surface_pressure(axis, upper, Some(liquid), Some(other));
        Face { open, mobility, between: Between::Cells, jump }
    }

    /// A face between a cell that is solved for and one that is not.
    #[inline(never)]
    fn surface_face(&self, axis: usize, upper: Slot, lower: Option<Slot>, open: f64) -> Face {
        let is_above = self.is_unknown(upper);
        let (cell, air) = if is_above { (Some(upper), lower) } else { (lower, Some(upper)) };
        let between = match air.and_then(|slot| self.bubble_at(slot)) {
            Some(bubble) => Between::Bubble(bubble),
            None => Between::OpenAir,
        };
        let sign = if is_above { -1.0 } else { 1.0 };
        let jump = sign * self.surface_pressure(axis, upper, cell, air);
        let is_liquid = cell.is_none_or(|cell| self.liquid.level_set[cell].into() < 0.0);
        let of_fluid = self.second.filter(|_| !is_liquid).unwrap_or(1.0);
        Face { open, mobility: of_fluid / self.theta(axis, upper, cell, air), between, jump }
    }

    /// The bubble that a cell belongs to.
    #[inline]
    fn bubble_at(&self, cell: Slot) -> Option<usize> {
        let bubble = self.liquid.bubbles?.of_slot[cell.flat::<D>()];
        (bubble != NO_BUBBLE && !self.is_unknown(cell)).then_some(bubble as usize)
    }

    /// The ghost-fluid fraction at the face below `upper`. On an open side of the domain the surface is the
    /// side itself, half a cell from the centre of the liquid cell.
    fn theta(&self, axis: usize, upper: Slot, liquid: Option<Slot>, air: Option<Slot>) -> f64 {
        if self.is_side(axis, upper) { 0.5 } else { self.wet(liquid, air, self.theta_min) }
    }

    /// Whether the face below `upper` lies on a side of the domain.
    fn is_side(&self, axis: usize, upper: Slot) -> bool {
        let face = self.blocks().cell(upper)[axis];
        face == 0 || face == self.blocks().cells()[axis]
    }

    /// How much of the way from a liquid to an air cell is liquid, but at least `least`.
    fn wet(&self, liquid: Option<Slot>, air: Option<Slot>, least: f64) -> f64 {
        let level_set = self.liquid.level_set;
        let at = |slot: Option<Slot>| slot.map_or(level_set.background(), |slot| level_set[slot]).into();
        ghost_fluid_fraction(at(liquid), at(air), least)
    }

    /// By how much the liquid's pressure exceeds that of the air where the surface crosses the face below
    /// `upper`, in Pa: between the values of the two cells, so that it tends to that of the liquid cell together
    /// with the ghost-fluid fraction by which it will be divided. On an open side of the domain that of the fluid outside is there instead.
    fn surface_pressure(&self, axis: usize, upper: Slot, liquid: Option<Slot>, air: Option<Slot>) -> f64 {
        if self.is_side(axis, upper) {
            return self.pressure_outside(axis, upper);
        }
        let (Some(excess), Some(liquid)) = (self.liquid.surface_pressure, liquid) else { return 0.0 };
        let at_liquid: f64 = excess[liquid].into();
        let at_air: f64 = air.map_or(at_liquid, |air| excess[air].into());
        at_liquid + self.wet(Some(liquid), air, 0.0) * (at_air - at_liquid)
    }

    /// The pressure of the fluid at rest outside of the domain, at the face below `upper` on an open side, in Pa.
    fn pressure_outside(&self, axis: usize, upper: Slot) -> f64 {
        let (cell, cells) = (self.blocks().cell(upper), self.blocks().cells());
        let below_highest = |a: usize| {
            let at = cell[a] as f64 + if a == axis { 0.0 } else { 0.5 };
            let weight = self.liquid.weight_outside[a];
            weight * (at - if weight < 0.0 { cells[a] as f64 } else { 0.0 })
        };
        (0..D).map(below_highest).sum::<f64>() * self.liquid.grid.dx
    }

    /// The slot above the lower (`side` 0) or upper (`side` 1) face of a liquid cell.
    #[inline]
    pub(super) fn slot_of(&self, cell: Slot, axis: usize, side: usize) -> Slot {
        if side == 0 {
            cell
        } else {
            self.blocks().step(cell, axis, 1).expect("the blocks hold every face of a liquid cell")
        }
    }

    /// Calls `f(axis, side, face)` for the faces of a cell, if it is solved for.
    #[inline]
    pub(super) fn for_each_of_cell(&self, block: usize, local: usize, mut f: impl FnMut(usize, usize, Face)) {
        let cell = Slot { block, local };
        if self.is_unknown(cell) {
            for axis in 0..D {
                for side in 0..2 {
                    if let Some(face) = self.get(axis, self.slot_of(cell, axis, side)) {
                        f(axis, side, face);
                    }
                }
            }
        }
    }

    /// Writes the flux out of each liquid cell per area of a face, that of the solids included, less the
    /// flux that is wanted of a cell with an open face; 0 in the other slots. After the slots come the
    /// bubbles.
    pub(super) fn net_flux(&self, velocity: &FaceField<T, D>, flux: &mut [f64]) {
        self.net_flux_of(Some(velocity), flux);
    }

    /// Writes the flux out of each cell and bubble as [`net_flux`](Self::net_flux) does, or that of the solids alone.
    fn net_flux_of(&self, velocity: Option<&FaceField<T, D>>, flux: &mut [f64]) {
        let (flux, of_bubbles) = flux.split_at_mut(self.blocks().slots());
        self.bubble_flux(velocity, of_bubbles);
        parallel::for_chunks(flux, block_len::<D>(), |block, flux| {
            if self.plain_mobility(block).is_some() {
                return self.plain_flux(block, velocity, flux);
            }
            for (local, flux) in flux.iter_mut().enumerate() {
                let cell = Slot { block, local };
                *flux = if self.is_unknown(cell) {
                    let through = |axis, side| self.flux(velocity, axis, self.slot_of(cell, axis, side));
                    let out = (0..D).map(|axis| through(axis, 1) - through(axis, 0)).sum::<f64>();
                    out - self.wanted_flux(cell)
                } else {
                    0.0
                };
            }
        });
    }

    /// The flux that is wanted out of a cell, per area of a face.
    pub(super) fn wanted_flux(&self, cell: Slot) -> f64 {
        match self.liquid.divergence.map(|divergence| divergence(cell)) {
            Some(rate) if rate != 0.0 => rate * self.liquid.grid.dx * self.widest(cell),
            _ => 0.0,
        }
    }

    /// What is asked for of the cells and bubbles, and its work with the scaled pressures.
    pub(super) fn asked(&self, scaled_pressure: &[f64]) -> Asked {
        let mut asked = Asked::default();
        if self.liquid.divergence.is_some() {
            let of_block = |block: usize| {
                let slots = self.unknown[block].iter().map(|local| Slot { block, local });
                slots.fold(Asked::default(), |sum, cell| sum.plus(self.asked_of(cell, scaled_pressure)))
            };
            // Summed in the order of the blocks: the same for any number of threads.
            let of_blocks: Vec<Asked> = parallel::map(self.blocks().len(), of_block);
            asked = of_blocks.into_iter().fold(asked, Asked::plus);
        }
        if let Some(bubbles) = self.liquid.bubbles {
            let area = self.liquid.grid.dx.powi(D as i32 - 1);
            let pressures = &scaled_pressure[self.blocks().slots()..];
            asked.work += bubbles.growth.iter().zip(pressures).map(|(g, q)| g / area * q).sum::<f64>();
        }
        asked
    }

    /// What is asked for of a cell, and its work with the scaled pressures.
    pub(super) fn asked_of(&self, cell: Slot, scaled_pressure: &[f64]) -> Asked {
        let flux = self.wanted_flux(cell);
        let is_liquid = self.liquid.level_set[cell].into() < 0.0;
        Asked { flux: if is_liquid { flux } else { 0.0 }, work: scaled_pressure[cell.flat::<D>()] * flux }
    }

    /// The work of solids that move, with the scaled pressures, of which all that is asked for does so much; `flux` is memory.
    pub(super) fn work_of_solids(&self, scaled_pressure: &[f64], asked: f64, flux: &mut [f64]) -> f64 {
        if self.liquid.solid_velocity.is_none() {
            return 0.0;
        }
        self.net_flux_of(None, flux);
        let of_solids_less_asked: f64 = flux.iter().zip(scaled_pressure).map(|(flux, q)| flux * q).sum();
        -of_solids_less_asked - asked
    }

    /// Writes the flux out of each bubble per area of a face, that of the solids included, less what it is to
    /// grow by.
    fn bubble_flux(&self, velocity: Option<&FaceField<T, D>>, flux: &mut [f64]) {
        let Some(bubbles) = self.liquid.bubbles else { return };
        let area = self.liquid.grid.dx.powi(D as i32 - 1);
        for (flux, growth) in flux.iter_mut().zip(&bubbles.growth) {
            *flux = -growth / area;
        }
        let of_block = |block: usize| -> Vec<(usize, f64)> {
            let mut found = Vec::new();
            for upper in (0..block_len::<D>()).map(|local| Slot { block, local }) {
                let above = self.bubble_at(upper);
                for axis in 0..D {
                    // Beyond the blocks a bubble goes on, without fields.
                    let Some(lower) = self.blocks().step(upper, axis, 0) else { continue };
                    let below = self.bubble_at(lower);
                    // Within a bubble, what leaves one cell enters the next.
                    if above != below {
                        let through = self.flux(velocity, axis, upper);
                        found.extend(below.map(|bubble| (bubble, through)));
                        found.extend(above.map(|bubble| (bubble, -through)));
                    }
                }
            }
            found
        };
        // Summed in the order of the blocks: the same for any number of threads.
        let parts = parallel::map(self.bubbly.len(), |k| of_block(self.bubbly[k]));
        for (bubble, through) in parts.into_iter().flatten() {
            flux[bubble] += through;
        }
    }

    /// The cells that touch each bubble, with the weights of their couplings.
    pub(super) fn bubble_couplings(&self) -> Vec<Vec<(usize, f64)>> {
        let Some(bubbles) = self.liquid.bubbles else { return Vec::new() };
        let of_block = |block: usize| -> Vec<(usize, usize, f64)> {
            let mut found = Vec::new();
            for local in 0..block_len::<D>() {
                self.for_each_of_cell(block, local, |_, _, face| {
                    if let Between::Bubble(bubble) = face.between {
                        found.push((bubble, Slot { block, local }.flat::<D>(), face.open * face.mobility));
                    }
                });
            }
            found
        };
        let parts = parallel::map(self.bubbly.len(), |k| of_block(self.bubbly[k]));
        let mut couplings = vec![Vec::new(); bubbles.growth.len()];
        for (bubble, cell, weight) in parts.into_iter().flatten() {
            couplings[bubble].push((cell, weight));
        }
        couplings
    }

    /// Adds what the jumps of the pressure push, times `scale`, to the right-hand side: `w/theta J` out of the air
    /// and into each liquid cell at the surface.
    pub(super) fn add_jumps(&self, scale: f64, rhs: &mut [f64]) {
        if self.liquid.surface_pressure.is_none() && self.liquid.weight_outside == [0.0; D] {
            return;
        }
        let (of_slots, of_bubbles) = rhs.split_at_mut(self.blocks().slots());
        let push = |side: usize, face: Face| {
            let outwards = if side == 1 { face.jump } else { -face.jump };
            scale * outwards * face.open * face.mobility
        };
        parallel::for_chunks(of_slots, block_len::<D>(), |block, rhs| {
            for (local, rhs) in rhs.iter_mut().enumerate() {
                self.for_each_of_cell(block, local, |_, side, face| *rhs += push(side, face));
            }
        });
        let of_block = |block: usize| -> Vec<(usize, f64)> {
            let mut found = Vec::new();
            for local in 0..block_len::<D>() {
                self.for_each_of_cell(block, local, |_, side, face| {
                    if let Between::Bubble(bubble) = face.between {
                        found.push((bubble, push(side, face)));
                    }
                });
            }
            found
        };
        let parts = parallel::map(self.bubbly.len(), |k| of_block(self.bubbly[k]));
        for (bubble, push) in parts.into_iter().flatten() {
            of_bubbles[bubble] -= push;
        }
    }

    /// The largest open fraction of a liquid cell's faces: what grows in a nearly closed cell must leave it.
    fn widest(&self, cell: Slot) -> f64 {
        let open = |axis, side| self.liquid.open.axes[axis][self.slot_of(cell, axis, side)].into();
        (0..D).flat_map(|axis| [open(axis, 0), open(axis, 1)]).fold(0.0, f64::max)
    }

    #[inline]
    fn flux(&self, velocity: Option<&FaceField<T, D>>, axis: usize, face: Slot) -> f64 {
        let open = self.liquid.open.axes[axis][face].into();
        let of_liquid = match velocity {
            Some(velocity) if open > 0.0 => open * velocity.axes[axis][face].into(),
            _ => 0.0,
        };
        match self.liquid.solid_velocity {
            Some(solid) if open < 1.0 => of_liquid + (1.0 - open) * solid.axes[axis][face],
            _ => of_liquid,
        }
    }

    /// Subtracts the gradient of the scaled pressure, that of the bubbles after that of the slots, with its jumps
    /// times `scale`. The energies are sums of `w u² / mobility`.
    pub(super) fn subtract_gradient(
        &self,
        scaled_pressure: &[f64],
        scale: f64,
        velocity: &mut FaceField<T, D>,
    ) -> Pushed<D> {
        let (of_slots, of_bubbles) = scaled_pressure.split_at(self.blocks().slots());
        let pressure = |slot: Option<Slot>| {
            let Some(slot) = slot else { return 0.0 };
            self.bubble_at(slot).map_or(of_slots[slot.flat::<D>()], |bubble| of_bubbles[bubble])
        };
        let mut total = Pushed::NOTHING;
        for axis in 0..D {
            let values = velocity.axes[axis].values_mut();
            let update = |block: usize, values: &mut [T]| {
                let mut sum = Pushed::NOTHING;
                if self.parts.carried(block) == Carried::All {
                    return sum;
                }
                if self.plain_mobility(block).is_some() {
                    return self.subtract_plain_gradient(axis, block, of_slots, values);
                }
                for (local, value) in values.iter_mut().enumerate() {
                    let upper = Slot { block, local };
                    let Some(face) = self.get(axis, upper) else { continue };
                    let rise = pressure(Some(upper)) - pressure(self.blocks().step(upper, axis, 0));
                    let rise = rise + scale * face.jump;
                    let before: f64 = (*value).into();
                    *value = T::nearest(before - rise * face.mobility);
                    let after: f64 = (*value).into();
                    let mass = face.open / face.mobility;
                    if face.jump != 0.0 {
                        sum.jumps[usize::from(self.is_side(axis, upper))] -=
                            face.open * after * scale * face.jump;
                    }
                    sum.inertia.mass[axis] += mass;
                    sum.inertia.momentum[axis] += mass * before;
                    sum.momentum_after[axis] += mass * after;
                    let [before, after, change] = [before, after, after - before].map(|u| mass * u * u);
                    sum.energy = sum.energy.plus(KineticEnergy { before, after, change });
                }
                sum
            };
            // Summed in the order of the blocks: the same for any number of threads.
            let sums: Vec<Pushed<D>> = parallel::map_chunks(values, block_len::<D>(), update);
            total = sums.into_iter().fold(total, Pushed::plus);
        }
        total
    }

    /// The kinetic energy of a velocity, doubled, and its inertia, in terms of a cell full of liquid.
    pub(super) fn energy(&self, velocity: &FaceField<T, D>) -> (f64, Inertia<D>) {
        let of_block = |block: usize| {
            let (mut energy, mut inertia) = (0.0, Inertia::NONE);
            for (axis, local) in (0..D).flat_map(|axis| (0..block_len::<D>()).map(move |local| (axis, local)))
            {
                let upper = Slot { block, local };
                let mass = self.mass(axis, upper);
                let u: f64 = velocity.axes[axis][upper].into();
                energy += mass * u * u;
                inertia.mass[axis] += mass;
                inertia.momentum[axis] += mass * u;
            }
            (energy, inertia)
        };
        let of_blocks = parallel::map(self.blocks().len(), of_block);
        of_blocks.into_iter().fold((0.0, Inertia::NONE), |sum, of| (sum.0 + of.0, sum.1.plus(of.1)))
    }

    /// The mass of a face, as a part of that of a cell full of liquid.
    fn mass(&self, axis: usize, upper: Slot) -> f64 {
        if let Some(face) = self.get(axis, upper) {
            return face.open / face.mobility;
        }
        let sides = [Some(upper), self.blocks().step(upper, axis, 0)];
        let of_tile = sides.into_iter().flatten().find(|&cell| self.tile_at(cell).is_some());
        of_tile.map_or(0.0, |cell| self.density_ratio_at(cell))
    }

    pub(super) fn valid(&self) -> FaceField<bool, D> {
        let mut valid = FaceField::new(self.blocks().clone(), false);
        for (axis, field) in valid.axes.iter_mut().enumerate() {
            parallel::for_chunks(field.values_mut(), block_len::<D>(), |block, valid| {
                if self.parts.carried(block) == Carried::All || self.plain_mobility(block).is_some() {
                    return valid.fill(true);
                }
                for (local, valid) in valid.iter_mut().enumerate() {
                    let upper = Slot { block, local };
                    *valid = self.get(axis, upper).is_some() || self.tile_of_face(axis, upper).is_some();
                }
            });
        }
        valid
    }
}

/// The blocks that hold a cell of a bubble, and those across their faces.
fn bubbly_blocks<T: Stored, const D: usize>(liquid: &Liquid<T, D>) -> Vec<usize> {
    let Some(bubbles) = liquid.bubbles else { return Vec::new() };
    let blocks = liquid.open.blocks();
    let holds = parallel::map(blocks.len(), |block| {
        let of_block = parallel::chunk(&bubbles.of_slot, block_len::<D>(), block);
        of_block.iter().any(|&bubble| bubble != NO_BUBBLE)
    });
    let touches = |&block: &usize| {
        let mut beside = sides::<D>().filter_map(|(axis, side)| blocks.neighbour(block, axis, side));
        holds[block] || beside.any(|other| holds[other])
    };
    (0..blocks.len()).filter(touches).collect()
}

/// The mobility of a whole face in the second fluid.
fn second_mobility<T: Stored, const D: usize>(liquid: &Liquid<T, D>) -> Result<Option<f64>, ProjectionError> {
    let Some(ratio) = liquid.second_density_ratio else { return Ok(None) };
    if !(ratio > 0.0 && ratio.is_finite()) {
        let (name, expected) = ("the ratio of the densities", "positive and finite");
        return Err(ProjectionError::BadParameter { name, value: ratio, expected });
    }
    if liquid.bubbles.is_some() {
        return Err(ProjectionError::BubblesInSecondFluid);
    }
    Ok(Some(f64::from((1.0 / ratio) as f32)))
}

fn is_solved_for<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    slot: Slot,
) -> Result<bool, ProjectionError> {
    let blocks = liquid.level_set.blocks();
    if !blocks.is_inside(slot) {
        return Ok(false);
    }
    let cell = blocks.cell(slot);
    let level: f64 = liquid.level_set[slot].into();
    if level.is_nan() {
        return Err(ProjectionError::BadLevelSet { cell: cell.to_vec() });
    }
    let is_air = level >= 0.0 && liquid.second_density_ratio.is_none();
    if is_air || liquid.tiles.is_some_and(|tiles| tiles.of_slot[slot.flat::<D>()] != NO_TILE) {
        return Ok(false);
    }
    let (mut any_open, mut outside) = (false, None);
    for axis in 0..D {
        let upper = blocks.step(slot, axis, 1);
        if upper.is_none() {
            outside = Some(axis);
        }
        for face in [Some(slot), upper].into_iter().flatten() {
            let value: f64 = liquid.open.axes[axis][face].into();
            if !(0.0..=1.0).contains(&value) {
                let cell = blocks.cell(face).to_vec();
                return Err(ProjectionError::BadOpenFraction { axis, cell, value });
            }
            any_open |= value > 0.0;
        }
    }
    match outside {
        Some(axis) if any_open => Err(ProjectionError::FaceOutsideBlocks { axis, cell: cell.to_vec() }),
        _ => Ok(any_open),
    }
}
