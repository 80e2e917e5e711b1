// Tokens of programs over OAuth 2 client credentials: with a published client, who gets one, and when it
// ends.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  clientCredentialsGrant,
} from "openid-client";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { SetClock } from "../../test/support/set-clock.ts";
import { limits } from "../limits.ts";

const clock = new SetClock();

let server: TestServer;
let keyId: number;
let key: string;
const account = "historian: gateway+1 %";
before(async () => {
  server = await startTestServer({ system: clock.system, attemptsPerMinute: 60 });
  const scope = { all: {} };
  const capabilities = [
    { assetsAcl: { actions: ["READ"], scope } },
    { apikeysAcl: { actions: ["LIST", "CREATE"], scope } },
  ];
  const group = await server.ask("POST /groups", { items: [{ name: "programs", capabilities }] });
  await server.ask("POST /users", { items: [{ uniqueName: account, groups: [group.items[0]!["id"]] }] });
  [keyId, key] = await newKey();
});
after(() => server.close());
/** Lets the buckets of attempts fill again. */
beforeEach(() => {
  clock.pass(60_000);
});

async function newKey(expiresTime?: number): Promise<[id: number, key: string]> {
  const users = await server.ask("GET /users");
  const user = users.items.find(({ uniqueName }) => uniqueName === account)!;
  const made = await server.ask("POST /apikeys", {
    items: [{ userId: user["id"], ...(expiresTime !== undefined && { expiresTime }) }],
  });
  assert.equal(made.status, 200, made.text);
  return [made.items[0]!["id"] as number, made.items[0]!["value"] as string];
}

async function post(form: Record<string, string> | string, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(form);
  const response = await fetch(`${server.baseUrl}/oauth2/token`, { method: "POST", body, headers });
  return { response, json: (await response.json()) as Record<string, unknown> };
}
const request = (more: Record<string, string> = {}) => ({
  grant_type: "client_credentials",
  client_id: account,
  client_secret: key,
  ...more,
});
const tokenOf = async (secret = key) =>
  (await post(request({ client_secret: secret }))).json["access_token"] as string;
const bearer = (token: string) => ({ "api-key": undefined, authorization: `Bearer ${token}` });
const read = (token: string, line = "GET /assets") => server.ask(line, undefined, bearer(token));

describe("tokens of programs", () => {
  for (const [name, authentication] of [
    ["HTTP Basic", ClientSecretBasic],
    ["the form", ClientSecretPost],
  ] as const)
    it(`are issued to a published client that authenticates by ${name}`, async () => {
      const metadata = { issuer: server.baseUrl, token_endpoint: `${server.baseUrl}/oauth2/token` };
      const config = new Configuration(metadata, account, undefined, authentication(key));
      allowInsecureRequests(config);
      const { access_token, expires_in, token_type } = await clientCredentialsGrant(config, {
        scope: "https://plant.example/.default",
      });
      assert.deepEqual([token_type, expires_in], ["bearer", limits.programTokenMsMax / 1000]);
      assert.equal((await read(access_token)).status, 200);
      const status = await server.ask.root("GET /login/status", undefined, bearer(access_token));
      assert.equal((status.json as { data: { user: string } }).data.user, account);
    });

  it("have the rights of the account, over REST and as a password over OData", async () => {
    const token = await tokenOf();
    assert.equal((await read(token, "GET /timeseries")).status, 403);
    assert.equal((await server.ask("POST /assets", { items: [{ name: "a" }] }, bearer(token))).status, 403);
    const basic = Buffer.from(`anyone:${token}`).toString("base64");
    const response = await fetch(`${server.baseUrl}/odata/v1/projects/demo/Assets?$filter=Name eq 'a'`, {
      headers: { authorization: `Basic ${basic}` },
    });
    assert.equal(response.status, 200);
  });

  it("are named by the id of the account as well", async () => {
    const users = await server.ask("GET /users");
    const user = users.items.find(({ uniqueName }) => uniqueName === account)!;
    const { response, json } = await post(request({ client_id: String(user["id"]) }));
    assert.deepEqual([response.status, json["scope"]], [200, "account"]);
    assert.equal(response.headers.get("cache-control"), "no-store");
  });

  it("expire, and then say so", async () => {
    const token = await tokenOf();
    clock.pass(limits.programTokenMsMax - 5_000);
    assert.equal((await read(token)).status, 200);
    clock.pass(6_000);
    const late = await read(token);
    assert.equal(late.status, 401);
    assert.match(late.text, /the token has expired/);
    const status = await server.ask.root(`GET /login/token?token=${token}`);
    assert.match(status.text, /"valid":false,"expired":true/);
  });

  it("end with their key, at its end and when it is revoked", async () => {
    const [, short] = await newKey(clock.system.nowMs() + 30_000);
    const { json } = await post(request({ client_secret: short }));
    assert.ok((json["expires_in"] as number) <= 30);
    const [id, revoked] = await newKey();
    const token = await tokenOf(revoked);
    assert.equal((await read(token)).status, 200);
    await server.ask("POST /apikeys/delete", { items: [id] });
    assert.equal((await read(token)).status, 401);
    assert.equal((await post(request({ client_secret: revoked }))).response.status, 401);
  });

  it("make keys that end with the token", async () => {
    const token = await tokenOf();
    const users = await server.ask("GET /users");
    const userId = users.items.find(({ uniqueName }) => uniqueName === account)!["id"];
    const made = await server.ask("POST /apikeys", { items: [{ userId }] }, bearer(token));
    assert.equal(made.status, 200, made.text);
    const made0 = made.items[0]!["expiresTime"] as number;
    assert.ok(made0 <= clock.system.nowMs() + limits.programTokenMsMax, String(made0));
    const later = { userId, expiresTime: clock.system.nowMs() + 2 * limits.programTokenMsMax };
    assert.equal((await server.ask("POST /apikeys", { items: [later] }, bearer(token))).status, 400);
  });

  it("are not changed, and not of another kind", async () => {
    const token = await tokenOf();
    const [head, , signature] = token.split(".");
    const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
    const payload = Buffer.from(JSON.stringify({ ...claims, key_id: claims.key_id + 1 })).toString(
      "base64url",
    );
    assert.equal((await read(`${head}.${payload}.${signature}`)).status, 401);
    const cookie = `millrace_session_${new URL(server.baseUrl).port}=${token}`;
    const response = await fetch(`${server.baseUrl}/session`, {
      headers: { cookie, origin: server.baseUrl },
    });
    assert.equal(response.status, 401);
  });
});

