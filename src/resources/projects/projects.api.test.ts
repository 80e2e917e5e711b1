// Projects over the API: reading, overwriting, secrets, and refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { providerOf } from "../../access/provider.ts";
import { everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import { projectTable } from "./schema.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** A project without an identity provider. */
const unset = { type: "", protocol: "", validDomains: [] };

test("a project is read in every version", async () => {
  const expected = { data: { items: [{ name: "demo", urlName: "demo", authentication: unset }] } };
  for (const ask of [server.ask.v04, server.ask.v05, server.ask.v06]) {
    const { status, json } = await ask("GET /");
    assert.equal(status, 200);
    assert.deepEqual(json, expected);
  }
});

const storable = "text without U+0000 and halves of characters";

const bareAddress = "an http or https address without query, fragment and credentials";

const refusedProviders: [authentication: object, field: string, expected: string, got: string][] = [
  ...["http://sso.example", "https://sso.example?a=1", "https://u:p@sso.example", "sso"].map(
    (issuer): [object, string, string, string] => [
      { openIdConfiguration: { issuer } },
      "openIdConfiguration.issuer",
      "an https address without query and fragment (http on this machine alone)",
      issuer,
    ],
  ),
  ...["https://app.example/#x", "javascript:alert(1)", "/relative"].map(
    (url): [object, string, string, string] => [
      { openIdConfiguration: { redirectUrls: ["https://app.example/", url] } },
      "openIdConfiguration.redirectUrls[1]",
      bareAddress,
      url,
    ],
  ),
  [
    { azureADConfiguration: { tenantId: "t/../x" } },
    "azureADConfiguration.tenantId",
    "the id or the domain of a tenant",
    "t/../x",
  ],
  [
    { oAuth2Configuration: { logoutUrl: "javascript:alert(1)" } },
    "oAuth2Configuration.logoutUrl",
    "an http or https address",
    "javascript:alert(1)",
  ],
];

test("what a project cannot be is refused with its field, and changes nothing", async () => {
  const cases: [items: unknown, message: string][] = [
    [undefined, "Missing required field - items"],
    [[], "Invalid field - items - expected at least 1 items but got 0"],
    [[{ name: "a" }, { name: "b" }], "items may hold at most 1 items but holds 2"],
    [[{}], "Missing required field - items[0].name"],
    [[{ name: "" }], "Invalid field - items[0].name - expected at least 1 characters but got 0"],
    [[{ name: "a\0b" }], `Invalid field - items[0].name - expected ${storable} but got "a\\u0000b"`],
    [
      [{ name: "x", urlName: "other" }],
      "Invalid field - items[0].urlName - expected demo, which cannot change, but got other",
    ],
    [
      [{ name: "x", defaultGroupId: "7" }],
      "Invalid field - items[0].defaultGroupId - expected integer but got string",
    ],
    [
      [{ name: "x", authentication: { validDomains: "example.com" } }],
      "Invalid field - items[0].authentication.validDomains - expected array but got string",
    ],
  ];
  for (const [authentication, field, expected, got] of refusedProviders)
    cases.push([
      [{ name: "x", authentication }],
      `Invalid field - items[0].authentication.${field} - expected ${expected} but got ${got}`,
    ]);
  for (const [items, message] of cases) {
    const { status, error } = await server.ask("PUT /", { items });
    assert.equal(status, 400, message);
    assert.equal(error?.message, message);
  }
  assert.deepEqual((await server.ask("GET /")).items, [
    { name: "demo", urlName: "demo", authentication: unset },
  ]);
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
  assert.deepEqual(bare.items, [{ name: "Demo", urlName: "demo", authentication: unset }]);
});

test("what is read can be sent back: an empty authentication sets none", async () => {
  const read = (await server.ask("GET /")).items;
  const sent = await server.ask("PUT /", { items: read });
  assert.deepEqual([sent.status, sent.items], [200, read]);
  const partly = { openIdConfiguration: { issuer: "https://sso.example", audiences: ["plant"] } };
  const set = (await server.ask("PUT /", { items: [{ name: "demo", authentication: partly }] })).items;
  assert.deepEqual(set[0]!["authentication"], { ...unset, ...partly });
  const again = await server.ask("PUT /", { items: set });
  assert.deepEqual(again.items, set);
  const { catalog } = server.app.services;
  const [stored] = await catalog.read("system", (tx) =>
    tx.find(projectTable, { filter: everything, order: byId, page: { limit: 1 } }),
  );
  assert.deepEqual(providerOf(stored!.authentication)!.sources, ["https://sso.example"]);
  await server.ask("PUT /", { items: read });
});

test("a secret is kept for its provider and not for another, which could be anybody's", async () => {
  const at = (issuer: string, clientSecret?: string) => ({
    oAuth2Configuration: { clientId: "millrace", ...(clientSecret !== undefined && { clientSecret }) },
    openIdConfiguration: { issuer },
  });
  const put = (authentication: object) =>
    server.ask("PUT /", { items: [{ name: "demo", authentication }] }).then(({ status }) => status);
  const question = { filter: everything, order: byId, page: { limit: 1 } };
  const secret = async () => {
    const [stored] = await server.app.services.catalog.read("system", (tx) =>
      tx.find(projectTable, question),
    );
    return stored?.authentication?.oAuth2Configuration?.["clientSecret"];
  };
  assert.equal(await put(at("https://sso.example", "hush")), 200);
  assert.equal(await put(at("https://sso.example")), 200);
  assert.equal(await secret(), "hush");
  assert.equal(await put(at("https://evil.example")), 200);
  assert.equal(await secret(), undefined);
});
