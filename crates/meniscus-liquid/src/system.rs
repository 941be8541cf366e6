//! The pressure system of a moment, for those who want to look at it or solve it by themselves.

use meniscus_linalg::Operator;

use crate::boundary::{Boundary, BoundaryCache};
use crate::carriers::carriers;
use crate::params::{Params, Surroundings};
use crate::projection::{Liquid, ProjectionError, pressure_system};
use crate::state::State;
use crate::velocity::add_gravity;

impl<const D: usize> State<D> {
    /// The operator and the right-hand side of the pressure if gravity acted for `dt` seconds on the liquid as it is, bubbles
    /// and all, and nothing else did.
    ///
    /// # Errors
    /// If there is no such system.
    pub fn pressure_system(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
    ) -> Result<(Operator<D>, Vec<f64>), ProjectionError> {
        let blocks = self.level_set.blocks();
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let boundary = Boundary::new(params, surroundings, blocks, &mut BoundaryCache::default());
        let mut velocity = self.velocity.clone();
        add_gravity(params, dt, &mut velocity);
        let walls = boundary.wall_shares(params, surroundings, dt);
        let wall = |axis: usize, cell: [usize; D]| walls.get(axis, cell.map(|c| c as i64));
        let bubbles = self.constraints(params, dt);
        let liquid = Liquid {
            grid: &params.grid,
            level_set: &self.level_set,
            open: &boundary.open,
            solid_velocity: if boundary.has_moving_walls(surroundings) { Some(&wall) } else { None },
            bubbles: bubbles.as_ref(),
            divergence: None,
            bodies: &carriers(self, params, surroundings, &boundary, dt),
            surface_pressure: None,
            regions: None,
            second_density_ratio: params.second_density_ratio(),
            separates: None,
        };
        pressure_system(&liquid, &velocity, &params.projection(dt))
    }
}
