// Statements when one of several hosts refuses, hangs, is busy or has a full disk.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, test } from "node:test";
import { freePort } from "../../../test/support/free-port.ts";
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { ClickHouseClient } from "./client.ts";
import type { ClickHouseHost } from "./location.ts";
import { sql } from "./sql.ts";

const servers: Server[] = [];
const clients: ClickHouseClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Behaviour = "ok" | "hangs" | { readonly refusal: string };

interface FakeHost extends ClickHouseHost {
  behaviour: Behaviour;
  statements: number;
}

/** A host whose responses a test chooses. */
async function fakeHost(behaviour: Behaviour): Promise<FakeHost> {
  const server = createServer((request, response) => {
    if (request.url !== "/ping") host.statements++;
    if (host.behaviour === "hangs") return;
    const { refusal = undefined } = host.behaviour === "ok" ? {} : host.behaviour;
    request.resume();
    response.writeHead(refusal === undefined || request.url === "/ping" ? 200 : 500).end(refusal ?? "");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host: FakeHost = { host: "127.0.0.1", port, behaviour, statements: 0 };
  return host;
}

const refusing = async (): Promise<ClickHouseHost> => ({ host: "127.0.0.1", port: await freePort() });

function clientOf(first: ClickHouseHost, ...others: readonly ClickHouseHost[]): ClickHouseClient {
  const client = new ClickHouseClient({ hosts: [first, ...others], user: "u", password: "", database: "d" });
  clients.push(client);
  return client;
}

const run = (client: ClickHouseClient) => client.execute(sql`SELECT 1`);

const away = (problem: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure && error.failure === "points-away", String(error));
  assert.match(error.message, problem);
  return true;
};

test("of many statements at the same time, none fails while one of three hosts responds", async () => {
  const good = await fakeHost("ok");
  const client = clientOf(await refusing(), await refusing(), good);
  await Promise.all(Array.from({ length: 48 }, () => run(client)));
  assert.equal(good.statements, 48);
});

test("a statement at hosts that hang continues at another one; later ones go there at once", async () => {
  const [first, second, good] = [await fakeHost("hangs"), await fakeHost("hangs"), await fakeHost("ok")];
  const client = clientOf(first, second, good);
  const startMs = performance.now();
  await run(client);
  const seconds = (performance.now() - startMs) / 1000;
  assert.ok(seconds < limits.clickHouseMsMax / 2000, `${seconds} s`);
  assert.deepEqual([first.statements, second.statements, good.statements], [1, 0, 1]);
  await run(client);
  assert.deepEqual([first.statements, second.statements, good.statements], [1, 0, 2]);
});

for (const problem of [
  "Code: 225, e.displayText() = DB::Exception: ZooKeeper session has been expired.",
  "Code: 286, e.displayText() = another insert",
])
  test(`a busy replica is tried again although the other one is away: ${problem.slice(0, 9)}`, async () => {
    const busy = await fakeHost({ refusal: problem });
    const client = clientOf(await refusing(), busy);
    setTimeout(() => {
      busy.behaviour = "ok";
    }, 500);
    await run(client);
  });

for (const refusal of [
  "Code: 243, e.displayText() = DB::Exception: Cannot reserve 1.00 MiB, not enough space",
  "Poco::Exception. Code: 1000, e.code() = 0, e.displayText() = Cannot write file: /log",
  "Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file, No space left on device",
])
  test(`a full disk is no error of the server: ${refusal.slice(0, 9)}`, async () => {
    const full = await fakeHost({ refusal });
    await assert.rejects(run(clientOf(full)), away(/its disk is full/));
    const good = await fakeHost("ok");
    await run(clientOf(full, good));
    assert.equal(good.statements, 1);
  });
