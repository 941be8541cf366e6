// What lies over the water: menu, levels, figures, tools, messages.
import { state } from "./state.js";

const STARS = "currents.stars";
const byId = (id) => document.getElementById(id);

/** The stars of levels that have been won, by name. */
export function starsWon() {
  try {
    return JSON.parse(localStorage.getItem(STARS)) ?? {};
  } catch {
    return {};
  }
}

function keepStars(name, stars) {
  const won = starsWon();
  won[name] = Math.max(won[name] ?? 0, stars);
  localStorage.setItem(STARS, JSON.stringify(won));
}

function starsIn(element, count) {
  element.replaceChildren(...[1, 2, 3].map((k) => {
    const star = document.createElement("span");
    star.textContent = "★";
    if (k > count) star.className = "none";
    return star;
  }));
}

/** Sliders by setting, from 0 to 100 and back. */
const SCALES = {
  modes: { from: (s) => s, to: (v) => v, text: (v) => `${Math.round(v)}` },
  viscosity: { from: (s) => (50 * (s / 100) ** 3), to: (v) => 100 * Math.cbrt(v / 50), text: (v) => `${v.toPrecision(2)} Pa s` },
  shedding: { from: (s) => 0.1 * 50 ** (s / 100), to: (v) => (100 * Math.log(v / 0.1)) / Math.log(50), text: (v) => `${v.toPrecision(2)} s` },
};
const DENSITY = (s) => Math.round(50 * 200 ** (s / 100)); // kg/m³
const NAMES = [[300, "foam"], [700, "cork"], [970, "wood"], [1040, "as water"], [2000, "clay"], [5000, "stone"], [Infinity, "iron"]];

export class Ui {
  constructor(act) {
    this.act = act; // open, retry, pause, set, excite, forget, save, sound, hand
    this.shape = "ball";
    this.isShut = false; // whether the end of a game was closed
    this.buttons();
    this.sliders();
  }

  buttons() {
    const { act } = this;
    const on = (id, work) => byId(id).addEventListener("click", (event) => {
      // Keys go to the water, not to the button that was pressed last.
      event.currentTarget.blur();
      work();
    });
    on("to-menu", () => act.open("menu"));
    on("retry", () => act.retry());
    on("pause", () => act.pause());
    on("sound", () => act.sound());
    on("help", () => this.toggleKeys());
    on("keys-close", () => this.toggleKeys());
    on("go-free", () => act.open("free"));
    on("go-scene", () => act.open("scene"));
    on("end-again", () => act.retry());
    on("end-menu", () => act.open("menu"));
    on("end-next", () => this.next());
    on("save-scene", () => act.save("scene"));
    on("save-log", () => act.save("log"));
    for (const button of document.querySelectorAll("[data-hand]")) {
      button.addEventListener("click", () => {
        button.blur();
        act.hand(button.dataset.hand);
      });
    }
    for (const button of document.querySelectorAll("[data-shape]")) {
      button.addEventListener("click", () => {
        this.shape = button.dataset.shape;
        this.showShape();
      });
    }
    this.showShape();
  }

  sliders() {
    for (const [name, scale] of Object.entries(SCALES)) {
      byId(name).addEventListener("input", ({ target }) => {
        const value = scale.from(Number(target.value));
        byId(`${name}-out`).textContent = scale.text(value);
        this.act.set(name, value);
      });
    }
    const show = () => {
      const { density, radius } = this.dropped();
      byId("density-out").textContent = `${density} (${NAMES.find(([most]) => density < most)[1]})`;
      byId("radius-out").textContent = `${Math.round(200 * radius)} cm`;
    };
    for (const id of ["density", "radius"]) byId(id).addEventListener("input", show);
    show();
  }

  /** What the next body is like. */
  dropped() {
    return { density: DENSITY(Number(byId("density").value)), radius: Number(byId("radius").value) / 1000, box: this.shape === "box" };
  }

  showShape() {
    for (const button of document.querySelectorAll("[data-shape]")) button.classList.toggle("chosen", button.dataset.shape === this.shape);
  }

  showHand(hand) {
    for (const button of document.querySelectorAll("[data-hand]")) button.classList.toggle("chosen", button.dataset.hand === hand);
    byId("drop-box").hidden = hand !== "drop";
  }

  toggleKeys() {
    byId("keys").hidden = !byId("keys").hidden;
  }

