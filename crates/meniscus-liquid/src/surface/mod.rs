//! The level set of the liquid.
//!
//! A grid level set moves with the flow and keeps flat and smooth surfaces exactly so; the particles
//! know where liquid is that the grid has lost, or no longer is. So the level set is first advected, then
//! held to what the particles allow: all liquid lies within [`OUTER`] cells of a particle, and the ball of
//! [`inner`] cells around every particle that has escaped from it is liquid again. (In the manner of the
//! particle level set of Enright et al. 2002, with the liquid's own particles as the markers.)

pub mod curvature;
mod initial;
pub mod separate;
pub mod shift;
pub mod thin_walls;

use meniscus_core::advect::advect_point;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Field, Slot, block_len, cell_in_block, sides};
use meniscus_core::interpolate::{interpolate, interpolate_cubic};
use meniscus_core::level_set::particle_distance;
use meniscus_core::parallel;
use meniscus_core::particles::{BlockRanges, Particles, SortWorkspace};

use crate::books::Ledger;
use crate::boundary::Boundary;
use crate::measure::liquid_by_block;
use crate::params::Params;
use crate::particles::Sorted;
use crate::substep::Substep;
use crate::surface::separate::{apply_gaps, gaps_at_sides, rise_beyond_sides};
use crate::surface::thin_walls::{ThinWalls, redistance_between};
use crate::volume::accounts::large_excess;
pub use initial::initial_surface;

/// The distance from a particle within which all is liquid, in cells: the radius of a ball with the volume
/// of a particle, of which a cell holds 2^D.
pub const fn inner<const D: usize>() -> f32 {
    if D == 2 { 0.282 } else { 0.310 }
}

/// The distance from the nearest particle beyond which there is no liquid, in cells. Nothing inside a
/// freshly seeded liquid is farther from a particle: less opens holes in liquid that is stretched, more leaves liquid behind that has no particles. `no_particle_is_born_behind_a_thin_wall` holds it from above.
pub const OUTER: f32 = 1.3;

/// The distance from the nearest particle beyond which there is no liquid within [`NEAR_WALL`] cells of a solid: no particle fits into the wedge between surface and wall. Less than
/// [`THIN`](crate::sweep::THIN), so that only thin walls are reached through.
const OUTER_AT_WALL: f32 = 1.9;
const NEAR_WALL: f32 = 1.0;

/// How far all particles are from a cell that sees none for a thin wall, in cells, at least. It is dry, but so barely that the
/// surface lies at its centre: particles on the other side of the wall are then inside their liquid, not spray at its surface.
const UNSEEN: f32 = OUTER_AT_WALL + 0.02;

/// How far outside the surface a particle has escaped from it, in cells: nearer, it may be as far off as the
/// surface is. Half of the radius of its ball, about: less roughens calm surfaces, more loses what the grid does not resolve.
const ESCAPED: f32 = 0.15;

/// How far inside a solid the level set is left as the flow brought it, in cells: there are no particles
/// to hold it to. Within half a cell a solid may leave a part of the cell open.
const BURIED: f32 = 0.5;

impl<const D: usize> Params<D> {
    /// Half the width of the band in which the level set is a distance, in cells.
    pub(crate) fn band(&self) -> f32 {
        self.reach() as f32 + 1.0
    }

    /// How much deeper than the distance to the end of their reach particles leave liquid. Surface tension keeps the surface smooth, and gaps between stirred particles, which are not empty,
    /// would dent a drop at rest.
    pub(crate) fn deepness(&self) -> f32 {
        if self.surface_tension > 0.0 { 2.0 } else { 1.0 }
    }
}

