// The destinations of transformations: columns are the members of a new record over REST 0.6, checked by
// the schemas of that resource and written by its functions.
import type { Static, TSchema } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { parseJson } from "../../../lib/json.ts";
import { membersIn } from "../../../lib/json-text.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { oneOf } from "../../../query/filter.ts";
import { bodyCheck } from "../../../rest/body-check.ts";
import { changeOf as assetChangeOf } from "../../assets/assets.rest.ts";
import {
  type Asset,
  createAssets,
  deleteAssets,
  listAssets,
  type NewAsset,
  updateAssets,
} from "../../assets/assets.ts";
import { assetJson, newAsset } from "../../assets/schemas.rest.ts";
import { createEvents, deleteEvents, listEvents, updateEvents } from "../../events/events.ts";
import { changeOf as eventChangeOf, eventJson, newEvent, newEventOf } from "../../events/schemas.rest.ts";
import { refuseLongColumns } from "../../raw/row-json.rest.ts";
import { deleteRows, listRows, putRows } from "../../raw/rows.ts";
import {
  newRelationship,
  newRelationshipOf,
  relationshipsJson,
} from "../../relationships/relationships.rest.ts";
import {
  createRelationships,
  deleteRelationships,
  listRelationships,
} from "../../relationships/relationships.ts";
import {
  newSeries,
  newSeriesOf,
  changeOf as seriesChangeOf,
  seriesResponse,
} from "../../timeseries/schemas.rest.ts";
import { createTimeSeries, listTimeSeries, updateTimeSeries } from "../../timeseries/timeseries.ts";
import type { DestinationName } from "../schema.ts";
import type { ColumnType, RecordDestination, Writes } from "./destination.ts";

/** The destination of this name. */
export const destinationOf = (name: DestinationName): RecordDestination =>
  name.type === "raw" ? rawDestination(name) : records[name.type];

const typeNames: Readonly<Record<string, ColumnType>> = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "boolean",
  array: "json",
  object: "json",
};

interface Keywords {
  readonly type?: string;
  readonly anyOf?: readonly Keywords[];
}

const typesIn = ({ type, anyOf }: Keywords): ColumnType[] =>
  anyOf ? anyOf.flatMap(typesIn) : [typeNames[type ?? "string"]!];

/** Members of bodies that are no columns: other spellings, and references within one request. */
const notColumns = ["id", "refId", "parentRefId", "parentName", "additionalData", "subType"];

function columnsOf(schema: { readonly properties: Readonly<Record<string, TSchema>> }) {
  const members = Object.entries(schema.properties).filter(([name]) => !notColumns.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, typesIn(member as Keywords)]));
}

/** Checks values with the schema of a new record, and with its decoder if it has checks of its own. */
function checkBy(
  schema: TSchema & { readonly properties: Readonly<Record<string, TSchema>> },
  decode?: (item: never) => unknown,
) {
  const check = bodyCheck(schema);
  const names = Object.keys(schema.properties).filter((name) => name !== "id");
  return (values: RecordValues): void => {
    const item = Object.fromEntries(
      names.filter((name) => name in values).map((name) => [name, values[name]]),
    );
    const steps = check(item);
    let step = steps.next();
    while (!step.done) step = steps.next();
    decode?.(step.value as never);
  };
}

/** Values as the members of an update: `{"set":value}` or `{"setNull":true}`. */
const settersOf = (values: RecordValues) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === null ? { setNull: true } : { set: value },
    ]),
  );

const byKey = (key: string, records: readonly object[]): ReadonlyMap<string, RecordValues> =>
  new Map(records.map((record) => [(record as RecordValues)[key] as string, present(record)]));

/** The members that have a value. */
const present = (record: object): RecordValues =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

const idIn = (current: RecordValues): number => current["id"] as number;

const unguarded: RecordDestination["guard"] = (_ctx, commit) => commit();

const events: RecordDestination = {
  acl: "eventsAcl",
  key: "externalId",
  columns: columnsOf(newEvent),
  fixed: [],
  canDelete: true,
  check: checkBy(newEvent, (item) => newEventOf(item, 0)),
  async find(ctx, keys) {
    const page = { limit: keys.length };
    const filter = oneOf("externalId", keys);
    const { items } = await listEvents(ctx, { filter, direction: "ascending", page });
    return byKey("externalId", items.map(eventJson("0.6")));
  },
  async write(ctx, { creations, changes, deletions }) {
    if (creations.length > 0)
      await createEvents(
        ctx,
        creations.map(({ values }, at) => newEventOf(values as Static<typeof newEvent>, at)),
      );
    if (changes.length > 0)
      await updateEvents(
        ctx,
        changes.map(({ current, values }, at) =>
          eventChangeOf(idIn(current), settersOf(values), { version: "0.6", prefix: `items[${at}].` }),
        ),
      );
    if (deletions.length > 0)
      await deleteEvents(
        ctx,
        deletions.map(({ current }) => idIn(current)),
      );
  },
  guard: unguarded,
};

