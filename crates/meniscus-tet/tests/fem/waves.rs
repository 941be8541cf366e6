//! Waves and the Rayleigh-Taylor instability of two inviscid fluids (TET-VALIDATION G3, G4): one wave in a unit box with
//! slip, a slab of one cell, gravity 1.

use std::f64::consts::{PI, TAU};

use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::element::Mass;
use meniscus_tet::fem::integrate::Integrator;
use meniscus_tet::fem::materials::Materials;

use crate::case::{Case, fluid, slip_box};
use crate::fit;
use crate::meshes::kuhn;

struct Wave {
    /// Time and amplitude over that at the start.
    samples: Vec<(f64, f64)>,
    /// The drift of the upper fluid's volume.
    volume: f64,
}

/// The interface's first cosine, at first .004.
fn wave(n: usize, densities: [f64; 2], mass: Mass, dt: f64, steps: usize) -> Wave {
    let h = 1.0 / n as f64;
    let mut tets = kuhn([n, 1, n], h, 0.15, |p, axis| axis == 2 && 2 * p[2] == n);
    tets = tets.label_by(|x| u8::from(x[2] > 0.5));
    let walls = slip_box(&tets, [1.0, h, 1.0]);
    let mut interface: Vec<_> =
        (0..tets.positions.len()).filter(|&v| (tets.positions[v][2] - 0.5).abs() < 1e-12).collect();
    interface.sort_by(|&v, &w| tets.positions[v][0].total_cmp(&tets.positions[w][0]));
    for x in &mut tets.positions {
        let depth = x[2].min(1.0 - x[2]);
        x[2] += 0.004 * (TAU * x[0]).cos() * (TAU * depth).sinh() / PI.sinh();
    }
    let materials = Materials::new(densities.map(|d| fluid(d, 0.0)).to_vec());
    let case =
        Case::new(tets, materials, walls, Scheme { mass, ..Scheme::default() }).falling([0.0, 0.0, -1.0]);

    // The trapezoidal rule on the front and on the back.
    let amplitude = |positions: &[[f64; 3]]| {
        let side = |at: f64| {
            let line = interface.iter().map(|&v| positions[v]).filter(|x| (x[1] - at).abs() < 0.1 * h);
            let points: Vec<_> = line.map(|x| (x[0], (x[2] - 0.5) * (TAU * x[0]).cos())).collect();
            points.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1)).sum::<f64>()
        };
        0.5 * (side(0.0) + side(h))
    };
    let mut motion = case.at_rest();
    let upper = |c: &[f64]| c[1];
    let (first, volume) = (amplitude(&motion.positions), upper(&case.statistics(&motion).volumes));
    let mut samples = vec![(0.0, 1.0)];
    for step in 1..=steps {
        motion = case.step(Integrator::SecondOrder, &motion, dt).0;
        samples.push((dt * step as f64, amplitude(&motion.positions) / first));
    }
    Wave { samples, volume: upper(&case.statistics(&motion).volumes) / volume - 1.0 }
}

/// Frequency over theory, 2.4995, less 1, and damping over frequency.
fn gravity_wave(n: usize) -> [f64; 2] {
    let Wave { samples, volume } = wave(n, [1000.0, 1.0], Mass::Lumped, 0.125, 24);
    assert!(volume.abs() < 1e-6, "{volume:.1e}");
    let [w, d] = fit::descend([2.5, 0.0], 0.1, |[w, d]| {
        samples.iter().map(|&(t, a)| ((-d * t).exp() * (w * t).cos() - a).powi(2)).sum()
    });
    [w / 2.4995 - 1.0, d / w]
}

/// Growth over theory, 1.7691, less 1.
fn rayleigh_taylor(n: usize, mass: Mass) -> f64 {
    let Wave { samples, volume } = wave(n, [1.0, 3.0], mass, 0.06, 20);
    assert!(volume.abs() < 1e-6, "{volume:.1e}");
    let [s] =
        fit::descend([1.7], 0.1, |[s]| samples.iter().map(|&(t, a)| ((s * t).cosh() - a).powi(2)).sum());
    s / 1.7691 - 1.0
}

#[test]
fn gravity_waves_have_their_frequency() {
    let [frequency, damping] = gravity_wave(16);
    assert!(frequency.abs() < 0.03 && damping.abs() < 0.008, "{frequency:+.4} {damping:.4}");
}

#[test]
fn rayleigh_taylor_grows_at_its_rate() {
    for mass in [Mass::Lumped, Mass::Consistent] {
        let growth = rayleigh_taylor(16, mass);
        assert!(growth.abs() < if mass == Mass::Lumped { 0.1 } else { 0.05 }, "{mass:?} {growth:+.4}");
    }
}

#[test]
#[ignore = "takes long"]
fn long_waves_of_32_edges_have_their_rates() {
    let [frequency, damping] = gravity_wave(32);
    let [lumped, consistent] = [Mass::Lumped, Mass::Consistent].map(|mass| rayleigh_taylor(32, mass));
    assert!(frequency.abs() < 0.015 && damping.abs() < 0.003, "{frequency:+.4} {damping:.4}");
    assert!(lumped.abs() < 0.05 && consistent.abs() < 0.03, "{lumped:+.4} {consistent:+.4}");
}
