//! What a folder is a run of: begun anew, opened again, read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use meniscus_io::{WriteError, write_atomically};
use meniscus_scene::{Scene, SceneError};
use serde::{Deserialize, Serialize};

use super::Branch;
use super::folder::{Folder, FolderError};
use crate::identity::{first_difference, hash_of};

/// What a folder is a run of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of Meniscus that began the run.
    pub version: String,
    /// The name of the scene.
    pub scene: String,
    /// 2 or 3.
    pub dimension: usize,
    /// Of all that bears on the simulation, in hexadecimal.
    pub hash: String,
    /// Frames that the run shall have.
    pub frames: u32,
    /// Frames that are complete.
    pub frames_done: u32,
    /// Frames whose checkpoints stay because the scene said so before, and does not any more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub kept_checkpoints: BTreeSet<u32>,
    /// The run that this one branches off, if it does not begin at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Where mesh files are relative to.
    pub scene_folder: PathBuf,
    /// The scene, overrides included.
    pub scene_text: String,
}

/// The run that another one branches off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its folder.
    pub run: PathBuf,
    /// The frame that both have.
    pub frame: u32,
    /// Of the parent's scene.
    pub hash: String,
}

impl Manifest {
    fn new(scene: &Scene, parent: Option<Parent>) -> Self {
        let frames_done = parent.as_ref().map_or(0, |parent| parent.frame);
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            scene: scene.name().into(),
            dimension: scene.dimension(),
            hash: hash_of(scene),
            frames: scene.content().time.frames,
            frames_done,
            kept_checkpoints: BTreeSet::new(),
            parent,
            scene_folder: absolute(scene.folder()),
            scene_text: scene.source_text().into(),
        }
    }

    /// The first frame of the run: 0, or that which it has in common with its parent.
    pub fn first_frame(&self) -> u32 {
        self.parent.as_ref().map_or(0, |parent| parent.frame)
    }

    /// The scene of the run in a folder.
    ///
    /// # Errors
    /// If it cannot be read any more, as when a mesh file is gone, or is not the scene that was run.
    pub(crate) fn scene_in(&self, folder: &Path) -> Result<Scene, FolderError> {
        let path = folder.join(FILE);
        let scene = self
            .scene()
            .map_err(|source| FolderError::Scene { path: path.clone(), source: Box::new(source) })?;
        if hash_of(&scene) != self.hash || scene.name() != self.scene {
            let problem = "its scene, or a mesh file of it, is not what was run (the hash differs)".into();
            return Err(FolderError::BadManifest { path, problem });
        }
        Ok(scene)
    }

    /// Takes note of the checkpoints that its scene keeps and another one does not.
    fn keep_what_was_kept(&mut self, folder: &Folder, scene: &Scene) -> Result<(), FolderError> {
        // One that cannot be read any more has nothing to say.
        let Ok(before) = self.scene() else { return Ok(()) };
        let [before, after] = [&before, scene].map(|scene| scene.content().output);
        let whole = folder.checkpoint_numbers()?.into_iter().filter(|&(_, substeps)| substeps == 0);
        let frames = whole.map(|(frame, _)| frame);
        self.kept_checkpoints.extend(frames.filter(|&frame| before.stays(frame) && !after.stays(frame)));
        Ok(())
    }

    fn scene(&self) -> Result<Scene, SceneError> {
        Scene::parse(&format!("{}.toml", self.scene), &self.scene_text, &self.scene_folder, &[])
    }

    pub(crate) fn write(&self, folder: &Folder) -> Result<(), WriteError> {
        let mut text = serde_json::to_string_pretty(self).expect("a manifest is plain data");
        text.push('\n');
        write_atomically(folder.root().join(FILE), text.as_bytes())
    }

    /// The first thing by which a scene differs from the one that was run.
    fn difference(&self, scene: &Scene) -> String {
        if self.scene != scene.name() {
            return format!("it was `{}`, this is `{}`", self.scene, scene.name());
        }
        match self.scene() {
            Ok(before) => {
                first_difference(&before, scene).unwrap_or_else(|| "a mesh file has changed".into())
            }
            Err(_) => "the scene of the run cannot be read any more".into(),
        }
    }
}

/// Where it is in the folder.
const FILE: &str = "manifest.json";

