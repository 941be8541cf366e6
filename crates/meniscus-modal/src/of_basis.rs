//! What follows from a basis.

use crate::flow::{Advection, Basis, Decay, Dynamics, Sample, Sines, samples};
use crate::panels::{Body, Images, Immersed, Pose, add_streams_in_box};
use crate::state::State;

/// What follows from a basis.
#[derive(Clone, Debug)]
pub struct OfBasis {
    pub basis: Basis,
    pub dynamics: Dynamics,
    pub decay: Decay,
    pub images: Images,
}

impl OfBasis {
    /// Of a basis.
    pub fn new(basis: &Basis) -> Self {
        Self {
            dynamics: Dynamics::new(basis),
            decay: Decay::new(basis),
            images: Images::new(basis.sines.size),
            basis: basis.clone(),
        }
    }

    /// Bodies in the flow of a state.
    pub fn immersed<'a>(&'a self, bodies: &'a [Body], state: &State, poses: &'a [Pose]) -> Immersed<'a> {
        let mut immersed = Immersed::new(&self.images, bodies, poses);
        self.put_into(state, &mut immersed);
        immersed
    }

    /// Puts bodies into the flow of a state.
    pub fn put_into(&self, state: &State, immersed: &mut Immersed) {
        let vorticity = self.dynamics.vorticity_of(&state.flow);
        immersed.set_flow(samples(&self.basis.sines, &vorticity, &immersed.middles()));
        if !state.wake.blobs.is_empty() {
            immersed.add_streams(|points, streams| state.wake.add_streams(&self.images, points, streams));
        }
    }

    /// The integral of the square of the velocity over the fluid; of a wake as far as fine sines show it.
    pub fn square(&self, immersed: &Immersed, state: &State) -> f64 {
        let of_flow = if state.wake.blobs.is_empty() {
            self.dynamics.energy(&state.flow)
        } else {
            let sines = self.basis.fine_sines();
            let parts = self.without_bodies(state, &sines).into_iter().zip(sines.eigenvalues());
            parts.map(|(w, eigenvalue)| w * w / eigenvalue).sum()
        };
        let of_sheets = |body: usize| immersed.square_of_sheets(&state.sheets, body);
        0.25 * self.basis.sines.area() * of_flow + (0..state.bodies.len()).map(of_sheets).sum::<f64>()
    }

    /// The flow of sheets with some strengths, in modes.
    pub fn coefficients_of(&self, immersed: &Immersed, strengths: &[f64]) -> Vec<f64> {
        let vorticity = immersed.vorticity_of_sheets(strengths, &self.basis.sines);
        self.dynamics.coefficients_of(&vorticity)
    }

    /// The vorticity of the modes and the wake, in sines.
    pub fn without_bodies(&self, state: &State, sines: &Sines) -> Vec<f64> {
        let mut vorticity = self.basis.sines.moved(&self.dynamics.vorticity_of(&state.flow), sines);
        if !state.wake.blobs.is_empty() {
            vorticity.iter_mut().zip(state.wake.vorticity(sines)).for_each(|(to, w)| *to += w);
        }
        vorticity
    }

    /// The vorticity of all that flows, in sines.
    pub fn vorticity(&self, immersed: &Immersed, state: &State, sines: &Sines) -> Vec<f64> {
        let mut vorticity = immersed.vorticity_of_sheets(&state.sheets.strengths, sines);
        vorticity.iter_mut().zip(self.without_bodies(state, sines)).for_each(|(to, w)| *to += w);
        vorticity
    }

    /// The velocities of the fluid at points where no body is: of the modes, and of sheets and wake as differences of their stream function over a small way. What is a vortex itself is not
    /// moved by that.
    pub fn velocities(&self, immersed: &Immersed, state: &State, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let way = 1e-6 * self.basis.sines.size[0].min(self.basis.sines.size[1]);
        let beside = |&[x, y]: &[f64; 2]| [[x, y + way], [x, y - way], [x + way, y], [x - way, y]];
        let around: Vec<[f64; 2]> = points.iter().flat_map(beside).collect();
        let mut streams = vec![0.0; around.len()];
        let strengths = &state.sheets.strengths;
        add_streams_in_box(&self.images, immersed.panels(), strengths, &around, &mut streams);
        state.wake.add_streams(&self.images, &around, &mut streams);
        let vorticity = self.dynamics.vorticity_of(&state.flow);
        let of_modes = samples(&self.basis.sines, &vorticity, points);
        let velocity = |((x, sample), streams): ((&[f64; 2], Sample), &[f64])| {
            let less = state.wake.less_in_cores(*x);
            let [u, v] = sample.velocity;
            let [along, across] = [streams[0] - streams[1], streams[2] - streams[3]].map(|d| d / (2.0 * way));
            [u + along + less[0], v - across + less[1]]
        };
        points.iter().zip(of_modes).zip(streams.chunks(4)).map(velocity).collect()
    }
}
