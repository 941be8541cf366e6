//! What `check` says of memory.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::Sandbox;

/// The most memory that a run holds, in MB, as Linux tells it while the run lives.
fn peak_of_run(sandbox: &Sandbox, args: &[&str]) -> f64 {
    let mut run =
        sandbox.meniscus(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", run.id());
    let mut peak = 0.0_f64;
    while run.try_wait().expect("its state is known").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        peak = kib.map_or(peak, |kib| peak.max(kib * 1024.0 / 1e6));
        sleep(Duration::from_millis(2));
    }
    assert!(run.wait().expect("it has ended").success());
    peak
}

/// What `check` estimates, in MB.
fn estimated(sandbox: &Sandbox, args: &[&str]) -> f64 {
    let ended = sandbox.ends(0, args);
    let line = ended.stdout.lines().find(|line| line.contains("memory")).expect("a line about memory");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words[1] == "about" && words[3] == "MB", "{line}");
    words[2].parse().expect("a number")
}

/// 49 and 58 MB estimated, 45 and 63 measured.
#[test]
fn check_tells_the_memory_of_a_run() {
    let sandbox = Sandbox::new();
    for scene in ["neutral-drop", "dam-break"] {
        let size = ["--frames", "3", "--threads", "2"];
        let of = |command: &'static str| [&[command, scene], &size[..]].concat();
        let (estimated, peak) = (estimated(&sandbox, &of("check")), peak_of_run(&sandbox, &of("run")));
        assert!(
            (1.0 / 1.5..1.5).contains(&(estimated / peak)),
            "{scene}: {estimated} MB, and a run took {peak}"
        );
    }
}
