//! One line of `stats.jsonl`.

use std::collections::BTreeMap;

use meniscus_io::FrameBubble;
use meniscus_liquid::{EnergyBook, VolumeBook};
use serde::Serialize;

use crate::warning::{Warning, in_words_and_as_data};

/// What one substep measured. Lengths are in metres, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// The frame that the substep is part of, from 1.
    pub frame: u32,
    /// The substep within the frame, from 1.
    pub substep: u32,
    /// The simulated time at its end.
    pub time: f64,
    /// Its length.
    pub dt: f64,
    /// Cells of the domain by what they hold.
    pub cells: CellCounts,
    /// The number of particles.
    pub particles: usize,
    /// The volume of the liquid, in m³ (2D: m²).
    pub liquid_volume: f64,
    /// The volume that the liquid should have: the initial one, what was poured in, less what left.
    pub liquid_volume_target: f64,
    /// The volume that the liquid would have without all that corrections changed so far.
    pub liquid_volume_uncorrected: f64,
    /// In J (2D: J/m).
    pub kinetic_energy: f64,
    /// In J (2D: J/m), at the moment of the velocities.
    pub potential_energy: f64,
    /// The greatest speed along an axis, in m/s.
    pub max_speed: f64,
    /// The largest error of a cell's divergence, in 1/s.
    pub max_divergence: f64,
    /// Bubbles: air that keeps its volume and that liquid touches; none with the air model `void`.
    pub bubbles: Vec<BubbleStats>,
    /// Rigid bodies, in the order of the scene.
    pub bodies: Vec<BodyStats>,
    /// How the bodies touch each other, solids and sides.
    pub contacts: ContactStats,
    /// The probes by name.
    pub probes: BTreeMap<String, ProbeValue>,
    /// The pressure solve.
    pub solve: SolveStats,
    /// Seconds of computing by stage.
    pub stages: BTreeMap<String, f64>,
    /// Seconds of computing.
    pub seconds: f64,
    /// Particles added where there were too few.
    pub added_particles: usize,
    /// Particles taken where there were too many.
    pub thinned_particles: usize,
    /// Particles lost: inside solids with no way out, or at no finite position.
    pub removed_particles: usize,
    /// Particles that sinks took or that left through open sides.
    pub drained_particles: usize,
    /// The volume that sources added.
    pub poured_volume: f64,
    /// The volume that sinks took or that left through open sides.
    pub drained_volume: f64,
    /// What changed the volume of the liquid, by cause.
    pub volume_book: VolumeBook,
    /// What changed the kinetic energy, by cause.
    pub energy_book: EnergyBook,
    /// The flow of modes, with `method = "modes"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<ModesStats>,
    /// What a user should know: in words as `warnings`, and as `warning_data` where there is something.
    #[serde(flatten, serialize_with = "in_words_and_as_data")]
    pub warnings: Vec<Warning>,
    /// What happened to bubbles: lines of `events.jsonl`.
    #[serde(skip)]
    pub events: Vec<BubbleEvent>,
}

impl Stats {
    /// Says which substep this is.
    pub(crate) fn stamp(&mut self, frame: u32, substep: u32) {
        (self.frame, self.substep) = (frame, substep);
        for event in &mut self.events {
            (event.frame, event.substep) = (frame, substep);
        }
    }

    /// By how much the liquid's volume is off, as a part of what it should be.
    pub fn drift(&self) -> f64 {
        drift(self.liquid_volume, self.liquid_volume_target)
    }

    /// The same without corrections.
    pub fn drift_uncorrected(&self) -> f64 {
        drift(self.liquid_volume_uncorrected, self.liquid_volume_target)
    }
}

/// A drift of the volume beyond which a run is not to be trusted.
pub const GROSS_DRIFT: f64 = 0.05;

/// By how much a volume is off, as a part of its target; 0 where there is none.
pub(crate) fn drift(volume: f64, target: f64) -> f64 {
    if target > 0.0 { volume / target - 1.0 } else { 0.0 }
}

/// Cells of the domain by what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CellCounts {
    /// Cells that the pressure is solved for.
    pub liquid: usize,
    /// All others outside solids.
    pub air: usize,
    /// Cells wholly inside solids.
    pub solid: usize,
}

