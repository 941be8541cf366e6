use proptest::prelude::*;

use super::*;
use crate::shape::Shape;

/// The part of the unit cube where `normal . x > offset`, by inclusion and exclusion over the corners
/// of the half-space; `normal` must have no component near zero.
fn open_part_of_unit_cube<const K: usize>(normal: [f64; K], offset: f64) -> f64 {
    // Mirror the axes with a negative component, then measure the complement: normal . x < offset.
    let offset = offset + normal.iter().map(|n| (-n).max(0.0)).sum::<f64>();
    let normal = normal.map(f64::abs);
    let factorial = (1..=K).product::<usize>() as f64;
    let volume: f64 = (0..1 << K)
        .map(|corner: usize| {
            let passed: f64 = (0..K).filter(|a| corner >> a & 1 == 1).map(|a| normal[a]).sum();
            let sign = if corner.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * (offset - passed).max(0.0).powi(K as i32)
        })
        .sum();
    1.0 - volume / (factorial * normal.iter().product::<f64>())
}

fn plane_corners<const K: usize>(normal: [f64; K], offset: f64) -> Vec<f64> {
    (0..1 << K)
        .map(|corner: usize| (0..K).map(|a| normal[a] * (corner >> a & 1) as f64).sum::<f64>() - offset)
        .collect()
}

/// The corners after a symmetry of the `K`-cube: a permutation of the axes and a mirror mask.
fn permuted<const K: usize>(corners: &[f64], axes: [usize; K], mirror: usize) -> Vec<f64> {
    (0..1 << K)
        .map(|corner: usize| {
            let image: usize = (0..K).map(|a| ((corner ^ mirror) >> a & 1) << axes[a]).sum();
            corners[image]
        })
        .collect()
}

fn component() -> impl Strategy<Value = f64> {
    prop_oneof![0.05..1.0, -1.0..-0.05]
}

/// Corner distances with zeros, equal magnitudes and both signs well represented.
fn corner() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -1.0..1.0, 1 => Just(0.0), 1 => Just(0.5), 1 => Just(-0.5)]
}