  /** Shows another world, or what is new in this one. */
  showWorld() {
    const { world } = state;
    const { name, rules, scene, settings } = world;
    const isMenu = name === "menu";
    byId("stage").style.setProperty("--ratio", world.size[0] / world.size[1]);
    byId("menu").hidden = !isMenu;
    byId("hud").hidden = isMenu;
    byId("tools").hidden = isMenu || !!rules;
    if (isMenu) this.showLevels();
    byId("go-scene").hidden = !scene;
    byId("go-scene").textContent = scene ? `Your scene: ${scene}` : "";
    byId("title").textContent = rules ? rules.title : name === "free" ? "Free play" : (scene ?? "");
    byId("teaches").textContent = rules ? rules.teaches : "Drag to stir";
    byId("meter").hidden = byId("lanterns").hidden = !rules;
    byId("save-log").title = `Download the log of this ${rules ? "level" : "world"} (L)`;
    if (rules) this.showMarks(rules);
    for (const [setting, scale] of Object.entries(SCALES)) {
      const slider = byId(setting);
      if (document.activeElement !== slider) slider.value = scale.to(settings[setting]);
      byId(`${setting}-out`).textContent = scale.text(settings[setting]);
    }
    this.showModes();
    document.title = isMenu ? "Currents" : `${byId("title").textContent} · Currents`;
  }

  /** What the meter spans: a third more than two stars, or all there is. */
  span(rules) {
    return rules.budget ?? 1.35 * rules.stars[1];
  }

  showMarks(rules) {
    byId("mark-3").style.left = `${(100 * rules.stars[0]) / this.span(rules)}%`;
    byId("mark-2").style.left = `${(100 * rules.stars[1]) / this.span(rules)}%`;
  }

  showLevels() {
    const won = starsWon();
    byId("levels").replaceChildren(...state.world.levels.map(({ name, title }, k) => {
      const button = document.createElement("button");
      button.className = "level";
      button.dataset.level = name;
      const number = document.createElement("b");
      number.textContent = k + 1;
      const label = document.createElement("span");
      label.textContent = title;
      const stars = document.createElement("em");
      starsIn(stars, won[name] ?? 0);
      button.append(number, label, stars);
      button.addEventListener("click", () => this.act.open(name));
      return button;
    }));
  }

  /** Chips of the drawn modes, with the lines that they were drawn by. */
  showModes() {
    const { modes, size } = state.world;
    byId("chips").replaceChildren(...modes.map(({ name, points }, k) => {
      const chip = document.createElement("button");
      chip.className = "chip";
      chip.title = `${name}: press ${k + 1}; with Shift, backwards`;
      chip.dataset.mode = name;
      const number = document.createElement("b");
      number.textContent = k + 1;
      const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      picture.setAttribute("viewBox", `0 0 ${1000 * size[0]} ${1000 * size[1]}`);
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("d", pathOf(points, size, 1000));
      picture.append(line);
      const away = document.createElement("u");
      away.textContent = "×";
      away.title = "Give it up";
      away.addEventListener("click", (event) => {
        event.stopPropagation();
        this.act.forget(name);
      });
      chip.append(picture, number, away);
      chip.addEventListener("click", (event) => {
        chip.blur();
        this.act.excite(k, event.shiftKey);
      });
      return chip;
    }));
  }

  fired(k) {
    const chip = byId("chips").children[k];
    if (!chip) return;
    chip.classList.remove("fired");
    void chip.offsetWidth; // the animation begins anew
    chip.classList.add("fired");
  }

  /** Shows how the game stands. */
  showGame() {
    const { game, world } = state;
    if (!world || game.world !== world.world) return;
    byId("pause").classList.toggle("chosen", game.paused);
    const { rules, things } = world;
    if (!rules) {
      byId("end").hidden = true;
      return;
    }
    const floats = things.filter(({ kind }) => kind === "float").length;
    const all = Math.max(rules.need, game.home + game.lost + floats);
    byId("lanterns").replaceChildren(...Array.from({ length: all }, (_, k) => {
      const lamp = document.createElement("i");
      lamp.className = k < game.home ? "home" : k >= all - game.lost ? "lost" : "";
      return lamp;
    }));
    if (game.phase === "won") keepStars(world.name, game.stars);
    clearTimeout(this.ending);
    if (game.phase === "playing") {
      byId("end").hidden = true;
    } else {
      // The water is looked at for a moment first.
      this.ending = setTimeout(() => this.showEnd(), 900);
    }
  }

