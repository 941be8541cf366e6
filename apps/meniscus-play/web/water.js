// The water by WebGL2: the flow from its coefficients, dye and particles that go along with it, bodies, and the picture of all that.
import { Bodies } from "./bodies.js";
import { copy, cover, into, program, release, target, use } from "./gl.js";
import { state } from "./state.js";

const SOLID = 320; // of distances to bodies
const FADE = 7; // s in which dye fades to 1/e
const FLASH = 1.6; // s that a wave of light is seen

/** The water, or why it cannot be drawn like this. */
export async function makeWater(canvas) {
  // Tried on another canvas, since one that has had a context gets no other.
  const trial = document.createElement("canvas").getContext("webgl2");
  if (!trial) throw new Error("this browser has no WebGL2");
  if (!trial.getExtension("EXT_color_buffer_float")) throw new Error("this graphics card does not draw into textures of floats");
  trial.getExtension("WEBGL_lose_context")?.loseContext();
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, powerPreference: "high-performance" });
  gl.getExtension("EXT_color_buffer_float");
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  const water = new Water(gl, canvas);
  water.isSoftware = /swiftshader|llvmpipe|software/i.test(renderer);
  await water.prepare();
  return water;
}

class Water {
  constructor(gl, canvas) {
    this.gl = gl;
    this.canvas = canvas;
    this.kind = "WebGL2";
    this.splats = [];
    this.flashes = [];
    this.world = 0;
    this.step = 0;
    this.drawnAt = 0; // s
    this.level = null;
  }

  async prepare() {
    const { gl } = this;
    // Floats between texels need an extension; halves do without.
    const isSmooth = !!gl.getExtension("OES_texture_float_linear");
    this.exact = { internal: gl.RGBA32F, format: gl.RGBA, type: gl.FLOAT, filter: gl.NEAREST };
    this.half = { internal: gl.RGBA16F, format: gl.RGBA, type: gl.HALF_FLOAT, filter: gl.LINEAR };
    this.smooth = isSmooth ? { ...this.exact, filter: gl.LINEAR } : this.half;
    const names = {
      rows: ["quad.vert", "rows.frag"],
      flow: ["quad.vert", "flow.frag"],
      solid: ["solid.vert", "solid.frag"],
      dye: ["quad.vert", "dye.frag"],
      splat: ["quad.vert", "splat.frag"],
      move: ["move.vert", null, { captured: ["after"] }],
      point: ["point.vert", "point.frag"],
      fade: ["quad.vert", "fade.frag"],
      scene: ["quad.vert", "scene.frag"],
      compose: ["quad.vert", "compose.frag"],
      body: ["solid.vert", "body.frag"],
    };
    const made = Object.entries(names).map(async ([name, [vertex, fragment, options]]) => [name, await program(gl, vertex, fragment, options)]);
    this.programs = Object.fromEntries(await Promise.all(made));
    this.bodies = new Bodies(gl);
    this.solidArrays = this.bodies.arrays(this.programs.solid);
    this.bodyArrays = this.bodies.arrays(this.programs.body);
    this.nothing = gl.createVertexArray();
    this.feedback = gl.createTransformFeedback();
  }

  /** What is drawn, in words. */
  get about() {
    return `${this.count.toLocaleString("en")} particles, dye ${this.level.dye}`;
  }

  /** How much is drawn: see quality.js. Dye and particles go on. */
  setLevel(level) {
    this.level = level;
    if (!this.size) return;
    const [old, other] = this.dye;
    this.dye = [other];
    this.build(this.particles[0].buffer);
    copy(this.gl, old, this.dye[0]);
    release(this.gl, old);
  }

  /** Makes all that depends on the box and on how much is drawn. */
  build(particles = null) {
    const { gl, size, level } = this;
    for (const old of [this.rows, this.flow, this.solid, this.scene, ...(this.dye ?? []), ...(this.trails ?? [])]) if (old) release(gl, old);
    const across = (most) => size.map((side) => Math.max(8, Math.round((most * side) / Math.max(...size))));
    const [width, height] = across(level.flow);
    this.flow = target(gl, width, height, this.smooth);
    this.rows = target(gl, this.waves[0], height, this.exact);
    this.solid = target(gl, ...across(SOLID), this.half);
    this.dye = [0, 1].map(() => target(gl, ...across(level.dye), this.half));
    this.scene = target(gl, ...across(level.dye), this.half);
    this.resize();
    this.coefficients ??= gl.createTexture();
    this.seed(level.particles, particles);
    this.drawnFrame = null;
    if (!this.flow.isWhole || !this.dye[0].isWhole) throw new Error("textures of floats cannot be drawn into");
  }

