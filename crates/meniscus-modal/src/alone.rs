//! A flow without bodies.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::flow::{Advection, Decay, Integrator, Stages};
use crate::step::StepInfo;
use crate::tracers::{Tracers, Velocities};

/// A flow without bodies at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowState<const D: usize> {
    /// The simulated time, in s.
    pub time: f64,
    /// The coefficients of its modes.
    pub flow: Vec<f64>,
    /// Points that show the flow.
    pub tracers: Vec<Tracers<D>>,
}

/// What follows from modes, and what steps work in.
#[derive(Clone, Debug)]
pub struct Alone<A> {
    dynamics: A,
    decay: Decay,
    stages: Stages,
}

/// What carries tracers past what is in their way.
pub struct Carriage<'a, const D: usize> {
    /// The velocities of a flow.
    pub velocities: &'a dyn Fn(&[f64]) -> Velocities<D>,
    /// Moves a point out of what it must not get into.
    pub keep_out: &'a (dyn Fn(&mut [f32; D]) + Sync),
}

impl<A: Advection> Alone<A> {
    /// For modes that carry each other and decay in some ways.
    pub fn new(dynamics: A, decay: Decay) -> Self {
        Self { dynamics, decay, stages: Stages::default() }
    }

    /// How the modes carry each other.
    pub fn dynamics(&self) -> &A {
        &self.dynamics
    }

    /// Advances a flow by a time: half of the decay, what the flow does to itself, and the other half. Tracers follow its end, half a step ahead of it, and so to second order. `viscosity` is the kinematic one, in m²/s.
    pub fn step<const D: usize>(
        &mut self,
        state: &mut FlowState<D>,
        integrator: Integrator,
        viscosity: f64,
        carriage: &Carriage<D>,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let mut since = Instant::now();
        let mut passed = || {
            let seconds = since.elapsed().as_secs_f64();
            since = Instant::now();
            seconds
        };
        self.decay(&mut state.flow, 0.5 * viscosity * dt);
        let advanced = self.stages.advance(&mut self.dynamics, integrator, &mut state.flow, dt)?;
        if !advanced.is_solved {
            return Err(StepError::Unsolved);
        }
        self.decay(&mut state.flow, 0.5 * viscosity * dt);
        let mut stages = vec![("flow", passed())];
        if state.tracers.iter().any(|tracers| !tracers.position.is_empty()) {
            let velocities = (carriage.velocities)(&state.flow);
            for tracers in &mut state.tracers {
                tracers.carry_past(&velocities, carriage.keep_out, dt);
            }
        }
        stages.push(("tracers", passed()));
        state.time += dt;
        let is_sound = state.flow.iter().all(|w| w.is_finite());
        if is_sound {
            Ok(StepInfo { advanced, stages, ..StepInfo::default() })
        } else {
            Err(StepError::TooFast)
        }
    }

    /// Nothing if there is no viscosity: modes that decay together would be rounded, and circulations drift.
    fn decay(&self, flow: &mut [f64], diffusion: f64) {
        if diffusion > 0.0 {
            self.decay.apply(flow, diffusion);
        }
    }
}
