//! `meniscus bench pressure`, as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use meniscus::standard::{StandardSystem, Variant};
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str) -> StandardSystem {
    let bytes = std::fs::read(data(name)).expect("the file");
    StandardSystem::from_bytes(&bytes).expect("a system")
}

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
    command.args(["bench", "pressure"]).args(arguments).output().expect("the program runs")
}

fn report(arguments: &[&str]) -> Value {
    let output = bench(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn built_and_read_systems_agree() {
    for (variant, cells, file, unknowns) in
        [(Variant::A, 12, "A_12.bin", 840), (Variant::B, 16, "B_16.bin", 3549)]
    {
        let (built, read) = (StandardSystem::standard(variant, cells), read(file));
        assert_eq!(built.labels, read.labels);
        assert_eq!(built.operator().expect("an operator").unknowns(), unknowns);
        assert_eq!(built.rhs.len(), read.rhs.len());
        for (a, b) in built.rhs.iter().zip(&read.rhs) {
            assert!((a - b).abs() < 1e-13, "{a} {b}");
        }
    }
}

#[test]
fn the_report_has_every_key_and_holds_together() {
    let report = report(&["B", "--cells", "32", "--threads", "2", "--repeat", "2", "--profile"]);
    let number = |key: &str| report[key].as_f64().unwrap_or_else(|| panic!("{key} is missing: {report}"));
    assert!(number("iterations") <= 12.0);
    assert!(number("relative_residual") <= 1e-5);
    assert!(number("setup_s") > 0.0 && number("solve_s") > 0.0 && number("peak_mb") > 0.0);
    let bound = 10.0 * 180.0 * number("n") / (number("triad_gb_s") * 1e9);
    assert!((number("bound_s") / bound - 1.0).abs() < 1e-12);
    assert!((number("ratio") * bound / (number("setup_s") + number("solve_s")) - 1.0).abs() < 1e-12);
    assert_eq!(report["threads"], 2);
    assert_eq!(report["kernels"].as_array().map(Vec::len), Some(7));
}

#[test]
fn iterations_of_the_standard_systems_stay_within_twelve() {
    for variant in ["A", "B"] {
        for cells in ["32", "64", "96"] {
            let report = report(&[variant, "--cells", cells, "--repeat", "1"]);
            assert!(report["iterations"].as_u64().expect("a number") <= 12, "{variant} {cells}: {report}");
        }
    }
}

#[test]
fn bad_input_names_the_place_and_the_fix_and_exits_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path.display().to_string()
    };
    let good = std::fs::read(data("A_12.bin")).expect("the file");
    let mut wrong_type = good.clone();
    wrong_type[40] = 9;
    let cases = [
        ("no-such-file".into(), "cannot read no-such-file"),
        (written("text.bin", b"hello"), "does not begin with PPOISS01"),
        (written("short.bin", &good[..good.len() - 8]), "bytes"),
        (written("type.bin", &wrong_type), "cell 8 has the type 9"),
    ];
    for (path, expected) in cases {
        let output = bench(&[&path]);
        let text = String::from_utf8_lossy(&output.stderr).replace(['\n', '│', '╰', '─', '▶'], " ");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains(expected) && words.contains("help:"), "{words}");
    }
    assert_eq!(bench(&["A", "--cells", "4"]).status.code(), Some(2));
    assert_eq!(bench(&["A", "--cells", "many"]).status.code(), Some(2));
}
