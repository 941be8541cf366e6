// Pointers and keys become strokes. Dragging stirs, draws, drops or takes; arrows move a cursor, and space stirs with it.
import { state } from "./state.js";

const GAIN = 0.55; // of the speed of the hand, the water's
const SLOWEST = 0.12; // m/s that any stroke gives
const FASTEST = 0.9;
const NEAR = 0.004; // m: points of lines are farther apart
const MOST = 48; // points of a line that is drawn
const CURSOR = 0.55; // m/s of the cursor under an arrow
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Input {
  constructor(canvas, act) {
    this.canvas = canvas;
    this.act = act; // stir, splat, draw, drop, take, line, cursor, touched, say
    this.hand = "stir";
    this.strokes = new Map(); // by pointer
    this.keys = new Set();
    this.cursor = null;
    this.pen = null; // points that the cursor draws
    this.hue = Math.random();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => this.up(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Where an event is, in m. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const [width, height] = state.world.size;
    return [((event.clientX - box.left) / box.width) * width, (1 - (event.clientY - box.top) / box.height) * height];
  }

  down(event) {
    if (!state.world) return;
    this.act.touched();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.hue += 0.381966;
    this.strokes.set(event.pointerId, { hand: this.hand, points: [this.place(event)], sent: 0, time: event.timeStamp, speed: 0, hue: this.hue });
  }

  move(event) {
    const stroke = this.strokes.get(event.pointerId);
    if (!stroke || !state.world) return;
    const events = event.getCoalescedEvents?.() ?? [];
    for (const part of events.length ? events : [event]) {
      const at = this.place(part);
      const last = stroke.points.at(-1);
      const way = Math.hypot(at[0] - last[0], at[1] - last[1]);
      if (way < NEAR) continue;
      const passed = Math.max(1, part.timeStamp - stroke.time) / 1000;
      stroke.speed += (way / passed - stroke.speed) * Math.min(1, passed / 0.05);
      stroke.time = part.timeStamp;
      stroke.points.push(at);
    }
    if (stroke.hand === "draw") this.act.line(stroke.points);
  }

  up(event) {
    const stroke = this.strokes.get(event.pointerId);
    if (!stroke) return;
    this.flushOne(stroke);
    this.strokes.delete(event.pointerId);
    if (event.type === "pointercancel") return this.act.line([]);
    const end = stroke.points.at(-1);
    if (stroke.hand === "draw") this.endLine(stroke.points);
    if (stroke.hand === "drop") this.act.drop(end);
    if (stroke.hand === "take") this.act.take(end);
  }

  /** Sends what was drawn since the picture before; is called once a picture. */
  flush(dt) {
    for (const stroke of this.strokes.values()) this.flushOne(stroke);
    this.moveCursor(dt);
  }

  flushOne(stroke) {
    if (stroke.hand !== "stir" || stroke.points.length - stroke.sent < 2) return;
    const points = stroke.points.slice(stroke.sent).slice(-MOST);
    stroke.sent = stroke.points.length - 1;
    this.stir(points, stroke.speed, stroke.hue);
  }

  stir(points, speed, hue) {
    const given = Math.min(FASTEST, Math.max(SLOWEST, GAIN * speed));
    this.act.stir(points, given);
    for (let k = 1; k < points.length; k++) this.act.splat([...points[k - 1], ...points[k]], hue, given);
  }

  endLine(points) {
    this.act.line([]);
    if (points.length > 1) this.act.draw(thinned(points));
    else this.act.say("Draw a line, not only a point");
  }

  key(event, isDown) {
    const isOurs = event.key in ARROWS || event.key === " ";
    if (!isOurs || !state.world) return false;
    if (!isDown) {
      this.release(event.key);
      return true;
    }
    this.act.touched();
    this.cursor ??= state.world.size.map((side) => side / 2);
    if (event.key === " " && !this.keys.has(" ")) this.press();
    this.keys.add(event.key);
    return true;
  }

  /** Space does at the cursor what a finger would do there. */
  press() {
    this.hue += 0.381966;
    if (this.hand === "draw") this.pen = [this.cursor];
    if (this.hand === "drop") this.act.drop(this.cursor);
    if (this.hand === "take") this.act.take(this.cursor);
  }

  release(key) {
    this.keys.delete(key);
    if (key !== " " || !this.pen) return;
    this.endLine(this.pen);
    this.pen = null;
  }

  releaseAll() {
    for (const key of [...this.keys]) this.release(key);
  }

  /** In another world there is nothing of this one. */
  reset() {
    this.strokes.clear();
    this.keys.clear();
    this.cursor = this.pen = null;
    this.act.line([]);
  }

  moveCursor(dt) {
    if (!this.cursor) return this.act.cursor(null, false);
    const way = [0, 0];
    for (const key of this.keys) (ARROWS[key] ?? [0, 0]).forEach((step, axis) => (way[axis] += step));
    const length = Math.hypot(...way);
    const isPressed = this.keys.has(" ");
    if (length > 0) {
      const next = this.cursor.map((x, axis) => Math.min(state.world.size[axis], Math.max(0, x + (CURSOR * dt * way[axis]) / length)));
      if (this.pen) this.act.line(this.pen = [...this.pen, next]);
      else if (isPressed && this.hand === "stir") this.stir([this.cursor, next], CURSOR / GAIN, this.hue);
      this.cursor = next;
    }
    this.act.cursor(this.cursor, isPressed);
  }
}

/** At most so many points of a line as one may have. */
function thinned(points) {
  const every = Math.ceil(points.length / MOST);
  return points.filter((_, k) => k % every === 0 || k === points.length - 1);
}
