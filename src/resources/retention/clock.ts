// The clock of the servers decides which points are too old, and it can be wrong: it was set, or the data is
// that of an older backup. So the servers note the time at each look for due rules. Where the time does not
// follow the one before, all rules of the project wait for a day, in which the clock can be corrected.
import type { Logger } from "pino";
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { between, everything, or } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import { projectIds } from "../projects/projects.ts";
import { retentionClockTable, retentionTable } from "./schema.ts";

export interface ClockWatch {
  readonly log: Logger;
}

export type ClockStores = Pick<Services, "catalog" | "catalogPlace" | "system">;

/** Notes the time in the projects with rules. Called at intervals, also while a rule runs for hours. */
export async function markClocks(stores: ClockStores, watch: ClockWatch): Promise<void> {
  const { catalog } = stores;
  for (const projectId of await projectIds(stores)) {
    const rules = await catalog.read(projectId, (tx) => tx.count(retentionTable, everything));
    if (rules > 0) await catalog.write(projectId, (tx) => markClock(tx, { ...stores, projectId, ...watch }));
  }
}

type Marking = ClockStores & ClockWatch & { readonly projectId: ProjectId };

/** Notes the time; where it does not follow the mark, all runs end and all rules wait. Returns the time. */
export async function markClock(
  tx: CatalogWriter,
  { system, catalogPlace: place, projectId: id, log }: Marking,
): Promise<number> {
  const nowMs = system.nowMs();
  const [before] = await tx.get(retentionClockTable, [id]);
  const isNear = before !== undefined && Math.abs(nowMs - before.markTime) <= limits.retentionGapMs;
  const isSteady = isNear && before.place === place;
  const row = { id, markTime: nowMs, place };
  await (before ? tx.replace(retentionClockTable, [row]) : tx.insert(retentionClockTable, [row]));
  const waitsUntil = nowMs + limits.retentionDelayMs;
  const later = { from: { value: waitsUntil + limits.retentionGapMs, inclusive: false } };
  // A clock that was ahead between two marks may have left such times.
  const filter = isSteady ? or(between("nextTime", later), between("waitsUntil", later)) : everything;
  const page = { limit: limits.retentionRulesMax };
  const rules = await tx.find(retentionTable, { filter, order: byId, page, fields: ["id"] });
  if (rules.length === 0) return nowMs;
  await tx.setColumns(
    retentionTable,
    ["nextTime", "runToken", "waitsUntil"],
    rules.map((rule) => ({ id: rule.id, nextTime: nowMs, runToken: 0, waitsUntil })),
  );
  if (before !== undefined) {
    const mark = new Date(before.markTime).toISOString();
    log.warn(
      { project: id, mark, rules: rules.length },
      "Retention rules wait for a day: the clock was set, no server ran for hours, or the data was restored",
    );
  }
  return nowMs;
}
