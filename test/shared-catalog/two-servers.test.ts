// Two servers over one catalog in PostgreSQL: changes of one count on the other, races have one winner,
// and a catalog that is away is a clear 503 from which the service comes back by itself.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ensureProject } from "../../src/resources/projects/projects.ts";
import { type CuttableProxy, cuttableProxy } from "../support/cuttable-proxy.ts";
import { needs } from "../support/needs.ts";
import { type PostgresServer, startPostgres, statement } from "../support/postgres.ts";
import { testS3 } from "../support/s3-store.ts";
import { idsOf, startTestServer, type TestServer } from "../support/server.ts";

const adminKey = "a-key-of-both-servers";

/** After this long a server that cannot read the changes of others uses nothing that it has cached. */
const changeSeenMsMax = 1_000;
/** Only a fault lasts as long: a busy machine can let a server wait for seconds. */
const waitMsMax = 60_000;

describe("two servers on one PostgreSQL", needs("postgresql"), () => {
  let postgres: PostgresServer;
  let proxy: CuttableProxy;
  let [one, two]: TestServer[] = [];

  before(async () => {
    postgres = await startPostgres();
    await statement(postgres.url("postgres"), "create database shared");
    proxy = await cuttableProxy(postgres.port);
    const blobs = (await testS3()).place();
    one = await startTestServer({ catalogUrl: postgres.url("shared"), adminKey, blobs });
    const throughProxy = new URL(postgres.url("shared"));
    throughProxy.port = String(proxy.port);
    two = await startTestServer({ catalogUrl: throughProxy.href, adminKey, blobs });
  });
  after(async () => {
    proxy.become("open");
    await one?.close();
    await two?.close();
    proxy.close();
    postgres.remove();
  });

  const insert = (server: TestServer, name: string) =>
    server.ask(`POST /timeseries/data/${name}`, { items: [{ timestamp: 1, value: 1 }] });

  const health = (server: TestServer) => fetch(`${server.baseUrl}/health`);

  /** The first response with this status, within the time that a change may take. */
  async function soon<Response extends { readonly status: number }>(
    ask: () => Promise<Response>,
    status: number,
  ) {
    const untilMs = performance.now() + waitMsMax;
    for (;;) {
      const begunMs = performance.now();
      const response = await ask();
      if (response.status === status) return response;
      if (begunMs > untilMs) assert.fail(`after ${waitMsMax} ms: ${response.status}`);
      await pause(20);
    }
  }

  test("a series that one server renames or deletes is not found by its name on the other", async () => {
    await one!.ask("POST /timeseries", { items: [{ name: "old" }] });
    assert.equal((await insert(two!, "old")).status, 200);
    assert.equal((await insert(one!, "old")).status, 200);
    const [id] = idsOf(await one!.ask("GET /timeseries?name=old"));
    const renamed = await one!.ask("POST /timeseries/update", { items: [{ id, name: { set: "new" } }] });
    assert.equal(renamed.status, 200, renamed.text);
    assert.equal((await insert(one!, "old")).status, 404, "at once on the server of the change");
    await soon(() => insert(two!, "old"), 404);
    assert.equal((await insert(two!, "new")).status, 200);
    await two!.ask("POST /timeseries/delete", { items: [id] });
    assert.equal((await insert(two!, "new")).status, 404);
    await soon(() => insert(one!, "new"), 404);
  });

  test("a file that one server received is read and deleted at the other", async () => {
    const begun = await one!.ask("POST /files/initupload", { fileName: "a.txt" });
    const { uploadURL, fileId } = (begun.json as { data: { uploadURL: string; fileId: number } }).data;
    assert.equal((await fetch(uploadURL, { method: "PUT", body: "bytes" })).status, 200);
    const found = await two!.ask(`GET /files/${fileId}/downloadlink`);
    assert.equal(found.status, 200, found.text);
    const link = (found.json as { data: string }).data;
    assert.equal(await (await fetch(link)).text(), "bytes");
    assert.equal((await two!.ask("POST /files/delete", { items: [fileId] })).status, 200);
    assert.equal((await one!.ask(`GET /files/${fileId}`)).status, 404);
  });

  test("a change of rights on one server counts on the other", async () => {
    const list = (...items: unknown[]) => ({ items });
    const [group] = idsOf(
      await one!.ask(
        "POST /groups",
        list({ name: "readers", capabilities: [{ assetsAcl: { actions: ["READ"], scope: { all: {} } } }] }),
      ),
    );
    const [user] = idsOf(await one!.ask("POST /users", list({ uniqueName: "reader", groups: [group] })));
    const made = await one!.ask("POST /apikeys", list({ userId: user }));
    const key = { "api-key": made.items[0]!["value"] as string };
    const read = (server: TestServer) => () => server.ask("GET /assets", undefined, key);
    assert.equal((await read(two!)()).status, 200);
    assert.equal((await read(one!)()).status, 200);
    await one!.ask(`POST /groups/${group}/users/remove`, list(user));
    assert.equal((await read(one!)()).status, 403, "at once on the server of the change");
    await soon(read(two!), 403);
    await two!.ask(`POST /groups/${group}/users`, list(user));
    await soon(read(one!), 200);
    await one!.ask("POST /users/delete", list(user));
    assert.equal((await read(one!)()).status, 401);
    await soon(read(two!), 401);
  });

  test("both write one chain of the audit log, without gaps", async () => {
    for (let round = 0; round < 10; round++)
      await Promise.all(
        [one!, two!].map((server, at) =>
          server.ask.v06("POST /groups", { items: [{ name: `audited ${round} ${at}`, capabilities: [] }] }),
        ),
      );
    const { items } = await two!.ask.v06("GET /audit?limit=1000");
    const seqs = items.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => seqs.length - index),
    );
    const names = new Set(items.flatMap(({ ids }) => (ids as string[])[0] ?? []));
    for (let round = 0; round < 10; round++)
      for (const at of [0, 1]) assert.ok(names.has(`audited ${round} ${at}`), `${round} ${at}`);
    const verified = await one!.ask.v06("GET /audit/verification");
    const { data } = verified.json as { data: { isIntact: boolean; checked: number } };
    assert.deepEqual([data.isIntact, data.checked], [true, seqs.length]);
  });

  test("of series with one name that both create at the same time, one comes to be", async () => {
    for (let round = 0; round < 20; round++) {
      const create = (server: TestServer) =>
        server.ask("POST /timeseries", { items: [{ name: `race ${round}` }] });
      const statuses = (await Promise.all([create(one!), create(two!)])).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted(), [200, 400]);
    }
    const { items } = await two!.ask("GET /timeseries?q=race&limit=100");
    assert.equal(items.length, 20);
    const both = await Promise.all(
      [one!, two!].map((server, at) =>
        server.ask("POST /assets", {
          items: Array.from({ length: 500 }, (_, i) => ({ name: `${at} ${i}` })),
        }),
      ),
    );
    assert.equal(new Set(both.flatMap(idsOf)).size, 1_000, "no id twice");
  });

  test("of moves on two servers that together would make a circle, one is refused", async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = idsOf(
        await one!.ask("POST /assets", { items: [{ name: `a${round}` }, { name: `b${round}` }] }),
      );
      const statuses = await Promise.all([
        one!.ask(`PATCH /assets/${a}`, { parentId: b }),
        two!.ask(`PATCH /assets/${b}`, { parentId: a }),
      ]);
      assert.deepEqual(statuses.map(({ status }) => status).toSorted(), [200, 400]);
      const tree = (await two!.ask("POST /assets/byids", { items: [a, b] })).items;
      assert.deepEqual(tree.map((item) => item["depth"] as number).toSorted(), [0, 1]);
    }
  });

  test("a child of a parent that the other server deletes is deleted, or refused", async () => {
    for (let round = 0; round < 10; round++) {
      const [parent] = idsOf(await one!.ask("POST /assets", { items: [{ name: `parent ${round}` }] }));
      const [created] = await Promise.all([
        two!.ask("POST /assets", { items: [{ name: `child ${round}`, parentId: parent }] }),
        one!.ask("POST /assets/delete", { items: [parent] }),
      ]);
      const [child] = idsOf(created);
      if (child === undefined) assert.equal(created.status, 400);
      else assert.equal((await one!.ask(`GET /assets/${child}`)).status, 404);
    }
  });

  test("of the last two administrators, two servers delete one", async () => {
    // In a project of its own, as either of them may win.
    const { services } = one!.app;
    const { project } = await ensureProject(services, "last-administrators");
    const byFirst = { "api-key": (await services.keys.create(project, "first")).key };
    const ask = (server: TestServer, line: string, body: unknown, key: typeof byFirst) => {
      const [method, path] = line.split(" ");
      return server.ask.root(`${method} /api/0.5/projects/last-administrators${path}`, body, key);
    };
    const [admins] = idsOf(await ask(one!, "GET /groups", undefined, byFirst));
    const [first] = idsOf(await ask(one!, `GET /groups/${admins}/users`, undefined, byFirst));
    const user = { uniqueName: "second", groups: [admins] };
    const [second] = idsOf(await ask(one!, "POST /users", { items: [user] }, byFirst));
    const made = await ask(one!, "POST /apikeys", { items: [{ userId: second }] }, byFirst);
    const bySecond = { "api-key": made.items[0]!["value"] as string };
    await soon(() => ask(two!, "GET /groups", undefined, bySecond), 200);
    const statuses = await Promise.all([
      ask(one!, "POST /users/delete", { items: [second] }, byFirst),
      ask(two!, "POST /users/delete", { items: [first] }, bySecond),
    ]);
    const accepted = statuses.filter(({ status }) => status === 200);
    assert.equal(accepted.length, 1, JSON.stringify(statuses.map(({ text }) => text)));
  });

  for (const state of ["closed", "silent"] as const)
    test(`with a ${state} connection to the catalog, 503 and no stale name; then service again`, async () => {
      const name = `cut-${state}`;
      await one!.ask("POST /timeseries", { items: [{ name }] });
      await soon(() => insert(two!, name), 200);
      proxy.become(state);
      await pause(changeSeenMsMax);
      const [id] = idsOf(await one!.ask(`GET /timeseries?q=${encodeURIComponent(name)}`));
      assert.equal((await one!.ask("POST /timeseries/delete", { items: [id] })).status, 200);
      const refused = await insert(two!, name);
      assert.equal(refused.status, 503, refused.text);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      const failing = await health(two!);
      assert.equal(failing.status, 503);
      assert.match(await failing.text(), /catalog's database does not respond/);
      assert.equal((await health(one!)).status, 200);
      proxy.become("open");
      await soon(() => health(two!), 200);
      assert.equal((await insert(two!, name)).status, 404);
    });

  test("after a crash of PostgreSQL both servers continue, with all acknowledged writes", async () => {
    const acknowledged: string[] = [];
    for (let at = 0; at < 20; at++) {
      const name = `kept ${at}`;
      if ((await two!.ask("POST /assets", { items: [{ name }] })).status === 200) acknowledged.push(name);
    }
    postgres.stop("immediate");
    const away = await one!.ask("GET /assets");
    assert.equal(away.status, 503, away.text);
    postgres.start();
    for (const server of [one!, two!]) {
      await soon(() => server.ask("GET /assets"), 200);
      for (const name of acknowledged) {
        const { items } = await server.ask(`GET /assets?name=${encodeURIComponent(name)}`);
        assert.equal(items.length, 1, name);
      }
    }
  });
});
