// Webhooks of transformations over the API, with a receiver that verifies the signatures.
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Item, startTestServer, type TestServer } from "../../../../test/support/server.ts";
import { Transformations } from "../../../../test/support/transformations.ts";
import { realSystem } from "../../../lib/system.ts";
import { limits } from "../../../limits.ts";
import { allProjects } from "../../projects/projects.ts";
import { transformationTable } from "../schema.ts";

const key = randomBytes(32);
const secret = `whsec_${key.toString("base64")}`;
const start = Date.now();
let passedMs = 0;
const system = { ...realSystem, nowMs: () => start + passedMs };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly connection: Socket;
  readonly receivedMs: number;
}
let receiver: Server;
let url = "";
let received: Received[] = [];
/** The response to the next message, and to all later ones. */
let status = 204;
let server: TestServer;
let saved: Transformations;

before(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    received.push({
      ...{ headers: request.headers, body: Buffer.concat(chunks).toString() },
      ...{ connection: request.socket, receivedMs: performance.now() },
    });
    if (status === 0) return; // Never responds.
    const location = status === 302 ? { location: `${url}/moved` } : {};
    response.writeHead(status, location).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  server = await startTestServer({ system });
  saved = new Transformations(server);
});
after(async () => {
  await server.close();
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  received = [];
  status = 204;
});

const failing = "SELECT 'pump' AS externalId, 'no time' AS startTime, 'x' AS noColumn";
const refused = "SELECT 'a' AS externalId, 'no time' AS startTime UNION ALL SELECT 'b', 5";

let made = 0;
async function save(query: string, more: object = {}, webhook: object = {}): Promise<number> {
  made += 1;
  return saved.save(`told ${made}`, query, {
    ...{ destination: { type: "events" }, webhook: { url, secret, ...webhook } },
    ...more,
  });
}

/** The delivery of a run once it has this many attempts that have ended. */
async function delivery(id: number, run: Item, attempts: number): Promise<Item> {
  for (;;) {
    const [now] = (await saved.ask(`GET /transformations/${id}/runs/${run["id"]}`)).items;
    const found = now!["delivery"] as Item;
    const isEnded = found["problem"] !== undefined || found["state"] === "DELIVERED";
    if (found["attempts"] === attempts && isEnded) return found;
    await pause(20);
  }
}

const json = ({ body }: Received) => JSON.parse(body) as Readonly<Record<string, unknown>>;

test("a failed run sends a message with a signature over id, time and body", async () => {
  const id = await save(failing);
  const run = await saved.run(id);
  assert.equal(run["status"], "FAILED");
  const { state, attempts, lastTime, nextTime } = await delivery(id, run, 1);
  assert.deepEqual([state, attempts, nextTime], ["DELIVERED", 1, undefined]);
  assert.equal(lastTime, system.nowMs());
  const [one] = received;
  const { "webhook-id": name, "webhook-timestamp": seconds, "webhook-signature": signature } = one!.headers;
  assert.equal(name, `run_${run["id"]}`);
  assert.equal(seconds, String(Math.floor(system.nowMs() / 1000)));
  const mac = createHmac("sha256", key).update(`${name}.${seconds}.${one!.body}`).digest("base64");
  assert.equal(signature, `v1,${mac}`);
  const { type, data } = json(one!) as { type: string; data: Record<string, Item> };
  assert.equal(type, "transformation.run.failed");
  assert.equal(data["project"], server.project);
  assert.equal(data["transformation"]!["externalId"], `told ${made}`);
  assert.deepEqual([data["run"]!["id"], data["run"]!["status"]], [run["id"], "FAILED"]);
  assert.match(String(data["run"]!["problem"]), /noColumn/);
  await pause(3_000);
  assert.equal(received.length, 1, "a received message is not sent again");
});

test("a successful run sends nothing; refusals are told only if that is wanted", async () => {
  const skip = { onError: "skip" };
  const silent = await saved.run(await save(refused, skip));
  assert.equal(silent["status"], "COMPLETED_WITH_REFUSALS");
  assert.equal(silent["delivery"], undefined);
  const good = await saved.run(await save("SELECT 'c' AS externalId", {}, { onRefusals: true }));
  assert.deepEqual([good["status"], good["delivery"]], ["COMPLETED", undefined]);
  const id = await save(refused, skip, { onRefusals: true });
  const run = await saved.run(id);
  assert.equal((await delivery(id, run, 1))["state"], "DELIVERED");
  assert.equal(received.length, 1);
  const { type, data } = json(received[0]!) as { type: string; data: { run: Item } };
  assert.equal(type, "transformation.run.refused");
  const [error] = data.run["errors"] as readonly Item[];
  assert.deepEqual([error!["row"], error!["key"], error!["column"]], [1, "a", "startTime"]);
});

test("no response has the secret, and the catalog has it encrypted", async () => {
  const id = await save("SELECT 1 AS externalId");
  const response = await saved.ask(`GET /transformations/${id}`);
  assert.deepEqual(response.items[0]!["webhook"], { url, onRefusals: false });
  assert.ok(!response.text.includes("whsec") && !response.text.includes("ncrypted"));
  const { catalog } = server.app.services;
  const [project] = await catalog.read("system", allProjects);
  const [stored] = await catalog.read(project!.id, (tx) => tx.get(transformationTable, [id]));
  assert.ok(!JSON.stringify(stored).includes(key.toString("base64")));
  assert.ok(!Buffer.from(stored!.webhook!.encryptedSecret, "base64url").includes(key));
});

