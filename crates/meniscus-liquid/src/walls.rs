//! Walls as they move: their velocities, which of them let go of the liquid, and what the velocity of the liquid is held to at them.

use meniscus_core::grid::{BLOCK_EDGE, FaceField, Field, Slot, block_len, sides};
use meniscus_core::interpolate::interpolate_face;
use meniscus_core::parallel;

use crate::boundary::{Boundary, NARROW};
use crate::params::Slip;
use crate::substep::Substep;
use crate::surroundings::Solid;

/// Faces deeper in a solid than this, in cells, are never looked at: interpolation at a point outside, and along the way of a particle that a solid pushes out, reaches
/// less far. Deeper ones only cost time.
const OUT_OF_REACH: f32 = 3.0;

impl<const D: usize> Substep<'_, D> {
    /// The velocity of the solid that is nearest to a point next to one, in m/s, of those that count.
    pub fn velocity_of_nearest(self, point: [f64; D], counts: impl Fn(&Solid<D>) -> bool) -> [f64; D] {
        let solids = || self.surroundings.solids.iter().filter(|solid| counts(solid));
        // What is next to a solid, and to none that moves, is next to one that rests: most often that settles it.
        let reach = 2.0 * self.params.grid.dx;
        if !solids().any(|solid| solid.moves() && solid.distance(point) < reach) {
            return [0.0; D];
        }
        let nearest = solids().map(|s| (s.distance(point), s)).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map_or([0.0; D], |(_, solid)| solid.velocity(point, self.dt))
    }

    /// The velocity of the wall at a point of a block, in m/s.
    pub fn wall_velocity(self, block: usize, x: [f32; D]) -> [f64; D] {
        if self.boundary.is_resting(block) {
            return [0.0; D];
        }
        self.velocity_of_nearest(self.params.to_metres(x), |_| true)
    }

    /// The velocity of what closes a face, along its axis, in m/s, of the solids that count.
    pub fn wall_speed(self, axis: usize, cell: [usize; D], counts: impl Fn(&Solid<D>) -> bool) -> f64 {
        let blocks = self.boundary.blocks();
        if cell[axis] == 0 || cell[axis] == blocks.cells()[axis] {
            // The sides of the domain rest.
            return 0.0;
        }
        if let Some(speed) = self.boundary.inlet_speed(axis, cell) {
            return speed;
        }
        let cell = cell.map(|c| c as i64);
        match blocks.locate(cell) {
            Some(slot) if self.boundary.is_resting(slot.block) => 0.0,
            _ => self.velocity_of_nearest(self.params.grid.face_centre(axis, cell), counts)[axis],
        }
    }

    /// The velocity of what closes a face as a part of all that closes it: free bodies do not count. In m/s, along its axis.
    pub fn wall_share(self, axis: usize, cell: [usize; D]) -> f64 {
        let share = self.boundary.share_of_walls(axis, cell.map(|c| c as i64));
        if share == 0.0 { 0.0 } else { share * self.wall_speed(axis, cell, |solid| solid.free.is_none()) }
    }

    /// By face, the velocity that the closed part of it has in the mean, free bodies taken as at rest: what passes through it with that. `None` where
    /// all walls rest; 0 on faces that are open.
    pub fn velocity_of_closed_parts(self) -> Option<FaceField<f64, D>> {
        self.sampled(|axis, face| {
            let is_closed = self.boundary.open.axes[axis][face] < 1.0;
            if is_closed { self.wall_share(axis, self.boundary.blocks().cell(face)) } else { 0.0 }
        })
    }

    /// By face, the velocity that a wall at it has, free bodies among them; where liquid sticks to walls, that of walls next to open faces too. `None` where all
    /// walls rest.
    pub fn velocity_beside_walls(self) -> Option<FaceField<f64, D>> {
        let sticks = self.params.walls == Slip::None;
        self.sampled(|axis, face| match sticks || self.boundary.open.axes[axis][face] == 0.0 {
            true => self.wall_speed(axis, self.boundary.blocks().cell(face), |_| true),
            false => 0.0,
        })
    }

    /// What a function has for the faces of blocks in which not all rests; `None` if all of them do.
    fn sampled(self, of_face: impl Fn(usize, Slot) -> f64 + Sync) -> Option<FaceField<f64, D>> {
        if !self.boundary.has_moving_walls(self.surroundings) {
            return None;
        }
        let mut field = FaceField::new(self.boundary.blocks().clone(), 0.0);
        for (axis, field) in field.axes.iter_mut().enumerate() {
            parallel::for_chunks(field.values_mut(), block_len::<D>(), |block, values| {
                if !self.boundary.is_resting(block) {
                    let faces = values.iter_mut().enumerate();
                    faces.for_each(|(local, value)| *value = of_face(axis, Slot { block, local }));
                }
            });
        }
        Some(field)
    }

    /// By face, whether what closes it, wholly or in part, lets go of the liquid; told of the faces of cells of fluid alone. `None` if nothing does.
    pub fn separating_faces(self, level_set: &Field<f32, D>) -> Option<FaceField<bool, D>> {
        let Self { params, surroundings, boundary, .. } = self;
        if !params.sides_separate && !surroundings.solids.iter().any(|solid| solid.separates) {
            return None;
        }
        let blocks = boundary.blocks();
        let is_fluid = |slot: Slot| params.air.fills_domain() || level_set[slot] < 0.0;
        let mut separating = FaceField::new(blocks.clone(), false);
        for (axis, field) in separating.axes.iter_mut().enumerate() {
            parallel::for_chunks(field.values_mut(), block_len::<D>(), |block, values| {
                for (local, value) in values.iter_mut().enumerate() {
                    let face = Slot { block, local };
                    let beside = || [Some(face), blocks.step(face, axis, 0)].into_iter().flatten();
                    *value = boundary.open.axes[axis][face] < 1.0
                        && beside().any(|cell| is_fluid(cell) && boundary.has_open_face(cell))
                        && self.separates(axis, blocks.cell(face));
                }
            });
        }
        Some(separating)
    }

    /// Whether what closes a face lets go of the liquid.
    fn separates(self, axis: usize, cell: [usize; D]) -> bool {
        if cell[axis] == 0 || cell[axis] == self.boundary.blocks().cells()[axis] {
            return self.boundary.separating_sides[axis][usize::from(cell[axis] > 0)];
        }
        let centre = self.params.grid.face_centre(axis, cell.map(|c| c as i64));
        self.boundary.inlet_speed(axis, cell).is_none() && self.nearest_separates(centre)
    }

    /// Whether the solid that is nearest to a point lets go of the liquid.
    pub fn nearest_separates(self, point: [f64; D]) -> bool {
        let solids = &self.surroundings.solids;
        if solids.iter().all(|solid| solid.separates) {
            return !solids.is_empty();
        }
        let is_one = solids.iter().any(|solid| solid.separates);
        let nearest = || solids.iter().map(|s| (s.distance(point), s)).min_by(|a, b| a.0.total_cmp(&b.0));
        is_one && nearest().is_some_and(|(_, solid)| solid.separates)
    }

    /// The rate at which moving walls add to the room of a cell, in m³/s (2D: m²/s): what moves out of it through the closed
    /// part of its faces.
    pub fn room_rate(self, slot: Slot) -> f64 {
        let boundary = self.boundary;
        let cell = boundary.blocks().cell(slot);
        let out = |axis: usize, side: usize| {
            let mut at = cell;
            at[axis] += side;
            let closed = f64::from(1.0 - boundary.open.get(axis, at.map(|c| c as i64)));
            if closed == 0.0 || boundary.inlet_speed(axis, at).is_some() {
                return 0.0;
            }
            closed * self.wall_share(axis, at) * [-1.0, 1.0][side]
        };
        self.params.face_area() * (0..D).map(|axis| out(axis, 0) + out(axis, 1)).sum::<f64>()
    }

    /// Gives the faces that no liquid passes the normal velocity of the wall that closes them, so that
    /// what moves with the interpolated velocity slides along walls. `velocity` has been extrapolated into
    /// the solids, and is known on the faces that are `valid`; no others are looked at. In the cells that are `leaving` a wall
    /// only what moves into it is stopped.
    pub fn constrain(self, velocity: &mut FaceField<f32, D>, valid: &FaceField<bool, D>, leaving: &[Slot]) {
        let boundary = self.boundary;
        let blocks = boundary.blocks();
        let mut is_leaving = vec![false; if leaving.is_empty() { 0 } else { blocks.slots() }];
        leaving.iter().for_each(|slot| is_leaving[slot.flat::<D>()] = true);
        let is_leaving = |slot: Slot| is_leaving.get(slot.flat::<D>()).copied().unwrap_or(false);
        let cut: Vec<usize> = (0..blocks.len()).filter(|&block| boundary.is_cut(block)).collect();
        let constrained: Vec<Vec<(usize, usize, f32)>> =
            parallel::map(cut.len(), |k| self.constrained_faces((velocity, valid), is_leaving, cut[k]));
        for (&block, faces) in cut.iter().zip(constrained) {
            for (axis, local, value) in faces {
                velocity.axes[axis].values_mut()[Slot { block, local }.flat::<D>()] = value;
            }
        }
        close_sides(boundary, self.params.open_sides, velocity, is_leaving);
        boundary.prescribe_inlets(velocity);
    }

    /// (axis, local index, velocity) of the closed and narrow faces of a block.
    fn constrained_faces(
        self,
        (velocity, valid): (&FaceField<f32, D>, &FaceField<bool, D>),
        is_leaving: impl Fn(Slot) -> bool,
        block: usize,
    ) -> Vec<(usize, usize, f32)> {
        let boundary = self.boundary;
        let blocks = boundary.blocks();
        let mut faces = Vec::new();
        for slot in blocks.cells_inside(block) {
            let cell = blocks.cell(slot);
            let is_wall = |axis: usize| valid.axes[axis][slot] && boundary.open.axes[axis][slot] < NARROW;
            for axis in (0..D).filter(|&axis| is_wall(axis)) {
                let x = std::array::from_fn(|a| cell[a] as f32 + if a == axis { 0.0 } else { 0.5 });
                let (distance, normal) = boundary.distance_and_normal(block, x);
                if distance < -OUT_OF_REACH {
                    continue;
                }
                let own = velocity.axes[axis][slot];
                let flow = |a: usize| if a == axis { own } else { interpolate_face(velocity, a, x) };
                let wall = self.wall_velocity(block, x);
                let out: f32 = (0..D).map(|a| (flow(a) - wall[a] as f32) * normal[a]).sum();
                let leaves = is_leaving(slot) || blocks.step(slot, axis, 0).is_some_and(&is_leaving);
                let stopped = if leaves { out.min(0.0) } else { out };
                faces.push((axis, slot.local, own - stopped * normal[axis]));
            }
        }
        faces
    }
}