/// The same with distances that are rounding noise.
fn noisy_corner() -> impl Strategy<Value = f64> {
    prop_oneof![3 => corner(), 1 => -1e-14..1e-14]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn planes_are_exact(n in [component(), component(), component()], t in 0.0..1.0) {
        let across = |n: &[f64]| {
            let lowest: f64 = n.iter().map(|x| x.min(0.0)).sum();
            lowest + t * n.iter().map(|x| x.abs()).sum::<f64>()
        };
        // The reference loses digits by cancellation when a component is small; 1e-12 covers it.
        let n2 = [n[0], n[1]];
        let square = open_part_of_unit_cube(n2, across(&n2));
        let corners = plane_corners(n2, across(&n2));
        prop_assert!((cell_open_fraction::<2>(&corners) - square).abs() < 1e-12);
        prop_assert!((face_open_fraction::<3>(&corners) - square).abs() < 1e-12);
        let cube = open_part_of_unit_cube(n, across(&n));
        prop_assert!((cell_open_fraction::<3>(&plane_corners(n, across(&n))) - cube).abs() < 1e-12);
        let segment = open_part_of_unit_cube([n[0]], across(&n[..1]));
        let corners = plane_corners([n[0]], across(&n[..1]));
        prop_assert!((face_open_fraction::<2>(&corners) - segment).abs() < 1e-15);
    }

    #[test]
    fn open_and_solid_fill_the_whole(d in prop::collection::vec(noisy_corner(), 8)) {
        for corners in [&d[..2], &d[..4], &d[..]] {
            prop_assume!(corners.iter().any(|&d| d != 0.0));
            let negated: Vec<f64> = corners.iter().map(|d| -d).collect();
            let (open, solid) = (open_fraction(corners), open_fraction(&negated));
            prop_assert!((0.0..=1.0).contains(&open), "{open}");
            prop_assert!((open + solid - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn mirrored_and_rotated_corners_give_the_same(d in prop::collection::vec(corner(), 8), mirror in 0_usize..8) {
        for axes in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 0, 1]] {
            let image = permuted(&d, axes, mirror);
            prop_assert!((open_fraction(&image) - open_fraction(&d)).abs() < 1e-14);
        }
        for axes in [[0, 1], [1, 0]] {
            let image = permuted(&d[..4], axes, mirror & 3);
            prop_assert!((open_fraction(&image) - open_fraction(&d[..4])).abs() < 1e-14);
        }
    }

    #[test]
    fn more_distance_opens_more(d in prop::collection::vec(corner(), 8), raised in 0_usize..8, by in 0.0..0.5) {
        for len in [2, 4, 8] {
            let mut more = d[..len].to_vec();
            more[raised % len] += by;
            prop_assert!(open_fraction(&more) >= open_fraction(&d[..len]) - 1e-14);
        }
    }

    #[test]
    fn theta_finds_the_zero_and_respects_the_clamp(liquid in -1.0..0.0, air in 0.0..1.0, minimum in 0.0..0.2) {
        let exact = ghost_fluid_fraction(liquid, air, 0.0);
        prop_assert!(((1.0 - exact) * liquid + exact * air).abs() < 1e-15);
        prop_assert_eq!(ghost_fluid_fraction(liquid, air, minimum), exact.max(minimum));
    }
}

#[test]
fn saddles_share_the_face_fairly() {
    assert_eq!(face_open_fraction::<3>(&[1.0, -1.0, -1.0, 1.0]), 0.5);
    // The centre (1) is open, so the open corners are joined and the closed ones are cut off: a quarter
    // of the way along each edge, half of the way to the centre.
    assert_eq!(face_open_fraction::<3>(&[3.0, -1.0, -1.0, 3.0]), 1.0 - 0.25 * 0.5);
}

#[test]
fn corners_on_the_surface_are_no_special_case() {
    assert_eq!(face_open_fraction::<2>(&[0.0, 1.0]), 1.0);
    assert_eq!(face_open_fraction::<2>(&[0.0, -1.0]), 0.0);
    assert_eq!(face_open_fraction::<3>(&[0.0, 0.0, 1.0, 1.0]), 1.0);
    assert_eq!(face_open_fraction::<3>(&[0.0, 1.0, -1.0, 0.0]), 0.5);
    assert_eq!(face_open_fraction::<3>(&[0.0; 4]), 0.0);
    assert_eq!(cell_open_fraction::<3>(&[0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -1.0]), 0.0);
}

#[test]
fn theta_is_defined_without_a_sign_change() {
    assert_eq!(ghost_fluid_fraction(0.0, 0.0, 0.01), 1.0);
    assert_eq!(ghost_fluid_fraction(-1.0, -0.5, 0.01), 1.0);
    assert_eq!(ghost_fluid_fraction(0.0, 1.0, 0.01), 0.01);
    assert_eq!(ghost_fluid_fraction(0.5, 1.0, 0.01), 0.01);
    assert_eq!(ghost_fluid_fraction(-1.0, 0.0, 0.01), 1.0);
}

/// A tank whose walls lie on grid lines: the distances there are rounding noise of either sign.
#[test]
fn faces_in_an_aligned_wall_are_closed() {
    for cells in [7_usize, 10, 60] {
        let dx = 0.7 / cells as f64;
        let grid = Grid::<3> { origin: [-0.3, 0.1, 0.2], dx, cells: [cells; 3] };
        let inset = |n: usize| grid.node([n as i64; 3]);
        let tank = Shape::box_between(inset(2), inset(cells - 2)).unwrap().complement();
        for axis in 0..3 {
            for wall in [2, cells as i64 - 2] {
                let mut cell = [3; 3];
                cell[axis] = wall;
                let distance = |node| tank.signed_distance(grid.node(node));
                assert_eq!(grid_face_open_fraction(&grid, axis, cell, distance), 0.0);
            }
        }
    }
}

/// Linear interpolation sees the curved surface about h²/(6 R) too far inside: the volume is too small by
/// about (h/R)²/2.
#[test]
fn a_ball_is_measured_to_second_order() {
    let radius = 0.3;
    let ball = Shape::<3>::sphere([0.51, 0.48, 0.53], radius).unwrap();
    let exact = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    let error = |cells: i64| {
        let grid = Grid::<3> { origin: [0.0; 3], dx: 1.0 / cells as f64, cells: [cells as usize; 3] };
        let solid = |node| -ball.signed_distance(grid.node(node));
        let mut volume = 0.0;
        for index in 0..cells.pow(3) {
            let cell = [index % cells, index / cells % cells, index / (cells * cells)];
            volume += grid_cell_open_fraction(cell, solid) * grid.dx.powi(3);
        }
        (volume / exact - 1.0).abs()
    };
    let errors = [error(12), error(24), error(48)];
    assert!(errors[0] < 0.04 && errors[0] / errors[2] > 15.0, "{errors:?}");
}
