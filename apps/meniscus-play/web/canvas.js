// The water without WebGL2: the flow summed up on a coarse grid, some particles, and bodies, on a plain canvas. Slower, and without dye.
import { distanceTo } from "./bodies.js";
import { state } from "./state.js";

const COLUMNS = 48; // of the grid
const COLOURS = { solid: "#22383f", body: "#45b795", float: "#ffb454", mine: "#5a1222" };

export class PlainWater {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.kind = "plain canvas";
    this.world = 0;
    this.drawnAt = 0; // s
    this.particles = [];
    this.flashes = [];
    this.count = 2500;
  }

  /** What is drawn, in words. */
  get about() {
    return `${this.count.toLocaleString("en")} particles, no dye`;
  }

  /** Fewer particles where there is less to spare. */
  setLevel({ particles }) {
    this.count = Math.max(400, Math.min(2500, Math.round(particles / 12)));
    this.particles.length = Math.min(this.particles.length, this.count);
  }

  splat() {}

  flash(at, isGood, now) {
    this.flashes = [{ at, isGood, since: now }, ...this.flashes].slice(0, 4);
  }

  draw(frame, now) {
    const { canvas } = this;
    if (frame.world !== this.world) {
      [this.world, this.step, this.size] = [frame.world, frame.step, state.world.size];
      this.rows = Math.round((COLUMNS * this.size[1]) / this.size[0]);
      this.tables(frame.waves);
    }
    [canvas.width, canvas.height].some((side, k) => side !== [canvas.clientWidth, canvas.clientHeight][k]) && this.resize();
    const steps = Math.max(0, frame.step - this.step);
    const dt = Math.min(0.1, frame.waits ? now - this.drawnAt : steps / 120);
    [this.step, this.drawnAt] = [frame.step, now];
    this.synthesise(frame);
    this.picture(frame, dt, now);
  }

  resize() {
    [this.canvas.width, this.canvas.height] = [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /** Sines and cosines at the nodes of the grid. */
  tables([kx, ky]) {
    const table = (count, nodes, wave) => Float32Array.from({ length: count * (nodes + 1) }, (_, n) => wave((Math.PI * (Math.floor(n / (nodes + 1)) + 1) * (n % (nodes + 1))) / nodes));
    [this.sinX, this.cosX] = [Math.sin, Math.cos].map((wave) => table(kx, COLUMNS, wave));
    [this.sinY, this.cosY] = [Math.sin, Math.cos].map((wave) => table(ky, this.rows, wave));
    this.u = new Float32Array((COLUMNS + 1) * (this.rows + 1));
    this.v = new Float32Array(this.u.length);
  }

  /** Velocities at the nodes, by sums along y first. */
  synthesise({ waves: [kx, ky], coefficients }) {
    const { rows, size, u, v } = this;
    u.fill(0);
    v.fill(0);
    for (let k = 0; k < kx; k++) {
      const a = (Math.PI * (k + 1)) / size[0];
      for (let j = 0; j <= rows; j++) {
        let [by, slope] = [0, 0];
        for (let l = 0; l < ky; l++) {
          const b = (Math.PI * (l + 1)) / size[1];
          const stream = coefficients[k * ky + l] / (a * a + b * b);
          by += stream * this.sinY[l * (rows + 1) + j];
          slope += stream * b * this.cosY[l * (rows + 1) + j];
        }
        for (let i = 0; i <= COLUMNS; i++) {
          u[j * (COLUMNS + 1) + i] += slope * this.sinX[k * (COLUMNS + 1) + i];
          v[j * (COLUMNS + 1) + i] -= a * by * this.cosX[k * (COLUMNS + 1) + i];
        }
      }
    }
  }

  velocity(x, y) {
    const { rows, size, u, v } = this;
    const [s, t] = [(x / size[0]) * COLUMNS, (y / size[1]) * rows];
    const [i, j] = [Math.min(COLUMNS - 1, Math.max(0, Math.floor(s))), Math.min(rows - 1, Math.max(0, Math.floor(t)))];
    const [p, q] = [s - i, t - j];
    const at = (values) => {
      const n = j * (COLUMNS + 1) + i;
      return (values[n] * (1 - p) + values[n + 1] * p) * (1 - q) + (values[n + COLUMNS + 1] * (1 - p) + values[n + COLUMNS + 2] * p) * q;
    };
    return [at(u), at(v)];
  }

  picture(frame, dt, now) {
    const { canvas, context, size } = this;
    const scale = canvas.width / size[0];
    const place = (x, y) => [x * scale, canvas.height - y * scale];
    context.fillStyle = "rgba(5, 32, 46, 0.22)";
    context.fillRect(0, 0, canvas.width, canvas.height);
    this.moveParticles(frame, dt, place);
    this.ring(now, scale, place);
    for (const { id, x, y, angle } of frame.bodies) {
      const thing = state.things.get(id);
      if (!thing) continue;
      context.save();
      context.translate(...place(x, y));
      context.rotate(-angle);
      context.beginPath();
      for (const [cx, cy] of thing.outline) context.lineTo(cx * scale, -cy * scale);
      context.closePath();
      context.fillStyle = COLOURS[thing.kind];
      context.shadowColor = thing.kind === "float" ? "#ffb454" : thing.kind === "mine" ? "#ff3344" : "transparent";
      context.shadowBlur = 18;
      context.fill();
      context.shadowBlur = 0;
      context.lineWidth = 2;
      context.strokeStyle = thing.kind === "mine" ? "#ff5d6c" : "rgba(255, 255, 255, 0.55)";
      context.stroke();
      context.restore();
    }
    for (const { at, isGood, since } of this.flashes.filter((flash) => now - flash.since < 1)) {
      context.beginPath();
      context.arc(...place(...at), 0.5 * (now - since) * scale, 0, 7);
      context.lineWidth = 6 * (1 - now + since);
      context.strokeStyle = isGood ? "#ffd27a" : "#ff4455";
      context.stroke();
    }
  }

  moveParticles(frame, dt, place) {
    const { context, size, particles, count } = this;
    const anywhere = () => ({ x: Math.random() * size[0], y: Math.random() * size[1], age: 6 * Math.random() });
    while (particles.length < count) particles.push(anywhere());
    const solids = frame.bodies.map((body) => ({ ...body, thing: state.things.get(body.id) })).filter(({ thing }) => thing);
    context.strokeStyle = "rgba(150, 240, 225, 0.5)";
    context.lineWidth = 1.2;
    context.beginPath();
    for (let k = 0; k < count; k++) {
      const p = particles[k];
      const [u, v] = this.velocity(p.x, p.y);
      const from = place(p.x, p.y);
      [p.x, p.y, p.age] = [p.x + u * dt, p.y + v * dt, p.age + dt];
      const isInside = solids.some((body) => within(body, p.x, p.y));
      if (p.age > 6 || isInside) {
        particles[k] = { ...anywhere(), age: 0 };
        continue;
      }
      context.moveTo(...from);
      const to = place(p.x, p.y);
      context.lineTo(to[0] + 0.8, to[1]);
    }
    context.stroke();
  }

  ring(now, scale, place) {
    const ring = state.world.rules?.ring;
    if (!ring) return;
    const { context } = this;
    context.beginPath();
    context.arc(...place(...ring.centre), ring.radius * scale * (1 + 0.02 * Math.sin(3 * now)), 0, 7);
    context.lineWidth = 4;
    context.setLineDash([14, 10]);
    context.lineDashOffset = -20 * now;
    context.strokeStyle = "#5ff0dc";
    context.stroke();
    context.setLineDash([]);
  }
}

function within({ x, y, angle, thing }, px, py) {
  const [dx, dy] = [px - x, py - y];
  if (Math.hypot(dx, dy) > thing.radius) return false;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return distanceTo(thing.outline, c * dx + s * dy, c * dy - s * dx) < 0;
}
