// Removes the oldest records of the audit log. The hash of the newest removed one stays, so that the chain of
// the others can be checked.
import { limits } from "../limits.ts";
import { between, everything } from "../query/filter.ts";
import type { CatalogWriter, ProjectCatalog, ProjectId } from "../storage/catalog.ts";
import { appendRecords, readHead } from "./audit-log.ts";
import { auditHeadTable, auditRecordTable } from "./schema.ts";

interface Removal {
  /** Records of operations that began before this are removed. */
  readonly beforeMs: number;
  readonly nowMs: number;
  /** Called before each group of records. */
  readonly continues: () => boolean;
}

/**
 * Removes the old records of a project. Several servers may do so at once: each removes the remaining ones.
 */
export async function removeOldRecords(
  catalog: ProjectCatalog,
  projectId: ProjectId,
  removal: Removal,
): Promise<void> {
  const isOld = between("time", { to: { value: removal.beforeMs, inclusive: false } });
  const count = await catalog.read(projectId, (tx) => tx.count(auditRecordTable, isOld));
  for (let left = count; left > 0 && removal.continues(); left -= limits.auditRemovedAtOnce) {
    const removed = await catalog.write(projectId, (tx) => removeOldest(tx, removal));
    if (removed === 0) return;
  }
}

/** Removes the oldest records up to the first one that is not old, and records that. Returns their number. */
async function removeOldest(tx: CatalogWriter, { beforeMs, nowMs }: Removal): Promise<number> {
  const oldest = await tx.find(auditRecordTable, {
    ...{ filter: everything, order: [{ field: "seq", direction: "ascending" }] },
    ...{ page: { limit: limits.auditRemovedAtOnce }, fields: ["seq", "time", "hash"] },
  });
  const kept = oldest.findIndex(({ time }) => time >= beforeMs);
  const removed = kept < 0 ? oldest : oldest.slice(0, kept);
  const [first, last] = [removed[0], removed.at(-1)];
  if (!first || !last) return 0;
  await tx.remove(auditRecordTable, between("seq", { to: { value: last.seq, inclusive: true } }));
  const head = await readHead(tx);
  await tx.put(auditHeadTable, [{ ...head, removedSeq: last.seq, removedHash: last.hash }]);
  await appendRecords(tx, [
    {
      ...{ time: nowMs, endedTime: nowMs, account: "", credential: "server", address: "" },
      ...{ kind: "deletion", action: "remove old audit records", resource: "audit", result: "done" },
      ...{ ids: [`${first.seq}-${last.seq}`], idsCount: removed.length },
    },
  ]);
  return removed.length;
}
