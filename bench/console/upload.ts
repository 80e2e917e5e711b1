// The upload of a large CSV file into a raw table: progress, cancel, resume, and the memory of the server.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { peakMemoryMb } from "../process.ts";
import type { Running } from "../systems/system.ts";
import type { ConsoleScale } from "./data.ts";
import { type ConsoleAt, type ConsoleRow, closePage, openPage } from "./page.ts";

const uploadMinutesMax = 6;
const uploadMs = uploadMinutesMax * 60_000;

export async function measureUpload(
  at: ConsoleAt,
  running: Running,
  { csvBytes }: ConsoleScale,
): Promise<ConsoleRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-csv-"));
  try {
    const file = join(folder, `upload ${Date.now()}.csv`);
    const rows = writeCsv(file, csvBytes);
    const page = await openPage(at, "/raw");
    const table = `upload-${Date.now()}`;
    await chooseFile(page, file, table);
    const startedMs = performance.now();
    await page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    const shares = await untilShare(page, 30);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The upload has stopped").waitFor();
    const written = Number((await statusText(page)).replaceAll(/[^\d]*rows.*|[^\d]/g, ""));
    const pauseMs = performance.now();
    await page.goto("/raw");
    await chooseFile(page, file, table);
    await page.getByText(/An earlier upload of this file ended after/).waitFor();
    const resumedMs = performance.now();
    await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
    await page.getByText(/All rows are written/).waitFor({ timeout: uploadMs });
    const seconds = (performance.now() - startedMs - (resumedMs - pauseMs)) / 1000;
    await expectRows(page, table, rows);
    await closePage(page);
    return [
      {
        what:
          `CSV upload of ${csvBytes / 1e6} MB, ${rows.toLocaleString("en")} rows, ` +
          "cancelled and resumed in a new page",
        figure:
          `${seconds.toFixed(0)} s, ${shares} steps of progress to 30 %, ` +
          `cancelled after ${written.toLocaleString("en")} rows, every row written`,
        ...{ bar: "progress, cancel, resume", isMet: shares > 3 && written > 0 && written < rows },
      },
      {
        what: "peak resident memory of the server, all of the above included",
        figure: `${peakMemoryMb(running.started).toFixed(0)} MiB`,
        ...{ bar: `< ${memoryMostMb} MiB`, isMet: peakMemoryMb(running.started) < memoryMostMb },
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bound of docs and benchmarks for the whole server. */
const memoryMostMb = 512;

/** Returns the number of rows. */
function writeCsv(path: string, bytes: number): number {
  const file = openSync(path, "w");
  let written = writeSync(file, "key,tag,description,value,unit,changed\n");
  let row = 0;
  while (written < bytes) {
    const lines: string[] = [];
    for (const end = row + 10_000; row < end; row++)
      lines.push(
        `WO-${String(row).padStart(8, "0")},23-FT-${row % 977},"Replace seal in pump ${row % 301}, test",` +
          `${(row % 1000) / 8},bar,2026-06-${String(1 + (row % 30)).padStart(2, "0")}T06:00:00Z\n`,
      );
    written += writeSync(file, lines.join(""));
  }
  closeSync(file);
  return row;
}

async function chooseFile(page: Page, file: string, table: string): Promise<void> {
  await page.getByRole("button", { name: "Upload CSV" }).click();
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("dialog").getByLabel("Database").fill("bench");
  await page.getByRole("dialog").getByLabel("Table", { exact: true }).fill(table);
  await page.getByRole("table", { name: "Preview" }).waitFor();
}

const statusText = (page: Page): Promise<string> =>
  page.getByRole("dialog").getByRole("status").first().innerText();

/** Waits for so many percent. Returns how many different shares were shown. */
async function untilShare(page: Page, percent: number): Promise<number> {
  const shown = new Set<number>();
  const deadline = performance.now() + uploadMs;
  const bar = page.getByRole("progressbar", { name: "Uploaded" });
  for (;;) {
    const share = Number(await bar.getAttribute("aria-valuenow"));
    shown.add(share);
    if (share >= percent) return shown.size;
    if (performance.now() > deadline)
      throw new Error(`the upload is at ${share} % after ${uploadMinutesMax} minutes`);
    await page.waitForTimeout(100);
  }
}

async function expectRows(page: Page, table: string, rows: number): Promise<void> {
  const path = `/api/0.6/projects/default/raw/bench/${table}?limit=1&includeRowCount=true`;
  const { data } = (await (await page.request.get(path)).json()) as { data: { rowCount: number } };
  if (data.rowCount !== rows) throw new Error(`${data.rowCount} rows are stored of ${rows}`);
}
