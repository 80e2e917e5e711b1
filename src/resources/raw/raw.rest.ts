// Raw data over REST (docs/reference/raw.md): the routes of 0.4, 0.5 and 0.6, and the handlers below them.
//
// `create`, `delete` and `csv` name operations, so no record is read by these names
// (docs/reference/common.md#names-of-operations).
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { and, between, everything, hasOneOf } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import type { Page, PageQuestion } from "../../query/page.ts";
import { readWithin } from "../../query/read-within.ts";
import { cellTextFor } from "../../rest/csv.ts";
import {
  emptyAnswer,
  emptyShape,
  itemsAnswer,
  itemsOf,
  listAnswer,
  pageAnswer,
  pageAsked,
  pageOf,
} from "../../rest/envelope.ts";
import { bulk, json } from "../../rest/fields.ts";
import { itemsTextAnswer } from "../../rest/items-json.ts";
import type { Values } from "../../rest/parameters.ts";
import { apiVersions, type BytesAnswer, type Route, route, type StreamAnswer } from "../../rest/route.ts";
import { csvAnswer, csvType, readCsvRows } from "./csv.rest.ts";
import {
  createDatabases,
  createTables,
  deleteDatabases,
  deleteTables,
  listDatabases,
  listTables,
  type Named,
  withTablesOf,
} from "./raw.ts";
import { readRows, rowTexts } from "./row-texts.rest.ts";
import { deleteRows, getRow, listRows, type NewRow, putRows } from "./rows.ts";
import {
  databaseShape,
  databasesBody,
  ensuring,
  inDatabase,
  inTable,
  keysBody,
  linkedTableShape,
  namesQuery,
  newTablesBody,
  ofRow,
  recursive,
  rowQuery,
  rowShape,
  rowsBody,
  rowsQuery,
  tablesBody,
} from "./shapes.rest.ts";

const listing = { method: "GET", versions: apiVersions, capability: ["rawAcl", "LIST"] } as const;
const reading = { method: "GET", versions: apiVersions, capability: ["rawAcl", "READ"] } as const;
const writing = { method: "POST", versions: apiVersions, capability: ["rawAcl", "WRITE"] } as const;
const nothing = { answer: () => ({ schema: emptyShape }) };

