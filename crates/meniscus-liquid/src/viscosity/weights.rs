//! What the samples of a block weigh.

use meniscus_core::grid::{BLOCK_EDGE, FaceField, Field, HaloTile, block_len, cell_in_block, unravel};

use super::volume::Corners;
use super::{Slip, Viscosity, ViscosityParams};
use crate::projection::{Liquid, Stored};
use meniscus_rigid::{PAIRS, pair_count};

/// The pair of two axes.
#[inline]
pub(super) fn pair_of(a: usize, b: usize) -> usize {
    a + b - 1
}

/// Values of a tile: a block with a halo of one cell.
pub(super) const fn tile_len<const D: usize>() -> usize {
    HaloTile::<f32, D, 1>::LEN
}

/// The least mass of a face, as a part of a full one, and that of a face that the projection does not set. A face that hardly any liquid touches would otherwise have
/// a row that is all but zero, and a velocity that nothing determines; with this one it keeps its own unless
/// the stress on its samples is in earnest. Momentum is kept with respect to these masses. It trades the inertia that slivers get for iterations; the ghost-fluid fraction is bounded by as much. The dense oracle of the tests has it too.
const LEAST_MASS: f64 = 0.01;

/// The least distance of a face from a wall that cuts its cell, in cells. It bounds the friction of a cut face at five times that of a whole one: less is more faithful beside
/// oblique walls, and stiffer. The dense oracle of the tests has it too.
const LEAST_DISTANCE: f64 = 0.1;

/// The part of the system that belongs to the faces of one block: weights in units of `rho dx^D`.
pub(super) struct BlockWeights<const D: usize> {
    /// By axis and cell: the mass of a face, and the weight of what ties it to walls; 0 where it is not an unknown.
    pub(super) held: Vec<f64>,
    /// By axis and cell: the mass alone.
    pub(super) mass: Vec<f64>,
    /// By axis and cell: the right-hand side.
    pub(super) rhs: Vec<f64>,
    /// By axis and place in the tile: the weight of the stretching rate of the cell there, between its two faces.
    pub(super) normal: Vec<f32>,
    /// By pair of axes and place in the tile: the weight of the shear rate at the lower edge of the cell there.
    pub(super) shear: Vec<f32>,
}

/// The fields that all blocks look at.
pub(super) struct Source<'a, T, const D: usize> {
    pub(super) liquid: &'a Liquid<'a, T, D>,
    pub(super) velocity: &'a FaceField<T, D>,
    pub(super) params: &'a ViscosityParams<'a, D>,
    pub(super) corners: &'a Field<Corners, D>,
}

/// What a block looks at, with its halo.
struct View<'a, T, const D: usize> {
    source: &'a Source<'a, T, D>,
    block: usize,
    first: [usize; D],
    /// dt / (rho dx²): times a viscosity it is a number of diffusion.
    scale: f64,
    /// The open fractions of the faces, by axis; -1 outside the domain.
    open: [Vec<f64>; D],
    corners: HaloTile<Corners, D, 1>,
    viscosity: Option<HaloTile<f32, D, 1>>,
    /// The density of a second fluid, as a part of the liquid's.
    second: Option<f64>,
}

impl<const D: usize> BlockWeights<D> {
    /// The weights of a block; `None` if no face of it is an unknown.
    pub(super) fn new<T: Stored>(source: &Source<T, D>, block: usize) -> Option<Self> {
        let view = View::new(source, block)?;
        let (n, len) = (block_len::<D>(), tile_len::<D>());
        let cells: Vec<f64> = (0..len).map(|at| view.cell_weight(at)).collect();
        let mut shear = vec![0.0; pair_count::<D>() * len];
        for (pair, &(a, b)) in PAIRS.iter().enumerate().take(pair_count::<D>()) {
            for (at, weight) in shear[pair * len..][..len].iter_mut().enumerate() {
                *weight = view.shear_weight(a, b, at) as f32;
            }
        }
        let mut weights = Self {
            held: vec![0.0; D * n],
            mass: vec![0.0; D * n],
            rhs: vec![0.0; D * n],
            normal: vec![0.0; D * len],
            shear,
        };
        for axis in 0..D {
            for (at, weight) in weights.normal[axis * len..][..len].iter_mut().enumerate() {
                *weight = view.normal_weight(axis, at, &cells) as f32;
            }
            for local in 0..n {
                let at = HaloTile::<f32, D, 1>::index(cell_in_block::<D>(local).map(|c| c + 1));
                if view.open[axis][at] > 0.0 && weights.is_wet(&view, axis, at) {
                    let entry = axis * n + local;
                    let face = view.face(axis, at, local, &cells);
                    [weights.held[entry], weights.mass[entry], weights.rhs[entry]] = face;
                }
            }
        }
        weights.held.iter().any(|&held| held > 0.0).then_some(weights)
    }

