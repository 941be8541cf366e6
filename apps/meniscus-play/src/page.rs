//! The files of the page, which are part of the program.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../web", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = &files![
    "/index.html",
    "/icon.svg",
    "/style.css",
    "/main.js",
    "/net.js",
    "/state.js",
    "/kept.js",
    "/input.js",
    "/ui.js",
    "/sound.js",
    "/gl.js",
    "/water.js",
    "/bodies.js",
    "/canvas.js",
    "/quality.js",
    "/shaders/quad.vert",
    "/shaders/rows.frag",
    "/shaders/flow.frag",
    "/shaders/solid.vert",
    "/shaders/solid.frag",
    "/shaders/dye.frag",
    "/shaders/splat.frag",
    "/shaders/move.vert",
    "/shaders/point.vert",
    "/shaders/point.frag",
    "/shaders/fade.frag",
    "/shaders/scene.frag",
    "/shaders/compose.frag",
    "/shaders/body.frag",
];

fn path_of(path: &str) -> &str {
    if path == "/" { "/index.html" } else { path }
}

fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path_of(path)).map(|(_, text)| *text)
}

/// Whether there is such a file.
pub fn has(path: &str) -> bool {
    text(path).is_some()
}

/// The answer to a request for a file.
pub async fn file(uri: Uri) -> Response {
    let kind = match path_of(uri.path()).rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    match text(uri.path()) {
        Some(text) => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
