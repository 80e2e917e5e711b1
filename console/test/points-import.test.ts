// Tests the import of points from CSV files in a real browser, against the results of `millrace import csv`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { importCsv } from "../../src/import/import-csv.ts";
import { startOfFile } from "../../src/import/row.ts";
import { rowsOf } from "../../src/import/rows.ts";
import { idsOf } from "../../test/support/server.ts";
import { UnreadableCsv } from "../src/lib/csv-file.ts";
import { rowsOf as rowsOfBrowser } from "../src/pages/points-import/points-rows.ts";
import { assertAccessibleInLooks, type ConsoleUnderTest, oppositeLooks, startConsole } from "./browser.ts";

let console: ConsoleUnderTest;
let readerKey: string;
const folder = mkdtempSync(join(tmpdir(), "points-import-"));

before(async () => {
  console = await startConsole();
  const { ask } = console.server;
  const group = {
    name: "readers",
    capabilities: [{ timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } }],
  };
  const groups = idsOf(await ask("POST /groups", { items: [group] }));
  const [userId] = idsOf(await ask("POST /users", { items: [{ uniqueName: "reader", groups }] }));
  readerKey = (await ask("POST /apikeys", { items: [{ userId }] })).items[0]!["value"] as string;
});
after(async () => {
  rmSync(folder, { recursive: true });
  await console.close();
});

async function chooseFile(page: Page, name: string, text: string | Buffer): Promise<void> {
  const buffer = Buffer.from(text);
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer });
}

async function chooseOption(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: field }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

/** The points of a series as [time, value] pairs. */
async function pointsOf(name: string): Promise<unknown[]> {
  const range = "start=0&end=4000000000000&limit=100000";
  const { items } = await console.server.ask(`GET /timeseries/data/${encodeURIComponent(name)}?${range}`);
  const { datapoints } = items[0] as { datapoints: { timestamp: number; value: unknown }[] };
  return datapoints.map(({ timestamp, value }) => [timestamp, value]);
}

const importButton = (page: Page) => page.getByRole("button", { name: "Import the points" });

describe("a file with decimal commas and local times", () => {
  const start = Date.UTC(2026, 9, 24, 20);
  const lines = Array.from({ length: 48 }, (_, i) => {
    const [date, time] = new Date(start + i * 3_600_000).toISOString().split(/[T.]/);
    const [year, month, day] = date!.split("-");
    return `${day}.${month}.${year} ${time!.slice(0, 5)};${i},5;-${i},25e1;"Zustand ""${i}""\r\nzwei"`;
  });
  const bad = ["24.10.2026 07:00;1.234;zwei;", "31.02.2026 07:00;1;2;", "24.10.2026 07:30;1,5;NaN;x;y"];
  const text = `Zeit;TI-101;FI-102;Zustand\r\n${[...lines, "", ...bad].join("\r\n")}\r\n`;

  it("is stored as `millrace import csv` stores it, with the same refused cells", async () => {
    const { v06 } = console.server.ask;
    const texts = ["web.Zustand", "cli.Zustand"].map((name) => ({ name, isString: true }));
    await v06("POST /timeseries", { items: [{ name: "web.TI-101", unit: "degC" }, ...texts] });
    const page = await console.open({ path: "/series" });
    await page.getByRole("link", { name: "Import CSV" }).click();
    await chooseFile(page, "werte.csv", text);
    assert.equal(await page.getByRole("combobox", { name: "Delimiter" }).inputValue(), "Semicolon");
    assert.equal(await page.getByRole("combobox", { name: "Decimal sign" }).inputValue(), "Comma: 1,5");
    assert.equal(await page.getByRole("combobox", { name: "Time format" }).inputValue(), "d.M.yyyy H:mm");
    await page.getByRole("combobox", { name: "Time zone" }).fill("Oslo");
    await page.getByRole("option", { name: "Europe/Oslo" }).click();
    for (const name of ["TI-101", "FI-102", "Zustand"])
      await page.getByLabel(`Series of ${name}`).fill(`web.${name}`);
    await page.getByText("Exists: numbers, degC").waitFor();
    await page.getByText("Exists: text").waitFor();
    await page.getByText("The import creates 1 series.").waitFor();
    const preview = page.getByRole("table", { name: "Preview" });
    await preview.getByRole("row").nth(2).getByText("1.5", { exact: true }).waitFor();
    await page.getByText("4 cells of the first 51 rows cannot be stored").waitFor();
    await assertAccessibleInLooks(page, oppositeLooks, () => preview.waitFor());
    assert.equal((await v06("GET /timeseries?name=web.FI-102")).items.length, 0, "written too early");

    await page.getByRole("button", { name: "Check the whole file" }).click();
    await page.getByText("Done: 144 points can be stored, 4 refused").waitFor();
    assert.equal((await v06("GET /timeseries?name=web.FI-102")).items.length, 0, "written by a check");
    await importButton(page).click();
    await page.getByText("Done: 144 points stored, 4 refused").waitFor();
    const refused = page.getByRole("table", { name: "Refused cells" }).last();
    await refused.getByText("not a number with a decimal comma").waitFor();
    await refused.getByText(/more cells than the header has/).waitFor();

    const file = join(folder, "werte.csv");
    writeFileSync(file, text);
    const said: string[] = [];
    const never = new AbortController().signal;
    const words = ["--decimal-comma", "--time-format", "dd.MM.yyyy HH:mm", "--time-zone", "Europe/Oslo"];
    await importCsv([file, "--server", console.server.baseUrl, "--prefix", "cli.", ...words], {
      env: { MILLRACE_KEY: console.server.key },
      output: { write: (line) => said.push(line) },
      ...{ stop: never, abort: never },
    });
    assert.match(said.join(""), /144 points loaded.*\n4 refused/);
    for (const name of ["TI-101", "FI-102", "Zustand"]) {
      const points = await pointsOf(`web.${name}`);
      assert.equal(points.length, 48);
      assert.deepEqual(points, await pointsOf(`cli.${name}`));
    }
    await console.release(page);
  });
});

