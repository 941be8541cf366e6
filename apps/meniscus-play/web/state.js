// What the server told last: what is there, how the game stands, and the latest frame.

export const state = {
  world: null, // what is there: see told.rs
  game: null, // how the game stands
  frame: null, // the latest frame
  things: new Map(), // bodies and solids by number
};

/** Reads a frame: its layout is in frame.rs. */
export function decodeFrame(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0, false) !== 0x4d504631) throw new Error("not a frame");
  const count = view.getUint16(24, true);
  const frame = {
    world: view.getUint32(4, true),
    step: view.getUint32(8, true),
    seq: view.getUint32(12, true),
    spent: view.getFloat32(16, true),
    pace: view.getFloat32(20, true),
    waves: [view.getUint16(26, true), view.getUint16(28, true)],
    paused: view.getUint8(30) === 1,
    waits: view.getUint8(30) === 2,
    bodies: [],
  };
  let at = 32;
  for (let k = 0; k < count; k++, at += 16) {
    frame.bodies.push({
      id: view.getUint16(at, true),
      x: view.getFloat32(at + 4, true),
      y: view.getFloat32(at + 8, true),
      angle: view.getFloat32(at + 12, true),
    });
  }
  frame.coefficients = new Float32Array(buffer, at, frame.waves[0] * frame.waves[1]);
  return frame;
}

/** Takes what the server told as JSON; says of what kind it was. */
export function take(text) {
  const told = JSON.parse(text);
  if (told.kind === "world") {
    state.world = told;
    state.things = new Map(told.things.map((thing) => [thing.id, thing]));
  } else if (told.kind === "game") {
    state.game = told;
  }
  return told.kind;
}
