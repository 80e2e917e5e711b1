// The warm-up of the main thread: its requests succeed and change nothing, and those of clients come first.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { JsonDecoders } from "../rest/json.ts";
import type { Catalog } from "../storage/catalog.ts";
import { warmUpSteps, whileIdle } from "./warm-up.ts";

/** Fewer would be long ones, for which requests wait. */
const stepsMin = 200;

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const stepsOn = ({ app }: TestServer) => {
  const { services } = app;
  const catalog = services.catalog as unknown as Catalog;
  return warmUpSteps({ catalog, points: services.points, services, decoders: new JsonDecoders() });
};

/** The bytes of all files, but not of those that readers of SQLite share. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith("-shm"),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, createHash("sha256").update(readFileSync(path)).digest("hex")];
    }),
  );
}

/** Without those of the process, such as its processor time. */
const metricsOf = async (): Promise<readonly string[]> => {
  const { text } = await server.ask.root("GET /metrics");
  return text.split("\n").filter((line) => /^millrace_/.test(line) && !/disk_free|="\/metrics"/.test(line));
};

test("every request succeeds, and neither the data folder nor the metrics change", async () => {
  await server.ask.root("GET /metrics");
  // The store marks the end of its journal shortly after the start.
  await pause(200);
  const [files, metrics] = [contentsOf(server.dataFolder), await metricsOf()];
  assert.ok(Object.keys(files).length > 5 && metrics.length > 20);
  let steps = 0;
  for await (const _ of stepsOn(server)) steps += 1;
  assert.ok(steps >= stepsMin, `${steps} steps`);
  await pause(200);
  assert.deepEqual(contentsOf(server.dataFolder), files);
  assert.deepEqual(await metricsOf(), metrics);
});

test("no client sees its records", async () => {
  for await (const _ of stepsOn(server)) {
    const found = await Promise.all(
      ["/timeseries", "/assets"].map((path) => server.ask(`GET ${path}?limit=10`)),
    );
    assert.deepEqual(
      found.map(({ items }) => items),
      [[], []],
    );
  }
  assert.equal((await server.ask("GET /timeseries/latest/series%200")).status, 404);
});

test("it can end at any step", async () => {
  for (const count of [0, 1, 3, 20]) {
    const steps = stepsOn(server);
    for (let step = 0; step < count; step++) assert.equal((await steps.next()).done, false);
    assert.equal((await steps.return()).done, true);
  }
});

/** Counts the steps that it runs. */
async function* counted(count: { steps: number }, max: number): AsyncGenerator<undefined, void> {
  for (; count.steps < max; count.steps++) yield;
}

const fails = (problem: unknown) => assert.fail(String(problem));

test("after a request it waits, and it lets go of the server at its end", async () => {
  const http = new EventEmitter();
  const requests = 10;
  async function* steps(): AsyncGenerator<undefined, void> {
    for (let request = 0; request < requests; request++) {
      http.emit("request");
      yield;
    }
  }
  const began = performance.now();
  whileIdle(http as never, { steps: steps(), report: fails });
  while (http.listenerCount("request") > 0) await pause(5);
  // A timer may be a millisecond early.
  assert.ok(performance.now() - began >= requests * 19);
});

test("many requests end it: they have compiled the code themselves", async () => {
  const [http, count] = [new EventEmitter(), { steps: 0 }];
  whileIdle(http as never, { steps: counted(count, Number.POSITIVE_INFINITY), report: fails });
  for (let request = 0; request < 400; request++) http.emit("request");
  while (http.listenerCount("request") > 0) await pause(5);
  assert.equal(count.steps, 0);
});

test("a server that stops does not wait for it, and an error ends it alone", async () => {
  const [http, count] = [new EventEmitter(), { steps: 0 }];
  const end = whileIdle(http as never, { steps: counted(count, Number.POSITIVE_INFINITY), report: fails });
  while (count.steps < 3) await pause(5);
  await end();
  const { steps } = count;
  await pause(20);
  assert.equal(count.steps, steps);
  assert.equal(http.listenerCount("request"), 0);

  const reported: unknown[] = [];
  async function* failing(): AsyncGenerator<undefined, void> {
    yield;
    throw new Error("no memory");
  }
  const ended = whileIdle(http as never, {
    steps: failing(),
    report: (problem) => reported.push((problem as Error).message),
  });
  while (reported.length === 0) await pause(5);
  await ended();
  assert.deepEqual(reported, ["no memory"]);
});
