//! A run in its folder, opened to be looked at.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use meniscus_io::{Kind, read_checkpoint, read_frame};
use meniscus_scene::{Scene, Setup};

use super::folder::{Folder, FolderError};
use super::manifest::{Manifest, read_manifest};
use crate::dimension::InDimension;
use crate::frame::Frame;
use crate::poses::poses_in;
use crate::session::SavedSession;
use crate::simulation::Snapshot;

/// A run in its folder, opened to be looked at, also while it is being written.
#[derive(Clone, Debug)]
pub struct Run {
    folder: Folder,
    manifest: Manifest,
    scene: Scene,
    pub(crate) setup: InDimension<Box<Setup<2>>, Box<Setup<3>>>,
}

/// Lines of a log, from a place in it on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines, each a JSON object.
    pub lines: Vec<String>,
    /// The place after them: what to ask from next.
    pub end: u64,
    /// Whether the log is not the one that was asked for any more, but one begun anew or gone back in: then these are all of its lines.
    pub begins_anew: bool,
}

impl Run {
    /// Opens the folder of a run.
    ///
    /// # Errors
    /// If it holds none, or the scene of the run cannot be read any more.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FolderError> {
        let root = folder.as_ref();
        let manifest = read_manifest(root)?.ok_or_else(|| FolderError::NoRun { folder: root.into() })?;
        let scene = manifest.scene_in(root)?;
        let setup = match scene.dimension() {
            2 => InDimension::Plane(Box::new(scene.setup())),
            _ => InDimension::Space(Box::new(scene.setup())),
        };
        Ok(Self { folder: Folder::new(root, &manifest.scene), manifest, scene, setup })
    }

    /// The names of its files.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// What it is a run of, and how many frames were done when it was opened.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The scene that is run.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The frames that are there now, in order.
    ///
    /// # Errors
    /// If there are none.
    pub fn frames(&self) -> Result<Vec<u32>, FolderError> {
        self.folder.frames()
    }

    /// A frame.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn frame(&self, number: u32) -> Result<Frame<'_>, FolderError> {
        Ok(match &self.setup {
            InDimension::Plane(setup) => Frame::of_plane(setup, frame_of(&self.folder, setup, number)?),
            InDimension::Space(setup) => Frame::of_space(setup, frame_of(&self.folder, setup, number)?),
        })
    }

    /// The frames that have a checkpoint now, in order: see `output.keep_checkpoints` of the scene.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<u32>, FolderError> {
        let all = self.folder.checkpoint_numbers()?;
        Ok(all.into_iter().filter(|&(_, substeps)| substeps == 0).map(|(frame, _)| frame).collect())
    }

    /// The checkpoint of a frame, for a simulation to go on from.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn snapshot(&self, frame: u32) -> Result<Snapshot, FolderError> {
        Ok(Snapshot(match self.setup {
            InDimension::Plane(_) => InDimension::Plane(self.checkpoint(frame)?),
            InDimension::Space(_) => InDimension::Space(self.checkpoint(frame)?),
        }))
    }

    pub(crate) fn checkpoint<const D: usize>(&self, frame: u32) -> Result<SavedSession<D>, FolderError> {
        let known = self.checkpoints()?;
        if !known.contains(&frame) {
            return Err(FolderError::NoCheckpoint { folder: self.folder.root().into(), frame, known });
        }
        read_saved(&self.folder, &self.manifest, (frame, 0), SavedSession::<D>::kind_of(self.scene.method()))
    }

    /// The whole lines of `stats.jsonl` from a place in it on, 0 for all: to follow a run while it is written, ask for what came after the last ones. A run that
    /// is resumed may go back by some lines.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn stats_after(&self, offset: u64) -> Result<Lines, FolderError> {
        let path = self.folder.stats();
        lines_after(&path, offset).map_err(|source| FolderError::Io { path, source })
    }
}

/// A frame of the cache, if it is one of this run.
pub(crate) fn frame_of<const D: usize>(
    folder: &Folder,
    setup: &Setup<D>,
    number: u32,
) -> Result<meniscus_io::Frame<'static, D>, FolderError> {
    let path = folder.frame(number);
    let frame = read_frame::<D>(&path)?;
    let problem = if frame.frame != number {
        format!("it is frame {}", frame.frame)
    } else if frame.grid != setup.grid
        || frame.liquid().is_none()
        || poses_in(&frame).len() != setup.solids.len() + setup.bodies.len()
    {
        "it is of another scene".into()
    } else {
        return Ok(frame);
    };
    Err(FolderError::Foreign { path, problem })
}

/// Reads a checkpoint by its numbers (frames, substeps of the next).
pub(crate) fn read_saved<const D: usize>(
    folder: &Folder,
    manifest: &Manifest,
    (frames, substeps): (u32, u32),
    kind: Kind,
) -> Result<SavedSession<D>, FolderError> {
    let path: PathBuf = folder.checkpoint(frames, substeps);
    let saved: SavedSession<D> = read_checkpoint(&path, kind)?;
    let problem = if saved.scene != manifest.hash {
        "it is of another scene"
    } else if (saved.frames_done, saved.substeps_of_frame) != (frames, substeps) {
        "it is of another moment than its name says"
    } else {
        return Ok(saved);
    };
    Err(FolderError::Foreign { path, problem: problem.into() })
}

fn lines_after(path: &Path, offset: u64) -> io::Result<Lines> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Lines { begins_anew: offset > 0, ..Lines::default() });
        }
        file => file?,
    };
    let begins_anew = !is_end_of_line(&mut file, offset)?;
    let start = if begins_anew { 0 } else { offset };
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // What is being written is not whole yet.
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let lines = String::from_utf8_lossy(&bytes[..whole]).lines().map(str::to_owned).collect();
    Ok(Lines { lines, end: start + whole as u64, begins_anew })
}

/// Whether a line ends, or the first one begins, at a place of a log.
fn is_end_of_line(file: &mut File, offset: u64) -> io::Result<bool> {
    if offset == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(offset - 1))?;
    Ok(file.read(&mut last)? == 1 && last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_followed_line_by_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("stats.jsonl");
        let after = |offset| lines_after(&path, offset).expect("a log");
        assert_eq!(after(0), Lines::default());
        fs::write(&path, "{\"a\":1}\n{\"a\"").expect("a file");
        let first = after(0);
        assert_eq!(
            (&first.lines[..], first.end, first.begins_anew),
            (&["{\"a\":1}".to_owned()][..], 8, false)
        );
        assert_eq!(after(8), Lines { end: 8, ..Lines::default() }, "a line that is not whole");
        fs::write(&path, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n").expect("a file");
        assert_eq!(after(8).lines, ["{\"a\":2}", "{\"a\":3}"]);
        // One that is shorter, and one whose lines are others.
        fs::write(&path, "{\"a\":7}\n").expect("a file");
        assert_eq!(after(24), Lines { lines: vec!["{\"a\":7}".into()], end: 8, begins_anew: true });
        fs::write(&path, "{\"abc\":1}\n").expect("a file");
        assert!(after(8).begins_anew && after(8).lines.len() == 1);
        fs::remove_file(&path).expect("it is there");
        assert_eq!(after(8), Lines { begins_anew: true, ..Lines::default() });
    }
}
