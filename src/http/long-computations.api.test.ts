// Long computations of hostile callers: other requests are served, and computations of disconnected
// clients end.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { idsOf, startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { longestTurnDuring } from "../../test/support/turns.ts";
import { limits } from "../limits.ts";

let server: TestServer;
let otherKey: string;

/** 200 of these letters are 3,600 in the form that is compared. */
const long = "\u{fdfa}".repeat(200);
/** Places where no two of the names have the same letters. */
const hostileName = (at: number) => `${at.toString(36).padStart(3, "x")}${long}`;
const hostileTags = Array.from({ length: limits.tagsPerMatchMax }, (_, at) => hostileName(at + 7));
const hostileFilter = Array.from(
  { length: 60 },
  (_, at) => `contains(RawData/text,'${"a".repeat(60)}b${at}')`,
);

before(async () => {
  server = await startTestServer(withFront);
  const assets = Array.from({ length: 2_000 }, (_, at) => ({ name: hostileName(at) }));
  await server.ask("POST /assets", { items: assets });
  await server.ask("POST /assets", { items: [{ name: "21-PT-1019" }] });
  await server.ask("POST /raw/create", { items: [{ dbName: "db" }] });
  await server.ask("POST /raw/db/create", { items: [{ tableName: "t" }] });
  for (let from = 0; from < 20_000; from += 5_000) {
    const rows = Array.from({ length: 5_000 }, (_, at) => ({
      key: `k${from + at}`,
      columns: { text: "a".repeat(1_000), number: at },
    }));
    await server.ask("POST /raw/db/t/create", { items: rows });
  }
  otherKey = await keyOfAnother();
});
after(() => server.close());

/** A key of another account, in the group of the administrator. */
async function keyOfAnother(): Promise<string> {
  const groups = idsOf(await server.ask("GET /groups?all=true"));
  const [userId] = idsOf(await server.ask("POST /users", { items: [{ uniqueName: "another", groups }] }));
  const { items } = await server.ask("POST /apikeys", { items: [{ userId }] });
  return items[0]!["value"] as string;
}

/**
 * Requests that would compute for minutes, until they are aborted; counts the completed matchings.
 */
function hostileRequests(signal: AbortSignal) {
  let answered = 0;
  const send = (path: string, body?: unknown) =>
    fetch(server.baseUrl + path, {
      ...{ method: body === undefined ? "GET" : "POST", headers: { "api-key": server.key }, signal },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
      .then(() => (answered += path.endsWith("matching") ? 1 : 0))
      .catch(() => {});
  const root = `/odata/v1/projects/${server.project}`;
  const filter = encodeURIComponent(`RawData/number ge 0 and (${hostileFilter.join(" or ")})`);
  const body = { tagIds: hostileTags, metadata: { fuzzyThreshold: limits.tagEditsMax } };
  const ended = Promise.all([
    ...Array.from({ length: 2 }, () => send(`/api/0.5/projects/${server.project}/tagmatching`, body)),
    ...Array.from({ length: 9 }, () => send(`${root}/Raw('db')/Tables('t')/Rows?$filter=${filter}&$top=10`)),
  ]);
  return { ended, answered: () => answered };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(10);
}

const load = () => server.app.services.computing.load;

test("others are served while two matchings and nine filters run, in short turns of the thread", async () => {
  const gone = new AbortController();
  const hostile = hostileRequests(gone.signal);
  await until(() => load().running >= 2 + limits.computationsPerCaller);
  const { longestMs } = await longestTurnDuring(async () => {
    for (let round = 0; round < 20; round++) {
      assert.equal((await server.ask("GET /assets?limit=1")).status, 200);
      await delay(20);
    }
  });
  assert.equal(hostile.answered(), 0, "they are still under way");
  assert.ok(longestMs < 50, `${longestMs} ms in one turn`);
  gone.abort();
  await hostile.ended;
  await until(() => load().running === 0 && load().waiting === 0);
  const { text } = await server.ask.root("GET /metrics");
  assert.match(text, /^millrace_computations_running 0$/m);
  assert.match(text, /^millrace_computations_compared_characters \d+$/m);
});

test("a caller's matching completes while another caller has many that do not end", async () => {
  const gone = new AbortController();
  const hostile = hostileRequests(gone.signal);
  await until(() => load().running >= 2 + limits.computationsPerCaller);
  const question = { tagIds: ["21 pt 1018"], metadata: { fuzzyThreshold: 1 } };
  const result = await server.ask("POST /tagmatching", question, { "api-key": otherKey });
  const matches = [{ tagId: "21-PT-1019", score: 1, platform: null }];
  assert.deepEqual(result.items, [{ tagId: "21 pt 1018", matches }]);
  assert.equal(hostile.answered(), 0, "they are still under way");
  gone.abort();
  await hostile.ended;
  await until(() => load().running === 0 && load().waiting === 0);
});

test("a filter over rows with many characters returns short pages, each row once", async () => {
  const filter = encodeURIComponent(
    `RawData/number lt 2 and (${hostileFilter.join(" or ")} or RawData/number ge 0)`,
  );
  const root = `${server.baseUrl}/odata/v1/projects/${server.project}`;
  const keys: string[] = [];
  let pages = 0;
  for (let url = `${root}/Raw('db')/Tables('t')/Rows?$filter=${filter}`; url !== undefined; pages++) {
    const response = await fetch(url, { headers: { "api-key": server.key } });
    const page = (await response.json()) as { value: { Key: string }[]; "@odata.nextLink": string };
    keys.push(...page.value.map(({ Key }) => Key));
    url = page["@odata.nextLink"];
  }
  const expected = [0, 5_000, 10_000, 15_000].flatMap((from) => [`k${from}`, `k${from + 1}`]);
  assert.deepEqual(keys.sort(), expected.sort());
  assert.ok(pages > 3, `${pages}`);
});
