//! The faces of the liquid cells: the one place that says what a face is.

use std::sync::Arc;

use meniscus_core::fractions::ghost_fluid_fraction;
use meniscus_core::grid::{Blocks, FaceField, Field, Slot, block_len};
use rayon::prelude::*;

use super::error::{ProjectionError, check_blocks};
use super::{KineticEnergy, Liquid, Stored};

/// A face with an open fraction above 0 and at least one liquid cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) open: f64,
    /// The ghost-fluid fraction, 1 between liquid cells.
    pub(super) theta: f64,
    pub(super) between_liquid: bool,
}

/// The faces of the liquid. A face is named by the slot of the cell above it.
pub(super) struct Faces<'a, T, const D: usize> {
    liquid: &'a Liquid<'a, T, D>,
    theta_min: f64,
    /// Whether a slot is an unknown: a cell of the domain with a negative level set and an open face.
    /// Cells buried in solid are not, so that no flux of a moving solid is asked of them.
    is_liquid: Vec<bool>,
}

impl<'a, T: Stored, const D: usize> Faces<'a, T, D> {
    /// Finds the liquid cells, and checks the open fractions of their faces.
    pub(super) fn new(liquid: &'a Liquid<'a, T, D>, theta_min: f64) -> Result<Self, ProjectionError> {
        check_blocks(liquid, "the open fraction", liquid.open.blocks())?;
        let mut is_liquid = vec![false; liquid.level_set.blocks().slots()];
        let label = |(block, is_liquid): (usize, &mut [bool])| {
            for (local, is_liquid) in is_liquid.iter_mut().enumerate() {
                match is_unknown(liquid, Slot { block, local }) {
                    Ok(unknown) => *is_liquid = unknown,
                    Err(error) => return Some(error),
                }
            }
            None
        };
        let chunks = is_liquid.par_chunks_mut(block_len::<D>());
        match chunks.enumerate().find_map_first(label) {
            Some(error) => Err(error),
            None => Ok(Self { liquid, theta_min, is_liquid }),
        }
    }

    pub(super) fn blocks(&self) -> &Arc<Blocks<D>> {
        self.liquid.level_set.blocks()
    }

    /// The lower face along `axis` of the cell at a slot.
    #[inline]
    fn get(&self, axis: usize, upper: Slot) -> Option<Face> {
        let open = self.liquid.open.axes[axis][upper].into();
        if open == 0.0 {
            return None;
        }
        let lower = self.blocks().step(upper, axis, 0);
        let lower_liquid = lower.is_some_and(|slot| self.is_liquid[slot.flat::<D>()]);
        let upper_liquid = self.is_liquid[upper.flat::<D>()];
        let theta = match (lower_liquid, upper_liquid) {
            (false, false) => return None,
            (true, true) => return Some(Face { open, theta: 1.0, between_liquid: true }),
            (true, false) => self.theta(axis, upper, lower, Some(upper)),
            (false, true) => self.theta(axis, upper, Some(upper), lower),
        };
        Some(Face { open, theta, between_liquid: false })
    }

    /// The ghost-fluid fraction at the face below `upper`. On an open side of the domain the surface is the
    /// side itself, half a cell from the centre of the liquid cell.
    fn theta(&self, axis: usize, upper: Slot, liquid: Option<Slot>, air: Option<Slot>) -> f64 {
        let face = self.blocks().cell(upper)[axis];
        if face == 0 || face == self.blocks().cells()[axis] {
            return 0.5;
        }
        let level_set = self.liquid.level_set;
        let at = |slot: Option<Slot>| slot.map_or(level_set.background(), |slot| level_set[slot]).into();
        ghost_fluid_fraction(at(liquid), at(air), self.theta_min)
    }

    /// The slot above the lower (`side` 0) or upper (`side` 1) face of a liquid cell.
    #[inline]
    fn slot_of(&self, cell: Slot, axis: usize, side: usize) -> Slot {
        if side == 0 {
            cell
        } else {
            self.blocks().step(cell, axis, 1).expect("the blocks hold every face of a liquid cell")
        }
    }

