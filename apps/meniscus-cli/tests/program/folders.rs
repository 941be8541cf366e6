//! What `run` does with the folder that it is given.

use std::fs;
use std::process::Stdio;

use crate::common::{DAM, DAM_3D, Results, Sandbox, manifest, stats, wait_for};

#[test]
fn a_folder_with_a_run_is_not_touched_unless_asked() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "out"]);
    let before = Results::of(&sandbox.path("out"));
    sandbox.ends(2, &["run", "dam.toml", "-o", "out"]).says(&["out holds a run", "--resume", "--overwrite"]);
    sandbox.ends(2, &["run", "dam.toml", "-o", "out", "--resume", "--overwrite"]);
    let changed = ["run", "dam.toml", "-o", "out", "--resume", "--cells", "24"];
    sandbox.ends(2, &changed).says(&["another scene", "`domain.cells` was 32, it is 24"]);
    sandbox.write("other.toml", DAM);
    let other = ["run", "other.toml", "-o", "out", "--resume"];
    sandbox.ends(2, &other).says(&["another scene", "it was `dam`, this is `other`"]);
    before.assert_same(&Results::of(&sandbox.path("out")));

    sandbox.ends(0, &["render", "out", "--size", "64x64"]);
    sandbox.ends(0, &["run", "other.toml", "-o", "out", "--overwrite", "--frames", "2"]);
    assert_eq!(
        sandbox.names("out"),
        ["checkpoints", "events.jsonl", "frames", "manifest.json", "stats.jsonl"]
    );
    assert_eq!(sandbox.names("out/frames"), ["other.0000.frame", "other.0001.frame", "other.0002.frame"]);
    assert_eq!(stats(&sandbox.path("out")).last().expect("a line")["frame"], 2);
}

#[test]
fn a_finished_run_is_left_as_it_is_and_can_be_made_longer() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "whole"]);
    let expected = Results::of(&sandbox.path("whole"));
    let short = sandbox.ends(0, &["run", "dam.toml", "-o", "parts", "--frames", "3"]);
    let log = fs::read(sandbox.path("parts/stats.jsonl")).expect("a log");
    let again = sandbox.ends(0, &["run", "dam.toml", "-o", "parts", "--frames", "3", "--resume"]);
    assert_eq!(short.stdout, again.stdout);
    assert!(
        log == fs::read(sandbox.path("parts/stats.jsonl")).expect("a log"),
        "even the timings are those of before"
    );
    assert_eq!(manifest(&sandbox.path("parts"))["frames"], 3);

    sandbox.ends(0, &["run", "dam.toml", "-o", "parts", "--resume"]);
    assert_eq!(manifest(&sandbox.path("parts"))["frames"], 6);
    assert_eq!(manifest(&sandbox.path("parts"))["frames_done"], 6);
    expected.assert_same(&Results::of(&sandbox.path("parts")));

    let fewer = sandbox.ends(0, &["run", "dam.toml", "-o", "parts", "--frames", "2", "--resume"]);
    assert!(fewer.stdout.contains("6 frames in parts (more than asked for, kept)"), "{}", fewer.stdout);
    assert_eq!(manifest(&sandbox.path("parts"))["frames"], 6);
}

#[test]
fn a_scene_whose_solids_take_all_the_liquid_is_refused() {
    let sandbox = Sandbox::new();
    let solid = "\n[[solid]]\nshape = { box = { from = [0, 0], to = [1, 1] } }\n";
    sandbox.write("full.toml", &format!("{DAM}{solid}"));
    for command in [&["run", "full.toml", "-o", "out"][..], &["check", "full.toml"]] {
        sandbox.ends(2, command).says(&["nothing to simulate"]);
    }
    assert!(!sandbox.path("out").exists());
}

#[test]
fn folders_that_are_no_run_are_refused_by_name() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "not a folder");
    sandbox.ends(2, &["run", "dam.toml", "-o", "file"]).says(&["file is not a folder", "-o DIR"]);
    sandbox.ends(2, &["run", "dam.toml", "-o", "file/in/it"]).says(&["not a folder"]);
    for command in [
        &["render", "file"][..],
        &["export", "file", "--format", "ply"],
        &["run", "dam.toml", "--resume", "-o", "file"],
    ] {
        sandbox.ends(2, command).says(&["file", "not a folder"]);
    }
    fs::create_dir(sandbox.path("empty")).expect("a folder");
    for folder in ["empty", "nowhere"] {
        sandbox.ends(2, &["run", "dam.toml", "-o", folder, "--resume"]).says(&[
            folder,
            "holds no run",
            "manifest.json",
            "leave out --resume",
        ]);
        sandbox.ends(2, &["render", folder]).says(&[folder, "holds no run"]);
        sandbox.ends(2, &["export", folder, "--format", "obj"]).says(&[folder, "holds no run"]);
        assert!(!sandbox.path(folder).join("frames").exists());
    }
    // A folder that cannot be made, and one that nothing can be written to.
    for folder in ["/proc/no/such/place", "/proc/self"] {
        sandbox
            .ends(2, &["run", "dam.toml", "-o", folder])
            .says(&[folder, "give another folder with -o DIR"]);
    }
}

