//! Meniscus: a liquid simulator. Scene to simulation to frames:
//!
//! ```
//! use meniscus::{Scene, Simulation};
//!
//! let scene = Scene::open("dam-break-2d", &["domain.cells=32".into()])?;
//! let mut simulation = Simulation::<2>::new(&scene);
//! for _ in 0..3 {
//!     let substeps = simulation.advance_frame()?;
//!     let last = substeps.last().expect("a frame has a substep");
//!     println!("{:.3} s, {} particles, {:.2} m/s", last.time, last.particles, last.max_speed);
//! }
//! assert!(simulation.state().max_speed > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Simulation::advance_substep`] goes in smaller steps; [`Simulation::state`] gives the fields, in cells of the
//! [`grid`](Simulation::grid), and the particles (`state().particles.position[k]`, which `grid().point` makes metres);
//! and [`Simulation::set_motion`] moves a solid as you like:
//!
//! ```
//! use meniscus::core::shape::RigidTransform;
//! use meniscus::{Scene, Simulation};
//!
//! let text = r#"
//!     [domain]
//!     size = [1.0, 1.0]
//!     cells = 24
//!     [[liquid]]
//!     shape = { box = { from = [0, 0], to = [1, 0.5] } }
//!     [[solid]]
//!     name = "ball"
//!     shape = { sphere = { centre = [0.5, 0.7], radius = 0.1 } }
//! "#;
//! let scene = Scene::parse("ball.toml", text, std::path::Path::new(""), &[])?;
//! let mut simulation = Simulation::<2>::new(&scene);
//! simulation.set_motion("ball", |t| RigidTransform { translation: [0.0, -t], ..RigidTransform::IDENTITY })?;
//! simulation.advance_frame()?;
//! let level_set = &simulation.state().level_set;
//! assert!(level_set.get([3, 3]) < 0.0 && level_set.get([3, 20]) > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`run`](run()) does the same into a folder, with statistics, checkpoints and a frame cache from which
//! [`draw`] makes pictures and [`export()`] meshes.

mod benchmark;
mod bodies;
mod estimate;
mod exact;
mod export;
mod folder;
mod frame;
mod pictures;
mod pressed;
mod run;
mod session;
mod simulation;
mod stats;
mod systems;
mod warnings;
mod world;

pub use benchmark::{Benchmark, DiagonalCase, RegionsCase, TimedSolve, benchmark, compare_regions, substeps};
pub use estimate::{Estimate, estimate};
pub use export::{Content, ExportError, ExportOptions, Format, export};
pub use folder::{Folder, FolderError, Manifest};
pub use frame::Frame;
pub use meniscus_core as core;
pub use meniscus_liquid as liquid;
pub use meniscus_liquid::standard;
pub use meniscus_scene::{Scene, SceneError, gallery, schema};
pub use pictures::{PictureOptions, Pictures, PicturesError, draw, drawing_seconds};
pub use run::{Event, Outcome, RunError, RunOptions, Summary, run};
pub use simulation::{Simulation, SimulationError, Snapshot};
pub use stats::{
    BodyStats, BubbleEvent, BubbleStats, CellCounts, ContactStats, GROSS_DRIFT, ProbeValue, SolveStats, Stats,
};
