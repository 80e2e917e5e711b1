// The warm-up of a server with a front thread: the calls of that thread come first.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request as send } from "node:http";
import { mock, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { temporaryFolder } from "../../test/support/folder.ts";
import { openApp } from "../app.ts";
import { readSettings } from "../config.ts";
import { realSystem } from "../lib/system.ts";

const key = "key-0123456789abcdef0123456789abcdef0123456789";
const settings = {
  ...{ MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: "0", MILLRACE_ADMIN_KEY: key },
  MILLRACE_FRONT_THREADS: "1",
} as const;
/** In so long, a warm-up that is not paused sends at least one request. */
const pausedMs = 400;
const oneConnection = () => new Agent({ keepAlive: true, maxSockets: 1 });

/** A request to the default project. Without a body, the caller ends it. */
function request(address: string, line: string, { body, agent = oneConnection() }: Sent = {}): ClientRequest {
  const [method, path] = line.split(" ");
  const headers = { "api-key": key, "content-type": "application/json" };
  const outgoing = send(`${address}/api/0.5/projects/default${path}`, { method: method!, headers, agent });
  return body === undefined ? outgoing : outgoing.end(body);
}

interface Sent {
  readonly body?: string;
  readonly agent?: Agent;
}

async function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
  assert.equal(response.statusCode, 200);
  return response;
}

/** The first digits of the id that a thread gives a request. */
const threadOf = ({ headers }: IncomingMessage): string => String(headers["x-request-id"]).slice(0, 13);

const onLinux = { skip: process.platform !== "linux" && "threads cannot share a port" };

test("it pauses while a front thread waits for a write of the main thread", onLinux, async () => {
  const folder = temporaryFolder();
  const own = readSettings({ ...settings, MILLRACE_DATA: folder }, folder);
  const app = await openApp(own, realSystem, pino({ level: "silent" }));
  await using _ = { [Symbol.asyncDispose]: () => app.close() };
  const { points } = app.services;
  const warmUpReads = mock.method(app.installation.stores.points, "aggregate").mock;

  const { address } = await app.listen({ warmsUp: true });
  // An open request to the main thread pauses the warm-up until the front thread serves.
  const open = request(address, "POST /assets");
  open.flushHeaders();
  await app.frontStarted;
  await responseTo(request(address, "POST /timeseries", { body: '{"items":[{"name":"pump"}]}' }));
  const main = threadOf(await responseTo(request(address, "GET /assets", { body: "" })));
  const agent = await connectionBeside(main, address);

  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const append = points.append.bind(points);
  mock.method(points, "append", async (...batch: Parameters<typeof append>) => {
    held.resolve();
    await release.promise;
    return append(...batch);
  });
  const body = '{"items":[{"timestamp":1000,"value":1}]}';
  const written = responseTo(request(address, "POST /timeseries/data/pump", { body, agent }));
  await held.promise;
  await responseTo(open.end('{"items":[{"name":"pump"}]}'));
  const before = warmUpReads.callCount();
  await pause(pausedMs);
  const after = warmUpReads.callCount();
  release.resolve();
  assert.notEqual(threadOf(await written), main);
  assert.equal(after, before);
  while (warmUpReads.callCount() === before) await pause(5);
});

/** A connection to another thread than this one. */
async function connectionBeside(thread: string, address: string): Promise<Agent> {
  for (;;) {
    const agent = oneConnection();
    const response = await responseTo(request(address, "GET /timeseries/latest/pump", { body: "", agent }));
    // A thread with too many connections ends this one.
    if (threadOf(response) !== thread && response.headers.connection !== "close") return agent;
    agent.destroy();
  }
}
