//! Frames: what a run shows at a moment, small enough to keep for every picture.
//!
//! A frame is a set of named channels over a grid. Which ones there are is up to what was simulated; [`names`] has those of a
//! liquid on a grid. Each kind of [`Channel`] has a packing of its own: distances have 16 bits a cell, velocities 11 bits relative
//! to the fastest around them, positions of points 16 bits a coordinate within their block. Neighbouring values are subtracted, and
//! the bytes of equal significance put next to each other, before zstd compresses them. Labels are stored as runs.

mod attributes;
mod bubbles;
mod distance;
mod faces;
mod labels;
mod mesh;
mod packed;
mod planes;
mod points;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use meniscus_core::compiled_here;
use meniscus_core::grid::{FaceField, Field, Grid};
use meniscus_core::shape::RigidTransform;

use crate::container::{self, Kind};
use crate::{CacheError, WriteError};
pub use attributes::{Attribute, Attributes};
pub use bubbles::FrameBubble;
pub(crate) use distance::BAND;
pub use labels::{NO_AIR, OPEN_AIR};
pub use mesh::Mesh;
use packed::Packed;
pub use points::Points;

/// The names of the channels of a liquid on a grid.
pub mod names {
    /// The signed distance to the surface of the liquid, in cells: a [`Distance`](super::Channel::Distance).
    pub const LEVEL_SET: &str = "level_set";
    /// The velocity, in m/s: [`Faces`](super::Channel::Faces).
    pub const VELOCITY: &str = "velocity";
    /// The particles of the liquid, in cells, with their velocity, in m/s: [`Points`](super::Channel::Points).
    pub const PARTICLES: &str = "particles";
    /// Those of a second liquid.
    pub const SECOND_PARTICLES: &str = "second_particles";
    /// Where each solid of the scene is, and after them each body: [`Poses`](super::Channel::Poses).
    pub const SOLIDS: &str = "solids";
    /// The velocity of each body and its angular velocity, in m/s and radians a second: [`Numbers`](super::Channel::Numbers).
    pub const BODIES: &str = "bodies";
    /// The coefficients of a flow of modes, as `flow`: of the vorticity of eigenmodes, in 1/s, and then the amplitudes of others, in m/s; and for each of
    /// these, by its place in that list with four digits and its name, its stream function as a sum of sines, with as many half waves along each side as there are at most first: [`Numbers`](super::Channel::Numbers).
    pub const MODES: &str = "modes";
    /// By cell, the bubble that its air belongs to: [`Labels`](super::Channel::Labels).
    pub const BUBBLE: &str = "bubble";
    /// The bubbles that liquid touches: [`Bubbles`](super::Channel::Bubbles).
    pub const BUBBLES: &str = "bubbles";

    /// The markers of a smoke, in cells, from 0: [`Points`](super::Channel::Points).
    pub fn smoke(number: usize) -> String {
        format!("smoke_{}", number + 1)
    }
}

