//! Settings of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long the simulation runs and in what steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Time {
    /// How many frames are simulated.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frames: u32,
    /// Frames for each second of simulated time.
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0))]
    pub fps: f64,
    /// How many cells the fastest liquid may move in a substep. Substeps are never longer than the waves of the surface that the grid carries can take: in calm water that is the limit.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub cfl: f64,
    /// The most substeps that a frame is divided into, even if liquid then moves by more cells than `cfl` says.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_substeps: u32,
}

impl Default for Time {
    fn default() -> Self {
        Self { frames: 100, fps: 24.0, cfl: 2.0, max_substeps: 64 }
    }
}

/// What the air does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Air {
    /// The model of the air.
    pub model: AirModel,
    /// Its density in kg/m3, which matters with `model = "two-phase"`; 1.2 if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// How much it resists shear, its dynamic viscosity in Pa s, which matters with `model = "two-phase"`; 0 if left out.
    #[schemars(range(min = 0.0))]
    pub viscosity: Option<f64>,
}

/// A model of the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AirModel {
    /// The air has no mass and the same pressure everywhere.
    #[default]
    Void,
    /// Air that liquid and solids cut off keeps its volume and pushes on what surrounds it. It has no mass, and each
    /// pocket of it has one pressure. Air that reaches an open side is at atmospheric pressure.
    Bubbles,
    /// The air is a fluid like the liquid, with `density` and `viscosity`: it is simulated everywhere, and each pocket of it keeps its volume. It
    /// costs as much as liquid in its place.
    TwoPhase,
}

/// How viscous liquid meets walls and solids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Walls {
    /// It slides along them.
    #[default]
    Slip,
    /// It sticks to them, and moves with those that move.
    NoSlip,
}

/// How particles carry the liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Particles {
    /// How velocities go between particles and grid.
    pub transfer: TransferScheme,
    /// How much of FLIP is mixed with PIC, from 0 (PIC, very damped) to 1 (FLIP, noisy); 0.97 if left
    /// out. Only with `transfer = "flip"`.
    #[schemars(range(min = 0, max = 1))]
    pub flip_blend: Option<f64>,
    /// The fewest particles in a cell inside the liquid; 4 in 3D, and 2 in 2D and in a `[fluid]`, if left out.
    #[schemars(range(min = 1, max = 64))]
    pub min_per_cell: Option<u32>,
    /// The most particles in a cell; 16 in 3D, and 8 in 2D and in a `[fluid]`, if left out.
    #[schemars(range(min = 1, max = 1024))]
    pub max_per_cell: Option<u32>,
}

/// How velocities go between particles and grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransferScheme {
    /// Affine particles: calm, and keeps angular momentum.
    #[default]
    Apic,
    /// FLIP mixed with PIC by `flip_blend`: livelier, and noisier.
    Flip,
}

/// How accurately the pressure is solved for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The residual to stop at, relative to the one at the start.
    #[schemars(range(max = 0.1), extend("exclusiveMinimum" = 0))]
    pub tolerance: f64,
    /// The most iterations of a solve.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_iterations: u32,
    /// Whether solids cut cells, so that walls at any angle are smooth. Without it they are stairs, as in older methods: to compare.
    pub cut_cells: bool,
}

impl Default for Solver {
    fn default() -> Self {
        Self { tolerance: 1e-5, max_iterations: 200, cut_cells: true }
    }
}

/// What is written to disk. Frames always keep the surface; `meniscus export --particles` needs the particles too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// How many frames lie between two checkpoints, which `meniscus run --resume` continues from. The last frame always
    /// has one.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub checkpoint_every: u32,
    /// Which checkpoints stay: `"all"`, or `{ every = 10 }` for one each ten frames, or `{ latest = 3 }`. From one that stays another run
    /// can begin, with `meniscus run --from`.
    pub keep_checkpoints: KeepCheckpoints,
    /// Whether the frames keep the particles.
    pub particles: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self { checkpoint_every: 10, keep_checkpoints: KeepCheckpoints::default(), particles: true }
    }
}