describe("a file that is wrong", () => {
  it("is refused before anything is written, with the reason", async () => {
    const page = await console.open({ path: "/series/import" });
    await chooseFile(page, "empty.csv", "");
    await page.getByText("The file is empty").waitFor();
    await chooseFile(page, "open.csv", 'time,a\n2026-01-01,"1\n2026-01-02,2\n');
    await page.getByText(/The file is not CSV at line \d/).waitFor();
    await chooseFile(page, "text.csv", "only words\nand more of them\n");
    await page.getByText("No column goes to a series.").waitFor();
    assert.equal(await importButton(page).count(), 0);
    await chooseFile(page, "twice.csv", "time,a,b\n2026-01-01,1,2\n");
    await page.getByLabel("Series of b").fill("a");
    await page.getByText("Several columns go to the series a.").waitFor();
    await page.getByLabel("Series of b").fill("");
    await page.getByRole("combobox", { name: "Time format" }).fill("yyyy-QQ");
    await page
      .getByText(/A time format has no letters QQ/)
      .first()
      .waitFor();
    await chooseFile(page, "days.csv", "time,days.a\n03/04/2026 10:00,1\n04/04/2026 10:00,x\n");
    await page.getByText("These dates could also be M/d/yyyy H:mm").waitFor();
    await page.getByText("1 cell of the first 2 rows cannot be stored").waitFor();
    const { items } = await console.server.ask.v06("GET /timeseries?q=days");
    assert.deepEqual(items, []);
    await console.release(page);
  });

  it("cannot be chosen by a person who may only read", async () => {
    const page = await console.open({ path: "/series", key: readerKey });
    await page.getByRole("heading", { name: "Series" }).waitFor();
    await page.getByLabel("Search series").waitFor();
    assert.equal(await page.getByRole("link", { name: "Import CSV" }).count(), 0);
    await page.goto(`${console.server.baseUrl}/series/import`);
    await page.getByText("You may not change series").waitFor();
    assert.equal(await page.locator("input[type=file]").count(), 0);
    await console.release(page);
  });
});

