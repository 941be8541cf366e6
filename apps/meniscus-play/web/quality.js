// How much is drawn: less until thirty pictures a second are held, and more again where there is time.

export const LEVELS = [
  { particles: 100000, dye: 512, scale: 1, flow: 160 },
  { particles: 60000, dye: 512, scale: 1, flow: 160 },
  { particles: 30000, dye: 384, scale: 0.75, flow: 128 },
  { particles: 12000, dye: 256, scale: 0.6, flow: 112 },
  { particles: 5000, dye: 192, scale: 0.45, flow: 96 },
  { particles: 2000, dye: 160, scale: 0.33, flow: 80 },
  { particles: 1000, dye: 96, scale: 0.25, flow: 64 },
];
const HELD = 30; // pictures a second
const WINDOW = 500; // ms that the rate is measured over

export class Quality {
  constructor(set) {
    this.set = set;
    this.at = 0;
    this.rate = 0;
    this.isHeld = false; // whether the latest window held the rate
    this.since = 0;
    this.pictures = 0;
    this.good = 0; // windows with time to spare
    this.failed = new Map(); // how often each level was too much
  }

  /** Begins lower where the processor draws; it goes up from there if that is fast. */
  begin(isSoftware) {
    this.go(isSoftware ? 3 : 0);
  }

  get level() {
    return LEVELS[this.at];
  }

  /** Counts a picture; says whether the level is another one from now on. */
  picture(now) {
    if (!this.since || now - this.since > 4 * WINDOW) {
      // The page was hidden, or has just begun.
      [this.since, this.pictures] = [now, 0];
      return false;
    }
    this.pictures++;
    const passed = now - this.since;
    if (passed < WINDOW) return false;
    this.rate = (1000 * this.pictures) / passed;
    [this.since, this.pictures] = [now, 0];
    this.isHeld = this.rate >= HELD;
    if (!this.isHeld && this.at < LEVELS.length - 1) {
      this.failed.set(this.at, (this.failed.get(this.at) ?? 0) + 1);
      // Far too slow: two steps at once.
      return this.go(Math.min(LEVELS.length - 1, this.at + (this.rate < 0.5 * HELD ? 2 : 1)));
    }
    this.good = this.rate > 1.8 * HELD ? this.good + 1 : 0;
    const isWorthwhile = this.at > 0 && (this.failed.get(this.at - 1) ?? 0) < 2;
    if (this.good >= 6 && isWorthwhile) return this.go(this.at - 1);
    return false;
  }

  go(at) {
    [this.at, this.good, this.since] = [at, 0, 0];
    this.set(this.level);
    return true;
  }
}
