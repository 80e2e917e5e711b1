// With front threads, each request gets the response that it gets without them, whatever thread receives it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, request as send } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Item, startTestServer, type TestServer } from "../../test/support/server.ts";
import { limits } from "../limits.ts";
import { routes } from "../resources.ts";
import { pathOf } from "../rest/route.ts";

let [fronted, plain]: TestServer[] = [];
before(async () => {
  [fronted, plain] = await Promise.all([
    startTestServer({ frontThreads: 2 }),
    startTestServer({ frontThreads: 0 }),
  ]);
});
after(() => Promise.all([fronted!.close(), plain!.close()]));

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isChunked?: boolean;
}

/** A client with one connection, so that one thread receives all of its requests. */
class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #server: TestServer;

  constructor(server: TestServer) {
    this.#server = server;
  }

  async send(path: string, { method, body, headers, isChunked = false }: Sent = {}): Promise<Response> {
    const { baseUrl, key, project } = this.#server;
    const url = path.startsWith("//")
      ? `${baseUrl}${path.slice(1)}`
      : `${baseUrl}/api/0.5/projects/${project}${path}`;
    // Node adds this header only for methods that usually have a body.
    const length = body !== undefined && !isChunked && { "content-length": Buffer.byteLength(body) };
    const outgoing = send(url, {
      agent: this.#agent,
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { "api-key": key, ...length, ...headers },
    });
    if (isChunked) outgoing.write(body);
    outgoing.end(isChunked ? undefined : body);
    const [incoming] = await once(outgoing, "response");
    let text = "";
    for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
    return { status: incoming.statusCode, headers: incoming.headers, text };
  }

  /** Sends the headers of a request with a body of this length, and no more. */
  async announce(path: string, length: number): Promise<number> {
    const { baseUrl, key, project } = this.#server;
    const outgoing = send(`${baseUrl}/api/0.5/projects/${project}${path}`, {
      agent: this.#agent,
      method: "POST",
      headers: { "api-key": key, "content-length": length },
    });
    outgoing.on("error", () => {}).flushHeaders();
    const [incoming] = await once(outgoing, "response", { signal: AbortSignal.timeout(10_000) });
    outgoing.destroy();
    return incoming.statusCode;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/**
 * Connections to all threads: by chance, one of 24 connections in three threads misses one in 17,000 runs.
 */
async function withConnections(work: (all: readonly Connection[]) => Promise<void>): Promise<void> {
  const all = Array.from({ length: 24 }, () => new Connection(fronted!));
  try {
    await work(all);
  } finally {
    for (const one of all) one.close();
  }
}

const createSeries = (...names: readonly string[]) =>
  fronted!.ask("POST /timeseries", { items: names.map((name) => ({ name })) });

const points = (timestamp: number, value: number) => JSON.stringify({ items: [{ timestamp, value }] });

test("all threads receive requests", () =>
  withConnections(async (all) => {
    await createSeries("received");
    const responses = await Promise.all(all.map((one) => one.send("/timeseries/latest/received")));
    const threads = new Set(responses.map(({ headers }) => String(headers["x-request-id"]).slice(0, 13)));
    assert.equal(threads.size, 3);
  }));

test("each path and method gets the same response", () =>
  withConnections(async (all) => {
    const [own, ...others] = [new Connection(plain!), ...all];
    const urls = new Set(
      routes.flatMap((route) => pathOf(route, route.versions[0]!).replaceAll(/\{\w+\}/g, "dataframe")),
    );
    const paths = [...urls, "/timeseries/data/a%2Fb", "/nothing", "/timeseries/data/a/b", "/timeseries/%"];
    let at = 0;
    const compared = ({ status, headers, text }: Response) => [
      status,
      text.replaceAll(/\d{10,}/g, "n"),
      ...["allow", "content-type", "vary", "retry-after"].map((name) => headers[name]),
    ];
    for (const path of paths)
      for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
        for (const key of ["wrong", undefined]) {
          const isRisky = key === undefined && method !== "GET";
          const sent = { method, ...(isRisky && { body: "[" }), ...(key && { headers: { "api-key": key } }) };
          const full = `/${path.replace("{project}", "demo")}`;
          const there = path.startsWith("/api/") ? full : path;
          const one = others[at++ % others.length]!;
          const [expected, got] = await Promise.all([own!.send(there, sent), one.send(there, sent)]);
          assert.deepEqual(compared(got), compared(expected), `${method} ${path}`);
        }
    own!.close();
  }));

test("a point is read by every connection as soon as its write resolves", () =>
  withConnections(async (all) => {
    const names = all.map((_, at) => `own writes ${at}`);
    await createSeries(...names);
    await Promise.all(
      all.map(async (writer, at) => {
        const path = encodeURIComponent(names[at]!);
        for (let round = 1; round <= 40; round++) {
          const written = await writer.send(`/timeseries/data/${path}`, {
            body: points(round * 1000, round),
          });
          assert.equal(written.status, 200, written.text);
          const reader = all[(at * 7 + round) % all.length]!;
          const [latest, raw, counted] = await Promise.all([
            reader.send(`/timeseries/latest/${path}`),
            reader.send(`/timeseries/data/${path}?limit=100`),
            reader.send(`/timeseries/data/${path}?aggregates=count&granularity=1d&end=100000`),
          ]);
          assert.deepEqual(JSON.parse(latest.text).data.items, [{ timestamp: round * 1000, value: round }]);
          assert.equal(JSON.parse(raw.text).data.items[0].datapoints.length, round);
          assert.equal(JSON.parse(counted.text).data.items[0].datapoints[0].count, round);
        }
      }),
    );
  }));

test("a deletion of points counts at once for every connection", () =>
  withConnections(async (all) => {
    await createSeries("emptied");
    for (let round = 0; round < 10; round++) {
      await all[round]!.send("/timeseries/data/emptied", { body: points(1000, round) });
      const before = await Promise.all(all.map((one) => one.send("/timeseries/latest/emptied")));
      for (const { text } of before)
        assert.deepEqual(JSON.parse(text).data.items, [{ timestamp: 1000, value: round }]);
      await fronted!.ask(
        "DELETE /timeseries/data/emptied/deleterange?timestampInclusiveBegin=0&timestampExclusiveEnd=5000",
      );
      const later = await Promise.all(all.map((one) => one.send("/timeseries/latest/emptied")));
      for (const { text } of later) assert.deepEqual(JSON.parse(text).data.items, []);
    }
  }));

test("a renamed or deleted series counts at once for every connection", () =>
  withConnections(async (all) => {
    const status = async (name: string) =>
      Promise.all(all.map(async (one) => (await one.send(`/timeseries/latest/${name}`)).status));
    await createSeries("first-name");
    const { items } = await fronted!.ask("GET /timeseries?limit=1000");
    const { id } = items.find(({ name }) => name === "first-name")!;
    for (const [from, to] of [
      ["first-name", "second-name"],
      ["second-name", "first-name"],
      ["first-name", "second-name"],
    ] as const) {
      assert.deepEqual(new Set(await status(from)), new Set([200]));
      const renamed = await fronted!.ask("POST /timeseries/update", { items: [{ id, name: { set: to } }] });
      assert.equal(renamed.status, 200, renamed.text);
      assert.deepEqual(new Set(await status(from)), new Set([404]));
      assert.deepEqual(new Set(await status(to)), new Set([200]));
    }
    await fronted!.ask("DELETE /timeseries/second-name");
    assert.deepEqual(new Set(await status("second-name")), new Set([404]));
    await createSeries("second-name");
    assert.deepEqual(new Set(await status("second-name")), new Set([200]));
  }));

test("a revoked key is refused at once by every connection", () =>
  withConnections(async (all) => {
    await createSeries("revoked");
    const read = { timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } };
    const group = await fronted!.ask("POST /groups", { items: [{ name: "readers", capabilities: [read] }] });
    const account = { uniqueName: "reader", groups: group.items.map(({ id }) => id) };
    const [{ id: userId }] = (await fronted!.ask("POST /users", { items: [account] })).items as [Item];
    for (let round = 0; round < 5; round++) {
      const made = await fronted!.ask("POST /apikeys", { items: [{ userId }] });
      const [{ id, value }] = made.items as unknown as [{ id: number; value: string }];
      const status = () =>
        Promise.all(
          all.map(
            async (one) =>
              (await one.send("/timeseries/latest/revoked", { headers: { "api-key": value } })).status,
          ),
        );
      assert.deepEqual(new Set(await status()), new Set([200]));
      await fronted!.ask("POST /apikeys/delete", { items: [id] });
      assert.deepEqual(new Set(await status()), new Set([401]));
    }
  }));

