// Tests the page of a sequence in a real browser: the grid of its rows, and the changes of rows and record.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

const rowCount = 2_500;
let console: ConsoleUnderTest;
let readerKey: string;
const ids: Record<string, number> = {};

async function create(path: string, item: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await console.server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  return response.items[0]!;
}

const curve = {
  description: "head by flow",
  columns: [
    { name: "flow", externalId: "flow", valueType: "DOUBLE", metadata: { unit: "m3/h" } },
    { name: "counter", externalId: "counter", valueType: "LONG" },
    { externalId: "remark", valueType: "STRING" },
  ],
};

async function createSequence(name: string, rows: readonly object[]): Promise<void> {
  ids[name] = (await create("/sequences", { ...curve, name, assetId: ids["pump"] }))["id"] as number;
  await writeRows(name, rows);
}

async function writeRows(name: string, rows: readonly object[]): Promise<void> {
  const { items } = await console.server.ask.v06(`GET /sequences/${ids[name]}`);
  const written = await console.server.ask.v06(`POST /sequences/${ids[name]}/postdata`, {
    items: [{ rows: rows.map((row) => withColumns(row, items[0]!)) }],
  });
  assert.equal(written.status, 200, written.text);
}

const withColumns = (row: object, { columns }: Readonly<Record<string, unknown>>) => {
  const { rowNumber, values } = row as { rowNumber: number | string; values: readonly unknown[] };
  return {
    rowNumber,
    values: values.map((value, at) => ({ columnId: (columns as { id: number }[])[at]!.id, value })),
  };
};

before(async () => {
  console = await startConsole();
  ids["pump"] = (await create("/assets", { name: "24-P-01" }))["id"] as number;
  const long = Array.from({ length: rowCount }, (_, i) => ({
    rowNumber: i * 2,
    values: [i / 8, i, `r${i}`],
  }));
  await createSequence("long curve", long);
  const large = { rowNumber: "9223372036854775807", values: [0.1, "9007199254740993", 'a,"b"'] };
  await createSequence("exact curve", [{ rowNumber: 7, values: [1.5, 12, null] }, large]);
  await createSequence("empty curve", []);
  const capabilities = ["sequencesAcl", "assetsAcl"].map((acl) => ({
    [acl]: { actions: ["READ"], scope: { all: {} } },
  }));
  const group = await create("/groups", { name: "readers", capabilities });
  const user = await create("/users", { uniqueName: "reader", groups: [group["id"]] });
  readerKey = (await create("/apikeys", { userId: user["id"] }))["value"] as string;
});
after(() => console.close());

const row = (page: Page, number: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: number, exact: true }) });

const rowsOf = async (name: string) => {
  const path = `POST /sequences/${ids[name]}/getdata`;
  const { json } = await console.server.ask.v06(path, { items: [{ limit: 10 }] });
  return (json as { data: { items: [{ rows: { rowNumber: unknown; values: { value: unknown }[] }[] }] } })
    .data.items[0].rows;
};

