//! What changes from step to step.

use serde::{Deserialize, Serialize};

use crate::flow::Basis;
use crate::panels::{Motion, Pose, Solution};
use crate::tracers::Tracers;
use crate::wake::Wake;

/// A simulation at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The simulated time, in s.
    pub time: f64,
    /// What the flow is made of.
    pub basis: Basis,
    /// The coefficients of the flow.
    pub flow: Vec<f64>,
    /// The bodies.
    pub bodies: Vec<BodyState>,
    /// What holds the flow off them. Since it goes over into the modes with time, it is not told by all else.
    pub sheets: Solution,
    /// What has left the edges of bodies.
    pub wake: Wake,
    /// Points that show the flow.
    pub tracers: Vec<Tracers>,
}

/// A body at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Where it is.
    pub pose: Pose,
    /// How it moves.
    pub motion: Motion,
}

impl State {
    /// A fluid at rest.
    pub fn new(basis: Basis) -> Self {
        let flow = vec![0.0; basis.len()];
        Self {
            time: 0.0,
            basis,
            flow,
            bodies: Vec::new(),
            sheets: Solution::default(),
            wake: Wake::default(),
            tracers: Vec::new(),
        }
    }

    /// Where the bodies are.
    pub fn poses(&self) -> Vec<Pose> {
        self.bodies.iter().map(|body| body.pose).collect()
    }

    /// Gives the bodies the velocities that were found with the sheets.
    pub(crate) fn move_as_found(&mut self) {
        for (body, motion) in self.bodies.iter_mut().zip(&self.sheets.motions) {
            body.motion = *motion;
        }
    }
}
