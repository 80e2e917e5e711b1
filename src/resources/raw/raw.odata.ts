// Raw data over OData: reads and inserts of databases, tables and rows.
import type { RequestContext } from "../../context.ts";
import { Failure, fail } from "../../errors.ts";
import { parseJson } from "../../lib/json.ts";
import { isStorable, shortened } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { plainData } from "../../odata/dynamic-json.ts";
import {
  type EntityInsert,
  type EntityModelPart,
  type EntitySetQuery,
  entitySet,
  entityType,
  navigation,
  type OpenComplexType,
  type Property,
} from "../../odata/model.ts";
import { pathWithKey } from "../../odata/names.ts";
import { column, typedMember } from "../../odata/operand.ts";
import { idList, required, text, time } from "../../odata/property.ts";
import { splitBy } from "../../query/conjuncts.ts";
import { and, between, equals, type Filter, oneOf, or } from "../../query/filter.ts";
import { filteredCount, filteredItems, filteredPage } from "../../query/memory-filter.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import {
  countDatabases,
  createNewDatabase,
  createNewTable,
  listDatabases,
  listTables,
  type NamedRecord,
} from "./raw.ts";
import { countRows, createRow, listRows, type RawRow } from "./rows.ts";

/** A table as an entity. */
interface TableEntity {
  readonly database: string;
  readonly table: string;
  readonly assetIds?: readonly number[];
}

type RowEntity = TableEntity & RawRow;

const databaseOf = <From extends Pick<TableEntity, "database">>(): Property<From> => ({
  ...text<From>("Database", (row) => row.database, column("database")),
  isDynamic: true,
});

const database = entityType<NamedRecord>({
  name: "Raw",
  key: "Database",
  properties: [required(text("Database", (row) => row.name, column("name")))],
});

const assetIds: Property<TableEntity> = {
  ...idList<TableEntity>("AssetIds", (row) => row.assetIds, "assetIds"),
  isDynamic: true,
};

const table = entityType<TableEntity>({
  name: "Table",
  key: "Table",
  properties: [required(text("Table", (row) => row.table, column("table"))), databaseOf(), assetIds],
});

const rawDataType: OpenComplexType = { name: "RawData", hasMixedMembers: true };

const row = entityType<RowEntity>({
  name: "Row",
  key: "Key",
  properties: [
    required(text("Key", (one) => one.key, column("key"))),
    time("LastUpdatedTime", (one) => one.lastUpdatedTime, "lastUpdatedTime"),
    {
      ...{ name: "RawData", type: rawDataType, get: (one) => parseJson(one.columns) },
      queryable: { kind: "members", member: typedMember("data") },
    },
    databaseOf(),
    { ...text<RowEntity>("Table", (one) => one.table, column("table")), isDynamic: true },
  ],
});

const databases = entitySet<NamedRecord>({
  ...{ name: "Raw", type: "Raw", requiresFilter: true },
  read: (ctx, { filter, page }) => listDatabases(ctx, page, filter),
  count: countDatabases,
  position: ({ name }) => [name],
  async insert(ctx, { body }) {
    const name = keyIn(body, "Database", limits.nameLengthMax);
    await createNewDatabase(ctx, name);
    return { name };
  },
});

/** The tables that match a filter by database and table names, ordered by both. */
async function* tablesIn(
  ctx: RequestContext,
  filter: Filter,
  [database, table]: readonly (string | undefined)[] = [],
): AsyncGenerator<TableEntity> {
  const named = (field: string) => splitBy(filter, [field]).on;
  const { rest } = splitBy(filter, ["database"]);
  const ofBoth = splitBy(rest, ["table"]).rest;
  const from =
    database === undefined ? undefined : between("name", { from: { value: database, inclusive: true } });
  const databaseFilter = and(from, withField(named("database"), "name"));
  for await (const { name } of databasesMeeting(ctx, databaseFilter)) {
    const start = name === database && table !== undefined ? { after: [table] } : {};
    const tables = withField(named("table"), "name");
    const read = (page: PageQuery) =>
      listTables(ctx, name, { ...start, ...page }, tables).catch(ifDeleted(noRecords));
    for await (const page of pagesOf(read)) {
      const found = page.map((table) => ({
        ...{ database: name, table: table.name },
        ...(table.assetIds && { assetIds: table.assetIds }),
      }));
      yield* await filteredItems(ctx, { filter: ofBoth, fieldOf: tableField }, found);
    }
  }
}

