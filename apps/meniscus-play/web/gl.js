// Small helpers around WebGL2.

const cache = new Map();

/** The source of a shader. */
export async function source(name) {
  if (!cache.has(name)) {
    cache.set(name, fetch(`/shaders/${name}`).then((answer) => {
      if (!answer.ok) throw new Error(`no shader ${name}`);
      return answer.text();
    }));
  }
  return cache.get(name);
}

function compile(gl, kind, text, name) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
    throw new Error(`${name}: ${gl.getShaderInfoLog(shader)}`);
  }
  return shader;
}

/** A program from the names of two shaders; `captured` are outputs of the first one that are kept. */
export async function program(gl, vertex, fragment, { defines = "", captured = null } = {}) {
  const head = `#version 300 es\nprecision highp float;\nprecision highp sampler2DArray;\n${defines}`;
  const [first, second] = await Promise.all([source(vertex), fragment ? source(fragment) : "void main() {}"]);
  const linked = gl.createProgram();
  gl.attachShader(linked, compile(gl, gl.VERTEX_SHADER, head + first, vertex));
  gl.attachShader(linked, compile(gl, gl.FRAGMENT_SHADER, head + second, fragment ?? "nothing"));
  if (captured) gl.transformFeedbackVaryings(linked, captured, gl.INTERLEAVED_ATTRIBS);
  gl.linkProgram(linked);
  if (!gl.getProgramParameter(linked, gl.LINK_STATUS)) {
    throw new Error(`${vertex}, ${fragment}: ${gl.getProgramInfoLog(linked)}`);
  }
  const places = {};
  for (let k = 0; k < gl.getProgramParameter(linked, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(linked, k);
    places[name.replace("[0]", "")] = gl.getUniformLocation(linked, name);
  }
  return { linked, places };
}

/** Uses a program with uniforms: numbers, vectors by length, and textures as `{ texture }`. */
export function use(gl, { linked, places }, uniforms) {
  gl.useProgram(linked);
  let unit = 0;
  for (const [name, value] of Object.entries(uniforms)) {
    const place = places[name];
    if (place === undefined) continue;
    if (value.texture) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(value.layers ? gl.TEXTURE_2D_ARRAY : gl.TEXTURE_2D, value.texture);
      gl.uniform1i(place, unit++);
    } else if (value instanceof Float32Array) gl.uniform4fv(place, value);
    else if (typeof value === "number") gl.uniform1f(place, value);
    else if (value.length === 2) gl.uniform2fv(place, value);
    else if (value.length === 3) gl.uniform3fv(place, value);
    else gl.uniform4fv(place, value);
  }
}

/** A texture that can be drawn into. */
export function target(gl, width, height, { internal, format, type, filter }) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, null);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  for (const scale of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, scale, filter);
  const buffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const isWhole = gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
  gl.clearColor(0, 0, 0, 0);
  if (isWhole) gl.clear(gl.COLOR_BUFFER_BIT);
  return { texture, buffer, width, height, isWhole };
}

/** Draws what is in a target into another, as large as that is. */
export function copy(gl, from, to) {
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, from.buffer);
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to.buffer);
  gl.blitFramebuffer(0, 0, from.width, from.height, 0, 0, to.width, to.height, gl.COLOR_BUFFER_BIT, gl.LINEAR);
}

/** Gives a target back. */
export function release(gl, { texture, buffer }) {
  gl.deleteTexture(texture);
  gl.deleteFramebuffer(buffer);
}

/** Draws into a target from now on; into the canvas without one. */
export function into(gl, to) {
  gl.bindFramebuffer(gl.FRAMEBUFFER, to ? to.buffer : null);
  gl.viewport(0, 0, to ? to.width : gl.drawingBufferWidth, to ? to.height : gl.drawingBufferHeight);
}

/** Covers all that is drawn into. */
export function cover(gl) {
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}
