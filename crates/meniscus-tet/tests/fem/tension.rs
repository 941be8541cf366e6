//! Areas and their derivatives (TET-VALIDATION C1).

use meniscus_core::vector::{add_scaled, cross, norm};
use meniscus_tet::fem::mesh::area_vector;
use meniscus_tet::fem::tension::{area_curvature, area_gradients};

use crate::meshes::Noise;

fn shaken_triangle(seed: u64) -> [[f64; 3]; 3] {
    let mut noise = Noise(seed);
    [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|x| add_scaled(x, 0.3, noise.vector()))
}

fn difference<const N: usize>(
    x: [[f64; 3]; 3],
    a: usize,
    axis: usize,
    f: impl Fn([[f64; 3]; 3]) -> [f64; N],
) -> [f64; N] {
    let at = |step: f64| {
        let mut y = x;
        y[a][axis] += step;
        f(y)
    };
    let [plus, minus] = [at(1e-5), at(-1e-5)];
    std::array::from_fn(|k| (plus[k] - minus[k]) / 2e-5)
}

#[test]
fn area_gradients_are_differences_of_the_area() {
    for seed in 0..5 {
        let x = shaken_triangle(seed);
        for a in 0..3 {
            for axis in 0..3 {
                let [slope] = difference(x, a, axis, |y| [norm(area_vector(y))]);
                assert!((area_gradients(x)[a][axis] - slope).abs() < 1e-9);
            }
        }
    }
}

/// With -½ [n]x for vertices in cyclic order the curvature is the whole second derivative.
#[test]
fn area_curvature_is_the_second_derivative_but_for_turning_in_the_plane() {
    for seed in 0..5 {
        let x = shaken_triangle(seed);
        let normal = area_vector(x).map(|c| c / norm(area_vector(x)));
        for a in 0..3 {
            for b in 0..3 {
                let sign = [0.0, 1.0, -1.0][(3 + b - a) % 3];
                for axis in 0..3 {
                    let slope = difference(x, b, axis, |y| area_gradients(y)[a]);
                    let unit = std::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
                    let turn = cross(normal, unit);
                    for row in 0..3 {
                        let second = area_curvature(x, a, b)[row][axis] - 0.5 * sign * turn[row];
                        assert!((second - slope[row]).abs() < 1e-8, "{a} {b} {row} {axis}");
                    }
                }
            }
        }
    }
}

#[test]
fn area_feels_no_rigid_motion() {
    let x = shaken_triangle(11);
    let gradients = area_gradients(x);
    for axis in 0..3 {
        let sum: f64 = gradients.iter().map(|g| g[axis]).sum();
        let torque: f64 = (0..3).map(|a| cross(x[a], gradients[a])[axis]).sum();
        assert!(sum.abs() < 1e-14 && torque.abs() < 1e-14);
    }
}
