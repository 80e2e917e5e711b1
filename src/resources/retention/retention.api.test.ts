// Retention rules: which points stay, for random rules; the preview; the delay; refusals and rights.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as turn } from "node:timers/promises";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { passTime, silentWatch as watch } from "../../../test/support/retention-time.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { runDueRules } from "./runs.ts";

const dayMs = 24 * 3_600_000;
/** It has no blocks, and counts days of UTC instead. */
const isInClickHouse = process.env["TEST_POINTS"] === "clickhouse";
let nowMs = Date.UTC(2026, 0, 1);

let server: TestServer;
before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
});
after(() => server.close());
beforeEach(async () => {
  for (const list of ["retentionrules", "timeseries", "assets"]) {
    const items = idsOf(await server.ask.v06(`GET /${list}?limit=1000`));
    if (items.length > 0) await server.ask.v06(`POST /${list}/delete`, { items });
  }
});

const ask = async (line: string, body?: object, headers = {}) => {
  const response = await server.ask.v06(line, body, headers);
  assert.ok(response.status < 300, `${line}: ${response.text}`);
  return response;
};
const create = (...items: object[]) => ask("POST /retentionrules", { items });
const madeIds = async (list: string, items: object[]) => idsOf(await ask(`POST /${list}`, { items }));

const pass = (ms: number) =>
  passTime(server.app.services, ms, (step) => {
    nowMs += step;
  });

/** Runs the due rules, unless the server is running them by itself; waits for the end of both. */
async function runDue(): Promise<void> {
  await runDueRules(server.app.services, watch);
  const isRunning = async () =>
    (await ask("GET /retentionrules?limit=1000")).items.some(({ lastRun }) => {
      return lastRun !== undefined && !("endedTime" in (lastRun as object));
    });
  while (await isRunning()) await turn(5);
}

/** Runs all rules, and again when they have counted for a day. */
async function runAll(): Promise<void> {
  await runDue();
  await pass(limits.retentionDelayMs);
  await runDue();
}

async function timesOf(id: number): Promise<number[]> {
  const all = { series: id, isString: false, startMs: -Infinity, endMs: Infinity, limit: 1e6 };
  return [...(await server.app.services.points.scan(all)).times];
}

async function write(id: number, times: readonly number[]): Promise<void> {
  const runs = { series: Float64Array.of(id), ends: Uint32Array.of(times.length) };
  const values = Float64Array.from(times, (_, i) => i);
  await server.app.services.points.append({ numbers: { ...runs, times: Float64Array.from(times), values } });
}

test(`the most specific rule of each series decides which points stay, PROOF_SEED=${seed}`, async () => {
  const random = randomFrom(seed);
  const pick = (end: number) => Math.floor(random() * end);
  const assets: { id: number; parentId: number | undefined }[] = [];
  for (let i = 0; i < 8; i++) {
    const parentId = i === 0 ? undefined : assets[pick(i)]!.id;
    const [id] = await madeIds("assets", [{ name: `asset ${i}`, ...(parentId && { parentId }) }]);
    assets.push({ id: id!, parentId });
  }
  const series: { id: number; assetId: number | undefined; times: number[] }[] = [];
  for (let i = 0; i < 20; i++) {
    const assetId = random() < 0.8 ? assets[pick(assets.length)]!.id : undefined;
    const [id] = await madeIds("timeseries", [{ name: `series ${i}`, ...(assetId && { assetId }) }]);
    const times = Array.from({ length: 30 }, (_, day) => nowMs - day * dayMs - pick(dayMs)).reverse();
    await write(id!, times);
    series.push({ id: id!, assetId, times });
  }
  const keepOf = new Map<string, number>();
  const keep = (key: string) => {
    keepOf.set(key, 1 + pick(25));
    return { name: key, keepDays: keepOf.get(key) };
  };
  const items = [
    ...assets.filter(() => random() < 0.5).map(({ id }) => ({ assetId: id, ...keep(`asset ${id}`) })),
    ...series.filter(() => random() < 0.2).map(({ id }) => ({ seriesId: id, ...keep(`series ${id}`) })),
    ...(random() < 0.5 ? [{ wholeProject: true, ...keep("project") }] : []),
  ];
  if (items.length > 0) await create(...items);
  const keptDays = (one: (typeof series)[number]): number | undefined => {
    const own = keepOf.get(`series ${one.id}`);
    if (own !== undefined) return own;
    for (let id = one.assetId; id !== undefined; id = assets.find((asset) => asset.id === id)!.parentId) {
      const days = keepOf.get(`asset ${id}`);
      if (days !== undefined) return days;
    }
    return keepOf.get("project");
  };
  await runAll();
  for (const one of series) {
    const days = keptDays(one);
    const cutoff = days === undefined ? -Infinity : nowMs - days * dayMs;
    const expected = one.times.filter((timeMs) => timeMs >= cutoff);
    assert.deepEqual(await timesOf(one.id), expected, `${days} days`);
  }
});

