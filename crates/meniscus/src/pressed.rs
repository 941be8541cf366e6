//! Bodies that something presses into walls. Contact gives way where a solid that moves leaves no room, and the liquid then sees
//! nothing of what is inside a wall.

use meniscus_core::grid::unravel;
use meniscus_liquid::Solid;
use meniscus_rigid::{RigidBody, RigidState};
use meniscus_scene::Setup;

use crate::warning::Warning;

/// Points along each axis of a body's bounds.
const ALONG: usize = 6;

/// Fewer points tell nothing: those of a thin shell.
const FEWEST: usize = 8;

/// More of a body than this part in walls is no matter of how exact contact is.
const MUCH: f64 = 0.2;

/// Points of each body, in its frame, that tell how much of it is inside walls.
pub(crate) struct Samples<const D: usize>(Vec<Vec<[f64; D]>>);

impl<const D: usize> Samples<D> {
    pub(crate) fn new(bodies: &[RigidBody<D>]) -> Self {
        let of_body = |body: &RigidBody<D>| {
            let bounds = body.shape.bounds();
            let point = |index: usize| {
                let part = unravel(index, [ALONG; D]).map(|c| (c as f64 + 0.5) / ALONG as f64);
                std::array::from_fn(|a| bounds.lower[a] + part[a] * (bounds.upper[a] - bounds.lower[a]))
            };
            let points = (0..ALONG.pow(D as u32)).map(point);
            points.filter(|&x| body.shape.signed_distance(x) < 0.0).collect()
        };
        Self(bodies.iter().map(of_body).collect())
    }

    /// Warns of bodies that lie in solids, or beyond closed sides of the domain.
    pub(crate) fn warnings(
        &self,
        setup: &Setup<D>,
        bodies: &[RigidState<D>],
        solids: &[Solid<D>],
    ) -> Vec<Warning> {
        let grid = &setup.grid;
        let is_in_wall = |x: [f64; D]| {
            let cell = grid.to_cells(x);
            let is_out = |a: usize| {
                let [lower, upper] = setup.open[a];
                !lower && cell[a] < 0.0 || !upper && cell[a] > grid.cells[a] as f64
            };
            (0..D).any(is_out) || solids.iter().any(|solid| solid.distance(x) < 0.0)
        };
        let is_pressed = |(points, body): (&Vec<[f64; D]>, &RigidState<D>)| {
            let inside = points.iter().filter(|&&x| is_in_wall(body.pose.apply(x))).count();
            points.len() >= FEWEST && inside as f64 > MUCH * points.len() as f64
        };
        let pressed = self.0.iter().zip(bodies).map(is_pressed);
        let bodies = pressed.zip(&setup.bodies).filter(|(is_pressed, _)| *is_pressed);
        bodies.map(|(_, body)| Warning::BodyInWall { body: body.name.clone() }).collect()
    }
}
