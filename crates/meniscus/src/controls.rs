//! What is changed of a scene while it runs. A checkpoint keeps it.

use std::collections::BTreeMap;

use meniscus_core::serde_array::array;
use meniscus_core::shape::RigidTransform;
use meniscus_core::vector::norm;
use meniscus_rigid::Twist;
use meniscus_scene::{Motion, Setup, turned_about};
use serde::{Deserialize, Serialize};

/// All that has been changed. Solids, bodies and sources are known by their number in the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Controls<const D: usize> {
    /// In m/s².
    #[serde(with = "array")]
    pub gravity: [f64; D],
    /// How solids move instead of as the scene says.
    pub courses: BTreeMap<usize, Course<D>>,
    /// What bodies are pushed with.
    pub pushes: BTreeMap<usize, Push>,
    /// Whether sources are open, whatever their times say.
    pub sources: BTreeMap<usize, bool>,
}

impl<const D: usize> Controls<D> {
    /// The scene as it is.
    pub fn new(setup: &Setup<D>) -> Self {
        Self {
            gravity: setup.gravity,
            courses: BTreeMap::new(),
            pushes: BTreeMap::new(),
            sources: BTreeMap::new(),
        }
    }
}

/// How a solid moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Course<const D: usize> {
    /// With a velocity.
    Steady(Steady<D>),
    /// Along keyframes.
    Along(Motion<D>),
}

impl<const D: usize> Course<D> {
    pub fn pose(&self, time: f64) -> RigidTransform<D> {
        match self {
            Self::Steady(steady) => steady.pose(time),
            Self::Along(motion) => motion.pose(time),
        }
    }
}

/// A steady motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Steady<const D: usize> {
    /// When it began, in s.
    pub since: f64,
    /// Where the solid was then.
    pub from: RigidTransform<D>,
    /// The point of the solid that the velocity is that of, as it was then, in m.
    #[serde(with = "array")]
    pub centre: [f64; D],
    /// In m/s.
    #[serde(with = "array")]
    pub velocity: [f64; D],
    /// The axis that it turns around times the rate, in radians a second; in 2D only the last entry counts.
    pub spin: [f64; 3],
}

impl<const D: usize> Steady<D> {
    fn pose(&self, time: f64) -> RigidTransform<D> {
        let passed = time - self.since;
        let rate = if D == 2 { self.spin[2] } else { norm(self.spin) };
        let way = self.velocity.map(|v| v * passed);
        turned_about(self.centre, self.spin, (rate * passed).to_degrees(), way).after(&self.from)
    }
}

/// What a body is pushed with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Push {
    /// The force and its torque about the centre of mass, in N and N m.
    pub push: Twist,
    /// Whether it goes on, or is for the next step only.
    pub is_held: bool,
}
