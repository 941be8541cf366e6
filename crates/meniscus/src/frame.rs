//! A moment of a simulation, live or stored, to be looked at.

mod arrays;

use std::ops::Range;
use std::path::Path;

use meniscus_core::shape::Shape;
use meniscus_io::export::{
    SurfaceExport, frame_contour, frame_surface, write_surface_obj, write_surface_ply,
};
use meniscus_io::{FrameLiquid, WriteError, names};
use meniscus_render::Picture;
use meniscus_scene::Setup;

pub use arrays::{Array, FieldBlocks, Particles};

use crate::dimension::{InDimension, either};
use crate::drawing::{Draw, draw_2d, draw_3d, fastest_of, settings_of};
use crate::poses::{posed_solids, poses_in};
use crate::stats::{BodyStats, BubbleStats, bubble_stats};

/// A moment of a simulation: what a live one lends, or what a run has stored. Values are in SI units; where they are of cells, the first
/// index is along x. What is stored is a little coarser than what a live simulation has: distances are known up to three cells from the
/// surface, velocities up to three cells from the liquid.
#[derive(Clone, Debug)]
pub struct Frame<'a>(InDimension<Moment<'a, 2>, Moment<'a, 3>>);

/// Why a frame does not show what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// There is no channel of that name.
    #[error("the frame has no channel \"{name}\"; it has {}", known.join(", "))]
    NoChannel {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The channel holds something else.
    #[error("the channel \"{name}\" holds {found}, not {wanted}")]
    OtherKind {
        /// Its name.
        name: String,
        /// What it holds.
        found: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// Ranges of cells that are none.
    #[error("the cells {within:?} are not in the domain of {cells:?}; give a range for each axis")]
    Outside {
        /// The ranges.
        within: Vec<Range<usize>>,
        /// Cells along each axis.
        cells: Vec<usize>,
    },
    /// A list of coordinates that are not those of points.
    #[error("{count} coordinates are no points in {dimension} dimensions")]
    NoPoints {
        /// How many there are.
        count: usize,
        /// 2 or 3.
        dimension: usize,
    },
    /// It has no liquid on a grid.
    #[error("the frame has no surface: there is no liquid on a grid in it")]
    NoSurface,
    /// A name of a file that says nothing of its format.
    #[error("{} ends in no known format; surfaces are written to .ply and .obj", path.display())]
    UnknownFormat {
        /// The file.
        path: std::path::PathBuf,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A moment and its scene.
#[derive(Clone, Debug)]
pub(crate) struct Moment<'a, const D: usize> {
    pub setup: &'a Setup<D>,
    pub frame: meniscus_io::Frame<'a, D>,
}

impl<'a> Frame<'a> {
    pub(crate) fn of_plane(setup: &'a Setup<2>, frame: meniscus_io::Frame<'a, 2>) -> Self {
        Self(InDimension::Plane(Moment { setup, frame }))
    }

    pub(crate) fn of_space(setup: &'a Setup<3>, frame: meniscus_io::Frame<'a, 3>) -> Self {
        Self(InDimension::Space(Moment { setup, frame }))
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        either!(&self.0, moment => moment.frame.frame)
    }

    /// The simulated time, in s.
    pub fn time(&self) -> f64 {
        either!(&self.0, moment => moment.frame.time)
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.0.dimension()
    }

    /// Cells along each axis.
    pub fn cells(&self) -> Vec<usize> {
        either!(&self.0, moment => moment.frame.grid.cells.to_vec())
    }

    /// The edge of a cell, in m.
    pub fn dx(&self) -> f64 {
        either!(&self.0, moment => moment.frame.grid.dx)
    }

    /// The names of what it holds.
    pub fn names(&self) -> Vec<&str> {
        either!(&self.0, moment => moment.frame.channels.keys().map(String::as_str).collect())
    }

    /// The particles of all fluids; none where they are not kept.
    pub fn particles(&self) -> Option<Particles> {
        either!(&self.0, moment => moment.particles())
    }

    /// The values of a channel in a box of cells, or in all: of `level_set` the distance to the surface in m, negative in liquid; of `velocity` the
    /// mean over each cell, which is one index more. Where there are no fields, what is far from liquid has the background.
    ///
    /// # Errors
    /// If there is no such field, or the box is not in the domain.
    pub fn field(&self, name: &str, within: Option<&[Range<usize>]>) -> Result<Array<f32>, FrameError> {
        either!(&self.0, moment => moment.field(name, within))
    }

    /// The bubble that the air of each cell belongs to, in a box of cells or in all, as [`field`](Self::field): 0 is the open air, `u32::MAX` is none.
    ///
    /// # Errors
    /// If the channel holds no labels, or the box is not in the domain.
    pub fn labels(&self, name: &str, within: Option<&[Range<usize>]>) -> Result<Array<u32>, FrameError> {
        either!(&self.0, moment => moment.labels(name, within))
    }

    /// The values of a field as they are stored: only in the blocks of cells near liquid. Velocities are those on the lower faces of cells.
    ///
    /// # Errors
    /// If there is no such field.
    pub fn blocks(&self, name: &str) -> Result<FieldBlocks, FrameError> {
        either!(&self.0, moment => moment.blocks(name))
    }

    /// A field at points, whose coordinates in m follow one another: one value each, or a vector.
    ///
    /// # Errors
    /// If there is no such field, or a point is not whole.
    pub fn sample(&self, points: &[f64], name: &str) -> Result<Array<f32>, FrameError> {
        either!(&self.0, moment => moment.sample(points, name))
    }

    /// The surface of the liquid, closed, without what lies in solids; in the plane its outline.
    ///
    /// # Errors
    /// If there is no liquid on a grid.
    pub fn surface(&self) -> Result<SurfaceExport, FrameError> {
        match &self.0 {
            InDimension::Plane(moment) => moment.surface(frame_contour),
            InDimension::Space(moment) => moment.surface(frame_surface),
        }
    }

    /// Writes the [`surface`](Self::surface) to a file `.ply` or `.obj`.
    ///
    /// # Errors
    /// If there is none, the name has another ending, or the file cannot be written.
    pub fn write_surface(&self, path: &Path) -> Result<(), FrameError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("ply") => Ok(write_surface_ply(path, &self.surface()?)?),
            Some("obj") => Ok(write_surface_obj(path, &self.surface()?)?),
            _ => Err(FrameError::UnknownFormat { path: path.into() }),
        }
    }

    /// The bubbles that liquid touches, where air keeps its volume.
    pub fn bubbles(&self) -> Vec<BubbleStats> {
        either!(&self.0, moment => moment.bubbles())
    }

    /// The rigid bodies, in the order of the scene.
    pub fn bodies(&self) -> Vec<BodyStats> {
        either!(&self.0, moment => moment.bodies())
    }

    /// A picture as the scene wants it, or of another size in pixels. The colours of speeds end at the largest in this frame.
    ///
    /// # Errors
    /// If there is no liquid on a grid.
    pub fn picture(&self, size: Option<[u32; 2]>) -> Result<Picture, FrameError> {
        match &self.0 {
            InDimension::Plane(moment) => moment.picture(size, draw_2d),
            InDimension::Space(moment) => moment.picture(size, draw_3d),
        }
    }

    /// All that it holds, in the terms of the solver; none if it is in space.
    pub fn plane(&self) -> Option<&meniscus_io::Frame<'a, 2>> {
        match &self.0 {
            InDimension::Plane(moment) => Some(&moment.frame),
            InDimension::Space(_) => None,
        }
    }

    /// All that it holds, in the terms of the solver; none if it is in the plane.
    pub fn space(&self) -> Option<&meniscus_io::Frame<'a, 3>> {
        match &self.0 {
            InDimension::Plane(_) => None,
            InDimension::Space(moment) => Some(&moment.frame),
        }
    }
}

