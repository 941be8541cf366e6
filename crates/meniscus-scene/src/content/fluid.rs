//! A fluid that fills the domain, and smoke in it, as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Material, Shape, Stroke};

/// One fluid that fills all that solids leave of the domain, and so has no surface: air with smoke in it, or water far below
/// its surface. A scene with this table has no `[[liquid]]` and no `[air]`. 3D pictures do not show the fluid, only what is in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// What it is made of: a preset of `density` and `viscosity`, each of which can be given beside it.
    pub material: Option<Material>,
    /// Its density in kg/m3; 1.2, that of air, if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// How much it resists shear, its dynamic viscosity in Pa s; 0 if left out.
    #[schemars(range(min = 0.0))]
    pub viscosity: Option<f64>,
    /// Its velocity at the start in m/s, one number for each dimension; at rest if left out.
    pub velocity: Option<Vec<f64>>,
    /// Whirls that it has at the start, beside its velocity; any number of `[[fluid.wave]]` tables. Only in 2D, and in 3D with `method = "modes"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wave: Vec<Wave>,
    /// Lines along which it moves at the start, beside that; any number of `[[fluid.stroke]]` tables. Only in 2D.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stroke: Vec<Stroke>,
}

/// Whirls at the start, turning one way and the other like the squares of a chessboard, with no flow through the sides of the domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// How many whirls there are side by side along x and along y; in 3D along z as well, where one of the three may be 0 for a flow that is the same all along an axis.
    #[schemars(length(min = 2, max = 3))]
    pub half_waves: Vec<u64>,
    /// The vorticity in the middle of the whirl at the origin, in 1/s; positive turns counter-clockwise. In 3D its amplitude.
    pub vorticity: f64,
    /// In 3D, `[x, y, z]`: the axis about which it turns, or as nearly as waves along all three axes can; that along z if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<Vec<f64>>,
}

/// Smoke, or dye: markers that are carried along and show the flow. It fills its shape once, or all the time if it has a `stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Smoke {
    /// Where it comes from, such as `{ sphere = { centre = [0.5, 0.2], radius = 0.1 } }`.
    pub shape: Shape,
    /// When it fills its shape, or begins to, in seconds from the start of the simulation.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub start: f64,
    /// Until when its shape is kept full of it, in seconds; it is filled only once if left out.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stop: Option<f64>,
    /// By how much it is lighter than the fluid, as a part of it: 0.1 rises with a tenth of gravity, -0.1 sinks.
    #[serde(default)]
    #[schemars(range(min = -1.0, max = 1.0))]
    pub buoyancy: f64,
}
