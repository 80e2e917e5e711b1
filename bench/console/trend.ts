// The figures of the trend: opening a year of seconds, other windows, dragging, and every single point.
import type { Page } from "playwright-core";
import { randomFrom, seed } from "../generate.ts";
import { percentile } from "../workloads.ts";
import { type ConsoleScale, dayMs, dragSeries, start, yearSeries } from "./data.ts";
import { dragWithShift } from "./mouse.ts";
import {
  type ConsoleAt,
  type ConsoleRow,
  closePage,
  inside,
  jump,
  ms,
  openPage,
  timesRow,
  untilDrawn,
} from "./page.ts";

const openMostMs = 500;
const windowMostMs = 150;
const frameMostMs = 50;
const framesLeast = 60;

interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

const address = (names: readonly string[], { startMs, endMs }: Window): string => {
  const series = names.map((name) => `series=${encodeURIComponent(name)}`).join("&");
  const [from, to] = [startMs, endMs].map((timeMs) => new Date(timeMs).toISOString());
  return `/trend?${series}&start=${from}&end=${to}&zone=UTC`;
};

const yearOf = ({ yearDays }: ConsoleScale): Window => ({
  startMs: start.year,
  endMs: start.year + yearDays * dayMs,
});

/** Opens the year for the first time since the server started, and again with the server's caches warm. */
export async function measureOpen(at: ConsoleAt, scale: ConsoleScale): Promise<ConsoleRow[]> {
  const url = address([yearSeries], yearOf(scale));
  const page = await openPage(at, "/trend");
  await page.getByText("Choose what to look at").waitFor();
  const cold = await jump(page, url);
  const warm: number[] = [];
  const links: number[] = [];
  for (let time = 0; time < 5; time++) {
    await page.goto("/trend");
    await page.getByText("Choose what to look at").waitFor();
    warm.push((await jump(page, url)).ms);
    await page.goto(url);
    links.push((await untilDrawn(page)).ms);
  }
  await closePage(page);
  const what = `trend over ${scale.yearDays} days of 1 Hz`;
  const [p50, link] = [percentile(warm, 0.5), percentile(links, 0.5)];
  return [
    openRow(`${what}: open, first read since the start of the server`, cold.ms),
    openRow(`${what}: open again, with an empty cache of the page, p50 of ${warm.length}`, p50),
    { what: `the same as a link, with the load of the page, p50 of ${links.length}`, figure: ms(link) },
  ];
}

const openRow = (what: string, figure: number): ConsoleRow => ({
  what,
  ...{ figure: ms(figure), bar: `< ${openMostMs} ms`, isMet: figure < openMostMs },
});

/** Windows of random lengths and places, each of them new. */
export async function measureWindows(at: ConsoleAt, scale: ConsoleScale): Promise<ConsoleRow[]> {
  const year = yearOf(scale);
  const random = randomFrom(seed);
  const page = await openPage(at, address([yearSeries], year));
  await untilDrawn(page);
  const times: number[] = [];
  let without = 0;
  for (let requests = 0; times.length < scale.windows; ) {
    const drawn = await jump(page, address([yearSeries], randomWindow(year, random)));
    if (drawn.requests === requests) without += 1;
    requests = drawn.requests;
    times.push(drawn.ms);
  }
  await closePage(page);
  const what = `zoom or pan to windows never requested before, 10 minutes to ${scale.yearDays / 2} days`;
  return [timesRow(`${what}, ${without} of them from loaded data`, times, windowMostMs)];
}

const shortestMs = 600_000;

/** Every order of length is equally likely. */
function randomWindow({ startMs, endMs }: Window, random: () => number): Window {
  const longestMs = (endMs - startMs) / 2;
  const lengthMs = Math.round(shortestMs * (longestMs / shortestMs) ** random());
  const from = Math.round(startMs + random() * (endMs - startMs - lengthMs));
  return { startMs: from, endMs: from + lengthMs };
}

/** Pans twenty lines of about 2,000 buckets each with the mouse. */
export async function measureDrag(at: ConsoleAt & { readonly debugPort: number }): Promise<ConsoleRow[]> {
  const middleMs = start.drag + 2.5 * dayMs;
  const halfMs = 1_000 * 60_000;
  const url = address(dragSeries, { startMs: middleMs - halfMs, endMs: middleMs + halfMs });
  const page = await openPage(at, url, { viewport: { width: 1920, height: 1080 } });
  await untilDrawn(page);
  const picture = await page.getByRole("status").first().innerText();
  const box = (await page.getByRole("application").boundingBox())!;
  const [left, top] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.keyboard.down("Shift");
  await page.mouse.move(left, top);
  await page.mouse.down();
  const frames = inside<Frames>(page, `bench.frames(${dragMs})`);
  await dragWithShift(page, {
    ...{ debugPort: at.debugPort, durationMs: dragMs },
    at: (elapsedMs) => ({ x: left + 100 * Math.sin(elapsedMs / 333), y: top }),
  });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const result = dragRow(await frames, picture);
  await closePage(page);
  return [result];
}

