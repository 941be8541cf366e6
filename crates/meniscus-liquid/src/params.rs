//! The numbers of a simulation.

use meniscus_core::grid::{BLOCK_EDGE, Grid};
use meniscus_linalg::SolveParams;

use crate::projection::ProjectionParams;

/// The numbers of a simulation.
#[derive(Clone, Debug)]
pub struct Params<const D: usize> {
    /// The domain.
    pub grid: Grid<D>,
    /// Which sides of the domain, lower and upper along each axis, are open: liquid leaves through them, and
    /// the pressure there is that of the air. The others are walls.
    pub open_sides: [[bool; 2]; D],
    /// Whether the other sides let go of the liquid: see [`Solid::separates`](crate::Solid::separates).
    pub sides_separate: bool,
    /// The acceleration of gravity, in m/s².
    pub gravity: [f64; D],
    /// The density of the liquid, in kg/m³ (2D: kg/m²).
    pub density: f64,
    /// The surface tension, in N/m (2D: N); 0 for none. The surface meets walls at right angles.
    pub surface_tension: f64,
    /// The dynamic viscosity of the liquid, in Pa s (2D: kg/(m s) over unit depth, the same number); 0: none.
    pub viscosity: f64,
    /// Whether viscous liquid slips along walls.
    pub walls: Slip,
    /// Which sides of the domain, lower and upper along each axis, it slips along in any case.
    pub slip_sides: [[bool; 2]; D],
    /// What the air does.
    pub air: AirModel,
    /// How velocities pass between the particles and the grid.
    pub transfer: Transfer,
    /// The fewest and the most particles that a cell deep inside the liquid should hold.
    pub particles_per_cell: [usize; 2],
    /// How many cells the liquid may move in a substep.
    pub cfl: f64,
    /// Whether solids cut cells; otherwise a face is open or closed as its middle is, and walls at an angle are stairs.
    pub cut_cells: bool,
    /// The least ghost-fluid fraction: see [`crate::projection::ProjectionParams::theta_min`].
    pub theta_min: f64,
    /// How the deep interior of fluids moves together; `None` if each cell moves on its own.
    pub tiling: Option<Tiling>,
    /// When the pressure solve stops.
    pub solve: SolveParams,
}

impl<const D: usize> Params<D> {
    /// Water in a closed box.
    pub fn new(grid: Grid<D>) -> Self {
        let mut gravity = [0.0; D];
        gravity[1] = -9.81;
        let per_cell = 1 << D;
        Self {
            grid,
            open_sides: [[false; 2]; D],
            sides_separate: false,
            gravity,
            density: 1000.0,
            surface_tension: 0.0,
            viscosity: 0.0,
            walls: Slip::Free,
            slip_sides: [[false; 2]; D],
            air: AirModel::Void,
            transfer: Transfer::Apic,
            particles_per_cell: [per_cell / 2, 2 * per_cell],
            cfl: 2.0,
            cut_cells: true,
            theta_min: 0.01,
            tiling: None,
            solve: SolveParams::default(),
        }
    }

    /// How far beyond the liquid fields have values, in cells: as far as a particle may go in a substep
    /// and its stencil beyond.
    pub(crate) fn reach(&self) -> usize {
        self.cfl.ceil() as usize + 2
    }

    /// The volume of a cell, in m³ (2D: m²).
    pub(crate) fn cell_volume(&self) -> f64 {
        self.grid.dx.powi(D as i32)
    }

    /// The area of a face, in m² (2D: m).
    pub(crate) fn face_area(&self) -> f64 {
        self.grid.dx.powi(D as i32 - 1)
    }

    /// The numbers of the projection of a substep.
    pub(crate) fn projection(&self, dt: f64) -> ProjectionParams {
        ProjectionParams { dt, density: self.density, theta_min: self.theta_min, solve: self.solve }
    }

    /// The centre of a block and the distance of its corners from it, in metres: a look at a distance from there
    /// tells how near to the block a shape can come.
    pub(crate) fn block_ball(&self, coord: [usize; D]) -> ([f64; D], f64) {
        let half = 0.5 * BLOCK_EDGE as f64;
        let centre = self.grid.point(coord.map(|c| (c * BLOCK_EDGE) as f64 + half));
        (centre, self.grid.dx * half * (D as f64).sqrt())
    }

