// Events compared with a naive reference: order, links to assets, sources, and refusals.
import assert from "node:assert/strict";
import fc from "fast-check";
import { newContext, openCatalogs, scenariosIn } from "../../../test/support/context.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { underAsset } from "../../access/asset-subtree.ts";
import { administrator } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { Failure } from "../../errors.ts";
import { everything, type Filter, hasOneOf } from "../../query/filter.ts";
import type { PageQuery } from "../../query/page.ts";
import { createAssets, deleteAssets } from "../assets/assets.ts";
import { assetTable } from "../assets/schema.ts";
import {
  createEvents,
  deleteEvents,
  divideEvents,
  type Event,
  type EventChange,
  type EventOrder,
  type EventsQuery,
  getEvent,
  getEvents,
  getEventsByReference,
  listEvents,
  type NewEvent,
  searchEvents,
  updateEvent,
  updateEvents,
} from "./events.ts";
import { createNamedTypes, deleteNamedTypes, listNamedTypes } from "./named-types.ts";
import { writeRows } from "./rows.ts";
import { eventTable, eventTransformerTable, rowOf, semanticTypeTable } from "./schema.ts";

const catalogs = await openCatalogs([assetTable, eventTable, eventTransformerTable, semanticTypeTable]);
const scenario = scenariosIn(catalogs);

const plain = (more: Partial<NewEvent> = {}): NewEvent => ({ metadata: {}, assetIds: [], ...more });
const idsOf = (events: readonly Event[]) => events.map(({ id }) => id);

/** Every page forwards, which read backwards must be the same. */
async function all(ctx: RequestContext, query: Partial<EventsQuery> = {}): Promise<Event[]> {
  const ask = (page: PageQuery) =>
    listEvents(ctx, { filter: everything, direction: "ascending", ...query, page });
  const pages = [await ask({ limit: 3 })];
  for (let next = pages[0]!.next; next; next = pages.at(-1)!.next)
    pages.push(await ask({ limit: 3, after: next }));
  for (let at = pages.length - 1; at > 0; at--) {
    const before = await ask({ limit: 3, before: pages[at]!.previous! });
    assert.deepEqual(before.items, pages[at - 1]!.items);
  }
  assert.equal(pages[0]!.previous, undefined);
  return pages.flatMap(({ items }) => items);
}

scenario("events without a start come last, whichever way the list runs; equal starts by id", async (ctx) => {
  const starts = [5, undefined, -3, 5, undefined, 9];
  const made = await createEvents(
    ctx,
    starts.map((startTime) => plain(startTime === undefined ? {} : { startTime })),
  );
  const [a, b, c, d, e, f] = idsOf(made);
  assert.deepEqual(idsOf(await all(ctx)), [c, a, d, f, b, e]);
  assert.deepEqual(idsOf(await all(ctx, { direction: "descending" })), [f, d, a, c, e, b]);
  for (const direction of ["ascending", "descending"] as const) {
    const sorted = (found: Event[]) => idsOf(found).toSorted((one, other) => one - other);
    assert.deepEqual(sorted(await all(ctx, { direction, startFrom: 5 })), [a, d, f]);
    assert.deepEqual(sorted(await all(ctx, { direction, startTo: 5 })), [a, c, d]);
    assert.deepEqual(sorted(await all(ctx, { direction, startFrom: 6, startTo: 5 })), []);
  }
  await updateEvent(ctx, { id: f!, startTime: null });
  await updateEvent(ctx, { id: b!, startTime: -9 });
  assert.deepEqual(idsOf(await all(ctx)), [b, c, a, d, e, f]);
});

scenario("the divisions of the list hold every event once", async (ctx) => {
  const made = await createEvents(
    ctx,
    Array.from({ length: 10 }, (_, at) => plain(at % 4 === 0 ? {} : { startTime: at % 3 })),
  );
  const cuts = await divideEvents(ctx, 3);
  const found: Event[] = [];
  for (const [at, until] of [...cuts, undefined].entries()) {
    const after = cuts[at - 1];
    const page = { limit: 10, ...(after && { after }), ...(until && { until }) };
    found.push(...(await listEvents(ctx, { filter: everything, direction: "ascending", page })).items);
  }
  assert.equal(cuts.length, 2);
  assert.deepEqual(found, await all(ctx));
  assert.equal(found.length, made.length);
});

