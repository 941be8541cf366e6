//! Changes of what is where: a scene that goes on with another one, and liquid that is put in.

use std::collections::BTreeMap;

use meniscus_core::shape::{RigidTransform, Shape};
use meniscus_rigid::RigidState;
use meniscus_scene::content::{self, Content};
use meniscus_scene::{BodySetup, Scene, Setup};

use crate::error::SimulationError;
use crate::session::{SavedSession, Session, resumed};
use crate::systems::{self, Rearrangement};
use crate::world::World;

impl<const D: usize> Session<D> {
    /// A scene that goes on with another one from where it was saved. What both have in common goes on; solids and bodies that only one has come and go;
    /// liquid that is in the list of the other one in addition is put in.
    pub fn branch(from: &Scene, saved: SavedSession<D>, to: &Scene) -> Result<Self, SimulationError> {
        let (before, after) = (from.content(), to.content());
        can_follow(from, to)?;
        let SavedSession { scene, frames_done, substeps_of_frame, controls, system } = saved;
        let mut old_world = World::<D>::new(from)?;
        old_world.is_of(&scene)?;
        old_world.control(controls);
        let mut world = World::<D>::new(to)?;
        world.learnt = systems::learnt_flows(&world.setup)?;
        let mut system = resumed(&old_world, system, frames_done)?;
        let were = were((before, &old_world.setup), (after, &world.setup));
        let count = old_world.setup.bodies.len() + old_world.setup.solids.len();
        system.give_up(&(0..count).filter(|thing| !were.contains(&Some(*thing))).collect::<Vec<_>>());
        let mut system = resumed(&world, system.save(), frames_done)?;

        let (time, old_bodies) = (system.time(), system.bodies());
        let was = |name: &String| old_world.setup.bodies.iter().position(|body| &body.name == name);
        let state = |(k, body): (usize, &BodySetup<D>)| {
            let fresh = RigidState::new(&world.bodies[k]);
            let Some(old) = was(&body.name) else { return fresh };
            let (then, now) = (&before.body[old], &after.body[k]);
            if then.shape != now.shape {
                return fresh;
            }
            let is_thrown =
                (&then.velocity, &then.angular_velocity) != (&now.velocity, &now.angular_velocity);
            let velocity = if is_thrown { fresh.velocity } else { old_bodies[old].velocity };
            RigidState { velocity, ..old_bodies[old] }
        };
        let bodies: Vec<RigidState<D>> = world.setup.bodies.iter().enumerate().map(state).collect();

        let then = Things::new(before, &old_world.setup, old_world.poses(time, old_bodies));
        let now = Things::new(after, &world.setup, world.poses(time, &bodies));
        let change = Rearrangement {
            liquids: world.setup.liquids[old_world.setup.liquids.len()..].to_vec(),
            left: then.not_among(&now),
            taken: now.not_among(&then),
            bodies,
            things: were,
            smoke: smoke_of(before, after),
        };
        let events = system.rearrange(&world, change).map_err(|source| SimulationError::Step {
            frame: frames_done + 1,
            time: system.time(),
            source,
        })?;
        if system.is_void(&world) {
            return Err(SimulationError::NoLiquid);
        }
        if let Some(things) = system.overlap() {
            let [name, other] = things.map(|thing| name_of(&world.setup, thing));
            let other = if things[0] == things[1] { "a side of the domain".into() } else { other };
            return Err(SimulationError::Overlap { name, other, time: system.time() });
        }
        Ok(Self { world, system, frames_done, substeps_of_frame, has_failed: false, events })
    }

    /// Goes on with another scene from now on.
    pub fn go_on_as(&mut self, to: &Scene) -> Result<(), SimulationError> {
        let from = self.world.scene.clone();
        *self = Self::branch(&from, self.save(), to)?;
        Ok(())
    }

    /// Puts liquid in, as an entry `[[liquid]]` of the scene would.
    pub fn add_liquid(&mut self, liquid: &str) -> Result<(), SimulationError> {
        let scene = &self.world.scene;
        let text = format!("{}\n[[liquid]]\n{}\n", scene.source_text().trim_end(), liquid.trim());
        let name = format!("{}.toml", scene.name());
        let more = Scene::parse(&name, &text, scene.folder(), &[])
            .map_err(|error| SimulationError::BadLiquid(Box::new(error)))?;
        can_follow(scene, &more)?;
        let count = self.world.setup.liquids.len();
        let change = Rearrangement {
            liquids: more.setup::<D>().liquids[count..].to_vec(),
            left: Vec::new(),
            taken: Vec::new(),
            bodies: self.system.bodies().to_vec(),
            things: (0..self.world.setup.bodies.len() + self.world.setup.solids.len()).map(Some).collect(),
            smoke: (0..self.world.setup.smoke.len()).map(Some).collect(),
        };
        let events = self.system.rearrange(&self.world, change).map_err(|source| self.failed(source))?;
        self.events.extend(events);
        Ok(())
    }
}

/// The name of a body, or of a solid after them.
fn name_of<const D: usize>(setup: &Setup<D>, thing: usize) -> String {
    let names =
        setup.bodies.iter().map(|body| &body.name).chain(setup.solids.iter().map(|solid| &solid.name));
    names.skip(thing).map(|name| format!("\"{name}\"")).next().expect("a thing of the scene")
}

/// The solids and bodies of a scene at a moment, by their names.
struct Things<const D: usize>(BTreeMap<String, Thing<D>>);

