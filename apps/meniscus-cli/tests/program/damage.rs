//! Files of a run that were damaged, swapped or edited after they were written.

use std::fs;

use crate::common::{Results, Sandbox, manifest};

fn done() -> (Sandbox, Results) {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "out"]);
    let results = Results::of(&sandbox.path("out"));
    (sandbox, results)
}

const RESUME: [&str; 5] = ["run", "dam.toml", "-o", "out", "--resume"];

/// Both commands that read frames must refuse this one, and no other.
fn frame_is_refused(sandbox: &Sandbox, frame: u32, why: &str) {
    let file = format!("out/frames/dam.{frame:04}.frame");
    for command in [&["render", "out", "--size", "64x64"][..], &["export", "out", "--format", "ply"]] {
        sandbox.ends(2, command).says(&[&file, why, "run again with --resume"]);
    }
    let other = (frame - 1).to_string();
    sandbox.ends(0, &["render", "out", "--size", "64x64", "--frame", &other]);
    sandbox.ends(0, &["export", "out", "--format", "ply", "--frame", &other]);
}

#[test]
fn a_damaged_frame_is_refused_by_name_and_computed_again() {
    let (sandbox, expected) = done();
    let file = "out/frames/dam.0003.frame";
    sandbox.flip_byte(file);
    frame_is_refused(&sandbox, 3, "is damaged");
    let whole = &expected.files["frames/dam.0003.frame"];
    fs::write(sandbox.path(file), &whole[..whole.len() - 7]).expect("the sandbox can be written");
    frame_is_refused(&sandbox, 3, "is damaged");
    fs::write(sandbox.path(file), "").expect("the sandbox can be written");
    sandbox.ends(2, &["render", "out"]).says(&[file, "is damaged"]);

    // What the message says is the cure.
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
}

#[test]
fn a_frame_of_another_run_is_refused_by_name() {
    let (sandbox, expected) = done();
    let file = sandbox.path("out/frames/dam.0003.frame");
    let put = |from: &str| fs::copy(sandbox.path(from), &file).expect("a frame");
    put("out/frames/dam.0005.frame");
    frame_is_refused(&sandbox, 3, "it is frame 5");
    sandbox.ends(0, &["run", "dam.toml", "-o", "coarse", "--cells", "24", "--frames", "3"]);
    put("coarse/frames/dam.0003.frame");
    frame_is_refused(&sandbox, 3, "another scene");
    sandbox.write("space.toml", crate::common::DAM_3D);
    sandbox.ends(0, &["run", "space.toml", "-o", "space", "--frames", "3"]);
    put("space/frames/space.0003.frame");
    sandbox.ends(2, &["render", "out"]).says(&["out/frames/dam.0003.frame", "three dimensions"]);
    fs::remove_file(&file).expect("a frame");
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
}

#[test]
fn frames_missing_in_between_are_told_and_computed_again() {
    let (sandbox, expected) = done();
    for frame in [0, 4] {
        fs::remove_file(sandbox.path(&format!("out/frames/dam.{frame:04}.frame"))).expect("a frame");
    }
    let ended = sandbox.ends(0, &["render", "out", "--size", "64x64"]);
    assert!(
        ended.stdout.contains("left out of it: frames 0, 4") && ended.stdout.contains("--resume"),
        "{}",
        ended.stdout
    );
    let ended = sandbox.ends(2, &["render", "out", "--frame", "4"]);
    ended.says(&["no frame 4", "1 to 6"]);
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
}

