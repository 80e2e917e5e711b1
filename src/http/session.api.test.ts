// Sessions of the console: sign-in with a key, the rights of the cookie, when it ends, and which requests it
// is not valid for.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import {
  type Item,
  startTestServer,
  type TestResponse,
  type TestServer,
  withFront,
} from "../../test/support/server.ts";
import { SetClock } from "../../test/support/set-clock.ts";
import { sessionTable } from "../access/schema.ts";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { byId } from "../query/page.ts";

const clock = new SetClock();
const attemptsPerMinute = 60;

let server: TestServer;
before(async () => {
  server = await startTestServer({ system: clock.system, attemptsPerMinute });
});
after(() => server.close());
/** Lets the buckets of attempts fill again. */
beforeEach(() => {
  clock.pass(60_000);
});

type Headers = Readonly<Record<string, string | undefined>>;
const stranger = { "api-key": undefined };
const own = () => ({ origin: server.baseUrl });

const signIn = (body: unknown, headers: Headers = {}) =>
  server.ask.root("POST /session", body, { ...stranger, ...headers });

/** Tests let the server choose its port, so that it has another one after a restart. */
const cookieName = () => `millrace_session_${new URL(server.baseUrl).port}`;
const cookieWith = (value: string) => `${cookieName()}=${value}`;
const afterRestart = (cookie: string) => cookieWith(cookie.split("=")[1]!);

const cookieIn = ({ headers }: TestResponse): string => headers.getSetCookie()[0]!.split(";")[0]!;

/** Signs in, and returns the cookie as a browser sends it back. */
async function cookieOf(apiKey = server.key): Promise<string> {
  const response = await signIn({ apiKey });
  assert.equal(response.status, 200, response.text);
  return cookieIn(response);
}

const byCookie = (cookie: string, headers: Headers = own()) => ({ ...stranger, cookie, ...headers });
const session = (cookie: string) => server.ask.root("GET /session", undefined, byCookie(cookie));
const statusOf = async (cookie: string) => (await session(cookie)).status;
const assets = (cookie: string) => server.ask("GET /assets", undefined, byCookie(cookie));

/** An account in a group with these capabilities, and a key of it. */
async function newAccount(name: string, capabilities: unknown[], expiresTime?: number) {
  const group = await server.ask("POST /groups", { items: [{ name, capabilities }] });
  const groupId = group.items[0]!["id"] as number;
  const user = await server.ask("POST /users", { items: [{ uniqueName: name, groups: [groupId] }] });
  const userId = user.items[0]!["id"] as number;
  const made = await server.ask("POST /apikeys", {
    items: [{ userId, ...(expiresTime && { expiresTime }) }],
  });
  const { id: keyId, value } = made.items[0] as Item & { id: number; value: string };
  return { groupId, userId, keyId, key: value };
}

const readAssets = { assetsAcl: { actions: ["READ"], scope: { all: {} } } };
const writeAssets = { assetsAcl: { actions: ["READ", "WRITE"], scope: { all: {} } } };

