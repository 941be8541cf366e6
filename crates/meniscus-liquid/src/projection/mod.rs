//! The pressure projection: the velocities nearest to the tentative ones, in the kinetic-energy norm,
//! that keep the volume of every liquid cell.
//!
//! A *velocity carrier* is a face with an open fraction `w > 0` between two liquid cells, or between a
//! liquid and an air cell. Its mass is `rho w theta dx^D`, where `theta` is 1 inside the liquid and the
//! ghost-fluid fraction (how much of the way to the air cell is liquid) at the free surface. A *pressure
//! node* is a liquid cell, whose net flux must vanish:
//!
//! ```text
//! sum over its faces of  n (w u + (1 - w) u_s) = 0
//! ```
//!
//! with `n` = ±1 outwards: the open part of a face moves with the liquid, the closed part with the solid
//! (`u_s`). Pressure is 0 at the free surface. Eliminating the velocities leaves
//!
//! ```text
//! sum over the faces of c of  w/theta (q_c - q_n) = - sum n (w u* + (1 - w) u_s),    q = dt p / (rho dx)
//! ```
//!
//! with `q_n = 0` in open air, and then `u = u* - (q_upper - q_lower) / theta`. In terms of `q`, a speed, the
//! coefficient of every whole face is exactly 1, whatever the units: blocks full of liquid store nothing.
//!
//! # Bubbles
//! A *bubble* is a pressure node too (Goldade 2020, section 4): all cells of a region of air share one pressure `q_b`,
//! and its net flux, the solids' included, must be what it is to grow by. Its row of the system is the sum of
//! `w/theta (q_b - q_c)` over the faces that it shares with liquid cells (eq. 9). No velocity inside it is
//! known or needed.
//!
//! # A second fluid
//! Where another fluid, of density `r rho`, fills what the liquid leaves, its cells are pressure nodes too, and its faces carriers. The mass of
//! a face is `rho w m dx^D`, with `m` = 1 in the liquid, `r` in the second fluid, and where the surface lies between the two cells what each fluid has of
//! the way between their centres, `m = theta + (1 - theta) r`: the ghost-fluid method of Kang et al. 2000, in which `1/m` takes the place of `1/theta`
//! in the equations above. No fraction is clamped, since no mass is small.
//!
//! # Rigid bodies
//! A body is a velocity carrier with the mass matrix `M` and the velocity `V`, a translation and a rotation (Batty 2007, section
//! 3). It closes a part `a` of a face, which then moves with its velocity there, `phi · V`. The flux out of a node that its motions
//! make is `j = sum of n a phi` over its faces, and pressure pushes the body by the same numbers:
//!
//! ```text
//! V = V* + rho dx^D M^-1 sum over nodes of j q
//! ```
//!
//! so that `rho dx^D J^T M^-1 J` joins the operator, as a low-rank term that is never multiplied out, and `- J^T V*` the
//! right-hand side. Nodes are cells and bubbles alike.
//!
//! Where a body lies on a wall, no cell is left between the two, and nothing would push it off again: a wooden block on the floor would stay
//! there whatever water is poured on it. In truth there is a film between them, with the pressure of what is around it: what the body's
//! motion takes of the cells under it is taken of the nearest nodes around (`carriers/films.rs`). The fluxes of a motion then also sum to zero in a
//! sealed box, so that a body can leave its wall.
//!
//! # Contact
//! Where bodies touch, impulses between them that push and do not pull keep them from passing through each other, as multipliers of the same minimum. Those that press are eliminated in the
//! mass matrices: bodies that press on each other have one matrix together in the place of `M^-1`, of lower rank, and feel the liquid together. Which do is found in rounds.
//!
//! # Affine tiles
//! Cells far from all surfaces may move together (Goldade 2020, section 5): an *affine tile* is a velocity carrier with the velocity `u + A (x - c)`, `A` of
//! trace 0, on all its faces, those to its neighbours included. It has no pressure nodes, since such a field has no divergence. With
//! `phi` the row of a face's degrees of freedom, its mass matrix is `M = sum of r phi phi^T` over all its faces (eq. 20), its tentative velocity the
//! least-squares fit of theirs (eq. 24), which is what the minimum asks for, and the pressures of the cells around it push it by `J = sum of n phi` over
//! its outer faces (eq. 21). All else is as with rigid bodies. Where the divergence of its cells is to be something, the tile
//! grows evenly by that, whatever the pressure. For those who ask for the pressure in it, there is the quadratic function whose
//! gradient has pushed it.
//!
//! # Surface tension
//! At the surface the pressure of the liquid exceeds that of the air by `sigma kappa`: it jumps by that much between
//! the surface's two sides, which the ghost-fluid method puts where the surface crosses the face. With
//! `J = dt sigma kappa / (rho dx)` there,
//!
//! ```text
//! u = u* - n (q_air + J - q_c) / theta
//! ```
//!
//! on a face from a liquid cell `c` out (`n`) to the air, so `w/theta J` is added to the right-hand side of the
//! cell, and taken from that of the bubble. The matrix is the same. So it is on open sides, where `J` is the pressure of the fluid outside,
//! which is at rest: had it the same pressure at every height, it would blow in below and out above.
//!
//! # Wall separation
//! A wall that lets go pushes the liquid and does not pull it (Batty 2007, section 4). The pressure of a liquid cell with a face that such a
//! wall closes, wholly or in part, is not negative, that of the air being 0; and its net flux may be positive, because liquid that leaves
//! the wall leaves room behind. With `F` the net flux, in each such cell
//!
//! ```text
//! 0 <= q,    0 <= F,    q F = 0
//! ```
//!
//! These are the conditions of the minimum of the same quadratic function under the bounds `q >= 0`, since its gradient is `F`
//! ([`meniscus_linalg::solve_bounded`]). What moves with the pressure of its walls loses energy as before. The bound holds for the wall of a
//! body too, which then is not pulled either. The pressure is that at the cell's centre, relative to open air: surface tension that
//! holds liquid below that pressure does not hold it to a wall.
//!
//! *With bubbles* the room behind the liquid must be filled by air that can get there, since air keeps its volume: liquid leaves a wall
//! only in cells that touch open air, and comes off from its rim inwards, as fast as air follows. Elsewhere the wall holds it: water stands
//! in a straw whose upper end is closed and whose lower end is under water. A straw that ends in the air lets it in at its rim.
//!
//! # Area fractions or volume weights
//! The face weights are an argument, and appear in two roles: as the area that a flux passes through, and
//! in the mass of the face. Two choices are in use:
//!
//! - *Area fractions*: the open part of the face itself
//!   ([`grid_face_open_fraction`](meniscus_core::fractions::grid_face_open_fraction)). The constraint is
//!   then the divergence theorem on the cut cell, exact up to the sampling of `u` within a face: second
//!   order in the mean along a wall that cuts the grid at an angle, and first order at the wall.
//! - *Volume weights* (Batty 2007, section 3): the open part of the staggered cell around the face. The
//!   mass is then the more faithful one, which shows in the added mass of bodies on coarse grids; but
//!   as an area it is off by O(1) on the faces next to a wall, where the velocities therefore do not
//!   converge.
//!
//! Meniscus passes area fractions for walls: what leaks through a wall is seen at once and adds up, what a
//! boundary face weighs is not. For bodies that pressure moves it passes volume weights: the sum of what a body closes is then its
//! volume, whatever its place on the grid, and buoyancy is right; by area fractions a box feels none of its motion within a cell, and
//! the added mass of a disc of eight cells is off by 9 %, instead of 1 %. Whatever the weights, hydrostatic equilibrium is exact, because the
//! gradient does not contain them; and the energy identity holds in the norm of the same weights.