#[test]
fn a_damaged_checkpoint_is_refused_by_name_and_the_one_before_it_serves() {
    let (sandbox, expected) = done();
    let file = "out/checkpoints/dam.0006-0000.checkpoint";
    let more = [&RESUME[..], &["--frames", "7"]].concat();
    let cure = ["delete it and run again with --resume"];
    sandbox.flip_byte(file);
    sandbox.ends(2, &more).says(&[&[file, "is damaged"], &cure[..]].concat());
    let whole = &expected.files["checkpoints/dam.0006-0000.checkpoint"];
    fs::write(sandbox.path(file), &whole[..100]).expect("the sandbox can be written");
    sandbox.ends(2, &more).says(&[&[file, "is damaged"], &cure[..]].concat());
    fs::copy(sandbox.path("out/frames/dam.0006.frame"), sandbox.path(file)).expect("a frame");
    sandbox.ends(2, &more).says(&[file, "not a checkpoint"]);
    fs::copy(sandbox.path("out/checkpoints/dam.0005-0000.checkpoint"), sandbox.path(file))
        .expect("a checkpoint");
    sandbox.ends(2, &more).says(&[&[file, "another moment"], &cure[..]].concat());

    sandbox.ends(0, &["run", "dam.toml", "-o", "thick", "--set", "liquid[0].density=1200"]);
    fs::copy(sandbox.path("thick/checkpoints/dam.0006-0000.checkpoint"), sandbox.path(file))
        .expect("a checkpoint");
    sandbox.ends(2, &more).says(&[&[file, "another scene"], &cure[..]].concat());

    fs::remove_file(sandbox.path(file)).expect("a checkpoint");
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
    for name in sandbox.names("out/checkpoints") {
        fs::remove_file(sandbox.path("out/checkpoints").join(name)).expect("a checkpoint");
    }
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
}

#[test]
fn an_edited_manifest_is_refused_by_name() {
    let (sandbox, _) = done();
    let path = sandbox.path("out/manifest.json");
    let whole = manifest(&sandbox.path("out"));
    let refused = |text: &[u8], parts: &[&str]| {
        fs::write(&path, text).expect("the sandbox can be written");
        for command in [&["render", "out"][..], &["export", "out", "--format", "ply"], &RESUME] {
            sandbox.ends(2, command).says(parts);
        }
    };
    refused(b"{", &["out/manifest.json", "--overwrite"]);
    refused(b"", &["out/manifest.json", "--overwrite"]);
    refused(b"\xff\xfe", &["out/manifest.json", "--overwrite"]);
    let edited = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut manifest = whole.clone();
        edit(&mut manifest);
        serde_json::to_vec(&manifest).expect("plain data")
    };
    refused(&edited(&|m| m["frames_done"] = "six".into()), &["out/manifest.json", "six"]);
    refused(&edited(&|m| m["hash"] = "0123456789abcdef".into()), &["out", "--overwrite"]);
    let thicker = |m: &mut serde_json::Value| {
        m["scene_text"] = m["scene_text"].as_str().expect("text").replace("0.6]", "0.7]").into();
    };
    for command in [&["render", "out"][..], &["export", "out", "--format", "ply"]] {
        fs::write(&path, edited(&thicker)).expect("the sandbox can be written");
        sandbox.ends(2, command).says(&["out/manifest.json", "is not what was run"]);
        fs::write(&path, edited(&|m| m["scene"] = "../dam".into())).expect("the sandbox can be written");
        sandbox.ends(2, command).says(&["out/manifest.json", "is not what was run"]);
        fs::write(&path, edited(&|m| m["scene_text"] = "[domain]\nsize = 3".into()))
            .expect("the sandbox can be written");
        sandbox.ends(2, command).says(&["out/manifest.json"]);
    }
    sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--overwrite"]);
}

#[test]
fn a_log_cut_off_in_a_line_is_mended() {
    let (sandbox, expected) = done();
    let path = sandbox.path("out/stats.jsonl");
    let mut log = fs::read(&path).expect("a log");
    log.extend(b"{\"frame\":7,\"subst");
    fs::write(&path, log).expect("the sandbox can be written");
    sandbox.ends(0, &RESUME);
    expected.assert_same(&Results::of(&sandbox.path("out")));
    sandbox.ends(0, &["render", "out", "--frame", "1", "--size", "64x64"]);
}
