// Rows become requests: the points of some rows as the body of one insert, and the cells that were refused.
// Browsers run this module, too.
import { limits } from "../limits.ts";
import type { Boundary, Row } from "./row.ts";
import { type Epochs, formatName, type TimeFormat, timeReader } from "./times.ts";

/** Where the times and the values of a row are. */
export interface BatchPlan {
  readonly header: Row;
  readonly timeIndex: number;
  readonly timeFormat: TimeFormat;
  readonly epochIndex?: number;
  readonly columns: readonly BatchColumn[];
}

interface BatchColumn {
  readonly index: number;
  readonly header: string;
  readonly series: { readonly name: string; readonly isString: boolean };
}

export interface Refusal {
  readonly line: number;
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

export interface Batch {
  /** A multi-series insert; empty when there is nothing to send. */
  readonly body: string;
  readonly points: number;
  readonly refused: readonly Refusal[];
  /** The range of its times, both inclusive; an empty batch has none. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The end of the batch, and the state that a continuation from there needs. */
  readonly end: Boundary;
  readonly epochValues: readonly string[];
}

export interface BatchSettings {
  readonly missing: ReadonlySet<string>;
  readonly epochMs: number;
  /** Of dates without an offset. */
  readonly timeZone: string;
  readonly decimalComma: boolean;
  readonly epochs?: Epochs;
}

/** Cuts the rows into batches of bounded size, in the order of the file. */
export async function* batchesOf(
  rows: AsyncIterable<Row>,
  plan: BatchPlan,
  settings: BatchSettings,
): AsyncGenerator<Batch> {
  let builder = new BatchBuilder(plan, settings);
  for await (const row of rows) {
    builder.add(row);
    if (!builder.isFull) continue;
    yield builder.finish();
    builder = new BatchBuilder(plan, settings);
  }
  if (builder.hasRows) yield builder.finish();
}

class BatchBuilder {
  readonly #plan: BatchPlan;
  readonly #settings: BatchSettings;
  readonly #readTime;
  /** The points of each column as JSON text, separated by commas. */
  readonly #texts: string[];
  readonly #refused: Refusal[] = [];
  #end: Boundary | undefined;
  #points = 0;
  #characters = 0;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(plan: BatchPlan, settings: BatchSettings) {
    this.#plan = plan;
    this.#settings = settings;
    this.#readTime = timeReader(plan.timeFormat, settings.timeZone);
    this.#texts = plan.columns.map(() => "");
  }

  get hasRows(): boolean {
    return this.#end !== undefined;
  }

  /** One more row could exceed the bounds of a request. */
  get isFull(): boolean {
    const most = limits.importPointsPerRequest - this.#plan.columns.length;
    return (
      this.#points > most ||
      this.#refused.length > most ||
      this.#characters * utf8BytesMax > limits.importBodyBytesMax
    );
  }

  add(row: Row): void {
    const { cells, line } = row;
    this.#end = { line, endBytes: row.endBytes };
    const { timeIndex, header } = this.#plan;
    const extra = cells.slice(header.cells.length);
    const timeMs =
      extra.length > 0 ? "more cells than the header has; the row is left out" : this.#timeOf(cells);
    if (typeof timeMs === "number") this.#addCells(row, timeMs);
    else if (extra.length > 0) this.#refuse(line, "", extra.join(), timeMs);
    else this.#refuse(line, header.cells[timeIndex] ?? "", cells[timeIndex] ?? "", timeMs);
  }

  #addCells({ cells, line }: Row, timeMs: number): void {
    for (const [position, column] of this.#plan.columns.entries()) {
      const cell = cells[column.index] ?? "";
      if (this.#settings.missing.has(cell)) continue;
      const value = readValue(cell, column.series.isString, this.#settings);
      if ("problem" in value) this.#refuse(line, column.header, cell, value.problem);
      else this.#put(position, timeMs, value.json);
    }
  }

  finish(): Batch {
    const { columns } = this.#plan;
    const items = this.#texts.flatMap((text, position) => {
      const name = JSON.stringify(columns[position]?.series.name);
      return text === "" ? [] : [`{"name":${name},"datapoints":[${text}]}`];
    });
    return {
      body: items.length === 0 ? "" : `{"items":[${items.join(",")}]}`,
      points: this.#points,
      refused: this.#refused,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
      end: this.#end as Boundary,
      epochValues: this.#settings.epochs?.values ?? [],
    };
  }

  /** The row's time, or why there is none. */
  #timeOf(cells: readonly string[]): number | string {
    const { timeIndex, epochIndex } = this.#plan;
    const { epochs, epochMs } = this.#settings;
    const epoch = epochs ? epochs.epochOf(cells[epochIndex ?? 0] ?? "") : epochMs;
    const timeMs = this.#readTime(cells[timeIndex] ?? "", epoch);
    if (timeMs === undefined)
      return `not a time in the format ${formatName(this.#plan.timeFormat)}; the row is left out`;
    if (epochs && timeMs - epoch >= epochs.stepMs)
      return "beyond the step of --epoch-by, among the times of the next value; the row is left out";
    if (timeMs < limits.timeMsMin || timeMs > limits.timeMsMax)
      return "not between the years 1900 and 2099; the row is left out";
    return timeMs;
  }

  #put(position: number, timeMs: number, json: string): void {
    const text = this.#texts[position];
    const point = `{"timestamp":${timeMs},"value":${json}}`;
    this.#texts[position] = text === "" ? point : `${text},${point}`;
    this.#points++;
    this.#characters += point.length;
    this.#firstMs = Math.min(this.#firstMs, timeMs);
    this.#lastMs = Math.max(this.#lastMs, timeMs);
  }

  #refuse(line: number, column: string, value: string, reason: string): void {
    this.#refused.push({ line, column, value, reason });
  }
}

const utf8BytesMax = 3;

const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function readValue(
  cell: string,
  isString: boolean,
  { decimalComma }: BatchSettings,
): { json: string } | { problem: string } {
  if (isString) {
    if (cell.length > limits.stringValueLengthMax)
      return { problem: `longer than ${limits.stringValueLengthMax} characters` };
    return { json: JSON.stringify(cell) };
  }
  // A point separates thousands there, or is a mistake: `1.234` must not become another number.
  if (decimalComma && cell.includes(".")) return { problem: "not a number with a decimal comma" };
  const text = decimalComma ? cell.replace(",", ".") : cell;
  if (!numberPattern.test(text))
    return { problem: cell.includes(",") ? "not a number; is the decimal sign a comma?" : "not a number" };
  const value = Number(text);
  return Number.isFinite(value) ? { json: String(value) } : { problem: "too large for a number" };
}
