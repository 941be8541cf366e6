//! What blocks see of the solids: distances at their nodes, and the open fractions of their faces.

use std::collections::HashMap;
use std::sync::Arc;

use meniscus_core::components::{BlockCells, Parts};
use meniscus_core::fractions::{cell_open_fraction, face_open_fraction};
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Slot, block_len, cell_in_block, unravel};
use meniscus_core::shape::RigidTransform;
use rayon::prelude::*;

use super::thin_walls::find_parted;
use crate::measure::{Holding, holdings_of_parts};
use crate::params::{Params, Solid};

/// Nodes along the edge of a block, both ends included.
const NODES: usize = BLOCK_EDGE + 1;

/// How far from a block a solid is out of its sight, in cells.
pub(super) const SIGHT: f64 = 1.0;

/// How a block lies to the solids.
#[derive(Clone, Debug)]
pub(super) enum Sight {
    /// No solid within [`SIGHT`] of it.
    Open,
    /// Wholly inside a solid, by more than [`SIGHT`].
    Solid,
    /// It sees some.
    Cut(Arc<Cut>),
}

/// What a block sees of the solids near it.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// The signed distance to them at its nodes, in cells, x fastest.
    pub(super) nodes: Vec<f32>,
    /// By cell, a bit for each axis along which its lower face is closed by a wall too thin for the nodes to see.
    /// Empty if there are none.
    parted: Vec<u8>,
}

impl Sight {
    /// The distances to the solids at the corners of a cell, in cells, if the block sees one.
    pub(super) fn corners<const D: usize>(&self, local: usize) -> Option<[f64; 8]> {
        let Self::Cut(cut) = self else { return None };
        let inner = cell_in_block::<D>(local);
        let mut corners = [0.0; 8];
        for (k, corner) in corners.iter_mut().enumerate().take(1 << D) {
            *corner = f64::from(cut.nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))]);
        }
        Some(corners)
    }
}

/// What is found once for solids that rest.
#[derive(Clone, Debug, Default)]
pub struct BoundaryCache<const D: usize> {
    /// The poses of all solids, and how many cells of the domain lie wholly inside them.
    solid_cells: Option<(Vec<RigidTransform<D>>, usize)>,
    /// Where each solid rests, `None` for those that move.
    resting: Vec<Option<RigidTransform<D>>>,
    sight: HashMap<[usize; D], Sight>,
    /// By block of the domain, x fastest.
    open_cells: Vec<OpenCells<D>>,
}

/// The cells of a block that resting solids leave open.
#[derive(Clone, Debug)]
pub struct OpenCells<const D: usize> {
    /// Those cells.
    pub cells: BlockCells<D>,
    /// What each of their parts holds.
    pub holdings: Vec<Holding<D>>,
}

pub(super) fn find_sights<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    blocks: &Blocks<D>,
    cache: &mut BoundaryCache<D>,
) -> Vec<Sight> {
    let resting: Vec<_> = solids.iter().map(|s| (!s.moves()).then_some(s.to)).collect();
    if cache.resting != resting {
        cache.resting = resting.clone();
        cache.sight.clear();
        cache.open_cells.clear();
    }
    let of = |rests: bool| -> Vec<&Solid<D>> {
        solids.iter().zip(&resting).filter(|(_, r)| r.is_some() == rests).map(|(s, _)| s).collect()
    };
    let (fixed, moving) = (of(true), of(false));
    let known = &cache.sight;
    let found: Vec<(Option<Sight>, Sight)> = (0..blocks.len())
        .into_par_iter()
        .map(|block| {
            let coord = blocks.coord(block);
            let (new, of_fixed) = match known.get(&coord) {
                Some(sight) => (None, sight.clone()),
                None => {
                    let sight = see(params, &fixed, coord);
                    (Some(sight.clone()), sight)
                }
            };
            (new, nearest(of_fixed, see(params, &moving, coord)))
        })
        .collect();
    let mut sights = Vec::with_capacity(found.len());
    for (block, (new, sight)) in found.into_iter().enumerate() {
        if let Some(new) = new {
            cache.sight.insert(blocks.coord(block), new);
        }
        sights.push(sight);
    }
    sights
}