#[test]
fn what_is_not_ours_is_neither_mixed_with_nor_deleted() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("home/pictures")).expect("a folder");
    sandbox.write("home/pictures/wedding.png", "dear");
    for overwrite in [&[][..], &["--overwrite"]] {
        let ended = sandbox.ends(2, &[&["run", "dam.toml", "-o", "home"], overwrite].concat());
        ended.says(&["home/pictures", "-o DIR"]);
    }
    assert_eq!(fs::read_to_string(sandbox.path("home/pictures/wedding.png")).expect("still there"), "dear");
    assert_eq!(sandbox.names("home"), ["pictures"]);

    // Beside a scene and other files there is room.
    sandbox.ends(0, &["run", "dam.toml", "-o", ".", "--frames", "1"]);
    sandbox.ends(0, &["run", "dam.toml", "-o", ".", "--frames", "1", "--overwrite"]);
    assert!(sandbox.path("dam.toml").exists() && sandbox.path("home/pictures/wedding.png").exists());
}

#[test]
fn leftovers_of_a_run_without_its_manifest_are_not_continued() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "out"]);
    fs::remove_file(sandbox.path("out/manifest.json")).expect("a manifest");
    for command in [
        &["render", "out"][..],
        &["export", "out", "--format", "ply"],
        &["run", "dam.toml", "--resume", "-o", "out"],
    ] {
        sandbox.ends(2, command).says(&["out", "manifest.json"]);
    }
    // A new run must not begin where the checkpoints of the old one end.
    sandbox.ends(2, &["run", "dam.toml", "-o", "out"]).says(&["out/checkpoints", "manifest.json is missing"]);
}

#[test]
fn two_runs_cannot_share_a_folder() {
    let sandbox = Sandbox::new();
    let args = ["run", "dam.toml", "-o", "out", "--frames", "2000"];
    let mut first = sandbox.meniscus(&args).stdout(Stdio::null()).spawn().expect("the binary starts");
    wait_for(|| sandbox.path("out/frames/dam.0001.frame").exists());
    let answers = ["--resume", "--overwrite"]
        .map(|how| sandbox.wait(&mut sandbox.meniscus(&[&args[..], &[how]].concat())));
    first.kill().expect("the process can be killed");
    first.wait().expect("a child");
    for answer in answers {
        assert_eq!(answer.code, Some(2));
        answer.says(&["out is being written by another run"]);
    }
    // The dead hold nothing.
    sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--resume", "--frames", "1"]);
}

#[test]
fn a_mesh_is_found_from_wherever_the_pictures_are_drawn() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("scene")).expect("a folder");
    sandbox.write(
        "scene/tetra.obj",
        "v 0.5 0.1 0.4\nv 0.8 0.1 0.4\nv 0.6 0.1 0.8\nv 0.6 0.5 0.5\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n",
    );
    let solid = "[[solid]]\nname = \"tetra\"\nshape = { mesh = { file = \"tetra.obj\" } }\n";
    sandbox
        .write("scene/mesh.toml", &format!("{}{solid}", DAM_3D.split("[[solid]]").next().expect("a start")));
    let mut run = sandbox.meniscus(&["run", "mesh.toml", "-o", "../out", "--frames", "1"]);
    assert_eq!(sandbox.wait(run.current_dir(sandbox.path("scene"))).code, Some(0));
    sandbox.ends(0, &["render", "out", "--frame", "1", "--size", "64x64"]);
    let longer = ["run", "scene/mesh.toml", "-o", "out", "--frames", "2", "--resume"];
    sandbox.ends(0, &longer);

    // Another mesh makes another scene.
    let mesh = fs::read_to_string(sandbox.path("scene/tetra.obj")).expect("a mesh");
    sandbox.write("scene/tetra.obj", &mesh.replace("0.6 0.5 0.5", "0.6 0.6 0.5"));
    sandbox.ends(2, &longer).says(&["out", "another scene"]);
    sandbox.ends(2, &["render", "out"]).says(&["out/manifest.json", "a mesh file of it"]);
}
