// Tests the frame of the console in a real browser: sign-in, navigation, palette, colours and a lost
// connection.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  assertAccessible,
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
  untilTrue,
} from "./browser.ts";

let console: ConsoleUnderTest;
before(async () => {
  console = await startConsole();
  const items = Array.from({ length: 300 }, (_, i) => ({
    ...{ name: `23-FT-${1000 + i}`, description: `Flow of line ${i}`, unit: "m3/h" },
  }));
  await console.server.ask.v06("POST /timeseries", { items });
});
after(() => console.close());

describe("sign-in", () => {
  it("with a key opens the page that was requested, and the key does not stay in the browser", async () => {
    const page = await console.open({ key: null, path: "/series?query=1007" });
    await page.getByLabel("API key").fill(console.server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("row", { name: "23-FT-1007" }).waitFor();
    assert.match(page.url(), /\/series\?query=1007$/);
    const stored = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }])",
    );
    assert.ok(!stored.includes(console.server.key));
    assert.equal(await page.evaluate("document.cookie"), "");
    await console.release(page);
  });

  it("with a wrong key says so and opens nothing", async () => {
    const page = await console.open({ key: null });
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("The server does not know this key").waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0);
    await assertAccessible(page);
    await console.release(page);
  });

  it("shows why the identity provider refused", async () => {
    const search = new URLSearchParams({ error: "access_denied", error_description: "No licence" });
    const page = await console.open({ key: null, path: `/sign-in?${search}` });
    await page.getByRole("alert").getByText("No licence").waitFor();
    await console.release(page);
  });

  it("does not follow an address of another site", async () => {
    const page = await console.open({ key: null, path: "/sign-in?returnTo=//evil.example/" });
    await page.getByLabel("API key").fill(console.server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    assert.equal(new URL(page.url()).origin, console.server.baseUrl);
    await console.release(page);
  });

  it("is requested when the session has ended, says so, and leads back to the page", async () => {
    // This page reads nothing by itself.
    const page = await console.open({ path: "/raw" });
    await page.getByRole("heading", { name: "Raw" }).waitFor();
    await page.context().clearCookies();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Events" }).click();
    await page.getByText("Your session has ended").waitFor();
    assert.equal(await page.getByText("This did not work").count(), 0);
    await assertAccessible(page);
    await page.getByLabel("API key").fill(console.server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Events" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/events");
    await console.release(page);
  });

  it("ends with the sign-out, also for other windows", async () => {
    const page = await console.open();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByLabel("API key").waitFor();
    await console.release(page);
  });
});

/** Opens the palette from the page Start, and returns its input. */
async function openPalette(page: Page): Promise<Locator> {
  await page.getByRole("heading", { name: "Start" }).waitFor();
  await page.keyboard.press("Control+k");
  const input = page.getByLabel("Find pages, assets, series, events and files");
  await input.waitFor();
  return input;
}