impl<const D: usize> BoundaryCache<D> {
    /// The cells that the resting solids leave open, of each block of the domain, x fastest. A
    /// [`Boundary`](super::Boundary) must have been made of the same solids before.
    pub fn open_cells(&mut self, params: &Params<D>, solids: &[Solid<D>]) -> &[OpenCells<D>] {
        if self.open_cells.is_empty() {
            let fixed: Vec<&Solid<D>> = solids.iter().filter(|s| !s.moves()).collect();
            let dims = Blocks::dims_of(params.grid.cells);
            let of_block = |index: usize| {
                let coord = unravel(index, dims);
                let sight = see(params, &fixed, coord);
                let cells = open_cells_of(params, &sight, coord);
                let open = |local: usize| {
                    sight.corners::<D>(local).map_or(1.0, |c| cell_open_fraction::<D>(&c[..1 << D]))
                };
                let holdings = holdings_of_parts(coord, &cells, open);
                OpenCells { cells, holdings }
            };
            self.open_cells = (0..dims.iter().product()).into_par_iter().map(of_block).collect();
        }
        &self.open_cells
    }
}

fn open_cells_of<const D: usize>(params: &Params<D>, sight: &Sight, coord: [usize; D]) -> BlockCells<D> {
    let inside = |cell: [usize; D]| (0..D).all(|a| coord[a] * BLOCK_EDGE + cell[a] < params.grid.cells[a]);
    match sight {
        Sight::Solid => return BlockCells::None,
        Sight::Open if inside([BLOCK_EDGE - 1; D]) => return BlockCells::All,
        _ => {}
    }
    let mut open: [Vec<f32>; D] = std::array::from_fn(|_| vec![0.0; block_len::<D>()]);
    for (axis, values) in open.iter_mut().enumerate() {
        fill_open(params, coord, axis, sight, values);
    }
    let is_open = |axis: usize, local: usize| open[axis][local] > 0.0;
    // A cell whose only open face is the upper one of the block leads nowhere else.
    let member = |local: usize| {
        let cell = cell_in_block::<D>(local);
        let above =
            |axis: usize| cell[axis] + 1 < BLOCK_EDGE && is_open(axis, local + BLOCK_EDGE.pow(axis as u32));
        inside(cell) && (0..D).any(|axis| is_open(axis, local) || above(axis))
    };
    let parts = Parts::new(member, is_open);
    if parts.is_empty() { BlockCells::None } else { BlockCells::Some(Arc::new(parts)) }
}

/// The number of cells of the domain that lie wholly inside solids.
pub fn solid_cells<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    cache: &mut BoundaryCache<D>,
) -> usize {
    let poses: Vec<_> = solids.iter().map(|s| s.to).collect();
    if let Some((known, count)) = &cache.solid_cells
        && *known == poses
    {
        return *count;
    }
    let all: Vec<&Solid<D>> = solids.iter().collect();
    let blocks = Blocks::all(params.grid.cells);
    let of_block = |block: usize| {
        let sight = see(params, &all, blocks.coord(block));
        let is_solid = |local: usize| match &sight {
            Sight::Open => false,
            Sight::Solid => true,
            Sight::Cut(_) => {
                let corners = sight.corners::<D>(local).unwrap_or_default();
                corners[..1 << D].iter().all(|&distance| distance <= f64::from(CLOSED))
            }
        };
        let inside = |local: usize| {
            let cell = blocks.cell(Slot { block, local });
            (0..D).all(|a| cell[a] < blocks.cells()[a])
        };
        (0..block_len::<D>()).filter(|&local| inside(local) && is_solid(local)).count()
    };
    let count = if solids.is_empty() { 0 } else { (0..blocks.len()).into_par_iter().map(of_block).sum() };
    cache.solid_cells = Some((poses, count));
    count
}

/// What a block sees of some solids. Distances are at least as far as they say (1-Lipschitz), so one look
/// from the centre of the block settles most.
fn see<const D: usize>(params: &Params<D>, solids: &[&Solid<D>], coord: [usize; D]) -> Sight {
    let grid = &params.grid;
    let (centre, half_diagonal) = params.block_ball(coord);
    let radius = half_diagonal + grid.dx * SIGHT;
    let near: Vec<&Solid<D>> = solids.iter().copied().filter(|s| s.distance(centre) <= radius).collect();
    if near.is_empty() {
        return Sight::Open;
    }
    if near.iter().any(|s| s.distance(centre) < -radius) {
        return Sight::Solid;
    }
    let distance =
        |point: [f64; D]| near.iter().map(|s| s.distance(point)).fold(f64::INFINITY, f64::min) / grid.dx;
    let corner = coord.map(|c| (c * BLOCK_EDGE) as i64);
    let nodes: Vec<f32> = (0..NODES.pow(D as u32))
        .map(|index| {
            let inner = unravel(index, [NODES; D]);
            distance(grid.node(std::array::from_fn(|a| corner[a] + inner[a] as i64))) as f32
        })
        .collect();
    let parted = find_parted(&nodes, |inner: [f64; D]| {
        distance(grid.point(std::array::from_fn(|a| corner[a] as f64 + inner[a])))
    });
    Sight::Cut(Arc::new(Cut { nodes, parted }))
}