mod affine;
mod bodies;
mod energy;
mod error;
mod faces;
mod parts;
mod plain;
mod separation;
mod solve;

use std::time::Instant;

use meniscus_core::grid::{FaceField, Field, Grid, Slot};
use meniscus_core::parallel;
use meniscus_linalg::{ExtraUnknown, Operator, Patch, SolveInfo, SolveParams};

pub use crate::rigid::{ClosedFace, FilmFlow, RigidCarrier};
pub use meniscus_rigid::Touch;
use meniscus_rigid::Twist;

pub use affine::{AffineTiles, NO_TILE};
use bodies::Couplings;
pub use energy::{Inertia, KineticEnergy, Work};
pub use error::ProjectionError;
use faces::{Asked, Faces};
pub use separation::Separation;
use solve::Pressures;

/// The precision in which fields are stored: `f32` or `f64`. All arithmetic is in f64.
pub trait Stored: Copy + Send + Sync + Into<f64> {
    /// The nearest value of this type.
    fn nearest(value: f64) -> Self;
}

impl Stored for f32 {
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Stored for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

/// Where the liquid is and what confines it. All fields have the same blocks, which hold every face of
/// every liquid cell.
#[derive(Clone, Copy)]
pub struct Liquid<'a, T, const D: usize> {
    /// Where the cells lie.
    pub grid: &'a Grid<D>,
    /// The level set at the centres of the cells, in any unit: negative in liquid, extended into solids.
    /// Cells outside the domain are air, whatever it says there.
    pub level_set: &'a Field<T, D>,
    /// The open fraction of the faces, 0 to 1. See the [module](self) for the choice there is.
    pub open: &'a FaceField<T, D>,
    /// The velocity of the solid on the closed part of the faces, along their axes, in m/s; `None` where all solids rest. It is
    /// looked at only where a face of a liquid cell is not wholly open. What a body closes of a face counts as at rest.
    pub solid_velocity: Option<&'a FaceField<f64, D>>,
    /// The air that keeps its volume; the rest has the pressure 0.
    pub bubbles: Option<&'a Bubbles>,
    /// The rigid bodies that pressure moves.
    pub bodies: &'a [RigidCarrier<D>],
    /// Where they touch each other and what is around; `None` if they pass through it.
    pub touching: Option<&'a Touching<D>>,
    /// Cells that move together; `None` if each moves on its own.
    pub tiles: Option<&'a AffineTiles>,
    /// The density of a second fluid that fills what the liquid leaves, as a part of that of the liquid; `None` if air is what is there.
    pub second_density_ratio: Option<f64>,
    /// By face, whether the wall or the body that closes it lets go of the liquid; `None` if none does. It is looked at only where a face
    /// of a liquid cell is not wholly open.
    pub separates: Option<&'a FaceField<bool, D>>,
    /// The rate at which each liquid cell is to grow, in 1/s; `None` unless volume is to be corrected.
    pub divergence: Option<Divergence<'a>>,
    /// By how much the liquid's pressure exceeds that of the air at the surface near a cell, in Pa: surface
    /// tension times curvature, wanted of the cells on both sides of a face that the surface crosses.
    pub surface_pressure: Option<&'a Field<T, D>>,
    /// What the fluid outside of open sides weighs, its density times gravity, in N/m³: the pressure on these sides rises by it from 0 at the highest corner
    /// of the domain.
    pub weight_outside: [f64; D],
}

