// Hardening: refused logins, limits on attempts, security headers, cookies, and no secrets in the log.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { pino } from "pino";
import { odataOf } from "../../test/support/odata.ts";
import { client, startProvider, type TestProvider } from "../../test/support/provider.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { SetClock } from "../../test/support/set-clock.ts";
import { limits } from "../limits.ts";

const clock = new SetClock();
const publicUrl = "https://millrace.plant.example";
const home = "https://app.plant.example/start/";
const attemptsPerMinute = 60;
const stranger = { "api-key": undefined };

const logged: string[] = [];
let provider: TestProvider;
let server: TestServer;

before(async () => {
  const log = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  provider = await startProvider({ redirectUris: [`${publicUrl}/login/callback`], logoutUris: [] });
  server = await startTestServer({ system: clock.system, attemptsPerMinute, log, baseUrl: publicUrl });
  const authentication = {
    oAuth2Configuration: { clientId: client.id, clientSecret: client.secret },
    openIdConfiguration: { issuer: provider.issuer, redirectUrls: [home] },
  };
  const put = await server.ask("PUT /", { items: [{ name: "demo", authentication }] });
  assert.equal(put.status, 200, put.text);
});
after(async () => {
  await server.close();
  await provider.close();
});

/** Lets the buckets of attempts fill again. */
const aMinuteLater = () => {
  clock.pass(60_000);
};

type Wish = Readonly<Record<string, string | undefined>>;
const searchOf = (wish: Wish): string => {
  const all = { project: "demo", redirectUrl: home, ...wish };
  const given = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined);
  return new URLSearchParams(given).toString();
};
const visit = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(server.baseUrl + path, { redirect: "manual", headers });

describe("a login in a browser is refused", () => {
  const allowed = "expected an address on the project's list openIdConfiguration.redirectUrls";
  const cases: [what: string, wish: Wish, message: string][] = [
    ...[
      "https://app.plant.example.evil.example/start/",
      "https://app.plant.example/start/../elsewhere",
      "https://app.plant.example/start/%2e%2e/elsewhere",
      "https://app.plant.example/",
      "http://app.plant.example/start/",
      "https://app.plant.example:8443/start/",
      "https://app.plant.example@evil.example/start/",
      "https://user@app.plant.example/start/",
      "//app.plant.example/start/",
      "javascript:alert(1)//app.plant.example/start/",
      `${home}${"x".repeat(limits.addressLengthMax)}`,
    ].map((redirectUrl): [string, Wish, string] => [
      `to ${redirectUrl.slice(0, 60)}`,
      { redirectUrl },
      `Invalid field - redirectUrl - ${allowed}`,
    ]),
    [
      "with errors to elsewhere",
      { errorRedirectUrl: "https://evil.example/" },
      `Invalid field - errorRedirectUrl - ${allowed}`,
    ],
    [
      "by a project that does not exist",
      { project: "nowhere" },
      "The project nowhere has no identity provider to log in with; use an API key in the header api-key",
    ],
    [
      "with another prompt",
      { prompt: "consent" },
      "Invalid field - prompt - expected one of none but got consent",
    ],
    ["without an address to go to", { redirectUrl: undefined }, "Missing required field - redirectUrl"],
  ];
  for (const [what, wish, message] of cases)
    it(what, async () => {
      aMinuteLater();
      for (const path of ["/login/redirect", "/login/url"]) {
        const response = await visit(`${path}?${searchOf(wish)}`);
        assert.equal(response.status, 400);
        assert.equal(response.headers.get("location"), null);
        assert.equal(response.headers.get("set-cookie"), null);
        assert.equal(((await response.json()) as { error: { message: string } }).error.message, message);
      }
    });
});

const begin = async (wish: Wish = {}) => {
  const response = await visit(`/login/redirect?${searchOf(wish)}`);
  assert.equal(response.status, 303);
  const [cookie = ""] = response.headers.getSetCookie();
  const location = new URL(response.headers.get("location")!);
  return { cookie, location, state: location.searchParams.get("state")!, sent: cookie.split(";")[0]! };
};

