//! What a state tells of itself.

use meniscus_core::parallel;
use serde::Serialize;

use crate::flow::{Advection, Basis, Sines, pressure, streams_at_nodes, velocities_at_nodes};
use crate::of_basis::OfBasis;
use crate::panels::{Body, Immersed, add_streams_in_box};
use crate::params::Params;
use crate::state::State;
use crate::tracers::cells_in;

/// Cells along the longer side of the box that the greatest speed is looked for on, in each substep.
const CELLS: usize = 64;

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
    of: OfBasis,
}

impl Observer {
    /// For the states with a basis.
    pub fn new(basis: &Basis) -> Self {
        Self { of: OfBasis::new(basis) }
    }

    /// The energies of a state.
    pub fn energies(&self, state: &State, params: &Params, bodies: &[Body]) -> Energies {
        let area = self.of.basis.sines.area();
        let poses = state.poses();
        let immersed = self.of.immersed(bodies, state, &poses);
        let square = self.of.square(&immersed, state);
        let (mut own, mut potential) = (0.0, 0.0);
        for (body, now) in bodies.iter().zip(&state.bodies) {
            let ([m, i], [u, v, spin]) = (body.mass, now.motion);
            own += m * (u * u + v * v) + i * spin * spin;
            let height: f64 = (0..2).map(|axis| params.gravity[axis] * now.pose.centre[axis]).sum();
            // What moves as told has no weight.
            potential -= if m > 0.0 { (m - body.profile.area) * height } else { 0.0 };
        }
        Energies {
            kinetic: 0.5 * params.density * (square + own),
            of_modes: 0.125 * area * params.density * self.of.dynamics.energy(&state.flow),
            enstrophy: 0.125 * area * self.of.dynamics.enstrophy(&state.flow),
            potential: params.density * potential,
        }
    }

    /// The velocities of the fluid at points, where no body is.
    pub fn velocities(&self, state: &State, bodies: &[Body], points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let poses = state.poses();
        self.of.velocities(&Immersed::new(&self.of.images, bodies, &poses), state, points)
    }

    /// The pressure at a point of a flow without bodies, relative to its mean, with what gravity adds: 0 in the middle of the box. In Pa.
    pub fn pressure(&self, state: &State, params: &Params, x: [f64; 2]) -> f64 {
        let sines = &self.of.basis.sines;
        let below = [0, 1].map(|axis| params.gravity[axis] * (x[axis] - 0.5 * sines.size[axis]));
        let of_flow = pressure(sines, &self.of.dynamics.vorticity_of(&state.flow), x);
        params.density * (of_flow + below[0] + below[1])
    }

    /// The vorticity of all that flows, modes and sheets, in sines.
    pub fn vorticity(&self, state: &State, bodies: &[Body], sines: &Sines) -> Vec<f64> {
        let poses = state.poses();
        self.of.vorticity(&Immersed::new(&self.of.images, bodies, &poses), state, sines)
    }

    /// The flow of the sheets of some bodies, in modes.
    pub fn flow_of_sheets(
        &self,
        state: &State,
        bodies: &[Body],
        is_meant: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let poses = state.poses();
        let immersed = Immersed::new(&self.of.images, bodies, &poses);
        let mut sheets = state.sheets.clone();
        let mut first = 0;
        for (number, body) in bodies.iter().enumerate() {
            let own = first..first + body.panels();
            first = own.end;
            if !is_meant(number) {
                sheets.strengths[own].fill(0.0);
            }
        }
        self.of.coefficients_of(&immersed, &sheets.strengths)
    }

    /// The vorticity of a flow of modes, in the sines of the basis.
    pub fn vorticity_of(&self, flow: &[f64]) -> Vec<f64> {
        self.of.dynamics.vorticity_of(flow)
    }

    /// The flow nearest in energy to one whose vorticity is given in sines, as coefficients of the modes.
    pub fn coefficients_of(&self, vorticity: &[f64], sines: &Sines) -> Vec<f64> {
        self.of.dynamics.coefficients_of(&sines.moved(vorticity, &self.of.basis.sines))
    }

    /// The stream function at the corners of the cells of a grid, in lists by x: the differences between them are the flows through the sides of cells, which add up to nothing.
    pub fn streams(&self, state: &State, bodies: &[Body], cells: [usize; 2]) -> Vec<f64> {
        let mut streams =
            streams_at_nodes(&self.of.basis.sines, &self.of.dynamics.vorticity_of(&state.flow), cells);
        let poses = state.poses();
        let immersed = Immersed::new(&self.of.images, bodies, &poses);
        let edge = [0, 1].map(|axis| self.of.basis.sines.size[axis] / cells[axis] as f64);
        parallel::for_chunks(&mut streams, cells[1] + 1, |i, column| {
            let points: Vec<[f64; 2]> =
                (0..column.len()).map(|j| [i as f64 * edge[0], j as f64 * edge[1]]).collect();
            let strengths = &state.sheets.strengths;
            add_streams_in_box(&self.of.images, immersed.panels(), strengths, &points, column);
        });
        streams
    }

    /// The greatest speed along an axis of bodies, and of the modes at some points all over the box, in m/s.
    pub fn max_speed(&self, state: &State) -> f64 {
        let sines = &self.of.basis.sines;
        let vorticity = self.of.dynamics.vorticity_of(&state.flow);
        let velocities = velocities_at_nodes(sines, &vorticity, cells_in(sines.size, CELLS));
        let of_bodies = state.bodies.iter().flat_map(|body| &body.motion[..2]);
        velocities.iter().flatten().chain(of_bodies).fold(0.0, |most, v| most.max(v.abs()))
    }
}