/// Where bodies touch each other, solids and sides of the domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touching<const D: usize> {
    /// The places, also those where they will touch before the step ends.
    pub touches: Vec<Touch<D>>,
    /// How near things are that touch, in metres.
    pub near: f64,
    /// What meets more slowly, in m/s, does not hit.
    pub rest: f64,
    /// The velocities of the bodies at the end of the last step.
    pub last: Vec<Twist>,
}

/// How it went with contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactInfo {
    /// Places where bodies touch something, or nearly so.
    pub touches: usize,
    /// The places where they press on each other.
    pub pressing: usize,
    /// Rounds that it took to find which do.
    pub rounds: usize,
    /// Whether they were found.
    pub is_settled: bool,
    /// By body: the velocity that it keeps until it hits what it does not touch yet; `None` if there is nothing.
    pub until_hit: Vec<Option<Twist>>,
}

/// The rate at which the liquid cell at a slot is to grow, in 1/s.
pub type Divergence<'a> = &'a (dyn Fn(Slot) -> f64 + Sync);

/// In [`Bubbles::of_slot`]: not in a bubble.
pub const NO_BUBBLE: u32 = u32::MAX;

/// Regions of air that keep their volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bubbles {
    /// The bubble of every slot, or [`NO_BUBBLE`]; what it says of liquid cells does not matter. Cells that share
    /// an open face are in the same bubble.
    pub of_slot: Vec<u32>,
    /// How fast each bubble is to grow, in m³/s (2D: m²/s).
    pub growth: Vec<f64>,
    /// An initial guess of each bubble's pressure, in Pa.
    pub pressure: Vec<f64>,
}