test("a run removes what the preview has counted, when the rule has counted for a day", async () => {
  const [assetId] = await madeIds("assets", [{ name: "plant" }]);
  const [pump, motor, other] = await madeIds("timeseries", [
    { name: "pump", assetId },
    { name: "motor", assetId },
    { name: "other" },
  ]);
  const old = [nowMs - 40 * dayMs, nowMs - 39 * dayMs];
  const all = [...old, nowMs - dayMs];
  for (const id of [pump!, motor!, other!]) await write(id, all);
  const [rule] = idsOf(await create({ name: "plant", assetId, keepDays: 30 }));
  for (const [ms, nextTime] of [
    [0, limits.retentionIntervalMs],
    [limits.retentionDelayMs - 1_000, limits.retentionIntervalMs],
  ] as const) {
    await pass(ms);
    await runDue();
    assert.deepEqual(await timesOf(pump!), all, "nothing before a day has passed");
    const [shown] = (await ask(`GET /retentionrules/${rule}`)).items;
    const lastRun = { startedTime: nowMs, endedTime: nowMs, series: 0, waiting: 2, points: 0, blocks: 0 };
    assert.deepEqual([shown!["lastRun"], shown!["nextTime"]], [lastRun, nowMs + nextTime]);
  }
  const { data } = (await ask("POST /retentionrules/preview", { assetId, keepDays: 30 })).json as {
    data: Record<string, unknown> & { items: readonly object[] };
  };
  assert.equal(data["cutoffTime"], nowMs - 30 * dayMs);
  assert.deepEqual([data["examined"], data["affected"], data["points"]], [2, 2, 4]);
  assert.equal(data["oldestTime"], old[0]);
  assert.deepEqual(data.items[0], {
    ...{ seriesId: pump, name: "pump", points: 2, blocks: isInClickHouse ? 2 : 0 },
    ...{ oldestTime: old[0], oldestTimeAfter: all[2] },
  });
  nowMs += limits.retentionIntervalMs;
  await runDue();
  for (const id of [pump!, motor!]) assert.deepEqual(await timesOf(id), all.slice(2));
  assert.deepEqual(await timesOf(other!), all);
  const [shown] = (await ask(`GET /retentionrules/${rule}`)).items;
  const blocks = isInClickHouse ? 4 : 0;
  const lastRun = { startedTime: nowMs, endedTime: nowMs, series: 2, waiting: 0, points: 4, blocks };
  assert.deepEqual([shown!["lastRun"], shown!["removedPoints"]], [lastRun, 4]);
});

test("the audit log has the changes of rules, and each run that deletes", async () => {
  const [id] = await madeIds("timeseries", [{ name: "pump" }]);
  await write(id!, [nowMs - 10 * dayMs, nowMs - 9 * dayMs]);
  const [rule] = idsOf(await create({ name: "pump", seriesId: id, keepDays: 5 }));
  await runAll();
  const before = new Date(nowMs - 5 * dayMs).toISOString();
  nowMs += limits.retentionIntervalMs;
  await runDue();
  await ask("POST /retentionrules/update", { items: [{ id: rule, keepDays: { set: 9 } }] });
  await ask("POST /retentionrules/delete", { items: [rule] });
  const { items } = await ask("GET /audit?limit=4");
  const shown = items.map((one) => [one["kind"], one["action"], one["credential"], one["ids"]]);
  const points = [`${rule}`, `before ${before}`, "2 points", "1 series"];
  assert.deepEqual(shown, [
    ["settings", "POST /retentionrules/delete", "key", [`${rule}`]],
    ["settings", "POST /retentionrules/update", "key", [`${rule}`]],
    ["deletion", "remove old datapoints", "server", points],
    ["settings", "POST /retentionrules", "key", ["pump", `${rule}`]],
  ]);
  assert.ok(items.every(({ result }) => result === "done"));
});

test("late points go at the next run, and a series may lose all its points", async () => {
  const [id] = await madeIds("timeseries", [{ name: "pump" }]);
  await write(id!, [nowMs - 10 * dayMs]);
  await create({ name: "pump", seriesId: id, keepDays: 5 });
  await runAll();
  assert.deepEqual(await timesOf(id!), []);
  const latest = await server.app.services.points.latest([{ series: id!, isString: false }], nowMs);
  assert.deepEqual(latest, [undefined]);
  await write(id!, [nowMs - 9 * dayMs, nowMs]);
  nowMs += limits.retentionIntervalMs;
  await runDue();
  assert.deepEqual(await timesOf(id!), [nowMs - limits.retentionIntervalMs]);
});