const assets: RecordDestination = {
  acl: "assetsAcl",
  key: "externalId",
  columns: { ...columnsOf(newAsset), parentExternalId: ["text"] },
  fixed: [],
  canDelete: true,
  check: checkBy(newAsset),
  async find(ctx, keys) {
    const found = await assetsNamed(ctx, keys);
    const parentIds = [...new Set(found.flatMap(({ parentId }) => parentId ?? []))];
    const page = { limit: Math.max(1, parentIds.length) };
    const parents = await listAssets(ctx, { filter: oneOf("id", parentIds), page });
    const names = new Map(parents.items.map(({ id, externalId }) => [id, externalId]));
    const shown = found.map((asset) => ({
      ...assetJson("0.6")(asset),
      parentExternalId: asset.parentId && names.get(asset.parentId),
    }));
    return byKey("externalId", shown);
  },
  write: writeAssets,
  guard: (ctx, commit) => ctx.generations.of(ctx.projectId).access.during(commit),
};

async function assetsNamed(ctx: RequestContext, externalIds: readonly string[]): Promise<readonly Asset[]> {
  const page = { limit: Math.max(1, externalIds.length) };
  return (await listAssets(ctx, { filter: oneOf("externalId", externalIds), page })).items;
}

const parentOf = (values: RecordValues) => values["parentExternalId"] as string | null | undefined;

async function writeAssets(ctx: RequestContext, writes: Writes): Promise<void> {
  const { creations, changes, deletions, assumed } = writes;
  const parents = [...creations, ...changes].flatMap(({ values }) => parentOf(values) ?? []);
  const found = await assetsNamed(ctx, [...new Set(parents)]);
  const ids = new Map(found.map(({ externalId, id }) => [externalId!, id]));
  const created = new Set(creations.map(({ key }) => key));
  const items = creations.map(({ key, values: { parentExternalId, ...values } }, at) => {
    const parent = parentExternalId as string | undefined;
    const item = { ...values, refId: key } as unknown as NewAsset;
    if (parent === undefined) return item;
    const parentId = ids.get(parent);
    if (parentId !== undefined) return { ...item, parentId };
    if (created.has(parent)) return { ...item, parentRefId: parent };
    if (assumed.has(parent)) return item;
    throw unknownParent(at, parent);
  });
  if (items.length > 0)
    for (const { externalId, id } of await createAssets(ctx, items)) ids.set(externalId!, id);
  const moves = changes.map(({ current, values: { parentExternalId, ...values } }, at) => {
    const place = `items[${at}].`;
    const change = assetChangeOf(idIn(current), settersOf(values), place);
    const parent = parentExternalId as string | null | undefined;
    if (parent === undefined || (parent !== null && assumed.has(parent))) return change;
    if (parent !== null && !ids.has(parent)) throw unknownParent(at, parent);
    return { ...change, parentId: parent === null ? null : ids.get(parent)! };
  });
  if (moves.length > 0) await updateAssets(ctx, moves);
  if (deletions.length > 0)
    await deleteAssets(
      ctx,
      deletions.map(({ current }) => idIn(current)),
    );
}

const unknownParent = (at: number, got: string) =>
  fail("field-invalid", {
    field: `items[${at}].parentExternalId`,
    expected: "the external id of an asset",
    got: JSON.stringify(got),
  });

const series: RecordDestination = {
  acl: "timeSeriesAcl",
  key: "name",
  columns: columnsOf(newSeries),
  fixed: ["isString", "isStep"],
  // A deletion deletes datapoints, which are in no commit of the catalog.
  canDelete: false,
  check: checkBy(newSeries, (item) => newSeriesOf(item, 0)),
  async find(ctx, keys) {
    const { items } = await listTimeSeries(ctx, {
      filter: oneOf("name", keys),
      page: { limit: keys.length },
    });
    return byKey("name", items.map(seriesResponse("0.6", { withMetadata: true })));
  },
  async write(ctx, { creations, changes }) {
    if (creations.length > 0)
      await createTimeSeries(
        ctx,
        creations.map(({ values }, at) => newSeriesOf(values as Static<typeof newSeries>, at)),
      );
    if (changes.length === 0) return;
    const keys = { ids: changes.map(({ current }) => idIn(current)) };
    const seriesChanges = changes.map(({ values }) => seriesChangeOf(settersOf(values)));
    await updateTimeSeries(ctx, { keys, changes: seriesChanges, status: 400 });
  },
  guard: (ctx, commit) => {
    const { series, access } = ctx.generations.of(ctx.projectId);
    return series.during(() => access.during(commit));
  },
};