impl Bubbles {
    /// These bubbles, to grow by a part of what they were to.
    pub fn with_part_of_growth(&self, part: f64) -> Self {
        Self { growth: self.growth.iter().map(|growth| part * growth).collect(), ..self.clone() }
    }
}

/// The numbers of a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionParams {
    /// The time step, in s.
    pub dt: f64,
    /// The density of the liquid, in kg/m³ (2D: kg/m²).
    pub density: f64,
    /// The least ghost-fluid fraction, 0 to 1. It bounds the coefficients of the system by its inverse,
    /// and the velocities of the faces that it applies to are wrong by up to the force that it hides.
    /// With 0 the free surface is exact.
    pub theta_min: f64,
    /// When to stop.
    pub solve: SolveParams,
}

impl ProjectionParams {
    /// A time step of water, with the fraction `theta_min` = 0.01 of Goldade 2020.
    pub fn new(dt: f64) -> Self {
        Self { dt, density: 1000.0, theta_min: 0.01, solve: SolveParams::default() }
    }
}

/// How a projection went.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionInfo<const D: usize> {
    /// Cells with an open face that hold liquid, or the second fluid, and bubbles.
    pub unknowns: usize,
    /// Affine tiles.
    pub tiles: usize,
    /// Cells that hold liquid, those of tiles among them.
    pub liquid_cells: usize,
    /// The energies.
    pub kinetic_energy: KineticEnergy,
    /// Of these, those of the bodies.
    pub body_energy: KineticEnergy,
    /// The work that was done.
    pub work: Work,
    /// The mass and the tentative momentum of the fluids.
    pub inertia: Inertia<D>,
    /// The projected momentum of the fluids, in kg m/s.
    pub momentum: [f64; D],
    /// What the liquid was made to grow by, in m³/s (2D: m²/s).
    pub growth: f64,
    /// The largest error of a cell's divergence that is left, in 1/s. Cells that leave a wall have none.
    pub max_divergence: f64,
    /// Where the liquid leaves walls.
    pub separation: Separation,
    /// The pressure of each bubble, in Pa.
    pub bubble_pressure: Vec<f64>,
    /// The velocity of each body.
    pub body_velocity: Vec<Twist>,
    /// How it went with contacts.
    pub contact: ContactInfo,
    /// The faces whose velocity was set.
    pub valid: FaceField<bool, D>,
    /// Where the time went.
    pub seconds: ProjectionSeconds,
    /// How the solve went. A sealed component (no free surface) whose solids do not keep its volume has
    /// an imbalance above rounding: its cells then share the rest of the divergence evenly.
    pub solve: SolveInfo,
}

/// The parts of a projection that depend on the solver, in seconds; the rest is velocities before and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionSeconds {
    /// To assemble the operator.
    pub assemble: f64,
    /// To set the solver up; 0 with walls that let go, where that is a part of the solve.
    pub set_up: f64,
    /// To solve, all rounds together.
    pub solve: f64,
}

