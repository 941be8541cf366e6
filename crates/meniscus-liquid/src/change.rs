//! What somebody changes of a liquid between two steps: liquid that is put in, solids and bodies that come, move and go.

use std::sync::Arc;

use meniscus_core::compiled_here;
use meniscus_core::grid::{Blocks, FaceField, Field};
use meniscus_core::interpolate::interpolate;
use meniscus_core::level_set::redistance;
use meniscus_core::particles::seed;
use meniscus_core::shape::{Bounds, Shape};

use crate::boundary::{Boundary, BoundaryCache};
use crate::measure::liquid_by_block;
use crate::params::{AirModel, Params, Transfer};
use crate::state::{InitialLiquid, Phase, State, active_blocks, blocks_of_shapes, body_velocity};
use crate::surface::{agree_in_walls, initial_surface, inner};
use crate::surroundings::Surroundings;
use crate::tracking::{BubbleEvent, Found};
use meniscus_rigid::RigidState;

/// What is changed.
#[derive(Clone, Debug)]
pub struct Change<const D: usize> {
    /// Liquid that is put where there is none.
    pub liquid: Vec<InitialLiquid<D>>,
    /// The same of the second fluid.
    pub second: Vec<InitialLiquid<D>>,
    /// Where solids and bodies were that are there no longer: air, or what else fills the domain, takes their place.
    pub left: Vec<Shape<D>>,
    /// Where solids and bodies are that were not there: what was in their place is gone.
    pub taken: Vec<Shape<D>>,
    /// The bodies from now on.
    pub bodies: Vec<RigidState<D>>,
    /// For each smoke from now on the number that it had; a new one has none.
    pub smoke: Vec<Option<usize>>,
}

impl<const D: usize> Change<D> {
    /// Whether any liquid comes or may have to give way.
    fn moves_liquid(&self) -> bool {
        let is_any = |shapes: &[Shape<D>]| !shapes.is_empty();
        is_any(&self.left) || is_any(&self.taken) || !self.liquid.is_empty() || !self.second.is_empty()
    }
}

type Apply<const D: usize> = fn(&mut State<D>, &Params<D>, &Surroundings<D>, &Change<D>) -> Vec<BubbleEvent>;

impl<const D: usize> State<D> {
    /// Changes what is where, between two steps; `params` and `surroundings` are those after it. By how much the volume of the liquid changes is in the
    /// book of the next step. Everything keeps what it lacks or has too much of the volume that it should have. Tells what happened to bubbles.
    /// A [`Workspace`](crate::Workspace) of before is of no use after it.
    pub fn change(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        change: &Change<D>,
    ) -> Vec<BubbleEvent> {
        compiled_here!(State::<D>::apply as Apply<D>)(self, params, surroundings, change)
    }

    fn apply(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        change: &Change<D>,
    ) -> Vec<BubbleEvent> {
        self.bodies.clone_from(&change.bodies);
        let surroundings = &surroundings.with_bodies(&self.bodies);
        let smoke = std::mem::take(&mut self.smoke);
        let markers = |known: &Option<usize>| known.and_then(|k| smoke.get(k).cloned()).unwrap_or_default();
        self.smoke = change.smoke.iter().map(markers).collect();
        for particles in [&mut self.particles, &mut self.second] {
            let none = || vec![[[0.0; D]; D]; particles.position.len()];
            let affine = particles.affine.take().unwrap_or_else(none);
            particles.affine = (params.transfer == Transfer::Apic).then_some(affine);
        }
        let events =
            if change.moves_liquid() { self.change_liquid(params, surroundings, change) } else { vec![] };
        self.emit_smoke(params, surroundings, |number| change.smoke[number].is_none());
        self.sort_all();
        events
    }

    /// What is where after liquid, solids and bodies have come and gone.
    fn change_liquid(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        change: &Change<D>,
    ) -> Vec<BubbleEvent> {
        self.remove_particles(params, &change.taken);
        let mut level_set = self.emptied(params, &change.left);
        for (phase, bodies) in [(Phase::Liquid, &change.liquid), (Phase::Second, &change.second)] {
            if !bodies.is_empty() {
                level_set = self.put(params, surroundings, phase, bodies, &level_set);
            }
        }
        self.settle_on_blocks(params, surroundings, &level_set)
    }

    /// Removes what solids have taken the place of.
    fn remove_particles(&mut self, params: &Params<D>, taken: &[Shape<D>]) {
        if taken.is_empty() {
            return;
        }
        let bounds: Vec<Bounds<D>> = taken.iter().map(Shape::bounds).collect();
        let stays = |x: [f32; D]| {
            let x = params.to_metres(x);
            // A mesh is asked only for what is near.
            let is_in = |(shape, bounds): (&Shape<D>, &Bounds<D>)| {
                bounds.contains(x) && shape.signed_distance(x) <= 0.0
            };
            !taken.iter().zip(&bounds).any(is_in)
        };
        self.particles.retain(stays);
        self.second.retain(stays);
        for markers in &mut self.smoke {
            markers.position.retain(|&x| stays(x));
        }
    }

