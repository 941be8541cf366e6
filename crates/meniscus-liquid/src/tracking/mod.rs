//! Who is who from substep to substep, and what volume each should have (Goldade 2020, section 7.1).
//!
//! The regions of a substep are compared with those of the one before: every cell of a new region next to its
//! surface follows the flow back to where it came from, and counts as a vote for the old region there. Votes make a
//! bipartite graph, whose connected parts share their rest volumes (eq. 26). A region without a past is a void
//! that the particles left behind, and is to vanish. Bodies of liquid are followed in the same way.
//!
//! The paper carries the numbers of bubbles on its particles. Here the surface is that of a level set, which moves
//! by the same tracing, so a traced cell finds the region that its air came from also where a film has fewer
//! particles than are needed to tell its two sides apart.

mod events;
mod matching;
mod trace;

use meniscus_core::grid::{FaceField, Field, Slot};
use meniscus_core::serde_array::array;
use meniscus_core::vector::sub;
use serde::{Deserialize, Serialize};

use crate::boundary::{Boundary, BoundaryCache};
use crate::holding::Holding;
use crate::params::Params;
use crate::regions::{Interface, Owner, Regions, Volumes, liquid_area, measure_volumes};
use crate::surroundings::Surroundings;
pub use events::{BubbleEvent, EventKind};
use matching::{Family, families};
pub use trace::{Ancestry, trace};

/// The bodies of liquid and the regions of air at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracked<const D: usize> {
    /// What each cell belongs to: see [`Owner`](crate::regions::Owner).
    pub(crate) labels: Field<u32, D>,
    /// The regions of air.
    pub regions: Vec<AirRegion<D>>,
    /// The bodies of liquid.
    pub bodies: Vec<LiquidBody>,
    /// Who touches whom.
    #[serde(rename = "contacts")]
    pub(crate) interfaces: Vec<Interface>,
    /// By region of air: whether its volume is a constraint of the projection.
    pub(crate) constrained: Vec<bool>,
    /// The identity of the next bubble.
    next_id: u32,
}

/// The identity of air that an open side or a sink lets in and out.
pub const OPEN_AIR: u32 = 0;

/// A region of air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AirRegion<const D: usize> {
    /// Its identity, the same as long as it lives; [`OPEN_AIR`] if it keeps no volume.
    pub id: u32,
    /// When it came to be, in s.
    pub born: f64,
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have; 0 for a void, which is to vanish.
    pub rest_volume: f64,
    /// The area of its surface to liquid, in m² (2D: m).
    pub area: f64,
    /// Its pressure, in Pa.
    pub pressure: f64,
    /// The centre of its volume, in m.
    #[serde(with = "array")]
    pub centroid: [f64; D],
    /// The velocity of that centre, in m/s.
    #[serde(with = "array")]
    pub velocity: [f64; D],
    /// One of its cells, to find it by when no liquid is near.
    #[serde(with = "array")]
    anchor: [usize; D],
}

impl<const D: usize> AirRegion<D> {
    /// Whether it keeps its volume and liquid touches it.
    pub fn is_bubble(&self) -> bool {
        self.id != OPEN_AIR && self.area > 0.0
    }
}

/// A body of liquid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiquidBody {
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have.
    pub rest_volume: f64,
    /// What sources push into it, in m³/s (2D: m²/s).
    pub inflow: f64,
}

/// Air that has come from nowhere and holds less than this, in cells, is no more than a gap between particles. It trades small cavities, which close a substep early, for
/// specks, which would each be a constraint.
const LEAST_VOID: f64 = 1.0;

/// No air holds less than this, in cells: neither where it is nor how much of it there is could be told. Half a cell is what a curved wall may cut off from a cell.
const LEAST_BUBBLE: f64 = 0.5;

/// The regions of a moment, found and measured.
pub struct Found<const D: usize> {
    /// The regions.
    pub regions: Regions<D>,
    /// What they hold, in cells.
    pub volumes: Volumes<D>,
}

/// When regions are followed, from the last time on.
#[derive(Clone, Copy)]
pub struct Now {
    /// The time, in s.
    pub time: f64,
    /// How long ago the last time was, in s.
    pub dt: f64,
    /// The volume that the liquid should have, in m³ (2D: m²).
    pub liquid: f64,
}

impl<const D: usize> Found<D> {
    /// Finds and measures them.
    pub fn new(
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        cache: &mut BoundaryCache<D>,
    ) -> Self {
        let regions = Regions::find(params, surroundings, level_set, boundary, cache);
        let open = cache.open_cells(params, &surroundings.solids);
        let volumes = regions.measure(level_set, boundary, open);
        Self { regions, volumes }
    }
}

