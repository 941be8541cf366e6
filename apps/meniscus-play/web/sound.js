// Sounds, made here: none is loaded. They are off until somebody touches the page, as browsers want it.

import { keep, kept } from "./kept.js";

export class Sound {
  constructor() {
    this.isOn = kept("sound") !== "off";
    this.context = null;
  }

  /** Is called with the first touch. */
  wake() {
    if (this.context || !this.isOn || !window.AudioContext) return;
    const context = (this.context = new AudioContext());
    this.out = context.createGain();
    this.out.gain.value = 0.5;
    this.out.connect(context.destination);
    // Water: noise through a filter, louder while somebody stirs.
    const noise = context.createBuffer(1, 2 * context.sampleRate, context.sampleRate);
    const samples = noise.getChannelData(0);
    let low = 0;
    for (let k = 0; k < samples.length; k++) samples[k] = 3 * (low += 0.03 * (Math.random() * 2 - 1 - low));
    const source = context.createBufferSource();
    [source.buffer, source.loop] = [noise, true];
    this.filter = context.createBiquadFilter();
    [this.filter.type, this.filter.frequency.value, this.filter.Q.value] = ["bandpass", 300, 0.8];
    this.rush = context.createGain();
    this.rush.gain.value = 0;
    source.connect(this.filter).connect(this.rush).connect(this.out);
    source.start();
  }

  toggle() {
    this.isOn = !this.isOn;
    keep("sound", this.isOn ? "on" : "off");
    if (this.isOn) this.wake();
    if (this.out) this.out.gain.value = this.isOn ? 0.5 : 0;
  }

  /** The water under a stroke with a speed, in m/s. */
  stir(speed) {
    if (!this.rush) return;
    const now = this.context.currentTime;
    this.rush.gain.setTargetAtTime(Math.min(0.9, speed), now, 0.04);
    this.rush.gain.setTargetAtTime(0, now + 0.12, 0.25);
    this.filter.frequency.setTargetAtTime(220 + 500 * Math.min(1, speed), now, 0.08);
  }

  tone(frequency, after, length, strength, type = "sine") {
    if (!this.context || !this.isOn) return;
    const start = this.context.currentTime + after;
    const source = this.context.createOscillator();
    const gain = this.context.createGain();
    [source.type, source.frequency.value] = [type, frequency];
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(strength, start + 0.012);
    gain.gain.exponentialRampToValueAtTime(1e-4, start + length);
    source.connect(gain).connect(this.out);
    source.start(start);
    source.stop(start + length);
  }

  /** A bell of a few notes. */
  notes(notes, gap, length = 0.9) {
    notes.forEach((note, k) => {
      this.tone(note, k * gap, length, 0.3);
      this.tone(2.01 * note, k * gap, 0.5 * length, 0.08);
    });
  }

  home() {
    this.notes([659, 988], 0.09);
  }

  lost() {
    this.tone(110, 0, 0.5, 0.5, "triangle");
    this.tone(58, 0.02, 0.7, 0.6);
  }

  won() {
    this.notes([523, 659, 784, 1047], 0.13, 1.3);
  }

  over() {
    this.notes([330, 262, 196], 0.18, 0.8);
  }

  fire() {
    this.tone(294, 0, 0.35, 0.2, "triangle");
    this.tone(440, 0.05, 0.3, 0.12);
  }
}
