//! Frames: what a run shows at a moment, small enough to keep for every picture.
//!
//! The level set has 16 bits a cell, velocities 11 bits relative to the fastest in their block, particle
//! positions 16 bits a coordinate within their block. Neighbouring values are subtracted, and the
//! bytes of equal significance put next to each other, before zstd compresses them. Which bubble the air of a cell
//! belongs to is stored as runs.

mod air;
mod level_set;
mod particles;
mod planes;
mod velocity;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::RigidTransform;
use serde::{Deserialize, Serialize};

use crate::container::{self, Kind};
use crate::{CacheError, WriteError};
use air::PackedAir;
pub use air::{FrameAir, FrameBubble, NO_AIR, OPEN_AIR};
pub(crate) use level_set::BAND;
use level_set::{PackedLevelSet, near_liquid};
use particles::{PackedParticles, PackedPoints};
use velocity::PackedVelocity;

/// A simulation at one moment. Lengths are in cells, velocities in metres a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<const D: usize> {
    /// The number of the frame.
    pub frame: u32,
    /// The time, in seconds.
    pub time: f64,
    /// Where the cells lie.
    pub grid: Grid<D>,
    /// The signed distance to the surface of the liquid at cell centres, in cells. Beyond three cells it is
    /// stored as three. Inactive blocks are air.
    pub level_set: Field<f32, D>,
    /// Velocities over the same blocks. Blocks that are farther than three cells from the liquid are stored
    /// as the background.
    pub velocity: FaceField<f32, D>,
    /// The particles, where they are kept.
    pub particles: Option<FrameParticles<D>>,
    /// The markers of each smoke, in cells; they are smallest when sorted as particles are.
    pub smoke: Vec<Vec<[f32; D]>>,
    /// The pose of each solid of the scene, then of each body.
    pub solids: Vec<RigidTransform<D>>,
    /// The bubbles, where air keeps its volume.
    pub air: Option<FrameAir<D>>,
}

/// The particles of a frame; they are smallest when sorted by block and cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameParticles<const D: usize> {
    /// Positions, in cells.
    pub position: Vec<[f32; D]>,
    /// Velocities, in metres a second.
    pub velocity: Vec<[f32; D]>,
}

/// Writes a frame; says how many bytes the file has.
///
/// What comes back is off by at most 1e-4 cells in the level set (3 and -3 beyond the band), whose signs are
/// exact, by 5e-4 of the largest velocity component in the same block, and by 1.3e-4 cells in the position
/// of a particle, which stays in its cell. What is no number becomes air or zero. Bubbles are exact.
///
/// # Panics
/// If the level set, the velocities, the air and the grid differ in their blocks, or not every particle has a velocity.
pub fn write_frame<const D: usize>(path: impl AsRef<Path>, frame: &Frame<D>) -> Result<u64, WriteError> {
    container::write(path.as_ref(), kind::<D>(), &Packed::new(frame))
}

/// Reads what [`write_frame`] wrote.
pub fn read_frame<const D: usize>(path: impl AsRef<Path>) -> Result<Frame<D>, CacheError> {
    let (path, kind) = (path.as_ref(), kind::<D>());
    let packed: Packed<D> = container::read(path, kind)?;
    packed.unpack().map_err(|problem| CacheError::Content { path: path.into(), problem, fix: kind.fix() })
}

/// Whether a file is a whole frame, without unpacking it.
pub fn verify_frame<const D: usize>(path: impl AsRef<Path>) -> Result<(), CacheError> {
    container::verify(path.as_ref(), kind::<D>())
}

/// Whether a frame has 2 or 3 dimensions, from the start of its file.
pub fn frame_dimension(path: impl AsRef<Path>) -> Result<usize, CacheError> {
    let path = path.as_ref();
    match container::read_kind(path)? {
        Kind::Frame2 => Ok(2),
        Kind::Frame3 => Ok(3),
        Kind::Checkpoint => {
            Err(CacheError::Kind { path: path.into(), found: "checkpoint", expected: "frame" })
        }
    }
}

const fn kind<const D: usize>() -> Kind {
    const { assert!(D == 2 || D == 3) };
    if D == 2 { Kind::Frame2 } else { Kind::Frame3 }
}

/// A frame as it is stored.
#[derive(Serialize, Deserialize)]
struct Packed<const D: usize> {
    frame: u32,
    time: f64,
    grid: Grid<D>,
    blocks: Blocks<D>,
    level_set: PackedLevelSet,
    velocity: PackedVelocity,
    particles: Option<PackedParticles<D>>,
    smoke: Vec<PackedPoints<D>>,
    solids: Vec<RigidTransform<D>>,
    air: Option<PackedAir<D>>,
}

impl<const D: usize> Packed<D> {
    fn new(frame: &Frame<D>) -> Self {
        let blocks = frame.level_set.blocks();
        assert_eq!(blocks, frame.velocity.blocks(), "level set and velocities have the same blocks");
        assert_eq!(blocks.cells(), frame.grid.cells, "the blocks are those of the grid");
        let level_set = PackedLevelSet::new(&frame.level_set);
        let velocity = PackedVelocity::new(&frame.velocity, &near_liquid(&frame.level_set));
        Self {
            frame: frame.frame,
            time: frame.time,
            grid: frame.grid,
            blocks: Blocks::clone(blocks),
            level_set,
            velocity,
            particles: frame.particles.as_ref().map(PackedParticles::new),
            smoke: frame.smoke.iter().map(|markers| PackedPoints::new(markers)).collect(),
            solids: frame.solids.clone(),
            air: frame.air.as_ref().map(|air| PackedAir::new(air, &frame.level_set)),
        }
    }

    fn unpack(self) -> Result<Frame<D>, String> {
        if self.blocks.cells() != self.grid.cells {
            return Err("its blocks are not those of its grid".into());
        }
        let blocks = Arc::new(self.blocks);
        let level_set = self.level_set.unpack(blocks.clone())?;
        let velocity = self.velocity.unpack(blocks.clone(), &near_liquid(&level_set))?;
        let air = self.air.map(|air| air.unpack(blocks, &level_set)).transpose()?;
        Ok(Frame {
            frame: self.frame,
            time: self.time,
            grid: self.grid,
            level_set,
            velocity,
            particles: self.particles.map(|particles| particles.unpack()).transpose()?,
            smoke: self.smoke.iter().map(PackedPoints::unpack).collect::<Result<_, String>>()?,
            solids: self.solids,
            air,
        })
    }
}
