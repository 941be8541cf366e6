//! Changes of a scene while it runs, from whoever watches.

use meniscus_core::stroke::Stroke;
use meniscus_rigid::twist;
use meniscus_scene::{Interpolation, Motion, Pose};

use crate::controls::{Controls, Course, Push, Steady};
use crate::error::SimulationError;
use crate::session::Session;

/// A motion through keyframes, held before the first and after the last one unless it repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes {
    /// The point that the solid turns about, where the scene has it, in m.
    pub pivot: Vec<f64>,
    /// The axis that it turns around; not used in 2D.
    pub axis: [f64; 3],
    /// At times that grow.
    pub keyframes: Vec<Keyframe>,
    /// Whether it slows down at each keyframe.
    pub is_smooth: bool,
    /// Whether it begins again after the last keyframe, which is then where the first one is.
    pub repeats: bool,
}

/// Where a solid is at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// The simulated time, in s.
    pub time: f64,
    /// From where the scene has it, in m.
    pub translation: Vec<f64>,
    /// Counter-clockwise.
    pub degrees: f64,
}

impl<const D: usize> Session<D> {
    /// Moves a solid with a velocity from now on.
    pub fn steer(&mut self, solid: &str, velocity: &[f64], spin: &[f64]) -> Result<(), SimulationError> {
        let (velocity, spin) = (vector("velocity", velocity)?, spin_of::<D>("angular velocity", spin)?);
        let names = self.world.setup.solids.iter().map(|solid| &solid.name);
        let index = find("solid", solid, names)?;
        let since = self.system.time();
        let from = self.world.solid_pose(index, since);
        let bounds = self.world.setup.solids[index].shape.bounds();
        let middle = std::array::from_fn(|a| 0.5 * (bounds.lower[a] + bounds.upper[a]));
        let centre = if bounds.is_finite() { from.apply(middle) } else { from.translation };
        let steady = Steady { since, from, centre, velocity, spin };
        self.control(|controls| {
            controls.courses.insert(index, Course::Steady(steady));
        });
        Ok(())
    }

    /// Moves a solid along keyframes from now on.
    pub fn follow(&mut self, solid: &str, keyframes: &Keyframes) -> Result<(), SimulationError> {
        let names = self.world.setup.solids.iter().map(|solid| &solid.name);
        let index = find("solid", solid, names)?;
        let motion = motion_of(keyframes)?;
        self.control(|controls| {
            controls.courses.insert(index, Course::Along(motion));
        });
        Ok(())
    }

    /// Pushes a body in the next substep, or from now on.
    pub fn push(
        &mut self,
        body: &str,
        force: &[f64],
        torque: &[f64],
        is_held: bool,
    ) -> Result<(), SimulationError> {
        let push = twist::<D>(vector("force", force)?, spin_of::<D>("torque", torque)?);
        let index = find("body", body, self.world.setup.bodies.iter().map(|body| &body.name))?;
        self.control(|controls| {
            controls.pushes.insert(index, Push { push, is_held });
        });
        Ok(())
    }

    /// Changes gravity from now on.
    pub fn set_gravity(&mut self, gravity: &[f64]) -> Result<(), SimulationError> {
        let gravity = vector("gravity", gravity)?;
        self.control(|controls| controls.gravity = gravity);
        Ok(())
    }

    /// Opens or closes a source from now on.
    pub fn open_source(&mut self, source: &str, is_open: bool) -> Result<(), SimulationError> {
        let index = find("source", source, self.world.setup.sources.iter().map(|source| &source.name))?;
        self.control(|controls| {
            controls.sources.insert(index, is_open);
        });
        Ok(())
    }

