//! A reduced fluid: a flow in a box as a few numbers, the coefficients of its modes, with bodies in it.
//!
//! A [`State`] holds the coefficients of a [`Basis`](flow::Basis), the bodies and the vortex sheets that hold the flow off them. [`step()`] advances it; an [`Observer`] tells energies and velocities.
//!
//! ```
//! use meniscus_modal::flow::{Basis, Integrator};
//! use meniscus_modal::panels::{Body, Pose, Profile};
//! use meniscus_modal::{
//!     BodyState, Course, Feedback, Forces, Observer, Params, State, Unhindered, Workspace, begin, step,
//! };
//!
//! // The 25 lowest modes of a box of 2 by 1 m, one of which turns, and a light square in it.
//! let mut state = State::new(Basis::new([2.0, 1.0], 25));
//! state.flow[1] = 1.5;
//! let square = [[-0.1, -0.1], [0.0, -0.1], [0.1, -0.1], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1], [-0.1, 0.1], [-0.1, 0.0]];
//! let bodies = [Body::of_density(Profile::of_polygon(&square).0, 0.5)];
//! let pose = Pose { centre: [0.5, 0.4], angle: 0.0 };
//! state.bodies = vec![BodyState { pose, motion: [0.0; 3] }];
//!
//! let params = Params {
//!     density: 1000.0,
//!     viscosity: 1e-6,
//!     gravity: [0.0, -9.81],
//!     integrator: Integrator::Conserving,
//!     feedback: Feedback::Shed(0.2),
//!     forces: Forces::Potential,
//! };
//! let mut workspace = Workspace::default();
//! begin(&mut state, &bodies, &mut workspace)?;
//! for _ in 0..20 {
//!     let courses = [Course::Free([0.0; 3])];
//!     step(&mut state, &params, &bodies, &courses, &mut Unhindered, 0.01, &mut workspace)?;
//! }
//! assert!(state.bodies[0].pose.centre[1] > 0.42, "it rises");
//! let energies = Observer::new(&state.basis).energies(&state, &params, &bodies);
//! assert!(energies.kinetic > 0.0);
//! # Ok::<(), meniscus_modal::StepError>(())
//! ```

mod alone;
mod contact;
mod course;
pub mod domain;
mod error;
mod find;
pub mod flow;
mod impact;
mod observe;
mod of_basis;
pub mod panels;
mod params;
pub mod space;
mod state;
mod step;
mod tracers;
mod wake;

#[cfg(test)]
mod contact_tests;
#[cfg(test)]
mod step_tests;

pub use alone::{Alone, Carriage, FlowState};
pub use contact::Contacts;
pub use course::{Course, Encounters, Hit, Touching, Unhindered};
pub use error::StepError;
pub use observe::{Energies, Observer};
pub use params::{Feedback, Forces, Params};
pub use state::{BodyState, State};
pub use step::{StepInfo, Workspace, begin, step, stir};
pub use tracers::{Tracers, Velocities};
pub use wake::{Blob, Wake};
