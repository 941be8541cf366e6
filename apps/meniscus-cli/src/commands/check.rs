//! `meniscus check`.

use meniscus::{Scene, estimate};

use super::{about, count, open_scene};
use crate::cli::{CheckArgs, print_line, use_threads};
use crate::failure::Failure;

/// Validates a scene, and says what it will take.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    use_threads(args.scene.changes.threads)?;
    let scene = open_scene(&args.scene)?;
    let estimate = estimate(&scene)?;
    let cells: Vec<String> = estimate.cells.iter().map(usize::to_string).collect();
    print_line(&format!("{}: valid, {}", scene.name(), remarks(&scene)));
    print_line(&format!("  cells      {}", cells.join(" x ")));
    print_line(&format!("  particles  about {}", amount(estimate.particles)));
    print_line(&format!("  memory     about {}", bytes(estimate.memory)));
    print_line(&format!("  disk       about {}", bytes(estimate.disk)));
    print_line(&format!("  time       {}", about(estimate.seconds)));
    print_line(&format!("  drawing    {}", about(estimate.drawing)));
    Ok(())
}

/// How many warnings and hints there are.
fn remarks(scene: &Scene) -> String {
    let warnings = match scene.warnings().len() {
        0 => "no warnings".to_string(),
        n => count(n, "warning"),
    };
    match scene.hints().len() {
        0 => warnings,
        n => format!("{warnings}, {}", count(n, "hint")),
    }
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
