//! Forces against what is known of them.

use std::f64::consts::PI;

use super::tests::{FAR, at, disc, ellipse, given};
use super::*;
use crate::flow::Sample;

fn still(_: [f64; 2]) -> Sample {
    Sample::default()
}

#[test]
fn what_is_released_accelerates_with_its_added_mass() {
    let images = Images::new([1.0; 2]);
    for (ratio, gate) in [(0.01, 1e-3), (0.1, 1e-3), (1.0, 1e-12), (2.0, 1e-3), (10.0, 1e-3)] {
        let (bodies, poses) = ([Body::of_density(disc(64, 0.125), ratio)], [at([0.5; 2])]);
        let (immersed, mut solution) = given(&images, &bodies, &poses, &[[0.0; 3]], still);
        let force = immersed.force(&solution, 0, [0.0, -1.0]);
        immersed.solve(&immersed.influence(), &[Drive::Free(force)], &[0.0], &mut solution, 1e-13);
        let expected = -(ratio - 1.0) / (ratio + 1.11352);
        let found = solution.motions[0][1];
        assert!((found - expected).abs() <= gate * expected.abs().max(1.0), "{ratio}: {found} {expected}");
    }
}

#[test]
fn a_wall_pulls_what_moves_along_it() {
    // A box of 8 by 8 and a disc of radius .5 whose centre is .75 from the wall: Fy = ½ V² dM/dy = -.3390 V².
    let images = Images::new([8.0; 2]);
    for (n, gate) in [(64, 1e-2), (128, 1e-3)] {
        let (bodies, poses) = ([Body::of_density(disc(n, 0.5), 1.0)], [at([4.0, 0.75])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[1.0, 0.0, 0.0]], still);
        let force = immersed.force(&solution, 0, [0.0; 2]);
        assert!((force[1] + 0.3390).abs() < gate * 0.339, "{n}: {force:?}");
    }
}

#[test]
fn shear_lifts_what_rests_in_it() {
    let (images, half) = (Images::new([FAR; 2]), 0.5 * FAR);
    let (speed, shear) = (1.0, 0.3);
    let flow = |[_, y]: [f64; 2]| {
        let y = y - half;
        Sample { stream: speed * y + 0.5 * shear * y * y, velocity: [speed + shear * y, 0.0] }
    };
    for (n, gate) in [(16, 4e-3), (40, 2e-3), (64, 1e-3)] {
        let (bodies, poses) = ([Body::of_density(disc(n, 1.0), 1.0)], [at([half; 2])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[0.0; 3]], flow);
        let lift = immersed.force(&solution, 0, [0.0; 2])[1] / (2.0 * PI * speed * shear);
        assert!((lift - 1.0).abs() < gate, "{n}: {lift}");
    }
}

#[test]
fn what_moves_and_turns_in_still_fluid_loses_no_momentum() {
    let (images, half) = (Images::new([FAR; 2]), 0.5 * FAR);
    for (n, gate) in [(40, 5e-3), (160, 4e-4)] {
        let (bodies, poses) = ([Body::of_density(ellipse(n, [1.0, 0.5]), 1.0)], [at([half; 2])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[1.0, 0.3, 0.7]], still);
        let [x, y, _] = immersed.force(&solution, 0, [0.0; 2]);
        assert!(x.hypot(y) < gate, "{n}: {x} {y}");
    }
}

#[test]
fn what_moves_obliquely_is_turned_broadside_on() {
    let (images, half) = (Images::new([FAR; 2]), 0.5 * FAR);
    // Munk: -π (a² - b²) U V.
    let expected = -PI * 0.75 * 0.3;
    for (n, gate) in [(20, 2e-2), (40, 5e-3), (80, 1.3e-3), (160, 4e-4)] {
        let (bodies, poses) = ([Body::of_density(ellipse(n, [1.0, 0.5]), 1.0)], [at([half; 2])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[1.0, 0.3, 0.0]], still);
        let torque = immersed.force(&solution, 0, [0.0; 2])[2];
        assert!((torque / expected - 1.0).abs() < gate, "{n}: {torque}");
    }
}

/// What is known of a body alone is what the integrals over its outline tend to.
#[test]
fn what_is_known_of_a_body_alone_is_what_integrals_tend_to() {
    let (images, half) = (Images::new([FAR; 2]), 0.5 * FAR);
    let turned = Pose { centre: [half; 2], angle: 0.4 };
    for (n, gate) in [(80, 3e-3), (320, 2e-4)] {
        let (bodies, poses) = ([Body::of_density(ellipse(n, [1.0, 0.5]), 1.0)], [turned]);
        let mut immersed = Immersed::new(&images, &bodies, &poses);
        immersed.set_flow(immersed.middles().into_iter().map(still).collect());
        let (drives, mut solution) = ([Drive::Given([1.0, 0.3, 0.7])], Solution::default());
        immersed.solve(&immersed.influence(), &drives, &[2.0], &mut solution, 1e-12);
        let mut rate = [0.0; 3];
        for (panel, speed) in bodies[0].profile.panels.iter().zip(immersed.outer_speeds(&solution, 0)) {
            let ([x, y], [nx, ny]) = (panel.middle, panel.normal());
            let (pressure, turning) = (0.5 * speed * speed * panel.length, 0.7 * speed * panel.length);
            rate[0] += pressure * nx + turning * x;
            rate[1] += pressure * ny + turning * y;
            rate[2] += pressure * (x * ny - y * nx);
        }
        let (found, direct) = (immersed.force(&solution, 0, [0.0; 2]), turned.turn_motion(rate));
        for d in 0..3 {
            assert!((found[d] - direct[d]).abs() < gate * 2.0, "{n}: {found:?} {direct:?}");
        }
        // Kutta and Joukowski: a circulation Γ around what moves with (U, V) is pushed by Γ (-V, U).
        assert!((found[0] + 0.6).hypot(found[1] - 2.0) < gate, "{n}: {found:?}");
    }
}
