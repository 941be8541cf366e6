//! Surfaces, particles and bubbles of a run for other programs.

use std::fs;
use std::path::{Path, PathBuf};

use meniscus_core::shape::Shape;
use meniscus_io::export::{
    BubbleTable, SurfaceExport, frame_contour, frame_surface, write_particles_ply, write_surface_obj,
    write_surface_ply,
};
use meniscus_io::{Frame, WriteError};
use meniscus_scene::{AirModel, Setup};

use crate::folder::{Folder, FolderError, scene_of};
use crate::pictures::{PicturesError, chosen_frames, frame_of};
use crate::simulation::posed_solids;

/// A format of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Surfaces with normals, velocities and the bubbles that they border; particles can be had too.
    Ply,
    /// Surfaces with normals, in a group for each bubble that they border.
    Obj,
    /// A table of the bubbles, see [`BubbleTable`].
    Csv,
}

/// What to export.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// The format.
    pub format: Format,
    /// Whether to export the particles instead of the surface; they are always PLY.
    pub particles: bool,
    /// The one frame to export; all of them if none is given.
    pub frame: Option<u32>,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The frames cannot be had.
    #[error(transparent)]
    Frames(#[from] PicturesError),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Particles are written as PLY only.
    #[error("particles can be exported as PLY only; use --format ply")]
    ParticlesNeedPly,
    /// The frames were written without particles.
    #[error(
        "the frames hold no particles, because the scene has output.particles = false; run it again with \
         --set output.particles=true"
    )]
    NoParticles,
    /// The air was a void.
    #[error(
        "the frames hold no bubbles, because the scene has air.model = \"void\"; run it again with \
         --set air.model=bubbles"
    )]
    NoBubbles,
}

/// Writes each frame of a run to its folder `export` as `NAME.0001.ply` (or `.obj`; particles as
/// `NAME.0001.particles.ply`), or the bubbles of all frames as `NAME.bubbles.csv` (of one frame as
/// `NAME.0001.bubbles.csv`); gives the files.
///
/// # Errors
/// If the folder holds no run, or a file cannot be read or written.
pub fn export(
    folder: &Folder,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<PathBuf>, ExportError> {
    if options.particles && options.format != Format::Ply {
        return Err(ExportError::ParticlesNeedPly);
    }
    let (folder, manifest) = Folder::open(folder.root())?;
    let scene = scene_of(&folder, &manifest)?;
    match scene.dimension() {
        2 => export_in(&folder, &scene.setup::<2>(), options, progress, frame_contour),
        _ => export_in(&folder, &scene.setup::<3>(), options, progress, frame_surface),
    }
}

/// Makes the surface of a frame, between solids.
type MakeSurface<const D: usize> = fn(&Frame<D>, &[Shape<D>]) -> SurfaceExport;

/// Writes the surface of a frame.
type WriteSurface = fn(&Path, &SurfaceExport) -> Result<(), WriteError>;

fn export_in<const D: usize>(
    folder: &Folder,
    setup: &Setup<D>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
    surface: MakeSurface<D>,
) -> Result<Vec<PathBuf>, ExportError> {
    let frames = chosen_frames(folder, options.frame)?;
    let directory = folder.root().join("export");
    fs::create_dir_all(&directory).map_err(|source| FolderError::Io { path: directory, source })?;
    let surfaces = |extension: &'static str, write: WriteSurface| {
        move |frame: &Frame<D>| {
            let path = folder.made_of("export", frame.frame, extension);
            write(&path, &surface(frame, &posed_solids(setup, &frame.solids)))?;
            Ok(path)
        }
    };
    let particles = |frame: &Frame<D>| {
        let path = folder.made_of("export", frame.frame, "particles.ply");
        let particles = frame.particles.as_ref().ok_or(ExportError::NoParticles)?;
        write_particles_ply(&path, &frame.grid, particles)?;
        Ok(path)
    };
    let frames = Frames { folder, setup, numbers: &frames };
    match options.format {
        Format::Ply if options.particles => frames.each(progress, particles),
        Format::Ply => {
            frames.each(progress, surfaces("ply", |path, surface| write_surface_ply(path, surface)))
        }
        Format::Obj => {
            frames.each(progress, surfaces("obj", |path, surface| write_surface_obj(path, surface)))
        }
        Format::Csv if setup.air == AirModel::Void => Err(ExportError::NoBubbles),
        Format::Csv => {
            let path = match options.frame {
                Some(number) => folder.made_of("export", number, "bubbles.csv"),
                None => folder.made_of_all("export", "bubbles.csv"),
            };
            let mut table = BubbleTable::new::<D>();
            frames.each(progress, |frame| {
                table.add(frame);
                Ok(())
            })?;
            table.write(&path)?;
            Ok(vec![path])
        }
    }
}

/// Frames to export.
struct Frames<'a, const D: usize> {
    folder: &'a Folder,
    setup: &'a Setup<D>,
    numbers: &'a [u32],
}

impl<const D: usize> Frames<'_, D> {
    /// Reads one after another; gives what `export` made of them.
    fn each<T>(
        &self,
        progress: &mut dyn FnMut(usize, usize),
        mut export: impl FnMut(&Frame<D>) -> Result<T, ExportError>,
    ) -> Result<Vec<T>, ExportError> {
        let mut made = Vec::new();
        for (done, &number) in self.numbers.iter().enumerate() {
            progress(done, self.numbers.len());
            made.push(export(&frame_of(self.folder, self.setup, number)?)?);
        }
        progress(self.numbers.len(), self.numbers.len());
        Ok(made)
    }
}
