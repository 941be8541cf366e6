//! Viscosity: implicit and variational, in the manner of Batty & Bridson 2008.
//!
//! Of all velocities, those after the step minimise
//!
//! ```text
//! sum over faces  ½ rho V |u - u*|²   +   dt sum over samples  mu V |D|²,      D = ½ (grad u + grad u^T)
//! ```
//!
//! the change of the motion and what it dissipates in `dt`. A stretching rate `D_aa` is sampled at the centre of a cell,
//! a shear rate `D_ab` at an edge (in 2D: a node), each from the nearest faces alone, and `V` is the volume of the liquid in the
//! cubic cell around each face, centre or edge. The minimum is where
//!
//! ```text
//! V u + sum over its samples of  k w V e  = V u*,      k = dt mu / (rho dx²)
//! ```
//!
//! with `e` the difference across a stretching sample and `w = 2`, or the sum of the two differences of a shear rate and
//! `w = 1`: a symmetric positive definite system that couples the axes.
//!
//! - **Free surface.** The volumes end there, and that is all: a minimum has no traction on its free boundary. A rigid motion strains
//!   no sample, so it is neither damped nor driven, and momentum and angular momentum of a free body are kept to the tolerance of the solve.
//!   Faces along the surface with no liquid cell beside them have volume too, but the projection gives them a new velocity in every step, that
//!   of the liquid below: with inertia they would never come to the velocity without traction, and would drag the
//!   liquid along as if there were more of it above. They follow at once instead. (Of the damping of capillary waves a tenth was missing.)
//! - **Walls.** A closed face has the normal velocity of its wall. A wall that slips takes part in no shear rate. One that does not
//!   ([`Slip::None`]) drags the faces along it, from half a cell where it fills the side of a cell: Couette flow is exact then, and
//!   Poiseuille flow too fast by `G dx² / (8 mu)`. A wall that cuts cells lies where the open fractions put it; along an oblique wall
//!   this is of first order.
//! - **Faces with little liquid** count as a hundredth full, so that each has a velocity.
//! - **A second fluid** has its own density and viscosity in its part of each volume, and there is no free surface.
//! - **Viscosity that varies** is averaged to the edges by the harmonic mean over the liquid around them: the stress between two
//!   layers is then that of the layers in series.
//!
//! # The solve
//! Conjugate gradients. The preconditioner solves for each axis by itself, by a multigrid cycle of `meniscus-linalg` (a
//! stencil of the faces of the axis), and adds the best rigid motion of every body, and of the faces of every cell at the surface, what
//! solves their own equations. The products of different axes are bounded by those of the same axis from above, and below by
//! Korn's inequality but for rigid motions, so the number of iterations depends on the shape of the liquid, not on the resolution or the time step.
//! Long thin sheets and threads, whose bending is nearly free, are the worst of shapes.
//!
//! # The splitting
//! A step projects, takes the projected velocities through viscosity, and projects again, as Batty & Bridson 2008 do. What gravity and surface
//! tension add in the step must meet the pressure first: viscosity would see a liquid at rest as one that falls along its walls and
//! resist that, and what is added after it is not resisted at all in the step. (A pool of honey at rest moved at 0.3 m/s along walls that do
//! not slip, and a viscous drop became round too fast by a factor `1 + 6 nu dt / R²`.)
//!
//! By linearity the second projection may start from the tentative velocities plus the change by viscosity, and so give the whole
//! pressure, with the first one's as its guess (but for bubbles). Normal stress at the free surface is still balanced only to first order in
//! `dt`, which shows where viscosity and surface decide together, as in threads that coil and buckle. Larionov, Batty & Bridson 2017
//! solve for both at once.

mod rigid;
mod surface;
mod system;
#[cfg(test)]
mod tests;
mod volume;
mod weights;

use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, block_len};
use meniscus_core::parallel;
use meniscus_linalg::{AssembleError, SolveError, SolveInfo, SolveParams, Solver, conjugate_gradients};

use crate::params::Slip;
use crate::projection::{Liquid, Stored};
use rigid::RigidMotions;
use surface::SurfaceCells;
use system::System;
use volume::{Corners, full_corners, liquid_corners};
use weights::Source;

/// The dynamic viscosity of a liquid, in Pa s (2D: kg/(m s) over unit depth, the same number).
#[derive(Clone, Copy, Debug)]
pub enum Viscosity<'a, const D: usize> {
    /// One value everywhere.
    Uniform(f64),
    /// A value for each cell; those of air do not matter.
    Varying(&'a Field<f32, D>),
    /// The viscosity of the liquid, and of the second fluid that fills what it leaves.
    OfFluids([f64; 2]),
}

/// The numbers of a step of viscosity.
#[derive(Clone, Copy, Debug)]
pub struct ViscosityParams<'a, const D: usize> {
    /// The time step, in s.
    pub dt: f64,
    /// The density of the liquid, in kg/m³ (2D: kg/m²).
    pub density: f64,
    /// The viscosity.
    pub viscosity: Viscosity<'a, D>,
    /// Whether liquid slips along walls.
    pub walls: Slip,
    /// Which sides of the domain, lower and upper along each axis, it slips along in any case.
    pub slip_sides: [[bool; 2]; D],
    /// When to stop.
    pub solve: SolveParams,
}

