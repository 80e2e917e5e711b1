// One-time links to the console: they sign in the administrator, once and for a limited time.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { startTestServer, type TestResponse, type TestServer } from "../../test/support/server.ts";
import { SetClock } from "../../test/support/set-clock.ts";
import { sessionTable } from "../access/schema.ts";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import { byUrlName } from "../resources/projects/projects.ts";

const clock = new SetClock();
const attemptsPerMinute = 60;
const stranger = { "api-key": undefined };

let server: TestServer;
before(async () => {
  server = await startTestServer({ system: clock.system, attemptsPerMinute });
});
after(() => server.close());
/** Lets the buckets of attempts fill again. */
beforeEach(() => {
  clock.pass(60_000);
});

const project = async () =>
  (await server.app.services.catalog.read("system", (tx) => byUrlName(tx, "demo")))!;

const newLink = async (): Promise<string> => server.app.services.sessions.createLink(await project());

const use = (token: string) => server.ask.root("POST /session", { token }, stranger);
const cookieIn = ({ headers }: TestResponse): string => headers.getSetCookie()[0]!.split(";")[0]!;
/** Tests let the server choose its port, so that it has another one after a restart. */
const cookieWith = (value: string) => `millrace_session_${new URL(server.baseUrl).port}=${value}`;
const byCookie = (cookie: string) => ({ ...stranger, cookie, origin: server.baseUrl });
const statusOf = async (cookie: string) =>
  (await server.ask.root("GET /session", undefined, byCookie(cookie))).status;

const usedUp = {
  code: 401,
  message:
    "HTTP 401 Unauthorized: the link was used already or has expired; " +
    "for a new one: millrace login-link on the server's machine",
};

describe("a one-time link", () => {
  it("signs in the administrator with all rights, once", async () => {
    const token = await newLink();
    const response = await use(token);
    assert.equal(response.status, 200, response.text);
    assert.ok(!response.text.includes("ms_") && !response.text.includes("ml_"));
    const { account, isAdministrator, expiresTime } = response.json as {
      account: { name: string };
      isAdministrator: boolean;
      expiresTime: number;
    };
    assert.deepEqual([account.name, isAdministrator], ["administrator", true]);
    assert.ok(Math.abs(expiresTime - clock.system.nowMs() - limits.sessionMsMax) < 60_000);
    const cookie = cookieIn(response);
    assert.equal((await server.ask("GET /groups", undefined, byCookie(cookie))).status, 200);
    const again = await use(token);
    assert.deepEqual([again.status, again.headers.get("set-cookie"), again.error], [401, null, usedUp]);
    await server.restart();
    const [, value] = cookie.split("=");
    assert.deepEqual([(await use(token)).status, await statusOf(cookieWith(value!))], [401, 200]);
  });

  it("is used once when two browsers send it at the same time", async () => {
    const token = await newLink();
    const responses = await Promise.all([use(token), use(token), use(token)]);
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 401, 401]);
  });

  it("expires, also for a server that restarts", async () => {
    const [early, late] = [await newLink(), await newLink()];
    clock.pass(limits.signInLinkMsMax - 60_000);
    assert.equal((await use(early)).status, 200);
    clock.pass(61_000);
    assert.deepEqual((await use(late)).error, usedUp);
  });

  it("is no credential by itself, and the cookie of a session is no link", async () => {
    const token = await newLink();
    assert.equal(await statusOf(cookieWith(token)), 401);
    for (const headers of [{ "api-key": token }, { ...stranger, authorization: `Bearer ${token}` }])
      assert.equal((await server.ask("GET /assets", undefined, headers)).status, 401);
    const cookie = cookieIn(await use(token));
    assert.equal((await use(cookie.split("=")[1]!)).status, 401);
    assert.equal(await statusOf(cookie), 200);
  });

  it("is stored as a hash alone", async () => {
    const token = await newLink();
    const rows = await server.app.services.catalog.read("system", (tx) =>
      tx.find(sessionTable, { filter: everything, order: byId, page: { limit: 1_000 } }),
    );
    assert.ok(rows.some(({ isLink }) => isLink));
    assert.ok(!JSON.stringify(rows).includes(token.slice(3)));
  });

  it("is not used up by a page of another origin", async () => {
    const token = await newLink();
    const foreign = { ...stranger, origin: "https://evil.example" };
    assert.equal((await server.ask.root("POST /session", { token }, foreign)).status, 403);
    assert.equal((await use(token)).status, 200);
  });

  it("cannot be guessed often", async () => {
    for (let at = 0; at < attemptsPerMinute; at++) assert.equal((await use(`ml_${at}`)).status, 401);
    const refused = await use(await newLink());
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  });
});

describe("the session of a link", () => {
  it("ends when the account is deleted", async () => {
    const cookie = byCookie(cookieIn(await use(await newLink())));
    const { json } = await server.ask.root("GET /session", undefined, cookie);
    const { id } = (json as { account: { id: number } }).account;
    const permissions = { accessTypes: ["ADMIN"] };
    const group = await server.ask("POST /groups", { items: [{ name: "others", permissions }] });
    const other = { uniqueName: "other", groups: [group.items[0]!["id"]] };
    const user = await server.ask("POST /users", { items: [other] });
    const accountId = user.items[0]!["id"] as number;
    const { key } = await server.app.services.keys.create(await project(), "of the other", { accountId });
    const deleted = await server.ask("POST /users/delete", { items: [id] }, { "api-key": key });
    assert.equal(deleted.status, 200, deleted.text);
    assert.equal((await server.ask.root("GET /session", undefined, cookie)).status, 401);
    assert.equal((await server.ask("GET /assets", undefined, cookie)).status, 401);
    // A new link creates the administrator again, as `key create` does.
    assert.equal((await use(await newLink())).status, 200);
  });

  it("creates keys that outlive it, as the command line does, and none after the sign-out", async () => {
    const response = await use(await newLink());
    const cookie = byCookie(cookieIn(response));
    const { id } = (response.json as { account: { id: number } }).account;
    const create = () => server.ask("POST /apikeys", { items: [{ userId: id }] }, cookie);
    const made = await create();
    assert.equal(made.status, 200, made.text);
    assert.equal(made.items[0]!["expiresTime"], undefined);
    assert.equal((await server.ask.root("DELETE /session", undefined, cookie)).status, 204);
    assert.equal((await create()).status, 401);
    const key = { "api-key": made.items[0]!["value"] as string };
    assert.equal((await server.ask("GET /assets", undefined, key)).status, 200);
  });
});