it("an import that a failure interrupts continues after the last stored line, with all points", async () => {
  const rowCount = 90_000;
  const rows = Array.from({ length: rowCount }, (_, i) => `${1_700_000_000 + i},${i / 8}`);
  const page = await console.open({ path: "/series/import" });
  let requests = 0;
  await page.route(/\/timeseries\/data$/, async (route) => {
    requests += 1;
    const json = { error: { code: 500, message: "Broken" } };
    if (requests === 3) await route.fulfill({ status: 500, json });
    else await route.continue();
  });
  await chooseFile(page, "long.csv", `time,long.a\n${rows.join("\n")}\n`);
  await chooseOption(page, "Time format", "s");
  await importButton(page).click();
  await page.getByText("The import has stopped").waitFor();
  await page.getByText(/Broken\. The points up to line 40\u202f\d{3} are stored/).waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Done: 90\u202f000 points stored").waitFor();
  const { items } = await console.server.ask.v06("GET /timeseries?name=long.a");
  const count = await console.server.ask.v06(`GET /timeseries/${items[0]!["id"]}/data/count`);
  assert.equal(count.items[0]!["count"], rowCount);
  assert.ok(requests >= 6, `${requests} requests for five batches, one of them twice`);
  await console.release(page);
});

it("a name that is typed reads one series, not those of all columns again", async () => {
  const page = await console.open({ path: "/series/import" });
  const names: (string | null)[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/timeseries")) names.push(searchParams.get("name"));
  });
  const header = Array.from({ length: 40 }, (_, i) => `many.${i}`);
  await chooseFile(page, "many.csv", `time,${header}\n2026-01-01,${header.map((_, i) => i)}\n`);
  await page.getByText("The import creates 40 series.").waitFor();
  // At once: on a busy machine, the pause between two keys can be one in which the page reads.
  await page.getByLabel("Series of many.7", { exact: true }).fill("many.7-b");
  await importButton(page).and(page.locator(":enabled")).waitFor();
  assert.deepEqual(names.toSorted(), [...header, "many.7-b"].toSorted());
  await console.release(page);
});

it("a series that is created elsewhere with the other kind stops the import before any point", async () => {
  const { v06 } = console.server.ask;
  const page = await console.open({ path: "/series/import" });
  await chooseFile(page, "kinds.csv", "time,kinds.a,B\n2026-01-01T00:00Z,1,2\n");
  await page.getByLabel("Series of B").fill("kinds.b");
  await page.getByText("The import creates 2 series.").waitFor();
  await importButton(page).and(page.locator(":enabled")).waitFor();
  await v06("POST /timeseries", { items: [{ name: "kinds.b", isString: true }] });
  await importButton(page).click();
  await page.getByText("The column B has numbers, and its series kinds.b takes text").waitFor();
  await page.getByText("The server has confirmed no points.").waitFor();
  assert.equal((await v06("GET /timeseries?name=kinds.a")).items.length, 0, "created before the refusal");
  await page.getByText("Exists: text").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Done: 2 points stored").waitFor();
  assert.deepEqual(await pointsOf("kinds.b"), [[Date.UTC(2026, 0), "2"]]);
  await console.release(page);
});

it("equal cells of columns with one header are refused one by one", async () => {
  const page = await console.open({ path: "/series/import" });
  await chooseFile(page, "twins.csv", "time,twin,twin\n2026-01-01,x,x\n2026-01-02,y,1\n2026-01-03,1,1\n");
  await page.getByLabel("Series of twin").last().fill("twin.b");
  const rows = page.getByRole("table", { name: "Refused cells" }).locator("tbody tr");
  await page.getByText("3 cells of the first 3 rows cannot be stored").waitFor();
  assert.equal(await rows.count(), 3);
  await page.getByLabel("Words for no value").fill("x");
  await page.getByText("1 cell of the first 3 rows cannot be stored").waitFor();
  assert.equal(await rows.count(), 1);
  await console.release(page);
});

