//! Discs that touch each other and walls.

use meniscus_rigid::Touch;

use crate::flow::{Basis, Integrator};
use crate::panels::tests::{at, disc};
use crate::panels::{Body, Drive, Images, Immersed, Pose, Solution};
use crate::*;

const NEAR: f64 = 1e-3;

/// What gravity, 1 m/s², makes in two steps: what meets more slowly may have lain there.
fn rest(dt: f64) -> f64 {
    2.0 * dt
}

/// Discs in a box: they fly, stop where they meet, and touch where they are near.
struct Discs {
    radii: Vec<f64>,
    size: [f64; 2],
    friction: f64,
}

impl Encounters for Discs {
    fn travel(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) -> Vec<Hit> {
        let mut hits = Vec::new();
        let hit = |body: usize, other: Option<usize>, normal: [f64; 2], speed: f64| {
            let arm = |of: usize, sign: f64| normal.map(|n| sign * self.radii[of] * n);
            let arms = [arm(body, -1.0), other.map_or([0.0; 2], |other| arm(other, 1.0))];
            let (velocity, friction) = ([0.0; 2], self.friction);
            Hit { body, other, arms, normal, velocity, speed, left: 0.5, friction, restitution: 0.0 }
        };
        Unhindered.travel(bodies, courses, dt);
        for (number, (body, radius)) in bodies.iter_mut().zip(&self.radii).enumerate() {
            for axis in 0..2 {
                let (least, most) = (radius + 0.5 * NEAR, self.size[axis] - radius - 0.5 * NEAR);
                let x = &mut body.pose.centre[axis];
                if *x < least || *x > most {
                    let mut normal = [0.0; 2];
                    normal[axis] = if *x < least { 1.0 } else { -1.0 };
                    *x = x.clamp(least, most);
                    hits.push(hit(number, None, normal, body.motion[axis].abs()));
                    body.motion[axis] = 0.0;
                }
            }
        }
        // Those that overlap are moved apart.
        for _ in 0..20 {
            for a in 0..bodies.len() {
                for b in 0..a {
                    let (normal, gap) = self.apart(bodies, a, b);
                    if gap < 0.5 * NEAR {
                        let speed: f64 =
                            (0..2).map(|k| normal[k] * (bodies[a].motion[k] - bodies[b].motion[k])).sum();
                        hits.push(hit(a, Some(b), normal, -speed));
                        let [stopped_a, stopped_b] =
                            [a, b].map(|k| [0, 1].map(|axis| bodies[k].motion[axis]));
                        for axis in 0..2 {
                            let stop = if speed < -rest(dt) { 0.5 * speed * normal[axis] } else { 0.0 };
                            bodies[a].motion[axis] = stopped_a[axis] - stop;
                            bodies[b].motion[axis] = stopped_b[axis] + stop;
                            let way = 0.5 * (0.5 * NEAR - gap) * normal[axis];
                            bodies[a].pose.centre[axis] += way;
                            bodies[b].pose.centre[axis] -= way;
                        }
                    }
                }
            }
        }
        hits
    }

    fn preview(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) {
        self.travel(bodies, courses, dt);
    }

    fn touches(&mut self, bodies: &[BodyState], dt: f64) -> Touching {
        let mut touches = Vec::new();
        let friction = self.friction;
        for a in 0..bodies.len() {
            let centre = bodies[a].pose.centre;
            let reach = |motion: [f64; 3]| 2.0 * motion[0].hypot(motion[1]) * dt + NEAR;
            for axis in 0..2 {
                for (sign, gap) in [
                    (1.0, centre[axis] - self.radii[a]),
                    (-1.0, self.size[axis] - centre[axis] - self.radii[a]),
                ] {
                    if gap < reach(bodies[a].motion) {
                        let mut normal = [0.0; 2];
                        normal[axis] = sign;
                        let point = [0, 1].map(|k| centre[k] - self.radii[a] * normal[k]);
                        touches.push(Touch {
                            body: a,
                            other: None,
                            point,
                            normal,
                            gap,
                            velocity: [0.0; 2],
                            friction,
                        });
                    }
                }
            }
            for b in 0..a {
                let (normal, gap) = self.apart(bodies, a, b);
                if gap < reach(bodies[a].motion) + reach(bodies[b].motion) {
                    let point = [0, 1].map(|k| centre[k] - self.radii[a] * normal[k]);
                    touches.push(Touch {
                        body: a,
                        other: Some(b),
                        point,
                        normal,
                        gap,
                        velocity: [0.0; 2],
                        friction,
                    });
                }
            }
        }
        Touching { touches, near: NEAR, rest: rest(dt) }
    }
}

impl Discs {
    /// The direction from one to another, and the gap between them.
    fn apart(&self, bodies: &[BodyState], a: usize, b: usize) -> ([f64; 2], f64) {
        let d = [0, 1].map(|k| bodies[a].pose.centre[k] - bodies[b].pose.centre[k]);
        let distance = d[0].hypot(d[1]);
        (d.map(|x| x / distance), distance - self.radii[a] - self.radii[b])
    }
}

