// Clocks for tests of limits and ages: time passes where the test says so.
import { realSystem, type System } from "../../src/lib/system.ts";

/**
 * The steady clock stands still until `pass`, so that a slow machine does not fill a bucket of attempts in
 * the midst of a test. The wall clock also continues by itself, since tokens of a provider carry its time.
 */
export class SetClock {
  #passedMs = 0;

  readonly system: System = {
    ...realSystem,
    nowMs: () => Date.now() + this.#passedMs,
    monotonicMs: () => this.#passedMs,
  };

  pass(ms: number): void {
    this.#passedMs += ms;
  }
}
