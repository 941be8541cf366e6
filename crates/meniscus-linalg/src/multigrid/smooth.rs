//! Gauss-Seidel relaxation of the complete operator, in an order that parallel threads can follow and
//! that can be reversed.
//!
//! A forward sweep visits the red blocks, the black blocks, the blocks that low-rank terms touch, and
//! last the extra unknowns and the means of [clusters](super::clusters); a backward sweep does the same in reverse, step by step, so that one is
//! the adjoint of the other and a V-cycle is symmetric. A visit to a block relaxes its red cells and its
//! black cells, and then one by one the cells that low-rank terms touch, keeping the states v = F x up
//! to date. A visit repeats this while the block is in the nearest cache.

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::clusters::Cluster;
use crate::operator::{
    Affine, Arranged, Coupling, Expanded, LANES, Moments, Others, Planes, SHEET, SHEET_TASK, Scratch,
    Stencil, TASK_BLOCKS, Tile, lane, planes, spread,
};
use crate::real::Real;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// How a block is visited.
#[derive(Clone, Copy, Debug)]
struct Visit {
    rounds: usize,
    direction: Direction,
}

impl Visit {
    /// The colours in the order they are relaxed in.
    #[inline(always)]
    fn colours(self) -> impl Iterator<Item = usize> {
        let first = usize::from(self.direction == Direction::Backward);
        (0..2 * self.rounds).map(move |k| (k + first) % 2)
    }
}

/// What a block and its neighbours hold when it is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Both hold values: the sweep goes backward.
    Values,
    /// Nothing has been visited yet.
    AllZero,
    /// Only neighbours have been visited.
    OwnZero,
}

impl Start {
    fn direction(self) -> Direction {
        match self {
            Self::Values => Direction::Backward,
            Self::AllZero | Self::OwnZero => Direction::Forward,
        }
    }
}

/// The vectors of one level: the correction x, the right-hand side b, and v = F x.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    pub(crate) x: Vec<f32>,
    pub(crate) b: Vec<f32>,
    pub(crate) v: Vec<f32>,
}

/// How the blocks of a level are visited: which blocks low-rank terms touch, in groups whose members neither share a term nor a face: the
/// members of a group can be visited at the same time, with the same result as one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Rounds of relaxation in one visit to a block.
    rounds: usize,
    touched: Vec<bool>,
    groups: Vec<Vec<u32>>,
    /// By block: the cells that only low-rank terms hold.
    pub(crate) held: Vec<Vec<u16>>,
    clusters: Vec<Cluster>,
}

