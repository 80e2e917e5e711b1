// Tests over all pages in a real browser: an operator of one unit, and an administrator who sees as the
// operators, receive nothing of another unit on any page or in the palette. Lists and records are copied as
// requests that work.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { type ConsoleUnderTest, startConsole } from "./browser.ts";

const run = promisify(execFile);

/** Each record of the other unit has this in its name or description. */
const hidden = "unit23";
const seen = "unit24";

let console: ConsoleUnderTest;
const ids: Record<string, number> = {};
let operatorKey: string;

async function create(path: string, item: object): Promise<number> {
  const response = await console.server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  return response.items[0]!["id"] as number;
}

/** An asset with a series, an event, a file and a sequence. */
async function createUnit(name: string, parentId: number): Promise<void> {
  const { v06 } = console.server.ask;
  const asset = await create("/assets", { name, parentId, description: `The ${name}` });
  ids[`${name} series`] = await create("/timeseries", { name: `${name} flow`, unit: "m3/h", assetId: asset });
  const point = { timestamp: Date.now() - 60_000, value: 1 };
  await v06(`POST /timeseries/${ids[`${name} series`]}/data`, { items: [point] });
  ids[`${name} event`] = await create("/events", {
    ...{ type: `${name} alarm`, description: `${name} trip`, assetIds: [asset] },
    ...{ startTime: Date.now() - 60_000, endTime: Date.now() - 30_000 },
  });
  const file = await v06("POST /files/initupload", { fileName: `${name}.csv`, assetIds: [asset] });
  ids[`${name} file`] = (file.json as { data: { fileId: number } }).data.fileId;
  ids[`${name} sequence`] = await create("/sequences", {
    ...{ name: `${name} curve`, assetId: asset, columns: [{ name: `${name} head`, valueType: "DOUBLE" }] },
  });
  ids[`${name} asset`] = asset;
}

/** Of a drawing of each unit for the asset of the unit. */
async function createSuggestions(): Promise<void> {
  for (const unit of [hidden, seen]) {
    const assetId = ids[`${unit} asset`];
    const sent = { fileName: `${unit} drawing.svg`, assetIds: [assetId] };
    const { json } = await console.server.ask.v06("POST /files/initupload", sent);
    const { fileId } = (json as { data: { fileId: number } }).data;
    const box = { x: 0, y: 0, width: 0.1, height: 0.1 };
    await create("/suggestions", { fileId, page: 1, box, assetId, tag: unit, score: 0 });
  }
}

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  const site = await create("/assets", { name: "site" });
  for (const unit of [hidden, seen]) await createUnit(unit, site);
  await v06("POST /raw/create", { items: [{ dbName: hidden }] });
  await v06(`POST /raw/${hidden}/create`, { items: [{ tableName: hidden }] });
  await v06(`POST /raw/${hidden}/${hidden}/create`, { items: [{ key: hidden, columns: { name: hidden } }] });
  const query = `SELECT '${hidden}' AS externalId`;
  ids["transformation"] = await create("/transformations", {
    ...{ externalId: hidden, name: hidden, query, destination: { type: "assets" }, action: "upsert" },
  });
  const scope = { assetIdScope: { subtreeIds: [String(ids[`${seen} asset`])] } };
  await createSuggestions();
  const types = ["assetsAcl", "timeSeriesAcl", "eventsAcl", "filesAcl", "sequencesAcl"];
  const ofUnit = types.map((type) => ({ [type]: { actions: ["READ", "WRITE"], scope } }));
  const reviews = { suggestionsAcl: { actions: ["READ", "WRITE"], scope: { all: {} } } };
  const capabilities = [...ofUnit, reviews];
  ids["group"] = await create("/groups", { name: "operators", capabilities });
  const userId = await create("/users", { uniqueName: "operator", groups: [ids["group"]] });
  const key = await v06("POST /apikeys", { items: [{ userId }] });
  operatorKey = key.items[0]!["value"] as string;
});
after(() => console.close());

