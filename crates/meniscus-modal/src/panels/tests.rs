//! Sheets against what is known of flows around bodies.

use std::f64::consts::{PI, TAU};

use faer::Mat;

use super::*;
use crate::flow::Sample;

/// A box so large that its walls change nothing by more than a part of a hundred thousand.
pub const FAR: f64 = 800.0;

/// Points on an ellipse.
pub fn on_ellipse(n: usize, radii: [f64; 2]) -> Vec<[f64; 2]> {
    (0..n).map(|k| k as f64 * TAU / n as f64).map(|t| [radii[0] * t.cos(), radii[1] * t.sin()]).collect()
}

/// A regular polygon with the area of a disc.
pub fn disc(n: usize, radius: f64) -> Profile {
    ellipse(n, [radius; 2])
}

/// A polygon with the area of an ellipse.
pub fn ellipse(n: usize, radii: [f64; 2]) -> Profile {
    let angle = TAU / n as f64;
    let larger = (TAU / (n as f64 * angle.sin())).sqrt();
    Profile::of_polygon(&on_ellipse(n, radii.map(|radius| larger * radius))).0
}

/// A square of side 2 with so many panels on each side, closer to the corners.
fn square(n: usize) -> Profile {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let side = |k: usize| {
        (0..n).map(move |j| {
            let part = 0.5 - 0.5 * (PI * j as f64 / n as f64).cos();
            [0, 1].map(|axis| corners[k][axis] + part * (corners[(k + 1) % 4][axis] - corners[k][axis]))
        })
    };
    Profile::of_polygon(&(0..4).flat_map(side).collect::<Vec<_>>()).0
}

pub fn at(centre: [f64; 2]) -> Pose {
    Pose { centre, angle: 0.0 }
}

/// Bodies that move as given in a flow, solved.
pub fn given<'a>(
    images: &'a Images,
    bodies: &'a [Body],
    poses: &'a [Pose],
    motions: &[Motion],
    flow: impl Fn([f64; 2]) -> Sample,
) -> (Immersed<'a>, Solution) {
    let mut immersed = Immersed::new(images, bodies, poses);
    immersed.set_flow(immersed.middles().into_iter().map(flow).collect());
    let drives: Vec<Drive> = motions.iter().copied().map(Drive::Given).collect();
    let mut solution = Solution::default();
    immersed.solve(&immersed.influence(), &drives, &vec![0.0; bodies.len()], &mut solution, 1e-13);
    (immersed, solution)
}

/// A body without mass, whose momentum is that of the fluid.
pub fn hollow(profile: Profile) -> Body {
    Body::new(profile, [0.0; 2])
}

fn still(_: [f64; 2]) -> Sample {
    Sample::default()
}

/// A stream of unit speed along x.
fn stream([_, y]: [f64; 2]) -> Sample {
    Sample { stream: y - 0.5 * FAR, velocity: [1.0, 0.0] }
}

fn added_mass(size: [f64; 2], profile: Profile, centre: [f64; 2], motion: Motion) -> Motion {
    let (images, bodies, poses) = (Images::new(size), [hollow(profile)], [at(centre)]);
    let (immersed, solution) = given(&images, &bodies, &poses, &[motion], still);
    immersed.momentum(&solution, 0)
}

fn assert_near(found: f64, expected: f64, part: f64, what: impl std::fmt::Debug) {
    assert!((found - expected).abs() <= part * expected.abs(), "{what:?}: {found}, not {expected}");
}

#[test]
fn the_speed_along_a_disc_in_a_stream_is_of_second_order() {
    let images = Images::new([FAR; 2]);
    let mut last = f64::NAN;
    for (n, expected) in [(8, 4.5e-2), (16, 1.2e-2), (32, 3.1e-3), (64, 7.9e-4), (128, 2.0e-4)] {
        let (bodies, poses) = ([Body::of_density(disc(n, 1.0), 1.0)], [at([0.5 * FAR; 2])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[0.0; 3]], stream);
        let exact =
            |panel: &Panel| -2.0 * (panel.middle[1] - 0.5 * FAR).atan2(panel.middle[0] - 0.5 * FAR).sin();
        let speeds = immersed.outer_speeds(&solution, 0);
        let error = immersed
            .panels()
            .iter()
            .zip(speeds)
            .map(|(panel, speed)| (speed - exact(panel)).abs())
            .fold(0.0, f64::max);
        assert!(error <= 1.05 * expected, "{n}: {error:e}, not {expected:e}");
        // Eight panels are too few to tell the order.
        assert!(n <= 16 || last / error >= 3.73, "order {}", (last / error).log2());
        last = error;
    }
}

