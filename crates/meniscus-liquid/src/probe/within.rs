//! Measurements in shapes.

use meniscus_core::compiled_here;
use meniscus_core::grid::{BLOCK_EDGE, FaceField, HaloTile, Slot};
use meniscus_core::parallel;
use meniscus_core::shape::Shape;

use crate::boundary::{Boundary, BoundaryCache};
use crate::measure::{Filling, filling, liquid_fraction_in, load_extended};
use crate::params::Params;
use crate::state::State;
use crate::step::Workspace;
use crate::surroundings::Surroundings;

/// How often a cell that the surface of a shape cuts is halved along each axis, to tell what part of it is inside: 4^D parts, each cut by a plane. Once more costs 2^D
/// times the distances.
const HALVINGS: u32 = 2;

/// The liquid in a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiquidWithin<const D: usize> {
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// Its mean velocity, in m/s; none where there is no liquid.
    pub velocity: Option<[f64; D]>,
    /// Its kinetic energy, in J (2D: J/m).
    pub kinetic_energy: f64,
}

/// Measures the liquid in a shape: what of each cell is liquid, outside solids and in the shape, with the velocities of the cell's faces.
pub fn within<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    shape: &Shape<D>,
) -> LiquidWithin<D> {
    compiled_here!(measure::<D> as Within<D>)(state, params, workspace, shape)
}

type Within<const D: usize> = fn(&State<D>, &Params<D>, &Workspace<D>, &Shape<D>) -> LiquidWithin<D>;

fn measure<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    workspace: &Workspace<D>,
    shape: &Shape<D>,
) -> LiquidWithin<D> {
    let blocks = state.level_set.blocks();
    let without_walls;
    let boundary = match workspace.walls() {
        Some(walls) => walls,
        None => {
            let (nothing, mut cache) = (Surroundings::default(), BoundaryCache::default());
            without_walls = Boundary::new(params, &nothing, blocks, &mut cache);
            &without_walls
        }
    };
    let of_block = |tile: &mut HaloTile<f32, D, 1>, block: usize| {
        sum_of_block(state, params, boundary, shape, tile, block)
    };
    let of_blocks = parallel::map_with(blocks.len(), || HaloTile::new(0.0), of_block);
    let Sums { volume, flow, square } = of_blocks.into_iter().fold(Sums::NOTHING, Sums::plus);
    let cell_volume = params.cell_volume();
    LiquidWithin {
        volume: volume * cell_volume,
        velocity: (volume > 0.0).then(|| flow.map(|flow| flow / volume)),
        kinetic_energy: 0.5 * params.density * square * cell_volume,
    }
}

/// Integrals over liquid, in cells.
#[derive(Clone, Copy)]
struct Sums<const D: usize> {
    volume: f64,
    /// Of the velocity.
    flow: [f64; D],
    /// Of its square.
    square: f64,
}

impl<const D: usize> Sums<D> {
    const NOTHING: Self = Self { volume: 0.0, flow: [0.0; D], square: 0.0 };

    fn plus(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            flow: std::array::from_fn(|a| self.flow[a] + other.flow[a]),
            square: self.square + other.square,
        }
    }

    /// So much liquid with the velocities of a cell.
    fn of_cell(volume: f64, velocity: &FaceField<f32, D>, slot: Slot) -> Self {
        let faces = |a: usize| {
            let field = &velocity.axes[a];
            let upper = field.blocks().step(slot, a, 1).map_or(field.background(), |upper| field[upper]);
            [f64::from(field[slot]), f64::from(upper)]
        };
        // The energy of a face is shared by the cells beside it.
        let square = |a: usize| faces(a).map(|u| 0.5 * u * u).iter().sum::<f64>();
        Self {
            volume,
            flow: std::array::from_fn(|a| volume * 0.5 * faces(a).iter().sum::<f64>()),
            square: volume * (0..D).map(square).sum::<f64>(),
        }
    }
}

fn sum_of_block<const D: usize>(
    state: &State<D>,
    params: &Params<D>,
    boundary: &Boundary<D>,
    shape: &Shape<D>,
    tile: &mut HaloTile<f32, D, 1>,
    block: usize,
) -> Sums<D> {
    let phi = &state.level_set;
    let blocks = phi.blocks();
    if boundary.is_solid(block) || filling(phi.block(block)) == Filling::Dry {
        return Sums::NOTHING;
    }
    let distance = |x: [f64; D]| shape.signed_distance(params.grid.point(x)) / params.grid.dx;
    let corner = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f64);
    let to_middle = distance(corner.map(|c| c + 0.5 * BLOCK_EDGE as f64));
    let half_diagonal = 0.5 * BLOCK_EDGE as f64 * (D as f64).sqrt();
    if to_middle >= half_diagonal {
        return Sums::NOTHING;
    }
    let is_deep = to_middle <= -half_diagonal;
    load_extended(phi, block, boundary, tile);
    let of_cell = |slot: Slot| {
        let centre = blocks.cell(slot).map(|c| c as f64 + 0.5);
        let inside = if is_deep { 1.0 } else { part_inside(&distance, centre, 0.5, HALVINGS) };
        if inside == 0.0 {
            return Sums::NOTHING;
        }
        let volume = liquid_fraction_in(tile, boundary, slot, inside, || inwards(&distance, centre));
        if volume > 0.0 { Sums::of_cell(volume, &state.velocity, slot) } else { Sums::NOTHING }
    };
    blocks.cells_inside(block).map(of_cell).fold(Sums::NOTHING, Sums::plus)
}

/// The part of a cube where a distance is negative.
fn part_inside<const D: usize>(
    distance: &impl Fn([f64; D]) -> f64,
    centre: [f64; D],
    half: f64,
    halvings: u32,
) -> f64 {
    let to_surface = distance(centre);
    let reach = half * (D as f64).sqrt();
    if to_surface.abs() >= reach {
        return if to_surface < 0.0 { 1.0 } else { 0.0 };
    }
    if halvings == 0 {
        // As if the surface passed in parallel to a face.
        return (0.5 - 0.5 * to_surface / half).clamp(0.0, 1.0);
    }
    let child = |k: usize| {
        let side = |a: usize| if k >> a & 1 == 1 { 0.5 * half } else { -0.5 * half };
        part_inside(distance, std::array::from_fn(|a| centre[a] + side(a)), 0.5 * half, halvings - 1)
    };
    (0..1 << D).map(child).sum::<f64>() / f64::from(1u32 << D)
}

/// Where a distance falls, over a cell.
fn inwards<const D: usize>(distance: &impl Fn([f64; D]) -> f64, centre: [f64; D]) -> [f64; D] {
    std::array::from_fn(|axis| {
        let beside =
            |way: f64| distance(std::array::from_fn(|a| if a == axis { centre[a] + way } else { centre[a] }));
        beside(-0.5) - beside(0.5)
    })
}
