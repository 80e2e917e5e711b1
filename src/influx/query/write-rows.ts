// Writes the heads and rows of result series into a buffer.
import type { BufferWriter } from "../../lib/buffer-writer.ts";
import { csvCell } from "../../lib/csv.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../../lib/number-text.ts";
import { cellOf, type ResultRows, type ResultSeries } from "./rows.ts";
import { epochText, type TimeText, utcText, zonedText } from "./time-format.ts";

/** How times are written. */
export class TimeWriter {
  readonly #epoch: string | undefined;
  readonly #text: TimeText | undefined;

  /** Refuses (400) an unknown unit. */
  constructor(epoch: string | undefined) {
    this.#epoch = epoch;
    this.#text = epochText(epoch);
  }

  /** Writes times of rows of this series as JSON. */
  json(writer: BufferWriter, { timeZone = "UTC" }: ResultSeries): (timeMs: number) => void {
    const text = this.#text;
    if (this.#epoch === "ms") return (timeMs) => writeInt(writer, timeMs);
    if (text) return (timeMs) => writer.string(text(timeMs));
    const written = timeZone === "UTC" ? utcText : zonedText(timeZone);
    return (timeMs) => writer.jsonString(written(timeMs));
  }
}

function writeInt(writer: BufferWriter, value: number): void {
  writer.ensure(numberBytesMax);
  writer.at = writeInteger(writer.view, writer.at, value);
}

function writeFloat(writer: BufferWriter, value: number): void {
  writer.ensure(numberBytesMax);
  writer.at = writeNumber(writer.view, writer.at, value);
}

/** `"name":"cpu","tags":{...},"columns":[...]` */
export function headJson({ name, tags, columns }: ResultSeries): string {
  return JSON.stringify({ ...(name !== undefined && { name }), ...(tags && { tags }), columns }).slice(1, -1);
}

const comma = 44;

/** `[time,value,...]` */
export function rowJson(
  writer: BufferWriter,
  { times, columns }: ResultRows,
  row: number,
  writeTime: (timeMs: number) => void,
): void {
  writer.string("[");
  if (times) writeTime(times[row]!);
  for (const [at, column] of columns.entries()) {
    if (times || at > 0) writer.byte(comma);
    const value = cellOf(column, row);
    if (typeof value === "number") writeFloat(writer, value);
    else if (typeof value === "string") writer.jsonString(value);
    else writer.string(String(value));
  }
  writer.string("]");
}

/** `name,tags,time,value`; each series names its tags as `key=value`. */
export const headCsv = ({ columns }: ResultSeries): string =>
  `${["name", "tags", ...columns].map(csvCell).join(",")}\n`;

export function rowCsv(
  { name = "", tags = {} }: ResultSeries,
  { times, columns }: ResultRows,
  row: number,
  timeText: TimeText,
): string {
  const listed = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  const cells = columns.map((column) => String(cellOf(column, row) ?? ""));
  const time = times ? [timeText(times[row]!)] : [];
  return `${[name, listed.join(","), ...time, ...cells].map(csvCell).join(",")}\n`;
}