/// The level set after a substep in a flow whose fastest component is `speed`, in m/s, on the blocks of the walls. Air comes in through sides that let go of the
/// liquid. Cells next to a surface that tension keeps smooth move as the surface does.
pub fn advect_surface<const D: usize>(
    substep: Substep<D>,
    old: &Field<f32, D>,
    velocity: &FaceField<f32, D>,
    speed: f64,
) -> Field<f32, D> {
    let Substep { params, boundary, .. } = substep;
    let (blocks, separating) = (boundary.blocks(), params.separating_sides());
    let (dt, smooth) = (substep.dt_in_cells(), params.surface_tension > 0.0);
    // The farthest that anything moves, in cells.
    let travel = (speed * substep.dt / params.grid.dx) as f32 * (D as f32).sqrt();
    let band = old.background();
    // Farther than this from the surface, no cell can have come across it or see it next to itself.
    let far = travel + 1.5;
    let cells = blocks.cells();
    let mut new = Field::new(blocks.clone(), band);
    parallel::for_chunks(new.values_mut(), block_len::<D>(), |block, values| {
        for (local, value) in values.iter_mut().enumerate() {
            let cell = blocks.cell(Slot { block, local });
            if (0..D).any(|a| cell[a] >= cells[a]) {
                continue;
            }
            let here = old.get(cell.map(|c| c as i64));
            *value = if here.abs() < far || far > band {
                let centre = cell.map(|c| c as f32 + 0.5);
                let own = advect_point(centre, velocity, -dt);
                let from = match smooth.then(|| nearest_of_surface(old, own)).flatten() {
                    Some(nearest) => {
                        let end = advect_point(nearest, velocity, dt);
                        std::array::from_fn(|a| centre[a] - (end[a] - nearest[a]))
                    }
                    None => own,
                };
                interpolate_cubic(old, from) + rise_beyond_sides(old, from, separating)
            } else {
                here
            };
        }
    });
    new
}

/// What is nearer to the surface than this, in cells, moves as the surface does: all that the fit of the curvature gives weight, which is nearer than 1.42.
const WITH_SURFACE: f32 = 1.5;

/// Where the gradient is less than this, squared, there is more than one surface near, or none: half of that of a distance.
const LEAST_SQUARED_GRADIENT: f32 = 0.5;

/// The nearest point on the surface, of a point next to it. It is the one whose flow carries the level set of the point: with the flow of its own place instead, which differs along the
/// normal, the level set would be no distance for long, and to make it one again moves the surface: a drop that oscillates then gains energy. (The extension velocities of Adalsteinsson
/// and Sethian 1999.)
fn nearest_of_surface<const D: usize>(phi: &Field<f32, D>, point: [f32; D]) -> Option<[f32; D]> {
    let here = interpolate(phi, point);
    if here.abs() >= WITH_SURFACE {
        return None;
    }
    let cells = phi.blocks().cells();
    let slope = |a: usize| {
        let at = |by: f32| {
            let mut beside = point;
            beside[a] = (point[a] + by).clamp(0.5, cells[a] as f32 - 0.5);
            beside
        };
        let (below, above) = (at(-1.0), at(1.0));
        (interpolate(phi, above) - interpolate(phi, below)) / (above[a] - below[a]).max(1.0)
    };
    let gradient: [f32; D] = std::array::from_fn(slope);
    let squared: f32 = gradient.iter().map(|g| g * g).sum();
    (squared >= LEAST_SQUARED_GRADIENT)
        .then(|| std::array::from_fn(|a| point[a] - here * gradient[a] / squared))
}

/// What the particles of a fluid know of where it is: by cell, how far the nearest one is, and the nearest of those that have escaped from it.
struct Knowledge<const D: usize> {
    nearest: Field<f32, D>,
    escaped: Field<f32, D>,
}

impl<const D: usize> Knowledge<D> {
    /// In blocks that are wanted, by a level set that is `sign` times that of the fluid.
    fn new(
        phi: &Field<f32, D>,
        sign: f32,
        particles: Sorted<D>,
        walls: Option<&ThinWalls<D>>,
        wanted: &[bool],
    ) -> Self {
        let Sorted { position, ranges } = particles;
        let mut nearest = particle_distance(position, ranges, |block| wanted[block]);
        let mut outside = Particles::at(escaped(phi, sign, position, ranges, wanted));
        let outside_ranges = outside.sort_by_block(phi.blocks(), &mut SortWorkspace::default());
        let outside = Sorted { position: &outside.position, ranges: &outside_ranges };
        let mut escaped = particle_distance(outside.position, outside.ranges, |block| wanted[block]);
        if let Some(walls) = walls {
            walls.hide(&mut nearest, particles, UNSEEN);
            let none = escaped.background();
            walls.hide(&mut escaped, outside, none);
        }
        Self { nearest, escaped }
    }
}