fn nearest(a: Sight, b: Sight) -> Sight {
    match (a, b) {
        (Sight::Solid, _) | (_, Sight::Solid) => Sight::Solid,
        (Sight::Open, other) | (other, Sight::Open) => other,
        (Sight::Cut(a), Sight::Cut(b)) => {
            let nodes = a.nodes.iter().zip(&b.nodes).map(|(&a, &b)| a.min(b)).collect();
            let parted = match (a.parted.is_empty(), b.parted.is_empty()) {
                (false, false) => a.parted.iter().zip(&b.parted).map(|(&a, &b)| a | b).collect(),
                (true, _) => b.parted.clone(),
                (_, true) => a.parted.clone(),
            };
            Sight::Cut(Arc::new(Cut { nodes, parted }))
        }
    }
}

pub(super) fn node_index<const D: usize>(node: [usize; D]) -> usize {
    node.iter().rev().fold(0, |index, &c| index * NODES + c)
}

/// A face that is open by less is closed: it is a wall that lies in a grid plane, up to rounding, or a gap
/// through which nothing worth a stencil coefficient flows.
const CLOSED: f32 = 1e-3;

pub(super) fn fill_open<const D: usize>(
    params: &Params<D>,
    coord: [usize; D],
    axis: usize,
    sight: &Sight,
    values: &mut [f32],
) {
    let cells = params.grid.cells;
    let stride = BLOCK_EDGE.pow(axis as u32);
    match sight {
        Sight::Open => values.fill(1.0),
        Sight::Solid => values.fill(0.0),
        Sight::Cut(cut) => {
            for (local, value) in values.iter_mut().enumerate() {
                let parted = cut.parted.get(local).is_some_and(|bits| bits >> axis & 1 == 1);
                *value =
                    if parted { 0.0 } else { open_fraction(&cut.nodes, cell_in_block::<D>(local), axis) };
            }
        }
    }
    // Faces on closed sides, and what the last blocks store beyond the domain, are closed.
    let corner = coord.map(|c| c * BLOCK_EDGE);
    for (local, value) in values.iter_mut().enumerate() {
        let inner = local / stride % BLOCK_EDGE;
        let face = corner[axis] + inner;
        let closed_side = face == 0 && !params.open_sides[axis][0]
            || face == cells[axis] && !params.open_sides[axis][1]
            || face > cells[axis];
        if closed_side {
            *value = 0.0;
        }
    }
    for a in (0..D).filter(|&a| a != axis && corner[a] + BLOCK_EDGE > cells[a]) {
        for (local, value) in values.iter_mut().enumerate() {
            if corner[a] + local / BLOCK_EDGE.pow(a as u32) % BLOCK_EDGE >= cells[a] {
                *value = 0.0;
            }
        }
    }
}

fn open_fraction<const D: usize>(nodes: &[f32], cell: [usize; D], axis: usize) -> f32 {
    let mut corners = [0.0; 4];
    let corners = &mut corners[..1 << (D - 1)];
    for (index, corner) in corners.iter_mut().enumerate() {
        let mut bits = index;
        let mut node = cell;
        for other in (0..D).filter(|&other| other != axis) {
            node[other] += bits & 1;
            bits >>= 1;
        }
        *corner = f64::from(nodes[node_index(node)]);
    }
    // A face that lies in the surface of a solid is closed, whatever the signs.
    let in_surface = corners.iter().all(|d| d.abs() < f64::from(CLOSED));
    let open = if in_surface { 0.0 } else { face_open_fraction::<D>(corners) as f32 };
    if open < CLOSED { 0.0 } else { open }
}

/// The multilinear interpolant of the nodes of a block, and its gradient.
pub(super) fn at_nodes<const D: usize>(nodes: &[f32], x: [f32; D]) -> (f32, [f32; D]) {
    let base: [usize; D] = std::array::from_fn(|a| (x[a].max(0.0) as usize).min(BLOCK_EDGE - 1));
    let fraction: [f32; D] = std::array::from_fn(|a| x[a] - base[a] as f32);
    let (mut value, mut gradient) = (0.0, [0.0; D]);
    for k in 0..1 << D {
        let node = nodes[node_index::<D>(std::array::from_fn(|a| base[a] + (k >> a & 1)))];
        let along = |a: usize| if k >> a & 1 == 1 { fraction[a] } else { 1.0 - fraction[a] };
        value += node * (0..D).map(along).product::<f32>();
        for (axis, slope) in gradient.iter_mut().enumerate() {
            let sign = if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
            *slope += node * sign * (0..D).filter(|&a| a != axis).map(along).product::<f32>();
        }
    }
    (value, gradient)
}