describe("the frame", () => {
  it("has pages without faults of accessibility, light and dark, wide and narrow", async () => {
    const page = await console.open({ path: "/series" });
    const row = page.getByRole("row", { name: "23-FT-1000" });
    await assertAccessibleInLooks(page, oppositeLooks, () => row.waitFor());
    await console.release(page);
  });

  it("is used by keyboard alone: the palette finds a series and opens it", async () => {
    const page = await console.open();
    await openPalette(page);
    await page.keyboard.type("FT-1042");
    await page.getByText("23-FT-1041").waitFor({ state: "hidden" });
    await page.getByText("23-FT-1042").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "23-FT-1042" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await console.release(page);
  });

  it("opens the first hit of the text when Enter comes before the hits", async () => {
    const page = await console.open();
    await openPalette(page);
    await page.keyboard.type("FT-104");
    await page.getByText("23-FT-1042").waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/timeseries\/search.*FT-1042/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    held.resolve();
    await page.getByRole("heading", { name: "23-FT-1042" }).waitFor();
    await console.release(page);
  });

  it("opens the first hit of the text, also if another one was the first of an earlier text", async () => {
    const page = await console.open();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await page.route(/timeseries\/search/, async (route) => {
      const response = await route.fetch();
      const { items } = ((await response.json()) as { data: { items: object[] } }).data;
      const isEarlier = new URL(route.request().url()).searchParams.get("query") === "FT-10";
      await route.fulfill({ response, json: { data: { items: isEarlier ? items.slice(1) : items } } });
    });
    await openPalette(page);
    await page.keyboard.type("FT-10");
    const hits = page.getByRole("dialog").getByText(/^23-FT-/);
    await hits.first().waitFor();
    const later = await hits.allTextContents();
    await page.keyboard.type("0");
    await page.getByText("23-FT-1000").waitFor();
    const [first] = await hits.allTextContents();
    assert.ok(!later.includes(first!) && later.length > 0);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: first! }).waitFor();
    await console.release(page);
  });

  it("opens nothing when the text changes after Enter", async () => {
    const page = await console.open();
    const input = await openPalette(page);
    // A fast response would open its first hit before the text changes.
    const held = Promise.withResolvers<void>();
    await page.route(/timeseries\/search.*FT-1042/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.type("FT-1042");
    await page.keyboard.press("Enter");
    // As a paste by the mouse does.
    await input.fill("FT-1043");
    held.resolve();
    await page.getByText("23-FT-1043").waitFor();
    await page.waitForTimeout(300);
    assert.equal(new URL(page.url()).pathname, "/");
    await console.release(page);
  });

  it("opens nothing without a connection, neither at once nor when it is back", async () => {
    const page = await console.open();
    await openPalette(page);
    await page.keyboard.type("FT-104");
    await page.getByText("23-FT-1042").waitFor();
    await page.context().setOffline(true);
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.getByText("The search failed").waitFor();
    await page.context().setOffline(false);
    await page.getByText("23-FT-1042").waitFor();
    await page.waitForTimeout(300);
    assert.equal(new URL(page.url()).pathname, "/");
    await console.release(page);
  });

  it("takes the letters that are typed before the palette is there", async () => {
    const page = await console.open({ key: null });
    const typed = Promise.withResolvers<void>();
    await page.route(/command-palette/, async (route) => {
      await typed.promise;
      await route.continue();
    });
    await page.getByLabel("API key").fill(console.server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("FT-10422");
    await page.keyboard.press("Backspace");
    typed.resolve();
    await page.getByText("23-FT-1042").waitFor();
    const input = page.getByLabel("Find pages, assets, series, events and files");
    assert.equal(await input.inputValue(), "FT-1042");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("3");
    await page.getByText("23-FT-1043").waitFor();
    await console.release(page);
  });

  it("opens the hit of a text that was entered before the palette is there", async () => {
    const page = await console.open();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    // All of it in one turn of the page, in which the palette cannot appear.
    await page.evaluate(`
      const press = (key, more) => document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
      press("k", { code: "KeyK", ctrlKey: true });
      for (const letter of "FT-1042") press(letter);
      press("Enter");
    `);
    await page.getByRole("heading", { name: "23-FT-1042" }).waitFor();
    await console.release(page);
  });

  it("says that it searches, and then that there is nothing", async () => {
    const page = await console.open();
    const held = Promise.withResolvers<void>();
    await page.route(/timeseries\/search/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await openPalette(page);
    await page.keyboard.type("no such name");
    await page.getByText("Searching…").waitFor();
    held.resolve();
    await page.getByText("Nothing is called that").waitFor();
    await console.release(page);
  });

  it("loads further rows while one scrolls, until all are there", async () => {
    const page = await console.open({ path: "/series" });
    await page.getByText("200 and more").waitFor();
    const table = page.getByRole("table", { name: "Series" });
    await table.getByRole("row").nth(5).hover();
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, 2_000);
    await page.getByRole("row", { name: "23-FT-1299" }).waitFor();
    await page.getByText("300", { exact: true }).waitFor();
    await console.release(page);
  });

  it("returns the keyboard to where it was, and keeps a dialog with input open", async () => {
    const page = await console.open({ path: "/events" });
    const focused = (name: string) =>
      untilTrue(page, `document.activeElement?.textContent === ${JSON.stringify(name)}`);
    await page.getByRole("button", { name: "New event" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Add a pair" }).press("Enter");
    await dialog.getByRole("button", { name: "Remove pair 1" }).press("Enter");
    await focused("Add a pair");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await focused("New event");
    await page.keyboard.press("Enter");
    const description = dialog.getByLabel("Description");
    await description.fill("A long text");
    await page.keyboard.press("Escape");
    await page.mouse.click(4, 300);
    assert.equal(await description.inputValue(), "A long text");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.goto(`${console.server.baseUrl}/suggestions`);
    const suggest = page.getByRole("button", { name: "Suggest assets for series" });
    await suggest.press("Enter");
    await page.getByText("300 series without an asset were compared").waitFor();
    await focused("Suggest assets for series");
    // Who clicks elsewhere meanwhile works there.
    const held = Promise.withResolvers<void>();
    await page.route("**/suggestions/timeseries*", (route) => held.promise.then(() => route.continue()));
    await suggest.press("Enter");
    await page.locator("button:disabled").filter({ hasText: "Suggest assets for series" }).waitFor();
    await page.getByRole("banner").click({ position: { x: 500, y: 2 } });
    held.resolve();
    await page.locator("button:enabled").filter({ hasText: "Suggest assets for series" }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.tagName"), "BODY");
    await console.release(page);
  });

  it("leads on from an address without a page or record", async () => {
    const page = await console.open({ path: "/nowhere" });
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Series" }).click();
    await page.getByRole("row", { name: "23-FT-1000" }).waitFor();
    for (const path of ["/series/1", "/events/1", "/files/1", "/transformations/1"]) {
      await page.goto(console.server.baseUrl + path);
      await page.getByRole("alert").getByText("There is no such record").waitFor();
      assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0, path);
    }
    await console.release(page);
  });

  it("tells a fault of its own from a lost connection", async () => {
    const page = await console.open({ path: "/" });
    await page.route(/\/timeseries\?/, (route) => route.fulfill({ json: {} }));
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByRole("alert").getByText("This is a fault of the console").waitFor();
    assert.equal(await page.getByText("The server cannot be reached").count(), 0);
    await console.release(page);
  });

  it("says that the connection is lost, and continues when it is back", async () => {
    const page = await console.open({ path: "/series" });
    await page.getByRole("row", { name: "23-FT-1000" }).waitFor();
    await page.context().setOffline(true);
    await page.getByLabel("Search series").fill("1003");
    await page.getByText("The server cannot be reached").first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole("row", { name: "23-FT-1003" }).waitFor();
    await page.getByText("No connection").waitFor({ state: "detached" });
    await console.release(page);
  });

  it("keeps its pages while a proxy responds for the server, and opens others later", async () => {
    const page = await console.open({ path: "/operations" });
    await page.getByText("Everything works").waitFor();
    const isOfServer = (url: URL) => url.origin === console.server.baseUrl;
    const badGateway = { status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" };
    // Gateways of clouds write JSON.
    const inJson = { status: 502, contentType: "application/json", body: '{"message":"Bad Gateway"}' };
    let refused = 0;
    await page.route(isOfServer, (route) => route.fulfill(refused++ % 2 ? badGateway : inJson));
    await page.getByRole("alert").getByText("The server cannot be reached. The pages show").waitFor();
    const before = refused;
    while (refused < before + 3) await page.waitForResponse(/\/health$/);
    await page.getByText("The state of the server is not known since").waitFor();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Raw" }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    assert.equal(await page.getByText("This is a fault of the console").count(), 0);
    await page.unroute(isOfServer);
    await page.getByText("No connection").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Raw" }).waitFor();
    await console.release(page);
  });

  it("says that a response ended early, and does not repeat the request for ever", async () => {
    const cutting = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
      response.write("{", () => response.destroy());
    });
    cutting.listen(0, "127.0.0.1").unref();
    await once(cutting, "listening");
    const url = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/`;
    const page = await console.open({ path: "/series" });
    await page.route(/\/timeseries\?/, (route) => route.continue({ url }));
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByRole("alert").getByText("The connection was lost before the whole response").waitFor();
    await console.release(page);
    cutting.close();
  });
});
