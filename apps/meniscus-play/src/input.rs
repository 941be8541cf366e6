//! What a player does, as messages say it and as logs keep it.

use serde::{Deserialize, Serialize};

/// No message has more bytes.
pub const LONGEST_MESSAGE: usize = 8 * 1024;
/// Points of a stroke.
const MOST_POINTS: usize = 64;
/// The fastest stroke, in m/s.
const FASTEST: f64 = 3.0;
/// Names have at most so many bytes.
const LONGEST_NAME: usize = 64;

/// A message of a page: an input and its number, which frames tell back once it has been used.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Message {
    /// Its number: those of a page grow.
    pub seq: u32,
    /// What it asks for.
    #[serde(flatten)]
    pub request: Request,
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// Something of the world that is there.
    Input(Input),
    /// Another world, or that it halts.
    Command(Command),
}

/// What changes a world, and so is in its log. Lengths are in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Input {
    /// The water along a line is set in motion, all at once.
    Stir {
        /// The line.
        points: Vec<[f64; 2]>,
        /// What a long stroke gives the water on it, in m/s; of a short one every length adds its part.
        speed: f64,
    },
    /// A line becomes a mode.
    Draw {
        /// The line.
        points: Vec<[f64; 2]>,
    },
    /// A drawn mode is set in motion.
    Excite {
        /// Its name.
        mode: String,
        /// By how much, in m/s, as the root of the mean square over the box.
        amplitude: f64,
    },
    /// A drawn mode is given up.
    Forget {
        /// Its name.
        mode: String,
    },
    /// A body is let go.
    Drop {
        /// Where.
        at: [f64; 2],
        /// In kg/m³.
        density: f64,
        /// How large.
        radius: f64,
        /// Whether it is a box instead of a ball.
        #[serde(default, rename = "box")]
        is_box: bool,
    },
    /// A body is taken out.
    Take {
        /// Its name.
        body: String,
    },
    /// A setting is changed.
    Set {
        /// Which one.
        setting: Setting,
        /// To what.
        value: f64,
    },
}

/// What can be changed of the water.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// How many eigenmodes there are.
    Modes,
    /// The dynamic viscosity, in Pa s.
    Viscosity,
    /// In what time vortices leave bodies, in s.
    Shedding,
}

impl Setting {
    /// From the least to the most that it can be.
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Modes => [9.0, 400.0],
            Self::Viscosity => [0.0, 50.0],
            Self::Shedding => [0.1, 5.0],
        }
    }
}

/// What concerns the world as a whole.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Another world takes the place of this one.
    Open {
        /// `menu`, `free`, `scene` or the name of a level.
        world: String,
    },
    /// The world begins anew.
    Retry,
    /// Time halts, or goes on.
    Pause {
        /// Whether it halts.
        on: bool,
    },
}

/// Why a message is no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// More bytes than any message has.
    #[error("too long")]
    TooLong,
    /// No message of this kind.
    #[error("not understood")]
    Unknown,
    /// A number that is none, or far off what it can be.
    #[error("a number is out of range")]
    OutOfRange,
}

impl Message {
    /// Reads a message for a world of some size, with its numbers checked.
    pub fn parse(text: &str, size: [f64; 2]) -> Result<Self, BadMessage> {
        if text.len() > LONGEST_MESSAGE {
            return Err(BadMessage::TooLong);
        }
        let mut message: Self = serde_json::from_str(text).map_err(|_| BadMessage::Unknown)?;
        match &mut message.request {
            Request::Input(input) => input.check(size)?,
            Request::Command(Command::Open { world }) => check_name(world)?,
            Request::Command(_) => {}
        }
        Ok(message)
    }
}

impl Input {
    /// Refuses what makes no sense, and rounds numbers to a millionth: as such they are written and read again to the same bits.
    pub fn check(&mut self, size: [f64; 2]) -> Result<(), BadMessage> {
        match self {
            Self::Stir { points, speed } => {
                check_line(points, size)?;
                check(speed, [0.0, FASTEST])
            }
            Self::Draw { points } => check_line(points, size),
            Self::Excite { mode, amplitude } => {
                check_name(mode)?;
                check(amplitude, [-1.0, 1.0])
            }
            Self::Forget { mode: name } | Self::Take { body: name } => check_name(name),
            Self::Drop { at, density, radius, .. } => {
                check_point(at, size)?;
                check(density, [20.0, 20_000.0])?;
                check(radius, [0.02, 0.2])
            }
            Self::Set { setting, value } => check(value, setting.range()),
        }
    }

