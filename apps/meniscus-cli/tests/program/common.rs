//! Scenes small enough to run in a moment, the binary, and how two runs compare.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A dam break in 32² cells; every frame has a checkpoint.
pub const DAM: &str = r#"
[domain]
size = [1.0, 1.0]
cells = 32
[time]
frames = 6
fps = 24.0
[[liquid]]
shape = { box = { from = [0.0, 0.0], to = [0.4, 0.6] } }
[[probe]]
name = "front"
kind = "front"
direction = "+x"
[output]
checkpoint_every = 1
"#;

/// A dam break in 16³ cells with a solid that moves.
pub const DAM_3D: &str = r#"
[domain]
size = [1.0, 1.0, 1.0]
cells = 16
[time]
frames = 5
fps = 24.0
[[liquid]]
shape = { box = { from = [0.0, 0.0, 0.0], to = [0.4, 0.6, 1.0] } }
[[solid]]
name = "ball"
shape = { sphere = { centre = [0.7, 0.3, 0.5], radius = 0.15 } }
motion = { keyframes = [{ time = 0.0 }, { time = 1.0, translation = [0.0, 0.4, 0.0] }] }
[output]
checkpoint_every = 2
"#;

/// A temporary folder in which commands run.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// How a command ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    /// Without the line breaks and bars of a report.
    pub stderr: String,
}

impl Sandbox {
    /// With `dam.toml` in it.
    pub fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        sandbox.write("dam.toml", DAM);
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the sandbox can be written");
    }

    /// The binary with these arguments, in this folder, so that messages hold short paths.
    pub fn meniscus(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    /// Runs the binary, which must end with this exit code.
    pub fn ends(&self, code: i32, args: &[&str]) -> Ended {
        let ended = self.wait(&mut self.meniscus(args));
        assert_eq!(ended.code, Some(code), "{args:?}: {}{}", ended.stdout, ended.stderr);
        ended
    }

    pub fn wait(&self, command: &mut Command) -> Ended {
        let output = command.output().expect("the command can be started");
        let text = |bytes| String::from_utf8(bytes).expect("messages are UTF-8");
        Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr).replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// The names in a folder, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// Changes one byte in the middle of a file.
    pub fn flip_byte(&self, file: &str) {
        let mut bytes = fs::read(self.path(file)).expect("the file is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        fs::write(self.path(file), bytes).expect("the file can be written");
    }
}

impl Ended {
    /// The error must hold all of these.
    pub fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("UTF-8");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

/// What must not depend on threads, kills and the time of the day: the frames, the checkpoints, the statistics.
#[derive(PartialEq)]
pub struct Results {
    pub files: BTreeMap<String, Vec<u8>>,
    pub stats: Vec<String>,
}

impl Results {
    pub fn of(run: &Path) -> Self {
        let mut files = BTreeMap::new();
        for part in ["frames", "checkpoints"] {
            for name in names(&run.join(part)) {
                let bytes = fs::read(run.join(part).join(&name)).expect("a file");
                files.insert(format!("{part}/{name}"), bytes);
            }
        }
        files.insert("events.jsonl".into(), fs::read(run.join("events.jsonl")).expect("a file"));
        let log = fs::read_to_string(run.join("stats.jsonl")).expect("a log");
        Self { files, stats: log.lines().map(untimed).collect() }
    }

    /// Says what differs, which would be too long to print.
    pub fn assert_same(&self, other: &Self) {
        let names = |results: &Self| results.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(self), names(other));
        for (name, bytes) in &self.files {
            assert!(*bytes == other.files[name], "{name} differs");
        }
        assert_eq!(self.stats.len(), other.stats.len(), "lines of stats.jsonl");
        for (a, b) in self.stats.iter().zip(&other.stats) {
            assert_eq!(a, b);
        }
    }
}

/// The lines of `stats.jsonl`.
pub fn stats(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("stats.jsonl")).expect("a log");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A line without what depends on the time it took: `solve.seconds`, `stages` and `seconds`, which follow one
/// another. The text, not its values: reading numbers may round them.
fn untimed(line: &str) -> String {
    let (before, timed) = line.split_once("\"seconds\":").expect("seconds of the solve");
    let (_, after) =
        timed.split_once("\"removed_particles\":").expect("what follows the seconds of the substep");
    format!("{before}…{after}")
}

/// The manifest of a run.
pub fn manifest(run: &Path) -> Value {
    let text = fs::read_to_string(run.join("manifest.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// Waits until something is so, but not for ever.
pub fn wait_for(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing happens");
        sleep(Duration::from_millis(1));
    }
}