const databaseRoutes: readonly Route[] = [
  route({
    ...listing,
    path: "/raw",
    summary: "List databases, by name",
    query: namesQuery,
    answer: () => ({ schema: pageOf(databaseShape) }),
    handle: async (ctx, { query: { assetId, ...query } }) =>
      answerNames(ctx, {
        query,
        collection: ["raw", ctx.project, assetId],
        read: async (page) =>
          listDatabases(ctx, page, assetId === undefined ? everything : await withTablesOf(ctx, assetId)),
        shape: ({ name }) => ({ dbName: name }),
      }),
  }),
  route({
    ...writing,
    path: "/raw/create",
    summary: "Create databases; those that exist stay as they are",
    body: json(databasesBody),
    answer: () => ({ schema: itemsOf(databaseShape) }),
    created: ["0.6"],
    createdName: "dbName",
    handle: async (ctx, { body }) => {
      const names = body.items.map(({ dbName }) => dbName);
      await createDatabases(ctx, names);
      return itemsAnswer(names.map((dbName) => ({ dbName })));
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
      return emptyAnswer;
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
    answer: () => ({ schema: pageOf(linkedTableShape) }),
    handle: (ctx, { path, query: { assetId, ...query } }) =>
      answerNames(ctx, {
        query,
        collection: ["raw", ctx.project, path.database, assetId],
        read: (page) => {
          const wanted = assetId === undefined ? everything : hasOneOf("assetIds", [assetId]);
          return listTables(ctx, path.database, page, wanted);
        },
        shape: ({ name, assetIds = [] }) => ({
          tableName: name,
          ...(assetIds.length > 0 && { assetIds: [...assetIds] }),
        }),
      }),
  }),
  route({
    ...writing,
    path: "/raw/{database}/create",
    summary: "Create tables; those that exist change their links to assets, if these are sent",
    parameters: inDatabase,
    query: ensuring("the database"),
    body: json(newTablesBody),
    answer: () => ({ schema: itemsOf(linkedTableShape) }),
    created: ["0.6"],
    createdName: "tableName",
    handle: async (ctx, { path, query, body }) => {
      const tables = body.items.map(({ tableName, assetIds }) => ({ name: tableName, assetIds }));
      await createTables(ctx, path.database, { tables, ensureParent: query.ensureParent ?? false });
      return itemsAnswer(body.items);
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
      return emptyAnswer;
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
    answer: () => ({ schema: pageOf(rowShape), otherContentTypes: [csvType], hasNextLink: true }),
    handle: answerRows,
  }),
  route({
    ...reading,
    path: "/raw/{database}/{table}/{key}",
    summary: "Read a row",
    parameters: ofRow,
    query: rowQuery,
    answer: () => ({ schema: itemsOf(rowShape) }),
    handle: async (ctx, { path, query }) => {
      const row = await getRow(ctx, path, path.key);
      return itemsTextAnswer(itemsAnswer([]), [rowTexts([row], query.columns)]);
    },
  }),
  route({
    ...writing,
    ...nothing,
    path: "/raw/{database}/{table}/create",
    summary: "Write rows; those with the same key are replaced",
    parameters: inTable,
    query: ensuring("the database and the table"),
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
    summary: "Write rows from CSV whose first header cell is `key`; every cell is a text",
    parameters: inTable,
    query: ensuring("the database and the table"),
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
    summary: "Delete rows, as far as they exist",
    parameters: inTable,
    body: json(keysBody),
    handle: async (ctx, { path, body }) => {
      const keys = body.items.map(({ key }) => key);
      await deleteRows(ctx, path, keys);
      return emptyAnswer;
    },
  }),
];

export const rawRoutes: readonly Route[] = [...databaseRoutes, ...tableRoutes, ...rowRoutes];

interface NamesAsked {
  readonly query: Omit<Values<typeof namesQuery>, "assetId">;
  /** What a cursor is bound to. */
  readonly collection: readonly unknown[];
  readonly read: (page: PageQuestion) => Promise<Page<Named>>;
  readonly shape: (item: Named) => Static<typeof databaseShape> | Static<typeof linkedTableShape>;
}

const answerNames = (ctx: RequestContext, { query, collection, read, shape }: NamesAsked) =>
  listAnswer(ctx, { ...query, collection }, read, shape);

interface RowsAsked {
  readonly path: Values<typeof inTable>;
  readonly query: Values<typeof rowsQuery>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function answerRows(
  ctx: RequestContext,
  { path, query, headers }: RowsAsked,
): Promise<BytesAnswer | StreamAnswer> {
  const filter = lastUpdated(query);
  const collection = ["raw", ctx.project, path.database, path.table, filter];
  const asked = pageAsked(ctx, collection, query);
  const read = (bound: LengthBound) => listRows(ctx, path, { filter, page: { ...asked, bound } });
  const found = await readWithin(ctx.memory, read);
  if (headers["accept"]?.includes(csvType)) {
    const nextCursor = found.next && ctx.cursors.sign(collection, { after: found.next });
    return {
      ...(await csvAnswer(found.items, query.columns, cellTextFor(query))),
      ...(nextCursor && { nextCursor }),
    };
  }
  const wrapper = pageAnswer(ctx, collection, { asked, found: { ...found, items: [] } }, () => null);
  return itemsTextAnswer(wrapper, [rowTexts(found.items, query.columns)]);
}

/** After `min` and up to `max`. */
function lastUpdated({ minLastUpdatedTime: min, maxLastUpdatedTime: max }: Values<typeof rowsQuery>) {
  if (min === undefined && max === undefined) return and();
  return between("lastUpdatedTime", {
    ...(min !== undefined && { from: { value: min, inclusive: false } }),
    ...(max !== undefined && { to: { value: max, inclusive: true } }),
  });
}

interface Written {
  readonly path: Values<typeof inTable>;
  readonly query: { readonly ensureParent: boolean | undefined };
}

async function write(ctx: RequestContext, { path, query }: Written, rows: readonly NewRow[]) {
  await putRows(ctx, path, { rows, ensureParent: query.ensureParent ?? false });
  return emptyAnswer;
}
