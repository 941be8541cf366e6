//! What a run made, for other programs.

use std::fs;
use std::path::{Path, PathBuf};

use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_io::export::{
    SurfaceExport, Table, frame_contour, frame_surface, write_markers_ply, write_particles_ply,
    write_surface_obj, write_surface_ply,
};
use meniscus_io::{Frame, FrameLiquid, WriteError, names};
use meniscus_scene::{AirModel, Method, Setup};

use crate::dimension::InDimension;
use crate::drawing::liquid_of;
use crate::pictures::{PicturesError, chosen_frames};
use crate::poses::{posed_solids, poses_in};
use crate::runs::{Folder, FolderError, Run, frame_of};

/// A format of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Surfaces with normals, velocities and the bubbles that they border; particles and smoke.
    Ply,
    /// Surfaces with normals, in a group for each bubble that they border.
    Obj,
    /// A [`Table`] of the bubbles, or of where solids and bodies are.
    Csv,
}

/// What of a run to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The liquid: its surface, or as [`Format::Csv`] its bubbles.
    Liquid,
    /// The particles.
    Particles,
    /// The markers of the smoke.
    Smoke,
    /// Where the solids and the bodies are.
    Poses,
}

/// What to export.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// The format.
    pub format: Format,
    /// What of the run.
    pub content: Content,
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
    /// Points are written as PLY only.
    #[error("particles and smoke can be exported as PLY only")]
    PointsNeedPly,
    /// Poses are written as CSV only.
    #[error("where solids and bodies are can be exported as CSV only")]
    PosesNeedCsv,
    /// There is no smoke.
    #[error("the scene has no [[smoke]] to export")]
    NoSmoke,
    /// There is nothing that has a pose.
    #[error("the scene has no [[solid]] and no [[body]] to export")]
    NoPoses,
    /// A fluid without a surface has no such thing.
    #[error("a fluid that fills the domain has no {what} to export; its velocities are in the frames")]
    NoSurface {
        /// What was asked for.
        what: &'static str,
    },
    /// The frames were written without particles.
    #[error("the frames hold no particles, because the scene has output.particles = false")]
    NoParticles,
    /// The air was a void.
    #[error("the frames hold no bubbles, because the scene has air.model = \"void\"")]
    NoBubbles,
}

/// Writes each frame of a run to its folder `export` as `NAME.0001.ply` (or `.obj`; particles as
/// `NAME.0001.particles.ply`, smoke as `NAME.0001.smoke.ply`), or the bubbles of all frames as `NAME.bubbles.csv` (of one frame as
/// `NAME.0001.bubbles.csv`; poses as `NAME.poses.csv`); gives the files.
///
/// # Errors
/// If there is no such thing in the run, or a file cannot be read or written.
pub fn export(
    run: &Run,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<PathBuf>, ExportError> {
    match (options.content, options.format) {
        (Content::Particles | Content::Smoke, Format::Obj | Format::Csv) => {
            return Err(ExportError::PointsNeedPly);
        }
        (Content::Poses, Format::Ply | Format::Obj) => return Err(ExportError::PosesNeedCsv),
        _ => {}
    }
    match &run.setup {
        InDimension::Plane(setup) => export_in(run.folder(), setup, options, progress, frame_contour),
        InDimension::Space(setup) => export_in(run.folder(), setup, options, progress, frame_surface),
    }
}

/// Makes the surface of a frame, between solids.
type MakeSurface<const D: usize> = fn(&FrameLiquid<D>, &[Shape<D>]) -> SurfaceExport;

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
            write(&path, &surface(&liquid_of(frame), &posed_solids(setup, poses_in(frame))))?;
            Ok(path)
        }
    };
    let particles = |frame: &Frame<D>| {
        let path = folder.made_of("export", frame.frame, "particles.ply");
        let particles = frame.points(names::PARTICLES).ok_or(ExportError::NoParticles)?;
        write_particles_ply(&path, &frame.grid, particles)?;
        Ok(path)
    };
    let smoke = |frame: &Frame<D>| {
        let path = folder.made_of("export", frame.frame, "smoke.ply");
        write_markers_ply(&path, &frame.grid, &frame.smokes())?;
        Ok(path)
    };
    let frames = Frames { folder, setup, numbers: &frames };
    let table = |progress, name: &str, mut table: Table, add: &dyn Fn(&mut Table, &Frame<D>)| {
        let path = match options.frame {
            Some(number) => folder.made_of("export", number, name),
            None => folder.made_of_all("export", name),
        };
        frames.each(progress, |frame| {
            add(&mut table, frame);
            Ok(())
        })?;
        table.write(&path)?;
        Ok(vec![path])
    };
    match (options.content, options.format) {
        (Content::Particles, _) if setup.method == Method::Modes => {
            Err(ExportError::NoSurface { what: "particles" })
        }
        (Content::Liquid, Format::Csv) if setup.fluid.is_some() => {
            Err(ExportError::NoSurface { what: "bubbles" })
        }
        (Content::Particles, _) => frames.each(progress, particles),
        (Content::Smoke, _) if setup.smoke.is_empty() => Err(ExportError::NoSmoke),
        (Content::Smoke, _) => frames.each(progress, smoke),
        (Content::Poses, _) if setup.solids.is_empty() && setup.bodies.is_empty() => {
            Err(ExportError::NoPoses)
        }
        (Content::Poses, _) => table(progress, "poses.csv", Table::of_poses::<D>(), &|table, frame| {
            table.add_poses(frame, &poses_of(setup, frame));
        }),
        (Content::Liquid, Format::Ply) => {
            frames.each(progress, surfaces("ply", |path, surface| write_surface_ply(path, surface)))
        }
        (Content::Liquid, Format::Obj) => {
            frames.each(progress, surfaces("obj", |path, surface| write_surface_obj(path, surface)))
        }
        (Content::Liquid, Format::Csv) if setup.air == AirModel::Void => Err(ExportError::NoBubbles),
        (Content::Liquid, Format::Csv) => {
            table(progress, "bubbles.csv", Table::of_bubbles::<D>(), &|table, frame| table.add_bubbles(frame))
        }
    }
}

/// What moves the shapes of the solids and the bodies, as the scene has them, to where they are in a frame.
fn poses_of<'a, const D: usize>(setup: &'a Setup<D>, frame: &Frame<D>) -> Vec<(&'a str, RigidTransform<D>)> {
    let of_solids = setup.solids.iter().map(|solid| (&solid.name[..], [0.0; D]));
    let of_bodies = setup.bodies.iter().map(|body| (&body.name[..], body.centre));
    let named = of_solids.chain(of_bodies).zip(poses_in(frame));
    // The shape of a body is seen from its centre of mass.
    let from_scene =
        |centre: [f64; D]| RigidTransform { rotation: Rotation::identity(), translation: centre.map(|c| -c) };
    named.map(|((name, centre), pose)| (name, pose.after(&from_scene(centre)))).collect()
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
