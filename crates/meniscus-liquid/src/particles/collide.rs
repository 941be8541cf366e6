//! Keeping particles out of solids and inside the domain.

use meniscus_core::grid::{BLOCK_EDGE, Blocks};
use meniscus_core::parallel::{self, PIECE};
use meniscus_core::particles::Particles;
use meniscus_core::vector::{add_scaled, dot, sub};

use crate::boundary::{Boundary, SIGHT};
use crate::params::Params;
use crate::substep::Substep;
use crate::surroundings::{Solid, solid_travel};
use crate::sweep::{is_clear, is_free, is_thick, push_out, sweep};

/// How near to a wall a particle may come, in cells. Positions in single precision are a hundred times as exact in a domain of a thousand cells; walls thinner than
/// twice this may be missed ([`sweep`]).
const CLEARANCE: f32 = 0.02;

/// A particle that is deeper than this in a solid after it has been pushed, in cells, is beyond help. It trades particles that are lost, which are counted, for such as come out somewhere
/// else.
const LOST: f64 = 0.5;

/// What became of particles that met a boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollideInfo {
    /// Particles that left through an open side.
    pub left: usize,
    /// Particles inside a solid, with no way out, or at no finite position: removed.
    pub lost: usize,
}

/// Puts particles back behind the closed sides of the domain, where they stop; marks those that left through open ones by
/// a position that is no number.
pub fn keep_inside<const D: usize>(params: &Params<D>, particles: &mut Particles<D>) -> CollideInfo {
    let fate = |_: usize, x: &mut [[f32; D]], v: &mut [[f32; D]]| {
        CollideInfo::sum(x.iter_mut().zip(v).map(|(x, v)| stay_inside(params, x, v)))
    };
    let Particles { position, velocity, .. } = particles;
    CollideInfo::sum(parallel::map_both_chunks([PIECE; 2], position, velocity, fate))
}

#[inline]
fn stay_inside<const D: usize>(params: &Params<D>, x: &mut [f32; D], v: &mut [f32; D]) -> CollideInfo {
    let cells = params.grid.cells.map(|n| n as f32);
    let is_inside = (0..D).all(|a| x[a] >= CLEARANCE && x[a] <= cells[a] - CLEARANCE);
    if is_inside || x.iter().any(|c| !c.is_finite()) {
        return CollideInfo::default();
    }
    let held = behind_sides(params, *x);
    for a in 0..D {
        if held[a] != x[a] {
            v[a] = if held[a] > x[a] { v[a].max(0.0) } else { v[a].min(0.0) };
        }
    }
    let has_left = (0..D).any(|a| held[a] < 0.0 || held[a] >= cells[a]);
    *x = if has_left { [f32::NAN; D] } else { held };
    CollideInfo { left: usize::from(has_left), lost: 0 }
}

/// The nearest point behind the closed sides of the domain.
fn behind_sides<const D: usize>(params: &Params<D>, x: [f32; D]) -> [f32; D] {
    std::array::from_fn(|a| {
        let [lower, upper] = params.open_sides[a];
        let least = if lower { f32::NEG_INFINITY } else { CLEARANCE };
        let most = if upper { f32::INFINITY } else { params.grid.cells[a] as f32 - CLEARANCE };
        x[a].clamp(least, most)
    })
}

/// Stops particles at the solids that they met on the way from where they were `before`, on that side of them, though
/// the far side may be nearer now; pushes those out that began inside. What cannot be pushed, or leaves through an open side, is marked by
/// a position that is no number.
pub fn meet_solids<const D: usize>(
    obstacles: &Obstacles<D>,
    before: &[[f32; D]],
    particles: &mut Particles<D>,
) -> CollideInfo {
    let fate = |k: usize, x: &mut [[f32; D]], v: &mut [[f32; D]]| {
        let particles = x.iter_mut().zip(v).zip(parallel::chunk(before, PIECE, k));
        CollideInfo::sum(particles.map(|((x, v), before)| obstacles.meet(before, x, v)))
    };
    let Particles { position, velocity, .. } = particles;
    CollideInfo::sum(parallel::map_both_chunks([PIECE; 2], position, velocity, fate))
}

