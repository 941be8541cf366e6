//! What blocks see of the solids: distances at their nodes, and the open fractions of their faces.

use std::collections::HashMap;
use std::sync::Arc;

use meniscus_core::components::BlockCells;
use meniscus_core::fractions::{cell_open_fraction, face_open_fraction};
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Mask, block_len, cell_in_block, unravel};
use meniscus_core::parallel;
use meniscus_core::shape::{RigidTransform, Shape};

use super::Boundary;
use super::nodes::{NODES, corners_of, node_index};
use super::parted::find_parted;
use crate::holding::{Holding, holdings_of_parts};
use crate::params::Params;
use crate::surroundings::Solid;

/// How far from a block a solid is out of its sight, in cells. Less, and cells at the edge of a block know nothing of a wall in the next one; more, and more blocks are
/// looked at node by node.
pub const SIGHT: f64 = 1.0;

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
    /// The open fractions of its cells.
    volumes: Vec<f32>,
    /// The open fractions of the lower faces of its cells, axis after axis.
    faces: Vec<f32>,
}

impl Cut {
    fn new<const D: usize>(nodes: Vec<f32>, parted: Vec<u8>) -> Self {
        let open_volume = |local: usize| {
            cell_open_fraction::<D>(&corners_of::<D>(&nodes, cell_in_block::<D>(local))[..1 << D]) as f32
        };
        let open_face = |axis: usize, local: usize| {
            let is_parted = parted.get(local).is_some_and(|bits| bits >> axis & 1 == 1);
            if is_parted { 0.0 } else { open_fraction(&nodes, cell_in_block::<D>(local), axis) }
        };
        let volumes = (0..block_len::<D>()).map(open_volume).collect();
        let faces = (0..D).flat_map(|axis| (0..block_len::<D>()).map(move |local| (axis, local)));
        let faces = faces.map(|(axis, local)| open_face(axis, local)).collect();
        Self { nodes, parted, volumes, faces }
    }

    fn is_solid<const D: usize>(&self, local: usize) -> bool {
        let inner = cell_in_block::<D>(local);
        let corner = |k: usize| self.nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))];
        (0..1 << D).all(|k| corner(k) <= CLOSED)
    }
}

impl Sight {
    /// The distances to the solids at the corners of a cell, in cells, if the block sees one.
    pub(super) fn corners<const D: usize>(&self, local: usize) -> Option<[f64; 8]> {
        match self {
            Self::Cut(cut) => Some(corners_of::<D>(&cut.nodes, cell_in_block::<D>(local))),
            _ => None,
        }
    }

    /// The cells of which a thin wall closes lower faces.
    pub(super) fn parted_cells(&self) -> impl Iterator<Item = usize> {
        let parted: &[u8] = if let Self::Cut(cut) = self { &cut.parted } else { &[] };
        parted.iter().enumerate().filter(|(_, bits)| **bits != 0).map(|(local, _)| local)
    }

    /// The open fraction of a cell.
    pub(super) fn open_volume(&self, local: usize) -> f64 {
        match self {
            Self::Open => 1.0,
            Self::Solid => 0.0,
            Self::Cut(cut) => f64::from(cut.volumes[local]),
        }
    }
}

/// What is found once for solids that rest.
#[derive(Clone, Debug, Default)]
pub struct BoundaryCache<const D: usize> {
    /// What rests, and where; `None` for what moves.
    resting: Vec<Option<(Shape<D>, RigidTransform<D>)>>,
    sight: HashMap<[usize; D], Sight>,
    /// By block of the domain, x fastest.
    open_cells: Vec<OpenCells<D>>,
    /// How many cells of each block of the domain lie wholly inside solids, x fastest.
    solid_cells: Vec<u32>,
}

/// The cells of a block that resting solids leave open.
#[derive(Clone, Debug)]
pub struct OpenCells<const D: usize> {
    /// The cells, in connected parts.
    pub cells: BlockCells<D>,
    /// What each of their parts holds.
    pub holdings: Vec<Holding<D>>,
}

/// How a block lies to solids.
pub(super) struct Seen {
    /// To those whose motion is known: all but free bodies.
    pub(super) walls: Sight,
    /// To free bodies.
    pub(super) bodies: Sight,
    /// To all of them.
    pub(super) all: Sight,
    /// Whether only resting ones are in its sight.
    pub(super) rests: bool,
}

