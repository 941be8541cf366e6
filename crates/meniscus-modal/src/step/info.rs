//! How a step went.

use std::time::Instant;

use crate::contact::Contacts;
use crate::flow::Advanced;
use crate::panels::{Motion, Solved};

/// How a step went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepInfo {
    /// How the flow was advanced.
    pub advanced: Advanced,
    /// Iterations of all solves for the bodies.
    pub iterations: usize,
    /// The largest of their residuals, as a part of what was asked for.
    pub residual: f64,
    /// How contacts went.
    pub contacts: Contacts,
    /// The force of the fluid on each body whose motion is given, in N, and its torque about the centre, in N m, for a metre of depth; nothing on others.
    pub forces: Vec<Motion>,
    /// What sheets, and vortices of the wake, that go over into the modes change of the kinetic energy, in J for a metre of depth. Nobody does that work: it is what a wake costs in this
    /// model.
    pub shed: f64,
    /// The seconds that each stage took.
    pub stages: Vec<(&'static str, f64)>,
}

/// Writes down how a step goes.
pub struct Log {
    /// What is known of it.
    pub info: StepInfo,
    /// When the stage began.
    pub since: Instant,
    /// The momenta, over the density of the fluid, that vortices took along that left the edges of each body.
    pub left: Vec<Motion>,
    /// Where they go on from.
    pub released: Vec<[f64; 2]>,
    /// Memory that is used again and again.
    pub memory: Vec<f64>,
}

impl Log {
    /// Takes note of a solve.
    pub fn solved(&mut self, solved: Solved) {
        self.info.iterations += solved.iterations;
        self.info.residual = self.info.residual.max(solved.residual);
    }

    /// Ends a stage.
    pub fn stage(&mut self, name: &'static str) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        match self.info.stages.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += seconds,
            None => self.info.stages.push((name, seconds)),
        }
    }
}
