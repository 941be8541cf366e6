//! `meniscus check`.

use meniscus::estimate;

use super::{count, duration, open_scene, simulation_failure};
use crate::cli::{CheckArgs, Failure, print_line, use_threads};

/// Validates a scene, and says what it will take.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    use_threads(args.scene.threads)?;
    let scene = open_scene(&args.scene)?;
    let estimate = estimate(&scene).map_err(simulation_failure)?;
    let cells: Vec<String> = estimate.cells.iter().map(usize::to_string).collect();
    let warnings = match scene.warnings().len() {
        0 => "no warnings".to_string(),
        n => count(n, "warning"),
    };
    print_line(&format!("{}: valid, {warnings}", scene.name()));
    print_line(&format!("  cells      {}", cells.join(" x ")));
    print_line(&format!("  particles  about {}", amount(estimate.particles)));
    print_line(&format!("  memory     about {}", bytes(estimate.memory)));
    print_line(&format!("  disk       about {}", bytes(estimate.disk)));
    print_line(&format!("  time       about {}", duration(estimate.seconds)));
    print_line(&format!("  drawing    about {}", duration(estimate.drawing)));
    Ok(())
}

fn amount(count: f64) -> String {
    if count >= 1e6 {
        format!("{:.1} million", count / 1e6)
    } else {
        format!("{:.0} thousand", (count / 1e3).ceil())
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b => format!("{:.0} MB", (b / 1e6).max(1.0)),
    }
}