describe("a request for a token", () => {
  const cases: readonly (readonly [
    what: string,
    form: () => string | Record<string, string>,
    error: string,
  ])[] = [
    ["another grant", () => request({ grant_type: "password" }), "unsupported_grant_type"],
    ["no grant", () => ({ client_id: account, client_secret: key }), "unsupported_grant_type"],
    ["no account", () => request({ client_id: "" }), "invalid_request"],
    ["no key", () => request({ client_secret: "" }), "invalid_request"],
    ["a parameter twice", () => `${new URLSearchParams(request())}&client_id=x`, "invalid_request"],
    ["an unknown key", () => request({ client_secret: "mr_unknown" }), "invalid_client"],
    ["the name of another account", () => request({ client_id: "other" }), "invalid_client"],
    ["the key of another account", () => request({ client_secret: server.key }), "invalid_client"],
  ];
  for (const [what, form, error] of cases)
    it(`with ${what} is refused: ${error}`, async () => {
      const { response, json } = await post(form());
      assert.equal(response.status, error === "invalid_client" ? 401 : 400);
      assert.equal(json["error"], error);
      assert.ok(String(json["error_description"]).length > 20);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(response.headers.has("www-authenticate"), error === "invalid_client");
      assert.doesNotMatch(JSON.stringify(json), new RegExp(key));
    });

  it("with two ways of authentication, or in JSON, is refused", async () => {
    const basic = `Basic ${Buffer.from(`x:${key}`).toString("base64")}`;
    assert.equal((await post(request(), { authorization: basic })).json["error"], "invalid_request");
    const response = await fetch(`${server.baseUrl}/oauth2/token`, {
      method: "POST",
      body: JSON.stringify(request()),
      headers: { "content-type": "application/json" },
    });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /application\/x-www-form-urlencoded/);
  });

  it("is throttled after many unknown keys", async () => {
    const guess = (at: number) => post(request({ client_secret: `mr_guess${at}` }));
    let refused: Awaited<ReturnType<typeof post>> | undefined;
    for (let at = 0; at < 100 && !refused; at++) {
      const one = await guess(at);
      if (one.response.status === 429) refused = one;
    }
    assert.equal(refused?.json["error"], "slow_down");
    assert.ok(Number(refused.response.headers.get("retry-after")) > 0);
  });

  it("by GET is not allowed", async () => {
    const response = await fetch(`${server.baseUrl}/oauth2/token`);
    assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST"]);
  });

  it("notes the use of the key", async () => {
    const { items } = await server.ask("GET /apikeys?all=true");
    const used = items.find(({ id }) => id === keyId);
    assert.ok((used?.["lastUsedTime"] as number) > 0, JSON.stringify(items));
  });
});
