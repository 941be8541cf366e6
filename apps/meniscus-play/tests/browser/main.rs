//! The page in a browser. Where no Chromium is found these tests say so and are left out, unless `MENISCUS_BROWSER` is set, as `./check --browser` does.

// What was measured is told; nothing is asked of it.
#![allow(clippy::print_stdout)]

mod client;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use client::{Browser, Tab, chromium};
use meniscus_play::{Engine, Input, Options, Server, levels, replay, start};
use serde_json::json;

/// Browsers share the processor: one at a time.
static TURN: Mutex<()> = Mutex::new(());
/// Pixels of a tab: few, since the processor draws them.
const SIZE: [u32; 2] = [640, 360];

struct Session {
    tab: Tab,
    browser: Browser,
    server: Server,
    _turn: MutexGuard<'static, ()>,
}

/// A tab that shows the menu; none where there is no browser.
fn open(arguments: &[&str]) -> Option<Session> {
    let Some(chromium) = chromium() else {
        assert!(std::env::var_os("MENISCUS_BROWSER").is_none(), "no Chromium: set CHROME to one");
        println!("left out: no Chromium (set CHROME to one, or run ./check)");
        return None;
    };
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start(Options::default()).expect("it starts");
    let browser = Browser::start(&chromium, arguments);
    let mut tab = browser.open(&server.url(), SIZE);
    tab.until("currents.pictures > 2 && currents.state.world.name == 'menu'");
    Some(Session { tab, browser, server, _turn: turn })
}

fn enter(tab: &mut Tab, world: &str) {
    tab.eval(&format!("void currents.act.open('{world}')"));
    tab.until(&format!(
        "currents.state.world.name == '{world}' && currents.state.frame.world == currents.state.world.world"
    ));
    let drawn = tab.number("currents.pictures");
    tab.until(&format!("currents.pictures > {drawn} + 2"));
}

/// Halts the world, and waits until the picture is of the moment at which it halts.
fn halt(tab: &mut Tab) {
    tab.eval("void currents.connection.send({ do: 'pause', on: true })");
    tab.until("currents.state.frame.paused && currents.water.drawnFrame === currents.state.frame");
}

/// Where the water is in the tab: left, top, width and height.
fn pool(tab: &mut Tab) -> [f64; 4] {
    let place = "(({ left, top, width, height }) => [left, top, width, height])(document.getElementById('water').getBoundingClientRect())";
    serde_json::from_value(tab.eval(place)).expect("numbers")
}

/// The place of a point of the world in a tab with the water there.
fn pixel([left, top, width, height]: [f64; 4], [x, y]: [f64; 2]) -> [f64; 2] {
    [left + x / 1.6 * width, top + (1.0 - y / 0.9) * height]
}

fn drag(tab: &mut Tab, from: [f64; 2], to: [f64; 2]) {
    let pool = pool(tab);
    tab.pointer("mousePressed", pixel(pool, from));
    for k in 1..=5 {
        let part = f64::from(k) / 5.0;
        let at = [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
        tab.pointer("mouseMoved", pixel(pool, at));
    }
    tab.pointer("mouseReleased", pixel(pool, to));
}

/// Presses a key, or lets go of it.
fn hold(tab: &mut Tab, kind: &str, key: &str) {
    tab.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key }));
}