scenario("a change that changes nothing leaves the event as it was", async (ctx) => {
  const [asset] = await createAssets(ctx, [{ name: "pump" }]);
  const [event] = await createEvents(ctx, [
    plain({ startTime: 1, metadata: { x: "1", y: "2" }, assetIds: [asset!.id] }),
  ]);
  const same = { id: event!.id, startTime: 1, metadata: { y: "2", x: "1" }, type: null };
  assert.deepEqual(await updateEvent(ctx, { ...same, assetIds: { add: [asset!.id], remove: [7] } }), event);
  const changed = await updateEvent(ctx, { ...same, startTime: 2 });
  assert.ok(changed.lastUpdatedTime > event!.lastUpdatedTime);
  assert.equal(changed.createdTime, event!.createdTime);
});

scenario("two events may swap their sources in one request", async (ctx) => {
  const [a, b] = await createEvents(ctx, [
    plain({ source: "s", sourceId: "1" }),
    plain({ source: "s", sourceId: "2" }),
  ]);
  const swap = [
    { id: a!.id, sourceId: "2" },
    { id: b!.id, sourceId: "1" },
  ];
  assert.deepEqual(
    (await updateEvents(ctx, swap)).map(({ sourceId }) => sourceId),
    ["2", "1"],
  );
});

scenario(
  "the same source and source id at the same time: one event is made, the others learn of it",
  async (ctx) => {
    const item = plain({ source: "s", sourceId: "1" });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => createEvents(ctx, [plain({ startTime: at }), item])),
    );
    const made = outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    assert.equal(made.length, 2);
    for (const one of outcomes.filter(({ status }) => status === "rejected")) {
      const { reason } = one as PromiseRejectedResult;
      refusal("event-duplicates")(reason);
      assert.deepEqual(reason.members, { duplicates: [{ id: made[1]!.id, source: "s", sourceId: "1" }] });
    }
    assert.deepEqual(await all(ctx), made);
  },
);

scenario("another project sees nothing of all this, and may use the same sources", async (ctx) => {
  const other = newContext(ctx.catalog);
  const [asset] = await createAssets(ctx, [{ name: "a" }]);
  const reference = { transformerId: 1, referenceKey: "k" };
  const item = plain({ source: "s", sourceId: "1", description: "pump", ...reference });
  const [mine] = await createEvents(ctx, [{ ...item, assetIds: [asset!.id] }]);
  const onAsset = plain({ assetIds: [asset!.id] });
  await assert.rejects(getEvent(other, mine!.id), refusal("ids-unknown"));
  await assert.rejects(deleteEvents(other, [mine!.id]), refusal("ids-unknown"));
  await assert.rejects(createEvents(other, [onAsset]), refusal("field-invalid"));
  assert.deepEqual(
    await Array.fromAsync(getEventsByReference(other, { transformerId: 1, referenceKeys: ["k"] })),
    [[]],
  );
  await createEvents(other, [item]);
  assert.deepEqual(await all(ctx), [mine]);
});

scenario("a caller without the capability is refused in every function", async (ctx) => {
  const [event] = await createEvents(ctx, [plain()]);
  const [term] = await createNamedTypes(ctx, "transformers", [{ name: "t" }]);
  const only = (action: "READ" | "WRITE") => ({
    ...ctx,
    caller: {
      ...ctx.caller,
      capabilities: [
        { acl: "eventsAcl" as const, actions: [action], scope: { kind: "all" as const } },
        administrator.find(({ acl }) => acl === "assetsAcl")!,
      ],
    },
  });
  const page = { limit: 1 };
  const search = { filter: everything, boostName: false, limit: 1, offset: 0 };
  for (const call of [
    () => listEvents(only("WRITE"), { filter: everything, direction: "ascending", page }),
    () => divideEvents(only("WRITE"), 2),
    () => getEvent(only("WRITE"), event!.id),
    async () => getEvents(only("WRITE"), [event!.id]),
    () => Array.fromAsync(getEventsByReference(only("WRITE"), { transformerId: 1, referenceKeys: ["k"] })),
    () => searchEvents(only("WRITE"), search),
    () => createEvents(only("READ"), [plain()]),
    () => updateEvent(only("READ"), { id: event!.id, type: "x" }),
    () => deleteEvents(only("READ"), [event!.id]),
    () => listNamedTypes(only("WRITE"), "transformers", page),
    () => createNamedTypes(only("READ"), "semanticTypes", [{ name: "x" }]),
    () => deleteNamedTypes(only("READ"), "transformers", [term!.id]),
  ])
    await assert.rejects(call, refusal("forbidden"));
  assert.deepEqual(await all(ctx), [event]);
  assert.deepEqual((await listNamedTypes(ctx, "transformers", page)).items, [term]);
});