impl Schedule {
    pub(crate) fn new<T: Real, const D: usize>(
        level: &Arranged<T, D>,
        rounds: usize,
        clusters: Vec<Cluster>,
    ) -> Self {
        let (blocks, n) = (&level.matrix.blocks, block_len::<D>());
        let held = parallel::map(blocks.len(), |block| level.matrix.held_by_terms(block));
        if level.matrix.low_rank.is_empty() {
            return Self { rounds, held, clusters, ..Self::default() };
        }
        let mut touched = vec![false; blocks.len()];
        let mut colours: Vec<Option<usize>> = vec![None; blocks.len()];
        let mut colours_of_term: Vec<Vec<bool>> = vec![Vec::new(); level.matrix.low_rank.terms()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for block in 0..blocks.len() {
            let rows = level.matrix.low_rank.rows_in(block * n..(block + 1) * n);
            let mut terms: Vec<usize> = rows.flat_map(|row| level.matrix.low_rank.row_terms(row)).collect();
            if terms.is_empty() {
                continue;
            }
            terms.sort_unstable();
            terms.dedup();
            touched[block] = true;
            let neighbours = (0..D).flat_map(|a| (0..2).filter_map(move |s| blocks.neighbour(block, a, s)));
            let near: Vec<usize> = neighbours.filter_map(|b| colours[b]).collect();
            let is_free = |colour: usize| {
                !near.contains(&colour)
                    && terms.iter().all(|&t| !colours_of_term[t].get(colour).copied().unwrap_or(false))
            };
            let colour = (0..).find(|&c| is_free(c)).expect("colours do not end");
            colours[block] = Some(colour);
            for &t in &terms {
                let used = &mut colours_of_term[t];
                used.resize(used.len().max(colour + 1), false);
                used[colour] = true;
            }
            groups.resize(groups.len().max(colour + 1), Vec::new());
            groups[colour].push(block as u32);
        }
        Self { rounds, touched, groups, held, clusters }
    }

    fn visit(&self, direction: Direction) -> Visit {
        Visit { rounds: self.rounds, direction }
    }

    fn is_touched(&self, block: usize) -> bool {
        self.touched.get(block).copied().unwrap_or(false)
    }
}

/// The forward sweep over all unknowns, from x = 0.
pub(crate) fn sweep_from_zero<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
) {
    // Blocks are visited without reading what they held, but for those that wait for their group.
    if schedule.groups.is_empty() {
        vectors.x[level.slots()..].fill(0.0);
        vectors.v.fill(0.0);
    } else {
        vectors.clear();
    }
    let pull = level.matrix.affine.pull(&vectors.v);
    relax_colour(level, schedule, vectors, &pull, true, Start::AllZero);
    relax_colour(level, schedule, vectors, &pull, false, Start::OwnZero);
    for group in &schedule.groups {
        relax_group(level, vectors, &pull, group, schedule.visit(Direction::Forward));
    }
    for class in 0..level.sheets.ends.len() {
        relax_sheets(level, vectors, &pull, class, schedule.visit(Direction::Forward));
    }
    (0..level.matrix.extras.len()).for_each(|e| relax_extra(level, vectors, e));
    schedule.clusters.iter().for_each(|cluster| cluster.relax(vectors));
    level.find_affine_state(&vectors.x, &mut vectors.v);
}

/// The backward sweep over all unknowns: the adjoint of the forward one. It leaves the states of affine terms as they were.
pub(crate) fn sweep_back<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
) {
    let pull = level.matrix.affine.pull(&vectors.v);
    schedule.clusters.iter().rev().for_each(|cluster| cluster.relax(vectors));
    (0..level.matrix.extras.len()).rev().for_each(|e| relax_extra(level, vectors, e));
    for class in (0..level.sheets.ends.len()).rev() {
        relax_sheets(level, vectors, &pull, class, schedule.visit(Direction::Backward));
    }
    for group in schedule.groups.iter().rev() {
        relax_group(level, vectors, &pull, group, schedule.visit(Direction::Backward));
    }
    relax_colour(level, schedule, vectors, &pull, false, Start::Values);
    relax_colour(level, schedule, vectors, &pull, true, Start::Values);
}

/// Visits the blocks of one colour that no low-rank term touches.
fn relax_colour<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    schedule: &Schedule,
    vectors: &mut Vectors,
    pull: &[Moments<f32>],
    red: bool,
    start: Start,
) {
    let (n, blocks) = (block_len::<D>(), &level.matrix.blocks);
    let border = blocks.red_len() * n;
    let (cells, extras) = vectors.x.split_at_mut(level.slots());
    let (red_cells, black_cells) = cells.split_at_mut(border);
    let (mine, others, first, first_other) = if red {
        (red_cells, &*black_cells, 0, blocks.red_len())
    } else {
        (black_cells, &*red_cells, blocks.red_len(), 0)
    };
    let b = &vectors.b[first * n..first * n + mine.len()];
    let (slots, extras) = (level.slots(), &*extras);
    parallel::for_chunks_with(
        mine,
        n * TASK_BLOCKS,
        || (Scratch::new(), [[0.0; LANES]; 8]),
        |(scratch, rhs), task, chunk| {
            let b = parallel::chunk(b, n * TASK_BLOCKS, task);
            simd(
                #[inline(always)]
                || {
                    let Scratch { tile, coefficients } = scratch;
                    for (i, (own, b)) in chunk.chunks_exact_mut(n).zip(b.chunks_exact(n)).enumerate() {
                        let block = first + task * TASK_BLOCKS + i;
                        if schedule.is_touched(block) {
                            continue;
                        }
                        match start {
                            Start::Values => tile.load(own),
                            Start::AllZero | Start::OwnZero => tile.clear(),
                        }
                        if start != Start::AllZero {
                            tile.load_halo(blocks, block, |other| &others[(other - first_other) * n..][..n]);
                        }
                        load_rhs(b, &level.matrix.couplings[block], |extra| extras[extra - slots], rhs);
                        load_coefficients(
                            &level.matrix.affine,
                            block,
                            pull,
                            &level.matrix.stencils[block],
                            tile,
                            rhs,
                            coefficients,
                        );
                        relax_tile(coefficients, tile, rhs, schedule.visit(start.direction()));
                        tile.store(own);
                    }
                },
            );
        },
    );
}