#[test]
fn the_speed_along_an_ellipse_in_a_stream_is_of_second_order() {
    let images = Images::new([FAR; 2]);
    for (n, expected) in [(32, 5.2e-3), (64, 1.4e-3), (128, 3.6e-4)] {
        let inscribed = Profile::of_polygon(&on_ellipse(n, [1.0, 0.5])).0;
        let (bodies, poses) = ([Body::of_density(inscribed, 1.0)], [at([0.5 * FAR; 2])]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[0.0; 3]], stream);
        let error = (0..n).zip(immersed.outer_speeds(&solution, 0)).map(|(k, speed)| {
            let e = (k as f64 + 0.5) * TAU / n as f64;
            let exact = -1.5 * e.sin() / (e.sin().powi(2) + 0.25 * e.cos().powi(2)).sqrt();
            (speed - exact).abs()
        });
        let error = error.fold(0.0, f64::max);
        assert!(error < 1.1 * expected, "{n}: {error}");
    }
}

#[test]
fn the_equations_of_a_body_are_well_conditioned() {
    let condition = |profile: &Profile| {
        let n = profile.panels.len();
        let own = Mat::from_fn(n + 1, n + 1, |i, j| match (i < n, j < n) {
            (true, true) => profile.streams[(i, j)],
            (true, false) => -1.0,
            (false, true) => profile.panels[j].length,
            (false, false) => 0.0,
        });
        let values = own.singular_values().unwrap();
        values[0] / values[n]
    };
    for (n, of_disc, of_ellipse) in [(16, 56.0, 93.0), (32, 156.0, 282.0), (40, 217.0, 401.0)] {
        assert_near(condition(&disc(n, 1.0)), of_disc, 0.02, ("disc", n));
        assert_near(condition(&ellipse(n, [1.0, 0.5])), of_ellipse, 0.02, ("ellipse", n));
        assert!(condition(&square(n / 4)) < 1e4);
    }
    let thin = condition(&ellipse(40, [1.0, 0.05]));
    assert!(thin < 1e4, "{thin}");
}

#[test]
fn a_stream_does_not_push_what_rests_in_it() {
    let images = Images::new([FAR; 2]);
    let force = |profile: Profile, angle: f64| {
        let (bodies, poses) = ([Body::of_density(profile, 1.0)], [Pose { centre: [0.5 * FAR; 2], angle }]);
        let (immersed, solution) = given(&images, &bodies, &poses, &[[0.0; 3]], stream);
        immersed.force(&solution, 0, [0.0; 2])
    };
    let [x, y, _] = force(disc(64, 1.0), 0.0);
    assert!(x.hypot(y) < 1e-5, "{x} {y}");
    let [x, y, _] = force(ellipse(64, [1.0, 0.5]), 0.7);
    assert!(x.hypot(y) < 1e-3, "{x} {y}");
}

#[test]
fn added_masses_are_of_second_order() {
    let (size, centre) = ([FAR; 2], [0.5 * FAR; 2]);
    for (n, of_disc, of_ellipse, of_turning) in [
        (16, 1.2e-2, 1.8e-2, 3.1e-2),
        (32, 3.1e-3, 4.7e-3, 6.7e-3),
        (40, 2.0e-3, 3.0e-3, 4.2e-3),
        (64, 7.9e-4, 1.2e-3, 1.6e-3),
        (128, 2.0e-4, 3.0e-4, 3.8e-4),
    ] {
        let found = added_mass(size, disc(n, 1.0), centre, [1.0, 0.0, 0.0])[0] / PI - 1.0;
        assert!(found.abs() <= 1.1 * of_disc, "disc {n}: {found:e}, not {of_disc:e}");
        let found = added_mass(size, ellipse(n, [1.0, 0.5]), centre, [1.0, 0.0, 0.0])[0] / (PI * 0.25) - 1.0;
        assert!(found.abs() <= 1.1 * of_ellipse, "ellipse {n}: {found:e}, not {of_ellipse:e}");
        let turning = added_mass(size, ellipse(n, [1.0, 0.5]), centre, [0.0, 0.0, 1.0])[2]
            / (PI * 0.75 * 0.75 / 8.0)
            - 1.0;
        assert!(turning.abs() <= 1.1 * of_turning, "turning {n}: {turning:e}, not {of_turning:e}");
    }
    for (n, expected) in [(16, 4.7505), (32, 4.7532)] {
        let found = added_mass(size, square(n), centre, [1.0, 0.0, 0.0])[0];
        assert_near(found, expected, 1e-4, n);
    }
}

