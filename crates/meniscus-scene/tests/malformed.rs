//! Scenes that are wrong, and what users are told about them.

mod common;

use std::fs;
use std::path::Path;

use common::report;
use meniscus_scene::Scene;

/// Snapshots are reviewed by reading them: would a newcomer know what to do?
fn assert_report(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn every_malformed_scene_is_explained() {
    // Relative to the crate, where tests run, so that reports do not name the folders of a machine.
    let folder = Path::new("tests/malformed");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 35, "only {} malformed scenes", files.len());
    for path in files {
        let file = path.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&path).expect("the scene");
        let Err(error) = Scene::parse(&file, &text, folder, &[]) else { panic!("{file} is accepted") };
        assert!(!error.problems().is_empty(), "{file}");
        for problem in error.problems() {
            assert!(!problem.help.is_empty(), "{file}: {problem} has no help");
            assert!(problem.span().end <= text.len(), "{file}: {problem} points outside the file");
        }
        assert_report(path.file_stem().expect("a stem").to_str().expect("a name"), &report(&error));
    }
}

#[test]
fn every_bad_override_is_explained() {
    let bad = [
        ("set-negative", "domain.cells=-3"),
        ("set-no-value", "domain.cells"),
        ("set-empty-value", "domain.cells="),
        ("set-unknown-key", "domain.cels=64"),
        ("set-unknown-table", "rendr.width=640"),
        ("set-wrong-type", "domain.cells=many"),
        ("set-no-such-entry", "solid[4].name=post"),
        ("set-name-in-list", "solid.name=post"),
        ("set-below-a-number", "domain.cells.x=1"),
        ("set-empty-step", "domain..cells=1"),
        ("set-broken-value", "domain.size=[1.0, 2.0"),
        ("set-deep-in-shape", "liquid[0].shape.box.to=[-1, 0.5, 0.8]"),
        ("set-part-of-vector", "liquid[0].shape.box.to[1]=-0.5"),
    ];
    for (name, text) in bad {
        let Err(error) = Scene::gallery("dam-break", &[text.into()]) else { panic!("{text} is accepted") };
        let problem = &error.problems()[0];
        assert_eq!(problem.source_name(), format!("the change {text}"));
        assert!(problem.span().end <= text.len());
        assert_report(name, &report(&error));
    }
}

#[test]
fn files_and_names_that_do_not_exist_are_explained() {
    let missing = Scene::open("tests/malformed/no-such-scene.toml", &[]).expect_err("no such file");
    assert_report("missing-file", &report(&missing));
    let picture = Scene::open("tests/malformed/not-text.png", &[]).expect_err("not a text");
    assert_report("not-text", &report(&picture));
    let folder = Scene::open("tests/malformed", &[]).expect_err("a folder");
    assert_report("a-folder", &report(&folder));
    let slip = Scene::open("dambreak", &[]).expect_err("no such name");
    assert_report("unknown-name-slip", &report(&slip));
    let other = Scene::open("waterfall", &[]).expect_err("no such name");
    assert_report("unknown-name", &report(&other));
}