const relationships: RecordDestination = {
  acl: "relationshipsAcl",
  key: "externalId",
  columns: columnsOf(newRelationship),
  fixed: [],
  canDelete: true,
  check: checkBy(newRelationship, (item) => newRelationshipOf(item, 0)),
  async find(ctx, keys) {
    const filter = oneOf("externalId", keys);
    const { items } = await listRelationships(ctx, { filter, page: { limit: keys.length } });
    return byKey("externalId", items.map(relationshipsJson));
  },
  /** Relationships have no update: a changed one is created again. */
  async write(ctx, { creations, changes, deletions }) {
    const gone = [...changes, ...deletions].map(({ key }) => key);
    if (gone.length > 0) await deleteRelationships(ctx, gone);
    const changed = changes.map(({ current, values }) => {
      const { id: _, ...result } = { ...current, ...values };
      return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== null));
    });
    const items = [...creations.map(({ values }) => values), ...changed];
    if (items.length === 0) return;
    const made = items.map((item, at) => newRelationshipOf(item as Static<typeof newRelationship>, at));
    await createRelationships(ctx, made);
  },
  guard: unguarded,
};

const records = { assets, events, series, relationships } as const;

const rawDestination = (name: RawTableName): RecordDestination => ({
  acl: "rawAcl",
  key: "key",
  columns: undefined,
  fixed: [],
  canDelete: true,
  check: ({ key: _, ...columns }) => void refuseLongColumns(JSON.stringify(columns), 0),
  async find(ctx, keys) {
    const texts = await rowTexts(ctx, name, keys);
    return new Map(
      [...texts].map(([key, columns]) => [key, { ...(parseJson(columns) as RecordValues), key }]),
    );
  },
  async write(ctx, { creations, changes, deletions }) {
    const keys = changes.map(({ key }) => key);
    const texts = keys.length > 0 ? await rowTexts(ctx, name, keys) : new Map<string, string>();
    const whole = [
      ...creations.map(({ key, values }) => rawRowOf(key, values)),
      ...changes.map(({ key, values }) => ({ key, columns: withColumns(texts.get(key) ?? "{}", values) })),
    ];
    if (whole.length > 0) await putRows(ctx, name, { rows: whole, ensureParent: true });
    const gone = deletions.map(({ key }) => key);
    if (gone.length > 0) await deleteRows(ctx, name, gone);
  },
  guard: unguarded,
});

interface RawTableName {
  readonly database: string;
  readonly table: string;
}

/** The columns of the rows with these keys, as JSON. */
async function rowTexts(
  ctx: RequestContext,
  name: RawTableName,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const query = { filter: oneOf("key", keys), page: { limit: keys.length } };
  const { items } = await listRows(ctx, name, query).catch(withoutTable);
  return new Map(items.map(({ key, columns }) => [key, columns]));
}

/** The object with other values. Members that do not change keep their exact text, such as `1.50`. */
function withColumns(text: string, values: RecordValues): string {
  const written = (column: string) => `${JSON.stringify(column)}:${JSON.stringify(values[column])}`;
  const members = membersIn(text, text.indexOf("{"));
  const names = new Set(members.map((member) => member.name));
  const kept = members
    .filter((member) => values[member.name] !== null)
    .map((member) =>
      Object.hasOwn(values, member.name) ? written(member.name) : text.slice(member.start, member.end),
    );
  const added = Object.keys(values).filter((column) => !names.has(column) && values[column] !== null);
  return `{${[...kept, ...added.map(written)].join()}}`;
}

/** The table is created by the first write. */
function withoutTable(problem: unknown): { readonly items: readonly { key: string; columns: string }[] } {
  if (problem instanceof Failure && problem.status === 404) return { items: [] };
  throw problem;
}

function rawRowOf(key: string, { key: _, ...columns }: RecordValues) {
  const given = Object.entries(columns).filter(([, value]) => value !== null);
  return { key, columns: JSON.stringify(Object.fromEntries(given)) };
}
