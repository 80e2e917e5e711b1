// Logins with a real browser and a real provider: redirects, tokens, silent logins, and logouts.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchTestBrowser, type Pages, startPages } from "../../test/support/browser.ts";
import { needs } from "../../test/support/needs.ts";
import { client, startProvider, type TestProvider } from "../../test/support/provider.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";

const user = "operator@plant.example";
const needed = needs("chromium");

let server: TestServer;
let provider: TestProvider;
let browser: Browser;
let app: Pages;
/** A page of another site. */
let foreign: Pages;

before(async () => {
  if (needed.skip !== false) return;
  [server, app, foreign] = await Promise.all([startTestServer(withFront), startPages(), startPages()]);
  provider = await startProvider({
    redirectUris: [`${server.baseUrl}/login/callback`],
    logoutUris: [`${app.origin}/out`],
  });
  const authentication = {
    oAuth2Configuration: { clientId: client.id, clientSecret: client.secret },
    openIdConfiguration: {
      issuer: provider.issuer,
      redirectUrls: [`${app.origin}/`],
      scope: "openid email groups",
    },
  };
  const put = await server.ask("PUT /", { items: [{ name: "demo", authentication }] });
  assert.equal(put.status, 200, put.text);
  const canRead = { assetsAcl: { actions: ["READ"], scope: { all: {} } } };
  await server.ask("POST /groups", {
    items: [{ name: "operators", sourceId: "operators", capabilities: [canRead] }],
  });
  browser = await launchTestBrowser();
});
after(async () => {
  if (needed.skip !== false) return;
  await browser.close();
  for (const pages of [app, foreign]) pages.close();
  await Promise.all([server.close(), provider.close()]);
});

const wish = (more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({
    project: "demo",
    redirectUrl: `${app.origin}/done?kept=1`,
    errorRedirectUrl: `${app.origin}/error`,
    ...more,
  });

const sessionCookie = () => `millrace_session_${new URL(server.baseUrl).port}`;

const go = (page: Page, address: string) => page.goto(address, { waitUntil: "commit" });

/** Completes the provider's pages, and returns the final address of the browser. */
async function logIn(page: Page): Promise<URL> {
  await go(page, `${server.baseUrl}/login/redirect?${wish()}`);
  await page.fill("input[name=login]", user);
  await page.fill("input[name=password]", "any");
  await Promise.all([
    page.waitForURL(`${app.origin}/**`, { waitUntil: "commit" }),
    page.click("button[type=submit]"),
  ]);
  return new URL(page.url());
}

async function withLogin(work: (page: Page, arrived: URL, context: BrowserContext) => Promise<void>) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await work(page, await logIn(page), context);
  } finally {
    await context.close();
  }
}

interface Status {
  readonly user: string;
  readonly loggedIn: boolean;
  readonly project: string;
}

/** The session that the server reports for the cookie of the browser. */
async function ownStatus(page: Page): Promise<Status> {
  await page.goto(`${server.baseUrl}/login/status`);
  return (JSON.parse((await page.textContent("body"))!) as { data: Status }).data;
}

const bearer = (token: string | null) => ({ "api-key": undefined, authorization: `Bearer ${token}` });

async function statusBy(token: string | null): Promise<Status> {
  const { json } = await server.ask.root("GET /login/status", undefined, bearer(token));
  return (json as { data: Status }).data;
}

const isValid = async (token: string | null): Promise<boolean> => {
  const { json } = await server.ask.root(`GET /login/token?token=${token}`, undefined, {
    "api-key": undefined,
  });
  return (json as { data: { valid: boolean } }).data.valid;
};

/** Sends a request from within the page, with its cookies. */
const fetchFrom = (page: Page, address: string, method = "GET"): Promise<number | string> =>
  page.evaluate(
    `fetch(${JSON.stringify(address)}, { method: "${method}", credentials: "include" })
       .then((answer) => answer.status, (problem) => problem.message)`,
  );

