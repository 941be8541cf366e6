//! What surrounds a liquid during one substep.

use std::sync::Arc;

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_core::vector::{norm, sub};

use meniscus_rigid::{Contact, RigidBody, RigidState};
use meniscus_rigid::{Twist, dot, motions};

/// What surrounds the liquid during one substep.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<const D: usize> {
    /// The solids.
    pub solids: Vec<Solid<D>>,
    /// The rigid bodies that the liquid moves; where they are is part of the state.
    pub bodies: Vec<RigidBody<D>>,
    /// What they run into; without it they pass through each other and through solids.
    pub contact: Option<Arc<dyn Contact<D>>>,
    /// Where liquid is poured in.
    pub sources: Vec<Source<D>>,
    /// Where liquid is taken out.
    pub sinks: Vec<Shape<D>>,
    /// The smoke; its markers are part of the state.
    pub smoke: Vec<Smoke<D>>,
}

/// Smoke that the flow carries.
#[derive(Clone, Debug)]
pub struct Smoke<const D: usize> {
    /// Where it comes from, in metres.
    pub shape: Shape<D>,
    /// Whether its shape is kept full of it in this substep.
    pub fills: bool,
    /// By how much it is lighter than the fluid, as a part of it.
    pub buoyancy: f64,
}

/// A solid and its motion in one substep.
#[derive(Clone, Debug)]
pub struct Solid<const D: usize> {
    /// The solid in its own frame, in metres.
    pub shape: Shape<D>,
    /// Where it is at the beginning of the substep.
    pub from: RigidTransform<D>,
    /// Where it is at its end.
    pub to: RigidTransform<D>,
    /// Where it will be after another substep as long; `None` if that is not known, and it goes on as it has. The velocity that liquid is given at the end of
    /// a substep moves it in the next one: with that of the solid in the substep before, liquid would lag behind it.
    pub next: Option<RigidTransform<D>>,
    /// The velocity that pressure gives it; `None` if nothing does, and its way is what tells.
    pub free: Option<Twist>,
    /// Whether it lets go of the liquid: it pushes, but does not pull. See [`crate::projection`].
    pub separates: bool,
}

impl<const D: usize> Solid<D> {
    /// A solid that rests where its shape is.
    pub fn fixed(shape: Shape<D>) -> Self {
        let at = RigidTransform::IDENTITY;
        Self { shape, from: at, to: at, next: None, free: None, separates: false }
    }

    /// Whether it moves in this substep or the next one, or may.
    pub fn moves(&self) -> bool {
        self.from != self.to || self.next.is_some_and(|next| next != self.to) || self.free.is_some()
    }

    /// The velocity of its material at a point, in m/s, from the end of a substep of `dt` on.
    pub fn velocity(&self, point: [f64; D], dt: f64) -> [f64; D] {
        match (self.free, self.next) {
            (Some(velocity), _) => {
                let arm = sub(point, self.to.translation);
                std::array::from_fn(|axis| dot(&motions(axis, arm), &velocity))
            }
            (None, Some(next)) => mean_way([self.to, next], point).map(|way| way / dt),
            (None, None) => mean_way([self.from, self.to], point).map(|way| way / dt),
        }
    }

    /// The signed distance at the end of the substep, in metres.
    pub fn distance(&self, point: [f64; D]) -> f64 {
        self.shape.signed_distance(self.to.apply_inverse(point))
    }

    /// The signed distance at the beginning of the substep, in metres.
    pub fn distance_before(&self, point: [f64; D]) -> f64 {
        self.shape.signed_distance(self.from.apply_inverse(point))
    }

    /// Where a point is at the end of the substep that the solid has taken along.
    pub fn carry(&self, point: [f64; D]) -> [f64; D] {
        self.to.apply(self.from.apply_inverse(point))
    }

    /// The way that the material at `point` has come in the substep, in metres.
    pub fn displacement(&self, point: [f64; D]) -> [f64; D] {
        let before = self.from.apply(self.to.apply_inverse(point));
        std::array::from_fn(|a| point[a] - before[a])
    }
}

/// The mean of the way that the material at a point goes in a motion, and of that by which the material that ends there has come, in metres: the velocity of a rigid motion. Either alone is the chord of an
/// arc, by which a disc that turns about its centre would swallow liquid, or give it off.
fn mean_way<const D: usize>([from, to]: [RigidTransform<D>; 2], point: [f64; D]) -> [f64; D] {
    let after = to.apply(from.apply_inverse(point));
    let before = from.apply(to.apply_inverse(point));
    std::array::from_fn(|a| 0.5 * (after[a] - before[a]))
}

impl<const D: usize> Surroundings<D> {
    /// These surroundings with the rigid bodies among the solids, after the others.
    pub(crate) fn with_bodies(&self, states: &[RigidState<D>]) -> Self {
        let solid = |(body, state): (&RigidBody<D>, &RigidState<D>)| Solid {
            shape: body.shape.clone(),
            from: state.from,
            to: state.pose,
            next: None,
            free: Some(state.velocity),
            separates: body.separates,
        };
        let bodies = self.bodies.iter().zip(states).map(solid);
        Self { solids: self.solids.iter().cloned().chain(bodies).collect(), ..self.clone() }
    }

    /// Whether liquid comes in through sources, or goes out through sinks.
    pub(crate) fn exchanges(&self) -> bool {
        !self.sources.is_empty() || !self.sinks.is_empty()
    }

    /// The largest component of a velocity that a source prescribes, in m/s.
    pub(crate) fn source_speed(&self) -> f64 {
        self.sources.iter().flat_map(|s| s.velocity).fold(0.0, |speed, v| v.abs().max(speed))
    }

    /// These surroundings with other velocities of the bodies among the solids.
    pub(crate) fn with_velocities(&self, velocities: &[Twist]) -> Self {
        let mut moved = self.clone();
        let free = moved.solids.iter_mut().filter(|solid| solid.free.is_some());
        free.zip(velocities).for_each(|(solid, &velocity)| solid.free = Some(velocity));
        moved
    }
}

/// A place that is filled with liquid moving at a velocity.
#[derive(Clone, Debug)]
pub struct Source<const D: usize> {
    /// The place, in metres.
    pub shape: Shape<D>,
    /// The velocity of the liquid in it, in m/s.
    pub velocity: [f64; D],
}

/// How far the surface of a solid moves in its substep, in metres: at most this. Of an unbounded one, what is in the domain.
pub fn solid_travel<const D: usize>(grid: &Grid<D>, solid: &Solid<D>) -> f64 {
    let bounds = solid.shape.bounds();
    let corner = |k: usize, [lower, upper]: [[f64; D]; 2]| -> [f64; D] {
        std::array::from_fn(|a| if k >> a & 1 == 1 { upper[a] } else { lower[a] })
    };
    let travel = |k: usize| match bounds.is_finite() {
        true => {
            let corner = corner(k, [bounds.lower, bounds.upper]);
            norm(sub(solid.to.apply(corner), solid.from.apply(corner)))
        }
        false => norm(solid.displacement(corner(k, [grid.origin, grid.point(grid.cells.map(|n| n as f64))]))),
    };
    (0..1 << D).map(travel).fold(0.0, f64::max)
}
