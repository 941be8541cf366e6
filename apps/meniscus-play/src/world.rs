//! The thread on which the world runs, and how connections reach it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use crate::engine::{Engine, RATE, Start, WorldError};
use crate::frame::{Frame, Halt};
use crate::input::{Command, Input, Message, Request};
use crate::levels;
use crate::log::Log;
use crate::told::{Notice, tell_game, tell_world};

/// Inputs that wait, at most: more are not taken.
const QUEUE: usize = 1024;
/// Steps to a frame.
const STEPS: u32 = 2;
/// A thread that is this late does not catch up.
const LATE: Duration = Duration::from_millis(50);
/// How long the pace is measured over.
const PACE: Duration = Duration::from_millis(500);

/// What the world is asked for.
pub enum Order {
    /// What a player does.
    Play {
        /// On which connection.
        connection: u64,
        /// What.
        message: Message,
    },
    /// A connection is no more.
    Left(u64),
    /// To tell something.
    Tell(Question, oneshot::Sender<Option<String>>),
    /// To end.
    End,
}

/// What can be asked.
pub enum Question {
    /// The log.
    Log,
    /// The scene as it is now.
    Scene,
    /// The velocities at points, and the step that they are of.
    Velocities(Vec<[f64; 2]>),
}

/// The world as connections see it.
#[derive(Clone)]
pub struct World {
    orders: SyncSender<Order>,
    /// The latest frame.
    pub frames: watch::Receiver<Arc<Frame>>,
    /// What is there.
    pub told: watch::Receiver<Arc<str>>,
    /// How the game stands.
    pub game: watch::Receiver<Arc<str>>,
    /// Connections: without any, time halts.
    pub watchers: Arc<AtomicUsize>,
}

impl World {
    /// Starts the thread, in the world of a scene or the menu.
    pub fn begin(scene: Option<Start>) -> Result<(Self, JoinHandle<()>), WorldError> {
        let start = match &scene {
            Some(start) => start.clone(),
            None => levels::start("menu")?,
        };
        let engine = Engine::new(start)?;
        let (orders, inbox) = sync_channel(QUEUE);
        let (to_frames, frames) = watch::channel(Arc::default());
        let (to_told, told) = watch::channel(Arc::from(""));
        let (to_game, game) = watch::channel(Arc::from(""));
        let watchers = Arc::new(AtomicUsize::new(0));
        let mut keeper = Keeper {
            log: Log::new(engine.start()),
            engine,
            scene,
            kept: BTreeMap::new(),
            number: 1,
            is_paused: false,
            waits: false,
            is_other: false,
            used: BTreeMap::new(),
            notice: Notice::default(),
            pace: Pace::new(),
            inbox,
            watchers: watchers.clone(),
            to_frames,
            to_told,
            to_game,
        };
        keeper.publish();
        let thread = std::thread::Builder::new().name("world".into()).spawn(move || keeper.run());
        let thread = thread.expect("a thread can be started");
        Ok((Self { orders, frames, told, game, watchers }, thread))
    }

    /// Asks for something; says whether it was taken.
    pub fn order(&self, order: Order) -> bool {
        !matches!(self.orders.try_send(order), Err(TrySendError::Full(_) | TrySendError::Disconnected(_)))
    }

    /// Waits for an answer.
    pub async fn ask(&self, question: Question) -> Option<String> {
        let (reply, answer) = oneshot::channel();
        self.order(Order::Tell(question, reply)).then_some(())?;
        answer.await.ok()?
    }
}

/// The thread.
struct Keeper {
    engine: Engine,
    log: Log,
    scene: Option<Start>,
    /// Worlds without rules that were left, to go on in.
    kept: BTreeMap<String, (Engine, Log)>,
    number: u32,
    is_paused: bool,
    /// Whether a level waits for the first touch.
    waits: bool,
    /// Whether another world is here than pages were told of.
    is_other: bool,
    used: BTreeMap<u64, u32>,
    notice: Notice,
    pace: Pace,
    inbox: Receiver<Order>,
    watchers: Arc<AtomicUsize>,
    to_frames: watch::Sender<Arc<Frame>>,
    to_told: watch::Sender<Arc<str>>,
    to_game: watch::Sender<Arc<str>>,
}

impl Keeper {
    fn run(&mut self) {
        let interval = Duration::from_secs_f64(1.0 / RATE);
        let mut due = Instant::now();
        loop {
            let halts = self.halts() || self.watchers.load(Ordering::Relaxed) == 0;
            let now = Instant::now();
            if halts {
                due = now + Duration::from_millis(20);
                self.pace.reset();
            }
            match self.inbox.recv_timeout(due.saturating_duration_since(now)) {
                Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(order) => {
                    let is_other = self.follow(order);
                    let halts = halts || self.halts();
                    // No step will show it.
                    if is_other && halts {
                        self.publish();
                    }
                    // However many orders there are, steps are taken in time.
                    if halts || Instant::now() < due {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) if halts => continue,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.step();
            due = if due.elapsed() > LATE { Instant::now() } else { due + interval };
        }
    }

    fn halts(&self) -> bool {
        self.is_paused || self.waits
    }

    fn step(&mut self) {
        self.guarded(|keeper| keeper.engine.step().map_err(|refused| refused.0));
        self.pace.step();
        if self.engine.step_number().is_multiple_of(STEPS) {
            self.publish();
        }
    }

    /// Does something with the engine; tells players what it refuses. A panic in it makes the world begin anew.
    fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<(), String>) {
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => self.tell(refusal),
            Err(_) => {
                self.begin_anew();
                self.tell("something went wrong here: the world begins anew".into());
            }
        }
    }

