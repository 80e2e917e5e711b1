// Sends writes, and measures them with the processor time that the server needs for them, also afterwards.
import { type Connection, drive, type RequestBytes } from "./http.ts";
import { processorSeconds, untilQuiet } from "./process.ts";
import type { Running } from "./systems/system.ts";

export interface Writes {
  readonly requests: readonly RequestBytes[];
  readonly points: number;
}

export interface WriteCost {
  readonly perSecond: number;
  /** Processor seconds of the server per million points, until its files no longer change. */
  readonly processor: number;
}

/** Sends all requests over the connections; resolves when the background work of the server is done. */
export async function costOfWrites(
  running: Running,
  connections: readonly Connection[],
  { requests, points }: Writes,
): Promise<WriteCost> {
  const before = processorSeconds(running.started);
  const seconds = await drive(connections, requests);
  await running.settle();
  await untilQuiet(running.started.folder);
  const processor = ((processorSeconds(running.started) - before) / points) * 1e6;
  return { perSecond: points / seconds, processor };
}
