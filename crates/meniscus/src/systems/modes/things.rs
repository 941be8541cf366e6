//! Bodies and solids of a scene as bodies with panels.

use std::any::Any;

use meniscus_core::shape::{RigidTransform, Shape, outline};
use meniscus_modal::BodyState;
use meniscus_modal::panels::{Body, Pose, Profile};
use meniscus_rigid::{RigidState, twist};
use meniscus_scene::Setup;

use super::of;

/// The bodies of the scene, and after them its solids.
pub struct Things {
    pub bodies: Vec<Body>,
    /// The centre of the area of each in its own frame: near the origin for bodies, whose centre of mass is there.
    centres: Vec<[f64; 2]>,
}

impl Things {
    pub fn new<const D: usize>(setup: &Setup<D>) -> Self {
        let panel = of(setup).panel;
        let of_body =
            setup.bodies.iter().map(|body| (&body.shape, &body.wake_edges, body.density / setup.density));
        let of_solid = setup.solids.iter().map(|solid| (&solid.shape, &solid.wake_edges, 0.0));
        let thing = |(shape, edges, density_ratio): (&Shape<D>, &Vec<[f64; 2]>, f64)| {
            let shape: &dyn Any = shape;
            let plane: &Shape<2> = shape.downcast_ref().expect("modes live in the plane");
            let points = outline(plane, panel).expect("the scene has made this outline");
            let (profile, centre) = Profile::of_polygon(&points);
            let edges: Vec<[f64; 2]> =
                edges.iter().map(|x| [0, 1].map(|axis| x[axis] - centre[axis])).collect();
            (Body::of_density(profile, density_ratio).with_edges(&edges), centre)
        };
        let (bodies, centres) = of_body.chain(of_solid).map(thing).unzip();
        Self { bodies, centres }
    }

    /// Where one is, if its shape is moved like this.
    pub fn pose<const D: usize>(&self, number: usize, transform: &RigidTransform<D>) -> Pose {
        let matrix = transform.rotation.matrix();
        let centre = plane(transform.apply(space(self.centres[number])));
        Pose { centre, angle: matrix[1][0].atan2(matrix[0][0]) }
    }

    /// How a body of the scene is, and moves.
    pub fn state<const D: usize>(&self, number: usize, state: &RigidState<D>) -> BodyState {
        let [x, y] = plane(state.pose.rotation.apply(space(self.centres[number])));
        let ([u, v], [_, _, spin]) = (plane(state.centre_velocity()), state.angular_velocity());
        BodyState { pose: self.pose(number, &state.pose), motion: [u - spin * y, v + spin * x, spin] }
    }

    /// Two that are in the same place, or one that is not all in a box, twice.
    pub fn overlap(&self, size: [f64; 2], states: &[BodyState]) -> Option<[usize; 2]> {
        let all: Vec<(&Body, &Pose)> = self.bodies.iter().zip(states).map(|(b, s)| (b, &s.pose)).collect();
        let corners = |(body, pose): (&Body, &Pose)| -> Vec<[f64; 2]> {
            body.profile.panels.iter().map(|panel| pose.place(panel.start)).collect()
        };
        let is_out = |x: &[f64; 2]| (0..2).any(|axis| !(0.0..=size[axis]).contains(&x[axis]));
        let lies_in = |a: usize, b: usize| corners(all[a]).iter().any(|&x| is_in(all[b].0, all[b].1, x));
        let out = (0..all.len()).find(|&k| corners(all[k]).iter().any(is_out)).map(|k| [k, k]);
        let pairs = (0..all.len()).flat_map(|k| (0..k).map(move |other| [k, other]));
        out.or_else(|| pairs.into_iter().find(|&[a, b]| lies_in(a, b) || lies_in(b, a)))
    }

    /// Whether a point is in one of them.
    pub fn is_in_some(&self, states: &[BodyState], x: [f64; 2]) -> bool {
        self.bodies.iter().zip(states).any(|(body, state)| is_in(body, &state.pose, x))
    }

    /// Gives bodies of the scene the motions of their centres.
    pub fn give_motions<const D: usize>(&self, from: &[BodyState], bodies: &mut [RigidState<D>]) {
        for ((body, centre), BodyState { motion: [u, v, spin], .. }) in
            bodies.iter_mut().zip(&self.centres).zip(from)
        {
            let [x, y] = plane(body.pose.rotation.apply(space(*centre)));
            body.velocity = twist::<D>(space([u + spin * y, v - spin * x]), [0.0, 0.0, *spin]);
        }
    }
}

fn is_in(body: &Body, pose: &Pose, x: [f64; 2]) -> bool {
    let own = pose.place_back(x);
    own[0].hypot(own[1]) < body.profile.reach && body.profile.nearest_outside(own).is_some()
}

/// The two components of a vector in the plane.
pub fn plane<const D: usize>(x: [f64; D]) -> [f64; 2] {
    [x[0], x[1]]
}

/// A vector of two components, as the front door has it.
pub fn space<const D: usize>(x: [f64; 2]) -> [f64; D] {
    std::array::from_fn(|axis| x[axis.min(1)])
}
