//! A scene with everything typed, checked and in its place: what a solver takes.

use std::path::PathBuf;

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_core::stroke::Stroke;
use meniscus_core::whirls::Whirls;

use crate::content::{
    AirModel, Method, ModesDomain, ModesFeedback, ModesForces, ModesIntegrator, Regions, Show, Walls,
};
pub use crate::content::{Output as OutputSettings, Solver as SolverSettings, Time as TimeSettings};
use crate::motion::Motion;

/// A validated scene in `D` dimensions.
#[derive(Clone, Debug)]
pub struct Setup<const D: usize> {
    /// How it is simulated.
    pub method: Method,
    /// In m/s2.
    pub gravity: [f64; D],
    /// The cells of the domain; its lower corner is the origin.
    pub grid: Grid<D>,
    /// Whether liquid may leave through the lower and the upper side along each axis, with the air there at
    /// atmospheric pressure.
    pub open: [[bool; 2]; D],
    /// How long the simulation runs and in what steps.
    pub time: TimeSettings,
    /// Of the liquid, in kg/m3.
    pub density: f64,
    /// Of the liquid against the air, in N/m; 0 if its surface does not contract.
    pub surface_tension: f64,
    /// What the air does; nothing where liquids of two kinds fill the domain.
    pub air: AirModel,
    /// What fills that which the liquid leaves, if it is simulated: air, or the liquids of the second kind.
    pub second: Option<SecondSetup>,
    /// How viscous liquid meets the walls of the domain and all solids.
    pub walls: Walls,
    /// Whether liquid slides along the lower and the upper side along each axis, whatever `walls` says.
    pub slip: [[bool; 2]; D],
    /// Whether liquid comes off the walls of the domain.
    pub separation: bool,
    /// Its dynamic viscosity, in Pa s.
    pub viscosity: f64,
    /// The fluid that fills the domain, if one does: then there are no liquids and no air.
    pub fluid: Option<FluidSetup<D>>,
    /// Smoke that the flow carries.
    pub smoke: Vec<SmokeSetup<D>>,
    /// Liquid that is there at the start. Where shapes overlap, the first one counts.
    pub liquids: Vec<LiquidSetup<D>>,
    /// Places that pour liquid in.
    pub sources: Vec<SourceSetup<D>>,
    /// Places that remove liquid.
    pub sinks: Vec<SinkSetup<D>>,
    /// Obstacles and walls.
    pub solids: Vec<SolidSetup<D>>,
    /// Rigid bodies that the liquid moves.
    pub bodies: Vec<BodySetup<D>>,
    /// Measurements.
    pub probes: Vec<ProbeSetup<D>>,
    /// How particles carry the liquid.
    pub particles: ParticleSettings,
    /// How the deep interior of fluids moves together.
    pub regions: Regions,
    /// How the flow is made of modes, if it is.
    pub modes: Option<ModesSetup>,
    /// How accurately the pressure is solved for.
    pub solver: SolverSettings,
    /// What is written to disk.
    pub output: OutputSettings,
    /// How pictures are made.
    pub render: RenderSettings,
}

/// Liquid that is there at the start.
#[derive(Clone, Debug)]
pub struct LiquidSetup<const D: usize> {
    /// Where it is; what lies in a solid or outside the domain does not count.
    pub shape: Shape<D>,
    /// In m/s.
    pub velocity: [f64; D],
    /// Whether it is of the second kind.
    pub is_second: bool,
}

/// What fills that which the liquid leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondSetup {
    /// In kg/m3.
    pub density: f64,
    /// In Pa s.
    pub viscosity: f64,
}

/// A fluid that fills the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidSetup<const D: usize> {
    /// At the start, in m/s.
    pub velocity: [f64; D],
    /// Whirls at the start.
    pub whirls: Vec<Whirls>,
    /// Lines along which it moves at the start.
    pub strokes: Vec<Stroke>,
    /// Waves at the start, in 3D.
    pub waves: Vec<WaveSetup>,
}

