// Moves a set clock on as if the servers ran all the time: a step of hours makes retention rules wait.
import { pino } from "pino";
import type { Services } from "../../src/context.ts";
import { limits } from "../../src/limits.ts";
import { markClocks } from "../../src/resources/retention/clock.ts";

export const silentWatch = {
  log: pino({ level: "silent" }),
  removed: () => undefined,
  failed: () => undefined,
};

export async function passTime(services: Services, ms: number, move: (ms: number) => void): Promise<void> {
  const stepMs = limits.retentionGapMs / 4; // So that clocks of several servers may differ.
  for (let left = ms; left > 0; left -= stepMs) {
    move(Math.min(left, stepMs));
    await markClocks(services, silentWatch);
  }
}
