//! `bench step` and `bench scene`.

use crate::common::Sandbox;

#[test]
fn a_step_is_timed_as_json() {
    let sandbox = Sandbox::new();
    let ended = sandbox.ends(0, &["bench", "step", "--cells", "16", "--steps", "1"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    for key in ["total_ms", "particles", "peak_mb", "triad_gb_s"] {
        assert!(report[key].as_f64().is_some_and(|x| x > 0.0), "{key} in {report}");
    }
    // Half of the length and half of the height, eight particles a cell but for those at the surface.
    let particles = report["particles"].as_f64().expect("a number");
    assert!((0.8..1.1).contains(&(particles / (16.0 * 8.0 * 8.0 * 8.0))), "{particles}");
    let stages = report["stages"].as_object().expect("stages");
    let sum: f64 = stages.values().filter_map(serde_json::Value::as_f64).sum();
    let total = report["total_ms"].as_f64().expect("a number");
    assert!(stages.contains_key("projection") && sum <= total && sum > 0.5 * total, "{sum} of {total}");
    for bad in [["--cells", "4"], ["--steps", "0"], ["--transfer", "pic"]] {
        sandbox.ends(2, &[&["bench", "step"], &bad[..]].concat());
    }
}

#[test]
fn a_scene_is_compared_with_void_and_with_a_simpler_preconditioner() {
    let sandbox = Sandbox::new();
    let ended = sandbox
        .ends(0, &["bench", "scene", "rising-bubble", "--cells", "24", "--frames", "2", "--threads", "2"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let number = |path: &str| report.pointer(path).and_then(serde_json::Value::as_f64).expect("a number");
    assert_eq!((number("/scene/bubbles"), number("/void/bubbles"), number("/threads")), (1.0, 0.0, 2.0));
    assert!(number("/scene/regions_ms") > 0.0 && number("/void/regions_ms") == 0.0, "{report}");
    assert!(number("/diagonal/iterations") > 2.0 * number("/multigrid/iterations"), "{report}");
    sandbox.ends(2, &["bench", "scene", "no-such-scene"]);
}
