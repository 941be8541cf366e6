//! A scene that runs.

use std::any::Any;
use std::path::Path;

use meniscus_io::{CacheError, WriteError, read_checkpoint, write_checkpoint};
use meniscus_liquid::State;
use meniscus_liquid::projection::AffineTiles;
use meniscus_scene::Scene;
use serde::Serialize;

use crate::dimension::{InDimension, either};
use crate::error::SimulationError;
use crate::frame::Frame;
use crate::session::{SavedSession, Session};
use crate::stats::Stats;
use crate::steering::Keyframes;
use crate::systems::ModesView;

/// A simulation between two substeps: all that it needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot(pub(crate) InDimension<SavedSession<2>, SavedSession<3>>);

impl Snapshot {
    /// Itself, for a scene of this dimension.
    fn of_dimension(
        self,
        expected: usize,
    ) -> Result<InDimension<SavedSession<2>, SavedSession<3>>, SimulationError> {
        let found = self.0.dimension();
        if found == expected { Ok(self.0) } else { Err(SimulationError::OtherDimension { found, expected }) }
    }

    /// Writes it to a file; says how many bytes that has.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<u64, WriteError> {
        either!(&self.0, saved => write_checkpoint(path, saved.kind(), saved))
    }

    /// Reads what [`write`](Self::write) wrote of a simulation of a scene.
    ///
    /// # Errors
    /// If it cannot be read, or is of another kind of simulation than the scene's.
    pub fn read(path: &Path, scene: &Scene) -> Result<Self, CacheError> {
        Ok(Self(match scene.dimension() {
            2 => InDimension::Plane(read_checkpoint(path, SavedSession::<2>::kind_of(scene.method()))?),
            _ => InDimension::Space(read_checkpoint(path, SavedSession::<3>::kind_of(scene.method()))?),
        }))
    }
}

/// A scene that runs. See the [crate](crate) for an example.
pub struct Simulation(InDimension<Session<2>, Session<3>>);

