//! The grid liquid: the stages of a step.
//!
//! A [`State`] is advanced by [`step()`], which reads as a list of stages, each a function in a file of its
//! name: reseed, pour and drain, advect, collide, sort, follow the surface, transfer to the grid, add
//! forces, [let viscosity act](viscosity), [project](projection), extrapolate, transfer to the particles. Nothing here does I/O or prints,
//! and every result is the same, bit for bit, for any number of threads.

mod bodies;
mod books;
mod boundary;
mod carriers;
mod collide;
mod compiled;
mod contact;
mod corrections;
mod curvature;
mod excess;
mod hidden;
mod inflow;
mod measure;
mod params;
mod particles;
mod potential;
pub mod probe;
mod problem;
pub mod projection;
mod regions;
mod reseed;
mod rigid;
mod rigid_body;
mod separate;
mod smoke;
mod spray;
mod squeeze;
pub mod standard;
mod state;
mod step;
mod substep;
mod surface;
mod sweep;
mod system;
mod tiles;
mod tracking;
mod velocity;
pub mod viscosity;
mod volume;
mod walls;

pub use bodies::{Contact, RigidState};
pub use books::{EnergyBook, VolumeBook};
pub use collide::CollideInfo;
pub use params::{
    AirModel, Params, Reduced, Rigid, SecondFluid, Slip, Smoke, Solid, Source, Surroundings, TileSize,
    Tiling, Transfer,
};
pub use reseed::ReseedInfo;
pub use rigid::{Twist, twist};
pub use smoke::Markers;
pub use squeeze::{Squeeze, Squeezed};
pub use state::{Body, State};
pub use step::{StepError, StepInfo, Workspace, max_time_step, solid_travel, step};
pub use system::{Preconditioner, TrialSolve};
pub use tracking::{Bubble, BubbleEvent, EventKind, LiquidBody, OPEN_AIR, Tracked};
