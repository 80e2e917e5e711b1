// Bounds how fast work on backups reads, so that the disk serves requests meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../limits.ts";

export class Pace {
  readonly #begunMs = performance.now();

  /** Waits until so many bytes may have been read since the start. */
  async wait(bytes: number): Promise<void> {
    const dueMs = this.#begunMs + (bytes / limits.backupBytesPerSecondMax) * 1000;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 1) await pause(earlyMs);
  }
}
