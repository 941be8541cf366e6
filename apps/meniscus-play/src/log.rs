//! Logs: all that is needed to play a game again, to the same bits. A log is lines of JSON: what the world began with, each input with the number of steps
//! that were taken before it, and at the end how many there were and the hash of what came of them.

use std::path::Path;

use meniscus::Scene;
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Start, WorldError};
use crate::input::Input;
use crate::rules::{Game, Rules};

/// Logs are not longer than this, in bytes: an hour of stirring. Then there is none.
const LONGEST: usize = 16 << 20;
/// The version of the layout.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    meniscus_play: u32,
    world: String,
    scene: String,
    rules: Option<Rules>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    step: u32,
    input: Input,
}

#[derive(Debug, Serialize, Deserialize)]
struct End {
    steps: u32,
    hash: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Entry),
    End(End),
}

/// A log that is written.
#[derive(Clone, Debug)]
pub struct Log {
    text: String,
    is_full: bool,
}

impl Log {
    /// Of a world at its beginning.
    pub fn new(start: &Start) -> Self {
        let head = Head {
            meniscus_play: VERSION,
            world: start.name.clone(),
            scene: start.scene.source_text().into(),
            rules: start.rules.clone(),
        };
        let mut log = Self { text: String::new(), is_full: false };
        log.push(&head);
        log
    }

    /// Notes an input that comes after so many steps.
    pub fn note(&mut self, step: u32, input: &Input) {
        if self.text.len() > LONGEST {
            (self.text, self.is_full) = (String::new(), true);
        }
        if !self.is_full {
            self.push(&Entry { step, input: input.clone() });
        }
    }

    /// All of it until now; nothing if it has become too long.
    pub fn until_now(&self, engine: &Engine) -> Option<String> {
        let mut log = self.clone();
        log.push(&End { steps: engine.step_number(), hash: engine.hash() });
        (!self.is_full).then_some(log.text)
    }

    fn push(&mut self, line: &impl Serialize) {
        self.text += &serde_json::to_string(line).expect("plain data");
        self.text.push('\n');
    }
}

/// What came of playing a log again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Steps that it took.
    pub steps: u32,
    /// The hash of what came of them.
    pub hash: String,
    /// The hash in the log.
    pub expected: String,
    /// The game at the end.
    pub game: Game,
}

/// A log that cannot be played again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A line that is none of a log.
    #[error("line {line} of the log is not what `meniscus play` writes: {problem}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// It ends without saying what came of it.
    #[error("the log has no end")]
    NoEnd,
    /// Its world cannot be opened.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Plays a log again.
pub fn replay(log: &str) -> Result<Replayed, ReplayError> {
    let mut lines = log.lines().zip(1..);
    let bad = |line: usize, problem: String| ReplayError::BadLine { line, problem };
    let (first, _) = lines.next().ok_or(ReplayError::NoEnd)?;
    let head: Head = serde_json::from_str(first).map_err(|error| bad(1, error.to_string()))?;
    if head.meniscus_play != VERSION {
        return Err(bad(1, format!("it has version {}", head.meniscus_play)));
    }
    let name = format!("{}.toml", head.world);
    let scene =
        Scene::parse(&name, &head.scene, Path::new(""), &[]).map_err(|e| WorldError::from(Box::new(e)))?;
    let mut engine = Engine::new(Start { name: head.world, scene, rules: head.rules })?;
    for (text, line) in lines {
        match serde_json::from_str(text).map_err(|error| bad(line, error.to_string()))? {
            Line::Entry(Entry { step, mut input }) => {
                input.check(engine.size()).map_err(|error| bad(line, error.to_string()))?;
                advance(&mut engine, step).map_err(|problem| bad(line, problem))?;
                // What was refused then is refused again.
                let _ = engine.apply(&input);
            }
            Line::End(End { steps, hash }) => {
                advance(&mut engine, steps).map_err(|problem| bad(line, problem))?;
                let game = engine.game().clone();
                return Ok(Replayed { steps, hash: engine.hash(), expected: hash, game });
            }
        }
    }
    Err(ReplayError::NoEnd)
}

/// Steps until so many have been taken. Those that fail do so as they did.
fn advance(engine: &mut Engine, to: u32) -> Result<(), String> {
    if to < engine.step_number() {
        return Err("its steps do not grow".into());
    }
    while engine.step_number() < to {
        let _ = engine.step();
    }
    Ok(())
}