/// Stops points without a velocity at the solids that they met on the way from where they were `before`, and behind the sides of the domain; what
/// becomes of particles becomes of them.
pub fn keep_points<const D: usize>(
    obstacles: &Obstacles<D>,
    before: &[[f32; D]],
    points: &mut [[f32; D]],
) -> CollideInfo {
    let fate = |(x, before): (&mut [f32; D], &[f32; D])| {
        let mut at_rest = [0.0; D];
        stay_inside(obstacles.substep.params, x, &mut at_rest).plus(obstacles.meet(before, x, &mut at_rest))
    };
    CollideInfo::sum(points.iter_mut().zip(before).map(fate))
}

/// The solids that particles may meet in a substep.
pub struct Obstacles<'a, const D: usize> {
    substep: Substep<'a, D>,
    /// A longer way of a particle is not worth to be prepared for, in cells.
    usual_way: f32,
    /// By block: those that a particle whose way is a usual one may have met.
    nearby: Vec<Nearby<'a, D>>,
    all: Nearby<'a, D>,
}

impl<'a, const D: usize> Obstacles<'a, D> {
    /// The solids, at the end of their motion, for particles that moved with a flow whose fastest component was `speed`, in m/s.
    pub fn new(substep: Substep<'a, D>, speed: f64) -> Self {
        let Substep { params, surroundings, dt, boundary } = substep;
        let solids = &surroundings.solids;
        let usual_way = (speed * dt / params.grid.dx * (D as f64).sqrt()) as f32;
        let nearby = Nearby::of_blocks(params, solids, boundary.blocks(), usual_way);
        Self { substep, usual_way, nearby, all: Nearby::all(params, solids) }
    }

    /// The substep that they are met in.
    pub fn substep(&self) -> Substep<'a, D> {
        self.substep
    }

    /// Takes a particle to where it comes on its way from `before` to `x`.
    #[inline]
    fn meet(&self, before: &[f32; D], x: &mut [f32; D], v: &mut [f32; D]) -> CollideInfo {
        if !x[0].is_finite() {
            return CollideInfo::default();
        }
        let way = (0..D).map(|a| (x[a] - before[a]).powi(2)).sum::<f32>().sqrt();
        let boundary = self.substep.boundary;
        let block = boundary.blocks().find(x.map(|c| c as usize / BLOCK_EDGE));
        let known = block.filter(|_| way <= self.usual_way);
        let nearby = known.map_or(&self.all, |block| &self.nearby[block]);
        if nearby.solids.is_empty() {
            return CollideInfo::default();
        }
        // What it met lies no farther from its end than the way of the two is long.
        let reach = way + nearby.travel + CLEARANCE;
        match block.is_some_and(|block| nearby.are_beyond(reach, boundary, block, *x)) {
            true => CollideInfo::default(),
            false => self.meet_near(&nearby.solids, before, x, v),
        }
    }

    /// Takes a particle past those solids that it may have met.
    fn meet_near(
        &self,
        solids: &[&Solid<D>],
        before: &[f32; D],
        x: &mut [f32; D],
        v: &mut [f32; D],
    ) -> CollideInfo {
        let Substep { params, dt, .. } = self.substep;
        for _ in 0..3 {
            let mut has_met = false;
            for solid in solids {
                has_met |= meet_solid(params, solid, dt, before, x, v);
            }
            if !has_met {
                return stay_inside(params, x, v);
            }
        }
        // Between solids, and between a solid and a side of the domain, there may be no room to slide.
        let carried = |solid: &&Solid<D>| {
            let point = params.grid.to_cells(solid.carry(params.to_metres(*before)));
            behind_sides(params, point.map(|c| c as f32))
        };
        let mut places = std::iter::once(*x).chain(solids.iter().map(carried));
        match places.find(|place| solids.iter().all(|solid| may_stay(params, solid, [*before, *place]))) {
            Some(place) => *x = place,
            None => {
                *x = [f32::NAN; D];
                return CollideInfo { left: 0, lost: 1 };
            }
        }
        stay_inside(params, x, v)
    }
}

