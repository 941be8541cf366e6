//! Measurements at places.

#[cfg(test)]
mod tests;
mod within;

use meniscus_core::grid::{Slot, block_len, unravel};
use meniscus_core::interpolate::{interpolate, interpolate_faces};

use crate::measure::wet_part;
use crate::params::Params;
use crate::state::State;
use crate::step::Workspace;
pub use within::{LiquidWithin, within};

/// How often the way between two cells is halved to tell where liquid gets too thin to count: to a millionth of a cell.
const HALVINGS_OF_A_WAY: u32 = 20;

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

/// The distance to the solids at a point, in cells, as far as they are in sight.
fn distance_to_solids<const D: usize>(workspace: &Workspace<D>, x: [f32; D]) -> f32 {
    let seen = workspace.walls().and_then(|walls| {
        let slot = walls.blocks().locate(x.map(|c| c.floor() as i64))?;
        Some(walls.distance(slot.block, x))
    });
    seen.unwrap_or(f32::INFINITY)
}

/// The level set at a point, in cells, where solids are not liquid: there it is extended into them.
fn level_outside_solids<const D: usize>(state: &State<D>, workspace: &Workspace<D>, x: [f32; D]) -> f32 {
    interpolate(&state.level_set, x).max(-distance_to_solids(workspace, x))
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
    // Liquid below the lowest cell centre, unless that is what a solid fills.
    x[1] = 0.5;
    let surface = (0.5 - interpolate(&state.level_set, x)).max(0.0);
    x[1] = surface;
    if distance_to_solids(workspace, x) > 0.0 { f64::from(surface) * params.grid.dx } else { 0.0 }
}

/// The height of the lowest place on the vertical line through a point where liquid has air right below it, above the floor of the domain, in m;
/// `None` where there is no such place. Liquid that stands on a solid, or on the floor, has none.
pub fn underside<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    at: [f64; D],
) -> Option<f64> {
    let foot = params.grid.to_cells(at).map(|x| x as f32);
    let above_foot = |y: f32| {
        let mut x = foot;
        x[1] = y;
        x
    };
    // Between the centres of cells the level set is linear along the line.
    let level = |cell: usize| interpolate(&state.level_set, above_foot(cell as f32 + 0.5));
    let crossing = |cell: usize| {
        let (below, above) = (level(cell - 1), level(cell));
        (below >= 0.0 && above < 0.0).then(|| cell as f32 - 0.5 + below / (below - above))
    };
    let is_in_the_open = |cell: usize, y: f32| {
        let at = above_foot(cell as f32);
        let face = std::array::from_fn(|a| (at[a] as i64).min(params.grid.cells[a] as i64 - 1));
        let has_wall = workspace.walls().is_some_and(|walls| walls.open.get(1, face) == 0.0);
        !has_wall && distance_to_solids(workspace, above_foot(y)) > 0.0
    };
    let found =
        (1..params.grid.cells[1]).find_map(|cell| crossing(cell).filter(|&y| is_in_the_open(cell, y)));
    found.map(|y| f64::from(y) * params.grid.dx)
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
    sum * params.face_area()
}

/// The farthest coordinate of the liquid along an axis, smallest (`end` 0) or largest (`end` 1), in m; `None`
/// if there is no liquid. What is thinner than `least`, in m, along any axis does not count.
pub fn front<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    (axis, end): (usize, usize),
    least: f64,
) -> Option<f64> {
    let phi = &state.level_set;
    let level =
        |cell: [i64; D]| f64::from(level_outside_solids(state, workspace, cell.map(|c| c as f32 + 0.5)));
    let blocks = phi.blocks();
    let sign = 2.0 * end as f64 - 1.0;
    let least = least / params.grid.dx;
    let thickness = |x: [f32; D]| {
        thickness(&|x| f64::from(level_outside_solids(state, workspace, x)), blocks.cells(), x, least)
    };
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
            let if_farther = |reach: f64| {
                let x = cell[axis] as f64 + 0.5 + sign * reach;
                farthest.is_none_or(|f| sign * x > sign * f).then_some(x)
            };
            // Few cells are farther than all before them: only there the thickness is looked for.
            if if_farther(reach).is_none() {
                continue;
            }
            let centre = cell.map(|c| c as f32 + 0.5);
            if thickness(centre) < least {
                continue;
            }
            let thickness_beyond = |way: f64| {
                let mut x = centre;
                x[axis] += (sign * way) as f32;
                thickness(x)
            };
            // On the way to the next cell it may get too thin.
            let tapers = !at_wall && beyond < 0.0 && thickness_beyond(1.0) < least;
            let reach = if tapers { last_where(|way| thickness_beyond(way) >= least) } else { reach };
            farthest = if_farther(reach).or(farthest);
        }
    }
    farthest.map(|x| params.grid.origin[axis] + x * params.grid.dx)
}

/// How far from 0 to 1 something holds that holds at 0 and not at 1.
fn last_where(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut lower, mut upper) = (0.0, 1.0);
    for _ in 0..HALVINGS_OF_A_WAY {
        let middle = 0.5 * (lower + upper);
        if holds(middle) {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    lower
}

/// How thick the liquid is at a point, in cells: along the axis along which it is thinnest, from surface, solid or side to the next, and
/// no more than just beyond `most`.
fn thickness<const D: usize>(
    level: &impl Fn([f32; D]) -> f64,
    cells: [usize; D],
    point: [f32; D],
    most: f64,
) -> f64 {
    let middle = level(point);
    if middle >= 0.0 {
        return 0.0;
    }
    let to_end = |axis: usize, step: f32| {
        let (mut at, mut here, mut length) = (point, middle, 0.0);
        while length <= most {
            let to_side = f64::from(if step < 0.0 { at[axis] } else { cells[axis] as f32 - at[axis] });
            if to_side < 1.0 {
                return length + to_side;
            }
            at[axis] += step;
            let next = level(at);
            if next >= 0.0 {
                return length + here / (here - next);
            }
            (here, length) = (next, length + 1.0);
        }
        length
    };
    (0..D).map(|axis| to_end(axis, -1.0) + to_end(axis, 1.0)).fold(f64::INFINITY, f64::min)
}
