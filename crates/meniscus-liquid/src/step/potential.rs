//! The potential energy of all that has weight.

use meniscus_core::vector::dot;

use crate::holding::Holding;
use crate::measure::{all_liquid, all_room};
use crate::state::State;
use crate::substep::Substep;

impl<const D: usize> State<D> {
    /// The potential energy of fluids and bodies where they are, in J (2D: J/m): that of a mass `m` at `x` in a gravity `g` is `-m g x`.
    pub(crate) fn potential_energy(&self, Substep { params, surroundings, boundary, .. }: Substep<D>) -> f64 {
        if params.gravity == [0.0; D] {
            return 0.0;
        }
        let grid = &params.grid;
        let of_fluid = |density: f64, held: Holding<D>| {
            let mass = density * held.volume * grid.dx.powi(D as i32);
            -mass * dot(params.gravity, grid.point(held.centroid()))
        };
        let of_bodies =
            surroundings.bodies.iter().zip(&self.bodies).map(|(body, state)| {
                -body.density * body.volume * dot(params.gravity, state.pose.translation)
            });
        // A second fluid has all room that the liquid leaves.
        let second = params.second().map_or(0.0, |second| second.density);
        let of_room = if second > 0.0 { of_fluid(second, all_room(boundary)) } else { 0.0 };
        of_fluid(params.density - second, all_liquid(&self.level_set, boundary))
            + of_room
            + of_bodies.sum::<f64>()
    }
}
