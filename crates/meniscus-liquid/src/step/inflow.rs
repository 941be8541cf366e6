//! Sources, sinks and open sides: what enters and leaves.

use std::collections::{BTreeSet, HashMap};

use meniscus_core::fractions::grid_face_open_fraction;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, Slot, block_len, local_index, sides};
use meniscus_core::parallel::{self, PIECE};
use meniscus_core::particles::{BlockRanges, jittered};
use meniscus_core::shape::Shape;

use super::ranges::PhaseRanges;
use super::workspace::Workspace;
use crate::books::Ledger;
use crate::boundary::{Boundary, covered_cells};
use crate::measure::{liquid_by_block, wet_part_around};
use crate::params::{AirModel, Params};
use crate::particles::{Newcomers, half_of};
use crate::state::State;
use crate::substep::{Given, Substep};
use crate::surroundings::{Solid, Source, Surroundings};
use crate::sweep::is_seen_before;

/// Fills the sources: level set, and a particle in every half-cell without one. A source that has just opened sends
/// nothing out yet: it has its velocity from the next projection on.
pub fn pour<const D: usize>(
    state: &mut State<D>,
    ranges: &BlockRanges<D>,
    params: &Params<D>,
    surroundings: &Surroundings<D>,
) -> Newcomers<D> {
    fill_sources(&mut state.level_set, params, &surroundings.sources);
    let mut newcomers = Newcomers::default();
    for source in &surroundings.sources {
        let mut places = empty_halves(state, ranges, &covered_cells(params, &source.shape));
        places.retain(|x| is_poured(params, &surroundings.solids, *x));
        newcomers.join(places, source.velocity.map(|v| v as f32), params);
    }
    newcomers
}

/// Whether no wall parts a place from the middle of its cell, by which the cell is one of a source.
fn is_poured<const D: usize>(params: &Params<D>, solids: &[Solid<D>], x: [f32; D]) -> bool {
    let centre = params.grid.cell_centre(x.map(|c| c as i64));
    let is_covered = solids.iter().any(|solid| solid.distance_before(centre) <= 0.0);
    is_covered || is_seen_before(params, solids, [centre, params.to_metres(x)])
}

/// Adds the sources to the liquid of a level set.
pub fn fill_sources<const D: usize>(
    level_set: &mut Field<f32, D>,
    params: &Params<D>,
    sources: &[Source<D>],
) {
    for source in sources {
        combine(level_set, params, &source.shape, |value, distance| value.min(distance));
    }
}

/// Changes a level set around a shape by the distance from it, in cells.
fn combine<const D: usize>(
    level_set: &mut Field<f32, D>,
    params: &Params<D>,
    shape: &Shape<D>,
    change: impl Fn(f32, f32) -> f32 + Sync,
) {
    let blocks = level_set.blocks().clone();
    parallel::for_chunks(level_set.values_mut(), block_len::<D>(), |block, values| {
        if !touches(params, shape, blocks.coord(block)) {
            return;
        }
        for (local, value) in values.iter_mut().enumerate() {
            let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
            let distance = shape.signed_distance(params.grid.cell_centre(cell)) / params.grid.dx;
            *value = change(*value, distance as f32);
        }
    });
}

/// A place in each half of the cells that holds no particle.
fn empty_halves<const D: usize>(
    state: &State<D>,
    ranges: &BlockRanges<D>,
    cells: &[[i64; D]],
) -> Vec<[f32; D]> {
    let blocks = ranges.blocks();
    let mut taken_in = HashMap::new();
    let mut new = Vec::new();
    for &cell in cells {
        let Some(slot) = blocks.locate(cell) else { continue };
        let of_block = || occupied_halves(&state.particles.position[ranges.range(slot.block)]);
        let taken = taken_in.entry(slot.block).or_insert_with(of_block)[slot.local];
        let empty = (0..1 << D).filter(|k| taken >> k & 1 == 0);
        new.extend(empty.map(|k| jittered(cell.map(|c| c as usize), k, state.substep)));
    }
    new
}

/// The half-cells that hold a particle, a bit each, of the cells of a block. Particles that a reseeding took away
/// are at no position; they count nowhere.
fn occupied_halves<const D: usize>(position: &[[f32; D]]) -> [u8; BLOCK_EDGE.pow(3)] {
    let mut halves = [0; BLOCK_EDGE.pow(3)];
    for x in position.iter().filter(|x| x[0].is_finite()) {
        halves[local_index(x.map(|c| c as usize % BLOCK_EDGE))] |= 1 << half_of(*x);
    }
    halves
}

/// Empties the sinks; gives the number of particles taken. They are put at no position, so that the next
/// sort drops them.
pub fn drain<const D: usize>(state: &mut State<D>, params: &Params<D>, sinks: &[Shape<D>]) -> usize {
    let mut drained = 0;
    empty_sinks(&mut state.level_set, params, sinks);
    for sink in sinks {
        let particles = &mut state.particles;
        let bounds = sink.bounds();
        let is_drained = |x: &[f32; D]| {
            let point = params.to_metres(*x);
            bounds.contains(point) && sink.signed_distance(point) < 0.0
        };
        let drained_of = |_: usize, position: &mut [[f32; D]]| {
            let taken = position.iter_mut().filter(|x| is_drained(x));
            taken.map(|x| *x = [f32::NAN; D]).count()
        };
        let counts = parallel::map_chunks(&mut particles.position, PIECE, drained_of);
        drained += counts.into_iter().sum::<usize>();
    }
    drained
}

