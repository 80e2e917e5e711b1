// Pattern search on a real server: results, refusals, and the ends of jobs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Item,
  idsOf,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { longestTurnDuring } from "../../../test/support/turns.ts";
import { limits } from "../../limits.ts";

const minute = 60_000;
const startMs = Date.UTC(2025, 0, 1);
const at = (index: number) => startMs + index * minute;
const bump = [0, 1, 3, 7, 9, 7, 4, 2, 1, 0];
const longCount = 400_000;

let server: TestServer;

before(async () => {
  server = await startTestServer();
  const names = ["flow", "level", "holes", "long"].map((name) => ({ name }));
  await server.ask("POST /timeseries", { items: [...names, { name: "words", isString: true }] });
  const random = noise(3);
  const flow = Array.from({ length: 900 }, () => random());
  for (const [i, value] of bump.entries()) {
    flow[100 + i] = value;
    flow[500 + i] = 20 + 3 * value;
    flow[505 + i] = 20 + 3 * value + 0.01 * random();
    flow[700 + i] = value + 0.2 * random();
  }
  for (const [i, value] of bump.entries()) flow[500 + i] = 20 + 3 * value;
  await insert("flow", flow);
  await insert(
    "level",
    flow.map((value, i) => (i >= 700 ? random() : 2 * value)),
  );
  await insert(
    "holes",
    flow.map((value, i) => (i % 50 === 3 ? undefined : value)),
  );
  await insertLong();
});
after(() => server.close());

/** The same every time: between -0.5 and 0.5. */
function noise(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31 - 0.5;
  };
}

async function insert(name: string, values: readonly (number | undefined)[]): Promise<void> {
  const items = values.flatMap((value, i) => (value === undefined ? [] : [{ timestamp: at(i), value }]));
  assert.equal((await server.ask(`POST /timeseries/data/${name}`, { items })).status, 200);
}

async function insertLong(): Promise<void> {
  const random = noise(5);
  let level = 0;
  for (let from = 0; from < longCount; from += 50_000) {
    const items = Array.from({ length: 50_000 }, (_, i) => {
      level += random();
      return { timestamp: startMs + (from + i) * 1_000, value: level };
    });
    await server.ask("POST /timeseries/data/long", { items });
  }
}

type Sent = Readonly<Record<string, unknown>>;
const range = (from: number, to: number) => ({ start: at(from), end: at(to) });
const points = (name: string, from: number, to: number): Sent => ({
  ...{ timeSeries: [{ name }], aggregates: [], granularity: "" },
  ...range(from, to),
});
const buckets = (names: readonly string[], from: number, to: number, more: Sent = {}): Sent => ({
  timeSeries: names.map((name) => ({ name })),
  ...{ aggregates: ["max"], granularity: "1m", ...range(from, to), ...more },
});

const start = (specs: readonly Sent[], more: Sent = {}, headers = {}): Promise<TestResponse> =>
  server.ask("POST /analytics/patternsearch/search", { timeSeriesDataSpec: specs, ...more }, headers);

async function ended(jobId: unknown, headers = {}): Promise<Item> {
  for (;;) {
    const job = (await server.ask(`GET /analytics/jobs/${jobId}`, undefined, headers)).json as Item;
    if (job["status"] !== "RUNNING") return job;
    await delay(10);
  }
}

const jobIdOf = ({ json }: TestResponse) => (json as { readonly jobId: number }).jobId;

async function search(specs: readonly Sent[], more: Sent = {}) {
  const started = await start(specs, more);
  assert.equal(started.status, 200, started.text);
  const job = await ended(jobIdOf(started));
  assert.equal(job["status"], "DONE", JSON.stringify(job));
  assert.equal(job["progress"], 1);
  const { items } = await server.ask(`GET /analytics/patternsearch/${job["id"]}`);
  return items as unknown as { from: number; to: number; score: number }[];
}

const indexes = (matches: readonly { from: number }[]) =>
  matches.map(({ from }) => (from - startMs) / minute);

test("a course is found at any level and scale, best first; a match reads back as its points", async () => {
  const matches = await search([points("flow", 100, 110)], { arguments: { limit: 3 }, algorithm: "SAX" });
  assert.deepEqual(indexes(matches), [100, 500, 700]);
  assert.equal(matches[0]!.score, 0);
  assert.ok(matches[1]!.score < 1e-6 && matches[2]!.score > 0.01 && matches[2]!.score < 1);
  const { from, to } = matches[2]!;
  const read = await server.ask(`GET /timeseries/data/flow?start=${from}&end=${to}`);
  assert.equal((read.items[0]!["datapoints"] as unknown[]).length, bump.length);
});

