//! What pages are told as JSON when it changes: what is there, and how the game stands.

use serde::Serialize;

use crate::engine::{Drawn, Engine, Event};
use crate::input::Setting;
use crate::levels::{Level, levels};
use crate::rules::{Phase, Rules};
use crate::things::Thing;

/// What is there.
#[derive(Debug, Serialize)]
pub struct Told<'a> {
    kind: &'static str,
    /// The number of the world: dye and particles begin anew with it.
    world: u32,
    /// `menu`, `free`, `scene` or the name of a level.
    name: &'a str,
    /// The scene that was given on the command line, if one was.
    scene: Option<&'a str>,
    /// What the scene says that it is.
    about: Option<&'a str>,
    size: [f64; 2],
    brush: f64,
    rules: Option<&'a Rules>,
    levels: Vec<Level>,
    things: &'a [Thing],
    modes: Vec<Drawn>,
    settings: Settings,
}

#[derive(Debug, Serialize)]
struct Settings {
    modes: f64,
    viscosity: f64,
    shedding: f64,
}

/// What is there in a world.
pub fn tell_world(engine: &Engine, world: u32, scene: Option<&str>) -> String {
    let told = Told {
        kind: "world",
        world,
        name: &engine.start().name,
        scene,
        about: engine.start().scene.content().description.as_deref(),
        size: engine.size(),
        brush: engine.brush(),
        rules: engine.rules(),
        levels: levels(),
        things: engine.things(),
        modes: engine.drawn(),
        settings: Settings {
            modes: engine.setting(Setting::Modes),
            viscosity: engine.setting(Setting::Viscosity),
            shedding: engine.setting(Setting::Shedding),
        },
    };
    serde_json::to_string(&told).expect("plain data")
}

/// Something that players should know, with a number that grows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Notice {
    /// Its number, from 1.
    pub number: u32,
    /// What it says.
    pub text: String,
}

#[derive(Debug, Serialize)]
struct Standing<'a> {
    kind: &'static str,
    world: u32,
    phase: Phase,
    home: usize,
    lost: usize,
    stars: u8,
    /// Energy at the end, once there is one.
    spent: Option<f64>,
    events: &'a [Event],
    paused: bool,
    notice: &'a Notice,
}

/// How the game in a world stands.
pub fn tell_game(engine: &Engine, world: u32, is_paused: bool, notice: &Notice) -> String {
    let game = engine.game();
    let standing = Standing {
        kind: "game",
        world,
        phase: game.phase,
        home: game.home,
        lost: game.lost,
        stars: engine.rules().map_or(0, |rules| game.stars(rules)),
        spent: (game.phase != Phase::Playing).then_some(game.spent),
        events: engine.events(),
        paused: is_paused,
        notice,
    };
    serde_json::to_string(&standing).expect("plain data")
}
