// The connection to the server: frames and texts in, inputs out. It comes back by itself.
import { decodeFrame, state, take } from "./state.js";

const RETRY = 700; // ms between two tries to come back
const KEPT = 240; // times of echoes that are kept

export class Connection {
  constructor(token, on) {
    this.token = token;
    this.on = on; // told(kind), gone(), back(), refused(), full()
    this.seq = 0;
    this.sent = new Map(); // when inputs were sent, by number
    this.echoes = []; // ms from an input to the frame that shows it
    this.frames = 0;
    this.isOpen = false;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/play?token=${this.token}`);
    socket.binaryType = "arraybuffer";
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = this.isOpen = true;
      this.seq = 0;
      this.sent.clear();
      this.on.back();
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") {
        this.on.told(take(data));
        return;
      }
      // The server sends no more than two frames that have not been taken.
      socket.send(new Uint8Array(1));
      state.frame = decodeFrame(data);
      this.frames++;
    };
    socket.onclose = () => {
      this.isOpen = false;
      if (wasOpen) this.on.gone();
      else this.probe();
      setTimeout(() => this.connect(), RETRY);
    };
    this.socket = socket;
  }

  /** Whether nobody answers, or somebody who does not want this page, or not one more. */
  async probe() {
    try {
      const answer = await fetch("/play", { headers: this.headers() });
      if (answer.status === 403) this.on.refused();
      else if (answer.status === 503) this.on.full();
      else this.on.gone();
    } catch {
      this.on.gone();
    }
  }

  headers() {
    return { authorization: `Bearer ${this.token}` };
  }

  /** Sends an input or a command; gives its number. */
  send(what) {
    if (!this.isOpen) return 0;
    const seq = ++this.seq;
    this.sent.set(seq, performance.now());
    this.socket.send(JSON.stringify({ seq, ...what }));
    return seq;
  }

  /** Notes how long the inputs took that a frame shows; is called when it has been drawn. */
  drawn(frame) {
    const now = performance.now();
    for (const [seq, when] of this.sent) {
      if (seq > frame.seq) break;
      this.sent.delete(seq);
      this.echoes.push(now - when);
    }
    if (this.echoes.length > KEPT) this.echoes.splice(0, this.echoes.length - KEPT);
  }

  /** How long such a part of the echoes takes at most, in ms. */
  echo(part) {
    if (!this.echoes.length) return 0;
    const sorted = [...this.echoes].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  }

  /** Downloads what the server has under a path. */
  async download(path, name) {
    const answer = await fetch(path, { headers: this.headers() });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    handOver(new Blob([text], { type: "text/plain" }), name);
    return text;
  }
}

/** Has the browser download something. */
export function handOver(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
