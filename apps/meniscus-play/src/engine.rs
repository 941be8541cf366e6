//! A world: a scene of modes that runs in steps of 1/120 s, what players do to it, and the game in it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use meniscus::{BodyStats, Scene, SceneError, Simulation, SimulationError, Snapshot};
use meniscus_scene::ModesDomain;
use serde::Serialize;
use xxhash_rust::xxh64::xxh64;

use crate::edit::{Pose, Text};
use crate::input::{Input, Setting};
use crate::rules::{Disc, Game, Hand, Kind, Phase, Rules};
use crate::things::{Placed, Thing, things_of};

/// Steps a second of simulated time.
pub const RATE: f64 = 120.0;
/// Steps between two moments that a world can go back to.
const SAFE: u32 = 60;
/// Drawn modes, which have the keys from 1 to 9.
const MOST_DRAWN: usize = 9;
/// Bodies of a world.
const MOST_BODIES: usize = 24;
/// The width of strokes, as a part of the shorter side of the box.
const BRUSH: f64 = 0.05;
/// Waves along the longer side that pages are told of.
const MOST_WAVES: f64 = 48.0;
/// Water that is faster than this on average, in m/s, takes no more energy: steps would take too long.
const FASTEST: f64 = 0.8;
/// What happened is told for so many events.
const EVENTS: usize = 8;

/// A world that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The scene is not valid, or what was made of it is not.
    #[error(transparent)]
    Scene(#[from] Box<SceneError>),
    /// It is not a scene of the modes of a box in the plane.
    #[error("{name}, line {line}: the scene is simulated {how}, which cannot be played with")]
    NotPlayable {
        /// What messages call the scene.
        name: String,
        /// The line that says so, or would.
        line: usize,
        /// How it is simulated.
        how: Unplayable,
    },
    /// It does not begin.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A world of that name is not there.
    #[error("there is no world \"{0}\"")]
    Unknown(String),
}

/// A way to simulate that is not played with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplayable {
    /// Cells.
    Grid,
    /// Modes in three dimensions.
    Space,
    /// Modes of what solids leave of the box.
    BetweenSolids,
}

impl Unplayable {
    /// How a scene is simulated, if it is not played with.
    fn of(scene: &Scene) -> Option<Self> {
        if scene.dimension() == 3 {
            return Some(if scene.setup::<3>().modes.is_some() { Self::Space } else { Self::Grid });
        }
        match scene.setup::<2>().modes {
            None => Some(Self::Grid),
            Some(modes) => (modes.domain == ModesDomain::Solids).then_some(Self::BetweenSolids),
        }
    }

    /// The start of the line that says so.
    fn key(self) -> &'static str {
        match self {
            Self::Grid => "method",
            Self::Space => "size",
            Self::BetweenSolids => "domain",
        }
    }
}

impl fmt::Display for Unplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grid => "on a grid",
            Self::Space => "in 3D",
            Self::BetweenSolids => "with the modes between its solids",
        })
    }
}

/// Why an input changed nothing, in words for players.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// What a world begins with.
#[derive(Clone, Debug)]
pub struct Start {
    /// `menu`, `free`, `scene` or the name of a level.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// The rules, if it is a level.
    pub rules: Option<Rules>,
}

/// A scene as worlds run it: with steps of 1/120 s, and names for all that is in it.
pub fn playable(name: &str, text: &str, folder: &Path) -> Result<Scene, WorldError> {
    let scene = Scene::parse(name, text, folder, &[]).map_err(Box::new)?;
    if let Some(how) = Unplayable::of(&scene) {
        let said = text.lines().position(|line| line.trim_start().starts_with(how.key()));
        return Err(WorldError::NotPlayable { name: name.into(), line: said.unwrap_or(0) + 1, how });
    }
    let named = Text::new(scene.source_text()).to_string();
    let rate = format!("time.fps={RATE}");
    Ok(Scene::parse(name, &named, folder, &[rate]).map_err(Box::new)?)
}

/// Something that happened to a float.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Its number, from 1.
    pub number: u32,
    /// `home` or `lost`.
    pub kind: &'static str,
    /// Where.
    pub at: [f64; 2],
}

/// A mode beside the eigenmodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// The line that it was drawn by; nothing if it was made otherwise.
    pub points: Vec<[f64; 2]>,
}

/// A world.
pub struct Engine {
    start: Start,
    text: Text,
    scene: Scene,
    simulation: Simulation,
    things: Vec<Thing>,
    /// The bodies as they are now.
    bodies: Vec<BodyStats>,
    /// The kinetic energy after the last step, in J/m.
    energy: f64,
    ids: BTreeMap<String, u16>,
    size: [f64; 2],
    density: f64,
    /// Bodies touch from such a gap on.
    touch: f64,
    game: Game,
    step: u32,
    dropped: u32,
    drawn: u32,
    events: Vec<Event>,
    happened: u32,
    safe: Safe,
    is_new: bool,
}