/// Memory that one projection leaves to the next; it holds no state.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    rhs: Vec<f64>,
    solution: Vec<f64>,
    solver: meniscus_linalg::Workspace,
}

/// Projects `velocity`, in m/s, on every face with an open fraction above 0 and at least one liquid
/// cell; other faces are left alone. `pressure`, in Pa, holds the initial guess and receives the
/// solution, 0 outside the liquid; in sealed components its mean is 0.
///
/// After an error `velocity` is unchanged and `pressure` is of no use.
///
/// A column of water, ten cells deep, that has fallen freely for one step, stands still again:
///
/// ```
/// use std::sync::Arc;
///
/// use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
/// use meniscus_liquid::projection::{Liquid, ProjectionParams, Workspace, project};
///
/// let grid = Grid::<2> { origin: [0.0; 2], dx: 0.1, cells: [4, 16] };
/// let blocks = Arc::new(Blocks::all(grid.cells));
/// let level_set = Field::from_fn(blocks.clone(), 1.0, |cell| 0.1 * (cell[1] as f64 + 0.5) - 1.0);
/// let inside = |axis, cell: [usize; 2]| cell[axis] > 0 && cell[0] < 4 && cell[1] < 16;
/// let open = FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| f64::from(inside(axis, cell)));
/// let mut velocity = FaceField::from_fn(blocks.clone(), 0.0, |axis, _| [0.0, -0.0981][axis]);
/// let mut pressure = Field::new(blocks, 0.0);
///
/// let liquid = Liquid {
///     grid: &grid,
///     level_set: &level_set,
///     open: &open,
///     solid_velocity: None,
///     bubbles: None,
///     bodies: &[],
///     touching: None,
///     tiles: None,
///     second_density_ratio: None,
///     separates: None,
///     divergence: None,
///     surface_pressure: None,
///     weight_outside: [0.0; 2],
/// };
/// let params = ProjectionParams::new(0.01);
/// project(&liquid, &mut velocity, &mut pressure, &params, &mut Workspace::default())?;
/// assert!(velocity.get(1, [2, 7]).abs() < 1e-5);
/// assert!((pressure.get([2, 0]) - 1000.0 * 9.81 * 0.95).abs() < 1.0);
/// # Ok::<(), meniscus_liquid::projection::ProjectionError>(())
/// ```
pub fn project<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &mut FaceField<T, D>,
    pressure: &mut Field<f64, D>,
    params: &ProjectionParams,
    workspace: &mut Workspace,
) -> Result<ProjectionInfo<D>, ProjectionError> {
    error::check_params(params)?;
    error::check_blocks(liquid, "the velocity", velocity.blocks())?;
    error::check_blocks(liquid, "the pressure", pressure.blocks())?;
    if let Some(excess) = liquid.surface_pressure {
        error::check_blocks(liquid, "the surface pressure", excess.blocks())?;
    }
    let faces = Faces::new(liquid, params.theta_min)?;
    let bodies = Couplings::new(&faces, params.density);
    let tiles = affine::Carriers::fit(&faces, velocity);
    let mut seconds = ProjectionSeconds::default();
    let operator = timed(&mut seconds.assemble, || assemble(&faces, &bodies, &tiles))?;
    let unknowns = operator.unknowns();

    let Workspace { rhs, solution, solver: memory } = workspace;
    rhs.clear();
    rhs.resize(operator.len(), 0.0);
    let scale = params.dt / (params.density * liquid.grid.dx);
    fill_rhs(&faces, velocity, scale, rhs);

    let of_bubbles = liquid.bubbles.map_or(&[][..], |bubbles| &bubbles.pressure);
    solution.resize(pressure.values().len() + of_bubbles.len(), 0.0);
    let (slots, bubbles) = solution.split_at_mut(pressure.values().len());
    parallel::update_by(slots, pressure.values(), |q, p| *q = p * scale);
    bubbles.iter_mut().zip(of_bubbles).for_each(|(q, p)| *q = p * scale);
    let walls = separation::wall_cells(&faces);
    let mut pressures = Pressures::new(operator, walls, &params.solve, memory, seconds);
    // What is shut in without air cannot grow: bodies would move at any speed to make room for it. Of two fluids one makes room for the other.
    let is_alone = liquid.second_density_ratio.is_none();
    let sealed = if is_alone && !liquid.bodies.is_empty() { pressures.sealed_cells() } else { Vec::new() };
    let wanted = |i: usize| faces.wanted_flux(Slot::from_flat::<D>(i));
    sealed.iter().for_each(|&i| rhs[i] -= wanted(i));
    let touching = liquid.touching.filter(|touching| !touching.touches.is_empty());
    let (body_velocity, contact) = match touching {
        None => {
            bodies.subtract_flux(&bodies.tentative(), rhs);
            pressures.solve(rhs, solution, params.solve.tolerance)?;
            (bodies.pushed(solution), ContactInfo { is_settled: true, ..ContactInfo::default() })
        }
        Some(touching) => pressures.settle(&bodies, touching, params.dt, rhs, solution)?,
    };
    let (solve, seconds, leaving, mut separation) = pressures.finish();

    let cell_mass = params.density * liquid.grid.dx.powi(D as i32);
    let asked = faces.asked(solution);
    let of_solids = faces.work_of_solids(solution, asked.work, rhs);
    let of_sealed = sealed.iter().map(|&i| faces.asked_of(Slot::from_flat::<D>(i), solution));
    let asked = of_sealed.fold(asked, Asked::less).plus(tiles.asked());
    let contacts = bodies.work_of_contacts(&body_velocity, solution);
    let body_energy = bodies.energy(&body_velocity).scaled(0.5 * cell_mass);
    let pushed = faces.subtract_gradient(solution, scale, velocity);
    let pushed = pushed.plus(tiles.push(&faces, solution, velocity));
    let [tension, outside] = pushed.jumps;
    let corrections = asked.work + pushed.growth;
    let work = Work { corrections, solids: of_solids, tension, outside, contacts }.scaled(cell_mass);
    faces.net_flux(velocity, rhs);
    sealed.iter().for_each(|&i| rhs[i] += wanted(i));
    bodies.add_flux(&body_velocity, rhs);
    let rate = |i: usize| (Slot::from_flat::<D>(i), rhs[i].max(0.0) / liquid.grid.dx);
    separation.cells = leaving.iter().map(|&i| rate(i)).collect();
    leaving.iter().for_each(|&i| rhs[i] = rhs[i].min(0.0));
    let (of_slots, of_bubbles) = solution.split_at(pressure.values().len());
    let max_divergence = largest(&rhs[..of_slots.len()]) / liquid.grid.dx;
    parallel::update_by(pressure.values_mut(), of_slots, |p, q| *p = q / scale);
    let bubble_pressure = of_bubbles.iter().map(|q| q / scale).collect();
    let valid = faces.valid();
    Ok(ProjectionInfo {
        unknowns,
        tiles: liquid.tiles.map_or(0, |tiles| tiles.count),
        liquid_cells: faces.liquid_cells(),
        kinetic_energy: pushed.energy.scaled(0.5 * cell_mass).plus(body_energy),
        body_energy,
        work,
        inertia: pushed.inertia.scaled(cell_mass),
        momentum: pushed.momentum_after.map(|p| cell_mass * p),
        growth: asked.flux * liquid.grid.dx.powi(D as i32 - 1),
        max_divergence,
        separation,
        bubble_pressure,
        body_velocity,
        contact,
        valid,
        seconds,
        solve,
    })
}