/**
 * A table may be deleted between the pages of a list, or while it is read: it has no more rows then. An
 * address that names it is refused before.
 */
const ifDeleted =
  <Value>(instead: Value) =>
  (problem: unknown): Value => {
    if (problem instanceof Failure && problem.status === 404) return instead;
    throw problem;
  };

const noRecords: Page<never> = { items: [] };

const tableField = (place: TableEntity, field: string) => place[field as keyof TableEntity];

async function* databasesMeeting(ctx: RequestContext, filter: Filter): AsyncGenerator<NamedRecord> {
  for await (const page of pagesOf((page) => listDatabases(ctx, page, filter))) yield* page;
}

async function* pagesOf<Item>(
  read: (page: PageQuery) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  for (let page: PageQuery | undefined = { limit: limits.rawNamesMax }; page; ) {
    const { items, next }: Page<Item> = await read(page);
    yield items;
    page = next && { limit: limits.rawNamesMax, after: next };
  }
}

/**
 * Applies a condition to another field: databases and tables are stored in two tables, each with a column
 * for the name.
 */
function withField(filter: Filter, field: string): Filter {
  if (filter.kind === "and" || filter.kind === "or")
    return { ...filter, parts: filter.parts.map((part) => withField(part, field)) };
  if (filter.kind === "not") return { ...filter, part: withField(filter.part, field) };
  return "field" in filter ? ({ ...filter, field } as Filter) : filter;
}

const tables = entitySet<TableEntity>({
  ...{ name: "Tables", type: "Table", requiresFilter: true },
  async read(ctx, { filter, page }) {
    const items: TableEntity[] = [];
    for await (const place of tablesIn(ctx, filter, page.after as readonly string[] | undefined)) {
      if (items.length === page.limit) {
        const { database, table } = items.at(-1)!;
        return { items, next: [database, table] };
      }
      items.push(place);
    }
    return { items };
  },
  async count(ctx, filter) {
    let count = 0;
    for await (const _ of tablesIn(ctx, filter)) count++;
    return count;
  },
  position: ({ database, table }) => [database, table],
  entityPath: ({ database, table }) => pathWithKey(pathWithKey("Raw", database, "Tables"), table),
  async insert(ctx, { body, container }) {
    const parent =
      namedByPath(body, "Database", (container as NamedRecord | undefined)?.name) ??
      keyIn(body, "Database", limits.nameLengthMax);
    const name = keyIn(body, "Table", limits.nameLengthMax);
    const place = { database: parent, table: name };
    await createNewTable(ctx, place);
    return place;
  },
});

const tableNameFields = ["database", "table"];
const storedFields = ["key", "lastUpdatedTime"];

/**
 * Reads the rows of a table that match the part of the filter that the store supports; the rest is filtered
 * in memory.
 */
const memoryFilterOf = (ctx: RequestContext, place: TableEntity, filter: Filter) => {
  const { on, rest } = splitBy(filter, storedFields);
  return {
    filter: rest,
    read: async (page: PageQuery): Promise<Page<RowEntity>> => {
      const found: Page<RawRow> = await listRows(ctx, place, { filter: on, page }).catch(
        ifDeleted(noRecords),
      );
      return { ...found, items: found.items.map((one) => ({ ...one, ...place })) };
    },
    fieldOf: (one: RowEntity, field: string) =>
      field === "data" ? one.columns : one[field as keyof RowEntity],
    json: ["data"],
  };
};

/** Reads one table after the other; without a filter by names, the tables of all databases. */
async function readAll(ctx: RequestContext, { filter, page }: EntitySetQuery): Promise<Page<RowEntity>> {
  const { on, rest } = splitBy(filter, tableNameFields);
  const [database, table, key] = (page.after ?? []) as readonly (string | undefined)[];
  const items: RowEntity[] = [];
  const startOf = (place: TableEntity) =>
    key !== undefined && place.database === database && place.table === table ? { after: [key] } : {};
  for await (const place of tablesFrom(ctx, on, { database, table })) {
    const left = page.limit - items.length;
    const found = await filteredPage<RowEntity>(ctx, {
      ...memoryFilterOf(ctx, place, rest),
      page: { ...startOf(place), limit: Math.max(1, left) },
      position: (one) => [one.key],
    });
    if (left === 0 && found.items.length > 0) return { items, next: positionOf(items.at(-1)!) };
    if (left > 0) items.push(...found.items);
    if (found.next) return { items, next: [place.database, place.table, found.next[0]!] };
  }
  return { items };
}