/// A moment to go back to.
struct Safe {
    text: Text,
    scene: Scene,
    snapshot: Snapshot,
    /// Whether the world went back to it before.
    is_used: bool,
}

impl Engine {
    /// A world at its beginning.
    pub fn new(start: Start) -> Result<Self, WorldError> {
        let scene = start.scene.clone();
        let simulation = Simulation::new(&scene)?;
        let text = Text::new(scene.source_text());
        let setup = scene.setup::<2>();
        let safe = Safe {
            text: text.clone(),
            scene: scene.clone(),
            snapshot: simulation.snapshot(),
            is_used: false,
        };
        let mut engine = Self {
            start,
            text,
            scene,
            simulation,
            things: Vec::new(),
            bodies: Vec::new(),
            energy: 0.0,
            size: [0, 1].map(|axis| setup.grid.cells[axis] as f64 * setup.grid.dx),
            density: setup.density,
            touch: 0.75 * setup.modes.as_ref().map_or(0.0, |modes| modes.panel),
            ids: BTreeMap::new(),
            game: Game::default(),
            step: 0,
            dropped: 0,
            drawn: 0,
            events: Vec::new(),
            happened: 0,
            safe,
            is_new: true,
        };
        engine.find_things();
        Ok(engine)
    }

    /// What it began with.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Steps that it took.
    pub fn step_number(&self) -> u32 {
        self.step
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The rules, if it is a level.
    pub fn rules(&self) -> Option<&Rules> {
        self.start.rules.as_ref()
    }

    /// What happened last.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The bodies and solids.
    pub fn things(&self) -> &[Thing] {
        &self.things
    }

    /// Whether bodies, modes or settings are others than when this was last asked.
    pub fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// The sides of the box, in m.
    pub fn size(&self) -> [f64; 2] {
        self.size
    }

    /// How many waves pages are told of, along both sides.
    pub fn counts(&self) -> [usize; 2] {
        let [x, y] = self.size;
        [x, y].map(|side| (MOST_WAVES * side / x.max(y)).ceil().max(16.0) as usize)
    }

    /// The coefficients of the vorticity of all that flows.
    pub fn waves(&self) -> Vec<f64> {
        let counts = self.counts();
        self.view().waves(counts)
    }

    /// The velocity at a point, in m/s.
    pub fn velocity(&self, at: [f64; 2]) -> [f64; 2] {
        self.view().velocity(at)
    }

    /// The velocity of a body, in m/s.
    pub fn body_velocity(&self, name: &str) -> Option<[f64; 2]> {
        let body = self.bodies.iter().find(|body| body.name == name)?;
        Some([body.velocity[0], body.velocity[1]])
    }

    /// Where the things are.
    pub fn placed(&self) -> Vec<Placed> {
        self.things.iter().map(|thing| thing.placed(&self.bodies, self.simulation.time())).collect()
    }

    /// The modes beside the eigenmodes.
    pub fn drawn(&self) -> Vec<Drawn> {
        let count = self.setting(Setting::Modes) as usize;
        let content = self.scene.content().modes.as_ref();
        let line = |name: &str| {
            let entry = content?.enrich.iter().find(|entry| entry.name.as_deref() == Some(name))?;
            let points = &entry.stroke.as_ref()?.points;
            Some(points.iter().map(|point| [point[0], point[1]]).collect())
        };
        let strengths = self.view().strengths().into_iter().skip(count);
        strengths
            .map(|mode| Drawn { points: line(&mode.name).unwrap_or_default(), name: mode.name })
            .collect()
    }

    fn view(&self) -> meniscus::ModesView<'_> {
        self.simulation.modes().expect("a scene of modes")
    }

    /// The value of a setting.
    pub fn setting(&self, setting: Setting) -> f64 {
        let setup = self.scene.setup::<2>();
        let modes = setup.modes.expect("a scene of modes");
        match setting {
            Setting::Modes => modes.count as f64,
            Setting::Viscosity => setup.viscosity,
            Setting::Shedding => modes.shed_time,
        }
    }

    /// The text of the scene with bodies where they are now.
    pub fn scene_text(&self) -> String {
        self.text_of_now().to_string()
    }

    /// What tells this moment from all others: the same bits have the same.
    pub fn hash(&self) -> String {
        let state = serde_json::to_vec(&self.simulation.snapshot()).expect("a snapshot is plain data");
        format!("{:016x}", xxh64(&state, u64::from(self.step)))
    }

