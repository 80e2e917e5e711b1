// The clock guard of retention rules, and one rule or series that keeps the others from their turn.
import assert from "node:assert/strict";
import { copyFileSync, renameSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as turn } from "node:timers/promises";
import { passTime, silentWatch as watch } from "../../../test/support/retention-time.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import type { Services } from "../../context.ts";
import { catalogFileOf } from "../../data-folder.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { ensureProject } from "../projects/projects.ts";
import { markClocks } from "./clock.ts";
import { runDueRules } from "./runs.ts";
import { retentionTable } from "./schema.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
let nowMs = Date.UTC(2026, 0, 1);

let server: TestServer;
before(async () => {
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
});
after(() => server.close());
beforeEach(async () => {
  for (const list of ["retentionrules", "timeseries"]) {
    const items = idsOf(await server.ask.v06(`GET /${list}?limit=1000`));
    if (items.length > 0) await ask(`POST /${list}/delete`, { items });
  }
});

async function ask(line: string, body?: object) {
  const response = await server.ask.v06(line, body);
  assert.ok(response.status < 300, `${line}: ${response.text}`);
  return response;
}

const pass = (ms: number) =>
  passTime(server.app.services, ms, (step) => {
    nowMs += step;
  });

/** Runs the due rules; the server may do so at the same time. */
async function runDue(services: Services = server.app.services): Promise<void> {
  await markClocks(services, watch);
  await runDueRules(services, watch);
  const isRunning = async () =>
    (await ask("GET /retentionrules?limit=1000")).items.some(({ lastRun }) => {
      return lastRun !== undefined && !("endedTime" in (lastRun as object));
    });
  while (await isRunning()) await turn(5);
}

async function writePoint(id: number, timeMs: number): Promise<void> {
  const runs = { series: Float64Array.of(id), ends: Uint32Array.of(1) };
  const numbers = { ...runs, times: Float64Array.of(timeMs), values: Float64Array.of(1) };
  await server.app.services.points.append({ numbers });
}

async function hasPoints(id: number): Promise<boolean> {
  const all = { series: id, isString: false, startMs: -Infinity, endMs: Infinity, limit: 1 };
  return (await server.app.services.points.scan(all)).times.length > 0;
}

/** Series with an old point each, and a rule for each. */
async function ruledSeries(count: number): Promise<number[]> {
  const items = Array.from({ length: count }, (_, i) => ({ name: `series ${i}` }));
  const ids = idsOf(await ask("POST /timeseries", { items }));
  for (const id of ids) await writePoint(id, nowMs - 20 * dayMs);
  await ask("POST /retentionrules", {
    items: ids.map((seriesId, i) => ({ name: `rule ${i}`, seriesId, keepDays: 5 })),
  });
  await runDue();
  return ids;
}

/** The rule has counted for days. */
async function longRuled(): Promise<number> {
  const [id] = await ruledSeries(1);
  await pass(2 * dayMs);
  await runDue();
  assert.equal(await hasPoints(id!), false);
  return id!;
}

const rules = async () => (await ask("GET /retentionrules?limit=1000")).items;

async function waitsForDay(id: number): Promise<void> {
  const from = nowMs;
  await runDue();
  assert.equal((await rules())[0]!["waitsUntil"], from + dayMs);
  await pass(dayMs - hourMs);
  await runDue();
  assert.equal(await hasPoints(id), true);
}

for (const [step, stepMs] of [
  ["400 days", 400 * dayMs],
  ["23 hours", 23 * hourMs],
  ["three hours", 3 * hourMs],
  ["minus three hours", -3 * hourMs],
] as const)
  test(`a clock that steps by ${step} makes rules wait for a day, also after an edit`, async () => {
    const id = await longRuled();
    await writePoint(id, nowMs - 10 * dayMs);
    await pass(hourMs);
    nowMs += stepMs;
    const items = [{ name: "other", wholeProject: true, keepDays: 36_500 }];
    const [other] = idsOf(await ask("POST /retentionrules", { items }));
    await runDue();
    assert.equal(await hasPoints(id), true);
    await ask("POST /retentionrules/delete", { items: [other] });
    await runDue();
    assert.equal(await hasPoints(id), true);
    // The clock is set back.
    nowMs -= stepMs;
    await waitsForDay(id);
    await pass(2 * hourMs);
    await runDue();
    assert.equal(await hasPoints(id), false);
  });

test("a new rule waits for its day though the clock steps by a day", async () => {
  const [id] = await ruledSeries(1);
  nowMs += dayMs;
  await waitsForDay(id!);
});

test("a step of the clock ends a run before its next deletion", async () => {
  const items = [{ name: "plant" }];
  const [assetId] = idsOf(await ask("POST /assets", { items }));
  const count = 2 * limits.retentionSeriesAtOnce;
  const named = Array.from({ length: count }, (_, i) => ({ name: `series ${i}`, assetId }));
  const ids = idsOf(await ask("POST /timeseries", { items: named }));
  for (const id of ids) await writePoint(id, nowMs - 20 * dayMs);
  await ask("POST /retentionrules", { items: [{ name: "plant", assetId, keepDays: 5 }] });
  await runDue();
  await pass(dayMs);
  let stepped: Promise<void> | undefined;
  await runDue(
    deleting(async (remove) => {
      await remove();
      stepped ??= (async () => {
        nowMs += 3 * dayMs;
        await markClocks(server.app.services, watch);
      })();
      await stepped;
    }),
  );
  const left = await Promise.all(ids.map(hasPoints));
  assert.equal(left.filter((has) => has).length, count - limits.retentionSeriesAtOnce);
  const [rule] = await rules();
  assert.equal(rule!["removedPoints"], limits.retentionSeriesAtOnce, "they are counted once");
});

