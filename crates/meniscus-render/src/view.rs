//! What is drawn.

use meniscus_core::grid::{FaceField, Field, Grid};
use meniscus_core::shape::Shape;

/// What cells without air have instead of the number of a bubble.
pub const NO_AIR: u32 = u32::MAX;

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
    /// By cell, the bubble that its air belongs to: 0 is the open air, and [`NO_AIR`] is none, as in liquid and solids.
    /// Where no value is known (in inactive blocks) the air is that of the cells around.
    pub air: Option<&'a Field<u32, D>>,
    /// The markers of each smoke, in cells.
    pub smoke: &'a [&'a [[f32; D]]],
    /// Which sides of the domain are open: `open[axis][0]` the lower one, `open[axis][1]` the upper one.
    pub open: [[bool; 2]; D],
}
