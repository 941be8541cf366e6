//! Why a file of ours cannot be written or read.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not written. What was there before is still there, whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is no room.
    #[error("no space left on the disk to write {}; files written before are intact", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses for another reason.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The value has no stored form.
    #[error("cannot write {}: {problem}", path.display())]
    Unserialisable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl WriteError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            _ => Self::Io { path, source },
        }
    }
}

/// Why a frame or a checkpoint cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file cannot be opened or read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It does not start like a file of ours.
    #[error("{} is not a Meniscus file, or its start is damaged; give a frame or a checkpoint", path.display())]
    NotMeniscus {
        /// The file.
        path: PathBuf,
    },
    /// It has a format that this version does not know.
    #[error(
        "{} has format version {found}, this program reads version {expected}; use the version of Meniscus that \
         wrote it, or run the scene again",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that we read.
        expected: u32,
    },
    /// It holds something else.
    #[error("{} holds a {found}, not a {expected}; give the right file", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: &'static str,
        /// What was asked for.
        expected: &'static str,
    },
    /// Bytes were lost or changed after it was written.
    #[error("{} is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is whole but holds what this program does not understand.
    #[error("{} is not what this version of Meniscus writes: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}