test("bodies that a front thread does not receive are written all the same", () =>
  withConnections(async (all) => {
    await createSeries("large", "sent in chunks", "compressed");
    const many = (count: number, from: number) =>
      JSON.stringify({
        items: Array.from({ length: count }, (_, at) => ({ timestamp: from + at, value: at + 0.125 })),
      });
    for (const [at, one] of all.entries()) {
      const from = at * 100_000;
      const large = await one.send("/timeseries/data/large", { body: many(90_000, from) });
      const chunked = await one.send("/timeseries/data/sent%20in%20chunks", {
        body: many(10, from),
        isChunked: true,
      });
      const body = gzipSync(many(1000, from));
      const headers = { "content-encoding": "gzip" };
      const compressed = await one.send("/timeseries/data/compressed", { body, headers });
      assert.deepEqual([large.status, chunked.status, compressed.status], [200, 200, 200], large.text);
    }
    const count = async (name: string) =>
      (
        await fronted!.ask(
          `GET /timeseries/data/${name}?aggregates=count&granularity=1d&start=0&end=86400000`,
        )
      ).items[0]!;
    const counts = await Promise.all(["large", "sent%20in%20chunks", "compressed"].map(count));
    const total = counts.map(({ datapoints }) => (datapoints as [{ count: number }])[0].count);
    assert.deepEqual(total, [90_000 * 24, 10 * 24, 1000 * 24]);
  }));