interface Visit {
  readonly path: string;
  /** The page shows the names that are in its address. */
  readonly showsAddress?: boolean;
  /** Text of the own unit that the page shows. */
  readonly shows?: string;
}

/** Addresses of every page: those of routes.tsx, and links to records of the other unit. */
function visits(): readonly Visit[] {
  return [
    { path: "/" },
    { path: "/trend" },
    { path: `/trend?series=${hidden}+flow`, showsAddress: true },
    { path: `/trend?series=${seen}+flow`, shows: `${seen} flow` },
    { path: "/series", shows: `${seen} flow` },
    { path: `/series?query=${hidden}` },
    { path: `/series/${ids[`${hidden} series`]}` },
    { path: `/series/${ids[`${seen} series`]}`, shows: `${seen} flow` },
    { path: "/assets", shows: seen },
    { path: `/assets?query=${hidden}` },
    { path: `/assets/${ids[`${hidden} asset`]}` },
    { path: `/assets/${ids[`${seen} asset`]}`, shows: `The ${seen}` },
    { path: "/events", shows: `${seen} alarm` },
    { path: `/events/${ids[`${hidden} event`]}` },
    { path: `/events/${ids[`${seen} event`]}`, shows: `${seen} trip` },
    { path: "/events/import" },
    { path: "/series/import" },
    { path: "/files", shows: `${seen}.csv` },
    { path: `/files/${ids[`${hidden} file`]}` },
    { path: `/files/${ids[`${seen} file`]}`, shows: `${seen}.csv` },
    { path: `/sequences/${ids[`${hidden} sequence`]}` },
    { path: `/sequences/${ids[`${seen} sequence`]}`, shows: `${seen} curve` },
    { path: "/raw" },
    { path: `/raw/${hidden}/${hidden}`, showsAddress: true },
    { path: "/suggestions", shows: `${seen} drawing.svg` },
    { path: "/transformations" },
    { path: `/transformations/${ids["transformation"]}` },
    { path: "/calculated" },
    { path: "/models" },
    { path: "/access" },
    { path: "/operations" },
    { path: "/audit" },
    { path: "/connect" },
    { path: "/connect/api" },
  ];
}

/** The routes of the console as addresses with an asterisk for each parameter. */
function routes(): string[] {
  const text = readFileSync(new URL("../src/routes.tsx", import.meta.url), "utf8");
  const declared = [...text.matchAll(/getParentRoute: \(\) => (\w+),\s+path: "([^"]+)"/g)];
  return declared
    .filter(([, parent, path]) => (parent === "frameRoute" && path !== "$") || path === "/$id")
    .map(([, parent, path = ""]) => (parent === "frameRoute" ? path : `/assets${path}`))
    .map((path) => path.replaceAll(/\$\w+/g, "*"));
}

const routeOf = ({ path }: Visit): string =>
  path
    .replace(/\?.*/, "")
    .replace(/\/\d+$/, "/*")
    .replace(`/raw/${hidden}/${hidden}`, "/raw/*/*");

/** Opens every page, and returns what it shows or receives of the other unit. */
async function leaksOf(page: Page): Promise<string[]> {
  const leaks: string[] = [];
  const receiving: Promise<void>[] = [];
  page.on("response", (response) => {
    if (!/\/api\/0\.|\/session/.test(response.url())) return;
    const check = async () => {
      const text = await response.text().catch(() => "");
      if (text.includes(hidden)) leaks.push(`${response.request().method()} ${response.url()}`);
    };
    receiving.push(check());
  });
  for (const { path, shows, showsAddress } of visits()) {
    await page.goto(console.server.baseUrl + path);
    await page.getByRole("main").waitFor();
    if (shows !== undefined) await page.getByRole("main").getByText(shows).first().waitFor();
    await page.waitForLoadState("networkidle");
    const text = await page.getByRole("main").innerText();
    if (!showsAddress && text.includes(hidden)) leaks.push(`${path}: ${text}`);
  }
  for (const [word, found] of [
    [hidden, "Nothing is called that"],
    [seen, `${seen} flow`],
  ] as const) {
    const palette = page.getByLabel("Find pages, assets, series, events and files");
    await page.keyboard.press("Control+k");
    await palette.fill(word);
    await page.getByText(found).first().waitFor();
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
  }
  await Promise.all(receiving);
  return leaks;
}