    /// Calls `f(axis, side, face)` for the faces of a cell, if it is liquid.
    #[inline]
    pub(super) fn for_each_of_cell(&self, block: usize, local: usize, mut f: impl FnMut(usize, usize, Face)) {
        let cell = Slot { block, local };
        if self.is_liquid[cell.flat::<D>()] {
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
    /// flux `growth` that is wanted of a cell with an open face; 0 in the other slots.
    pub(super) fn net_flux(&self, velocity: &FaceField<T, D>, growth: f64, flux: &mut [f64]) {
        flux.par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, flux)| {
            for (local, flux) in flux.iter_mut().enumerate() {
                let cell = Slot { block, local };
                *flux = if self.is_liquid[cell.flat::<D>()] {
                    let through = |axis, side| self.flux(velocity, axis, self.slot_of(cell, axis, side));
                    let out = (0..D).map(|axis| through(axis, 1) - through(axis, 0)).sum::<f64>();
                    if growth == 0.0 { out } else { out - growth * self.widest(cell) }
                } else {
                    0.0
                };
            }
        });
    }

    /// The largest open fraction of a liquid cell's faces: what grows in a nearly closed cell must leave it.
    fn widest(&self, cell: Slot) -> f64 {
        let open = |axis, side| self.liquid.open.axes[axis][self.slot_of(cell, axis, side)].into();
        (0..D).flat_map(|axis| [open(axis, 0), open(axis, 1)]).fold(0.0, f64::max)
    }

    #[inline]
    fn flux(&self, velocity: &FaceField<T, D>, axis: usize, face: Slot) -> f64 {
        let open = self.liquid.open.axes[axis][face].into();
        let of_liquid = if open > 0.0 { open * velocity.axes[axis][face].into() } else { 0.0 };
        match self.liquid.solid_velocity {
            Some(solid) if open < 1.0 => of_liquid + (1.0 - open) * solid(axis, self.blocks().cell(face)),
            _ => of_liquid,
        }
    }

    /// Subtracts the gradient of the scaled pressure. The energies are sums of `w theta u²`.
    pub(super) fn subtract_gradient(
        &self,
        scaled_pressure: &Field<f64, D>,
        velocity: &mut FaceField<T, D>,
    ) -> KineticEnergy {
        let pressure = |slot: Option<Slot>| slot.map_or(0.0, |slot| scaled_pressure[slot]);
        let mut total = KineticEnergy::default();
        for axis in 0..D {
            let values = velocity.axes[axis].values_mut().par_chunks_mut(block_len::<D>());
            let update = |(block, values): (usize, &mut [T])| {
                let mut sum = KineticEnergy::default();
                for (local, value) in values.iter_mut().enumerate() {
                    let upper = Slot { block, local };
                    let Some(face) = self.get(axis, upper) else { continue };
                    let jump = pressure(Some(upper)) - pressure(self.blocks().step(upper, axis, 0));
                    let before: f64 = (*value).into();
                    *value = T::nearest(before - jump / face.theta);
                    let after: f64 = (*value).into();
                    let [before, after, change] = [before, after, after - before].map(|u| u * u);
                    sum = sum.plus(KineticEnergy { before, after, change }.scaled(face.open * face.theta));
                }
                sum
            };
            // Summed in the order of the blocks: the same for any number of threads.
            let sums: Vec<KineticEnergy> = values.enumerate().map(update).collect();
            total = sums.into_iter().fold(total, KineticEnergy::plus);
        }
        total
    }

    pub(super) fn valid(&self) -> FaceField<bool, D> {
        let mut valid = FaceField::new(self.blocks().clone(), false);
        for (axis, field) in valid.axes.iter_mut().enumerate() {
            field.values_mut().par_chunks_mut(block_len::<D>()).enumerate().for_each(|(block, valid)| {
                for (local, valid) in valid.iter_mut().enumerate() {
                    *valid = self.get(axis, Slot { block, local }).is_some();
                }
            });
        }
        valid
    }
}

fn is_unknown<T: Stored, const D: usize>(liquid: &Liquid<T, D>, slot: Slot) -> Result<bool, ProjectionError> {
    let blocks = liquid.level_set.blocks();
    let cell = blocks.cell(slot);
    let in_domain = (0..D).all(|a| cell[a] < blocks.cells()[a]);
    if !in_domain {
        return Ok(false);
    }
    let level: f64 = liquid.level_set[slot].into();
    if level.is_nan() {
        return Err(ProjectionError::BadLevelSet { cell: cell.to_vec() });
    }
    if level >= 0.0 {
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
