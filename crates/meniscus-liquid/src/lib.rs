//! The grid liquid: the stages of a step.
//!
//! A [`State`] is advanced by [`step()`], which reads as a list of stages, each a function in a file of its
//! name: reseed, pour and drain, advect, collide, sort, follow the surface, transfer to the grid, add
//! forces, [let viscosity act](viscosity), [project](projection), extrapolate, transfer to the particles. Nothing here does I/O or prints,
//! and every result is the same, bit for bit, for any number of threads.

mod books;
mod boundary;
mod carriers;
mod change;
mod holding;
mod measure;
mod params;
mod particles;
pub mod probe;
pub mod projection;
mod regions;
mod rigid;
pub mod standard;
mod state;
mod step;
mod substep;
mod surface;
mod surroundings;
mod sweep;
mod tiles;
mod tracking;
mod trial;
pub mod viscosity;
mod volume;
mod walls;

pub use books::{EnergyBook, VolumeBook};
pub use change::Change;
pub use params::{AirModel, Params, Reduced, SecondFluid, Slip, TileSize, Tiling, Transfer};
pub use particles::Markers;
pub use particles::collide::CollideInfo;
pub use state::{InitialLiquid, State};
pub use step::{ReseedInfo, Squeeze, Squeezed, StepError, StepInfo, Workspace, max_time_step, step};
pub use surroundings::{Smoke, Solid, Source, Surroundings, solid_travel};
pub use tracking::{AirRegion, BubbleEvent, EventKind, LiquidBody, OPEN_AIR, Tracked};
pub use trial::{Preconditioner, TrialSolve};
