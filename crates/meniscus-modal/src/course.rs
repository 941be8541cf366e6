//! How bodies move, and what they meet.

use meniscus_rigid::Touch;

use crate::panels::Motion;
use crate::state::BodyState;

/// How a body moves in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// The fluid moves it, and beside it a force, in N, and a torque, in N m, for a metre of depth.
    Free(Motion),
    /// It is somewhere at the end of the step and moves in a way then, whatever the fluid does.
    Given(BodyState),
}

/// What bodies meet on their way.
pub trait Encounters {
    /// Moves the bodies that the fluid moves for a time at their velocities, which what they meet changes as if there were no fluid; tells where they pressed against something.
    fn travel(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) -> Vec<Hit>;

    /// The same for bodies that only might go that way.
    fn preview(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64);

    /// Where bodies touch each other and what does not move by the fluid, or may do so within a time.
    fn touches(&mut self, bodies: &[BodyState], dt: f64) -> Touching;
}

/// Bodies that meet nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unhindered;

impl Encounters for Unhindered {
    fn travel(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) -> Vec<Hit> {
        for (body, course) in bodies.iter_mut().zip(courses) {
            if let Course::Free(_) = course {
                body.pose = body.pose.moved(body.motion, dt);
            }
        }
        Vec::new()
    }

    fn preview(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) {
        self.travel(bodies, courses, dt);
    }

    fn touches(&mut self, _: &[BodyState], _: f64) -> Touching {
        Touching::default()
    }
}

/// A point where a body pressed against something on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The body.
    pub body: usize,
    /// The other body that the fluid moves; `None` if it is something else.
    pub other: Option<usize>,
    /// The ways to the point from the centres of the two, in m.
    pub arms: [[f64; 2]; 2],
    /// The direction from the other to the body.
    pub normal: [f64; 2],
    /// The velocity of the other there, in m/s, if the fluid does not move it.
    pub velocity: [f64; 2],
    /// How fast the two met, in m/s.
    pub speed: f64,
    /// The part of the step that was left then.
    pub left: f64,
    /// The coefficient of friction.
    pub friction: f64,
    /// The coefficient of restitution.
    pub restitution: f64,
}

/// Where bodies touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touching {
    /// Where two touch, or may do so soon.
    pub touches: Vec<Touch<2>>,
    /// What is nearer than this touches, in m.
    pub near: f64,
    /// What meets more slowly does not hit, in m/s.
    pub rest: f64,
}