/// Whether a particle may stay where its path ends: outside of a solid, on the side where it began, or so little inside that the side is known.
fn may_stay<const D: usize>(params: &Params<D>, solid: &Solid<D>, path: [[f32; D]; 2]) -> bool {
    let dx = params.grid.dx;
    let path = path.map(|x| params.to_metres(x));
    let clearance = f64::from(CLEARANCE) * dx;
    if is_free(solid, path, clearance) {
        return true;
    }
    let (began, ends) = (solid.distance_before(path[0]), solid.distance(path[1]));
    if began <= 0.0 && ends > 0.0 {
        return true;
    }
    let inside = |depth: f64| (0.0..=LOST * dx).contains(&depth);
    inside(-ends) && is_thick(|point| solid.distance(point), path[1], clearance, dx)
}

/// The solids that particles of a block may have met.
struct Nearby<'a, const D: usize> {
    solids: Vec<&'a Solid<D>>,
    /// How far any of them moves, in cells.
    travel: f32,
    /// The centre of the block, and how far they are from it, in cells.
    centre: [f32; D],
    clear: f32,
    /// Whether the block sees all of them.
    seen: bool,
}

impl<'a, const D: usize> Nearby<'a, D> {
    fn all(params: &Params<D>, solids: &'a [Solid<D>]) -> Self {
        let travels = solids.iter().map(|solid| solid_travel(&params.grid, solid));
        let travel = travels.fold(0.0, f64::max) / params.grid.dx;
        let solids = solids.iter().collect();
        Self { solids, travel: travel as f32, centre: [0.0; D], clear: f32::NEG_INFINITY, seen: false }
    }

    /// By block: those that a particle whose way is a usual one may have met.
    fn of_blocks(params: &Params<D>, solids: &'a [Solid<D>], blocks: &Blocks<D>, way: f32) -> Vec<Self> {
        let dx = params.grid.dx;
        let travels: Vec<f64> = solids.iter().map(|solid| solid_travel(&params.grid, solid) / dx).collect();
        // What one solid pushes may meet another: the longest way of any counts.
        let longest = travels.iter().copied().fold(0.0, f64::max);
        let reach = longest + f64::from(way + CLEARANCE);
        let of_block = |block: usize| {
            let coord = blocks.coord(block);
            let (centre, half_diagonal) = params.block_ball(coord);
            let mut nearby = Self {
                solids: Vec::new(),
                travel: 0.0,
                centre: coord.map(|c| (c * BLOCK_EDGE) as f32 + 0.5 * BLOCK_EDGE as f32),
                clear: f32::INFINITY,
                seen: true,
            };
            for (solid, &travel) in solids.iter().zip(&travels) {
                let distance = solid.distance(centre);
                if distance < half_diagonal + reach * dx {
                    nearby.solids.push(solid);
                    nearby.travel = nearby.travel.max(travel as f32);
                    nearby.clear = nearby.clear.min((distance / dx) as f32);
                    nearby.seen &= distance <= half_diagonal + dx * SIGHT;
                }
            }
            nearby
        };
        parallel::map(blocks.len(), of_block)
    }

    /// Whether all these solids are certain to be farther than `reach` from a point of the block, in cells.
    #[inline]
    fn are_beyond(&self, reach: f32, boundary: &Boundary<D>, block: usize, x: [f32; D]) -> bool {
        let from_centre = (0..D).map(|a| (x[a] - self.centre[a]).powi(2)).sum::<f32>().sqrt();
        if reach < self.clear - from_centre {
            return true;
        }
        // Of solids out of sight a block knows nothing.
        if reach >= SIGHT as f32 && !self.seen {
            return false;
        }
        // The distance between nodes is off by at most half of the diagonal between them.
        let error = if boundary.is_cut(block) { 0.5 * (D as f32).sqrt() } else { 0.0 };
        reach < boundary.distance(block, x) - error
    }
}

