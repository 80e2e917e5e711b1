// Raw data over REST (docs/reference/raw.md): the routes of 0.4, 0.5 and 0.6, and the handlers below them.
//
// `create`, `delete` and `csv` in paths are names of operations, so no record can be read by these names
// (docs/reference/common.md#names-of-operations).
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { prefersToJson } from "../../lib/media-types.ts";
import { and, between, everything, hasOneOf } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import { readWithin } from "../../query/read-within.ts";
import { cellTextFor } from "../../rest/csv.ts";
import {
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageQueryOf,
  pageResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { bulk, json } from "../../rest/fields.ts";
import { itemsTextResponse } from "../../rest/long-lists.ts";
import type { ParameterValues } from "../../rest/parameters.ts";
import { apiVersions, type BytesResponse, type Route, route, type StreamResponse } from "../../rest/route.ts";
import { csvResponse, csvType, readCsvRows } from "./csv.rest.ts";
import {
  createDatabases,
  createTables,
  deleteDatabases,
  deleteTables,
  listDatabases,
  listTables,
  type NamedRecord,
  withTablesOf,
} from "./raw.ts";
import { readRows, rowsJson } from "./row-json.rest.ts";
import { countRows, deleteRows, getRow, listRows, type NewRawRow, putRows } from "./rows.ts";
import {
  databaseSchema,
  databasesBody,
  ensureParentParameter,
  inDatabase,
  inTable,
  keysBody,
  linkedTableSchema,
  namesQuery,
  newTablesBody,
  ofRow,
  recursive,
  rowQuery,
  rowSchema,
  rowsBody,
  rowsPageSchema,
  rowsQuery,
  tablesBody,
} from "./schemas.rest.ts";

const listing = { method: "GET", versions: apiVersions, capability: ["rawAcl", "LIST"] } as const;
const reading = { method: "GET", versions: apiVersions, capability: ["rawAcl", "READ"] } as const;
const writing = { method: "POST", versions: apiVersions, capability: ["rawAcl", "WRITE"] } as const;
const nothing = { response: () => ({ schema: emptySchema }) };

const databaseRoutes: readonly Route[] = [
  route({
    ...listing,
    path: "/raw",
    summary: "List databases, by name",
    query: namesQuery,
    response: () => ({ schema: pageSchema(databaseSchema) }),
    handle: async (ctx, { query: { assetId, ...query } }) =>
      namesResponse(ctx, {
        query,
        collection: ["raw", ctx.projectId, assetId],
        read: async (page) =>
          listDatabases(ctx, page, assetId === undefined ? everything : await withTablesOf(ctx, assetId)),
        toJson: ({ name }) => ({ dbName: name }),
      }),
  }),
  route({
    ...writing,
    path: "/raw/create",
    summary: "Create databases; existing ones do not change",
    body: json(databasesBody),
    response: () => ({ schema: itemsSchema(databaseSchema) }),
    created: ["0.6"],
    createdName: "dbName",
    handle: async (ctx, { body }) => {
      const names = body.items.map(({ dbName }) => dbName);
      await createDatabases(ctx, names);
      return itemsResponse(names.map((dbName) => ({ dbName })));
    },
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/delete",
    summary: "Delete databases",
    query: recursive,
    body: json(databasesBody),
    handle: async (ctx, { query, body }) => {
      const names = body.items.map(({ dbName }) => dbName);
      await deleteDatabases(ctx, names, { isRecursive: query.recursive ?? false });
      return emptyResponse;
    },
  }),
];

const tableRoutes: readonly Route[] = [
  route({
    ...listing,
    path: "/raw/{database}",
    summary: "List the tables of a database, by name",
    parameters: inDatabase,
    query: namesQuery,
    response: () => ({ schema: pageSchema(linkedTableSchema) }),
    handle: (ctx, { path, query: { assetId, ...query } }) =>
      namesResponse(ctx, {
        query,
        collection: ["raw", ctx.projectId, path.database, assetId],
        read: (page) => {
          const byAsset = assetId === undefined ? everything : hasOneOf("assetIds", [assetId]);
          return listTables(ctx, path.database, page, byAsset);
        },
        toJson: ({ name, assetIds = [] }) => ({
          tableName: name,
          ...(assetIds.length > 0 && { assetIds: [...assetIds] }),
        }),
      }),
  }),
  route({
    ...writing,
    path: "/raw/{database}/create",
    summary: "Create tables; for existing ones, sets the links to assets if they are sent",
    parameters: inDatabase,
    query: ensureParentParameter("the database"),
    body: json(newTablesBody),
    response: () => ({ schema: itemsSchema(linkedTableSchema) }),
    created: ["0.6"],
    createdName: "tableName",
    handle: async (ctx, { path, query, body }) => {
      const tables = body.items.map(({ tableName, assetIds }) => ({ name: tableName, assetIds }));
      await createTables(ctx, path.database, { tables, ensureParent: query.ensureParent ?? false });
      return itemsResponse(body.items);
    },
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/{database}/delete",
    summary: "Delete tables with their rows",
    parameters: inDatabase,
    body: json(tablesBody),
    handle: async (ctx, { path, body }) => {
      const tables = body.items.map(({ tableName }) => tableName);
      await deleteTables(ctx, path.database, tables);
      return emptyResponse;
    },
  }),
];

const rowRoutes: readonly Route[] = [
  route({
    ...reading,
    path: "/raw/{database}/{table}",
    summary: "List the rows of a table, by key; as CSV with `Accept: text/csv`",
    parameters: inTable,
    query: rowsQuery,
    response: () => ({ schema: rowsPageSchema, otherContentTypes: [csvType], hasNextLink: true }),
    handle: rowsResponse,
  }),
  route({
    ...reading,
    path: "/raw/{database}/{table}/{key}",
    summary: "Read a row",
    parameters: ofRow,
    query: rowQuery,
    response: () => ({ schema: itemsSchema(rowSchema) }),
    handle: async (ctx, { path, query }) => {
      const row = await getRow(ctx, path, path.key);
      return itemsTextResponse(itemsResponse([]), [rowsJson([row], query.columns)]);
    },
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/{database}/{table}/create",
    summary: "Write rows; rows with the same keys are replaced",
    parameters: inTable,
    query: ensureParentParameter("the database and the table"),
    body: {
      kind: "bytes",
      ...bulk,
      schema: rowsBody,
      read: readRows,
    },
    handle: async (ctx, asked) => write(ctx, asked, asked.body),
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/{database}/{table}/csv",
    summary: "Write rows from CSV whose first header cell is `key`; all cells are strings",
    parameters: inTable,
    query: ensureParentParameter("the database and the table"),
    body: {
      kind: "bytes",
      ...bulk,
      schema: Type.String(),
      contentType: csvType,
      read: readCsvRows,
    },
    handle: async (ctx, asked) => write(ctx, asked, asked.body),
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/{database}/{table}/delete",
    summary: "Delete rows; unknown keys are ignored",
    parameters: inTable,
    body: json(keysBody),
    handle: async (ctx, { path, body }) => {
      const keys = body.items.map(({ key }) => key);
      await deleteRows(ctx, path, keys);
      return emptyResponse;
    },
  }),
];

export const rawRoutes: readonly Route[] = [...databaseRoutes, ...tableRoutes, ...rowRoutes];

interface NamesRequest {
  readonly query: Omit<ParameterValues<typeof namesQuery>, "assetId">;
  /** The list that a cursor is valid for. */
  readonly collection: readonly unknown[];
  readonly read: (page: PageQuery) => Promise<Page<NamedRecord>>;
  readonly toJson: (item: NamedRecord) => Static<typeof databaseSchema> | Static<typeof linkedTableSchema>;
}

const namesResponse = (ctx: RequestContext, { query, collection, read, toJson }: NamesRequest) =>
  listResponse(ctx, { ...query, collection }, read, toJson);

interface RowsRequest {
  readonly path: ParameterValues<typeof inTable>;
  readonly query: ParameterValues<typeof rowsQuery>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function rowsResponse(
  ctx: RequestContext,
  { path, query, headers }: RowsRequest,
): Promise<BytesResponse | StreamResponse> {
  const filter = lastUpdated(query);
  const collection = ["raw", ctx.projectId, path.database, path.table, filter];
  const asked = pageQueryOf(ctx, collection, query);
  const { cursor, startKey } = query;
  if (cursor !== undefined && startKey !== undefined)
    throw fail("field-invalid", { field: "startKey", expected: "no value beside cursor", got: startKey });
  const isCsv = prefersToJson(csvType, headers["accept"]);
  const hasPrevious = !isCsv; // Responses in CSV have no previousCursor.
  const read = (bound: LengthBound) =>
    listRows(ctx, path, { filter, startKey, hasPrevious, page: { ...asked, bound } });
  const found = await readWithin(ctx.memory, read);
  if (isCsv) {
    const nextCursor = found.next && ctx.cursors.sign(collection, { after: found.next });
    return {
      ...(await csvResponse(found.items, query.columns, cellTextFor(query))),
      ...(nextCursor && { nextCursor }),
    };
  }
  const { data } = pageResponse(
    ctx,
    collection,
    { pageQuery: asked, page: { ...found, items: [] } },
    () => null,
  );
  const rowCount = query.includeRowCount ? await countRows(ctx, path, filter) : undefined;
  return itemsTextResponse({ data: { ...data, rowCount } }, [rowsJson(found.items, query.columns)]);
}

/** After `min`, up to and including `max`. */
function lastUpdated({
  minLastUpdatedTime: min,
  maxLastUpdatedTime: max,
}: ParameterValues<typeof rowsQuery>) {
  if (min === undefined && max === undefined) return and();
  return between("lastUpdatedTime", {
    ...(min !== undefined && { from: { value: min, inclusive: false } }),
    ...(max !== undefined && { to: { value: max, inclusive: true } }),
  });
}

interface RowsWrite {
  readonly path: ParameterValues<typeof inTable>;
  readonly query: { readonly ensureParent: boolean | undefined };
}

async function write(ctx: RequestContext, { path, query }: RowsWrite, rows: readonly NewRawRow[]) {
  await putRows(ctx, path, { rows, ensureParent: query.ensureParent ?? false });
  return emptyResponse;
}