test("after a change of its days, a rule removes nothing for a day", async () => {
  const [one, two] = await madeIds("timeseries", [{ name: "one" }, { name: "two" }]);
  const [first, second] = idsOf(
    await create({ name: "one", seriesId: one, keepDays: 5 }, { name: "two", seriesId: two, keepDays: 5 }),
  );
  await runDue();
  const old = [nowMs - 20 * dayMs];
  for (const id of [one!, two!]) await write(id, old);
  await pass(limits.retentionDelayMs - 1_000);
  await ask("POST /retentionrules/update", { items: [{ id: first, keepDays: { set: 6 } }] });
  await runDue();
  nowMs += 2_000;
  // A change of the name does not matter.
  await ask("POST /retentionrules/update", { items: [{ id: second, name: { set: "second" } }] });
  nowMs += limits.retentionIntervalMs;
  await runDue();
  assert.deepEqual([await timesOf(one!), await timesOf(two!)], [old, []]);
});

/** Moves the clock on from run to run, as if the server ran all the time. */
async function runFor(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= limits.retentionDelayMs / 2) {
    await pass(Math.min(left, limits.retentionDelayMs / 2));
    await runDue();
  }
}

test("a series that comes under a rule by a move or a deletion keeps its points for a day", async () => {
  const names = ["kept", "short", "unit", "without a rule"];
  const [kept, short, unit, free] = await madeIds(
    "assets",
    names.map((name) => ({ name })),
  );
  const moveUnit = (parentId: number) =>
    ask("POST /assets/update", { items: [{ id: unit, parentId: { set: parentId } }] });
  await moveUnit(kept!);
  const [moved, ofUnit, ofRule] = await madeIds("timeseries", [
    { name: "moved" },
    { name: "of the unit", assetId: unit },
    { name: "of the rule" },
  ]);
  const [, , own] = idsOf(
    await create(
      { name: "kept", assetId: kept, keepDays: 36_500 },
      { name: "short", assetId: short, keepDays: 30 },
      { name: "own", seriesId: ofRule, keepDays: 1_000 },
    ),
  );
  const old = [nowMs - 100 * dayMs];
  const all = [moved!, ofUnit!, ofRule!];
  for (const id of all) await write(id, old);
  const areKept = async (expected: readonly number[][]) =>
    assert.deepEqual(await Promise.all(all.map(timesOf)), expected);
  await runFor(3 * limits.retentionDelayMs);
  await ask("POST /timeseries/update", { items: [{ id: moved, assetId: { set: short } }] });
  await ask("POST /timeseries/update", { items: [{ id: ofRule, assetId: { set: short } }] });
  await moveUnit(short!);
  await ask("POST /retentionrules/delete", { items: [own] });
  await runFor(limits.retentionDelayMs);
  await areKept([old, old, old]);
  // Out of the rule and back, it waits again.
  await moveUnit(free!);
  nowMs += limits.retentionIntervalMs;
  await runDue();
  await moveUnit(short!);
  await areKept([old, old, old]);
  await runFor(limits.retentionDelayMs);
  await areKept([[], old, []]);
  await runFor(limits.retentionDelayMs);
  await areKept([[], [], []]);
});

/** Series with an old point each, more than a run deletes from at once, ready to be deleted by a rule. */
async function readySeries(assetId: number, ruleOf = assetId): Promise<number[]> {
  const named = Array.from({ length: 2 * limits.retentionSeriesAtOnce }, (_, i) => ({
    name: `s${i}`,
    assetId,
  }));
  const ids = await madeIds("timeseries", named);
  await create({ name: "rule", assetId: ruleOf, keepDays: 30 });
  for (const id of ids) await write(id, [nowMs - 100 * dayMs]);
  await runDue();
  await pass(limits.retentionDelayMs);
  return ids;
}

const countsOf = (ids: readonly number[]) => Promise.all(ids.map(async (id) => (await timesOf(id)).length));

const onlyFirstRemoved = Array.from({ length: 2 * limits.retentionSeriesAtOnce }, (_, i) =>
  i < limits.retentionSeriesAtOnce ? 0 : 1,
);

