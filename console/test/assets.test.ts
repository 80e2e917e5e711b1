// Tests the tree of assets and the page of one asset in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Page, Request } from "playwright-core";
import { assertAccessible, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
const ids: Record<string, number> = {};

/** `Plant > Unit 1 > P-10000 ... P-29999`, `Plant > Unit 2 > Tank > Valve`; points and records on P-25000. */
const pumpsCount = 20_000;
const perRequest = 5_000;

const post = async (path: string, body: unknown) => {
  const response = await console.server.ask.v06(`POST ${path}`, body);
  assert.ok(response.status < 300, response.text);
  return response;
};

async function add(items: readonly { readonly name: string; readonly parentId?: number | undefined }[]) {
  const created = await post("/assets", { items });
  for (const { id, name } of created.items) ids[String(name)] = Number(id);
}

before(async () => {
  console = await startConsole();
  await add([{ name: "Plant" }]);
  await add(["Unit 1", "Unit 2"].map((name) => ({ name, parentId: ids["Plant"] })));
  await add([{ name: "Tank", parentId: ids["Unit 2"] }]);
  await add([{ name: "Valve", parentId: ids["Tank"] }]);
  for (let first = 10_000; first < 10_000 + pumpsCount; first += perRequest)
    await add(
      Array.from({ length: perRequest }, (_, i) => ({
        ...{ name: `P-${first + i}`, parentId: ids["Unit 1"], externalId: `P-${first + i}` },
      })),
    );
  const assetId = ids["P-25000"];
  await post("/timeseries", { items: [{ name: "P-25000.flow", unit: "m3/h", assetId }] });
  const now = Date.now();
  await post("/timeseries/data/P-25000.flow", { items: [{ timestamp: now - 60_000, value: 42.5 }] });
  await post("/events", { items: [{ startTime: now, endTime: now, type: "alarm", assetIds: [assetId] }] });
  const ends = { sourceType: "asset", sourceExternalId: "P-25000", targetType: "asset" };
  await post("/relationships", { items: [{ externalId: "r", ...ends, targetExternalId: "P-25001" }] });
});
after(() => console.close());

const item = (page: Page, name: string) => page.getByRole("treeitem", { name, exact: false });

describe("the tree", () => {
  it("opens its only root; by keyboard arrows open, move and close, Enter shows the asset", async () => {
    const page = await console.open({ path: "/assets" });
    await item(page, "Unit 2").waitFor();
    await page.getByRole("tree").focus();
    await page.keyboard.press("ArrowLeft");
    await item(page, "Unit 2").waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await item(page, "Unit 2").waitFor();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    await item(page, "Tank").waitFor();
    assert.equal(await item(page, "Tank").getAttribute("aria-level"), "3");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tank" }).waitFor();
    assert.match(page.url(), new RegExp(`/assets/${ids["Tank"]}$`));
    for (const key of ["ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key);
    await item(page, "Tank").waitFor({ state: "detached" });
    await page.keyboard.press("p");
    const active = await page.getByRole("tree").getAttribute("aria-activedescendant");
    assert.equal(active, await item(page, "Plant").getAttribute("id"));
    await console.release(page);
  });

  it("opens at an asset of 20,000 siblings by its address, and loads the way to it alone", async () => {
    const page = await console.open({ path: "/" });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`${console.server.baseUrl}/assets/${ids["P-25000"]}`);
    await page.locator("[role=treeitem][aria-selected=true]", { hasText: "P-25000" }).waitFor();
    // The row is in the middle of the view.
    await item(page, "Unit 1").waitFor({ state: "detached" });
    const pages = requests.filter((url) => url.includes("/assets/children?") && !url.includes("limit=12"));
    assert.ok(pages.length <= 4, `${pages.length} pages of the tree`);
    const rows = await page.getByRole("treeitem").count();
    assert.ok(rows < 60, `${rows} rows in the page`);
    await console.release(page);
  });

  it("finds assets by name; the tree shows the hit, and the back button the search again", async () => {
    const page = await console.open({ path: "/assets" });
    await page.getByLabel("Search assets").fill("P-1777");
    await page.getByRole("link", { name: "P-17771" }).click();
    await page.getByRole("heading", { name: "P-17771" }).waitFor();
    await item(page, "P-17771").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "P-17770" }).waitFor();
    assert.equal(await page.getByLabel("Search assets").inputValue(), "P-1777");
    await console.release(page);
  });
});

