//! Bodies and solids as pages draw them.

use meniscus::Scene;
use meniscus_core::shape::{RigidTransform, Shape, outline};
use serde::Serialize;

use crate::rules::Kind;

/// An outline has about so many corners along the shorter side of the box.
const CORNERS: f64 = 120.0;

/// A body or a solid.
#[derive(Clone, Debug, Serialize)]
pub struct Thing {
    /// What frames call it.
    pub id: u16,
    /// Its name in the scene.
    pub name: String,
    /// What it is in the game.
    pub kind: Kind,
    /// The corners of its outline, counter-clockwise, from its centre, as it is before it turns.
    pub outline: Vec<[f32; 2]>,
    /// How far they are from the centre, at most.
    pub radius: f64,
    /// In kg/m³; 0 of solids.
    pub density: f64,
    /// The point of its shape that is called its centre.
    #[serde(skip)]
    origin: [f64; 2],
    #[serde(skip)]
    number: usize,
}

/// Where a thing is.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its centre.
    pub centre: [f64; 2],
    /// By how much it has turned.
    pub angle: f64,
    outline: Vec<[f32; 2]>,
}

/// The things of a scene, solids first.
pub fn things_of(scene: &Scene) -> Vec<Thing> {
    let setup = scene.setup::<2>();
    let shorter = setup.grid.cells.iter().min().copied().unwrap_or(1) as f64 * setup.grid.dx;
    let side = shorter / CORNERS;
    let solids = setup.solids.iter().enumerate().map(|(number, solid)| {
        let bounds = solid.shape.bounds();
        let origin = [0, 1].map(|axis| 0.5 * (bounds.lower[axis] + bounds.upper[axis]));
        Thing::new(&solid.name, Kind::Solid, &solid.shape, side, origin, 0.0, number)
    });
    let bodies = setup.bodies.iter().enumerate().map(|(number, body)| {
        Thing::new(&body.name, Kind::of(&body.name), &body.shape, side, [0.0; 2], body.density, number)
    });
    solids.chain(bodies).collect()
}

impl Thing {
    fn new(
        name: &str,
        kind: Kind,
        shape: &Shape<2>,
        side: f64,
        origin: [f64; 2],
        density: f64,
        number: usize,
    ) -> Self {
        let corners = (0..8).find_map(|halvings| outline(shape, side * 0.5f64.powi(halvings)).ok());
        let corners = corners.unwrap_or_default();
        let from_origin = corners.iter().map(|x| [x[0] - origin[0], x[1] - origin[1]]);
        let radius = from_origin.clone().map(|[x, y]| x.hypot(y)).fold(0.0, f64::max);
        let outline = from_origin.map(|x| x.map(|x| x as f32)).collect();
        Self { id: 0, name: name.into(), kind, outline, radius, density, origin, number }
    }

    /// Where it is, by the bodies of a frame and the poses of its solids.
    pub fn placed(&self, bodies: &[meniscus::BodyStats], poses: &[RigidTransform<2>]) -> Placed {
        let outline = self.outline.clone();
        if self.kind == Kind::Solid {
            let Some(pose) = poses.get(self.number) else {
                return Placed { centre: self.origin, angle: 0.0, outline };
            };
            let matrix = pose.rotation.matrix();
            return Placed {
                centre: pose.apply(self.origin),
                angle: matrix[1][0].atan2(matrix[0][0]),
                outline,
            };
        }
        let body = &bodies[self.number];
        let [.., z, w] = body.rotation;
        Placed { centre: [body.position[0], body.position[1]], angle: 2.0 * z.atan2(w), outline }
    }
}

impl Placed {
    /// Whether a disc reaches into it, by its corners.
    pub fn is_within(&self, at: [f64; 2], radius: f64) -> bool {
        let (sin, cos) = self.angle.sin_cos();
        let corners = self.outline.iter().map(|[x, y]| [f64::from(*x), f64::from(*y)]);
        let mut placed = corners.map(|[x, y]| {
            [self.centre[0] + cos * x - sin * y - at[0], self.centre[1] + sin * x + cos * y - at[1]]
        });
        placed.any(|[x, y]| x.hypot(y) < radius)
            || (self.centre[0] - at[0]).hypot(self.centre[1] - at[1]) < radius
    }
}