test("a refused message is tried again with growing delays, over a restart, and then given up", async () => {
  status = 500;
  const id = await save(failing);
  const run = await saved.run(id);
  const delays: number[] = [];
  for (let attempt = 1; attempt < 8; attempt += 1) {
    const { state, problem, nextTime, lastTime } = await delivery(id, run, attempt);
    assert.deepEqual([state, problem], ["PENDING", "The receiver responded with 500"]);
    delays.push(((nextTime as number) - (lastTime as number)) / 1000);
    // Nothing is due while it stops, so no attempt is cut off.
    if (attempt === 3) await server.restart();
    passedMs += (nextTime as number) - (lastTime as number);
  }
  assert.deepEqual(delays, [10, 60, 360, 2_160, 12_960, 21_600, 21_600]);
  const last = await delivery(id, run, 8);
  assert.deepEqual([last["state"], last["nextTime"]], ["FAILED", undefined]);
  assert.equal(received.length, 8);
  assert.equal(new Set(received.map(({ headers }) => headers["webhook-id"])).size, 1, "one id for receivers");
  passedMs += 86_400_000;
  await pause(3_000);
  assert.equal(received.length, 8);
});

test("a redirect is not followed", async () => {
  status = 302;
  const id = await save(failing);
  const { problem } = await delivery(id, await saved.run(id), 1);
  assert.match(String(problem), /responds with a redirect$/);
  assert.equal(received.length, 1);
  // No further attempt disturbs the next tests.
  assert.equal((await saved.ask("POST /transformations/delete", { items: [id] })).status, 200);
});

test("a receiver that does not respond ends neither the server nor other messages", async () => {
  status = 0;
  const slow = await save(failing);
  const slowRun = await saved.run(slow);
  while (received.length < 1) await pause(20);
  const { connection, receivedMs } = received[0]!;
  const [waitedMs] = await Promise.all([
    once(connection, "close").then(() => performance.now() - receivedMs),
    server.restart(),
  ]);
  assert.ok(waitedMs < limits.webhookMsMax, "a stop does not wait for the receiver");
  status = 204;
  passedMs += 10_000;
  assert.equal((await delivery(slow, slowRun, 2))["state"], "DELIVERED");
});

test("a webhook that was removed sends nothing more", async () => {
  status = 500;
  const id = await save(failing);
  const run = await saved.run(id);
  await delivery(id, run, 1);
  const items = [{ id, webhook: { setNull: true } }];
  assert.equal((await saved.ask("POST /transformations/update", { items })).items[0]!["webhook"], undefined);
  passedMs += 10_000;
  const { state, problem } = await delivery(id, run, 1).then(async () => {
    for (;;) {
      const [now] = (await saved.ask(`GET /transformations/${id}/runs/${run["id"]}`)).items;
      const found = now!["delivery"] as Item;
      if (found["state"] === "FAILED") return found;
      await pause(20);
    }
  });
  assert.deepEqual([state, problem], ["FAILED", "The transformation has no webhook any more"]);
  assert.equal(received.length, 1);
});

test("unusable addresses and secrets are refused with field and reason, without the secret", async () => {
  const item = { externalId: "u", name: "u", query: "SELECT 1", destination: { type: "events" } };
  const refusal = async (webhook: object) => {
    const items = [{ ...item, action: "upsert", webhook }];
    const { status, error } = await saved.ask("POST /transformations", { items });
    assert.equal(status, 400, JSON.stringify(webhook));
    return error!.message;
  };
  for (const bad of ["ftp://a.example", "a.example", "https://user:word@a.example", "javascript:alert(1)"])
    assert.match(await refusal({ url: bad, secret }), /items\[0\]\.webhook\.url - expected an http or https/);
  for (const host of ["10.0.0.1", "[::1]", "169.254.169.254", "0xa000001", "[::ffff:10.0.0.1]"])
    assert.match(await refusal({ url: `https://${host}/`, secret }), /MILLRACE_OUTBOUND_NETWORKS/, host);
  for (const bad of [
    "short",
    "whsec_",
    "whsec_dG9vIHNob3J0",
    `whsec_${"a".repeat(200)}`,
    `whsec_${"é".repeat(40)}`,
  ]) {
    const message = await refusal({ url, secret: bad });
    assert.match(message, /items\[0\]\.webhook\.secret - expected whsec_ and the base64 of 24 to 64 bytes/);
    assert.ok(bad === "short" || bad === "whsec_" || !message.includes(bad.slice(6)), message);
  }
  assert.match(await refusal({ url }), /secret/);
});

test("a name that leads to a private address is not called", async () => {
  const strict = await startTestServer({ outboundNetworks: [] });
  try {
    const own = new Transformations(strict);
    const port = new URL(url).port;
    const id = await own.save("told", failing, {
      ...{ destination: { type: "events" }, webhook: { url: `http://localhost:${port}/`, secret } },
    });
    const run = await own.run(id);
    let found: Item | undefined;
    while (found?.["problem"] === undefined) {
      const [now] = (await own.ask(`GET /transformations/${id}/runs/${run["id"]}`)).items;
      found = now!["delivery"] as Item;
      await pause(50);
    }
    assert.match(String(found["problem"]), /localhost:\d+\/ cannot be reached within 10 s$/);
    assert.equal(received.length, 0);
  } finally {
    await strict.close();
  }
});
