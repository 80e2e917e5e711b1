// The clock of a buffer, which gives its entries their age.
//
// A step of the wall clock must not make entries old: an edge machine without a battery for its clock starts
// in 1970 and learns the date later. So the time passes with the steady clock while the process runs, and
// with the wall clock between two processes.
import { parseJson } from "../lib/json.ts";
import type { System } from "../lib/system.ts";

export type WallAndSteadyClock = Pick<System, "nowMs" | "monotonicMs">;

/** The time of the buffer, and of the wall clock then. */
interface Reading {
  readonly bufferMs: number;
  readonly wallMs: number;
}

export class BufferClock {
  readonly #clock: WallAndSteadyClock;
  /** The time of the buffer minus that of the steady clock. */
  readonly #offsetMs: number;

  /** `stored` is the `text` of an earlier process. */
  constructor(clock: WallAndSteadyClock, stored: string | undefined) {
    this.#clock = clock;
    const wallMs = clock.nowMs();
    const last = stored === undefined ? { bufferMs: wallMs, wallMs } : (parseJson(stored) as Reading);
    this.#offsetMs = last.bufferMs + Math.max(0, wallMs - last.wallMs) - clock.monotonicMs();
  }

  nowMs(): number {
    return this.#offsetMs + this.#clock.monotonicMs();
  }

  /** The time of the wall clock when this clock had that time; now by default. */
  wallMs(bufferMs = this.nowMs()): number {
    return Math.round(this.#clock.nowMs() - (this.nowMs() - bufferMs));
  }

  /** To be stored for the next process. */
  get text(): string {
    const reading: Reading = { bufferMs: this.nowMs(), wallMs: this.#clock.nowMs() };
    return JSON.stringify(reading);
  }
}
