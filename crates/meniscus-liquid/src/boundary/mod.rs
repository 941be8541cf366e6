//! What the solids leave open: distances, open fractions and velocities of walls.

mod bodies;
mod films;
mod nodes;
mod parted;
mod seams;
mod sight;
mod ways;

use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Slot, block_len, unravel};
use meniscus_core::parallel;
use meniscus_core::shape::Shape;

use crate::params::Params;
use crate::surroundings::{Solid, Source, Surroundings};
pub use bodies::BodyView;
use nodes::at_nodes;
pub use seams::PASSABLE;
pub use sight::{BoundaryCache, CLOSED, OpenCells, SIGHT};
use sight::{Sight, fill_open, find_sights};

/// Faces that are open by less, a part, are taken for closed where liquid is moved: what enters a sliver of a cell leaves through its end at any speed. More, and
/// liquid is held back in gaps that it could pass; less, and slivers throw liquid.
pub const NARROW: f32 = 0.1;

/// A cell that a source pushes liquid into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlet<const D: usize> {
    /// The number of the source.
    pub source: usize,
    pub cell: [i64; D],
    /// In m³/s (2D: m²/s).
    pub rate: f64,
}

/// The solids as the grid sees them at the end of a substep.
#[derive(Clone, Debug)]
pub struct Boundary<const D: usize> {
    blocks: Arc<Blocks<D>>,
    /// Which sides of the domain let go of the liquid.
    pub separating_sides: [[bool; 2]; D],
    sight: Vec<Sight>,
    /// By block: whether only resting solids are in its sight and it has no face of a source.
    resting: Vec<bool>,
    /// The open fraction of the faces: 0 on closed sides of the domain, in solids and in sources.
    pub open: FaceField<f32, D>,
    /// What is seen of the free bodies, in their order.
    pub bodies: Vec<BodyView>,
    /// The part of the faces that they close; `None` without any.
    by_bodies: Option<FaceField<f32, D>>,
    /// The velocity that sources prescribe on their faces, in m/s; not a number on all others.
    inlets: Option<FaceField<f32, D>>,
    /// The cells beyond the faces that sources push liquid out of, and how much, in m³/s (2D: m²/s).
    pub outlets: Vec<Outlet<D>>,
}

impl<const D: usize> Boundary<D> {
    /// The solids at the end of their motion, and the sources, seen from the blocks.
    pub fn new(
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        blocks: &Arc<Blocks<D>>,
        cache: &mut BoundaryCache<D>,
    ) -> Self {
        let solids = &surroundings.solids;
        let seen = find_sights(params, solids, blocks, cache);
        let mut open = FaceField::new(blocks.clone(), 0.0);
        for axis in 0..D {
            parallel::for_chunks(open.axes[axis].values_mut(), block_len::<D>(), |block, values| {
                fill_open(params, blocks.coord(block), axis, &seen[block].walls, values);
            });
        }
        let resting = seen.iter().map(|seen| seen.rests).collect();
        let mut boundary = Self {
            blocks: blocks.clone(),
            separating_sides: params.separating_sides(),
            sight: seen.iter().map(|seen| seen.all.clone()).collect(),
            resting,
            open,
            bodies: Vec::new(),
            by_bodies: None,
            inlets: None,
            outlets: Vec::new(),
        };
        boundary.close_sources(params, &surroundings.sources);
        boundary.close_by_bodies(params, surroundings, &seen);
        boundary
    }

    /// The part of a face that free bodies close.
    pub fn closed_by_bodies(&self, axis: usize, face: Slot) -> f32 {
        self.by_bodies.as_ref().map_or(0.0, |field| field.axes[axis][face])
    }

    /// The velocity that a source prescribes on the lower face of a cell, in m/s.
    pub fn inlet_speed(&self, axis: usize, cell: [usize; D]) -> Option<f64> {
        let speed = self.inlets.as_ref()?.get(axis, cell.map(|c| c as i64));
        (!speed.is_nan()).then_some(f64::from(speed))
    }

