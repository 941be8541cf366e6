//! `run`: what the folder holds, and that it is always the same.

use serde_json::Value;

use crate::common::{DAM_3D, Results, Sandbox, manifest, stats};

#[test]
fn a_run_writes_what_the_contract_says_and_is_quiet() {
    let sandbox = Sandbox::new();
    let ended = sandbox.ends(0, &["run", "dam.toml", "-o", "a run"]);
    assert_eq!(ended.stderr, "");
    assert!(
        ended.stdout.contains("6 frames in a run") && ended.stdout.lines().count() == 1,
        "{}",
        ended.stdout
    );
    assert_eq!(
        sandbox.names("a run"),
        ["checkpoints", "events.jsonl", "frames", "manifest.json", "stats.jsonl"]
    );
    let frames: Vec<String> = (0..=6).map(|n| format!("dam.{n:04}.frame")).collect();
    assert_eq!(sandbox.names("a run/frames"), frames);
    // The latest two: should one be damaged, there is another.
    let checkpoints = ["dam.0005-0000.checkpoint", "dam.0006-0000.checkpoint"];
    assert_eq!(sandbox.names("a run/checkpoints"), checkpoints);

    let manifest = manifest(&sandbox.path("a run"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["scene"], "dam");
    assert_eq!((&manifest["dimension"], &manifest["frames"]), (&2.into(), &6.into()));
    assert_eq!(manifest["frames_done"], 6);
    assert_eq!(manifest["hash"].as_str().expect("a hash").len(), 16);
    assert!(manifest["scene_text"].as_str().expect("a scene").contains("[[liquid]]"));
    for line in stats(&sandbox.path("a run")) {
        check_line(&line, 32 * 32);
    }
}

/// The types of the keys, and what they must add up to.
fn check_line(line: &Value, cells: u64) {
    for key in ["frame", "substep", "particles", "removed_particles", "drained_particles"] {
        assert!(line[key].is_u64(), "{key} in {line}");
    }
    let positive =
        ["time", "dt", "liquid_volume", "liquid_volume_target", "kinetic_energy", "max_speed", "seconds"];
    for key in positive {
        assert!(line[key].as_f64().is_some_and(|x| x > 0.0), "{key} in {line}");
    }
    for key in ["max_divergence", "poured_volume", "drained_volume"] {
        assert!(line[key].as_f64().is_some_and(|x| x >= 0.0), "{key} in {line}");
    }
    for key in ["bubbles", "bodies", "warnings"] {
        assert!(line[key].is_array(), "{key} in {line}");
    }
    let count = |key: &str| line["cells"][key].as_u64().expect("a count");
    assert_eq!(count("liquid") + count("air") + count("solid"), cells);
    let front = line["probes"]["front"].as_f64().expect("the probe of the scene");
    assert!((0.39..=1.0).contains(&front), "{front}");
    for key in ["unknowns", "bubbles", "regions", "iterations"] {
        assert!(line["solve"][key].is_u64(), "solve.{key} in {line}");
    }
    assert!(line["solve"]["residual"].as_f64().is_some_and(|r| r <= 1e-5), "{line}");
    assert!(line["solve"]["seconds"].is_f64());
    for stage in ["advect", "projection"] {
        assert!(line["stages"][stage].is_f64(), "{stage} in {line}");
    }
    let stages: f64 = line["stages"].as_object().expect("stages").values().filter_map(Value::as_f64).sum();
    assert!(stages <= line["seconds"].as_f64().expect("a time"), "stages are parts of the whole: {line}");
}

#[test]
fn lines_follow_one_another_and_frames_end_on_time() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "out"]);
    let (mut time, mut last) = (0.0, (0, 0));
    for line in stats(&sandbox.path("out")) {
        let number = |key: &str| line[key].as_f64().expect("a number");
        let here = (number("frame") as u64, number("substep") as u64);
        assert!(here == (last.0, last.1 + 1) || here == (last.0 + 1, 1), "{here:?} after {last:?}");
        if here.1 == 1 {
            let end = last.0 as f64 / 24.0;
            assert!((time - end).abs() < 1e-12, "frame {} ends at {time}", last.0);
        }
        assert!((number("time") - time - number("dt")).abs() < 1e-12, "{line}");
        (time, last) = (number("time"), here);
    }
    assert_eq!((time, last.0), (0.25, 6));
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let sandbox = Sandbox::new();
    sandbox.write("dam3.toml", DAM_3D);
    for scene in ["dam", "dam3"] {
        let results = ["1", "2"].map(|threads| {
            let folder = format!("{scene}-{threads}");
            sandbox.ends(0, &["run", &format!("{scene}.toml"), "-o", &folder, "--threads", threads]);
            Results::of(&sandbox.path(&folder))
        });
        assert!(results[0].files.len() > 5);
        results[0].assert_same(&results[1]);
    }
}

