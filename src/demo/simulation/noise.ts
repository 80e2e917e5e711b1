// Random numbers that are a pure function of a seed, a channel and a time. The simulation needs no other
// randomness, so the same seed and time always give the same plant.

export class Noise {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = Math.imul(seed + 1, 0x9e3779b1);
  }

  /** Uniform from 0 to 1, without 1. */
  uniform(channel: number, tick: number): number {
    let h = this.#seed ^ Math.imul(channel + 1, 0x85ebca77) ^ Math.imul(tick | 0, 0xc2b2ae3d);
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
    h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
    h = Math.imul(h ^ (h >>> 15), 0x5bd1e995);
    return ((h ^ (h >>> 14)) >>> 0) / 2 ** 32;
  }

  /** About normal, with a standard deviation of 1; never beyond 2.5. */
  normal(channel: number, tick: number): number {
    const first = this.uniform(channel, tick);
    return (first + this.uniform(channel + 7919, tick) - 1) * 2.45;
  }

  /** A smooth curve between -1 and 1 that changes its direction about once a period. */
  wander(channel: number, ms: number, periodMs: number): number {
    const place = ms / periodMs;
    const tick = Math.floor(place);
    const share = place - tick;
    const [from, to] = [this.uniform(channel, tick), this.uniform(channel, tick + 1)];
    return (from + (to - from) * share * share * (3 - 2 * share)) * 2 - 1;
  }

  /** As `wander`, but constant for each period. */
  steps(channel: number, ms: number, periodMs: number): number {
    return this.uniform(channel, Math.floor(ms / periodMs)) * 2 - 1;
  }
}