    /// The weight of the stretching rate of a cell of the block.
    pub(super) fn normal_at(&self, axis: usize, local: usize) -> f32 {
        let at = HaloTile::<f32, D, 1>::index(cell_in_block::<D>(local).map(|c| c + 1));
        self.normal[axis * tile_len::<D>() + at]
    }

    /// The weight of a shear rate at the lower edge of a cell of the block.
    pub(super) fn shear_at(&self, pair: usize, local: usize) -> f32 {
        let at = HaloTile::<f32, D, 1>::index(cell_in_block::<D>(local).map(|c| c + 1));
        self.shear[pair * tile_len::<D>() + at]
    }

    /// Whether liquid touches a cell of the face, or a shear rate that the face takes part in.
    fn is_wet<T: Stored>(&self, view: &View<T, D>, axis: usize, at: usize) -> bool {
        let shear = |other: usize| {
            let of_pair = &self.shear[pair_of(axis, other) * tile_len::<D>()..];
            of_pair[at] > 0.0 || of_pair[at + stride::<D>(other)] > 0.0
        };
        let cells = [at - stride::<D>(axis), at];
        cells.iter().any(|&cell| view.contents(cell, &[]) != [0.0; 2])
            || (0..D).filter(|&other| other != axis).any(shear)
    }
}

#[inline]
fn stride<const D: usize>(axis: usize) -> usize {
    HaloTile::<f32, D, 1>::stride(axis)
}

/// The coordinates of a place in a tile; the block's own cells begin at 1.
fn place<const D: usize>(at: usize) -> [usize; D] {
    unravel(at, [HaloTile::<f32, D, 1>::EDGE; D])
}

impl<'a, T: Stored, const D: usize> View<'a, T, D> {
    /// `None` if there is no fluid in sight.
    fn new(source: &'a Source<'a, T, D>, block: usize) -> Option<Self> {
        let mut corners = HaloTile::new([0.0; 8]);
        corners.load(source.corners, block);
        let second = source.liquid.second_density_ratio;
        if second.is_none() && corners.values().iter().all(|c| *c == [0.0; 8]) {
            return None;
        }
        let (blocks, params) = (source.corners.blocks(), source.params);
        let first = blocks.coord(block).map(|c| c * BLOCK_EDGE);
        let mut tile = HaloTile::<T, D, 1>::new(T::nearest(0.0));
        let open = std::array::from_fn(|axis| {
            tile.load(&source.liquid.open.axes[axis], block);
            let is_inside = |at: usize| {
                let place = place::<D>(at);
                // The last face along the own axis belongs to the domain.
                (0..D).all(|a| {
                    let c = first[a] + place[a];
                    c >= 1 && c - 1 < blocks.cells()[a] + usize::from(a == axis)
                })
            };
            let values = tile.values().iter().enumerate();
            values.map(|(at, &open)| if is_inside(at) { open.into() } else { -1.0 }).collect()
        });
        let viscosity = match params.viscosity {
            Viscosity::Uniform(_) | Viscosity::OfFluids(_) => None,
            Viscosity::Varying(field) => {
                let mut tile = HaloTile::new(0.0);
                tile.load(field, block);
                Some(tile)
            }
        };
        let scale = params.dt / (params.density * source.liquid.grid.dx.powi(2));
        Some(Self { source, block, first, scale, open, corners, viscosity, second })
    }

