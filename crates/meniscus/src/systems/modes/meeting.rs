//! What bodies meet on their way.

use meniscus_core::vector::norm;
use meniscus_modal::{BodyState, Course, Encounters, Hit, Touching};
use meniscus_rigid::{RigidState, Touch};

use super::things::{Things, plane};
use crate::stats::ContactStats;
use crate::world::{Step, World};

/// What bodies meet in a step.
pub struct Meeting<'a, const D: usize> {
    pub world: &'a World<D>,
    pub things: &'a Things,
    pub bodies: &'a mut [RigidState<D>],
    pub now: Step,
    pub contacts: ContactStats,
}

/// Moves bodies as their states say, and has these follow.
fn go<const D: usize>(
    world: &World<D>,
    things: &Things,
    bodies: &mut [RigidState<D>],
    states: &mut [BodyState],
    now: Step,
) -> (ContactStats, Vec<Hit>) {
    things.give_motions(states, bodies);
    let (contacts, hits) = world.move_bodies(bodies, now);
    for (k, (body, state)) in bodies.iter().zip(states).enumerate() {
        *state = things.state(k, body);
    }
    let hit = |hit: meniscus_contact::Hit<D>| Hit {
        body: hit.body,
        other: hit.other,
        arms: hit.arms.map(plane),
        normal: plane(hit.normal),
        velocity: plane(hit.velocity),
        speed: hit.speed,
        left: hit.left,
        friction: hit.friction,
        restitution: hit.restitution,
    };
    (contacts, hits.into_iter().map(hit).collect())
}

/// How near things are that touch, in cells: as in the liquid on a grid.
const TOUCHING: f64 = 2e-3;

impl<const D: usize> Encounters for Meeting<'_, D> {
    fn travel(&mut self, states: &mut [BodyState], _: &[Course], _: f64) -> Vec<Hit> {
        let hits;
        (self.contacts, hits) = go(self.world, self.things, self.bodies, states, self.now);
        hits
    }

    fn preview(&mut self, states: &mut [BodyState], _: &[Course], _: f64) {
        go(self.world, self.things, &mut self.bodies.to_vec(), states, self.now);
    }

    fn touches(&mut self, states: &[BodyState], dt: f64) -> Touching {
        self.things.give_motions(states, self.bodies);
        let Some(ahead) = self.world.ahead(self.now) else { return Touching::default() };
        let touch = |touch: Touch<D>| {
            let Touch { body, other, point, normal, gap, velocity, friction } = touch;
            let [point, normal, velocity] = [point, normal, velocity].map(plane);
            Touch { body, other, point, normal, gap, velocity, friction }
        };
        Touching {
            touches: ahead.touches(self.bodies, dt).into_iter().map(touch).collect(),
            near: TOUCHING * self.world.setup.grid.dx,
            rest: 2.0 * norm(self.world.controls().gravity) * dt,
        }
    }
}
