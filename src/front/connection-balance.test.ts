// Connections are spread over the threads that listen, and no request fails for it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ConnectionBalance, connectionCounts } from "./connection-balance.ts";

/** Servers whose clients choose one of them at random, as the system does with one port. */
async function twoServers() {
  const counts = connectionCounts(2);
  const servers = [0, 1].map((thread) => {
    const balance = new ConnectionBalance(counts, thread);
    const server = createServer((request, response) => {
      if (balance.shouldEnd(request)) response.setHeader("connection", "close");
      response.end(String(thread));
    });
    balance.count(server);
    return { server, balance };
  });
  for (const { server } of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  const ports = servers.map(({ server }) => (server.address() as AddressInfo).port);
  return { counts, servers, ports };
}

async function requestOver(agent: Agent, port: number) {
  const [response] = await once(get({ port, host: "127.0.0.1", agent }), "response");
  response.resume();
  await once(response, "end");
  return { isLast: response.headers.connection === "close" };
}

test("connections of before the second server are spread, and then stay", async () => {
  const { counts, servers, ports } = await twoServers();
  servers[0]!.balance.begin();
  const clients = Array.from({ length: 20 }, () => ({
    agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    port: ports[0]!,
  }));
  const round = async () => {
    let ended = 0;
    for (const client of clients)
      if ((await requestOver(client.agent, client.port)).isLast) {
        ended += 1;
        client.port = ports[Math.floor(Math.random() * 2)]!;
      }
    return ended;
  };
  assert.equal(await round(), 0, "one server alone ends no connection");
  assert.deepEqual([...counts.subarray(0, 1)], [20]);
  servers[1]!.balance.begin();
  let ended = 0;
  for (let rounds = 0; rounds < 30; rounds++) ended += await round();
  assert.ok(ended >= 8 && ended < 100, `${ended} connections were ended`);
  assert.ok(Math.abs(counts[0]! - counts[1]!) <= 3, `${counts} connections`);
  assert.equal(await round(), 0, "spread connections stay");
  servers[1]!.balance.end();
  assert.equal(await round(), 0, "a server that ends attracts none");
  for (const { agent } of clients) agent.destroy();
  for (const { server } of servers) server.close();
});
