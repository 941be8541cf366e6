//! A reduced fluid: a flow in a box as a few numbers, the coefficients of its modes.

mod contact;
pub mod flow;
mod observe;
pub mod panels;
mod params;
mod state;
mod step;
mod tracers;

#[cfg(test)]
mod contact_tests;
#[cfg(test)]
mod step_tests;

pub use contact::{Contacts, Touching};
pub use observe::{Energies, Observer};
pub use params::{Feedback, Forces, Params};
pub use state::{BodyState, State};
pub use step::{Course, Encounters, StepError, StepInfo, Unhindered, Workspace, begin, step};
pub use tracers::Tracers;
