// The warm-up of the main thread: its requests succeed and change nothing, and those of clients come first.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { ClientWork } from "../lib/client-work.ts";
import { JsonDecoders } from "../rest/json.ts";
import type { Catalog } from "../storage/catalog.ts";
import { SampleConnection } from "./sample-connection.ts";
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

/** The contents once they stay the same: the store marks the end of its journal shortly after a write. */
async function settledContentsOf(folder: string): Promise<Record<string, string>> {
  for (let before = contentsOf(folder); ; ) {
    await pause(200);
    const now = contentsOf(folder);
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

/** Without those of the process, such as its processor time. */
const metricsOf = async (): Promise<readonly string[]> => {
  const { text } = await server.ask.root("GET /metrics");
  return text.split("\n").filter((line) => /^millrace_/.test(line) && !/disk_free|="\/metrics"/.test(line));
};

test("every request succeeds, and neither the data folder nor the metrics change", async () => {
  await server.ask.root("GET /metrics");
  const [files, metrics] = [await settledContentsOf(server.dataFolder), await metricsOf()];
  assert.ok(Object.keys(files).length > 5 && metrics.length > 20);
  let steps = 0;
  for await (const _ of stepsOn(server)) steps += 1;
  assert.ok(steps >= stepsMin, `${steps} steps`);
  assert.deepEqual(await settledContentsOf(server.dataFolder), files);
  assert.deepEqual(await metricsOf(), metrics);
});

test("it reads no latest points, after which every write would look for series that were read", async () => {
  const { services } = server.app;
  const catalog = services.catalog as unknown as Catalog;
  const read = new Set<PropertyKey>();
  const points = new Proxy(services.points, {
    get(store, name) {
      read.add(name);
      const member: unknown = Reflect.get(store, name);
      return typeof member === "function" ? member.bind(store) : member;
    },
  });
  const steps = warmUpSteps({ catalog, points, services, decoders: new JsonDecoders() });
  while (!(await steps.next()).done);
  assert.deepEqual([...read].sort(), ["aggregate", "scan", "scanPoints"]);
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

/** A server as clients see it; each request stays open until `close` of its response. */
function serverWithClients() {
  const [server, work] = [new EventEmitter(), new ClientWork()];
  const request = () => {
    const response = new EventEmitter();
    server.emit("request", {}, response);
    return () => response.emit("close");
  };
  const isDone = async () => {
    while (server.listenerCount("request") > 0) await pause(5);
  };
  return { clients: { server: server as never, work }, server, work, request, isDone };
}

test("after a request it waits, and it lets go of the server at its end", async () => {
  const { clients, request, isDone } = serverWithClients();
  const requests = 10;
  async function* steps(): AsyncGenerator<undefined, void> {
    for (let count = 0; count < requests; count++) {
      request()();
      yield;
    }
  }
  const began = performance.now();
  whileIdle(clients, { steps: steps(), report: fails });
  await isDone();
  // A timer may be a millisecond early.
  assert.ok(performance.now() - began >= requests * 19);
});

test("no step runs while a request or a call of a front thread is open", async () => {
  const [{ clients, request, work, isDone }, count] = [serverWithClients(), { steps: 0 }];
  whileIdle(clients, { steps: counted(count, 3), report: fails });
  const endRequest = request();
  await pause(200);
  assert.equal(count.steps, 0);
  endRequest();
  await isDone();
  assert.equal(count.steps, 3);

  const { promise, resolve } = Promise.withResolvers<void>();
  const call = work.during(() => promise);
  const next = { steps: 0 };
  whileIdle(clients, { steps: counted(next, 3), report: fails });
  await pause(200);
  assert.equal(next.steps, 0);
  resolve();
  await call;
  await isDone();
  assert.equal(next.steps, 3);
});

test("many requests end it: they have compiled the code themselves", async () => {
  for (const isInFront of [false, true]) {
    const [{ clients, request, work, isDone }, count] = [serverWithClients(), { steps: 0 }];
    whileIdle(clients, { steps: counted(count, Number.POSITIVE_INFINITY), report: fails });
    for (let call = 0; call < 400; call++)
      if (isInFront) await work.during(async () => {});
      else request()();
    await isDone();
    assert.equal(count.steps, 0);
  }
});

test("a server that stops does not wait for it, and an error ends it alone", async () => {
  const [{ clients, server }, count] = [serverWithClients(), { steps: 0 }];
  const end = whileIdle(clients, { steps: counted(count, Number.POSITIVE_INFINITY), report: fails });
  while (count.steps < 3) await pause(5);
  await end();
  const { steps } = count;
  await pause(20);
  assert.equal(count.steps, steps);
  assert.equal(server.listenerCount("request"), 0);

  const reported: unknown[] = [];
  async function* failing(): AsyncGenerator<undefined, void> {
    yield;
    throw new Error("no memory");
  }
  const ended = whileIdle(clients, {
    steps: failing(),
    report: (problem) => reported.push((problem as Error).message),
  });
  while (reported.length === 0) await pause(5);
  await ended();
  assert.deepEqual(reported, ["no memory"]);
});

test("a server that stops does not wait long for a step that never ends", async () => {
  const { clients } = serverWithClients();
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  async function* stuck(): AsyncGenerator<undefined, void> {
    begin();
    await new Promise(() => {});
    yield;
  }
  const end = whileIdle(clients, { steps: stuck(), report: fails });
  await began;
  const stopped = performance.now();
  await end();
  assert.ok(performance.now() - stopped < 5_000);
});

test("a response that the server destroys is a failure, and one that it sends late is not", async () => {
  const http = createServer((request, response) => {
    if (request.url === "/destroyed") response.destroy();
    else setImmediate(() => response.socket!.setTimeout(1_000).setTimeout(0) && response.end("late"));
  });
  using destroyed = await SampleConnection.open(http);
  const sample = (path: string) => ({ method: "GET", path, headers: {} }) as const;
  await assert.rejects(destroyed.send(sample("/destroyed")), /the response to \/destroyed was destroyed/);
  using late = await SampleConnection.open(http);
  assert.equal(await late.send(sample("/late")), 200);
  assert.equal(await late.send(sample("/late")), 200);
});

test("its requests come through a socket as those of clients, whose port accepts no other", async () => {
  const sockets: Socket[] = [];
  const http = createServer(({ socket }, response) => {
    sockets.push(socket);
    response.end();
  });
  using connection = await SampleConnection.open(http);
  assert.equal(await connection.send({ method: "GET", path: "/", headers: {} }), 200);
  const [{ localPort: port, localAddress: host }] = sockets as [Socket];
  assert.equal(host, "127.0.0.1");
  assert.equal(http.listening, false);
  const other = connect({ port: port!, host });
  const [refusal] = (await once(other, "error")) as [NodeJS.ErrnoException];
  assert.equal(refusal.code, "ECONNREFUSED");
});
