//! What passes a cross-section is what is gone behind it: volumes are corrected where they are wrong.

use std::path::Path;

use meniscus::{ProbeValue, Scene, Simulation};

const FLOOR: f64 = 0.16;
const CEILING: f64 = 0.24;
const MOUTH: f64 = 0.3;

/// A duct, closed at its far end, empties into a closed room, in which the water churns: what has passed its mouth, what is gone from it, and the worst
/// drift of the volume.
fn empty_a_duct(air: &str, cells: usize) -> [f64; 3] {
    let text = format!(
        r#"
        [domain]
        size = [1.0, 0.28]
        cells = {cells}
        [time]
        fps = 50
        [air]
        model = "{air}"
        [[solid]]
        shape = {{ box = {{ from = [{MOUTH}, -0.1], to = [1.1, {FLOOR}] }} }}
        [[solid]]
        shape = {{ box = {{ from = [{MOUTH}, {CEILING}], to = [1.1, 0.4] }} }}
        [[liquid]]
        shape = {{ box = {{ from = [{MOUTH}, 0.12], to = [1.0, 0.26] }} }}
        [[probe]]
        name = "mouth"
        kind = "flux"
        from = [{MOUTH}, {FLOOR}]
        to = [{MOUTH}, {CEILING}]
        "#
    );
    let scene = Scene::parse("test.toml", &text, Path::new(""), &[]).expect("a valid scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let at_first = in_the_duct(&simulation);
    let (mut passed, mut outflow, mut drift) = (0.0, 0.0, 0.0_f64);
    for _ in 0..70 {
        for stats in simulation.advance_frame().expect("it runs") {
            // What the last substep found moved the water of this one, and what this one finds will do so.
            let now = match &stats.probes["mouth"] {
                ProbeValue::Scalar(Some(flux)) => -flux,
                other => panic!("a flux is a number, not {other:?}"),
            };
            passed += 0.5 * (outflow + now) * stats.dt;
            outflow = now;
            drift = drift.max(stats.drift().abs());
        }
    }
    [passed, at_first - in_the_duct(&simulation), drift]
}

/// The liquid in the duct, in m²: below the highest surface of each column of cells.
fn in_the_duct(simulation: &Simulation<2>) -> f64 {
    let grid = simulation.grid();
    let row = |height: f64| (height / grid.dx).round() as i64;
    let level = |x: i64, y: i64| f64::from(simulation.state().level_set.get([x, y]));
    let column = |x: i64| {
        let wet = (row(FLOOR)..row(CEILING)).rev().find(|&y| level(x, y) < 0.0);
        wet.map_or(0.0, |y| {
            let [below, above] = [level(x, y), level(x, y + 1)];
            let part = if y + 1 == row(CEILING) { 0.5 } else { below / (below - above) };
            (y - row(FLOOR)) as f64 + 0.5 + part
        })
    };
    (row(MOUTH)..grid.cells[0] as i64).map(column).sum::<f64>() * grid.dx * grid.dx
}

/// Measured 0.90, 0.92 and 1.02 at 100 cells, 0.96, 0.97 and 0.99 at 200: an excess of up to a tenth of a layer of cells stays where it is. With the errors taken back from the whole
/// body, bubbles lost half as much again as passed, and with two fluids more passed than was there. With two fluids at 100 cells, 2.9 % of the volume are
/// lost at once in a splash, and regained no faster than corrections may do work.
#[test]
fn what_leaves_a_duct_passes_its_mouth() {
    for air in ["void", "bubbles", "two-phase"] {
        for (cells, tolerance, most) in [(100, 0.12, 0.035), (200, 0.05, 0.015)] {
            let [passed, gone, drift] = empty_a_duct(air, cells);
            println!("{air} {cells}: {} of {}, {drift}", passed, gone);
            assert!((passed / gone - 1.0).abs() < tolerance, "{air}, {cells} cells: {passed} of {gone}");
            assert!(drift < most, "{air}, {cells} cells: {drift}");
        }
    }
}
