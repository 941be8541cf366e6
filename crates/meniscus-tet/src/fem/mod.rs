//! Finite elements on the complex: forces, masses and constraints of a step.
//!
//! Velocities are linear in each tet and live at vertices; pressures are linear in each tet too, with one value for each
//! pair of a vertex and a phase component that touches it, so that they jump at interfaces.

pub mod assemble;
pub mod components;
pub mod direct;
pub mod discretisation;
pub mod element;
pub mod incidence;
pub mod integrate;
pub mod materials;
pub mod mesh;
mod paper;
mod rigid;
pub mod rows;
mod stabilise;
pub mod statistics;
pub mod surface;
pub mod system;
pub mod tension;
pub mod unknowns;
pub mod walls;
