// Sequences over OData: the set Sequences, and its columns and rows as sets of their own.
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import {
  type EntityModelPart,
  type EntitySetQuery,
  entitySet,
  entityType,
  navigation,
  type OpenComplexType,
  type Property,
} from "../../odata/model.ts";
import { pathWithKey } from "../../odata/names.ts";
import { column, type Operand, typedMember } from "../../odata/operand.ts";
import { id, metadata, required, text, time } from "../../odata/property.ts";
import { valuesIn } from "../../query/conjuncts.ts";
import { equals, everything, type Filter, oneOf, some } from "../../query/filter.ts";
import { filteredCount, filteredPage } from "../../query/memory-filter.ts";
import type { Page, PageQuery, Position } from "../../query/page.ts";
import type { Asset } from "../assets/assets.ts";
import { longMax } from "./cells.ts";
import { readRows, type SequenceRow } from "./rows.ts";
import { countSequences, listSequences, type Sequence, type SequenceColumn } from "./sequences.ts";

const nameOf = ({ id, externalId }: SequenceColumn): string => externalId ?? String(id);

const sequence = entityType<Sequence>({
  name: "Sequence",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    text("ExternalId", (row) => row.externalId, column("externalId")),
    text("Name", (row) => row.name, column("name")),
    text("Description", (row) => row.description, column("description")),
    metadata(),
    id("AssetId", (row) => row.assetId, "assetId"),
    id("DataSetId", (row) => row.dataSetId, "dataSetId"),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const sequences = entitySet<Sequence>({
  name: "Sequences",
  type: "Sequence",
  requiresFilter: true,
  nonFilterable: ["MetaData"],
  singleValue: ["Id"],
  read: (ctx, { filter, page }) => listSequences(ctx, { filter, page }),
  count: countSequences,
  position: (row) => [row.id],
});

interface ColumnEntity extends SequenceColumn {
  readonly sequenceId: number;
  readonly at: number;
}

/** How a filter can use columns, in their own set and in `Columns/any(...)`. */
const ofColumn: Readonly<Record<string, Operand>> = {
  ExternalId: column("externalId"),
  Name: column("name"),
  Description: column("description"),
  ValueType: column("valueType"),
  CreatedTime: column("createdTime", "Edm.DateTimeOffset"),
  LastUpdatedTime: column("lastUpdatedTime", "Edm.DateTimeOffset"),
};

const sequenceId = <From extends { readonly sequenceId: number }>(): Property<From> => ({
  ...id<From>("SequenceId", (row) => row.sequenceId, "sequenceId"),
  isDynamic: true,
});

const sequenceColumn = entityType<ColumnEntity>({
  name: "SequenceColumn",
  key: "ExternalId",
  properties: [
    required(text("ExternalId", nameOf, ofColumn["ExternalId"]!)),
    text("Name", (row) => row.name, ofColumn["Name"]!),
    text("Description", (row) => row.description, ofColumn["Description"]!),
    text("ValueType", (row) => row.valueType, ofColumn["ValueType"]!),
    metadata(),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
    sequenceId(),
  ],
});

const columnsOf = (row: Sequence): ColumnEntity[] =>
  row.columns.map((one, at) => ({ ...one, externalId: nameOf(one), sequenceId: row.id, at }));

/** Splits a filter by sequence ids from the rest; without ids, all sequences match. */
function sequencesNamed(filter: Filter): { readonly ids: Filter; readonly rest: Filter } {
  const { values, rest } = valuesIn(filter, "sequenceId");
  return { ids: values ? oneOf("id", values) : everything, rest };
}

/** Sequences whose columns are read first; they may be enough for a page. */
const sequencesFirst = 8;

/** A page of columns, sequence by sequence. It ends early when the sequences are too long together. */
async function columnsIn(
  ctx: RequestContext,
  ids: Filter,
  { limit, after, bound }: PageQuery,
): Promise<Page<ColumnEntity>> {
  const [id = 0, at = -1] = (after ?? []) as readonly number[];
  const found: ColumnEntity[] = [];
  const cutsBefore = bound?.cuts;
  const upTo = (count: number) => {
    const last = found[count - 1]!;
    return { items: found.slice(0, count), next: [last.sequenceId, last.at] };
  };
  let from: Position = [id - 1];
  for (let sequences = sequencesFirst; ; sequences = Math.min(2 * sequences, limits.sequencesPerPageMax)) {
    const page = { limit: sequences, after: from, ...(bound && { bound }) };
    const { items, next } = await listSequences(ctx, { filter: ids, page });
    for (const one of items.flatMap(columnsOf)) if (one.sequenceId > id || one.at > at) found.push(one);
    if (found.length > limit) return upTo(limit);
    if (!next) return { items: found };
    if (bound?.cuts !== cutsBefore && found.length > 0) return upTo(found.length);
    from = next;
  }
}

const columnMemoryFilter = (ctx: RequestContext, filter: Filter) => {
  const { ids, rest } = sequencesNamed(filter);
  return {
    filter: rest,
    read: (page: PageQuery) => columnsIn(ctx, ids, page),
    fieldOf: (one: ColumnEntity, field: string) => one[field as keyof ColumnEntity],
  };
};

const sequenceColumns = entitySet<ColumnEntity>({
  ...{ name: "SequenceColumns", type: "SequenceColumn", omitsInsertRestrictions: true },
  read: (ctx, { filter, page }) =>
    filteredPage(ctx, {
      ...columnMemoryFilter(ctx, filter),
      page,
      position: (one) => [one.sequenceId, one.at],
    }),
  count: (ctx, filter) => filteredCount(ctx, columnMemoryFilter(ctx, filter), limits.odataPageMax),
  position: (row) => [row.sequenceId, row.at],
  entityPath: (row) => pathWithKey(pathWithKey("Sequences", String(row.sequenceId), "Columns"), nameOf(row)),
});

interface RowEntity {
  readonly sequenceId: number;
  readonly rowNumber: bigint;
  readonly data: Readonly<Record<string, string | number>>;
}

const rowDataType: OpenComplexType = { name: "SequenceRowData" };

const sequenceRow = entityType<RowEntity>({
  name: "SequenceRow",
  key: "RowNumber",
  properties: [
    required(text("RowNumber", (row) => String(row.rowNumber), rowNumbers())),
    {
      ...{ name: "RowData", type: rowDataType, get: (row) => row.data },
      queryable: { kind: "members", member: typedMember("data") },
    },
    sequenceId(),
  ],
});

/** Row numbers of 63 bits are strings and can only be compared for equality. */
function rowNumbers(): Operand {
  return { type: "Edm.String", equals: (value) => equals("rowNumber", value) };
}

/** Reads the rows of one sequence after the other, each by row number. */
async function rowsIn(
  ctx: RequestContext,
  { ids, only }: { readonly ids: Filter; readonly only: bigint | undefined },
  { limit, after }: PageQuery,
): Promise<Page<RowEntity>> {
  const found: RowEntity[] = [];
  const [id = 0, number] = (after ?? []) as readonly [number?, string?];
  let from = number === undefined ? 0n : BigInt(number) + 1n;
  for (let place = [id - 1]; ; ) {
    const { items, next } = await listSequences(ctx, { filter: ids, page: { limit: 100, after: place } });
    for (const one of items) {
      if (one.id !== id) from = 0n;
      const range =
        only === undefined ? { from, to: longMax } : { from: only > from ? only : from, to: only };
      const page = { limit: limit - found.length + 1 };
      const rows = await readRows(ctx, { sequenceId: one.id, ...range, columns: [], page });
      found.push(...rows.page.items.map((row) => rowEntity(one.id, rows.columns, row)));
      if (found.length <= limit) continue;
      const last = found[limit - 1]!;
      return { items: found.slice(0, limit), next: [last.sequenceId, String(last.rowNumber)] };
    }
    if (!next) return { items: found };
    place = [...(next as readonly number[])];
  }
}

const rowEntity = (
  sequenceId: number,
  columns: readonly SequenceColumn[],
  { rowNumber, cells }: SequenceRow,
): RowEntity => {
  const existing = columns.map((one, at) => [nameOf(one), cells[at]] as const);
  return {
    sequenceId,
    rowNumber,
    data: Object.fromEntries(existing.filter(([, cell]) => cell !== undefined)) as RowEntity["data"],
  };
};

const rowMemoryFilter = (ctx: RequestContext, filter: Filter) => {
  const { ids, rest } = sequencesNamed(filter);
  const { values, rest: further } = valuesIn(rest, "rowNumber");
  const [number, ...others] = values ?? [];
  const isOne = number !== undefined && others.length === 0 && /^\d{1,19}$/.test(String(number));
  const only = isOne ? BigInt(number as string) : undefined;
  return {
    filter: isOne ? further : rest,
    read: (page: PageQuery) => rowsIn(ctx, { ids, only }, page),
    fieldOf: (row: RowEntity, field: string) =>
      field === "rowNumber" ? String(row.rowNumber) : row[field as keyof RowEntity],
  };
};

const rowPosition = (row: RowEntity) => [row.sequenceId, String(row.rowNumber)];

const sequenceRows = entitySet<RowEntity>({
  ...{ name: "SequenceRows", type: "SequenceRow", omitsInsertRestrictions: true },
  read: (ctx, { filter, page }: EntitySetQuery) =>
    filteredPage(ctx, { ...rowMemoryFilter(ctx, filter), page, position: rowPosition }),
  count: (ctx, filter) => filteredCount(ctx, rowMemoryFilter(ctx, filter), limits.odataPageMax),
  position: rowPosition,
  entityPath: (row) =>
    pathWithKey(pathWithKey("Sequences", String(row.sequenceId), "Rows"), String(row.rowNumber)),
});

const assetOf = ({ assetId }: Sequence) => (assetId === undefined ? [] : [assetId]);
const bySequence = {
  own: ({ id }: Sequence) => [id],
  theirs: (one: { readonly sequenceId: number }) => [one.sequenceId],
  filter: (ids: readonly (string | number)[]) => oneOf("sequenceId", ids),
};

export const sequenceModel: EntityModelPart = {
  types: [sequence, sequenceColumn, sequenceRow],
  sets: [sequences, sequenceRows, sequenceColumns],
  navigations: [
    navigation<Asset, Sequence>({
      ...{ from: "Asset", name: "Sequences", to: "Sequences", isMany: true },
      join: { own: ({ id }) => [id], theirs: assetOf, filter: (ids) => oneOf("assetId", ids) },
    }),
    navigation<Sequence, ColumnEntity>({
      ...{ from: "Sequence", name: "Columns", to: "SequenceColumns", isMany: true, isAutoExpanded: true },
      queryable: { operand: ofColumn, toFilter: (part) => some("columns", part) },
      join: bySequence,
    }),
    navigation<Sequence, RowEntity>({
      ...{ from: "Sequence", name: "Rows", to: "SequenceRows", isMany: true, join: bySequence },
    }),
  ],
};
