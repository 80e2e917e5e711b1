// Projects through the front door: reading, overwriting, secrets, and what is refused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { projectTable } from "./schema.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a project is read in every version", async () => {
  const expected = { data: { items: [{ name: "demo", urlName: "demo" }] } };
  for (const ask of [server.ask.v04, server.ask.v05, server.ask.v06]) {
    const { status, json } = await ask("GET /");
    assert.equal(status, 200);
    assert.deepEqual(json, expected);
  }
});

test("an overwrite replaces everything but keeps secrets, which are never shown", async () => {
  const authentication = {
    type: "AzureAD",
    protocol: "oauth2",
    validDomains: ["example.com"],
    oAuth2Configuration: { clientId: "millrace" },
  };
  const secret = { ...authentication, oAuth2Configuration: { clientId: "millrace", clientSecret: "hush" } };
  const first = await server.ask("PUT /", { items: [{ name: "Demo plant", authentication: secret }] });
  assert.equal(first.status, 200);
  assert.deepEqual(first.items, [{ name: "Demo plant", urlName: "demo", authentication }]);
  await server.ask("PUT /", { items: [{ name: "Demo plant", urlName: "demo", authentication }] });
  const question = { filter: everything, order: byId, page: { limit: 1 } };
  const [stored] = await server.app.services.catalog.read("system", (tx) => tx.find(projectTable, question));
  assert.equal(stored?.authentication?.oAuth2Configuration?.["clientSecret"], "hush");
  const bare = await server.ask("PUT /", { items: [{ name: "Demo" }] });
  assert.deepEqual(bare.items, [{ name: "Demo", urlName: "demo" }]);
});