#[test]
fn discs_in_a_closed_box_have_the_added_mass_of_the_series() {
    for (ratio, expected) in [(0.125, 1.02722), (0.25, 1.11352), (0.5, 1.54751)] {
        let radius = 0.5 * ratio;
        let found = added_mass([1.0; 2], disc(64, radius), [0.5; 2], [1.0, 0.0, 0.0]);
        assert_near(found[0] / (PI * radius * radius), expected, 1e-3, ratio);
        assert!(found[1].abs() < 1e-9);
        let fine = added_mass([1.0; 2], disc(128, radius), [0.5; 2], [1.0, 0.0, 0.0]);
        let extrapolated = (4.0 * fine[0] - found[0]) / 3.0 / (PI * radius * radius);
        assert_near(extrapolated, expected, 2e-5, ratio);
    }
    let area = PI * 0.01;
    let corner = [0, 1].map(|axis| {
        let mut motion = [0.0; 3];
        motion[axis] = 1.0;
        added_mass([1.0; 2], disc(128, 0.1), [0.15; 2], motion).map(|x| x / area)
    });
    assert_near(corner[0][0], 1.6113, 1e-3, "xx");
    assert_near(corner[1][1], 1.6113, 1e-3, "yy");
    assert_near(corner[0][1], 0.1951, 3e-3, "xy");
    assert!((corner[0][1] - corner[1][0]).abs() < 1e-5);
    for (y, expected) in [(0.4, 1.11827), (0.3, 1.14241), (0.25, 1.17609), (0.2, 1.25337), (0.16, 1.41259)] {
        let found = added_mass([1.0; 2], disc(64, 0.125), [0.5, y], [0.0, 1.0, 0.0])[1] / (PI * 0.015625);
        assert_near(found, expected, 2e-3, y);
    }
}

#[test]
fn a_long_box_is_the_same_lying_and_standing() {
    let profile = || ellipse(40, [0.15, 0.08]);
    let lying = added_mass([2.5, 1.0], profile(), [0.4, 0.3], [1.0, 0.5, 2.0]);
    let (images, bodies) = (Images::new([1.0, 2.5]), [hollow(profile())]);
    // Mirrored in the diagonal: turned by a quarter, velocities exchanged, and turning the other way.
    let poses = [Pose { centre: [0.3, 0.4], angle: 0.5 * PI }];
    let (immersed, solution) = given(&images, &bodies, &poses, &[[0.5, 1.0, -2.0]], still);
    let standing = immersed.momentum(&solution, 0);
    for (a, b) in [(lying[0], standing[1]), (lying[1], standing[0]), (lying[2], -standing[2])] {
        assert!((a - b).abs() < 1e-10, "{lying:?} {standing:?}");
    }
}

#[test]
fn walls_let_nothing_through() {
    let (images, bodies) = (Images::new([1.0; 2]), [Body::of_density(ellipse(40, [0.15, 0.08]), 1.0)]);
    let poses = [Pose { centre: [0.3, 0.2], angle: 0.5 }];
    let (immersed, solution) = given(&images, &bodies, &poses, &[[1.0, 0.3, 2.0]], still);
    for k in 0..=200 {
        let along = f64::from(k) / 200.0;
        for x in [[along, 0.0], [along, 1.0], [0.0, along], [1.0, along]] {
            let stream = immersed.stream(&solution, x);
            assert!(stream.abs() < 1e-6 / TAU, "{x:?}: {stream}");
        }
    }
}

