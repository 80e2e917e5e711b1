// `npm run bench -- --console`: the figures of the web console in the system's Chromium, against a real
// server.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../test/support/browser.ts";
import { freePort, stopProcess } from "../process.ts";
import { millrace } from "../systems/millrace.ts";
import type { Running } from "../systems/system.ts";
import { type ConsoleScale, fullConsole, loadConsoleData, quickConsole } from "./data.ts";
import { measureFloor } from "./floor.ts";
import { measureLive } from "./live.ts";
import type { ConsoleAt, ConsoleRow } from "./page.ts";
import { measureDemo, measureFirstLoad, measureInstall } from "./start.ts";
import { measureGrid, measureTree } from "./tables.ts";
import { measureDrag, measureOpen, measurePoints, measureWindows } from "./trend.ts";
import { measureUpload } from "./upload.ts";

export interface ConsoleOptions {
  readonly isQuick: boolean;
  /** A folder that keeps the loaded data for the next run; a temporary one when absent. */
  readonly data: string | undefined;
  /** These parts alone. */
  readonly only: readonly string[] | undefined;
}

interface Setting extends ConsoleAt {
  /** Where the browser takes messages beside those of Playwright. */
  readonly debugPort: number;
  readonly running: Running;
  readonly scale: ConsoleScale;
  /** For files that are deleted at the end. */
  readonly folder: string;
}

/** In this order: the first read of the year comes first, and the upload, which grows the data, last. */
const parts: Readonly<Record<string, (setting: Setting) => Promise<ConsoleRow[]>>> = {
  open: (setting) => measureOpen(setting, setting.scale),
  windows: (setting) => measureWindows(setting, setting.scale),
  drag: async (setting) => [...(await measureDrag(setting)), ...(await measureFloor(setting))],
  points: (setting) => measurePoints(setting, setting.scale),
  tree: (setting) => measureTree(setting, setting.scale),
  grid: (setting) => measureGrid(setting, setting.scale),
  load: measureFirstLoad,
  live: (setting) => measureLive(setting, setting.scale),
  upload: (setting) => measureUpload(setting, setting.running, setting.scale),
  demo: ({ browser, folder }) => measureDemo(browser, join(folder, "demo")),
  install: ({ folder }) => measureInstall(folder),
};

export const consoleParts: readonly string[] = Object.keys(parts);

/** Returns the table, and whether every part could be measured. */
export async function measureConsole(options: ConsoleOptions): Promise<{ table: string; isWhole: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-console-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  const scale = options.isQuick ? quickConsole : fullConsole;
  let browser: Browser | undefined;
  try {
    const data = options.data ?? join(folder, "data");
    if (!existsSync(data)) mkdirSync(data, { recursive: true });
    await withServer(data, (running) => loadConsoleData(running, scale));
    const debugPort = await freePort();
    browser = await launchBrowser([`--remote-debugging-port=${debugPort}`]);
    const at = { browser, debugPort, scale, folder };
    const rows = await withServer(data, (running) =>
      measured({ ...at, running, port: running.port }, options),
    );
    return { table: tableOf(rows), isWhole: rows.every(({ isMissing }) => !isMissing) };
  } finally {
    await browser?.close();
    removeFolder();
  }
}

async function withServer<Result>(
  folder: string,
  work: (running: Running) => Promise<Result>,
): Promise<Result> {
  const running = await millrace.start(folder);
  try {
    return await work(running);
  } finally {
    await stopProcess(running.started);
  }
}

type Row = ConsoleRow & { readonly isMissing?: boolean };

/** A part that fails becomes a row with the failure, and the others are still measured. */
async function measured(setting: Setting, { only }: ConsoleOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (only && !only.includes(name)) continue;
    const startedMs = performance.now();
    try {
      const found = await measure(setting);
      for (const { what, figure, bar = "" } of found) console.log(`${what}: ${figure} ${bar && `(${bar})`}`);
      rows.push(...found);
    } catch (problem) {
      const message = (problem as Error).message.split("\n", 1)[0]!;
      console.log(`${name} was not measured: ${(problem as Error).stack}`);
      rows.push({ what: name, figure: `not measured: ${message}`, isMissing: true });
    }
    console.log(`(${name} took ${((performance.now() - startedMs) / 1000).toFixed(0)} s)`);
  }
  return rows;
}

function tableOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const met = { true: "yes", false: "**no**", undefined: "" };
  return [
    line(["What", "Figure", "Bar", "Met"]),
    line(["---", "---", "---", "---"]),
    ...rows.map(({ what, figure, bar = "", isMet }) => line([what, figure, bar, met[`${isMet}`]])),
  ].join("\n");
}