/// Takes the sinks from the liquid of a level set: what flows in is gone at once, and its pressure does not hold back what comes after it.
pub fn empty_sinks<const D: usize>(level_set: &mut Field<f32, D>, params: &Params<D>, sinks: &[Shape<D>]) {
    for sink in sinks {
        combine(level_set, params, sink, |value, distance| {
            let to_sink = if distance < 0.0 { distance } else { distance.max(LEAST_DISTANCE) };
            value.max(-to_sink)
        });
    }
}

/// The least distance from a sink of a cell that it does not cover, in cells: such a cell stays liquid. No more than to give the level set a sign.
const LEAST_DISTANCE: f32 = 1e-3;

/// The cells of blocks whose centres sinks cover.
pub fn cells_of_sinks<const D: usize>(
    params: &Params<D>,
    blocks: &Blocks<D>,
    sinks: &[Shape<D>],
) -> BTreeSet<[i64; D]> {
    let of_sink = |sink: &Shape<D>| -> Vec<[i64; D]> {
        let near = (0..blocks.len()).filter(|&block| touches(params, sink, blocks.coord(block)));
        let cells = near.flat_map(|block| blocks.cells_inside(block));
        let cells = cells.map(|slot| blocks.cell(slot).map(|c| c as i64));
        cells.filter(|&cell| sink.signed_distance(params.grid.cell_centre(cell)) < 0.0).collect()
    };
    sinks.iter().flat_map(of_sink).collect()
}

/// What flows into the sinks in a time of one cell per velocity, in cells, by the cell that it comes from: liquid enters them as it leaves through an open side.
fn flow_into_sinks<const D: usize>(
    state: &State<D>,
    sinks: &BTreeSet<[i64; D]>,
    boundary: &Boundary<D>,
) -> Vec<(Slot, f64)> {
    let blocks = state.level_set.blocks();
    let mut found = Vec::new();
    for &cell in sinks {
        for (axis, side) in sides::<D>() {
            let mut beside = cell;
            beside[axis] += [-1, 1][side];
            let upper = if side == 1 { beside } else { cell };
            let from = blocks.locate(beside).filter(|_| !sinks.contains(&beside));
            let Some((from, face)) = from.zip(blocks.locate(upper)) else { continue };
            let inwards = f64::from(state.velocity.get(axis, upper)) * [1.0, -1.0][side];
            let wet = wet_part_around(&state.level_set, axis, beside.map(|c| c as f32 + 0.5));
            let flow = inwards.max(0.0) * wet * f64::from(boundary.open.axes[axis][face]);
            if flow > 0.0 {
                found.push((from, flow));
            }
        }
    }
    found
}

/// Whether a shape comes near a block.
fn touches<const D: usize>(params: &Params<D>, shape: &Shape<D>, coord: [usize; D]) -> bool {
    let (centre, half_diagonal) = params.block_ball(coord);
    shape.signed_distance(centre) < half_diagonal + params.grid.dx * f64::from(params.band())
}

/// What leaves in a substep.
#[derive(Clone, Copy, Default)]
pub struct Flows {
    /// How many particles sinks took.
    pub drained: usize,
    /// What flows into the sinks in the substep, in m³ (2D: m²).
    pub into_sinks: f64,
    /// What flows out through open sides, in m³ (2D: m²).
    pub out: f64,
}

/// Fills sources and empties sinks, where walls are at the start of the substep, and books it. Bodies need not have what sinks take.
fn exchange<const D: usize>(
    substep: Substep<D>,
    ranges: &BlockRanges<D>,
    state: &mut State<D>,
    ledger: &mut Ledger,
) -> (Newcomers<D>, Flows) {
    let Substep { params, surroundings, boundary, dt } = substep;
    // A fluid that fills the domain leaves sinks nothing that could be empty.
    let sinks = if params.air == AirModel::None { &[][..] } else { &surroundings.sinks };
    let measure = |state: &State<D>| liquid_by_block(&state.level_set, boundary);
    // Since the last measurement walls that liquid leaves have become its surface.
    ledger.book(|book| &mut book.advected, measure(state));
    let at_first = ledger.by_block().to_vec();
    let newcomers = pour(state, ranges, params, surroundings);
    ledger.book(|book| &mut book.poured, measure(state));
    let mut drained = 0;
    if !sinks.is_empty() {
        let cell_volume = params.cell_volume();
        let by_body = |state: &State<D>| -> Vec<f64> {
            let tracked = state.tracked.iter();
            tracked.flat_map(|t| t.body_volumes(&state.level_set, boundary, cell_volume)).collect()
        };
        let before = by_body(state);
        drained = drain(state, params, sinks);
        ledger.book(|book| &mut book.drained, measure(state));
        let after = by_body(state);
        let bodies = state.tracked.iter_mut().flat_map(|tracked| &mut tracked.bodies);
        for (body, (before, after)) in bodies.zip(before.iter().zip(&after)) {
            body.rest_volume -= before - after;
        }
    }
    for (block, (after, before)) in ledger.by_block().iter().zip(at_first).enumerate() {
        state.accounts.add(block, after - before);
    }
    let sinks = cells_of_sinks(params, state.level_set.blocks(), sinks);
    let into_sinks = state.flow_out(params, flow_into_sinks(state, &sinks, boundary), dt);
    (newcomers, Flows { drained, into_sinks, out: 0.0 })
}