describe("a login in a browser", needed, () => {
  it("comes back with tokens that say what clients read, and that authenticate", async () => {
    await withLogin(async (_page, arrived) => {
      assert.equal(arrived.pathname, "/done");
      assert.equal(arrived.searchParams.get("kept"), "1");
      const [access, id] = ["access_token", "id_token"].map((name) => arrived.searchParams.get(name));
      const claims = decodeJwt(id!);
      assert.equal(claims["project_name"], "demo");
      const seconds = (claims["expire_time"] as number) - Date.now() / 1000;
      assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds} s`);
      const { projectId: _, ...status } = (await statusBy(access!)) as Status & { projectId: number };
      assert.deepEqual(status, { user, loggedIn: true, project: "demo" });
      assert.deepEqual([await isValid(access!), await isValid(id!)], [true, true]);
      assert.equal((await server.ask("GET /assets", undefined, bearer(access!))).status, 200);
      assert.equal((await server.ask("POST /assets", { items: [] }, bearer(access!))).status, 403);
      // Each kind of token is good for its own purpose alone.
      assert.equal((await statusBy(id!)).loggedIn, false);
    });
  });

  it("leaves a cookie that scripts cannot read, good for the same rights until the logout", async () => {
    await withLogin(async (page, arrived, context) => {
      assert.equal((await ownStatus(page)).user, user);
      const cookies = await context.cookies(server.baseUrl);
      const [session, ...others] = cookies.filter(({ name }) => name.startsWith("millrace"));
      assert.deepEqual(
        { ...session, value: "", expires: 0 },
        {
          name: sessionCookie(),
          value: "",
          expires: 0,
          domain: "127.0.0.1",
          path: "/",
          httpOnly: true,
          secure: false,
          sameSite: "Lax",
        },
      );
      assert.deepEqual(others, [], "what was remembered on the way is gone");
      const asToken = await statusBy(session!.value);
      assert.equal(asToken.loggedIn, false, "the cookie's token is none to send as a bearer");
      const assets = await page.goto(`${server.baseUrl}/api/0.5/projects/demo/assets`);
      assert.equal(assets?.status(), 200);
      await page.goto(`${server.baseUrl}/logout`);
      assert.equal((await ownStatus(page)).loggedIn, false);
      // A copy of the cookie is void, and so are the tokens of this login.
      await context.addCookies([session!]);
      assert.equal((await ownStatus(page)).loggedIn, false);
      assert.equal((await statusBy(arrived.searchParams.get("access_token"))).loggedIn, false);
      assert.equal(await isValid(arrived.searchParams.get("id_token")), false);
    });
  });

  it("counts its cookie for pages of the project's addresses, not for those of other origins", async () => {
    await withLogin(async (page) => {
      const assets = `${server.baseUrl}/api/0.5/projects/demo/assets`;
      await go(page, `${foreign.origin}/`);
      assert.equal(await fetchFrom(page, assets), 403);
      assert.equal(await fetchFrom(page, `${server.baseUrl}/logout`, "POST"), 403);
      assert.equal((await ownStatus(page)).loggedIn, true);
      await go(page, `${app.origin}/`);
      assert.equal(await fetchFrom(page, assets), 200);
      assert.equal(await fetchFrom(page, `${server.baseUrl}/logout`, "POST"), 200);
      assert.equal((await ownStatus(page)).loggedIn, false);
    });
  });

  it("is repeated silently in a frame while the provider remembers the user, and refused else", async () => {
    await withLogin(async (page) => {
      await go(page, `${app.origin}/`);
      const search = await page.evaluate(`new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = () => resolve(frame.contentWindow.location.search);
        frame.src = ${JSON.stringify(`${server.baseUrl}/login/redirect?${wish()}&prompt=none`)};
        document.body.append(frame);
      })`);
      const again = new URLSearchParams(search as string);
      assert.equal((await statusBy(again.get("access_token"))).user, user);
    });
    const context = await browser.newContext();
    const page = await context.newPage();
    await go(page, `${server.baseUrl}/login/redirect?${wish({ prompt: "none" })}`);
    await page.waitForURL(`${app.origin}/**`, { waitUntil: "commit" });
    const { pathname, searchParams } = new URL(page.url());
    assert.equal(pathname, "/error");
    assert.equal(searchParams.get("error"), "login_required");
    assert.notEqual(searchParams.get("error_description"), null);
    assert.equal(searchParams.get("access_token"), null);
    await context.close();
  });

  it("ends at the provider too by the address of the logout", async () => {
    await withLogin(async (page, arrived) => {
      const requestLine = `GET /logout/url?redirectUrl=${encodeURIComponent(`${app.origin}/out`)}`;
      const { json } = await server.ask.root(
        requestLine,
        undefined,
        bearer(arrived.searchParams.get("access_token")),
      );
      const { url } = (json as { data: { url: string } }).data;
      assert.equal(new URL(url).origin, provider.issuer);
      await go(page, url);
      await Promise.all([
        page.waitForURL(`${app.origin}/out**`, { waitUntil: "commit" }),
        page.click("button[value=yes]"),
      ]);
      await go(page, `${server.baseUrl}/login/redirect?${wish({ prompt: "none" })}`);
      await page.waitForURL(`${app.origin}/**`, { waitUntil: "commit" });
      assert.equal(new URL(page.url()).searchParams.get("error"), "login_required");
    });
  });

  it("from the console ends at its page with a cookie, and with no token in the address", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const options = await server.ask.root("GET /session/options", undefined, { "api-key": undefined });
    const loginUrl = `${server.baseUrl}/session/login`;
    assert.deepEqual(options.json, {
      project: "demo",
      identityProviders: [{ name: "127.0.0.1", loginUrl }],
    });
    await go(page, `${loginUrl}?page=${encodeURIComponent("/assets/12?tab=events")}`);
    await page.fill("input[name=login]", user);
    await page.fill("input[name=password]", "any");
    await Promise.all([page.waitForURL(`${server.baseUrl}/assets/**`), page.click("button[type=submit]")]);
    assert.equal(page.url(), `${server.baseUrl}/assets/12?tab=events`);
    const cookies = await context.cookies(server.baseUrl);
    const session = cookies.find(({ name }) => name === sessionCookie());
    assert.deepEqual([session?.sameSite, session?.httpOnly, session?.path], ["Strict", true, "/"]);
    const info = (await page.evaluate(`fetch("/session").then((response) => response.json())`)) as object;
    assert.deepEqual(
      { ...info, expiresTime: 0 },
      {
        account: { name: user },
        project: "demo",
        capabilities: [{ assetsAcl: { actions: ["READ"], scope: { all: {} } } }],
        isAdministrator: false,
        expiresTime: 0,
      },
    );
    assert.equal(await fetchFrom(page, "/api/0.6/projects/demo/assets"), 200);
    await go(page, `${foreign.origin}/`);
    assert.notEqual(await fetchFrom(page, `${server.baseUrl}/api/0.6/projects/demo/assets`), 200);
    await go(page, `${server.baseUrl}/`);
    assert.equal(await fetchFrom(page, "/session", "DELETE"), 204);
    assert.equal(await fetchFrom(page, "/session"), 401);
    await context.addCookies([session!]);
    assert.equal(await fetchFrom(page, "/session"), 401, "a copy of the cookie is invalid");
    await context.close();
  });

  it("from the console ends the former session of the browser, when it succeeds", async () => {
    const isSignedIn = async (value: string) => {
      const headers = { "api-key": undefined, cookie: `${sessionCookie()}=${value}` };
      return (await server.ask.root("GET /session", undefined, headers)).status === 200;
    };
    const byKey = await server.ask.root("POST /session", { apiKey: server.key }, { "api-key": undefined });
    const [, former = ""] = /=([^;]*)/.exec(byKey.headers.getSetCookie()[0]!)!;
    const context = await browser.newContext();
    await context.addCookies([
      { name: sessionCookie(), value: former, url: server.baseUrl, sameSite: "Strict" },
    ]);
    const page = await context.newPage();
    await go(page, `${server.baseUrl}/session/login`);
    await page.fill("input[name=login]", user);
    assert.equal(await isSignedIn(former), true);
    await page.fill("input[name=password]", "any");
    await Promise.all([page.waitForURL(`${server.baseUrl}/`), page.click("button[type=submit]")]);
    assert.equal(await isSignedIn(former), false);
    const cookies = await context.cookies(server.baseUrl);
    const { value } = cookies.find(({ name }) => name === sessionCookie())!;
    assert.equal(await isSignedIn(value), true);
    await go(page, `${server.baseUrl}/session/login`);
    await page.waitForURL(`${server.baseUrl}/`);
    assert.equal(await isSignedIn(value), false, "a login with the provider is ended as well");
    await context.close();
  });

  it("from the console that fails ends at its sign-in page, and goes to no other site", async () => {
    const begun = await fetch(`${server.baseUrl}/session/login`, { redirect: "manual" });
    assert.equal(begun.status, 303);
    const state = new URL(begun.headers.get("location")!).searchParams.get("state")!;
    const cookie = begun.headers.getSetCookie()[0]!.split(";")[0]!;
    const said = new URLSearchParams({ state, iss: provider.issuer, error: "access_denied" });
    const back = await fetch(`${server.baseUrl}/login/callback?${said}`, {
      redirect: "manual",
      headers: { cookie },
    });
    const { origin, pathname, searchParams } = new URL(back.headers.get("location")!);
    assert.deepEqual([origin, pathname], [server.baseUrl, "/sign-in"]);
    assert.equal(searchParams.get("error"), "access_denied");
    assert.ok(!back.headers.getSetCookie().some((header) => header.startsWith("millrace_session")));
    for (const elsewhere of ["https://evil.example/", "@evil.example/", ".evil.example/", "assets"]) {
      const query = new URLSearchParams({ page: elsewhere });
      const refused = await fetch(`${server.baseUrl}/session/login?${query}`, { redirect: "manual" });
      assert.deepEqual([refused.status, refused.headers.get("location")], [400, null], elsewhere);
    }
  });

  it("cannot be finished in another browser than it was begun in, nor twice", async () => {
    const begun = await fetch(`${server.baseUrl}/login/redirect?${wish()}`, { redirect: "manual" });
    assert.equal(begun.status, 303);
    const state = new URL(begun.headers.get("location")!).searchParams.get("state");
    const context = await browser.newContext();
    const page = await context.newPage();
    const response = await page.goto(`${server.baseUrl}/login/callback?state=${state}&code=x`);
    assert.equal(response?.status(), 400);
    assert.match((await page.textContent("body"))!, /was not started in this browser/);
    await context.close();
  });
});
