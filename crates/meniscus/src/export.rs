//! Surfaces and particles of a run for other programs.

use std::fs;
use std::path::PathBuf;

use meniscus_io::export::{
    SurfaceExport, frame_contour, frame_surface, write_particles_ply, write_surface_obj, write_surface_ply,
};
use meniscus_io::{Frame, WriteError};
use meniscus_scene::Setup;

use crate::folder::{Folder, FolderError, scene_of};
use crate::pictures::{PicturesError, chosen_frames, frame_of};
use crate::simulation::posed_solids;

/// A format of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With normals and velocities; particles can be had too.
    Ply,
    /// With normals.
    Obj,
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
}

/// Writes each frame of a run to its folder `export` as `NAME.0001.ply` (or `.obj`; particles as
/// `NAME.0001.particles.ply`); gives the files.
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
        2 => export_in(&folder, &scene.setup::<2>(), options, progress, |frame, solids| {
            frame_contour(frame, solids)
        }),
        _ => export_in(&folder, &scene.setup::<3>(), options, progress, |frame, solids| {
            frame_surface(frame, solids)
        }),
    }
}

fn export_in<const D: usize>(
    folder: &Folder,
    setup: &Setup<D>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
    surface: impl Fn(&Frame<D>, &[meniscus_core::shape::Shape<D>]) -> SurfaceExport,
) -> Result<Vec<PathBuf>, ExportError> {
    let frames = chosen_frames(folder, options.frame)?;
    let directory = folder.root().join("export");
    fs::create_dir_all(&directory).map_err(|source| FolderError::Io { path: directory, source })?;
    let mut files = Vec::new();
    for (done, &number) in frames.iter().enumerate() {
        progress(done, frames.len());
        let frame = frame_of(folder, setup, number)?;
        let path = match (options.particles, options.format) {
            (true, _) => {
                let path = folder.made_of("export", number, "particles.ply");
                let particles = frame.particles.as_ref().ok_or(ExportError::NoParticles)?;
                write_particles_ply(&path, &frame.grid, particles)?;
                path
            }
            (false, Format::Ply) => {
                let path = folder.made_of("export", number, "ply");
                write_surface_ply(&path, &surface(&frame, &posed_solids(setup, &frame.solids)))?;
                path
            }
            (false, Format::Obj) => {
                let path = folder.made_of("export", number, "obj");
                write_surface_obj(&path, &surface(&frame, &posed_solids(setup, &frame.solids)))?;
                path
            }
        };
        files.push(path);
    }
    progress(frames.len(), frames.len());
    Ok(files)
}