test("lines for series that do not exist are written by the main thread", () =>
  withConnections(async (all) => {
    const responses = await Promise.all(
      all.map((one, at) =>
        one.send("//influx/demo/write", { body: `line,at=${at} value=${at} 1000000000\n` }),
      ),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([204]));
    const again = await Promise.all(
      all.map((one, at) =>
        one.send("//influx/demo/write", { body: `line,at=${at} value=${at + 1} 2000000000\n` }),
      ),
    );
    assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([204]));
    const read = await Promise.all(all.map((one, at) => one.send(`/timeseries/data/line.at=${at}.value`)));
    for (const [at, { text }] of read.entries())
      assert.deepEqual(
        JSON.parse(text).data.items[0].datapoints.map(({ value }: { value: number }) => value),
        [at, at + 1],
      );
  }));

test("the audit log has the address of the client, not one that it claims", () =>
  withConnections(async (all) => {
    const headers = { "api-key": "mr_unknown", "x-forwarded-for": "203.0.113.9" };
    for (const one of all)
      assert.equal((await one.send("/timeseries/latest/large", { headers })).status, 401);
    const { items } = await fronted!.ask.v06("GET /audit?limit=1000");
    const refused = items.filter(({ result }) => result === "refused");
    assert.ok(refused.length >= all.length);
    assert.deepEqual(new Set(refused.map(({ address }) => address)), new Set(["127.0.0.1"]));
  }));

test("a connection serves its next request after a body that the main thread has refused", () =>
  withConnections(async (all) => {
    const large = { method: "PUT", body: Buffer.alloc(4 * 2 ** 20), headers: { "api-key": "mr_wrong" } };
    for (const one of all) {
      assert.equal((await one.send("/files", large)).status, 401);
      assert.equal((await one.send("//health/live")).status, 200);
    }
  }));

test("a body that is announced as too large is refused before it is sent", () =>
  withConnections(async (all) => {
    for (const one of all) {
      const status = await one.announce("/files/upload", limits.bulkBodyBytesMax + 1);
      assert.ok(status >= 400 && status < 500, `${status}`);
      assert.equal(await one.announce("/assets", limits.bulkBodyBytesMax + 1), 413);
    }
  }));