/// How blocks lie to the solids.
pub(super) fn find_sights<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    blocks: &Blocks<D>,
    cache: &mut BoundaryCache<D>,
) -> Vec<Seen> {
    let [fixed, moving] = cache.refresh(solids);
    let (free, scripted): (Vec<&Solid<D>>, Vec<&Solid<D>>) = moving.iter().partition(|s| s.free.is_some());
    let known = &cache.sight;
    let found: Vec<(Option<Sight>, Seen)> = parallel::map(blocks.len(), |block| {
        let coord = blocks.coord(block);
        let (new, of_fixed) = match known.get(&coord) {
            Some(sight) => (None, sight.clone()),
            None => {
                let sight = see(params, &fixed, coord);
                (Some(sight.clone()), sight)
            }
        };
        let [of_scripted, of_free] = [&scripted, &free].map(|solids| see(params, solids, coord));
        let rests = [&of_scripted, &of_free].into_iter().all(|sight| matches!(sight, Sight::Open));
        let walls = nearest::<D>(of_fixed, of_scripted);
        (new, Seen { all: nearest::<D>(walls.clone(), of_free.clone()), walls, bodies: of_free, rests })
    });
    let mut seen = Vec::with_capacity(found.len());
    for (block, (new, of_block)) in found.into_iter().enumerate() {
        if let Some(new) = new {
            cache.sight.insert(blocks.coord(block), new);
        }
        seen.push(of_block);
    }
    seen
}

impl<const D: usize> BoundaryCache<D> {
    /// Forgets what was found of other solids, and tells those that rest from those that move.
    fn refresh<'a>(&mut self, solids: &'a [Solid<D>]) -> [Vec<&'a Solid<D>>; 2] {
        let is_known = |(known, solid): (&Option<(Shape<D>, RigidTransform<D>)>, &Solid<D>)| match known {
            Some((shape, at)) => !solid.moves() && *at == solid.to && *shape == solid.shape,
            None => solid.moves(),
        };
        if self.resting.len() != solids.len() || !self.resting.iter().zip(solids).all(is_known) {
            let resting = |solid: &Solid<D>| (!solid.moves()).then(|| (solid.shape.clone(), solid.to));
            *self = Self { resting: solids.iter().map(resting).collect(), ..Self::default() };
        }
        let (moving, fixed) = solids.iter().partition(|solid| solid.moves());
        [fixed, moving]
    }

    fn sight_of(&self, params: &Params<D>, fixed: &[&Solid<D>], coord: [usize; D]) -> Sight {
        self.sight.get(&coord).cloned().unwrap_or_else(|| see(params, fixed, coord))
    }

    /// The cells that the resting solids leave open, of each block of the domain, x fastest.
    pub fn open_cells(&mut self, params: &Params<D>, solids: &[Solid<D>]) -> &[OpenCells<D>] {
        let [fixed, _] = self.refresh(solids);
        if self.open_cells.is_empty() {
            let dims = Blocks::dims_of(params.grid.cells);
            let of_block = |index: usize| {
                let coord = unravel(index, dims);
                let sight = self.sight_of(params, &fixed, coord);
                let cells = open_cells_of(params, &sight, coord);
                let holdings = holdings_of_parts(coord, &cells, |local| sight.open_volume(local));
                OpenCells { cells, holdings }
            };
            self.open_cells = parallel::map(dims.iter().product(), of_block);
        }
        &self.open_cells
    }

    /// The number of cells of the domain that lie wholly inside solids, which the blocks of `boundary` have seen.
    pub fn solid_cells(&mut self, params: &Params<D>, solids: &[Solid<D>], boundary: &Boundary<D>) -> usize {
        let [fixed, moving] = self.refresh(solids);
        if solids.is_empty() {
            return 0;
        }
        let dims = Blocks::dims_of(params.grid.cells);
        let count = dims.iter().product::<usize>();
        if self.solid_cells.is_empty() {
            let of_fixed = |index: usize| {
                let coord = unravel(index, dims);
                solid_cells_of(params, &self.sight_of(params, &fixed, coord), coord)
            };
            self.solid_cells = parallel::map(count, of_fixed);
        }
        let of_block = |index: usize| {
            let coord = unravel(index, dims);
            let solid = match boundary.blocks().find(coord) {
                Some(block) if boundary.is_resting(block) => self.solid_cells[index],
                Some(block) => solid_cells_of(params, &boundary.sight[block], coord),
                None => match see(params, &moving, coord) {
                    Sight::Open => self.solid_cells[index],
                    of_moving => {
                        let sight = nearest::<D>(self.sight_of(params, &fixed, coord), of_moving);
                        solid_cells_of(params, &sight, coord)
                    }
                },
            };
            solid as usize
        };
        parallel::map(count, of_block).into_iter().sum()
    }
}

/// How many cells of a block lie wholly inside solids.
fn solid_cells_of<const D: usize>(params: &Params<D>, sight: &Sight, coord: [usize; D]) -> u32 {
    let inside = |local: usize| {
        let inner = cell_in_block::<D>(local);
        (0..D).all(|a| coord[a] * BLOCK_EDGE + inner[a] < params.grid.cells[a])
    };
    let is_solid = |local: usize| match sight {
        Sight::Open => false,
        Sight::Solid => true,
        Sight::Cut(cut) => cut.is_solid::<D>(local),
    };
    (0..block_len::<D>()).filter(|&local| is_solid(local) && inside(local)).count() as u32
}