/// Visits the sheets of one class: none reads what another writes.
fn relax_sheets<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    vectors: &mut Vectors,
    pull: &[Moments<f32>],
    class: usize,
    visit: Visit,
) {
    let ends = &level.sheets.ends;
    let (first, last) = (if class == 0 { 0 } else { ends[class - 1] }, ends[class]);
    let (start, end) = (level.slots() + SHEET * first, level.slots() + SHEET * last);
    let (before, rest) = vectors.x.split_at_mut(start);
    let (mine, after) = rest.split_at_mut(end - start);
    let others = Others { before, after, resume: end, sheets: level.slots() };
    let b = &vectors.b[start..end];
    parallel::for_chunks(mine, SHEET * SHEET_TASK, |task, chunk| {
        let b = parallel::chunk(b, SHEET * SHEET_TASK, task);
        simd(
            #[inline(always)]
            || {
                let sheets = chunk.as_chunks_mut().0.iter_mut().zip(b.as_chunks().0);
                for (i, (own, b)) in sheets.enumerate() {
                    let sheet = first + task * SHEET_TASK + i;
                    level.relax_sheet(sheet, others, b, pull, visit.colours(), own);
                }
            },
        );
    });
}

/// A block's right-hand side, with the known part of its couplings to extra unknowns added.
#[inline(always)]
fn load_rhs<T: Real>(
    b: &[f32],
    couplings: &[Coupling<T>],
    value_of: impl Fn(usize) -> f32,
    rhs: &mut Planes<f32>,
) {
    for (plane, b) in b.chunks_exact(64).enumerate() {
        spread(b, &mut rhs[plane]);
    }
    for c in couplings {
        let local = c.local as usize;
        rhs[local >> 6][lane(local)] += c.weight.f64() as f32 * value_of(c.extra as usize);
    }
}

/// A block's coefficients, with what keeps the states of affine terms as they are: their forces, and a mass on what changes that holds the balance to
/// what the forces will change by.
#[inline(always)]
fn load_coefficients<T: Real, const D: usize>(
    affine: &Affine<D>,
    block: usize,
    pull: &[Moments<f32>],
    stencil: &Stencil<T, D>,
    tile: &Tile<f32, D>,
    rhs: &mut Planes<f32>,
    coefficients: &mut Expanded<f32, D>,
) {
    if affine.contacts(block).is_empty() {
        return coefficients.load_inverse(stencil);
    }
    coefficients.load(stencil);
    affine.for_each_force(
        block,
        pull,
        #[inline(always)]
        |first, force, bound| {
            let (plane, at) = (first >> 6, lane(first));
            let (x, diagonal) =
                (&tile.plane(plane)[at..at + 8], &mut coefficients.diagonal_mut(plane)[at..at + 8]);
            let rhs = &mut rhs[plane][at..at + 8];
            for i in 0..8 {
                rhs[i] += bound[i] * x[i] - force[i];
                diagonal[i] += bound[i];
            }
        },
    );
    coefficients.invert();
}

