//! Runs that begin where others were, and the checkpoints that they begin from.

use std::fs;

use crate::common::{DAM, Results, Sandbox, manifest, stats};

fn checkpoints(frames: &[u32]) -> Vec<String> {
    frames.iter().map(|frame| format!("dam.{frame:04}-0000.checkpoint")).collect()
}

#[test]
fn the_checkpoints_that_the_scene_asks_for_stay() {
    let sandbox = Sandbox::new();
    for (keep, kept) in [
        ("all", &[1, 2, 3, 4, 5, 6][..]),
        ("{ latest = 1 }", &[6]),
        ("{ every = 3 }", &[3, 5, 6]),
        ("{ every = 2, latest = 1 }", &[2, 4, 6]),
    ] {
        let keep = format!("output.keep_checkpoints={keep}");
        sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--overwrite", "--set", &keep]);
        assert_eq!(sandbox.names("out/checkpoints"), checkpoints(kept), "{keep}");
    }
    // Frames that are to be kept have one, however seldom others are.
    let seldom = ["--set", "output.checkpoint_every=100", "--set", "output.keep_checkpoints.every=2"];
    sandbox.ends(0, &[&["run", "dam.toml", "-o", "out", "--overwrite"], &seldom[..]].concat());
    assert_eq!(sandbox.names("out/checkpoints"), checkpoints(&[2, 4, 6]));
    // All that are written, and no more than are.
    let all = ["--set", "output.checkpoint_every=3", "--set", "output.keep_checkpoints=all"];
    sandbox.ends(0, &[&["run", "dam.toml", "-o", "out", "--overwrite"], &all[..]].concat());
    assert_eq!(sandbox.names("out/checkpoints"), checkpoints(&[3, 6]));
    // What was kept stays, also where the scene does not say so any more, run after run.
    for frames in ["7", "8", "9", "10"] {
        sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--frames", frames]);
    }
    assert_eq!(sandbox.names("out/checkpoints"), checkpoints(&[3, 6, 9, 10]));
    for wrong in ["some", "{ every = 0 }", "{ sometimes = 1 }", "3"] {
        let wrong = format!("output.keep_checkpoints={wrong}");
        sandbox.ends(2, &["check", "dam.toml", "--set", &wrong]).says(&["output.keep_checkpoints"]);
    }
}

#[test]
fn a_branch_goes_on_with_what_is_changed_from_there_on() {
    let sandbox = Sandbox::new();
    let keep = ["--set", "output.keep_checkpoints=all"];
    sandbox.ends(0, &[&["run", "dam.toml", "-o", "parent"], &keep[..]].concat());
    let parent = Results::of(&sandbox.path("parent"));

    // Without a change it is the same.
    let same = sandbox.ends(0, &["run", "--from", "parent@3", "-o", "same"]);
    assert!(same.stdout.contains("3 frames in same, after frame 3;"), "{}", same.stdout);
    for frame in 3..=6 {
        let name = format!("frames/dam.{frame:04}.frame");
        let [ours, theirs] =
            ["same", "parent"].map(|run| fs::read(sandbox.path(run).join(&name)).expect("a frame"));
        assert!(ours == theirs, "{name} differs");
    }

    // A body that falls into it, from a scene file.
    let body = "[[body]]\nname = \"ball\"\nshape = { sphere = { centre = [0.7, 0.8], radius = 0.1 } }\ndensity = 500\n";
    sandbox.write("dam.toml", &format!("{DAM}{body}"));
    let ended = sandbox.ends(0, &["run", "dam.toml", "--from", "parent@4", "-o", "ball", "--frames", "8"]);
    assert!(ended.stdout.contains("4 frames in ball, after frame 4;"), "{}", ended.stdout);
    let stats = stats(&sandbox.path("ball"));
    assert_eq!((&stats[0]["frame"], &stats[0]["substep"]), (&5.into(), &1.into()));
    let fallen = stats.last().expect("a line")["bodies"][0]["position"][1].as_f64().expect("a number");
    // It falls freely, each substep with the velocity of its start.
    let fall = |(height, speed): (f64, f64), line: &serde_json::Value| {
        let dt = line["dt"].as_f64().expect("a number");
        (height - speed * dt, speed + 9.81 * dt)
    };
    let (expected, _) = stats.iter().fold((0.8, 0.0), fall);
    assert!((fallen - expected).abs() < 1e-6, "{fallen} is not {expected}");
    let manifest = manifest(&sandbox.path("ball"));
    assert_eq!((&manifest["parent"]["frame"], &manifest["frames_done"]), (&4.into(), &8.into()));
    assert!(manifest["parent"]["run"].as_str().expect("a path").ends_with("parent"));
    assert_eq!(manifest["parent"]["hash"], crate::common::manifest(&sandbox.path("parent"))["hash"]);
    sandbox.ends(0, &["render", "ball", "--size", "64x64"]);
    sandbox.ends(0, &["export", "ball", "--format", "ply"]);
    assert_eq!(sandbox.names("ball/export").len(), 5);
    parent.assert_same(&Results::of(&sandbox.path("parent")));
}