describe("the rows of a sequence", () => {
  it("are reached from the asset and from the palette, with units above the columns", async () => {
    const page = await console.open({ path: `/assets/${ids["pump"]}` });
    await page.getByRole("region", { name: "Sequences" }).getByRole("link", { name: "long curve" }).click();
    await page.getByRole("columnheader", { name: "flow (m3/h)" }).waitFor();
    await page.getByRole("columnheader", { name: "remark" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "24-P-01" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find pages, assets, series, events and files").fill("exact curve");
    await page.getByRole("button", { name: "exact curve" }).click();
    await page.getByRole("heading", { name: "exact curve" }).waitFor();
    await row(page, "9223372036854775807").getByText("9007199254740993").waitFor();
    await console.release(page);
  });

  it("are loaded as the window reaches them, and from any number", async () => {
    const page = await console.open({ path: `/sequences/${ids["long curve"]}` });
    await row(page, "0").getByText("r0", { exact: true }).waitFor();
    assert.ok((await page.getByRole("row").count()) < 100);
    const grid = page.getByRole("region", { name: "Rows of long curve, scrolls" });
    await grid.focus();
    await page.keyboard.press("End");
    // The first page of rows ends with 398.
    await row(page, "400").waitFor();
    const jump = page.getByLabel("Jump to a row");
    await jump.fill("4.5");
    await page.getByText("A row number is a whole number").waitFor();
    await jump.fill("4001");
    await jump.press("Enter");
    await row(page, "4002").getByText("r2001").waitFor();
    assert.match(page.url(), /from=4001/);
    await page.getByRole("button", { name: "First row" }).click();
    await row(page, "0").waitFor();
    await page.goto(`${console.server.baseUrl}/sequences/${ids["long curve"]}?from=5000`);
    await page.getByText("There is no row from 5000 on").waitFor();
    await console.release(page);
  });

  it("are exported as CSV with every digit", async () => {
    const page = await console.open({ path: `/sequences/${ids["exact curve"]}` });
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const stream = await (await download).createReadStream();
    const text = (await stream.toArray()).join("");
    assert.equal(
      text,
      [
        "\ufeffrow,flow (m3/h),counter,remark",
        "7,1.5,12,",
        '9223372036854775807,0.1,9007199254740993,"a,""b"""',
        "",
      ].join("\r\n"),
    );
    await console.release(page);
  });

  it("are changed and added, and a refusal of a value is shown", async () => {
    const page = await console.open({ path: `/sequences/${ids["exact curve"]}?row=7` });
    const dialog = page.getByRole("dialog", { name: "Row 7" });
    await dialog.getByLabel("counter").fill("1.25");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("counter").fill("9007199254740995");
    await dialog.getByLabel("flow (m3/h)").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row(page, "7").getByText("9007199254740995").waitFor();
    await page.getByRole("button", { name: "Add a row" }).click();
    const added = page.getByRole("dialog", { name: "Add a row" });
    await added.getByLabel("Row number").fill("7");
    await added.getByText("There is a row with this number").waitFor();
    await added.getByLabel("Row number").fill("8");
    await added.getByLabel("remark").fill("new");
    await added.getByRole("button", { name: "Save" }).click();
    await row(page, "8").getByText("new").waitFor();
    const [first, second] = await rowsOf("exact curve");
    assert.deepEqual(
      first!.values.map(({ value }) => value),
      ["9007199254740995"],
    );
    assert.equal(second!.rowNumber, 8);
    await console.release(page);
  });

  it("are read when one is opened, and keep the cells that another person changes meanwhile", async () => {
    await createSequence("shared curve", [{ rowNumber: 1, values: [1, 10, "first"] }]);
    const page = await console.open({ path: `/sequences/${ids["shared curve"]}?row=1` });
    const dialog = page.getByRole("dialog", { name: "Row 1" });
    await dialog.getByLabel("remark").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await writeRows("shared curve", [{ rowNumber: 1, values: [1, 11, "second"] }]);
    await row(page, "1").click();
    assert.equal(await dialog.getByLabel("remark").inputValue(), "second");
    await writeRows("shared curve", [{ rowNumber: 1, values: [1, 12, "third"] }]);
    await dialog.getByLabel("flow (m3/h)").fill("2");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row(page, "1").getByText("third").waitFor();
    const [written] = await rowsOf("shared curve");
    assert.deepEqual(
      written!.values.map(({ value }) => value),
      [2, 12, "third"],
    );
    await console.release(page);
  });

  it("cannot be changed by a person who may only read", async () => {
    const path = `/sequences/${ids["long curve"]}`;
    const page = await console.open({ path, key: readerKey });
    await row(page, "4").click();
    await page.getByRole("dialog", { name: "Row 4" }).getByText("r2").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "counter" }).count(), 0);
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("button", { name: /Add a row|Edit|More actions/ }).count(), 0);
    await console.release(page);
  });
});

it("a sequence is edited, and deleted with its rows", async () => {
  const page = await console.open({ path: `/sequences/${ids["empty curve"]}` });
  await page.getByText("This sequence has no rows").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const form = page.getByRole("dialog", { name: "Edit the sequence" });
  await form.getByLabel("Name").fill("new curve");
  await form.getByLabel("Description").fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "new curve" }).waitFor();
  const { items } = await console.server.ask.v06(`GET /sequences/${ids["empty curve"]}`);
  assert.equal(items[0]!["description"], null);
  assert.equal(items[0]!["assetId"], ids["pump"]);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the sequence…" }).click();
  await page.getByRole("button", { name: "Delete the sequence" }).click();
  await page.getByRole("heading", { name: "24-P-01" }).first().waitFor();
  assert.equal((await console.server.ask.v06(`GET /sequences/${ids["empty curve"]}`)).status, 404);
  await console.release(page);
});

it("has no faults of accessibility, and fits a narrow window", async () => {
  const page = await console.open({ path: `/sequences/${ids["long curve"]}` });
  await assertAccessibleInLooks(page, oppositeLooks, () => row(page, "0").waitFor());
  await page.getByRole("button", { name: "Details" }).click();
  const details = page.getByRole("dialog", { name: "Details of the sequence" });
  await assertAccessibleInLooks(page, oppositeLooks, () => details.getByText("whole number").waitFor());
  await console.release(page);
});