    /// Whether it changes the scene, and not only the flow: that takes long.
    pub fn is_heavy(&self) -> bool {
        !matches!(self, Self::Stir { .. } | Self::Excite { .. })
    }
}

fn check_line(points: &mut [[f64; 2]], size: [f64; 2]) -> Result<(), BadMessage> {
    if !(2..=MOST_POINTS).contains(&points.len()) {
        return Err(BadMessage::OutOfRange);
    }
    points.iter_mut().try_for_each(|point| check_point(point, size))
}

/// A point a little outside is moved to the side: pointers leave windows.
fn check_point(point: &mut [f64; 2], size: [f64; 2]) -> Result<(), BadMessage> {
    for (x, side) in point.iter_mut().zip(size) {
        check(x, [-side, 2.0 * side])?;
        *x = x.clamp(0.0, side);
    }
    Ok(())
}

fn check(x: &mut f64, [least, most]: [f64; 2]) -> Result<(), BadMessage> {
    if !(least..=most).contains(x) {
        return Err(BadMessage::OutOfRange);
    }
    *x = (*x * 1e6).round() / 1e6;
    Ok(())
}

fn check_name(name: &str) -> Result<(), BadMessage> {
    if name.is_empty() || name.len() > LONGEST_NAME { Err(BadMessage::OutOfRange) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [f64; 2] = [1.6, 0.9];

    #[test]
    fn messages_are_read() {
        let text = r#"{"seq":7,"do":"stir","points":[[0.1,0.2],[0.30000000001,2.0]],"speed":0.5}"#;
        let points = vec![[0.1, 0.2], [0.3, 0.9]];
        let input = Request::Input(Input::Stir { points, speed: 0.5 });
        // A little outside is inside; far outside is not.
        let within = text.replace("2.0]", "1.7]");
        assert_eq!(Message::parse(&within, SIZE), Ok(Message { seq: 7, request: input }));
        assert_eq!(Message::parse(text, SIZE), Err(BadMessage::OutOfRange));
        let retry = Message { seq: 1, request: Request::Command(Command::Retry) };
        assert_eq!(Message::parse(r#"{"seq":1,"do":"retry"}"#, SIZE), Ok(retry));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, why) in [
            ("", BadMessage::Unknown),
            ("[]", BadMessage::Unknown),
            (r#"{"seq":-1,"do":"retry"}"#, BadMessage::Unknown),
            (r#"{"seq":1,"do":"explode"}"#, BadMessage::Unknown),
            (r#"{"seq":1,"do":"stir","points":[[0,0],[1,1]],"speed":1e999}"#, BadMessage::Unknown),
            (r#"{"seq":1,"do":"stir","points":[[0,0],[1,1]],"speed":-1}"#, BadMessage::OutOfRange),
            (r#"{"seq":1,"do":"stir","points":[[0,0]],"speed":1}"#, BadMessage::OutOfRange),
            (r#"{"seq":1,"do":"set","setting":"modes","value":1e9}"#, BadMessage::OutOfRange),
            (r#"{"seq":1,"do":"drop","at":[0.5,0.5],"density":0,"radius":0.05}"#, BadMessage::OutOfRange),
        ] {
            assert_eq!(Message::parse(text, SIZE), Err(why), "{text}");
        }
        let long = format!(r#"{{"seq":1,"do":"retry"{}}}"#, " ".repeat(LONGEST_MESSAGE));
        assert_eq!(Message::parse(&long, SIZE), Err(BadMessage::TooLong));
    }

    #[test]
    fn what_is_rounded_is_read_as_it_was_written() {
        for k in 0..20_000 {
            let mut input =
                Input::Stir { points: vec![[f64::from(k) * 7.77e-5, 0.1], [0.3, 0.2]], speed: 1.0 };
            input.check(SIZE).expect("inside");
            let text = serde_json::to_string(&input).expect("plain data");
            assert_eq!(serde_json::from_str::<Input>(&text).expect("as written"), input);
        }
    }
}