describe("a login in a browser", () => {
  it("sends the provider code, PKCE, state and nonce, and the public address to return to", async () => {
    aMinuteLater();
    const { location, cookie } = await begin({ prompt: "none" });
    assert.equal(location.origin, provider.issuer);
    const loginParameters = Object.fromEntries(location.searchParams);
    for (const fresh of ["state", "nonce", "code_challenge"])
      assert.ok(loginParameters[fresh]!.length >= 43, fresh);
    assert.deepEqual(
      { ...loginParameters, state: "", nonce: "", code_challenge: "" },
      {
        client_id: client.id,
        redirect_uri: `${publicUrl}/login/callback`,
        response_type: "code",
        scope: "openid profile email",
        state: "",
        nonce: "",
        code_challenge: "",
        code_challenge_method: "S256",
        prompt: "none",
      },
    );
    assert.match(
      cookie,
      /^__Host-millrace_login_[\w-]{16}=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.doesNotMatch(cookie, new RegExp(loginParameters["state"]!), "the cookie is sealed");
  });

  it("has an address to begin with, which is the server's own", async () => {
    const search = searchOf({ errorRedirectUrl: `${home}error` });
    const { json } = await server.ask.root(`GET /login/url?${search}`, undefined, stranger);
    assert.deepEqual(json, { data: { url: `${publicUrl}/login/redirect?${search}` } });
  });

  it("leads back with the provider's refusal, or with ours, to the address for errors", async () => {
    const errorRedirectUrl = `${home}error?kept=1`;
    const refused = await begin({ errorRedirectUrl });
    const said = new URLSearchParams({
      state: refused.state,
      iss: provider.issuer,
      error: "access_denied",
      error_description: "not you",
    });
    const back = await visit(`/login/callback?${said}`, { cookie: refused.sent });
    assert.equal(back.status, 303);
    assert.equal(
      back.headers.get("location"),
      `${home}error?kept=1&error=access_denied&error_description=not+you`,
    );
    const [cleared] = back.headers.getSetCookie();
    assert.match(cleared!, /^__Host-millrace_login_[\w-]{16}=; Path=\/; Max-Age=0;/);

    const forged = await begin({ errorRedirectUrl });
    const code = new URLSearchParams({ state: forged.state, iss: provider.issuer, code: "guessed" });
    const failed = await visit(`/login/callback?${code}`, { cookie: forged.sent });
    assert.equal(new URL(failed.headers.get("location")!).searchParams.get("error"), "server_error");
  });

  it("without an address for errors tells them itself, and sets no session", async () => {
    const { state, sent } = await begin();
    const denied = new URLSearchParams({ state, iss: provider.issuer, error: "access_denied" });
    const response = await visit(`/login/callback?${denied}`, { cookie: sent });
    assert.equal(response.status, 403);
    assert.equal(response.headers.get("set-cookie"), null);
    const guessed = new URLSearchParams({ state, iss: provider.issuer, code: "guessed" });
    assert.equal((await visit(`/login/callback?${guessed}`, { cookie: sent })).status, 502);
    const mixedUp = new URLSearchParams({ state, iss: "https://evil.example", code: "x" });
    assert.equal((await visit(`/login/callback?${mixedUp}`, { cookie: sent })).status, 502);
  });

  it("is unknown without its cookie, with that of another, with a damaged one, and too late", async () => {
    const [one, other] = [await begin(), await begin()];
    const [name, value] = one.sent.split("=");
    const callback = `/login/callback?state=${one.state}&code=x`;
    for (const cookie of ["", `${name}=${other.sent.split("=")[1]}`, `${name}=${value!.slice(0, -3)}AAA`])
      assert.equal((await visit(callback, { cookie })).status, 400, cookie);
    clock.pass(limits.pendingLoginMsMax + 1_000);
    assert.equal((await visit(callback, { cookie: one.sent })).status, 400);
  });

  it("is 503 while the provider has not responded yet", async () => {
    clock.pass(limits.providerStaleMsMax);
    provider.become("away");
    const response = await visit(`/login/redirect?${searchOf({})}`);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "10");
    provider.become("well");
    clock.pass(limits.providerRefetchMsMin);
    await begin();
  });
});

