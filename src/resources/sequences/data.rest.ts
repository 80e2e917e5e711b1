// Writes and reads rows of sequences over REST (docs/reference/sequences.md#rows-of-a-sequence), as JSON or
// CSV.
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { type CellText, csvCell } from "../../lib/csv.ts";
import { prefersToJson } from "../../lib/media-types.ts";
import { bytesOrStream, textChunks } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { readWithin } from "../../query/read-within.ts";
import { cellTextFor, csvQuery } from "../../rest/csv.ts";
import { emptyResponse, emptySchema, pageQueryOf } from "../../rest/envelope.ts";
import { bulk, idField, rowNumberDigits, storable } from "../../rest/fields.ts";
import type { ParameterValues } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { exact, longIn, longMax } from "./cells.ts";
import { type ColumnQuery, readRows, type SequenceRow, writeRows } from "./rows.ts";
import type { SequenceColumn } from "./schema.ts";
import { sequenceIdParameter } from "./schemas.rest.ts";

const versions = ["0.5", "0.6"] as const;
const csvType = "text/csv";

/** JSON numbers lose digits beyond 2^53 in many clients, so larger row numbers are strings. */
const rowNumber = Type.Union(
  [Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.String({ pattern: rowNumberDigits })],
  { description: "From 0 to 2^63 - 1, as a string of digits from 2^53 on" },
);

const value = Type.Union(
  [Type.Number(), Type.String({ pattern: storable, maxLength: limits.sequenceRowLengthMax }), Type.Null()],
  { description: "A value of the column's type; numbers can also be strings; null leaves the cell empty" },
);

const row = Type.Object(
  {
    rowNumber,
    values: Type.Array(Type.Object({ columnId: idField("Which column"), value }), {
      maxItems: limits.sequenceColumnsMax,
    }),
  },
  { title: "NewSequenceRow" },
);

const postBody = Type.Object({
  items: Type.Array(Type.Object({ rows: Type.Array(row, { maxItems: limits.sequenceRowsPerWriteMax }) }), {
    minItems: 1,
    maxItems: limits.sequenceRowsPerWriteMax,
  }),
});

const columnQuery = Type.Object({
  id: Type.Optional(idField("Which column")),
  externalId: Type.Optional(Type.String({ description: "The column's external id, instead of the id" })),
});

const rowsQuery = Type.Object({
  inclusiveFrom: Type.Optional(rowNumber),
  inclusiveTo: Type.Optional(rowNumber),
  exclusiveTo: Type.Optional(rowNumber),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  columnIds: Type.Optional(Type.Array(Type.Integer(), { maxItems: limits.sequenceColumnsMax })),
  columns: Type.Optional(Type.Array(columnQuery, { maxItems: limits.sequenceColumnsMax })),
  cursor: Type.Optional(Type.String({ description: "`nextCursor` of an earlier response" })),
});

const getBody = Type.Object({ items: Type.Array(rowsQuery, { minItems: 1, maxItems: 1 }) });

const textOrNull = Type.Union([Type.String(), Type.Null()]);

const rowSchema = Type.Object(
  {
    rowNumber: Type.Union([Type.Integer(), Type.String()]),
    values: Type.Array(
      Type.Object({ columnId: Type.Integer(), value: Type.Union([Type.Number(), Type.String()]) }),
    ),
  },
  { title: "SequenceRow" },
);

const columnSchema = Type.Object({ id: Type.Integer(), externalId: textOrNull, name: textOrNull });

const dataSchema = Type.Object({
  data: Type.Object({
    items: Type.Array(Type.Object({ columns: Type.Array(columnSchema), rows: Type.Array(rowSchema) })),
    nextCursor: Type.Optional(Type.String()),
  }),
});

export const dataRoutes: readonly Route[] = [
  route({
    versions,
    capability: ["sequencesAcl", "WRITE"],
    method: "POST",
    path: "/sequences/{sequenceId}/postdata",
    summary: "Write rows of a sequence; rows replace existing ones with the same number",
    parameters: sequenceIdParameter,
    body: { kind: "json", ...bulk, schema: postBody, nulls: "kept" },
    response: () => ({ schema: emptySchema }),
    handle: write,
  }),
  route({
    versions,
    capability: ["sequencesAcl", "READ"],
    method: "POST",
    path: "/sequences/{sequenceId}/getdata",
    summary: "Read rows of a sequence in the order of their numbers, as JSON or as CSV",
    parameters: sequenceIdParameter,
    query: csvQuery,
    body: { kind: "json", schema: getBody },
    response: () => ({ schema: dataSchema, otherContentTypes: [csvType] }),
    handle: read,
  }),
];

type Path = ParameterValues<typeof sequenceIdParameter>;

