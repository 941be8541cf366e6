//! Runs that are killed or interrupted, and resumed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use crate::common::{DAM_3D, Results, Sandbox, names, wait_for};

/// Random numbers that are the same each time (splitmix64).
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox.meniscus(args).stdout(Stdio::null()).spawn().expect("the binary starts")
}

/// Kills a run at random moments, resumes it, kills it again, until so many kills have hit a living process;
/// the results must be those of a run left in peace.
fn killed_and_resumed(scene: &str, frames: &str, kills: usize) {
    let sandbox = Sandbox::new();
    sandbox.write("dam3.toml", DAM_3D);
    let run = |folder: &'static str| ["run", scene, "--frames", frames, "-o", folder];
    let started = Instant::now();
    sandbox.ends(0, &run("peace"));
    let duration = started.elapsed();
    let expected = Results::of(&sandbox.path("peace"));

    let folder = sandbox.path("war");
    let mut random = Random(7);
    // What was killed before it wrote anything starts anew.
    let again = || {
        let resume: &[&str] = if folder.join("manifest.json").exists() { &["--resume"] } else { &[] };
        [&run("war"), resume].concat()
    };
    let mut hit = 0;
    while hit < kills {
        let mut child = start(&sandbox, &again());
        sleep(duration.mul_f64(0.25 * random.next()));
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{status}");
            expected.assert_same(&Results::of(&folder));
            fs::remove_dir_all(&folder).expect("the folder can be removed");
            continue;
        }
        child.kill().expect("the process can be killed");
        child.wait().expect("a child");
        hit += 1;
        frames_are_whole(&folder, &expected);
    }
    sandbox.ends(0, &again());
    expected.assert_same(&Results::of(&folder));
    assert_eq!(names(&folder), names(&sandbox.path("peace")), "nothing unfinished is left");
}

/// Each frame that is there is whole, and what it should be.
fn frames_are_whole(run: &Path, expected: &Results) {
    let Ok(entries) = fs::read_dir(run.join("frames")) else { return };
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        if !name.starts_with('.') {
            assert!(
                fs::read(entry.path()).expect("a file") == expected.files[&format!("frames/{name}")],
                "{name}"
            );
        }
    }
}

#[test]
fn killed_twenty_times_a_run_ends_the_same() {
    killed_and_resumed("dam.toml", "30", 20);
}

#[test]
fn killed_in_three_dimensions_a_run_ends_the_same() {
    killed_and_resumed("dam3.toml", "9", 10);
}

/// A frame of half a second takes many substeps.
const LONG_FRAMES: [&str; 6] =
    ["--set", "time.fps=2", "--set", "output.checkpoint_every=100", "--frames", "20"];

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
}

#[test]
fn interrupted_within_a_frame_a_run_leaves_a_checkpoint_and_ends_the_same() {
    let sandbox = Sandbox::new();
    let run = |folder: &'static str| [&["run", "dam.toml", "-o", folder][..], &LONG_FRAMES].concat();
    sandbox.ends(0, &run("peace"));
    let expected = Results::of(&sandbox.path("peace"));
    assert!(expected.stats.len() > 200, "{} substeps in twenty frames", expected.stats.len());

    let lines = || fs::read_to_string(sandbox.path("war/stats.jsonl")).map_or(0, |text| text.lines().count());
    let mut resume: &[&str] = &[];
    let mut within_a_frame = 0;
    for signal in ["-INT", "-TERM", "-INT"] {
        let args = [&run("war"), resume].concat();
        let before = lines();
        let child = sandbox.meniscus(&args).stdout(Stdio::piped()).spawn().expect("the binary starts");
        wait_for(|| lines() > before + 3);
        send(signal, &child);
        let output = child.wait_with_output().expect("a child");
        assert_eq!(output.status.code(), Some(130), "{signal}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("interrupted after"), "{said}");
        let (_, command) = said.trim_end().split_once("continue with: meniscus ").expect("a command");
        assert_eq!(
            command,
            "run dam.toml -o war --frames 20 --set time.fps=2 --set output.checkpoint_every=100 --resume"
        );
        let checkpoints = sandbox.names("war/checkpoints");
        within_a_frame += usize::from(checkpoints.iter().any(|name| !name.ends_with("-0000.checkpoint")));
        resume = &["--resume"];
    }
    assert!(within_a_frame > 0, "the checkpoints were at the ends of frames");
    sandbox.ends(0, &[&run("war"), resume].concat());
    let mut results = Results::of(&sandbox.path("war"));
    // The run in peace had no reason to write the checkpoint before the last.
    results.files.retain(|name, _| !name.starts_with("checkpoints/") || expected.files.contains_key(name));
    expected.assert_same(&results);
}

#[test]
fn interrupted_while_it_draws_a_run_ends_at_once() {
    let sandbox = Sandbox::new();
    let large = ["--set", "render.width=1600", "--set", "render.height=1600"];
    let args = [&["run", "dam.toml", "-o", "out", "--frames", "40", "--render"][..], &large].concat();
    let child = sandbox.meniscus(&args).stdout(Stdio::piped()).spawn().expect("the binary starts");
    wait_for(|| sandbox.path("out/pictures").exists());
    send("-INT", &child);
    let output = child.wait_with_output().expect("a child");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("interrupted after") && said.contains(" picture"), "{said}");
    assert!(!sandbox.path("out/pictures/dam.gif").exists());
    assert_eq!(sandbox.names("out/frames").len(), 41);

    // Drawing alone, once the second picture is there.
    let child =
        sandbox.meniscus(&["render", "out"]).stdout(Stdio::piped()).spawn().expect("the binary starts");
    let drawn = || sandbox.names("out/pictures").iter().filter(|name| name.ends_with(".png")).count();
    let before = drawn();
    wait_for(|| drawn() > before + 1);
    send("-INT", &child);
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), said.starts_with("interrupted after ")), (Some(130), true), "{said}");
}
