//! A flow that is made of modes, as it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a flow is made of modes; only with `method = "modes"`. The modes are the eigenfunctions of the box, from the largest to smaller ones, and those that are drawn. Bodies are in
/// the flow by vortices on their outlines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Modes {
    /// What the modes are the eigenfunctions of.
    #[serde(skip_serializing_if = "ModesDomain::is_box")]
    pub domain: ModesDomain,
    /// How many eigenmodes there are. More show smaller whirls; there are about as many as pairs of waves that fit into the box. With `domain = "solids"` at most 256, and one for 16 cells.
    #[schemars(range(min = 1, max = 4096))]
    pub count: u64,
    /// How the flow is advanced.
    pub integrator: ModesIntegrator,
    /// How the modes learn of bodies.
    pub feedback: ModesFeedback,
    /// In what time, in seconds, all but 1/e of the vortices on a body go over into the modes, with `feedback = "shed"`. Short times make thick wakes.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shed_time: f64,
    /// How long the pieces are that outlines are made of, in metres; a fiftieth of the shorter side of the domain if left out. Bodies that touch stay half of it apart.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub panel: Option<f64>,
    /// What the fluid does to bodies.
    pub forces: ModesForces,
    /// About how many waves along a side of the domain the modes of `enrich` are made of; 64 if left out. With fewer they are coarser, and steps take less time.
    // What scenes from before do not have leaves them, and what tells them from others, as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8, max = 64))]
    pub fine: Option<u64>,
    /// Modes that are added to the eigenmodes; any number of `[[modes.enrich]]` tables.
    pub enrich: Vec<Enrich>,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            domain: ModesDomain::Box,
            count: 100,
            integrator: ModesIntegrator::Conserving,
            feedback: ModesFeedback::Shed,
            shed_time: 0.2,
            panel: None,
            forces: ModesForces::Potential,
            fine: None,
            enrich: Vec::new(),
        }
    }
}

/// What modes are the eigenfunctions of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModesDomain {
    /// The box: solids are in it as bodies are, by vortices on their outlines. In 3D there are no solids.
    #[default]
    Box,
    /// What solids leave of the box, which then rest: those that touch a side shape it, others are islands. The modes are found on the cells of the domain, which takes seconds; there are no bodies
    /// and no other modes, and nothing passes a solid. Only in 2D.
    Solids,
}

impl ModesDomain {
    /// Whether it is the box.
    pub fn is_box(&self) -> bool {
        *self == Self::Box
    }
}

/// How a flow of modes is advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModesIntegrator {
    /// A method of fourth order, after which energy and enstrophy are made what they were; what that took is in the results.
    #[default]
    Conserving,
    /// The implicit midpoint rule, which keeps both by itself; of second order and slower.
    Midpoint,
    /// The method of fourth order alone.
    Rk4,
    /// The exponential of the paper (Gerszewski 2015): for comparison.
    Paper,
}

/// How the modes learn of bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModesFeedback {
    /// The vortices on bodies go over into them in the course of `shed_time`.
    #[default]
    Shed,
    /// They go over as a whole in each step, as in the paper: what comes of it depends on the length of steps.
    Paper,
    /// Not at all: bodies part the flow and leave no wake.
    None,
}

/// What the fluid does to bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModesForces {
    /// All that pressure does, with the inertia of the fluid that bodies take along.
    #[default]
    Potential,
    /// The dynamic pressure alone, and buoyancy, as in the paper: for comparison.
    Paper,
}

/// Modes beside the eigenmodes: one that is drawn as a `stroke`, those that are learnt from a `run`, or one that is a sum of `waves`; of these an entry has one. Each is made of what the modes
/// before it do not hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enrich {
    /// The name in messages and results, no two the same; `drawn-1`, `drawn-2` and so on if left out. Modes that are learnt have it with their numbers, as `name-1`.
    pub name: Option<String>,
    /// The line that is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stroke: Option<Stroke>,
    /// The folder of a run to learn from, relative to that of the scene: of a fluid that fills a box with sides in the same proportion, in 2D. Modes are learnt that hold the most of what is new in
    /// its frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// At most how many modes are learnt from a run; 4 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub modes: Option<u64>,
    /// The waves that a mode is a sum of, each `[half waves along x, half waves along y, vorticity in 1/s]`: a flow that was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<Vec<f64>>,
    /// How strong its modes are at the start, in m/s: the root mean square of their velocities over the box, with a sign. At rest if left out; of a stroke its `speed` says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amplitudes: Vec<f64>,
}

/// A line along which fluid is set in motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stroke {
    /// The points of the line, in metres: two at least, each `[x, y]`.
    pub points: Vec<Vec<f64>>,
    /// How wide the stroke is to either side, in metres: that far from the line the fluid has 61 % of the speed on it.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub width: f64,
    /// The speed along the line at the start, in m/s. Of a mode, at rest if left out, so that the mode is there for what the flow makes of it.
    #[serde(default)]
    pub speed: f64,
}
