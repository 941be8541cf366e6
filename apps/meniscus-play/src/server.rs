//! The server: pages, the connection that plays, and what can be downloaded.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, serve::ListenerExt};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::connection::{MOST_CONNECTIONS, converse};
use crate::engine::{Start, WorldError};
use crate::guard::Guard;
use crate::input::LONGEST_MESSAGE;
use crate::page;
use crate::world::{Order, Question, World};

/// How a server is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The scene to play with; the menu comes first without one.
    pub scene: Option<Start>,
    /// The port; a free one if 0.
    pub port: u16,
    /// The token; a new one if left out, which it should be outside of tests.
    pub token: Option<String>,
}

/// A server that does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The world does not begin.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The port is not to be had.
    #[error("cannot listen on port {port} of this machine")]
    Port {
        /// The port.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for a token: {0}")]
    NoToken(getrandom::Error),
}

/// A server that runs, until it is dropped.
pub struct Server {
    port: u16,
    token: String,
    world: World,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// What requests are answered from.
#[derive(Clone)]
struct App {
    guard: Arc<Guard>,
    world: World,
    connections: Arc<AtomicU64>,
    stop: watch::Receiver<bool>,
}

impl Server {
    /// Starts it, on threads of its own.
    pub fn start(options: Options) -> Result<Self, ServeError> {
        let Options { scene, port, token } = options;
        let at_port = |source| ServeError::Port { port, source };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = std::net::TcpListener::bind(address).map_err(at_port)?;
        listener.set_nonblocking(true).map_err(at_port)?;
        let port = listener.local_addr().map_err(at_port)?.port();
        let token = token.map_or_else(new_token, Ok)?;
        let (world, world_thread) = World::begin(scene)?;
        let (stop, stopped) = watch::channel(false);
        let app = App {
            guard: Arc::new(Guard::new(port, &token)),
            world: world.clone(),
            connections: Arc::default(),
            stop: stopped,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(at_port)?;
        let serving = std::thread::Builder::new().name("server".into()).spawn(move || {
            runtime.block_on(listen(listener, app));
        });
        let threads = vec![serving.map_err(at_port)?, world_thread];
        Ok(Self { port, token, world, stop, threads })
    }

    /// Where the page is. Whoever knows it can play: the token does not leave the browser with requests for pages.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.token)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        // The queue may be full for a moment.
        while !self.threads[1].is_finished() && !self.world.order(Order::End) {
            std::thread::yield_now();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// 128 bits in hexadecimal digits.
fn new_token() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ServeError::NoToken)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn listen(listener: std::net::TcpListener, app: App) {
    let mut stop = app.stop.clone();
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let listener = listener.tap_io(|stream| {
        // Small messages would wait for others otherwise. It plays without this too.
        let _ = stream.set_nodelay(true);
    });
    let serving = axum::serve(listener, routes(app));
    tokio::select! {
        _ = async { serving.await } => {}
        _ = stop.changed() => {}
    }
}

fn routes(app: App) -> Router {
    Router::new()
        .route("/play", get(play))
        .route("/log", get(log))
        .route("/scene", get(scene))
        .route("/velocities", get(velocities))
        .fallback(page::file)
        .layer(from_fn_with_state(app.clone(), check))
        .with_state(app)
}

/// Refuses strangers before anything else is looked at, and adds to each answer what browsers should refuse.
async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_page = page::has(request.uri().path());
    let mut response = match app.guard.admits(request.headers(), request.uri().query(), is_page) {
        Ok(()) => next.run(request).await,
        Err(why) => (StatusCode::FORBIDDEN, why).into_response(),
    };
    for (name, value) in app.guard.headers() {
        response.headers_mut().insert(name, value);
    }
    response
}

/// A page that was not let in asks again without an upgrade, to learn why.
async fn play(
    State(app): State<App>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if app.world.watchers.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many tabs play").into_response();
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(refusal) => return refusal.into_response(),
    };
    let connection = app.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let App { world, stop, .. } = app;
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    upgrade.on_upgrade(move |socket| converse(socket, connection, world, stop))
}

async fn log(State(app): State<App>) -> Response {
    download(app.world.ask(Question::Log).await, "application/jsonl", "the log became too long to be kept")
}

async fn scene(State(app): State<App>) -> Response {
    download(app.world.ask(Question::Scene).await, "application/toml", "there is no scene")
}

/// Points to ask at.
#[derive(Deserialize)]
struct At {
    /// `x,y;x,y` and so on, in m.
    at: String,
}

async fn velocities(State(app): State<App>, Query(At { at }): Query<At>) -> Response {
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite() && x.abs() < 1e3);
    let point = |text: &str| text.split_once(',').and_then(|(x, y)| Some([number(x)?, number(y)?]));
    let points: Option<Vec<[f64; 2]>> = at.split(';').take(64).map(point).collect();
    let Some(points) = points else { return StatusCode::BAD_REQUEST.into_response() };
    let told = app.world.ask(Question::Velocities(points)).await;
    download(told, "application/json", "the world is busy")
}

fn download(text: Option<String>, kind: &'static str, otherwise: &'static str) -> Response {
    match text {
        Some(text) => ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, otherwise).into_response(),
    }
}
