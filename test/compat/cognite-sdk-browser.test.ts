// A published client, @cognite/sdk 1.7.7, unmodified, in a real browser: `Login.authorize`.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchTestBrowser, type Pages, packed, startPages } from "../support/browser.ts";
import { needs } from "../support/needs.ts";
import { client, startProvider, type TestProvider } from "../support/provider.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const user = "operator@plant.example";
const needed = needs("chromium");

/** As an application of that time: log in, then use the API; the page's title has the result. */
const application = (baseUrl: string) => `
  sdk.configure({ baseUrl: "${baseUrl}", project: "demo" });
  const home = location.origin + "/home";
  sdk.Login.authorize({ project: "demo", redirectUrl: home, errorRedirectUrl: home })
    .then(async (result) => {
      const assets = await sdk.Assets.list({ limit: 1 });
      sdk.Login.stopAutoAuthorize();
      document.title = "in: " + result.user + " of " + result.project + ", assets: " + assets.items.length;
    })
    .catch((problem) => { document.title = "failed: " + problem.message; });`;

let server: TestServer;
let provider: TestProvider;
let app: Pages;
let browser: Browser;

before(async () => {
  if (needed.skip !== false) return;
  server = await startTestServer(withFront);
  const libraries = packed("@cognite/sdk", "sdk", { axios: "axios/dist/axios.js", url: "url/" });
  app = await startPages(libraries + application(server.baseUrl));
  provider = await startProvider({ redirectUris: [`${server.baseUrl}/login/callback`], logoutUris: [] });
  const authentication = {
    oAuth2Configuration: { clientId: client.id, clientSecret: client.secret },
    openIdConfiguration: {
      issuer: provider.issuer,
      redirectUrls: [`${app.origin}/`],
      scope: "openid email groups",
    },
  };
  await server.ask("PUT /", { items: [{ name: "demo", authentication }] });
  const canRead = { assetsAcl: { actions: ["READ"], scope: { all: {} } } };
  const group = { name: "operators", sourceId: "operators", capabilities: [canRead] };
  await server.ask("POST /groups", { items: [group] });
  await server.ask("POST /assets", { items: [{ name: "pump" }] });
  browser = await launchTestBrowser();
});
after(async () => {
  await browser?.close();
  app?.close();
  await Promise.all([server?.close(), provider?.close()]);
});

const isIn = `in: ${user} of demo, assets: 1`;
const titleComes = (page: Page) =>
  page
    .waitForFunction(`/^(in|failed): /.test(document.title) && document.title`)
    .then((one) => one.jsonValue());

describe("the client in a browser", needed, () => {
  it("logs in by redirect, and afterwards silently", async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${app.origin}/home`, { waitUntil: "commit" });
    await page.waitForSelector("input[name=login]");
    await page.fill("input[name=login]", user);
    await page.fill("input[name=password]", "any");
    await page.click("button[type=submit]");
    await page.waitForURL(`${app.origin}/**`, { waitUntil: "commit" });
    assert.equal(await titleComes(page), isIn);
    assert.equal(new URL(page.url()).search, "", "the client takes the tokens out of the address");
    await page.goto(`${app.origin}/home`, { waitUntil: "commit" });
    assert.equal(await titleComes(page), isIn);
    assert.equal(new URL(page.url()).origin, app.origin);
    await page.context().close();
  });
});
