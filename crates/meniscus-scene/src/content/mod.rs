//! The content of a scene file as it is written: plain data, before anything is checked against anything else.
//!
//! The comments of the fields end up in the JSON schema and in the help of error messages, so they speak
//! to someone who writes a scene.

mod body;
mod fluid;
mod material;
mod modes;
mod regions;
mod settings;
mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use body::Body;
pub use fluid::{Fluid, Smoke, Wave};
pub use material::Material;
pub use modes::{Enrich, Modes, ModesDomain, ModesFeedback, ModesForces, ModesIntegrator, Stroke};
pub use regions::{RegionFluids, RegionModel, Regions};
pub use settings::{
    Air, AirModel, AllCheckpoints, Camera, KeepCheckpoints, Output, Particles, Render, Show, Solver,
    SomeCheckpoints, Time, TransferScheme, Walls,
};
pub use shape::{
    BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, MeshShape, Polygon, Scale, Shape, Shell, Sphere,
    Transform,
};

/// A scene of the liquid simulator Meniscus. Lengths are in metres, times in seconds, y is up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scene")]
pub struct Content {
    /// What the scene shows, in one line.
    pub description: Option<String>,
    /// How the scene is simulated.
    #[serde(default)]
    pub method: Method,
    /// Acceleration of gravity in m/s2, one number for each dimension; 9.81 downwards if left out.
    pub gravity: Option<Vec<f64>>,
    /// The box that the simulation happens in: `[domain]` with `size` and `cells`.
    pub domain: Domain,
    /// How long the simulation runs and in what steps.
    #[serde(default)]
    pub time: Time,
    /// Liquid that is there at the start; any number of `[[liquid]]` tables.
    #[serde(default)]
    pub liquid: Vec<Liquid>,
    /// Places that pour liquid in; any number of `[[source]]` tables.
    #[serde(default)]
    pub source: Vec<Source>,
    /// Places that remove liquid; any number of `[[sink]]` tables.
    #[serde(default)]
    pub sink: Vec<Sink>,
    /// One fluid that fills the domain, instead of liquids with a surface: `[fluid]`.
    pub fluid: Option<Fluid>,
    /// Smoke or dye that the flow carries; any number of `[[smoke]]` tables.
    #[serde(default)]
    pub smoke: Vec<Smoke>,
    /// What the air does.
    #[serde(default)]
    pub air: Air,
    /// Obstacles and walls, resting or moving; any number of `[[solid]]` tables.
    #[serde(default)]
    pub solid: Vec<Solid>,
    /// Rigid bodies that the liquid moves; any number of `[[body]]` tables.
    #[serde(default)]
    pub body: Vec<Body>,
    /// Measurements written with every substep; any number of `[[probe]]` tables.
    #[serde(default)]
    pub probe: Vec<Probe>,
    /// How particles carry the liquid.
    #[serde(default)]
    pub particles: Particles,
    /// How the deep interior of fluids moves together.
    #[serde(default)]
    pub regions: Regions,
    /// How a flow is made of modes: `[modes]`, with `method = "modes"`.
    // What scenes from before do not have leaves them, and what tells them from others, as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Modes>,
    /// How accurately the pressure is solved for.
    #[serde(default)]
    pub solver: Solver,
    /// What is written to disk.
    #[serde(default)]
    pub output: Output,
    /// How pictures are made.
    #[serde(default)]
    pub render: Render,
}

/// How a scene is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Liquids with a surface, and what they carry, by particles on a grid.
    #[default]
    Grid,
    /// One fluid that fills a closed box, as a sum of few modes, with bodies in it: fast enough to be played with; in 3D without bodies.
    Modes,
}

/// The box that the simulation happens in, from the origin to `size`. Its sides are walls unless they are open;
/// what is sucked in through an open one is more of what is there, and comes from rest: `left` in the [book of volumes](results.md#the-book-of-volumes) tells how much. It has at most 4096 cells along a side and 2^30 in all; sides are rounded to whole cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The sides of the domain in metres: two numbers make a 2D scene, three a 3D one.
    #[schemars(length(min = 2, max = 3))]
    pub size: Vec<f64>,
    /// How many cells there are along the longest side of the domain; cells are cubes.
    #[schemars(range(min = 1))]
    pub cells: u64,
    /// Sides through which liquid may leave and where the air is at atmospheric pressure, such as `["+y"]`.
    #[serde(default)]
    pub open: Vec<Side>,
    /// How viscous liquid meets the walls of the domain and all solids.
    #[serde(default)]
    pub walls: Walls,
    /// Sides that liquid slides along even with `walls = "no-slip"`, such as `["-x", "+x"]`.
    #[serde(default)]
    pub slip: Vec<Side>,
    /// Whether liquid comes off the walls of the domain, and off the solids that do not say otherwise: they push it, but do not hold it.
    #[serde(default)]
    pub separation: bool,
}

