// Tests the pages of raw data in a real browser: databases, tables, the grid of rows, uploads and exports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Locator, Page, Route } from "playwright-core";
import {
  assertAccessible,
  assertAccessibleInLooks,
  type ConsoleUnderTest,
  oppositeLooks,
  startConsole,
} from "./browser.ts";

const rowCount = 2_500;
let console: ConsoleUnderTest;
let readerKey: string;

before(async () => {
  console = await startConsole();
  const { v06 } = console.server.ask;
  const rows = Array.from({ length: rowCount }, (_, i) => ({
    key: `WO-${100_000 + i}`,
    columns: {
      title: i % 2 ? "Clean filter" : "Replace seal",
      priority: i % 4,
      ...(i % 5 === 0 && { note: "x" }),
    },
  }));
  assert.equal((await v06("POST /raw/ERP/orders/create?ensureParent=true", { items: rows })).status, 200);
  const exact =
    '{"items":[{"key":"k 1/ö","columns":{"big":12345678901234567890,"one":1.0,"text":"a,\\"b\\""}}]}';
  assert.equal((await v06("POST /raw/ERP/exact/create?ensureParent=true", exact)).status, 200);
  readerKey = await newReader();
});
after(() => console.close());

/** The key of an account that may read raw data, and write none. */
async function newReader(): Promise<string> {
  const { v06 } = console.server.ask;
  const capabilities = [{ rawAcl: { actions: ["READ", "LIST"], scope: { all: {} } } }];
  const group = await v06("POST /groups", { items: [{ name: "readers", capabilities }] });
  const groups = [group.items[0]!["id"]];
  const account = await v06("POST /users", { items: [{ uniqueName: "reader", groups }] });
  const key = await v06("POST /apikeys", { items: [{ userId: account.items[0]!["id"] }] });
  return key.items[0]!["value"] as string;
}

const row = (page: Page, key: string) => page.getByRole("row", { name: key });

describe("databases and tables", () => {
  it("are created, and deleted after a dialog that names the number of rows", async () => {
    const page = await console.open({ path: "/raw" });
    await page.getByRole("button", { name: "New database" }).click();
    await page.getByLabel("Name of the database").fill("lab");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("This database has no tables").waitFor();
    await page.getByRole("button", { name: "New table" }).click();
    await page.getByLabel("Name of the table").fill("samples");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete the table samples" }).waitFor();
    await page.getByRole("link", { name: "ERP" }).click();
    await page.getByRole("button", { name: "Delete the table orders" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete the table?" });
    await dialog.getByText("2\u202f500 rows").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("link", { name: "lab" }).click();
    await page.getByRole("button", { name: "Delete database" }).click();
    await page.getByRole("dialog").getByText("1 table with 0 rows").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the database" }).click();
    await page.getByRole("link", { name: "lab" }).waitFor({ state: "detached" });
    const { items } = await console.server.ask.v06("GET /raw");
    assert.deepEqual(items, [{ dbName: "ERP" }]);
    await console.release(page);
  });

  it("are linked to assets in a dialog, and the page of the asset shows their rows", async () => {
    const { v06 } = console.server.ask;
    const assets = await v06("POST /assets", { items: [{ name: "24-P-01" }, { name: "24-P-02" }] });
    const [asset] = assets.items;
    await v06("POST /raw/ERP/parts/create?ensureParent=true", {
      items: [{ key: "501", columns: { usedIn: "24-P-01" } }],
    });
    const page = await console.open({ path: "/raw/ERP/parts" });
    const link = async () => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: "Link to assets" }).click();
      return page.getByRole("dialog", { name: "Assets of parts" });
    };
    const dialog = await link();
    await dialog.getByRole("combobox", { name: "Assets" }).fill("24-P-01");
    await page.getByRole("option", { name: "24-P-01" }).click();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("about 24-P-01").getByRole("link", { name: "24-P-01" }).click();
    await page.getByRole("region", { name: "Raw rows" }).getByRole("link", { name: "501" }).waitFor();
    assert.deepEqual((await v06(`GET /raw/ERP?assetId=${asset!["id"]}`)).items, [
      { tableName: "parts", assetIds: [asset!["id"]] },
    ]);
    // Links that could not be read are not replaced by none.
    const tables = /\/raw\/ERP\?/;
    const failure = { status: 500, json: { error: { message: "No tables now" } } };
    await page.route(tables, (route) => route.fulfill(failure));
    await page.goto(`${console.server.baseUrl}/raw/ERP/parts`);
    const again = await link();
    await again.getByText("No tables now").waitFor();
    assert.equal(await again.getByRole("button", { name: "Save" }).count(), 0);
    await page.unroute(tables);
    await again.getByRole("button", { name: "Try again" }).click();
    await page.getByText("about 24-P-01").waitFor();
    await again.getByRole("combobox", { name: "Assets" }).press("Backspace");
    await page.keyboard.press("Escape");
    await again.getByRole("button", { name: "Save" }).click();
    await page.getByText("about 24-P-01").waitFor({ state: "detached" });
    assert.deepEqual((await v06(`GET /raw/ERP?assetId=${asset!["id"]}`)).items, []);
    await console.release(page);
  });

  it("cannot be changed by a person who may only read", async () => {
    const page = await console.open({ path: "/raw/ERP/orders", key: readerKey });
    await row(page, "WO-100000").waitFor();
    assert.equal(await page.getByRole("button", { name: "Upload CSV" }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "More actions" }).count(), 0);
    await row(page, "WO-100000").click();
    await page.getByRole("button", { name: "Copy JSON" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete the row" }).count(), 0);
    await page.goto(`${console.server.baseUrl}/raw`);
    await page.getByRole("link", { name: "orders" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /New|Delete|Upload/ }).count(), 0);
    await console.release(page);
  });
});

