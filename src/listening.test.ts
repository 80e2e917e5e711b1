// A server shares its port with its own threads, and with no other server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import fastify from "fastify";
import { freePort } from "../test/support/free-port.ts";
import { listenAt, listenTogether } from "./listening.ts";

const canShare = process.platform === "linux";
const shared = { isShared: true };

/** Listens as a server with front threads does; the result is that of the start. */
async function start(host: string, port: number) {
  const http = fastify({ forceCloseConnections: true });
  const [result] = await Promise.allSettled([listenAt(http, { host, port }, shared)]);
  return { http, result, [Symbol.asyncDispose]: () => http.close() };
}

test("a start waits while another server is about to listen at the port", { skip: !canShare }, async () => {
  const port = await freePort();
  const other = createServer().listen(`\0millrace-port-${port}`);
  await once(other, "listening");
  let isHeld = true;
  const starting = start("127.0.0.1", port).then((first) => ({ first, wasHeld: isHeld }));
  await pause(100);
  isHeld = false;
  other.close();
  const { first, wasHeld } = await starting;
  assert.deepEqual([first.result.status, wasHeld], ["fulfilled", false]);
  await first.http.close();
});

test("a server that starts while another one begins to listen is refused", { skip: !canShare }, async () => {
  const port = await freePort();
  // Between its plain attempt and the shared one: Fastify calls the hook before it listens.
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = fastify({ forceCloseConnections: true });
  slow.addHook("onReady", async () => {
    begun.resolve();
    await goOn.promise;
  });
  const listening = listenAt(slow, { host: "127.0.0.1", port }, shared);
  await begun.promise;
  const starting = start("127.0.0.1", port);
  await pause(100);
  goOn.resolve();
  await listening;
  await using second = await starting;
  assert.ok(second.result.status === "rejected");
  assert.match(String(second.result.reason), /another program has this port/);
  await slow.close();
});

test("a second server is refused at every name of the address", { skip: !canShare }, async () => {
  const port = await freePort();
  await using first = await start("127.0.0.1", port);
  assert.equal(first.result.status, "fulfilled");
  for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "::"]) {
    await using second = await start(host, port);
    assert.equal(second.result.status, "rejected", host);
  }
  await assert.rejects(
    listenAt(fastify(), { host: "127.0.0.1", port }, { isShared: false }),
    /has this port/,
  );
});

test("a program that has the port keeps it alone", { skip: !canShare }, async () => {
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  await using second = await start("127.0.0.1", port);
  assert.equal(second.result.status, "rejected");
  other.close();
});

test("threads listen at the address that the first one has got", { skip: !canShare }, async () => {
  await using first = await start("localhost", 0);
  assert.equal(first.result.status, "fulfilled");
  const http = fastify();
  assert.ok(first.result.status === "fulfilled" && first.result.value.shared);
  const { port } = new URL(await listenTogether(http, first.result.value.shared));
  assert.equal(port, new URL(first.result.value.address).port);
  await http.close();
});
