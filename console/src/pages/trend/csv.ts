// The trend as CSV: what is drawn, or every point of the window, read page by page.
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { needsAggregates, readPoints, tooManyResults } from "./read-points.ts";
import type { TrendRow } from "./series-table.tsx";
import { shownTable } from "./shown-table.ts";
import type { TrendSeries } from "./trend-series.ts";

const pointsPerRequest = 100_000;
const shortestBucketMs = 1_000;

/** A name or a value as a cell. A spreadsheet does not take it for a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The points and aggregates that the window shows, a row for each time. */
export function shownCsv(lines: readonly ChartLine[], window: TimeWindow): string {
  const { heads, rows } = shownTable(lines, window);
  const body = rows.map(({ timeMs, cells }) =>
    [timeMs, new Date(timeMs).toISOString(), ...cells.map((value) => cell(String(value)))].join(","),
  );
  return `${[["timestamp", "time", ...heads.map(cell)].join(","), ...body].join("\n")}\n`;
}

export interface RawExport {
  readonly project: string;
  readonly rows: readonly TrendRow[];
  readonly window: TimeWindow;
  readonly signal: AbortSignal;
  /** The part that is done, 0 to 1, and the points so far. */
  onProgress(part: number, points: number): void;
}

/** Every point of the window, a row for each. The parts go to the browser's file storage as they come. */
export async function rawCsv({ project, rows, window, signal, onProgress }: RawExport): Promise<Blob> {
  const parts: Blob[] = [new Blob(["series,timestamp,time,value\n"])];
  const { endMs } = window;
  let count = 0;
  for (const [index, { series, line }] of rows.entries()) {
    const prefix = cell(series.name);
    const drawn = line.columns?.kind === "buckets" ? line.columns.averagesMs : undefined;
    const bucketMs = drawn ?? shortestBucketMs;
    const request = { project, series, signal, ...(hasBuckets(series) && { bucketMs }) };
    let startMs: number | undefined = window.startMs;
    while (startMs !== undefined) {
      const query = { start: String(startMs), end: String(endMs), limit: pointsPerRequest };
      const read = await readPoints({ ...request, query });
      const points: readonly { timestamp: number; value?: unknown }[] = read.points;
      const written = points.map(
        ({ timestamp, value }) =>
          `${prefix},${timestamp},${new Date(timestamp).toISOString()},${cell(String(value))}\n`,
      );
      parts.push(new Blob(written));
      count += points.length;
      const last = points.at(-1)?.timestamp;
      // All results of the page are before its start: the next page would be the same one.
      if (read.isCut && last === undefined) throw tooManyResults();
      startMs = read.isCut ? last! + 1 : undefined;
      const done = startMs === undefined ? 1 : (startMs - window.startMs) / (endMs - window.startMs);
      onProgress((index + done) / rows.length, count);
    }
  }
  return new Blob(parts, { type: "text/csv" });
}

/** Formulas with functions have no results of points: they are written as they are drawn. */
const hasBuckets = (series: TrendSeries): boolean =>
  series.kind === "calculated" && needsAggregates(series.formula);