impl<const D: usize> Tracked<D> {
    /// The first regions of a simulation: each should have the volume that it has.
    pub fn new(params: &Params<D>, found: Found<D>) -> Self {
        let scale = Scale::of(params);
        let mut next_id = OPEN_AIR + 1;
        let mut regions = describe(params, &found, 0.0);
        for region in
            regions.iter_mut().zip(&found.regions.vented).filter(|(_, open)| !**open).map(|(r, _)| r)
        {
            region.id = next_id;
            next_id += 1;
        }
        let of_body = |volume: f64| LiquidBody { volume, rest_volume: volume, inflow: 0.0 };
        let bodies = found.volumes.bodies.iter().map(|body| of_body(body.volume * scale.volume)).collect();
        let constrained = found.regions.constrained();
        let Regions { labels, interfaces, .. } = found.regions;
        Self { labels, regions, bodies, interfaces, constrained, next_id }
    }

    /// The regions that are too small to be followed, and are to be filled with liquid.
    pub fn specks(&self, found: &Found<D>, ancestry: &Ancestry) -> Vec<usize> {
        let mut has_past = vec![false; found.regions.air.len()];
        for &(_, new) in ancestry.regions.between.keys() {
            has_past[new] = true;
        }
        let is_speck = |&region: &usize| {
            let least = if has_past[region] { LEAST_BUBBLE } else { LEAST_VOID };
            !found.regions.vented[region] && found.volumes.regions[region].volume < least
        };
        (0..has_past.len()).filter(is_speck).collect()
    }

    /// The regions of the next moment, that came from these by `ancestry`; and what happened to the bubbles. The rest volumes of the bodies add up to that of the
    /// liquid, but for what is of no body.
    pub fn succeeded_by(
        &self,
        params: &Params<D>,
        found: &Found<D>,
        ancestry: &Ancestry,
        Now { time, dt, liquid }: Now,
    ) -> (Self, Vec<BubbleEvent>) {
        let mut next = Self {
            regions: describe(params, found, time),
            bodies: self.bodies_after(params, found, ancestry, liquid),
            labels: found.regions.labels.clone(),
            interfaces: found.regions.interfaces.clone(),
            constrained: found.regions.constrained(),
            next_id: self.next_id,
        };
        // What has been filled holds nothing, and is nobody's heir.
        let is_filled = |new: usize| next.regions[new].volume == 0.0;
        let old_open: Vec<bool> = self.regions.iter().map(|r| r.id == OPEN_AIR).collect();
        let new_open: Vec<bool> =
            found.regions.vented.iter().enumerate().map(|(new, &vented)| vented || is_filled(new)).collect();
        let mut votes = ancestry.regions.clone();
        self.vote_by_anchor(&found.regions, &mut votes);
        votes.forget(is_filled);
        let families = families([&old_open, &new_open], &votes);
        let old_rest: Vec<f64> = self.regions.iter().map(|r| r.rest_volume).collect();
        let volume: Vec<f64> = next.regions.iter().map(|r| r.volume).collect();
        let mut events = Vec::new();
        for family in &families {
            next.name(self, family, &family.rest_volumes(&old_rest, &volume), dt);
            events.extend(events::of_family(family, &self.regions, &next.regions));
        }
        next.settle_sealed(&found.regions);
        (next, events)
    }

    /// The regions after something was changed between two steps, in which nothing moves; and what happened to the bubbles. What goes on keeps its identity and what it
    /// lacks or has too much; what is new should have the volume that it has; the liquid should have this `part` of its volume.
    pub fn rearranged(
        &self,
        params: &Params<D>,
        found: &Found<D>,
        (level_set, velocity): (&Field<f32, D>, &FaceField<f32, D>),
        time: f64,
        part: f64,
    ) -> (Self, Vec<BubbleEvent>) {
        let ancestry = trace([&self.labels, &found.regions.labels], level_set, velocity, 0.0);
        let (mut next, events) =
            self.succeeded_by(params, found, &ancestry, Now { time, dt: 0.0, liquid: 0.0 });
        next.rest_as_measured(part);
        for region in next.regions.iter_mut().filter(|region| region.id != OPEN_AIR) {
            if let Some(old) = self.regions.iter().find(|old| old.id == region.id) {
                region.rest_volume += old.rest_volume - old.volume;
            }
        }
        (next, events)
    }

    /// Takes over the pressures of the constrained regions; all others have that of the open air.
    pub fn set_pressures(&mut self, found: &[f64]) {
        let mut found = found.iter();
        for (region, &constrained) in self.regions.iter_mut().zip(&self.constrained) {
            region.pressure = if constrained { found.next().copied().unwrap_or(0.0) } else { 0.0 };
        }
    }

