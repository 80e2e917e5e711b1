// Clocks, randomness and free disk space of the machine as a parameter, so that tests can set them.
import { randomBytes } from "node:crypto";
import { statfs } from "node:fs/promises";

export interface System {
  /**
   * The wall clock, for dates: milliseconds since 1970-01-01 UTC. Operators and NTP step it in both
   * directions.
   */
  nowMs(): number;
  /**
   * A clock that never goes back, for durations within this process: cache ages, throttles, deadlines.
   */
  monotonicMs(): number;
  randomBytes(count: number): Uint8Array;
  /** The free space of the disk that a folder is on. */
  freeDiskAt(folder: string): Promise<FreeDisk>;
}

export interface FreeDisk {
  readonly bytes: number;
  readonly diskBytes: number;
  /** Files that can still be created; infinite if the file system has no limit. */
  readonly files: number;
}

async function freeDiskAt(folder: string): Promise<FreeDisk> {
  const { bavail, blocks, bsize, files, ffree } = await statfs(folder);
  return { bytes: bavail * bsize, diskBytes: blocks * bsize, files: files > 0 ? ffree : Infinity };
}

export const realSystem: System = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  randomBytes: (count) => randomBytes(count),
  freeDiskAt,
};
