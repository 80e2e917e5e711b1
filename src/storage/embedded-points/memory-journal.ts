// Writes as the embedded store does, into a journal in memory that keeps nothing: for the warm-up of a
// server.
import { limits } from "../../limits.ts";
import type { PointBatch } from "../points.ts";
import { ByteBudget } from "./byte-budget.ts";
import { memoryBytesOf, shardsOf } from "./change.ts";
import { Journal } from "./journal.ts";
import { LatestPointCache } from "./latest-point-cache.ts";
import type { JournalFile, JournalFiles } from "./segment-files.ts";
import { SharedRing } from "./shared-ring.ts";

const file: JournalFile = {
  writev: async (buffers) => ({ bytesWritten: buffers.reduce((sum, one) => sum + one.byteLength, 0) }),
  ...{ datasync: async () => {}, truncate: async () => {}, close: async () => {} },
};
const files: JournalFiles = { open: async () => file, unlink: async () => {}, rename: async () => {} };

/** More than one, so that each series has to be assigned. */
const shards = 2;

/** Returns an `append` that stores nothing. */
export async function openMemoryJournal(): Promise<(batch: PointBatch) => Promise<void>> {
  const budget = new ByteBudget(limits.pointsInFlightBytesMax);
  const ring = new SharedRing();
  const latestPoints = new LatestPointCache();
  const journal = await Journal.open(
    {
      ...{ folder: "", files, ring },
      onStored({ change, slice }) {
        latestPoints.update(change);
        shardsOf(change, shards);
        ring.free(slice);
        budget.release(memoryBytesOf(change));
      },
    },
    [],
    1,
  );
  return async (batch) => {
    const change = { kind: "append", batch } as const;
    await budget.acquire(memoryBytesOf(change));
    await journal.write(change);
  };
}
