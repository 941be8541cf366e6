//! The bubbles of a frame.

use meniscus_core::serde_array::array;
use serde::{Deserialize, Serialize};

/// A bubble of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameBubble<const D: usize> {
    /// Its identity, from 1, the same in all frames.
    pub id: u32,
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have.
    pub rest_volume: f64,
    /// Its pressure, in Pa, above that of the open air.
    pub pressure: f64,
    /// The centre of its volume, in m.
    #[serde(with = "array")]
    pub centroid: [f64; D],
    /// The velocity of that centre, in m/s.
    #[serde(with = "array")]
    pub velocity: [f64; D],
    /// The area of its surface to liquid, in m² (2D: m).
    pub area: f64,
    /// For how long it has been, in s.
    pub age: f64,
}