/// Stops a particle at a solid, or pushes it out; whether it met the solid.
fn meet_solid<const D: usize>(
    params: &Params<D>,
    solid: &Solid<D>,
    dt: f64,
    before: &[f32; D],
    x: &mut [f32; D],
    v: &mut [f32; D],
) -> bool {
    let clearance = f64::from(CLEARANCE) * params.grid.dx;
    let path = [*before, *x].map(|x| params.to_metres(x));
    if is_clear(solid, path, clearance) {
        return false;
    }
    let swept = sweep(solid, path, clearance);
    let Some(stopped) = swept.or_else(|| push_out(solid, path[1], clearance)) else { return false };
    let wall = solid.velocity(stopped.end, dt);
    let approach: f64 = (0..D).map(|a| (f64::from(v[a]) - wall[a]) * stopped.normal[a]).sum();
    for a in 0..D {
        v[a] -= (approach.min(0.0) * stopped.normal[a]) as f32;
    }
    let moved = params.grid.to_cells(stopped.end).map(|c| c as f32);
    *x = behind_sides(params, moved);
    if *x != moved {
        *x = leave_wedge(params, stopped.normal, moved, *x);
    }
    true
}

/// Where a particle comes that a solid, met with this normal, has `moved` beyond sides of the domain, and that has been `held` behind these:
/// along them, as far from the solid as it was moved to.
fn leave_wedge<const D: usize>(
    params: &Params<D>,
    normal: [f64; D],
    moved: [f32; D],
    held: [f32; D],
) -> [f32; D] {
    let along: [f64; D] = std::array::from_fn(|a| if held[a] == moved[a] { normal[a] } else { 0.0 });
    let back = sub(moved.map(f64::from), held.map(f64::from));
    let (depth, slope) = (dot(back, normal), dot(along, along));
    // Out of an acute wedge the way is far: farther than a cell is not what the flow would do.
    if depth <= 0.0 || depth > slope.sqrt() {
        return held;
    }
    behind_sides(params, add_scaled(held.map(f64::from), depth / slope, along).map(|c| c as f32))
}

