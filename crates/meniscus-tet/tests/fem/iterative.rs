//! The iterative solve against the direct one.

use meniscus_core::vector::{norm, sub};
use meniscus_tet::fem::assemble::{Stage, assemble};
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::materials::{Materials, Side};
use meniscus_tet::fem::{direct, iterative};

use crate::case::{Case, fastest, fluid, slip_box};
use crate::meshes::kuhn;

/// The largest difference of the velocities of both solves, as a part of the fastest, and the iterations; the fluids differ a thousandfold, and are shaken.
fn difference(n: usize, viscosity: f64, tension: f64) -> (f64, usize) {
    let tets = kuhn([n; 3], 1.0 / n as f64, 0.15, |_, _| false);
    let in_ball = |x: [f64; 3]| norm(sub(x, [0.5; 3])) < 0.3;
    let tets = tets.label_by(|x| u8::from(in_ball(x)));
    let walls = slip_box(&tets, [1.0; 3]);
    let materials = Materials::new(vec![fluid(1.0, viscosity), fluid(1000.0, viscosity)]).with_tension(
        Side::Label(0),
        Side::Label(1),
        tension,
    );
    let case = Case::new(tets, materials, walls, Scheme::default()).falling([0.0, 0.0, -9.81]);
    let shaken: Vec<[f64; 3]> =
        case.tets.positions.iter().map(|x| [1, 2, 0].map(|k| (7.0 * x[k]).sin())).collect();
    let base = &case.tets.positions;
    let stage = Stage { mesh: case.tets.mesh(), base, velocities: &shaken, dt: 0.01 };
    let system =
        assemble(&case.discretisation, &case.setting(), &stage).expect("a mesh that is not turned over");
    let points = case.discretisation.unknowns.gather(base);
    let exact = case.velocities(&system, &direct::solve(&system).expect("a solution"));
    let (solution, info) = iterative::solve(&system, &points, 1e-9).expect("a solution");
    let found = case.velocities(&system, &solution);
    let worst = exact.iter().zip(&found).map(|(&a, &b)| norm(sub(a, b))).fold(0.0, f64::max);
    (worst / fastest(&exact), info.iterations)
}

#[test]
fn iterations_find_what_elimination_finds() {
    for (viscosity, tension) in [(0.0, 0.0), (0.5, 0.0), (0.0, 20.0), (0.5, 20.0)] {
        for n in [4, 8] {
            let (difference, iterations) = difference(n, viscosity, tension);
            let case = format!("{n} cells, viscosity {viscosity}, tension {tension}");
            assert!(difference < 1e-5, "{case}: {difference:e}");
            // 16 at most when this was written.
            assert!(iterations < 21, "{case}: {iterations} iterations");
        }
    }
}
