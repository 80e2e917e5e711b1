// The tables of queries: raw tables and records, with the rights of the caller, in one state of the catalog.
import type { RequestContext } from "../../../context.ts";
import { Failure } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { everything, type Filter } from "../../../query/filter.ts";
import type { Page, PageQuery } from "../../../query/page.ts";
import type {
  OpenSource,
  SqlColumn,
  SqlPage,
  SqlRead,
  SqlSource,
  SqlTable,
  SqlTableName,
} from "../../../sql-runner/sql-runner.ts";
import { listAssets } from "../../assets/assets.ts";
import { listAssetColumns } from "../../assets/rows.ts";
import { assetJson } from "../../assets/schemas.rest.ts";
import { latestVisiblePoints } from "../../datapoints/datapoints.ts";
import { listEvents } from "../../events/events.ts";
import { eventJson } from "../../events/schemas.rest.ts";
import { listFiles } from "../../files/files.ts";
import { fileJson } from "../../files/schemas.rest.ts";
import { lastRawCommit } from "../../raw/rows.ts";
import { relationshipsJson } from "../../relationships/relationships.rest.ts";
import { listRelationships } from "../../relationships/relationships.ts";
import { listTimeSeries } from "../../timeseries/timeseries.ts";
import { inTransaction } from "../runs/commits.ts";
import { describeAggregates, readAggregatePages } from "./aggregates-source.ts";
import { filtersOf } from "./lookups.ts";
import { describeRaw, readRaw } from "./raw-source.ts";

/** Reads a page with at least these columns. */
type ReadPage = (
  ctx: RequestContext,
  query: { readonly filter: Filter; readonly page: PageQuery },
  fields: readonly string[],
) => Promise<Page<RecordValues>>;

interface RecordTable {
  readonly columns: readonly SqlColumn[];
  /** Columns with an index. */
  readonly keys?: readonly string[];
  readonly page: ReadPage;
}

const columns = (type: NonNullable<SqlColumn["type"]>, ...names: readonly string[]): SqlColumn[] =>
  names.map((name) => ({ name, type }));

const mapped =
  <Row>(
    read: (ctx: RequestContext, query: Parameters<ReadPage>[1]) => Promise<Page<Row>>,
    toJson: (row: Row) => object,
  ): ReadPage =>
  async (ctx, query) => {
    const found = await read(ctx, query);
    return { ...found, items: found.items.map((row) => toJson(row) as RecordValues) };
  };

/** Stored records have the values of the columns under the same names. */
const stored = (page: Promise<Page<object>>) => page as Promise<Page<RecordValues>>;

const common = [
  ...columns("text", "externalId"),
  ...columns("integer", "id", "dataSetId", "createdTime", "lastUpdatedTime"),
  ...columns("json", "metadata", "labels"),
];

/** The path of an asset needs the assets above it. */
const wholeAssets = mapped(listAssets, assetJson("0.6"));

/** The latest points, of series that have one. */
async function latestOfSeries(
  ctx: RequestContext,
  query: Parameters<ReadPage>[1],
): Promise<Page<RecordValues>> {
  const found = await listTimeSeries(ctx, { ...query, fields: ["id", "name"] });
  const names = new Map(found.items.map(({ id, name }) => [id, name]));
  const latest = await latestVisiblePoints(ctx, [...names.keys()]);
  const items = latest.flatMap(({ series, point }) => {
    if (!point) return [];
    const { timeMs, value } = point;
    const written = typeof value === "string" ? { text: value } : { value };
    return [{ seriesId: series.id, name: names.get(series.id)!, timestamp: timeMs, ...written }];
  });
  return { ...found, items };
}

