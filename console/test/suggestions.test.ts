// Tests the page of suggestions and the areas over drawings as people use them.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { PdfPage } from "../../src/demo/documents/pdf.ts";
import { idsOf } from "../../test/support/server.ts";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let assets: number[];
let drawing: number;
let pdf: number;
let readerKey: string;

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="3200" height="2000" viewBox="0 0 1600 1000"
font-family="sans-serif">
<rect width="1600" height="1000" fill="#fbfcfd"/>
<text x="400" y="500" font-size="14" text-anchor="middle">23-P-1012A</text>
<text x="1200" y="300" font-size="14" text-anchor="middle">23-T-1010</text></svg>`;

before(async () => {
  console = await startConsole();
  const { ask } = console.server;
  const names = ["23-P-1012A", "23-T-1010", "21-PT-1019"].map((name) => ({ name }));
  assets = idsOf(await ask("POST /assets", { items: names }));
  const upload = async (fileName: string, type: string, body: string | Buffer) => {
    const { json } = await ask("POST /files/initupload", { fileName });
    const { data } = json as { data: { fileId: number; uploadURL: string } };
    await fetch(data.uploadURL, { method: "PUT", body, headers: { "content-type": type } });
    return data.fileId;
  };
  drawing = await upload("23-PID-001.svg", "image/svg+xml", svg);
  const sheet = new PdfPage();
  sheet.text("23-P-1012A", [100, 421], { size: 14 });
  sheet.text("23-T-1010", [380, 640], { size: 14 });
  pdf = await upload("23-PID-002.pdf", "application/pdf", Buffer.from(sheet.bytes("23-PID-002")));
  const series = await ask.v06("POST /timeseries", {
    items: [{ name: "pressure", unit: "bar", assetId: assets[0] }],
  });
  const points = [{ timestamp: Date.now() - 5_000, value: 7.25 }];
  await ask.v06(`POST /timeseries/${series.items[0]!["id"]}/data`, { items: points });
  const all = { all: {} };
  const reads = ["suggestionsAcl", "assetsAcl", "timeSeriesAcl", "filesAcl"];
  const capabilities = reads.map((acl) => ({ [acl]: { actions: ["READ"], scope: all } }));
  const groups = idsOf(await ask("POST /groups", { items: [{ name: "readers", capabilities }] }));
  const [userId] = idsOf(await ask("POST /users", { items: [{ uniqueName: "reader", groups }] }));
  readerKey = (await ask("POST /apikeys", { items: [{ userId }] })).items[0]!["value"] as string;
});
after(() => console.close());

/** Three series without an asset, without suggestions. */
let series: number[];
beforeEach(async () => {
  const { ask } = console.server;
  if (series) await ask.v06("POST /timeseries/delete", { items: series });
  const items = idsOf(await ask.v06("GET /suggestions?limit=1000"));
  if (items.length > 0) await ask.v06("POST /suggestions/delete", { items });
  const names = ["21PT1019", "21-PT-1018.PV", "23T1010"].map((name) => ({ name }));
  series = idsOf(await ask.v06("POST /timeseries", { items: names }));
});

const rowOf = (page: Page, name: string) =>
  page.getByRole("table", { name: "Suggestions" }).getByRole("row", { name });
const assetOf = async (id: number | undefined) =>
  (await console.server.ask.v06(`GET /timeseries/${id}`)).items[0]!["assetId"];
const settled = (page: Page) => () => page.getByRole("button", { name: "Accept 21PT1019" }).waitFor();

describe("the page of suggestions", () => {
  it("suggests assets, and accepts and rejects them one by one", async () => {
    const page = await console.open({ path: "/suggestions" });
    await page.getByText("There is nothing to review").waitFor();
    await page.getByRole("button", { name: "Suggest assets for series" }).click();
    await page.getByText("3 series without an asset were compared. 3 suggestions are new.").waitFor();
    await rowOf(page, "21-PT-1018.PV").getByText("21-PT-1019").waitFor();
    await page.getByRole("button", { name: "Accept 21PT1019, 21-PT-1019" }).click();
    await rowOf(page, "21PT1019").waitFor({ state: "detached" });
    assert.equal(await assetOf(series[0]), assets[2]);
    await page.getByRole("button", { name: "Reject 21-PT-1018.PV, 21-PT-1019" }).click();
    await rowOf(page, "21-PT-1018.PV").waitFor({ state: "detached" });
    assert.equal(await assetOf(series[1]), undefined);
    await page.getByRole("combobox", { name: "State" }).click();
    await page.getByRole("option", { name: "Rejected" }).click();
    await rowOf(page, "21-PT-1018.PV").waitFor();
    assert.match(page.url(), /\?state=REJECTED$/);
    await console.release(page);
  });

  it("reviews the selected ones at once, and a row by keys", async () => {
    await console.server.ask.v06("POST /suggestions/timeseries", {});
    const page = await console.open({ path: "/suggestions" });
    const first = page.getByRole("checkbox", { name: "Select 21PT1019" });
    await first.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("r");
    await rowOf(page, "21-PT-1018.PV").waitFor({ state: "detached" });
    assert.equal(await assetOf(series[1]), undefined);
    await page.getByLabel("Select all").check();
    await page.getByRole("button", { name: "Accept 2 selected" }).click();
    await page.getByText("There is nothing to review").waitFor();
    assert.deepEqual([await assetOf(series[0]), await assetOf(series[2])], [assets[2], assets[1]]);
    await console.release(page);
  });

  it("reviews row after row by keys, also capital letters, and keeps the focus in the rows", async () => {
    await console.server.ask.v06("POST /suggestions/timeseries", {});
    const page = await console.open({ path: "/suggestions" });
    await page.getByRole("checkbox", { name: "Select 21PT1019" }).focus();
    await page.keyboard.press("a");
    await page.keyboard.press("r");
    await page.keyboard.press("Shift+A");
    await page.getByText("There is nothing to review").waitFor();
    assert.deepEqual(
      [await assetOf(series[0]), await assetOf(series[1]), await assetOf(series[2])],
      [assets[2], undefined, assets[1]],
    );
    await console.release(page);
  });

  it("selects the best suggestion of each series", async () => {
    const two = [assets[0], assets[2]].map((assetId, at) => ({
      seriesId: series[0],
      assetId,
      tag: "x",
      score: 1 - at,
    }));
    await console.server.ask.v06("POST /suggestions", { items: two });
    const page = await console.open({ path: "/suggestions" });
    await page.getByLabel("Select all").check();
    await page.getByRole("button", { name: "Accept 1 selected" }).click();
    await page.getByText("There is nothing to review").waitFor();
    assert.equal(await assetOf(series[0]), assets[2]);
    await console.release(page);
  });

  it("shows a refusal, and no review to a person who may only read", async () => {
    await console.server.ask.v06("POST /suggestions/timeseries", {});
    const page = await console.open({ path: "/suggestions" });
    await rowOf(page, "21PT1019").waitFor();
    const update = { id: series[0], assetId: { set: assets[0] } };
    await console.server.ask.v06("POST /timeseries/update", { items: [update] });
    await page.getByRole("button", { name: "Accept 21PT1019" }).click();
    await page.getByRole("alert").getByText("is linked to the asset").waitFor();
    await console.release(page);
    const reader = await console.open({ path: "/suggestions", key: readerKey });
    await rowOf(reader, "21PT1019").getByText("Open").waitFor();
    await rowOf(reader, "21PT1019").getByText("same tag").waitFor();
    assert.equal(await reader.getByRole("checkbox").count(), 0);
    assert.equal(await reader.getByRole("button", { name: /Accept|Suggest assets/ }).count(), 0);
    await console.release(reader);
  });

  it("is accessible in every look, full and empty", async () => {
    await console.server.ask.v06("POST /suggestions/timeseries", {});
    const page = await console.open({ path: "/suggestions" });
    await assertAccessibleInLooks(page, oppositeLooks, settled(page));
    const accept = await page.getByRole("button", { name: "Reject 21PT1019" }).boundingBox();
    assert.ok(accept!.x + accept!.width <= 1440);
    await page.setViewportSize({ width: 360, height: 740 });
    for (const name of ["Accept 21PT1019", "Reject 21PT1019"]) {
      const box = (await page.getByRole("button", { name }).boundingBox())!;
      assert.ok(box.x >= 0 && box.x + box.width <= 360 && box.height >= 24, JSON.stringify(box));
    }
    await page.goto(`${console.server.baseUrl}/suggestions?kind=FILE`);
    const empty = () => page.getByText("No suggestions match").waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, empty);
    await console.release(page);
  });
});

describe("a drawing", () => {
  const open = async () => {
    const page = await console.open({ path: `/files/${drawing}` });
    await page.getByRole("button", { name: "Find tags" }).click();
    await page.getByText("Found 2 tags of assets. 2 are new.").waitFor();
    return page;
  };

  it("has areas over its tags, which show the latest values and lead to the asset", async () => {
    const page = await open();
    const spot = page.getByRole("button", { name: "23-P-1012A, suggested" });
    // The page may still be moving both when the areas come.
    for (const endMs = performance.now() + 60_000; ; ) {
      const image = (await page.getByRole("img", { name: "23-PID-001.svg" }).boundingBox())!;
      const box = (await spot.boundingBox())!;
      const across = (box.x + box.width / 2 - image.x) / image.width;
      const down = (box.y + box.height / 2 - image.y) / image.height;
      if (Math.abs(across - 0.25) < 0.01 && Math.abs(down - 0.495) < 0.01) break;
      assert.ok(performance.now() < endMs, JSON.stringify({ box, image }));
    }
    const items = Array.from({ length: 5 }, (_, i) => ({ name: `without values ${i}`, assetId: assets[0] }));
    await console.server.ask.v06("POST /timeseries", { items });
    const latest = "**/timeseries/latest";
    const failure = { status: 500, json: { error: { message: "The store is away" } } };
    await page.route(latest, (route) => route.fulfill(failure));
    await spot.click();
    await page.getByText("The values were not read: The store is away").waitFor();
    assert.equal(await page.getByText("no values", { exact: true }).count(), 0);
    await page.getByText("The first 5 of the asset").getByRole("link", { name: "All series" }).waitFor();
    await page.unroute(latest);
    await page.getByText("7.25 bar").waitFor();
    await page.getByText("no values", { exact: true }).first().waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
    await page.getByRole("button", { name: "23-P-1012A", exact: true }).waitFor();
    const [stored] = (await console.server.ask.v06(`GET /files/${drawing}`)).items;
    assert.deepEqual(stored!["assetIds"], [assets[0]]);
    await page.getByRole("dialog").getByRole("link", { name: "23-P-1012A" }).click();
    await page.getByRole("heading", { name: "23-P-1012A" }).waitFor();
    assert.match(page.url(), new RegExp(`/assets/${assets[0]}$`));
    await console.release(page);
  });

  it("is accessible in every look, with areas of 24 px at least", async () => {
    const page = await open();
    const spot = page.getByRole("button", { name: "23-T-1010, suggested" });
    await assertAccessibleInLooks(page, oppositeLooks, () => spot.waitFor());
    await page.setViewportSize({ width: 360, height: 740 });
    const { width, height } = (await spot.boundingBox())!;
    assert.ok(width >= 24 && height >= 24, `${width} x ${height}`);
    const card = page.getByRole("region", { name: "Tags in the drawing" });
    await card.getByRole("link", { name: "23-T-1010" }).waitFor();
    await console.release(page);
  });

  it("in PDF is drawn, with areas over its tags", async () => {
    const page = await console.open({ path: `/files/${pdf}` });
    await page.getByRole("button", { name: "Find tags" }).click();
    const spot = page.getByRole("button", { name: "23-P-1012A, suggested" });
    await spot.waitFor();
    const picture = page.getByRole("img", { name: "Page 1 of 23-PID-002.pdf" });
    for (const endMs = performance.now() + 60_000; ; ) {
      const image = (await picture.boundingBox())!;
      const box = (await spot.boundingBox())!;
      const across = (box.x + box.width / 2 - image.x) / image.width;
      const down = (box.y + box.height / 2 - image.y) / image.height;
      if (Math.abs(across - 0.24) < 0.02 && Math.abs(down - 0.5) < 0.01) break;
      assert.ok(performance.now() < endMs, JSON.stringify({ box, image, across, down }));
    }
    const shows = page.getByRole("switch", { name: "Show the assets on the drawing" });
    await shows.uncheck();
    await picture.waitFor({ state: "detached" });
    await shows.check();
    await assertAccessibleInLooks(page, oppositeLooks, () => spot.waitFor());
    await console.release(page);
  });
});
