//! Bubbles, and where solids and bodies are, as tables of comma-separated values.

use std::fmt::{Display, Write};
use std::path::Path;

use meniscus_core::shape::RigidTransform;

use crate::container::write_atomically;
use crate::{Frame, WriteError, names};

/// A table of what frames hold, as text. Lines begin with the number and the time of the frame; numbers are those of the simulation, to
/// the last digit, in SI units.
#[derive(Clone, Debug)]
pub struct Table {
    text: String,
}

impl Table {
    /// The head of a table of bubbles in `D` dimensions.
    ///
    /// The columns are `frame`, `time`, `id`, `volume`, `rest_volume`, `pressure`, the centroid `x`, `y`, `z`, its velocity
    /// `vx`, `vy`, `vz`, `area` and `age`. In the plane there are no columns `z` and `vz`, volumes are m² and areas m.
    pub fn of_bubbles<const D: usize>() -> Self {
        let axes = &["x", "y", "z"][..D];
        let (centroid, velocity) = (axes.join(","), axes.join(",v"));
        let text = format!("frame,time,id,volume,rest_volume,pressure,{centroid},v{velocity},area,age\n");
        Self { text }
    }

    /// Adds a line for each bubble of a frame; a frame without bubbles has none.
    pub fn add_bubbles<const D: usize>(&mut self, frame: &Frame<D>) {
        for bubble in frame.bubbles(names::BUBBLES).unwrap_or_default() {
            let before = [bubble.volume, bubble.rest_volume, bubble.pressure];
            let after = [bubble.area, bubble.age];
            let numbers = before.into_iter().chain(bubble.centroid).chain(bubble.velocity).chain(after);
            self.add_line(frame, bubble.id, numbers);
        }
    }

    /// The head of a table of where solids and bodies are, in `D` dimensions.
    ///
    /// The columns are `frame`, `time`, `name`, a translation `x`, `y`, `z` (in the plane without `z`) and a unit quaternion `qx`, `qy`, `qz`,
    /// `qw`: what is at the point p of a shape as the scene has it is at q p q* + x in the frame.
    pub fn of_poses<const D: usize>() -> Self {
        Self { text: format!("frame,time,name,{},qx,qy,qz,qw\n", ["x", "y", "z"][..D].join(",")) }
    }

    /// Adds a line for each thing with a name.
    pub fn add_poses<const D: usize>(&mut self, frame: &Frame<D>, poses: &[(&str, RigidTransform<D>)]) {
        for (name, RigidTransform { rotation, translation }) in poses {
            let quoted = format!("\"{}\"", name.replace('"', "\"\""));
            self.add_line(frame, quoted, translation.iter().copied().chain(rotation.to_quaternion()));
        }
    }

    fn add_line<const D: usize>(
        &mut self,
        frame: &Frame<D>,
        what: impl Display,
        numbers: impl Iterator<Item = f64>,
    ) {
        let mut put = |part: std::fmt::Arguments| self.text.write_fmt(part).expect("a string grows");
        put(format_args!("{},{},{what}", frame.frame, frame.time));
        numbers.for_each(|number| put(format_args!(",{number}")));
        put(format_args!("\n"));
    }

    /// Writes the table.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        write_atomically(path, self.text.as_bytes())
    }
}
