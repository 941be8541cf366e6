//! What a state tells of itself.

use meniscus_core::parallel;
use serde::Serialize;

use crate::flow::{Advection, Basis, Dynamics, Sines, samples, streams_at_nodes};
use crate::panels::{Body, Images, Immersed, add_streams_in_box};
use crate::params::Params;
use crate::state::State;

/// The books of a flow. Energies are in J, for a metre of depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energies {
    /// The kinetic energy of the fluid and the bodies.
    pub kinetic: f64,
    /// That of the modes alone, as if there were no bodies.
    pub of_modes: f64,
    /// The integral of half the square of the vorticity of the modes, in m²/s².
    pub enstrophy: f64,
    /// What gravity would give: of bodies, less that of the fluid in their place.
    pub potential: f64,
}

/// What tells of states with one basis.
#[derive(Clone, Debug)]
pub struct Observer {
    sines: Sines,
    dynamics: Dynamics,
    images: Images,
}

impl Observer {
    /// For the states with a basis.
    pub fn new(basis: &Basis) -> Self {
        let sines = basis.sines.clone();
        Self { dynamics: Dynamics::new(basis), images: Images::new(sines.size), sines }
    }

    /// The energies of a state.
    pub fn energies(&self, state: &State, params: &Params, bodies: &[Body]) -> Energies {
        let area = self.sines.area();
        let square = 0.25 * area * self.dynamics.energy(&state.flow);
        let poses = state.poses();
        let vorticity = self.dynamics.vorticity_of(&state.flow);
        let mut immersed = Immersed::new(&self.images, bodies, &poses);
        immersed.set_flow(samples(&self.sines, &vorticity, &immersed.middles()));
        let of_sheets: f64 =
            (0..bodies.len()).map(|body| immersed.square_of_sheets(&state.sheets, body)).sum();
        let (mut own, mut potential) = (0.0, 0.0);
        for (body, now) in bodies.iter().zip(&state.bodies) {
            let ([m, i], [u, v, spin]) = (body.mass, now.motion);
            own += m * (u * u + v * v) + i * spin * spin;
            let height: f64 = (0..2).map(|axis| params.gravity[axis] * now.pose.centre[axis]).sum();
            // What moves as told has no weight.
            potential -= if m > 0.0 { (m - body.profile.area) * height } else { 0.0 };
        }
        Energies {
            kinetic: 0.5 * params.density * (square + of_sheets + own),
            of_modes: 0.5 * params.density * square,
            enstrophy: 0.125 * area * vorticity.iter().map(|w| w * w).sum::<f64>(),
            potential: params.density * potential,
        }
    }

    /// The velocity of the fluid at a point, where no body is: of the modes, and of the sheets as differences of their stream function over a small way.
    pub fn velocity(&self, state: &State, bodies: &[Body], x: [f64; 2]) -> [f64; 2] {
        let vorticity = self.dynamics.vorticity_of(&state.flow);
        let [u, v] = samples(&self.sines, &vorticity, &[x])[0].velocity;
        let poses = state.poses();
        let immersed = Immersed::new(&self.images, bodies, &poses);
        let way = 1e-6 * self.sines.size[0].min(self.sines.size[1]);
        let stream = |dx: f64, dy: f64| immersed.stream(&state.sheets, [x[0] + dx, x[1] + dy]);
        let along = (stream(0.0, way) - stream(0.0, -way)) / (2.0 * way);
        let across = (stream(way, 0.0) - stream(-way, 0.0)) / (2.0 * way);
        [u + along, v - across]
    }

    /// The stream function at the corners of the cells of a grid, in lists by x: the differences between them are the flows through the sides of cells, which add up to nothing.
    pub fn streams(&self, state: &State, bodies: &[Body], cells: [usize; 2]) -> Vec<f64> {
        let mut streams = streams_at_nodes(&self.sines, &self.dynamics.vorticity_of(&state.flow), cells);
        let poses = state.poses();
        let immersed = Immersed::new(&self.images, bodies, &poses);
        let edge = [0, 1].map(|axis| self.sines.size[axis] / cells[axis] as f64);
        parallel::for_chunks(&mut streams, cells[1] + 1, |i, column| {
            let points: Vec<[f64; 2]> =
                (0..column.len()).map(|j| [i as f64 * edge[0], j as f64 * edge[1]]).collect();
            let strengths = &state.sheets.strengths;
            add_streams_in_box(&self.images, immersed.panels(), strengths, &points, column);
        });
        streams
    }
}
