//! A checkpoint that was written once: what runs have left on disk is read as it was, or refused by its version.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use meniscus::{Scene, Simulation, Snapshot};
use meniscus_io::CacheError;
use serde_json::Value;

const WRITE_IT_ANEW: &str = "write its file in tests/data anew: cargo test -p meniscus-tests --test validation -- \
                             --ignored the_golden_checkpoint_is_written_anew";

const RAISE_THE_VERSION: &str = "checkpoints are no longer what they were, although their format has the same version: raise \
                                 the version in SavedSession::kind_of, crates/meniscus/src/session.rs, so that runs from before are refused with \
                                 a reason; then";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Something of everything that a state holds, on a few blocks: two fluids, a bubble, a body, a source, an open side, dye.
fn scene() -> Scene {
    let text = r#"
        [air]
        model = "two-phase"
        [domain]
        size = [1.2, 0.8]
        cells = 12
        open = ["+y"]
        [time]
        fps = 10
        [[liquid]]
        [[liquid.shape.difference]]
        box = { from = [0, 0], to = [1.2, 0.5] }
        [[liquid.shape.difference]]
        sphere = { centre = [0.3, 0.22], radius = 0.14 }
        [[source]]
        shape = { box = { from = [0.9, 0.6], to = [1.1, 0.7] } }
        velocity = [0.1, -0.5]
        [[body]]
        shape = { box = { from = [0.6, 0.2], to = [0.85, 0.4] } }
        density = 700
        angular_velocity = [0.5]
        [[smoke]]
        shape = { box = { from = [0.5, 0.0], to = [0.7, 0.1] } }
    "#;
    Scene::parse("golden.toml", text, Path::new(""), &[]).expect("a valid scene")
}

/// The same for a flow of modes: whirls, a drawn mode, a body, a solid that moves, dye.
fn scene_of_modes() -> Scene {
    let text = r#"
        method = "modes"
        [domain]
        size = [1.2, 0.8]
        cells = 12
        [time]
        fps = 10
        [fluid]
        density = 1000
        [[fluid.wave]]
        half_waves = [2, 1]
        vorticity = 1
        [modes]
        count = 9
        panel = 0.08
        [[modes.enrich]]
        stroke = { points = [[0.2, 0.6], [0.9, 0.7]], width = 0.05, speed = 0.3 }
        [[body]]
        shape = { box = { from = [0.6, 0.2], to = [0.85, 0.4] } }
        density = 700
        angular_velocity = [0.5]
        wake_edges = [[0.85, 0.4]]
        [[solid]]
        shape = { sphere = { centre = [0.3, 0.3], radius = 0.12 } }
        motion = { keyframes = [{ time = 0 }, { time = 1, translation = [0, 0.2] }] }
        [[smoke]]
        shape = { box = { from = [0.5, 0.5], to = [0.7, 0.6] } }
    "#;
    Scene::parse("golden.toml", text, Path::new(""), &[]).expect("a valid scene")
}

/// The files, and the scenes that they are of.
fn golden() -> [(&'static str, Scene); 2] {
    [("golden", scene()), ("golden-modes", scene_of_modes())]
}

/// Every field by its name; of lists that are long, as bulk data is, the length and a checksum.
fn describe(value: &Value, name: &str, to: &mut String) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| describe(value, &format!("{name}.{field}"), to));
        }
        Value::Array(values) if values.len() > 8 => {
            let mut checksum = 0_u64;
            for byte in Value::to_string(value).bytes() {
                checksum = (checksum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
            }
            writeln!(to, "{name}: {} values, checksum {checksum:016x}", values.len()).expect("text grows");
        }
        Value::Array(values) => {
            let indexed = values.iter().enumerate();
            indexed.for_each(|(index, value)| describe(value, &format!("{name}[{index}]"), to));
            if values.is_empty() {
                writeln!(to, "{name}: nothing").expect("text grows");
            }
        }
        plain => writeln!(to, "{name}: {plain}").expect("text grows"),
    }
}

fn description(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    describe(&serde_json::to_value(snapshot).expect("plain data"), "checkpoint", &mut text);
    text
}

/// The files and what they held when they were written: not what the scenes give today, which may differ.
#[test]
fn golden_checkpoints_are_read_as_they_were_written() {
    for (name, scene) in golden() {
        let snapshot = match Snapshot::read(&data(&format!("{name}.checkpoint")), &scene) {
            Ok(read) => read,
            Err(CacheError::Version { found, expected, .. }) => {
                panic!("the format of {name} went from version {found} to {expected}: {WRITE_IT_ANEW}")
            }
            Err(error) => panic!("{name}: {error}\n{RAISE_THE_VERSION} {WRITE_IT_ANEW}"),
        };
        let known = fs::read_to_string(data(&format!("{name}.txt"))).expect("the known values");
        let found = description(&snapshot);
        for (found, known) in found.lines().zip(known.lines()) {
            assert!(found == known, "{name}: '{found}' was '{known}'\n{RAISE_THE_VERSION} {WRITE_IT_ANEW}");
        }
        assert_eq!(found.lines().count(), known.lines().count(), "{RAISE_THE_VERSION} {WRITE_IT_ANEW}");

        for line in known.lines() {
            let is_empty = ["null", "nothing"].iter().any(|nothing| line.ends_with(&format!(": {nothing}")));
            assert!(!is_empty, "{line}: a golden checkpoint holds something of everything");
        }
        let mut simulation = Simulation::resume(&scene, snapshot).expect("a simulation");
        simulation.advance_substep().expect("it goes on");
    }
}

/// Only after the format's version has been raised: until then the files are what others have on their disks.
#[test]
#[ignore = "writes the files that the test above reads"]
fn the_golden_checkpoint_is_written_anew() {
    let mut is_one_outdated = false;
    for (name, scene) in golden() {
        let path = data(&format!("{name}.checkpoint"));
        let is_outdated = match Snapshot::read(&path, &scene) {
            Err(CacheError::Version { .. }) => true,
            _ => !path.exists(),
        };
        if !is_outdated {
            continue;
        }
        is_one_outdated = true;
        let mut simulation = Simulation::new(&scene).expect("a simulation");
        simulation.advance_frame().expect("it runs");
        simulation.advance_substep().expect("it runs");
        let snapshot = simulation.snapshot();
        snapshot.write(&path).expect("written");
        fs::write(data(&format!("{name}.txt")), description(&snapshot)).expect("written");
    }
    assert!(is_one_outdated, "all files are of the present versions of their formats");
}
