//! Shared helpers of the validation tests.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use meniscus::{Scene, Stats};
use meniscus_core::fractions::{grid_cell_open_fraction, grid_face_open_fraction};
use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_linalg::SolveParams;
use meniscus_liquid::State;
use meniscus_liquid::projection::{
    AffineTiles, Bubbles, ClosedFace, Liquid, NO_BUBBLE, NO_TILE, ProjectionError, ProjectionInfo,
    ProjectionParams, RigidCarrier, Touching, Workspace, max_divergence, project, valid_faces,
};
use meniscus_rigid::Twist;
use meniscus_scene::{Setup, SolidSetup};

/// A simulation of a liquid in `D` dimensions, whose state tests look into.
pub struct Simulation<const D: usize> {
    simulation: meniscus::Simulation,
    setup: Setup<D>,
}

impl<const D: usize> Simulation<D> {
    /// A scene at its beginning.
    ///
    /// # Panics
    /// If there is nothing to simulate.
    pub fn new(scene: &Scene) -> Self {
        let simulation = meniscus::Simulation::new(scene).expect("something to simulate");
        Self { simulation, setup: scene.setup() }
    }

    /// The liquid.
    pub fn state(&self) -> &State<D> {
        self.simulation.liquid().expect("a liquid in this dimension")
    }

    /// Where the cells lie.
    pub fn grid(&self) -> &Grid<D> {
        &self.setup.grid
    }

    /// The solids, and after them the bodies, where they are now.
    pub fn solids(&self) -> Vec<Shape<D>> {
        let now = |solid: &SolidSetup<D>| {
            solid.motion.as_ref().map_or(RigidTransform::IDENTITY, |motion| motion.pose(self.time()))
        };
        let solids = self.setup.solids.iter().map(|solid| (&solid.shape, now(solid)));
        let bodies =
            self.setup.bodies.iter().zip(&self.state().bodies).map(|(b, state)| (&b.shape, state.pose));
        let posed = |(shape, pose): (&Shape<D>, _)| shape.clone().transformed(pose).expect("a finite pose");
        solids.chain(bodies).map(posed).collect()
    }
}

impl<const D: usize> Deref for Simulation<D> {
    type Target = meniscus::Simulation;

    fn deref(&self) -> &meniscus::Simulation {
        &self.simulation
    }
}

impl<const D: usize> DerefMut for Simulation<D> {
    fn deref_mut(&mut self) -> &mut meniscus::Simulation {
        &mut self.simulation
    }
}

