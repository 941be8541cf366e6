//! What pages are told sixty times a second, in bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | `MPF1` |
//! | 4..8 | the number of the world, `u32` |
//! | 8..12 | steps taken, `u32` |
//! | 12..16 | the number of the last input of this page that was used, `u32` |
//! | 16..20 | the energy that was put in, in J/m, `f32` |
//! | 20..24 | simulated time over time, `f32` |
//! | 24..26 | bodies and solids, `u16` |
//! | 26..28 | waves along x, `u16` |
//! | 28..30 | waves along y, `u16` |
//! | 30 | 1 if time halts, 2 if a level waits for the first touch |
//! | 31 | nothing |
//!
//! Then for each body its number (`u16`), nothing (`u16`), and its x, y (m) and angle as `f32`; and for each wave along x the coefficients of
//! all along y, of vorticity in 1/s, as `f32`. All is little-endian.

use crate::engine::Engine;

/// Where the number of the last input stands.
const SEQ: std::ops::Range<usize> = 12..16;

/// Whether time halts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It goes on.
    No = 0,
    /// A player wants it to.
    Paused = 1,
    /// A level waits for the first touch.
    Waits = 2,
}

/// A moment of a world.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    bytes: Vec<u8>,
    /// The last inputs that were used, by connection.
    used: Vec<(u64, u32)>,
    /// The sides of the box, in m.
    pub size: [f64; 2],
}

impl Frame {
    /// Of a world now.
    pub fn new(engine: &Engine, world: u32, pace: f32, halt: Halt, used: Vec<(u64, u32)>) -> Self {
        let counts = engine.counts();
        let placed = engine.placed();
        let waves = engine.waves();
        let mut bytes = Vec::with_capacity(32 + 16 * placed.len() + 4 * waves.len());
        bytes.extend(b"MPF1");
        for number in [world, engine.step_number(), 0] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [engine.game().spent as f32, pace] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [placed.len(), counts[0], counts[1], halt as usize] {
            bytes.extend((number as u16).to_le_bytes());
        }
        for (thing, placed) in engine.things().iter().zip(&placed) {
            bytes.extend(thing.id.to_le_bytes());
            bytes.extend([0, 0]);
            for number in [placed.centre[0], placed.centre[1], placed.angle] {
                bytes.extend((number as f32).to_le_bytes());
            }
        }
        bytes.extend(waves.iter().flat_map(|wave| (*wave as f32).to_le_bytes()));
        Self { bytes, used, size: engine.size() }
    }

    /// The bytes for a page.
    pub fn for_connection(&self, connection: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let own = self.used.iter().find(|(id, _)| *id == connection);
        bytes[SEQ].copy_from_slice(&own.map_or(0, |(_, seq)| *seq).to_le_bytes());
        bytes
    }
}
