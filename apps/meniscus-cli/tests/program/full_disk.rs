//! A disk that fills up during a run.

#![cfg(unix)]

use std::fs;
use std::process::Command;

use crate::common::{Ended, Results, Sandbox, names};

/// Runs a shell script in the sandbox with the binary in `$MENISCUS`.
fn shell(sandbox: &Sandbox, wrapper: &[&str], script: &str) -> Ended {
    let words = [wrapper, &["bash", "-c", script]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(sandbox.path(""));
    sandbox.wait(command.env("MENISCUS", env!("CARGO_BIN_EXE_meniscus")))
}

/// All frames that `out` has are whole, the last can be drawn, and with space again the run ends as it should.
fn recovers(sandbox: &Sandbox, expected: &Results) {
    let frames = names(&sandbox.path("out/frames"));
    assert!((1..=7).contains(&frames.len()), "{frames:?}");
    for name in &frames {
        let bytes = fs::read(sandbox.path("out/frames").join(name)).expect("a frame");
        assert!(bytes == expected.files[&format!("frames/{name}")], "{name} is whole");
    }
    let last = (frames.len() - 1).to_string();
    sandbox.ends(0, &["render", "out", "--frame", &last, "--size", "64x64"]);
    sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--resume"]);
    expected.assert_same(&Results::of(&sandbox.path("out")));
}

fn expected(sandbox: &Sandbox) -> Results {
    sandbox.ends(0, &["run", "dam.toml", "-o", "peace"]);
    Results::of(&sandbox.path("peace"))
}

/// Where a small file system can be mounted, which takes a namespace of one's own.
#[test]
fn on_a_full_disk_a_run_ends_with_what_to_do_and_can_be_resumed() {
    let sandbox = Sandbox::new();
    let expected = expected(&sandbox);
    let wrapper = ["unshare", "-rm"];
    fs::create_dir(sandbox.path("small")).expect("a folder");
    if shell(&sandbox, &wrapper, "mount -t tmpfs -o size=64k tmpfs small").code != Some(0) {
        return;
    }
    let mut seen = Vec::new();
    // Full at one moment and another: in a frame, a checkpoint, a log.
    for kib in (48..=240).step_by(16) {
        let script = format!(
            "mount -t tmpfs -o size={kib}k tmpfs small && $MENISCUS run dam.toml -o small/out; code=$?; \
             cp -a small/out . ; exit $code"
        );
        let ended = shell(&sandbox, &wrapper, &script);
        if ended.code == Some(0) {
            break;
        }
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended.says(&[
            "no space left on the disk to write small/out/",
            "free some and run again with --resume",
        ]);
        if sandbox.path("out/manifest.json").exists() && !names(&sandbox.path("out/frames")).is_empty() {
            recovers(&sandbox, &expected);
        }
        seen.push(ended.stderr);
        fs::remove_dir_all(sandbox.path("out")).expect("the folder can be removed");
    }
    assert!(seen.len() > 2, "{seen:?}");
}

/// Where nothing can be mounted: no file may grow beyond a limit, here that of a checkpoint.
#[test]
fn a_file_that_cannot_grow_is_named_and_the_run_can_be_resumed() {
    let sandbox = Sandbox::new();
    let expected = expected(&sandbox);
    let limited = |kib: u32| {
        let script = format!("trap '' XFSZ; ulimit -f {kib}; exec $MENISCUS run dam.toml -o out");
        let ended = shell(&sandbox, &[], &script);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended
    };
    limited(0).says(&["out/manifest.json"]);
    assert_eq!(names(&sandbox.path("out")), [""; 0]);
    let largest = |part: &str| {
        let sizes =
            expected.files.iter().filter(|(name, _)| name.starts_with(part)).map(|(_, bytes)| bytes.len());
        sizes.max().expect("files")
    };
    assert!(largest("frames") + 2048 < largest("checkpoints"), "the limit lies between");
    limited(largest("frames") as u32 / 1024 + 1).says(&["out/checkpoints/dam.0001-0000.checkpoint"]);
    recovers(&sandbox, &expected);
}
