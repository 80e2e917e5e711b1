// A page of the console in the system's Chromium, and the times that a person waits in it.
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, CDPSession, Page } from "playwright-core";
import { administratorKey } from "../systems/millrace.ts";
import { percentile } from "../workloads.ts";

export const inPage = readFileSync(new URL("in-page.js", import.meta.url), "utf8");
export const timeoutMs = 60_000;

export interface ConsoleAt {
  readonly browser: Browser;
  readonly port: number;
}

/** A page in a window of its own, with an empty cache, and signed in. */
export async function openPage(
  { browser, port }: ConsoleAt,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const baseURL = `http://127.0.0.1:${port}`;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL, ...options });
  context.setDefaultTimeout(timeoutMs);
  await context.addInitScript(inPage);
  const response = await context.request.post("/session", {
    data: { apiKey: administratorKey },
    headers: { origin: baseURL },
  });
  if (!response.ok()) throw new Error(`the sign-in responded ${response.status()}: ${await response.text()}`);
  const page = await context.newPage();
  page.on("pageerror", (problem) => console.log(`a script of ${path} failed: ${problem.message}`));
  await page.goto(path, { waitUntil: "commit" });
  return page;
}

export const closePage = (page: Page): Promise<void> => page.context().close();

/** Runs an expression in the page, and waits at most a minute for its result. */
export async function inside<Result>(page: Page, expression: string): Promise<Result> {
  return (await page.evaluate(expression)) as Result;
}

/** From the last act of a person until the condition holds, in ms. */
export const until = (page: Page, condition: string, from: "act" | "load" = "act"): Promise<number> =>
  inside(page, `bench.until(${JSON.stringify(condition)}, "${from}")`);

export interface Drawn {
  readonly ms: number;
  /** Requests of the page so far. */
  readonly requests: number;
}

export const untilDrawn = (page: Page): Promise<Drawn> => inside(page, "bench.untilDrawn()");

/** Shows another address, as a link in the console does. */
export async function jump(page: Page, url: string): Promise<Drawn> {
  await inside(page, `bench.jump(${JSON.stringify(url)})`);
  return untilDrawn(page);
}

/** Bytes that the page's scripts use after a garbage collection. */
export async function heapBytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}

/** A row of the table: the measured step, the figure, and its bar. */
export interface ConsoleRow {
  readonly what: string;
  readonly figure: string;
  readonly bar?: string;
  /** Absent when there is no bar. */
  readonly isMet?: boolean;
}

/** A row for times with one bar for each of them. */
export function timesRow(what: string, times: readonly number[], mostMs: number): ConsoleRow {
  const [p50, p95, longest] = [0.5, 0.95, 1].map((share) => percentile(times, share)) as [
    number,
    number,
    number,
  ];
  const figure = `p50 ${ms(p50)}, p95 ${ms(p95)}, longest ${ms(longest)} of ${times.length}`;
  return { what, figure, bar: `p95 < ${mostMs} ms`, isMet: p95 < mostMs };
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