    /// By body, the open area through which it may grow, in m² (2D: m). What fills a closed vessel has no choice.
    pub(crate) fn openings(&self, params: &Params<D>) -> Vec<f64> {
        let has_open_side = params.open_sides.iter().flatten().any(|open| *open);
        let mut open = vec![if has_open_side { f64::INFINITY } else { 0.0 }; self.bodies.len()];
        let mut to_free_air = vec![0.0; self.bodies.len()];
        for interface in &self.interfaces {
            let area = interface.area * Scale::of(params).area;
            open[interface.body] += area;
            to_free_air[interface.body] += if self.constrained[interface.region] { 0.0 } else { area };
        }
        // Bubbles that keep their volume pass on what liquid beside them gives way to.
        if params.second().is_none() && !has_open_side {
            open.iter_mut()
                .zip(to_free_air)
                .filter(|(_, free)| *free > 0.0)
                .for_each(|(open, free)| *open = free);
        }
        open
    }

    /// By region, the open area of the faces between it and liquid, in m² (2D: m).
    pub(crate) fn open_areas(&self, dx: f64) -> Vec<f64> {
        let faces = liquid_area(&self.interfaces, self.regions.len());
        faces.into_iter().map(|faces| faces * dx.powi(D as i32 - 1)).collect()
    }

    /// Gives every region the mean of the pressures of its cells.
    pub fn set_mean_pressures(&mut self, pressure: &Field<f64, D>) {
        let mut sums = vec![(0.0, 0.0); self.regions.len()];
        for (&label, &pressure) in self.labels.values().iter().zip(pressure.values()) {
            if let Some(Owner::Air(region)) = Owner::of(label) {
                sums[region].0 += pressure;
                sums[region].1 += 1.0;
            }
        }
        for (region, (sum, count)) in self.regions.iter_mut().zip(sums) {
            region.pressure = if count > 0.0 { sum / count } else { 0.0 };
        }
    }

    /// The body that a cell belongs to.
    pub fn body_at(&self, cell: Slot) -> Option<usize> {
        match Owner::of(self.labels[cell]) {
            Some(Owner::Liquid(body)) => Some(body),
            _ => None,
        }
    }

    /// The region of air that a cell belongs to.
    pub fn region_at(&self, cell: [i64; D]) -> Option<usize> {
        match Owner::of(self.labels.get(cell)) {
            Some(Owner::Air(region)) => Some(region),
            _ => None,
        }
    }

    /// The volumes that the bodies have within another level set.
    pub fn body_volumes(
        &self,
        level_set: &Field<f32, D>,
        boundary: &Boundary<D>,
        cell_volume: f64,
    ) -> Vec<f64> {
        let counts = [self.bodies.len(), self.regions.len()];
        let has_liquid = |block: usize| level_set.block(block).iter().any(|&level| level < 1.0);
        let volumes = measure_volumes(&self.labels, counts, level_set, boundary, has_liquid);
        volumes.bodies.iter().map(|body| body.volume * cell_volume).collect()
    }

    /// Takes over what bodies and regions hold.
    pub fn set_volumes(&mut self, params: &Params<D>, volumes: &Volumes<D>) {
        let scale = Scale::of(params);
        for (body, holding) in self.bodies.iter_mut().zip(&volumes.bodies) {
            body.volume = holding.volume * scale.volume;
        }
        for (region, holding) in self.regions.iter_mut().zip(&volumes.regions) {
            region.volume = holding.volume * scale.volume;
        }
    }

    /// From now on everything should have the volume that it has, and liquid this `part` of it.
    pub fn rest_as_measured(&mut self, part: f64) {
        self.regions.iter_mut().for_each(|region| region.rest_volume = region.volume);
        self.bodies.iter_mut().for_each(|body| body.rest_volume = part * body.volume);
    }

    /// Notes what sources push into the bodies.
    pub fn set_inflow(&mut self, boundary: &Boundary<D>) {
        for outlet in &boundary.outlets {
            if let Some(Owner::Liquid(body)) = Owner::of(self.labels.get(outlet.cell)) {
                self.bodies[body].inflow += outlet.rate;
            }
        }
    }

    /// Regions that no liquid is near have no samples: what holds the anchor of an old one is that one.
    fn vote_by_anchor(&self, regions: &Regions<D>, votes: &mut matching::Votes) {
        for (old, region) in self.regions.iter().enumerate().filter(|(_, region)| region.volume > 0.0) {
            if let Some(new) = regions.region_at(region.anchor)
                && !votes.of_new.contains_key(&new)
            {
                votes.add(Some(old), new, 1);
            }
        }
    }

