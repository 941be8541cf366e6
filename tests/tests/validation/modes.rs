//! One simulator checks the other: the same flow on a grid and in modes.

use std::f64::consts::PI;
use std::fmt::Write;
use std::path::Path;

use meniscus::{Scene, Simulation};

/// A flow in a closed square of side π: w = sin(1 + 3 k + 5 l + k l) for up to four half waves, with a mean square of the speed of 1.
fn start() -> Vec<([usize; 2], f64)> {
    let waves = (1..=4).flat_map(|k| (1..=4).map(move |l| [k, l]));
    let vorticity = |[k, l]: [usize; 2]| {
        let (a, b) = (k as f64, l as f64);
        (1.0 + 3.0 * a + 5.0 * b + a * b).sin()
    };
    let energy = |[k, l]: [usize; 2]| PI * PI / 8.0 * vorticity([k, l]).powi(2) / (k * k + l * l) as f64;
    let factor = (PI * PI / 2.0 / waves.clone().map(energy).sum::<f64>()).sqrt();
    waves.map(|wave| (wave, factor * vorticity(wave))).collect()
}

fn scene(head: &str, cells: usize) -> Scene {
    let mut text = format!(
        "{head}\n[domain]\nsize = [{PI}, {PI}]\ncells = {cells}\n[time]\nfps = 8\nframes = 8\nmax_substeps = 1000\n[fluid]\ndensity = 1\n"
    );
    for ([k, l], vorticity) in start() {
        writeln!(text, "[[fluid.wave]]\nhalf_waves = [{k}, {l}]\nvorticity = {vorticity}").expect("a string");
    }
    Scene::parse("start.toml", &text, Path::new(""), &[]).expect("a valid scene")
}

/// The coefficients of the vorticity of the ten lowest modes after one second, from the velocities of a frame.
fn coefficients(scene: &Scene) -> Vec<f64> {
    let mut simulation = Simulation::new(scene).expect("a simulation");
    for _ in 0..8 {
        simulation.advance_frame().expect("it runs");
    }
    let frame = simulation.frame();
    let cells = frame.cells();
    let field = frame.field("velocity", None).expect("a field");
    let mut modes: Vec<[usize; 2]> = (1..=4).flat_map(|k| (1..=4).map(move |l| [k, l])).collect();
    modes.sort_by_key(|[k, l]| (k * k + l * l, *k));
    let middle = |index: usize| (index as f64 + 0.5) * frame.dx();
    let coefficient = |&[k, l]: &[usize; 2]| {
        let (a, b) = (k as f64, l as f64);
        let mut sum = 0.0;
        for i in 0..cells[0] {
            for j in 0..cells[1] {
                let at = |axis: usize| f64::from(field.values[2 * (i * cells[1] + j) + axis]);
                let (x, y) = (middle(i), middle(j));
                sum += b * at(0) * (a * x).sin() * (b * y).cos() - a * at(1) * (a * x).cos() * (b * y).sin();
            }
        }
        4.0 / (PI * PI) * frame.dx().powi(2) * sum
    };
    modes[..10].iter().map(coefficient).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_grid_and_modes_agree_on_a_flow() {
    let modes = coefficients(&scene("method = \"modes\"\n[modes]\ncount = 400", 128));
    // A full run of 128 by 128 modes: w11, w12, w21 and w33 after one second.
    for (found, expected) in [(modes[0], -1.46889002), (modes[1], -1.29408829), (modes[2], 1.68745742)] {
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
    let grid = coefficients(&scene("[particles]\ntransfer = \"flip\"\nflip_blend = 0.99", 192));
    let off = distance(&grid, &modes) / distance(&modes, &[0.0; 10]);
    assert!(off < 0.03, "{off}: {grid:?} {modes:?}");
}