fn open_cells_of<const D: usize>(params: &Params<D>, sight: &Sight, coord: [usize; D]) -> BlockCells<D> {
    let inside = |cell: [usize; D]| (0..D).all(|a| coord[a] * BLOCK_EDGE + cell[a] < params.grid.cells[a]);
    match sight {
        Sight::Solid => return BlockCells::None,
        Sight::Open if inside([BLOCK_EDGE - 1; D]) => return BlockCells::All,
        _ => {}
    }
    let open: [Mask<D>; D] = std::array::from_fn(|axis| {
        let mut values = vec![0.0; block_len::<D>()];
        fill_open(params, coord, axis, sight, &mut values);
        Mask::from_fn(|local| values[local] > 0.0)
    });
    let has_open_face = (0..D).fold(Mask::EMPTY, |cells, axis| {
        let above = open_faces_above(params, sight, coord, axis);
        cells.or(&open[axis]).or(&open[axis].lowered(axis, &above))
    });
    let members = has_open_face.and(&Mask::from_fn(|local| inside(cell_in_block::<D>(local))));
    BlockCells::in_parts(members, &open)
}

/// The cells of the lowest layer of the next block along an axis whose lower faces are open.
fn open_faces_above<const D: usize>(
    params: &Params<D>,
    sight: &Sight,
    coord: [usize; D],
    axis: usize,
) -> Mask<D> {
    let cells = params.grid.cells;
    let face = (coord[axis] + 1) * BLOCK_EDGE;
    if face > cells[axis] || face == cells[axis] && !params.open_sides[axis][1] {
        return Mask::EMPTY;
    }
    Mask::from_fn(|local| {
        let mut inner = cell_in_block::<D>(local);
        let in_layer = inner[axis] == 0;
        inner[axis] = BLOCK_EDGE;
        let inside = (0..D).all(|a| a == axis || coord[a] * BLOCK_EDGE + inner[a] < cells[a]);
        in_layer
            && inside
            && match sight {
                Sight::Open => true,
                Sight::Solid => false,
                Sight::Cut(cut) => open_fraction(&cut.nodes, inner, axis) > 0.0,
            }
    })
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
    let in_block = |inner: [f64; D]| grid.point(std::array::from_fn(|a| corner[a] as f64 + inner[a]));
    let to_solid = |solid| move |inner: [f64; D]| Solid::distance(solid, in_block(inner)) / grid.dx;
    let solids: Vec<_> = near.iter().copied().map(to_solid).collect();
    let parted = find_parted(&nodes, &solids);
    Sight::Cut(Arc::new(Cut::new::<D>(nodes, parted)))
}

fn nearest<const D: usize>(a: Sight, b: Sight) -> Sight {
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
            Sight::Cut(Arc::new(Cut::new::<D>(nodes, parted)))
        }
    }
}

/// A face that is open by less, a part, is closed: it is a wall that lies in a grid plane, up to rounding, or a gap
/// through which any divergence would have to pass at any speed. Above the rounding of distances in single precision, below any gap that the grid resolves. `open_fractions_are_those_of_the_distances` holds it from above.
pub const CLOSED: f32 = 1e-3;

pub(super) fn fill_open<const D: usize>(
    params: &Params<D>,
    coord: [usize; D],
    axis: usize,
    sight: &Sight,
    values: &mut [f32],
) {
    let cells = params.grid.cells;
    match sight {
        Sight::Open => values.fill(1.0),
        Sight::Solid => values.fill(0.0),
        Sight::Cut(cut) => {
            let faces = axis * block_len::<D>()..(axis + 1) * block_len::<D>();
            values.copy_from_slice(&cut.faces[faces]);
            if !params.cut_cells {
                values.iter_mut().for_each(|open| *open = open.round());
            }
        }
    }
    // Faces on closed sides, and what the last blocks store beyond the domain, are closed.
    let corner = coord.map(|c| c * BLOCK_EDGE);
    for a in 0..D {
        for layer in 0..BLOCK_EDGE {
            let at = corner[a] + layer;
            let is_closed = match a == axis {
                true if at == 0 => !params.open_sides[axis][0],
                true if at == cells[axis] => !params.open_sides[axis][1],
                true => at > cells[axis],
                false => at >= cells[a],
            };
            if is_closed {
                close_layer(a, layer, values);
            }
        }
    }
}

/// Sets the values of a layer of a block across an axis to 0.
fn close_layer(axis: usize, layer: usize, values: &mut [f32]) {
    let stride = BLOCK_EDGE.pow(axis as u32);
    for rows in values.chunks_mut(stride * BLOCK_EDGE) {
        rows[layer * stride..(layer + 1) * stride].fill(0.0);
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
