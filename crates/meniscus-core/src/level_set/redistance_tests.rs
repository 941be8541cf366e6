//! Distances against analytic ones, drift of the surface, and bits.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::grid::Slot;

fn ball<const D: usize>(centre: [f32; D], radius: f32) -> impl Fn([f32; D]) -> f32 {
    move |x| (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum::<f32>().sqrt() - radius
}

/// The exact distance to a box.
fn cuboid<const D: usize>(lower: [f32; D], upper: [f32; D]) -> impl Fn([f32; D]) -> f32 {
    move |x| {
        let q: [f32; D] = std::array::from_fn(|a| (lower[a] - x[a]).max(x[a] - upper[a]));
        let outside = q.iter().map(|q| q.max(0.0).powi(2)).sum::<f32>().sqrt();
        outside + q.into_iter().fold(f32::NEG_INFINITY, f32::max).min(0.0)
    }
}

fn sample<const D: usize>(cells: [usize; D], f: impl Fn([f32; D]) -> f32 + Sync) -> Field<f32, D> {
    Field::from_fn(Arc::new(Blocks::all(cells)), 1e9, |c| f(c.map(|c| c as f32 + 0.5)))
}

/// The volume inside a signed distance, in cells: cells the surface passes count by their distance.
fn volume<const D: usize>(phi: &Field<f32, D>) -> f64 {
    inner_cells(phi).map(|(_, value)| f64::from((0.5 - value).clamp(0.0, 1.0))).sum()
}

fn inner_cells<const D: usize>(phi: &Field<f32, D>) -> impl Iterator<Item = ([usize; D], f32)> {
    let blocks = phi.blocks();
    let n = block_len::<D>();
    let cells =
        (0..blocks.slots()).map(move |k| (blocks.cell(Slot { block: k / n, local: k % n }), phi.values()[k]));
    cells.filter(|(cell, _)| (0..D).all(|a| cell[a] < blocks.cells()[a]))
}

/// The largest and the mean error of a distance where the exact one is within `width`, and the
/// largest error of the length of its central gradient where the exact distance is within `width - 1`.
fn errors<const D: usize>(
    phi: &Field<f32, D>,
    exact: impl Fn([f32; D]) -> f32,
    width: f32,
) -> (f32, f32, f32) {
    let (mut largest, mut sum, mut count, mut slope_error) = (0.0f32, 0.0, 0, 0.0f32);
    for (cell, value) in inner_cells(phi) {
        let distance = exact(cell.map(|c| c as f32 + 0.5));
        if distance.abs() >= width {
            continue;
        }
        let error = (value - distance).abs();
        largest = largest.max(error);
        sum += error;
        count += 1;
        if distance.abs() < width - 1.0 {
            let slope = (0..D).map(|a| {
                let (mut below, mut above) = (cell.map(|c| c as i64), cell.map(|c| c as i64));
                below[a] -= 1;
                above[a] += 1;
                (0.5 * (phi.get(above) - phi.get(below))).powi(2)
            });
            slope_error = slope_error.max((slope.sum::<f32>().sqrt() - 1.0).abs());
        }
    }
    (largest, sum / count as f32, slope_error)
}

fn sphere<const D: usize>(n: usize) -> (f32, impl Fn([f32; D]) -> f32 + Copy) {
    let radius = 0.3 * n as f32;
    let centre = std::array::from_fn(|a| 0.5 * n as f32 + [0.13, -0.2, 0.11][a]);
    (radius, move |x| ball(centre, radius)(x))
}

/// A level set with the same surface as `exact` and gradients from half to four and a half.
fn distorted<const D: usize>(exact: impl Fn([f32; D]) -> f32) -> impl Fn([f32; D]) -> f32 {
    move |x| exact(x) * (1.0 + 0.5 * (0.7 * x[0]).sin()) * (2.0 + (0.3 * x[1]).cos())
}

fn check_sphere<const D: usize>(n: usize, limits: [f32; 4]) {
    let (radius, exact) = sphere::<D>(n);
    let mut phi = sample([n; D], distorted(exact));
    redistance(&mut phi, 4.0);
    let (largest, mean, slope) = errors(&phi, exact, 3.5);
    let (_, at_surface, _) = errors(&phi, exact, 0.5);
    let measured = [largest, mean, slope, at_surface];
    assert!((0..4).all(|k| measured[k] < limits[k]), "radius {radius}: {measured:?}");
    for (cell, value) in inner_cells(&phi) {
        let distance = exact(cell.map(|c| c as f32 + 0.5));
        assert_eq!(value < 0.0, distance < 0.0);
        assert!(distance.abs() < 4.5 || value.abs() == 4.0);
    }
}

/// Largest and mean error in a band of 3.5 cells, error of the gradient's length, mean error at the
/// surface. Slopes across the surface, rather than around a cell, are off by more where a level set is no distance.
#[test]
fn distances_to_a_distorted_sphere() {
    check_sphere::<2>(32, [0.35, 0.09, 0.25, 0.035]);
    check_sphere::<2>(64, [0.35, 0.06, 0.2, 0.035]);
    check_sphere::<3>(24, [0.35, 0.1, 0.2, 0.03]);
    check_sphere::<3>(48, [0.35, 0.06, 0.2, 0.03]);
}

/// Where the level set is a distance already, only the first-order error of the band is left.
#[test]
fn the_error_in_the_band_is_of_first_order() {
    let mean = |n| {
        let (_, exact) = sphere::<3>(n);
        let mut phi = sample([n; 3], exact);
        redistance(&mut phi, 4.0);
        errors(&phi, exact, 3.5).1
    };
    let (coarse, fine) = (mean(24), mean(48));
    assert!(coarse < 0.07 && (coarse / fine).log2() > 0.9, "{coarse} {fine}");
}

#[test]
fn planes_are_exact() {
    let exact = |x: [f32; 3]| 0.6 * x[0] - 0.48 * x[1] + 0.64 * x[2] - 9.3;
    let mut phi = sample([24; 3], |x| 2.5 * exact(x));
    redistance(&mut phi, 4.0);
    let far_from_sides = |c: [usize; 3]| c.iter().all(|&c| (6..18).contains(&c));
    for (cell, value) in inner_cells(&phi).filter(|(c, _)| far_from_sides(*c)) {
        let distance = exact(cell.map(|c| c as f32 + 0.5)).clamp(-4.0, 4.0);
        assert!((value - distance).abs() < 2e-4, "{cell:?}: {value} {distance}");
    }
}

#[test]
fn a_box_is_a_distance_but_for_its_sharp_edges() {
    let exact = cuboid([5.3, 6.1, 5.0], [26.4, 25.2, 25.9]);
    let mut phi = sample([32; 3], |x| 3.0 * exact(x));
    redistance(&mut phi, 4.0);
    let (largest, mean, _) = errors(&phi, &exact, 3.5);
    assert!(largest < 1.4 && mean < 0.17, "{largest} {mean}");
    for (cell, value) in inner_cells(&phi) {
        let x = cell.map(|c| c as f32 + 0.5);
        // Straight above the middle of a side.
        if (0..3).filter(|&a| x[a] > 13.0 && x[a] < 18.0).count() >= 2 && exact(x).abs() < 3.0 {
            assert!((value - exact(x)).abs() < 5e-3, "{x:?}: {value} {}", exact(x));
        }
    }
}

#[test]
fn fifty_redistancings_do_not_move_the_surface() {
    let drift = |mut phi: Field<f32, 3>| {
        redistance(&mut phi, 3.0);
        let before = volume(&phi);
        for _ in 0..50 {
            redistance(&mut phi, 3.0);
        }
        (volume(&phi) / before - 1.0).abs()
    };
    let (_, exact) = sphere::<3>(32);
    assert!(drift(sample([32; 3], exact)) < 1e-6);
    assert!(drift(sample([32; 3], distorted(exact))) < 1e-3);
    assert!(drift(sample([32; 3], cuboid([7.3, 8.1, 7.0], [24.4, 25.2, 22.9]))) < 5e-3);
}

/// The same scheme by its definition: updates of single cells, anywhere, until none changes.
fn reference<const D: usize>(phi: &Field<f32, D>, band: f32) -> Field<f32, D> {
    let mut result = phi.clone();
    initialise(&mut result, band);
    let inside = |cell: [i64; D]| (0..D).all(|a| cell[a] >= 0 && cell[a] < phi.blocks().cells()[a] as i64);
    let beside = |field: &Field<f32, D>, cell: [usize; D], a: usize| {
        [-1, 1].map(|step| {
            let mut other = cell.map(|c| c as i64);
            other[a] += step;
            let slot = phi.blocks().locate(other).filter(|_| inside(other));
            slot.map(|slot| field[slot])
        })
    };
    let cells: Vec<_> = inner_cells(phi).map(|c| c.0).collect();
    loop {
        let mut change = 0.0f32;
        for &cell in &cells {
            let value = result.get(cell.map(|c| c as i64));
            let neighbours: [[Option<f32>; 2]; D] = std::array::from_fn(|a| beside(&result, cell, a));
            if neighbours.as_flattened().iter().flatten().any(|n| (*n < 0.0) != (value < 0.0)) {
                continue;
            }
            let nearest = neighbours.map(|n| n.into_iter().flatten().fold(band, |m, v| m.min(v.abs())));
            let new = solve_eikonal(nearest.map(|a| [a; BLOCK_EDGE]))[0].min(value.abs());
            change = change.max(value.abs() - new);
            result.set(cell.map(|c| c as i64), new.copysign(value));
        }
        if change < 1e-7 {
            return result;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn blocked_sweeps_equal_cell_by_cell_updates(
        mask in any::<u64>(),
        centres in prop::collection::vec(prop::array::uniform2(0.0f32..36.0), 1..6),
        band in 1.0f32..9.0,
    ) {
        let active = |c: [usize; 2]| mask >> (c[0] + 5 * c[1]) & 3 != 0;
        let blocks = Arc::new(Blocks::new([36, 29], active));
        let mut phi = Field::from_fn(blocks, 9.0, |c| {
            let x = c.map(|c| c as f32 + 0.5);
            centres.iter().map(|&centre| 2.0 * ball(centre, 3.7)(x)).fold(f32::INFINITY, f32::min)
        });
        let expected = reference(&phi, band);
        redistance(&mut phi, band);
        for (k, (&value, &expected)) in phi.values().iter().zip(expected.values()).enumerate() {
            prop_assert!((value - expected).abs() < 1e-3, "{k}: {value} {expected}");
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (_, exact) = sphere::<3>(40);
            let mut phi = sample([40; 3], distorted(exact));
            let info = redistance(&mut phi, 5.0);
            (info, phi.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        })
    };
    assert!(run(1) == run(2) && run(1) == run(3));
}