/** Runs the rules, and does this once, when the first points are deleted. */
async function runWith(first: () => Promise<unknown>): Promise<void> {
  const { points } = server.app.services;
  let done: Promise<unknown> | undefined;
  const remove: typeof points.delete = async (...given) => {
    await points.delete(...given);
    done ??= first();
    await done;
  };
  await runDueRules(
    { ...server.app.services, points: Object.assign(Object.create(points), { delete: remove }) },
    watch,
  );
}

const changesInTheMidst: readonly [string, (assetId: number) => Promise<unknown>][] = [
  [
    "the rule is deleted",
    async () => ask("POST /retentionrules/delete", { items: idsOf(await ask("GET /retentionrules")) }),
  ],
  [
    "more is to be kept",
    async () => {
      const [id] = idsOf(await ask("GET /retentionrules"));
      await ask("POST /retentionrules/update", { items: [{ id, keepDays: { set: 1_000 } }] });
    },
  ],
  ["a rule below keeps it", (assetId) => keepBelow(assetId)],
];

async function keepBelow(assetId: number): Promise<void> {
  const { items } = await ask(`GET /timeseries?limit=1000&assetIds=[${assetId}]`);
  await create(...items.map(({ id }) => ({ name: "kept", seriesId: id, keepDays: 36_500 })));
}

for (const [change, make] of changesInTheMidst)
  test(`a run ends before its next deletion when ${change}`, async () => {
    const [assetId] = await madeIds("assets", [{ name: "plant" }]);
    const ids = await readySeries(assetId!);
    await runWith(() => make(assetId!));
    await runDue();
    assert.deepEqual(await countsOf(ids), onlyFirstRemoved);
  });

test("a run leaves series alone that leave the rule in its midst", async () => {
  const [plant, unit] = await madeIds("assets", [{ name: "plant" }, { name: "unit" }]);
  const moveUnit = (parent: object) => ask("POST /assets/update", { items: [{ id: unit, ...parent }] });
  await moveUnit({ parentId: { set: plant } });
  const ids = await readySeries(unit!, plant!);
  await runWith(() => moveUnit({ parentId: { setNull: true } }));
  assert.deepEqual(await countsOf(ids), onlyFirstRemoved);
});

test("a target has one rule, names exist, and a caller may delete the points of all its series", async () => {
  const [inside, outside] = await madeIds("assets", [{ name: "inside" }, { name: "outside" }]);
  const [mine, foreign] = await madeIds("timeseries", [
    { name: "mine", assetId: inside },
    { name: "foreign", assetId: outside },
  ]);
  const scope = { assetIdScope: { subtreeIds: [String(inside)] } };
  const capabilities = [
    { projectsAcl: { actions: ["UPDATE"], scope: { all: {} } } },
    { timeSeriesAcl: { actions: ["READ", "WRITE"], scope } },
  ];
  const [group] = await madeIds("groups", [{ name: "operators", capabilities }]);
  const [userId] = await madeIds("users", [{ uniqueName: "operator", groups: [group] }]);
  const [key] = (await ask("POST /apikeys", { items: [{ userId }] })).items;
  const operator = { "api-key": key!["value"] as string };
  const status = async (item: object, headers = {}) =>
    (await server.ask.v06("POST /retentionrules", { items: [{ name: "n", keepDays: 1, ...item }] }, headers))
      .status;
  assert.equal(await status({ seriesId: foreign }), 200);
  assert.equal(await status({ seriesId: foreign }), 409);
  assert.equal(await status({ seriesId: 12_345 }), 400);
  assert.equal(await status({}), 400);
  assert.equal(await status({ seriesId: mine, assetId: inside }), 400);
  assert.equal(await status({ wholeProject: true }), 200);
  assert.equal(await status({ wholeProject: true }), 409);
  assert.equal(await status({ assetId: inside }, operator), 200);
  assert.equal(await status({ seriesId: mine }, operator), 200);
  assert.equal(await status({ assetId: outside }, operator), 400);
  const own = await ask("GET /retentionrules", undefined, operator);
  const targets = own.items.map(({ assetId, seriesId }) => [assetId, seriesId]);
  assert.deepEqual(targets, [
    [inside, undefined],
    [undefined, mine],
  ]);
  // Counts of the subtree would reveal series with categories that are hidden from the operator.
  const countsOf = async (headers: object) =>
    (await ask("GET /retentionrules", undefined, headers)).items
      .filter(({ assetId }) => assetId === inside)
      .map((item) => "removedPoints" in item);
  assert.deepEqual([await countsOf(operator), await countsOf({})], [[false], [true]]);
  const whole = { wholeProject: true, keepDays: 3 };
  assert.equal((await server.ask.v06("POST /retentionrules/preview", whole, operator)).status, 403);
});
