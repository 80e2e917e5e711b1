// No request holds the event loop for long or takes more memory than declared: the largest bodies and queries
// of all routes and entity sets, one after the other, to a server with a filled project (docs/proof.md).
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, type TestContext, test } from "node:test";
import { model, routes } from "../../src/resources.ts";
import type { Route } from "../../src/rest/route.ts";
import { isLong } from "../support/proof.ts";
import { largestRequests } from "./largest.ts";
import { type Measured, MeasuredServer, pathBelow, type Request } from "./measure.ts";
import { fillProject, type Ids } from "./project.ts";

/** Processor time of the main thread in one turn of its event loop. */
const holdMsMax = 50;
/** Of the process, beyond what it had before the request. */
const memoryBytesMax = 512 * 2 ** 20;
/** In CI bodies are as large as a request may be that most routes take; the long form sends the largest. */
const bytesInCi = 2 ** 20;
/** What else the machine does can only add to a measurement. */
const attempts = 5;

const skip = existsSync("/proc/self/clear_refs")
  ? false
  : "peaks of memory are read from /proc, which Linux has";
const counts = isLong
  ? { assets: 20_000, series: 20_000, events: 20_000, rawRows: 20_000, points: 100_000, others: 1_000 }
  : { assets: 10_000, series: 10_000, events: 10_000, rawRows: 10_000, points: 100_000, others: 50 };

let server: MeasuredServer;
let ids: Ids;

before(async () => {
  if (skip) return;
  server = await MeasuredServer.start();
  ids = await fillProject(
    (version, methodAndPath, body) => {
      const [method, path] = methodAndPath.split(" ") as [string, string];
      return server.send({ method, path: pathBelow(version, path), body: JSON.stringify(body) });
    },
    { ...counts, models: 1 },
  );
});
after(() => server?.close());

/** The least of a few measurements, as soon as one is within the bounds. */
async function costOf(make: () => Request): Promise<Measured> {
  let best: Measured | undefined;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const measured = await server.measure(make());
    if (!best || measured.holdMs < best.holdMs) best = measured;
    if (isWithin(best)) break;
  }
  return best!;
}

const isWithin = ({ holdMs, memoryBytes }: Measured) => holdMs <= holdMsMax && memoryBytes <= memoryBytesMax;

const mebi = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** Sends each request, reports what it cost, and fails when one is beyond the bounds or a fault. */
async function holdToBounds(
  t: TestContext,
  requests: Iterable<readonly [name: string, make: () => Request]>,
) {
  const beyond: string[] = [];
  for (const [name, make] of requests) {
    const cost = await costOf(make);
    const { status, holdMs, memoryBytes, answerBytes, ms } = cost;
    const line =
      `${name}: ${status}, held ${Math.round(holdMs)} ms, ${mebi(memoryBytes)} of memory, ` +
      `${mebi(answerBytes)} sent in ${Math.round(ms)} ms`;
    if (!isWithin(cost) || status === 500) beyond.push(`${line} ${status >= 300 ? cost.text : ""}`);
    if (isLong) t.diagnostic(line);
  }
  assert.deepEqual(beyond, []);
}

let made = 0;
const unique = () => ++made;

/** What deletes goes last. */
const isRemoval = ({ method, path }: Route) => method === "DELETE" || /(delete|remove)$/.test(path);
const inOrder = [...routes.filter((route) => !isRemoval(route)), ...routes.filter(isRemoval)];

/** In CI each route gets some of its requests, others from one route to the next, so that all kinds occur. */
function* requestsOf(all: readonly Route[]): Generator<readonly [string, () => Request]> {
  const each = isLong ? 1 : 8;
  for (const [index, route] of all.entries()) {
    const making = { route, ids, unique, ...(!isLong && { bytesMax: bytesInCi }) };
    for (const [at, { name, path, body }] of largestRequests(making).entries()) {
      if ((index + at) % each !== 0) continue;
      const request = { method: route.method, path: pathBelow(route.versions.at(-1)!, path) };
      const make = () => ({ ...request, ...(body && { body: body() }) });
      yield [`${route.method} ${route.path}, ${name}`, make];
    }
  }
}

test("the largest requests to each route", { skip }, (t) => holdToBounds(t, requestsOf(inOrder)));

function* requestsOfSets(): Generator<readonly [string, () => Request]> {
  const root = "/odata/v1/projects/demo";
  for (const { name } of model.sets.values()) {
    const queries = ["$expand=*&$top=100000", "$top=100000", "$count=true&$top=1000"];
    for (const query of isLong ? queries : queries.slice(0, 1)) {
      const path = `${root}/${name}?${query}`;
      yield [`${name}?${query}`, () => ({ method: "GET", path })];
    }
  }
}

test("the largest pages of each entity set", { skip }, (t) => holdToBounds(t, requestsOfSets()));