/// A side of the domain or a direction along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Side {
    /// The lower end of x.
    #[serde(rename = "-x")]
    LowerX,
    /// The upper end of x.
    #[serde(rename = "+x")]
    UpperX,
    /// The lower end of y.
    #[serde(rename = "-y")]
    LowerY,
    /// The upper end of y.
    #[serde(rename = "+y")]
    UpperY,
    /// The lower end of z.
    #[serde(rename = "-z")]
    LowerZ,
    /// The upper end of z.
    #[serde(rename = "+z")]
    UpperZ,
}

impl Side {
    /// The axis, from 0, and 0 for the lower or 1 for the upper end of it.
    pub fn axis_and_end(self) -> (usize, usize) {
        let index = self as usize;
        (index / 2, index % 2)
    }
}

/// Liquid that is there at the start. Solids cut it, and where two liquids overlap the first one counts. There can be liquids of two kinds, that
/// differ in density or viscosity: then they must fill all that solids leave of the domain, without air, and results speak of those of the first
/// kind as the liquid and of the others as air. 2D scenes are one metre deep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Liquid {
    /// Where the liquid is, such as `{ box = { from = [0, 0], to = [1, 1] } }`.
    pub shape: Shape,
    /// Its velocity at the start in m/s, one number for each dimension; at rest if left out.
    pub velocity: Option<Vec<f64>>,
    /// What it is made of: a preset of `density`, `viscosity` and `surface_tension`, each of which can be given beside
    /// it.
    pub material: Option<Material>,
    /// Its density in kg/m3; 1000 if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// How much it resists shear, its dynamic viscosity in Pa s; 0 if left out.
    #[schemars(range(min = 0.0))]
    pub viscosity: Option<f64>,
    /// How much its surface contracts, in N/m; 0 if left out. That of the first liquid holds for all, and between liquids of two kinds.
    #[schemars(range(min = 0.0))]
    pub surface_tension: Option<f64>,
}

/// A place that pours liquid in: its shape is kept full of liquid that moves with `velocity`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name in messages and results, no two the same; `source-1`, `source-2` and so on if left out.
    pub name: Option<String>,
    /// Where liquid comes in, such as `{ sphere = { centre = [0.5, 0.5], radius = 0.1 } }`.
    pub shape: Shape,
    /// The velocity that the liquid comes in with, in m/s, one number for each dimension.
    pub velocity: Vec<f64>,
    /// When it starts, in seconds from the start of the simulation.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub start: f64,
    /// When it stops, in seconds; never if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stop: Option<f64>,
    /// What it pours: a preset of `density`, `viscosity` and `surface_tension`, each of which can be given beside it; the same as the first liquid if left out.
    pub material: Option<Material>,
    /// The density of what it pours in kg/m3, the same as that of the first liquid; as in the first liquid if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// The dynamic viscosity of what it pours in Pa s, the same as that of the first liquid; as in the first liquid if left out.
    #[schemars(range(min = 0.0))]
    pub viscosity: Option<f64>,
    /// The surface tension of what it pours in N/m, the same as that of the first liquid; as in the first liquid if left out.
    #[schemars(range(min = 0.0))]
    pub surface_tension: Option<f64>,
}

/// A place that removes the liquid in its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// The name in messages and results, no two the same; `sink-1`, `sink-2` and so on if left out.
    pub name: Option<String>,
    /// Where liquid is removed, such as `{ box = { from = [0, 0], to = [0.1, 0.1] } }`.
    pub shape: Shape,
    /// When it starts, in seconds from the start of the simulation.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub start: f64,
    /// When it stops, in seconds; never if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stop: Option<f64>,
}

/// An obstacle or a wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// The name in messages and results, no two the same; `solid-1`, `solid-2` and so on if left out.
    pub name: Option<String>,
    /// What the solid fills, such as `{ box = { from = [0, 0], to = [0.1, 0.5] } }`.
    pub shape: Shape,
    /// How it moves; it rests if left out.
    pub motion: Option<Motion>,
    /// Whether 3D pictures show it as clear glass; only what spans nearly all of the domain if left out.
    pub glass: Option<bool>,
    /// Sharp corners of its outline, as points `[x, y]` of its shape, that the flow leaves smoothly, with vortices that form a wake: so wings have lift. Only with `method = "modes"`; vortices then do
    /// not go over into the modes from all of the outline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wake_edges: Vec<Vec<f64>>,
    /// Whether liquid comes off it; as the domain says if left out.
    pub separation: Option<bool>,
}