    /// Does what a player wants.
    pub fn apply(&mut self, input: &Input) -> Result<(), Refused> {
        let mut input = input.clone();
        input.check(self.size).map_err(|error| Refused(error.to_string()))?;
        self.is_allowed(&input)?;
        match &input {
            Input::Stir { points, speed } => self.stir(points, *speed),
            Input::Excite { mode, amplitude } => self.excite(mode, *amplitude),
            Input::Draw { points } => self.draw(points),
            Input::Forget { mode } => {
                self.change(|text| text.remove(&["modes", "enrich"], mode), "there is no such mode")
            }
            Input::Drop { at, density, radius, is_box } => self.drop(*at, *density, *radius, *is_box),
            Input::Take { body } => self.change(|text| text.remove(&["body"], body), "there is no such body"),
            Input::Set { setting, value } => self.change(
                |text| {
                    text.set(*setting, *value);
                    true
                },
                "the water cannot be made like that",
            ),
        }
    }

    /// In a level, bodies and water are what they are.
    fn is_allowed(&self, input: &Input) -> Result<(), Refused> {
        let Some(rules) = self.rules() else { return Ok(()) };
        if self.game.phase == Phase::Lost {
            return Err(Refused("this try is over".into()));
        }
        match (input, rules.hand) {
            (Input::Stir { .. }, Hand::Draw) => Err(Refused("here you draw, and keys stir".into())),
            (Input::Drop { .. } | Input::Take { .. } | Input::Set { .. }, _) => {
                Err(Refused("not in a level".into()))
            }
            _ => Ok(()),
        }
    }

    /// The width of strokes, in m.
    pub fn brush(&self) -> f64 {
        let [x, y] = self.size;
        (BRUSH * x.min(y) * 1e6).round() / 1e6
    }

    /// However a drag is cut into strokes, it gives the water the same speed.
    fn stir(&mut self, points: &[[f64; 2]], speed: f64) -> Result<(), Refused> {
        self.is_slow_enough()?;
        let length = length_of(points);
        if length == 0.0 {
            return Ok(());
        }
        let width = self.brush();
        let speed = speed * length / (length + 2.5 * width);
        let energy = self.simulation.stir(points, width, speed);
        self.spend(energy)
    }

    fn excite(&mut self, mode: &str, amplitude: f64) -> Result<(), Refused> {
        if !self.drawn().iter().any(|drawn| drawn.name == mode) {
            return Err(Refused("there is no such mode".into()));
        }
        self.is_slow_enough()?;
        let energy = self.simulation.excite(mode, amplitude);
        self.spend(energy)
    }

    fn is_slow_enough(&self) -> Result<(), Refused> {
        let most = 0.5 * self.density * self.size[0] * self.size[1] * FASTEST * FASTEST;
        if self.energy < most { Ok(()) } else { Err(Refused("the water is as fast as it gets".into())) }
    }

    fn spend(&mut self, energy: Result<f64, SimulationError>) -> Result<(), Refused> {
        match energy {
            Ok(energy) => {
                self.game.spend(energy);
                Ok(())
            }
            Err(_) => Err(self.go_back()),
        }
    }

    fn draw(&mut self, points: &[[f64; 2]]) -> Result<(), Refused> {
        if self.drawn().len() >= MOST_DRAWN {
            return Err(Refused("nine modes are as many as there are keys".into()));
        }
        if length_of(points) < 0.5 * self.brush() {
            return Err(Refused("draw a longer line".into()));
        }
        let (name, width) = (format!("drawn-{}", self.drawn + 1), self.brush());
        let before = self.text.clone();
        let add = |text: &mut Text| {
            text.add_mode(&name, points, width);
            true
        };
        self.change(add, "this cannot be drawn here")?;
        if self.drawn().iter().any(|drawn| drawn.name == name) {
            self.drawn += 1;
            return Ok(());
        }
        self.go_on_as(before, "")?;
        Err(Refused("the water can do that already: drag it".into()))
    }

    fn drop(&mut self, at: [f64; 2], density: f64, radius: f64, is_box: bool) -> Result<(), Refused> {
        const NO_ROOM: &str = "there is no room for it";
        let bodies = self.things.iter().filter(|thing| thing.kind != Kind::Solid).count();
        if bodies >= MOST_BODIES {
            return Err(Refused("these are as many bodies as it takes".into()));
        }
        let name = format!("drop-{}", self.dropped + 1);
        self.dropped += 1;
        let add = |text: &mut Text| {
            text.add_body(&name, at, density, radius, is_box);
            true
        };
        let placed = self.placed();
        if self.things.iter().zip(&placed).any(|(thing, placed)| thing.is_met(placed, at, radius)) {
            return Err(Refused(NO_ROOM.into()));
        }
        // There may be room now where something was at the start.
        self.change(add, NO_ROOM).or_else(|_| {
            let mut now = self.text_of_now();
            add(&mut now);
            self.go_on_as(now, NO_ROOM)
        })
    }