/// Which checkpoints stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeepCheckpoints {
    /// `{ every = 10 }`, `{ latest = 3 }`, both, or `"all"`.
    Some(SomeCheckpoints),
    /// `"all"`, or a table such as `{ every = 10 }`.
    All(AllCheckpoints),
}

impl Default for KeepCheckpoints {
    fn default() -> Self {
        Self::Some(SomeCheckpoints::default())
    }
}

/// The word for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AllCheckpoints {
    /// All that are written stay.
    All,
}

/// Which checkpoints stay: those of every so many frames, and the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SomeCheckpoints {
    /// The checkpoint of each frame whose number this divides is written, and stays; no other than the latest if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub every: Option<u32>,
    /// How many of the latest stay. Should one be damaged, a run can be continued from the one before it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub latest: u32,
}

impl Default for SomeCheckpoints {
    fn default() -> Self {
        Self { every: None, latest: 2 }
    }
}

impl Output {
    /// Whether a frame is to have a checkpoint.
    pub fn has_checkpoint(&self, frame: u32) -> bool {
        let every = match self.keep_checkpoints {
            KeepCheckpoints::Some(SomeCheckpoints { every, .. }) => every,
            KeepCheckpoints::All(AllCheckpoints::All) => None,
        };
        frame.is_multiple_of(self.checkpoint_every) || every.is_some_and(|every| frame.is_multiple_of(every))
    }

    /// Whether the checkpoint of a frame stays when later ones are there.
    pub fn stays(&self, frame: u32) -> bool {
        match self.keep_checkpoints {
            KeepCheckpoints::All(AllCheckpoints::All) => true,
            KeepCheckpoints::Some(SomeCheckpoints { every, .. }) => {
                every.is_some_and(|every| frame.is_multiple_of(every))
            }
        }
    }

    /// How many of the latest checkpoints stay in any case.
    pub fn latest_checkpoints(&self) -> usize {
        match self.keep_checkpoints {
            KeepCheckpoints::All(AllCheckpoints::All) => usize::MAX,
            KeepCheckpoints::Some(SomeCheckpoints { latest, .. }) => latest as usize,
        }
    }
}

/// How pictures are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Render {
    /// The width of a picture in pixels.
    #[schemars(range(min = 16, max = 8192))]
    pub width: u32,
    /// The height of a picture in pixels.
    #[schemars(range(min = 16, max = 8192))]
    pub height: u32,
    /// Where the camera is, such as `{ from = [2, 1, 3], to = [0.5, 0.3, 0.5] }`; a view of the
    /// whole domain if left out. Only in 3D.
    pub camera: Option<Camera>,
    /// What the colours of a 2D picture show; `"speed"` if left out, or `"liquid"` where there is smoke.
    pub show: Option<Show>,
    /// Whether a 2D picture has streamlines.
    #[schemars(extend("default" = false))]
    pub streamlines: Option<bool>,
}

impl Default for Render {
    fn default() -> Self {
        Self { width: 960, height: 540, camera: None, show: None, streamlines: None }
    }
}

/// A camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Where the camera is, three numbers in metres.
    #[schemars(length(min = 3, max = 3))]
    pub from: Vec<f64>,
    /// The point that the camera looks at, three numbers in metres.
    #[schemars(length(min = 3, max = 3))]
    pub to: Vec<f64>,
    /// The vertical angle of view in degrees.
    #[serde(default = "default_fov")]
    #[schemars(range(min = 1, max = 170))]
    pub fov_degrees: f64,
}

fn default_fov() -> f64 {
    40.0
}

/// What the colours of a 2D picture show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// The speed of the liquid.
    Speed,
    /// Only where the liquid is; a fluid that fills the domain is not shown.
    Liquid,
    /// With `method = "modes"` in a box in 2D: the stream functions of the modes side by side, drawn and learnt ones first, a hundred at most; the stronger they are, the
    /// more colour they have.
    Modes,
}