/// How a solid moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The point that the solid turns about; the middle of its bounding box if left out, or the origin where
    /// the solid has no bounds.
    pub pivot: Option<Vec<f64>>,
    /// The direction of the axis that the solid turns about, by the right-hand rule; z if left out. Only in 3D.
    #[schemars(length(min = 3, max = 3))]
    pub axis: Option<Vec<f64>>,
    /// Poses at increasing times, such as `[{ time = 0 }, { time = 1, degrees = 90 }]`. The first pose holds before its
    /// time too, and the last one after its time.
    pub keyframes: Vec<Keyframe>,
    /// How the solid gets from one keyframe to the next.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Whether the motion starts again after the last keyframe, which must then be like the first one, but for full
    /// turns.
    #[serde(default)]
    pub repeat: bool,
}

/// The pose of a solid at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// When, in seconds from the start of the simulation.
    pub time: f64,
    /// How far the solid is moved from where its shape says, in metres, one number for each dimension; not
    /// at all if left out.
    pub translation: Option<Vec<f64>>,
    /// How far the solid is turned about the pivot, in degrees, counter-clockwise. More than a full turn may be given.
    #[serde(default)]
    pub degrees: f64,
}

/// How a moving solid gets from one keyframe to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// At constant velocity.
    #[default]
    Linear,
    /// Starting and ending at rest at each keyframe.
    Smooth,
}

/// A measurement, written to `stats.jsonl` with every substep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Probe {
    /// The pressure at a point, in Pa. With `method = "modes"` it is known in 2D, where there are neither bodies nor solids, relative to the mean of the box.
    Pressure {
        /// The name in the results.
        name: String,
        /// The point that is measured, one number for each dimension.
        at: Vec<f64>,
    },
    /// The velocity at a point, in m/s.
    Velocity {
        /// The name in the results.
        name: String,
        /// The point that is measured, one number for each dimension.
        at: Vec<f64>,
    },
    /// The height of the highest surface on a vertical line, above the floor of the domain, in m; 0 where there is no
    /// liquid.
    Height {
        /// The name in the results.
        name: String,
        /// Where the vertical line is: `[x]` in 2D, `[x, z]` in 3D.
        #[schemars(length(min = 1, max = 2))]
        at: Vec<f64>,
    },
    /// The height of the lowest place on a vertical line where liquid has air right below it, above the floor of the domain, in m: the
    /// underside of what hangs over air, or the top of a bubble. Liquid on a solid has none; `null` where there is none.
    Underside {
        /// The name in the results.
        name: String,
        /// Where the vertical line is: `[x]` in 2D, `[x, z]` in 3D.
        #[schemars(length(min = 1, max = 2))]
        at: Vec<f64>,
    },
    /// The flow through an axis-aligned rectangle (2D: segment) in the positive direction, in m3/s (2D: m2/s).
    Flux {
        /// The name in the results.
        name: String,
        /// The lower corner of the rectangle; along exactly one axis it has the same coordinate as `to`.
        from: Vec<f64>,
        /// The upper corner of the rectangle.
        to: Vec<f64>,
    },
    /// The farthest coordinate that the liquid reaches in a direction, in m; `null` where there is none.
    Front {
        /// The name in the results.
        name: String,
        /// The direction, such as `"+x"`.
        direction: Side,
        /// How thick liquid must be along each axis to count, in metres: films, jets and drops that are thinner along one are passed over. The
        /// edge of a cell leaves out films that run ahead.
        #[serde(default)]
        #[schemars(range(min = 0.0))]
        least: f64,
    },
    /// The volume of the liquid in a shape, in m3 (2D: m2).
    Volume {
        /// The name in the results.
        name: String,
        /// Where liquid counts, such as `{ box = { from = [0, 0], to = [1, 1] } }`.
        shape: Shape,
    },
    /// The mean velocity of the liquid in a shape, in m/s; `null` where there is none. Times volume and density it is the momentum.
    #[serde(rename = "mean-velocity")]
    MeanVelocity {
        /// The name in the results.
        name: String,
        /// Where liquid counts, such as `{ box = { from = [0, 0], to = [1, 1] } }`.
        shape: Shape,
    },
    /// The kinetic energy of the liquid in a shape, in J (2D: J/m).
    Energy {
        /// The name in the results.
        name: String,
        /// Where liquid counts, such as `{ box = { from = [0, 0], to = [1, 1] } }`.
        shape: Shape,
    },
}

impl Probe {
    /// The name in the results.
    pub fn name(&self) -> &str {
        let (Self::Pressure { name, .. }
        | Self::Velocity { name, .. }
        | Self::Height { name, .. }
        | Self::Underside { name, .. }
        | Self::Flux { name, .. }
        | Self::Front { name, .. }
        | Self::Volume { name, .. }
        | Self::MeanVelocity { name, .. }
        | Self::Energy { name, .. }) = self;
        name
    }

    /// The shape that is measured in, if it is one.
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            Self::Volume { shape, .. } | Self::MeanVelocity { shape, .. } | Self::Energy { shape, .. } => {
                Some(shape)
            }
            _ => None,
        }
    }
}