/// Why a step of viscosity failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViscosityError {
    /// A parameter has a value that makes no sense.
    #[error("{name} is {value}, it must be {expected}")]
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// The fields differ in their blocks, or the blocks in their domain from the grid.
    #[error("{0} has other blocks than the level set")]
    OtherBlocks(&'static str),
    /// The preconditioner could not be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The system could not be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Takes `velocity`, in m/s, through a time step of viscosity, on every face that is open and touches liquid, or the second fluid; other faces are
/// left alone. The air in bubbles exerts no friction, as other air.
///
/// After an error `velocity` is unchanged.
pub fn diffuse<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &mut FaceField<T, D>,
    params: &ViscosityParams<D>,
) -> Result<SolveInfo, ViscosityError> {
    check(liquid, velocity, params)?;
    let corners = liquid_corners(liquid.level_set);
    let system = System::new(&Source { liquid, velocity, params, corners: &corners });
    let corners = match liquid.second_density_ratio {
        Some(_) => full_corners(liquid.level_set.blocks()),
        None => corners,
    };
    let mut preconditioner = Preconditioner::new(&system, &corners, liquid.open)?;
    drop(corners);
    let mut x = system.velocities(velocity);
    let info = conjugate_gradients(
        &system.rhs(),
        &mut x,
        |p, q| system.product(p, q),
        |r, z| preconditioner.apply(r, z),
        &params.solve,
    )?;
    system.store(&x, velocity);
    Ok(info)
}

/// A multigrid cycle for each axis, plus the rigid motions, plus the cells of the surface: symmetric and positive definite.
struct Preconditioner<'a, const D: usize> {
    system: &'a System<D>,
    components: Vec<Solver<D>>,
    rigid: RigidMotions<D>,
    surface: SurfaceCells,
    /// The part of a vector that belongs to one axis, and what becomes of it.
    parts: [Vec<f64>; 2],
}

impl<'a, const D: usize> Preconditioner<'a, D> {
    fn new<T: Stored>(
        system: &'a System<D>,
        corners: &Field<Corners, D>,
        open: &FaceField<T, D>,
    ) -> Result<Self, AssembleError> {
        let component = |axis| Ok(Solver::new(system.component(axis)?));
        let components = (0..D).map(component).collect::<Result<_, AssembleError>>()?;
        let rigid = RigidMotions::new(system, corners, open);
        let surface = SurfaceCells::new(system, corners);
        let parts = std::array::from_fn(|_| vec![0.0; system.blocks.slots()]);
        Ok(Self { system, components, rigid, surface, parts })
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let n = block_len::<D>();
        let [part, cycled] = &mut self.parts;
        for (axis, solver) in self.components.iter_mut().enumerate() {
            parallel::for_chunks(part, n, |block, part| {
                part.copy_from_slice(&r[(block * D + axis) * n..][..n]);
            });
            solver.precondition(part, cycled);
            parallel::for_chunks(z, D * n, |block, z| {
                z[axis * n..(axis + 1) * n].copy_from_slice(parallel::chunk(cycled, n, block));
            });
        }
        self.rigid.add(self.system, r, z);
        self.surface.add(r, z);
    }
}

fn check<T: Stored, const D: usize>(
    liquid: &Liquid<T, D>,
    velocity: &FaceField<T, D>,
    params: &ViscosityParams<D>,
) -> Result<(), ViscosityError> {
    for (name, value) in [("dt", params.dt), ("density", params.density)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(ViscosityError::BadParameter { name, value, expected: "positive and finite" });
        }
    }
    let blocks = liquid.level_set.blocks();
    let is_bad = |value: f64| !(value >= 0.0 && value.is_finite());
    let bad = match params.viscosity {
        Viscosity::Uniform(value) => Some(value).filter(|&value| is_bad(value)),
        Viscosity::OfFluids(values) => values.into_iter().find(|&value| is_bad(value)),
        Viscosity::Varying(field) => {
            check_blocks(blocks, "the viscosity", field.blocks())?;
            parallel::find_first(field.blocks().len(), |block| {
                field.block(block).iter().map(|&value| f64::from(value)).find(|&value| is_bad(value))
            })
        }
    };
    if let Some(value) = bad {
        let expected = "finite and not negative";
        return Err(ViscosityError::BadParameter { name: "viscosity", value, expected });
    }
    if blocks.cells() != liquid.grid.cells {
        return Err(ViscosityError::OtherBlocks("the grid"));
    }
    check_blocks(blocks, "the open fraction", liquid.open.blocks())?;
    check_blocks(blocks, "the velocity", velocity.blocks())
}

fn check_blocks<const D: usize>(
    blocks: &Arc<Blocks<D>>,
    name: &'static str,
    of_field: &Arc<Blocks<D>>,
) -> Result<(), ViscosityError> {
    if Arc::ptr_eq(of_field, blocks) || of_field == blocks {
        Ok(())
    } else {
        Err(ViscosityError::OtherBlocks(name))
    }
}
