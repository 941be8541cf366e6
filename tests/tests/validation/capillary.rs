//! What tests of drops, bubbles and waves share.

use meniscus_core::grid::{FaceField, Grid};
use meniscus_liquid::{Params, State, Surroundings, Workspace, max_time_step, step};
use meniscus_tests::all_cells;

/// Liquid of density and surface tension 1, with neither gravity nor viscosity.
pub fn params<const D: usize>(dx: f64, cells: [usize; D]) -> Params<D> {
    let grid = Grid { origin: [0.0; D], dx, cells };
    Params { gravity: [0.0; D], density: 1.0, surface_tension: 1.0, ..Params::new(grid) }
}

/// Sets the liquid in motion.
pub fn set_flow<const D: usize>(
    state: &mut State<D>,
    params: &Params<D>,
    flow: impl Fn([f64; D]) -> [f64; D] + Sync,
) {
    let grid = params.grid;
    let particles = &mut state.particles;
    let affine = particles.affine.as_mut().expect("APIC");
    for ((x, v), affine) in particles.position.iter().zip(&mut particles.velocity).zip(affine) {
        let at = |x: [f64; D]| flow(grid.point(x));
        let x = x.map(f64::from);
        *v = at(x).map(|u| u as f32);
        for a in 0..D {
            let (mut below, mut above) = (x, x);
            below[a] -= 0.1;
            above[a] += 0.1;
            let (below, above) = (at(below), at(above));
            for c in 0..D {
                affine[c][a] = ((above[c] - below[c]) / 0.2) as f32;
            }
        }
    }
    state.velocity = FaceField::from_fn(state.velocity.blocks().clone(), 0.0, |axis, cell| {
        flow(grid.face_centre(axis, cell.map(|c| c as i64)))[axis] as f32
    });
    let speeds = state.velocity.axes.iter().flat_map(|axis| axis.values());
    state.max_speed = f64::from(speeds.fold(0.0, |max: f32, u| max.max(u.abs())));
}

/// Runs until `end` at the largest time step, and tells what `watch` sees after each substep.
pub fn run<const D: usize, W>(
    state: &mut State<D>,
    params: &Params<D>,
    end: f64,
    watch: impl Fn(&State<D>) -> W,
) -> Vec<(f64, W)> {
    let mut workspace = Workspace::default();
    let mut seen = vec![(state.time, watch(state))];
    while state.time < end {
        let dt = max_time_step(state, params);
        step(state, params, &Surroundings::default(), dt, &mut workspace).expect("the solve converges");
        seen.push((state.time, watch(state)));
    }
    seen
}

/// The difference of the second moments of the liquid about a centre along y and along x, over its volume.
pub fn elongation<const D: usize>(state: &State<D>, params: &Params<D>, centre: [f64; D]) -> f64 {
    let (mut sum, mut volume) = (0.0, 0.0);
    for cell in all_cells(params.grid.cells).map(|cell| cell.map(|c| c as i64)) {
        let part = f64::from((0.5 - state.level_set.get(cell)).clamp(0.0, 1.0));
        let x = params.grid.cell_centre(cell);
        sum += part * ((x[1] - centre[1]).powi(2) - (x[0] - centre[0]).powi(2));
        volume += part;
    }
    sum / volume
}

/// The times at which a curve crosses zero, but for the beginning.
pub fn crossings(curve: &[(f64, f64)]) -> Vec<f64> {
    let changes = curve.windows(2).skip(1).filter(|w| w[0].1 * w[1].1 < 0.0);
    changes.map(|w| w[0].0 + (w[1].0 - w[0].0) * w[0].1 / (w[0].1 - w[1].1)).collect()
}