    /// Which sides of the domain, lower and upper along each axis, are walls that let go of the liquid.
    pub(crate) fn separating_sides(&self) -> [[bool; 2]; D] {
        self.open_sides.map(|sides| sides.map(|is_open| self.sides_separate && !is_open))
    }

    /// The density of what is outside of open sides, in kg/m³ (2D: per metre of depth): that of what fills the domain, or comes where there is no liquid.
    pub(crate) fn density_outside(&self) -> f64 {
        match self.air {
            AirModel::None => self.density,
            AirModel::TwoPhase(second) => second.density,
            AirModel::Void | AirModel::Bubbles => 0.0,
        }
    }

    /// The fluid that fills what the liquid leaves, if there is one.
    pub fn second(&self) -> Option<SecondFluid> {
        match self.air {
            AirModel::TwoPhase(second) => Some(second),
            _ => None,
        }
    }

    /// The density of the second fluid as a part of the liquid's.
    pub(crate) fn second_density_ratio(&self) -> Option<f64> {
        self.second().map(|second| second.density / self.density)
    }

    /// The density where the level set has a value, in kg/m³ (2D: kg/m²); air that is not solved for has none.
    pub(crate) fn density_at(&self, level: f32) -> f64 {
        if level < 0.0 { self.density } else { self.second().map_or(0.0, |second| second.density) }
    }

    /// A position in cells, in metres.
    pub(crate) fn to_metres(&self, x: [f32; D]) -> [f64; D] {
        self.grid.point(x.map(f64::from))
    }
}

/// What the air does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AirModel {
    /// Nothing: its pressure is 0 everywhere.
    Void,
    /// Air that is cut off keeps its volume (Goldade 2017).
    Bubbles,
    /// There is none: the fluid fills the domain, whatever the shapes that it begins with, and has no surface.
    None,
    /// It is a fluid like the liquid, solved for and carried by particles of its own; or another liquid is what is there in its place.
    TwoPhase(SecondFluid),
}

impl AirModel {
    /// Whether everything that is not solid is solved for.
    pub(crate) fn fills_domain(self) -> bool {
        matches!(self, Self::None | Self::TwoPhase(_))
    }

    /// Whether bodies of liquid and regions of what is not are followed, and each keeps its volume.
    pub(crate) fn keeps_volumes(self) -> bool {
        matches!(self, Self::Bubbles | Self::TwoPhase(_))
    }
}

/// The fluid that fills what the liquid leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondFluid {
    /// Its density, in kg/m³ (2D: kg/m²).
    pub density: f64,
    /// Its dynamic viscosity, in Pa s (2D: kg/(m s) over unit depth, the same number); 0: none.
    pub viscosity: f64,
}

/// How the deep interior of fluids is reduced to affine tiles: see [`crate::projection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Which fluids.
    pub fluids: Reduced,
    /// What they are cut into.
    pub size: TileSize,
    /// Layers of cells along a free surface that stay cells; at least 1, as the other bands.
    pub surface_band: usize,
    /// Layers along the surface between two fluids that stay cells; 6 where both are reduced and 3 else if not given.
    pub interface_band: Option<usize>,
    /// Layers along solids and sides of the domain that stay cells.
    pub solid_band: usize,
}

impl Default for Tiling {
    /// As in Goldade 2020: boxes of 16 cells.
    fn default() -> Self {
        Self {
            fluids: Reduced::Both,
            size: TileSize::Uniform(16),
            surface_band: 9,
            interface_band: None,
            solid_band: 2,
        }
    }
}

/// The fluids that are reduced to affine tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduced {
    /// The liquid.
    Liquid,
    /// The second fluid.
    Second,
    /// All that there are.
    Both,
}

/// What the interior of a fluid is cut into. Edges are in cells, and multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSize {
    /// Nothing: what is connected is one tile.
    One,
    /// Boxes of one size.
    Uniform(usize),
    /// Boxes that are larger where they are farther from surfaces and solids: powers of two times the least.
    Graded {
        /// The edge of the smallest.
        least: usize,
        /// The edge of the largest.
        largest: usize,
    },
}

/// Whether viscous liquid slips along walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// Walls exert no friction.
    Free,
    /// At a wall the liquid has its velocity.
    None,
}

/// How velocities pass between the particles and the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// Particles carry velocity gradients: little noise, keeps angular momentum.
    Apic,
    /// Particles take the change of the grid's velocity: livelier and noisier.
    Flip {
        /// The share of FLIP; the rest is PIC, which damps.
        blend: f32,
    },
}
