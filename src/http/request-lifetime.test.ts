// The lifetime of requests whose client disconnects early: nothing of them may stay in memory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { ClientGone, RequestLifetime } from "./request-lifetime.ts";

const deadlines = { requestMs: 60_000, idleMs: 60_000, sendMs: 60_000 };

/** Runs `work` with the response of a request, and a function that disconnects its client. */
async function withRequest(
  work: (response: ServerResponse, disconnect: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  const disconnect = () => {
    const closed = once(response, "close");
    client.destroy();
    return closed;
  };
  try {
    await work(response, disconnect);
  } finally {
    client.destroy();
    server.close();
  }
}

const timers = () => process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;

test("a client that disconnects before the response leaves no timer", () =>
  withRequest(async (response, disconnect) => {
    const before = timers();
    const lifetime = new RequestLifetime(response, deadlines);
    assert.equal(timers(), before + 1);
    await disconnect();
    lifetime.sending();
    assert.equal(timers(), before);
    assert.ok(lifetime.signal.reason instanceof ClientGone);
  }));

test("a client that disconnected before its request had a lifetime ends it at once", () =>
  withRequest(async (response, disconnect) => {
    const before = timers();
    await disconnect();
    const lifetime = new RequestLifetime(response, deadlines);
    let released = 0;
    lifetime.atEnd(() => released++);
    assert.equal(released, 1);
    assert.equal(timers(), before);
    await assert.rejects(lifetime.within(new Promise(() => undefined)), ClientGone);
  }));

test("a response that the kernel has taken as a whole has no deadline", () =>
  withRequest(async (response) => {
    const before = timers();
    const lifetime = new RequestLifetime(response, deadlines);
    response.end("short");
    lifetime.sending();
    assert.notEqual(response.socket!.timeout, deadlines.idleMs);
    await once(response, "close");
    assert.equal(timers(), before);
    assert.equal(lifetime.signal.aborted, false);
  }));

test("a response that its client does not read has one", () =>
  withRequest(async (response, disconnect) => {
    const lifetime = new RequestLifetime(response, deadlines);
    response.end(Buffer.alloc(64 * 2 ** 20));
    lifetime.sending();
    assert.equal(response.socket!.timeout, deadlines.idleMs);
    await disconnect();
    assert.ok(lifetime.signal.reason instanceof ClientGone);
  }));
