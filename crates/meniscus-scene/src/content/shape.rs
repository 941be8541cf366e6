//! Shapes as they are written: a table with one key that names the kind.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A shape is a table with exactly one key, which names its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// An axis-aligned box: `{ box = { from = [0, 0, 0], to = [1, 1, 1] } }`.
    Box(BoxShape),
    /// A ball, in 2D a disc: `{ sphere = { centre = [0, 0, 0], radius = 1 } }`.
    Sphere(Sphere),
    /// An ellipsoid, in 2D an ellipse: `{ ellipsoid = { centre = [0, 0, 0], radii = [2, 1, 1] } }`.
    Ellipsoid(Ellipsoid),
    /// A cylinder with flat ends, in 2D a rectangle: `{ cylinder = { from = [0, 0, 0], to = [0, 1, 0], radius = 0.2 } }`.
    Cylinder(Cylinder),
    /// A cylinder with round ends: `{ capsule = { from = [0, 0, 0], to = [0, 1, 0], radius = 0.2 } }`.
    Capsule(Capsule),
    /// Everything behind a plane: `{ half_space = { point = [0, 0.5, 0], normal = [0, 1, 0] } }` is all below y = 0.5.
    HalfSpace(HalfSpace),
    /// The inside of a line of straight edges, only in 2D: `{ polygon = { points = [[0, 0], [1, 0], [0.5, 1]] } }`.
    Polygon(Polygon),
    /// The inside of a closed triangle mesh, in 2D that of the outline of a flat one: `{ mesh = { file = "bunny.obj" } }`.
    Mesh(MeshShape),
    /// What lies in at least one of a list of shapes: `{ union = [ ... ] }`.
    Union(Vec<Shape>),
    /// What lies in all of a list of shapes: `{ intersection = [ ... ] }`.
    Intersection(Vec<Shape>),
    /// The first of a list of two or more shapes without the others: `{ difference = [first, ... ] }`.
    Difference(Vec<Shape>),
    /// All of space but a shape, so a container from its inside: `{ complement = { sphere = ... } }`.
    Complement(Box<Shape>),
    /// A shape scaled, then turned and then moved: `{ transform = { shape = ..., scale = 2, degrees = 30, translate = [0.1, 0, 0] } }`.
    Transform(Transform),
    /// A layer about the surface of a shape: `{ shell = { shape = ..., thickness = 0.05 } }`.
    Shell(Shell),
}

/// An axis-aligned box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Box")]
pub struct BoxShape {
    /// The lower corner, one number for each dimension.
    pub from: Vec<f64>,
    /// The upper corner, one number for each dimension.
    pub to: Vec<f64>,
}

/// The inside of a closed line that does not cross itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polygon {
    /// The corners in their order along the line, in metres, each `[x, y]`.
    #[schemars(length(min = 3, max = 4096))]
    pub points: Vec<Vec<f64>>,
}

/// A ball; in 2D a disc.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// The centre, one number for each dimension.
    pub centre: Vec<f64>,
    /// The radius in metres.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}

/// An ellipsoid; in 2D an ellipse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ellipsoid {
    /// The centre, one number for each dimension.
    pub centre: Vec<f64>,
    /// How far it reaches from its centre along each axis in metres, one number for each dimension; a `transform` turns it.
    #[schemars(extend("items" = { "type": "number", "exclusiveMinimum": 0 }))]
    pub radii: Vec<f64>,
}

/// A cylinder with flat ends; in 2D a rectangle in any direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// The centre of one end, one number for each dimension.
    pub from: Vec<f64>,
    /// The centre of the other end, one number for each dimension.
    pub to: Vec<f64>,
    /// The radius in metres.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}

/// A cylinder with round ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// The centre of one round end, one number for each dimension.
    pub from: Vec<f64>,
    /// The centre of the other round end, one number for each dimension.
    pub to: Vec<f64>,
    /// The radius in metres.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}

/// Everything behind a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HalfSpace {
    /// A point of the plane, one number for each dimension.
    pub point: Vec<f64>,
    /// The direction out of the shape, of any length, one number for each dimension; `[0, 1, 0]` keeps what is below.
    pub normal: Vec<f64>,
}

/// The inside of a closed triangle mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mesh")]
pub struct MeshShape {
    /// An OBJ, PLY or STL file, relative to the folder of the scene; or `gallery:asteroid.obj`, which is built in.
    pub file: String,
    /// What the coordinates of the file are multiplied with: a factor, or one for each axis.
    #[serde(default)]
    pub scale: Scale,
}

/// One factor, or one for each axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scale {
    /// The same along all axes.
    Even(f64),
    /// One for each dimension.
    ByAxis(Vec<f64>),
}

impl Scale {
    /// The largest factor.
    pub(crate) fn largest(&self) -> f64 {
        match self {
            Self::Even(factor) => *factor,
            Self::ByAxis(factors) => factors.iter().copied().fold(0.0, f64::max),
        }
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::Even(1.0)
    }
}

impl JsonSchema for Scale {
    fn schema_name() -> Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let factor = json_schema!({ "type": "number", "exclusiveMinimum": 0 });
        json_schema!({
            "description": "One factor, or one for each axis.",
            "anyOf": [factor, { "type": "array", "items": factor }],
        })
    }
}

/// A shape scaled about a pivot, turned about it and then moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transform {
    /// The shape to scale, turn and move.
    pub shape: Box<Shape>,
    /// What to make it larger by, before it is turned: a factor, or one for each axis. Factors that differ stretch boxes, spheres, ellipsoids,
    /// half-spaces, meshes, cylinders along their axis, and what is made of these; not capsules, shells, or what has been turned by other
    /// than right angles.
    #[serde(default)]
    pub scale: Scale,
    /// How far to move it in metres, one number for each dimension; not at all if left out.
    pub translate: Option<Vec<f64>>,
    /// How far to turn it in degrees, counter-clockwise.
    #[serde(default)]
    pub degrees: f64,
    /// The direction of the axis to turn about, by the right-hand rule; z if left out. Only in 3D.
    #[schemars(length(min = 3, max = 3))]
    pub axis: Option<Vec<f64>>,
    /// The point to scale and turn about; the middle of the bounding box if left out, or the origin where the shape has
    /// no bounds.
    pub pivot: Option<Vec<f64>>,
}

/// A layer about the surface of a shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shell {
    /// The shape whose surface it is.
    pub shape: Box<Shape>,
    /// The thickness in metres, half of it on either side of the surface.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub thickness: f64,
}