#[test]
fn a_branch_that_cannot_be_is_refused_with_what_can() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "parent"]);
    let refused = |args: &[&str], says: &[&str]| {
        sandbox.ends(2, &[&["run"], args].concat()).says(says);
        assert!(!sandbox.path("child").exists(), "no folder for nothing");
    };
    refused(&["--from", "parent@5"], &["--output"]);
    refused(&["--from", "parent", "-o", "child"], &["give the folder of a run and a frame"]);
    refused(&["--from", "nowhere@5", "-o", "child"], &["nowhere holds no run"]);
    let known = ["no checkpoint of frame 3", "it has those of 5, 6", "output.keep_checkpoints"];
    refused(&["--from", "parent@3", "-o", "child", "--frames", "9"], &known);
    refused(&["--from", "parent@6", "-o", "child"], &["6 frames", "--frames"]);
    refused(&["--from", "parent@5", "-o", "child", "--cells", "24"], &["`domain.cells`"]);
    let air = ["--from", "parent@5", "-o", "child", "--set", "air.model=bubbles"];
    refused(&air, &["`air.model`"]);
    let smaller = ["--from", "parent@5", "-o", "child", "--set", "liquid[0].shape.box.to=[0.3, 0.6]"];
    refused(&smaller, &["`liquid`", "entries that were there stay"]);
    refused(&["dam-break", "--from", "parent@5", "-o", "child"], &["2 dimensions"]);
    sandbox
        .ends(2, &["run", "--from", "parent@5", "-o", "parent", "--overwrite"])
        .says(&["folder of its own"]);
    assert_eq!(sandbox.names("parent/checkpoints"), checkpoints(&[5, 6]));

    // A folder that holds something else is not taken for the branch.
    sandbox.ends(0, &["run", "dam.toml", "-o", "whole", "--frames", "5"]);
    let into = ["run", "dam.toml", "--from", "parent@5", "-o", "whole", "--frames", "9"];
    sandbox.ends(2, &into).says(&["holds a run already"]);
    sandbox.ends(2, &[&into[..], &["--resume"]].concat()).says(&["does not branch off that frame", "-o DIR"]);
    assert_eq!(manifest(&sandbox.path("whole"))["frames_done"], 5);
    // Nor do fewer frames, which change nothing, change the scene that a branch begins with.
    sandbox.ends(0, &["run", "dam.toml", "-o", "parent", "--resume", "--frames", "2"]);
    sandbox.ends(0, &["run", "--from", "parent@5", "-o", "child"]);
    // Pictures of a branch begin with its first frame.
    let drawn = sandbox.ends(0, &["render", "child", "--size", "64x64"]);
    assert!(!drawn.stdout.contains("missing"), "{}", drawn.stdout);
    sandbox.flip_byte("parent/checkpoints/dam.0005-0000.checkpoint");
    let damaged = ["run", "--from", "parent@5", "-o", "other"];
    sandbox.ends(2, &damaged).says(&["is damaged", "--from can begin with another"]);
}

#[test]
fn more_frames_go_on_where_a_whole_run_ended() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "whole"]);
    sandbox.ends(0, &["run", "dam.toml", "-o", "parts", "--frames", "2"]);
    let ended = sandbox.ends(0, &["run", "dam.toml", "-o", "parts"]);
    assert!(ended.stdout.contains("6 frames in parts;"), "{}", ended.stdout);
    Results::of(&sandbox.path("whole")).assert_same(&Results::of(&sandbox.path("parts")));
    // By its folder alone.
    sandbox.ends(0, &["run", "-o", "parts", "--resume", "--frames", "7"]);
    assert_eq!(manifest(&sandbox.path("parts"))["frames_done"], 7);
    sandbox.ends(2, &["run", "--resume"]).says(&["which run to resume", "-o DIR"]);
    // Of another scene, or no longer than it is, it is left alone.
    sandbox.ends(2, &["run", "dam.toml", "-o", "parts", "--frames", "7"]).says(&["holds a run already"]);
    let other = ["run", "dam.toml", "-o", "parts", "--frames", "9", "--cells", "24"];
    sandbox.ends(2, &other).says(&["holds a run already"]);
}