const dragMs = 4_000;

interface Frames {
  readonly lengths: readonly number[];
  /** The frames in which the chart was drawn. */
  readonly drawn: number;
}

function dragRow({ lengths, drawn }: Frames, picture: string): ConsoleRow {
  const seconds = lengths.reduce((sum, one) => sum + one, 0) / 1000;
  const longest = Math.max(...lengths);
  // Mouse and display miss each other in some frames.
  const isMet = drawn / seconds > framesLeast - 2 && longest < frameMostMs;
  return {
    what: `${dragSeries.length} series over 2,000 minutes dragged with the mouse: ${picture}`,
    figure: `${(drawn / seconds).toFixed(1)} redrawn frames/s, longest frame ${ms(longest)}`,
    ...{ bar: `${framesLeast} frames/s, no frame over ${frameMostMs} ms`, isMet },
  };
}

const zoomSteps = 40;

/** Zooms in with the mouse until raw points are drawn, and compares each drawn point with the API. */
export async function measurePoints(at: ConsoleAt, scale: ConsoleScale): Promise<ConsoleRow[]> {
  const page = await openPage(at, address([yearSeries], yearOf(scale)));
  await untilDrawn(page);
  const box = (await page.locator("[role=application] .u-over").boundingBox())!;
  const middle = box.y + box.height / 2;
  const times: number[] = [];
  const isRaw = async () => (await page.getByRole("status").first().innerText()).startsWith("Raw points");
  while (!(await isRaw())) {
    if (times.length === zoomSteps) throw new Error("no raw points after many steps");
    await inside(page, "bench.begin()");
    await page.mouse.move(box.x + box.width * 0.4, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await page.mouse.up();
    times.push((await untilDrawn(page)).ms);
  }
  const points = await compareWithApi(page);
  await closePage(page);
  return [
    timesRow("zoom by mouse from a year to single points, each step to a fifth", times, windowMostMs),
    {
      what: "points drawn at that end, each compared with the API",
      figure: `${points}, none left out`,
      ...{ bar: "every raw point", isMet: true },
    },
  ];
}

interface Point {
  readonly timestamp: number;
  readonly value: number;
}

/** Canvas pixels may differ by rounding. */
const tolerancePx = 0.01;

/** Throws when a point in the window is not an end of a drawn line. Returns their number. */
async function compareWithApi(page: Page): Promise<number> {
  const search = new URL(page.url()).searchParams;
  const [startMs, endMs] = ["start", "end"].map((name) => Date.parse(search.get(name)!)) as [number, number];
  const api = "/api/0.6/projects/default/timeseries/data";
  const response = await page.request.get(`${api}/${yearSeries}?start=${startMs}&end=${endMs}&limit=100000`);
  const { data } = (await response.json()) as { data: { items: [{ datapoints: Point[] }] } };
  const points = data.items[0].datapoints;
  await inside(page, "bench.notePath()");
  await page.setViewportSize({ width: 1440, height: 880 });
  await untilDrawn(page);
  const { path, left, width } = await inside<{ path: number[]; left: number; width: number }>(page, plotArea);
  const drawn = new Map<number, number>();
  for (let at = 0; at < path.length; at += 2) drawn.set(Math.round(path[at]! / tolerancePx), path[at + 1]!);
  const leftOf = ({ timestamp }: Point) => left + ((timestamp - startMs) / (endMs - startMs)) * width;
  const topOf = (point: Point): number => {
    const at = Math.round(leftOf(point) / tolerancePx);
    const top = [at, at - 1, at + 1].map((one) => drawn.get(one)).find((one) => one !== undefined);
    if (top === undefined) throw new Error(`the point at ${point.timestamp} is not drawn`);
    return top;
  };
  const sorted = points.toSorted((one, other) => one.value - other.value);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const perUnit = (topOf(high) - topOf(low)) / (high.value - low.value);
  for (const point of points) {
    const wanted = topOf(low) + (point.value - low.value) * perUnit;
    if (Math.abs(topOf(point) - wanted) > tolerancePx)
      throw new Error(`the point at ${point.timestamp} is drawn at another value`);
  }
  return points.length;
}

/** The ends of the lines in canvas pixels, and the part of the canvas that shows the window. */
const plotArea = `(() => {
  const [canvas, over] = ["canvas", ".u-over"].map((name) =>
    document.querySelector("[role=application] " + name).getBoundingClientRect());
  return { path: bench.longestPath, left: over.left - canvas.left, width: over.width };
})()`;
