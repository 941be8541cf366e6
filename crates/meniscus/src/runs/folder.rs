//! The folder of a run: the names of its files.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use meniscus_io::{CacheError, WriteError, verify_frame};
use meniscus_scene::{OutputSettings, SceneError};

/// Why the folder of a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It holds a run already.
    #[error("{} holds a run already", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds no run.
    #[error("{} holds no run (it has no manifest.json)", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds no run to continue.
    #[error("{} holds no run to continue (it has no manifest.json)", folder.display())]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
    },
    /// It cannot be made, or nothing can be written to it.
    #[error("cannot write to {}", folder.display())]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The manifest makes no sense.
    #[error("{}: {problem}", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is a file.
    #[error("{} is not a folder", folder.display())]
    NotAFolder {
        /// What should be a folder.
        folder: PathBuf,
    },
    /// It holds something by a name that a run would use, and no run.
    #[error("{} is there, but no run that it belongs to (manifest.json is missing)", path.display())]
    NotOurs {
        /// What is in the way.
        path: PathBuf,
    },
    /// Another process writes to it.
    #[error("{} is being written by another run", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The run does not branch off where it should.
    #[error("the run in {} does not branch off that frame of that run", folder.display())]
    OtherBranch {
        /// The folder.
        folder: PathBuf,
    },
    /// A run cannot branch off itself.
    #[error("a run that branches off another one needs a folder of its own, and {} is that of the other one", folder.display())]
    OverItself {
        /// The folder.
        folder: PathBuf,
    },
    /// The run that another one has branched off is gone before that had anything of its own.
    #[error("this run has nothing of its own yet to go on from, and the run that it branches off is gone from {}", folder.display())]
    NoParent {
        /// Where that was.
        folder: PathBuf,
    },
    /// What is in the folder is not the run that another one has branched off.
    #[error("{} holds another run than the one that this run branches off", folder.display())]
    OtherParent {
        /// The folder.
        folder: PathBuf,
    },
    /// A file in the folder is of another run.
    #[error("{} is not of this run: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How one can tell.
        problem: String,
    },
    /// The run in the folder is of another scene.
    #[error("{} holds a run of another scene, or this scene was changed since: {difference}", folder.display())]
    OtherScene {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        difference: String,
    },
    /// There are no frames in it.
    #[error("{} has no frames yet", folder.display())]
    NoFrames {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no checkpoint of a frame.
    #[error("the run in {} has no checkpoint of frame {frame}; {}", folder.display(), there_are(known))]
    NoCheckpoint {
        /// The folder.
        folder: PathBuf,
        /// The frame.
        frame: u32,
        /// The frames that have one.
        known: Vec<u32>,
    },
    /// The scene in the manifest cannot be read.
    #[error("the scene in {} cannot be read", path.display())]
    Scene {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: Box<SceneError>,
    },
    /// The system refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A frame or a checkpoint cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn there_are(known: &[u32]) -> String {
    if known.is_empty() {
        return "it has none at the end of a frame".into();
    }
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    format!("it has those of {}", known.join(", "))
}

/// Which checkpoints stay.
#[derive(Clone, Debug)]
pub(crate) struct Keep {
    /// What the scene says.
    pub output: OutputSettings,
    /// The frames of those that were kept before the scene said so.
    pub kept: BTreeSet<u32>,
}

/// The names of a run's files.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    name: String,
}