impl CollideInfo {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self { left: self.left + other.left, lost: self.lost + other.lost }
    }

    fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), Self::plus)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::{Blocks, Grid};
    use meniscus_core::shape::{RigidTransform, Rotation, Shape};
    use meniscus_core::vector::norm;
    use proptest::prelude::*;

    use super::*;
    use crate::boundary::BoundaryCache;
    use crate::surroundings::Surroundings;

    fn params() -> Params<2> {
        Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [32, 32] })
    }

    fn pushed(x: [f32; 2], v: [f32; 2]) -> (Particles<2>, CollideInfo) {
        let solids = vec![Solid::fixed(Shape::sphere([16.0, 16.0], 6.0).unwrap())];
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let blocks = Arc::new(Blocks::all([32, 32]));
        let boundary = Boundary::new(&params(), &surroundings, &blocks, &mut BoundaryCache::default());
        let mut particles = Particles { position: vec![x], velocity: vec![v], affine: None };
        let params = params();
        let substep = Substep { params: &params, surroundings: &surroundings, dt: 0.1, boundary: &boundary };
        let obstacles = Obstacles::new(substep, 3.0);
        let info = meet_solids(&obstacles, &[x], &mut particles);
        (particles, info)
    }

    #[test]
    fn a_particle_just_inside_is_pushed_out_and_keeps_its_sliding() {
        let (particles, info) = pushed([21.7, 16.0], [-1.0, 2.0]);
        let [x, y] = particles.position[0];
        assert!((x - 16.0).hypot(y - 16.0) > 5.95, "{x} {y}");
        let [u, v] = particles.velocity[0];
        assert!(u.abs() < 1e-3 && (v - 2.0).abs() < 1e-3, "{u} {v}");
        assert_eq!(info, CollideInfo::default());
    }

    #[test]
    fn a_particle_outside_is_left_alone() {
        let (particles, _) = pushed([23.0, 16.0], [-1.0, 2.0]);
        assert_eq!((particles.position[0], particles.velocity[0]), ([23.0, 16.0], [-1.0, 2.0]));
    }

    const MIDDLE: [f64; 3] = [8.0; 3];

    fn pose(turn: [f64; 3], rise: f64) -> RigidTransform<3> {
        let angle = norm(turn).max(1e-9);
        let rotation = Rotation::<3>::from_axis_angle(turn.map(|t| t / angle + 1e-9), angle).unwrap();
        RigidTransform { rotation, translation: add_scaled(MIDDLE, rise, [0.0, 1.0, 0.0]) }
    }

    /// Where a particle comes that meets a plate of half a thickness `half`, which parts a room of 16 cells; at no number if it is lost.
    fn met(half: f64, [from, to]: [RigidTransform<3>; 2], path: [[f32; 3]; 2]) -> [f32; 3] {
        let params = Params::new(Grid { origin: [0.0; 3], dx: 1.0, cells: [16; 3] });
        let plate = Shape::centred_box([0.0; 3], [60.0, half, 60.0]).unwrap();
        let solids = vec![Solid { from, to, ..Solid::fixed(plate) }];
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let blocks = Arc::new(Blocks::all([16; 3]));
        let boundary = Boundary::new(&params, &surroundings, &blocks, &mut BoundaryCache::default());
        let substep = Substep { params: &params, surroundings: &surroundings, dt: 1.0, boundary: &boundary };
        let obstacles = Obstacles::new(substep, 4.0);
        let mut particles = Particles::at(vec![path[1]]);
        keep_inside(&params, &mut particles);
        meet_solids(&obstacles, &path[..1], &mut particles);
        particles.position[0]
    }

    proptest! {
        /// On whatever path, into whatever corner between the plate and the sides of the domain, a particle ends on its side of the plate. It is
        /// lost only where a plate that moves leaves no room.
        #[test]
        fn no_path_ends_beyond_a_plate(
            half in prop::sample::select(vec![0.05, 0.1, 0.3, 1.0]),
            turn in prop::array::uniform3(-0.7_f64..0.7),
            moved in prop::option::of((prop::array::uniform3(-0.2_f64..0.2), -1.5_f64..1.5)),
            from in prop::array::uniform3(0.02_f32..15.98),
            way in prop::array::uniform3(-3.0_f32..3.0),
            height in prop::option::of(0.0_f64..0.1),
        ) {
            let start = pose(turn, 0.0);
            let end = moved.map_or(start, |(by, rise)| pose(std::array::from_fn(|a| turn[a] + by[a]), rise));
            // Most points are far from the plate; half of them are put near.
            let mut local = start.apply_inverse(from.map(f64::from));
            local[1] = height.map_or(local[1], |height| (half + 0.02 + height).copysign(local[1]));
            let from = start.apply(local).map(|c| c as f32);
            prop_assume!(local[1].abs() >= half + 0.019 && from.iter().all(|c| (0.02..=15.98).contains(c)));
            let x = met(half, [start, end], [from, std::array::from_fn(|a| from[a] + way[a])]);
            prop_assert!(moved.is_some() || x[0].is_finite(), "lost");
            if x[0].is_finite() {
                let ended = end.apply_inverse(x.map(f64::from))[1];
                prop_assert!(ended * local[1].signum() > half, "from {} to {ended}", local[1]);
                prop_assert!(x.iter().all(|c| (0.0..16.0).contains(c)), "{x:?}");
            }
        }
    }

    #[test]
    fn sides_stop_or_let_go() {
        let mut params = params();
        params.open_sides[0][1] = true;
        let position = vec![[-1.0, 5.0], [5.0, 40.0], [33.0, 5.0], [32.0, 5.0], [f32::NAN, 5.0], [7.0, 7.0]];
        let mut particles = Particles::at(position);
        particles.velocity.fill([-2.0, 3.0]);
        let info = keep_inside(&params, &mut particles);
        assert_eq!(
            particles.velocity[..2],
            [[0.0, 3.0], [-2.0, 0.0]],
            "what meets a side does not go on falling"
        );
        let position = particles.position;
        assert_eq!(info, CollideInfo { left: 2, lost: 0 });
        assert!(position[0][0] > 0.0 && position[1][1] < 32.0);
        assert!(position[2][0].is_nan() && position[3][0].is_nan());
        assert_eq!(position[5], [7.0, 7.0]);
    }
}
