// The outside world as a parameter: clocks and randomness, so that tests can decide them.
import { randomBytes } from "node:crypto";

export interface World {
  /**
   * The wall clock, for dates: milliseconds since 1970-01-01 UTC. Operators and NTP step it in both
   * directions.
   */
  nowMs(): number;
  /**
   * A clock that never goes back, for durations within this process: ages of caches, throttles, deadlines.
   */
  monotonicMs(): number;
  randomBytes(count: number): Uint8Array;
}

export const realWorld: World = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  randomBytes: (count) => randomBytes(count),
};
