use std::sync::Arc;

use meniscus_core::fractions::ghost_fluid_fraction;
use meniscus_core::grid::{Blocks, FaceField, Grid, unravel};
use meniscus_core::level_set::redistance;
use meniscus_core::shape::Shape;

use super::*;
use crate::boundary::BoundaryCache;
use crate::substep::Substep;
use crate::surface::advect_surface;
use crate::surroundings::{Solid, Surroundings};

const BAND: f32 = 5.0;

/// Curvatures on a grid of cells of 1 m, of a surface with the tension 1.
fn pressure_of<const D: usize>(phi: &Field<f32, D>, solids: Vec<Solid<D>>) -> Field<f32, D> {
    let cells = phi.blocks().cells();
    let params = Params { surface_tension: 1.0, ..Params::new(Grid { origin: [0.0; D], dx: 1.0, cells }) };
    let surroundings = Surroundings { solids, ..Surroundings::default() };
    let boundary = Boundary::new(&params, &surroundings, phi.blocks(), &mut BoundaryCache::default());
    surface_pressure(&params, phi, &boundary)
}

fn field<const D: usize>(cells: [usize; D], phi: impl Fn([f64; D]) -> f64 + Sync) -> Field<f32, D> {
    let band = f64::from(BAND);
    let at = |cell: [usize; D]| phi(cell.map(|c| c as f64 + 0.5)).clamp(-band, band) as f32;
    Field::from_fn(Arc::new(Blocks::all(cells)), BAND, at)
}

/// The curvature where each face crosses the surface, as the projection takes it.
fn at_faces<const D: usize>(phi: &Field<f32, D>, pressure: &Field<f32, D>) -> Vec<f64> {
    let cells = phi.blocks().cells();
    let mut found = Vec::new();
    for cell in (0..cells.iter().product()).map(|index| unravel(index, cells)) {
        for axis in (0..D).filter(|&a| cell[a] > 0) {
            let upper = cell.map(|c| c as i64);
            let mut lower = upper;
            lower[axis] -= 1;
            let wet = |c| phi.get(c) < 0.0;
            let (inner, outer) = match (wet(lower), wet(upper)) {
                (true, false) => (lower, upper),
                (false, true) => (upper, lower),
                _ => continue,
            };
            let theta = ghost_fluid_fraction(f64::from(phi.get(inner)), f64::from(phi.get(outer)), 0.0);
            let at = |c| f64::from(pressure.get(c));
            found.push((1.0 - theta) * at(inner) + theta * at(outer));
        }
    }
    found
}