test("a rule waits for a day after the server was off for hours, and not after a restart", async () => {
  const id = await longRuled();
  await writePoint(id, nowMs - 10 * dayMs);
  await server.restart(() => {
    nowMs += 3 * hourMs;
  });
  await waitsForDay(id);
  await server.restart(() => {
    nowMs += hourMs;
  });
  await pass(hourMs);
  await runDue();
  assert.equal(await hasPoints(id), false);
});

const catalogInFolder = { skip: process.env["TEST_CATALOG"] === "postgres" && "PostgreSQL has the catalog" };

test("a rule waits for a day after the data folder was restored", catalogInFolder, async () => {
  const id = await longRuled();
  await writePoint(id, nowMs - 10 * dayMs);
  await server.restart(() => {
    nowMs += 60_000;
    // The same bytes in another file, as a restored backup has them.
    const file = catalogFileOf(server.dataFolder);
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  });
  await waitsForDay(id);
  await pass(dayMs);
  await runDue();
  assert.equal(await hasPoints(id), false);
});

/** The services, with another deletion of points. */
function deleting(how: (remove: () => Promise<void>, series: number) => Promise<void>): Services {
  const { services } = server.app;
  const remove: Services["points"]["delete"] = (...given) =>
    how(() => services.points.delete(...given), given[0]);
  return { ...services, points: Object.assign(Object.create(services.points), { delete: remove }) };
}

test("a series that fails keeps no other one from its turn, and the rule says how many failed", async () => {
  const [assetId] = idsOf(await ask("POST /assets", { items: [{ name: "unit" }] }));
  const named = Array.from({ length: limits.retentionSeriesAtOnce + 3 }, (_, i) => ({
    name: `s${i}`,
    assetId,
  }));
  const ids = idsOf(await ask("POST /timeseries", { items: named }));
  for (const id of ids) await writePoint(id, nowMs - 20 * dayMs);
  await ask("POST /retentionrules", { items: [{ name: "unit", assetId, keepDays: 5 }] });
  await runDue();
  await pass(dayMs);
  await runDue(
    deleting(async (remove, series) => {
      if (series === ids[1]) throw new Error("secret of the store");
      await remove();
    }),
  );
  assert.deepEqual(
    await Promise.all(ids.map(hasPoints)),
    ids.map((_, i) => i === 1),
  );
  const { lastRun } = (await rules())[0] as { lastRun: Record<string, unknown> };
  assert.equal(lastRun["errorMessage"], "1 series: the log of the server says why");
  assert.deepEqual([lastRun["series"], lastRun["points"]], [ids.length - 1, ids.length - 1]);
});

test("points are counted once when the rules change during the last deletion of a run", async () => {
  const [id] = await ruledSeries(1);
  await pass(dayMs);
  await runDue(
    deleting(async (remove) => {
      await remove();
      await ask("POST /retentionrules", { items: [{ name: "all", wholeProject: true, keepDays: 9 }] });
    }),
  );
  assert.equal(await hasPoints(id!), false);
  assert.equal((await rules())[0]!["removedPoints"], 1);
});

test("the rule that is due for the longest time runs first", async () => {
  const [first, second] = await ruledSeries(2);
  await pass(dayMs);
  const order: number[] = [];
  const passing = (minutes: number) =>
    deleting(async (remove, series) => {
      order.push(series);
      await remove();
      if (minutes > 0 && series === order.at(0)) await pass(minutes * 60_000);
    });
  await runDue();
  // The runs of the first rule take so long that it is due after the second one.
  await pass(hourMs);
  await writePoint(second!, nowMs - 20 * dayMs);
  order.length = 0;
  await runDue(passing(30));
  await pass(hourMs / 2);
  await writePoint(first!, nowMs - 20 * dayMs);
  order.length = 0;
  await runDue(passing(20));
  await pass(2 * hourMs);
  for (const id of [first!, second!]) await writePoint(id, nowMs - 20 * dayMs);
  order.length = 0;
  await runDue(passing(0));
  assert.deepEqual(order, [second, first]);
});

test("a project that fails keeps no other one from its turn", async () => {
  const { services } = server.app;
  await ruledSeries(1);
  const { project } = await ensureProject(services, "second");
  const other = typeof project === "number" ? project : project.id;
  await services.catalog.write(other, async (tx) => {
    const times = { nextTime: nowMs, createdTime: nowMs, lastUpdatedTime: nowMs };
    const rule = { id: services.ids.next(), name: "all", wholeProject: true, keepDays: 5, removedPoints: 0 };
    await tx.insert(retentionTable, [{ ...rule, ...times, wholeProject: true }]);
  });
  await pass(2 * hourMs);
  const write: Services["catalog"]["write"] = (tenant, work) =>
    tenant === other ? services.catalog.write(tenant, work) : Promise.reject(new Error("damaged"));
  const catalog = Object.assign(Object.create(services.catalog), { write });
  await runDueRules({ ...services, catalog }, watch);
  const find = { filter: everything, order: byId, page: { limit: 1 } };
  const [rule] = await services.catalog.read(other, (tx) => tx.find(retentionTable, find));
  assert.ok(rule!.lastStartedTime! >= nowMs);
});
