// Since when a rule counts for each of its series. A run removes points only of series for which the same
// rule, with the same days, has counted for a day. So a mistake can be corrected: a wrong rule, a deleted
// one, or a series or an asset that was moved.
import { limits } from "../../limits.ts";
import { and, equals, oneOf } from "../../query/filter.ts";
import { byId, type Position } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter, ProjectCatalog, ProjectId } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { timeSeriesTable } from "../timeseries/schema.ts";
import { type RetainedSeries, type RetentionRule, retainedSeriesTable } from "./schema.ts";
import { seriesOf } from "./targets.ts";

interface SeenSeries {
  readonly rule: RetentionRule;
  readonly ids: readonly number[];
  readonly nowMs: number;
}

/** Splits series of a rule: those for which it has counted for a day, and those that are new to it. */
export async function splitByWait(
  tx: CatalogReader,
  { rule, ids, nowMs }: SeenSeries,
): Promise<{ readonly ready: ReadonlySet<number>; readonly unseen: readonly number[] }> {
  const rows = await tx.get(retainedSeriesTable, ids);
  // A time in the future was noted before the clock was set back: such a series counts as new.
  const seen = rows.filter(
    ({ ruleId, keepDays, since }) => ruleId === rule.id && keepDays === rule.keepDays && since <= nowMs,
  );
  const isWaiting = (rule.waitsUntil ?? 0) > nowMs;
  const ready = seen.filter(({ since }) => !isWaiting && since <= nowMs - limits.retentionDelayMs);
  const seenIds = new Set(seen.map(({ id }) => id));
  return { ready: new Set(ready.map(({ id }) => id)), unseen: ids.filter((id) => !seenIds.has(id)) };
}

/** Notes that the rule counts for these series from now on, unless they were deleted. */
export async function noteSeen(tx: CatalogWriter, { rule, ids, nowMs }: SeenSeries): Promise<void> {
  const named = { filter: oneOf("id", ids), order: byId, page: { limit: ids.length }, fields: ["id"] };
  const series = await tx.find(timeSeriesTable, named);
  const rows = series.map(({ id }): RetainedSeries => {
    return { id, ruleId: rule.id, keepDays: rule.keepDays, since: nowMs };
  });
  const known = new Set((await tx.get(retainedSeriesTable, ids)).map(({ id }) => id));
  const [old, added] = [rows.filter(({ id }) => known.has(id)), rows.filter(({ id }) => !known.has(id))];
  await tx.replace(retainedSeriesTable, old);
  await tx.insert(retainedSeriesTable, added);
}

/** Forgets the series for which the rule counts no more: if they come back, they wait again. */
export async function forgetOthers(
  catalog: ProjectCatalog,
  projectId: ProjectId,
  rule: RetentionRule,
): Promise<void> {
  const filter = equals("ruleId", rule.id);
  for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const page = { limit: limits.retentionSeriesPerPage, ...(after && { after }) };
    const { next, others } = await catalog.read(projectId, async (tx) => {
      const rows = await readPage(tx, retainedSeriesTable, { filter, order: byId, page });
      const ids = rows.items.map(({ id }) => id);
      const counted = await ruledSeries(tx, rule, ids);
      return { next: rows.next, others: ids.filter((id) => !counted.has(id)) };
    });
    if (others.length > 0)
      await catalog.write(projectId, (tx) =>
        tx.remove(retainedSeriesTable, and(filter, oneOf("id", others))),
      );
    after = next;
  }
}

/** Those of the series for which the rule counts. */
export async function ruledSeries(
  tx: CatalogReader,
  rule: RetentionRule,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const filter = and(await seriesOf(tx, rule), oneOf("id", ids));
  const page = { limit: ids.length };
  const found = await tx.find(timeSeriesTable, { filter, order: byId, page, fields: ["id"] });
  return new Set(found.map(({ id }) => id));
}