describe("a session", () => {
  it("begins with an API key, and its cookie is a credential for REST and OData", async () => {
    const response = await signIn({ apiKey: server.key });
    const [header = "", ...others] = response.headers.getSetCookie();
    assert.deepEqual(others, []);
    const [value = "", attributes] = header.split(/(?<=^[^;]*);/);
    assert.match(value, new RegExp(`^${cookieName()}=ms_[\\w-]{32}$`));
    assert.equal(attributes, " Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    assert.ok(!response.text.includes("ms_"), "the body does not have it");
    const cookie = cookieIn(response);
    const { account, capabilities, expiresTime, ...info } = response.json as {
      account: { id: number; name: string };
      capabilities: unknown[];
      expiresTime: number;
    };
    assert.deepEqual(info, { project: "demo", isAdministrator: true });
    assert.equal(account.name, "administrator");
    assert.ok(capabilities.length > 10);
    assert.ok(Math.abs(expiresTime - clock.system.nowMs() - limits.sessionMsMax) < 60_000);
    assert.deepEqual((await session(cookie)).json, response.json);
    assert.equal((await assets(cookie)).status, 200);
    const odata = await fetch(`${server.baseUrl}/odata/v1/projects/demo`, { headers: { cookie } });
    assert.equal(odata.status, 200, await odata.text());
    const { json } = await server.ask.root("GET /login/status", undefined, byCookie(cookie));
    assert.equal((json as { data: { user: string } }).data.user, "administrator");
  });

  it("tells the project before anybody signs in, and nothing about a caller", async () => {
    const options = await server.ask.root("GET /session/options", undefined, stranger);
    assert.deepEqual(options.json, { project: "demo", identityProviders: [] });
    for (const cookie of ["", ...["", "ms_x", "a.b.c"].map(cookieWith)]) {
      const response = await session(cookie);
      assert.equal(response.status, 401, cookie);
      assert.deepEqual(Object.keys(response.json as object), ["error"]);
    }
  });

  it("is not begun by a wrong key, and a cookie is no API key", async () => {
    for (const apiKey of ["wrong", ""]) {
      const response = await signIn({ apiKey });
      assert.deepEqual([response.status, response.headers.get("set-cookie")], [401, null]);
    }
    assert.equal((await signIn({})).status, 400);
    const value = (await cookieOf()).split("=")[1]!;
    assert.equal((await signIn({ apiKey: value })).status, 401);
    assert.equal((await server.ask("GET /assets", undefined, { "api-key": value })).status, 401);
    const bearer = { ...stranger, authorization: `Bearer ${value}` };
    assert.equal((await server.ask("GET /assets", undefined, bearer)).status, 401);
    const asKey = byCookie(cookieWith(server.key));
    assert.equal((await server.ask("GET /assets", undefined, asKey)).status, 401);
  });

  it("has a new cookie at each sign-in, and ends the session of the cookie before", async () => {
    const first = await cookieOf();
    const planted = await signIn({ apiKey: server.key }, { cookie: cookieWith("ms_planted") });
    assert.notEqual(cookieIn(planted), cookieWith("ms_planted"));
    assert.equal(await statusOf(cookieWith("ms_planted")), 401);
    const second = cookieIn(await signIn({ apiKey: server.key }, byCookie(first)));
    assert.notEqual(second, first);
    assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200]);
  });

  it("survives a restart, and its cookie is stored nowhere", async () => {
    const cookie = await cookieOf();
    await server.restart();
    assert.equal(await statusOf(afterRestart(cookie)), 200);
    const rows = await server.app.services.catalog.read("system", (tx) =>
      tx.find(sessionTable, { filter: everything, order: byId, page: { limit: 1_000 } }),
    );
    assert.ok(rows.length > 0);
    assert.ok(!JSON.stringify(rows).includes(cookie.split("=")[1]!));
  });

  it("has the rights of its account at each request", async () => {
    const { groupId, key } = await newAccount("operator", [readAssets]);
    const cookie = await cookieOf(key);
    const create = () => server.ask("POST /assets", { items: [{ name: "pump" }] }, byCookie(cookie));
    assert.equal((await create()).status, 403);
    const changed = await server.ask(`PATCH /groups/${groupId}`, { capabilities: [writeAssets] });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await create()).status, 200);
    const { json } = await session(cookie);
    assert.deepEqual((json as { capabilities: unknown }).capabilities, [writeAssets]);
    assert.equal((json as { isAdministrator: boolean }).isAdministrator, false);
    await server.ask("POST /groups/delete", { items: [groupId] });
    assert.equal((await create()).status, 403);
    assert.equal((await assets(cookie)).status, 403);
  });
});