fn timed<R>(seconds: &mut f64, work: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let result = work();
    *seconds = started.elapsed().as_secs_f64();
    result
}

/// The system that [`project`] solves: its operator and its right-hand side, in q = dt p / (rho dx).
pub fn pressure_system<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &FaceField<T, D>,
    params: &ProjectionParams,
) -> Result<(Operator<D>, Vec<f64>), ProjectionError> {
    error::check_params(params)?;
    error::check_blocks(liquid, "the velocity", velocity.blocks())?;
    let faces = Faces::new(liquid, params.theta_min)?;
    let bodies = Couplings::new(&faces, params.density);
    let mut velocity = velocity.clone();
    let tiles = affine::Carriers::fit(&faces, &mut velocity);
    let operator = assemble(&faces, &bodies, &tiles)?;
    let mut rhs = vec![0.0; operator.len()];
    fill_rhs(&faces, &velocity, params.dt / (params.density * liquid.grid.dx), &mut rhs);
    bodies.subtract_flux(&bodies.tentative(), &mut rhs);
    Ok((operator, rhs))
}

/// What flows into every cell and bubble while the bodies rest, and the jumps of pressure at its surface.
fn fill_rhs<T: Stored, const D: usize>(
    faces: &Faces<T, D>,
    velocity: &FaceField<T, D>,
    scale: f64,
    rhs: &mut [f64],
) {
    faces.net_flux(velocity, rhs);
    parallel::update(rhs, |b| *b = -*b);
    faces.add_jumps(scale, rhs);
}

