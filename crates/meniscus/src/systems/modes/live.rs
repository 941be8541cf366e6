//! A flow of modes that somebody watches, and stirs.

use meniscus_core::stroke::Stroke;
use meniscus_modal::flow::{Basis, Sines, drawn};
use meniscus_modal::panels::Body;
use meniscus_modal::{Observer, State, stir};

use super::Modes;
use super::basis::{coefficients_of, speed_of_one};
use crate::error::StepFailure;

/// A mode of a flow at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeStrength {
    /// Of a mode that was drawn, learnt or kept its name; of an eigenmode its half waves along both sides, as `2x3`.
    pub name: String,
    /// How strong it is: the root mean square of its velocity over the box, in m/s, with a sign.
    pub amplitude: f64,
}

/// A flow of modes at a moment, to be looked at.
#[derive(Clone, Copy)]
pub struct ModesView<'a> {
    observer: &'a Observer,
    state: &'a State,
    bodies: &'a [Body],
}

impl ModesView<'_> {
    /// The modes, eigenmodes first.
    pub fn strengths(&self) -> Vec<ModeStrength> {
        let State { basis, flow, .. } = self.state;
        let strength = |((name, square), coefficient): ((String, f64), &f64)| ModeStrength {
            name,
            amplitude: coefficient * speed_of_one(square, basis),
        };
        names(basis).into_iter().zip(basis.squares()).zip(flow).map(strength).collect()
    }

    /// The vorticity of all that flows, bodies included, as a sum of products sin(π k x / Lx) sin(π l y / Ly): in 1/s, for k and l from 1 up to some
    /// numbers, those of one k after those of another. The velocity is (∂ψ/∂y, -∂ψ/∂x), where ψ has these over (π k / Lx)² + (π l / Ly)².
    pub fn waves(&self, most: [usize; 2]) -> Vec<f64> {
        let sines = Sines { size: self.state.basis.sines.size, counts: most };
        self.observer.vorticity(self.state, self.bodies, &sines)
    }

    /// The same of what the modes do not hold: what bodies do to the flow between them. An entry `waves` of `[[modes.enrich]]` made of it keeps that.
    pub fn beyond(&self, most: [usize; 2]) -> Vec<f64> {
        let sines = Sines { size: self.state.basis.sines.size, counts: most };
        let own = &self.state.basis.sines;
        let mut whole = self.observer.vorticity(self.state, self.bodies, &sines);
        let held = self.observer.vorticity_of(&self.observer.coefficients_of(&whole, &sines));
        let held = own.moved(&held, &sines);
        whole.iter_mut().zip(held).for_each(|(to, w)| *to -= w);
        whole
    }

    /// The velocity of the fluid at a point where no body is, in m/s.
    pub fn velocity(&self, at: [f64; 2]) -> [f64; 2] {
        self.observer.velocities(self.state, self.bodies, &[at])[0]
    }
}

fn names(basis: &Basis) -> Vec<String> {
    let eigenmodes = basis.eigenmodes.iter().map(|[k, l]| format!("{k}x{l}"));
    eigenmodes.chain(basis.enrichment.iter().map(|mode| mode.name.clone())).collect()
}

impl<const D: usize> Modes<D> {
    pub fn view(&self) -> ModesView<'_> {
        ModesView { observer: &self.observer, state: &self.saved.state, bodies: &self.things.bodies }
    }

    /// The names of the modes.
    pub fn names(&self) -> Vec<String> {
        names(&self.saved.state.basis)
    }

    /// Sets the fluid in motion along a stroke; gives by how much the kinetic energy of fluid and bodies grows, in J for a metre of depth.
    pub fn stir(&mut self, stroke: &Stroke) -> Result<f64, StepFailure> {
        let basis = &self.saved.state.basis;
        let by = coefficients_of(&drawn(stroke, &basis.sines), basis);
        self.add(&by)
    }

    /// Adds to the strength of a mode, likewise.
    pub fn excite(&mut self, mode: usize, amplitude: f64) -> Result<f64, StepFailure> {
        let basis = &self.saved.state.basis;
        let mut by = vec![0.0; basis.len()];
        by[mode] = amplitude / speed_of_one(basis.squares()[mode], basis);
        self.add(&by)
    }

    fn add(&mut self, by: &[f64]) -> Result<f64, StepFailure> {
        let Self { params, things, observer, saved, workspace, .. } = self;
        let kinetic = |state: &State| observer.energies(state, params, &things.bodies).kinetic;
        let before = kinetic(&saved.state);
        // All of it or nothing.
        let mut state = saved.state.clone();
        stir(&mut state, &things.bodies, saved.bodies.len(), by, workspace)?;
        saved.state = state;
        things.give_motions(&saved.state.bodies, &mut saved.bodies);
        Ok(kinetic(&saved.state) - before)
    }
}