/// The simulation of a scene.
///
/// # Panics
/// If it is none.
pub fn simulation<const D: usize>(text: &str) -> Simulation<D> {
    Simulation::new(&Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene"))
}

/// The side of the rotated containers.
pub const SIDE: f64 = 0.7;

/// The centre of the unit square or cube.
pub const fn centre<const D: usize>() -> [f64; D] {
    [0.5; D]
}

/// By how much the square container is rotated: 30°.
pub fn square_rotation() -> Rotation<2> {
    Rotation::<2>::from_angle(30_f64.to_radians()).expect("a finite angle")
}

/// A rotation in space that aligns no face of a cube with an axis: 30° about (1, 2, 3).
pub fn cube_rotation() -> Rotation<3> {
    Rotation::<3>::from_axis_angle([1.0, 2.0, 3.0], 30_f64.to_radians()).expect("a finite angle")
}

/// A square or cube of side 0.7 about the centre of the unit square or cube, rotated.
pub fn rotated_container<const D: usize>(rotation: Rotation<D>) -> Shape<D> {
    Shape::centred_box([0.0; D], [0.5 * SIDE; D])
        .and_then(|shape| shape.transformed(RigidTransform { rotation, translation: centre() }))
        .expect("a valid box")
}

/// A liquid in a container in the unit square or cube, in f64.
pub struct Case<const D: usize> {
    /// The unit square or cube.
    pub grid: Grid<D>,
    /// All blocks.
    pub blocks: Arc<Blocks<D>>,
    /// The level set of the liquid: everywhere, until set otherwise.
    pub level_set: Field<f64, D>,
    /// The open fractions of the faces.
    pub open: FaceField<f64, D>,
    /// The velocity.
    pub velocity: FaceField<f64, D>,
    /// The pressure.
    pub pressure: Field<f64, D>,
    /// The bubbles: none, until set.
    pub bubbles: Option<Bubbles>,
    /// The rigid bodies: none, until set.
    pub bodies: Vec<RigidCarrier<D>>,
    /// Where they touch: nowhere, until set.
    pub touching: Option<Touching<D>>,
    /// Cells that move together: none, until set.
    pub regions: Option<AffineTiles>,
    /// The density of a second fluid, as a part of the liquid's: there is none, until set.
    pub second_density_ratio: Option<f64>,
    /// Whether all walls let go of the liquid: not, until set.
    pub separates: bool,
    /// The pressure of surface tension: none, until set.
    pub surface_pressure: Option<Field<f64, D>>,
    /// All faces, of which `separates` speaks.
    pub all_faces: FaceField<bool, D>,
}

/// The velocity of the solid at the lower face of a cell along an axis.
pub type SolidVelocity<'a, const D: usize> = &'a (dyn Fn(usize, [usize; D]) -> f64 + Sync);

impl<const D: usize> Case<D> {
    /// A container full of liquid at rest, from the area fractions of its faces.
    pub fn in_container(cells: usize, container: &Shape<D>) -> Self {
        let grid = Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] };
        Self::with_open(cells, |axis, cell| {
            let distance = |node| -container.signed_distance(grid.node(node));
            grid_face_open_fraction(&grid, axis, cell.map(|c| c as i64), distance)
        })
    }

    /// A domain full of liquid at rest, from the open fraction of each face (axis, cell above). Faces
    /// on and beyond the boundary of the domain are closed.
    pub fn with_open(cells: usize, open: impl Fn(usize, [usize; D]) -> f64 + Sync) -> Self {
        let grid = Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] };
        let blocks = Arc::new(Blocks::all(grid.cells));
        let inside = |axis: usize, cell: [usize; D]| cell[axis] > 0 && cell.iter().all(|&c| c < cells);
        let open = |axis, cell| if inside(axis, cell) { open(axis, cell) } else { 0.0 };
        Self {
            grid,
            level_set: Field::new(blocks.clone(), -1.0),
            open: FaceField::from_fn(blocks.clone(), 0.0, open),
            velocity: FaceField::new(blocks.clone(), 0.0),
            pressure: Field::new(blocks.clone(), 0.0),
            bubbles: None,
            bodies: Vec::new(),
            touching: None,
            regions: None,
            second_density_ratio: None,
            separates: false,
            surface_pressure: None,
            all_faces: FaceField::new(blocks.clone(), true),
            blocks,
        }
    }

    /// Sets the level set from a function of the position.
    pub fn set_level_set(&mut self, level: impl Fn([f64; D]) -> f64 + Sync) {
        let grid = self.grid;
        let at = |cell: [usize; D]| level(grid.cell_centre(cell.map(|c| c as i64)));
        self.level_set = Field::from_fn(self.blocks.clone(), 1.0, at);
    }

    /// Sets the velocity from a function of (axis, cell above the face).
    pub fn set_velocity(&mut self, velocity: impl Fn(usize, [usize; D]) -> f64 + Sync) {
        self.velocity = FaceField::from_fn(self.blocks.clone(), 0.0, velocity);
    }

    /// Makes bubbles of the cells for which `bubble` gives a number, to grow as `growth` says.
    pub fn set_bubbles(&mut self, growth: Vec<f64>, bubble: impl Fn([usize; D]) -> Option<u32> + Sync) {
        let of_slot = Field::from_fn(self.blocks.clone(), NO_BUBBLE, |cell| {
            let inside = (0..D).all(|a| cell[a] < self.grid.cells[a]);
            if inside { bubble(cell).unwrap_or(NO_BUBBLE) } else { NO_BUBBLE }
        });
        let pressure = vec![0.0; growth.len()];
        self.bubbles = Some(Bubbles { of_slot: of_slot.values().to_vec(), growth, pressure });
    }

    /// Puts a rigid body into the liquid, beside those that are there, that moves as `velocity` says. Rotations are about `centre`. It closes the part of a face that
    /// it takes of the staggered cell around it.
    pub fn add_body(&mut self, shape: &Shape<D>, centre: [f64; D], density: f64, velocity: Twist) {
        let (grid, blocks) = (self.grid, self.blocks.clone());
        let mut faces = Vec::new();
        for (axis, cell) in (0..D).flat_map(|axis| all_cells(grid.cells).map(move |cell| (axis, cell))) {
            let at = cell.map(|c| c as i64);
            let mut staggered = grid;
            staggered.origin[axis] -= 0.5 * grid.dx;
            let open = grid_cell_open_fraction(at, |node| shape.signed_distance(staggered.node(node)));
            let left = self.open.get(axis, at);
            if open < 1.0 && left > 0.0 {
                let upper = blocks.locate(at).expect("a cell of the domain");
                // What rounding leaves open between two bodies would be a cell of its own.
                let part = if left - (1.0 - open) < 1e-9 { left } else { 1.0 - open };
                faces.push(ClosedFace { axis, upper, part });
                self.open.axes[axis].set(at, left - part);
            }
        }
        let cell = |face: &ClosedFace| blocks.cell(face.upper).map(|c| c as i64);
        let closed: Vec<_> = faces.iter().map(|face| (face.axis, cell(face), face.part)).collect();
        let mass = RigidCarrier::mass_of_faces(&grid, centre, density, &closed);
        self.bodies.push(RigidCarrier { centre, mass, velocity, faces, films: Vec::new() });
    }

    /// Lets cells move together: those of one number make a region.
    pub fn set_regions(&mut self, region: impl Fn([usize; D]) -> Option<u32>) {
        let mut regions = AffineTiles { of_slot: vec![NO_TILE; self.blocks.slots()], count: 0 };
        for cell in all_cells(self.grid.cells) {
            if let Some(number) = region(cell) {
                let slot = self.blocks.locate(cell.map(|c| c as i64)).expect("a cell of the domain");
                regions.of_slot[slot.flat::<D>()] = number;
                regions.count = regions.count.max(number as usize + 1);
            }
        }
        self.regions = Some(regions);
    }

    /// The liquid, between solids that rest.
    pub fn liquid(&self) -> Liquid<'_, f64, D> {
        Liquid {
            grid: &self.grid,
            level_set: &self.level_set,
            open: &self.open,
            solid_velocity: None,
            bubbles: self.bubbles.as_ref(),
            bodies: &self.bodies,
            touching: self.touching.as_ref(),
            tiles: self.regions.as_ref(),
            second_density_ratio: self.second_density_ratio,
            separates: self.separates.then_some(&self.all_faces),
            divergence: None,
            surface_pressure: self.surface_pressure.as_ref(),
            weight_outside: [0.0; D],
        }
    }

    /// Projects the velocity, between solids that rest.
    pub fn project(&mut self, params: &ProjectionParams) -> Result<ProjectionInfo<D>, ProjectionError> {
        self.project_moving(params, None)
    }

    /// The velocity of the solids by face.
    pub fn on_faces(&self, solid: SolidVelocity<D>) -> FaceField<f64, D> {
        FaceField::from_fn(self.blocks.clone(), 0.0, solid)
    }

    /// Projects the velocity, between solids that move.
    pub fn project_moving(
        &mut self,
        params: &ProjectionParams,
        solid: Option<SolidVelocity<'_, D>>,
    ) -> Result<ProjectionInfo<D>, ProjectionError> {
        let solid_velocity = solid.map(|solid| self.on_faces(solid));
        let Self {
            grid,
            level_set,
            open,
            velocity,
            pressure,
            bubbles,
            bodies,
            touching,
            regions,
            second_density_ratio,
            separates,
            surface_pressure,
            all_faces,
            ..
        } = self;
        let liquid = Liquid {
            grid,
            level_set,
            open,
            solid_velocity: solid_velocity.as_ref(),
            bubbles: bubbles.as_ref(),
            bodies,
            touching: touching.as_ref(),
            tiles: regions.as_ref(),
            second_density_ratio: *second_density_ratio,
            separates: separates.then_some(&*all_faces),
            divergence: None,
            surface_pressure: surface_pressure.as_ref(),
            weight_outside: [0.0; D],
        };
        project(&liquid, velocity, pressure, params, &mut Workspace::default())
    }

    /// The faces that the projection sets, as (axis, cell above), with their velocities.
    pub fn valid_velocities(&self) -> Vec<(usize, [usize; D], f64)> {
        let valid = valid_faces(&self.liquid()).expect("a valid case");
        let cells = || all_cells(self.grid.cells.map(|n| n + 1));
        let faces = (0..D).flat_map(|axis| cells().map(move |cell| (axis, cell)));
        faces
            .filter(|&(axis, cell)| valid.get(axis, cell.map(|c| c as i64)))
            .map(|(axis, cell)| (axis, cell, self.velocity.get(axis, cell.map(|c| c as i64))))
            .collect()
    }

    /// The largest speed on the faces that the projection sets.
    pub fn max_speed(&self) -> f64 {
        self.valid_velocities().iter().fold(0.0, |max, &(_, _, u)| max.max(u.abs()))
    }

    /// The largest divergence of a liquid cell, between solids that rest.
    pub fn max_divergence(&self) -> f64 {
        max_divergence(&self.liquid(), &self.velocity).expect("a valid case")
    }
}

