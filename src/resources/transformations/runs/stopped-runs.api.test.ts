// Runs of new rows that stop at each of their steps in the catalog, while others write rows: no row is lost,
// and only a successful run moves the mark.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startTestServer, type TestServer } from "../../../../test/support/server.ts";
import { outcome, ownerContext, Transformations } from "../../../../test/support/transformations.ts";
import { fail } from "../../../errors.ts";
import {
  type CatalogReader,
  type CatalogWriter,
  type ProjectCatalog,
  UniqueViolation,
} from "../../../storage/catalog.ts";
import { eventTable } from "../../events/schema.ts";
import { startRun } from "./runs.ts";

let server: TestServer;
let on: Transformations;
before(async () => {
  server = await startTestServer();
  on = new Transformations(server);
  countCatalog();
});
after(() => server.close());

/** Counts the steps of one run, and stops it at one of them. */
interface Steps {
  count: number;
  readonly stopAt: number;
  /** Whether every later step fails too, as after the end of the server. */
  readonly isEnd: boolean;
  /** The fault of that step, and of the next one in the table of events, in place of an error. */
  readonly fault?: Error;
  isFaultRepeated?: boolean;
  /** The fault is in the rollback after a violation of uniqueness, as when the connection is lost. */
  readonly isInRollback?: boolean;
  readonly onStop: () => void;
}

const steps = new AsyncLocalStorage<Steps>();

function step(table?: unknown): void {
  const of = steps.getStore();
  if (!of) return;
  of.count += 1;
  if (of.count === of.stopAt) of.onStop();
  if (of.fault && of.count > of.stopAt && table === eventTable && !of.isFaultRepeated) {
    of.isFaultRepeated = true;
    throw of.fault;
  }
  if (of.count === of.stopAt || (of.isEnd && of.count > of.stopAt))
    throw of.fault ?? new Error("stopped by the test");
}

/** Each read and each change is a step, and so is the time after a commit. */
const counting = <Tx extends object>(tx: Tx): Tx =>
  new Proxy(tx, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]) => {
        step(given[0]);
        return (member as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });

function countCatalog(): void {
  const { services } = server.app;
  const { catalog } = services;
  const counted: ProjectCatalog = {
    read: (tenant, work) => catalog.read(tenant, (tx: CatalogReader) => work(counting(tx))),
    write: async (project, work) => {
      const done = await catalog
        .write(project, (tx: CatalogWriter) => work(counting(tx)))
        .catch((problem: unknown) => {
          const of = steps.getStore();
          throw of?.isInRollback && problem instanceof UniqueViolation ? of.fault : problem;
        });
      step();
      return done;
    },
    lastId: () => catalog.lastId(),
    close: () => catalog.close(),
  };
  Object.assign(services, { catalog: counted });
}

const rows = new Map<string, number>();
let written = 0;
async function put(...keys: readonly string[]): Promise<void> {
  const items = keys.map((key) => {
    written += 1;
    rows.set(key, written);
    return [key, { value: written }] as const;
  });
  await on.putRaw(["plant", "rows"], Object.fromEntries(items));
}

const marksOf = async (id: number) => (await on.ask(`GET /transformations/${id}`)).items[0]!["marks"];

/** Starts a run that stops at this step; returns the number of its steps, once it has ended. */
async function stoppedRun(id: number, stopAt: number, isEnd: boolean): Promise<number> {
  let writing: Promise<void> = Promise.resolve();
  const onStop = () => {
    // Outside of the run, whose write transaction it may have to wait for.
    writing = steps.exit(() => put("a", `w${stopAt % 5}`));
  };
  const of: Steps = { count: 0, stopAt, isEnd, onStop };
  const ctx = await ownerContext(server);
  const before = await marksOf(id);
  const run = await steps.run(of, () => startRun(ctx, id).catch(() => undefined));
  const { jobs } = server.app.services.transformations;
  while (run && jobs.progressOf(run.id) !== undefined) await pause(5);
  await writing;
  const [{ status }] = (await on.ask(`GET /transformations/${id}/runs?limit=1`)).items as [
    { status: string },
  ];
  if (status !== "COMPLETED") assert.deepEqual(await marksOf(id), before, `step ${stopAt}: ${status}`);
  if (status !== "RUNNING") return of.count;
  assert.ok(isEnd || !run, `step ${stopAt}: a fault ends a run`);
  await server.restart();
  countCatalog();
  return of.count;
}