/// What a visit to a block changed: its values, and the states of the terms that touch it.
struct Visited {
    own: Vec<f32>,
    states: Vec<(usize, f32)>,
}

/// Blocks of a group that are worth the cost of handing them to threads. For speed alone.
const WORTH_SHARING: usize = 4;

/// Visits the blocks of one group. They share nothing, so each is computed from the same x and v and
/// written back afterwards.
fn relax_group<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    vectors: &mut Vectors,
    pull: &[Moments<f32>],
    group: &[u32],
    visit: Visit,
) {
    let n = block_len::<D>();
    let Vectors { x, b, v } = vectors;
    if group.len() < WORTH_SHARING {
        let mut scratch = Scratch::new();
        for &block in group {
            relax_touched(level, x, b, (v, pull), block as usize, &mut scratch, visit);
            scratch.tile.store(&mut x[block as usize * n..(block as usize + 1) * n]);
        }
        return;
    }
    let visited = parallel::map_with(
        group.len(),
        || (Scratch::new(), v.clone()),
        |(scratch, v), k| {
            let block = group[k] as usize;
            relax_touched(level, x, b, (v, pull), block, scratch, visit);
            let mut own = vec![0.0; n];
            scratch.tile.store(&mut own);
            let dofs = level.matrix.low_rank.dofs_in(block * n..(block + 1) * n);
            Visited { own, states: dofs.into_iter().map(|dof| (dof, v[dof])).collect() }
        },
    );
    for (&block, Visited { own, states }) in group.iter().zip(visited) {
        x[block as usize * n..(block as usize + 1) * n].copy_from_slice(&own);
        for (dof, value) in states {
            v[dof] = value;
        }
    }
}

/// Relaxes a block that low-rank terms touch, in `tile`, updating their states.
fn relax_touched<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    x: &[f32],
    b: &[f32],
    (v, pull): (&mut [f32], &[Moments<f32>]),
    block: usize,
    scratch: &mut Scratch<f32, D>,
    visit: Visit,
) {
    let n = block_len::<D>();
    let Scratch { tile, coefficients } = scratch;
    let touched = level.matrix.low_rank.rows_in(block * n..(block + 1) * n);
    simd(
        #[inline(always)]
        || {
            let values_of = |other: usize| &x[other * n..(other + 1) * n];
            tile.load(values_of(block));
            tile.load_halo(&level.matrix.blocks, block, values_of);
            let mut rhs = [[0.0; LANES]; 8];
            load_rhs(
                &b[block * n..(block + 1) * n],
                &level.matrix.couplings[block],
                |extra| x[extra],
                &mut rhs,
            );
            load_coefficients(
                &level.matrix.affine,
                block,
                pull,
                &level.matrix.stencils[block],
                tile,
                &mut rhs,
                coefficients,
            );
            for _ in 0..visit.rounds {
                match visit.direction {
                    Direction::Forward => {
                        relax_untouched_cells(level, coefficients, tile, block, &rhs, [0, 1]);
                        touched.clone().for_each(|row| relax_touched_cell(level, tile, &rhs, v, row));
                    }
                    Direction::Backward => {
                        touched.clone().rev().for_each(|row| relax_touched_cell(level, tile, &rhs, v, row));
                        relax_untouched_cells(level, coefficients, tile, block, &rhs, [1, 0]);
                    }
                }
            }
        },
    );
}

/// Relaxes the cells of a tile that low-rank terms do not touch. A colour is relaxed whole, and the
/// touched cells then get their values back: cells of one colour do not see each other.
#[inline(always)]
fn relax_untouched_cells<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    coefficients: &Expanded<f32, D>,
    tile: &mut Tile<f32, D>,
    block: usize,
    rhs: &Planes<f32>,
    colours: [usize; 2],
) {
    let n = block_len::<D>();
    let touched = level.matrix.low_rank.rows_in(block * n..(block + 1) * n);
    let mut kept = [0.0; 512];
    let at = |row: usize| level.matrix.low_rank.row_unknown(row) % n;
    for (kept, row) in kept.iter_mut().zip(touched.clone()) {
        *kept = tile.get(at(row));
    }
    for colour in colours {
        relax_cells(coefficients, tile, rhs, colour);
        for (kept, row) in kept.iter().zip(touched.clone()) {
            tile.set(at(row), *kept);
        }
    }
}

