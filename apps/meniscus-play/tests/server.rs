//! The server without a browser: who is let in, what it does with nonsense, and that logs play again to the same bits.

// What was measured is told; nothing is asked of it.
#![allow(clippy::print_stdout)]

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use meniscus_play::{Engine, Input, Log, Options, Phase, Server, Setting, replay, start};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Nothing that is waited for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn serve() -> Server {
    Server::start(Options::default()).expect("it starts")
}

/// A page without a browser.
struct Page {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    /// The latest of what was told as JSON, and frames.
    world: Value,
    game: Value,
    frame: Vec<u8>,
}

impl Page {
    fn open(server: &Server) -> Self {
        let address = format!("ws://127.0.0.1:{}/play?token={}", server.port(), server.token());
        let (socket, _) = tungstenite::connect(address).expect("it answers");
        let MaybeTlsStream::Plain(stream) = socket.get_ref() else { panic!("a plain connection") };
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a time that is none");
        Self { socket, world: Value::Null, game: Value::Null, frame: Vec::new() }
    }

    fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).expect("it listens");
    }

    /// Takes the next message, if one comes: a world that halts has none. Frames are acknowledged.
    fn take(&mut self) {
        let message = match self.socket.read() {
            Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return,
            message => message.expect("it speaks"),
        };
        match message {
            Message::Text(text) => {
                let told: Value = serde_json::from_str(&text).expect("JSON");
                if told["kind"] == "world" { self.world = told } else { self.game = told }
            }
            Message::Binary(bytes) => {
                self.frame = bytes.to_vec();
                self.socket.send(Message::binary(vec![0])).expect("it listens");
            }
            _ => {}
        }
    }

    fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        while !holds(self) {
            assert!(since.elapsed() < PATIENCE, "{what}");
            self.take();
        }
    }

    fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.frame.get(at..at + 4).map_or([0; 4], |bytes| bytes.try_into().expect("four")))
    }

    fn step(&self) -> u32 {
        self.number(8)
    }

    fn seq(&self) -> u32 {
        self.number(12)
    }
}

/// The status of a plain request, and its text.
fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
    let own = format!("127.0.0.1:{}", server.port());
    let host = headers.iter().find(|(name, _)| *name == "host").map_or(own.as_str(), |(_, host)| host);
    let mut request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{request}\r\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

#[test]
fn only_own_pages_with_the_token_are_let_in() {
    let server = serve();
    let port = server.port();
    let bearer = format!("Bearer {}", server.token());
    let wrong = format!("Bearer {}", server.token().replace(|_: char| true, "0"));
    let short = format!("Bearer {}", &server.token()[..31]);
    let (own, local) = (format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}"));
    let (other_port, by_name) = (format!("http://127.0.0.1:{}", port ^ 1), format!("localhost:{port}"));
    for (path, headers, expected) in [
        ("/", vec![], 200),
        ("/main.js", vec![], 200),
        ("/", vec![("host", by_name.as_str())], 200),
        ("/", vec![("host", "evil.example")], 403),
        ("/", vec![("origin", "http://evil.example")], 403),
        ("/scene", vec![], 403),
        ("/scene", vec![("authorization", wrong.as_str())], 403),
        ("/scene", vec![("authorization", short.as_str())], 403),
        ("/scene", vec![("authorization", bearer.as_str())], 200),
        ("/scene", vec![("authorization", bearer.as_str()), ("origin", own.as_str())], 200),
        ("/scene", vec![("authorization", bearer.as_str()), ("origin", local.as_str())], 200),
        ("/scene", vec![("authorization", bearer.as_str()), ("origin", other_port.as_str())], 403),
        ("/scene", vec![("authorization", bearer.as_str()), ("origin", "null")], 403),
        ("/log", vec![("authorization", bearer.as_str())], 200),
        ("/log", vec![("authorization", bearer.as_str()), ("host", "evil.example")], 403),
        ("/../Cargo.toml", vec![("authorization", bearer.as_str())], 404),
        ("/etc/passwd", vec![], 403),
    ] {
        assert_eq!(get(&server, path, &headers).0, expected, "{path} {headers:?}");
    }
    let (_, page) = get(&server, "/", &[]);
    let page = page.to_lowercase();
    for header in ["content-security-policy: default-src 'self'", "nosniff", "no-referrer"] {
        assert!(page.contains(header), "{header}");
    }
    assert!(
        !page.contains("<style") && !page.contains(" style=") && !page.contains("onclick"),
        "nothing inline"
    );
}

#[test]
fn only_own_sockets_with_the_token_are_let_in() {
    let server = serve();
    let own = format!("http://127.0.0.1:{}", server.port());
    for (origin, token, is_let_in) in [
        (None, server.token(), true),
        (Some(own.as_str()), server.token(), true),
        (Some("http://evil.example"), server.token(), false),
        (Some("http://127.0.0.1:1"), server.token(), false),
        (None, "0", false),
        (None, "", false),
    ] {
        let address = format!("ws://127.0.0.1:{}/play?token={token}", server.port());
        let mut request = address.into_client_request().expect("an address");
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().expect("letters"));
        }
        assert_eq!(tungstenite::connect(request).is_ok(), is_let_in, "{origin:?} {token}");
    }
}