/// A wave in a box in space at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveSetup {
    /// Half waves along each axis.
    pub half_waves: [usize; 3],
    /// The axis about which it turns.
    pub axis: [f64; 3],
    /// The amplitude of its vorticity, in 1/s.
    pub vorticity: f64,
}

/// Vortices go over into the modes in no fewer steps than these, within [`ModesSetup::shed_time`].
pub const STEPS_OF_SHEDDING: f64 = 10.0;

/// How a flow is made of modes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModesSetup {
    /// What they are the eigenfunctions of.
    pub domain: ModesDomain,
    /// How many eigenmodes there are.
    pub count: usize,
    /// How the flow is advanced.
    pub integrator: ModesIntegrator,
    /// How the modes learn of bodies.
    pub feedback: ModesFeedback,
    /// The time in which sheets go over into the modes, in s.
    pub shed_time: f64,
    /// How long panels are, in m.
    pub panel: f64,
    /// What the fluid does to bodies.
    pub forces: ModesForces,
    /// How many waves along a side the modes beside the eigenmodes are made of, if there is a limit.
    pub fine: Option<usize>,
    /// Modes beside the eigenmodes.
    pub enrich: Vec<EnrichSetup>,
}

/// Modes beside the eigenmodes.
#[derive(Clone, Debug, PartialEq)]
pub struct EnrichSetup {
    /// Their name.
    pub name: String,
    /// What they are made of.
    pub source: EnrichSource,
    /// The root mean squares of their velocities at the start, in m/s, as far as they are known.
    pub amplitudes: Vec<f64>,
}

/// What modes are made of.
#[derive(Clone, Debug, PartialEq)]
pub enum EnrichSource {
    /// One of a line that is drawn, with the speed that it has at the start.
    Stroke(Stroke),
    /// Several of the frames of a run.
    Run {
        /// Its folder.
        folder: PathBuf,
        /// How many modes there are at most.
        most: usize,
    },
    /// One of half waves and their vorticities, in 1/s.
    Waves(Vec<([usize; 2], f64)>),
}

/// Smoke that the flow carries.
#[derive(Clone, Debug)]
pub struct SmokeSetup<const D: usize> {
    /// Where it comes from.
    pub shape: Shape<D>,
    /// In seconds.
    pub start: f64,
    /// Until when the shape is kept full, in seconds; none if it is filled only once.
    pub stop: Option<f64>,
    /// By how much it is lighter than the fluid, as a part of it.
    pub buoyancy: f64,
}

/// A place that pours liquid in.
#[derive(Clone, Debug)]
pub struct SourceSetup<const D: usize> {
    /// Unique among the sources.
    pub name: String,
    /// Where liquid comes in.
    pub shape: Shape<D>,
    /// In m/s.
    pub velocity: [f64; D],
    /// In seconds.
    pub start: f64,
    /// In seconds; none if it never stops.
    pub stop: Option<f64>,
}

/// A place that removes liquid.
#[derive(Clone, Debug)]
pub struct SinkSetup<const D: usize> {
    /// Unique among the sinks.
    pub name: String,
    /// Where liquid is removed.
    pub shape: Shape<D>,
    /// In seconds.
    pub start: f64,
    /// In seconds; none if it never stops.
    pub stop: Option<f64>,
}

/// An obstacle or a wall.
#[derive(Clone, Debug)]
pub struct SolidSetup<const D: usize> {
    /// Unique among the solids.
    pub name: String,
    /// What it fills before its motion is applied.
    pub shape: Shape<D>,
    /// None if it rests.
    pub motion: Option<Motion<D>>,
    /// Whether pictures show it as glass; as the renderer sees fit if not said.
    pub glass: Option<bool>,
    /// Whether liquid comes off it.
    pub separation: bool,
    /// Corners of its shape that the flow leaves smoothly.
    pub wake_edges: Vec<[f64; 2]>,
}