  showEnd() {
    const { game, world } = state;
    if (game.phase === "playing" || !world.rules) return;
    const isWon = game.phase === "won";
    const place = world.levels.findIndex(({ name }) => name === world.name);
    const isLast = place === world.levels.length - 1;
    byId("end-title").textContent = isWon ? (isLast ? "All lanterns are home" : "Home!") : "Gone dark";
    byId("end-stars").hidden = !isWon;
    starsIn(byId("end-stars"), game.stars);
    const needed = game.stars === 2 ? world.rules.stars[0] : world.rules.stars[1];
    byId("end-text").textContent = isWon
      ? `Energy ${game.spent.toFixed(0)}${game.stars < 3 ? ` · ${needed.toFixed(0)} would be ${game.stars + 1} stars` : " · as gentle as it gets"}`
      : world.rules.budget && game.spent >= world.rules.budget ? "Your breath ran out" : "Too few lanterns are left";
    byId("end-next").hidden = !isWon || isLast;
    byId("end").hidden = false;
  }

  next() {
    const { levels, name } = state.world;
    const place = levels.findIndex((level) => level.name === name);
    this.act.open(levels[Math.min(levels.length - 1, place + 1)].name);
  }

  /** The meter, sixty times a second. */
  showSpent(spent) {
    const rules = state.world?.rules;
    if (!rules) {
      byId("spent").textContent = "";
      return;
    }
    const fill = byId("fill");
    fill.style.width = `${Math.min(100, (100 * spent) / this.span(rules))}%`;
    fill.className = spent <= rules.stars[0] ? "" : spent <= rules.stars[1] ? "two" : "one";
    byId("spent").textContent = `energy ${spent.toFixed(0)}${rules.budget ? ` of ${rules.budget.toFixed(0)}` : ""}`;
  }

  /** Says something for a while. */
  say(text, seconds = 3.5) {
    const note = byId("note");
    note.textContent = text;
    note.classList.add("on");
    clearTimeout(this.noted);
    this.noted = setTimeout(() => note.classList.remove("on"), 1000 * seconds);
  }

  showGone(title, text) {
    byId("gone").hidden = !title;
    byId("gone-title").textContent = title ?? "";
    byId("gone-text").textContent = text ?? "";
  }

  showStats(text) {
    byId("stats").textContent = text;
  }

  /** A dotted line where somebody draws. */
  showLine(points) {
    byId("line").setAttribute("d", points.length > 1 ? pathOf(points, state.world.size, 1600 / state.world.size[0]) : "");
  }

  showCursor(at, isStirring) {
    const cursor = byId("cursor");
    cursor.classList.toggle("on", !!at);
    if (!at) return;
    const [x, y] = overPlace(at);
    cursor.setAttribute("transform", `translate(${x} ${y}) scale(${isStirring ? 0.7 : 1})`);
  }

  /** The ghost of a hand shows what to do, until somebody does. */
  showGhost(path, seconds) {
    const ghost = byId("ghost");
    ghost.classList.toggle("on", !!path);
    if (!path) return;
    const points = path.map(overPlace);
    const part = Math.min(1, (seconds % 2.6) / 1.5);
    const eased = part * part * (3 - 2 * part);
    const [x, y] = along(points, eased);
    byId("finger").setAttribute("transform", `translate(${x} ${y})`);
    byId("finger").setAttribute("opacity", seconds % 2.6 > 2.1 ? 0 : 1);
    byId("trace").setAttribute("d", `M${points.map((p) => p.join(" ")).join("L")}`);
  }
}

function overPlace([x, y]) {
  const [width, height] = state.world.size;
  return [(1600 * x) / width, 900 * (1 - y / height)];
}

function pathOf(points, size, scale) {
  const shown = points.map(([x, y]) => `${(x * scale).toFixed(1)} ${((size[1] - y) * scale).toFixed(1)}`);
  return `M${shown.join("L")}`;
}

/** The point of a line after such a part of it. */
function along(points, part) {
  const lengths = points.slice(1).map((p, k) => Math.hypot(p[0] - points[k][0], p[1] - points[k][1]));
  let left = part * lengths.reduce((a, b) => a + b, 0);
  for (let k = 0; k < lengths.length; k++) {
    if (left <= lengths[k]) return [0, 1].map((a) => points[k][a] + ((points[k + 1][a] - points[k][a]) * left) / lengths[k]);
    left -= lengths[k];
  }
  return points.at(-1);
}