    /// The viscosities of the liquid in a cell and of the second fluid.
    fn viscosities(&self, cell: usize) -> [f64; 2] {
        match (&self.viscosity, self.source.params.viscosity) {
            (Some(tile), _) => [f64::from(tile.values()[cell]); 2],
            (None, Viscosity::Uniform(viscosity)) => [viscosity; 2],
            (None, Viscosity::OfFluids(viscosities)) => viscosities,
            (None, Viscosity::Varying(_)) => unreachable!("a field is loaded"),
        }
    }

    /// The sum of the fractions that liquid and second fluid have of those corners of a cell that are, along each of the given axes, at the
    /// given side.
    fn contents(&self, cell: usize, sides: &[(usize, usize)]) -> [f64; 2] {
        let corners = self.corners.values()[cell];
        let chosen = (0..1usize << D).filter(|k| sides.iter().all(|&(axis, side)| k >> axis & 1 == side));
        let (mut wet, mut count) = (0.0, 0.0);
        for k in chosen {
            wet += f64::from(corners[k]);
            count += 1.0;
        }
        let has_second = self.second.is_some() && self.is_inside(cell);
        [wet, if has_second { count - wet } else { 0.0 }]
    }

    /// Whether the cell at a place in the tile is one of the domain.
    fn is_inside(&self, at: usize) -> bool {
        let (place, cells) = (place::<D>(at), self.source.corners.blocks().cells());
        (0..D).all(|a| (1..=cells[a]).contains(&(self.first[a] + place[a])))
    }

    /// The number of diffusion of a control volume of which fluids fill some corners of some cells, times the part of it that
    /// they fill. The viscosity is the harmonic mean over them: two layers between which an edge lies
    /// are then sheared by the same stress, and air counts for nothing, whatever the viscosity says there.
    fn weight(&self, parts: &[(usize, [f64; 2])]) -> f64 {
        let (mut filled, mut resistance) = (0.0, 0.0);
        for &(cell, contents) in parts {
            for (part, viscosity) in contents.into_iter().zip(self.viscosities(cell)) {
                if part > 0.0 {
                    filled += part;
                    resistance += part / viscosity;
                }
            }
        }
        if filled == 0.0 {
            return 0.0;
        }
        let fraction = filled / f64::from(1u32 << D);
        self.scale * fraction * filled / resistance
    }

    /// Twice that of the cell, since a stretching rate dissipates twice its square.
    fn cell_weight(&self, at: usize) -> f64 {
        2.0 * self.weight(&[(at, self.contents(at, &[]))])
    }

    fn normal_weight(&self, axis: usize, at: usize, cells: &[f64]) -> f64 {
        let upper = at + stride::<D>(axis);
        let is_free = upper < tile_len::<D>() && self.open[axis][at] > 0.0 && self.open[axis][upper] > 0.0;
        if is_free { cells[at] } else { 0.0 }
    }

    /// The weight at the edge below a cell along both axes; 0 if a wall takes part in it.
    fn shear_weight(&self, a: usize, b: usize, at: usize) -> f64 {
        if place::<D>(at).contains(&0) {
            return 0.0;
        }
        let (below_a, below_b) = (at - stride::<D>(a), at - stride::<D>(b));
        let faces = [(a, at), (a, below_b), (b, at), (b, below_a)];
        if faces.iter().any(|&(axis, face)| self.open[axis][face] <= 0.0) {
            return 0.0;
        }
        let cells = [(at, 0, 0), (below_a, 1, 0), (below_b, 0, 1), (below_a - stride::<D>(b), 1, 1)];
        let part = |(cell, side_a, side_b)| (cell, self.contents(cell, &[(a, side_a), (b, side_b)]));
        self.weight(&cells.map(part))
    }