    /// Sets the fluid in motion along a line.
    pub fn stir(&mut self, points: &[[f64; 2]], width: f64, speed: f64) -> Result<f64, SimulationError> {
        let Some((modes, world)) = self.modes_mut() else {
            return Err(SimulationError::OnlyModes { what: "stirring" });
        };
        let size = [0, 1].map(|axis| world.setup.grid.cells[axis] as f64 * world.setup.grid.dx);
        let is_inside = |x: &[f64; 2]| (0..2).all(|axis| (0.0..=size[axis]).contains(&x[axis]));
        let problem = if !points.iter().all(is_inside) {
            "a point of it lies outside of the box"
        } else if !points.windows(2).any(|two| two[0] != two[1]) {
            "it has no two different points"
        } else if !(width > 0.0 && width.is_finite()) {
            "it has no width"
        } else if !speed.is_finite() {
            "its speed is no number"
        } else {
            let stroke = Stroke { points: points.to_vec(), width, speed };
            return modes.stir(&stroke).map_err(|source| self.failed(source));
        };
        Err(SimulationError::NoStroke { problem })
    }

    /// Adds to the strength of a mode.
    pub fn excite(&mut self, mode: &str, amplitude: f64) -> Result<f64, SimulationError> {
        let [amplitude] = vector("amplitude", &[amplitude])?;
        let Some((modes, _)) = self.modes_mut() else {
            return Err(SimulationError::OnlyModes { what: "exciting a mode" });
        };
        let number = find("mode", mode, modes.names().iter())?;
        modes.excite(number, amplitude).map_err(|source| self.failed(source))
    }

    fn control(&mut self, change: impl FnOnce(&mut Controls<D>)) {
        let mut controls = self.world.controls().clone();
        change(&mut controls);
        self.set_controls(controls);
    }
}

fn find<'a>(
    kind: &'static str,
    name: &str,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Result<usize, SimulationError> {
    let found = names.clone().position(|other| other == name);
    found.ok_or_else(|| SimulationError::NoSuch { kind, name: name.into(), known: names.cloned().collect() })
}

/// The components of a vector.
fn vector<const N: usize>(what: &'static str, components: &[f64]) -> Result<[f64; N], SimulationError> {
    match <[f64; N]>::try_from(components) {
        Ok(vector) if vector.iter().all(|x| x.is_finite()) => Ok(vector),
        _ => Err(SimulationError::NotAVector { what, wanted: N, found: components.to_vec() }),
    }
}

/// What turns: in 2D one number, counter-clockwise.
fn spin_of<const D: usize>(what: &'static str, components: &[f64]) -> Result<[f64; 3], SimulationError> {
    if D == 2 {
        let [spin] = vector(what, components)?;
        return Ok([0.0, 0.0, spin]);
    }
    vector(what, components)
}

fn motion_of<const D: usize>(keyframes: &Keyframes) -> Result<Motion<D>, SimulationError> {
    let pose = |keyframe: &Keyframe| {
        vector::<2>("keyframe's time and angle", &[keyframe.time, keyframe.degrees])?;
        let translation = vector("translation", &keyframe.translation)?;
        Ok(Pose { time: keyframe.time, translation, degrees: keyframe.degrees })
    };
    let poses = keyframes.keyframes.iter().map(pose).collect::<Result<Vec<Pose<D>>, SimulationError>>()?;
    let bad = |problem| Err(SimulationError::BadKeyframes { problem });
    if poses.is_empty() {
        return bad("there are none");
    }
    if !poses.is_sorted_by(|a, b| a.time < b.time) {
        return bad("their times do not grow");
    }
    let ends = [&poses[0], &poses[poses.len() - 1]];
    if keyframes.repeats && (poses.len() < 2 || ends[0].translation != ends[1].translation) {
        return bad("they repeat, but the last is not where the first is");
    }
    let axis = vector::<3>("axis", &keyframes.axis)?;
    if D == 3 && axis == [0.0; 3] && poses.iter().any(|pose| pose.degrees != 0.0) {
        return bad("they turn around an axis without a direction");
    }
    Ok(Motion {
        pivot: vector("pivot", &keyframes.pivot)?,
        axis,
        keyframes: poses,
        interpolation: if keyframes.is_smooth { Interpolation::Smooth } else { Interpolation::Linear },
        repeat: keyframes.repeats,
    })
}