#[test]
fn the_flow_on_the_graphics_card_is_that_of_the_server() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    assert_eq!(tab.eval("currents.water.kind"), "WebGL2");
    enter(tab, "free");
    // Pages are told of fewer waves than bodies make.
    tab.eval("void currents.connection.send({ do: 'take', body: 'cork' })");
    tab.until("currents.state.world.things.length == 0");
    drag(tab, [0.4, 0.3], [1.0, 0.5]);
    tab.until("currents.state.frame.seq > 2");
    halt(tab);
    let at_texels = tab.eval("currents.water.flowAt(16)");
    let texels: Vec<Vec<f64>> = serde_json::from_value(at_texels).expect("numbers");
    let at: Vec<String> = texels.iter().map(|texel| format!("{},{}", texel[0], texel[1])).collect();
    let path = format!("/velocities?at={}", at.join(";"));
    let told = tab.eval(&format!(
        "fetch('{path}', {{ headers: currents.connection.headers() }}).then((a) => a.json())"
    ));
    assert_eq!(told["step"], tab.eval("currents.state.frame.step"));
    let velocities: Vec<[f64; 2]> = serde_json::from_value(told["velocities"].clone()).expect("numbers");
    let largest = velocities.iter().map(|[u, v]| u.hypot(*v)).fold(0.0, f64::max);
    assert!(largest > 0.01, "the stroke moves the water: {largest}");
    assert_eq!(texels.len(), 16);
    for (texel, [u, v]) in texels.iter().zip(&velocities) {
        let off = (texel[2] - u).hypot(texel[3] - v);
        assert!(off < 1e-3 * largest, "{texel:?} should be {u}, {v}");
    }
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn a_stroke_moves_dye_as_predicted() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "free");
    halt(tab);
    // Without the dye that is there at first.
    tab.eval("void currents.water.build()");
    let (middle, radius, stroke) =
        ([0.6, 0.45], 0.06, Input::Stir { points: vec![[0.5, 0.45], [0.8, 0.45]], speed: 0.5 });
    let from = tab.number("currents.state.frame.step");
    let pictures = tab.number("currents.pictures");
    tab.eval(&format!(
        "void currents.water.splat([{0}, {1}, {0}, {1}], [1, 1, 1], {radius})",
        middle[0], middle[1]
    ));
    tab.until(&format!("currents.pictures > {pictures} + 1"));
    // Less is drawn from now on, of the same dye.
    tab.eval("void currents.quality.go(5)");
    let before = tab.eval("currents.water.dyeMoments()");
    assert!((before["x"].as_f64().expect("a number") - middle[0]).abs() < 2e-3, "{before}");
    let message = serde_json::to_string(&stroke).expect("plain data");
    tab.eval(&format!("void currents.connection.send({message})"));
    tab.eval("void currents.connection.send({ do: 'pause', on: false })");
    tab.until(&format!("currents.state.frame.step > {from} + 90"));
    halt(tab);
    let steps = (tab.number("currents.state.frame.step") - from) as u32;
    let after = tab.eval("currents.water.dyeMoments()");
    // The same dye as points that go along with the same flow.
    let mut engine = Engine::new(start("free").expect("a world")).expect("it begins");
    engine.apply(&stroke).expect("allowed");
    let ring = |k: usize| {
        let (far, turn) = (radius * (-(1.0 - (k as f64 + 0.5) / 60.0).ln()).sqrt(), 2.399_963 * k as f64);
        [middle[0] + far * turn.cos(), middle[1] + far * turn.sin()]
    };
    let mut points: Vec<[f64; 2]> = (0..60).map(ring).collect();
    for _ in 0..steps {
        engine.step().expect("no step fails");
        for x in &mut points {
            let v = engine.velocity(*x);
            let half = engine.velocity([x[0] + v[0] / 240.0, x[1] + v[1] / 240.0]);
            *x = [x[0] + half[0] / 120.0, x[1] + half[1] / 120.0];
        }
    }
    let predicted = points.iter().map(|x| x[0]).sum::<f64>() / points.len() as f64 - middle[0];
    let moved = after["x"].as_f64().expect("a number") - middle[0];
    println!("dye moved {moved:.4} m in {steps} steps, predicted {predicted:.4} m");
    assert!(predicted > 0.05, "{predicted}");
    assert!((moved - predicted).abs() < 0.1 * predicted, "{moved} instead of {predicted}");
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn level_1_is_won_in_the_page_and_its_log_plays_again() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "first-light");
    tab.until("document.getElementById('ghost').classList.contains('on')");
    for _ in 0..60 {
        if tab.eval("currents.state.game.phase") != "playing" {
            break;
        }
        let body = tab.eval("currents.state.frame.bodies[0] ?? null");
        let (Some(x), Some(y)) = (body["x"].as_f64(), body["y"].as_f64()) else { continue };
        let away = [1.25 - x, 0.45 - y];
        let unit = away.map(|d| d / away[0].hypot(away[1]).max(1e-9));
        let at = |part: f64| [x + part * unit[0], y + part * unit[1]];
        drag(tab, at(-0.05), at(0.08));
        let step = tab.number("currents.state.frame.step");
        tab.until(&format!(
            "currents.state.frame.step > {step} + 25 || currents.state.game.phase != 'playing'"
        ));
    }
    tab.until("currents.state.game.phase == 'won' && !document.getElementById('end').hidden");
    assert!(tab.number("currents.state.game.stars") >= 1.0);
    let log = tab.eval("fetch('/log', { headers: currents.connection.headers() }).then((a) => a.text())");
    let replayed = replay(log.as_str().expect("text")).expect("a log");
    println!("won with {} in {} steps, hash {}", replayed.game.spent, replayed.steps, replayed.hash);
    assert_eq!((replayed.game.home, &replayed.hash), (1, &replayed.expected));
    // The stars are kept, and shown in the menu.
    enter(tab, "menu");
    tab.until("document.querySelector('[data-level=first-light] em span').className == ''");
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn keys_draw_and_fire_modes_and_particles_stay_out_of_bodies() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "the-gap");
    drag(tab, [0.2, 0.45], [1.2, 0.45]);
    tab.until("currents.state.world.modes.length == 1");
    tab.key("1", "Digit1");
    tab.until("currents.state.frame.spent > 0.5");
    // The keyboard alone stirs too.
    enter(tab, "minefield");
    for key in [" ", "ArrowRight"] {
        hold(tab, "keyDown", key);
    }
    tab.until("currents.state.frame.spent > 0.1");
    for key in [" ", "ArrowRight"] {
        hold(tab, "keyUp", key);
    }
    let pictures = tab.number("currents.pictures");
    tab.until(&format!("currents.pictures > {pictures} + 10"));
    // By less than a texel of the distances.
    assert_eq!(tab.number("currents.water.particlesInBodies(0.006)"), 0.0);
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn whatever_key_is_let_go_first_a_line_ends_with_space() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "the-gap");
    for (modes, first, last) in [(1, "ArrowRight", " "), (2, " ", "ArrowUp")] {
        let arrow = if modes == 1 { "ArrowRight" } else { "ArrowUp" };
        hold(tab, "keyDown", " ");
        hold(tab, "keyDown", arrow);
        tab.until(
            "currents.input.pen.length > 12 && document.getElementById('line').getAttribute('d') != ''",
        );
        hold(tab, "keyUp", first);
        let pictures = tab.number("currents.pictures");
        tab.until(&format!("currents.pictures > {pictures} + 3"));
        hold(tab, "keyUp", last);
        assert_eq!(tab.eval("document.getElementById('line').getAttribute('d')"), "");
        tab.until(&format!("currents.state.world.modes.length == {modes}"));
        tab.until(&format!("document.getElementById('note').textContent.includes('press {modes},')"));
    }
    // There is a word for a key without a mode, and for a line that is none.
    tab.key("7", "Digit7");
    tab.until("document.getElementById('note').textContent.includes('no mode 7')");
    hold(tab, "keyDown", " ");
    hold(tab, "keyUp", " ");
    tab.until("document.getElementById('note').textContent.includes('Draw a line')");
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn a_level_waits_for_the_first_touch_and_keys_are_read_in_peace() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "maelstrom");
    let pictures = tab.number("currents.pictures");
    tab.until(&format!("currents.pictures > {pictures} + 20"));
    assert_eq!(tab.eval("[currents.state.frame.waits, currents.state.frame.step]"), json!([true, 0]));
    drag(tab, [0.2, 0.2], [0.4, 0.25]);
    tab.until("!currents.state.frame.waits && currents.state.frame.step > 5");
    tab.key("?", "Slash");
    tab.until("currents.state.frame.paused && document.activeElement.id == 'keys'");
    assert!(tab.eval("document.getElementById('keys').textContent").to_string().contains("take one out"));
    // A key closes it, and does nothing else.
    tab.key("r", "KeyR");
    tab.until("document.getElementById('keys').hidden && !currents.state.frame.paused");
    assert!(tab.number("currents.state.frame.step") > 5.0);
    assert_eq!(tab.eval("document.activeElement.id"), "water");
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn free_play_is_kept_and_space_drops_and_takes() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "free");
    let there = "JSON.stringify([currents.state.world.modes.length, currents.state.world.things.length])";
    let before = tab.eval(there);
    tab.key("x", "KeyX");
    tab.key(" ", "Space");
    tab.until("document.getElementById('note').textContent.includes('no body')");
    tab.key("b", "KeyB");
    tab.until("document.getElementById('teaches').textContent.includes('drop')");
    let things = tab.number("currents.state.world.things.length");
    tab.key(" ", "Space");
    tab.until(&format!("currents.state.world.things.length == {things} + 1"));
    halt(tab);
    tab.key("d", "KeyD");
    drag(tab, [0.3, 0.2], [1.2, 0.3]);
    tab.until("document.getElementById('note').textContent.includes('Drawn')");
    let made = tab.eval(there);
    assert_ne!(made, before);
    tab.key("Escape", "Escape");
    tab.until("currents.state.world.name == 'menu' && document.activeElement.id == 'menu'");
    enter(tab, "free");
    assert_eq!(tab.eval(there), made);
    tab.eval("void document.getElementById('anew').click()");
    tab.until(&format!("{there} == {before}"));
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn stars_outlast_the_server_and_the_ninth_tab_is_told_that_it_is_one() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    tab.eval("import('/ui.js').then(({ keepStars }) => keepStars('deep-end', 2))");
    let label = "document.querySelector('[data-level=deep-end]').getAttribute('aria-label')";
    let other = Server::start(Options::default()).expect("it starts");
    let mut second = session.browser.open(&other.url(), SIZE);
    second.until(&format!("{label} == '2 Deep end, 2 of 3 stars'"));
    second.eval("void (window.crowd = [1, 2, 3, 4, 5, 6, 7].map(() => new WebSocket(currents.connection.socket.url)))");
    second.until("crowd.every((socket) => socket.readyState == 1)");
    let mut ninth = session.browser.open(&other.url(), SIZE);
    ninth.until("document.getElementById('gone-title').textContent.includes('Eight tabs')");
    second.eval("crowd[0].close()");
    ninth.until("document.getElementById('gone').hidden && currents.state.world.name == 'menu'");
    // One that hears nothing says so, and not any more when it does.
    ninth.eval("void ([window.heard, currents.connection.socket.onmessage] = [currents.connection.socket.onmessage, ({ data }) => {}])");
    ninth.until("document.getElementById('gone-title').textContent.includes('does not answer')");
    ninth.eval("void (currents.connection.socket.onmessage = heard)");
    ninth.eval("void currents.connection.socket.send(new Uint8Array(1))");
    ninth.until("document.getElementById('gone').hidden");
}

