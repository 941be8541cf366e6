//! Why a simulation cannot go on.

use std::error::Error;
use std::path::PathBuf;

use meniscus_contact::ContactError;
use meniscus_scene::SceneError;

/// Why a step failed.
pub(crate) type StepFailure = Box<dyn Error + Send + Sync>;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The velocity could not be solved for.
    #[error("a solve failed in frame {frame}, at {time:.6} s")]
    Step {
        /// The frame.
        frame: u32,
        /// The simulated time, in s.
        time: f64,
        /// Why.
        source: StepFailure,
    },
    /// The bodies cannot be made to run into things.
    #[error("the collisions of {what} cannot be set up")]
    Contact {
        /// The body or the solid.
        what: String,
        /// Why.
        source: ContactError,
    },
    /// There is no liquid and never will be.
    #[error(
        "there is nothing to simulate: no liquid is left outside the solids and inside the domain, and no source pours \
         any; move the liquid or the solids"
    )]
    NoLiquid,
    /// A scene that another one goes on with has two things in the same place.
    #[error(
        "{name} overlaps {other} at {time:.3} s, where the scene goes on: things may have moved since its start"
    )]
    Overlap {
        /// One of them.
        name: String,
        /// The other one, or a side of the domain.
        other: String,
        /// When.
        time: f64,
    },
    /// What only one method does.
    #[error("{what} is not possible with this scene: it needs method = \"grid\"")]
    OnlyGrid {
        /// What was asked for.
        what: &'static str,
    },
    /// What only a flow of modes does.
    #[error("{what} is not possible with this scene: it needs method = \"modes\"")]
    OnlyModes {
        /// What was asked for.
        what: &'static str,
    },
    /// A line that cannot be drawn.
    #[error("this is no stroke: {problem}")]
    NoStroke {
        /// Why.
        problem: &'static str,
    },
    /// A run that modes cannot be learnt from.
    #[error("the modes `{mode}` cannot be learnt from {}", folder.display())]
    CannotLearn {
        /// Their name.
        mode: String,
        /// The folder of the run.
        folder: PathBuf,
        /// Why.
        source: StepFailure,
    },
    /// A step failed before, so that there is nothing to go on from.
    #[error(
        "a step failed in frame {frame}, after {time:.6} s: what is left is of no use; go on from what was saved before"
    )]
    HasFailed {
        /// The frame.
        frame: u32,
        /// The simulated time, in s.
        time: f64,
    },
    /// A name that nothing of its kind in the scene has.
    #[error("the scene has no {kind} named \"{name}\"; {}", there_are(known))]
    NoSuch {
        /// A solid, a body or a source.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Numbers that are not the components of a vector.
    #[error("{found:?} is no {what}: it has {wanted} components, finite numbers")]
    NotAVector {
        /// Of what.
        what: &'static str,
        /// How many components it has.
        wanted: usize,
        /// What was given.
        found: Vec<f64>,
    },
    /// Keyframes that make no motion.
    #[error("these keyframes make no motion: {problem}")]
    BadKeyframes {
        /// Why.
        problem: &'static str,
    },
    /// What was saved is of another scene.
    #[error(
        "what was saved is of another scene, or the scene has been changed since; a branch can go on from it"
    )]
    OtherScene,
    /// A scene that cannot go on where another one was.
    #[error("a scene that goes on where another one was has the same `{key}`: {difference}")]
    CannotFollow {
        /// What differs.
        key: &'static str,
        /// How.
        difference: String,
    },
    /// Liquid that makes no sense in the scene.
    #[error("this liquid cannot be put in")]
    BadLiquid(#[source] Box<SceneError>),
    /// What was saved is of a scene with another dimension.
    #[error("what was saved has {found} dimensions, the scene has {expected}")]
    OtherDimension {
        /// Of what was saved.
        found: usize,
        /// Of the scene.
        expected: usize,
    },
}

fn there_are(known: &[String]) -> String {
    if known.is_empty() { "there are none".into() } else { format!("it has {}", known.join(", ")) }
}