    /// The level set with air where solids were.
    fn emptied(&self, params: &Params<D>, left: &[Shape<D>]) -> Field<f32, D> {
        if left.is_empty() || params.air == AirModel::None {
            return self.level_set.clone();
        }
        let blocks = self.level_set.blocks();
        let (grid, band) = (&params.grid, params.band());
        Field::from_fn(blocks.clone(), band, |cell| {
            let centre = grid.cell_centre(cell.map(|c| c as i64));
            let depth = left.iter().map(|shape| -shape.signed_distance(centre)).fold(f64::MIN, f64::max);
            let level = self.level_set.get(cell.map(|c| c as i64));
            level.max(((depth / grid.dx) as f32).min(band))
        })
    }

    /// Puts bodies of a fluid where the other one, or air, is; gives the level set of the liquid after it.
    fn put(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        phase: Phase,
        bodies: &[InitialLiquid<D>],
        before: &Field<f32, D>,
    ) -> Field<f32, D> {
        let shapes: Vec<Shape<D>> = bodies.iter().map(|body| body.shape.clone()).collect();
        let around = blocks_of_shapes(params, &shapes);
        let old = before.blocks();
        let is_near = |coord| around.find(coord).is_some() || old.find(coord).is_some();
        let near = Arc::new(Blocks::new(params.grid.cells, is_near));
        let new = initial_surface(params, &shapes, &surroundings.solids, &near);
        let was = |x| phase.level(interpolate(before, x));

        let in_shape = |x| shapes.iter().any(|shape| shape.signed_distance(params.to_metres(x)) <= 0.0);
        let is_open = |x| surroundings.solids.iter().all(|s| s.distance(params.to_metres(x)) > 0.0);
        let level = |x| (interpolate(&new, x) + inner::<D>()).max(-was(x));
        let is_here = |x| in_shape(x) && is_open(x);
        let position = seed(&near, self.substep, |x| if is_here(x) { level(x) } else { 1.0 });
        self.particles_of_mut(phase.other()).retain(|x| !in_shape(x));
        let particles = self.particles_of_mut(phase);
        if let Some(affine) = &mut particles.affine {
            affine.extend(position.iter().map(|_| [[0.0; D]; D]));
        }
        particles.velocity.extend(position.iter().map(|&x| body_velocity(bodies, params.to_metres(x))));
        particles.position.extend(position);

        // What is put there moves as it should, and what is around it, as what is around liquid does.
        let old_velocity = &self.velocity;
        self.velocity = FaceField::from_fn(near.clone(), 0.0, |axis, cell| {
            let cell = cell.map(|c| c as i64);
            let centre = params.grid.face_centre(axis, cell);
            let x = params.grid.to_cells(centre).map(|c| c as f32);
            if interpolate(&new, x) < was(x) {
                body_velocity(bodies, centre)[axis]
            } else {
                old_velocity.axes[axis].get(cell)
            }
        });
        let speeds = bodies.iter().flat_map(|body| body.velocity).map(f64::abs);
        self.max_speed = speeds.fold(self.max_speed, f64::max);
        Field::from_fn(near, params.band(), |cell| {
            let cell = cell.map(|c| c as i64);
            phase.level(phase.level(before.get(cell)).min(new.get(cell)))
        })
    }

    /// Moves everything to the blocks that are needed now, and measures anew.
    fn settle_on_blocks(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        level_set: &Field<f32, D>,
    ) -> Vec<BubbleEvent> {
        let blocks = Arc::new(active_blocks(params, surroundings, &self.particles.position));
        let mut cache = BoundaryCache::default();
        let boundary = Boundary::new(params, surroundings, &blocks, &mut cache);
        self.accounts.move_to(self.level_set.blocks(), &blocks);
        self.level_set = level_set.moved_to(&blocks);
        if params.air != AirModel::None {
            agree_in_walls(&mut self.level_set, &boundary);
            redistance(&mut self.level_set, params.band());
        }
        self.velocity = self.velocity.moved_to(&blocks);
        self.pressure = self.pressure.moved_to(&blocks);

        let by_block = liquid_by_block(&self.level_set, &boundary);
        let volume = by_block.iter().sum::<f64>() * params.cell_volume();
        let gained = volume - self.volume;
        self.placed += gained;
        self.volume_target = (self.volume_target + gained).max(0.0);
        self.volume = volume;
        self.accounts.hold(by_block);
        self.inflow = boundary.inflow();
        self.find_regions_anew(params, surroundings, &boundary, &mut cache)
    }

    /// Finds the bodies of liquid and the regions of air where nothing has moved, but was changed.
    fn find_regions_anew(
        &mut self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        boundary: &Boundary<D>,
        cache: &mut BoundaryCache<D>,
    ) -> Vec<BubbleEvent> {
        let Some(mut old) = self.tracked.take() else { return Vec::new() };
        old.labels = old.labels.moved_to(self.level_set.blocks());
        let found = Found::new(params, surroundings, &self.level_set, boundary, cache);
        let part = self.volume_target / self.volume.max(f64::MIN_POSITIVE);
        let (mut tracked, events) =
            old.rearranged(params, &found, (&self.level_set, &self.velocity), self.time, part);
        tracked.set_inflow(boundary);
        self.tracked = Some(tracked);
        events
    }
}