/// Phones upright and lying, a small window and a large one.
#[test]
fn controls_are_in_the_window_and_large_enough_for_fingers() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    let buttons = "[...document.querySelectorAll('button')].filter((button) => button.checkVisibility()).map((button) => [button, button.getBoundingClientRect()])";
    let outside = format!(
        "{buttons}.filter(([, r]) => r.left < 0 || r.right > innerWidth + 0.5 || r.top < 0).map(([{{ id, className }}]) => id + className).join()"
    );
    let small = format!(
        "{buttons}.filter(([, r]) => r.width < 37 || r.height < 37).map(([{{ id, className }}]) => id + className).join()"
    );
    // Water does not lie under the bar.
    let covered = "document.getElementById('water').getBoundingClientRect().top < document.getElementById('hud').getBoundingClientRect().bottom - 0.5";
    for [width, height] in [[390, 844], [844, 390], [568, 320], [1000, 640], [640, 360]] {
        let is_phone = width.min(height) < 500;
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone }),
        );
        for world in ["menu", "free", "maelstrom"] {
            enter(tab, world);
            let place = format!("{world} at {width} by {height}");
            assert_eq!(tab.eval(&outside), "", "{place}");
            if is_phone {
                assert_eq!(tab.eval(&small), "", "{place}");
            }
            assert!(world == "menu" || tab.eval(covered) == false, "{place}");
        }
        enter(tab, "free");
        // What does not fit can be scrolled to.
        tab.eval("void (document.getElementById('more').open = true)");
        tab.eval("void document.getElementById('save-log').scrollIntoView()");
        let reached = "((r) => document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).id)(document.getElementById('save-log').getBoundingClientRect())";
        assert_eq!(tab.eval(reached), "save-log", "at {width} by {height}");
    }
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn less_is_drawn_until_the_rate_is_held_and_the_page_says_so() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "free");
    tab.key("i", "KeyI");
    // Where the lowest level is too much for the processor, it stays there.
    tab.until("currents.quality.rate > 0 && (currents.quality.isHeld || currents.quality.at == 6)");
    drag(tab, [0.4, 0.3], [1.0, 0.5]);
    tab.until("currents.connection.echoes.length > 0");
    println!("{}", tab.eval("document.getElementById('stats').textContent"));
    let said = tab.eval("document.getElementById('stats').textContent").to_string();
    let particles = tab.eval("currents.water.count.toLocaleString('en')");
    assert!(said.contains(particles.as_str().expect("text")), "{said}");
    tab.key("i", "KeyI");
    tab.until("currents.quality.at == 0 || document.getElementById('stats').textContent.includes('to hold 30 pictures/s')");
    assert!(tab.complaints.is_empty(), "{:?}", tab.complaints);
}