scenario(
  "what a write leaves outside of the caller's scope is refused, with nothing changed",
  async (ctx) => {
    const [asset, other] = await createAssets(ctx, [{ name: "a" }, { name: "b" }]);
    const [event] = await createEvents(ctx, [plain({ assetIds: [asset!.id] })]);
    const write = (assetIds: number[]) =>
      writeRows(ctx, underAsset([asset!.id]), "replace", async () => [rowOf({ ...event!, assetIds })]);
    await assert.rejects(write([other!.id]), refusal("outside-scope"));
    assert.deepEqual(await all(ctx), [event]);
    await write([other!.id, asset!.id]);
    assert.deepEqual((await getEvent(ctx, event!.id)).assetIds, [other!.id, asset!.id]);
  },
);

const pick = fc.nat({ max: 1000 });
const few = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 });
const someLinks = fc.uniqueArray(fc.nat({ max: 5 }), { maxLength: 3 });
const someEvent = fc.record({
  startTime: few(fc.integer({ min: -2, max: 3 })),
  endTime: few(fc.integer({ min: -2, max: 3 })),
  type: few(fc.constantFrom("a", "b")),
  source: few(fc.constantFrom("s", "t")),
  sourceId: few(fc.constantFrom("1", "2", "3")),
  links: someLinks,
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ create: fc.array(someEvent, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      update: fc.array(fc.tuple(pick, someEvent, fc.constantFrom("set", "add", "remove")), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ remove: pick }) },
  { weight: 1, arbitrary: fc.record({ removeAsset: fc.nat({ max: 5 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Draft = typeof someEvent extends fc.Arbitrary<infer Value> ? Value : never;

const present = <Row>(row: object): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined && value !== null)) as Row;

const hasClash = (events: Iterable<Pick<Event, "source" | "sourceId">>): boolean => {
  const pairs = [...events].filter(({ source, sourceId }) => source && sourceId);
  return new Set(pairs.map(({ source, sourceId }) => `${source} ${sourceId}`)).size < pairs.length;
};

/** `assets[0] > assets[1] > assets[2]` and three roots beside them. */
interface Plant {
  readonly assets: readonly number[];
  readonly gone: Set<number>;
}

/** Does a step in both; the service must refuse exactly the steps after which two sources would clash. */
async function perform(ctx: RequestContext, model: Map<number, Event>, { assets, gone }: Plant, one: Step) {
  const linksOf = ({ links }: Draft) => links.map((at) => assets[at]!).filter((id) => !gone.has(id));
  const clash = (problem: unknown) =>
    problem instanceof Failure && ["event-duplicates", "field-invalid"].includes(problem.failure);
  const known = [...model.keys()];
  if ("create" in one) {
    const items = one.create.map(({ links, ...draft }) =>
      plain({ ...present<Partial<NewEvent>>(draft), assetIds: linksOf({ links, ...draft }) }),
    );
    if (hasClash([...model.values(), ...items])) return assert.rejects(createEvents(ctx, items), clash);
    const made = await createEvents(ctx, items);
    for (const [at, event] of made.entries()) {
      const { id, createdTime, lastUpdatedTime, ...rest } = event;
      assert.deepEqual(rest, items[at]);
      model.set(id, event);
    }
  } else if ("update" in one && known.length > 0) {
    const query = new Map(one.update.map(([which, ...change]) => [known[which % known.length]!, change]));
    const after = new Map(model);
    const changes = [...query].map(([id, [{ links, ...draft }, how]]): EventChange => {
      const before = model.get(id)!;
      const given = linksOf({ links, ...draft });
      const kept = before.assetIds.filter((asset) => how !== "remove" || !given.includes(asset));
      const all = how === "set" ? given : how === "add" ? [...before.assetIds, ...given] : kept;
      const cleared = Object.fromEntries(Object.entries(draft).map(([name, value]) => [name, value ?? null]));
      after.set(id, present<Event>({ ...before, ...cleared, assetIds: [...new Set(all)] }));
      return { id, ...cleared, assetIds: { [how]: given } };
    });
    if (hasClash(after.values())) return assert.rejects(updateEvents(ctx, changes), clash);
    for (const event of await updateEvents(ctx, changes)) {
      const { lastUpdatedTime, ...rest } = event;
      const { lastUpdatedTime: _, ...expected } = after.get(event.id)!;
      assert.deepEqual(rest, expected);
      model.set(event.id, event);
    }
  } else if ("remove" in one && known.length > 0) {
    await deleteEvents(ctx, [known[one.remove % known.length]!]);
    model.delete(known[one.remove % known.length]!);
  } else if ("removeAsset" in one && !gone.has(assets[one.removeAsset]!)) {
    await deleteAssets(ctx, [assets[one.removeAsset]!]);
    const lost = one.removeAsset < 3 ? assets.slice(one.removeAsset, 3) : [assets[one.removeAsset]!];
    for (const id of lost) gone.add(id);
    for (const event of model.values())
      model.set(event.id, { ...event, assetIds: event.assetIds.filter((id) => !gone.has(id)) });
  }
}

type TimeField = "startTime" | "endTime";

/** The order of the service: by time, then by id; events without that time last. */
function ordered(
  events: Iterable<Event>,
  field: TimeField,
  direction: EventOrder,
  idsAscend: boolean,
): Event[] {
  const sign = direction === "ascending" ? 1 : -1;
  return [...events].sort((a, b) => {
    const [one, other] = [a[field], b[field]];
    const byId = (a.id - b.id) * (idsAscend ? 1 : sign);
    if (one === other) return byId;
    if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
    return (one - other) * sign;
  });
}

async function compare(ctx: RequestContext, model: ReadonlyMap<number, Event>, { assets, gone }: Plant) {
  for (const direction of ["ascending", "descending"] as const) {
    const events = ordered(model.values(), "startTime", direction, false);
    assert.deepEqual(await all(ctx, { direction }), events);
    const between = events.filter(({ startTime: at }) => at !== undefined && at >= -1 && at <= 1);
    assert.deepEqual(await all(ctx, { direction, startFrom: -1, startTo: 1 }), between);
    const found = await searchEvents(ctx, {
      ...{ filter: everything, boostName: false, limit: 1000, offset: 0 },
      sort: { field: "endTime", direction },
    });
    assert.deepEqual(found, ordered(model.values(), "endTime", direction, true));
  }
  const on = (filter: Filter) => all(ctx, { filter });
  const below = (at: number) => (at < 3 ? assets.slice(at, 3) : [assets[at]!]).filter((id) => !gone.has(id));
  for (const [at, asset] of assets.entries()) {
    const events = ordered(model.values(), "startTime", "ascending", true);
    assert.deepEqual(
      await on(hasOneOf("assetIds", [asset])),
      events.filter(({ assetIds }) => assetIds.includes(asset)),
    );
    assert.deepEqual(
      await on(underAsset([asset])),
      events.filter(({ assetIds }) => !gone.has(asset) && below(at).some((id) => assetIds.includes(id))),
    );
  }
}

scenario("whatever is created, changed and deleted, events are a plain list's", async ({ catalog }) => {
  const steps = fc.array(step, { minLength: 1, maxLength: 15 });
  const property = fc.asyncProperty(steps, async (steps) => {
    const ctx = newContext(catalog);
    const made = await createAssets(ctx, [
      { name: "0", refId: "0" },
      { name: "1", refId: "1", parentRefId: "0" },
      { name: "2", parentRefId: "1" },
      ...["3", "4", "5"].map((name) => ({ name })),
    ]);
    const plant = { assets: made.map(({ id }) => id), gone: new Set<number>() };
    const model = new Map<number, Event>();
    for (const one of steps) await perform(ctx, model, plant, one);
    await compare(ctx, model, plant);
  });
  await fc.assert(property, { numRuns: catalog === catalogs.naive ? 100 : 12 });
});
