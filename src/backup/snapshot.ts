// The time that a backup has the state of: no change of the catalog is accepted while it is taken.
import type { System } from "../lib/system.ts";
import type { Catalog } from "../storage/catalog.ts";
import { manifestTable, ownFolder } from "../storage/manifest.ts";
import type { CopyClient } from "./copy-client.ts";

interface Parts {
  readonly catalog: Catalog;
  readonly system: System;
  readonly client: CopyClient;
  /** How long readers of an older state of the catalog may delay it. */
  readonly waitMs?: number;
}

export interface SnapshotTime {
  readonly snapshotMs: number;
  /** How long no change of the catalog was accepted. */
  readonly pausedMs: number;
}

/**
 * Freezes the catalog. `cutJournal` cuts the journal of datapoints, and calls its argument at the cut.
 * Undefined when readers of an older state of the catalog prevent that.
 */
export async function atOneTime(
  { catalog, system, client, waitMs }: Parts,
  cutJournal: (onCut: () => void) => Promise<void>,
): Promise<SnapshotTime | undefined> {
  return await catalog.write("system", async (tx) => {
    await tx.get(manifestTable, [ownFolder]); // From here on, no other write of the catalog runs.
    const begunMs = system.monotonicMs();
    let snapshotMs = 0;
    // Datapoints that are acknowledged after the cut are not in the backup.
    await cutJournal(() => {
      snapshotMs = system.nowMs();
    });
    const isFrozen = await client.freezeCatalog(waitMs);
    return isFrozen ? { snapshotMs, pausedMs: Math.round(system.monotonicMs() - begunMs) } : undefined;
  });
}