/// All cells of a grid, x fastest.
pub fn all_cells<const D: usize>(cells: [usize; D]) -> impl Iterator<Item = [usize; D]> {
    (0..cells.iter().product::<usize>()).map(move |mut index| {
        std::array::from_fn(|a| {
            let c = index % cells[a];
            index /= cells[a];
            c
        })
    })
}

/// Parameters of a solve to a tolerance that leaves nothing but the discretisation to be seen, of a
/// time step of 0.01 s.
pub fn tight_params() -> ProjectionParams {
    let solve = SolveParams { tolerance: 1e-12, max_iterations: 100 };
    ProjectionParams { solve, ..ProjectionParams::new(0.01) }
}

/// A number between -1 and 1 that is a fixed but irregular function of a face.
pub fn noise<const D: usize>(axis: usize, cell: [usize; D]) -> f64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ axis as u64;
    for c in cell {
        hash = (hash ^ c as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    (hash >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Asserts that corrections of a liquid of a density add in no substep more than 1 % of the kinetic energy and of what a `gravity` can do in it, beyond what viscosity takes, on a grid of cells
/// of about `dx`.
pub fn check_work_of_corrections(scene: &str, stats: &[Stats], density: f64, gravity: f64, dx: f64) {
    for Stats { energy_book, kinetic_energy, liquid_volume, max_speed, dt, time, .. } in stats {
        let weight = density * gravity * liquid_volume;
        let driven = kinetic_energy + weight * max_speed * dt;
        // What nobody sees is left out: to lift all liquid by a millionth of a cell.
        let allowed = 0.01 * driven - energy_book.viscosity.min(0.0) + 1e-6 * weight * dx;
        let work = energy_book.corrections;
        assert!(work <= allowed, "{scene}, {time} s: {work} J of {driven} J");
    }
}
