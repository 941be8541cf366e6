//! Keeping particles out of solids and inside the domain.

use meniscus_core::grid::{BLOCK_EDGE, Blocks};
use rayon::prelude::*;

use crate::boundary::{Boundary, wall_velocity};
use crate::params::{Params, Surroundings};
use meniscus_core::particles::Particles;

/// How near to a wall a particle may come, in cells.
const CLEARANCE: f32 = 0.02;

/// A particle that is deeper than this in a solid after it has been pushed is beyond help.
const LOST: f32 = -0.5;

/// What became of particles that met a boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollideInfo {
    /// Particles that left through an open side.
    pub left: usize,
    /// Particles inside a solid, with no way out, or at no finite position: removed.
    pub lost: usize,
}

/// Puts particles back behind the closed sides of the domain; marks those that left through open ones by
/// a position that is no number.
pub fn keep_inside<const D: usize>(params: &Params<D>, position: &mut [[f32; D]]) -> CollideInfo {
    let cells = params.grid.cells.map(|n| n as f32);
    let fate = |x: &mut [f32; D]| {
        let mut fate = CollideInfo::default();
        for a in 0..D {
            let [lower, upper] = params.open_sides[a];
            if !x[a].is_finite() {
                return fate;
            }
            if x[a] < CLEARANCE && !lower {
                x[a] = CLEARANCE;
            } else if x[a] > cells[a] - CLEARANCE && !upper {
                x[a] = cells[a] - CLEARANCE;
            } else if x[a] < 0.0 || x[a] >= cells[a] {
                *x = [f32::NAN; D];
                fate.left = 1;
                return fate;
            }
        }
        fate
    };
    position.par_iter_mut().map(fate).reduce(CollideInfo::default, CollideInfo::plus)
}

/// Pushes particles out of solids; what cannot be pushed is marked by a position that is no number.
pub fn leave_solids<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    boundary: &Boundary<D>,
    blocks: &Blocks<D>,
    dt: f64,
    particles: &mut Particles<D>,
) -> CollideInfo {
    if surroundings.solids.is_empty() {
        return CollideInfo::default();
    }
    let block_of = |x: &[f32; D]| blocks.find(x.map(|c| c as usize / BLOCK_EDGE));
    let fate = |(x, v): (&mut [f32; D], &mut [f32; D])| {
        let mut fate = CollideInfo::default();
        for attempt in 0..3 {
            let Some(block) = block_of(x) else { break };
            let distance = boundary.distance(block, *x);
            if distance >= CLEARANCE {
                break;
            }
            if attempt == 2 {
                if distance < LOST {
                    *x = [f32::NAN; D];
                    fate.lost = 1;
                }
                break;
            }
            let normal = boundary.normal(block, *x);
            for a in 0..D {
                x[a] += (CLEARANCE - distance) * normal[a];
            }
            let wall = wall_velocity(params, surroundings, params.to_metres(*x), dt);
            let approach: f32 = (0..D).map(|a| (v[a] - wall[a] as f32) * normal[a]).sum();
            for a in 0..D {
                v[a] -= approach.min(0.0) * normal[a];
            }
        }
        fate
    };
    let particles = particles.position.par_iter_mut().zip(&mut particles.velocity);
    let finite = particles.filter(|(x, _)| x[0].is_finite());
    finite.map(fate).reduce(CollideInfo::default, CollideInfo::plus)
}

impl CollideInfo {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self { left: self.left + other.left, lost: self.lost + other.lost }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::Grid;
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::boundary::BoundaryCache;
    use crate::params::Solid;

    fn params() -> Params<2> {
        Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [32, 32] })
    }

    fn pushed(x: [f32; 2], v: [f32; 2]) -> (Particles<2>, CollideInfo) {
        let solids = vec![Solid::fixed(Shape::sphere([16.0, 16.0], 6.0).unwrap())];
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let blocks = Arc::new(Blocks::all([32, 32]));
        let boundary = Boundary::new(&params(), &surroundings, &blocks, &mut BoundaryCache::default());
        let mut particles = Particles { position: vec![x], velocity: vec![v], affine: None };
        let info = leave_solids(&params(), &surroundings, &boundary, &blocks, 0.1, &mut particles);
        (particles, info)
    }

    #[test]
    fn a_particle_just_inside_is_pushed_out_and_keeps_its_sliding() {
        let (particles, info) = pushed([21.7, 16.0], [-1.0, 2.0]);
        let [x, y] = particles.position[0];
        assert!((x - 16.0).hypot(y - 16.0) > 5.95, "{x} {y}");
        let [u, v] = particles.velocity[0];
        // The normal of a distance that is linear between nodes is off by up to half a cell over the radius.
        assert!(u.abs() < 0.2 && (v - 2.0).abs() < 0.1, "{u} {v}");
        assert_eq!(info, CollideInfo::default());
    }

    #[test]
    fn a_particle_outside_is_left_alone() {
        let (particles, _) = pushed([23.0, 16.0], [-1.0, 2.0]);
        assert_eq!((particles.position[0], particles.velocity[0]), ([23.0, 16.0], [-1.0, 2.0]));
    }

    #[test]
    fn sides_stop_or_let_go() {
        let mut params = params();
        params.open_sides[0][1] = true;
        let mut position = [[-1.0, 5.0], [5.0, 40.0], [33.0, 5.0], [32.0, 5.0], [f32::NAN, 5.0], [7.0, 7.0]];
        let info = keep_inside(&params, &mut position);
        assert_eq!(info, CollideInfo { left: 2, lost: 0 });
        assert!(position[0][0] > 0.0 && position[1][1] < 32.0);
        assert!(position[2][0].is_nan() && position[3][0].is_nan());
        assert_eq!(position[5], [7.0, 7.0]);
    }
}
