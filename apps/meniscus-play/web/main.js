// The page: connects, draws, and hands on what players do.
import { PlainWater } from "./canvas.js";
import { Input } from "./input.js";
import { Connection, handOver } from "./net.js";
import { Quality } from "./quality.js";
import { Sound } from "./sound.js";
import { state } from "./state.js";
import { Ui } from "./ui.js";
import { makeWater } from "./water.js";

const SILENT = 2; // s without a frame, after which the page says so
const PUSH = 0.11; // m/s, as the root of the mean square, that a key gives a mode
const token = location.hash.slice(1);
const canvas = document.getElementById("water");
const sound = new Sound();
let water = null;
let shownEvents = 0;
let shownNotice = null;
let begun = 0; // when the world that is shown was first seen, in s
let isTouched = false; // whether somebody has done something in it
let showsFigures = false;
let last = 0;
let pictures = 0; // that were drawn
let draws = 0; // lines that the server has not made modes of
let dyedWorld = 0; // the world in which dye was put
let isHeld = false; // whether time halts because the keys are read

const act = {
  open: (world) => connection.send({ do: "open", world }),
  retry: () => connection.send({ do: "retry" }),
  pause: () => connection.send({ do: "pause", on: !state.game?.paused }),
  set: (setting, value) => connection.send({ do: "set", setting, value }),
  forget: (mode) => connection.send({ do: "forget", mode }),
  excite(place, isBackwards) {
    const mode = state.world?.modes[place];
    if (!mode) return ui.say(`There is no mode ${place + 1} yet: draw one`);
    act.touched();
    connection.send({ do: "excite", mode: mode.name, amplitude: isBackwards ? -PUSH : PUSH });
    ui.fired(place);
    sound.fire();
    const colour = hue(0.09 + 0.2 * place, 0.16);
    mode.points.slice(1).forEach((to, k) => water.splat([...mode.points[k], ...to], colour, 1.1 * state.world.brush));
  },
  async save(what) {
    const name = state.world.name;
    try {
      await connection.download(`/${what}`, what === "log" ? `${name}.jsonl` : `${name}.toml`);
      ui.say(what === "log" ? "The log: meniscus play --replay plays it again" : "The scene: meniscus play and meniscus run take it");
    } catch (error) {
      ui.say(String(error.message));
    }
  },
  picture() {
    // It lasts no longer than the task that draws it.
    water.draw(state.frame, now());
    canvas.toBlob((blob) => handOver(blob, `${state.world.name}.png`));
  },
  /** Nothing is missed while somebody reads. */
  reads(isReading) {
    if (isReading) isHeld = !state.game?.paused;
    if (isHeld) connection.send({ do: "pause", on: isReading });
  },
  say: (text) => ui.say(text),
  sound() {
    sound.toggle();
    showSound();
  },
  hand(hand) {
    input.hand = hand;
    ui.showHand(hand);
  },
  stir(points, speed) {
    connection.send({ do: "stir", points, speed });
    sound.stir(speed);
  },
  splat(line, at, speed) {
    water.splat(line, hue(at, 0.14 + 0.36 * speed), 0.62 * state.world.brush);
  },
  draw(points) {
    connection.send({ do: "draw", points });
    draws++;
  },
  drop: (at) => connection.send({ do: "drop", at, ...ui.dropped() }),
  take(at) {
    const near = state.frame.bodies
      .map(({ id, x, y }) => ({ thing: state.things.get(id), far: Math.hypot(x - at[0], y - at[1]) }))
      .filter(({ thing, far }) => thing && thing.kind !== "solid" && far < 1.3 * thing.radius)
      .sort((a, b) => a.far - b.far);
    if (near.length) connection.send({ do: "take", body: near[0].thing.name });
    else ui.say("There is no body here");
  },
  line: (points) => ui.showLine(points),
  cursor: (at, isStirring) => ui.showCursor(at, isStirring),
  touched() {
    isTouched = true;
    sound.wake();
  },
};
const ui = new Ui(act);
const input = new Input(canvas, act);
const quality = new Quality((level) => {
  water?.setLevel(level);
  // Blurred glass costs more than water there.
  document.getElementById("stage").classList.toggle("simple", level.scale < 1);
});
const connection = new Connection(token, {
  told: (kind) => (kind === "world" ? showWorld() : showGame()),
  gone: () => ui.showGone("The server is gone", "Waiting for it to come back…"),
  back: () => ui.showGone(null),
  full: () => ui.showGone("Eight tabs play already", "Close one of them, and this one goes on."),
  refused: () => ui.showGone("This address is an old one", "Open the address that the command printed last."),
});

