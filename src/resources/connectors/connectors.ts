// Connectors: processes that read a system of the plant and write to the server. Each reports its state.
//
// A name belongs to the process that reported last until that process stops or is silent, so that two
// connectors with one name are noticed.
import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, type Filter, not, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { type ConnectorReport, connectorTable, reportedStates, type StoredConnector } from "./schema.ts";

export type { ConnectorReport } from "./schema.ts";

/** SILENT: neither stopped nor seen for `limits.connectorSilentMs`. */
export const connectorStates = [...reportedStates, "SILENT"] as const;
export type ConnectorStatus = (typeof connectorStates)[number];

export type ConnectorRecord = Omit<StoredConnector, "status"> & { readonly status: ConnectorStatus };

const permittedFor = (ctx: RequestContext, action: Action): Filter =>
  permittedRecords(ctx.caller, "connectorsAcl", action);

/**
 * Stores all reports or none, each under its name, and returns the connectors in the same order. Refuses
 * (409) names that repeat or that another process uses.
 */
export async function reportConnectors(
  ctx: RequestContext,
  reports: readonly ConnectorReport[],
): Promise<ConnectorRecord[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const { user, userId } = ctx.caller;
  const owner = { owner: user, ...(userId !== undefined && { ownerId: userId }) };
  const names = reports.map(({ name }) => name);
  const repeated = duplicatesIn(names);
  if (repeated.length > 0) throw fail("names-taken", { what: "connector", field: "name", names: repeated });
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const nowMs = ctx.system.nowMs();
    const stored = await connectorsNamed(tx, names);
    const rows = await mapInSlices(reports, (report): StoredConnector => {
      const { id, createdTime } = stored.get(report.name) ?? { id: ctx.ids.next(), createdTime: nowMs };
      return { ...report, id, ...owner, createdTime, lastSeenTime: nowMs };
    });
    for (const row of rows) refuseNameInUse(row, stored.get(row.name), nowMs);
    await tx.insert(
      connectorTable,
      rows.filter(({ name }) => !stored.has(name)),
    );
    await tx.replace(
      connectorTable,
      rows.filter(({ name }) => stored.has(name)),
    );
    await refuseNotPermitted(tx, connectorTable, permitted, { acl: "connectorsAcl", rows });
    return rows;
  });
}

async function connectorsNamed(
  tx: CatalogReader,
  names: readonly string[],
): Promise<ReadonlyMap<string, StoredConnector>> {
  const page = { limit: names.length };
  const found = await tx.find(connectorTable, { filter: oneOf("name", names), order: byId, page });
  return new Map(found.map((row) => [row.name, row]));
}

/** Refuses (409) a report under the name of another process that is still seen. */
function refuseNameInUse(report: StoredConnector, former: StoredConnector | undefined, nowMs: number): void {
  if (!former || isSameProcess(former, report) || former.status === "STOPPED" || isSilent(former, nowMs))
    return;
  const { name, owner, lastSeenTime } = former;
  throw fail("connector-name-in-use", { name, owner, seenMsAgo: Math.max(0, nowMs - lastSeenTime) });
}

/**
 * Whether the report is of the process that reported before, or of its restart. An earlier start with the
 * same instance is another process with a copy of the buffer.
 */
const isSameProcess = (former: StoredConnector, report: StoredConnector): boolean =>
  former.instance === report.instance &&
  former.startedTime <= report.startedTime &&
  former.owner === report.owner &&
  former.ownerId === report.ownerId;

/** The times at which a connector that is not silent was seen. Both bounds, as the clock may step back. */
const seenTimes = (nowMs: number) => ({
  from: nowMs - limits.connectorSilentMs,
  to: nowMs + limits.connectorSilentMs,
});

function isSilent({ lastSeenTime }: StoredConnector, nowMs: number): boolean {
  const { from, to } = seenTimes(nowMs);
  return lastSeenTime < from || lastSeenTime > to;
}

const shown = (stored: StoredConnector, nowMs: number): ConnectorRecord =>
  stored.status !== "STOPPED" && isSilent(stored, nowMs) ? { ...stored, status: "SILENT" } : stored;

/** A filter for the connectors that have this status now. */
export function withStatus(ctx: RequestContext, status: ConnectorStatus): Filter {
  const { from, to } = seenTimes(ctx.system.nowMs());
  const isSeen = between("lastSeenTime", {
    from: { value: from, inclusive: true },
    to: { value: to, inclusive: true },
  });
  if (status === "STOPPED") return equals("status", status);
  return status === "SILENT"
    ? and(not(equals("status", "STOPPED")), not(isSeen))
    : and(equals("status", status), isSeen);
}

/** Returns one page of the connectors, by id. */
export async function listConnectors(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<ConnectorRecord>> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  const found = await ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, connectorTable, { filter: visible, order: byId, page }),
  );
  const nowMs = ctx.system.nowMs();
  return { ...found, items: await mapInSlices(found.items, (row) => shown(row, nowMs)) };
}

/** Counts the matching connectors. */
export async function countConnectors(ctx: RequestContext, filter: Filter): Promise<number> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(connectorTable, visible));
}

/** Refuses (404) an unknown connector. */
export async function getConnector(ctx: RequestContext, id: number): Promise<ConnectorRecord> {
  const permitted = permittedFor(ctx, "READ");
  const named = { ids: [id], field: "connectorId", status: 404 } as const;
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, connectorTable, permitted, named),
  );
  return shown(found!, ctx.system.nowMs());
}

/** Deletes all connectors or none. Refuses (400) unknown and repeated ids. */
export async function deleteConnectors(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const permitted = permittedFor(ctx, "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingRecords(tx, connectorTable, permitted, { ids, field: "items" });
    await tx.remove(connectorTable, oneOf("id", ids));
  });
}
