// The catalog on a PostgreSQL of several hosts: it uses the primary, also after a standby became it, and a
// host that no longer responds holds no request for long.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { needs } from "../../../test/support/needs.ts";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres.ts";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { Failure } from "../../errors.ts";
import { realSystem } from "../../lib/system.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { AnyTable, SharedCatalog, Table } from "../catalog.ts";
import { postgresNameOf, postgresUrls } from "./dialects/postgres/location.ts";
import { openPostgresCatalog, secretOfCatalog } from "./postgres-catalog.ts";

interface Thing {
  readonly id: number;
}
const things: Table<Thing> = {
  name: "things",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  ...{ indexes: [], unique: [], wordsOf: [] },
};

test("an address names one host or several, with parameters", () => {
  assert.deepEqual(postgresUrls("postgres://u:p%40@a:1,[::1]:2,c/db?sslmode=no-verify"), [
    "postgres://u:p%40@a:1/db?sslmode=no-verify",
    "postgres://u:p%40@[::1]:2/db?sslmode=no-verify",
    "postgres://u:p%40@c/db?sslmode=no-verify",
  ]);
  assert.equal(postgresNameOf("postgres://u:secret@a:1,b/db?x=1"), "a:1,b/db");
  for (const bad of [
    "",
    "postgres://a",
    "postgres://a/",
    "postgres://a,,b/db",
    "http://a/db",
    "postgres:///db",
  ])
    assert.deepEqual(postgresUrls(bad), [], bad);
});

describe("a primary and its standby", needs("postgresql"), () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let proxy: TcpProxy;
  let catalog: SharedCatalog;

  before(async () => {
    primary = await startPostgres({ waitsFor: "second" });
    // Databases are made before there is a standby to wait for; a commit would wait.
    standby = await startPostgres({ standbyOf: { primary, name: "second" } });
    proxy = await TcpProxy.start(`http://127.0.0.1:${primary.port}`);
    const url = `postgres://millrace@127.0.0.1:${standby.port},${new URL(proxy.endpoint).host}/postgres`;
    await secretOfCatalog(url, new Uint8Array(32));
    catalog = await openPostgresCatalog({ url, tables: [things as AnyTable], system: realSystem });
  });
  after(async () => {
    await catalog?.close();
    proxy?.close();
    standby?.remove();
    primary?.remove();
  });

  const insert = (id: number) => catalog.write(1, (tx) => tx.insert(things, [{ id }]));
  const read = async () => {
    const query = { filter: everything, order: byId, page: { limit: 100 } };
    return (await catalog.read(1, (tx) => tx.find(things, query))).map(({ id }) => id);
  };
  const isAway = (problem: unknown) => problem instanceof Failure && problem.failure === "catalog-away";

  test("writes and reads go to the primary, although the standby is named first", async () => {
    await insert(1);
    assert.deepEqual(await read(), [1]);
  });

  test("a network that passes nothing holds requests for some seconds, then service returns", async () => {
    proxy.set("hold");
    const startMs = performance.now();
    await Promise.all([assert.rejects(insert(2), isAway), assert.rejects(read(), isAway)]);
    const seconds = (performance.now() - startMs) / 1000;
    assert.ok(seconds < 60, `${seconds} s`);
    proxy.set("pass");
    for (let waits = 0; waits < 100; waits++) {
      const found = await read().catch(() => []);
      if (found.length > 0) break;
      await pause(100);
    }
    assert.equal((await read())[0], 1);
  });

  test("after a kill of the primary the promoted standby has every acknowledged write", async () => {
    const acknowledged = [1];
    let id = 10;
    const write = async () => {
      id++;
      await insert(id);
      acknowledged.push(id);
    };
    for (let count = 0; count < 50; count++) await write();
    primary.stop("immediate");
    await assert.rejects(write(), isAway);
    await assert.rejects(read(), isAway, "a standby is not read");
    standby.promote();
    for (let count = 0; count < 10; count++) await write();
    const found = await read();
    for (const one of acknowledged) assert.ok(found.includes(one), `${one} is lost`);
  });
});