/** Red, green and blue of a hue from 0 to 1: aqua, blue, violet, rose and gold, no greens that water has. */
function hue(at, strength) {
  const stops = [[0.15, 0.95, 0.85], [0.25, 0.45, 1.0], [0.65, 0.3, 1.0], [1.0, 0.3, 0.55], [1.0, 0.62, 0.2]];
  const place = (at % 1) * stops.length;
  const [a, b] = [stops[Math.floor(place)], stops[(Math.floor(place) + 1) % stops.length]];
  return a.map((x, k) => strength * (x + (b[k] - x) * (place % 1)));
}

let shownWorld = 0;
let shownModes = 0;
function showWorld() {
  const { world } = state;
  const isOther = world.world !== shownWorld;
  if (isOther) {
    [shownWorld, isTouched, shownEvents, begun] = [world.world, false, null, now()];
    [shownModes, draws] = [world.modes.length, 0];
    input.reset();
    act.hand(world.rules?.hand ?? "stir");
  }
  ui.showWorld();
  if (isOther) ui.sayTeaches();
  if (world.modes.length > shownModes && draws) showDrawn();
  shownModes = world.modes.length;
  if (state.game) ui.showGame();
}

/** A line has become a mode. */
function showDrawn() {
  draws--;
  if (!state.world.rules) act.hand("stir");
  ui.say(`Drawn: press ${state.world.modes.length}, or tap its picture`);
}

function showGame() {
  const { game, world } = state;
  const newest = game.events.at(-1)?.number ?? 0;
  // What happened before this page was there is not shown.
  for (const event of game.events.filter(({ number }) => shownEvents !== null && number > shownEvents)) {
    const isHome = event.kind === "home";
    water?.flash(event.at, isHome, now());
    water?.splat([...event.at, ...event.at], isHome ? [0.5, 0.33, 0.1] : [0.5, 0.03, 0.07], 0.08);
    if (isHome) sound.home();
    else sound.lost();
  }
  if (shownEvents !== null && newest > shownEvents && world?.rules) {
    if (game.phase === "won") setTimeout(() => sound.won(), 350);
    if (game.phase === "lost") setTimeout(() => sound.over(), 450);
  }
  shownEvents = newest;
  if (shownNotice !== null && game.notice.number > shownNotice) {
    draws = 0;
    ui.say(game.notice.text);
  }
  shownNotice = game.notice.number;
  ui.showGame();
}

function showSound() {
  const button = document.getElementById("sound");
  button.classList.toggle("off", !sound.isOn);
  button.setAttribute("aria-pressed", sound.isOn);
}

function now() {
  return performance.now() / 1000;
}

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const sheet = ui.openSheet()?.id;
  if (sheet === "keys") return closeKeys(event);
  const pressed = event.target.closest("button, summary");
  const isSlider = event.target.tagName === "INPUT";
  if (!sheet && !isSlider && !(event.key === " " && pressed) && input.key(event, true)) {
    event.preventDefault();
    return;
  }
  const { world, game } = state;
  if (!world || event.repeat) return;
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (digit) return sheet ? undefined : act.excite(Number(digit[1]) - 1, event.shiftKey);
  const isFree = !world.rules && world.name !== "menu";
  const keys = {
    Escape: () => world.name !== "menu" && act.open("menu"),
    Enter: () => !pressed && (game?.phase === "won" ? ui.next() : game?.phase === "lost" && act.retry()),
    r: act.retry,
    p: act.pause,
    m: act.sound,
    d: () => world.name !== "menu" && act.hand("draw"),
    s: () => world.rules?.hand !== "draw" && act.hand("stir"),
    b: () => isFree && act.hand("drop"),
    x: () => isFree && act.hand("take"),
    f: () => act.save("scene"),
    l: () => act.save("log"),
    i: () => (showsFigures = !showsFigures),
    "?": () => ui.toggleKeys(),
  };
  keys[event.key.length === 1 ? event.key.toLowerCase() : event.key]?.();
});
window.addEventListener("keyup", (event) => input.key(event, false));
window.addEventListener("blur", () => input.releaseAll());
// The address of a server that was started anew differs in what follows the # only.
window.addEventListener("hashchange", () => location.reload());