/// A rigid body that the liquid moves.
#[derive(Clone, Debug)]
pub struct BodySetup<const D: usize> {
    /// Unique among the bodies.
    pub name: String,
    /// What it fills, seen from its centre of mass.
    pub shape: Shape<D>,
    /// Where its centre of mass is at the start.
    pub centre: [f64; D],
    /// In kg/m3.
    pub density: f64,
    /// In kg (2D: one metre deep).
    pub mass: f64,
    /// About the centre of mass, in kg m2; in 2D only the last entry counts.
    pub inertia: [[f64; 3]; 3],
    /// In m/s.
    pub velocity: [f64; D],
    /// In radians a second; in 2D only the last entry counts.
    pub angular_velocity: [f64; 3],
    /// The coefficient of friction.
    pub friction: f64,
    /// The part of the speed that it bounces back with.
    pub restitution: f64,
    /// Whether liquid may leave it where it would have to be pulled along.
    pub separation: bool,
    /// Whether pictures show it as glass.
    pub glass: bool,
    /// Corners of its shape that the flow leaves smoothly.
    pub wake_edges: Vec<[f64; 2]>,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSetup<const D: usize> {
    /// Unique among the probes.
    pub name: String,
    /// What is measured, and where.
    pub kind: ProbeKind<D>,
}

/// What a probe measures. All places lie in the domain, shapes in part.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeKind<const D: usize> {
    /// The pressure at a point, in Pa.
    Pressure {
        /// The point.
        at: [f64; D],
    },
    /// The velocity at a point, in m/s.
    Velocity {
        /// The point.
        at: [f64; D],
    },
    /// The height of the surface above the floor of the domain, in m.
    Height {
        /// The foot of the vertical line on the floor of the domain: y is 0.
        at: [f64; D],
    },
    /// The height of the lowest underside of liquid over air above the floor of the domain, in m.
    Underside {
        /// The foot of the vertical line on the floor of the domain: y is 0.
        at: [f64; D],
    },
    /// The flow through a rectangle in the positive direction of an axis, in m3/s (2D: through a segment, in m2/s).
    Flux {
        /// The axis that the rectangle is perpendicular to.
        axis: usize,
        /// The lower corner.
        from: [f64; D],
        /// The upper corner; along `axis` the same as `from`.
        to: [f64; D],
    },
    /// The farthest coordinate of the liquid along an axis, in m.
    Front {
        /// The axis.
        axis: usize,
        /// 0 for the smallest coordinate, 1 for the largest.
        end: usize,
        /// How thick liquid must be to count, in m.
        least: f64,
    },
    /// The volume of the liquid in a shape, in m³ (2D: m²).
    Volume {
        /// Where it counts.
        shape: Shape<D>,
    },
    /// The mean velocity of the liquid in a shape, in m/s.
    MeanVelocity {
        /// Where it counts.
        shape: Shape<D>,
    },
    /// The kinetic energy of the liquid in a shape, in J (2D: J/m).
    Energy {
        /// Where it counts.
        shape: Shape<D>,
    },
}

impl<const D: usize> ProbeKind<D> {
    /// The shape that is measured in, if it is one.
    pub fn shape_mut(&mut self) -> Option<&mut Shape<D>> {
        match self {
            Self::Volume { shape } | Self::MeanVelocity { shape } | Self::Energy { shape } => Some(shape),
            _ => None,
        }
    }
}

/// How particles carry the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleSettings {
    /// How velocities go between particles and grid.
    pub transfer: Transfer,
    /// Cells inside the liquid with fewer particles get new ones.
    pub min_per_cell: u32,
    /// Cells with more particles lose some.
    pub max_per_cell: u32,
}

/// How velocities go between particles and grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// Affine particles.
    Apic,
    /// FLIP mixed with PIC.
    Flip {
        /// The share of FLIP, from 0 to 1.
        blend: f64,
    },
}

/// How pictures are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderSettings {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Only in 3D; the renderer frames the domain if there is none.
    pub camera: Option<CameraSetup>,
    /// What the colours of a 2D picture show.
    pub show: Show,
    /// Whether a 2D picture has streamlines.
    pub streamlines: bool,
}

/// A camera; y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraSetup {
    /// Where it is.
    pub from: [f64; 3],
    /// What it looks at.
    pub to: [f64; 3],
    /// The vertical angle of view.
    pub fov_degrees: f64,
}
