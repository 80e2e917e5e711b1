// Tests the API explorer in a real browser: it finds operations, sends them with the session, and shows
// responses and refusals. It confirms changes first, and changes nothing while it sees as a group.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { assertAccessible, type ConsoleUnderTest, startConsole } from "./browser.ts";

const run = promisify(execFile);

let console: ConsoleUnderTest;
let page: Page;
let group: number;
/** Requests of the page to the API, without those of the description. */
let sent: string[];

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  const items = Array.from({ length: 600 }, (_, i) => ({ name: `23-FT-${i}`, unit: "m3/h" }));
  await v06("POST /timeseries", { items });
  const capabilities = [{ timeSeriesAcl: { actions: ["READ", "WRITE"], scope: { all: {} } } }];
  const created = await v06("POST /groups", { items: [{ name: "operators", capabilities }] });
  group = created.items[0]!["id"] as number;
  page = await console.open({ path: "/connect", permissions: ["clipboard-read", "clipboard-write"] });
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/0.") && !pathname.endsWith("openapi.json"))
      sent.push(`${request.method()} ${pathname}${search}`);
  });
});
after(() => console.close());

const open = async (search: string): Promise<void> => {
  await page.goto(`${console.server.baseUrl}/connect/api?${search}`);
  sent = [];
};
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
const bodyText = () => page.getByRole("region", { name: "Body of the response" }).innerText();
const response = () => page.getByRole("region", { name: "Response", exact: true });

describe("an operation that only reads", () => {
  it("is found, filled in and sent; the address holds it, and opens it again", async () => {
    sent = [];
    await page.getByRole("link", { name: "API explorer" }).click();
    await page.getByRole("searchbox", { name: "Search operations" }).fill("list time series timeseries");
    await page.getByRole("link", { name: /^GET List time series/ }).click();
    await page.getByRole("textbox", { name: "limit" }).fill("2");
    await page.getByRole("combobox", { name: "includeMetadata" }).selectOption("true");
    await press("Send");
    await response().getByText("200 OK").waitFor();
    assert.equal(JSON.parse(await bodyText()).data.items.length, 2);
    const path = "GET /api/0.6/projects/demo/timeseries?includeMetadata=true&limit=2";
    assert.deepEqual(
      sent.filter((line) => line.includes("limit=2")),
      [path],
    );
    await response()
      .getByText(/\d ms · \d/)
      .waitFor();
    await response()
      .getByText(/^\d+ headers$/)
      .click();
    await response().getByText("x-request-id", { exact: true }).waitFor();
    await page.reload();
    assert.equal(await page.getByRole("textbox", { name: "limit" }).inputValue(), "2");
    assert.equal(await page.getByRole("searchbox").inputValue(), "list time series timeseries");
    assert.equal(await response().count(), 0, "a reload sends nothing");
  });

  it("shows a refusal with its field, and marks values that cannot be sent", async () => {
    await open("operation=getTimeseries&in.cursor=wrong");
    await press("Send");
    await response().getByRole("alert").getByText("cursor", { exact: true }).waitFor();
    await page.getByText("The server refuses this value").waitFor();
    await page.getByRole("textbox", { name: "limit" }).fill("many");
    await page.getByText("This is no integer").waitFor();
    assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isDisabled(), true);
    await open("operation=getAssetsByAssetId");
    await press("Send");
    await page.getByText("A value is required").waitFor();
    assert.deepEqual(sent, []);
  });

  it("cuts a long response with a sign, and downloads all of it", async () => {
    await open("operation=getTimeseries&in.limit=600");
    await press("Send");
    await response().getByText("Only the beginning is shown").waitFor();
    assert.equal((await bodyText()).length, 100_000);
    const [download] = await Promise.all([page.waitForEvent("download"), press("Download")]);
    assert.equal(download.suggestedFilename(), "getTimeseries.json");
    const { data } = JSON.parse(await readFile(await download.path(), "utf8"));
    assert.equal(data.items.length, 600);
  });

  it("is copied as a program that works", async () => {
    await open("operation=postTimeseriesByids");
    const { items } = await console.server.ask.v06("GET /timeseries?limit=1");
    const body = JSON.stringify({ items: [{ id: items[0]!["id"] }] });
    await page.getByRole("textbox", { name: "Body, application/json" }).fill(body);
    const env = { ...process.env, MILLRACE_KEY: console.server.key };
    for (const [language, command, args] of [
      ["curl", "sh", ["-c"]],
      ["JavaScript", process.execPath, ["--input-type=module", "-p"]],
    ] as const) {
      await press("Copy as");
      await page.getByRole("menuitem", { name: language }).click();
      const text = await page.evaluate<string>("navigator.clipboard.readText()");
      assert.ok(!text.includes(console.server.key));
      const code = language === "curl" ? text : `${text}\nconsole.log(JSON.stringify(data));`;
      const { stdout } = await run(
        command,
        [...args.slice(0, 1), ...(language === "curl" ? [] : ["-e"]), code],
        {
          env,
        },
      );
      assert.match(stdout, /23-FT-\d/, language);
    }
    await press("Send");
    assert.equal(JSON.parse(await bodyText()).data.items[0].id, items[0]!["id"]);
  });

  it("has the operations of each version", async () => {
    await open("find=analytics");
    await page.getByRole("link", { name: /List models/ }).waitFor();
    await page.getByText("0.4", { exact: true }).click();
    await page.getByText("No operation has these words").waitFor();
    assert.match(page.url(), /version=0\.4/);
    await open("version=0.4&operation=getAssets&in.limit=1");
    await press("Send");
    await response().getByText("200 OK").waitFor();
    assert.deepEqual(sent, ["GET /api/0.4/projects/demo/assets?limit=1"]);
  });
});

