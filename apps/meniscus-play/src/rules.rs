//! The rules of the game: floats are to be brought into the ring, and mines cost those that they touch.

use serde::{Deserialize, Serialize};

/// What a level asks for, beside its scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What it is called.
    pub title: String,
    /// What it teaches, in a few words.
    pub teaches: String,
    /// Where floats are at home.
    pub ring: Ring,
    /// So many floats have to come home.
    pub need: usize,
    /// With no more energy than this, in J/m, it is won with three stars, or two.
    pub stars: [f64; 2],
    /// Energy that there is, in J/m; as much as one likes if left out.
    pub budget: Option<f64>,
    /// What dragging does.
    #[serde(default)]
    pub hand: Hand,
    /// Where a ghost of a hand shows at first what to do.
    pub hint: Vec<[f64; 2]>,
}

/// A disc.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Its middle, in m.
    pub centre: [f64; 2],
    /// In m.
    pub radius: f64,
}

/// What dragging does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hand {
    /// It stirs.
    #[default]
    Stir,
    /// It draws modes, which keys set in motion.
    Draw,
}

/// What a body is in the game, by the beginning of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `float`: to be brought home.
    Float,
    /// `mine`: costs what it touches.
    Mine,
    /// All else.
    Body,
    /// What nothing moves.
    Solid,
}

impl Kind {
    /// The kind of a body with a name.
    pub fn of(name: &str) -> Self {
        match name {
            name if name.starts_with("float") => Self::Float,
            name if name.starts_with("mine") => Self::Mine,
            _ => Self::Body,
        }
    }
}

/// A body as rules see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Disc {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub centre: [f64; 2],
    /// How far it reaches.
    pub radius: f64,
}

/// How a game stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It goes on.
    #[default]
    Playing,
    /// Enough floats are at home.
    Won,
    /// Too few floats, or no energy, are left.
    Lost,
}

/// What became of a float.
#[derive(Clone, Debug, PartialEq)]
pub struct Fate {
    /// Its name.
    pub name: String,
    /// Where it was.
    pub centre: [f64; 2],
    /// Whether it is at home; it met a mine otherwise.
    pub is_home: bool,
}

/// A game that is played.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Game {
    /// How it stands.
    pub phase: Phase,
    /// Floats that are at home.
    pub home: usize,
    /// Floats that met mines.
    pub lost: usize,
    /// Energy that was put in, in J/m.
    pub spent: f64,
}

impl Game {
    /// Counts energy. What slows the water gives none back.
    pub fn spend(&mut self, energy: f64) {
        if self.phase == Phase::Playing {
            self.spent += energy.max(0.0);
        }
    }

    /// Looks where floats are; tells which of them are gone from now on. Bodies touch from a gap of `touch` on.
    pub fn look(&mut self, rules: &Rules, bodies: &[Disc], touch: f64) -> Vec<Fate> {
        if self.phase != Phase::Playing {
            return Vec::new();
        }
        let of = |kind: Kind| bodies.iter().filter(move |body| Kind::of(&body.name) == kind);
        let fate = |float: &Disc| {
            let is_home = distance(float.centre, rules.ring.centre) < rules.ring.radius;
            let meets =
                |mine: &Disc| distance(float.centre, mine.centre) < float.radius + mine.radius + touch;
            (is_home || of(Kind::Mine).any(meets)).then(|| Fate {
                name: float.name.clone(),
                centre: float.centre,
                is_home,
            })
        };
        let fates: Vec<Fate> = of(Kind::Float).filter_map(fate).collect();
        let home = fates.iter().filter(|fate| fate.is_home).count();
        self.home += home;
        self.lost += fates.len() - home;
        let left = of(Kind::Float).count() - fates.len();
        let is_spent = rules.budget.is_some_and(|budget| self.spent >= budget);
        if self.home >= rules.need {
            self.phase = Phase::Won;
        } else if self.home + left < rules.need || is_spent {
            self.phase = Phase::Lost;
        }
        fates
    }

    /// How many stars a game that is won has.
    pub fn stars(&self, rules: &Rules) -> u8 {
        match self.phase {
            Phase::Won => 1 + rules.stars.iter().map(|most| u8::from(self.spent <= *most)).sum::<u8>(),
            _ => 0,
        }
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(need: usize, budget: Option<f64>) -> Rules {
        Rules {
            title: String::new(),
            teaches: String::new(),
            ring: Ring { centre: [1.0, 0.5], radius: 0.1 },
            need,
            stars: [1.0, 2.0],
            budget,
            hand: Hand::Stir,
            hint: Vec::new(),
        }
    }

    fn disc(name: &str, centre: [f64; 2]) -> Disc {
        Disc { name: name.into(), centre, radius: 0.05 }
    }

    #[test]
    fn a_float_in_the_ring_is_home_and_one_at_a_mine_is_lost() {
        let mut game = Game::default();
        let bodies = [
            disc("float-1", [0.95, 0.5]),
            disc("float-2", [0.3, 0.5]),
            disc("mine", [0.405, 0.5]),
            disc("stone", [1.0, 0.5]),
        ];
        let fates = game.look(&rules(2, None), &bodies, 0.01);
        let names: Vec<_> = fates.iter().map(|fate| (fate.name.as_str(), fate.is_home)).collect();
        assert_eq!(names, [("float-1", true), ("float-2", false)]);
        assert_eq!((game.home, game.lost, game.phase), (1, 1, Phase::Lost));
    }

    #[test]
    fn less_energy_makes_more_stars_and_a_budget_ends_it() {
        for (spent, stars) in [(0.5, 3), (1.5, 2), (9.0, 1)] {
            let mut game = Game::default();
            game.spend(spent);
            game.spend(-5.0);
            game.look(&rules(1, None), &[disc("float", [1.0, 0.5])], 0.0);
            assert_eq!((game.phase, game.stars(&rules(1, None))), (Phase::Won, stars));
        }
        let mut game = Game::default();
        game.spend(3.0);
        game.look(&rules(1, Some(3.0)), &[disc("float", [0.2, 0.5])], 0.0);
        assert_eq!((game.phase, game.stars(&rules(1, None))), (Phase::Lost, 0));
    }
}
