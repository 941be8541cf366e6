//! `meniscus play`: a small drawing tool and a game in the browser, on top of the reduced fluid.
//!
//! A [`Server`] on this machine runs a world, a scene of modes, in steps of 1/120 s, and serves the page that shows it. Pages send what players do over a
//! WebSocket, and get the coefficients of the flow and where bodies are sixty times a second; they make velocities, dye and particles of that by themselves.
//!
//! - All tabs show one world, and all can play in it. Without any tab, time halts; a tab that is loaded again goes on where it was.
//! - What players do is stamped with the step that uses it. [`replay`] plays the log again, to the same bits.
//! - The text of the scene is the state of all that can be set: drawn modes, bodies and settings are in it, so that saving is writing it down.
//!
//! Messages of pages are JSON texts, [`Message`]: a number `seq` and what is done ([`Input`], [`Command`]). What the server tells are [frames](mod@frame) in bytes and, as
//! JSON, what is there (`kind` is `world`) and how the game stands (`game`), whenever one of them changes.
//!
//! ```
//! use meniscus_play::{Engine, Input, levels, start};
//!
//! let mut engine = Engine::new(start(&levels()[0].name)?)?;
//! let stroke = Input::Stir { points: vec![[0.3, 0.45], [0.6, 0.45]], speed: 0.5 };
//! engine.apply(&stroke)?;
//! engine.step()?;
//! assert!(engine.velocity([0.5, 0.45])[0] > 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod edit;
mod engine;
pub mod frame;
mod guard;
mod input;
mod levels;
mod log;
mod page;
mod rules;
mod server;
mod things;
mod told;
mod world;

pub use engine::{Drawn, Engine, Event, RATE, Refused, Start, Unplayable, WorldError, playable};
pub use input::{BadMessage, Command, Input, Message, Request, Setting};
pub use levels::{Level, levels, start};
pub use log::{Log, ReplayError, Replayed, replay};
pub use rules::{Disc, Fate, Game, Hand, Kind, Phase, Ring, Rules};
pub use server::{Options, ServeError, Server};
pub use things::{Placed, Thing};
