//! Meniscus: a liquid simulator. Scene to simulation to frames.
//!
//! A [`Scene`] is a file, a scene of the gallery, or a text; a mistake in it is an error that names the place and the fix.
//! A [`Simulation`] runs it, frame by frame or substep by substep, and tells what it measured:
//!
//! ```
//! use meniscus::{Scene, Simulation};
//!
//! let scene = Scene::open("dam-break-2d", &["domain.cells=32".into()])?;
//! let mut simulation = Simulation::new(&scene)?;
//! for _ in 0..3 {
//!     let substeps = simulation.advance_frame()?;
//!     let last = substeps.last().expect("a frame has a substep");
//!     println!("{:.3} s, {} particles, {:.2} m/s", last.time, last.particles, last.max_speed);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Simulation::frame`] shows the moment: particles and fields as plain arrays in SI units, the surface as a mesh, bubbles,
//! bodies, a picture. Nothing is copied until you ask for it.
//!
//! ```
//! use meniscus::{Scene, Simulation};
//!
//! let text = r#"
//!     [domain]
//!     size = [1.0, 0.8]
//!     cells = 20
//!     [[liquid]]
//!     shape = { box = { from = [0, 0], to = [0.5, 0.5] } }
//!     [[body]]
//!     name = "cork"
//!     shape = { sphere = { centre = [0.25, 0.55], radius = 0.1 } }
//!     density = 200
//! "#;
//! let scene = Scene::parse("cork.toml", text, std::path::Path::new(""), &[])?;
//! let mut simulation = Simulation::new(&scene)?;
//! simulation.advance_frame()?;
//!
//! let frame = simulation.frame();
//! let particles = frame.particles().expect("they are kept unless the scene says no");
//! assert_eq!(particles.position.shape, [particles.fluid.len(), 2]);
//!
//! // Cells by x and y; a box of cells is enough where the room is large.
//! let level_set = frame.field("level_set", None)?;
//! assert_eq!(level_set.shape, [20, 16]);
//! assert!(level_set.at(&[3, 3]) < 0.0 && level_set.at(&[15, 12]) > 0.0);
//! let velocity = frame.field("velocity", Some(&[4..8, 0..4]))?;
//! assert_eq!(velocity.shape, [4, 4, 2]);
//!
//! // Anywhere, in metres.
//! let distance = frame.sample(&[0.1, 0.1, 0.9, 0.1], "level_set")?;
//! assert!(distance.values[0] < 0.0 && distance.values[1] > 0.0);
//! assert!(frame.surface()?.position.len() > 20);
//! assert_eq!(frame.bodies()[0].name, "cork");
//! let picture = frame.picture(Some([160, 128]))?;
//! assert_eq!((picture.width, picture.height), (160, 128));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Snapshot`] is all that a simulation needs to go on, in memory or in a file. What follows it are the same bits:
//!
//! ```
//! # use meniscus::{Scene, Simulation};
//! # let scene = Scene::open("dam-break-2d", &["domain.cells=24".into()])?;
//! # let mut simulation = Simulation::new(&scene)?;
//! let snapshot = simulation.snapshot();
//! let first = simulation.advance_substep()?;
//! simulation.restore(snapshot)?;
//! let again = simulation.advance_substep()?;
//! assert_eq!((first.max_speed, first.liquid_volume), (again.max_speed, again.liquid_volume));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A flow of modes (`method = "modes"`) is there to be played with: stirred, looked at mode by mode, and changed by another scene while it runs.
//!
//! ```
//! use meniscus::{Scene, Simulation};
//!
//! let text = r#"
//!     method = "modes"
//!     [domain]
//!     size = [1.0, 1.0]
//!     cells = 64
//!     [fluid]
//!     density = 1000
//!     [modes]
//!     count = 50
//! "#;
//! let parse = |text: &str| Scene::parse("stirred.toml", text, std::path::Path::new(""), &[]);
//! let mut simulation = Simulation::new(&parse(text)?)?;
//! let energy = simulation.stir(&[[0.2, 0.5], [0.8, 0.5]], 0.1, 0.5)?;
//! assert!(energy > 0.0);
//! simulation.advance_frame()?;
//!
//! let modes = simulation.modes().expect("a flow of modes");
//! assert_eq!(modes.strengths()[0].name, "1x1");
//! assert!(modes.velocity([0.5, 0.5])[0] > 0.1);
//!
//! // A cork is dropped in, and a mode is drawn.
//! let more = r#"
//!     [[modes.enrich]]
//!     name = "jet"
//!     stroke = { points = [[0.2, 0.3], [0.8, 0.3]], width = 0.03 }
//!     [[body]]
//!     name = "cork"
//!     shape = { sphere = { centre = [0.5, 0.8], radius = 0.05 } }
//!     density = 300
//! "#;
//! simulation.go_on_as(&parse(&format!("{text}{more}"))?)?;
//! simulation.excite("jet", 0.1)?;
//! simulation.advance_frame()?;
//! assert_eq!(simulation.frame().bodies()[0].name, "cork");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`run`](run()) does all this into a folder, with statistics, checkpoints and a frame cache. A [`Run`] opens it: its frames are
//! looked at in the same ways, its checkpoints are snapshots, and it can be followed while it is written; [`draw`] makes pictures and
//! [`export()`] meshes of all frames.

mod benchmark;
mod bodies;
mod branching;
mod controls;
mod dimension;
mod drawing;
mod error;
mod estimate;
mod exact;
mod export;
mod frame;
mod identity;
mod pictures;
mod poses;
mod pressed;
mod runs;
mod session;
mod simulation;
mod stats;
mod steering;
mod systems;
mod warning;
mod world;

pub use benchmark::{Benchmark, DiagonalCase, RegionsCase, TimedSolve, benchmark, compare_regions, substeps};
pub use error::SimulationError;
pub use estimate::{Estimate, estimate};
pub use export::{Content, ExportError, ExportOptions, Format, export};
pub use frame::{Array, FieldBlocks, Frame, FrameError, Particles};
pub use meniscus_io::export::{Elements, SurfaceExport};
pub use meniscus_io::{CacheError, WriteError};
pub use meniscus_liquid::projection::AffineTiles;
pub use meniscus_liquid::standard;
pub use meniscus_liquid::{EnergyBook, State as LiquidState, VolumeBook};
pub use meniscus_render::{Picture, encode_png};
pub use meniscus_scene::{Scene, SceneError, gallery, schema};
pub use pictures::{PictureOptions, Pictures, PicturesError, draw, drawing_seconds};
pub use runs::{
    Branch, Event, Folder, FolderError, Lines, Manifest, Outcome, Parent, Run, RunError, RunOptions, Summary,
    run,
};
pub use simulation::{Simulation, Snapshot};
pub use stats::{
    BodyStats, BubbleEvent, BubbleStats, CellCounts, ContactStats, GROSS_DRIFT, ModesStats, ProbeValue,
    SolveStats, Stats,
};
pub use steering::{Keyframe, Keyframes};
pub use systems::{ModeStrength, ModesView};
pub use warning::Warning;
