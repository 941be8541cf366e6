//! Liquids on a moving tetrahedral mesh, after Misztal and others (2012): every tet belongs to one fluid, so interfaces are faces of the
//! mesh, and velocities live at its vertices.

pub mod complex;
pub mod fem;
pub mod predicates;
pub mod quality;