/// Stops the velocity normal to the closed sides of the domain.
fn close_sides<const D: usize>(
    boundary: &Boundary<D>,
    open_sides: [[bool; 2]; D],
    velocity: &mut FaceField<f32, D>,
    is_leaving: impl Fn(Slot) -> bool + Sync,
) {
    let blocks = boundary.blocks();
    for (axis, side) in sides::<D>().filter(|&(axis, side)| !open_sides[axis][side]) {
        let face = [0, blocks.cells()[axis]][side];
        parallel::for_chunks(velocity.axes[axis].values_mut(), block_len::<D>(), |block, values| {
            let first = blocks.coord(block)[axis] * BLOCK_EDGE;
            if !(first..first + BLOCK_EDGE).contains(&face) {
                return;
            }
            let stride = BLOCK_EDGE.pow(axis as u32);
            let at_side = |local: usize| local / stride % BLOCK_EDGE == face - first;
            for (local, value) in values.iter_mut().enumerate().filter(|(local, _)| at_side(*local)) {
                let slot = Slot { block, local };
                *value = match side {
                    0 if is_leaving(slot) => value.max(0.0),
                    1 if blocks.step(slot, axis, 0).is_some_and(&is_leaving) => value.min(0.0),
                    _ => 0.0,
                };
            }
        });
    }
}