/// Makes the folder of a new run and holds it.
pub(crate) fn begin(
    folder: &Folder,
    scene: &Scene,
    parent: Option<Parent>,
    overwrite: bool,
) -> Result<(Manifest, Option<File>), FolderError> {
    make_folder(folder.root()).map_err(|error| refused(folder, error))?;
    let lock = folder.lock()?;
    if folder.root().join(FILE).exists() {
        if !overwrite {
            return Err(FolderError::Occupied { folder: folder.root().into() });
        }
        clear(folder.root())?;
    }
    let mut parts = FOLDERS.into_iter().chain(LOGS).map(|part| folder.root().join(part));
    if let Some(path) = parts.find(|path| path.exists()) {
        return Err(FolderError::NotOurs { path });
    }
    let manifest = Manifest::new(scene, parent);
    // First, so that a run killed at any later moment can be resumed.
    manifest.write(folder).map_err(|error| refused(folder, error.into()))?;
    make_parts(folder)?;
    Ok((manifest, lock))
}

/// An error of a new run, by whether another folder would do.
fn refused(folder: &Folder, error: FolderError) -> FolderError {
    use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    match error {
        FolderError::Io { source, .. } | FolderError::Write(WriteError::Io { source, .. })
            if matches!(source.kind(), NotFound | PermissionDenied | ReadOnlyFilesystem) =>
        {
            FolderError::NotWritable { folder: folder.root().into(), source }
        }
        error => error,
    }
}

/// The folders of a run. Without its checkpoints a run begins anew, so they are the first to go.
const FOLDERS: [&str; 4] = ["checkpoints", "frames", "pictures", "export"];

/// The logs of a run.
const LOGS: [&str; 2] = ["stats.jsonl", "events.jsonl"];

fn make_folder(path: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            FolderError::NotAFolder { folder: path.into() }
        }
        _ => FolderError::Io { path: path.into(), source },
    })
}

fn make_parts(folder: &Folder) -> Result<(), FolderError> {
    ["frames", "checkpoints"].iter().try_for_each(|part| make_folder(&folder.root().join(part)))
}

/// Removes what a run wrote, the manifest last.
fn clear(root: &Path) -> Result<(), FolderError> {
    let gone = |result: io::Result<()>, path: PathBuf| match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FolderError::Io { path, source }),
        _ => Ok(()),
    };
    for part in FOLDERS {
        let path = root.join(part);
        gone(fs::remove_dir_all(&path), path)?;
    }
    for file in LOGS.into_iter().chain([FILE]) {
        let path = root.join(file);
        gone(fs::remove_file(&path), path)?;
    }
    Ok(())
}

/// Whether a folder holds a whole run of a scene that is to have more frames now.
pub(crate) fn goes_on(folder: &Folder, scene: &Scene) -> Result<bool, FolderError> {
    let manifest = read_manifest(folder.root())?;
    Ok(manifest.is_some_and(|run| {
        run.frames_done == run.frames
            && run.frames < scene.content().time.frames
            && run.hash == hash_of(scene)
    }))
}

/// Opens the folder of a run to continue it, and holds it.
pub(crate) fn open_to_resume(
    folder: &Folder,
    scene: &Scene,
    from: Option<&Branch>,
) -> Result<(Manifest, Option<File>), FolderError> {
    let Some(mut manifest) = read_manifest(folder.root())? else {
        return Err(FolderError::NothingToResume { folder: folder.root().into() });
    };
    let lock = folder.lock()?;
    if manifest.hash != hash_of(scene) {
        let difference = manifest.difference(scene);
        return Err(FolderError::OtherScene { folder: folder.root().into(), difference });
    }
    if let Some(from) = from
        && !manifest
            .parent
            .as_ref()
            .is_some_and(|parent| parent.frame == from.frame && parent.run == absolute(&from.run))
    {
        return Err(FolderError::OtherBranch { folder: folder.root().into() });
    }
    // The number of frames and how they are drawn may change; frames that are done stay.
    manifest.keep_what_was_kept(folder, scene)?;
    manifest.frames = scene.content().time.frames.max(manifest.frames_done);
    let as_many = scene.changed(&[format!("time.frames={}", manifest.frames)]);
    manifest.scene_text = as_many.as_ref().unwrap_or(scene).source_text().into();
    manifest.scene_folder = absolute(scene.folder());
    manifest.write(folder)?;
    make_parts(folder)?;
    Ok((manifest, lock))
}

/// The folder by a path that holds wherever it is read.
pub(crate) fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    fs::canonicalize(folder).unwrap_or_else(|_| folder.into())
}

pub(crate) fn read_manifest(root: &Path) -> Result<Option<Manifest>, FolderError> {
    let path = root.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(FolderError::NotAFolder { folder: root.into() });
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(FolderError::BadManifest { path, problem: error.to_string() });
        }
        Err(source) => return Err(FolderError::Io { path, source }),
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| FolderError::BadManifest { path, problem: error.to_string() })
}