describe("a session ends", () => {
  it("with the sign-out, in the browser and for a copy of the cookie", async () => {
    const [cookie, other] = [await cookieOf(), await cookieOf()];
    const out = await server.ask.root("DELETE /session", undefined, byCookie(cookie));
    assert.equal(out.status, 204);
    assert.match(out.headers.get("set-cookie")!, /^millrace_session_\d+=; Path=\/; Max-Age=0; HttpOnly/);
    assert.deepEqual([await statusOf(cookie), await statusOf(other)], [401, 200]);
    assert.equal((await assets(cookie)).status, 401);
    await server.restart();
    const [ended, valid] = [afterRestart(cookie), afterRestart(other)];
    assert.deepEqual([await statusOf(ended), await statusOf(valid)], [401, 200]);
    assert.equal((await server.ask.root("DELETE /session", undefined, byCookie(ended))).status, 204);
    await server.ask.root("POST /logout", undefined, byCookie(valid));
    assert.equal(await statusOf(valid), 401);
  });

  it("with its key, with its account, and with the key that created its key", async () => {
    const all = { all: {} };
    const makesKeys = { apikeysAcl: { actions: ["LIST", "CREATE", "DELETE"], scope: all } };
    const one = await newAccount("with key", [readAssets]);
    const two = await newAccount("with account", [readAssets]);
    const maker = await newAccount("maker", [readAssets, makesKeys]);
    const made = await server.ask(
      "POST /apikeys",
      { items: [{ userId: maker.userId }] },
      { "api-key": maker.key },
    );
    const cookies = await Promise.all(
      [one.key, two.key, made.items[0]!["value"] as string].map((key) => cookieOf(key)),
    );
    for (const cookie of cookies) assert.equal((await assets(cookie)).status, 200);
    await server.ask("POST /apikeys/delete", { items: [one.keyId, maker.keyId] });
    await server.ask("POST /users/delete", { items: [two.userId] });
    for (const cookie of cookies) {
      assert.equal((await assets(cookie)).status, 401);
      assert.equal(await statusOf(cookie), 401);
    }
  });

  it("after its time, and not later than its key", async () => {
    const untilMs = clock.system.nowMs() + 3_600_000;
    const { key } = await newAccount("for an hour", [readAssets], untilMs);
    const response = await signIn({ apiKey: key });
    assert.equal((response.json as { expiresTime: number }).expiresTime, untilMs);
    const cookie = await cookieOf();
    clock.pass(3_600_000);
    assert.deepEqual([await statusOf(cookieIn(response)), await statusOf(cookie)], [401, 200]);
    clock.pass(limits.sessionMsMax - 3_600_000 + 60_000);
    assert.equal(await statusOf(cookie), 401);
  });

  it("when its account has too many", async () => {
    const { key } = await newAccount("many", [readAssets]);
    const cookies: string[] = [];
    for (let at = 0; at <= limits.sessionsPerAccountMax; at++) cookies.push(await cookieOf(key));
    assert.deepEqual(
      await Promise.all([0, 1, limits.sessionsPerAccountMax].map((at) => statusOf(cookies[at]!))),
      [401, 200, 200],
    );
  });
});

describe("a request of another site", () => {
  const create = (headers: Headers) => server.ask("POST /assets", { items: [{ name: "made" }] }, headers);
  const foreign: Headers[] = [
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  ];

  it("changes nothing with the cookie, over REST and OData", async () => {
    const cookie = await cookieOf();
    const before = (await server.ask("GET /assets")).items.length;
    for (const headers of foreign) {
      assert.equal((await create(byCookie(cookie, headers))).status, 403, JSON.stringify(headers));
      for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
        const { status } = await fetch(`${server.baseUrl}/odata/v1/projects/demo/RawRows`, {
          method,
          headers: byHeaders(byCookie(cookie, headers)),
        });
        assert.equal(status, 403, `${method} ${JSON.stringify(headers)}`);
      }
      const out = await server.ask.root("DELETE /session", undefined, byCookie(cookie, headers));
      assert.equal(out.status, 403);
    }
    assert.equal((await server.ask("GET /assets")).items.length, before);
    assert.equal(await statusOf(cookie), 200);
    for (const headers of [own(), { "sec-fetch-site": "same-origin" }])
      assert.equal((await create(byCookie(cookie, headers))).status, 200);
  });

  it("reads nothing with the cookie", async () => {
    const cookie = await cookieOf();
    for (const origin of ["https://evil.example", "null", server.baseUrl.replace("http:", "https:")])
      for (const path of ["GET /session", "GET /api/0.5/projects/demo/assets"]) {
        const response = await server.ask.root(path, undefined, byCookie(cookie, { origin }));
        assert.equal(response.status, 403, `${path} ${origin}`);
        assert.ok(!response.text.includes("administrator"));
      }
  });

  it("is not affected when it has an API key, or when it is no browser's", async () => {
    const cookie = await cookieOf();
    for (const headers of foreign)
      assert.equal((await create({ ...headers, cookie, "api-key": server.key })).status, 200);
    assert.equal((await create({})).status, 200);
    assert.equal((await signIn({ apiKey: server.key })).status, 200);
  });

  it("creates no session", async () => {
    for (const headers of foreign.slice(1)) {
      const response = await signIn({ apiKey: server.key }, headers);
      assert.deepEqual(
        [response.status, response.headers.get("set-cookie")],
        [403, null],
        JSON.stringify(headers),
      );
    }
  });
});

const byHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined));

describe("attempts are limited", () => {
  it("to sign in with a key, from one address and with one key", async () => {
    for (let at = 0; at < attemptsPerMinute; at++)
      assert.equal((await signIn({ apiKey: `wrong ${at}` })).status, 401);
    const response = await signIn({ apiKey: "wrong again" });
    assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "1"]);
  });

  it("to guess a cookie, while a session stays valid", async () => {
    const cookie = await cookieOf();
    assert.equal(await statusOf(cookie), 200);
    for (let at = 0; at < attemptsPerMinute; at++)
      assert.equal(await statusOf(cookieWith(`ms_guess${at}`)), 401);
    assert.equal(await statusOf(cookieWith("ms_guess")), 429);
    assert.equal((await signIn({ apiKey: "guess" })).status, 429);
    assert.equal(await statusOf(cookie), 200);
    clock.pass(limits.keyCacheMsMax * 2);
    assert.equal(await statusOf(cookie), 200, "also when it is read again");
  });

  it("in bytes of a sign-in", async () => {
    const apiKey = "x".repeat(limits.openBodyBytesMax);
    assert.equal((await signIn({ apiKey })).status, 413);
  });
});

describe("the cookie of a server with a public address", () => {
  const cases = [
    ["https://millrace.plant.example", "__Host-millrace_session", "/", "; Secure"],
    ["https://plant.example/millrace", "__Secure-millrace_session", "/millrace", "; Secure"],
    ["https://plant.example:8443", "__Host-millrace_session_8443", "/", "; Secure"],
    ["http://plant.example/millrace", "millrace_session", "/millrace", ""],
  ] as const;
  for (const [baseUrl, name, path, secure] of cases)
    it(`is for ${baseUrl} alone`, async () => {
      const proxied = await startTestServer({ ...withFront, baseUrl });
      const { origin } = new URL(baseUrl);
      const response = await proxied.ask.root(
        "POST /session",
        { apiKey: proxied.key },
        { ...stranger, origin },
      );
      const expected = `; Path=${path}; Max-Age=43200; HttpOnly; SameSite=Strict${secure}`;
      const [header = ""] = response.headers.getSetCookie();
      assert.equal(header.replace(/^[\w-]+=[\w-]+/, ""), expected);
      assert.equal(header.split("=")[0], name);
      const cookie = cookieIn(response);
      const status = async (sent: string, from: string) => {
        const headers = { ...stranger, cookie: sent, origin: from };
        return (await proxied.ask.root("GET /session", undefined, headers)).status;
      };
      assert.equal(await status(cookie, origin), 200);
      assert.equal(await status(cookie, proxied.baseUrl), 403, "the public address is the only own one");
      if (secure) assert.equal(await status(cookie.replace(name, "millrace_session"), origin), 401);
      await proxied.close();
    });
});

describe("two servers on one host", () => {
  it("have cookies of their own, and neither accepts or removes that of the other", async (t) => {
    const other = await startTestServer({ system: clock.system, attemptsPerMinute });
    t.after(() => other.close());
    const sessions = [server, other].map(async ({ ask, key }) =>
      cookieIn(await ask.root("POST /session", { apiKey: key }, stranger)),
    );
    const [first, second] = (await Promise.all(sessions)) as [string, string];
    assert.notEqual(first.split("=")[0], second.split("=")[0]);
    // A browser sends the cookies of a host to all its ports.
    const statuses = async (cookie: string) =>
      Promise.all(
        [server, other].map(async ({ ask, baseUrl: origin }) => {
          const headers = { ...stranger, cookie, origin };
          return (await ask.root("GET /session", undefined, headers)).status;
        }),
      );
    assert.deepEqual(await statuses(`${first}; ${second}`), [200, 200]);
    assert.deepEqual(await statuses(`${second}; ${first}`), [200, 200]);
    assert.deepEqual(await statuses(first), [200, 401]);
    const headers = { ...stranger, cookie: `${first}; ${second}`, origin: other.baseUrl };
    const out = await other.ask.root("DELETE /session", undefined, headers);
    assert.deepEqual(out.headers.getSetCookie().length, 1);
    assert.equal(cookieIn(out), `${second.split("=")[0]}=`);
    assert.deepEqual(await statuses(`${first}; ${second}`), [200, 401]);
  });
});
