// The destinations of transformations: columns are the members of a new record over REST 0.6, checked by
// the schemas of that resource and written by its functions.
import type { Static } from "typebox";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { oneOf } from "../../../query/filter.ts";
import { mapInSlices } from "../../../query/map-in-slices.ts";
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
import {
  actions,
  type DestinationName,
  type TransformationAction,
  type TransformationInput,
} from "../schema.ts";
import { comparing } from "./compare.ts";
import { type Candidate, type RecordDestination, unguarded, type Writes } from "./destination.ts";
import { filesDestination } from "./files-destination.rest.ts";
import { pointsDestination } from "./points-destination.ts";
import { rawDestination } from "./raw-destination.rest.ts";
import { byKey, checkBy, columnsOf, idIn, keyIn, settersOf } from "./record-columns.rest.ts";
import { sequenceDestination } from "./sequence-destination.ts";

/** The destination of a transformation. Refuses (400) a sequence that does not exist. */
export async function openDestination(
  ctx: RequestContext,
  { destination: name, action }: Pick<TransformationInput, "destination" | "action">,
): Promise<RecordDestination> {
  if (name.type === "raw") return rawDestination(name);
  if (name.type === "sequenceRows") return sequenceDestination(ctx, name.sequence);
  return name.type === "datapoints" ? pointsDestination(action) : records[name.type];
}

/** The actions that a destination has. */
export const actionsOf = (type: DestinationName["type"]): readonly TransformationAction[] =>
  (records as Readonly<Partial<Record<string, RecordDestination>>>)[type]?.actions ?? actions;

const events: RecordDestination = {
  acl: "eventsAcl",
  keys: [["externalId"]],
  columns: columnsOf(newEvent),
  actions,
  keyOf: keyIn("externalId"),
  compare: comparing({
    fixed: [],
    check: checkBy(newEvent, (item) => newEventOf(item, 0)),
    async find(ctx, keys) {
      const page = { limit: keys.length };
      const filter = oneOf("externalId", keys);
      const { items } = await listEvents(ctx, { filter, direction: "ascending", page });
      return byKey("externalId", await mapInSlices(items, eventJson("0.6")));
    },
  }),
  async write(ctx, { creations, changes, deletions }) {
    if (creations.length > 0)
      await createEvents(
        ctx,
        await mapInSlices(creations, ({ values }, at) => newEventOf(values as Static<typeof newEvent>, at)),
      );
    if (changes.length > 0)
      await updateEvents(
        ctx,
        await mapInSlices(changes, ({ current, values }, at) =>
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
  keys: [["externalId"]],
  columns: { ...columnsOf(newAsset), parentExternalId: ["text"] },
  actions,
  keyOf: keyIn("externalId"),
  compare: comparing({
    fixed: [],
    check: checkBy(newAsset),
    async find(ctx, keys) {
      const found = await assetsNamed(ctx, keys);
      const parentIds = [...new Set(found.flatMap(({ parentId }) => parentId ?? []))];
      const page = { limit: Math.max(1, parentIds.length) };
      const parents = await listAssets(ctx, { filter: oneOf("id", parentIds), page });
      const names = new Map(parents.items.map(({ id, externalId }) => [id, externalId]));
      const shown = await mapInSlices(found, (asset) => ({
        ...assetJson("0.6")(asset),
        parentExternalId: asset.parentId && names.get(asset.parentId),
      }));
      return byKey("externalId", shown);
    },
  }),
  inOrder: parentsFirst,
  write: writeAssets,
  guard: (ctx, commit) => ctx.generations.of(ctx.projectId).access.during(commit),
};

function parentsFirst(rows: readonly Candidate[]): readonly Candidate[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const placed = new Set<Candidate>();
  for (const row of rows) {
    const chain = new Set<Candidate>();
    for (let at: Candidate | undefined = row; at && !placed.has(at) && !chain.has(at); ) {
      chain.add(at);
      at = byKey.get(parentOf(at.values) ?? "");
    }
    for (const one of [...chain].reverse()) placed.add(one);
  }
  return [...placed];
}

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
  const items = await mapInSlices(creations, ({ key, values: { parentExternalId, ...values } }, at) => {
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
  const moves = await mapInSlices(changes, ({ current, values: { parentExternalId, ...values } }, at) => {
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
  keys: [["name"]],
  columns: columnsOf(newSeries),
  // A deletion deletes datapoints, which are in no commit of the catalog.
  actions: ["create", "update", "upsert"],
  keyOf: keyIn("name"),
  compare: comparing({
    fixed: ["isString", "isStep"],
    check: checkBy(newSeries, (item) => newSeriesOf(item, 0)),
    async find(ctx, keys) {
      const { items } = await listTimeSeries(ctx, {
        filter: oneOf("name", keys),
        page: { limit: keys.length },
      });
      return byKey("name", await mapInSlices(items, seriesResponse("0.6", { withMetadata: true })));
    },
  }),
  async write(ctx, { creations, changes }) {
    if (creations.length > 0)
      await createTimeSeries(
        ctx,
        await mapInSlices(creations, ({ values }, at) => newSeriesOf(values as Static<typeof newSeries>, at)),
      );
    if (changes.length === 0) return;
    const keys = { ids: changes.map(({ current }) => idIn(current)) };
    const seriesChanges = await mapInSlices(changes, ({ values }) => seriesChangeOf(settersOf(values)));
    await updateTimeSeries(ctx, { keys, changes: seriesChanges, status: 400 });
  },
  guard: (ctx, commit) => {
    const { series, access } = ctx.generations.of(ctx.projectId);
    return series.during(() => access.during(commit));
  },
};

const relationships: RecordDestination = {
  acl: "relationshipsAcl",
  keys: [["externalId"]],
  columns: columnsOf(newRelationship),
  actions,
  keyOf: keyIn("externalId"),
  compare: comparing({
    fixed: [],
    check: checkBy(newRelationship, (item) => newRelationshipOf(item, 0)),
    async find(ctx, keys) {
      const filter = oneOf("externalId", keys);
      const { items } = await listRelationships(ctx, { filter, page: { limit: keys.length } });
      return byKey("externalId", await mapInSlices(items, relationshipsJson));
    },
  }),
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
    const made = await mapInSlices(items, (item, at) =>
      newRelationshipOf(item as Static<typeof newRelationship>, at),
    );
    await createRelationships(ctx, made);
  },
  guard: unguarded,
};

const records = { assets, events, series, relationships, files: filesDestination } as const;