it("an import is cancelled while the server is slow, and continues after that", async () => {
  const page = await console.open({ path: "/series/import" });
  const rows = Array.from({ length: 30_000 }, (_, i) => `${1_700_000_000 + i},${i}`);
  const text = `time,slow.a\n${rows.join("\n")}\n`;
  await page.locator("input[type=file]").waitFor({ state: "attached" });
  // A file that is dropped.
  await page.evaluate(
    `(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], "slow.csv"));
      const target = document.querySelector("input[type=file]").parentElement;
      target.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
    })()`,
  );
  await page.getByText("The import creates 1 series.").waitFor();
  await page.route(/\/timeseries\/data$/, () => {});
  await importButton(page).click();
  await page.getByRole("combobox", { name: "Time format" }).and(page.locator(":disabled")).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("The server has confirmed no points.").waitFor();
  await page.unroute(/\/timeseries\/data$/);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Done: 30\u202f000 points stored").waitFor();
  await console.release(page);
});

it("nothing of a file with a byte of another encoding is stored", async () => {
  const page = await console.open({ path: "/series/import" });
  const rows = "2026-01-01 10:00,1\n".repeat(30_000);
  await chooseFile(
    page,
    "mixed.csv",
    Buffer.concat([Buffer.from(`time,mixed.a\n${rows}`), Buffer.from([0xe4])]),
  );
  await importButton(page).and(page.locator(":enabled")).waitFor();
  await page.evaluate(`(() => {
    const { arrayBuffer } = Blob.prototype;
    const released = new Promise((resolve) => (window.releaseFile = resolve));
    Blob.prototype.arrayBuffer = async function () {
      await released;
      return arrayBuffer.call(this);
    };
  })()`);
  await importButton(page).click();
  await page.getByText("Before anything is written: checks that the file is utf-8").waitFor();
  await page.evaluate("window.releaseFile()");
  await page
    .getByText("mixed.csv has bytes that are not utf-8. The server has confirmed no points.")
    .waitFor();
  assert.deepEqual((await console.server.ask.v06("GET /timeseries?name=mixed.a")).items, []);
  await console.release(page);
});

describe("the rows that a browser reads", () => {
  const text = [
    't;a;b\r\n1;"x;\r\ny ""z""";2\r\n',
    "\r\n 3 ; ä€𝄞 ;\r\n",
    '4;"long\r\n\r\n cell";5;6\r\n',
    "7;8;9",
  ].join("");

  it("are those of the command, in slices of any size", async () => {
    const path = join(folder, "rows.csv");
    writeFileSync(path, text);
    const expected: unknown[] = [];
    const csv = { file: path, encoding: "utf-8", delimiter: ";" } as const;
    for await (const { cells, line } of rowsOf(csv, startOfFile)) expected.push([line, cells]);
    assert.equal(expected.length, 5);
    for (const ends of ["\r\n", "\n", "\r"])
      for (const sliceBytes of [1, 2, 3, 7, 16, 1_000]) {
        const file = new File([text.replaceAll("\r\n", ends)], "rows.csv");
        const found: [number, readonly string[]][] = [];
        const format = { encoding: "utf-8", delimiter: ";" } as const;
        for await (const { cells, line } of rowsOfBrowser(file, format, sliceBytes))
          found.push([line, cells]);
        const cellsOf = (rows: unknown[]) =>
          JSON.stringify(rows).replaceAll("\\r\\n", "\\n").replaceAll("\\r", "\\n");
        if (ends === "\r\n") assert.deepEqual(found, expected, `slices of ${sliceBytes}`);
        const withoutLines = (rows: unknown[]) => cellsOf(rows.map((row) => (row as unknown[])[1]));
        assert.equal(withoutLines(found), withoutLines(expected), `${JSON.stringify(ends)}, ${sliceBytes}`);
      }
  });

  it("end at a byte that is not of the encoding", async () => {
    const bytes = Buffer.concat([
      Buffer.from("t,a\n1,2\n".repeat(20)),
      Buffer.from([0xff]),
      Buffer.from("\n"),
    ]);
    const read = async () => {
      const format = { encoding: "utf-8", delimiter: "," } as const;
      for await (const _ of rowsOfBrowser(new File([bytes], "x.csv"), format, 64));
    };
    await assert.rejects(
      read,
      (problem) => problem instanceof UnreadableCsv && /not utf-8/.test(problem.message),
    );
  });
});