test("every thread refuses a head that is too long", async () => {
  const head = `GET /health/live HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(limits.headBytesMax)}\r\n\r\n`;
  const all = await Promise.all(Array.from({ length: 24 }, () => exchange(head)));
  for (const response of all) assert.match(response, /^HTTP\/1.1 431 /);
});

test("requests of HTTP/1.0 need no Host, as health checks of load balancers send them", async () => {
  for (let times = 0; times < 24; times++) {
    const response = await exchange("GET /health/live HTTP/1.0\r\n\r\n");
    assert.match(response, /^HTTP\/1.1 200 OK\r\n/);
  }
});

test("pipelined requests all get their responses", async () => {
  await createSeries("pipelined");
  const { key } = fronted!;
  const path = "/api/0.5/projects/demo/timeseries/latest/pipelined";
  const one = `GET ${path} HTTP/1.1\r\nHost: x\r\napi-key: ${key}\r\n`;
  const all = Array.from({ length: 24 }, () =>
    exchange(`${one}\r\n`.repeat(4) + `${one}Connection: close\r\n\r\n`),
  );
  for (const responses of await Promise.all(all)) assert.equal(responses.split("HTTP/1.1 200 OK").length, 6);
});

test("a request with a query that is as long as a head may be is forwarded", () =>
  withConnections(async (all) => {
    const query = "x".repeat(limits.headBytesMax - 600);
    for (const one of all) {
      const { status, text } = await one.send(`/assets?limit=1&cursor=&name=${query}`);
      assert.ok(status === 200 || status === 400, `${status} ${text}`);
    }
  }));

test("an address that failed too often may not present keys, and blocks no key in use", async () => {
  const server = await startTestServer({ frontThreads: 2, attemptsPerMinute: 5 });
  const connections = Array.from({ length: 24 }, () => new Connection(server));
  const statuses = (headers = {}) =>
    Promise.all(connections.map(async (one) => (await one.send("/timeseries/latest/a", { headers })).status));
  try {
    await server.ask("POST /timeseries", { items: [{ name: "a" }] });
    assert.deepEqual(new Set(await statuses()), new Set([200]));
    const refused = await statuses({ "api-key": "mr_guessed" });
    assert.ok(refused.includes(429), "too many failures");
    assert.deepEqual(new Set(await statuses()), new Set([200]), "the key in use is not blocked");
    assert.equal((await server.ask("GET /assets")).status, 200, "nor in the main thread");
    const unseen = await server.app.services.keys.create(await projectOf(server), "never presented");
    assert.deepEqual(new Set(await statuses({ "api-key": unseen.key })), new Set([429]));
  } finally {
    for (const one of connections) one.close();
    await server.close();
  }
});

async function projectOf({ app, key }: TestServer) {
  const caller = await app.services.keys.callerOf(key);
  return { id: caller!.projectId, urlName: caller!.projectUrlName };
}

/** All that the server sends until it closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(fronted!.baseUrl).port), "127.0.0.1");
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += chunk;
  return text;
}

test("metrics count the requests of all threads once", () =>
  withConnections(async (all) => {
    await createSeries("counted");
    const before = await countOf(all[0]!, "latest/:name");
    for (const one of all) await one.send("/timeseries/latest/counted");
    assert.equal((await countOf(all[0]!, "latest/:name")) - before, all.length);
    const assets = await countOf(all[0]!, 'projects/:project/assets"');
    for (const one of all) await one.send("/assets");
    assert.equal((await countOf(all[0]!, 'projects/:project/assets"')) - assets, all.length);
  }));

async function countOf(connection: Connection, route: string): Promise<number> {
  const { text } = await connection.send("//metrics");
  const lines = text.split("\n").filter((line) => line.startsWith("millrace_http_request_seconds_count"));
  const found = lines.filter(
    (line) => line.includes(route) && line.includes('method="GET"') && line.includes('"200"'),
  );
  return found.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
