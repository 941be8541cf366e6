//! Liquids on a moving tetrahedral mesh, after Misztal and others (2012): every tet belongs to one fluid, so
//! interfaces are faces of the mesh, and velocities live at its vertices.
//!
//! The modules stand on each other in this order: [`predicates`] and [`quality`] know tets by their corners
//! alone; [`complex`] joins them; [`container`] knows the walls; [`repair`] makes bad tets better; [`sizing`]
//! keeps edges as long as wanted; [`motion`] moves vertices, with repairs on the way; [`seed`] makes first
//! meshes.

pub mod complex;
pub mod container;
pub mod fem;
pub mod motion;
pub mod predicates;
pub mod quality;
pub mod repair;
pub mod seed;
pub mod sizing;