const positionOf = (one: RowEntity) => [one.database, one.table, one.key];

/** The table itself and the tables after it. */
async function* tablesFrom(
  ctx: RequestContext,
  filter: Filter,
  { database, table }: { readonly database: string | undefined; readonly table: string | undefined },
): AsyncGenerator<TableEntity> {
  if (database !== undefined && table !== undefined) yield { database, table };
  yield* tablesIn(ctx, filter, [database, table]);
}

const rows = entitySet<RowEntity>({
  ...{ name: "Rows", type: "Row", requiresFilter: true, pageMax: limits.odataRowsPageMax },
  read: readAll,
  async count(ctx, filter) {
    const { on, rest } = splitBy(filter, tableNameFields);
    let count = 0;
    for await (const place of tablesIn(ctx, on)) {
      const memoryFilter = memoryFilterOf(ctx, place, rest);
      const isPlain = memoryFilter.filter.kind === "everything";
      count += isPlain
        ? await countRows(ctx, place, splitBy(rest, storedFields).on).catch(ifDeleted(0))
        : await filteredCount(ctx, memoryFilter, limits.odataPageMax);
    }
    return count;
  },
  position: positionOf,
  entityPath: (one) =>
    pathWithKey(`${pathWithKey(pathWithKey("Raw", one.database, "Tables"), one.table)}/Rows`, one.key),
  insert,
});

/** Stores the data as it was sent, so that numbers keep their digits. */
async function insert(ctx: RequestContext, { body, container }: EntityInsert): Promise<RowEntity> {
  const parent = container as TableEntity | undefined;
  const place = {
    database:
      namedByPath(body, "Database", parent?.database) ?? keyIn(body, "Database", limits.nameLengthMax),
    table: namedByPath(body, "Table", parent?.table) ?? keyIn(body, "Table", limits.nameLengthMax),
  };
  const key = keyIn(body, "Key", limits.rawKeyLengthMax);
  const columns = plainData(body["RawData"], "RawData");
  if (columns.length > limits.rawColumnsLengthMax)
    throw fail("key-invalid", {
      problem: `RawData holds more than ${limits.rawColumnsLengthMax} characters`,
    });
  return { ...place, ...(await createRow(ctx, place, { key, columns })) };
}

/** The name in the path. Refuses another one in the body. */
function namedByPath(body: EntityInsert["body"], name: string, inPath: string | undefined) {
  const inBody = body[name] ?? undefined;
  if (inPath === undefined || inBody === undefined || inBody === inPath) return inPath;
  const got = shortened(JSON.stringify(inBody));
  throw fail("key-invalid", {
    problem: `${name} is ${got} in the body, ${JSON.stringify(inPath)} in the path`,
  });
}

/** The name or key of the inserted entity. */
function keyIn(body: EntityInsert["body"], name: string, lengthMax: number): string {
  const value = body[name];
  if (typeof value === "string" && value !== "" && value.length <= lengthMax && isStorable(value))
    return value;
  throw fail("key-invalid", { problem: `${name} is required: a string of at most ${lengthMax} characters` });
}

/** A key that contains the names of the database and the table. */
const tableKey = ({ database, table }: TableEntity) => JSON.stringify([database, table]);

function tableByKey(key: string | number): Filter {
  const [database, table] = parseJson(String(key)) as [string, string];
  return and(equals("database", database), equals("table", table));
}

export const rawModel: EntityModelPart = {
  types: [database, table, row],
  sets: [databases, tables, rows],
  navigations: [
    navigation<NamedRecord, TableEntity>({
      ...{ from: "Raw", name: "Tables", to: "Tables", isMany: true, isContained: true },
      join: {
        own: ({ name }) => [name],
        theirs: (one) => [one.database],
        filter: (names) => oneOf("database", names),
      },
    }),
    navigation<TableEntity, RowEntity>({
      ...{ from: "Table", name: "Rows", to: "Rows", isMany: true, isContained: true },
      join: {
        own: (one) => [tableKey(one)],
        theirs: (one) => [tableKey(one)],
        filter: (keys) => or(...keys.map(tableByKey)),
      },
    }),
  ],
};
