//! Particles that the grid does not resolve: they fly on their own.

use meniscus_core::interpolate::interpolate;
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles};

use crate::params::Params;
use crate::state::State;
use crate::surface::inner;

/// Drops fly on their own in a fluid that is lighter by this factor; others are carried along. Between air in water (800) and liquids (at most 14): drag takes about a hundredth of a drop's
/// speed while it goes its own size.
const LIGHTER: f64 = 100.0;

impl<const D: usize> Params<D> {
    /// How far outside the surface spray begins, in cells. Particles whose balls touch a surface with tension are part of it: on their own they would fly on where tension
    /// holds it back, and what the level set then gets around them, which tension pulls flat, would be energy from nowhere.
    fn spray_begins(&self) -> f32 {
        if self.surface_tension > 0.0 { inner::<D>() } else { 0.0 }
    }

    /// Whether liquid that the grid does not resolve flies on its own.
    pub(crate) fn has_spray(&self) -> bool {
        self.second_density_ratio().is_none_or(|ratio| ratio * LIGHTER <= 1.0)
    }
}

/// The particles outside the liquid's surface. No cell around them is solved for: what velocity the grid
/// has there is that of the liquid nearby, which is not theirs.
pub struct Spray<const D: usize> {
    /// Index, position and velocity.
    particles: Vec<(usize, [f32; D], [f32; D])>,
}

impl<const D: usize> Spray<D> {
    /// Finds the spray among sorted particles.
    pub fn find(state: &State<D>, ranges: &BlockRanges<D>, params: &Params<D>) -> Self {
        if !params.has_spray() {
            return Self { particles: Vec::new() };
        }
        let State { level_set, particles, .. } = state;
        let begins = params.spray_begins();
        let of_block = |block: usize| -> Vec<(usize, [f32; D], [f32; D])> {
            if ranges.range(block).is_empty() || level_set.block(block).iter().all(|&v| v < -1.0) {
                return Vec::new();
            }
            let outside = |&k: &usize| interpolate(level_set, particles.position[k]) > begins;
            let found = ranges.range(block).filter(outside);
            found.map(|k| (k, particles.position[k], particles.velocity[k])).collect()
        };
        let found = parallel::map(ranges.blocks().len(), of_block);
        Self { particles: found.concat() }
    }

    /// Moves the spray from where it was found, by its own velocity.
    pub fn fly(&self, particles: &mut Particles<D>, dt_in_cells: f32) {
        for (k, x, v) in &self.particles {
            particles.position[*k] = std::array::from_fn(|a| x[a] + dt_in_cells * v[a]);
        }
    }

    /// Gives the spray the velocity that it was found with and what gravity adds.
    pub fn fall(&self, particles: &mut Particles<D>, change: [f32; D]) {
        for (k, _, v) in &self.particles {
            particles.velocity[*k] = std::array::from_fn(|a| v[a] + change[a]);
            if let Some(affine) = &mut particles.affine {
                affine[*k] = [[0.0; D]; D];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use meniscus_core::grid::Grid;
    use meniscus_core::shape::Shape;

    use crate::{InitialLiquid, Params, State, Surroundings, Transfer, Workspace, step};

    /// A particle that no cell resolves falls freely, whatever the pool below it does.
    #[test]
    fn a_lone_particle_falls_freely() {
        let params = Params {
            transfer: Transfer::Flip { blend: 0.9 },
            ..Params::new(Grid { origin: [0.0; 2], dx: 0.05, cells: [20, 40] })
        };
        let pool =
            InitialLiquid { shape: Shape::box_between([0.0, 0.0], [1.0, 0.3]).unwrap(), velocity: [0.0; 2] };
        let surroundings = Surroundings::default();
        let mut state = State::new(&params, &[pool], &surroundings);
        state.particles.position.push([10.0, 14.0]);
        state.particles.velocity.push([0.5, 0.0]);
        let mut workspace = Workspace::default();
        let dt = 0.01;
        for _ in 0..20 {
            step(&mut state, &params, &surroundings, dt, &mut workspace).unwrap();
        }
        let highest =
            state.particles.position.iter().copied().fold([0.0; 2], |a, b| if b[1] > a[1] { b } else { a });
        // Semi-implicit Euler, moved before it is accelerated.
        let fallen = 9.81 * dt * dt * (19.0 * 20.0 / 2.0) / 0.05;
        assert!((f64::from(highest[1]) - (14.0 - fallen)).abs() < 0.02, "{highest:?}, fallen {fallen}");
        assert!((highest[0] - 12.0).abs() < 0.02, "{highest:?}");
    }
}
