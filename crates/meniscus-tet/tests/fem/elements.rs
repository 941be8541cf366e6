//! The linear tet.

use meniscus_core::vector::{add_scaled, dot};
use meniscus_tet::fem::element::{Element, Mass};

use crate::meshes::Noise;

fn shaken_tet(seed: u64) -> [[f64; 3]; 4] {
    let mut noise = Noise(seed);
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    corners.map(|x| add_scaled(x, 0.2, noise.vector()))
}

#[test]
fn volume_gradients_are_differences_of_the_volume() {
    let x = shaken_tet(3);
    let element = Element::new(x);
    for a in 0..4 {
        for axis in 0..3 {
            let volume = |step: f64| {
                let mut y = x;
                y[a][axis] += step;
                Element::new(y).volume
            };
            let slope = (volume(1e-5) - volume(-1e-5)) / 2e-5;
            assert!((element.volume_gradients[a][axis] - slope).abs() < 1e-10);
        }
    }
}

#[test]
fn mass_shares_add_up_to_the_tet() {
    for mass in [Mass::Lumped, Mass::Consistent] {
        let sum: f64 = (0..16).map(|k| mass.share(k / 4, k % 4)).sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }
}

/// Half of the power that viscosity 1 turns to heat: integral of |grad u + grad u^T|² / 4.
fn half_dissipation(element: &Element, u: [[f64; 3]; 4]) -> f64 {
    let gradient = |x: usize, y: usize| -> f64 {
        (0..4).map(|a| u[a][x] * element.volume_gradients[a][y] / element.volume).sum()
    };
    let strain = |x, y| gradient(x, y) + gradient(y, x);
    (0..9).map(|k| strain(k / 3, k % 3).powi(2)).sum::<f64>() * element.volume / 4.0
}

#[test]
fn viscous_forces_are_differences_of_the_dissipation() {
    let element = Element::new(shaken_tet(5));
    let mut noise = Noise(7);
    let u: [[f64; 3]; 4] = std::array::from_fn(|_| noise.vector());
    for a in 0..4 {
        for axis in 0..3 {
            let power = |step: f64| {
                let mut v = u;
                v[a][axis] += step;
                half_dissipation(&element, v)
            };
            let slope = (power(0.5) - power(-0.5)) / 1.0;
            let force: f64 = (0..4).map(|b| dot(element.viscous_block(a, b, 1.0)[axis], u[b])).sum();
            assert!((force - slope).abs() < 1e-12 * (1.0 + slope.abs()), "{force} {slope}");
        }
    }
}

#[test]
fn rigid_motions_meet_no_viscosity() {
    let x = shaken_tet(9);
    let element = Element::new(x);
    let spin = x.map(|x| [1.0 - 2.0 * x[1], 0.5 + 2.0 * x[0] - x[2], x[1]]);
    for a in 0..4 {
        for axis in 0..3 {
            let force: f64 = (0..4).map(|b| dot(element.viscous_block(a, b, 1.0)[axis], spin[b])).sum();
            assert!(force.abs() < 1e-13);
        }
    }
}
