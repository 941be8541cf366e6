//! The simulators behind the front door, an adapter each: from a scene and a solver crate to what all of them share. Solver crates
//! know nothing of it.

mod alone;
mod liquid;
mod modes;
mod terms;
mod warnings;
mod within;

use std::any::Any;

use meniscus_core::shape::Shape;
use meniscus_io::Frame;
use meniscus_liquid::State;
use meniscus_modal::FlowState;
use meniscus_rigid::RigidState;
use meniscus_scene::{LiquidSetup, Method, ProbeKind, Setup};
use serde::{Deserialize, Serialize};

pub(crate) use liquid::Liquid;
pub(crate) use modes::portrait::{Portrait, portraits};
pub use modes::{ModeStrength, ModesView};
pub(crate) use modes::{Modes, SavedModes, learnt_flows};

use crate::controls::Controls;
use crate::error::StepFailure;
use crate::stats::{BubbleEvent, ProbeValue, Stats};
use crate::world::{Step, World};

/// A simulator of a scene in `D` dimensions.
pub(crate) trait System<const D: usize>: Any + Send {
    /// The simulated time, in s.
    fn time(&self) -> f64;

    /// Takes note of what was changed of the scene.
    fn heed(&mut self, controls: &Controls<D>);

    /// The longest step that its fluid allows, in s.
    fn longest_step(&self) -> f64;

    /// Whether there is no fluid and never will be.
    fn is_void(&self, world: &World<D>) -> bool;

    /// The rigid bodies.
    fn bodies(&self) -> &[RigidState<D>];

    /// Takes a step, in which the bodies move. What all systems have in common is filled in by whoever calls this.
    fn step(&mut self, world: &World<D>, step: Step) -> Result<Stats, StepFailure>;

    /// Changes what is where between two steps, in a world that is as it is after it; tells what happened to bubbles.
    ///
    /// # Errors
    /// If what fluid and bodies do then cannot be found.
    fn rearrange(
        &mut self,
        world: &World<D>,
        change: Rearrangement<D>,
    ) -> Result<Vec<BubbleEvent>, StepFailure>;

    /// Is told that some of the bodies, or of the solids after them, will be there no longer: what they do to the fluid stays with it.
    fn give_up(&mut self, _things: &[usize]) {}

    /// Two of the bodies, or of the solids after them, that are in the same place; one of them twice if it is outside the box. Only where nothing can be in two things at once.
    fn overlap(&self) -> Option<[usize; 2]> {
        None
    }

    /// What a probe measures now.
    fn measure(&self, kind: &ProbeKind<D>) -> ProbeValue;

    /// This moment as named channels, lent where that is possible; the frame has the solids and bodies already.
    fn show<'a>(&'a self, setup: &Setup<D>, frame: Frame<'a, D>) -> Frame<'a, D>;

    /// All that it needs to go on.
    fn save(&self) -> Saved<D>;

    /// The volume that its fluid had at the start, in m³ (2D: m²), and that of its shapes; none of a fluid that fills the domain.
    fn volume_at_start(&self, world: &World<D>) -> Option<[f64; 2]>;

    /// How large it is.
    fn size(&self) -> Size;
}

/// What is changed of what is where.
#[derive(Clone, Debug)]
pub(crate) struct Rearrangement<const D: usize> {
    /// Liquid that is put in.
    pub liquids: Vec<LiquidSetup<D>>,
    /// Where solids and bodies were that are there no longer.
    pub left: Vec<Shape<D>>,
    /// Where solids and bodies are that were not there.
    pub taken: Vec<Shape<D>>,
    /// The bodies from now on.
    pub bodies: Vec<RigidState<D>>,
    /// For each body from now on, and each solid after them, the number that it had; a new one has none.
    pub things: Vec<Option<usize>>,
    /// For each smoke from now on the number that it had; a new one has none.
    pub smoke: Vec<Option<usize>>,
}

/// How large a simulation is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Particles of all fluids.
    pub particles: usize,
    /// Markers of smoke.
    pub markers: usize,
    /// Cells with fields.
    pub cells: usize,
}

/// All that a system needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Saved<const D: usize> {
    /// A liquid on a grid.
    Liquid(Box<State<D>>),
    /// A flow of modes.
    Modes(Box<SavedModes<D>>),
    /// A flow of modes without bodies: between islands, or in space.
    Flow(Box<FlowState<D>>),
}

/// The system of a scene at its beginning.
///
/// # Errors
/// If what fluid and bodies do at first cannot be found.
pub(crate) fn begin<const D: usize>(world: &World<D>) -> Result<Box<dyn System<D>>, StepFailure> {
    Ok(match world.setup.method {
        Method::Grid => Box::new(Liquid::new(world)),
        Method::Modes if alone::is_alone(&world.setup) => alone::begin(world)?,
        Method::Modes => Box::new(Modes::new(world)?),
    })
}

/// The system of a scene where it was saved.
///
/// # Errors
/// If what it is made of cannot be found again.
pub(crate) fn resume<const D: usize>(
    world: &World<D>,
    saved: Saved<D>,
) -> Result<Box<dyn System<D>>, StepFailure> {
    Ok(match saved {
        Saved::Liquid(state) => Box::new(Liquid::resume(world, *state)),
        Saved::Modes(saved) => Box::new(Modes::resume(world, *saved)),
        Saved::Flow(state) => alone::resume(world, *state)?,
    })
}
