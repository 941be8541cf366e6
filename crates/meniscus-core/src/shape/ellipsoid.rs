//! Distances to ellipsoids.

use crate::vector::norm;

/// Coordinates are taken for at least this part of a radius: far below rounding, and the nearest point is the same one from both
/// sides of a plane of symmetry, but not on it. `distances_in_planes_of_symmetry_are_exact` notices 0.
const LEAST: f64 = 1e-100;

/// Newton's method takes about five steps; near the centres of curvature, where the nearest point is hard to tell, some more: 5 are
/// too few for `distances_are_those_to_the_nearest_point_of_all`.
const MOST_STEPS: usize = 64;

/// The signed distance of a point, seen from the centre, to the ellipsoid (2D: the ellipse) with these radii along the axes.
///
/// With radii e, the line from the nearest point x of the surface to the point y is along the normal there, so that y_i - x_i = t x_i / e_i² and
/// x_i = e_i² y_i / (t + e_i²), for the t > -min e_i² that makes x a point of the surface: |p| = 1 with p_i = e_i y_i / (t + e_i²).
/// The distance is t |y_i / (t + e_i²)| with the sign of t.
///
/// 1 / |p| grows and is concave in t. So Newton's method for 1 / |p| = 1 ends where it should, from below without ever passing the
/// solution; it begins where the largest component of p is 1. The unknown is s = t + min e_i², since rounding
/// would lose s where y is near the plane across the shortest radius.
pub(super) fn signed_distance<const D: usize>(point: [f64; D], radii: [f64; D]) -> f64 {
    let shortest = radii.into_iter().fold(f64::INFINITY, f64::min);
    let y: [f64; D] = std::array::from_fn(|a| point[a].abs().max(LEAST * radii[a]));
    let beyond_shortest = radii.map(|e| (e - shortest) * (e + shortest));
    let start = |a: usize| radii[a] * y[a] - beyond_shortest[a];
    let mut s = (0..D).map(start).fold(0.0, f64::max);
    for _ in 0..MOST_STEPS {
        let p: [f64; D] = std::array::from_fn(|a| radii[a] * y[a] / (s + beyond_shortest[a]));
        let length = norm(p);
        let slope: f64 = (0..D).map(|a| p[a] * p[a] / (s + beyond_shortest[a])).sum();
        let next = s + (length - 1.0) * length * length / slope;
        if next <= s * (1.0 + f64::EPSILON) {
            break;
        }
        s = next;
    }
    let along_normal = std::array::from_fn::<f64, D, _>(|a| y[a] / (s + beyond_shortest[a]));
    (s - shortest * shortest) * norm(along_normal)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use crate::shape::Shape;
    use crate::vector::{norm, sub, unit};

    /// A sequence of numbers from 0 to 1 that looks like chance.
    fn numbers() -> impl FnMut() -> f64 {
        let mut seed = 11_u64;
        move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// The least value of a function of angles: on a lattice, then on ever finer ones around the best.
    fn least<const N: usize>(lower: [f64; N], upper: [f64; N], value: impl Fn([f64; N]) -> f64) -> f64 {
        const STEPS: usize = 40;
        let (mut lower, mut upper) = (lower, upper);
        let mut found = f64::INFINITY;
        for _ in 0..14 {
            let step: [f64; N] = std::array::from_fn(|a| (upper[a] - lower[a]) / STEPS as f64);
            let node = |k: usize| -> [f64; N] {
                std::array::from_fn(|a| {
                    lower[a] + step[a] * (k / (STEPS + 1).pow(a as u32) % (STEPS + 1)) as f64
                })
            };
            let nodes = (0..(STEPS + 1).pow(N as u32)).map(|k| (value(node(k)), node(k)));
            let (best, at) = nodes.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            found = best;
            lower = std::array::from_fn(|a| at[a] - 3.0 * step[a]);
            upper = std::array::from_fn(|a| at[a] + 3.0 * step[a]);
        }
        found
    }

    #[test]
    fn distances_are_those_to_the_nearest_point_of_all() {
        let mut next = numbers();
        for _ in 0..60 {
            let radii: [f64; 3] = std::array::from_fn(|_| 10.0_f64.powf(2.0 * next() - 1.0));
            let point: [f64; 3] = radii.map(|e| 1.6 * e * next());
            let shape = Shape::ellipsoid([0.0; 3], radii).unwrap();
            // Seen through a face of the cube around the centre, for each of three.
            let surface = |face: usize, [u, v]: [f64; 2]| {
                let mut direction = unit([1.0, u, v]);
                direction.rotate_right(face);
                std::array::from_fn(|a| radii[a] * direction[a])
            };
            let of_face = |face| least([0.0; 2], [1.0; 2], |at| norm(sub(surface(face, at), point)));
            let nearest = (0..3).map(of_face).fold(f64::INFINITY, f64::min);
            let inside = (0..3).map(|a| (point[a] / radii[a]).powi(2)).sum::<f64>() < 1.0;
            let expected = if inside { -nearest } else { nearest };
            let found = shape.signed_distance(point);
            assert!(
                (found - expected).abs() < 1e-7 * norm(radii),
                "{radii:?} {point:?}: {found}, {expected}"
            );
        }
    }

    #[test]
    fn distances_to_an_ellipse_are_those_to_the_nearest_point_of_all() {
        let mut next = numbers();
        for _ in 0..300 {
            let radii = [1.0, 10.0_f64.powf(2.0 * next() - 1.0)];
            let point = [3.0 * next() - 1.5, (3.0 * next() - 1.5) * radii[1]];
            let shape = Shape::ellipsoid([0.0; 2], radii).unwrap();
            let on = |u: f64| [radii[0] * u.cos(), radii[1] * u.sin()];
            let nearest = least([0.0], [TAU], |[u]| norm(sub(on(u), point)));
            let found = shape.signed_distance(point);
            assert!((found.abs() - nearest).abs() < 1e-7, "{radii:?} {point:?}: {found}, {nearest}");
            assert_eq!(found < 0.0, point[0].hypot(point[1] / radii[1]) < 1.0);
        }
    }

    /// In planes of symmetry the nearest points are two, or all of a circle.
    #[test]
    fn distances_in_planes_of_symmetry_are_exact() {
        let of = |radii: [f64; 3], point: [f64; 3]| {
            Shape::ellipsoid([0.0; 3], radii).unwrap().signed_distance(point)
        };
        assert!((of([3.0, 2.0, 1.0], [0.0; 3]) + 1.0).abs() < 1e-15);
        assert!((of([3.0, 1.0, 1.0], [0.0; 3]) + 1.0).abs() < 1e-15);
        assert!((of([3.0, 3.0, 1.0], [0.0; 3]) + 1.0).abs() < 1e-15);
        for (axis, radius) in [3.0, 2.0, 1.0].into_iter().enumerate() {
            let mut point = [0.0; 3];
            point[axis] = -radius - 0.25;
            assert!((of([3.0, 2.0, 1.0], point) - 0.25).abs() < 1e-14);
            point[axis] = radius;
            assert!(of([3.0, 2.0, 1.0], point).abs() < 1e-14);
        }
        // Within the focal curve the nearest point is above or below; of an ellipse, at a x² / (a² - b²).
        let (a, b, x) = (2.0_f64, 1.0_f64, 1.2_f64);
        let foot = a * a * x / (a * a - b * b);
        let distance = (foot - x).hypot(b * (1.0 - (foot / a).powi(2)).sqrt());
        assert!((of([a, b, 5.0], [x, 0.0, 0.0]) + distance).abs() < 1e-14);
    }

    #[test]
    fn what_is_nearly_a_ball_or_a_plate_or_a_needle_has_its_distance() {
        let of = |radii: [f64; 3], point: [f64; 3]| {
            Shape::ellipsoid([0.0; 3], radii).unwrap().signed_distance(point)
        };
        let (point, ball) = ([0.3, -0.4, 1.2], 0.3);
        assert!((of([1.0, 1.0 + 1e-15, 1.0], point) - ball).abs() < 1e-14);
        // A plate seen from above, and a needle seen from the side.
        assert!((of([1e6, 1.0, 1e6], [5.0, 3.0, -2.0]) - 2.0).abs() < 1e-9);
        assert!((of([1e-3, 1e6, 1e-3], [0.6, 20.0, 0.8]) - (1.0 - 1e-3)).abs() < 1e-9);
        // Far away, and tiny.
        assert!((of([1e-9, 2e-9, 3e-9], [0.0, 1e9, 0.0]) - 1e9).abs() < 1e-3);
    }

    /// Also around the centres of curvature, where the nearest point jumps.
    #[test]
    fn distances_change_by_no_more_than_the_way() {
        let mut next = numbers();
        let shape = Shape::ellipsoid([0.1, 0.2, -0.1], [1.0, 0.4, 0.05]).unwrap();
        for k in 0..40_000 {
            let point: [f64; 3] = std::array::from_fn(|_| 2.4 * next() - 1.2);
            let reach = 10.0_f64.powi(-(k % 8));
            let other: [f64; 3] = std::array::from_fn(|a| point[a] + reach * (next() - 0.5));
            let change = (shape.signed_distance(point) - shape.signed_distance(other)).abs();
            assert!(change <= norm(sub(point, other)) * (1.0 + 1e-12) + 1e-15, "{point:?} {other:?}");
        }
    }
}
