// kill -9 in the middle of writes, again and again on one data folder: nothing acknowledged may be missing,
// no request may be half there. How soon the next start answers is told, not judged: machines differ.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { temporaryFolder } from "../support/folder.ts";
import { serveMillrace } from "../support/process.ts";
import { times } from "../support/proof.ts";

const rounds = times(8, 200);
const writers = 4;
const seriesPerRequest = 20;
const pointsPerSeries = 5;
const adminKey = "a-key-of-this-test-with-enough-letters";

/**
 * Request `n` of a writer sets these time stamps in all of its series, so one number tells the whole request.
 */
const stampsOf = (request: number) =>
  Array.from({ length: pointsPerSeries }, (_, point) => request * pointsPerSeries + point);
const namesOf = (writer: number) => Array.from({ length: seriesPerRequest }, (_, i) => `w${writer}.s${i}`);

const folder = temporaryFolder();
let server: Awaited<ReturnType<typeof serveMillrace>>;
/** Per writer: the requests that were acknowledged, and the first number not sent yet. */
const acknowledged = Array.from({ length: writers }, () => new Set<number>());
const sent = new Array<number>(writers).fill(0);

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.baseUrl}/api/0.5/projects/default${path}`, {
    method,
    headers: { "api-key": adminKey },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Starts the server and resolves with the time until it answered. */
async function start(): Promise<number> {
  const began = performance.now();
  server = await serveMillrace({ MILLRACE_ADMIN_KEY: adminKey }, folder);
  assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200);
  return performance.now() - began;
}

async function kill(): Promise<void> {
  server.child.kill("SIGKILL");
  await server.ended;
}

/** Writes until the connection breaks; the request in flight then may or may not have arrived. */
async function writeUntilKilled(writer: number): Promise<void> {
  for (;;) {
    const request = sent[writer]!++;
    const datapoints = stampsOf(request).map((timestamp) => ({ timestamp, value: timestamp }));
    try {
      await ask("POST", "/timeseries/data", { items: namesOf(writer).map((name) => ({ name, datapoints })) });
      acknowledged[writer]!.add(request);
    } catch (error) {
      assert.ok(error instanceof TypeError, `a write was refused: ${String(error)}`);
      return;
    }
  }
}

/**
 * Each request of the writer is there in all of its series or in none, and each acknowledged one is there.
 */
async function checkWriter(writer: number, firstNew: number): Promise<void> {
  const items = namesOf(writer).map((name) => ({ name, limit: 100_000 }));
  const answer = await ask("POST", "/timeseries/dataquery", { items, start: firstNew * pointsPerSeries });
  const found = (answer as { data: { items: { datapoints: { timestamp: number; value: number }[] }[] } }).data
    .items;
  const present = new Set(found[0]!.datapoints.map((point) => Math.floor(point.timestamp / pointsPerSeries)));
  const lost = [...acknowledged[writer]!].filter((request) => request >= firstNew && !present.has(request));
  assert.deepEqual(lost, [], `acknowledged requests of writer ${writer} are gone`);
  const expected = [...present].sort((a, b) => a - b).flatMap(stampsOf);
  for (const { datapoints } of found) {
    assert.deepEqual(
      datapoints.map((point) => point.timestamp),
      expected,
      "a request is half there",
    );
    assert.ok(datapoints.every((point) => point.value === point.timestamp));
  }
}

after(kill);

it(`${rounds} times kill -9 during writes`, { timeout: 3_600_000 }, async (t) => {
  await start();
  const all = Array.from({ length: writers }, (_, writer) => writer);
  await ask("POST", "/timeseries", { items: all.flatMap(namesOf).map((name) => ({ name })) });
  let slowestMs = 0;
  for (let round = 0; round < rounds; round++) {
    const before = [...sent];
    const writing = all.map(writeUntilKilled);
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 400));
    await kill();
    await Promise.all(writing);
    slowestMs = Math.max(slowestMs, await start());
    await Promise.all(all.map((writer) => checkWriter(writer, before[writer]!)));
  }
  await Promise.all(all.map((writer) => checkWriter(writer, 0)));
  const count = acknowledged.reduce((sum, one) => sum + one.size, 0);
  t.diagnostic(`${count} acknowledged requests; slowest start ${Math.round(slowestMs)} ms`);
});
