// Many clients of one key that read without a pause: requests of other keys, and writes, pass them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { after, before, test } from "node:test";
import { idsOf, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

const pointCount = 100_000;
const readers = 24;
const rounds = 15;

let server: TestServer;
let greedyKey: string;
const agent = new Agent({ keepAlive: true });

before(async () => {
  server = await startTestServer(withFront);
  await server.ask("POST /timeseries", { items: [{ name: "read" }, { name: "written" }] });
  const items = Array.from({ length: pointCount }, (_, at) => ({ timestamp: at * 1_000, value: at / 8 }));
  await server.ask("POST /timeseries/data/read", { items });
  const groups = idsOf(await server.ask("GET /groups?all=true"));
  const [userId] = idsOf(await server.ask("POST /users", { items: [{ uniqueName: "greedy", groups }] }));
  const { items: keys } = await server.ask("POST /apikeys", { items: [{ userId }] });
  greedyKey = keys[0]!["value"] as string;
});
after(async () => {
  agent.destroy();
  await server.close();
});

const address = (path: string) => `${server.baseUrl}/api/0.5/projects/${server.project}${path}`;

/** Reads without a pause until `isOver`; calls `onRead` after each response. */
async function readAgainAndAgain(isOver: () => boolean, onRead: () => void): Promise<void> {
  while (!isOver()) {
    const path = address(`/timeseries/data/read?limit=${pointCount}`);
    const [response] = await once(get(path, { agent, headers: { "api-key": greedyKey } }), "response");
    assert.equal(response.statusCode, 200);
    await once(response.resume(), "end");
    onRead();
  }
}

/** How many responses the readers get during each request, in ascending order. */
async function readsDuring(request: (round: number) => Promise<unknown>): Promise<number[]> {
  let [reads, isOver] = [0, false];
  const reading = Array.from({ length: readers }, () =>
    readAgainAndAgain(
      () => isOver,
      () => (reads += 1),
    ),
  );
  while (reads < readers) await new Promise((resolve) => setTimeout(resolve, 10));
  const during: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = reads;
    await request(round);
    during.push(reads - before);
  }
  isOver = true;
  await Promise.all(reading);
  return during.sort((a, b) => a - b);
}

const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)]!;

test("a write passes the reads of 24 clients", async () => {
  const during = await readsDuring((round) =>
    server.ask("POST /timeseries/data/written", { items: [{ timestamp: round, value: round }] }),
  );
  assert.ok(median(during) <= readers / 4, `${during}`);
});

test("a small read of another key passes the reads of 24 clients", async () => {
  const during = await readsDuring(() => server.ask("GET /timeseries/latest/written"));
  assert.ok(median(during) <= readers / 4, `${during}`);
});

test("the metrics show that the reads wait for their turns, and not for good", async () => {
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(metrics)?.[1]);
  assert.ok(metric("millrace_read_turns_waited_total") > 0);
  assert.ok(metric("millrace_read_turns_wait_seconds_total") > 0);
  assert.equal(metric("millrace_read_turns_waiting"), 0);
});