test("minRange and maxRange bound the search; a second spec searches another series", async () => {
  const arguments_ = { minRange: at(300), maxRange: String(at(509)), limit: 1 };
  const [bounded] = await search([points("flow", 100, 110)], { arguments: arguments_ });
  assert.ok(bounded!.from >= at(300) && bounded!.to <= at(509));
  assert.notEqual(indexes([bounded!])[0], 500);
  const other = await search([points("flow", 100, 110), points("level", 200, 700)], {
    arguments: { limit: 1 },
  });
  assert.deepEqual(indexes(other), [500]);
});

test("several series are compared together, bucket by bucket", async () => {
  const matches = await search([buckets(["flow", "level"], 100, 110)], { arguments: { limit: 3 } });
  assert.deepEqual(indexes(matches.slice(0, 2)), [100, 500]);
  assert.notEqual(indexes(matches)[2], 700, "there the level is another one");
  assert.equal(matches[0]!.to, at(110));
});

test("an empty bucket breaks windows unless it is filled", async () => {
  const own = { arguments: { limit: 2, minRange: at(495), maxRange: at(520) } };
  const broken = await search([buckets(["flow"], 100, 110), buckets(["holes"], 495, 520)]);
  for (const one of broken) assert.ok(one.from > at(503) || one.to <= at(503));
  const filled = await search([
    buckets(["flow"], 100, 110),
    buckets(["holes"], 495, 520, { missingDataStrategy: "linearInterpolation" }),
  ]);
  assert.deepEqual(indexes(filled.slice(0, 1)), [500]);
  const refused = await start([buckets(["holes"], 100, 110)], own);
  assert.equal(refused.status, 400);
  assert.match(refused.error!.message, /timeSeriesDataSpec\[0\].*a gap/);
});

test("a window whose first or last bucket has no points is refused, whatever fills its gaps", async () => {
  const fills = [{}, { missingDataStrategy: "ffill" }, { missingDataStrategy: "linearInterpolation" }];
  for (const fill of fills)
    for (const [from, to] of [
      [-40, 20],
      [880, 940],
      [880, 901],
      [-20, -10],
    ] as const) {
      const { status, error, text } = await start([buckets(["flow"], from, to, fill)]);
      assert.equal(status, 400, text);
      assert.match(error!.message, /timeSeriesDataSpec\[0\].*without a gap.*got a gap/);
    }
  const long = await start([buckets(["flow"], -6_000, 10)]);
  assert.match(long.error!.message, /more than 5000 buckets/);
  // A part of a minute is a whole bucket.
  const part = { start: at(100) + 1, end: at(109) + 1 };
  const [first] = await search([buckets(["flow"], 100, 110, part)], { arguments: { limit: 2 } });
  assert.deepEqual(first, { from: at(100), to: at(110), score: 0 });
});

test("buckets of several units begin where those of the window do", async () => {
  const three = { granularity: "3m" };
  const [first] = await search([buckets(["flow"], 100, 112, three)], { arguments: { limit: 1 } });
  assert.deepEqual(first, { from: at(100), to: at(112), score: 0 });
});

test("what cannot be compared is refused before it is searched", async () => {
  const refusals: readonly (readonly [Promise<TestResponse>, number, RegExp])[] = [
    [start([points("nowhere", 0, 10)]), 404, /nowhere/],
    [start([points("words", 0, 10)]), 400, /words/],
    [start([points("flow", 100, 101)]), 400, /2 to 5000 points.*1 points/],
    [start([points("long", 0, 10_000)]), 400, /more than 5000 points/],
    [start([buckets(["flow", "level"], 100, 110, { aggregates: [] })]), 400, /aggregates/],
    [start([buckets(["flow"], 100, 110, { granularity: "" })]), 400, /granularity/],
    [start([buckets(["flow"], 100, 110), buckets(["flow", "level"], 0, 900)]), 400, /\[1\].*1 aggregates/],
    [start([buckets(["flow"], 100, 110), points("flow", 0, 900)]), 400, /\[1\]/],
    [start([{ ...points("flow", 0, 9), end: undefined }]), 400, /\[0\]\.end/],
    [start([points("flow", 9, 0)]), 400, /start/],
    [start([points("flow", 0, 9), points("flow", 0, 9)], { arguments: { minRange: 0 } }), 400, /minRange/],
    [start([points("flow", 0, 9)], { arguments: { minRange: "soon" } }), 400, /arguments\.start|minRange/],
    [start([]), 400, /timeSeriesDataSpec/],
    [server.ask("GET /analytics/jobs/77"), 404, /77/],
    [server.ask("GET /analytics/patternsearch/77"), 404, /77/],
  ];
  for (const [response, status, message] of refusals) {
    const { status: got, error, text } = await response;
    assert.equal(got, status, text);
    assert.match(error!.message, message);
  }
});