describe("an operation that changes something", () => {
  const count = async () => (await console.server.ask.v06("GET /assets")).items.length;

  it("is confirmed first in a dialog that names the request, and is not sent otherwise", async () => {
    await open("operation=postAssets");
    const body = page.getByRole("textbox", { name: "Body, application/json" });
    assert.deepEqual(JSON.parse(await body.inputValue()), { items: [{ name: "a" }] });
    await body.fill('{"items": [{"name": "Site"}');
    await press("Send");
    assert.equal(await page.getByRole("dialog").count(), 0, "the body is no JSON");
    await body.fill('{"items": [{"name": "Site"}]}');
    await press("Send");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("POST /api/0.6/projects/demo/assets").waitFor();
    await dialog.getByText('{"items": [{"name": "Site"}]}').waitFor();
    await press("Cancel");
    assert.equal(await count(), 0);
    assert.deepEqual(sent, []);
    await press("Send");
    await press("Send POST");
    await response().getByText("201 Created").waitFor();
    assert.equal(await count(), 1);
    await page.getByText("Members of the body").click();
    await page.getByRole("row", { name: /^items\[\]\.name required string/ }).waitFor();
  });

  it("is not sent with . in its path: browsers remove it, and the dialog would name it", async () => {
    await open("operation=deleteRawByDatabaseByTableByKey&in.database=db&in.table=t&in.key=.");
    await press("Send");
    await page.getByText("Browsers remove this from a path").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(sent, []);
  });

  it("is not sent while the console sees as a group; what reads is read with its rights", async () => {
    await page.goto(`${console.server.baseUrl}/access?tab=groups&group=${group}`);
    await press("See as this group");
    await page.getByRole("region", { name: "See as a group" }).waitFor();
    await open("operation=postTimeseries");
    await page.getByText("send only requests that change nothing").waitFor();
    assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isDisabled(), true);
    await page.keyboard.press("Control+Enter");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await open("operation=getAssets");
    await press("Send");
    await response().getByText("403 Forbidden").waitFor();
    await open("operation=getTimeseries&in.limit=1");
    await press("Send");
    await response().getByText("200 OK").waitFor();
    await press("End");
  });
});

it("is used by keyboard, and has no faults of accessibility, light and dark, wide and narrow", async () => {
  await open("find=list+time+series+timeseries");
  await page.getByRole("link", { name: /^GET List time series/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "limit" }).focus();
  await page.keyboard.type("3");
  await page.keyboard.press("Control+Enter");
  await response().getByText("200 OK").waitFor();
  for (const [colorScheme, width] of [
    ["light", 1440],
    ["dark", 360],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 740 });
    await assertAccessible(page);
    const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
    assert.equal(isCut, false, `the page is wider than ${width} px`);
  }
  await page.getByRole("link", { name: "All operations" }).click();
  await page.getByRole("searchbox", { name: "Search operations" }).waitFor();
  await assertAccessible(page);
});