/// What is deeper than this below the surface, in cells, is far from it: blocks with nothing shallower are not looked at.
const DEEP: f32 = 2.0;

/// Holds the level set to what sorted particles allow, and makes it a distance again. Balls around particles that have escaped make liquid: where blocks
/// have an `excess` of it, they are smaller.
pub fn follow_particles<const D: usize>(
    substep: Substep<D>,
    liquid: Sorted<D>,
    second: Option<Sorted<D>>,
    excess: &[f64],
    phi: &mut Field<f32, D>,
    ledger: &mut Ledger,
) {
    let walls = ThinWalls::find(substep);
    Followed { liquid, second, excess }.hold(phi, substep, walls.as_ref(), ledger);
}

/// What a level set is held to.
pub struct Followed<'a, const D: usize> {
    /// The particles of the liquid.
    pub liquid: Sorted<'a, D>,
    /// The particles of the second fluid, if there is one.
    pub second: Option<Sorted<'a, D>>,
    /// What each block holds too much of the liquid, in cells.
    pub excess: &'a [f64],
}

impl<const D: usize> Followed<'_, D> {
    /// Holds a level set to the particles, as far as walls do not hide them.
    pub fn hold(
        &self,
        phi: &mut Field<f32, D>,
        substep: Substep<D>,
        walls: Option<&ThinWalls<D>>,
        ledger: &mut Ledger,
    ) {
        let deepness = substep.params.deepness();
        let excess = |slot: Slot| self.excess[slot.block];
        let Some(second) = self.second else {
            let near_surface: Vec<bool> = blocks_with(phi, |v| v > -DEEP);
            let Knowledge { nearest, escaped } = Knowledge::new(phi, 1.0, self.liquid, walls, &near_surface);
            return change_near(phi, substep.boundary, walls, &near_surface, ledger, |slot, value, reach| {
                let held =
                    reach.map_or(value, |reach| value.max(least_level(nearest[slot], reach, deepness)));
                held.min(escaped[slot] - ball::<D>(excess(slot)))
            });
        };
        let near_surface: Vec<bool> = blocks_with(phi, |v| v.abs() < DEEP);
        let [first, other] = [(1.0, self.liquid), (-1.0, second)]
            .map(|(sign, particles)| Knowledge::new(phi, sign, particles, walls, &near_surface));
        // What holds for the one, of its level set, holds for the other too. Where neither has a particle in reach, the one whose particle is nearer has the
        // place; so it is with particles that have escaped.
        change_near(phi, substep.boundary, walls, &near_surface, ledger, |slot, value, reach| {
            let [to_first, to_other] = [first.nearest[slot], other.nearest[slot]];
            let held = match reach {
                Some(reach) if to_other < to_first => value.max(least_level(to_first, reach, deepness)),
                Some(reach) if to_first < to_other => value.min(-least_level(to_other, reach, deepness)),
                _ => value,
            };
            match [first.escaped[slot], other.escaped[slot]] {
                [of_first, of_other] if of_first < of_other => held.min(of_first - ball::<D>(excess(slot))),
                [_, of_other] => held.max(ball::<D>(-excess(slot)) - of_other),
            }
        });
    }
}

/// The least level set of a cell whose nearest particle is so far away, if liquid reaches so far beyond particles: `deepness` times as deep as the end of their reach is far.
fn least_level(nearest: f32, reach: f32, deepness: f32) -> f32 {
    let beyond = nearest - reach;
    if beyond < 0.0 { deepness * beyond } else { beyond }
}

/// The radius of the ball around a particle that has escaped, in cells, in a block with such an excess of its fluid, in cells: [`inner`], and nothing
/// from [`large_excess`] on.
fn ball<const D: usize>(excess: f64) -> f32 {
    inner::<D>() * (1.0 - excess / large_excess::<D>()).clamp(0.0, 1.0) as f32
}

/// The blocks that hold such a value.
fn blocks_with<const D: usize>(phi: &Field<f32, D>, is_such: impl Fn(f32) -> bool + Sync) -> Vec<bool> {
    parallel::map(phi.blocks().len(), |block| phi.block(block).iter().any(|&v| is_such(v)))
}

