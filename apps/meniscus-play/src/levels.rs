//! The worlds that come with the program: the menu's water, free play, and the levels of the game.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{Start, WorldError, playable};
use crate::rules::Rules;

const RULES: &str = include_str!("../levels/rules.toml");

/// Names and scenes, levels in their order.
const SCENES: [(&str, &str); 8] = [
    ("menu", include_str!("../levels/menu.toml")),
    ("free", include_str!("../levels/free.toml")),
    ("first-light", include_str!("../levels/first-light.toml")),
    ("deep-end", include_str!("../levels/deep-end.toml")),
    ("the-gap", include_str!("../levels/the-gap.toml")),
    ("minefield", include_str!("../levels/minefield.toml")),
    ("the-mill", include_str!("../levels/the-mill.toml")),
    ("maelstrom", include_str!("../levels/maelstrom.toml")),
];

#[derive(Debug, Deserialize)]
struct AllRules {
    level: std::collections::BTreeMap<String, Rules>,
}

/// A level, as menus list it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it teaches.
    pub teaches: String,
}

/// The levels, in the order in which they are played.
pub fn levels() -> Vec<Level> {
    let rules = all_rules();
    let level = |(name, _): &(&str, &str)| {
        let Rules { title, teaches, .. } = rules.get(*name)?.clone();
        Some(Level { name: (*name).into(), title, teaches })
    };
    SCENES.iter().filter_map(level).collect()
}

/// The beginning of a world that comes with the program.
pub fn start(name: &str) -> Result<Start, WorldError> {
    let found = SCENES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| WorldError::Unknown(name.into()))?;
    let scene = playable(&format!("{name}.toml"), text, Path::new(""))?;
    Ok(Start { name: name.into(), scene, rules: all_rules().remove(name) })
}

fn all_rules() -> std::collections::BTreeMap<String, Rules> {
    toml::from_str::<AllRules>(RULES).expect("the rules are checked by a test").level
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;

    #[test]
    fn every_world_begins_and_every_level_has_rules() {
        assert!(levels().len() >= 5);
        for (name, _) in SCENES {
            let start = start(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(start.rules.is_none(), ["menu", "free"].contains(&name), "{name}");
            let mut engine = Engine::new(start).unwrap_or_else(|error| panic!("{name}: {error}"));
            for _ in 0..5 {
                engine.step().unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}
