// Functions that models, versions, source packages and schedules share: read, list, change, deprecate.
import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { and, everything, type Filter } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter, Table } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import type { Described } from "./schema.ts";

/** The record with this id. Refuses (404) an unknown one. */
export async function requireRecord<Row extends Described>(
  tx: CatalogReader,
  ctx: RequestContext,
  { table, action }: { readonly table: Table<Row>; readonly action: Action },
  named: { readonly id: number; readonly field: string; readonly within?: Filter },
): Promise<Row> {
  const permitted = and(permittedRecords(ctx.caller, "modelHostingAcl", action), named.within ?? everything);
  const { id, field } = named;
  const [found] = await existingRecords(tx, table, permitted, { ids: [id], field, status: 404 });
  return found!;
}

/** Returns one page of the records that match the filter, oldest first. */
export function listRecords<Row extends Described>(
  ctx: RequestContext,
  table: Table<Row>,
  within: Filter,
  page: PageQuery,
): Promise<Page<Row>> {
  const filter = and(permittedRecords(ctx.caller, "modelHostingAcl", "READ"), within);
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, table, { filter, order: byId, page }));
}

/** Changes that all of them allow; `null` clears a member, `undefined` leaves it. */
export interface DescriptionChange {
  readonly description?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly isDeprecated?: true;
}

export function changeDescription<Row extends Described>(
  row: Row,
  { description, metadata, isDeprecated }: DescriptionChange,
): Row {
  const { description: existing, ...rest } = row;
  const text = description === undefined ? existing : (description ?? undefined);
  return {
    ...rest,
    ...(text !== undefined && { description: text }),
    metadata: metadata === undefined ? row.metadata : (metadata ?? {}),
    isDeprecated: isDeprecated ?? row.isDeprecated,
  } as unknown as Row;
}

/** Changes one record. Refuses (404) an unknown one. */
export function changeRecord<Row extends Described>(
  ctx: RequestContext,
  table: Table<Row>,
  named: Parameters<typeof requireRecord>[3],
  change: (row: Row, tx: CatalogWriter) => Row | Promise<Row>,
): Promise<Row> {
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const row = await requireRecord(tx, ctx, { table, action: "WRITE" }, named);
    const after = await change(row, tx);
    await tx.replace(table, [after]);
    return after;
  });
}
