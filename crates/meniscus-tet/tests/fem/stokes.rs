//! Steady Stokes flow with a known solution (TET-VALIDATION C4), in a unit cube without slip.

use std::f64::consts::PI;

use meniscus_core::vector::{add_scaled, norm, sub};
use meniscus_tet::fem::direct;
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::materials::Materials;

use crate::case::{Case, fluid, sticky};
use crate::meshes::kuhn;

/// u = curl of (psi, psi, psi) with psi = sin² sin² sin², and p = c cos cos cos.
struct Exact {
    pressure: f64,
}

impl Exact {
    fn velocity(x: [f64; 3]) -> [f64; 3] {
        let [s, d] = [x.map(|x| (PI * x).sin().powi(2)), x.map(|x| PI * (2.0 * PI * x).sin())];
        let slope = [d[0] * s[1] * s[2], s[0] * d[1] * s[2], s[0] * s[1] * d[2]];
        [slope[1] - slope[2], slope[2] - slope[0], slope[0] - slope[1]]
    }

    fn pressure(&self, x: [f64; 3]) -> f64 {
        self.pressure * x.iter().map(|x| (PI * x).cos()).product::<f64>()
    }

    /// -(Laplacian of u) + grad p, the former by differences of fourth order.
    fn load(&self, x: [f64; 3]) -> [f64; 3] {
        let h = 2e-3;
        let [s, c] = [x.map(|x| (PI * x).sin()), x.map(|x| (PI * x).cos())];
        let push = -self.pressure * PI;
        let mut load = [push * s[0] * c[1] * c[2], push * c[0] * s[1] * c[2], push * c[0] * c[1] * s[2]];
        for axis in 0..3 {
            let at = |k: f64| {
                let mut y = x;
                y[axis] += k * h;
                Self::velocity(y)
            };
            let weights = [(-2.0, -1.0), (-1.0, 16.0), (0.0, -30.0), (1.0, 16.0), (2.0, -1.0)];
            for (k, weight) in weights {
                load = add_scaled(load, -weight / (12.0 * h * h), at(k));
            }
        }
        load
    }
}

/// Points and equal weights that integrate polynomials of degree 2 over a tet (barycentric).
const POINTS: [[f64; 4]; 4] = {
    let (a, b) = (0.585_410_196_624_968_5, 0.138_196_601_125_010_5);
    [[a, b, b, b], [b, a, b, b], [b, b, a, b], [b, b, b, a]]
};

/// Errors of velocity and pressure in L2.
fn errors(n: usize, pressure: f64) -> [f64; 2] {
    let exact = Exact { pressure };
    let tets = kuhn([n; 3], 1.0 / n as f64, 0.15, |_, _| false);
    let walls = sticky(&tets, |x| x.iter().any(|&x| !(1e-9..=1.0 - 1e-9).contains(&x)));
    let case = Case::new(tets, Materials::new(vec![fluid(1e-12, 1.0)]), walls, Scheme::default());
    let mut system = case.system(1.0);
    let unknowns = &case.discretisation.unknowns;
    let quadrature = |tet: usize| {
        let corners = case.tets.tets[tet].map(|v| case.tets.positions[v as usize]);
        let weight = 0.25 * case.tets.mesh().element(tet).volume;
        POINTS.map(|l| ((0..4).fold([0.0; 3], |x, a| add_scaled(x, l[a], corners[a])), l, weight))
    };
    for (tet, nodes) in unknowns.nodes.iter().enumerate() {
        for (x, l, weight) in quadrature(tet) {
            for a in 0..4 {
                let node = nodes[a] as usize;
                if system.frames[node].held == 0 {
                    system.force[node] = add_scaled(system.force[node], weight * l[a], exact.load(x));
                }
            }
        }
    }
    let solution = direct::solve(&system).expect("a solution");
    let velocities = case.velocities(&system, &solution);
    let share: f64 = system.volumes.iter().zip(&solution.impulses).map(|(v, l)| v * l).sum();
    let mut squares = [0.0; 2];
    for (tet, corners) in unknowns.corners.iter().enumerate() {
        for (x, l, weight) in quadrature(tet) {
            let vertices = case.tets.tets[tet];
            let u = (0..4).fold([0.0; 3], |u, a| add_scaled(u, l[a], velocities[vertices[a] as usize]));
            let p: f64 = (0..4).map(|a| l[a] * solution.impulses[corners[a] as usize]).sum();
            squares[0] += weight * norm(sub(u, Exact::velocity(x))).powi(2);
            squares[1] += weight * (p - share - exact.pressure(x)).powi(2);
        }
    }
    squares.map(f64::sqrt)
}

fn orders(coarse: usize, fine: usize) -> [f64; 2] {
    let [a, b] = [errors(coarse, 1.0), errors(fine, 1.0)];
    std::array::from_fn(|k| (a[k] / b[k]).ln() / (fine as f64 / coarse as f64).ln())
}

#[test]
fn stokes_flow_converges() {
    let [u, p] = orders(4, 8);
    assert!(u > 1.5 && p > 0.7, "{u:.2} {p:.2}");
}

#[test]
fn large_pressures_hardly_disturb_the_flow() {
    let [small, large] = [1.0, 1000.0].map(|pressure| errors(8, pressure)[0]);
    assert!(large < 1.5 * small, "{small:.3} {large:.3}");
}

#[test]
#[ignore = "takes long"]
fn long_stokes_flow_converges() {
    let [u, p] = orders(8, 12);
    assert!(u > 1.85 && p > 1.0, "{u:.2} {p:.2}");
}