describe("attempts are limited", () => {
  it("for a credential that fails again and again: 429 with the time to wait, and only then", async () => {
    aMinuteLater();
    const ask = () => server.ask("GET /assets?limit=1", undefined, { "api-key": "wrong" });
    for (let attempt = 0; attempt < attemptsPerMinute; attempt++) assert.equal((await ask()).status, 401);
    const { status, headers, error } = await ask();
    assert.equal(status, 429);
    assert.equal(headers.get("retry-after"), "1");
    assert.equal(error?.message, "Too many attempts; try again in 1 s");
    clock.pass(1_000);
    assert.equal((await ask()).status, 401);
  });

  it("for an address that guesses, while keys that were valid keep working", async () => {
    aMinuteLater();
    const guess = (at: number) =>
      server.ask.root("POST /login", { apiKey: `guess ${at}` }, stranger).then(({ status }) => status);
    const own = () => server.ask("GET /assets?limit=1").then(({ status }) => status);
    assert.equal(await own(), 200);
    for (let at = 0; at < attemptsPerMinute; at++) assert.equal(await guess(at), 401);
    assert.equal(await guess(-1), 429);
    const requestLine = "GET /login/token?token=guessed";
    assert.equal((await server.ask.root(requestLine, undefined, stranger)).status, 429);
    const token = { ...stranger, authorization: "Bearer guessed" };
    assert.equal((await server.ask("GET /assets", undefined, token)).status, 429);
    assert.equal(await own(), 200);
    assert.equal((await server.ask("GET /assets", undefined, stranger)).status, 401, "nothing was tried");
  });

  it("by the address that a trusted proxy names, and no other", async () => {
    for (const trustedProxies of [["127.0.0.0/8"], []]) {
      const proxied = await startTestServer({ ...withFront, attemptsPerMinute: 1, trustedProxies });
      const guess = async (client: string, at: number) => {
        const headers = { "api-key": `guess ${at}`, "x-forwarded-for": `203.0.113.9, ${client}` };
        return (await proxied.ask("GET /assets", undefined, headers)).status;
      };
      assert.equal(await guess("198.51.100.1", 1), 401);
      assert.equal(await guess("198.51.100.1", 2), 429);
      assert.equal(await guess("198.51.100.2", 3), trustedProxies.length > 0 ? 401 : 429);
      await proxied.close();
    }
  });

  it("to begin a login in a browser", async () => {
    aMinuteLater();
    const statuses = new Set<number>();
    for (let at = 0; at <= attemptsPerMinute; at++)
      statuses.add((await visit(`/login/url?${searchOf({})}`)).status);
    assert.deepEqual(statuses, new Set([200, 429]));
    assert.equal((await visit(`/login/callback?state=x`)).status, 429);
    aMinuteLater();
    assert.equal((await visit(`/login/url?${searchOf({})}`)).status, 200);
  });
});

it("every response has security headers, refusals included", async () => {
  const expected = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "strict-transport-security": "max-age=31536000",
  };
  for (const path of ["/login/status", "/api/0.5/projects/demo/assets", "/nowhere", "/health", "/%ff"]) {
    const { headers } = await visit(path);
    for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, path);
  }
});

it("no token, key or code gets into the log, not even at its chattiest", async () => {
  aMinuteLater();
  const secrets = ["secret-token-1", "secret-token-2", "secret-token-3", "secret-code", "secret-key-1"];
  const [one, two, three, code, key] = secrets;
  await visit(`/login/token?token=${one}&access_token=${two}&id_token=${three}`);
  await visit("/api/0.5/projects/demo/assets", { authorization: `Bearer ${one}`, "api-key": key! });
  const { state, sent } = await begin();
  await visit(`/login/callback?code=${code}&state=${state}&iss=${provider.issuer}`, { cookie: sent });
  provider.become("away");
  clock.pass(limits.providerStaleMsMax);
  const token = await provider.token({ exp: Math.floor(clock.system.nowMs() / 1000) + 300 });
  const away = await visit(`/login/token?token=${token}&access_token=${two}`, { authorization: token });
  assert.equal(away.status, 503);
  const text = logged.join("");
  assert.match(text, /"path":"\/login\/token\?token=\.\.\.&access_token=\.\.\."/);
  for (const secret of [...secrets, token, state, client.secret]) assert.ok(!text.includes(secret), secret);
});

it("what the server does not support is no error of the server: the log has no stack of it", async () => {
  const lines = logged.length;
  const odata = odataOf(server);
  assert.equal((await odata("Assets?$orderby=Name&$top=1")).status, 501);
  assert.equal((await odata("$batch", { method: "POST", body: "{}" })).status, 501);
  const added = logged.slice(lines).map((line) => JSON.parse(line) as { level: number; err?: unknown });
  assert.deepEqual(
    added.filter(({ level, err }) => level >= 40 || err !== undefined),
    [],
  );
});