#[test]
fn reloading_goes_on_two_tabs_see_one_world_and_a_lost_server_is_told() {
    let Some(mut session) = open(&[]) else { return };
    let tab = &mut session.tab;
    enter(tab, "deep-end");
    drag(tab, [0.3, 0.3], [0.4, 0.3]);
    tab.until("currents.state.frame.step > 20");
    tab.call("Page.reload", json!({}));
    tab.until(
        "currents.state.world.name == 'deep-end' && currents.state.frame.step > 20 && currents.pictures > 2",
    );
    let mut second = session.browser.open(&session.server.url(), SIZE);
    second.until("currents.state.world.name == 'deep-end' && currents.state.frame.step > 20");
    second.eval("void currents.act.open('free')");
    tab.until("currents.state.world.name == 'free'");
    assert_eq!((&tab.complaints, &second.complaints), (&Vec::new(), &Vec::new()));
    let (port, token) = (session.server.port(), session.server.token().to_owned());
    drop(session.server);
    tab.until("!document.getElementById('gone').hidden");
    let again =
        Server::start(Options { port, token: Some(token), ..Options::default() }).expect("the port is free");
    tab.until("document.getElementById('gone').hidden && currents.state.world.name == 'menu'");
    drop(again);
    // With another token the page says that it is an old one.
    let other = Server::start(Options { port, ..Options::default() }).expect("the port is free");
    tab.until("document.getElementById('gone-title').textContent.includes('old one')");
    // The new address differs in what follows the # only.
    tab.call("Page.navigate", json!({ "url": other.url() }));
    tab.until("currents.state.world.name == 'menu' && document.getElementById('gone').hidden");
    drop(other);
}

