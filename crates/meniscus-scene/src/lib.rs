//! Scene files: TOML with helpful errors, overrides, a JSON schema and a built-in gallery.
//!
//! A scene says what there is (a domain, liquids, sources and sinks, solids, probes) and how it is simulated,
//! written and drawn. Lengths are in metres, times in seconds, and y is up; a scene is 2D or 3D as
//! `domain.size` has two or three entries. [`Scene`] reads and checks one, and [`Scene::setup`] gives it to a
//! solver with everything typed. Nothing here simulates.
//!
//! ```
//! use meniscus_scene::Scene;
//!
//! let scene = Scene::open("dam-break-2d", &["domain.cells=48".into()])?;
//! assert_eq!(scene.dimension(), 2);
//! let setup = scene.setup::<2>();
//! assert_eq!(setup.grid.cells[0], 48);
//!
//! let error = Scene::open("dam-break-2d", &["domain.cells=-3".into()]).unwrap_err();
//! assert_eq!(error.to_string(), "`domain.cells` must be at least 1");
//! assert_eq!(error.problems()[0].source_name(), "the change domain.cells=-3");
//! # Ok::<(), meniscus_scene::SceneError>(())
//! ```
//!
//! How a scene is read: `document` parses the text into a tree that knows its places and applies the overrides;
//! `structure` checks the tree against the schema of [`content`]; `build` checks the parts against each other
//! and makes the [`Setup`]. All of them report to one list of problems, so that one run shows all errors.

mod build;
pub mod content;
mod document;
pub mod gallery;
mod motion;
mod problem;
mod reference;
mod scene;
mod schema;
mod setup;
mod structure;
mod suggest;

pub use content::{
    AirModel, AllCheckpoints, Interpolation, KeepCheckpoints, Method, ModesDomain, ModesFeedback,
    ModesForces, ModesIntegrator, RegionFluids, RegionModel, Regions, Show, SomeCheckpoints, Walls,
};
pub use motion::{Motion, Pose, turned_about};
pub use problem::{SceneError, SceneHint, SceneProblem, SceneWarning};
pub use reference::reference;
pub use scene::Scene;
pub use schema::schema;
pub use setup::{
    BodySetup, CameraSetup, EnrichSetup, EnrichSource, FluidSetup, LiquidSetup, ModesSetup, OutputSettings,
    ParticleSettings, ProbeKind, ProbeSetup, RenderSettings, STEPS_OF_SHEDDING, SecondSetup, Setup,
    SinkSetup, SmokeSetup, SolidSetup, SolverSettings, SourceSetup, TimeSettings, Transfer, WaveSetup,
};