fn falling() -> Params {
    Params {
        density: 1.0,
        viscosity: 0.0,
        gravity: [0.0, -1.0],
        integrator: Integrator::Conserving,
        feedback: Feedback::None,
        forces: Forces::Potential,
    }
}

fn resting(centre: [f64; 2]) -> BodyState {
    BodyState { pose: at(centre), motion: [0.0; 3] }
}

#[test]
fn discs_that_touch_fall_as_one() {
    // The heavier one lies on the lighter one: together they have their weight and the mass of both with what they take along of the fluid.
    let (radius, size) = (0.1, [1.0; 2]);
    let bodies = [0.5, 3.0].map(|ratio| Body::of_density(disc(48, radius), ratio));
    let mut state = State::new(Basis::new(size, 1));
    state.bodies = vec![resting([0.5, 0.4]), resting([0.5, 0.6 + 0.5 * NEAR])];
    let poses: Vec<Pose> = state.bodies.iter().map(|body| body.pose).collect();
    let mut workspace = Workspace::default();
    begin(&mut state, &bodies, &mut workspace).unwrap();
    let mut discs = Discs { radii: vec![radius; 2], size, friction: 0.3 };
    let info =
        step(&mut state, &falling(), &bodies, &[Course::Free([0.0; 3]); 2], &mut discs, 1e-4, &mut workspace)
            .unwrap();
    let images = Images::new(size);
    let immersed = Immersed::new(&images, &bodies, &poses);
    let mut solution = Solution::default();
    let down = [Drive::Given([0.0, -1.0, 0.0]); 2];
    immersed.solve(&immersed.influence(), &down, &[0.0; 2], &mut solution, 1e-12);
    let mass = -(immersed.momentum(&solution, 0)[1] + immersed.momentum(&solution, 1)[1]);
    let weight: f64 = bodies.iter().map(|body| body.mass[0] - body.profile.area).sum();
    let expected = -1e-4 * weight / mass;
    for body in &state.bodies {
        assert!((body.motion[1] / expected - 1.0).abs() < 1e-3, "{:?} {expected}", state.bodies);
    }
    assert_eq!(info.contacts, Contacts { touches: 1, pressing: 1, is_settled: true });
}

#[test]
fn a_light_disc_rests_under_the_ceiling() {
    let (radius, size) = (0.1, [1.0; 2]);
    let bodies = [Body::of_density(disc(40, radius), 0.01)];
    let mut state = State::new(Basis::new(size, 1));
    state.bodies = vec![resting([0.5, 0.8])];
    let mut workspace = Workspace::default();
    begin(&mut state, &bodies, &mut workspace).unwrap();
    let mut discs = Discs { radii: vec![radius], size, friction: 0.3 };
    for _ in 0..400 {
        step(&mut state, &falling(), &bodies, &[Course::Free([0.0; 3])], &mut discs, 0.005, &mut workspace)
            .unwrap();
    }
    let body = state.bodies[0];
    assert!(body.motion.iter().all(|v| v.abs() < 1e-6), "{body:?}");
    assert!((body.pose.centre[1] - 0.9).abs() < NEAR, "{body:?}");
    assert!((body.pose.centre[0] - 0.5).abs() < 1e-6, "{body:?}");
}

#[test]
fn ten_light_discs_that_touch_come_to_rest() {
    let (radius, size) = (0.08, [1.0; 2]);
    let bodies: Vec<Body> = (0..10).map(|_| Body::of_density(disc(24, radius), 0.01)).collect();
    let mut state = State::new(Basis::new(size, 25));
    state.flow[2] = 3.0;
    state.bodies =
        (0..10).map(|k| resting([0.11 + 0.195 * f64::from(k % 5), 0.3 + 0.18 * f64::from(k / 5)])).collect();
    let mut workspace = Workspace::default();
    begin(&mut state, &bodies, &mut workspace).unwrap();
    let params = Params { feedback: Feedback::Shed(0.2), viscosity: 1e-3, ..falling() };
    // Half a panel stays between what touches.
    let mut discs = Discs { radii: vec![radius + 0.005; 10], size, friction: 0.3 };
    let (mut fastest, mut unsettled) = (0.0f64, 0);
    for k in 0..1000 {
        let info = step(
            &mut state,
            &params,
            &bodies,
            &[Course::Free([0.0; 3]); 10],
            &mut discs,
            0.01,
            &mut workspace,
        )
        .unwrap_or_else(|error| panic!("step {k}: {error}, {:?}", state.bodies));
        unsettled += usize::from(!info.contacts.is_settled);
        fastest = fastest.max(speed(&state));
    }
    assert!(fastest < 2.0, "{fastest}");
    assert!(unsettled <= 5, "{unsettled} steps");
    assert!(speed(&state) < 0.01, "{}", speed(&state));
}

/// The speed of the fastest.
fn speed(state: &State) -> f64 {
    state.bodies.iter().map(|body| body.motion[0].hypot(body.motion[1])).fold(0.0, f64::max)
}