/// The faces that [`project`] sets: where the velocity of the liquid is known afterwards.
pub fn valid_faces<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
) -> Result<FaceField<bool, D>, ProjectionError> {
    Ok(Faces::new(liquid, 0.0)?.valid())
}

/// The kinetic energy of the fluids with a velocity, in J, and their inertia: what [`project`] would find before it.
pub fn kinetic_energy<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &FaceField<T, D>,
    params: &ProjectionParams,
) -> Result<(f64, Inertia<D>), ProjectionError> {
    error::check_blocks(liquid, "the velocity", velocity.blocks())?;
    let cell_mass = params.density * liquid.grid.dx.powi(D as i32);
    let (energy, inertia) = Faces::new(liquid, params.theta_min)?.energy(velocity);
    Ok((0.5 * cell_mass * energy, inertia.scaled(cell_mass)))
}

/// The largest divergence of a liquid cell, in 1/s: its net flux, solids included, over the volume of a
/// whole cell.
pub fn max_divergence<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &FaceField<T, D>,
) -> Result<f64, ProjectionError> {
    error::check_blocks(liquid, "the velocity", velocity.blocks())?;
    let slots = velocity.blocks().slots();
    let mut flux = vec![0.0; slots + liquid.bubbles.map_or(0, |bubbles| bubbles.growth.len())];
    let faces = Faces::new(liquid, 0.0)?;
    faces.net_flux(velocity, &mut flux);
    let bodies = Couplings::new(&faces, 1.0);
    bodies.add_flux(&bodies.tentative(), &mut flux);
    Ok(largest(&flux[..slots]) / liquid.grid.dx)
}

fn largest(values: &[f64]) -> f64 {
    let of_piece = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    parallel::map_pieces(values, of_piece).into_iter().fold(0.0, f64::max)
}

/// The stencil on the liquid cells, the rows of the bubbles and the terms of the bodies, scaled so that a whole face has the coefficient 1.
fn assemble<T: Stored, const D: usize>(
    faces: &Faces<T, D>,
    bodies: &Couplings<D>,
    tiles: &affine::Carriers<D>,
) -> Result<Operator<D>, ProjectionError> {
    let fill = |block: usize, patch: &mut Patch<D>| faces.fill(block, patch);
    let couplings = faces.bubble_couplings().into_iter();
    let bubbles: Vec<_> = couplings.map(|couplings| ExtraUnknown { couplings, anchor: 0.0 }).collect();
    let blocks = faces.blocks().clone();
    let operator = Operator::assemble_with_affine(blocks, fill, &bubbles, &[], &tiles.terms())?;
    Ok(operator.with_outer(&bodies.terms())?)
}
