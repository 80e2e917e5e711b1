// A key ends with the credential that created it: no later, and revoked with it, through all keys in
// between.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { client, startProvider, type TestProvider } from "../../../test/support/provider.ts";
import { idsOf, startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { byUrlName } from "../projects/projects.ts";

let nowMs: number;
let provider: TestProvider;
let server: TestServer;
before(async () => {
  nowMs = Date.now(); // The provider's clock is the real one. Files of one process load long before they run.
  provider = await startProvider();
  server = await startTestServer({ system: { ...realSystem, nowMs: () => nowMs } });
});
after(async () => {
  await server.close();
  await provider.close();
});

type AskAs = (methodAndPath: string, body?: unknown) => Promise<TestResponse>;
const all = { all: {} };
const list = (...items: unknown[]) => ({ items });
const makesKeys = [
  { apikeysAcl: { actions: ["LIST", "CREATE", "DELETE"], scope: all } },
  { assetsAcl: { actions: ["READ"], scope: all } },
];

let count = 0;
async function newAccount(): Promise<number> {
  const [group] = idsOf(await server.ask("POST /groups", list({ name: "makers", capabilities: makesKeys })));
  const user = { uniqueName: `maker ${++count}`, groups: [group] };
  return idsOf(await server.ask("POST /users", list(user)))[0]!;
}

const asking =
  (key: string): AskAs =>
  (methodAndPath, body) =>
    server.ask(methodAndPath, body, { "api-key": key });

/** A key of the account made by `ask`. */
async function keyBy(ask: AskAs, userId: number, more: object = {}) {
  const { status, items, text } = await ask("POST /apikeys", list({ userId, ...more }));
  assert.equal(status, 200, text);
  const { value, id, expiresTime } = items[0] as { value: string; id: number; expiresTime?: number };
  return { id, expiresTime, ask: asking(value) };
}

const statusOf = async (ask: AskAs) => (await ask("GET /assets")).status;
const admin: AskAs = (methodAndPath, body) => server.ask(methodAndPath, body);

test("a key that expires makes keys that expire no later, in a chain", async () => {
  const userId = await newAccount();
  const expiresTime = nowMs + 60_000;
  const first = await keyBy(admin, userId, { expiresTime });
  const second = await keyBy(first.ask, userId);
  const third = await keyBy(second.ask, userId, { expiresTime: expiresTime - 1 });
  assert.deepEqual([second.expiresTime, third.expiresTime], [expiresTime, expiresTime - 1]);
  for (const { ask, end } of [
    { ask: first.ask, end: expiresTime },
    { ask: second.ask, end: expiresTime },
    { ask: third.ask, end: expiresTime - 1 },
  ]) {
    const response = await ask("POST /apikeys", list({ userId }, { userId, expiresTime: end + 1 }));
    assert.equal(response.status, 400);
    const expected = `expected a time up to ${end}, when your own credential ends, but got ${end + 1}`;
    assert.equal(response.error!.message, `Invalid field - items[1].expiresTime - ${expected}`);
  }
  assert.equal((await admin(`GET /apikeys?userId=${userId}`)).items.length, 3);
  nowMs = expiresTime;
  for (const { ask } of [first, second, third]) assert.equal(await statusOf(ask), 401);
  const lasting = await keyBy(admin, userId);
  assert.equal(lasting.expiresTime, undefined);
});

test("a key is revoked with the one that made it, and with every key before", async () => {
  const userId = await newAccount();
  const first = await keyBy(admin, userId);
  const second = await keyBy(first.ask, userId);
  const third = await keyBy(second.ask, userId);
  const other = await keyBy(admin, userId);
  await server.restart();
  assert.equal((await admin("POST /apikeys/delete", list(second.id))).status, 200);
  const statuses = async () => Promise.all([first, second, third, other].map(({ ask }) => statusOf(ask)));
  assert.deepEqual(await statuses(), [200, 401, 401, 200]);
  const fourth = await keyBy(first.ask, userId);
  assert.equal((await first.ask("POST /apikeys/delete", list(first.id))).status, 200);
  assert.equal(await statusOf(fourth.ask), 401);
  assert.deepEqual(await statuses(), [401, 401, 401, 200]);
  const shown = (await admin(`GET /apikeys?userId=${userId}&includeDeleted=true`)).items;
  assert.deepEqual(
    shown.map((key) => key["status"]),
    ["DELETED", "DELETED", "DELETED", "ACTIVE", "DELETED"],
  );
});

test("deleting an account revokes the keys that its keys have made for others", async () => {
  const [userId, accomplice] = [await newAccount(), await newAccount()];
  const own = await keyBy(admin, userId);
  const hidden = await keyBy(own.ask, accomplice);
  const further = await keyBy(hidden.ask, accomplice);
  assert.equal((await admin("POST /users/delete", list(userId))).status, 200);
  for (const { ask } of [own, hidden, further]) assert.equal(await statusOf(ask), 401);
  assert.equal((await admin(`GET /users/${accomplice}`)).status, 200);
});

test("a key that is being used while it is revoked makes nothing that stays", async () => {
  const userId = await newAccount();
  for (let round = 0; round < 5; round += 1) {
    const maker = await keyBy(admin, userId);
    await statusOf(maker.ask);
    const [made] = await Promise.all([
      maker.ask("POST /apikeys", list({ userId })),
      admin("POST /apikeys/delete", list(maker.id)),
    ]);
    if (made.status === 200) assert.equal(await statusOf(asking(made.items[0]!["value"] as string)), 401);
    else assert.equal(made.status, 401);
  }
});

test("keys made with keys made with keys come to an end", async () => {
  const userId = await newAccount();
  let last = await keyBy(admin, userId);
  for (let made = 2; made <= limits.keyChainMax; made += 1) last = await keyBy(last.ask, userId);
  const { status, error } = await last.ask("POST /apikeys", list({ userId }));
  const most = `A chain of keys that create each other has at most ${limits.keyChainMax} keys`;
  const message = `${most}; use an earlier key`;
  assert.deepEqual([status, error!.message], [400, message]);
});

test("a key made with a token ends with the token, and with the provider", async () => {
  const setProvider = async (issuer: string) => {
    const authentication = { openIdConfiguration: { issuer, audiences: [client.id] } };
    const { status, text } = await admin("PUT /", list({ name: "demo", authentication }));
    assert.equal(status, 200, text);
    nowMs += limits.keyCacheMsMax;
  };
  await setProvider(provider.issuer);
  const group = { name: "people", sourceId: "engineers", capabilities: makesKeys };
  await admin("POST /groups", list(group));
  const userId = await newAccount();
  const exp = Math.floor(nowMs / 1000) + 600;
  const authorization = `Bearer ${await provider.token({ exp })}`;
  const ask: AskAs = (methodAndPath, body) =>
    server.ask(methodAndPath, body, { "api-key": undefined, authorization });
  const first = await keyBy(ask, userId);
  const second = await keyBy(first.ask, userId);
  assert.deepEqual([first.expiresTime, second.expiresTime], [exp * 1000, exp * 1000]);
  assert.equal((await ask("POST /apikeys", list({ userId, expiresTime: exp * 1000 + 1 }))).status, 400);
  await setProvider(provider.issuer);
  assert.equal(await statusOf(first.ask), 200);
  await setProvider("https://another.example");
  for (const key of [first, second]) assert.equal(await statusOf(key.ask), 401);
});

test("the operator's keys end on revocation: keys of a changed setting keep working", async () => {
  const { keys, catalog } = server.app.services;
  const project = (await catalog.read("system", (tx) => byUrlName(tx, "demo")))!;
  const operator = await keys.create(project, "by the operator");
  const userId = await newAccount();
  const made = await keyBy(asking(operator.key), userId);
  assert.deepEqual(await keys.revoke(operator.id), [operator.id, made.id]);
  assert.equal(await statusOf(made.ask), 401);
  assert.deepEqual(await keys.revoke(operator.id), []);

  await keys.ensure(project, "setting", "the first choice");
  const gateway = await keyBy(asking("the first choice"), userId);
  await keys.ensure(project, "setting", "the second choice");
  assert.equal(await statusOf(asking("the first choice")), 401);
  assert.equal(await statusOf(gateway.ask), 200);
  const set = (await keys.list(project)).find(({ name }) => name === "setting")!;
  await keys.revoke(set.id);
  assert.equal(await statusOf(gateway.ask), 401);
});

test("the last key of an administrator stays, also when it was made with the one that goes", async () => {
  const [own] = idsOf(await admin("GET /apikeys"));
  const [userId] = idsOf(await admin("GET /users"));
  const spare = await keyBy(admin, userId!);
  assert.equal((await admin("POST /apikeys/delete", list(own))).status, 400);
  assert.equal(await statusOf(spare.ask), 200);
  assert.equal(await statusOf(admin), 200);
});

test("an end beyond all dates is refused and no list of keys is broken by it", async () => {
  const userId = await newAccount();
  for (const expiresTime of [2 ** 53, 1e300, limits.keyEndMsMax + 1]) {
    const { status, error } = await admin("POST /apikeys", list({ userId, expiresTime }));
    const range = `expected a value <= ${limits.keyEndMsMax} but got ${JSON.stringify(expiresTime)}`;
    assert.deepEqual([status, error!.message], [400, `Invalid field - items[0].expiresTime - ${range}`]);
  }
  const latest = await keyBy(admin, userId, { expiresTime: limits.keyEndMsMax });
  assert.equal(latest.expiresTime, limits.keyEndMsMax);
  assert.equal((await admin("GET /apikeys?all=true")).status, 200);
});

test("a download link ends with the key that requested it", async () => {
  const { json } = await admin("POST /files/initupload", { fileName: "manual" });
  const { fileId, uploadURL } = (json as { data: { fileId: number; uploadURL: string } }).data;
  assert.equal((await fetch(uploadURL, { method: "PUT", body: "text" })).status, 200);
  const [userId] = idsOf(await admin("GET /users"));
  const { ask } = await keyBy(admin, userId!, { expiresTime: nowMs + 1_000 });
  const linkBy = async (who: AskAs) => {
    const { text } = await who(`GET /files/${fileId}/downloadlink`);
    return /https?:[^"]+/.exec(text)![0];
  };
  const links = [await linkBy(ask), await linkBy(admin)];
  const statuses = () => Promise.all(links.map(async (link) => (await fetch(link)).status));
  assert.deepEqual(await statuses(), [200, 200]);
  nowMs += 1_001;
  const [ended, other] = await statuses();
  assert.ok(ended! >= 400, `${ended}`);
  assert.equal(other, 200);
});