impl Simulation {
    /// A scene at its beginning.
    ///
    /// # Errors
    /// If there is nothing to simulate, or bodies cannot be made to run into things.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        Ok(Self(match scene.dimension() {
            2 => InDimension::Plane(Session::new(scene)?),
            _ => InDimension::Space(Session::new(scene)?),
        }))
    }

    /// A scene where a snapshot of it was taken.
    ///
    /// # Errors
    /// If the snapshot is of another scene, or bodies cannot be made to run into things.
    pub fn resume(scene: &Scene, snapshot: Snapshot) -> Result<Self, SimulationError> {
        Ok(Self(match snapshot.of_dimension(scene.dimension())? {
            InDimension::Plane(saved) => InDimension::Plane(Session::resume(scene, saved)?),
            InDimension::Space(saved) => InDimension::Space(Session::resume(scene, saved)?),
        }))
    }

    /// A scene that goes on where a snapshot of another one was taken. All may differ but the method, the domain's size and cells, `air.model`, `time.fps`,
    /// the liquids that were there and how many kinds of fluid there are: solids and bodies of the same name and shape go on, others come and go, and
    /// `[[liquid]]` entries after those that were there are put in. What was changed of the other scene while it ran is forgotten.
    ///
    /// # Errors
    /// If the scenes differ in what they must have in common, the snapshot is not of the first one, or bodies cannot be made to run into things.
    pub fn branch(from: &Scene, snapshot: Snapshot, to: &Scene) -> Result<Self, SimulationError> {
        Ok(Self(match snapshot.of_dimension(to.dimension())? {
            InDimension::Plane(saved) => InDimension::Plane(Session::branch(from, saved, to)?),
            InDimension::Space(saved) => InDimension::Space(Session::branch(from, saved, to)?),
        }))
    }

    /// Goes back, or forward, to a snapshot of this scene.
    ///
    /// # Errors
    /// If the snapshot is of another scene.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), SimulationError> {
        let expected = self.dimension();
        match (&mut self.0, snapshot.0) {
            (InDimension::Plane(session), InDimension::Plane(saved)) => session.restore(saved),
            (InDimension::Space(session), InDimension::Space(saved)) => session.restore(saved),
            (_, other) => Err(SimulationError::OtherDimension { found: other.dimension(), expected }),
        }
    }

    /// This moment, to be gone back to with [`restore`](Self::restore) or [`resume`](Self::resume): the same bits follow.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(match &self.0 {
            InDimension::Plane(session) => InDimension::Plane(session.save()),
            InDimension::Space(session) => InDimension::Space(session.save()),
        })
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.0.dimension()
    }

    /// The state of a liquid on a grid in `D` dimensions, for those who want more than [`frame`](Self::frame) shows; none if it is something
    /// else.
    pub fn liquid<const D: usize>(&self) -> Option<&State<D>> {
        let state: &dyn Any = match &self.0 {
            InDimension::Plane(session) => session.liquid()?.state(),
            InDimension::Space(session) => session.liquid()?.state(),
        };
        state.downcast_ref()
    }

    /// Which cells of a liquid on a grid move together as affine regions at this moment; none if they do not.
    pub fn regions(&self) -> Option<AffineTiles> {
        either!(&self.0, session => session.liquid()?.regions(&session.world))
    }

    /// This moment, to be looked at; lent, not copied.
    pub fn frame(&self) -> Frame<'_> {
        match &self.0 {
            InDimension::Plane(session) => Frame::of_plane(&session.world.setup, session.frame()),
            InDimension::Space(session) => Frame::of_space(&session.world.setup, session.frame()),
        }
    }

    /// Frames that are complete.
    pub fn frames_done(&self) -> u32 {
        either!(&self.0, session => session.frames_done())
    }

    /// The simulated time, in s.
    pub fn time(&self) -> f64 {
        either!(&self.0, session => session.system.time())
    }

    /// Moves a solid with a velocity, in m/s, of the middle of its bounds, and an angular velocity, in radians a second: in 2D one
    /// number, counter-clockwise. That goes on until it is changed, whatever the scene says.
    ///
    /// # Errors
    /// If there is no such solid, or a vector has not the components of the dimension.
    pub fn steer(
        &mut self,
        solid: &str,
        velocity: &[f64],
        angular_velocity: &[f64],
    ) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.steer(solid, velocity, angular_velocity))
    }

    /// Moves a solid along keyframes from now on, whatever the scene says. Where it is now they should have it too, or the liquid feels the jump.
    ///
    /// # Errors
    /// If there is no such solid, or the keyframes make no motion.
    pub fn follow(&mut self, solid: &str, keyframes: &Keyframes) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.follow(solid, keyframes))
    }

    /// Pushes a body with a force, in N, at its centre of mass, and a torque, in N m: in 2D, where both are for a metre of depth, one
    /// number. That is for the next substep, or until it is changed if it is held.
    ///
    /// # Errors
    /// If there is no such body, or a vector has not the components of the dimension.
    pub fn push(
        &mut self,
        body: &str,
        force: &[f64],
        torque: &[f64],
        is_held: bool,
    ) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.push(body, force, torque, is_held))
    }

    /// Changes gravity, in m/s².
    ///
    /// # Errors
    /// If it has not the components of the dimension.
    pub fn set_gravity(&mut self, gravity: &[f64]) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.set_gravity(gravity))
    }

    /// Opens or closes a source, whatever its times in the scene say.
    ///
    /// # Errors
    /// If there is no such source.
    pub fn open_source(&mut self, source: &str, is_open: bool) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.open_source(source, is_open))
    }

    /// Puts liquid in where there is none, as an entry of `[[liquid]]` in a scene says: its shape and, if it moves, its velocity. By how much the volume
    /// grows is in the `volume_book` of the next substep, as `placed`.
    ///
    /// # Errors
    /// If it makes no sense in the scene, or is of another kind than the liquids there.
    pub fn add_liquid(&mut self, liquid: &str) -> Result<(), SimulationError> {
        either!(&mut self.0, session => session.add_liquid(liquid))
    }

    /// Goes on with another scene from now on, as [`branch`](Self::branch) does.
    ///
    /// # Errors
    /// As there; the simulation then is what it was.
    pub fn go_on_as(&mut self, scene: &Scene) -> Result<(), SimulationError> {
        let found = self.dimension();
        if scene.dimension() != found {
            return Err(SimulationError::OtherDimension { found, expected: scene.dimension() });
        }
        either!(&mut self.0, session => session.go_on_as(scene))
    }

    /// Sets the fluid of a scene of modes in motion along a line through some points, in m: with the speed of a bell curve that has `speed`, in m/s, on
    /// the line and `width`, in m, as its deviation, less what would flow through walls and itself. That is done at once; for a force, do a little of it before each substep. Gives by how much the
    /// kinetic energy of fluid and bodies grows, in J for a metre of depth.
    ///
    /// # Errors
    /// If the scene is no such scene, or the line leaves the box or is none.
    pub fn stir(&mut self, points: &[[f64; 2]], width: f64, speed: f64) -> Result<f64, SimulationError> {
        either!(&mut self.0, session => session.stir(points, width, speed))
    }

    /// Adds to the strength of a mode, by its name (see [`ModesView::strengths`]): to the root mean square of its velocity over the box, in m/s, with a sign. Gives by
    /// how much the kinetic energy of fluid and bodies grows, in J for a metre of depth.
    ///
    /// # Errors
    /// If the scene has no such mode.
    pub fn excite(&mut self, mode: &str, amplitude: f64) -> Result<f64, SimulationError> {
        either!(&mut self.0, session => session.excite(mode, amplitude))
    }

    /// The flow of a scene of modes at this moment; none if it is something else.
    pub fn modes(&self) -> Option<ModesView<'_>> {
        either!(&self.0, session => session.modes().map(|modes| modes.view()))
    }

    /// The scene that it runs, with what [`go_on_as`](Self::go_on_as) changed.
    pub fn scene(&self) -> &Scene {
        either!(&self.0, session => &session.world.scene)
    }

    /// Advances to the end of the next frame; gives what its substeps measured.
    ///
    /// # Errors
    /// If a step fails. There is then nothing to go on from but a snapshot.
    pub fn advance_frame(&mut self) -> Result<Vec<Stats>, SimulationError> {
        either!(&mut self.0, session => session.advance_frame())
    }

    /// Takes one substep towards the end of the next frame.
    ///
    /// # Errors
    /// If the step fails. There is then nothing to go on from but a snapshot.
    pub fn advance_substep(&mut self) -> Result<Stats, SimulationError> {
        either!(&mut self.0, session => session.advance_substep())
    }
}
