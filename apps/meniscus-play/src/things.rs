//! Bodies and solids as pages draw them.

use meniscus::{BodyStats, Scene};
use meniscus_core::shape::{Shape, outline};
use meniscus_scene::Motion;
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
    /// How it moves, if it is a solid that does.
    #[serde(skip)]
    motion: Option<Motion<2>>,
    #[serde(skip)]
    number: usize,
}

/// Where a thing is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Its centre.
    pub centre: [f64; 2],
    /// By how much it has turned.
    pub angle: f64,
}

/// The things of a scene, solids first.
pub fn things_of(scene: &Scene) -> Vec<Thing> {
    let setup = scene.setup::<2>();
    let shorter = setup.grid.cells.iter().min().copied().unwrap_or(1) as f64 * setup.grid.dx;
    let side = shorter / CORNERS;
    let solids = setup.solids.iter().enumerate().map(|(number, solid)| {
        let bounds = solid.shape.bounds();
        let origin = [0, 1].map(|axis| 0.5 * (bounds.lower[axis] + bounds.upper[axis]));
        let thing = Thing::new(&solid.name, Kind::Solid, &solid.shape, side, origin, 0.0, number);
        Thing { motion: solid.motion.clone(), ..thing }
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
        Self { id: 0, name: name.into(), kind, outline, radius, density, origin, motion: None, number }
    }

    /// Where it is at a time, by the bodies that there are then.
    pub fn placed(&self, bodies: &[BodyStats], time: f64) -> Placed {
        if self.kind == Kind::Solid {
            let Some(motion) = &self.motion else { return Placed { centre: self.origin, angle: 0.0 } };
            let pose = motion.pose(time);
            let matrix = pose.rotation.matrix();
            return Placed { centre: pose.apply(self.origin), angle: matrix[1][0].atan2(matrix[0][0]) };
        }
        let BodyStats { position, rotation: [.., z, w], .. } = &bodies[self.number];
        Placed { centre: [position[0], position[1]], angle: 2.0 * z.atan2(*w) }
    }

    /// Whether a disc reaches into it where it is placed, by its corners.
    pub fn is_met(&self, placed: &Placed, at: [f64; 2], radius: f64) -> bool {
        let (sin, cos) = placed.angle.sin_cos();
        let away = [placed.centre[0] - at[0], placed.centre[1] - at[1]];
        let corners = self.outline.iter().map(|[x, y]| [f64::from(*x), f64::from(*y)]);
        let from_disc = corners.map(|[x, y]| [away[0] + cos * x - sin * y, away[1] + sin * x + cos * y]);
        std::iter::once(away).chain(from_disc).any(|[x, y]| x.hypot(y) < radius)
    }
}