/// Changes a level set near the surface, and makes it a distance again: `change` has a cell, its value, and how far the fluid may reach
/// beyond its particles there; `None` inside of solids.
fn change_near<const D: usize>(
    phi: &mut Field<f32, D>,
    boundary: &Boundary<D>,
    walls: Option<&ThinWalls<D>>,
    near_surface: &[bool],
    ledger: &mut Ledger,
    change: impl Fn(Slot, f32, Option<f32>) -> f32 + Sync,
) {
    let gaps = gaps_at_sides(phi, boundary.separating_sides);
    let blocks = phi.blocks().clone();
    parallel::for_chunks(phi.values_mut(), block_len::<D>(), |block, values| {
        if !near_surface[block] {
            return;
        }
        let cut = boundary.is_cut(block);
        for (local, value) in values.iter_mut().enumerate() {
            let slot = Slot { block, local };
            let centre = || blocks.cell(slot).map(|c| c as f32 + 0.5);
            let to_wall = if cut { boundary.distance(block, centre()) } else { NEAR_WALL };
            let reach = if to_wall < NEAR_WALL { OUTER_AT_WALL } else { OUTER };
            *value = change(slot, *value, (to_wall > -BURIED).then_some(reach));
        }
    });
    agree_in_walls(phi, boundary);
    ledger.book(|book| &mut book.particles, liquid_by_block(phi, boundary));
    redistance_between(walls, phi);
    apply_gaps(phi, &gaps);
    keep_from_edge(phi);
    ledger.book(|book| &mut book.redistanced, liquid_by_block(phi, boundary));
}

/// The least distance of a cell's centre in a film from its two surfaces, in cells: a film is then a quarter of a cell thick, as a layer of particles, of which 2^D fill a cell, is at
/// least. Thinner ones are accelerated the more, thicker ones are liquid from nowhere.
const HALF_FILM: f32 = 0.125;

/// The neighbours across a film, along the axis that is nearest to its normal, are farther out than this, in cells; those
/// of a ripple are not: a film's are by `1/sqrt(D)`, less the half of its thickness. `a_film_gets_the_thickness_of_its_particles` holds it from above.
const ACROSS_FILM: f32 = 0.4;

/// Gives films of less than a cell the thickness that a layer of particles has. Between air of different pressures a film
/// is accelerated by the inverse of its thickness: one of hundredths of a cell, as a level set may hold, would be
/// shot at tens of metres a second. Says whether there were any.
pub fn thicken_films<const D: usize>(phi: &mut Field<f32, D>) -> bool {
    let blocks = phi.blocks().clone();
    // Outside the domain is no air.
    let is_out = |slot: Slot, axis: usize, side: usize| {
        blocks
            .step(slot, axis, side)
            .filter(|other| blocks.is_inside(*other))
            .is_some_and(|other| phi[other] > ACROSS_FILM)
    };
    let is_film = |slot: &Slot| (0..D).any(|axis| is_out(*slot, axis, 0) && is_out(*slot, axis, 1));
    let of_block = |block: usize| -> Vec<Slot> {
        let thin =
            phi.block(block).iter().enumerate().filter(|(_, level)| (-HALF_FILM..0.0).contains(*level));
        thin.map(|(local, _)| Slot { block, local }).filter(is_film).collect()
    };
    let films: Vec<Vec<Slot>> = parallel::map(blocks.len(), of_block);
    for slot in films.iter().flatten() {
        phi.values_mut()[slot.flat::<D>()] = -HALF_FILM;
    }
    films.iter().any(|of_block| !of_block.is_empty())
}

/// Leaves no liquid next to a block without fields, where its faces could not be solved for. Only a particle that a solid
/// threw far out of its way can be there; it flies on by itself.
fn keep_from_edge<const D: usize>(phi: &mut Field<f32, D>) {
    const CLEAR: f32 = 0.5;
    let blocks = phi.blocks().clone();
    let dims = Blocks::<D>::dims_of(blocks.cells());
    parallel::for_chunks(phi.values_mut(), block_len::<D>(), |block, values| {
        let coord = blocks.coord(block);
        for (axis, side) in sides::<D>() {
            let at_end = coord[axis] == [0, dims[axis] - 1][side];
            if at_end || blocks.neighbour(block, axis, side).is_some() {
                continue;
            }
            let layer = side * (BLOCK_EDGE - 1);
            for (local, value) in values.iter_mut().enumerate() {
                if cell_in_block::<D>(local)[axis] == layer {
                    *value = value.max(CLEAR);
                }
            }
        }
    });
}

