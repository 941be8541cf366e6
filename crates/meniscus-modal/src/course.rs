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
    /// Moves the bodies that the fluid moves for a time at their velocities, which what they meet changes.
    fn travel(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64);

    /// The same for bodies that only might go that way.
    fn preview(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64);

    /// Where bodies touch each other and what does not move by the fluid, or may do so within a time.
    fn touches(&mut self, bodies: &[BodyState], dt: f64) -> Touching;
}

/// Bodies that meet nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unhindered;

impl Encounters for Unhindered {
    fn travel(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) {
        for (body, course) in bodies.iter_mut().zip(courses) {
            if let Course::Free(_) = course {
                body.pose = body.pose.moved(body.motion, dt);
            }
        }
    }

    fn preview(&mut self, bodies: &mut [BodyState], courses: &[Course], dt: f64) {
        self.travel(bodies, courses, dt);
    }

    fn touches(&mut self, _: &[BodyState], _: f64) -> Touching {
        Touching::default()
    }
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