#[test]
fn a_fountain_keeps_books_of_what_is_poured_and_drained() {
    let sandbox = Sandbox::new();
    let opened = ["--set", "sink[0].start=0", "--set", "sink[0].shape.box.to=[1.0,0.2,0.6]"];
    let run = ["run", "fountain", "--cells", "16", "--frames", "2", "-o", "out"];
    sandbox.ends(0, &[&run[..], &opened].concat());
    let stats = stats(&sandbox.path("out"));
    let sum = |key: &str| stats.iter().map(|line| line[key].as_f64().expect("a number")).sum::<f64>();
    let (poured, drained) = (sum("poured_volume"), sum("drained_volume"));
    assert!(poured > 0.0 && drained > 0.0 && sum("drained_particles") > 0.0, "{poured} {drained}");
    // The target is the initial volume and what was poured in, less what was taken.
    let target = |line: &Value| line["liquid_volume_target"].as_f64().expect("a number");
    let change = |line: &Value, key: &str| line[key].as_f64().expect("a number");
    for pair in stats.windows(2) {
        let expected =
            target(&pair[0]) + change(&pair[1], "poured_volume") - change(&pair[1], "drained_volume");
        assert!((target(&pair[1]) - expected).abs() < 1e-9, "{} is not {expected}", target(&pair[1]));
    }
}

#[test]
fn a_drift_beyond_the_limit_fails_again_when_resumed() {
    let sandbox = Sandbox::new();
    let strict = ["run", "dam.toml", "-o", "out", "--max-drift", "1e-9"];
    let ended = sandbox.ends(1, &strict);
    ended.says(&["volume is off by", "--max-drift"]);
    let lines = stats(&sandbox.path("out")).len();
    // The limit holds for the whole run, not for the part after the last start.
    sandbox.ends(1, &[&strict[..], &["--resume"]].concat()).says(&["volume is off by"]);
    assert_eq!(stats(&sandbox.path("out")).len(), lines);
    let ended = sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--max-drift", "0.5", "--resume"]);
    assert!(!ended.stdout.contains("at most 0.000 %"), "{}", ended.stdout);
    sandbox.ends(1, &[&strict[..], &["--resume"]].concat());
    for bad in ["0", "-1", "nan", "inf", "little"] {
        let ended = sandbox.ends(2, &["run", "dam.toml", "-o", "other", "--max-drift", bad]);
        ended.says(&["give a number greater than zero"]);
    }
}

/// A drop of a few cells: what the grid makes of it is told when it happens, and at the end.
#[test]
fn a_volume_that_is_far_off_is_told_and_fails() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "drop.toml",
        r#"
        [domain]
        size = [1.0, 1.0]
        cells = 16
        [time]
        frames = 24
        [[liquid]]
        shape = { sphere = { centre = [0.52, 0.8], radius = 0.09 } }
        "#,
    );
    let ended = sandbox.ends(1, &["run", "drop.toml", "-o", "out"]);
    ended.says(&["it should be that of 6 cells", "do not trust this run", "--max-drift"]);
    assert!(
        ended.stdout.contains("24 frames") && ended.stdout.contains("without corrections"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("off that of its shapes"), "{}", ended.stdout);
    sandbox.ends(0, &["run", "drop.toml", "-o", "out", "--overwrite", "--max-drift", "5"]);
}

#[test]
fn negative_counts_are_answered_with_their_range() {
    let sandbox = Sandbox::new();
    for (option, key) in [("--frames", "time.frames"), ("--cells", "domain.cells")] {
        let ended = sandbox.ends(2, &["run", "dam.toml", "-o", "out", option, "-3"]);
        ended.says(&[key, "must be at least 1"]);
    }
}

#[test]
fn without_a_folder_a_run_goes_to_one_of_its_name() {
    let sandbox = Sandbox::new();
    sandbox.write("my dam.v2.toml", crate::common::DAM);
    sandbox.ends(0, &["run", "my dam.v2.toml", "--frames", "1"]);
    let frames = ["my dam.v2.0000.frame", "my dam.v2.0001.frame"];
    assert_eq!(sandbox.names("out/my dam.v2/frames"), frames);
    sandbox.ends(0, &["render", "out/my dam.v2", "--frame", "1", "--size", "64x64"]);
    assert_eq!(sandbox.names("out/my dam.v2/pictures"), ["my dam.v2.0001.png"]);
}

