//! Bodies in the fluid: vortex sheets on their outlines, and what the fluid does to them.

mod body;
mod forces;
mod green;
mod immersed;
mod influence;
mod panel;
mod profile;
mod shed;
mod solve;

#[cfg(test)]
mod force_tests;
#[cfg(test)]
pub(crate) mod tests;

pub use body::{Body, Drive, Motion, Pose};
pub use green::{Images, Places};
pub use immersed::{Immersed, Solution};
pub use influence::{Influence, add_streams_in_box};
pub use panel::Panel;
pub use profile::Profile;
pub use solve::Solved;