// Both wait for the end of all requests of each page: they do it at the same time.
describe("nothing of another unit is on any page or in a response", { concurrency: true }, () => {
  it("the table of pages is complete", () => {
    const visited = visits().map(routeOf);
    assert.ok(routes().length > 15);
    assert.deepEqual(
      routes().filter((route) => !visited.includes(route)),
      [],
    );
  });

  it("for an operator of one unit", async () => {
    const page = await console.open({ key: operatorKey });
    assert.deepEqual(await leaksOf(page), []);
    await page.goto(`${console.server.baseUrl}/raw`);
    await page.getByRole("alert").getByText("An administrator can add the right").waitFor();
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
    const links = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts();
    for (const name of ["Raw", "Models", "Transformations", "Access"]) assert.ok(!links.includes(name), name);
    for (const name of ["Series", "Suggestions"]) assert.ok(links.includes(name), name);
    await console.release(page);
  });

  it("for an administrator who sees as the operators", async () => {
    const page = await console.open({ path: `/access?tab=groups&group=${ids["group"]}` });
    await page.getByRole("button", { name: "See as this group" }).click();
    const banner = page.getByRole("region", { name: "See as a group" });
    await banner.getByText("operators").waitFor();
    assert.deepEqual(await leaksOf(page), []);
    await banner.getByRole("button", { name: "End" }).click();
    await page.goto(`${console.server.baseUrl}/series`);
    await page.getByText(`${hidden} flow`).waitFor();
    await console.release(page);
  });
});

it("lists and records are copied as requests that work", async () => {
  const page = await console.open({ permissions: ["clipboard-read", "clipboard-write"] });
  const env = { ...process.env, MILLRACE_KEY: console.server.key };
  for (const [path, expected] of [
    ["/series", "unit24 flow"],
    [`/series/${ids[`${seen} series`]}`, "datapoints"],
    ["/assets", "site"],
    [`/assets?query=${seen}`, seen],
    [`/assets/${ids[`${seen} asset`]}`, seen],
    ["/events", `${seen} trip`],
    [`/events/${ids[`${seen} event`]}`, `${seen} trip`],
    ["/files", `${seen}.csv`],
    [`/files/${ids[`${seen} file`]}`, `${seen}.csv`],
    [`/sequences/${ids[`${seen} sequence`]}`, `${seen} head`],
    ["/raw", hidden],
    [`/raw?database=${hidden}`, hidden],
    [`/raw/${hidden}/${hidden}`, hidden],
    ["/transformations", hidden],
    [`/transformations/${ids["transformation"]}`, hidden],
    [`/trend?series=${seen}+flow`, "datapoints"],
    ["/operations", "millrace_"],
    ["/access", "operator"],
    ["/access?tab=keys", "createdTime"],
    [`/access?tab=groups&group=${ids["group"]}`, "operators"],
  ] as const) {
    await page.goto(console.server.baseUrl + path);
    await page.getByRole("button", { name: "Copy as" }).first().click();
    await page.getByRole("menuitem", { name: "curl" }).click();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const { stdout } = await run("sh", ["-c", `${command} --silent`], { env });
    assert.ok(stdout.includes(expected), `${path}: ${stdout.slice(0, 300)}`);
    await page.getByRole("button", { name: "Copy as" }).first().click();
    await page.getByRole("menuitem", { name: "curl" }).waitFor();
    const odata = page.getByRole("menuitem", { name: "OData" });
    if ((await odata.count()) === 0) continue;
    await odata.click();
    const address = await page.evaluate<string>("navigator.clipboard.readText()");
    const response = await fetch(address, { headers: { "api-key": console.server.key } });
    assert.equal(response.status, 200, `${path}: ${await response.text()}`);
  }
  await console.release(page);
});
