//! What follows from a basis.

use crate::flow::{Advection, Basis, Decay, Dynamics, Sines, samples};
use crate::panels::{Body, Images, Immersed, Pose, Solution};
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

    /// Bodies in a flow.
    pub fn immersed<'a>(&'a self, bodies: &'a [Body], flow: &[f64], poses: &'a [Pose]) -> Immersed<'a> {
        let mut immersed = Immersed::new(&self.images, bodies, poses);
        self.put_into(flow, &mut immersed);
        immersed
    }

    /// Puts bodies into a flow.
    pub fn put_into(&self, flow: &[f64], immersed: &mut Immersed) {
        let vorticity = self.dynamics.vorticity_of(flow);
        immersed.set_flow(samples(&self.basis.sines, &vorticity, &immersed.middles()));
    }

    /// The integral of the square of the velocity over the fluid.
    pub fn square(&self, immersed: &Immersed, state: &State) -> f64 {
        let of_modes = 0.25 * self.basis.sines.area() * self.dynamics.energy(&state.flow);
        of_modes + (0..state.bodies.len()).map(|k| immersed.square_of_sheets(&state.sheets, k)).sum::<f64>()
    }

    /// The flow of sheets, in modes.
    pub fn coefficients_of(&self, immersed: &Immersed, sheets: &Solution) -> Vec<f64> {
        let vorticity = immersed.vorticity_of_sheets(&sheets.strengths, &self.basis.sines);
        self.dynamics.coefficients_of(&vorticity)
    }

    /// The vorticity of all that flows, modes and sheets, in sines.
    pub fn vorticity(&self, immersed: &Immersed, state: &State, sines: &Sines) -> Vec<f64> {
        let mut vorticity = immersed.vorticity_of_sheets(&state.sheets.strengths, sines);
        let of_modes = self.basis.sines.moved(&self.dynamics.vorticity_of(&state.flow), sines);
        vorticity.iter_mut().zip(of_modes).for_each(|(to, w)| *to += w);
        vorticity
    }
}
