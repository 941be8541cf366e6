//! What the solids leave open: distances, open fractions and velocities of walls.

mod films;
mod seams;
mod sight;
mod thin_walls;
mod ways;

use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Slot, block_len, unravel};
use meniscus_core::interpolate::interpolate_face;
use meniscus_core::shape::Shape;
use rayon::prelude::*;

use crate::bodies::closed_faces;
use crate::params::{Params, Solid, Source, Surroundings};
use crate::projection::{ClosedFace, FilmFlow, RigidBody};
use crate::rigid::Matrix;
pub use sight::{BoundaryCache, CLOSED, OpenCells, SIGHT};
use sight::{Seen, Sight, at_nodes, fill_open, find_sights};
pub use thin_walls::{THIN, is_parted, point_in_the_open};

/// Faces that are open by less are taken for closed where liquid is moved.
const NARROW: f32 = 0.1;

/// Faces deeper in a solid than this, in cells, are never looked at: nothing moves in there.
const DEEP: f32 = 3.0;

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

/// What the grid sees of a free body.
#[derive(Clone, Debug)]
pub struct BodyView {
    /// Its mass matrix if it had a density of 1 kg/m³.
    pub unit_mass: Matrix,
    /// What it closes of the faces of the blocks.
    pub faces: Vec<ClosedFace>,
    /// What the mass matrix counts of faces beyond that: less than nothing where a film moves with the body.
    pub unseen: Vec<ClosedFace>,
    /// Where what its motions take of the films under it comes from.
    pub films: Vec<FilmFlow>,
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
            let values = open.axes[axis].values_mut().par_chunks_mut(block_len::<D>());
            values.zip(&seen).enumerate().for_each(|(block, (values, seen))| {
                fill_open(params, blocks.coord(block), axis, &seen.walls, values);
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

    /// Closes what free bodies take of the faces, of what walls leave open.
    fn close_by_bodies(&mut self, params: &Params<D>, surroundings: &Surroundings<D>, seen: &[Seen]) {
        let free: Vec<&Solid<D>> = surroundings.solids.iter().filter(|solid| solid.free.is_some()).collect();
        if free.is_empty() {
            return;
        }
        let blocks = self.blocks.clone();
        let mut by_bodies = FaceField::new(blocks.clone(), 0.0);
        for solid in free {
            let closed = closed_faces(&params.grid, solid);
            let unit_mass = RigidBody::mass_of_faces(&params.grid, solid.to.translation, 1.0, &closed);
            let (mut faces, mut unseen) = (Vec::new(), Vec::new());
            for (axis, cell, whole) in closed {
                let Some(upper) = blocks.locate(cell) else { continue };
                let open = &mut self.open.axes[axis].values_mut()[upper.flat::<D>()];
                let left = (*open - whole as f32).max(0.0);
                let part = if left < CLOSED { *open } else { whole as f32 };
                *open -= part;
                if part > 0.0 {
                    by_bodies.axes[axis].values_mut()[upper.flat::<D>()] += part;
                    faces.push(ClosedFace { axis, upper, part: f64::from(part) });
                }
                if f64::from(part) != whole {
                    unseen.push(ClosedFace { axis, upper, part: whole - f64::from(part) });
                }
            }
            self.bodies.push(BodyView { unit_mass, faces, unseen, films: Vec::new() });
        }
        self.by_bodies = Some(by_bodies);
        self.close_films(seen);
        self.find_film_flows(params, surroundings);
    }

    /// The part of a face that free bodies close.
    fn closed_by_bodies(&self, axis: usize, face: Slot) -> f32 {
        self.by_bodies.as_ref().map_or(0.0, |field| field.axes[axis][face])
    }

    /// The velocity that a source prescribes on the lower face of a cell, in m/s.
    fn inlet_speed(&self, axis: usize, cell: [usize; D]) -> Option<f64> {
        let speed = self.inlets.as_ref()?.get(axis, cell.map(|c| c as i64));
        (!speed.is_nan()).then_some(f64::from(speed))
    }

    /// The velocity along its axis that the walls at each face have, in m/s, as a part of what closes the face: free bodies do not count. 0 on faces
    /// that are open.
    pub fn wall_shares(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
    ) -> FaceField<f64, D> {
        let mut shares = FaceField::new(self.blocks.clone(), 0.0);
        for (axis, shares) in shares.axes.iter_mut().enumerate() {
            let of_blocks = shares.values_mut().par_chunks_mut(block_len::<D>()).enumerate();
            of_blocks.filter(|(block, _)| !self.is_resting(*block)).for_each(|(block, shares)| {
                for (local, share) in shares.iter_mut().enumerate() {
                    let face = Slot { block, local };
                    if self.open.axes[axis][face] < 1.0 {
                        *share = self.wall_share(params, surroundings, dt, axis, self.blocks.cell(face));
                    }
                }
            });
        }
        shares
    }

    /// The velocity of the walls at one face, as [`Self::wall_shares`] tells it.
    fn wall_share(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        axis: usize,
        cell: [usize; D],
    ) -> f64 {
        let at = cell.map(|c| c as i64);
        let by_bodies = self.by_bodies.as_ref().map_or(0.0, |field| field.get(axis, at));
        let closed = 1.0 - self.open.get(axis, at);
        if closed - by_bodies <= 1e-6 * closed {
            return 0.0;
        }
        let share = f64::from((closed - by_bodies) / closed);
        share * self.wall_speed(params, surroundings, dt, axis, cell, |solid| solid.free.is_none())
    }

    /// Closes the faces of the cells in sources. Liquid leaves a source through the faces that its velocity
    /// points out of, and nothing passes the others.
    fn close_sources(&mut self, params: &Params<D>, sources: &[Source<D>]) {
        if sources.is_empty() {
            return;
        }
        let blocks = self.blocks.clone();
        let mut inlets = FaceField::new(blocks.clone(), f32::NAN);
        let area = params.grid.dx.powi(D as i32 - 1);
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
    pub fn blocks(&self) -> &Blocks<D> {
        &self.blocks
    }

    /// The volume that flows out of the sources, in m³/s (2D: m²/s).
    pub fn inflow(&self) -> f64 {
        self.outlets.iter().map(|outlet| outlet.rate).sum()
    }

    /// The velocity of what closes a face, along its axis, in m/s, of the solids that count.
    pub fn wall_speed(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        axis: usize,
        cell: [usize; D],
        counts: impl Fn(&Solid<D>) -> bool,
    ) -> f64 {
        if cell[axis] == 0 || cell[axis] == self.blocks.cells()[axis] {
            // The sides of the domain rest.
            return 0.0;
        }
        if let Some(speed) = self.inlet_speed(axis, cell) {
            return speed;
        }
        let cell = cell.map(|c| c as i64);
        match self.blocks.locate(cell) {
            Some(slot) if self.is_resting(slot.block) => 0.0,
            _ => wall_velocity(params, surroundings, params.grid.face_centre(axis, cell), dt, counts)[axis],
        }
    }

    /// Whether what closes a face lets go of the liquid.
    pub fn separates(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        axis: usize,
        cell: [usize; D],
    ) -> bool {
        if cell[axis] == 0 || cell[axis] == self.blocks.cells()[axis] {
            return self.separating_sides[axis][usize::from(cell[axis] > 0)];
        }
        let centre = params.grid.face_centre(axis, cell.map(|c| c as i64));
        self.inlet_speed(axis, cell).is_none() && nearest_separates(&surroundings.solids, centre)
    }

    /// The rate at which moving walls add to the room of a cell, in m³/s (2D: m²/s): what moves out of it through the closed
    /// part of its faces.
    pub fn room_rate(&self, params: &Params<D>, surroundings: &Surroundings<D>, dt: f64, slot: Slot) -> f64 {
        let area = params.grid.dx.powi(D as i32 - 1);
        let cell = self.blocks.cell(slot);
        let out = |axis: usize, side: usize| {
            let mut at = cell;
            at[axis] += side;
            let closed = f64::from(1.0 - self.open.get(axis, at.map(|c| c as i64)));
            if closed == 0.0 || self.inlet_speed(axis, at).is_some() {
                return 0.0;
            }
            closed * self.wall_share(params, surroundings, dt, axis, at) * [-1.0, 1.0][side]
        };
        area * (0..D).map(|axis| out(axis, 0) + out(axis, 1)).sum::<f64>()
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
        match &self.sight[block] {
            Sight::Cut(cut) => unit(at_nodes(&cut.nodes, self.in_block(block, x)).1),
            _ => [0.0; D],
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

    /// How many cells of a block are not wholly in solids, nor outside of the domain.
    pub fn count_open_cells(&self, block: usize) -> usize {
        self.blocks.cells_inside(block).filter(|slot| self.open_volume(*slot) > 0.0).count()
    }

    fn in_block(&self, block: usize, x: [f32; D]) -> [f32; D] {
        let corner = self.blocks.coord(block);
        std::array::from_fn(|a| x[a] - (corner[a] * BLOCK_EDGE) as f32)
    }

    /// Gives the faces that no liquid passes the normal velocity of the wall that closes them, so that
    /// what moves with the interpolated velocity slides along walls. `velocity` has been extrapolated into
    /// the solids, and is known on the faces that are `valid`; no others are looked at. In the cells that are `leaving` a wall
    /// only what moves into it is stopped.
    pub fn constrain(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        velocity: &mut FaceField<f32, D>,
        valid: &FaceField<bool, D>,
        leaving: &[Slot],
    ) {
        let mut is_leaving = vec![false; if leaving.is_empty() { 0 } else { self.blocks.slots() }];
        leaving.iter().for_each(|slot| is_leaving[slot.flat::<D>()] = true);
        let is_leaving = |slot: Slot| is_leaving.get(slot.flat::<D>()).copied().unwrap_or(false);
        let cut: Vec<usize> = (0..self.blocks.len()).filter(|&block| self.is_cut(block)).collect();
        let constrained: Vec<Vec<(usize, usize, f32)>> = cut
            .par_iter()
            .map(|&block| {
                self.constrained_faces(params, surroundings, dt, (velocity, valid), is_leaving, block)
            })
            .collect();
        for (&block, faces) in cut.iter().zip(constrained) {
            for (axis, local, value) in faces {
                velocity.axes[axis].values_mut()[Slot { block, local }.flat::<D>()] = value;
            }
        }
        self.close_sides(params, velocity, is_leaving);
        if let Some(inlets) = &self.inlets {
            for (velocity, inlet) in velocity.axes.iter_mut().zip(&inlets.axes) {
                let values = velocity.values_mut().par_iter_mut().zip(inlet.values());
                values.filter(|(_, speed)| !speed.is_nan()).for_each(|(u, &speed)| *u = speed);
            }
        }
    }

    /// Takes the faces that are nearly closed from those whose velocity is known. What passes them is little, but its
    /// speed may be any: a cell that a wall leaves a sliver of pushes all that enters it through the sliver's end.
    pub fn forget_narrow_faces(&self, valid: &mut FaceField<bool, D>) {
        for (valid, open) in valid.axes.iter_mut().zip(&self.open.axes) {
            let values = valid.values_mut().par_iter_mut().zip(open.values());
            values.filter(|(_, open)| **open < NARROW).for_each(|(valid, _)| *valid = false);
        }
    }

    /// (axis, local index, velocity) of the closed and narrow faces of a block.
    fn constrained_faces(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        (velocity, valid): (&FaceField<f32, D>, &FaceField<bool, D>),
        is_leaving: impl Fn(Slot) -> bool,
        block: usize,
    ) -> Vec<(usize, usize, f32)> {
        let Sight::Cut(cut) = &self.sight[block] else { return Vec::new() };
        let mut faces = Vec::new();
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            if !self.blocks.is_inside(slot) {
                continue;
            }
            let cell = self.blocks.cell(slot);
            let is_wall = |axis: usize| valid.axes[axis][slot] && self.open.axes[axis][slot] < NARROW;
            for axis in (0..D).filter(|&axis| is_wall(axis)) {
                let x = std::array::from_fn(|a| cell[a] as f32 + if a == axis { 0.0 } else { 0.5 });
                let (distance, slope) = at_nodes(&cut.nodes, self.in_block(block, x));
                if distance < -DEEP {
                    continue;
                }
                let normal = unit(slope);
                let own = velocity.axes[axis][slot];
                let flow = |a: usize| if a == axis { own } else { interpolate_face(velocity, a, x) };
                let wall = match self.is_resting(block) {
                    true => [0.0; D],
                    false => wall_velocity(params, surroundings, params.to_metres(x), dt, |_| true),
                };
                let out: f32 = (0..D).map(|a| (flow(a) - wall[a] as f32) * normal[a]).sum();
                let leaves = is_leaving(slot) || self.blocks.step(slot, axis, 0).is_some_and(&is_leaving);
                let stopped = if leaves { out.min(0.0) } else { out };
                faces.push((axis, local, own - stopped * normal[axis]));
            }
        }
        faces
    }

    /// Stops the velocity normal to the closed sides of the domain.
    fn close_sides(
        &self,
        params: &Params<D>,
        velocity: &mut FaceField<f32, D>,
        is_leaving: impl Fn(Slot) -> bool + Sync,
    ) {
        let cells = self.blocks.cells();
        for axis in 0..D {
            let sides = params.open_sides[axis];
            let values = velocity.axes[axis].values_mut().par_chunks_mut(block_len::<D>());
            values.enumerate().for_each(|(block, values)| {
                let first = self.blocks.coord(block)[axis] * BLOCK_EDGE;
                for (side, face) in [0, cells[axis]].into_iter().enumerate() {
                    if sides[side] || !(first..first + BLOCK_EDGE).contains(&face) {
                        continue;
                    }
                    let stride = BLOCK_EDGE.pow(axis as u32);
                    for (local, value) in values.iter_mut().enumerate() {
                        if local / stride % BLOCK_EDGE != face - first {
                            continue;
                        }
                        let slot = Slot { block, local };
                        *value = match side {
                            0 if is_leaving(slot) => value.max(0.0),
                            1 if self.blocks.step(slot, axis, 0).is_some_and(&is_leaving) => value.min(0.0),
                            _ => 0.0,
                        };
                    }
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

/// Whether the solid that is nearest to a point lets go of the liquid.
pub fn nearest_separates<const D: usize>(solids: &[Solid<D>], point: [f64; D]) -> bool {
    if solids.iter().all(|solid| solid.separates) {
        return !solids.is_empty();
    }
    let is_one = solids.iter().any(|solid| solid.separates);
    let nearest = || solids.iter().map(|s| (s.distance(point), s)).min_by(|a, b| a.0.total_cmp(&b.0));
    is_one && nearest().is_some_and(|(_, solid)| solid.separates)
}

/// The velocity of the solid that is nearest to a point next to one, in m/s, of those that count.
pub fn wall_velocity<const D: usize>(
    params: &Params<D>,
    surroundings: &Surroundings<D>,
    point: [f64; D],
    dt: f64,
    counts: impl Fn(&Solid<D>) -> bool,
) -> [f64; D] {
    let solids = || surroundings.solids.iter().filter(|solid| counts(solid));
    // What is next to a solid, and to none that moves, is next to one that rests: most often that settles it.
    let next_to = |solid: &Solid<D>| solid.moves() && solid.distance(point) < 2.0 * params.grid.dx;
    if !solids().any(next_to) {
        return [0.0; D];
    }
    let nearest = solids().map(|s| (s.distance(point), s)).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or([0.0; D], |(_, solid)| solid.velocity(point, dt))
}

#[cfg(test)]
mod tests;