impl Folder {
    /// The folder of a run of the scene `name`.
    pub fn new(root: &Path, name: &str) -> Self {
        Self { root: root.into(), name: name.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A frame of the cache.
    pub fn frame(&self, frame: u32) -> PathBuf {
        self.root.join("frames").join(format!("{}.{frame:04}.frame", self.name))
    }

    /// The statistics of each substep.
    pub fn stats(&self) -> PathBuf {
        self.root.join("stats.jsonl")
    }

    /// What happened.
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// A file that is made of a frame: `subfolder/NAME.0001.ext`.
    pub fn made_of(&self, subfolder: &str, frame: u32, extension: &str) -> PathBuf {
        self.root.join(subfolder).join(format!("{}.{frame:04}.{extension}", self.name))
    }

    /// A file that is made of all frames: `subfolder/NAME.ext`.
    pub fn made_of_all(&self, subfolder: &str, extension: &str) -> PathBuf {
        self.root.join(subfolder).join(format!("{}.{extension}", self.name))
    }

    /// The frames that are there, in order.
    ///
    /// # Errors
    /// If there are none.
    pub fn frames(&self) -> Result<Vec<u32>, FolderError> {
        let mut frames = self.numbers(&self.root.join("frames"), "frame")?;
        frames.sort_unstable();
        if frames.is_empty() {
            return Err(FolderError::NoFrames { folder: self.root.clone() });
        }
        Ok(frames.into_iter().map(|(frame, _)| frame).collect())
    }

    pub(crate) fn checkpoint(&self, frames: u32, substeps: u32) -> PathBuf {
        self.checkpoints().join(format!("{}.{frames:04}-{substeps:04}.checkpoint", self.name))
    }

    fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// The numbers (frames, substeps of the next) of the checkpoints, in order.
    pub(crate) fn checkpoint_numbers(&self) -> Result<Vec<(u32, u32)>, FolderError> {
        let mut numbers = self.numbers(&self.checkpoints(), "checkpoint")?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The numbers of the checkpoint to continue from: the latest that all frames up to it are there for, and whole, from the first of the run. Later ones are
    /// removed, so that what is missing or damaged is computed again.
    pub(crate) fn checkpoint_to_continue<const D: usize>(
        &self,
        first: u32,
    ) -> Result<Option<(u32, u32)>, FolderError> {
        let is_whole = |&frame: &u32| verify_frame::<D>(self.frame(frame)).is_ok();
        let incomplete = first + (first..).take_while(is_whole).count() as u32;
        let (usable, beyond): (Vec<_>, Vec<_>) =
            self.checkpoint_numbers()?.into_iter().partition(|&(frames, _)| frames < incomplete);
        for (frames, substeps) in beyond {
            self.remove_checkpoint(frames, substeps)?;
        }
        Ok(usable.into_iter().max())
    }

    fn remove_checkpoint(&self, frames: u32, substeps: u32) -> Result<(), FolderError> {
        let path = self.checkpoint(frames, substeps);
        fs::remove_file(&path).map_err(|source| FolderError::Io { path, source })
    }

    /// Removes the checkpoints that are not to be kept: of those within a frame, and of others, only the latest stay.
    pub(crate) fn prune_checkpoints(&self, keep: &Keep) -> Result<(), FolderError> {
        let all = self.checkpoint_numbers()?;
        let old = all.iter().rev().skip(keep.output.latest_checkpoints());
        let stays = |&(frames, substeps): &(u32, u32)| {
            substeps == 0 && (keep.output.stays(frames) || keep.kept.contains(&frames))
        };
        for &(frames, substeps) in old.filter(|numbers| !stays(numbers)) {
            self.remove_checkpoint(frames, substeps)?;
        }
        Ok(())
    }

    /// The numbers in the names of a folder's files `NAME.1234.ext` or `NAME.1234-5678.ext`.
    fn numbers(&self, folder: &Path, extension: &str) -> Result<Vec<(u32, u32)>, FolderError> {
        let failed = |source| FolderError::Io { path: folder.into(), source };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|name| {
                let middle = name.strip_prefix(&self.name)?.strip_prefix('.')?;
                let middle = middle.strip_suffix(extension)?.strip_suffix('.')?;
                let (first, second) = middle.split_once('-').unwrap_or((middle, "0"));
                Some((first.parse().ok()?, second.parse().ok()?))
            });
            numbers.extend(number);
        }
        Ok(numbers)
    }

    /// Holds the folder for one run, as long as what is given lives. The system lets go of it even if the
    /// process is killed.
    pub(crate) fn lock(&self) -> Result<Option<File>, FolderError> {
        // Not every system lets one open or lock a folder; there, nothing is held.
        let Ok(file) = File::open(&self.root) else { return Ok(None) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse { folder: self.root.clone() }),
            _ => Ok(Some(file)),
        }
    }
}