/** Any key closes the sheet of keys, but for those that go to its button or are pressed with others. */
function closeKeys(event) {
  const isForButton = event.target.tagName === "BUTTON" && ["Enter", " "].includes(event.key);
  if (isForButton || event.repeat || ["Tab", "Shift"].includes(event.key)) return;
  event.preventDefault();
  ui.toggleKeys();
}

/** Says it when frames do not come that should. Turns are counted: a page that was asleep has not waited. */
let silence = 0;
let heard = 0;
setInterval(() => {
  const { frame } = state;
  const isDue = connection.isOpen && frame && !frame.paused && !frame.waits;
  const wasSilent = silence >= SILENT;
  silence = isDue && connection.frames === heard ? silence + 0.5 : 0;
  heard = connection.frames;
  if (silence >= SILENT) ui.showGone("The server does not answer", "It may be busy, or stopped. The page waits for it.");
  else if (wasSilent && connection.isOpen) ui.showGone(null);
}, 500);

/** What is drawn, how fast, and how long an input takes to be seen. */
function figures(frame) {
  const { rate, at } = quality;
  const reduced = at > 0 ? `drawn with ${water.about}, to hold 30 pictures/s` : "";
  const slow = frame.pace < 0.9 && !frame.paused && !frame.waits ? `the water runs at ${Math.round(100 * frame.pace)} % of its speed` : "";
  const all = `${rate.toFixed(0)} pictures/s · ${water.kind}, ${water.about} · echo ${connection.echo(0.5).toFixed(0)} ms, p95 ${connection.echo(0.95).toFixed(0)} ms · step ${frame.step}`;
  const plain = water.kind === "WebGL2" ? "" : "drawn simply, without WebGL2";
  return [showsFigures ? all : reduced, plain, slow].filter(Boolean).join(" · ");
}

/** Some dye to begin with, so that the water is seen to move. */
function dyeRibbons([width, height]) {
  for (let ribbon = 0; ribbon < 3; ribbon++) {
    const point = (k) => [width * (0.15 + 0.06 * k), height * (0.3 + 0.2 * ribbon + 0.09 * Math.sin(0.7 * k + 2 * ribbon))];
    for (let k = 0; k < 11; k++) water.splat([...point(k), ...point(k + 1)], hue(0.2 * ribbon, 0.16), 0.9 * state.world.brush);
  }
}

function picture() {
  requestAnimationFrame(picture);
  const time = now();
  const dt = Math.min(0.1, time - last);
  last = time;
  const { frame, world } = state;
  if (!frame || !world || frame.world !== world.world) return;
  input.flush(dt);
  for (const { id, x, y } of frame.bodies) {
    // Lanterns leave light behind.
    if (state.things.get(id)?.kind === "float" && frame.step !== picture.step) water.splat([x, y, x, y], [0.016, 0.008, 0.002], 0.05);
  }
  picture.step = frame.step;
  if (dyedWorld !== world.world && !world.rules && world.name !== "menu") dyeRibbons(world.size);
  dyedWorld = world.world;
  water.draw(frame, time);
  pictures++;
  connection.drawn(frame);
  ui.showSpent(frame.spent);
  const hint = !isTouched && world.rules ? world.rules.hint : null;
  ui.showGhost(hint && time - begun > 0.6 ? hint : null, time - begun);
  quality.picture(performance.now());
  ui.showStats(figures(frame));
}

async function begin() {
  try {
    if (new URLSearchParams(location.search).has("plain")) throw new Error("asked for");
    water = await makeWater(canvas);
  } catch (error) {
    water = new PlainWater(input.canvas);
    ui.say(`The water is drawn in a simple way: ${error.message}.`, 8);
    console.info(`no WebGL2: ${error.message}`);
  }
  quality.begin(water.isSoftware);
  showSound();
  ui.showHand("stir");
  requestAnimationFrame(picture);
}

// For tests, and for those who look around.
window.currents = { state, connection, quality, input, ui, act, get water() { return water; }, get pictures() { return pictures; } };
await begin();