struct Thing<const D: usize> {
    /// As the scene has it.
    content: content::Shape,
    shape: Shape<D>,
    pose: RigidTransform<D>,
}

impl<const D: usize> Things<D> {
    fn new(content: &Content, setup: &Setup<D>, poses: Vec<RigidTransform<D>>) -> Self {
        let solids = setup.solids.iter().zip(&content.solid);
        let solids = solids.map(|(s, content)| (format!("solid {}", s.name), &content.shape, &s.shape));
        let bodies = setup.bodies.iter().zip(&content.body);
        let bodies = bodies.map(|(b, content)| (format!("body {}", b.name), &content.shape, &b.shape));
        let thing = |((name, content, shape), pose): ((String, &_, &Shape<D>), _)| {
            (name, Thing { content: Clone::clone(content), shape: shape.clone(), pose })
        };
        Self(solids.chain(bodies).zip(poses).map(thing).collect())
    }

    /// The shapes of those that others do not have, or have elsewhere.
    fn not_among(&self, others: &Self) -> Vec<Shape<D>> {
        let is_there = |name: &String, thing: &Thing<D>| {
            others.0.get(name).is_some_and(|other| other.content == thing.content && other.pose == thing.pose)
        };
        let own = self.0.iter().filter(|(name, thing)| !is_there(name, thing));
        own.map(|(_, thing)| thing.shape.clone().transformed(thing.pose).expect("a finite pose")).collect()
    }
}

/// For each body of a scene, and each solid after them, the number that it has in another one, if it has the same name and shape there.
fn were<const D: usize>(before: (&Content, &Setup<D>), after: (&Content, &Setup<D>)) -> Vec<Option<usize>> {
    let there = named_shapes(before);
    named_shapes(after).iter().map(|thing| there.iter().position(|other| other == thing)).collect()
}

/// Those of bodies, and of solids after them.
fn named_shapes<'a, const D: usize>(
    (content, setup): (&'a Content, &'a Setup<D>),
) -> Vec<(&'static str, &'a str, &'a content::Shape)> {
    let bodies = setup.bodies.iter().zip(&content.body);
    let bodies = bodies.map(|(body, content)| ("body", body.name.as_str(), &content.shape));
    let solids = setup.solids.iter().zip(&content.solid);
    bodies.chain(solids.map(|(solid, content)| ("solid", solid.name.as_str(), &content.shape))).collect()
}

/// For each smoke of a scene the number that it has in another one, where its shape is the same.
fn smoke_of(before: &Content, after: &Content) -> Vec<Option<usize>> {
    let numbered = after.smoke.iter().enumerate();
    let number = |(number, smoke): (usize, &content::Smoke)| {
        let is_same = |old: usize| before.smoke.get(old).is_some_and(|old| old.shape == smoke.shape);
        // Two may have one shape.
        std::iter::once(number).chain(0..before.smoke.len()).find(|&old| is_same(old))
    };
    numbered.map(number).collect()
}

/// Whether a scene can go on as another one.
fn can_follow(from: &Scene, to: &Scene) -> Result<(), SimulationError> {
    if from.dimension() != to.dimension() {
        return Err(SimulationError::OtherDimension { found: from.dimension(), expected: to.dimension() });
    }
    let (before, after) = (from.content(), to.content());
    fn differ<T: PartialEq + std::fmt::Debug>(before: T, after: T) -> Option<String> {
        (before != after).then(|| format!("it was {before:?}, it is {after:?}"))
    }
    let fluid = |content: &Content| content.fluid.as_ref().map(|fluid| fluid.velocity.clone());
    let kinds = [from, to].map(|scene| if has_second(scene) { "of two kinds" } else { "of one kind" });
    let differences = [
        ("method", differ(before.method, after.method)),
        ("domain.size", differ(&before.domain.size, &after.domain.size)),
        ("domain.cells", differ(before.domain.cells, after.domain.cells)),
        ("time.fps", differ(before.time.fps, after.time.fps)),
        ("fluid", differ(before.fluid.is_some(), after.fluid.is_some()).map(|_| "one has it".into())),
        ("fluid.velocity", differ(fluid(before), fluid(after))),
        ("fluid.wave", differ(waves(before), waves(after)).map(|_| "they are what it began with".into())),
        (
            "fluid.stroke",
            differ(strokes(before), strokes(after)).map(|_| "they are what it began with".into()),
        ),
        ("air.model", differ(before.air.model, after.air.model)),
        ("liquid", differ(kinds[0], kinds[1])),
        (
            "liquid",
            (!after.liquid.starts_with(&before.liquid))
                .then(|| "entries that were there stay as they were; others after them are put in".into()),
        ),
    ];
    let first = differences.into_iter().find_map(|(key, difference)| Some((key, difference?)));
    first.map_or(Ok(()), |(key, difference)| Err(SimulationError::CannotFollow { key, difference }))
}

fn waves(content: &Content) -> &[content::Wave] {
    content.fluid.as_ref().map_or(&[], |fluid| &fluid.wave)
}

fn strokes(content: &Content) -> &[content::Stroke] {
    content.fluid.as_ref().map_or(&[], |fluid| &fluid.stroke)
}

/// Whether two fluids are simulated.
fn has_second(scene: &Scene) -> bool {
    match scene.dimension() {
        2 => scene.setup::<2>().second.is_some(),
        _ => scene.setup::<3>().second.is_some(),
    }
}
