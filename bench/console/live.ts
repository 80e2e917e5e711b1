// Eight hours of live mode on a simulated clock: whether the page keeps memory. A page reads new points each
// second. Here it reads the points of ten seconds at once, so that the eight hours take minutes: a tenth of
// the requests and renders, each as in a page that is open, and the same points.
import type { Page } from "playwright-core";
import { type ConsoleScale, liveSeries, start } from "./data.ts";
import { type ConsoleAt, type ConsoleRow, closePage, heapBytes, inside, openPage } from "./page.ts";

const growthMost = 0.1;
/** The first 360 steps fill caches, which is no growth: the heap grows by a tenth in them. */
const settleSeconds = 3_600;
const stepSeconds = 10;
/** In one call into the page. */
const stepsPerCall = 60;

export async function measureLive(at: ConsoleAt, { liveHours }: ConsoleScale): Promise<ConsoleRow[]> {
  const page = await openPage(at, "/connect");
  await page.clock.install({ time: start.live });
  const series = liveSeries.map((name) => `series=${encodeURIComponent(name)}`).join("&");
  await page.goto(`/trend?${series}&start=15m-ago&live=true`);
  await page.getByRole("row", { name: liveSeries[0]! }).waitFor();
  await page.clock.pauseAt(start.live + 60_000);
  const session = await page.context().newCDPSession(page);
  await pass(page, settleSeconds);
  const before = await heapBytes(session);
  const requestsBefore = await inside<number>(page, "bench.requests.ended");
  const seconds = liveHours * 3_600;
  const startedMs = performance.now();
  await pass(page, seconds);
  const minutes = (performance.now() - startedMs) / 60_000;
  const after = await heapBytes(session);
  const requests = (await inside<number>(page, "bench.requests.ended")) - requestsBefore;
  const isFollowing = requests >= (0.9 * seconds * liveSeries.length) / stepSeconds;
  const shownMs = Date.parse(
    (await page.getByRole("row").nth(1).getByRole("cell").nth(1).getAttribute("title"))!,
  );
  await closePage(page);
  if (!isFollowing) throw new Error(`the page sent ${requests} requests in ${seconds} s`);
  if (Number.isNaN(shownMs)) throw new Error("the page shows no latest value");
  const growth = after / before - 1;
  const [from, to] = [before, after].map((bytes) => (bytes / 2 ** 20).toFixed(1)) as [string, string];
  return [
    {
      what:
        `${liveHours} h of live mode on a clock that runs in steps of ${stepSeconds} s, ` +
        `${requests.toLocaleString("en")} requests in ${minutes.toFixed(1)} minutes: heap after a collection`,
      figure: `${from} MiB after the first hour, ${to} MiB at the end (${(100 * growth).toFixed(1)} %)`,
      ...{ bar: `grows by < ${100 * growthMost} %`, isMet: growth < growthMost },
    },
  ];
}

async function pass(page: Page, seconds: number): Promise<void> {
  for (let left = Math.round(seconds / stepSeconds); left > 0; left -= stepsPerCall)
    await inside(page, `bench.passSteps(${Math.min(left, stepsPerCall)}, ${1_000 * stepSeconds})`);
}
