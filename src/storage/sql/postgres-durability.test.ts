// The settings that the catalog requires of PostgreSQL so that an acknowledged write is durable.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { needs } from "../../../test/support/needs.ts";
import { startPostgres, statement } from "../../../test/support/postgres.ts";
import { realSystem } from "../../lib/system.ts";
import { tables } from "../conformance/samples.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

describe("durability on PostgreSQL", needs("postgresql"), () => {
  for (const fsync of [true, false])
    test(`a start ${fsync ? "tells nothing with fsync" : "warns without fsync"}`, async (t) => {
      const server = await startPostgres({ fsync });
      t.after(() => server.remove());
      const told: string[] = [];
      const url = server.url("postgres");
      const catalog = await openPostgresCatalog({
        ...{ url, tables, system: realSystem, tell: (text) => void told.push(text) },
      });
      await catalog.close();
      const names = told.map((text) => /^PostgreSQL has (\w+) = off/.exec(text)?.[1]);
      assert.deepEqual(names, fsync ? [] : ["fsync", "full_page_writes"]);
    });

  test("a database that does not wait for commits is overruled", async (t) => {
    const server = await startPostgres({ fsync: true });
    t.after(() => server.remove());
    const url = server.url("postgres");
    await statement(url, "alter database postgres set synchronous_commit = off");
    const catalog = await openPostgresCatalog({ url, tables, system: realSystem });
    t.after(() => catalog.close());
    // The setting of the session that inserts, written by a trigger.
    await statement(url, "create table seen (setting text)");
    await statement(
      url,
      `create function see() returns trigger language plpgsql as
        $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$`,
    );
    await statement(
      url,
      "create trigger see before update on catalog_server_leases for each row execute function see()",
    );
    const number = await catalog.leases.grant();
    await catalog.leases.renew(number);
    await statement(url, "do $$ begin assert (select string_agg(setting, ',') from seen) = 'on'; end $$");
  });
});
