//! A browser, driven by its own protocol over a WebSocket.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Nothing that is waited for takes longer, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(90);

/// A browser without a window.
pub struct Browser {
    process: Child,
    address: String,
    _profile: tempfile::TempDir,
}

/// A tab of it.
pub struct Tab {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    calls: u64,
    /// Errors and warnings of the console, and exceptions.
    pub complaints: Vec<String>,
}

/// Where a Chromium is: `CHROME`, one on the path, or what `./check` unpacked.
pub fn chromium() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/chromium/run");
    let on_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let named = on_path
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)));
    let given = env::var_os("CHROME").map(PathBuf::from);
    given.into_iter().chain(named).chain([unpacked]).find(|path| path.is_file())
}

impl Browser {
    /// Starts it, with more arguments.
    pub fn start(chromium: &Path, arguments: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(chromium)
            .args(["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"])
            .args(["--disable-background-networking", "--mute-audio", "--hide-scrollbars"])
            // Tabs behind others go on.
            .args(["--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"])
            .args(["--enable-unsafe-swiftshader", "--autoplay-policy=no-user-gesture-required"])
            .args(arguments)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stderr(Stdio::piped())
            .spawn()
            .expect("a browser");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.find("ws://").map(|at| line[at..].to_owned()));
        let address = address.expect("the browser tells where it listens");
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address, _profile: profile }
    }

    /// Opens a tab of some size.
    pub fn open(&self, url: &str, [width, height]: [u32; 2]) -> Tab {
        let (socket, _) = tungstenite::connect(&self.address).expect("the browser");
        let mut tab = Tab { socket, session: String::new(), calls: 0, complaints: Vec::new() };
        let target = tab.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = tab.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        tab.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            tab.call(domain, json!({}));
        }
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", screen);
        tab.call("Page.navigate", json!({ "url": url }));
        tab
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Tab {
    /// Calls a method of the browser.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same, which may fail.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("the browser listens");
        loop {
            let text = self.socket.read().expect("the browser answers");
            let answer: Value = serde_json::from_str(text.to_text().expect("text")).expect("JSON");
            if answer["id"] == id {
                let error = &answer["error"];
                return if error.is_null() { Ok(answer["result"].clone()) } else { Err(error.clone()) };
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        // Where the browser draws by software, it complains of its own way to the screen.
        if event.to_string().contains("GPU stall due to ReadPixels") {
            return;
        }
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled")
                if ["error", "warning"].contains(&params["type"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(params["args"].to_string());
            }
            Some("Log.entryAdded")
                if ["error", "warning"].contains(&params["entry"]["level"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(params["entry"]["text"].to_string());
            }
            _ => {}
        }
    }

    /// The value of an expression in the page.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// A number in the page.
    pub fn number(&mut self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Waits until something holds in the page. While that is loaded anew nothing does.
    pub fn until(&mut self, expression: &str) {
        let since = Instant::now();
        let guarded = format!("(() => {{ try {{ return !!({expression}); }} catch {{ return false; }} }})()");
        let params = json!({ "expression": guarded, "returnByValue": true });
        let holds =
            |answer: Result<Value, Value>| answer.is_ok_and(|answer| answer["result"]["value"] == true);
        while !holds(self.ask("Runtime.evaluate", params.clone())) {
            let said = &self.complaints;
            assert!(
                since.elapsed() < PATIENCE,
                "{expression} does not come true; the page complained of {said:?}"
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Moves the pointer, pressed or not, as a person would.
    pub fn pointer(&mut self, kind: &str, [x, y]: [f64; 2]) {
        let buttons = u8::from(kind != "mouseReleased");
        let params =
            json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses and lets go of a key.
    pub fn key(&mut self, key: &str, code: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": code }));
        }
    }

    /// Keeps a picture of the page as a PNG.
    pub fn screenshot(&mut self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        std::fs::write(path, decode(shot["data"].as_str().expect("base64"))).expect("a file");
    }
}

/// Reads base64.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').collect();
    let group = |four: &[u8]| {
        let bits = (0..4).fold(0, |bits, k| bits << 6 | four.get(k).map_or(0, |c| value(*c)));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
