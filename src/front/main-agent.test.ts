// Front threads reach a main thread that cannot accept their connections at once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { MainAgent } from "./main-agent.ts";

const socketPath = join(temporaryFolder(), "socket");
const server = createServer((incoming, response) => response.end(incoming.url));
before(() => once(server.listen({ path: socketPath, backlog: 1 }), "listening"));
after(() => server.close());

async function ask(agent: MainAgent, path: string): Promise<string> {
  const outgoing = request({ agent, path }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return await text(response);
}

test("requests wait while the queue of the socket is full", async () => {
  const agent = new MainAgent(socketPath, { keepAlive: true });
  // All connect before the server accepts one.
  const paths = Array.from({ length: 30 }, (_, at) => `/${at}`);
  assert.deepEqual(await Promise.all(paths.map((path) => ask(agent, path))), paths);
  agent.destroy();
});

test("a request fails at once without a server", async () => {
  const agent = new MainAgent(`${socketPath}-of-none`, {});
  await assert.rejects(ask(agent, "/"), { code: "ENOENT" });
  agent.destroy();
});