    /// Changes the text of the scene, and goes on as what it then says; `refusal` is what players are told if it says nothing sound.
    fn change(&mut self, edit: impl FnOnce(&mut Text) -> bool, refusal: &str) -> Result<(), Refused> {
        let mut text = self.text.clone();
        if !edit(&mut text) {
            return Err(Refused(refusal.into()));
        }
        self.go_on_as(text, refusal)
    }

    fn go_on_as(&mut self, text: Text, refusal: &str) -> Result<(), Refused> {
        let name = format!("{}.toml", self.scene.name());
        let scene = Scene::parse(&name, &text.to_string(), self.scene.folder(), &[])
            .map_err(|_| Refused(refusal.into()))?;
        let before = self.simulation.snapshot();
        if self.simulation.go_on_as(&scene).is_err() {
            self.simulation = Simulation::resume(&self.scene, before).expect("its own snapshot");
            return Err(Refused(refusal.into()));
        }
        (self.text, self.scene) = (text, scene);
        self.find_things();
        self.keep();
        Ok(())
    }

    /// Takes a step. One that fails brings back the moment before, or else the beginning; it then says so.
    pub fn step(&mut self) -> Result<(), Refused> {
        self.step += 1;
        match self.simulation.advance_frame() {
            // The last substep tells where bodies are: to ask for a frame would make fields too.
            Ok(mut substeps) => {
                let last = substeps.pop().expect("a frame has a substep");
                (self.bodies, self.energy) = (last.bodies, last.kinetic_energy);
            }
            Err(_) => return Err(self.go_back()),
        }
        self.judge();
        if self.step.is_multiple_of(SAFE) {
            self.keep();
        }
        Ok(())
    }

    fn judge(&mut self) {
        let Some(rules) = &self.start.rules else { return };
        let placed = self.placed();
        let disc = |(thing, placed): (&Thing, &Placed)| Disc {
            name: thing.name.clone(),
            centre: placed.centre,
            radius: thing.radius,
        };
        let discs: Vec<Disc> = self.things.iter().zip(&placed).map(disc).collect();
        let fates = self.game.look(rules, &discs, self.touch);
        if fates.is_empty() {
            return;
        }
        for fate in &fates {
            self.happened += 1;
            let kind = if fate.is_home { "home" } else { "lost" };
            self.events.push(Event { number: self.happened, kind, at: fate.centre });
        }
        let old = self.events.len().saturating_sub(EVENTS);
        self.events.drain(..old);
        let gone = |text: &mut Text| fates.iter().all(|fate| text.remove(&["body"], &fate.name));
        // A body that cannot be taken out stays where it is.
        let _ = self.change(gone, "a float stays");
    }

    fn find_things(&mut self) {
        self.things = things_of(&self.scene);
        for thing in &mut self.things {
            let next = self.ids.len() as u16;
            thing.id = *self.ids.entry(format!("{:?} {}", thing.kind, thing.name)).or_insert(next);
        }
        self.bodies = self.simulation.frame().bodies();
        self.is_new = true;
    }

    fn text_of_now(&self) -> Text {
        let mut text = self.text.clone();
        let setup = self.scene.setup::<2>();
        let now = self.simulation.frame().bodies();
        text.put_bodies(|name| {
            let start = setup.bodies.iter().find(|body| body.name == name)?;
            let body = now.iter().find(|body| body.name == name)?;
            let pose = Pose {
                centre: [body.position[0], body.position[1]],
                angle: 2.0 * body.rotation[2].atan2(body.rotation[3]),
                velocity: [body.velocity[0], body.velocity[1]],
                spin: body.angular_velocity[0],
            };
            Some((pose, [start.centre[0], start.centre[1]]))
        });
        text
    }

    /// Makes this a moment to go back to.
    fn keep(&mut self) {
        self.safe = Safe {
            text: self.text.clone(),
            scene: self.scene.clone(),
            snapshot: self.simulation.snapshot(),
            is_used: false,
        };
    }

    /// Goes back to a moment that was kept, or to the beginning where that led to nothing.
    fn go_back(&mut self) -> Refused {
        let Safe { text, scene, snapshot, is_used } = &mut self.safe;
        let back = if *is_used { None } else { Simulation::resume(scene, snapshot.clone()).ok() };
        *is_used = true;
        match back {
            Some(simulation) => {
                (self.simulation, self.text, self.scene) = (simulation, text.clone(), scene.clone());
                self.find_things();
            }
            None => self.begin_anew(),
        }
        Refused("the water broke, and is as it was a moment ago".into())
    }

    fn begin_anew(&mut self) {
        self.scene = self.start.scene.clone();
        self.text = Text::new(self.scene.source_text());
        self.simulation = Simulation::new(&self.scene).expect("it began before");
        self.game = Game::default();
        self.find_things();
        self.keep();
    }
}

fn length_of(points: &[[f64; 2]]) -> f64 {
    points.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).sum()
}