  resize() {
    const { gl, canvas } = this;
    const scale = Math.min(window.devicePixelRatio || 1, 2) * this.level.scale;
    canvas.width = Math.max(160, Math.round(canvas.clientWidth * scale));
    canvas.height = Math.max(90, Math.round(canvas.clientHeight * scale));
    for (const old of this.trails ?? []) release(gl, old);
    const fine = Math.min(1, 1600 / canvas.width);
    this.trails = [0, 1].map(() => target(gl, Math.round(canvas.width * fine), Math.round(canvas.height * fine), this.half));
    this.shown = [canvas.clientWidth, canvas.clientHeight];
  }

  /** Particles: first those of a buffer, if there is one, then new ones anywhere. */
  seed(count, before) {
    const { gl, size } = this;
    const values = new Float32Array(4 * count);
    for (let k = 0; k < count; k++) {
      const own = Math.random();
      values.set([size[0] * Math.random(), size[1] * Math.random(), 14 * Math.random() * own, own], 4 * k);
    }
    if (before) {
      gl.bindBuffer(gl.ARRAY_BUFFER, before);
      gl.getBufferSubData(gl.ARRAY_BUFFER, 0, values, 0, 4 * Math.min(count, this.count));
    }
    for (const { buffer, move, point } of this.particles ?? []) {
      gl.deleteBuffer(buffer);
      gl.deleteVertexArray(move);
      gl.deleteVertexArray(point);
    }
    this.particles = [0, 1].map(() => {
      const buffer = gl.createBuffer();
      const [move, point] = ["move", "point"].map((name) => {
        const arrays = gl.createVertexArray();
        gl.bindVertexArray(arrays);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        const place = gl.getAttribLocation(this.programs[name].linked, "particle");
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, 4, gl.FLOAT, false, 16, 0);
        return arrays;
      });
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_COPY);
      return { buffer, move, point };
    });
    gl.bindVertexArray(null);
    this.count = count;
  }

  /** Puts dye on a line; `colour` is red, green and blue. */
  splat(line, colour, radius) {
    if (this.splats.length < 64) this.splats.push({ line, colour, radius });
  }

  /** A wave of light where something happened. */
  flash(at, isGood, now) {
    this.flashes = [{ at, isGood, since: now }, ...this.flashes].slice(0, 4);
  }

  /** Draws a moment. */
  draw(frame, now) {
    const { gl, canvas } = this;
    const { world } = state;
    if (frame.world !== this.world || !this.size) {
      this.world = frame.world;
      this.size = world.size;
      this.waves = frame.waves;
      this.step = frame.step;
      this.flashes = [];
      this.build();
    }
    if (this.shown[0] !== canvas.clientWidth || this.shown[1] !== canvas.clientHeight) this.resize();
    const steps = Math.max(0, frame.step - this.step);
    // Water that waits for the first touch flows in the picture.
    const dt = Math.min(0.12, frame.waits ? now - this.drawnAt : steps / 120);
    [this.step, this.drawnAt] = [frame.step, now];
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.nothing);
    this.bodies.update(frame, now);
    if (this.drawnFrame !== frame) this.synthesise(frame);
    this.drawnFrame = frame;
    this.moveDye(dt);
    this.moveParticles(dt, now);
    this.compose(now);
  }

  synthesise(frame) {
    const { gl, size, waves, programs } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.coefficients);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, waves[1], waves[0], 0, gl.RED, gl.FLOAT, frame.coefficients);
    for (const scale of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, scale, gl.NEAREST);
    const coefficients = { texture: this.coefficients };
    into(gl, this.rows);
    use(gl, programs.rows, { coefficients, size, waves, rows: this.flow.height });
    cover(gl);
    into(gl, this.flow);
    use(gl, programs.flow, { sums: this.rows, size, waves, columns: this.flow.width });
    cover(gl);
    into(gl, this.solid);
    gl.clearColor(10, 10, 10, 10);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.MIN);
    use(gl, programs.solid, { shapes: { texture: this.bodies.texture, layers: true }, size, margin: 0.97 });
    gl.bindVertexArray(this.solidArrays);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.bodies.count);
    gl.bindVertexArray(this.nothing);
    gl.blendEquation(gl.FUNC_ADD);
    gl.disable(gl.BLEND);
  }

  moveDye(dt) {
    const { gl, size, programs } = this;
    if (dt > 0) {
      const [from, to] = this.dye;
      into(gl, to);
      use(gl, programs.dye, { dye: from, flow: this.flow, solid: this.solid, size, dt, fade: Math.exp(-dt / FADE) });
      cover(gl);
      this.dye = [to, from];
    }
    if (!this.splats.length) return;
    into(gl, this.dye[0]);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    for (const { line, colour, radius } of this.splats) {
      use(gl, programs.splat, { size, line, radius, colour: [...colour, 0] });
      cover(gl);
    }
    gl.disable(gl.BLEND);
    this.splats = [];
  }

  moveParticles(dt, now) {
    const { gl, size, programs } = this;
    if (dt > 0) {
      const [from, to] = this.particles;
      use(gl, programs.move, { flow: this.flow, solid: this.solid, size, dt, time: now % 61 });
      gl.bindVertexArray(from.move);
      gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, this.feedback);
      gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, to.buffer);
      gl.enable(gl.RASTERIZER_DISCARD);
      gl.beginTransformFeedback(gl.POINTS);
      gl.drawArrays(gl.POINTS, 0, this.count);
      gl.endTransformFeedback();
      gl.disable(gl.RASTERIZER_DISCARD);
      gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, null);
      gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
      gl.bindVertexArray(this.nothing);
      this.particles = [to, from];
    }
    const [old, fresh] = this.trails;
    into(gl, fresh);
    use(gl, programs.fade, { trails: old, keep: Math.exp(-Math.max(dt, 1 / 120) / 0.14) });
    cover(gl);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    const pixels = Math.max(1.1, fresh.width / 1000);
    // As bright with few particles as with many.
    const strength = Math.min(0.55, 0.105 * Math.sqrt(1e5 / this.count) * Math.sqrt(fresh.width / 1280));
    use(gl, programs.point, { flow: this.flow, dye: this.dye[0], size, pixels, strength });
    gl.bindVertexArray(this.particles[0].point);
    gl.drawArrays(gl.POINTS, 0, this.count);
    gl.bindVertexArray(this.nothing);
    gl.disable(gl.BLEND);
    this.trails = [fresh, old];
  }

  compose(now) {
    const { gl, size, programs } = this;
    const { rules } = state.world;
    const home = rules ? (state.game?.home ?? 0) / rules.need : 0;
    const ring = rules ? [...rules.ring.centre, rules.ring.radius, home] : [0, 0, 0, 0];
    const flashes = new Float32Array(16);
    this.flashes.filter(({ since }) => now - since < FLASH).forEach(({ at, isGood, since }, k) => {
      flashes.set([...at, now - since, isGood ? 1 : -1], 4 * k);
    });
    const time = now % 3600;
    into(gl, this.scene);
    use(gl, programs.scene, { dye: this.dye[0], flow: this.flow, solid: this.solid, size, time });
    cover(gl);
    into(gl, null);
    use(gl, programs.compose, { scene: this.scene, trails: this.trails[0], size, time, ring, flashes });
    cover(gl);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const shapes = { texture: this.bodies.texture, layers: true };
    use(gl, programs.body, { shapes, size, margin: 2.2, time, pixel: (0.75 * size[0]) / gl.drawingBufferWidth });
    gl.bindVertexArray(this.bodyArrays);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.bodies.count);
    gl.bindVertexArray(this.nothing);
    gl.disable(gl.BLEND);
  }

  /** For tests: the flow at texels, `[x, y, u, v]` each. */
  flowAt(count) {
    const { gl, flow, size } = this;
    const values = new Float32Array(4 * flow.width * flow.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, flow.buffer);
    gl.readPixels(0, 0, flow.width, flow.height, gl.RGBA, gl.FLOAT, values);
    return Array.from({ length: count }, (_, n) => {
      const [k, j] = [Math.floor(((n % 4) + 0.5) * flow.width / 4), Math.floor((Math.floor(n / 4) + 0.5) * flow.height * 4 / count)];
      const place = 4 * (j * flow.width + k);
      return [((k + 0.5) * size[0]) / flow.width, ((j + 0.5) * size[1]) / flow.height, values[place], values[place + 1]];
    });
  }

  /** For tests: how much dye there is, and its middle. */
  dyeMoments() {
    const { gl, size } = this;
    const [dye] = this.dye;
    const values = new Float32Array(4 * dye.width * dye.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, dye.buffer);
    gl.readPixels(0, 0, dye.width, dye.height, gl.RGBA, gl.FLOAT, values);
    let [sum, x, y] = [0, 0, 0];
    for (let k = 0; k < dye.width * dye.height; k++) {
      const w = values[4 * k] + values[4 * k + 1] + values[4 * k + 2];
      sum += w;
      x += w * ((k % dye.width) + 0.5);
      y += w * (Math.floor(k / dye.width) + 0.5);
    }
    return { sum, x: ((x / sum) * size[0]) / dye.width, y: ((y / sum) * size[1]) / dye.height };
  }

  /** For tests: how many particles are within bodies by more than a distance, in m. */
  particlesInBodies(depth) {
    const { gl, size, solid } = this;
    const values = new Float32Array(4 * this.count);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.particles[0].buffer);
    gl.getBufferSubData(gl.ARRAY_BUFFER, 0, values);
    const distances = new Float32Array(4 * solid.width * solid.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, solid.buffer);
    gl.readPixels(0, 0, solid.width, solid.height, gl.RGBA, gl.FLOAT, distances);
    let within = 0;
    for (let p = 0; p < this.count; p++) {
      const k = Math.min(solid.width - 1, Math.floor((values[4 * p] / size[0]) * solid.width));
      const j = Math.min(solid.height - 1, Math.floor((values[4 * p + 1] / size[1]) * solid.height));
      if (distances[4 * (j * solid.width + k)] < -depth) within++;
    }
    return within;
  }
}
