//! Rigid bodies as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Shape;

/// A rigid body that liquid, air that keeps its volume, gravity and what it runs into move. It must be larger than a cell or two
/// to feel the liquid well. A solid is what it cannot move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The name in messages and results, no two the same; `body-1`, `body-2` and so on if left out.
    pub name: Option<String>,
    /// What the body fills at the start, such as `{ sphere = { centre = [0.5, 0.8], radius = 0.1 } }`. It must have bounds.
    pub shape: Shape,
    /// Its density in kg/m3; give this or `mass`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Its mass in kg (a 2D scene is one metre deep); give this or `density`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass: Option<f64>,
    /// The velocity of its centre of mass at the start in m/s, one number for each dimension; at rest if left out.
    pub velocity: Option<Vec<f64>>,
    /// How fast it turns at the start, in radians a second: about each axis in 3D, one number in 2D, counter-clockwise; not at
    /// all if left out.
    #[schemars(length(min = 1, max = 3))]
    pub angular_velocity: Option<Vec<f64>>,
    /// The coefficient of friction with solids, walls and other bodies; of two bodies the smaller one counts.
    #[serde(default = "half")]
    #[schemars(range(min = 0.0))]
    pub friction: f64,
    /// The part of the speed that it bounces back with, from 0 to 1; of two bodies the smaller one counts.
    /// What meets more slowly than gravity makes it in two substeps does not bounce.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub restitution: f64,
    /// Whether liquid may leave it where it would have to be pulled along; as `domain.separation` says if left out.
    pub separation: Option<bool>,
    /// Sharp corners of its outline, as points `[x, y]` of its shape, that the flow leaves smoothly, with vortices that form a wake: so wings have lift. Only with `method = "modes"`; vortices then do
    /// not go over into the modes from all of the outline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wake_edges: Vec<Vec<f64>>,
    /// Whether 3D pictures show it as clear glass.
    #[serde(default)]
    pub glass: bool,
}

fn half() -> f64 {
    0.5
}
