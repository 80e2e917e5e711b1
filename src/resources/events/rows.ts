// Event rows in a transaction: applies changes, and writes rows with checks for conflicts and rights.

import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, everything, type Filter, oneOf, or } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { type CatalogReader, type CatalogWriter, UniqueViolation } from "../../storage/catalog.ts";
import {
  type CommonChange,
  changeList,
  changeRecord,
  type ListChange,
  nullIfEmpty,
} from "../common/changes.ts";
import { refuseTakenExternalIds } from "../common/external-ids.ts";
import {
  type Event,
  type EventRow,
  eventTable,
  rowOf,
  type SemanticPhrase,
  semanticTypeTable,
} from "./schema.ts";

/** The event table, with the noun for its records in refusals. */
export const eventType = { table: eventTable, noun: "event" };

/** Values to set; `null` clears a value, `undefined` leaves it. */
export interface EventChange extends CommonChange {
  readonly id: number;
  readonly startTime?: number | null | undefined;
  readonly endTime?: number | null | undefined;
  readonly description?: string | null | undefined;
  readonly type?: string | null | undefined;
  readonly subtype?: string | null | undefined;
  readonly metadata?: Event["metadata"] | undefined;
  readonly sentMetadata?: Event["sentMetadata"] | null | undefined;
  readonly assetIds?: ListChange<number> | undefined;
  readonly tags?: ListChange<string> | undefined;
  readonly semanticPhrases?: readonly SemanticPhrase[] | null | undefined;
  readonly source?: string | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly transformerId?: number | null | undefined;
  readonly referenceKey?: string | null | undefined;
}

/** Applies the change. Returns the same object if nothing changes. */
export function changeRow(row: EventRow, change: EventChange, nowMs: number): EventRow {
  const boundsOf = (field: string) => ({ field, limit: limits.eventAssetsMax });
  const values = {
    ...change,
    assetIds: changeList(row.assetIds, change.assetIds, boundsOf("assetIds")),
    tags: nullIfEmpty(changeList(row.tags, change.tags, boundsOf("tagIds"))),
    semanticPhrases: change.semanticPhrases?.length === 0 ? null : change.semanticPhrases,
  };
  const changed = changeRecord(row, values, nowMs);
  return changed === row ? row : rowOf(changed);
}

/**
 * Refuses (400) phrases of unknown semantic types. `placeOf` is the prefix of an event's field names in
 * refusals.
 */
export async function refuseUnknownSemanticTypes(
  tx: CatalogReader,
  phrases: readonly (readonly SemanticPhrase[] | null | undefined)[],
  placeOf: (index: number) => string,
): Promise<void> {
  const ids = new Set(phrases.flatMap((some) => some?.map(({ semanticTypeId }) => semanticTypeId) ?? []));
  if (ids.size === 0) return;
  const known = new Set((await tx.get(semanticTypeTable, [...ids])).map(({ id }) => id));
  for (const [index, some] of phrases.entries())
    for (const [at, { semanticTypeId }] of (some ?? []).entries()) {
      if (known.has(semanticTypeId)) continue;
      const field = `${placeOf(index)}semanticPhrases[${at}].semanticTypeId`;
      const expected = "the id of an existing semantic type";
      throw fail("field-invalid", { field, expected, got: `${semanticTypeId}` });
    }
}

/**
 * Plans rows and stores them in one transaction; returns the planned rows. Refuses, with nothing changed, a
 * repeated source and source id or external id (409), and rows outside `permitted`.
 */
export async function writeRows(
  ctx: RequestContext,
  permitted: Filter,
  how: "insert" | "replace",
  plan: (tx: CatalogWriter) => Promise<EventRow[]>,
): Promise<EventRow[]> {
  const write = (
    before: (tx: CatalogReader, permitted: Filter, rows: readonly EventRow[]) => Promise<void>,
  ) =>
    ctx.catalog.write(ctx.projectId, async (tx) => {
      const rows = await plan(tx);
      await before(tx, permitted, rows);
      await refuseTakenExternalIds(tx, eventType, rows);
      await tx[how](eventTable, rows);
      await refuseNotPermitted(tx, eventTable, permitted, { acl: "eventsAcl", rows });
      return rows;
    });
  try {
    return await write(async () => {});
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    // Looks for the conflicting rows in a transaction of its own. If they are gone by then, the write
    // succeeds.
    return write(refuseConflicts);
  }
}

type WithSource = EventRow & { readonly source: string; readonly sourceId: string };

const hasSource = (row: EventRow): row is WithSource =>
  row.source !== undefined && row.sourceId !== undefined;

const pairOf = ({ source, sourceId }: WithSource) => JSON.stringify([source, sourceId]);

/**
 * For events that the caller may not write, the refusal contains only values that the caller sent, and no id.
 */
async function refuseConflicts(
  tx: CatalogReader,
  permitted: Filter,
  rows: readonly EventRow[],
): Promise<void> {
  const sourced = rows.filter(hasSource);
  const own = new Set(rows.map((row) => row.id));
  const stored = (await rowsBySource(tx, everything, sourced)).filter((row) => !own.has(row.id));
  if (stored.length > 0) {
    const seen = new Set((await rowsBySource(tx, permitted, stored)).map((row) => row.id));
    throw fail("event-duplicates", {
      duplicates: stored.map(({ id, source, sourceId }) => ({
        ...(seen.has(id) && { id }),
        source,
        sourceId,
      })),
    });
  }
  const seen = new Set<string>();
  const again = sourced.find((row) => seen.size === seen.add(pairOf(row)).size);
  if (again)
    throw fail("field-invalid", {
      field: `items[${rows.indexOf(again)}].sourceId`,
      expected: `an id that no other item has together with the source ${JSON.stringify(again.source)}`,
      got: JSON.stringify(again.sourceId),
    });
}

/** The stored events in `permitted` with one of these sources and source ids, in the same order. */
async function rowsBySource(
  tx: CatalogReader,
  permitted: Filter,
  sourced: readonly WithSource[],
): Promise<WithSource[]> {
  const groups = [...Map.groupBy(sourced, ({ source }) => source)].map(([source, group]) =>
    and(equals("source", source), oneOf("sourceId", [...new Set(group.map((row) => row.sourceId))])),
  );
  if (groups.length === 0) return [];
  const page = { limit: sourced.length };
  const rows = await tx.find(eventTable, { filter: and(permitted, or(...groups)), order: byId, page });
  const existing = new Map(rows.filter(hasSource).map((row) => [pairOf(row), row]));
  return [...new Set(sourced.map(pairOf))]
    .map((pair) => existing.get(pair))
    .filter((row) => row !== undefined);
}