    /// What holds an open face, the mass in it, and its right-hand side.
    fn face(&self, axis: usize, at: usize, local: usize, cells: &[f64]) -> [f64; 3] {
        let below = at - stride::<D>(axis);
        let parts = [(below, self.contents(below, &[(axis, 1)])), (at, self.contents(at, &[(axis, 0)]))];
        let second = self.second.unwrap_or(1.0);
        let of_part = |(_, [liquid, other]): (usize, [f64; 2])| liquid + second * other;
        let fraction = (of_part(parts[0]) + of_part(parts[1])) / f64::from(1u32 << D);
        let has_inertia = self.second.is_some() || fraction == 1.0 || self.is_carrier(axis, at);
        let inertia = if has_inertia { fraction } else { 0.0 };
        let mass = (inertia * self.open[axis][at]).max(LEAST_MASS * second.min(1.0));
        let own: f64 = self.source.velocity.axes[axis].block(self.block)[local].into();
        let (mut held, mut rhs) = (mass, mass * own);
        let mut hold = |weight: f64, velocity: f64| {
            held += weight;
            rhs += weight * velocity;
        };
        for (cell, other) in [(below, below), (at, at + stride::<D>(axis))] {
            if cells[cell] > 0.0 && self.open[axis][other] == 0.0 {
                hold(cells[cell], self.solid_velocity(axis, other));
            }
        }
        if self.source.params.walls == Slip::None {
            let full = self.weight(&parts);
            for other in (0..D).filter(|&other| other != axis) {
                for side in 0..2 {
                    self.friction(axis, at, other, side, |area, velocity| hold(area * full, velocity));
                }
            }
        }
        [held, mass, rhs]
    }

    /// Whether the projection sets the velocity of an open face: a cell beside it is liquid, and of the domain.
    fn is_carrier(&self, axis: usize, at: usize) -> bool {
        let above = self.cell(at).map(|c| c as i64);
        let mut below = above;
        below[axis] -= 1;
        let cells = self.source.corners.blocks().cells();
        [below, above].into_iter().any(|cell| {
            let level: f64 = self.source.liquid.level_set.get(cell).into();
            level < 0.0 && (0..D).all(|a| (0..cells[a] as i64).contains(&cell[a]))
        })
    }

    /// Calls `hold` with the weight and the velocity of a wall that does not slip, below or above a face along another axis.
    ///
    /// A wall across a whole side of a face lies half a cell from its centre: the shear rate is the velocity relative to the
    /// wall over that distance, in half of a control volume, so the weight is 2 = ½ / (½)². If the wall cuts the
    /// face, it lies at the end of the open part.
    fn friction(&self, axis: usize, at: usize, other: usize, side: usize, hold: impl FnOnce(f64, f64)) {
        let edge = at + side * stride::<D>(other);
        let crossing = [edge, edge - stride::<D>(axis)];
        let closed =
            |&face: &usize| if self.open[other][face] < 0.0 { 0.0 } else { 1.0 - self.open[other][face] };
        let area = 0.5 * crossing.iter().map(closed).sum::<f64>();
        if area > 0.0 {
            let distance = (self.open[axis][at] - 0.5).clamp(LEAST_DISTANCE, 0.5);
            let beyond = if side == 0 { at - stride::<D>(other) } else { at + stride::<D>(other) };
            // The sides of the domain rest. A solid has the velocity that it would have at the face: liquid that moves along with a solid
            // that turns is not sheared.
            let is_side = self.open[axis][beyond] < 0.0;
            if is_side && self.source.params.slip_sides[other][side] {
                return;
            }
            let velocity = if is_side { 0.0 } else { self.solid_velocity(axis, at) };
            hold(area / distance, velocity);
        }
    }

    fn solid_velocity(&self, axis: usize, face: usize) -> f64 {
        let velocity = self.source.liquid.solid_velocity;
        velocity.map_or(0.0, |velocity| velocity.get(axis, self.cell(face).map(|c| c as i64)))
    }

    /// The cell at a place in the tile.
    fn cell(&self, at: usize) -> [usize; D] {
        let place = place::<D>(at);
        std::array::from_fn(|a| self.first[a] + place[a] - 1)
    }
}
