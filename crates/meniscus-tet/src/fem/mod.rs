//! Finite elements on the complex: forces, masses and constraints of a step.
//!
//! Velocities are linear in each tet and live at vertices; pressures are linear in each tet too, with one value for each
//! pair of a vertex and a phase component that touches it, so that they jump at interfaces.

pub mod element;
pub mod mesh;
