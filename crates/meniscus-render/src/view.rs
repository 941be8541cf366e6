//! What is drawn.

use meniscus_core::grid::{FaceField, Field, Grid};
use meniscus_core::shape::Shape;

/// A liquid and its surroundings at one moment.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, const D: usize> {
    /// Where the cells lie.
    pub grid: &'a Grid<D>,
    /// The signed distance to the liquid's surface at cell centres, in cells, negative in the liquid. It
    /// need be a distance within about three cells of the surface only, and may go on into solids.
    pub level_set: &'a Field<f32, D>,
    /// Velocities on (at least) the liquid's faces, in m/s.
    pub velocity: &'a FaceField<f32, D>,
    /// Solids where they are at this moment, in metres. Only what lies within the domain is drawn.
    pub solids: &'a [Shape<D>],
    /// Which sides of the domain are open: `open[axis][0]` the lower one, `open[axis][1]` the upper one.
    pub open: [[bool; 2]; D],
}