#[test]
fn without_webgl_the_page_says_so_and_plays_on_a_plain_canvas() {
    let Some(mut session) = open(&["--disable-3d-apis"]) else { return };
    let tab = &mut session.tab;
    assert_eq!(tab.eval("currents.water.kind"), "plain canvas");
    tab.until("document.getElementById('note').textContent.includes('no WebGL2')");
    enter(tab, "first-light");
    drag(tab, [0.27, 0.45], [0.5, 0.45]);
    tab.until("currents.state.frame.spent > 0.1 && currents.pictures > 10");
    tab.until("document.getElementById('stats').textContent.includes('without WebGL2')");
}

/// Pictures of all worlds, for somebody to look at, where `PLAY_PICTURES` says.
#[test]
fn pictures_of_all_worlds() {
    let Some(folder) = std::env::var_os("PLAY_PICTURES") else { return };
    let Some(session) = open(&[]) else { return };
    let mut tab = session.browser.open(&session.server.url(), [1280, 720]);
    tab.until("currents.pictures > 2");
    let fine = "import('/quality.js').then(({ LEVELS }) => { currents.quality.picture = () => false; \
                currents.quality.at = 0; currents.quality.set({ ...LEVELS[0], particles: 40000 }); })";
    tab.eval(&format!("{fine}.then(() => 0)"));
    let names =
        ["menu", "free"].map(str::to_owned).into_iter().chain(levels().into_iter().map(|level| level.name));
    for world in names {
        enter(&mut tab, &world);
        let draw = "const stroke = (y, s) => { let p = null; for (let k = 0; k < 12; k++) { \
            const q = [0.25 + 0.045 * k, y + 0.05 * Math.sin(s + 0.6 * k)]; if (p) { currents.act.splat([...p, ...q], s, 0.6); \
            if (currents.input.hand === 'stir') currents.act.stir([p, q], 0.5); } p = q; } }; stroke(0.3, 0.1); stroke(0.5, 0.5); stroke(0.66, 0.8);";
        tab.eval(&format!("(() => {{ {draw} }})()"));
        if world == "the-gap" {
            tab.eval("void currents.act.draw([[0.2, 0.45], [0.8, 0.46], [1.2, 0.45]])");
            tab.until("currents.state.world.modes.length > 0");
            tab.eval("void currents.act.excite(0, false)");
        }
        if world == "free" {
            for (x, density, is_box) in [(0.35, 300, false), (0.8, 1000, true), (1.1, 3000, false)] {
                tab.eval(&format!("void currents.connection.send({{ do: 'drop', at: [{x}, 0.6], density: {density}, radius: 0.06, box: {is_box} }})"));
            }
        }
        let step = tab.number("currents.state.frame.step");
        let pictures = tab.number("currents.pictures");
        tab.until(&format!("currents.state.frame.step > {step} + 80 && currents.pictures > {pictures} + 8"));
        tab.screenshot(&Path::new(&folder).join(format!("{world}.png")));
    }
}
