// The shapes of bodies as layers of signed distances, and the instances that are drawn.
import { state } from "./state.js";

const LAYERS = 64;
const SIDE = 64; // texels along a layer
export const ROOM = 1.35; // half a side of a layer over the radius of its body
const KINDS = { solid: 0, body: 1, float: 2, mine: 3 };

/** The signed distance of a point to a polygon. */
export function distanceTo(polygon, x, y) {
  let nearest = Infinity;
  let isInside = false;
  for (let k = 0, j = polygon.length - 1; k < polygon.length; j = k++) {
    const [ax, ay] = polygon[j];
    const [bx, by] = polygon[k];
    const [ex, ey, px, py] = [bx - ax, by - ay, x - ax, y - ay];
    const part = Math.min(1, Math.max(0, (px * ex + py * ey) / (ex * ex + ey * ey || 1)));
    const [dx, dy] = [px - part * ex, py - part * ey];
    nearest = Math.min(nearest, dx * dx + dy * dy);
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside;
  }
  return (isInside ? -1 : 1) * Math.sqrt(nearest);
}

export class Bodies {
  constructor(gl) {
    this.gl = gl;
    this.layers = new Map(); // layer and birth by number and world
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.R16F, SIDE, SIDE, LAYERS);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, side, gl.CLAMP_TO_EDGE);
    for (const scale of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, scale, gl.LINEAR);
    this.instances = new Float32Array(8 * LAYERS);
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.instances.byteLength, gl.DYNAMIC_DRAW);
    this.count = 0;
  }

  /** How programs that draw instances find them. */
  arrays({ linked }) {
    const { gl } = this;
    const arrays = gl.createVertexArray();
    gl.bindVertexArray(arrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    for (const [name, offset] of [["pose", 0], ["look", 16]]) {
      const place = gl.getAttribLocation(linked, name);
      if (place < 0) continue;
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 4, gl.FLOAT, false, 32, offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindVertexArray(null);
    return arrays;
  }

  layerOf(thing, now) {
    const key = `${state.world.world}.${thing.id}`;
    let found = this.layers.get(key);
    if (!found) {
      // What is not there any more gives its layer away.
      for (const old of this.layers.keys()) {
        const [world, id] = old.split(".").map(Number);
        if (world !== state.world.world || !state.things.has(id)) this.layers.delete(old);
      }
      const taken = new Set([...this.layers.values()].map(({ layer }) => layer));
      const layer = Array.from({ length: LAYERS }, (_, k) => k).find((k) => !taken.has(k)) ?? 0;
      found = { layer, born: now };
      this.layers.set(key, found);
      this.fill(layer, thing);
    }
    return found;
  }

  fill(layer, { outline, radius }) {
    const { gl } = this;
    const reach = radius * ROOM;
    const values = new Float32Array(SIDE * SIDE);
    for (let j = 0; j < SIDE; j++) {
      for (let k = 0; k < SIDE; k++) {
        const [x, y] = [k, j].map((n) => ((n + 0.5) / SIDE - 0.5) * 2 * reach);
        values[j * SIDE + k] = distanceTo(outline, x, y);
      }
    }
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, layer, SIDE, SIDE, 1, gl.RED, gl.FLOAT, values);
  }

  /** Takes bodies from where a frame has them. */
  update(frame, now) {
    const { gl, instances } = this;
    this.count = 0;
    for (const { id, x, y, angle } of frame.bodies) {
      const thing = state.things.get(id);
      if (!thing || this.count >= LAYERS) continue;
      const { layer, born } = this.layerOf(thing, now);
      instances.set([x, y, angle, thing.radius * ROOM, layer, KINDS[thing.kind], thing.density, now - born], 8 * this.count++);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, instances);
  }
}
