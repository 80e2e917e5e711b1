// The first minutes: from a fresh clone to the first trend of the demo plant, and the first load of the
// console.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { freePort, startProcess, stopProcess } from "../process.ts";
import { percentile } from "../workloads.ts";
import {
  type ConsoleAt,
  type ConsoleRow,
  closePage,
  inPage,
  inside,
  ms,
  openPage,
  timeoutMs,
  until,
  untilDrawn,
} from "./page.ts";

const root = new URL("../..", import.meta.url).pathname;
const installSecondsMax = 300;
const loadSecondsMax = 240;
const demoMostMs = 60_000;

/** `npm ci` in a clone of this repository, with the packages that npm has in its cache. */
export async function measureInstall(folder: string): Promise<ConsoleRow[]> {
  const clone = join(folder, "clone");
  await run(["git", "clone", "--quiet", root, clone], folder);
  const startedMs = performance.now();
  await run(["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"], clone);
  const seconds = (performance.now() - startedMs) / 1000;
  return [
    {
      what: "`npm ci` in a fresh clone, the build included, packages in npm's cache",
      figure: `${seconds.toFixed(1)} s`,
    },
  ];
}

function run([program, ...words]: readonly [string, ...string[]], cwd: string): Promise<void> {
  const child = spawn(program, words, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: installSecondsMax * 1000,
  });
  let problem = "";
  child.stderr.on("data", (text) => (problem += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}: ${problem.slice(-500)}`)),
    );
  });
}

/** From the start of a server without data to a trend that was opened from the first page. */
export async function measureDemo(browser: Browser, folder: string): Promise<ConsoleRow[]> {
  mkdirSync(folder, { recursive: true });
  const env = {
    ...{ MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: String(await freePort()) },
    ...{ MILLRACE_DATA: join(folder, "data"), MILLRACE_LOG_LEVEL: "warn" },
  };
  const probe = `http://127.0.0.1:${env.MILLRACE_PORT}/health`;
  const startedMs = performance.now();
  const started = await startProcess([process.execPath, `${root}src/start.js`, "serve", "--demo"], {
    ...{ folder, env, probe },
  });
  try {
    const link = await printedLink(join(folder, "output.log"));
    const loadedMs = performance.now();
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(timeoutMs);
    await context.addInitScript(inPage);
    const page = await context.newPage();
    await page.goto(link);
    const trends = page.getByRole("region", { name: "Saved trends" }).getByRole("link");
    await trends.first().click();
    await untilDrawn(page);
    const figure = performance.now() - startedMs;
    await context.close();
    const parts = `${((loadedMs - startedMs) / 1000).toFixed(1)} s of these until the plant is loaded`;
    return [
      {
        what: "start with `--demo` and no data, until the first saved trend is drawn",
        figure: `${(figure / 1000).toFixed(1)} s, ${parts}`,
        ...{ bar: `< ${demoMostMs / 1000} s`, isMet: figure < demoMostMs },
      },
    ];
  } finally {
    await stopProcess(started);
  }
}

async function printedLink(log: string): Promise<string> {
  for (
    const deadline = performance.now() + loadSecondsMax * 1000;
    performance.now() < deadline;
    await pause(50)
  ) {
    const [link] = /http:\S+\/sign-in#token=\S+/.exec(readFileSync(log, "utf8")) ?? [];
    if (link !== undefined) return link;
  }
  throw new Error(`no link to sign in after ${loadSecondsMax} s: ${readFileSync(log, "utf8").slice(-500)}`);
}

const kilobytesMost = 350;
const paintMostMs = 1_000;
const loads = 5;

interface FirstLoad {
  readonly bytes: number;
  readonly paintMs: number;
}

/** The first page of a project with data, in windows with an empty cache. */
export async function measureFirstLoad(at: ConsoleAt): Promise<ConsoleRow[]> {
  const found: (FirstLoad & { readonly usefulMs: number })[] = [];
  for (let load = 0; load < loads; load++) {
    const page = await openPage(at, "/");
    const usefulMs = await until(page, 'document.body?.textContent.includes("Saved trends")', "load");
    found.push({ usefulMs, ...(await inside<FirstLoad>(page, firstLoad)) });
    await closePage(page);
  }
  const median = (values: readonly number[]) => percentile(values, 0.5);
  const kilobytes = median(found.map(({ bytes }) => bytes)) / 1000;
  const [paintMs, usefulMs] = [
    median(found.map((one) => one.paintMs)),
    median(found.map((one) => one.usefulMs)),
  ];
  return [
    {
      what: "first load: scripts and styles, compressed",
      figure: `${kilobytes.toFixed(0)} kB`,
      ...{ bar: `<= ${kilobytesMost} kB`, isMet: kilobytes <= kilobytesMost },
    },
    {
      what: `first useful paint on loopback, empty cache, p50 of ${loads}`,
      figure: `${ms(usefulMs)} with counts and trends, ${ms(paintMs)} to the first text`,
      ...{ bar: `< ${paintMostMs} ms`, isMet: usefulMs < paintMostMs },
    },
  ];
}

const firstLoad = `(() => {
  const isCode = ({ name }) => /\\.(js|css)(\\?|$)/.test(name);
  const bytes = performance.getEntriesByType("resource").filter(isCode)
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  return { bytes, paintMs: performance.getEntriesByName("first-contentful-paint")[0].startTime };
})()`;