    /// Gives the faces of sources their velocities.
    pub fn prescribe_inlets(&self, velocity: &mut FaceField<f32, D>) {
        let Some(inlets) = &self.inlets else { return };
        for (velocity, inlet) in velocity.axes.iter_mut().zip(&inlets.axes) {
            parallel::update_by(velocity.values_mut(), inlet.values(), |u, &speed| {
                if !speed.is_nan() {
                    *u = speed;
                }
            });
        }
    }

    /// Of what is closed of the lower face of a cell, the part that walls close, and not free bodies.
    pub fn share_of_walls(&self, axis: usize, cell: [i64; D]) -> f64 {
        let by_bodies = self.by_bodies.as_ref().map_or(0.0, |field| field.get(axis, cell));
        let closed = 1.0 - self.open.get(axis, cell);
        if closed - by_bodies <= 1e-6 * closed { 0.0 } else { f64::from((closed - by_bodies) / closed) }
    }

    /// Closes the faces of the cells in sources. Liquid leaves a source through the faces that its velocity
    /// points out of, and nothing passes the others.
    fn close_sources(&mut self, params: &Params<D>, sources: &[Source<D>]) {
        if sources.is_empty() {
            return;
        }
        let blocks = self.blocks.clone();
        let mut inlets = FaceField::new(blocks.clone(), f32::NAN);
        let area = params.face_area();
        for (number, source) in sources.iter().enumerate() {
            for cell in covered_cells(params, &source.shape) {
                for (axis, side) in (0..D).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                    let (mut face, mut beyond) = (cell, cell);
                    face[axis] += side;
                    beyond[axis] += 2 * side - 1;
                    let Some(slot) = blocks.locate(face) else { continue };
                    let inner = covers(params, &source.shape, beyond);
                    let outwards = source.velocity[axis] * (2 * side - 1) as f64;
                    let open = &mut self.open.axes[axis].values_mut()[slot.flat::<D>()];
                    let speed = match (inner, outwards > 0.0) {
                        (true, _) => source.velocity[axis],
                        (false, true) => source.velocity[axis] * f64::from(*open),
                        (false, false) => 0.0,
                    };
                    if !inner && speed != 0.0 {
                        self.outlets.push(Outlet { source: number, cell: beyond, rate: speed.abs() * area });
                    }
                    *open = 0.0;
                    self.resting[slot.block] = false;
                    inlets.axes[axis].values_mut()[slot.flat::<D>()] = speed as f32;
                }
            }
        }
        self.inlets = Some(inlets);
    }

    /// The blocks that it is seen from.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.blocks
    }

    /// The volume that flows out of the sources, in m³/s (2D: m²/s).
    pub fn inflow(&self) -> f64 {
        self.outlets.iter().map(|outlet| outlet.rate).sum()
    }

    /// Whether something that closes faces moves.
    pub fn has_moving_walls(&self, surroundings: &Surroundings<D>) -> bool {
        self.inlets.is_some() || surroundings.solids.iter().any(Solid::moves)
    }

    /// Whether all of a block lies in the domain, out of sight of solids and sources: all its faces are open, but for
    /// those on sides of the domain.
    pub fn is_clear(&self, block: usize) -> bool {
        self.resting[block]
            && matches!(self.sight[block], Sight::Open)
            && self.blocks.is_inside(Slot { block, local: block_len::<D>() - 1 })
    }

    /// Whether a block is as resting solids leave it: no moving one is in its sight, and none of its faces is a source's.
    pub fn is_resting(&self, block: usize) -> bool {
        self.resting[block]
    }

    /// Whether the block sees a solid.
    pub fn is_cut(&self, block: usize) -> bool {
        matches!(self.sight[block], Sight::Cut(_))
    }

    /// The cells of a block of which thin walls close lower faces.
    pub fn parted_cells(&self, block: usize) -> impl Iterator<Item = Slot> {
        self.sight[block].parted_cells().map(move |local| Slot { block, local })
    }

    /// The signed distance to the solids at a point of a block, in cells, as far as it is in sight: else
    /// plus or minus one.
    pub fn distance(&self, block: usize, x: [f32; D]) -> f32 {
        match &self.sight[block] {
            Sight::Open => SIGHT as f32,
            Sight::Solid => -SIGHT as f32,
            Sight::Cut(cut) => at_nodes(&cut.nodes, self.in_block(block, x)).0,
        }
    }

    /// The gradient of the distance at a point of a block: the direction out of the solid.
    pub fn normal(&self, block: usize, x: [f32; D]) -> [f32; D] {
        self.distance_and_normal(block, x).1
    }

    /// Both the distance and its gradient at a point of a block.
    pub fn distance_and_normal(&self, block: usize, x: [f32; D]) -> (f32, [f32; D]) {
        match &self.sight[block] {
            Sight::Open => (SIGHT as f32, [0.0; D]),
            Sight::Solid => (-SIGHT as f32, [0.0; D]),
            Sight::Cut(cut) => {
                let (distance, slope) = at_nodes(&cut.nodes, self.in_block(block, x));
                (distance, unit(slope))
            }
        }
    }

    /// Whether a block lies wholly inside a solid.
    pub fn is_solid(&self, block: usize) -> bool {
        matches!(self.sight[block], Sight::Solid)
    }

    /// The distances to the solids at the corners of a cell, in cells, if its block sees one.
    pub fn corner_distances(&self, slot: Slot) -> Option<[f64; 8]> {
        self.sight[slot.block].corners::<D>(slot.local)
    }

    /// The open fraction of a cell.
    pub fn open_volume(&self, slot: Slot) -> f64 {
        self.sight[slot.block].open_volume(slot.local)
    }

    /// Whether one of the faces of a cell is open.
    pub fn has_open_face(&self, slot: Slot) -> bool {
        let is_open = |axis: usize, face: Slot| self.open.axes[axis][face] > 0.0;
        (0..D).any(|axis| {
            is_open(axis, slot) || self.blocks.step(slot, axis, 1).is_some_and(|upper| is_open(axis, upper))
        })
    }

    /// How many cells of a block are not wholly in solids, nor outside of the domain.
    pub fn count_open_cells(&self, block: usize) -> usize {
        self.blocks.cells_inside(block).filter(|slot| self.open_volume(*slot) > 0.0).count()
    }

    fn in_block(&self, block: usize, x: [f32; D]) -> [f32; D] {
        let corner = self.blocks.coord(block);
        std::array::from_fn(|a| x[a] - (corner[a] * BLOCK_EDGE) as f32)
    }

    /// Takes the faces that are nearly closed from those whose velocity is known. What passes them is little, but its
    /// speed may be any: a cell that a wall leaves a sliver of pushes all that enters it through the sliver's end.
    pub fn forget_narrow_faces(&self, valid: &mut FaceField<bool, D>) {
        for (valid, open) in valid.axes.iter_mut().zip(&self.open.axes) {
            parallel::update_by(valid.values_mut(), open.values(), |valid, &open| {
                if open < NARROW {
                    *valid = false;
                }
            });
        }
    }
}

