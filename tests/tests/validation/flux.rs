//! What passes a cross-section is what is gone behind it: volumes are corrected where they are wrong.

use meniscus::{ProbeValue, Stats};
use meniscus_tests::{Simulation, simulation};

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
    let mut simulation = simulation::<2>(&text);
    let at_first = in_the_duct(&simulation);
    let (passed, drift) = run(&mut simulation, 70);
    [-passed, at_first - in_the_duct(&simulation), drift]
}

/// What passes the probe `mouth` in so many frames, and the worst drift of the volume.
fn run<const D: usize>(simulation: &mut Simulation<D>, frames: usize) -> (f64, f64) {
    let (mut passed, mut before, mut drift) = (0.0, 0.0, 0.0_f64);
    for stats in (0..frames).flat_map(|_| simulation.advance_frame().expect("it runs")) {
        // What a substep finds moves the water of the next one.
        passed += before * stats.dt;
        before = flux(&stats);
        drift = drift.max(stats.drift().abs());
    }
    (passed, drift)
}

fn flux(stats: &Stats) -> f64 {
    match &stats.probes["mouth"] {
        ProbeValue::Scalar(Some(flux)) => *flux,
        other => panic!("a flux is a number, not {other:?}"),
    }
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

/// Passed by gone: 0.998, 0.985 and 1.014 at 100 cells, 0.999, 1.000 and 0.994 at 200. With the errors taken back from the whole body, bubbles lost half as much again as passed, and
/// with two fluids more passed than was there. With two fluids at 100 cells, 1.3 % of the volume are lost at once in a splash, and regained no faster than corrections may do work.
#[test]
fn what_leaves_a_duct_passes_its_mouth() {
    for air in ["void", "bubbles", "two-phase"] {
        for (cells, tolerance, most) in [(100, 0.02, 0.02), (200, 0.01, 0.01)] {
            let [passed, gone, drift] = empty_a_duct(air, cells);
            assert!((passed / gone - 1.0).abs() < tolerance, "{air}, {cells} cells: {passed} of {gone}");
            assert!(drift < most, "{air}, {cells} cells: {drift}");
        }
    }
}

/// A tank with a wall that has a hole below and ends under the ceiling. On the left calm water stands higher; on the right a block of water falls into what there is, and churns it:
/// what passes the hole, what is gone on the left, what is there on the right since, and the worst drift of the volume.
fn level_a_tank(air: &str, cells: usize) -> [f64; 4] {
    let wall = "{ difference = [{ box = { from = [0.28, -0.1, -0.1], to = [0.32, 0.32, 0.3] } }, \
                { box = { from = [0.2, 0.04, 0.04], to = [0.4, 0.1, 0.16] } }] }";
    let text = format!(
        r#"
        [domain]
        size = [0.6, 0.36, 0.2]
        cells = {cells}
        [time]
        fps = 50
        [air]
        model = "{air}"
        [[solid]]
        shape = {wall}
        [[liquid]]
        shape = {{ difference = [{{ union = [
            {{ box = {{ from = [0.0, 0.0, 0.0], to = [0.3, 0.22, 0.2] }} }},
            {{ box = {{ from = [0.3, 0.0, 0.0], to = [0.6, 0.1, 0.2] }} }},
            {{ box = {{ from = [0.38, 0.16, 0.04], to = [0.54, 0.26, 0.16] }} }},
        ] }}, {wall}] }}
        [[probe]]
        name = "mouth"
        kind = "flux"
        from = [0.3, 0.04, 0.04]
        to = [0.3, 0.1, 0.16]
        "#
    );
    let mut simulation = simulation::<3>(&text);
    let on_the_left = |simulation: &Simulation<3>| {
        let grid = simulation.grid();
        let row = |length: f64| (length / grid.dx).round() as i64;
        let planes = (0..row(0.28)).flat_map(|x| (0..row(0.36)).map(move |y| [x, y]));
        let cells = planes.flat_map(|[x, y]| (0..row(0.2)).map(move |z| [x, y, z]));
        let wet = |cell: [i64; 3]| f64::from((0.5 - simulation.state().level_set.get(cell)).clamp(0.0, 1.0));
        cells.map(wet).sum::<f64>() * grid.dx.powi(3)
    };
    let volumes = |simulation: &Simulation<3>| {
        let left = on_the_left(simulation);
        [left, simulation.state().volume - left]
    };
    let at_first = volumes(&simulation);
    let (passed, drift) = run(&mut simulation, 25);
    let [left, right] = volumes(&simulation);
    [passed, at_first[0] - left, right - at_first[1], drift]
}

/// Gone by passed: 0.995, 0.995 with void, 0.991, 0.993 with bubbles, 0.980, 0.976 with two fluids, at 30 and 60 cells. What has come on the right is told from the volume of all, which is off by
/// up to 0.2 % of what there is: 1.2 % of what passed.
#[test]
fn what_leaves_half_a_tank_passes_its_hole() {
    for (air, of_left, of_right) in [("void", 0.01, 0.02), ("bubbles", 0.01, 0.02), ("two-phase", 0.03, 0.05)]
    {
        for cells in [30, 60] {
            let [passed, gone, come, drift] = level_a_tank(air, cells);
            let [left, right] = [gone, come].map(|volume| (volume / passed - 1.0).abs());
            assert!(left < of_left && right < of_right, "{air}, {cells} cells: {passed}, {gone}, {come}");
            assert!(drift < 0.01, "{air}, {cells} cells: {drift}");
        }
    }
}

/// A slug of water flies through a pipe, with a flat front that passes from block to block of the grid: nothing pushes it, and it keeps its speed. (When what passes a face in a substep was
/// told from what was wet of it at the start and at the end, a front that had just passed seemed to have left something behind, and corrections pushed at it: up to 250 Pa, of which 0.9 are left on the coarse grid.)
#[test]
fn a_slug_passes_from_block_to_block_undisturbed() {
    for (cells, length) in [(48, 0.2), (96, 0.2), (96, 0.1917)] {
        let text = format!(
            r#"
            gravity = [0.0, 0.0]
            [domain]
            size = [0.4, 0.1]
            cells = {cells}
            open = ["+x"]
            [time]
            fps = 100
            [[liquid]]
            shape = {{ box = {{ from = [0.04, 0.0], to = [{}, 0.1] }} }}
            velocity = [0.25, 0.0]
            [[probe]]
            name = "inside"
            kind = "pressure"
            at = [0.18, 0.05]
            "#,
            0.04 + length
        );
        let mut simulation = simulation::<2>(&text);
        let energy = 0.5 * 1000.0 * 0.1 * length * 0.25 * 0.25;
        for stats in (0..40).flat_map(|_| simulation.advance_frame().expect("it runs")) {
            let ProbeValue::Scalar(Some(pressure)) = stats.probes["inside"] else { panic!("a pressure") };
            // That of the flow, if it were stopped.
            let dynamic = 0.5 * 1000.0 * 0.25 * 0.25;
            assert!(pressure.abs() < 0.05 * dynamic, "{cells}, {}: {pressure}", stats.time);
            let part = stats.kinetic_energy / energy;
            assert!((part - 1.0).abs() < 2e-3, "{cells}, {}: {part}", stats.time);
        }
    }
}