impl<const D: usize> Moment<'_, D> {
    fn surface(
        &self,
        make: fn(&FrameLiquid<D>, &[Shape<D>]) -> SurfaceExport,
    ) -> Result<SurfaceExport, FrameError> {
        let liquid = self.frame.liquid().ok_or(FrameError::NoSurface)?;
        Ok(make(&liquid, &posed_solids(self.setup, poses_in(&self.frame))))
    }

    fn picture(&self, size: Option<[u32; 2]>, draw: Draw<D>) -> Result<Picture, FrameError> {
        let Self { setup, frame } = self;
        let liquid = frame.liquid().ok_or(FrameError::NoSurface)?;
        Ok(draw(frame, setup, &settings_of(setup, size), fastest_of(&liquid)))
    }

    fn bubbles(&self) -> Vec<BubbleStats> {
        self.frame.bubbles(names::BUBBLES).unwrap_or_default().iter().map(bubble_stats).collect()
    }

    fn bodies(&self) -> Vec<BodyStats> {
        let poses = &poses_in(&self.frame)[self.setup.solids.len()..];
        let motions = self.frame.numbers(names::BODIES);
        let bodies = self.setup.bodies.iter().zip(poses).map(|(body, pose)| {
            let motion = motions.and_then(|motions| motions.get(&body.name)).map_or(&[][..], Vec::as_slice);
            let (velocity, angular_velocity) = motion.split_at(D.min(motion.len()));
            BodyStats {
                name: body.name.clone(),
                position: pose.translation.to_vec(),
                rotation: pose.rotation.to_quaternion(),
                velocity: velocity.to_vec(),
                angular_velocity: angular_velocity.to_vec(),
            }
        });
        bodies.collect()
    }
}