/** The tables `millrace.<name>`. Their columns are members of the records over REST 0.6. */
const recordTables: Readonly<Record<string, RecordTable>> = {
  assets: {
    columns: [
      ...common,
      ...columns("text", "name", "description", "source", "sourceId"),
      ...columns("integer", "parentId", "depth"),
      ...columns("json", "path"),
    ],
    keys: ["id", "externalId", "name", "parentId"],
    page: (ctx, query, fields) =>
      fields.includes("path")
        ? wholeAssets(ctx, query, fields)
        : stored(listAssetColumns(ctx, { ...query, fields })),
  },
  series: {
    columns: [
      ...common,
      ...columns("text", "name", "description", "unit"),
      ...columns("integer", "assetId"),
      ...columns("boolean", "isString", "isStep"),
    ],
    keys: ["id", "name", "externalId", "assetId"],
    page: (ctx, query, fields) =>
      stored(listTimeSeries(ctx, { ...query, fields: [...new Set(["id", "name", ...fields])] })),
  },
  events: {
    columns: [
      ...common,
      ...columns("text", "type", "subtype", "description", "source", "sourceId"),
      ...columns("integer", "startTime", "endTime"),
      ...columns("json", "assetIds"),
    ],
    keys: ["id", "externalId"],
    page: mapped((ctx, query) => listEvents(ctx, { ...query, direction: "ascending" }), eventJson("0.6")),
  },
  files: {
    columns: [
      ...common,
      ...columns("text", "fileName", "directory", "fileType", "source", "sourceId"),
      ...columns("boolean", "uploaded"),
      ...columns("integer", "uploadedAt"),
      ...columns("json", "assetIds"),
    ],
    keys: ["id", "externalId"],
    page: mapped((ctx, query) => listFiles(ctx, { ...query, newestFirst: false }), fileJson("0.6")),
  },
  latest: {
    columns: [
      ...columns("integer", "seriesId", "timestamp"),
      ...columns("text", "name", "text"),
      ...columns("real", "value"),
    ],
    page: latestOfSeries,
  },
  relationships: {
    columns: [
      ...columns("text", "externalId", "sourceType", "sourceExternalId", "targetType", "targetExternalId"),
      ...columns("integer", "id", "startTime", "endTime", "dataSetId", "createdTime", "lastUpdatedTime"),
      ...columns("real", "confidence"),
      ...columns("json", "labels"),
    ],
    keys: ["id", "externalId", "sourceExternalId", "targetExternalId"],
    page: mapped(listRelationships, relationshipsJson),
  },
};

/**
 * Opens the source of the caller's records, which reads all from one state of the catalog. Close it: it holds
 * a read transaction.
 */
export async function openSource(ctx: RequestContext): Promise<OpenSource> {
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<RequestContext>();
  ctx.catalog
    .read(ctx.projectId, (tx) => {
      opened.resolve(inTransaction(ctx, tx));
      return closed.promise;
    })
    .catch(opened.reject);
  return { source: sourceIn(await opened.promise), close: () => closed.resolve() };
}

const sourceIn = (ctx: RequestContext): SqlSource => ({
  describe: (name) => describe(ctx, name).catch(undefinedIfUnknown),
  read: (name, read) => readPages(ctx, name, read),
  lastCommit: () => lastRawCommit(ctx),
});

/** A table that does not exist, or that the caller may not read. */
function undefinedIfUnknown(problem: unknown): undefined {
  if (!(problem instanceof Failure) || ![403, 404].includes(problem.status)) throw problem;
}

async function describe(ctx: RequestContext, name: SqlTableName): Promise<SqlTable | undefined> {
  if (name.kind === "records") {
    if (name.name === "aggregates") return describeAggregates(ctx, name.args);
    const table = Object.hasOwn(recordTables, name.name) && name.args.length === 0;
    if (!table) return undefined;
    const { columns, keys = [], page } = recordTables[name.name]!;
    await page(ctx, { filter: everything, page: { limit: 1 } }, []);
    return { columns, keys, hasCommits: false };
  }
  return describeRaw(ctx, name);
}

async function* readPages(ctx: RequestContext, name: SqlTableName, read: SqlRead): AsyncGenerator<SqlPage> {
  if (name.kind === "records") {
    if (name.name === "aggregates") return yield* readAggregatePages(ctx, name.args, read.columns);
    const table = recordTables[name.name]!;
    for (const filter of filtersOf(read))
      for await (const rows of pages((page) => table.page(ctx, { filter, page }, read.columns)))
        yield JSON.stringify(rows.map((row) => read.columns.map((column) => sqlValue(row[column]))));
    return;
  }
  yield* readRaw(ctx, name, read);
}

/** Lists and objects are JSON strings. */
const sqlValue = (value: unknown) =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null);

async function* pages<Row>(read: (page: PageQuery) => Promise<Page<Row>>): AsyncGenerator<readonly Row[]> {
  const limit = limits.transformationSourceRows;
  for (let page: PageQuery | undefined = { limit }; page; ) {
    const found: Page<Row> = await read(page);
    yield found.items;
    page = found.next && { limit, after: found.next };
  }
}
