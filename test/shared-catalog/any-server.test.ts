// Cursors, links, sessions and keys of one server of a catalog are valid on every other one.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/needs.ts";
import { newDatabase, type TestDatabase } from "../support/postgres.ts";
import { testS3 } from "../support/s3-store.ts";
import { idsOf, startTestServer, type TestServer } from "../support/server.ts";

const adminKey = "a-key-of-both-servers";

describe("handed out by one server, used on another", needs("postgresql"), () => {
  let database: TestDatabase;
  let [one, two]: TestServer[] = [];

  before(async () => {
    database = await newDatabase();
    const blobs = (await testS3()).place();
    const options = { catalogUrl: database.url, adminKey, blobs, attemptsPerMinute: 1_000 };
    one = await startTestServer(options);
    two = await startTestServer(options);
  });
  after(async () => {
    await one?.close();
    await two?.close();
    await database?.drop();
  });

  /** The URL of a link of the first server, at the second one. */
  const atTwo = (url: string) => url.replace(one!.baseUrl, two!.baseUrl);

  test("a cursor continues a list", async () => {
    const names = Array.from({ length: 30 }, (_, at) => ({ name: `asset ${at}` }));
    const all = idsOf(await one!.ask("POST /assets", { items: names }));
    const first = await one!.ask("GET /assets?limit=10");
    const next = await two!.ask(`GET /assets?limit=100&cursor=${encodeURIComponent(first.nextCursor!)}`);
    assert.equal(next.status, 200, next.text);
    assert.deepEqual(
      [...idsOf(first), ...idsOf(next)].toSorted((a, b) => a - b),
      all.toSorted((a, b) => a - b),
    );
  });

  test("a link of OData continues a collection", async () => {
    const url = `${one!.baseUrl}/odata/v1/projects/demo/Assets?$filter=Name%20ne%20''`;
    const headers = { "api-key": adminKey, prefer: "odata.maxpagesize=10" };
    const read = async (from: string) => {
      const response = await fetch(from, { headers });
      const page = (await response.json()) as Page;
      assert.equal(response.status, 200, JSON.stringify(page));
      return page;
    };
    const first = await read(url);
    const second = await read(atTwo(first["@odata.nextLink"]!));
    const ids = [...first.value, ...second.value].map(({ Id }) => Id);
    assert.equal(ids.length, 20);
    assert.equal(new Set(ids).size, 20);
  });

  test("a resumable upload begins on one server and ends on the other", async () => {
    const begun = await one!.ask("POST /files/initupload", { fileName: "a.txt" });
    const { uploadURL, fileId } = (begun.json as { data: { uploadURL: string; fileId: number } }).data;
    const put = (url: string, body: string, range: string) =>
      fetch(url, { method: "PUT", body, headers: { "content-range": range } });
    assert.equal((await put(uploadURL, "by", "bytes 0-1/5")).status, 308);
    assert.equal((await put(atTwo(uploadURL), "tes", "bytes 2-4/5")).status, 200);
    const link = (await one!.ask(`GET /files/${fileId}/downloadlink`)).json as { data: string };
    assert.equal(await (await fetch(atTwo(link.data))).text(), "bytes");
  });

  test("a one-time link signs in once, and its session is valid and ends everywhere", async () => {
    const { keys, sessions } = one!.app.services;
    const { projectId: id } = (await keys.callerOf(adminKey))!;
    const token = await sessions.createLink({ id, urlName: "demo" });
    const begun = await two!.app.services.sessions.beginWithLink(token);
    assert.equal(await sessions.beginWithLink(token), undefined, "once");
    const { cookie } = begun!;
    assert.equal((await sessions.find(cookie))?.caller.projectId, id);
    await sessions.end(cookie);
    assert.equal(await sessions.find(cookie), undefined);
    const endMs = performance.now() + 60_000;
    while (await two!.app.services.sessions.find(cookie)) assert.ok(performance.now() < endMs, "it ends");
  });

  test("a new key is valid, and a cursor of another catalog is not", async () => {
    const [group] = idsOf(await one!.ask("GET /groups"));
    const [user] = idsOf(await one!.ask("POST /users", { items: [{ uniqueName: "u", groups: [group] }] }));
    const made = await one!.ask("POST /apikeys", { items: [{ userId: user }] });
    const key = { "api-key": made.items[0]!["value"] as string };
    assert.equal((await two!.ask("GET /assets", undefined, key)).status, 200);
    const other = await startTestServer();
    await other.ask("POST /assets", { items: [{ name: "a" }, { name: "b" }] });
    const { nextCursor } = await other.ask("GET /assets?limit=1");
    await other.close();
    const refused = await two!.ask(`GET /assets?limit=1&cursor=${encodeURIComponent(nextCursor!)}`);
    assert.equal(refused.status, 400);
  });
});

interface Page {
  readonly value: readonly { readonly Id: number }[];
  readonly "@odata.nextLink"?: string;
}
