//! Measurements at places.

use meniscus_core::grid::{Slot, block_len, unravel};
use meniscus_core::interpolate::{interpolate, interpolate_faces};

use crate::measure::wet_part;
use crate::params::Params;
use crate::state::State;
use crate::step::Workspace;

/// The pressure at a point, in Pa: linear between cell centres, 0 outside the liquid.
pub fn pressure<const D: usize>(state: &State<D>, params: &Params<D>, at: [f64; D]) -> f64 {
    let x = params.grid.to_cells(at).map(|x| x - 0.5);
    let base = x.map(|x| x.floor());
    let mut sum = 0.0;
    for k in 0..1 << D {
        let (mut weight, mut cell) = (1.0, [0; D]);
        for a in 0..D {
            let upper: i64 = k >> a & 1;
            let fraction = x[a] - base[a];
            weight *= if upper == 1 { fraction } else { 1.0 - fraction };
            cell[a] = (base[a] as i64 + upper).clamp(0, params.grid.cells[a] as i64 - 1);
        }
        sum += weight * state.pressure.get(cell);
    }
    sum
}

/// The velocity at a point, in m/s; beyond the liquid that of the liquid nearby.
pub fn velocity<const D: usize>(state: &State<D>, params: &Params<D>, at: [f64; D]) -> [f64; D] {
    interpolate_faces(&state.velocity, params.grid.to_cells(at).map(|x| x as f32)).map(f64::from)
}

/// The level set at a point, in cells, where solids are not liquid: there it is extended into them.
fn level_outside_solids<const D: usize>(state: &State<D>, workspace: &Workspace<D>, x: [f32; D]) -> f32 {
    let level = interpolate(&state.level_set, x);
    let to_solid = workspace.walls().and_then(|walls| {
        let slot = walls.blocks().locate(x.map(|c| c.floor() as i64))?;
        Some(walls.distance(slot.block, x))
    });
    to_solid.map_or(level, |distance| level.max(-distance))
}

/// The height of the highest surface on the vertical line through a point, above the floor of the domain,
/// in m; 0 where there is no liquid on the line.
pub fn height<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    at: [f64; D],
) -> f64 {
    let mut x = params.grid.to_cells(at).map(|x| x as f32);
    let top = params.grid.cells[1];
    let mut level = |y: f32| {
        x[1] = y;
        level_outside_solids(state, workspace, x)
    };
    let mut above = level(top as f32 - 0.5);
    if above < 0.0 {
        return top as f64 * params.grid.dx;
    }
    for y in (0..top - 1).rev() {
        let here = level(y as f32 + 0.5);
        if here < 0.0 {
            let part = here / (here - above);
            return f64::from(y as f32 + 0.5 + part) * params.grid.dx;
        }
        above = here;
    }
    // Liquid below the lowest cell centre.
    f64::from((0.5 - above).max(0.0)) * params.grid.dx
}

/// The flow of liquid through a rectangle normal to `axis`, between its lower and upper corner, in its positive
/// direction, in m³/s (2D: m²/s).
pub fn flux<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    axis: usize,
    [from, to]: [[f64; D]; 2],
) -> f64 {
    let (lower, upper) = (params.grid.to_cells(from), params.grid.to_cells(to));
    let plane = lower[axis].round() as i64;
    let mut first = lower.map(|x| x.floor() as i64);
    let mut end = upper.map(|x| x.ceil() as i64);
    (first[axis], end[axis]) = (plane, plane + 1);
    let counts: [usize; D] = std::array::from_fn(|a| (end[a] - first[a]).max(0) as usize);
    let mut sum = 0.0;
    for index in 0..counts.iter().product() {
        let within = unravel(index, counts);
        let cell: [i64; D] = std::array::from_fn(|a| first[a] + within[a] as i64);
        let covered = (0..D).filter(|&a| a != axis).map(|a| {
            let c = cell[a] as f64;
            ((c + 1.0).min(upper[a]) - c.max(lower[a])).max(0.0)
        });
        let wet = wet_part(&state.level_set, axis, cell);
        let open = workspace.walls().map_or(1.0, |walls| f64::from(walls.open.get(axis, cell)));
        sum += covered.product::<f64>() * wet * open * f64::from(state.velocity.get(axis, cell));
    }
    sum * params.grid.dx.powi(D as i32 - 1)
}

/// The farthest coordinate of the liquid along an axis, smallest (`end` 0) or largest (`end` 1), in m; `None`
/// if there is no liquid.
pub fn front<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    axis: usize,
    end: usize,
) -> Option<f64> {
    let phi = &state.level_set;
    let level =
        |cell: [i64; D]| f64::from(level_outside_solids(state, workspace, cell.map(|c| c as f32 + 0.5)));
    let blocks = phi.blocks();
    let sign = 2.0 * end as f64 - 1.0;
    let mut farthest: Option<f64> = None;
    for block in 0..blocks.len() {
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            let cell = blocks.cell(slot);
            if phi[slot] >= 0.0 {
                continue;
            }
            let here = level(cell.map(|c| c as i64));
            if here >= 0.0 || (0..D).any(|a| cell[a] >= blocks.cells()[a]) {
                continue;
            }
            let mut next = cell.map(|c| c as i64);
            next[axis] += if end == 1 { 1 } else { -1 };
            let at_wall = next[axis] < 0 || next[axis] >= blocks.cells()[axis] as i64;
            let beyond = level(next);
            let reach = if at_wall {
                (-here).min(0.5)
            } else if beyond > 0.0 {
                here / (here - beyond)
            } else {
                1.0
            };
            let x = cell[axis] as f64 + 0.5 + sign * reach;
            if farthest.is_none_or(|f| sign * x > sign * f) {
                farthest = Some(x);
            }
        }
    }
    farthest.map(|x| params.grid.origin[axis] + x * params.grid.dx)
}
