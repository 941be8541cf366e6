//! VALIDATION 4: the dam break of Martin and Moyce (1952), n² = 2: a column of water a wide and 2a high.

use meniscus::{ProbeValue, Scene};
use meniscus_tests::Simulation;

/// The width of the column, in m.
const A: f64 = 0.05715;

const FRONT: [(f64, f64); 15] = [
    (0.41, 1.11),
    (0.84, 1.22),
    (1.19, 1.44),
    (1.43, 1.67),
    (1.63, 1.89),
    (1.83, 2.11),
    (1.98, 2.33),
    (2.20, 2.56),
    (2.32, 2.78),
    (2.51, 3.00),
    (2.65, 3.22),
    (2.83, 3.44),
    (2.98, 3.67),
    (3.11, 3.89),
    (3.33, 4.11),
];

const HEIGHT: [(f64, f64); 16] = [
    (0.56, 0.94),
    (0.77, 0.89),
    (0.93, 0.83),
    (1.08, 0.78),
    (1.28, 0.72),
    (1.46, 0.67),
    (1.66, 0.61),
    (1.84, 0.56),
    (2.00, 0.50),
    (2.21, 0.44),
    (2.45, 0.39),
    (2.70, 0.33),
    (3.06, 0.28),
    (3.44, 0.22),
    (4.20, 0.17),
    (5.25, 0.11),
];

struct Collapse {
    /// T = t sqrt(2g/a), Z = x/a.
    front: Vec<(f64, f64)>,
    /// tau = t sqrt(g/a), H = h/2a.
    height: Vec<(f64, f64)>,
    drift: f64,
}

/// The scene of the gallery, whose probes are named in it, in a tank of 14 a with `cells` to a: the front does not reach its end before the last height is measured.
fn collapse(cells: usize) -> Collapse {
    let overrides = [
        format!("domain.size=[{}, {}]", 14.0 * A, 3.0 * A),
        format!("domain.cells={}", 14 * cells),
        "time.frames=82".into(),
    ];
    let scene = Scene::open("dam-break-2d", &overrides).expect("a scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let mut result = Collapse { front: Vec::new(), height: Vec::new(), drift: 0.0 };
    let scalar = |value: &ProbeValue| match value {
        ProbeValue::Scalar(Some(value)) => *value,
        other => panic!("{other:?}"),
    };
    for _ in 0..scene.content().time.frames {
        for stats in simulation.advance_frame().expect("it runs") {
            let time = stats.time;
            result.front.push((time * (2.0 * 9.81 / A).sqrt(), scalar(&stats.probes["front"]) / A));
            result.height.push((time * (9.81 / A).sqrt(), scalar(&stats.probes["column"]) / (2.0 * A)));
            result.drift = result.drift.max(stats.drift().abs());
            assert_eq!(stats.removed_particles, 0);
        }
    }
    result
}

/// A curve between its points.
fn at(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.iter().position(|p| p.0 >= x).unwrap_or(curve.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (curve[after - 1], curve[after]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// The slope of the least-squares line.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// The experiment has a gate that takes time to open, so one shift of the time is allowed; then the front is
/// where it was measured, its speed agrees, and it does not outrun Ritter's 2. The column sinks as measured: within 3.5 % until
/// tau = 3.1, but thereafter, where they tell two digits of little water, too slowly, by 0.016 and 0.012 at tau = 3.44 and 5.25, which is 7 and 11 %; finer grids give the same.
#[test]
fn the_front_and_the_column_follow_the_experiment() {
    let run = collapse(32);
    // The shift at which the front is at Z = 2.
    let when = |curve: &[(f64, f64)]| {
        let inverse: Vec<(f64, f64)> = curve.iter().map(|&(t, z)| (z, t)).collect();
        at(&inverse, 2.0)
    };
    let shift = when(&FRONT) - when(&run.front);
    assert!((-0.1..0.6).contains(&shift), "the front leads by T = {shift}");
    for (t, z) in FRONT.into_iter().filter(|&(t, _)| t > 1.0) {
        let ours = at(&run.front, t - shift);
        assert!((ours / z - 1.0).abs() < 0.03, "T = {t}: Z = {ours}, measured {z}");
    }
    let late = |curve: &[(f64, f64)]| -> Vec<(f64, f64)> {
        curve.iter().copied().filter(|p| (1.5..4.0).contains(&p.1)).collect()
    };
    let (ours, theirs) = (slope(&late(&run.front)), slope(&late(&FRONT)));
    assert!((ours / theirs - 1.0).abs() < 0.08 && ours <= 2.0, "dZ/dT = {ours}, measured {theirs}");
    for (t, h) in HEIGHT {
        let ours = at(&run.height, t);
        let tolerance = f64::max(0.04 * h, 0.016);
        assert!((ours - h).abs() < tolerance, "tau = {t}: H = {ours}, measured {h}");
    }
    assert!(run.drift < 0.005, "{}", run.drift);
}