describe("the rows of a table", () => {
  it("start at any key, and load further rows in both directions", async () => {
    const page = await console.open({ path: "/raw/ERP/orders" });
    await row(page, "WO-100000").waitFor();
    await page.getByText("2\u202f500 rows").waitFor();
    await page.getByLabel("Jump to a key").fill("WO-1012");
    await page.keyboard.press("Enter");
    await row(page, "WO-101200").waitFor();
    assert.match(page.url(), /from=WO-1012$/);
    assert.equal(await row(page, "WO-100000").count(), 0);
    const grid = page.getByRole("region", { name: "Rows of orders, scrolls" });
    await row(page, "WO-101199").waitFor({ state: "attached" });
    await grid.hover();
    await page.mouse.wheel(0, -1_600);
    await row(page, "WO-101150").waitFor();
    await page.goBack();
    await row(page, "WO-100000").waitFor();
    await console.release(page);
  });

  it("stay where they are when one goes back after rows before them have loaded", async () => {
    const page = await console.open({ path: "/raw" });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/orders\?.*cursor=/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${console.server.baseUrl}/raw/ERP/orders?from=WO-102200`);
    const grid = page.getByRole("region", { name: "Rows of orders, scrolls" });
    await row(page, "WO-102200").waitFor();
    await grid.hover();
    await page.mouse.wheel(0, 150);
    await row(page, "WO-102215").click();
    await page.getByRole("dialog", { name: "Row WO-102215" }).waitFor();
    release();
    await row(page, "WO-102199").waitFor({ state: "attached" });
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const place = async (part: Locator) => (await part.boundingBox())!;
    // The page scrolls back some frames after the dialog is closed.
    for (const endMs = performance.now() + 60_000; ; ) {
      const [shown, one] = [await place(grid), await place(row(page, "WO-102215"))];
      if (one.y > shown.y && one.y < shown.y + shown.height) break;
      assert.ok(performance.now() < endMs, `${one.y} is not in the grid`);
    }
    await console.release(page);
  });

  it("are reached by a link, opened by keyboard, and deleted one by one", async () => {
    const page = await console.open({ path: "/raw/ERP/orders?from=WO-102490" });
    await row(page, "WO-102490").focus();
    // The rows before it load, and must not take the focus away.
    await row(page, "WO-102489").waitFor({ state: "attached" });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Row WO-102491" }).getByText('"title": "Clean filter"').waitFor();
    assert.match(page.url(), /row=WO-102491/);
    await page.getByRole("button", { name: "Delete the row" }).click();
    await page
      .getByRole("dialog", { name: "Delete the row?" })
      .getByRole("button", { name: "Delete the row" })
      .click();
    await row(page, "WO-102491").waitFor({ state: "detached" });
    await row(page, "WO-102492").waitFor();
    const deleted = await console.server.ask.v06("GET /raw/ERP/orders/WO-102491");
    assert.equal(deleted.status, 404);
    await console.release(page);
  });

  it("with the keys . and .., which browsers remove from a path, are opened and deleted", async () => {
    const { v06 } = console.server.ask;
    const rows = [".", "..", "a", "d"].map((key) => ({ key, columns: { text: `row ${key}` } }));
    await v06("POST /raw/ERP/dots/create?ensureParent=true", { items: rows });
    const page = await console.open({ path: "/raw/ERP/dots?row=.." });
    await page.getByText('"text": "row .."').waitFor();
    await page.goto(`${console.server.baseUrl}/raw/ERP/dots?row=.`);
    await page.getByText('"text": "row ."').waitFor();
    await page.getByRole("button", { name: "Delete the row" }).click();
    await page
      .getByRole("dialog", { name: "Delete the row?" })
      .getByRole("button", { name: "Delete the row" })
      .click();
    await page.getByRole("dialog").first().waitFor({ state: "detached" });
    const { items } = await v06("GET /raw/ERP/dots");
    assert.deepEqual(
      items.map(({ key }) => key),
      ["..", "a", "d"],
    );
    // The number of rows is another query of the table, whose key has this word.
    await page.getByLabel("Jump to a key").fill("count");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "First row" }).waitFor();
    await row(page, "row d").waitFor();
    await page.getByText("3 rows").waitFor();
    await console.release(page);
  });

  it("keep every digit on the screen and in the CSV file", async () => {
    const page = await console.open({ path: "/raw/ERP/exact" });
    await page.getByRole("cell", { name: "12345678901234567890" }).waitFor();
    await page.getByRole("cell", { name: "1.0", exact: true }).waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: "CSV" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("dialog").getByRole("button", { name: "Export" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "ERP-exact.csv");
    const text = readFileSync((await download.path())!, "utf8");
    assert.equal(text, 'key,big,one,text\r\nk 1/ö,12345678901234567890,1.0,"a,""b"""\r\n');
    await console.release(page);
  });

  it("have a profile of the loaded rows, and of all rows on request", async () => {
    const page = await console.open({ path: "/raw/ERP/orders" });
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByText("Of the loaded 200 rows").waitFor();
    await page.getByRole("button", { name: "Read the whole table" }).click();
    await page.getByText(/Of all 2\u202f(500|499) rows/).waitFor();
    await page.getByRole("row", { name: /priority number 0 \(0 %\) 4/ }).waitFor();
    await page.getByRole("row", { name: /note text .* \(80 %\) 1/ }).waitFor();
    await assertAccessible(page);
    await console.release(page);
  });
});

/** Latin letters as windows-1252, with semicolons and a quoted line end. */
function spreadsheet(count: number): Buffer {
  const lines = Array.from({ length: count }, (_, i) => `"Kühler\n${i}";T${i};${i}.50\r\n`);
  return Buffer.from(`Name;Tag;Wert\r\n${lines.join("")}`, "latin1");
}

describe("an upload of CSV", () => {
  it("detects encoding and delimiter, shows the first rows and writes all of them", async () => {
    const page = await console.open({ path: "/raw?database=ERP" });
    await page.getByRole("button", { name: "Upload CSV" }).click();
    const file = { name: "tanks.csv", mimeType: "text/csv", buffer: spreadsheet(12_000) };
    await page.locator("input[type=file]").setInputFiles(file);
    await page
      .getByRole("table", { name: "Preview" })
      .getByRole("row", { name: "Kühler 0 T0 0.50" })
      .waitFor();
    await page.getByRole("combobox", { name: "Key column" }).click();
    await page.getByRole("option", { name: "Tag" }).click();
    await page.getByRole("switch", { name: /Write numbers as numbers/ }).check();
    await assertAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    await page.getByText("All rows are written: 12\u202f000 rows written").waitFor();
    await page.getByRole("button", { name: "Open the table" }).click();
    await page.getByText("12\u202f000 rows").waitFor();
    const { text } = await console.server.ask.v06("GET /raw/ERP/tanks/T11999");
    assert.match(text, /"columns":\{"Name":"Kühler\\n11999","Wert":11999\.50\}/);
    await console.release(page);
  });

  it("of a file with a byte of another encoding writes nothing until its encoding is chosen", async () => {
    const page = await console.open({ path: "/raw?database=ERP" });
    await page.getByRole("button", { name: "Upload CSV" }).click();
    // The detection reads the first 256 KiB, which are ASCII.
    const lines = Array.from({ length: 100 }, (_, i) => `T${i};${"x".repeat(3_000)}`);
    const buffer = Buffer.from(["Tag;Name", ...lines, "T100;Kühler"].join("\r\n"), "latin1");
    await page.locator("input[type=file]").setInputFiles({ name: "late.csv", mimeType: "text/csv", buffer });
    const upload = page.getByRole("dialog").getByRole("button", { name: "Upload" });
    await upload.click();
    const refusal = "late.csv has bytes that are not utf-8. This upload has written nothing.";
    await page.getByRole("alert").getByText(refusal).waitFor();
    assert.equal((await console.server.ask.v06("GET /raw/ERP/late")).status, 404);
    await page.getByRole("button", { name: "Choose another encoding" }).click();
    await page.getByRole("combobox", { name: "Encoding" }).click();
    await page.getByRole("option", { name: "windows-1252" }).click();
    await upload.click();
    await page.getByText("All rows are written: 101 rows written").waitFor();
    const { text } = await console.server.ask.v06("GET /raw/ERP/late/T100");
    assert.match(text, /"columns":\{"Name":"Kühler"\}/);
    await console.release(page);
  });

  it("that is refused says why, and continues after the last row; a lost connection delays it", async () => {
    const page = await console.open({ path: "/raw?database=ERP" });
    let requests = 0;
    const refuse = (route: Route, message: string) =>
      route.fulfill({ status: 503, json: { error: { message } } });
    let [isBusy, written] = [true, 0];
    await page.route("**/raw/ERP/resumed/create*", (route) => {
      requests++;
      if (requests === 2)
        return refuse(route, "Nothing was stored; free disk space, then repeat the request");
      if (requests === 3) return route.abort();
      if (requests > 3 && isBusy) return refuse(route, "The catalog does not respond");
      written++;
      return route.continue();
    });
    await page.getByRole("button", { name: "Upload CSV" }).click();
    const file = { name: "resumed.csv", mimeType: "text/csv", buffer: spreadsheet(12_000) };
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByRole("combobox", { name: "Key column" }).click();
    await page.getByRole("option", { name: "Tag" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    await page.getByRole("alert").getByText("free disk space").waitFor();
    await page.getByText("5\u202f000 rows written").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Tries again by itself: The catalog does not respond").waitFor();
    isBusy = false;
    await page.getByText("All rows are written: 12\u202f000 rows written").waitFor();
    assert.equal(written, 3, "the first 5,000 rows were sent once");
    const { json } = await console.server.ask.v06("GET /raw/ERP/resumed?limit=1&includeRowCount=true");
    assert.equal((json as { data: { rowCount: number } }).data.rowCount, 12_000);
    await console.release(page);
  });
});

describe("the pages of raw data", () => {
  it("have no faults of accessibility and are not cut, light and dark, wide and narrow", async () => {
    for (const [path, seen] of [
      ["/raw?database=ERP", "orders"],
      ["/raw/ERP/orders", "WO-100000"],
      ["/raw/ERP/orders?row=WO-100001", "Copy JSON"],
    ] as const) {
      const page = await console.open({ path });
      const content = page.getByText(seen, { exact: true }).first();
      await assertAccessibleInLooks(page, oppositeLooks, () => content.waitFor());
      await console.release(page);
    }
  });

  it("say what to do without databases, and that a table does not exist", async () => {
    const page = await console.open({ path: "/raw/ERP/nowhere" });
    await page.getByRole("alert").getByText("No tables named nowhere").waitFor();
    await console.release(page);
  });
});
