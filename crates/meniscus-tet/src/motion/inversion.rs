//! When a tet whose vertices move along straight paths is flat for the first time.

use meniscus_core::vector::{cross, dot, norm, sub};

/// How often the motion is halved before the rest of it is given up.
const MAX_DEPTH: u32 = 24;

/// Coefficients below this share of the edges' product are rounding.
const ROUNDING: f64 = 1e-14;

/// A share of the motion, at most one, up to which the tet is certainly positive; all but the very first
/// inversion's, unless it grazes flatness.
///
/// Volume is a cubic of time. In Bernstein form it lies between its coefficients, so it is positive where
/// these are; else the time is halved (de Casteljau).
pub fn share_without_inversion(points: [[f64; 3]; 4], ways: [[f64; 3]; 4]) -> f64 {
    let start: [[f64; 3]; 3] = std::array::from_fn(|i| sub(points[i + 1], points[0]));
    let way: [[f64; 3]; 3] = std::array::from_fn(|i| sub(ways[i + 1], ways[0]));
    let end: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|k| start[i][k] + way[i][k]));
    let edge = |i: usize| norm(start[i]).max(norm(end[i]));
    let floor = ROUNDING * edge(0) * edge(1) * edge(2);
    let det = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| dot(cross(a, b), c);
    let mixed = |u: &[[f64; 3]; 3], v: &[[f64; 3]; 3]| {
        (det(v[0], u[1], u[2]) + det(u[0], v[1], u[2]) + det(u[0], u[1], v[2])) / 3.0
    };
    let coefficients = [
        det(start[0], start[1], start[2]),
        mixed(&start, &end),
        mixed(&end, &start),
        det(end[0], end[1], end[2]),
    ];
    positive_until(coefficients, 0.0, 1.0, floor, MAX_DEPTH)
}

/// Up to where in the interval from `from` to `to` the cubic with these Bernstein coefficients is certainly
/// above `floor`.
fn positive_until(c: [f64; 4], from: f64, to: f64, floor: f64, depth: u32) -> f64 {
    if c.iter().all(|&c| c > floor) {
        return to;
    }
    if c[0] <= floor || depth == 0 {
        return from;
    }
    let middle = 0.5 * (from + to);
    let mean = |a: f64, b: f64| 0.5 * (a + b);
    let [ab, bc, cd] = [mean(c[0], c[1]), mean(c[1], c[2]), mean(c[2], c[3])];
    let [abc, bcd] = [mean(ab, bc), mean(bc, cd)];
    let centre = mean(abc, bcd);
    let left = positive_until([c[0], ab, abc, centre], from, middle, floor, depth - 1);
    if left < middle { left } else { positive_until([centre, bcd, cd, c[3]], middle, to, floor, depth - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicates::is_positive;

    const UNIT: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn an_apex_that_falls_through_its_base() {
        let share = share_without_inversion(UNIT, [[0.0; 3], [0.0; 3], [0.0; 3], [0.0, 0.0, -4.0]]);
        assert!((share - 0.25).abs() < 1e-6 && share <= 0.25, "{share}");
    }

    #[test]
    fn a_tet_that_turns_by_half_a_turn_on_straight_paths_is_flat_half_way() {
        let ways = UNIT.map(|p| [-2.0 * p[0], -2.0 * p[1], 0.0]);
        let share = share_without_inversion(UNIT, ways);
        assert!((share - 0.5).abs() < 1e-3 && share <= 0.5, "{share}");
        let quarter = UNIT.map(|p| [-p[1] - p[0], p[0] - p[1], 0.0]);
        assert_eq!(share_without_inversion(UNIT, quarter), 1.0);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_turned_over_before_the_share(ways in proptest::array::uniform4(proptest::array::uniform3(-2.0..2.0_f64))) {
            let share = share_without_inversion(UNIT, ways);
            for k in 0..=16 {
                let t = share * 0.999 * f64::from(k) / 16.0;
                let at: [[f64; 3]; 4] = std::array::from_fn(|v| std::array::from_fn(|i| UNIT[v][i] + t * ways[v][i]));
                proptest::prop_assert!(is_positive(at));
            }
        }
    }
}