    /// The bodies after a substep.
    fn bodies_after(
        &self,
        params: &Params<D>,
        found: &Found<D>,
        ancestry: &Ancestry,
        liquid: f64,
    ) -> Vec<LiquidBody> {
        let scale = Scale::of(params);
        let volume: Vec<f64> = found.volumes.bodies.iter().map(|body| body.volume * scale.volume).collect();
        let old_rest: Vec<f64> = self.bodies.iter().map(|body| body.rest_volume).collect();
        // A body without a past, as drops are that spray has become, should have the volume that it has.
        let mut rest = volume.clone();
        let open = [vec![false; self.bodies.len()], vec![false; volume.len()]];
        for family in families([&open[0], &open[1]], &ancestry.bodies).iter().filter(|f| !f.old.is_empty()) {
            for (body, volume) in family.rest_volumes(&old_rest, &volume) {
                rest[body] = volume;
            }
        }
        // What vanished bodies leave, the others take.
        let wanted = liquid - found.volumes.stray_liquid * scale.volume;
        let sum: f64 = rest.iter().sum();
        let factor = if sum > 0.0 { (wanted / sum).max(0.0) } else { 1.0 };
        let body =
            |(volume, rest): (f64, f64)| LiquidBody { volume, rest_volume: rest * factor, inflow: 0.0 };
        volume.into_iter().zip(rest).map(body).collect()
    }

    /// Gives the new regions of a family identities, rest volumes and what else they inherit.
    fn name(&mut self, old: &Self, family: &Family, rest_volumes: &[(usize, f64)], dt: f64) {
        let is_void = family.old.is_empty() && !family.from_open;
        for &(new, rest) in rest_volumes {
            let region = &mut self.regions[new];
            // Air that has been shut off from the rest without touching liquid is no void.
            region.rest_volume = if is_void && region.area == 0.0 { region.volume } else { rest };
            region.pressure =
                weighted_mean(&family.old, |k| (old.regions[k].volume, old.regions[k].pressure));
            region.velocity = std::array::from_fn(|axis| {
                weighted_mean(&family.old, |k| (old.regions[k].volume, old.regions[k].velocity[axis]))
            });
            match family.same.iter().find(|(_, same)| *same == new) {
                Some(&(same, _)) => {
                    region.id = old.regions[same].id;
                    region.born = old.regions[same].born;
                    if family.old.len() == 1 && family.new.len() == 1 && dt > 0.0 {
                        let way = sub(region.centroid, old.regions[same].centroid);
                        region.velocity = way.map(|x| x / dt);
                    }
                }
                None => {
                    region.id = self.next_id;
                    self.next_id += 1;
                }
            }
        }
    }

    /// In a sealed part of the world the air has the room that the liquid leaves. The region that has no constraint of
    /// its own should have what the others should not.
    fn settle_sealed(&mut self, regions: &Regions<D>) {
        for group in regions.sealed_groups() {
            let room: f64 = group.regions.iter().map(|&r| self.regions[r].volume).sum::<f64>()
                + group.bodies.iter().map(|&b| self.bodies[b].volume).sum::<f64>();
            let liquid: f64 = group.bodies.iter().map(|&b| self.bodies[b].rest_volume).sum();
            let others = group.regions.iter().filter(|&&r| r != group.unconstrained);
            let others: f64 = others.map(|&r| self.regions[r].rest_volume).sum();
            self.regions[group.unconstrained].rest_volume = (room - liquid - others).max(0.0);
        }
    }
}

/// What a cell is in metres.
struct Scale {
    area: f64,
    volume: f64,
}

impl Scale {
    fn of<const D: usize>(params: &Params<D>) -> Self {
        Self { area: params.face_area(), volume: params.cell_volume() }
    }
}

/// The regions as measured, each as it should be, all open.
fn describe<const D: usize>(params: &Params<D>, found: &Found<D>, time: f64) -> Vec<AirRegion<D>> {
    let scale = Scale::of(params);
    let anchors = found.regions.air.first_cells();
    // The level set of a liquid may be seen through a wall.
    let touches =
        liquid_area(&found.regions.interfaces, found.regions.air.len()).into_iter().map(|area| area > 0.0);
    let bubble = |((holding, anchor), touches): ((&Holding<D>, [usize; D]), bool)| AirRegion {
        id: OPEN_AIR,
        born: time,
        volume: holding.volume * scale.volume,
        rest_volume: holding.volume * scale.volume,
        area: if touches { holding.area * scale.area } else { 0.0 },
        pressure: 0.0,
        centroid: params.grid.point(holding.centroid()),
        velocity: [0.0; D],
        anchor,
    };
    found.volumes.regions.iter().zip(anchors).zip(touches).map(bubble).collect()
}

fn weighted_mean(of: &[usize], weight_and_value: impl Fn(usize) -> (f64, f64)) -> f64 {
    let (mut weights, mut sum) = (0.0, 0.0);
    for (weight, value) in of.iter().map(|&k| weight_and_value(k)) {
        weights += weight;
        sum += weight * value;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}
