//! The folder of a run: names of its files, its manifest.

use std::fs::{self, File, TryLockError};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use meniscus_io::{WriteError, verify_frame, write_atomically};
use meniscus_scene::{Scene, SceneError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// It holds no run to continue.
    #[error("{} holds no run (it has no manifest.json); leave out --resume to start one", folder.display())]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
    },
    /// It cannot be made, or nothing can be written to it.
    #[error("cannot write to {}; give another folder with -o DIR", folder.display())]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The manifest makes no sense.
    #[error("{}: {problem}; restore what was edited, or run again with --overwrite", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is a file.
    #[error("{} is not a folder; give another with -o DIR", folder.display())]
    NotAFolder {
        /// What should be a folder.
        folder: PathBuf,
    },
    /// It holds something by a name that a run would use, and no run.
    #[error(
        "{} is there, but no run that it belongs to (manifest.json is missing); write elsewhere with -o DIR, or \
         move it away",
        path.display()
    )]
    NotOurs {
        /// What is in the way.
        path: PathBuf,
    },
    /// Another process writes to it.
    #[error("{} is being written by another run; wait for it to end, or write elsewhere with -o DIR", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A file in the folder is of another run.
    #[error("{} is not of this run: {problem}; {fix}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How one can tell.
        problem: String,
        /// What to do.
        fix: &'static str,
    },
    /// The run in the folder is of another scene.
    #[error(
        "{} holds a run of another scene, or this scene was changed since: {difference}; continue with the scene as \
         it was (manifest.json holds it), write elsewhere with -o DIR, or begin anew with --overwrite",
        folder.display()
    )]
    OtherScene {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        difference: String,
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
    /// Where mesh files are relative to.
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
            scene_folder: absolute(scene.folder()),
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

    /// The numbers (frames, substeps of the next) of the checkpoint to continue from: the latest that all
    /// frames up to it are there for, and whole. Later ones are removed, so that what is missing or damaged is
    /// computed again.
    pub(crate) fn checkpoint_to_continue<const D: usize>(&self) -> Result<Option<(u32, u32)>, FolderError> {
        let is_whole = |&frame: &u32| verify_frame::<D>(self.frame(frame)).is_ok();
        let complete = (0..).take_while(is_whole).count();
        let (usable, beyond): (Vec<_>, Vec<_>) = self
            .numbers(&self.checkpoints(), "checkpoint")?
            .into_iter()
            .partition(|&(frames, _)| (frames as usize) < complete);
        for (frames, substeps) in beyond {
            self.remove_checkpoint(frames, substeps)?;
        }
        // A run killed just after it wrote one has left one too many.
        self.prune_checkpoints()?;
        Ok(usable.into_iter().max())
    }

    fn remove_checkpoint(&self, frames: u32, substeps: u32) -> Result<(), FolderError> {
        let path = self.checkpoint(frames, substeps);
        fs::remove_file(&path).map_err(|source| FolderError::Io { path, source })
    }

    /// Keeps the latest two checkpoints: should one be damaged, the other can be continued from.
    pub(crate) fn prune_checkpoints(&self) -> Result<(), FolderError> {
        let mut all = self.numbers(&self.checkpoints(), "checkpoint")?;
        all.sort_unstable();
        for &(frames, substeps) in all.iter().rev().skip(2) {
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

    pub(crate) fn write_manifest(&self, manifest: &Manifest) -> Result<(), WriteError> {
        let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
        text.push('\n');
        write_atomically(self.root.join("manifest.json"), text.as_bytes())
    }
}

/// The scene of a run.
///
/// # Errors
/// If it cannot be read any more, as when a mesh file is gone, or is not the scene that was run.
pub fn scene_of(folder: &Folder, manifest: &Manifest) -> Result<Scene, FolderError> {
    let name = format!("{}.toml", manifest.scene);
    let path = folder.root.join("manifest.json");
    let scene = Scene::parse(&name, &manifest.scene_text, &manifest.scene_folder, &[])
        .map_err(|source| FolderError::Scene { path: path.clone(), source: Box::new(source) })?;
    if hash_of(&scene) != manifest.hash || scene.name() != manifest.scene {
        let problem = "its scene, or a mesh file of it, is not what was run (the hash differs)".into();
        return Err(FolderError::BadManifest { path, problem });
    }
    Ok(scene)
}

/// Makes the folder of a new run and holds it.
pub(crate) fn begin(
    folder: &Folder,
    scene: &Scene,
    overwrite: bool,
) -> Result<(Manifest, Option<File>), FolderError> {
    make_folder(&folder.root).map_err(|error| refused(folder, error))?;
    let lock = folder.lock()?;
    if folder.root.join("manifest.json").exists() {
        if !overwrite {
            return Err(FolderError::Occupied { folder: folder.root.clone() });
        }
        clear(&folder.root)?;
    }
    let mut parts = FOLDERS.into_iter().chain(LOGS).map(|part| folder.root.join(part));
    if let Some(path) = parts.find(|path| path.exists()) {
        return Err(FolderError::NotOurs { path });
    }
    let manifest = Manifest::new(scene);
    // First, so that a run killed at any later moment can be resumed.
    folder.write_manifest(&manifest).map_err(|error| refused(folder, error.into()))?;
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
            FolderError::NotWritable { folder: folder.root.clone(), source }
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
    ["frames", "checkpoints"].iter().try_for_each(|part| make_folder(&folder.root.join(part)))
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
    for file in LOGS.into_iter().chain(["manifest.json"]) {
        let path = root.join(file);
        gone(fs::remove_file(&path), path)?;
    }
    Ok(())
}

/// Opens the folder of a run to continue it, and holds it.
pub(crate) fn open_to_resume(
    folder: &Folder,
    scene: &Scene,
) -> Result<(Manifest, Option<File>), FolderError> {
    let Some(mut manifest) = read_manifest(&folder.root)? else {
        return Err(FolderError::NothingToResume { folder: folder.root.clone() });
    };
    let lock = folder.lock()?;
    if manifest.hash != hash_of(scene) {
        let difference = difference(&manifest, scene);
        return Err(FolderError::OtherScene { folder: folder.root.clone(), difference });
    }
    // The number of frames and how they are drawn may change; frames that are done stay.
    manifest.frames = scene.content().time.frames.max(manifest.frames_done);
    manifest.scene_text = scene.source_text().into();
    manifest.scene_folder = absolute(scene.folder());
    folder.write_manifest(&manifest)?;
    make_parts(folder)?;
    Ok((manifest, lock))
}

/// The folder by a path that holds wherever it is read.
fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    fs::canonicalize(folder).unwrap_or_else(|_| folder.into())
}

fn read_manifest(root: &Path) -> Result<Option<Manifest>, FolderError> {
    let path = root.join("manifest.json");
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

/// All that bears on the simulation: not how many frames there are, nor what is written and drawn.
fn relevant_content(scene: &Scene) -> Value {
    let mut content = scene.content().clone();
    content.time.frames = 0;
    content.output = Default::default();
    content.render = Default::default();
    content.description = None;
    serde_json::to_value(&content).expect("a scene is plain data")
}

/// The first thing by which a scene differs from the one that was run.
fn difference(manifest: &Manifest, scene: &Scene) -> String {
    if manifest.scene != scene.name() {
        return format!("it was `{}`, this is `{}`", manifest.scene, scene.name());
    }
    let name = format!("{}.toml", manifest.scene);
    let Ok(before) = Scene::parse(&name, &manifest.scene_text, &manifest.scene_folder, &[]) else {
        return "the scene of the run cannot be read any more".into();
    };
    first_difference("", &relevant_content(&before), &relevant_content(scene))
        .unwrap_or_else(|| "a mesh file has changed".into())
}

fn first_difference(path: &str, before: &Value, after: &Value) -> Option<String> {
    let join = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let of = |map: &serde_json::Map<String, Value>, key| map.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| first_difference(&join(key), &of(a, key), &of(b, key)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && is_list_of_tables(a) => {
            let entries = a.iter().zip(b).enumerate();
            entries.into_iter().find_map(|(k, (a, b))| first_difference(&format!("{path}[{k}]"), a, b))
        }
        (Value::Array(a), Value::Array(b)) if a.len() != b.len() && is_list_of_tables(a) => {
            Some(format!("`{path}` had {} entries, it has {}", a.len(), b.len()))
        }
        _ => (before != after).then(|| format!("`{path}` was {before}, it is {after}")),
    }
}

/// Whether a list is one of tables, and not a vector.
fn is_list_of_tables(list: &[Value]) -> bool {
    list.first().is_none_or(Value::is_object)
}

/// A hash of the scene's name and of all that bears on the simulation, mesh files included.
fn hash_of(scene: &Scene) -> String {
    let value = serde_json::to_value((scene.name(), relevant_content(scene))).expect("a scene is plain data");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(value.to_string().as_bytes());
    hash_meshes(&value, scene.folder(), &mut hash);
    format!("{:016x}", hash.finish())
}

/// Adds the mesh files that a part of a scene names. The scene has been read with them; one that is gone since
/// is as good as changed.
fn hash_meshes(part: &Value, folder: &Path, hash: &mut Fnv) {
    if let Some(file) = part.pointer("/mesh/file").and_then(Value::as_str) {
        hash.write(&fs::read(folder.join(file)).unwrap_or_default());
    }
    match part {
        Value::Object(map) => map.values().for_each(|part| hash_meshes(part, folder, hash)),
        Value::Array(list) => list.iter().for_each(|part| hash_meshes(part, folder, hash)),
        _ => {}
    }
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
