// The data of the console's figures, loaded through the API, and kept in a folder on request.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GeneratedSeries, generateSeries, pointsPerRequest, seed, startMs } from "../generate.ts";
import { drive, openConnections, type RequestBytes } from "../http.ts";
import { assetsPerUnit, plantTop, plantUnit } from "../plant.ts";
import { untilQuiet } from "../process.ts";
import { rowsRequest } from "../records.ts";
import { millrace, post } from "../systems/millrace.ts";
import type { Running } from "../systems/system.ts";

export interface ConsoleScale {
  /** Of one series with a point a second. */
  readonly yearDays: number;
  /** Of a thousand assets each. */
  readonly units: number;
  readonly rawRows: number;
  /** Random windows of the trend, and steps of other measurements. */
  readonly windows: number;
  readonly steps: number;
  readonly liveHours: number;
  readonly csvBytes: number;
}

export const fullConsole: ConsoleScale = {
  ...{ yearDays: 365, units: 1_000, rawRows: 1_000_000 },
  ...{ windows: 120, steps: 20, liveHours: 8, csvBytes: 200e6 },
};
export const quickConsole: ConsoleScale = {
  ...{ yearDays: 20, units: 20, rawRows: 50_000 },
  ...{ windows: 12, steps: 5, liveHours: 0.1, csvBytes: 5e6 },
};

export const dayMs = 86_400_000;
const hourMs = 3_600_000;
const daySeconds = 86_400;

export const yearSeries = "year";
/** Their buckets of a minute fill a wide screen. */
export const dragSeries = Array.from({ length: 20 }, (_, index) => `drag ${String(index).padStart(2, "0")}`);
const dragDays = 5;
export const liveSeries = ["live 0", "live 1", "live 2"];
/** Points before the start of the simulated clock, and after its end. */
const liveMarginHours = 1;

export const start = { year: startMs, drag: startMs, live: startMs + liveMarginHours * hourMs };

/** Loads the data that the folder does not have yet. */
export async function loadConsoleData(running: Running, scale: ConsoleScale): Promise<void> {
  const marker = join(running.started.folder, "console-data.json");
  const wanted = JSON.stringify({ version: 1, ...scale });
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  const connections = await openConnections(running.port);
  try {
    await running.declare([yearSeries, ...dragSeries, ...liveSeries]);
    const parts: readonly (readonly [string, () => Iterable<RequestBytes>])[] = [
      ["a year of points", () => pointsOf([yearSeries], scale.yearDays * daySeconds)],
      ["points of 20 series", () => pointsOf(dragSeries, dragDays * daySeconds)],
      ["points of live series", () => pointsOf(liveSeries, (scale.liveHours + 2 * liveMarginHours) * 3_600)],
      ["the top of the asset tree", () => [assets(plantTop(scale.units))]],
      ["assets", () => unitsOf(scale.units)],
      ["raw rows", () => rowsOf(scale.rawRows)],
    ];
    for (const [what, requests] of parts) {
      const seconds = await drive(connections, requests());
      console.log(`loaded ${what} in ${seconds.toFixed(1)} s`);
    }
  } finally {
    for (const one of connections) one.close();
  }
  await untilQuiet(running.started.folder);
  writeFileSync(marker, wanted);
}

function* pointsOf(names: readonly string[], points: number): Generator<RequestBytes> {
  for (const [index, name] of names.entries()) {
    const [generated] = generateSeries(1, points, seed + index) as [GeneratedSeries];
    const series = { ...generated, name: encodeURIComponent(name) };
    for (let from = 0; from < points; from += pointsPerRequest)
      yield millrace.requests.backfill(series, from, Math.min(points, from + pointsPerRequest));
  }
}

const assets = (items: readonly object[]): RequestBytes => post("/assets", JSON.stringify({ items }));

function* unitsOf(units: number): Generator<RequestBytes> {
  for (let unit = 0; unit < units; unit++) yield assets(plantUnit(unit, seed));
}

function* rowsOf(rows: number): Generator<RequestBytes> {
  const perRequest = 10_000;
  for (let from = 0; from < rows; from += perRequest)
    yield rowsRequest(
      "ordered",
      Uint32Array.from({ length: Math.min(perRequest, rows - from) }, (_, at) => from + at),
    );
}

/** So that messages can name it. */
export const assetCount = ({ units }: ConsoleScale): number => units * assetsPerUnit;
