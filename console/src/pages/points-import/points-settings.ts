// How a CSV file of points is read: delimiter, decimal sign and times. The file suggests them.
import type { Row } from "../../../../src/import/row.ts";
import {
  detectTimeFormat,
  isDateFormat,
  type TimeFormat,
  timeFormats,
  timeReader,
} from "../../../../src/import/times.ts";
import { toTimestamp } from "../../../../src/lib/timestamp-format.ts";
import { type CsvFormat, formatOf } from "../../lib/csv-file.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { rowsOf } from "./points-rows.ts";

export interface PointsSettings extends CsvFormat {
  readonly decimalComma: boolean;
  readonly timeIndex: number;
  /** A name of `timeFormats`, or a pattern. */
  readonly timeFormat: string;
  readonly timeZone: string;
  /** Words for "no value", separated by commas. */
  readonly missing: string;
}

export interface Opening {
  /** The file and how it was read, as the key of a query: the rows would take long to compare. */
  readonly source: readonly unknown[];
  readonly header: Row;
  /** The first rows of values. */
  readonly rows: readonly Row[];
}

export const sourceOf = (file: File | null, format?: CsvFormat): readonly unknown[] => [
  ...[file?.name, file?.size, file?.lastModified],
  ...(format ? [format.encoding, format.delimiter] : []),
];

/** Rows of the preview that are checked. */
const openingRowsMax = 1_000;

export async function openingOf(file: File, format: CsvFormat): Promise<Opening> {
  const read: Row[] = [];
  for await (const row of rowsOf(file, format)) if (read.push(row) > openingRowsMax) break;
  const [header, ...rows] = read;
  if (!header) throw new Error("The file is empty. It needs a line with the names of its columns.");
  return { source: sourceOf(file, format), header, rows };
}

/** The settings that the first rows of the file suggest. */
export async function suggestedSettings(file: File): Promise<PointsSettings> {
  const format = await formatOf(file);
  const { rows } = await openingOf(file, format);
  const cells = rows.map((row) => row.cells[0] ?? "");
  return {
    ...format,
    decimalComma: format.delimiter !== "," && hasDecimalCommas(rows),
    timeIndex: 0,
    timeFormat: suggestedTimeFormat(cells),
    timeZone: browserZone(),
    missing: "",
  };
}

function hasDecimalCommas(rows: readonly Row[]): boolean {
  const count = (pattern: RegExp) =>
    rows.reduce((sum, { cells }) => sum + cells.slice(1).filter((cell) => pattern.test(cell)).length, 0);
  return count(/^[+-]?\d*,\d+(e[+-]?\d+)?$/i) > count(/^[+-]?\d*\.\d+(e[+-]?\d+)?$/i);
}

/** The order decides where several patterns fit: days come before months outside of America. */
export const timePatterns = [
  ...["yyyy-MM-dd H:mm:ss", "yyyy-MM-dd H:mm", "yyyy/M/d H:mm:ss", "yyyy/M/d H:mm"],
  ...["d.M.yyyy H:mm:ss", "d.M.yyyy H:mm", "d.M.yyyy"],
  ...["d/M/yyyy H:mm:ss", "d/M/yyyy H:mm", "M/d/yyyy H:mm:ss", "M/d/yyyy H:mm", "M/d/yyyy h:mm:ss a"],
];

/** The first format that all times are in; the one of the first time when none is. */
function suggestedTimeFormat(times: readonly string[]): string {
  const [first = ""] = times;
  const detected = detectTimeFormat(first);
  if (typeof detected === "string") return detected;
  const fits = (pattern: string) => (time: string) => toTimestamp(time, pattern) !== null;
  return (
    timePatterns.find((pattern) => times.every(fits(pattern))) ??
    timePatterns.find((pattern) => fits(pattern)(first)) ??
    "iso"
  );
}

/** Another pattern that all times are in, with day and month exchanged; undefined when the order is clear. */
export function ambiguousWith(timeFormat: string, times: readonly string[]): string | undefined {
  const other = /^d\/M\//.test(timeFormat)
    ? timeFormat.replace("d/M/", "M/d/")
    : timeFormat.replace("M/d/", "d/M/");
  if (other === timeFormat) return undefined;
  return times.every((time) => toTimestamp(time, other) !== null) ? other : undefined;
}

/** The format of a name or a pattern, or the reason why it is none. */
export function timeFormatOf(text: string): { format: TimeFormat } | { problem: string } {
  const named = timeFormats.find((name) => name === text);
  if (named) return { format: named };
  if (!text.includes("yy"))
    return { problem: `Write ${timeFormats.join(", ")}, or a pattern such as dd.MM.yyyy HH:mm.` };
  try {
    toTimestamp("", text);
    return { format: { pattern: text } };
  } catch (problem) {
    return { problem: (problem as Error).message };
  }
}

/** Of the refusals of a format: `batchesOf` has the same settings for every row. */
export const batchSettings = ({ decimalComma, missing, timeFormat, timeZone }: PointsSettings) => {
  const read = timeFormatOf(timeFormat);
  const isDate = "format" in read && isDateFormat(read.format);
  return {
    decimalComma,
    epochMs: 0,
    missing: new Set(["", ...missing.split(",").map((one) => one.trim())]),
    timeZone: isDate ? timeZone : "UTC",
  };
};

/** The time in ms since 1970 in a cell; undefined when it is not in the format. */
export const timeIn = (cell: string, format: TimeFormat, timeZone: string): number | undefined =>
  timeReader(format, timeZone)(cell, 0);
