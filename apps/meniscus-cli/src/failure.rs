//! What went wrong: the exit code, and what to do about it on a command line.

use std::error::Error;
use std::fmt;
use std::path::Path;

use meniscus::{
    CacheError, ExportError, FolderError, PicturesError, RunError, SceneError, SimulationError, WriteError,
};
use miette::Diagnostic;

/// Why the command did not do what it was asked, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// Exit code 1: the work failed.
    Failed(miette::Report),
    /// Exit code 2: the input is at fault.
    BadInput(miette::Report),
    /// Exit code 130: interrupted, which has been told.
    Interrupted,
}

impl Failure {
    /// The work failed for this reason.
    pub fn failed(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed(report(error, None))
    }

    /// The input is at fault in this way.
    pub fn bad_input(error: impl Error + Send + Sync + 'static) -> Self {
        Self::BadInput(report(error, None))
    }

    /// The input is at fault in this way, and this helps.
    pub fn advised(error: impl Error + Send + Sync + 'static, advice: &str) -> Self {
        Self::BadInput(report(error, Some(advice.into())))
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::BadInput(error.into())
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let advice = advice_on_folder(&error);
        match error {
            FolderError::Io { .. } | FolderError::Write(_) => Self::Failed(report(error, advice)),
            _ => Self::BadInput(report(error, advice)),
        }
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::BadLiquid(error) => (*error).into(),
            SimulationError::NoLiquid
            | SimulationError::Overlap { .. }
            | SimulationError::CannotFollow { .. }
            | SimulationError::OtherDimension { .. } => Self::bad_input(error),
            _ => Self::failed(error),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let advice = advice_on_writing(&error);
        Self::Failed(report(error, advice))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Folder(error) => error.into(),
            RunError::Simulation(error) => error.into(),
            RunError::Write(error) => error.into(),
            RunError::Drift { .. } => {
                Self::Failed(report(error, Some("allow more with --max-drift, or raise domain.cells".into())))
            }
            _ => Self::failed(error),
        }
    }
}

impl From<PicturesError> for Failure {
    fn from(error: PicturesError) -> Self {
        match error {
            PicturesError::Folder(error) => error.into(),
            PicturesError::Write(error) => error.into(),
            PicturesError::NoSuchFrame { .. } => Self::bad_input(error),
            _ => Self::failed(error),
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        let advice = match error {
            ExportError::Frames(error) => return error.into(),
            ExportError::Folder(error) => return error.into(),
            ExportError::Write(error) => return error.into(),
            ExportError::PointsNeedPly => Some("use --format ply"),
            ExportError::PosesNeedCsv => Some("use --format csv"),
            ExportError::NoParticles => Some("run it again with --set output.particles=true"),
            ExportError::NoBubbles => Some("run it again with --set air.model=bubbles"),
            _ => None,
        };
        Self::BadInput(report(error, advice.map(str::to_owned)))
    }
}

fn advice_on_folder(error: &FolderError) -> Option<String> {
    let advice = match error {
        FolderError::Occupied { .. } => {
            "continue it with --resume, write elsewhere with -o DIR, or delete it with --overwrite"
        }
        FolderError::NoRun { .. } => "give the folder that `meniscus run` wrote",
        FolderError::NothingToResume { .. } => "leave out --resume to start one",
        FolderError::NotWritable { .. } | FolderError::OverItself { .. } => "give another folder with -o DIR",
        FolderError::NotAFolder { .. } => "give the folder of a run, or another one with -o DIR",
        FolderError::BadManifest { .. } => "restore what was edited, or run again with --overwrite",
        FolderError::NotOurs { .. } => "write elsewhere with -o DIR, or move it away",
        FolderError::InUse { .. } => "wait for it to end, or write elsewhere with -o DIR",
        FolderError::Foreign { path, .. } => advice_on_file(path),
        FolderError::OtherBranch { .. } => {
            "give another folder with -o DIR, or leave out --from to go on with what is there"
        }
        FolderError::OtherScene { .. } => {
            "continue with the scene as it was (manifest.json holds it), write elsewhere with -o DIR, begin anew with \
             --overwrite, or branch off with --from"
        }
        FolderError::OtherParent { .. } => "begin anew with --from and --overwrite",
        FolderError::NoParent { .. } => "bring it back, or begin anew with --overwrite",
        FolderError::NoFrames { .. } => "run the scene first",
        FolderError::NoCheckpoint { .. } => {
            "give one of these frames, or run it again with --set output.keep_checkpoints=all"
        }
        FolderError::Cache(error) => return advice_on_cache(error),
        FolderError::Write(error) => return advice_on_writing(error),
        _ => return None,
    };
    Some(advice.into())
}

fn advice_on_cache(error: &CacheError) -> Option<String> {
    match error {
        CacheError::Damaged { path, .. } | CacheError::Content { path, .. } => {
            Some(advice_on_file(path).into())
        }
        _ => None,
    }
}

fn advice_on_writing(error: &WriteError) -> Option<String> {
    matches!(error, WriteError::DiskFull { .. }).then(|| "free some and run again with --resume".into())
}

/// What to do about a file of a run that is of no use.
fn advice_on_file(path: &Path) -> &'static str {
    if path.extension().is_some_and(|extension| extension == "checkpoint") {
        "delete it and run again with --resume, which continues from the checkpoint before it; --from can begin with another"
    } else {
        "delete it and run again with --resume, which computes it again"
    }
}

fn report(error: impl Error + Send + Sync + 'static, advice: Option<String>) -> miette::Report {
    Advised { error: error.into(), advice }.into()
}

/// An error with what to do about it on a command line.
#[derive(Debug)]
struct Advised {
    error: Box<dyn Error + Send + Sync>,
    advice: Option<String>,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Advised {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl Diagnostic for Advised {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.advice.as_ref()?))
    }
}