/// A flow of modes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModesStats {
    /// The kinetic energy of the modes, as if there were no bodies, in J for a metre of depth.
    pub energy: f64,
    /// The integral of half the square of their vorticity, in m²/s². Modes that are drawn do not keep it.
    pub enstrophy: f64,
    /// What `integrator = "conserving"` put back of the energy, in J: small, or steps are too long.
    pub energy_put_back: f64,
    /// And of the enstrophy.
    pub enstrophy_put_back: f64,
    /// What vortices that went over from bodies into the modes changed of the kinetic energy, in J: no force does that work.
    pub energy_shed: f64,
    /// Parts that the step was divided into for the modes.
    pub substeps: usize,
    /// The force of the fluid on each solid, in N, and its torque about the centre of its area, in N m, for a metre of depth.
    pub forces: BTreeMap<String, Vec<f64>>,
    /// The circulation around each body and solid with edges that a wake leaves, and with `domain = "solids"` around each island, by its first solid, in m²/s, counter-clockwise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub circulations: BTreeMap<String, f64>,
    /// Vortices of wakes that are carried one by one; what is older is in the modes.
    #[serde(skip_serializing_if = "is_zero")]
    pub wake_vortices: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A bubble. Vectors have as many entries as the scene has dimensions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BubbleStats {
    /// Its identity, from 1, the same as long as it lives.
    pub id: u32,
    /// In m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have; 0 for a void among the particles, which is made to vanish.
    pub rest_volume: f64,
    /// In Pa, above that of the open air; in a closed room, above that of the air with the largest surface.
    pub pressure: f64,
    /// The centre of its volume.
    pub centroid: Vec<f64>,
    /// The velocity of its centre, in m/s.
    pub velocity: Vec<f64>,
    /// The area of its surface to liquid, in m² (2D: m).
    pub area: f64,
    /// For how long it has been, in s.
    pub age: f64,
}

/// A rigid body. Vectors have as many entries as the scene has dimensions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BodyStats {
    /// Its name in the scene.
    pub name: String,
    /// Where its centre of mass is.
    pub position: Vec<f64>,
    /// How it has turned since the start: the quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Of its centre of mass, in m/s.
    pub velocity: Vec<f64>,
    /// In radians a second; in 2D one number, counter-clockwise.
    pub angular_velocity: Vec<f64>,
}

/// How bodies touch each other, solids and sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ContactStats {
    /// How many pairs touch.
    pub pairs: usize,
    /// How deep bodies lay in what they touch when the substep began, in m.
    pub overlap: f64,
}

/// What happened to bubbles in a substep: one line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BubbleEvent {
    /// `birth`: a bubble came from nowhere. `merge`: several became fewer, or one joined the open air. `split`: one
    /// became several, or was cut off from the open air. `collapse`: a bubble vanished.
    pub kind: &'static str,
    /// The simulated time.
    pub time: f64,
    /// The frame that the substep is part of, from 1.
    pub frame: u32,
    /// The substep within the frame, from 1.
    pub substep: u32,
    /// The bubbles before; 0 is the open air.
    pub from: Vec<u32>,
    /// The bubbles after; 0 is the open air.
    pub to: Vec<u32>,
    /// The volumes of the bubbles after, without that of the open air; of those before where there are none.
    pub volumes: Vec<f64>,
}

/// What a probe measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProbeValue {
    /// A number; none where there is nothing to measure.
    Scalar(Option<f64>),
    /// A vector.
    Vector(Vec<f64>),
}

impl<const D: usize> From<Option<[f64; D]>> for ProbeValue {
    fn from(vector: Option<[f64; D]>) -> Self {
        vector.map_or(Self::Scalar(None), |vector| Self::Vector(vector.to_vec()))
    }
}

/// The pressure solve of a substep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SolveStats {
    /// Pressure unknowns.
    pub unknowns: usize,
    /// Bubbles among them.
    pub bubbles: usize,
    /// Affine regions.
    pub regions: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// The relative residual reached.
    pub residual: f64,
    /// Seconds of the whole projection.
    pub seconds: f64,
}

pub(crate) fn bubble_stats<const D: usize>(bubble: &FrameBubble<D>) -> BubbleStats {
    let FrameBubble { id, volume, rest_volume, pressure, centroid, velocity, area, age } = *bubble;
    let (centroid, velocity) = (centroid.to_vec(), velocity.to_vec());
    BubbleStats { id, volume, rest_volume, pressure, centroid, velocity, area, age }
}