/// What one channel of a frame holds, or borrows from a simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum Channel<'a, const D: usize> {
    /// Signed distances at cell centres, in cells. Beyond three cells they are stored as three.
    Distance(Cow<'a, Field<f32, D>>),
    /// Components on the faces of cells. Where there is a level set, blocks that are farther than three cells from the liquid are
    /// stored as the background.
    Faces(Cow<'a, FaceField<f32, D>>),
    /// A number by cell: [`NO_AIR`] where a level set is negative, whatever was there.
    Labels(Cow<'a, Field<u32, D>>),
    /// Points with attributes.
    Points(Points<'a, D>),
    /// Triangles, in the plane segments, with attributes.
    Mesh(Mesh<'a, D>),
    /// Where rigid things are.
    Poses(Cow<'a, [RigidTransform<D>]>),
    /// Bubbles.
    Bubbles(Cow<'a, [FrameBubble<D>]>),
    /// Named lists of numbers: coefficients, or scalars as lists of one.
    Numbers(Cow<'a, BTreeMap<String, Vec<f64>>>),
}

impl<const D: usize> Channel<'_, D> {
    /// The kind of channel, as errors name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Distance(_) => "distance",
            Self::Faces(_) => "faces",
            Self::Labels(_) => "labels",
            Self::Points(_) => "points",
            Self::Mesh(_) => "mesh",
            Self::Poses(_) => "poses",
            Self::Bubbles(_) => "bubbles",
            Self::Numbers(_) => "numbers",
        }
    }

    /// The same, with a copy of what it borrowed.
    pub fn into_owned(self) -> Channel<'static, D> {
        match self {
            Self::Distance(field) => Channel::Distance(Cow::Owned(field.into_owned())),
            Self::Faces(field) => Channel::Faces(Cow::Owned(field.into_owned())),
            Self::Labels(field) => Channel::Labels(Cow::Owned(field.into_owned())),
            Self::Points(points) => Channel::Points(points.into_owned()),
            Self::Mesh(mesh) => Channel::Mesh(mesh.into_owned()),
            Self::Poses(poses) => Channel::Poses(Cow::Owned(poses.into_owned())),
            Self::Bubbles(bubbles) => Channel::Bubbles(Cow::Owned(bubbles.into_owned())),
            Self::Numbers(numbers) => Channel::Numbers(Cow::Owned(numbers.into_owned())),
        }
    }
}

/// A simulation at one moment: named channels. All fields have the same blocks. What a file holds is owned; a simulation that goes on
/// lends what it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<'a, const D: usize> {
    /// The number of the frame.
    pub frame: u32,
    /// The time, in seconds.
    pub time: f64,
    /// Where the cells lie.
    pub grid: Grid<D>,
    /// What it holds, by name.
    pub channels: BTreeMap<String, Channel<'a, D>>,
}

/// The channels of a frame that its liquid is in.
#[derive(Clone, Copy, Debug)]
pub struct FrameLiquid<'a, const D: usize> {
    /// Where the cells lie.
    pub grid: &'a Grid<D>,
    /// The signed distance to the surface, in cells.
    pub level_set: &'a Field<f32, D>,
    /// In m/s.
    pub velocity: &'a FaceField<f32, D>,
    /// By cell, the bubble that its air belongs to, or [`OPEN_AIR`], where bubbles keep their volume. Cells of liquid and of
    /// solids have [`NO_AIR`].
    pub bubble: Option<&'a Field<u32, D>>,
}

macro_rules! channels_of_a_kind {
    ($($(#[$doc:meta])* $get:ident $kind:ident $of:ty;)*) => {$(
        $(#[$doc])*
        pub fn $get(&self, name: &str) -> Option<&$of> {
            match self.channels.get(name)? {
                Channel::$kind(values) => Some(values),
                _ => None,
            }
        }
    )*};
}

impl<'a, const D: usize> Frame<'a, D> {
    /// A frame without channels.
    pub fn new(frame: u32, time: f64, grid: Grid<D>) -> Self {
        Self { frame, time, grid, channels: BTreeMap::new() }
    }

    /// The same with a channel more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, channel: Channel<'a, D>) -> Self {
        self.channels.insert(name.into(), channel);
        self
    }

    /// The same, with a copy of what it borrowed.
    pub fn into_owned(self) -> Frame<'static, D> {
        let owned = |(name, channel): (String, Channel<'a, D>)| (name, channel.into_owned());
        Frame {
            frame: self.frame,
            time: self.time,
            grid: self.grid,
            channels: self.channels.into_iter().map(owned).collect(),
        }
    }

    channels_of_a_kind! {
        /// A channel of distances.
        distance Distance Field<f32, D>;
        /// A channel of components on faces.
        faces Faces FaceField<f32, D>;
        /// A channel of labels.
        labels Labels Field<u32, D>;
        /// A channel of points.
        points Points Points<'a, D>;
        /// A channel of triangles, in the plane of segments.
        mesh Mesh Mesh<'a, D>;
        /// A channel of poses.
        poses Poses [RigidTransform<D>];
        /// A channel of bubbles.
        bubbles Bubbles [FrameBubble<D>];
        /// A channel of numbers.
        numbers Numbers BTreeMap<String, Vec<f64>>;
    }

    /// Its liquid, if it has one on a grid.
    pub fn liquid(&self) -> Option<FrameLiquid<'_, D>> {
        Some(FrameLiquid {
            grid: &self.grid,
            level_set: self.distance(names::LEVEL_SET)?,
            velocity: self.faces(names::VELOCITY)?,
            bubble: self.labels(names::BUBBLE),
        })
    }

    /// The markers of each smoke.
    pub fn smokes(&self) -> Vec<&[[f32; D]]> {
        let smokes = (0..).map_while(|number| self.points(&names::smoke(number)));
        smokes.map(|points| &points.position[..]).collect()
    }
}

/// Writes a frame; says how many bytes the file has.
///
/// What comes back is off by at most 1e-4 cells in distances (3 and -3 beyond the band), whose signs are
/// exact, by 5e-4 of the largest component in the same block, and by 1.3e-4 cells in the position
/// of a point, which stays in its cell. What is no number becomes air or zero. All else is exact.
///
/// # Panics
/// If fields differ in their blocks, or from the grid, or not every point has each attribute.
pub fn write_frame<const D: usize>(path: impl AsRef<Path>, frame: &Frame<D>) -> Result<u64, WriteError> {
    compiled_here!(write::<D> as Write<D>)(path.as_ref(), frame)
}

type Write<const D: usize> = fn(&Path, &Frame<D>) -> Result<u64, WriteError>;

fn write<const D: usize>(path: &Path, frame: &Frame<D>) -> Result<u64, WriteError> {
    container::write(path, kind::<D>(), &Packed::new(frame))
}

/// Reads what [`write_frame`] wrote.
pub fn read_frame<const D: usize>(path: impl AsRef<Path>) -> Result<Frame<'static, D>, CacheError> {
    compiled_here!(read::<D> as Read<D>)(path.as_ref())
}

type Read<const D: usize> = fn(&Path) -> Result<Frame<'static, D>, CacheError>;

fn read<const D: usize>(path: &Path) -> Result<Frame<'static, D>, CacheError> {
    let packed: Packed<D> = container::read(path, kind::<D>())?;
    packed.unpack().map_err(|problem| CacheError::Content { path: path.into(), problem })
}

/// Whether a file is a whole frame, without unpacking it.
pub fn verify_frame<const D: usize>(path: impl AsRef<Path>) -> Result<(), CacheError> {
    container::verify(path.as_ref(), kind::<D>())
}

/// Whether a frame has 2 or 3 dimensions, from the start of its file.
pub fn frame_dimension(path: impl AsRef<Path>) -> Result<usize, CacheError> {
    let path = path.as_ref();
    let (code, found) = container::read_kind(path)?;
    match [FRAME_2D, FRAME_3D].iter().position(|kind| kind.code == code) {
        Some(k) => Ok(2 + k),
        None => Err(CacheError::Kind { path: path.into(), found, expected: "frame" }),
    }
}

pub(crate) const FRAME_2D: Kind = Kind { code: *b"frame-2d", version: 1, name: "frame in two dimensions" };

pub(crate) const FRAME_3D: Kind = Kind { code: *b"frame-3d", version: 1, name: "frame in three dimensions" };

const fn kind<const D: usize>() -> Kind {
    const { assert!(D == 2 || D == 3) };
    if D == 2 { FRAME_2D } else { FRAME_3D }
}