    fn tell(&mut self, text: String) {
        self.notice = Notice { number: self.notice.number + 1, text };
    }

    /// Does what it is asked; says whether something may look different.
    fn follow(&mut self, order: Order) -> bool {
        match order {
            Order::Play { connection, message: Message { seq, request } } => {
                self.guarded(|keeper| keeper.heed(request));
                self.used.insert(connection, seq);
                true
            }
            Order::Left(connection) => {
                self.used.remove(&connection);
                false
            }
            Order::Tell(question, reply) => {
                // Whoever asked may have left.
                let _ = reply.send(self.answer(question));
                false
            }
            Order::End => false,
        }
    }

    fn heed(&mut self, request: Request) -> Result<(), String> {
        match request {
            Request::Input(input) => self.play(&input),
            Request::Command(Command::Pause { on }) => {
                self.is_paused = on;
                Ok(())
            }
            Request::Command(Command::Retry) => {
                self.begin_anew();
                Ok(())
            }
            Request::Command(Command::Open { world }) => self.open(&world),
        }
    }

    fn play(&mut self, input: &Input) -> Result<(), String> {
        // It was checked for the box of the frame that its page had seen.
        let mut input = input.clone();
        input.check(self.engine.size()).map_err(|error| error.to_string())?;
        self.waits = false;
        self.log.note(self.engine.step_number(), &input);
        self.engine.apply(&input).map_err(|refused| refused.0)
    }

    /// Goes to another world, or on in one that was left.
    fn open(&mut self, name: &str) -> Result<(), String> {
        let to = match self.kept.remove(name) {
            Some(kept) => kept,
            None => {
                let given = self.scene.as_ref().filter(|_| name == "scene").cloned();
                let start = given.map_or_else(|| levels::start(name), Ok);
                begun(start.map_err(|error| error.to_string())?)?
            }
        };
        let (left, log) = self.take(to);
        let start = left.start();
        // A page that opens the world that is there wants it from its beginning.
        if start.rules.is_none() && start.name != "menu" && start.name != name {
            self.kept.insert(start.name.clone(), (left, log));
        }
        Ok(())
    }

    fn begin_anew(&mut self) {
        match begun(self.engine.start().clone()) {
            Ok(to) => drop(self.take(to)),
            Err(refusal) => self.tell(refusal),
        }
    }

    /// Shows such a world from now on; gives the one that was here.
    fn take(&mut self, (engine, log): (Engine, Log)) -> (Engine, Log) {
        self.number += 1;
        self.is_paused = false;
        self.waits = engine.rules().is_some();
        self.is_other = true;
        (std::mem::replace(&mut self.engine, engine), std::mem::replace(&mut self.log, log))
    }

    fn answer(&self, question: Question) -> Option<String> {
        match question {
            Question::Log => self.log.until_now(&self.engine),
            Question::Scene => Some(self.engine.scene_text()),
            Question::Velocities(points) => {
                let velocities: Vec<[f64; 2]> =
                    points.into_iter().map(|point| self.engine.velocity(point)).collect();
                let told = serde_json::json!({ "step": self.engine.step_number(), "velocities": velocities });
                Some(told.to_string())
            }
        }
    }

    /// Shows connections this moment, and what is new of all else.
    fn publish(&mut self) {
        let used = self.used.iter().map(|(connection, seq)| (*connection, *seq)).collect();
        let halt = match (self.is_paused, self.waits) {
            (true, _) => Halt::Paused,
            (false, true) => Halt::Waits,
            (false, false) => Halt::No,
        };
        let frame = Frame::new(&self.engine, self.number, self.pace.latest, halt, used);
        self.to_frames.send_replace(Arc::new(frame));
        if self.engine.has_changed() | std::mem::take(&mut self.is_other) {
            let scene = self.scene.as_ref().map(|start| start.scene.name());
            self.to_told.send_replace(tell_world(&self.engine, self.number, scene).into());
        }
        let game = tell_game(&self.engine, self.number, self.is_paused, &self.notice);
        self.to_game.send_if_modified(|told| {
            let is_new = **told != *game;
            if is_new {
                *told = game.into();
            }
            is_new
        });
    }
}

/// A world at its beginning, with a log for it.
fn begun(start: Start) -> Result<(Engine, Log), String> {
    let engine = Engine::new(start).map_err(|error| error.to_string())?;
    let log = Log::new(engine.start());
    Ok((engine, log))
}

/// Simulated time over time.
struct Pace {
    since: Instant,
    steps: u32,
    latest: f32,
}

impl Pace {
    fn new() -> Self {
        Self { since: Instant::now(), steps: 0, latest: 1.0 }
    }

    fn reset(&mut self) {
        (self.since, self.steps) = (Instant::now(), 0);
    }

    fn step(&mut self) {
        self.steps += 1;
        let passed = self.since.elapsed();
        if passed > PACE {
            self.latest = (f64::from(self.steps) / RATE / passed.as_secs_f64()) as f32;
            self.reset();
        }
    }
}