/// The relative errors of the curvature of a ball of a radius in cells, the mean and the root mean square about it:
/// of exact distances, after a redistancing, and after 50 times a tenth of a cell of way and a redistancing.
fn errors<const D: usize>(radius: f64) -> [[f64; 2]; 3] {
    let n = (2.0 * radius + 16.0).ceil() as usize;
    let mut sums = [[0.0; 3]; 3];
    for trial in 0..if D == 2 { 8 } else { 2 } {
        let shift: [f64; D] = std::array::from_fn(|a| ((trial * (3 * a + 2) + a) as f64 * 0.618).fract());
        let centre: [f64; D] = std::array::from_fn(|a| 0.5 * n as f64 - 2.0 + shift[a]);
        let ball = |x: [f64; D]| (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum::<f64>().sqrt() - radius;
        let exact = field([n; D], ball);
        let mut distance = exact.clone();
        redistance(&mut distance, BAND);
        let mut moved = distance.clone();
        let velocity = FaceField::from_fn(moved.blocks().clone(), 0.0, |axis, _| [0.09, 0.05, 0.03][axis]);
        let grid = Grid { origin: [0.0; D], dx: 1.0, cells: [n; D] };
        let params = &Params { surface_tension: 1.0, ..Params::new(grid) };
        let surroundings = &Surroundings::default();
        let boundary = &Boundary::new(params, surroundings, moved.blocks(), &mut BoundaryCache::default());
        let substep = Substep { params, surroundings, dt: 1.0, boundary };
        for _ in 0..50 {
            moved = advect_surface(substep, &moved, &velocity, 0.2 / (D as f64).sqrt());
            redistance(&mut moved, BAND);
        }
        for (sum, phi) in sums.iter_mut().zip([exact, distance, moved]) {
            for found in at_faces(&phi, &pressure_of(&phi, vec![])) {
                let error = found * radius / (D - 1) as f64 - 1.0;
                *sum = [sum[0] + 1.0, sum[1] + error, sum[2] + error * error];
            }
        }
    }
    sums.map(|[n, sum, squares]| [sum / n, (squares / n - (sum / n).powi(2)).max(0.0).sqrt()])
}

/// There is no bias. What is left, which drives currents, is small for
/// exact distances, and is the noise of the level set for others.
#[test]
fn balls_have_their_curvature() {
    fn check<const D: usize>(radius: f64, noise: [f64; 3]) {
        for ([mean, rms], most) in errors::<D>(radius).into_iter().zip(noise) {
            assert!(mean.abs() < 0.003, "{D}D, radius {radius}: {mean}");
            assert!(rms < most, "{D}D, radius {radius}: {rms}");
        }
    }
    check::<2>(6.0, [0.006, 0.012, 0.06]);
    check::<2>(12.0, [0.002, 0.006, 0.025]);
    check::<2>(30.0, [0.001, 0.005, 0.017]);
    check::<3>(6.0, [0.004, 0.009, 0.04]);
}

/// A plane has no curvature, in the open, at the sides of the domain and at solids that it meets at right angles.
#[test]
fn planes_have_none() {
    let plane = field([24, 24], |x| x[1] - 11.3);
    let wall = Shape::box_between([-9.0, -9.0], [5.3, 33.0]).unwrap();
    let pressure = pressure_of(&plane, vec![Solid::fixed(wall)]);
    assert!(pressure.values().iter().all(|p| p.abs() < 1e-5));
    let tilted = field([24; 3], |x| (0.6 * x[0] + 0.7 * x[1] + 0.3 * x[2] - 18.0) / 0.94_f64.sqrt());
    let pressure = pressure_of(&tilted, vec![]);
    // Out of sight of the sides, which it does not meet at right angles.
    for cell in (0..14 * 14 * 14).map(|index| unravel(index, [14; 3]).map(|c| c as i64 + 5)) {
        assert!(pressure.get(cell).abs() < 1e-5);
    }
}

/// Half a disc on a wall, and a quarter of one in a corner, have the curvature of the whole.
#[test]
fn surfaces_meet_walls_at_right_angles() {
    let quarter = field([24, 24], |x| x[0].hypot(x[1]) - 9.3);
    for kappa in at_faces(&quarter, &pressure_of(&quarter, vec![])) {
        assert!((kappa * 9.3 - 1.0).abs() < 0.03, "{kappa}");
    }
    // In the solid the surface goes straight on.
    let half = field([24, 24], |x| (x[0] - 12.2).hypot((x[1] - 6.4).max(0.0)) - 8.1);
    let floor = Shape::box_between([-9.0, -9.0], [33.0, 6.4]).unwrap();
    let pressure = pressure_of(&half, vec![Solid::fixed(floor)]);
    for cell in (0..24 * 17).map(|index| unravel(index, [24, 17])) {
        let kappa = f64::from(pressure.get([cell[0] as i64, cell[1] as i64 + 7]));
        assert!(kappa == 0.0 || (kappa * 8.1 - 1.0).abs() < 0.05, "{kappa} at {cell:?}");
    }
}

/// Drops and films below the size of a cell have a bounded curvature.
#[test]
fn what_the_grid_does_not_resolve_is_bounded() {
    for size in [0.1, 0.4, 0.8, 1.5] {
        let drop = field([16; 3], |x| (0..3).map(|a| (x[a] - 8.4).powi(2)).sum::<f64>().sqrt() - size);
        let film = field([16; 3], |x| (x[1] - 8.3 + 0.3 * (x[0] * 1.3).sin()).abs() - 0.5 * size);
        for phi in [drop, film] {
            assert!(pressure_of(&phi, vec![]).values().iter().all(|p| p.abs() <= 2.0));
        }
    }
}
