//! The folder of a run: names of its files, its manifest.

use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use meniscus_io::{WriteError, write_atomically};
use meniscus_scene::{Scene, SceneError};
use serde::{Deserialize, Serialize};

/// Why the folder of a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It holds a run already.
    #[error(
        "{} holds a run already; continue it with --resume, write elsewhere with -o DIR, or delete it with --overwrite",
        folder.display()
    )]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds no run.
    #[error("{} holds no run (it has no manifest.json); give the folder that `meniscus run` wrote", folder.display())]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest makes no sense.
    #[error("{}: {problem}; if the file was edited, restore it, or run again with --overwrite", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The run in the folder is of another scene.
    #[error(
        "{} holds a run of another scene, or this scene was changed since; continue with the scene as it was \
         (manifest.json holds it), write elsewhere with -o DIR, or begin anew with --overwrite",
        folder.display()
    )]
    OtherScene {
        /// The folder.
        folder: PathBuf,
    },
    /// There are no frames in it.
    #[error("{} has no frames yet; run the scene first", folder.display())]
    NoFrames {
        /// The folder.
        folder: PathBuf,
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
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

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
    /// Where mesh files are relative to; empty for scenes of the gallery.
    pub scene_folder: PathBuf,
    /// The scene, overrides included.
    pub scene_text: String,
}

impl Manifest {
    fn new(scene: &Scene) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            scene: scene.name().into(),
            dimension: scene.dimension(),
            hash: hash_of(scene),
            frames: scene.content().time.frames,
            frames_done: 0,
            scene_folder: fs::canonicalize(scene.folder()).unwrap_or_else(|_| scene.folder().into()),
            scene_text: scene.source_text().into(),
        }
    }
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

    /// The folder that holds a run, and its manifest.
    ///
    /// # Errors
    /// If it holds none.
    pub fn open(root: &Path) -> Result<(Self, Manifest), FolderError> {
        let manifest = read_manifest(root)?.ok_or_else(|| FolderError::NoRun { folder: root.into() })?;
        Ok((Self::new(root, &manifest.scene), manifest))
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

    pub(crate) fn latest_checkpoint(&self) -> Result<Option<PathBuf>, FolderError> {
        let latest = self.numbers(&self.checkpoints(), "checkpoint")?.into_iter().max();
        Ok(latest.map(|(frames, substeps)| self.checkpoint(frames, substeps)))
    }

    /// Keeps the latest two checkpoints: should one be damaged, the other can be continued from.
    pub(crate) fn prune_checkpoints(&self) -> Result<(), FolderError> {
        let mut all = self.numbers(&self.checkpoints(), "checkpoint")?;
        all.sort_unstable();
        for &(frames, substeps) in all.iter().rev().skip(2) {
            let path = self.checkpoint(frames, substeps);
            fs::remove_file(&path).map_err(|source| FolderError::Io { path, source })?;
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

    pub(crate) fn write_manifest(&self, manifest: &Manifest) -> Result<(), WriteError> {
        let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
        text.push('\n');
        write_atomically(self.root.join("manifest.json"), text.as_bytes())
    }
}

/// The scene of a run.
///
/// # Errors
/// If it cannot be read any more, as when a mesh file is gone.
pub fn scene_of(folder: &Folder, manifest: &Manifest) -> Result<Scene, FolderError> {
    let name = format!("{}.toml", manifest.scene);
    Scene::parse(&name, &manifest.scene_text, &manifest.scene_folder, &[]).map_err(|source| FolderError::Scene {
        path: folder.root.join("manifest.json"),
        source: Box::new(source),
    })
}

pub(crate) fn begin(folder: &Folder, scene: &Scene, overwrite: bool) -> Result<Manifest, FolderError> {
    if folder.root.join("manifest.json").exists() {
        if !overwrite {
            return Err(FolderError::Occupied { folder: folder.root.clone() });
        }
        clear(&folder.root)?;
    }
    for part in ["frames", "checkpoints"] {
        let path = folder.root.join(part);
        fs::create_dir_all(&path).map_err(|source| FolderError::Io { path, source })?;
    }
    let manifest = Manifest::new(scene);
    folder.write_manifest(&manifest)?;
    Ok(manifest)
}

/// Removes what a run wrote, and nothing else.
fn clear(root: &Path) -> Result<(), FolderError> {
    let gone = |result: io::Result<()>, path: PathBuf| match result {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FolderError::Io { path, source }),
        _ => Ok(()),
    };
    for part in ["frames", "checkpoints", "pictures", "export"] {
        let path = root.join(part);
        gone(fs::remove_dir_all(&path), path)?;
    }
    for file in ["stats.jsonl", "events.jsonl", "manifest.json"] {
        let path = root.join(file);
        gone(fs::remove_file(&path), path)?;
    }
    Ok(())
}

pub(crate) fn open_to_resume(folder: &Folder, scene: &Scene) -> Result<Manifest, FolderError> {
    let Some(mut manifest) = read_manifest(&folder.root)? else {
        return Err(FolderError::NoRun { folder: folder.root.clone() });
    };
    if manifest.hash != hash_of(scene) || manifest.scene != scene.name() {
        return Err(FolderError::OtherScene { folder: folder.root.clone() });
    }
    // The number of frames and how they are drawn may change.
    manifest.frames = scene.content().time.frames;
    manifest.scene_text = scene.source_text().into();
    folder.write_manifest(&manifest)?;
    Ok(manifest)
}

fn read_manifest(root: &Path) -> Result<Option<Manifest>, FolderError> {
    let path = root.join("manifest.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::Io { path, source }),
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| FolderError::BadManifest { path, problem: error.to_string() })
}

/// A hash of all that bears on the simulation: not how many frames there are, nor what is written and drawn.
fn hash_of(scene: &Scene) -> String {
    let mut content = scene.content().clone();
    content.time.frames = 0;
    content.output = Default::default();
    content.render = Default::default();
    content.description = None;
    let text = serde_json::to_string(&content).expect("a scene is plain data");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(text.as_bytes());
    format!("{:016x}", hash.finish())
}

/// FNV-1a: it need not resist an attacker, only tell scenes apart, and be the same in every version of Rust.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
