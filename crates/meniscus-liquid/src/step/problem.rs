//! What a projection is about: everything that a [`Liquid`] refers to, found once for all projections of a substep.

use std::borrow::Cow;

use meniscus_core::grid::{FaceField, Field, Slot};

use super::corrections::Corrections;
use crate::carriers::{carriers, touching};
use crate::params::AirModel;
use crate::projection::{AffineTiles, Bubbles, Liquid, Touching};
use crate::rigid::RigidCarrier;
use crate::state::State;
use crate::substep::Substep;
use crate::tiles::find_tiles;
use crate::volume::growth::constraints;

/// What the liquid of a state is confined by and carries, and what acts on it beside gravity.
pub struct Problem<const D: usize> {
    /// The rigid bodies, after gravity has acted on them.
    pub bodies: Vec<RigidCarrier<D>>,
    /// The air that keeps its volume without being solved for.
    pub bubbles: Option<Bubbles>,
    /// Where bodies touch.
    touching: Option<Touching<D>>,
    /// What the closed parts of faces move with.
    solid_velocity: Option<FaceField<f64, D>>,
    /// The cells that move together.
    tiles: Option<AffineTiles>,
    /// The faces at which liquid may come off.
    pub separates: Option<FaceField<bool, D>>,
    /// The pressure of surface tension.
    pub surface_pressure: Option<Field<f32, D>>,
    /// What volumes are to change by.
    pub corrections: Option<Corrections>,
    /// What the fluid outside of open sides weighs, in N/m³.
    pub weight_outside: [f64; D],
}

impl<const D: usize> Problem<D> {
    /// The liquid with its walls, bodies and bubbles: nothing but gravity acts, each cell moves on its own and nothing comes off.
    pub fn new(substep: Substep<D>, state: &State<D>) -> Self {
        Self {
            bodies: carriers(substep, &state.level_set, &state.bodies),
            bubbles: bubbles(substep, state),
            touching: touching(substep, &state.bodies),
            solid_velocity: substep.velocity_of_closed_parts(),
            tiles: None,
            separates: None,
            surface_pressure: None,
            corrections: None,
            weight_outside: [0.0; D],
        }
    }

    /// Lets the deep interior of the fluids move together, if it is to.
    pub fn reduce(&mut self, Substep { params, boundary, .. }: Substep<D>, level_set: &Field<f32, D>) {
        let tiling = params.tiling.as_ref();
        self.tiles = tiling.map(|tiling| find_tiles(params, tiling, level_set, boundary));
    }

    /// Calls `see` with the liquid as projections want it, where only a `part` of the corrections is asked for.
    pub fn with_liquid<R>(
        &self,
        substep: Substep<D>,
        state: &State<D>,
        part: f64,
        see: impl FnOnce(&Liquid<f32, D>) -> R,
    ) -> R {
        let divergence = |slot: Slot| match &self.corrections {
            Some(corrections) => part * corrections.rate(slot.block, state.owner(slot)),
            None => 0.0,
        };
        let bubbles = self.bubbles.as_ref().map(|bubbles| match part {
            1.0 => Cow::Borrowed(bubbles),
            part => Cow::Owned(bubbles.with_part_of_growth(part)),
        });
        see(&Liquid {
            grid: &substep.params.grid,
            level_set: &state.level_set,
            open: &substep.boundary.open,
            solid_velocity: self.solid_velocity.as_ref(),
            bubbles: bubbles.as_deref(),
            bodies: &self.bodies,
            touching: self.touching.as_ref(),
            tiles: self.tiles.as_ref(),
            second_density_ratio: substep.params.second_density_ratio(),
            separates: self.separates.as_ref(),
            divergence: if self.corrections.is_some() { Some(&divergence) } else { None },
            surface_pressure: self.surface_pressure.as_ref(),
            weight_outside: self.weight_outside,
        })
    }
}

/// The bubbles as the projection wants them, where air keeps its volume without being solved for.
fn bubbles<const D: usize>(Substep { params, dt, .. }: Substep<D>, state: &State<D>) -> Option<Bubbles> {
    let tracked = state.tracked.as_ref().filter(|_| params.air == AirModel::Bubbles)?;
    Some(constraints(tracked, params.grid.dx, params.correction_time(dt)))
}
