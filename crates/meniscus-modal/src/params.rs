//! What a simulation is told once.

use serde::{Deserialize, Serialize};

use crate::flow::Integrator;

/// The numbers of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// The density of the fluid, in kg/m³.
    pub density: f64,
    /// Its kinematic viscosity, in m²/s.
    pub viscosity: f64,
    /// Gravity, in m/s²: the fluid bears itself, but not what is heavier or lighter.
    pub gravity: [f64; 2],
    /// How the flow is advanced.
    pub integrator: Integrator,
    /// How the modes learn of bodies.
    pub feedback: Feedback,
    /// What the fluid does to bodies.
    pub forces: Forces,
}

/// How the modes learn of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Feedback {
    /// Sheets go over into the modes, a share of 1 - 1/e of them in this time, in s.
    Shed(f64),
    /// They go over in each step as a whole (Gerszewski 2015, eq. 18): what comes of it depends on how long steps are.
    Paper,
    /// Not at all.
    None,
}

impl Feedback {
    /// The share of the sheets that goes over into the modes in a step.
    pub(crate) fn share(self, dt: f64) -> f64 {
        match self {
            Self::Shed(time) => -(-dt / time).exp_m1(),
            Self::Paper => 1.0,
            Self::None => 0.0,
        }
    }
}

/// What the fluid does to bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forces {
    /// The pressure of a flow that has a potential but for the vorticity of the modes, with the inertia of the fluid that bodies take along.
    #[default]
    Potential,
    /// The dynamic pressure alone (Gerszewski 2015, eq. 20 and 21), and buoyancy.
    Paper,
}