fn unit<const D: usize>(vector: [f32; D]) -> [f32; D] {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 0.0 { vector.map(|v| v / length) } else { [0.0; D] }
}

/// The cells of the domain whose centres lie in a shape, x fastest.
pub(crate) fn covered_cells<const D: usize>(params: &Params<D>, shape: &Shape<D>) -> Vec<[i64; D]> {
    let bounds = shape.bounds();
    let cells = params.grid.cells;
    let (lower, upper) = (params.grid.to_cells(bounds.lower), params.grid.to_cells(bounds.upper));
    let first: [i64; D] = std::array::from_fn(|a| lower[a].floor().clamp(0.0, cells[a] as f64) as i64);
    let end: [i64; D] = std::array::from_fn(|a| upper[a].ceil().clamp(0.0, cells[a] as f64) as i64);
    let counts: [usize; D] = std::array::from_fn(|a| (end[a] - first[a]).max(0) as usize);
    let around = (0..counts.iter().product()).map(|index| {
        let within = unravel(index, counts);
        std::array::from_fn(|a| first[a] + within[a] as i64)
    });
    around.filter(|&cell| covers(params, shape, cell)).collect()
}

fn covers<const D: usize>(params: &Params<D>, shape: &Shape<D>, cell: [i64; D]) -> bool {
    let inside = (0..D).all(|a| cell[a] >= 0 && cell[a] < params.grid.cells[a] as i64);
    inside && shape.signed_distance(params.grid.cell_centre(cell)) < 0.0
}

#[cfg(test)]
mod tests;
