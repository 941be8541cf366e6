//! Bubbles, and where solids and bodies are, as tables of comma-separated values.

use std::fmt::Write;
use std::path::Path;

use meniscus_core::shape::RigidTransform;

use crate::container::write_atomically;
use crate::{Frame, WriteError};

/// The bubbles of frames, one line each, as text.
///
/// The columns are `frame`, `time`, `id`, `volume`, `rest_volume`, `pressure`, the centroid `x`, `y`, `z`, its velocity
/// `vx`, `vy`, `vz`, `area` and `age`, in SI units. In the plane there are no columns `z` and `vz`, volumes are
/// m² and areas m. Numbers are those of the simulation, to the last digit.
#[derive(Clone, Debug)]
pub struct BubbleTable {
    text: String,
}

impl BubbleTable {
    /// The head of a table in `D` dimensions.
    pub fn new<const D: usize>() -> Self {
        let axes = &["x", "y", "z"][..D];
        let (centroid, velocity) = (axes.join(","), axes.join(",v"));
        let text = format!("frame,time,id,volume,rest_volume,pressure,{centroid},v{velocity},area,age\n");
        Self { text }
    }

    /// Adds a line for each bubble of a frame; a frame without bubbles has none.
    pub fn add<const D: usize>(&mut self, frame: &Frame<D>) {
        for bubble in frame.air.iter().flat_map(|air| &air.bubbles) {
            let before = [bubble.volume, bubble.rest_volume, bubble.pressure];
            let after = [bubble.area, bubble.age];
            let numbers = before.iter().chain(&bubble.centroid).chain(&bubble.velocity).chain(&after);
            let mut put = |part: std::fmt::Arguments| self.text.write_fmt(part).expect("a string grows");
            put(format_args!("{},{},{}", frame.frame, frame.time, bubble.id));
            numbers.for_each(|number| put(format_args!(",{number}")));
            put(format_args!("\n"));
        }
    }

    /// Writes the table.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        write_atomically(path, self.text.as_bytes())
    }
}

/// Where solids and bodies are in frames, one line each, as text.
///
/// The columns are `frame`, `time`, `name`, a translation `x`, `y`, `z` in metres (in the plane without `z`) and a unit quaternion `qx`, `qy`, `qz`,
/// `qw`: what is at the point p of a shape as the scene has it is at q p q* + x in the frame.
#[derive(Clone, Debug)]
pub struct PoseTable {
    text: String,
}

impl PoseTable {
    /// The head of a table in `D` dimensions.
    pub fn new<const D: usize>() -> Self {
        Self { text: format!("frame,time,name,{},qx,qy,qz,qw\n", ["x", "y", "z"][..D].join(",")) }
    }

    /// Adds a line for each thing with a name.
    pub fn add<const D: usize>(&mut self, frame: &Frame<D>, poses: &[(&str, RigidTransform<D>)]) {
        for (name, RigidTransform { rotation, translation }) in poses {
            let mut put = |part: std::fmt::Arguments| self.text.write_fmt(part).expect("a string grows");
            put(format_args!("{},{},\"{}\"", frame.frame, frame.time, name.replace('"', "\"\"")));
            let numbers = translation.iter().copied().chain(rotation.to_quaternion());
            numbers.for_each(|number| put(format_args!(",{number}")));
            put(format_args!("\n"));
        }
    }

    /// Writes the table.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        write_atomically(path, self.text.as_bytes())
    }
}