it("the path of a hit is loaded at once, without a wait for the asset itself", async () => {
  const page = await console.open({ path: "/assets?query=Valve" });
  const recordOf = (name: string) => new RegExp(`/assets/${ids[name]}$`);
  const ancestors = ["Plant", "Unit 2", "Tank"].map((name) => ids[name]);
  const hasAncestors = (request: Request) => isDeepStrictEqual(request.postDataJSON(), { items: ancestors });
  const held = Promise.withResolvers<void>();
  await page.route(recordOf("Valve"), async (route) => {
    await held.promise;
    await route.continue();
  });
  const requested = [
    page.waitForRequest((request) => /\/assets\/byids$/.test(request.url()) && hasAncestors(request)),
    page.waitForRequest(new RegExp(`/assets/children\\?.*parentId=${ids["Tank"]}`)),
  ];
  await page.getByRole("link", { name: "Valve" }).click();
  await Promise.all(requested);
  assert.equal(await item(page, "Valve").count(), 0);
  held.resolve();
  await page.getByRole("heading", { name: "Valve" }).waitFor();
  await item(page, "Valve").waitFor();
  await console.release(page);
});

it("a hit is shown in the tree before its page, whose requests would delay the levels", async () => {
  const page = await console.open({ path: "/assets?query=Valve" });
  const held = Promise.withResolvers<void>();
  await page.route(new RegExp(`/assets/children\\?.*parentId=${ids["Tank"]}&limit=100`), async (route) => {
    await held.promise;
    await route.continue();
  });
  let requests = 0;
  const isOfPage = new RegExp(`/timeseries\\?assetId=${ids["Valve"]}`);
  page.on("request", (request) => (requests += isOfPage.test(request.url()) ? 1 : 0));
  const path = page.waitForResponse(/\/assets\/byids$/);
  await page.getByRole("link", { name: "Valve" }).click();
  await (await path).finished();
  await page.evaluate(
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))",
  );
  assert.equal(requests, 0);
  held.resolve();
  await item(page, "Valve").waitFor();
  await page.getByRole("heading", { name: "Valve" }).waitFor();
  await console.release(page);
});

