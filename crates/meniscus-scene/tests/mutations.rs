//! Whatever the text, reading a scene gives a scene or an explanation, soon.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::report;
use meniscus_scene::{Scene, gallery};

/// A small generator of random numbers (xorshift64*), so that every machine tries the same texts.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }

    fn choose<'a, T: ?Sized>(&mut self, options: &[&'a T]) -> &'a T {
        options[self.below(options.len())]
    }
}

const NUMBERS: [&str; 16] = [
    "1e308",
    "-1e308",
    "-1",
    "0",
    "-0.0",
    "nan",
    "-inf",
    "99999999999",
    "9223372036854775807",
    "1e-320",
    "1e12",
    "-1e12",
    "1e-12",
    "4096",
    "0.5",
    "99999999999999999999",
];
const WORDS: [&str; 20] = [
    "box",
    "sphere",
    "complement",
    "shell",
    "transform",
    "[[solid]]\n",
    "[domain]\n",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\u{e9}\u{1f30a}",
    "\0",
    "#",
];

/// Cuts a text where numbers, words, spaces and other characters meet.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        '0'..='9' | '.' | '-' | '+' => 0,
        'a'..='z' | 'A'..='Z' | '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 3,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut previous = None;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(token) if previous == Some(kind(c)) && kind(c) != 3 => token.push(c),
            _ => tokens.push(c.into()),
        }
        previous = Some(kind(c));
    }
    tokens
}

fn mutated(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..=random.below(4) {
        let at = random.below(tokens.len());
        let is_number = |token: &String| token.parse::<f64>().is_ok();
        match random.below(8) {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, tokens[at].clone()),
            2 => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
            3 => tokens.insert(at, random.choose(&WORDS).into()),
            4 => tokens[at] = random.choose(&WORDS).into(),
            // Most often numbers, since they reach deepest.
            5 | 6 => {
                let numbers: Vec<usize> = (0..tokens.len()).filter(|&i| is_number(&tokens[i])).collect();
                if !numbers.is_empty() {
                    tokens[numbers[random.below(numbers.len())]] = random.choose(&NUMBERS).into();
                }
            }
            _ => {
                let end = (at + random.below(60)).min(tokens.len());
                let piece = tokens[at..end].to_vec();
                let target = random.below(tokens.len());
                tokens.splice(target..target, piece);
            }
        }
        if tokens.is_empty() {
            tokens.push("x".into());
        }
    }
    let mut bytes = tokens.concat().into_bytes();
    if random.below(4) == 0 {
        let at = random.below(bytes.len());
        bytes[at] = random.below(256) as u8;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the text, takes the setup or makes the report; true if the scene is valid.
fn try_text(text: &str, overrides: &[String]) -> bool {
    let start = Instant::now();
    let valid = match Scene::parse("mutated.toml", text, Path::new("tests/scenes"), overrides) {
        Ok(scene) => {
            let cells: usize = match scene.dimension() {
                2 => scene.setup::<2>().grid.cells.iter().product(),
                _ => scene.setup::<3>().grid.cells.iter().product(),
            };
            assert!((1..=1 << 30).contains(&cells));
            let remarks = scene.warnings().iter().chain(scene.hints());
            remarks.for_each(|remark| assert!(!report(remark).is_empty()));
            true
        }
        Err(error) => {
            assert!(!error.problems().is_empty(), "an error without a reason:\n{text}");
            assert!(!report(&error).is_empty());
            false
        }
    };
    assert!(start.elapsed() < Duration::from_secs(5), "{:?} for\n{text}", start.elapsed());
    valid
}

#[test]
fn mutated_scenes_never_panic() {
    let everything = include_str!("scenes/everything.toml");
    let texts: Vec<&str> = gallery::names().filter_map(gallery::text).chain([everything]).collect();
    let mut random = Random(0x5EED);
    let mut valid = 0;
    let count = 10_000;
    for _ in 0..count {
        let text = mutated(random.choose(&texts), &mut random);
        valid += usize::from(try_text(&text, &[]));
    }
    assert!(
        (count / 10..count * 9 / 10).contains(&valid),
        "{valid} of {count} are valid: not a good mixture"
    );
}

#[test]
fn mutated_overrides_never_panic_and_agree_with_their_text() {
    let good = [
        "domain.cells=32",
        "domain.size=[2.0, 0.8, 0.8]",
        "liquid[0].shape.box.to=[0.5, 0.5, 0.8]",
        "solid[0].motion={keyframes=[{time=0},{time=1,degrees=90}]}",
        "solid.0.name=paddle",
        "render.camera.from[1]=2",
        "particles={transfer=\"flip\"}",
        "probe[0]={name=\"a\",kind=\"front\",direction=\"+x\"}",
        "source=[{shape={sphere={centre=[0.5,0.5,0.5],radius=0.1}},velocity=[0,1,0]}]",
    ];
    let text = gallery::text("dam-break").expect("a scene");
    let mut random = Random(7);
    let mut valid = 0;
    for round in 0..3000 {
        let mut overrides: Vec<String> =
            (0..=random.below(2)).map(|_| random.choose(&good).to_owned()).collect();
        let untouched = round < 500;
        if !untouched {
            overrides[0] = mutated(&overrides[0], &mut random);
        }
        if try_text(text, &overrides) {
            valid += 1;
            let scene = Scene::parse("mutated.toml", text, Path::new(""), &overrides).expect("a scene");
            let again = Scene::parse("again.toml", scene.source_text(), Path::new(""), &[])
                .unwrap_or_else(|error| panic!("{overrides:?}: {}\n{}", report(&error), scene.source_text()));
            assert_eq!(again.content(), scene.content(), "{overrides:?}\n{}", scene.source_text());
        } else {
            assert!(!untouched, "{overrides:?}");
        }
    }
    assert!(valid > 600, "only {valid} overrides are valid");
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!(
            "[domain]\nsize = [1, 1]\ncells = 8\n[[liquid]]\nshape = {}{inner}{}\n",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let disc = "{ sphere = { centre = [0.5, 0.5], radius = 0.2 } }";
    assert!(try_text(&nested("{ union = [", disc, "] }", 20), &[]));
    for depth in [40, 100, 10_000] {
        assert!(!try_text(&nested("{ union = [", disc, "] }", depth), &[]));
        assert!(!try_text(&nested("{ complement = ", disc, " }", 2 * depth), &[]));
        assert!(!try_text(&nested("[", "1", "]", 2 * depth), &[]));
        assert!(!try_text(&format!("{}a = 1", "a.".repeat(depth)), &[]));
        assert!(!try_text("", &[format!("{}a=1", "a.".repeat(depth))]));
        assert!(!try_text("", &[format!("a={}", "[".repeat(depth))]));
    }
}

#[test]
fn large_scenes_are_checked_soon() {
    let mut text = String::from("[domain]\nsize = [1, 1, 1]\ncells = 64\n");
    for i in 0..300 {
        let x = f64::from(i) / 300.0;
        text += &format!("[[liquid]]\nshape = {{ box = {{ from = [{x}, 0, 0], to = [1, 1, 1] }} }}\n");
        text += &format!("[[solid]]\nshape = {{ sphere = {{ centre = [{x}, 0.5, 0.5], radius = 0.3 }} }}\n");
    }
    assert!(try_text(&text, &[]));
}