async function keyWith(capabilities: readonly object[]): Promise<Record<string, string>> {
  const name = `group ${Math.random()}`;
  const groups = idsOf(await server.ask("POST /groups", { items: [{ name, capabilities }] }));
  const users = await server.ask("POST /users", { items: [{ uniqueName: name, groups }] });
  const { items } = await server.ask("POST /apikeys", { items: [{ userId: idsOf(users)[0] }] });
  return { "api-key": items[0]!["value"] as string };
}

/** Only administrators are in the security category. */
async function hide(name: string, isHidden = true): Promise<void> {
  const made = await server.ask("POST /securitycategories", { items: [{ name: `secret ${isHidden}` }] });
  const list = await server.ask("GET /timeseries?limit=10");
  const id = list.items.find((one) => one["name"] === name)!["id"];
  const securityCategories = isHidden ? { set: idsOf(made) } : { set: null };
  const changed = await server.ask(`POST /timeseries/${id}/update`, { id, securityCategories });
  assert.equal(changed.status, 200, changed.text);
}

const all = { all: {} };
const analyst = [
  { analyticsAcl: { actions: ["READ", "EXECUTE", "LIST"], scope: all } },
  { timeSeriesAcl: { actions: ["READ"], scope: all } },
];

test("a job is its maker's and the administrators'; its result needs the right to the series", async () => {
  const [maker, other] = [await keyWith(analyst), await keyWith(analyst)];
  const started = await start([points("flow", 100, 110)], { description: "bumps" }, maker);
  const jobId = jobIdOf(started);
  const job = await ended(jobId, maker);
  assert.deepEqual([job["status"], job["description"], job["service"]], ["DONE", "bumps", "patternsearch"]);
  for (const path of [`GET /analytics/jobs/${jobId}`, `GET /analytics/patternsearch/${jobId}`]) {
    assert.equal((await server.ask(path, undefined, other)).status, 404);
    assert.equal((await server.ask(path, undefined, maker)).status, 200);
    assert.equal((await server.ask(path)).status, 200, "an administrator");
  }
  assert.equal((await server.ask(`POST /analytics/jobs/${jobId}/cancel`, undefined, other)).status, 404);
  await hide("flow");
  const hidden = await server.ask(`GET /analytics/patternsearch/${jobId}`, undefined, maker);
  assert.deepEqual([hidden.status, hidden.text.includes("score")], [404, false]);
  await hide("flow", false);
  assert.deepEqual(idsOf(await server.ask("GET /analytics/jobs", undefined, maker)), [jobId]);
  assert.deepEqual(idsOf(await server.ask("GET /analytics/jobs", undefined, other)), []);
  assert.ok(idsOf(await server.ask("GET /analytics/jobs?limit=1000")).includes(jobId));
});

test("series that the caller may not read look missing; without analytics rights 403", async () => {
  const blind = await keyWith([
    analyst[0]!,
    { timeSeriesAcl: { actions: ["READ"], scope: { assetIdScope: { subtreeIds: ["1"] } } } },
  ]);
  const hidden = await start([points("flow", 100, 110)], {}, blind);
  const missing = await start([points("nowhere", 100, 110)], {}, blind);
  assert.deepEqual([hidden.status, missing.status], [404, 404]);
  assert.equal(hidden.error!.message.replace("flow", "nowhere"), missing.error!.message);
  assert.deepEqual(idsOf(await server.ask("GET /analytics/jobs", undefined, blind)), []);
  const reader = await keyWith([analyst[1]!]);
  assert.equal((await start([points("flow", 100, 110)], {}, reader)).status, 403);
});

const long = points("long", 0, 16);