/// What goes out through the open sides in a substep, in m³ (2D: m²); its bodies and blocks need not have it.
fn leave<const D: usize>(Given { params, surroundings, dt }: Given<D>, state: &mut State<D>) -> f64 {
    let sum = state.flow_out(params, outflow(state, params, &surroundings.solids), dt);
    for body in state.tracked.iter_mut().flat_map(|tracked| &mut tracked.bodies) {
        body.rest_volume = (body.rest_volume + body.inflow * dt).max(0.0);
    }
    sum
}

/// The walls where solids are at the start of a substep, if someone wants to know.
pub fn walls_at_start<const D: usize>(
    Given { params, surroundings, .. }: Given<D>,
    state: &State<D>,
    workspace: &mut Workspace<D>,
) -> Option<Boundary<D>> {
    if !surroundings.exchanges() && !state.accounts.are_closed() {
        return None;
    }
    let solids = surroundings.solids.iter().map(|s| Solid { to: s.from, next: None, ..s.clone() }).collect();
    let at_start = Surroundings { solids, ..surroundings.clone() };
    Some(Boundary::new(params, &at_start, state.level_set.blocks(), &mut workspace.boundary_before))
}

/// Lets liquid in and out: through sources and sinks, and through open sides. Gives the particles that sources pour in, and what leaves.
pub fn let_through<const D: usize>(
    given: Given<D>,
    ranges: &PhaseRanges<D>,
    state: &mut State<D>,
    at_start: Option<Boundary<D>>,
    ledger: &mut Ledger,
) -> (Newcomers<D>, Flows) {
    let (poured, mut flows) = match at_start.filter(|_| given.surroundings.exchanges()) {
        Some(boundary) => exchange(given.with_walls(&boundary), &ranges.liquid, state, ledger),
        None => Default::default(),
    };
    flows.out = leave(given, state);
    (poured, flows)
}

impl<const D: usize> State<D> {
    /// Takes what flows out of cells from their bodies and blocks, which need not have it; tells how much that is in `dt` seconds, in m³ (2D: m²).
    fn flow_out(&mut self, params: &Params<D>, rates: Vec<(Slot, f64)>, dt: f64) -> f64 {
        let cell_volume = params.cell_volume();
        let mut sum = 0.0;
        for (cell, rate) in rates {
            let out = rate * dt / params.grid.dx;
            sum += out * cell_volume;
            self.accounts.flowed_out(cell.block, out);
            if let Some(tracked) = &mut self.tracked
                && let Some(body) = tracked.body_at(cell)
            {
                tracked.bodies[body].rest_volume -= out * cell_volume;
            }
        }
        sum
    }
}

/// The volume that leaves through the open sides in a time of one cell per velocity, in cells, by cell: through what solids leave open of them
/// where they are at the start of their motion.
fn outflow<const D: usize>(state: &State<D>, params: &Params<D>, solids: &[Solid<D>]) -> Vec<(Slot, f64)> {
    let to_solids = |point: [f64; D]| {
        let distances = solids.iter().map(|s| s.shape.signed_distance(s.from.apply_inverse(point)));
        distances.fold(f64::INFINITY, f64::min)
    };
    let open = |axis: usize, face: [i64; D]| match to_solids(params.grid.face_centre(axis, face)) {
        far if far > params.grid.dx => 1.0,
        _ => grid_face_open_fraction(&params.grid, axis, face, |node| to_solids(params.grid.node(node))),
    };
    let blocks = state.level_set.blocks();
    let cells = blocks.cells();
    let mut found = Vec::new();
    for axis in 0..D {
        for side in (0..2).filter(|&side| params.open_sides[axis][side]) {
            let layer = if side == 0 { 0 } else { cells[axis] - 1 };
            for block in (0..blocks.len()).filter(|&b| blocks.coord(b)[axis] == layer / BLOCK_EDGE) {
                for local in 0..block_len::<D>() {
                    let slot = Slot { block, local };
                    let cell = blocks.cell(slot);
                    if cell[axis] != layer || (0..D).any(|a| cell[a] >= cells[a]) {
                        continue;
                    }
                    let wet = wet_part_around(&state.level_set, axis, cell.map(|c| c as f32 + 0.5));
                    let mut face = cell.map(|c| c as i64);
                    face[axis] += side as i64;
                    let out = f64::from(state.velocity.get(axis, face)) * (2.0 * side as f64 - 1.0);
                    if wet * out != 0.0 {
                        found.push((slot, wet * out * open(axis, face)));
                    }
                }
            }
        }
    }
    found
}
