//! The pressure system of a moment, for those who want to look at it or solve it by themselves.

use std::time::Instant;

use meniscus_core::grid::{FaceField, Field};
use meniscus_linalg::Operator;

use crate::boundary::{Boundary, BoundaryCache};
use crate::carriers::{carriers, touching};
use crate::params::{Params, Surroundings};
use crate::projection::{
    AffineRegions, Liquid, ProjectionError, ProjectionInfo, Workspace, pressure_system, project,
};
use crate::state::State;
use crate::tiles::find_regions;
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
        self.under_gravity(params, surroundings, dt, |liquid, velocity| {
            pressure_system(liquid, velocity, &params.projection(dt))
        })
    }

    /// Projects those velocities, from a pressure of 0; gives how that went, and the seconds that it took. The state is left as it is.
    ///
    /// # Errors
    /// If the pressure cannot be solved for.
    pub fn trial_projection(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        workspace: &mut Workspace,
    ) -> Result<(ProjectionInfo<D>, f64), ProjectionError> {
        self.under_gravity(params, surroundings, dt, |liquid, velocity| {
            let (mut velocity, mut pressure) = (velocity.clone(), Field::new(velocity.blocks().clone(), 0.0));
            let started = Instant::now();
            let info = project(liquid, &mut velocity, &mut pressure, &params.projection(dt), workspace)?;
            Ok((info, started.elapsed().as_secs_f64()))
        })
    }

    /// Which cells move together as affine regions; `None` if the interior of the fluids is not to be reduced.
    pub fn regions(&self, params: &Params<D>, surroundings: &Surroundings<D>) -> Option<AffineRegions> {
        let tiling = params.tiling.as_ref()?;
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let blocks = self.level_set.blocks();
        let boundary = Boundary::new(params, surroundings, blocks, &mut BoundaryCache::default());
        Some(find_regions(params, tiling, &self.level_set, &boundary))
    }

    /// Calls `see` with the liquid and with velocities on which gravity has acted.
    fn under_gravity<R>(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        see: impl FnOnce(&Liquid<f32, D>, &FaceField<f32, D>) -> R,
    ) -> R {
        let blocks = self.level_set.blocks();
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let boundary = Boundary::new(params, surroundings, blocks, &mut BoundaryCache::default());
        let mut velocity = self.velocity.clone();
        add_gravity(params, dt, &mut velocity);
        let walls = boundary.wall_shares(params, surroundings, dt);
        let wall = |axis: usize, cell: [usize; D]| walls.get(axis, cell.map(|c| c as i64));
        let bubbles = self.constraints(params, dt);
        let tiling = params.tiling.as_ref();
        let regions = tiling.map(|tiling| find_regions(params, tiling, &self.level_set, &boundary));
        let touching = touching(self, params, surroundings, dt);
        let liquid = Liquid {
            grid: &params.grid,
            level_set: &self.level_set,
            open: &boundary.open,
            solid_velocity: if boundary.has_moving_walls(surroundings) { Some(&wall) } else { None },
            bubbles: bubbles.as_ref(),
            divergence: None,
            bodies: &carriers(self, params, surroundings, &boundary, dt),
            touching: touching.as_ref(),
            surface_pressure: None,
            weight_outside: [0.0; D],
            regions: regions.as_ref(),
            second_density_ratio: params.second_density_ratio(),
            separates: None,
        };
        see(&liquid, &velocity)
    }
}