test("a job is cancelled, waiting or running, and keeps nothing; its result is refused", async () => {
  const jobs = await Promise.all(Array.from({ length: 4 }, () => start([long])));
  const ids = jobs.map(jobIdOf);
  const waiting = await server.ask(`GET /analytics/patternsearch/${ids.at(-1)}`);
  assert.equal(waiting.status, 409);
  assert.match(waiting.error!.message, /RUNNING/);
  for (const id of ids.toReversed()) {
    const cancelled = (await server.ask(`POST /analytics/jobs/${id}/cancel`)).json as Item;
    assert.match(String(cancelled["status"]), id === ids.at(-1) ? /CANCELLED/ : /CANCELLED|DONE/);
    const { error } = await server.ask(`GET /analytics/patternsearch/${id}`);
    if (cancelled["status"] === "CANCELLED") assert.match(error!.message, /CANCELLED/);
  }
  const { running, waiting: left } = server.app.services.computing.load;
  assert.deepEqual([running, left], [0, 0]);
  const again = (await server.ask(`POST /analytics/jobs/${ids.at(-1)}/cancel`)).json as Item;
  assert.equal(again["status"], "CANCELLED");
});

test("unfinished jobs of a caller are bounded, and others are served", async () => {
  const [greedy, modest] = [await keyWith(analyst), await keyWith(analyst)];
  const started: TestResponse[] = [];
  for (let i = 0; i < limits.jobsRunningMax; i++) started.push(await start([long], {}, greedy));
  let refused = await start([long], {}, greedy);
  // Ended jobs have freed space.
  for (let i = 0; refused.status === 200 && i < limits.jobsRunningMax; i++) {
    started.push(refused);
    refused = await start([long], {}, greedy);
  }
  assert.equal(refused.status, 429, refused.text);
  const own = jobIdOf(await start([points("flow", 100, 110)], {}, modest));
  assert.equal((await ended(own, modest))["status"], "DONE");
  const last = jobIdOf(started.at(-1)!);
  assert.equal(
    ((await server.ask(`GET /analytics/jobs/${last}`, undefined, greedy)).json as Item)["status"],
    "RUNNING",
  );
  for (const response of started.toReversed())
    await server.ask(`POST /analytics/jobs/${jobIdOf(response)}/cancel`, undefined, greedy);
});

test("a search of many points keeps the main thread free", async () => {
  const { result, longestMs } = await longestTurnDuring(async () => {
    const matches = await search([long], { arguments: { limit: 1 } });
    assert.equal((await server.ask("GET /timeseries?limit=1")).status, 200);
    return matches;
  });
  assert.equal(result[0]!.score, 0);
  assert.ok(longestMs < 100, `${longestMs} ms in one turn`);
});

test("similarity search of 0.4: each input tag in each query tag, by value or by pattern", async () => {
  const question = {
    ...{ inputTags: ["flow"], queryTags: ["flow", "level"], limit: 3 },
    inputInterval: range(100, 110),
    queryInterval: range(0, 600),
  };
  const byPattern = await server.ask.v04("POST /similaritysearch", { ...question, modes: ["pattern"] });
  const found = byPattern.items.map(({ from, tagId }) => [(Number(from) - startMs) / minute, tagId]);
  assert.deepEqual(new Set(found.map(String)).size, 3);
  assert.ok(found.every(([index]) => index === 100 || index === 500));
  const both = await server.ask.v04("POST /similaritysearch", { ...question, modes: ["value", "pattern"] });
  assert.deepEqual(
    both.items.map(({ mode }) => mode),
    ["value", "value", "value", "pattern", "pattern", "pattern"],
  );
  const [best] = both.items;
  assert.deepEqual(
    [best!["from"], best!["tagId"], best!["inputTagId"], best!["score"]],
    [at(100), "flow", "flow", 0],
  );
  assert.equal((await server.ask("POST /similaritysearch", { ...question, modes: ["value"] })).status, 404);
});

test("a job that a stop of the server interrupts is FAILED with the reason; results stay", async () => {
  const done = jobIdOf(await start([points("flow", 100, 110)]));
  await ended(done);
  const jobs = await Promise.all(Array.from({ length: 5 }, () => start([long])));
  await server.restart();
  const job = await ended(jobIdOf(jobs.at(-1)!));
  assert.equal(job["status"], "FAILED");
  assert.match(String(job["errorMsg"]), /server stopped/);
  assert.equal((await server.ask(`GET /analytics/patternsearch/${job["id"]}`)).status, 409);
  assert.equal((await server.ask(`GET /analytics/patternsearch/${done}`)).items.length, 10);
});
