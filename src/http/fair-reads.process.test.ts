// Many clients of one key that read without a pause: requests of other keys, and writes, pass them. The
// server is a process of its own, so that its threads do not wait for these clients.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { serveMillrace, withFront } from "../../test/support/process.ts";

const pointCount = 100_000;
const readers = 24;
const rounds = 15;
const key = "a-key-of-this-test-with-enough-letters";
const withoutFront = { MILLRACE_FRONT_THREADS: "0" };
const cases = { "without a front thread": withoutFront, "with a front thread": withFront };

function testReads(environment: Readonly<Record<string, string>>): void {
  const server = new ReadServer();

  before(() => server.start(environment));
  after(() => server.close());

  test("a write passes the reads", async () => {
    const during = await server.readsDuring((round) =>
      server.ask("POST", "/timeseries/data/written", [{ timestamp: round, value: round }]),
    );
    assert.ok(median(during) <= readers / 4, `${during}`);
  });

  test("a small read of another key passes the reads", async () => {
    const during = await server.readsDuring(() => server.ask("GET", "/timeseries/latest/written"));
    assert.ok(median(during) <= readers / 4, `${during}`);
  });

  test("the metrics show that the reads wait for their turns, and not for good", async () => {
    const metrics = await server.metrics();
    const metric = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(metrics)?.[1]);
    assert.ok(metric("millrace_read_turns_waited_total") > 0);
    assert.ok(metric("millrace_read_turns_wait_seconds_total") > 0);
    assert.equal(metric("millrace_read_turns_waiting"), 0);
  });
}

/** A server with a long series, "read", and a short one, "written". */
class ReadServer {
  readonly #agent = new Agent({ keepAlive: true });
  #server: Awaited<ReturnType<typeof serveMillrace>> | undefined;
  #greedyKey = "";

  async start(environment: Readonly<Record<string, string>>): Promise<void> {
    this.#server = await serveMillrace({ MILLRACE_ADMIN_KEY: key, ...environment }, temporaryFolder());
    await this.ask("POST", "/timeseries", [{ name: "read" }, { name: "written" }]);
    const points = Array.from({ length: pointCount }, (_, at) => ({ timestamp: at * 1_000, value: at / 8 }));
    await this.ask("POST", "/timeseries/data/read", points);
    const groups = (await this.ask("GET", "/groups?all=true")).map(({ id }) => id);
    const [user] = await this.ask("POST", "/users", [{ uniqueName: "greedy", groups }]);
    const [created] = await this.ask("POST", "/apikeys", [{ userId: user!["id"] }]);
    this.#greedyKey = created!["value"] as string;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server?.child.kill("SIGKILL");
    await this.#server?.ended;
  }

  async ask(method: "GET" | "POST", path: string, items?: readonly Record<string, unknown>[]) {
    const body = items && JSON.stringify({ items });
    const headers = { "api-key": key, "content-type": "application/json" };
    const response = await fetch(this.#address(path), { method, headers, ...(body && { body }) });
    const text = await response.text();
    assert.ok(response.ok, text);
    return (JSON.parse(text).data?.items ?? []) as Record<string, unknown>[];
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.#server!.baseUrl}/metrics`)).text();
  }

  /** How many responses the readers get during each request, in ascending order. */
  async readsDuring(request: (round: number) => Promise<unknown>): Promise<number[]> {
    let [reads, isOver] = [0, false];
    const reading = Promise.all(
      Array.from({ length: readers }, async () => {
        while (!isOver) {
          await this.#read();
          reads += 1;
        }
      }),
    );
    const measured = async () => {
      while (reads < readers && !isOver) await pause(10);
      const during: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const before = reads;
        await request(round);
        during.push(reads - before);
      }
      return during.sort((a, b) => a - b);
    };
    try {
      return await Promise.race([measured(), reading.then((): number[] => [])]);
    } finally {
      isOver = true;
      await reading;
    }
  }

  async #read(): Promise<void> {
    const headers = { "api-key": this.#greedyKey };
    const address = this.#address(`/timeseries/data/read?limit=${pointCount}`);
    const [response] = await once(get(address, { agent: this.#agent, headers }), "response");
    assert.equal(response.statusCode, 200);
    await once(response.resume(), "end");
  }

  #address(path: string): string {
    return `${this.#server!.baseUrl}/api/0.5/projects/default${path}`;
  }
}

const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)]!;

for (const [title, environment] of Object.entries(cases))
  describe(`${readers} clients that read, ${title}`, () => testReads(environment));
