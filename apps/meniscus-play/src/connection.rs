//! A tab that plays.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message as Packet, WebSocket};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::input::{Message, Request};
use crate::world::{Order, World};

/// Tabs that play at once.
pub const MOST_CONNECTIONS: usize = 8;
/// Frames on their way to a tab: what it has not taken yet is not followed by more, so that it always gets the latest.
const ON_THE_WAY: u32 = 2;
/// A tab that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Inputs a second, and how many may come at once: of those that stir, and of those that change the scene.
const LIGHT: [f64; 2] = [240.0, 240.0];
const HEAVY: [f64; 2] = [20.0, 40.0];

/// Plays with a tab until it leaves.
pub async fn converse(mut socket: WebSocket, connection: u64, world: World, stop: watch::Receiver<bool>) {
    world.watchers.fetch_add(1, Ordering::Relaxed);
    serve(&mut socket, connection, &world, stop).await;
    world.watchers.fetch_sub(1, Ordering::Relaxed);
    // If the queue is full, the number of a connection that is gone stays in frames.
    world.order(Order::Left(connection));
}

/// What ends when the tab, the server or the way between them does.
async fn serve(
    socket: &mut WebSocket,
    connection: u64,
    world: &World,
    mut stop: watch::Receiver<bool>,
) -> Option<()> {
    let World { mut frames, mut told, mut game, .. } = world.clone();
    let mut free = ON_THE_WAY;
    let mut limits = Limits { light: Bucket::new(LIGHT), heavy: Bucket::new(HEAVY) };
    for channel in [&mut told, &mut game] {
        channel.mark_changed();
    }
    frames.mark_changed();
    loop {
        tokio::select! {
            biased;
            _ = stop.changed() => return None,
            packet = socket.recv() => match packet?.ok()? {
                Packet::Text(text) => hear(&text, connection, world, &mut limits),
                // A frame was taken.
                Packet::Binary(_) => free = (free + 1).min(ON_THE_WAY),
                Packet::Close(_) => return None,
                Packet::Ping(_) | Packet::Pong(_) => {}
            },
            changed = told.changed() => {
                changed.ok()?;
                let text = told.borrow_and_update().to_string();
                send(socket, Packet::Text(text.into())).await?;
            }
            changed = game.changed() => {
                changed.ok()?;
                let text = game.borrow_and_update().to_string();
                send(socket, Packet::Text(text.into())).await?;
            }
            changed = frames.changed(), if free > 0 => {
                changed.ok()?;
                let bytes = frames.borrow_and_update().for_connection(connection);
                free -= 1;
                send(socket, Packet::Binary(bytes.into())).await?;
            }
        }
    }
}

async fn send(socket: &mut WebSocket, packet: Packet) -> Option<()> {
    timeout(PATIENCE, socket.send(packet)).await.ok()?.ok()
}

/// Passes on what can be understood, unless there is too much of it.
fn hear(text: &str, connection: u64, world: &World, limits: &mut Limits) {
    let size = world.frames.borrow().size;
    let Ok(message) = Message::parse(text, size) else { return };
    let is_heavy = match &message.request {
        Request::Input(input) => input.is_heavy(),
        Request::Command(_) => true,
    };
    let bucket = if is_heavy { &mut limits.heavy } else { &mut limits.light };
    if bucket.takes() {
        // What does not fit into the queue is lost, as what is too much is.
        world.order(Order::Play { connection, message });
    }
}

struct Limits {
    light: Bucket,
    heavy: Bucket,
}

/// Lets so many through in a second.
struct Bucket {
    rate: f64,
    most: f64,
    left: f64,
    since: Instant,
}

impl Bucket {
    fn new([rate, most]: [f64; 2]) -> Self {
        Self { rate, most, left: most, since: Instant::now() }
    }

    fn takes(&mut self) -> bool {
        let now = Instant::now();
        self.left = (self.left + self.rate * now.duration_since(self.since).as_secs_f64()).min(self.most);
        self.since = now;
        let takes = self.left >= 1.0;
        self.left -= if takes { 1.0 } else { 0.0 };
        takes
    }
}