#[test]
fn two_discs_have_the_added_mass_of_the_series() {
    let images = Images::new([FAR; 2]);
    let half = 0.5 * FAR;
    for (n, gate) in [(40, 3e-3), (80, 1e-3)] {
        for (d, opposite, same, across, alone) in [
            (1.25, 1.416147, 0.738370, 1.416147, 1.077258),
            (1.5, 1.258781, 0.805070, 1.258781, 1.031926),
            (3.0, 1.057238, 0.946030, 1.057238, 1.001634),
        ] {
            let bodies = [hollow(disc(n, 1.0)), hollow(disc(n, 1.0))];
            let poses = [at([half - d, half]), at([half + d, half])];
            let momentum = |motions: [Motion; 2]| {
                let (immersed, solution) = given(&images, &bodies, &poses, &motions, still);
                immersed.momentum(&solution, 0).map(|x| x / PI)
            };
            let x = |speed: f64| [speed, 0.0, 0.0];
            assert_near(momentum([x(1.0), x(-1.0)])[0], opposite, gate, ("opposite", n, d));
            assert_near(momentum([x(1.0), x(1.0)])[0], same, gate, ("same", n, d));
            assert_near(momentum([[0.0, 1.0, 0.0]; 2])[1], across, gate, ("across", n, d));
            assert_near(momentum([x(1.0), x(0.0)])[0], alone, gate, ("alone", n, d));
        }
    }
}

#[test]
fn many_bodies_take_few_iterations_and_none_has_a_circulation() {
    let images = Images::new([1.0; 2]);
    let bodies: Vec<Body> = (0..10).map(|_| Body::of_density(disc(40, 0.08), 0.5)).collect();
    let poses: Vec<Pose> =
        (0..10).map(|k| at([0.1 + 0.19 * f64::from(k % 5), 0.3 + 0.35 * f64::from(k / 5)])).collect();
    let mut immersed = Immersed::new(&images, &bodies, &poses);
    let flow = |[x, y]: [f64; 2]| Sample {
        stream: (PI * x).sin() * (TAU * y).sin(),
        velocity: [TAU * (PI * x).sin() * (TAU * y).cos(), -PI * (PI * x).cos() * (TAU * y).sin()],
    };
    immersed.set_flow(immersed.middles().into_iter().map(flow).collect());
    let drives: Vec<Drive> = (0..10).map(|k| Drive::Free([0.01 * f64::from(k), -0.02, 0.001])).collect();
    let mut solution = Solution::default();
    let solved = immersed.solve(&immersed.influence(), &drives, &[0.0; 10], &mut solution, 1e-6);
    assert!(solved.iterations <= 14 && solved.residual <= 1e-6, "{solved:?}");
    for range in immersed.ranges() {
        let panels = &immersed.panels()[range.clone()];
        let circulation: f64 = panels.iter().zip(&solution.strengths[range]).map(|(p, s)| p.length * s).sum();
        assert!(circulation.abs() < 1e-12);
    }
    // The momenta that were asked for are there to rounding, whatever the tolerance.
    for (k, drive) in drives.iter().enumerate() {
        let Drive::Free(momentum) = *drive else { unreachable!() };
        let found = immersed.momentum(&solution, k);
        assert!(found.iter().zip(momentum).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {momentum:?}");
    }
}

#[test]
fn far_along_a_long_box_is_as_in_its_middle() {
    let at_place =
        |size: [f64; 2], centre: [f64; 2]| added_mass(size, disc(40, 0.2), centre, [1.0, 0.0, 0.0])[0];
    let middle = at_place([16.0, 1.0], [8.0, 0.5]);
    for x in [3.0, 7.5, 12.0, 13.5] {
        assert_near(at_place([16.0, 1.0], [x, 0.5]), middle, 1e-6, x);
    }
    assert_near(at_place([100.0, 1.0], [50.0, 0.5]), middle, 1e-6, "a hundred times as long");
    let along = added_mass([1.0, 16.0], disc(40, 0.2), [0.5, 11.0], [0.0, 1.0, 0.0])[1];
    assert_near(along, middle, 1e-6, "standing");
}

#[test]
fn outlines_that_nearly_touch_are_solved_for() {
    let images = Images::new([1.0; 2]);
    let bodies: Vec<Body> = (0..3).map(|_| Body::of_density(disc(120, 0.1), 0.5)).collect();
    let poses = [at([0.1005, 0.3]), at([0.301, 0.3]), at([0.1005, 0.1005])];
    let immersed = Immersed::new(&images, &bodies, &poses);
    let drives = [[0.1, 0.0, 0.0], [-0.1, 0.0, 1.0], [0.0; 3]].map(Drive::Given);
    let mut solution = Solution::default();
    let solved = immersed.solve(&immersed.influence(), &drives, &[0.0; 3], &mut solution, 1e-12);
    assert!(solved.residual < 1e-12, "{solved:?}");
}