#[test]
fn run_can_draw_too() {
    let sandbox = Sandbox::new();
    let small = ["--set", "render.width=64", "--set", "render.height=48"];
    sandbox.ends(0, &[&["run", "dam.toml", "-o", "out", "--frames", "2", "--render"][..], &small].concat());
    let pictures = sandbox.names("out/pictures");
    assert!(
        pictures.contains(&"dam.gif".into()) && pictures.contains(&"dam.0002.png".into()),
        "{pictures:?}"
    );
}

/// A closed box with a piston that comes down into it, filled to a height.
fn box_with_piston(depth: f64) -> String {
    format!(
        r#"
        [domain]
        size = [1.0, 1.0]
        cells = 32
        [time]
        frames = 3
        fps = 24.0
        [air]
        model = "bubbles"
        [[liquid]]
        shape = {{ box = {{ from = [0.0, 0.0], to = [1.0, {depth}] }} }}
        [[solid]]
        name = "piston"
        shape = {{ box = {{ from = [-0.1, 0.9], to = [1.1, 1.3] }} }}
        motion = {{ keyframes = [{{ time = 0.0 }}, {{ time = 1.0, translation = [0.0, -0.2] }}] }}
        "#
    )
}

/// What a piston cannot do is told, by its name, and the run goes on. A solid that only moves within the room is no piston.
#[test]
fn what_cannot_give_way_is_told() {
    let sandbox = Sandbox::new();
    for (depth, told) in [
        (1.0, "`piston` squeezes or stretches liquid that has no way out"),
        (0.5, "`piston` compresses or stretches the air of a closed room"),
    ] {
        sandbox.write("box.toml", &box_with_piston(depth));
        let ended = sandbox.ends(0, &["run", "box.toml", "-o", &format!("filled to {depth}")]);
        assert!(ended.stderr.contains(told), "{depth}: {}", ended.stderr);
        assert!(ended.stdout.contains("3 frames"), "{}", ended.stdout);
    }
    let within = box_with_piston(0.5)
        .replace("from = [-0.1, 0.9], to = [1.1, 1.3]", "from = [0.3, 0.7], to = [0.7, 0.9]");
    sandbox.write("box.toml", &within);
    assert_eq!(sandbox.ends(0, &["run", "box.toml", "-o", "within"]).stderr, "");
}

/// The keys of an object, with the name of the object before them where it has one.
fn keys<'a>(object: &'a Value, of: &'a str) -> impl Iterator<Item = String> + 'a {
    object.as_object().expect("an object").keys().map(move |key| format!("`{of}{key}`"))
}

#[test]
fn every_field_of_the_results_is_documented() {
    let text = include_str!("../../../../docs/results.md");
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "water-cooler-2d", "--cells", "48", "--frames", "12", "-o", "out"]);
    let stats = stats(&sandbox.path("out"));
    let line = stats.last().expect("a line");
    let events = std::fs::read_to_string(sandbox.path("out/events.jsonl")).expect("a log");
    let event: Value = serde_json::from_str(events.lines().next().expect("an event")).expect("JSON");
    let manifest = manifest(&sandbox.path("out"));
    let all = keys(&manifest, "").chain(keys(&event, "")).chain(keys(&line["bubbles"][0], ""));
    let all = all.chain(keys(&line["solve"], "solve.")).chain(keys(&line["cells"], "cells."));
    // Of `solve` and `cells` the parts are documented.
    let (domain, liquid) =
        ("size = [1, 1]\ncells = 16", "shape = { box = { from = [0, 0], to = [1, 0.5] } }");
    let body = "shape = { sphere = { centre = [0.5, 0.7], radius = 0.2 } }\nmass = 30";
    sandbox.write("body.toml", &format!("[domain]\n{domain}\n[[liquid]]\n{liquid}\n[[body]]\n{body}\n"));
    sandbox.ends(0, &["run", "body.toml", "--frames", "1", "-o", "body"]);
    let with_body = crate::common::stats(&sandbox.path("body"));
    let all = all.chain(keys(&with_body[0]["bodies"][0], ""));
    let of_line = keys(line, "").filter(|key| !["`solve`", "`cells`"].contains(&key.as_str()));
    let missing: Vec<String> = all.chain(of_line).filter(|key| !text.contains(key)).collect();
    assert!(missing.is_empty(), "docs/results.md says nothing of {missing:?}");
}
