//! Every level can be won, by players who do nothing but what a page lets them do, and lost where that is the point.

// What was measured is told; nothing is asked of it.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;

use meniscus_play::{Engine, Game, Input, Kind, Phase, levels, start};

/// Steps that a player has, at most.
const PATIENCE: u32 = 2700;
/// Steps from one stroke to the next.
const PAUSE: u32 = 6;

/// A player leads each float along some points to the ring, one float after the other.
struct Player {
    ways: BTreeMap<&'static str, Vec<[f64; 2]>>,
    order: Vec<&'static str>,
    /// The speed that floats should have, in m/s.
    pace: f64,
    /// Whether the player sees mines.
    is_careful: bool,
}

impl Player {
    fn new(pace: f64, ways: &[(&'static str, &[[f64; 2]])]) -> Self {
        let order = ways.iter().map(|(name, _)| *name).collect();
        Self {
            ways: ways.iter().map(|(name, way)| (*name, way.to_vec())).collect(),
            order,
            pace,
            is_careful: false,
        }
    }

    /// What the player does now, if anything.
    fn stroke(&mut self, engine: &Engine) -> Option<Input> {
        let ring = engine.rules()?.ring.centre;
        let placed = engine.placed();
        let find = |name: &str| {
            let found = engine.things().iter().position(|thing| thing.name == name)?;
            Some(placed[found].centre)
        };
        let (name, at) = self.order.iter().find_map(|name| Some((*name, find(name)?)))?;
        let way = self.ways.get_mut(name)?;
        if way.first().is_some_and(|next| far(*next, at) < 0.09) {
            way.remove(0);
        }
        let to = way.first().copied().unwrap_or(ring);
        let left = far(at, to).max(1e-9);
        let mut towards = [0, 1].map(|axis| (to[axis] - at[axis]) / left);
        if self.is_careful {
            // Away from mines, the more the nearer.
            for (thing, mine) in
                engine.things().iter().zip(&placed).filter(|(thing, _)| thing.kind == Kind::Mine)
            {
                let gap = (far(at, mine.centre) - thing.radius - 0.045).max(0.01);
                let push = (0.05 / gap).powi(2).min(4.0);
                let away = far(at, mine.centre);
                towards = [0, 1].map(|axis| towards[axis] + push * (at[axis] - mine.centre[axis]) / away);
            }
            let size = towards[0].hypot(towards[1]).max(1.0);
            towards = towards.map(|component| component / size);
        }
        let pace = self.pace * (left / 0.15).clamp(0.35, 1.0);
        let now = engine.body_velocity(name)?;
        let missing = [0, 1].map(|axis| pace * towards[axis] - now[axis]);
        let speed = missing[0].hypot(missing[1]);
        if speed < 0.25 * pace {
            return None;
        }
        let along = missing.map(|v| 0.07 * v / speed);
        let points = vec![[at[0] - along[0], at[1] - along[1]], [at[0] + along[0], at[1] + along[1]]];
        Some(Input::Stir { points, speed: speed.min(0.6) })
    }
}

fn far(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Plays a level to its end.
fn play(level: &str, mut hand: impl FnMut(&mut Engine)) -> (Game, u8, u32) {
    let mut engine = Engine::new(start(level).expect("a level")).expect("it begins");
    while engine.game().phase == Phase::Playing && engine.step_number() < PATIENCE {
        if engine.step_number().is_multiple_of(PAUSE) {
            hand(&mut engine);
        }
        engine.step().expect("no step fails");
    }
    let stars = engine.game().stars(engine.rules().expect("rules"));
    println!("{level}: {:?}, {stars} stars, {:.1} s", engine.game(), f64::from(engine.step_number()) / 120.0);
    (engine.game().clone(), stars, engine.step_number())
}

fn lead(level: &str, mut player: Player) -> (Game, u8, u32) {
    play(level, |engine| {
        if let Some(input) = player.stroke(engine) {
            engine.apply(&input).expect("allowed");
        }
    })
}

#[test]
fn level_1_is_won_by_leading_the_float() {
    let (game, stars, _) = lead("first-light", Player::new(0.25, &[("float-1", &[])]));
    assert_eq!((game.phase, stars), (Phase::Won, 3));
}

#[test]
fn level_2_is_won_by_pushing_floats_down() {
    let (game, stars, _) = lead("deep-end", Player::new(0.25, &[("float-1", &[]), ("float-2", &[])]));
    assert_eq!((game.phase, stars), (Phase::Won, 3));
}

/// Draws a stream through the gap, and sets it in motion once a second.
#[test]
fn level_3_is_won_by_a_stream_that_is_drawn() {
    let (game, stars, _) = play("the-gap", |engine| {
        let (mode, amplitude) = ("drawn-1".into(), 0.11);
        match engine.step_number() {
            0 => engine
                .apply(&Input::Draw { points: vec![[0.2, 0.45], [1.2, 0.45]] })
                .expect("it can be drawn"),
            step if step % 120 == 6 => engine.apply(&Input::Excite { mode, amplitude }).expect("it is there"),
            _ => {}
        }
    });
    assert_eq!((game.phase, stars), (Phase::Won, 3));
}

#[test]
fn level_3_is_not_for_hands_that_stir() {
    let mut engine = Engine::new(start("the-gap").expect("a level")).expect("it begins");
    let stroke = Input::Stir { points: vec![[0.3, 0.45], [0.5, 0.45]], speed: 0.5 };
    assert!(engine.apply(&stroke).is_err());
    assert_eq!(engine.game().spent, 0.0);
}

#[test]
fn level_4_is_won_around_the_mines() {
    let below: &[[f64; 2]] = &[[0.6, 0.45], [0.85, 0.28], [1.1, 0.35]];
    let (game, stars, _) = lead("minefield", Player::new(0.25, &[("float-2", below), ("float-1", below)]));
    assert_eq!((game.phase, game.lost, stars), (Phase::Won, 0, 3));
}

#[test]
fn level_4_is_lost_through_the_mines() {
    let (below, above): (&[[f64; 2]], &[[f64; 2]]) = (&[[0.75, 0.2]], &[[0.7, 0.72]]);
    let ways = [("float-1", below), ("float-3", above), ("float-2", &[[0.7, 0.45], [0.95, 0.5]][..])];
    let (game, _, _) = lead("minefield", Player::new(0.3, &ways));
    assert_eq!((game.phase, game.lost), (Phase::Lost, 2));
}

#[test]
fn level_5_is_won_past_the_mill() {
    let (above, below): (&[[f64; 2]], &[[f64; 2]]) = (&[[0.8, 0.8]], &[[0.8, 0.1]]);
    let (game, stars, _) = lead("the-mill", Player::new(0.25, &[("float-1", above), ("float-2", below)]));
    assert_eq!((game.phase, stars >= 2), (Phase::Won, true));
}

#[test]
fn level_6_is_won_in_a_whirl() {
    let ways: [(&'static str, &[[f64; 2]]); 4] =
        [("float-1", &[]), ("float-2", &[]), ("float-3", &[]), ("float-4", &[])];
    let (game, stars, _) = lead("maelstrom", Player { is_careful: true, ..Player::new(0.35, &ways) });
    assert_eq!((game.phase, stars >= 2), (Phase::Won, true));
}

#[test]
fn level_6_is_lost_by_waste() {
    let (game, _, _) = play("maelstrom", |engine| {
        let points = vec![[0.1, 0.08], [0.8, 0.05], [1.5, 0.08]];
        // Until the water is too fast.
        let _ = engine.apply(&Input::Stir { points, speed: 0.9 });
    });
    assert_eq!(game.phase, Phase::Lost);
}

#[test]
fn nothing_is_won_by_doing_nothing() {
    for level in levels() {
        let mut engine = Engine::new(start(&level.name).expect("a level")).expect("it begins");
        for _ in 0..600 {
            engine.step().expect("no step fails");
        }
        assert_ne!(engine.game().phase, Phase::Won, "{}", level.name);
        assert_eq!(engine.game().spent, 0.0);
    }
}