#[test]
fn two_pages_see_one_world_and_a_third_one_goes_on_where_it_is() {
    let server = serve();
    let (mut first, mut second) = (Page::open(&server), Page::open(&server));
    first.send(r#"{"seq":1,"do":"open","world":"free"}"#);
    first.send(r#"{"seq":2,"do":"draw","points":[[0.3,0.4],[1.1,0.5]]}"#);
    first.send(r#"{"seq":3,"do":"drop","at":[0.8,0.7],"density":500,"radius":0.06}"#);
    let has = |page: &Page, list: &str, name: &str| {
        page.world[list].as_array().is_some_and(|list| list.iter().any(|entry| entry["name"] == name))
    };
    let has_all = |page: &Page| has(page, "modes", "drawn-1") && has(page, "things", "drop-1");
    first.until("the first page sees what it did", |page| has_all(page) && page.seq() == 3);
    second.until("the second page sees it too, but no number of its own", |page| {
        has_all(page) && page.seq() == 0
    });
    let world = second.world.clone();
    drop((first, second));
    let mut third = Page::open(&server);
    third.until("a page that is loaded again sees it", |page| page.world == world && page.step() > 0);
}

#[test]
fn a_log_plays_again_to_the_same_bits() {
    let mut engine = Engine::new(start("minefield").expect("a level")).expect("it begins");
    let mut log = Log::new(engine.start());
    let mut play = |engine: &mut Engine, input: Input| {
        log.note(engine.step_number(), &input);
        let _ = engine.apply(&input);
    };
    for k in 0..240_u32 {
        if k.is_multiple_of(5) {
            let x = 0.15 + f64::from(k % 60) * 0.01;
            play(&mut engine, Input::Stir { points: vec![[x, 0.45], [x + 0.05, 0.46]], speed: 0.6 });
        }
        if k == 60 {
            play(&mut engine, Input::Draw { points: vec![[0.4, 0.2], [1.2, 0.6]] });
            // Refused in a level, and again when it is played again.
            play(&mut engine, Input::Set { setting: Setting::Modes, value: 49.0 });
        }
        if k == 90 {
            play(&mut engine, Input::Excite { mode: "drawn-1".into(), amplitude: 0.05 });
        }
        engine.step().expect("no step fails");
    }
    let text = log.until_now(&engine).expect("it is short");
    let replayed = replay(&text).expect("a log");
    assert_eq!((replayed.steps, replayed.hash.as_str()), (240, engine.hash().as_str()));
    assert_eq!(replayed.expected, replayed.hash);
    assert_eq!(replayed.game, *engine.game());
    // A stroke that is another one by a millionth of a metre is another game.
    let other = replay(&text.replacen("0.45", "0.450001", 1)).expect("a log");
    assert_ne!(other.hash, replayed.hash);
    // What is no log is refused with the line.
    let broken = text.replacen("\"do\":\"stir\"", "\"do\":\"shout\"", 1);
    assert!(replay(&broken).expect_err("no log").to_string().contains("line 2"));
}

#[test]
fn what_was_played_on_the_server_plays_again_from_its_log() {
    let server = serve();
    let mut page = Page::open(&server);
    page.send(r#"{"seq":1,"do":"open","world":"free"}"#);
    for k in 0..60 {
        let x = 0.3 + 0.01 * f64::from(k);
        let stroke =
            json!({ "seq": 2 + k, "do": "stir", "points": [[x, 0.3], [x + 0.02, 0.31]], "speed": 0.5 });
        page.send(&stroke.to_string());
        let step = page.step();
        page.until("it goes on", |page| page.step() > step || page.seq() >= 2 + k as u32);
    }
    page.send(r#"{"seq":90,"do":"drop","at":[0.8,0.7],"density":3000,"radius":0.06,"box":true}"#);
    page.send(r#"{"seq":91,"do":"set","setting":"viscosity","value":2.5}"#);
    page.until("all is used", |page| page.seq() == 91);
    let step = page.step();
    page.until("it goes on for a while", |page| page.step() > step + 60);
    let bearer = format!("Bearer {}", server.token());
    let (status, answer) = get(&server, "/log", &[("authorization", &bearer)]);
    assert_eq!(status, 200);
    let log: String =
        answer.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
    let replayed = replay(&log).expect("a log");
    assert_eq!(replayed.hash, replayed.expected);
}

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }
}

const WHOLE: [&str; 9] = [
    r#"{"seq":1,"do":"stir","points":[[0.3,0.4],[0.5,0.42]],"speed":0.5}"#,
    r#"{"seq":2,"do":"draw","points":[[0.2,0.4],[1.1,0.5]]}"#,
    r#"{"seq":3,"do":"excite","mode":"drawn-1","amplitude":0.1}"#,
    r#"{"seq":4,"do":"forget","mode":"drawn-1"}"#,
    r#"{"seq":5,"do":"drop","at":[0.8,0.7],"density":500,"radius":0.06,"box":true}"#,
    r#"{"seq":6,"do":"take","body":"drop-1"}"#,
    r#"{"seq":7,"do":"set","setting":"modes","value":64}"#,
    r#"{"seq":8,"do":"open","world":"free"}"#,
    r#"{"seq":9,"do":"pause","on":true}"#,
];

/// A message with some bytes changed, cut out, doubled or put in.
fn mutated(random: &mut Random) -> String {
    let mut text: Vec<u8> = WHOLE[random.next() % WHOLE.len()].into();
    for _ in 0..1 + random.next() % 4 {
        let at = random.next() % text.len().max(1);
        let bytes: &[u8] =
            [b"9".as_slice(), b"-", b"e9", b"\"", b"[", b"}", b",", b"\xc3\xa9", b"null", b"1e308", b"\0"]
                [random.next() % 11];
        match random.next() % 4 {
            0 => text.truncate(at.max(1)),
            1 => drop(text.splice(at..at, bytes.iter().copied())),
            2 if at < text.len() => text[at] = b' ' + (random.next() % 95) as u8,
            _ => {
                let end = (at + random.next() % 12).min(text.len());
                let piece = text[at.min(end)..end].to_vec();
                drop(text.splice(at.min(end)..at.min(end), piece));
            }
        }
        text.push(b' ');
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Memory of this process, in kB, where the system tells.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
}

#[test]
fn a_hundred_thousand_broken_messages_neither_stop_nor_grow_it() {
    let server = serve();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut page = Page::open(&server);
    page.send(r#"{"seq":1,"do":"open","world":"free"}"#);
    page.until("it plays", |page| page.world["name"] == "free" && page.step() > 10);
    let mut batch = |page: &mut Page, count: usize, seq: u32| {
        for k in 0..count {
            page.send(&mutated(&mut random));
            if k.is_multiple_of(500) {
                page.take();
            }
        }
        // It may halt by now, and have all it takes of one kind for a moment.
        page.until("it still plays", |_| true);
        let since = Instant::now();
        let mut seq = seq;
        while page.seq() < seq || page.world["name"] != "menu" {
            assert!(since.elapsed() < PATIENCE, "it does not play any more");
            seq += 1;
            page.send(&format!(r#"{{"seq":{seq},"do":"open","world":"menu"}}"#));
            page.take();
        }
        page.send(&format!(r#"{{"seq":{seq},"do":"open","world":"free"}}"#));
    };
    batch(&mut page, 20_000, 3_000_000_000);
    let before = memory();
    batch(&mut page, 80_000, 3_500_000_000);
    if let (Some(before), Some(after)) = (before, memory()) {
        println!("{before} kB before, {after} kB after");
        assert!(after < before + 40_000, "{before} kB before, {after} kB after");
    }
    // Messages that are too long end their connection, and nothing else.
    let mut other = Page::open(&server);
    let _ = other.socket.send(Message::text("x".repeat(1 << 20)));
    let step = page.step();
    page.until("the other page goes on", |page| page.step() != step);
}

#[test]
fn every_input_at_random_leaves_a_world_that_plays() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut engine = Engine::new(start("free").expect("a world")).expect("it begins");
    let mut log = Log::new(engine.start());
    for _ in 0..120 {
        let mut part = |least: f64, most: f64| least + (most - least) * (random.next() % 10_000) as f64 / 1e4;
        let at = [part(0.0, 1.6), part(0.0, 0.9)];
        let to = [part(0.0, 1.6), part(0.0, 0.9)];
        let name = part(1.0, 6.0) as u32;
        let input = match part(0.0, 10.0) as u32 {
            0..=3 => Input::Stir { points: vec![at, to], speed: part(0.0, 1.0) },
            4 => Input::Draw { points: vec![at, to] },
            5 => Input::Excite { mode: format!("drawn-{name}"), amplitude: part(-0.2, 0.2) },
            6 => Input::Forget { mode: format!("drawn-{name}") },
            7 => Input::Drop {
                at,
                density: part(50.0, 5000.0),
                radius: part(0.03, 0.1),
                is_box: part(0.0, 1.0) > 0.5,
            },
            8 => Input::Take { body: format!("drop-{name}") },
            _ => Input::Set { setting: Setting::Viscosity, value: part(0.0, 10.0) },
        };
        let mut input = input;
        input.check(engine.size()).expect("all within bounds");
        log.note(engine.step_number(), &input);
        let _ = engine.apply(&input);
        // Steps that fail bring back a moment before.
        let _ = engine.step();
    }
    assert_eq!(engine.game().phase, Phase::Playing);
    let scene = engine.scene_text();
    meniscus_play::playable("saved.toml", &scene, std::path::Path::new(""))
        .expect("what is saved is a scene");
    let replayed = replay(&log.until_now(&engine).expect("it is short")).expect("a log");
    assert_eq!(replayed.hash, replayed.expected);
}