test("a run of new rows that stops at any step loses none", { timeout: 900_000 }, async () => {
  await put("a", "b", "c");
  const query = "SELECT key AS externalId, value AS description FROM plant.rows WHERE is_new('rows')";
  const id = await on.save("rows", query, { destination: { type: "events" } });
  assert.equal((await on.run(id))["status"], "COMPLETED");
  const whole = await stoppedRun(id, Number.POSITIVE_INFINITY, false);
  assert.ok(whole > 10, `${whole} steps`);
  for (const isEnd of [false, true])
    for (let stopAt = 1; stopAt <= whole; stopAt += 1) {
      await put(`n${stopAt % 7}`);
      await stoppedRun(id, stopAt, isEnd);
      // A successful run in between, so that a mark which has moved too far would lose the rows before it.
      if (stopAt % 3 === 0) assert.equal((await on.run(id))["status"], "COMPLETED");
    }
  assert.equal((await on.run(id))["status"], "COMPLETED");
  const events = (await on.ask("GET /events?limit=1000")).items;
  const found = events.map((event) => [event["externalId"], Number(event["description"])]);
  assert.deepEqual(new Map(found as [string, number][]), rows);
});

test("a run ends if the catalog is away after it has refused the values of a row", async () => {
  const taken = { name: "taken", source: "plant", sourceId: "1" };
  await on.ask("POST /assets", { items: [taken] });
  const query = "SELECT 'new' AS externalId, 'new' AS name, 'plant' AS source, '1' AS sourceId";
  const id = await on.save("violation", query, { onError: "skip" });
  assert.deepEqual(outcome(await on.run(id)), { status: "COMPLETED_WITH_REFUSALS", refused: 1 });
  const fault = fail("catalog-away", { retryAfterSeconds: 1 });
  const never = Number.POSITIVE_INFINITY;
  const of: Steps = {
    ...{ count: 0, stopAt: never, isEnd: false, fault },
    ...{ isInRollback: true, onStop: () => {} },
  };
  const ctx = await ownerContext(server);
  const { id: runId } = await steps.run(of, () => startRun(ctx, id));
  const run = await on.ended(id, runId);
  assert.deepEqual(outcome(run), { status: "FAILED" });
  assert.equal(run["problem"], `${fault.message}. Nothing was written`);
});

test("a disk that is full for two steps refuses no row of a run that skips", async () => {
  await on.putRaw(["plant", "full"], { a: { value: 1 }, b: { value: 2 } });
  const query = "SELECT key AS externalId, value AS description FROM plant.full WHERE is_new('full')";
  const id = await on.save("full", query, { destination: { type: "events" }, onError: "skip" });
  const before = await marksOf(id);
  for (let stopAt = 1; ; stopAt += 1) {
    assert.ok(stopAt < 100, "a run has fewer steps");
    const { jobs } = server.app.services.transformations;
    const fault = fail("catalog-not-stored", { problem: "database or disk is full" });
    const of: Steps = { count: 0, stopAt, isEnd: false, fault, onStop: () => {} };
    const ctx = await ownerContext(server);
    const run = await steps.run(of, () => startRun(ctx, id).catch(() => undefined));
    while (run && jobs.progressOf(run.id) !== undefined) await pause(5);
    const [last] = (await on.ask(`GET /transformations/${id}/runs?limit=1`)).items;
    if (last?.["status"] === "RUNNING") {
      // The fault was in the record of its start or end.
      await server.restart();
      countCatalog();
      continue;
    }
    if (!run) continue;
    if (last!["status"] === "COMPLETED") return;
    assert.equal(last!["status"], "FAILED", `step ${stopAt}`);
    assert.equal(last!["refused"], 0, `step ${stopAt}: ${last!["problem"]}`);
    assert.match(last!["problem"] as string, /^Nothing was stored \(database or disk is full\)/);
    assert.deepEqual(await marksOf(id), before, `step ${stopAt}`);
  }
});
