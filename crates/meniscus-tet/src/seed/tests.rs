use super::*;
use crate::complex::Stratum;
use crate::quality::{quality, volume};

fn label_volume(complex: &Complex, label: u8) -> f64 {
    complex.tets().filter(|&t| complex.label(t) == label).map(|t| volume(complex.points(t))).sum()
}

fn worst(complex: &Complex) -> f64 {
    complex.tets().map(|t| quality(complex.points(t))).fold(1.0, f64::min)
}

#[test]
fn a_ball_in_a_box() {
    let sizing = Sizing { surface: 0.04, interior: 0.16, growth: 1.4 };
    let ball = Shape::sphere([0.5, 0.52, 0.47], 0.25).unwrap();
    let (complex, _) = seed_box([0.0; 3], [1.0; 3], &[ball], &sizing).unwrap();
    complex.check().unwrap();
    assert_eq!(complex.euler_characteristic(), 1);
    let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.25_f64.powi(3);
    let error = label_volume(&complex, 1) / exact - 1.0;
    assert!(error.abs() < 0.02);
    assert!(worst(&complex) > 0.2);
    for vertex in complex.vertices() {
        let strata = complex.strata(vertex);
        if strata.is_on_interface() {
            assert_eq!(strata.vertex(), Stratum::Surface);
        }
    }
}

#[test]
fn a_layer_and_a_ball_that_dips_into_it() {
    let sizing = Sizing { surface: 0.05, interior: 0.2, growth: 1.4 };
    let ball = Shape::sphere([0.5, 0.5, 0.45], 0.2).unwrap();
    let layer = Shape::box_between([-1.0, -1.0, -1.0], [2.0, 2.0, 0.4]).unwrap();
    let (complex, _) = seed_box([0.0; 3], [1.0; 3], &[ball, layer], &sizing).unwrap();
    complex.check().unwrap();
    assert!(worst(&complex) > 0.1);
    let sum: f64 = (0..3).map(|l| label_volume(&complex, l)).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let lines = complex.vertices().filter(|&v| complex.strata(v).vertex() == Stratum::Line).count();
    assert!(lines > 30);
}

#[test]
fn a_layer_in_a_cylinder() {
    let sizing = Sizing { surface: 0.08, interior: 0.2, growth: 1.4 };
    let vessel = Shape::cylinder([0.0, 0.0, -2.0], [0.0, 0.0, 3.0], 0.5).unwrap();
    let layer = Shape::box_between([-1.0, -1.0, -1.0], [1.0, 1.0, 0.43]).unwrap();
    let (lower, upper) = ([-0.6, -0.6, 0.0], [0.6, 0.6, 1.0]);
    let (complex, container) = seed_vessel(lower, upper, &vessel, &[layer], &sizing).unwrap();
    complex.check().unwrap();
    assert_eq!(complex.euler_characteristic(), 1);
    assert_eq!(container.walls.len(), 7);
    let exact = std::f64::consts::PI * 0.25;
    let whole = label_volume(&complex, 0) + label_volume(&complex, 1);
    assert!((whole / exact - 1.0).abs() < 0.02, "{whole} {exact}");
    assert!((label_volume(&complex, 1) / (0.43 * whole) - 1.0).abs() < 1e-3);
    assert!(worst(&complex) > 0.1, "{}", worst(&complex));
    for (vertex, walls) in complex.vertices_on_walls() {
        if walls.contains(&6) {
            assert!(vessel.signed_distance(complex.position(vertex)).abs() < 1e-9);
        }
    }
    // Rims and contact lines are whole: their vertices have two neighbours along them.
    let points = complex.vertices().filter(|&v| complex.strata(v).vertex() == Stratum::Point).count();
    assert_eq!(points, 0);
}
