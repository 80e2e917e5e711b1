// The benchmark client reads whole responses from any chunks, and the generated data is reproducible.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { generateSeries } from "./generate.ts";
import { Connection, requestBytes } from "./http.ts";

test("responses by length, in chunks and without a body follow each other on one connection", async () => {
  const large = "x".repeat(300_000);
  const server = createServer((request, response) => {
    if (request.url === "/empty") return response.writeHead(204).end();
    if (request.url === "/length") return response.end(large);
    for (const part of ["one ", "two ", large]) response.write(part);
    return response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connection = await Connection.open((server.address() as AddressInfo).port);
  const get = async (path: string) => {
    const { status, body } = await connection.send(requestBytes({ method: "GET", path }));
    return [status, body.toString()];
  };
  try {
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await get("/chunks"), [200, `one two ${large}`]);
      assert.deepEqual(await get("/empty"), [204, ""]);
      assert.deepEqual(await get("/length"), [200, large]);
    }
  } finally {
    connection.close();
    server.close();
  }
});

test("a request follows on a new socket after the server has closed the idle one", async () => {
  const server = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connection = await Connection.open((server.address() as AddressInfo).port);
  const send = () => connection.send(requestBytes({ method: "GET", path: "/" }));
  try {
    assert.equal((await send()).status, 200);
    server.closeAllConnections();
    // Requests fail until the closing has arrived, or are served by a new socket.
    for (;;) {
      const isServed = await send().then(
        () => true,
        () => false,
      );
      if (isServed) break;
    }
    assert.equal((await send()).status, 200);
  } finally {
    connection.close();
    server.close();
  }
});

test("the same seed makes the same data, in ascending times", () => {
  const [first, again] = [generateSeries(3, 1000, 7), generateSeries(3, 1000, 7)];
  assert.deepEqual(first, again);
  assert.notDeepEqual(first, generateSeries(3, 1000, 8));
  for (const { times } of first) assert.ok(times.every((time, i) => i === 0 || time > (times[i - 1] ?? 0)));
});