/// How far out of the wall the level set of a cell in it is compared, in cells: half of the diagonal of a face, about, so that the point's cell is in front of the wall.
const CLEAR_OF_WALL: f32 = 0.7;

/// Makes the level set in walls agree with that in front of them: a distance changes by no more than the way between two
/// points. There are no particles in walls to hold it to, and what was left behind there would be a film of liquid, or
/// of air that joins bubbles. Says whether anything changed.
pub fn agree_in_walls<const D: usize>(phi: &mut Field<f32, D>, boundary: &Boundary<D>) -> bool {
    let blocks = phi.blocks().clone();
    let of_block = |block: usize| -> Vec<(Slot, f32)> {
        let mut found = Vec::new();
        if !boundary.is_cut(block) {
            return found;
        }
        for slot in (0..block_len::<D>()).map(|local| Slot { block, local }) {
            let centre = blocks.cell(slot).map(|c| c as f32 + 0.5);
            let depth = -boundary.distance(block, centre);
            // Deeper cells have no open face.
            if !(0.0..1.0).contains(&depth) {
                continue;
            }
            let (normal, way) = (boundary.normal(block, centre), depth + CLEAR_OF_WALL);
            let in_front = interpolate(phi, std::array::from_fn(|a| centre[a] + way * normal[a]));
            let agreed = phi[slot].clamp(in_front - way, in_front + way);
            // Less than another sign is not worth a kink.
            if (agreed < 0.0) != (phi[slot] < 0.0) {
                found.push((slot, agreed));
            }
        }
        found
    };
    let found: Vec<Vec<(Slot, f32)>> = parallel::map(blocks.len(), of_block);
    for &(slot, value) in found.iter().flatten() {
        phi.values_mut()[slot.flat::<D>()] = value;
    }
    found.iter().any(|of_block| !of_block.is_empty())
}

/// The particles outside their fluid, whose level set is `sign` times this one, in blocks that are wanted.
fn escaped<const D: usize>(
    phi: &Field<f32, D>,
    sign: f32,
    position: &[[f32; D]],
    ranges: &BlockRanges<D>,
    wanted: &[bool],
) -> Vec<[f32; D]> {
    let of_block = |block: usize| -> Vec<[f32; D]> {
        let particles = if wanted[block] { &position[ranges.range(block)] } else { &[] };
        particles.iter().copied().filter(|&x| sign * interpolate(phi, x) > ESCAPED).collect()
    };
    parallel::map(wanted.len(), of_block).concat()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn thickened(phi: impl Fn([f32; 2]) -> f32 + Sync) -> (Field<f32, 2>, Field<f32, 2>) {
        let blocks = Arc::new(Blocks::all([20, 20]));
        let before = Field::from_fn(blocks, 3.0, |cell| {
            if cell.iter().all(|&c| c < 20) { phi(cell.map(|c| c as f32 + 0.5)) } else { 3.0 }
        });
        let mut after = before.clone();
        thicken_films(&mut after);
        (before, after)
    }

    #[test]
    fn a_film_gets_the_thickness_of_its_particles() {
        for slope in [0.0, 1.0] {
            let (_, film) = thickened(|x| {
                (x[0] - 5.52 - slope * (x[1] - 0.5)).abs() / (1.0 + slope * slope).sqrt() - 0.05
            });
            for along in 0..10 {
                let cell = [5 + if slope > 0.0 { along } else { 0 }, along];
                assert_eq!(film.get(cell), -HALF_FILM, "{cell:?}");
            }
        }
    }

    /// Ripples of a pool whose surface lies in a layer of cells, and a layer of liquid on a wall, stay as they are.
    #[test]
    fn what_is_no_film_stays() {
        let (before, after) =
            thickened(|x| x[1] - 5.51 + if (x[0] as usize).is_multiple_of(2) { 0.03 } else { -0.03 });
        assert_eq!(before, after);
        let (before, after) = thickened(|x| x[0] - 0.55);
        assert_eq!(before, after);
    }
}
