// What lies over the water: menu, levels, figures, tools, messages.
import { keep, kept } from "./kept.js";
import { state } from "./state.js";

const byId = (id) => document.getElementById(id);

/** The stars of levels that have been won, by name. */
export function starsWon() {
  return kept("stars") ?? {};
}

export function keepStars(name, stars) {
  const won = starsWon();
  keep("stars", { ...won, [name]: Math.max(won[name] ?? 0, stars) });
}

/** Three stars, so many of them won. */
function starsIn(element, count) {
  element.setAttribute("aria-label", `${count} of 3 stars`);
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
const TEACHES = {
  stir: "Drag to stir",
  draw: "Drag a line: it becomes a mode",
  drop: "Tap the water to drop a body",
  take: "Tap a body to take it out",
};
const BEHIND = ["hud", "chips", "tools"]; // sheets
const ROOMY = 0.4; // of the window: with more left over, tools are under the water
const isLow = matchMedia("(max-height: 520px)"); // tools are folded then
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const NAMES = [[300, "foam"], [700, "cork"], [970, "wood"], [1040, "as water"], [2000, "clay"], [5000, "stone"], [Infinity, "iron"]];

export class Ui {
  constructor(act) {
    this.act = act; // open, retry, pause, set, excite, forget, save, picture, sound, hand, reads
    this.shape = "ball";
    this.hand = "stir";
    this.buttons();
    this.sliders();
    const fold = () => (byId("more").open = !isLow.matches);
    isLow.addEventListener("change", fold);
    fold();
    window.addEventListener("resize", () => this.layout());
  }

  /** Where much of the window is left over, tools are under the water, and beside or over it otherwise. */
  layout() {
    if (!state.world) return;
    const { size, name } = state.world;
    const left = 1 - (window.innerWidth * size[1]) / size[0] / window.innerHeight;
    byId("stage").classList.toggle("stacked", name !== "menu" && left > ROOMY);
  }

  /** Opens or closes a sheet. The focus goes into it, and then back. */
  sheet(id, isOpen) {
    const sheet = byId(id);
    if (sheet.hidden !== isOpen) return;
    if (isOpen) this.cameFrom = document.activeElement;
    sheet.hidden = !isOpen;
    const open = this.openSheet();
    for (const part of BEHIND) byId(part).inert = !!open;
    if (open) return open.focus({ preventScroll: true });
    this.cameFrom?.focus({ preventScroll: true });
    if (document.activeElement !== this.cameFrom || this.cameFrom === document.body) byId("water").focus({ preventScroll: true });
  }

  /** The sheet that is seen, if one is. */
  openSheet() {
    return [...document.querySelectorAll(".sheet:not([hidden])")].at(-1);
  }

  buttons() {
    const { act } = this;
    const on = (id, work) => byId(id).addEventListener("click", (event) => {
      freed(event);
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
    on("anew", () => act.retry());
    on("picture", () => act.picture());
    on("save-scene", () => act.save("scene"));
    on("save-log", () => act.save("log"));
    for (const button of document.querySelectorAll("[data-hand]")) {
      button.addEventListener("click", (event) => {
        freed(event);
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
        tellSlider(name, scale.text(value));
        this.act.set(name, value);
      });
    }
    const show = () => {
      const { density, radius } = this.dropped();
      tellSlider("density", `${density} (${NAMES.find(([most]) => density < most)[1]})`);
      tellSlider("radius", `${Math.round(200 * radius)} cm`);
    };
    for (const id of ["density", "radius"]) byId(id).addEventListener("input", show);
    show();
  }

  /** What the next body is like. */
  dropped() {
    return { density: DENSITY(Number(byId("density").value)), radius: Number(byId("radius").value) / 1000, box: this.shape === "box" };
  }

  showShape() {
    for (const button of document.querySelectorAll("[data-shape]")) choose(button, button.dataset.shape === this.shape);
  }

  showHand(hand) {
    this.hand = hand;
    for (const button of document.querySelectorAll("[data-hand]")) choose(button, button.dataset.hand === hand, "aria-checked");
    byId("drop-box").hidden = hand !== "drop";
    this.showTitle();
  }

  toggleKeys() {
    const isOpen = byId("keys").hidden;
    this.sheet("keys", isOpen);
    this.act.reads(isOpen);
  }

  /** What a level teaches, where there is no room for it in the bar. */
  sayTeaches() {
    const { rules } = state.world;
    if (rules && !byId("teaches").checkVisibility()) this.say(rules.teaches, 6);
  }

  showTitle() {
    if (!state.world) return;
    const { name, rules, scene, about } = state.world;
    byId("title").textContent = rules ? rules.title : name === "free" ? "Free play" : (about ?? scene ?? "");
    byId("title").title = about ?? "";
    byId("teaches").textContent = rules ? rules.teaches : TEACHES[this.hand];
  }

  /** Shows another world, or what is new in this one. */
  showWorld() {
    const { world } = state;
    const { name, rules, scene, settings } = world;
    const isMenu = name === "menu";
    byId("stage").style.setProperty("--ratio", world.size[0] / world.size[1]);
    this.layout();
    if (isMenu) this.showLevels();
    this.sheet("menu", isMenu);
    byId("hud").hidden = isMenu;
    byId("tools").hidden = isMenu || !!rules;
    byId("go-scene").hidden = !scene;
    byId("go-scene").textContent = scene ? `Your scene: ${scene}` : "";
    this.showTitle();
    document.querySelector(".centre").hidden = !rules;
    for (const [what, label] of [["title", rules ? "Again (R)" : "Start anew (R)"], ["aria-label", rules ? "Again" : "Start anew"]]) byId("retry").setAttribute(what, label);
    byId("save-log").title = `Download the log of this ${rules ? "level" : "world"} (L)`;
    if (rules) this.showMarks(rules);
    for (const [setting, scale] of Object.entries(SCALES)) {
      const slider = byId(setting);
      if (document.activeElement !== slider) slider.value = scale.to(settings[setting]);
      tellSlider(setting, scale.text(settings[setting]));
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
      button.setAttribute("aria-label", `${k + 1} ${title}, ${won[name] ?? 0} of 3 stars`);
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
    byId("chips").replaceChildren(...state.world.modes.map((mode, k) => this.chip(mode, k)));
  }

  chip({ name, points }, k) {
    const chip = document.createElement("div");
    chip.className = "chip";
    const fire = document.createElement("button");
    fire.className = "fire";
    fire.title = `${name}: press ${k + 1}; with Shift, backwards`;
    fire.setAttribute("aria-label", `Mode ${k + 1}`);
    const number = document.createElement("b");
    number.textContent = k + 1;
    fire.append(picture(points), number);
    fire.addEventListener("click", (event) => {
      freed(event);
      this.act.excite(k, event.shiftKey);
    });
    const away = document.createElement("button");
    away.className = "away";
    away.textContent = "×";
    away.title = "Give it up";
    away.setAttribute("aria-label", `Give up mode ${k + 1}`);
    away.addEventListener("click", (event) => {
      freed(event);
      this.act.forget(name);
    });
    chip.append(fire, away);
    return chip;
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
    choose(byId("pause"), game.paused);
    const { rules, things } = world;
    if (!rules) return this.sheet("end", false);
    const floats = things.filter(({ kind }) => kind === "float").length;
    const all = Math.max(rules.need, game.home + game.lost + floats);
    byId("lanterns").replaceChildren(...Array.from({ length: all }, (_, k) => {
      const lamp = document.createElement("i");
      lamp.className = k < game.home ? "home" : k >= all - game.lost ? "lost" : "";
      return lamp;
    }));
    byId("lanterns").setAttribute("aria-label", `${game.home} of ${rules.need} lanterns are home, ${game.lost} are lost`);
    if (game.phase === "won") keepStars(world.name, game.stars);
    clearTimeout(this.ending);
    if (game.phase === "playing") {
      this.sheet("end", false);
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
      : world.rules.budget && game.spent >= world.rules.budget ? "The energy is used up" : "Too few lanterns are left";
    byId("end-next").hidden = !isWon || isLast;
    this.sheet("end", true);
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
    byId("gone-title").textContent = title ?? "";
    byId("gone-text").textContent = text ?? "";
    this.sheet("gone", !!title);
  }

  showStats(text) {
    byId("stats").textContent = text;
  }

  /** A dotted line where somebody draws. */
  showLine(points) {
    byId("line").setAttribute("d", points.length > 1 ? lineOf(points.map(overPlace)) : "");
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
    const phase = isStill.matches ? 0 : seconds % 2.6;
    const part = Math.min(1, phase / 1.5);
    const eased = part * part * (3 - 2 * part);
    const [x, y] = along(points, eased);
    byId("finger").setAttribute("transform", `translate(${x} ${y})`);
    byId("finger").setAttribute("opacity", phase > 2.1 ? 0 : 1);
    byId("trace").setAttribute("d", lineOf(points));
  }
}

/** Where a point of the water is over the canvas, in px. */
function overPlace([x, y]) {
  const [width, height] = state.world.size;
  const { clientWidth, clientHeight } = byId("water");
  return [(clientWidth * x) / width, clientHeight * (1 - y / height)];
}

function lineOf(points) {
  return `M${points.map((point) => point.map((x) => x.toFixed(1)).join(" ")).join("L")}`;
}

/** A small picture of a line in the box. */
function picture(points) {
  const [width, height] = state.world.size.map((side) => 1000 * side);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  if (points.length) line.setAttribute("d", lineOf(points.map(([x, y]) => [1000 * x, height - 1000 * y])));
  svg.append(line);
  return svg;
}

/** Keys go to the water, not to the button that was pressed last with a finger or a mouse. */
function freed({ currentTarget, detail }) {
  if (detail > 0) currentTarget.blur();
}

function choose(button, isChosen, attribute = "aria-pressed") {
  button.classList.toggle("chosen", isChosen);
  button.setAttribute(attribute, isChosen);
}

function tellSlider(id, text) {
  byId(`${id}-out`).textContent = text;
  byId(id).setAttribute("aria-valuetext", text);
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