describe("the page of an asset", () => {
  it("shows its path, series with the latest value, events and relationships", async () => {
    const page = await console.open({ path: `/assets/${ids["P-25000"]}` });
    const path = page.getByRole("navigation", { name: "Path of the asset" });
    await path.getByRole("link", { name: "Unit 1" }).waitFor();
    const series = page.getByRole("region", { name: "Series" });
    await series.getByText("42.5 m3/h").waitFor();
    await page.getByRole("region", { name: "Events" }).getByText("alarm").waitFor();
    await page
      .getByRole("region", { name: "Relationships" })
      .getByRole("link", { name: "P-25001" })
      .waitFor();
    await series.getByRole("link", { name: "P-25000.flow" }).click();
    await page.waitForURL(/\/trend\?series=P-25000\.flow/);
    await console.release(page);
  });

  it("opens the series that are selected together in the trend, and no others", async () => {
    const names = ["P-20000.level", "P-20000.pressure", "P-20000.state"];
    await post("/timeseries", { items: names.map((name) => ({ name, assetId: ids["P-20000"] })) });
    const page = await console.open({ path: `/assets/${ids["P-20000"]}` });
    const series = page.getByRole("region", { name: "Series" });
    await series.getByRole("checkbox", { name: "Select P-20000.level" }).check();
    await series.getByRole("checkbox", { name: "Select P-20000.state" }).press("Space");
    const selection = page.getByRole("region", { name: "Selection" });
    await selection.getByText("2 selected").waitFor();
    await selection.getByRole("link", { name: "Open in the trend" }).click();
    await page.waitForURL(/\/trend\?series=P-20000\.level&series=P-20000\.state$/);
    await console.release(page);
  });

  it("shows the latest value of each of more than a hundred series, and counts no points", async () => {
    await add([{ name: "Furnace", parentId: ids["Plant"] }]);
    const names = Array.from({ length: 120 }, (_, at) => `Furnace.temperature-${at}`);
    const ofFurnace = { assetId: ids["Furnace"], unit: "degC" };
    await post("/timeseries", { items: names.map((name) => ({ name, ...ofFurnace })) });
    const datapoints = [{ timestamp: Date.now() - 60_000, value: 21.5 }];
    await post("/timeseries/data", { items: names.map((name) => ({ name, datapoints })) });
    const page = await console.open({ path: "/" });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`${console.server.baseUrl}/assets/${ids["Furnace"]}`);
    const series = page.getByRole("region", { name: "Series" });
    for (const count of [25, 50, 75, 100]) {
      await series
        .getByRole("checkbox")
        .nth(count - 1)
        .waitFor();
      await series.getByRole("button", { name: "Show more" }).click();
    }
    await series.getByText("21.5 degC").nth(119).waitFor();
    await series
      .getByRole("img", { name: /over the last day$/ })
      .nth(119)
      .waitFor();
    assert.equal(requests.filter((url) => url.includes("/data/count")).length, 0);
    await console.release(page);
  });

  it("shows the raw rows that name it, of linked tables only, and says what it searched", async () => {
    const assetIds = [ids["Unit 1"]];
    const items = ["parts", "long"].map((tableName) => ({ tableName, assetIds }));
    await post("/raw/ERP/create?ensureParent=true", { items });
    const used = (key: string, usedIn: string) => ({ key, columns: { material: `seal ${key}`, usedIn } });
    await post("/raw/ERP/parts/create", { items: [used("501", "P-25000"), used("502", "P-25001")] });
    const many = Array.from({ length: 2_100 }, (_, i) => used(`A${i}`, "none"));
    await post("/raw/ERP/long/create", { items: [...many, used("P-25000", "by its key")] });
    await post("/raw/ERP/other/create?ensureParent=true", { items: [used("599", "P-25000")] });
    const page = await console.open({ path: `/assets/${ids["P-25000"]}` });
    const rows = page.getByRole("region", { name: "Raw rows" });
    await rows.getByRole("list", { name: "Rows of long" }).getByText("by its key").waitFor();
    await rows.getByText("Of long, the first 2\u202f000 rows and all keys were searched.").waitFor();
    assert.equal(await rows.getByRole("link", { name: "502" }).count(), 0);
    assert.equal(await rows.getByRole("link", { name: "599" }).count(), 0);
    await rows.getByRole("link", { name: "501" }).click();
    await page.getByRole("dialog", { name: "Row 501" }).getByText("seal 501").waitFor();
    await page.goto(`${console.server.baseUrl}/assets/${ids["P-25002"]}`);
    await rows.getByText("No row names this asset.").waitFor();
    await page.goto(`${console.server.baseUrl}/assets/${ids["Valve"]}`);
    await rows.getByText("No raw table is linked to this asset or to one above it.").waitFor();
    await console.release(page);
  });

  it("includes the records of the assets below on request, and keeps that in the address", async () => {
    const page = await console.open({ path: `/assets/${ids["Unit 1"]}` });
    const series = page.getByRole("region", { name: "Series" });
    await series.getByText("No series is linked").waitFor();
    await page.getByRole("switch", { name: "With the records of the 20\u202f000 assets below" }).click();
    await series.getByText("P-25000.flow").waitFor();
    assert.match(page.url(), /below=true/);
    await console.release(page);
  });

  it("creates, edits, moves and deletes assets, and says in numbers what goes along", async () => {
    const page = await console.open({ path: `/assets/${ids["Unit 2"]}` });
    await page.getByRole("button", { name: "Add a child" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Filter");
    await page.getByRole("button", { name: "Create the asset" }).click();
    await page.getByRole("heading", { name: "Filter" }).waitFor();
    await item(page, "Filter").waitFor();
    await choose(page, "Filter", "Edit");
    await page.getByRole("dialog").getByLabel("Description").fill("Fine filter");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("article").getByText("Fine filter").waitFor();
    await page.goto(`${console.server.baseUrl}/assets/${ids["Tank"]}`);
    await choose(page, "Tank", "Move");
    await page.getByText("The asset below it will move with it").waitFor();
    await page.getByRole("textbox", { name: "New parent" }).fill("Filter");
    await page.getByRole("radio", { name: "Filter" }).click();
    await page.getByRole("button", { name: "Move 2 assets" }).click();
    await page.getByRole("navigation", { name: "Path of the asset" }).getByText("Filter").waitFor();
    await choose(page, "Tank", "Delete");
    await page.getByText("The asset below it will be deleted too.").waitFor();
    await page.getByRole("button", { name: "Delete 2 assets" }).click();
    await page.getByRole("heading", { name: "Filter" }).waitFor();
    assert.equal((await console.server.ask.v06(`GET /assets/${ids["Valve"]}`)).status, 404);
    assert.equal((await console.server.ask.v06(`GET /assets/${ids["Unit 2"]}`)).status, 200);
    await console.release(page);
  });

  it("keeps what its form does not change, also what another person changed meanwhile", async () => {
    const metadata = { material: "steel" };
    const drum = { name: "Drum", description: " For mixing ", source: "SAP", metadata };
    const { items } = await post("/assets", { items: [{ ...drum, parentId: ids["Plant"] }] });
    const path = `/assets/${items[0]!["id"]}`;
    const page = await console.open({ path });
    await choose(page, "Drum", "Edit");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Id in the source").fill(" 4711 ");
    const other = { source: "PI", metadata: { set: { ...metadata, vendor: "ABB" } } };
    await console.server.ask.v06(`PATCH ${path}`, other);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const [saved] = (await console.server.ask.v06(`GET ${path}`)).items;
    const { description, source, sourceId } = saved!;
    assert.deepEqual([description, source, sourceId], [" For mixing ", "PI", "4711"]);
    assert.deepEqual(saved!["metadata"], { ...metadata, vendor: "ABB" });
    await console.release(page);
  });

  it("moves below a parent that is in sight, and to none that was chosen in an earlier search", async () => {
    await add(["Crate", "Area 1", "Area 2"].map((name) => ({ name, parentId: ids["Plant"] })));
    const page = await console.open({ path: `/assets/${ids["Crate"]}` });
    await choose(page, "Crate", "Move");
    const dialog = page.getByRole("dialog");
    const parent = dialog.getByRole("textbox", { name: "New parent" });
    const button = dialog.getByRole("button", { name: "Move the asset" });
    await parent.fill("Area 1");
    await dialog.getByRole("radio", { name: "Area 1" }).click();
    assert.equal(await button.isEnabled(), true);
    await parent.fill("Area 2");
    await dialog.getByRole("radio", { name: "Area 2" }).waitFor();
    assert.equal(await button.isDisabled(), true);
    await parent.press("Enter");
    const message = "The index of names is being built";
    const searches = /\/assets\/search\?/;
    await page.route(searches, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 500, message } } }),
    );
    await parent.fill("Area");
    await dialog.getByRole("alert").getByText(message).waitFor();
    await page.unroute(searches);
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByRole("radio", { name: "Area 1" }).waitFor();
    const [crate] = (await console.server.ask.v06(`GET /assets/${ids["Crate"]}`)).items;
    assert.equal(crate!["parentId"], ids["Plant"]);
    await dialog.getByRole("radio", { name: "Area 2" }).click();
    await parent.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("navigation", { name: "Path of the asset" }).getByText("Area 2").waitFor();
    await console.release(page);
  });

  it("is not deleted before the assets below it are counted", async () => {
    await add([{ name: "Silo", parentId: ids["Plant"] }]);
    await add([{ name: "Hopper", parentId: ids["Silo"] }]);
    const page = await console.open({ path: "/assets" });
    const held = Promise.withResolvers<void>();
    const message = "The counts cannot be read";
    await page.route(/\/contents$/, async (route) => {
      await held.promise;
      await route.fulfill({ status: 500, json: { error: { code: 500, message } } });
    });
    await page.goto(`${console.server.baseUrl}/assets/${ids["Silo"]}`);
    await choose(page, "Silo", "Move");
    await page.getByText("The assets below it will move with it").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await choose(page, "Silo", "Delete");
    const dialog = page.getByRole("dialog", { name: "Delete Silo?" });
    await dialog.getByText("The assets below it and the linked records are being counted").waitFor();
    const button = dialog.getByRole("button", { name: /^Delete/ });
    assert.equal(await button.isDisabled(), true);
    held.resolve();
    await dialog.getByRole("alert").getByText(message).waitFor();
    assert.equal(await button.isDisabled(), true);
    assert.equal(await dialog.getByText("Nothing is below").count(), 0);
    await page.unroute(/\/contents$/);
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByText("The asset below it will be deleted too.").waitFor();
    await dialog.getByRole("button", { name: "Delete 2 assets" }).click();
    await page.getByRole("heading", { name: "Plant" }).waitFor();
    assert.equal((await console.server.ask.v06(`GET /assets/${ids["Hopper"]}`)).status, 404);
    await console.release(page);
  });

  it("shows a refusal in plain words, and changes nothing", async () => {
    const page = await console.open({ path: `/assets/${ids["Unit 2"]}` });
    await choose(page, "Unit 2", "Edit");
    await page.getByRole("dialog").getByLabel("Name").fill("Unit 1");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    assert.equal((await console.server.ask.v06(`GET /assets/${ids["Unit 2"]}`)).items[0]!["name"], "Unit 2");
    await console.release(page);
  });

  const choose = async (page: Page, name: string, action: string) => {
    await page.getByRole("button", { name: `Change ${name}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };
});

describe("an operator of one unit", () => {
  it("sees that unit and nothing else, the palette included, and no buttons", async () => {
    const key = await keyFor(ids["Unit 2"]!);
    const page = await console.open({ path: "/assets", key });
    await item(page, "Unit 2").waitFor();
    await item(page, "Filter").waitFor();
    assert.equal(await page.getByRole("treeitem").count(), 2);
    assert.equal(await page.getByRole("button", { name: "New asset" }).count(), 0);
    await item(page, "Unit 2").click();
    await page.getByRole("heading", { name: "Unit 2" }).waitFor();
    for (const name of ["Add a child", "Change Unit 2"])
      assert.equal(await page.getByRole("button", { name }).count(), 0, name);
    assert.equal(await page.getByText("Plant", { exact: true }).count(), 0, "the asset above");
    // It has no right to series.
    await page.getByRole("region", { name: "Series" }).waitFor({ state: "detached" });
    await page.goto(`${console.server.baseUrl}/assets/${ids["P-25000"]}`);
    await page.getByText("There is no such asset").waitFor();
    await item(page, "Unit 2").waitFor();
    assert.equal(await page.getByText("This did not work").count(), 0);
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, assets, series, events and files").fill("P-2500");
    await page.getByText("Nothing is called that").waitFor();
    await page.getByLabel("Find pages, assets, series, events and files").fill("Unit");
    await page.getByRole("button", { name: "Unit 2" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Unit 1" }).count(), 0);
    await console.release(page);
  });

  async function keyFor(assetId: number): Promise<string> {
    const scope = { assetIdScope: { subtreeIds: [String(assetId)] } };
    const capabilities = [{ assetsAcl: { actions: ["READ"], scope } }];
    const [group] = (await post("/groups", { items: [{ name: "Unit 2", capabilities }] })).items;
    const [user] = (await post("/users", { items: [{ uniqueName: "operator", groups: [group!.id] }] })).items;
    const [key] = (await post("/apikeys", { items: [{ userId: user!.id }] })).items;
    return String(key!["value"]);
  }
});

describe("the pages of assets", () => {
  it("have no faults of accessibility, light and dark, wide and narrow", async () => {
    for (const { colorScheme, width } of oppositeLooks) {
      const path = `/assets/${ids["P-25000"]}`;
      const page = await console.open({ path, colorScheme, viewport: { width, height: 740 } });
      await page.getByText("42.5 m3/h").waitFor();
      await page.getByText(/^Searched /).waitFor();
      await assertAccessible(page);
      await assertFits(page, width);
      if (width === 360) await page.getByRole("link", { name: "All assets" }).click();
      else await page.goto(`${console.server.baseUrl}/assets`);
      await item(page, "Plant").waitFor();
      await assertAccessible(page);
      await assertFits(page, width);
      await console.release(page);
    }
  });

  it("say what to do when there is nothing", async () => {
    const page = await console.open({ path: "/assets?query=nosuchasset" });
    await page.getByText("No asset matches").waitFor();
    await console.release(page);
  });

  const assertFits = async (page: Page, width: number) => {
    const isCut = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
    assert.equal(isCut, false, `the page is wider than a window of ${width} px`);
  };
});
