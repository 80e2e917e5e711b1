// The outside world as a parameter: the clock and randomness, so that tests can decide both.
import { randomBytes } from "node:crypto";

export interface World {
  /** Milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
}

export const realWorld: World = { nowMs: () => Date.now(), randomBytes: (count) => randomBytes(count) };