/// Relaxes one cell that low-rank terms touch.
#[inline(always)]
fn relax_touched_cell<T: Real, const D: usize>(
    level: &Arranged<T, D>,
    tile: &mut Tile<f32, D>,
    rhs: &Planes<f32>,
    v: &mut [f32],
    row: usize,
) {
    let unknown = level.matrix.low_rank.row_unknown(row);
    let (stencil, local) = (&level.matrix.stencils[unknown / block_len::<D>()], unknown % block_len::<D>());
    let bound = level.matrix.affine.bound(unknown / block_len::<D>(), local);
    let own = (stencil.diagonal(local).f64() + bound) as f32;
    let mut residual =
        rhs[local >> 6][lane(local)] - own * tile.get(local) - level.matrix.low_rank.force(row, v);
    for axis in 0..D {
        let [below, above] = tile.around(local, axis);
        residual += stencil.face(axis, 0, local).f64() as f32 * below;
        residual += stencil.face(axis, 1, local).f64() as f32 * above;
    }
    let diagonal = own + level.matrix.low_rank.row_diagonal(row).f64() as f32;
    if diagonal > 0.0 {
        let dx = residual / diagonal;
        tile.set(local, tile.get(local) + dx);
        level.matrix.low_rank.push(row, dx, v);
    }
}

/// Relaxes all cells of a tile.
#[inline(always)]
fn relax_tile<const D: usize>(
    coefficients: &Expanded<f32, D>,
    tile: &mut Tile<f32, D>,
    rhs: &Planes<f32>,
    visit: Visit,
) {
    for colour in visit.colours() {
        relax_cells(coefficients, tile, rhs, colour);
    }
}

/// Relaxes the cells of one colour of a tile: colour 0 has an even sum of coordinates. The diagonal of
/// the coefficients is inverted.
#[inline(always)]
fn relax_cells<const D: usize>(
    coefficients: &Expanded<f32, D>,
    tile: &mut Tile<f32, D>,
    rhs: &Planes<f32>,
    colour: usize,
) {
    let mut around = [0.0; LANES];
    for plane in 0..planes::<D>() {
        coefficients.around(tile, plane, &mut around);
        let (b, inverse, turn) = (&rhs[plane], coefficients.diagonal(plane), &TURNS[(colour + plane) % 2]);
        let x = tile.plane_mut(plane);
        for i in 0..LANES {
            let relaxed = (b[i] + around[i]) * inverse[i];
            x[i] = if turn[i] > 0.0 { relaxed } else { x[i] };
        }
    }
}

/// By colour: 1 for the cells of a plane of that colour, 0 for the others and for the halo.
const TURNS: [[f32; LANES]; 2] = {
    let mut turns = [[0.0; LANES]; 2];
    let mut cell = 0;
    while cell < 64 {
        let (x, y) = (cell % 8, cell / 8);
        turns[(x + y) % 2][10 * y + x] = 1.0;
        cell += 1;
    }
    turns
};

fn relax_extra<T: Real, const D: usize>(level: &Arranged<T, D>, vectors: &mut Vectors, extra: usize) {
    let i = level.first_extra() + extra;
    let diagonal = level.extra_diagonal(extra);
    if diagonal == 0.0 {
        return;
    }
    let residual = vectors.b[i].f64() - level.extra_product(extra, &vectors.x, &vectors.v);
    let dx = (residual / diagonal) as f32;
    vectors.x[i] += dx;
    if let Some(row) = level.matrix.low_rank.find_row(i) {
        level.matrix.low_rank.push(row, dx, &mut vectors.v);
    }
}