async function write(
  ctx: RequestContext,
  { path, body }: { readonly path: Path; readonly body: Static<typeof postBody> },
) {
  const rows = await mapInSlices(body.items, ({ rows }, item) =>
    rows.map(({ rowNumber, values }, at) => {
      const field = `items[${item}].rows[${at}]`;
      return { rowNumber: rowNumberIn(rowNumber, `${field}.rowNumber`), values, field };
    }),
  );
  await writeRows(ctx, path.sequenceId, rows.flat());
  return emptyResponse;
}

function rowNumberIn(sent: number | string, field: string): bigint {
  const read = longIn(sent);
  if (read !== undefined) return read;
  throw fail("field-invalid", { field, expected: `a row number from 0 to ${longMax}`, got: `${sent}` });
}

async function read(
  ctx: RequestContext,
  request: {
    readonly path: Path;
    readonly query: ParameterValues<typeof csvQuery>;
    readonly body: Static<typeof getBody>;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  },
) {
  const [sent] = request.body.items;
  const { limit = limits.sequenceRowsPerReadDefault, cursor } = sent!;
  const selection = { sequenceId: request.path.sequenceId, ...rangeOf(sent!), columns: columnsOf(sent!) };
  const { from, to, ...others } = selection;
  const collection = ["sequence rows", ctx.projectId, others, `${from}`, `${to}`];
  const page = pageQueryOf(ctx, collection, {
    cursor,
    limit: Math.min(limit, limits.sequenceRowsPerReadMax),
  });
  const read = (bound: LengthBound) => readRows(ctx, { ...selection, page: { ...page, bound } });
  const found = await readWithin(ctx.memory, read);
  const { next, items: rows } = found.page;
  const nextCursor = next && ctx.cursors.sign(collection, { after: next });
  const table = { columns: found.columns, rows };
  const isCsv = prefersToJson(csvType, request.headers["accept"]);
  const [contentType, lines] = isCsv
    ? [`${csvType}; charset=utf-8`, csvLines(table, cellTextFor(request.query))]
    : ["application/json; charset=utf-8", jsonChunks(table, nextCursor)];
  return {
    contentType,
    ...(await bytesOrStream(textChunks([lines]), limits.responseChunkBytes)),
    ...(isCsv && nextCursor !== undefined && { nextCursor }),
  };
}

/** Published clients send the end in two members; the smaller end applies. */
function rangeOf({ inclusiveFrom = 0, inclusiveTo, exclusiveTo }: Static<typeof rowsQuery>) {
  const ends = [
    inclusiveTo === undefined ? longMax : rowNumberIn(inclusiveTo, "items[0].inclusiveTo"),
    exclusiveTo === undefined ? longMax : rowNumberIn(exclusiveTo, "items[0].exclusiveTo") - 1n,
  ] as const;
  const from = rowNumberIn(inclusiveFrom, "items[0].inclusiveFrom");
  return { from, to: ends[0] < ends[1] ? ends[0] : ends[1] };
}

function columnsOf({ columnIds = [], columns = [] }: Static<typeof rowsQuery>): ColumnQuery[] {
  return [
    ...columnIds.map((id, at) => ({ id, field: `items[0].columnIds[${at}]` })),
    ...columns.map((column, at) => {
      const field = `items[0].columns[${at}]`;
      if (column.id === undefined && column.externalId === undefined)
        throw fail("fields-missing", { fields: [`${field}.id`] });
      return { ...column, field };
    }),
  ];
}

interface RowTable {
  readonly columns: readonly SequenceColumn[];
  readonly rows: readonly SequenceRow[];
}

/** Rows can have two million cells, so they are written one by one, without an object for each cell. */
function* jsonChunks({ columns, rows }: RowTable, nextCursor: string | undefined): Generator<string> {
  const heads = columns.map(({ id, externalId = null, name = null }) => ({ id, externalId, name }));
  const labels = columns.map(({ id }) => `{"columnId":${id},"value":`);
  yield `{"data":{"items":[{"columns":${JSON.stringify(heads)},"rows":[`;
  for (const [at, { rowNumber, cells }] of rows.entries()) {
    const values = cells.flatMap((cell, column) =>
      cell === undefined ? [] : [`${labels[column]}${JSON.stringify(cell)}}`],
    );
    const number = JSON.stringify(exact(rowNumber));
    yield `${at > 0 ? "," : ""}{"rowNumber":${number},"values":[${values.join(",")}]}`;
  }
  yield `]}]${nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`}}}`;
}

/** A header with `rowNumber` and `name(id)` of each column, then a line for each row. */
function* csvLines({ columns, rows }: RowTable, cellText: CellText): Generator<string> {
  const heads = columns.map(({ id, name, externalId }) =>
    csvCell(cellText(`${name ?? externalId ?? ""}(${id})`)),
  );
  yield `${["rowNumber", ...heads].join(",")}\n`;
  for (const { rowNumber, cells } of rows) {
    const values = cells.map((cell) =>
      cell === undefined ? "" : csvCell(typeof cell === "string" ? cellText(cell) : `${cell}`),
    );
    yield `${[rowNumber, ...values].join(",")}\n`;
  }
}
