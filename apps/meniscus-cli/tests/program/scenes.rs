//! `scenes` and `check`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{DAM, Sandbox};

fn gallery(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.ends(0, &["scenes"]).stdout;
    listed.lines().map(|line| line.split_whitespace().next().expect("a name").to_string()).collect()
}

#[test]
fn the_gallery_is_listed_printed_and_checked() {
    let sandbox = Sandbox::new();
    let names = gallery(&sandbox);
    assert!(names.contains(&"dam-break".into()) && names.contains(&"fountain".into()), "{names:?}");
    let check = |scene: &str, cells: &str| {
        let ended = sandbox.ends(0, &["check", scene, "--cells", cells, "--frames", "2"]);
        for word in ["valid", "cells", "particles", "memory", "disk", "time"] {
            assert!(ended.stdout.contains(word), "no {word} in {}", ended.stdout);
        }
    };
    check("dam-break", "16");
    for name in &names {
        // What is printed is a file to begin one's own with.
        sandbox.write("own.toml", &sandbox.ends(0, &["scenes", name]).stdout);
        // As many modes as it asks for need more of them between its solids.
        check("own.toml", if name == "islands" { "100" } else { "16" });
    }
}

/// Times are measured, all else is counted.
#[test]
fn check_says_the_same_again() {
    let sandbox = Sandbox::new();
    let counted = |args: &[&str]| {
        let said = sandbox.ends(0, args).stdout;
        let lines = said.lines().filter(|line| !line.contains("time ") && !line.contains("drawing "));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let args = ["check", "fountain", "--cells", "24", "--threads"];
    let first = counted(&[&args[..], &["1"]].concat());
    assert_eq!(first.len(), 5, "{first:?}");
    assert_eq!(first, counted(&[&args[..], &["2"]].concat()));
}

#[test]
fn liquid_in_walls_gives_one_short_hint() {
    let sandbox = Sandbox::new();
    let floor = "[[solid]]\nshape = { box = { from = [0, 0], to = [1, 0.2] } }\n";
    let drop = "[[liquid]]\nshape = { sphere = { centre = [1, 0.3], radius = 0.2 } }\n";
    sandbox.write("walls.toml", &format!("{DAM}{floor}{drop}"));
    let ended = sandbox.ends(0, &["check", "walls.toml"]);
    let hint = "liquid[0] (line 9) and liquid[1] (line 19) reach into \"solid-1\" or beyond the domain: what lies there is \
                cut off help: if that is meant, there is nothing to do";
    assert!(ended.stderr.ends_with(hint), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("walls: valid, no warnings, 1 hint\n"), "{}", ended.stdout);
}

#[test]
fn the_schema_is_json() {
    let sandbox = Sandbox::new();
    let schema: serde_json::Value =
        serde_json::from_str(&sandbox.ends(0, &["scenes", "--schema"]).stdout).expect("JSON");
    assert!(schema["properties"]["domain"].is_object() && schema["$schema"].is_string());
}

#[test]
fn unknown_names_are_answered_with_what_was_meant() {
    let sandbox = Sandbox::new();
    for command in [&["scenes", "dam-braek"][..], &["check", "dam-braek"], &["run", "dam-braek"]] {
        sandbox.ends(2, command).says(&["dam-braek", "did you mean `dam-break`?"]);
    }
    sandbox.ends(2, &["scenes", "nothing-of-the-kind"]).says(&["dam-break", "fountain"]);
    sandbox.ends(2, &["check", "missing.toml"]).says(&["missing.toml"]);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn a_broken_scene_is_answered_with_file_line_and_fix() {
    let sandbox = Sandbox::new();
    sandbox.write("broken.toml", &DAM.replace("cells = 32", "cels = 32"));
    for command in ["check", "run"] {
        sandbox.ends(2, &[command, "broken.toml"]).says(&["broken.toml:4:", "cels = 32", "help:", "cells"]);
    }
    sandbox.write("torn.toml", "[domain\nsize = ");
    sandbox.ends(2, &["check", "torn.toml"]).says(&["torn.toml:1:"]);
    sandbox.ends(2, &["check", "dam.toml", "--set", "time.fps=-3"]).says(&["time.fps", "help:"]);
    sandbox.ends(2, &["check", "dam.toml", "--set", "time.fsp=3"]).says(&["fsp", "fps"]);
    sandbox.ends(2, &["check", "dam.toml", "--set", "nonsense"]).says(&["nonsense"]);
    sandbox.ends(2, &["check", "dam.toml", "--threads", "0"]);
    sandbox.ends(2, &["check", "dam.toml", "--cells", "0"]).says(&["cells"]);
    sandbox.ends(2, &["run", "dam.toml", "--frames", "0"]).says(&["frames"]);
    assert!(!sandbox.path("out").exists());
}

#[test]
fn absurd_sizes_are_refused_at_once() {
    let sandbox = Sandbox::new();
    for command in ["check", "run"] {
        for scene in ["dam.toml", "dam-break"] {
            let started = Instant::now();
            // Less address space than a bit a cell would take.
            let script = format!(
                "ulimit -v 1000000; exec {} {command} {scene} --cells 100000",
                env!("CARGO_BIN_EXE_meniscus")
            );
            let mut shell = std::process::Command::new("bash");
            let ended = sandbox.wait(shell.args(["-c", &script]).current_dir(sandbox.path("")));
            assert_eq!(ended.code, Some(2), "{}", ended.stderr);
            ended.says(&["domain.cells", "help: set domain.cells to at most"]);
            assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        }
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let sandbox = Sandbox::new();
    for args in [&["scenes"][..], &["scenes", "dam-break"], &["scenes", "--schema"], &["--help"]] {
        let mut command = sandbox.meniscus(args);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let output = child.wait_with_output().expect("a child");
        assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
    }
}
