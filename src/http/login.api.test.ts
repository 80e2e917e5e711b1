// The login endpoints, which clients of all versions request first.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

const loggedOut = { data: { user: "", loggedIn: false, project: "", projectId: -1 } };

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

const stranger = { "api-key": undefined };

test("a good key logs in, by body or by header, to the same status", async () => {
  const { json, status } = await server.ask.root("POST /login", { apiKey: server.key }, stranger);
  assert.equal(status, 200);
  const { data } = json as { data: Record<string, unknown> };
  const { projectId } = data;
  assert.ok(Number.isSafeInteger(projectId) && (projectId as number) > 0);
  assert.deepEqual(data, { user: "administrator", loggedIn: true, project: "demo", projectId });
  assert.deepEqual((await server.ask.root("GET /login/status")).json, json);
});

test("a bad key is refused by POST /login, and is simply not logged in by GET /login/status", async () => {
  const refused = await server.ask.root("POST /login", { apiKey: "wrong" });
  assert.equal(refused.status, 401);
  const message = "HTTP 401 Unauthorized: the API key is unknown or revoked";
  assert.deepEqual(refused.json, { error: { code: 401, message } });
  for (const headers of [stranger, { "api-key": "wrong" }, { ...stranger, authorization: "Bearer x" }]) {
    const { json, status } = await server.ask.root("GET /login/status", undefined, headers);
    assert.equal(status, 200);
    assert.deepEqual(json, loggedOut);
  }
});

test("POST /login names what is wrong with its body", async () => {
  const empty = await server.ask.root("POST /login");
  assert.equal(empty.status, 400);
  assert.deepEqual(empty.error, {
    code: 400,
    message: "Missing required field - apiKey",
    missingFields: ["apiKey"],
  });
  const wrong = await server.ask.root("POST /login", { apiKey: 1 });
  assert.equal(wrong.error?.message, "Invalid field - apiKey - expected string but got number");
});

test("no token is valid yet; whether one is expired is read from it", async () => {
  const tokenUntil = (seconds: number) =>
    `e30.${Buffer.from(JSON.stringify({ exp: seconds })).toString("base64url")}.c2ln`;
  const cases: [token: string, expired: boolean][] = [
    ["opaque", false],
    [tokenUntil(1), true],
    [tokenUntil(4e9), false],
    ["a.b.c", false],
  ];
  for (const [token, expired] of cases) {
    const { json, status } = await server.ask.root(`GET /login/token?token=${token}`, undefined, stranger);
    assert.equal(status, 200);
    assert.deepEqual(json, { data: { token, valid: false, expired } });
  }
  const missing = await server.ask.root("GET /login/token");
  assert.equal(missing.error?.message, "Missing required field - token");
});

const instead = "use an API key in the header api-key";

test("a login in a browser is refused alike for a project without provider and for none at all", async () => {
  for (const path of ["/login/url", "/login/redirect"]) {
    for (const project of ["demo", "elsewhere"]) {
      const addresses = "redirectUrl=http%3A%2F%2Fa%2F&errorRedirectUrl=http://b/";
      const requestLine = `GET ${path}?project=${project}&${addresses}`;
      const { status, error } = await server.ask.root(requestLine, undefined, stranger);
      assert.equal(status, 400);
      assert.equal(
        error?.message,
        `The project ${project} has no identity provider to log in with; ${instead}`,
      );
    }
    const bare = await server.ask.root(`GET ${path}`, undefined, stranger);
    assert.equal(bare.error?.message, "Missing required field - project");
    const nowhere = await server.ask.root(`GET ${path}?project=demo`, undefined, stranger);
    assert.equal(nowhere.error?.message, "Missing required field - redirectUrl");
  }
});

test("there is no browser session to log out from", async () => {
  const { status, error } = await server.ask.root("GET /logout/url?redirectUrl=http://a/");
  assert.equal(status, 400);
  assert.equal(
    error?.message,
    "There is no identity provider to log out from; an API key needs no logout and is valid until revoked",
  );
  const bare = await server.ask.root("GET /logout/url");
  assert.equal(bare.error?.message, "Missing required field - redirectUrl");
});

test("logging out ends in the status of a stranger; PUT and DELETE of a login are 405", async () => {
  for (const method of ["GET", "POST"])
    assert.deepEqual((await server.ask.root(`${method} /logout`)).json, loggedOut);
  for (const method of ["PUT", "DELETE"]) {
    const { status, headers } = await server.ask.root(`${method} /login`);
    assert.equal(status, 405);
    assert.equal(headers.get("allow"), "POST");
  }
});
